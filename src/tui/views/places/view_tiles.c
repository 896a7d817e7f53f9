// tiles: the matrices cut down the tiers, and an element followed through the program.
//
// The cursor is one product A[i][k] · B[k][j] of C[i][j]. Enter goes a tier down (C, the CTA's
// tile, the warp's, the atom or the thread, element by element), Backspace up; at each tier the
// arrows step by the next one. Tab or o chooses the operand that the arrows move in: i and j in C,
// i and k in A, k and j in B. e takes an element by name. Below stands where its three elements
// are: CTA, warp, lane, register; slab, byte and bank; who brought it and when.
//
// For attention there are two products, and p goes from S = Q·K to O = P·V and back: the score that
// the cursor stands on becomes the element of P, so that one can be followed into the other.
//
// ViewState: pane is the operand (C, A, B); the element is in Tiles.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "tui/canvas/utf8.h"
#include "tui/views/places/element_text.h"
#include "tui/views/places/tiles.h"
#include "tui/views/program/explore.h"

enum { LEGEND_COLS = 24 };
enum { TEXT_ROWS = 6, TEXT_ROWS_SMALL = 3, BESIDE_COLS = 104, TEXT_COLS = 46, ONE_LINE_COLS = 70 };
enum { SPOTS = 400 };  // the canvas keeps 512, tabs and footer included

static const AtomOperand operands[] = {ATOM_C, ATOM_A, ATOM_B};

typedef struct TilesFrame {
  int n;
  TilesHalf half[2];
} TilesFrame;

static AtomOperand operand_of(const ViewState *state) { return operands[state->pane % 3]; }

// ---- preparing ----------------------------------------------------------------------------------

// Which rows and columns of the region what stands out has cells in; level 0 needs no list.
static void mark_lines(Arena *arena, TilesHalf *half) {
  const TilesSide *side = half->side;
  if (half->level == 0) return;
  const TilesRegion *region = &side->region[half->level];
  uint8_t *rows = ARENA_ARRAY(arena, uint8_t, region->rows);
  uint8_t *cols = ARENA_ARRAY(arena, uint8_t, region->cols);
  for (int64_t r = 0; r < region->rows; r++)
    for (int64_t c = 0; c < region->cols; c++)
      if (tiles_stands_out(side, half->level, region->row + r, region->col + c))
        rows[r] = cols[c] = 1;
  half->rows = rows;
  half->cols = cols;
}

// If lanes take rows in turns, a thread's own are not neighbours; an atom's all are.
static bool has_cells(const TilesSide *side, bool rows, int64_t at) {
  const TilesRegion *tile = &side->region[1], *box = &side->region[3];
  if (side->product->atom) return true;
  int64_t n = rows ? box->cols : box->rows;
  for (int64_t i = 0; i < n; i++) {
    int64_t row = box->row - tile->row + (rows ? at : i),
            col = box->col - tile->col + (rows ? i : at);
    if (tile_map_owner(side->map, row, col).thread == side->owner.thread) return true;
  }
  return false;
}

static int list_lines(Arena *arena, const TilesSide *side, bool rows, const int **out) {
  int64_t all = rows ? side->region[3].rows : side->region[3].cols;
  int *line = ARENA_ARRAY(arena, int, all), n = 0;
  for (int64_t i = 0; i < all; i++)
    if (has_cells(side, rows, i)) line[n++] = (int)i;
  *out = line;
  return n;
}

static void prepare_half(Session *session, TilesHalf *half, int index, const char *title) {
  Side *side = index ? &session->doc.now : &session->doc.then;
  const Grid *grid = side_grid(side);
  tiles_follow(tiles_of(session), index, side->picture, grid);
  *half = (TilesHalf){.side = &tiles_of(session)->side[index],
                      .title = title,
                      .level = tiles_chosen(session)->level,
                      .operand = operand_of(session_view_state(session)),
                      .spots = SPOTS / (session->doc.comparing ? 2 : 1)};
  mark_lines(session->frame, half);
  if (half->level == TILES_LEVELS - 1) {
    half->n_rows = list_lines(session->frame, half->side, true, &half->row);
    half->n_cols = list_lines(session->frame, half->side, false, &half->col);
  }
  for (int o = 0; o < ATOM_OPERANDS; o++) {
    TilesText *text = &half->text[o];
    *text = tiles_text(session->frame, half->side, (AtomOperand)o);
    text->line = arena_printf(session->frame, "%s %s", text->name, text->where);
  }
}

