// A table of BlockTiles, and the sets of registers in the rows of Steps.
//
// A row of Steps that reads steps 0 and 1 into sets 0 and 1 says the last one's set; the ones
// before are the sets before it. Worked example, two sets, a row that multiplies steps 6 and 7, set
// 1: step 6 is set 0.
#include "tui/views/program/loops.h"

#include <stdio.h>

#include "base/str.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"

enum { COLUMNS = LOOPS_TILES_COLUMNS, WIDE_COLS = 92, SET_COLS = 8, SETS_SHOWN = 4 };

// ---- the table ----------------------------------------------------------------------------------

typedef struct Column {
  const char *name;
  int cols;
  Align align;
  bool wide;  // only where there is room
} Column;

static const Column columns[COLUMNS] = {
    {"tile", 9, ALIGN_LEFT, false},        {"a block", 10, ALIGN_LEFT, false},
    {"in memory", 13, ALIGN_LEFT, true},   {"", 10, ALIGN_LEFT, false},
    {"fragments", 9, ALIGN_LEFT, false},   {"held together", 14, ALIGN_LEFT, false},
    {"sets", 4, ALIGN_RIGHT, false},       {"regs", 5, ALIGN_RIGHT, false},
    {"KiB shared", 10, ALIGN_RIGHT, false}};

static const char *extents_text(Arena *arena, TileExtents of) {
  return arena_printf(arena, "%lld × %lld", (long long)of.rows, (long long)of.cols);
}

static const char *held_text(Arena *arena, const BlockTile *tile) {
  if (!tile->sets) return "in the slab";
  TileExtents held = block_tile_fragments(tile, tile->held);
  return arena_printf(arena, tile->steps > 1 ? "%lld × %lld, 1 of %d" : "%lld × %lld, all",
                      (long long)held.rows, (long long)held.cols, tile->steps);
}

static const char *shared_text(Arena *arena, const BlockTile *tile) {
  if (!tile->slot_bytes) return "–";
  double kib = (double)tile->slot_bytes / 1024;
  return tile->slots > 1 ? arena_printf(arena, "%d × %g", tile->slots, kib)
                         : arena_printf(arena, "%g", kib);
}

static void say_cells(Arena *arena, const BlockTile *tile, const char *cell[COLUMNS]) {
  const BlockTile *sums = tile;  // of the same product
  while (sums->operand != ATOM_C) sums++;
  const char *operand = atom_operand_name(tile->operand);
  cell[0] = tile->operand == ATOM_C ? arena_printf(arena, "%s sums", tile->name) : operand;
  if (!str_equal(tile->name, operand) && tile->operand != ATOM_C)
    cell[0] = arena_printf(arena, "%s %s of %s", tile->name, operand, sums->name);
  cell[1] = extents_text(arena, tile->block);
  cell[2] = tile->operand == ATOM_C ? "" : tile->column_major ? "column-major" : "row-major";
  cell[3] = extents_text(arena, tile->warp);
  cell[4] = extents_text(arena, block_tile_fragments(tile, tile->warp));
  cell[5] = held_text(arena, tile);
  cell[6] = tile->sets ? arena_printf(arena, "%d", tile->sets) : "–";
  cell[7] = tile->registers ? arena_printf(arena, "%d", tile->registers) : "–";
  cell[8] = shared_text(arena, tile);
}

// Whether the registers are loaded step by step, and not computed or loaded all at once.
static bool is_loaded(const LoopsTiles *picture, const BlockTile *tile) {
  return picture->steps.n_reads > 0 && tile->operand != ATOM_C && tile->steps > 1;
}

const LoopsTiles *loops_tiles(Arena *arena, const Program *program) {
  LoopsTiles *picture = ARENA_NEW(arena, LoopsTiles);
  picture->tiles = block_tiles(arena, program);
  picture->steps = derive_steps(arena, program);
  for (int i = 0; i < picture->tiles.n; i++) {
    const BlockTile *tile = &picture->tiles.tile[i];
    const char **cell = picture->cell[i];
    Str line = str_new(arena);
    say_cells(arena, tile, cell);
    for (int c = 0; c < COLUMNS; c++) str_printf(&line, "%s%s", c ? "  " : "", cell[c]);
    picture->text[i] = line.text;
    if (is_loaded(picture, tile) && tile->sets > picture->n_sets) picture->n_sets = tile->sets;
  }
  return picture;
}

static void draw_row(Canvas *canvas, Rect row, const char *const cell[COLUMNS], Style first,
                     Style rest) {
  int col = 1;
  for (int c = 0; c < COLUMNS; c++) {
    if (columns[c].wide && row.cols < WIDE_COLS) continue;
    canvas_fit(canvas, row, 0, col, columns[c].cols, columns[c].align, c ? rest : first, cell[c]);
    col += columns[c].cols + 1;
  }
}

