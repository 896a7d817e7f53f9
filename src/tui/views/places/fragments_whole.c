// A on the left, B above, C where the rows of one meet the columns of the other:
//
//   lane 5 holds …            B k×n    0    1    2
//   row = lane / 4 + …         0     0:0  4:0  8:0
//   A m×k  0     2     4      C m×n  0     2     4
//    0     0:0,1 1:0,1 2:0,1   0     0:0,1 1:0,1 2:0,1
//
// Worked example, m16n8k16.f16 at 120 x 40: A takes 59 columns, B and C 43, so cells say lane and
// values; B takes 17 rows and so do A and C, 34 of the 36 there are. m16n8k32.s8 has 33 rows of B:
// its cells run down k, four values of a register each, and where A's 75 columns beside them are
// too many a cell says its lane alone.
#include <stdio.h>

#include "base/whole.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/views/places/fragments.h"

enum {
  GAP_COLS = 3,
  LIST_COLS = 17,
  LIST_REGISTERS = 6,
  TEXT_ROWS = 4,
  B_ROWS_MIN = 6,
  A_COLS_MIN = 24
};

// How large the parts are with the cells as they are now.
typedef struct Need {
  int left, right, top, bottom;
} Need;

static Need need_of(const FragmentsWhole *whole) {
  const Fragments *a = &whole->of[ATOM_A], *b = &whole->of[ATOM_B], *c = &whole->of[ATOM_C];
  int b_cols = b->held ? fragments_grid_cols(b) : 0;
  return (Need){.left = a->held ? fragments_grid_cols(a) : A_COLS_MIN,
                .right = max_int(b_cols, fragments_grid_cols(c)),
                .top = b->held ? fragments_grid_rows(b) : B_ROWS_MIN,
                .bottom = max_int(fragments_grid_rows(a), fragments_grid_rows(c))};
}

// The corner names a lane of each operand, "C, lane 31" last.
static bool fits(const Need *need, Rect in) {
  enum { NAMES_COLS = 2 * LIST_COLS + 10 };
  const int left = max_int(need->left, NAMES_COLS);
  return left + GAP_COLS + need->right <= in.cols && need->top + need->bottom < in.rows;
}

// The largest cells with which everything is on the screen; the smallest where nothing does it.
static Need shrink(FragmentsWhole *whole, Rect in) {
  bool *const smaller[] = {&whole->of[ATOM_B].by_k, &whole->of[ATOM_A].bare,
                           &whole->of[ATOM_B].bare, &whole->of[ATOM_C].bare};
  Need need = need_of(whole);
  for (int i = 0; i < 4 && !fits(&need, in); i++) {
    *smaller[i] = true;
    need = need_of(whole);
  }
  return need;
}

Rect fragments_whole_spare(const FragmentsWhole *whole, Rect *in, int rows, int cols) {
  Need need = need_of(whole);
  bool fit = fits(&need, *in);
  int right = in->cols - max_int(need.left, 3 * LIST_COLS) - need.right - 2 * GAP_COLS;
  int below = in->rows - need.top - need.bottom - 2;
  if (fit && right >= cols) return rect_take_right(in, cols);
  return rect_take_bottom(in, fit && below >= rows ? rows : 0);
}

// Tells where an operand is that no register holds.
static void draw_not_held(Canvas *canvas, Rect in, const Fragments *f) {
  if (!atom_is_of_thread(f->atom))
    canvas_wrap(canvas, in, STYLE_DIM,
                "No register holds B: wgmma reads it from shared memory by a descriptor, see view "
                "D. A is read the same way unless A_REGS=1. Warp w of the four has rows 16·w to "
                "16·w + 15 of A and C.");
  else if (f->operand == ATOM_A)
    canvas_wrap(canvas, in, STYLE_DIM, "A is read from shared memory by a descriptor, as B is.");
  if (!atom_is_of_thread(f->atom) || f->operand == ATOM_A) return;
  rect_take_top(&in, canvas_wrap(canvas, in, STYLE_DIM,
                                 "B is read from shared memory by a descriptor. Warp w of four "
                                 "reads lanes 32·w to 32·w + 31 of C, one column into each "
                                 "register."));
  canvas_wrap(canvas, in, STYLE_DIM, f->lanes_text);
}