static void tiles_prepare(Session *session) {
  TilesFrame *frame = ARENA_NEW(session->frame, TilesFrame);
  bool comparing = session->doc.comparing;
  prepare_half(session, &frame->half[comparing ? 1 : 0], 1, comparing ? "B" : NULL);
  if (comparing) prepare_half(session, &frame->half[0], 0, "A");
  frame->n = comparing ? 2 : 1;
  session->prepared = frame;
}

// ---- drawing ------------------------------------------------------------------------------------

// How much of M, N and K is seen, at the right end where there is room.
static void draw_extents(Canvas *canvas, Rect row, int from, const TilesRegion *region) {
  char text[80];
  snprintf(text, sizeof text, "m %lld  n %lld  k %lld", (long long)region->rows,
           (long long)region->cols, (long long)region->ks);
  int width = utf8_columns(text);
  if (from + 2 + width < row.cols)
    canvas_text(canvas, row, 0, row.cols - width - 1, STYLE_DIM, text);
}

// One link of the path; the column behind it.
static int draw_level(Canvas *canvas, Rect row, int col, const TilesHalf *half, int level) {
  char text[48];
  tiles_level_name(half, level, text);
  Style style = level == half->level ? STYLE_TITLE
                : level == 0         ? STYLE_DIM
                                     : tiles_level_style(half, level - 1);
  const int begin = col, need = utf8_columns(text), room = row.cols - col;
  col = canvas_fit(canvas, row, 0, col, need < room ? need : room, ALIGN_LEFT, style, text);
  Rect area = rect_intersect(row, (Rect){row.row, row.col + begin, 1, col - begin});
  if (level == half->level) canvas_over(canvas, area, STYLE_SELECTED);
  if (level < TILES_LEVELS) canvas_spot(canvas, area, TILES_SPOT_LEVEL, level);
  return col;
}

// "C › CTA 32 › warp 0 › lane 0": where one is, and on what the cursor stands.
static void draw_path(Canvas *canvas, Rect row, const TilesHalf *half) {
  int col = 0;
  if (half->title) {
    Style style = half->title[0] == 'A' ? STYLE_SIDE_A : STYLE_SIDE_B;
    col = canvas_text(canvas, row, 0, 0, style, half->title) + 1;
  }
  for (int level = 0; level <= TILES_LEVELS; level++) {
    if (level) col = canvas_glyph(canvas, row, 0, col + 1, STYLE_DIM, GLYPH_ANGLE_RIGHT) + 1;
    col = draw_level(canvas, row, col, half, level);
  }
  draw_extents(canvas, row, col, &half->side->region[half->level]);
}

// The lines for each operand that the rows allow: four, two, or one.
static void draw_text_below(Canvas *canvas, Rect in, const TilesHalf *half) {
  int each = in.rows / 3;
  for (int o = 0; o < 3; o++) {
    const TilesText *text = &half->text[operands[o]];
    Rect part = rect_take_top(&in, each < 1 ? 1 : each);
    Style style = operands[o] == half->operand ? STYLE_TITLE : STYLE_ACCENT;
    Rect where = rect_take_top(&part, each >= 4 ? 2 : 1);
    rect_take_left(&part, 2);
    if (each >= 4) {
      canvas_wrap(canvas, where, STYLE_TEXT, text->line);
      canvas_wrap(canvas, part, STYLE_DIM, text->how);
    } else {
      canvas_fit(canvas, where, 0, 0, where.cols, ALIGN_LEFT, STYLE_TEXT, text->line);
      canvas_fit(canvas, part, 0, 0, part.cols, ALIGN_LEFT, STYLE_DIM, text->how);
    }
    canvas_text(canvas, where, 0, 0, style, text->name);
  }
}

