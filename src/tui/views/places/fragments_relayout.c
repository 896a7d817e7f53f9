// Sums that become operand A of the next product: on the left C of the atoms beside each other, on
// the right the fragment of A that they make, and an element at the same place in both.
//
//   C, 2 atoms          0      2      4      6    │ 8      …      A, k    0      2      …
//                   0   0:0,1  1:0,1  2:0,1  3:0,1  0:0,1 …    0   0:0,1  1:0,1 …
//
// A cell wears the colour of the register of A that it comes to lie in; where the lane is another
// one it has none. So f16 and bf16 show the same four patches twice, and tf32 two stripes of
// columns. Without room for values a cell says its lane alone.
#include <stdio.h>

#include "base/str.h"
#include "base/whole.h"
#include "tui/frame/view.h"
#include "tui/views/places/fragments.h"

enum { GAP_COLS = 3, LABEL_COLS = 3, LIST_COLS = 19, TEXT_ROWS = 2 };
enum { SIDES = 2 };  // C, A

// Both sides show the columns of one fragment of A, in cells of `run` neighbours.
typedef struct Sides {
  const Fragments *f;
  FragmentMap sums, a;
  int per;        // values in a register of A
  int first_col;  // of the fragment, counted in C
  int run, cell_cols;
  bool bare;
  int row0, rows, cell0, cells;  // what is in sight
} Sides;

static int digits(int number) { return number < 10 ? 1 : number < 100 ? 2 : 3; }

// Two neighbours share a cell where they share a lane on both sides, kept or not.
static int run_of(const Sides *s) {
  const RelayoutElement one = fragment_relayout_element(&s->sums, &s->a, 0, s->first_col);
  const RelayoutElement two = fragment_relayout_element(&s->sums, &s->a, 0, s->first_col + 1);
  return one.sum.lane == two.sum.lane && one.operand.lane == two.operand.lane ? 2 : 1;
}

static int side_cols(const Sides *s) { return LABEL_COLS + s->a.cols / s->run * s->cell_cols; }

static Sides sides_of(const Fragments *f, Rect in) {
  Sides s = {.f = f, .sums = f->map, .a = fragment_map(f->atom, ATOM_A)};
  s.per = fragment_packing(f->atom, ATOM_A).per_register;
  s.first_col = f->cursor_col / s.a.cols * s.a.cols;
  s.run = run_of(&s);
  const int lane = digits(s.a.n_lanes - 1), value = digits(max_int(s.a.n_values, s.sums.n_values));
  s.cell_cols = lane + 1 + (s.run == 2 ? 2 * value + 1 : value) + 1;
  s.bare = SIDES * side_cols(&s) + GAP_COLS > in.cols;
  if (s.bare) s.cell_cols = lane + 1;
  const int room = (in.cols - GAP_COLS) / SIDES - LABEL_COLS, n_cells = s.a.cols / s.run;
  s.cells = min_int(n_cells, max_int(1, room / s.cell_cols));
  s.rows = min_int(s.a.rows, max_int(1, in.rows - 2));
  s.cell0 = view_scroll((f->cursor_col - s.first_col) / s.run, n_cells, s.cells);
  s.row0 = view_scroll(f->row, s.a.rows, s.rows);
  return s;
}

static void draw_cell(Canvas *canvas, Rect cell, const Sides *s, int side, int row, int col) {
  const RelayoutElement e = fragment_relayout_element(&s->sums, &s->a, row, col);
  const FragmentOwner *owner = side ? &e.operand : &e.sum;
  Style style = e.kept ? style_address(e.operand.value / s->per) : STYLE_DIM;
  const FragmentOwner *chosen = &s->f->owner;
  if (owner->lane == chosen->lane) style = style_over(style, STYLE_LINKED);
  const int lane = digits(s->a.n_lanes - 1);
  int at = canvas_printf(canvas, cell, 0, 0, style, "%*d", lane, owner->lane);
  if (!s->bare)
    at = canvas_printf(canvas, cell, 0, at, style, s->run == 2 ? ":%d,%d" : ":%d", owner->value,
                       owner->value + 1);
  if (row == s->f->row && s->f->cursor_col >= col && s->f->cursor_col < col + s->run)
    canvas_over(canvas, cell, STYLE_CURSOR);
  canvas_spot(canvas, cell, FRAGMENTS_SPOT_ELEMENT, fragments_spot(s->f, row, col));
}

