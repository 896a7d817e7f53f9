// Two tables: the events of an iteration by column, and the strategies.
//
// A cell says the number of instructions, their k-step, and which copy of the fragment registers
// they touch. Worked example, hgemm with a register buffer, BK = 4 atoms:
//
//    #  copy                 wait for        read               multiply
//    1  16 cp.async k_o+2                    12 step 1 → set 1  32 step 0, set 0
//    4                       all but 1, bar  12 step 0'→ set 0  32 step 3, set 1
//
// where 0' is step 0 of the next slab. On a narrow screen the numbers of instructions go.
#include "tui/views/program/loops.h"

#include <stdio.h>

#include "base/str.h"
#include "model/words/fragment.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"

enum { WIDE = 78, NUMBER_COLS = 4 };

typedef struct Columns {
  int copy, wait, read, multiply, end;
  bool wide;
} Columns;

static Columns columns_of(int cols) {
  if (cols >= WIDE) return (Columns){NUMBER_COLS, 23, 39, 59, cols, true};
  return (Columns){NUMBER_COLS, 11, 19, 29, cols, false};
}

// ---- what a cell says ---------------------------------------------------------------------------

// "step 1", "steps 0-3"; a mark for each slab ahead.
static void say_steps(Str *out, const Columns *at, int first, int last, int slab) {
  if (at->wide) str_add(out, first == last ? "step " : "steps ");
  str_printf(out, "%d", first);
  if (last != first) str_printf(out, "-%d", last);
  for (int i = 0; i < slab && i < 3; i++) str_add(out, "'");
}

static const char *say_copy(Arena *arena, const Steps *steps, const Step *step, const Columns *at) {
  Str out = str_new(arena);
  if (step->copy_slab == STEP_NONE) return step->commit ? "commit" : "";
  if (at->wide && step->n_copies) str_printf(&out, "%d %s ", step->n_copies, steps->copy_name);
  if (at->wide && step->n_stores) str_printf(&out, "%d STS ", step->n_stores);
  str_add(&out, "k_o");
  if (step->copy_slab) str_printf(&out, "+%d", step->copy_slab);
  return out.text;
}

static const char *say_wait(Arena *arena, const Step *step, const Columns *at) {
  Str out = str_new(arena);
  if (step->wait != STEP_NONE && at->wide) str_add(&out, step->wait ? "all but " : "all");
  if (step->wait > 0 || (step->wait == 0 && !at->wide)) str_printf(&out, "%d", step->wait);
  if (step->wait_multiplies && at->wide) str_add(&out, " wgmma");
  if (step->mbarrier) str_add(&out, step->mbarrier);
  if (step->barrier) str_printf(&out, "%sbar", out.length ? ", " : "");
  if (step->arrive) str_printf(&out, "%sarrive", out.length ? ", " : "");
  return out.text;
}

static const char *say_read(Arena *arena, const Step *step, const Columns *at) {
  Str out = str_new(arena);
  if (step->produces) return at->wide ? "by the producer" : "producer";
  if (!step->n_reads) return "";
  if (at->wide) str_printf(&out, "%d ", step->n_reads);
  say_steps(&out, at, step->read_first, step->read_last, step->read_slab);
  if (step->read_set != STEP_NONE && step->read_first == step->read_last)
    str_printf(&out, "%s%d", at->wide ? " → set " : "→", step->read_set);
  return out.text;
}

static const char *say_multiply(Arena *arena, const Step *step, const Columns *at) {
  Str out = str_new(arena);
  if (!step->n_multiplies) return "";
  if (at->wide) str_printf(&out, "%d ", step->n_multiplies);
  say_steps(&out, at, step->multiply_first, step->multiply_last, 0);
  if (step->multiply_set != STEP_NONE && step->multiply_first == step->multiply_last)
    str_printf(&out, at->wide ? ", set %d" : "←%d", step->multiply_set);
  return out.text;
}

static const char *why_of(Arena *arena, const Steps *steps, const Step *step) {
  const char *safe = steps_say_safe(arena, steps, step);
  if (step->arrive) return "this warp has read the slot: one arrival at its empty";
  if (!step->why && step->mbarrier && !*safe)
    return "until the phase of full ends: the bytes of the slab have come";
  if (!step->why) return safe;
  return *safe ? arena_printf(arena, "%s; barrier: %s", safe, step->why) : step->why;
}