static void draw_operand(Canvas *canvas, Rect in, const Fragments *f) {
  static const char *const axes[] = {"m×k", "k×n", "m×n"};
  if (!f->held) {
    draw_not_held(canvas, in, f);
    return;
  }
  fragments_draw_grid(canvas, in, f);
  int width = fragments_grid_cols(f) + 1;
  int col = canvas_text(canvas, in, 0, 0, f->beside ? STYLE_DIM : STYLE_TITLE,
                        atom_operand_name(f->operand));
  const char *cells = f->bare   ? "  cell = lane"
                      : f->by_k ? "  cell = lane:values down k"
                                : "  cell = lane:values";
  int end = width + utf8_columns(axes[f->operand]), all = end + utf8_columns(cells);
  if (end <= in.cols) canvas_text(canvas, in, 0, width, STYLE_DIM, axes[f->operand]);
  if (all <= in.cols) canvas_text(canvas, in, 0, end, STYLE_DIM, cells);
  if (!f->beside)
    canvas_over(canvas, rect_intersect(in, (Rect){in.row, in.col, 1, col}), STYLE_SELECTED);
}

// "A r0 [0][0,1]": what the lane holds of an operand.
static void draw_list(Canvas *canvas, Rect in, const Fragments *f) {
  char text[32];
  int n = f->packing.n_registers, room = in.rows - 1, rows = n > room ? room - 1 : room;
  int first = f->beside ? 0 : view_scroll(f->reg, n, rows);
  canvas_printf(canvas, in, 0, 0, f->beside ? STYLE_HEADER : STYLE_TITLE, "%s, lane %d",
                atom_operand_name(f->operand), f->owner.lane);
  for (int i = 0; i < rows && first + i < n; i++) {
    int reg = first + i;
    bool here = !f->beside && reg == f->reg;
    if (here) canvas_glyph(canvas, in, i + 1, 0, STYLE_TITLE, GLYPH_POINTER);
    int col = canvas_printf(canvas, in, i + 1, 1, style_address(reg), "r%d", reg);
    canvas_text(canvas, in, i + 1, col + 1, here ? STYLE_TITLE : STYLE_TEXT,
                fragments_register_text(f, f->owner.lane, reg, text));
  }
  if (n > room && room > 0) canvas_printf(canvas, in, room, 1, STYLE_DIM, "… of %d", n);
}

static int list_rows(const FragmentsWhole *whole) {
  int most = 0;
  for (int i = 0; i < ATOM_OPERANDS; i++)
    if (whole->of[i].held) most = max_int(most, whole->of[i].packing.n_registers);
  return 1 + min_int(most, LIST_REGISTERS);
}

// As much as has room.
static void draw_words(Canvas *canvas, Rect in, const Fragments *f) {
  int rows = fragments_formula_rows(f, in.cols);
  if (in.rows < rows) return;
  fragments_draw_formulas(canvas, rect_take_top(&in, rows), f);
  rect_take_top(&in, 1);
  rect_take_left(&in, 1);
  if (in.rows >= TEXT_ROWS) fragments_draw_facts(canvas, in, f);
}

// The corner that neither A nor B needs: the lane's registers, then words as far as there is room.
static void draw_corner(Canvas *canvas, Rect in, const FragmentsWhole *whole, const Fragments *f) {
  Rect lists = rect_take_top(&in, min_int(in.rows, list_rows(whole)));
  for (int i = 0; i < ATOM_OPERANDS; i++)
    if (whole->of[i].held) draw_list(canvas, rect_take_left(&lists, LIST_COLS), &whole->of[i]);
  rect_take_top(&in, 1);
  draw_words(canvas, in, f);
}

void fragments_draw_whole(Canvas *canvas, Rect in, FragmentsWhole *whole, AtomOperand cursor) {
  const Fragments *f = &whole->of[cursor];
  Need need = shrink(whole, in);
  int top = min_int(need.top, max_int(in.rows / 2, in.rows - need.bottom));
  int left = need.left;
  if (fits(&need, in))
    left = min_int(max_int(left, 3 * LIST_COLS), in.cols - GAP_COLS - need.right);
  left = min_int(left, in.cols / 2 + GAP_COLS);
  Rect below = in;
  rect_take_top(&below, top + need.bottom + 1);
  bool beside = top >= list_rows(whole) + fragments_formula_rows(f, left) + 2;
  if (!beside) draw_words(canvas, below, f);
  Rect above = rect_take_top(&in, top);
  Rect corner = rect_take_left(&above, left);
  rect_take_left(&above, GAP_COLS);
  draw_operand(canvas, above, &whole->of[ATOM_B]);
  corner.rows--;  // a blank above A
  draw_corner(canvas, corner, whole, f);
  draw_operand(canvas, rect_take_left(&in, left), &whole->of[ATOM_A]);
  rect_take_left(&in, GAP_COLS);
  draw_operand(canvas, in, &whole->of[ATOM_C]);
}