// The rows that it took.
static int draw_text_beside(Canvas *canvas, Rect in, const TilesHalf *half) {
  const int begin = in.row;
  for (int o = 0; o < 3; o++) {
    const TilesText *text = &half->text[operands[o]];
    Style style = operands[o] == half->operand ? STYLE_TITLE : STYLE_ACCENT;
    canvas_text(canvas, rect_take_top(&in, 1), 0, 0, style, text->name);
    rect_take_top(&in, canvas_wrap(canvas, in, STYLE_TEXT, text->where));
    rect_take_top(&in, canvas_wrap(canvas, in, STYLE_DIM, text->how) + 1);
  }
  int rows = canvas_wrap(canvas, in, STYLE_DIM,
                         "This comes from the program: every statement that touches the element, "
                         "with the layout applied.");
  return in.row + rows - begin;
}

// Rows of the sentences where they stand below the picture.
static int text_rows(Rect in) {
  const bool one_line = in.cols >= ONE_LINE_COLS || in.rows < 18;
  if (in.rows >= 14) return one_line ? TEXT_ROWS : 2 * TEXT_ROWS;
  return in.rows >= 8 ? TEXT_ROWS_SMALL : 1;
}

// The sentences beside the picture; what they leave below them.
static Rect draw_right_side(Canvas *canvas, Rect *in, const TilesHalf *half) {
  Rect right = rect_take_right(in, TEXT_COLS);
  rect_take_right(in, 2);
  rect_take_top(&right, draw_text_beside(canvas, right, half) + 1);
  return right;
}

// The legend stands below the sentences where they have the right side to themselves, else in
// what the picture leaves.
static void draw_half(Canvas *canvas, Rect in, const TilesHalf *half) {
  Rect legend = {0};
  draw_path(canvas, rect_take_top(&in, 1), half);
  if (in.cols >= BESIDE_COLS)
    legend = draw_right_side(canvas, &in, half);
  else
    draw_text_below(canvas, rect_take_bottom(&in, text_rows(in)), half);
  const TilesRoom room = tiles_picture_draw(canvas, in, half);
  if (legend.rows == 0) legend = room.beside.cols >= LEGEND_COLS ? room.beside : room.corner;
  if (legend.cols >= LEGEND_COLS) tiles_legend_draw(canvas, legend, half, &room);
}

static void tiles_draw(Canvas *canvas, Rect in, const Session *session) {
  const TilesFrame *frame = session->prepared;
  rect_take_left(&in, 1);
  if (frame->n == 1) {
    draw_half(canvas, in, &frame->half[0]);
    return;
  }
  draw_half(canvas, canvas_halve(canvas, &in), &frame->half[0]);
  draw_half(canvas, in, &frame->half[1]);
}

// ---- as data ------------------------------------------------------------------------------------

// In the order of the sentences.
static const Trace **traces(Arena *arena, const TilesHalf *half) {
  const Trace **trace = ARENA_ARRAY(arena, const Trace *, ATOM_OPERANDS);
  for (int o = 0; o < ATOM_OPERANDS; o++) trace[o] = &half->side->trace[operands[o]];
  return trace;
}

#define FORM_FILE "tui/views/places/view_tiles.form"
#include "base/form_make.h"

// ---- keys ---------------------------------------------------------------------------------------

// The side that is edited, up to date: what the keys step by.
static const TilesSide *present(Session *session) {
  const Grid *grid = side_grid(&session->doc.now);
  tiles_follow(tiles_of(session), 1, session->doc.now.picture, grid);
  return &tiles_of(session)->side[1];
}

static int64_t stepped(int64_t value, int64_t step, int64_t extent) {
  value += step;
  return value < 0 ? 0 : value >= extent ? extent - 1 : value;
}