static void say_cells(Arena *arena, const Steps *steps, const Step *step, bool wide,
                      const char *cell[CELLS]) {
  Columns at = columns_of(wide ? WIDE : 0);
  cell[CELL_COPY] = say_copy(arena, steps, step, &at);
  cell[CELL_WAIT] = say_wait(arena, step, &at);
  cell[CELL_READ] = say_read(arena, step, &at);
  cell[CELL_MULTIPLY] = say_multiply(arena, step, &at);
}

// Article 003 counts in matrices of eight rows of 16 bytes, of 8 elements of f16 or 4 of tf32. An
// m16n8k16 of f16 takes 2 × 2 of A and 2 × 1 of B: 2 · 1 · 2 products of two of them.
static const char *units_of(Arena *arena, const Atom *atom) {
  enum { ROWS = 8, ROW_BITS = 128 };
  if (!atom) return "";
  int products = atom->m / ROWS * (atom->n / ROWS) * (atom->k * atom->bits / ROW_BITS);
  return arena_printf(
      arena,
      "A transfer brings a matrix of eight 16-byte rows, one register in each of 32 lanes. A "
      "computation is the product of two matrices; an %s makes %d.",
      atom->name, products);
}

StepsPicture *steps_picture(Arena *arena, const Model *model) {
  StepsPicture *picture = ARENA_NEW(arena, StepsPicture);
  const Steps *steps = &picture->steps;
  picture->steps = derive_steps(arena, model->program);
  StepText *text = ARENA_ARRAY(arena, StepText, steps->n);
  for (int i = 0; i < steps->n; i++) {
    say_cells(arena, steps, &steps->step[i], false, text[i].narrow);
    say_cells(arena, steps, &steps->step[i], true, text[i].wide);
    const char **cell = text[i].wide;
    text[i].line = arena_printf(arena, "%s  %s  %s  %s", cell[0], cell[1], cell[2], cell[3]);
    text[i].why = why_of(arena, steps, &steps->step[i]);
  }
  picture->text = text;
  picture->units = units_of(arena, program_atom(model->program));
  picture->n_strategies = derive_strategies(arena, model, picture->strategy);
  return picture;
}

// ---- drawing ------------------------------------------------------------------------------------

static void cell(Canvas *canvas, Rect row, int from, int to, Style style, const char *text) {
  int cols = utf8_columns(text), room = to - from - 1;
  canvas_fit(canvas, row, 0, from, cols < room ? cols : room, ALIGN_LEFT, style, text);
}

static void draw_cells(Canvas *canvas, Rect row, const Columns *at, const char *const text[CELLS],
                       const Style style[CELLS]) {
  const int from[CELLS + 1] = {at->copy, at->wait, at->read, at->multiply, at->end + 1};
  for (int i = 0; i < CELLS; i++) cell(canvas, row, from[i], from[i + 1], style[i], text[i]);
}

static void draw_header(Canvas *canvas, Rect row, const Steps *steps, const Columns *at) {
  static const Style styles[CELLS] = {STYLE_HEADER, STYLE_HEADER, STYLE_HEADER, STYLE_HEADER};
  const char *read = steps->read_name ? steps->read_name : "read";
  const char *multiply = steps->multiply_name ? steps->multiply_name : "multiply";
  char reads[32];
  bool ahead = false;
  for (int i = 0; i < steps->n; i++)
    ahead |= steps->step[i].n_reads > 0 && steps->step[i].read_slab > 0;
  snprintf(reads, sizeof reads, at->wide && ahead ? "%s, ' next slab" : "%s", read);
  const char *names[CELLS] = {at->wide ? "copy a slab" : "copy", at->wide ? "wait for" : "wait",
                              reads, multiply};
  canvas_text(canvas, row, 0, 2, STYLE_HEADER, "#");
  draw_cells(canvas, row, at, names, styles);
}

static void draw_step(Canvas *canvas, Rect row, const StepsPicture *picture, int i,
                      const Columns *at) {
  static const Style styles[CELLS] = {STYLE_TIER_BLOCK, STYLE_BARRIER, STYLE_SITE, STYLE_TIER_ATOM};
  const StepText *text = &picture->text[i];
  canvas_printf(canvas, row, 0, 0, STYLE_DIM, "%3d", i + 1);
  draw_cells(canvas, row, at, at->wide ? text->wide : text->narrow, styles);
}