static void draw_table(Canvas *canvas, Rect *in, const LoopsTiles *picture, int cursor, int spot) {
  const char *head[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) head[c] = columns[c].name;
  head[3] = picture->tiles.group_warps > 1 ? "warpgroup" : "a warp";
  draw_row(canvas, rect_take_top(in, 1), head, STYLE_HEADER, STYLE_HEADER);
  for (int i = 0; i < picture->tiles.n; i++) {
    Rect row = rect_take_top(in, 1);
    draw_row(canvas, row, picture->cell[i], STYLE_TITLE, STYLE_TEXT);
    canvas_spot(canvas, row, spot, i);
    if (i == cursor) canvas_over(canvas, row, STYLE_CURSOR);
  }
}

// ---- the sets of registers ----------------------------------------------------------------------

// The step of first … last that is in the set, the last one being in `last_set`; STEP_NONE: none.
static int step_in(int first, int last, int last_set, int set, int n_sets) {
  if (last == STEP_NONE) return STEP_NONE;
  if (n_sets == 1) return last;
  int step = last - (last_set - set + n_sets) % n_sets;
  return step >= first ? step : STEP_NONE;
}

static void draw_set(Canvas *canvas, Rect at, const Step *step, int set, int n_sets) {
  int col = 0;
  int read = step_in(step->read_first, step->read_last, step->read_set, set, n_sets);
  int used = step_in(step->multiply_first, step->multiply_last, step->multiply_set, set, n_sets);
  if (read != STEP_NONE) col = canvas_printf(canvas, at, 0, col, STYLE_SITE, "←%d", read) + 1;
  if (used != STEP_NONE) canvas_printf(canvas, at, 0, col, STYLE_TIER_ATOM, "×%d", used);
}

// A column for each row of STEPS in which registers are loaded or multiplied.
static void draw_columns(Canvas *canvas, Rect in, const LoopsTiles *picture) {
  for (int i = 0; i < picture->steps.n; i++) {
    const Step *step = &picture->steps.step[i];
    if (step->read_last == STEP_NONE && step->multiply_last == STEP_NONE) continue;
    Rect column = rect_take_left(&in, SET_COLS);
    if (column.cols < SET_COLS) return;
    canvas_printf(canvas, column, 0, 0, STYLE_DIM, "%d", i + 1);
    for (int set = 0; set < picture->n_sets && set + 1 < in.rows; set++)
      draw_set(canvas, (Rect){column.row + 1 + set, column.col, 1, SET_COLS}, step, set,
               picture->n_sets);
  }
}

static const char *why_of(const LoopsTiles *picture) {
  if (picture->n_sets == 0)
    return picture->steps.n_reads
               ? "Registers hold all steps of a slab together: nothing is loaded twice. "
                 "FRAG_ORDER=0 holds one step."
               : "No registers are loaded: the tensor core reads its operands from the slabs. "
                 "Only values that a thread computed itself are in registers.";
  if (picture->n_sets == 1)
    return "←2 loaded with step 2 from the slab, ×2 multiplied. One set makes each load wait for "
           "the "
           "multiplication before it; FRAG_BUFFER=2 has two.";
  return "←2 loaded with step 2 from the slab, ×2 multiplied. While one set is multiplied the next "
         "step comes into the other one.";
}

static void draw_sets(Canvas *canvas, Rect in, const LoopsTiles *picture) {
  if (picture->n_sets) {
    Rect figure = rect_take_top(&in, 1 + picture->n_sets),
         names = rect_take_left(&figure, SET_COLS);
    canvas_text(canvas, names, 0, 1, STYLE_HEADER, "row");
    for (int set = 0; set < picture->n_sets; set++)
      canvas_printf(canvas, names, 1 + set, 1, STYLE_TEXT, "set %d", set);
    draw_columns(canvas, figure, picture);
    rect_take_top(&in, 1);
  }
  rect_take_left(&in, 1);
  canvas_wrap(canvas, in, STYLE_DIM, why_of(picture));
}

void loops_tiles_draw_head(Canvas *canvas, Rect in, const LoopsTiles *picture) {
  int col = canvas_text(canvas, in, 0, 1, STYLE_HEADER, "TILES"), registers = 0;
  for (int i = 0; i < picture->tiles.n; i++) registers += picture->tiles.tile[i].registers;
  col = canvas_text(canvas, in, 0, col + 2, STYLE_TITLE, "of one block in a turn");
  col = canvas_printf(canvas, in, 0, col + 2, STYLE_TEXT, "%d registers", registers);
  canvas_fit(canvas, in, 0, col + 1, in.cols - col - 1, ALIGN_LEFT, STYLE_DIM,
             "of a lane if all live together");
}

void loops_tiles_draw(Canvas *canvas, Rect in, const LoopsTiles *picture, int cursor, int spot) {
  draw_table(canvas, &in, picture, cursor, spot);
  rect_take_top(&in, 1);
  Rect note = rect_take_bottom(&in, 2);
  rect_take_left(&note, 1);
  draw_sets(canvas, in, picture);
  canvas_wrap(
      canvas, note, STYLE_DIM,
      "A fragment is a matrix of eight rows of 16 bytes, a register in each of 32 lanes; of "
      "sums it is 8 × 8, two registers.");
}