// `down` and `right` in steps of what stands out at this level.
static void step(Session *session, int down, int right) {
  const TilesSide *side = present(session);
  const TilesRegion *out = &side->region[tiles_chosen(session)->level + 1];
  const TilesRegion *all = &side->region[0];
  TraceAt *at = &tiles_of(session)->at;
  AtomOperand operand = operand_of(session_view_state(session));
  if (operand == ATOM_B)
    at->k = stepped(at->k, down * out->ks, all->ks);
  else
    at->i = stepped(at->i, down * out->rows, all->rows);
  if (operand == ATOM_A)
    at->k = stepped(at->k, right * out->ks, all->ks);
  else
    at->j = stepped(at->j, right * out->cols, all->cols);
}

static void tiles_move(Session *session, int delta) { step(session, delta, 0); }
static void step_left(Session *s, const char *a) { (void)a, step(s, 0, -1); }
static void step_right(Session *s, const char *a) { (void)a, step(s, 0, 1); }

static void change_level(Session *session, int level) {
  if (level >= 0 && level < TILES_LEVELS) tiles_chosen(session)->level = level;
}

static void zoom_in(Session *session, const char *argument) {
  (void)argument;
  change_level(session, tiles_chosen(session)->level + 1);
}

static void zoom_out(Session *session, const char *argument) {
  (void)argument;
  change_level(session, tiles_chosen(session)->level - 1);
}

static void next_operand(Session *session, const char *argument) {
  (void)argument;
  ViewState *state = session_view_state(session);
  state->pane = (state->pane + 1) % ATOM_OPERANDS;
}

// S[q][key] is P[q][key] after the softmax: what was the cursor's column is its depth now.
static void next_product(Session *session, const char *argument) {
  (void)argument;
  const Program *program = present(session)->model->program;
  TraceAt *at = &tiles_of(session)->at;
  int64_t swap = at->j;
  const int next = (at->product + 1) % program->n_products;
  const int kernel = program->product[next].kernel;
  if (program->n_products < 2) {
    session_say(session, SAID_NOTE, "this program has one product; PROGRAM=attention has two");
    return;
  }
  if (kernel != program->main_kernel) {
    session_say(session, SAID_NOTE,
                "an earlier kernel, %s, computes the other product: FUSE=1 "
                "fuses them",
                program->kernel[kernel].name);
    return;
  }
  at->product = next;
  at->j = at->k;
  at->k = swap;
}

static void names_of(const TilesSide *side, const char *names[ATOM_OPERANDS]) {
  for (int o = 0; o < ATOM_OPERANDS; o++) names[o] = side->name[o];
}

// An element of the product at hand, or of the other one, which is then looked at.
static bool read_element(Session *session, const char *text, AtomOperand *operand,
                         int64_t index[2]) {
  const char *names[ATOM_OPERANDS];
  const TilesSide *side = present(session);
  names_of(side, names);
  if (element_read(text, names, operand, index)) return true;
  if (side->model->program->n_products < 2) return false;
  const TraceAt before = tiles_of(session)->at;
  next_product(session, NULL);
  names_of(present(session), names);
  if (element_read(text, names, operand, index)) return true;
  tiles_of(session)->at = before;
  return false;
}

static void choose_element(Session *session, const char *text) {
  AtomOperand operand = operand_of(session_view_state_const(session));
  int64_t index[2];
  if (!read_element(session, text, &operand, index)) {
    const char *const *name =
        (const char *[]){present(session)->name[ATOM_C], present(session)->name[ATOM_A],
                         present(session)->name[ATOM_B]};
    session_say(session, SAID_ERROR,
                "\"%s\" is not an element: type %s[130][7], %s[130][21] or "
                "%s 21 7",
                text, name[0], name[1], name[2]);
    return;
  }
  const TilesSide *side = present(session);
  const TilesRegion *all = &side->region[0];
  const char *name = side->name[operand];
  int64_t rows = operand == ATOM_B ? all->ks : all->rows;
  int64_t cols = operand == ATOM_A ? all->ks : all->cols;
  if (index[0] >= rows || index[1] >= cols) {
    session_say(session, SAID_ERROR, "%s has %lld rows and %lld columns; nearest: %s[%lld][%lld]",
                name, (long long)rows, (long long)cols, name,
                (long long)(index[0] < rows ? index[0] : rows - 1),
                (long long)(index[1] < cols ? index[1] : cols - 1));
    return;
  }
  TraceAt *at = &tiles_of(session)->at;
  *(operand == ATOM_B ? &at->k : &at->i) = index[0];
  *(operand == ATOM_A ? &at->k : &at->j) = index[1];
  session_view_state(session)->pane = operand == ATOM_C ? 0 : operand == ATOM_A ? 1 : 2;
}