static void draw_steps(Canvas *canvas, Rect in, const StepsPicture *picture, int cursor, int spot) {
  Columns at = columns_of(in.cols);
  draw_header(canvas, rect_take_top(&in, 1), &picture->steps, &at);
  ViewList list = view_list(in, cursor, picture->steps.n);
  while (view_list_next(canvas, &list)) {
    draw_step(canvas, list.row, picture, list.at, &at);
    view_list_mark(canvas, &list, spot, in.cols);
  }
}

// ---- strategies ---------------------------------------------------------------------------------

enum { NAME_COLS = 35, NUMBERS_COLS = 16, KNOBS_COLS = 47, CLAIM_ROWS = 1 };

static int name_cols(int cols) { return cols >= WIDE ? NAME_COLS : cols - 3 - NUMBERS_COLS; }

static void draw_strategy(Canvas *canvas, Rect row, const Strategy *strategy, bool wide) {
  const Steps *steps = &strategy->steps;
  if (strategy->now) canvas_glyph(canvas, row, 0, 1, STYLE_ACCENT, GLYPH_TRIANGLE_RIGHT);
  int col = canvas_fit(canvas, row, 0, 3, name_cols(row.cols), ALIGN_LEFT,
                       strategy->now ? STYLE_TITLE : STYLE_TEXT, strategy->name);
  if (strategy->why) {
    canvas_fit(canvas, row, 0, col, row.cols - col, ALIGN_LEFT, STYLE_KNOB_OFF, strategy->why);
    return;
  }
  col = canvas_printf(canvas, row, 0, col, STYLE_SIMULATED, "%7.3g", steps_intensity(steps));
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%9d", steps->n_registers);
  if (!wide) return;
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%11g", steps->moved);
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, "%10d", steps->reads_before) + 2;
  if (row.cols - col >= KNOBS_COLS) canvas_text(canvas, row, 0, col, STYLE_KNOB, strategy->knobs);
}

// The article's kernel, by fragments of 8 x 8: two rows of Q, eight columns of K.
static int draw_claim(Canvas *canvas, Rect in) {
  const double m = 2, n = 8;
  char text[120];
  snprintf(text, sizeof text,
           "claim (flash attention): 1.62 along K, 0.891 by rows; 2 x 8 are %.3g, %.3g",
           m * n / (m + n), n / (1 + n));
  return canvas_wrap(canvas, in, STYLE_CLAIM, text);
}

static void draw_strategies(Canvas *canvas, Rect in, const StepsPicture *picture) {
  bool wide = in.cols >= WIDE;
  Rect head = rect_take_top(&in, 1);
  int col = 3 + name_cols(in.cols);
  canvas_text(canvas, head, 0, 1, STYLE_HEADER, wide ? "how a slab's fragments are read" : "order");
  canvas_text(canvas, head, 0, col, STYLE_HEADER,
              wide ? "per move     regs  transfers  up front" : "/ move     regs");
  for (int i = 0; i < picture->n_strategies; i++)
    draw_strategy(canvas, rect_take_top(&in, 1), &picture->strategy[i], wide);
  if (!str_equal(picture->steps.multiply_name, "MMA")) return;
  rect_take_left(&in, 1);
  rect_take_top(&in, draw_claim(canvas, (Rect){in.row, in.col, CLAIM_ROWS, in.cols}));
  canvas_wrap(canvas, in, STYLE_DIM, picture->units);
}

void steps_picture_draw(Canvas *canvas, Rect in, const StepsPicture *picture, int cursor,
                        int spot) {
  int rows = picture->n_strategies ? picture->n_strategies + 1 + CLAIM_ROWS : 0;
  Rect below = rect_take_bottom(&in, in.rows >= rows + 4 ? rows : 0);
  int spare = in.rows - picture->steps.n - 2;  // the head, and a blank row between the tables
  if (spare > 0) below = (Rect){below.row - spare, below.col, below.rows + spare, below.cols};
  draw_steps(canvas, in, picture, cursor, spot);
  if (below.rows && picture->n_strategies) draw_strategies(canvas, below, picture);
}

void steps_picture_why(Canvas *canvas, Rect in, const StepsPicture *picture, int cursor) {
  if (cursor >= picture->steps.n) return;
  rect_take_left(&in, 1);
  canvas_wrap(canvas, in, STYLE_DIM, picture->text[cursor].why);
}