// Columns count over all atoms on the left, and from the fragment's first on the right.
static void draw_header(Canvas *canvas, Rect in, const Sides *s, int side) {
  for (int i = 0; i < s->cells; i++) {
    const int col = s->first_col + (s->cell0 + i) * s->run;
    const bool here = s->f->cursor_col / s->run == col / s->run;
    canvas_printf(canvas, in, 0, LABEL_COLS + i * s->cell_cols, here ? STYLE_TITLE : STYLE_HEADER,
                  "%d", side ? col - s->first_col : col);
  }
}

static void draw_title(Canvas *canvas, Rect in, const Sides *s, int side) {
  const int first = s->first_col / s->sums.cols;
  const int last = (s->first_col + s->a.cols - 1) / s->sums.cols;
  if (side)
    canvas_printf(canvas, in, 0, 0, STYLE_TITLE, "A, %d×%d", s->a.rows, s->a.cols);
  else if (first == last)
    canvas_printf(canvas, in, 0, 0, STYLE_TITLE, "C, columns %d-%d", s->first_col,
                  s->first_col + s->a.cols - 1);
  else
    canvas_printf(canvas, in, 0, 0, STYLE_TITLE, "C of atoms %d-%d", first, last);
}

static void draw_side(Canvas *canvas, Rect in, const Sides *s, int side) {
  draw_title(canvas, rect_take_top(&in, 1), s, side);
  draw_header(canvas, rect_take_top(&in, 1), s, side);
  for (int r = 0; r < s->rows; r++) {
    const int row = s->row0 + r;
    canvas_printf(canvas, in, r, 0, row == s->f->row ? STYLE_TITLE : STYLE_HEADER, "%2d", row);
    for (int i = 0; i < s->cells; i++) {
      const Rect cell = {in.row + r, in.col + LABEL_COLS + i * s->cell_cols, 1, s->cell_cols - 1};
      draw_cell(canvas, rect_intersect(in, cell), s, side, row,
                s->first_col + (s->cell0 + i) * s->run);
    }
  }
}

// The registers of the chosen lane on both sides, those that are the same.
static void draw_list(Canvas *canvas, Rect in, const Sides *s) {
  const Fragments *f = s->f;
  const int n = fragment_packing(f->atom, ATOM_A).n_registers;
  canvas_printf(canvas, in, 0, 0, STYLE_TITLE, "lane %d", f->owner.lane);
  for (int reg = 0; reg < n; reg++) {
    const char *of = fragment_relayout_register(f->arena, f->atom, f->atom, f->owner.lane,
                                                s->first_col / s->a.cols, reg);
    const int col =
        canvas_printf(canvas, in, 1 + reg, 0, *of ? style_address(reg) : STYLE_DIM, "A r%d", reg);
    canvas_text(canvas, in, 1 + reg, col + 1, STYLE_TEXT, *of ? of : "of other lanes");
  }
}

static const char *element_text(const Sides *s) {
  const Fragments *f = s->f;
  const RelayoutElement e = fragment_relayout_element(&s->sums, &s->a, f->row, f->cursor_col);
  return arena_printf(
      f->arena, "C[%d][%d]: lane %d, v %d of atom %d; A[%d][%d]: lane %d, v %d in r%d", f->row,
      f->cursor_col, e.sum.lane, e.sum.value, e.atom, f->row, f->cursor_col % s->a.cols,
      e.operand.lane, e.operand.value, e.operand.value / s->per);
}

void fragments_draw_relayout(Canvas *canvas, Rect in, const Fragments *f) {
  rect_take_left(&in, 1);
  Rect words = rect_take_bottom(&in, in.rows > FRAGMENTS_ROWS_MIN ? TEXT_ROWS : 1);
  Sides s = sides_of(f, in);
  if (words.rows > 1)
    canvas_fit(canvas, rect_take_top(&words, 1), 0, 0, words.cols, ALIGN_LEFT, STYLE_TEXT,
               element_text(&s));
  canvas_wrap(canvas, words, s.f->in_place ? STYLE_OK : STYLE_BAD, f->relayout_text);
  const int cols = LABEL_COLS + s.cells * s.cell_cols;
  for (int side = 0; side < SIDES; side++) {
    draw_side(canvas, rect_take_left(&in, cols), &s, side);
    rect_take_left(&in, GAP_COLS);
  }
  if (in.cols >= LIST_COLS) draw_list(canvas, in, &s);
}