static void element(Session *session, const char *argument) {
  if (argument && *argument) {
    choose_element(session, argument);
    return;
  }
  session->prompt.kind = PROMPT_FIELD;
  session->prompt.field.history = NULL;
  textfield_set(&session->prompt.field, "");
}

static void tiles_typed(Session *session, TextFieldResult result) {
  if (result == TEXTFIELD_ACCEPTED && session->prompt.field.text[0])
    choose_element(session, session->prompt.field.text);
}

// A click chooses; one on what is chosen already goes a tier down.
static void click_cell(Session *session, int64_t value) {
  const TilesSide *side = present(session);
  int level = tiles_chosen(session)->level;
  const TilesRegion *region = &side->region[level];
  int64_t row = region->row + value / region->cols, col = region->col + value % region->cols;
  if (level == 0) {
    row = value / side->board_cols * side->grid->tile_m;
    col = value % side->board_cols * side->tile_cols;
  }
  if (value < 0 || row >= side->region[0].rows || col >= side->region[0].cols) return;
  if (tiles_stands_out(side, level, row, col)) {
    zoom_in(session, NULL);
    return;
  }
  tiles_of(session)->at.i = row;
  tiles_of(session)->at.j = col;
}

static void tiles_click(Session *session, int what, int value) {
  const TilesRegion *region = &present(session)->region[tiles_chosen(session)->level];
  if (what == TILES_SPOT_CELL) click_cell(session, value);
  if (what == TILES_SPOT_K && value >= 0 && value < region->ks)
    tiles_of(session)->at.k = region->k + value;
  if (what == TILES_SPOT_LEVEL) change_level(session, value);
}

static const Action actions[] = {
    {"step-left", "Left h", "step", "step-right", "the tile or element to the left", step_left},
    {"step-right", "Right l", NULL, NULL, "the tile or element to the right", step_right},
    {"zoom-in", "Enter", "zoom", "zoom-out", "go a tier down: CTA, warp, atom or thread", zoom_in},
    {"zoom-out", "Backspace", NULL, NULL, "go a tier up", zoom_out},
    {"operand", "o", "operand", NULL, "move in C, in A (i and k), or in B (k and j)", next_operand},
    {"element", "e", "element", NULL, "find an element: element A[130][21]", element},
    {"product", "p", "product", NULL, "S = Q·K or O = P·V of attention", next_product},
};

// A loop that is selected in the explorer's nest lights its part of the picture: the level at which
// its tier stands out.
static void tiles_enter(Session *session) {
  static const unsigned char level_above[NEST_GROUP_COUNT] = {
      [NEST_BLOCK] = 1, [NEST_WARP] = 2, [NEST_THREAD] = 3, [NEST_ATOM] = 3, [NEST_REGISTER] = 4};
  const ViewState *state = &session->at.state[view_find("explore")];
  const Nest *nest = explore_nest(session);
  if (state->pane != 1 || state->cursor >= nest->n_rows) return;
  int above = level_above[nest->row[state->cursor].group];
  if (above > 0) change_level(session, above - 1);
}

const ViewBody tiles_view = {
    .chosen_bytes = sizeof(TilesChosen),
    .state_bytes = sizeof(Tiles),
    .open = tiles_init,
    .close = tiles_done,
    .enter = tiles_enter,
    .prepare = tiles_prepare,
    .draw = tiles_draw,
    .move = tiles_move,
    .move_label = "step",
    .click = tiles_click,
    .typed = tiles_typed,
    .field_label = "element ",
    .data = view_prepared,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
    .n_panes = 3,
};
