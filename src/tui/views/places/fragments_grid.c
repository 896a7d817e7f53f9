// The operand as a grid, and the registers of one lane: both directions of a fragment.
//
//        0      2      4      6      8       lane 14
//    3   12:0,1 13:0,1 14:0,1 15:0,1 12:4,5  r0  [3][4,5]
//
// A cell is lane:value. Neighbours that one lane holds share a cell; the cells of the lane under
// the cursor wear the colour of their register, and so does the register in the list beside the
// grid. Without colour they are underlined. Of a warpgroup's 64 rows each warp has 16, of tensor
// memory's 128 each has 32: w0 to w3; in the second CTA of a pair w4 to w7.
#include <stdio.h>

#include "tui/frame/view.h"
#include "tui/views/places/fragments.h"

enum { ROW_COLS = 3, WARP_COLS = 3, LANE_HEAD_ROWS = 1 };

// Each row of a warpgroup's atom has its warp in front.
static int label_cols(const Fragments *f) {
  return atom_warps(f->atom) > 1 ? WARP_COLS + ROW_COLS : ROW_COLS;
}

static int digits(int number) { return number < 10 ? 1 : number < 100 ? 2 : 3; }

// Elements of a cell, and columns: of the widest "lane:", of its values, of all with the blank
// after it.
typedef struct CellShape {
  int rows, cols, run;
  int lane, values, all;
} CellShape;

static CellShape cell_shape(const Fragments *f) {
  int run = fragment_map_run(&f->map, f->by_k), value = digits(f->map.n_values - 1);
  CellShape shape = {.rows = f->by_k ? run : 1, .cols = f->by_k ? 1 : run, .run = run};
  shape.lane = digits(f->map.n_lanes - 1) + !f->bare;
  shape.values = f->bare ? 0 : run == 1 ? value : 2 * value + 1;
  shape.all = shape.lane + shape.values + 1;
  return shape;
}

int fragments_grid_cols(const Fragments *f) {
  CellShape shape = cell_shape(f);
  return label_cols(f) + f->map.cols / shape.cols * shape.all;
}

int fragments_grid_rows(const Fragments *f) { return 1 + f->map.rows / cell_shape(f).rows; }

int fragments_spot(const Fragments *f, int row, int col) {
  return ((int)f->operand * FRAGMENTS_BASE + row) * FRAGMENTS_BASE + col;
}

// Two neighbours are written one by one, so that the cursor can stand on either.
static void draw_values(Canvas *canvas, Rect cell, int col, Style style, int cursor, int first,
                        int run) {
  int begin = col, end = col;
  for (int i = 0; i < run && run <= 2; i++) {
    if (i) col = canvas_text(canvas, cell, 0, col, style, ",");
    if (i == cursor) begin = col;
    col = canvas_printf(canvas, cell, 0, col, style, "%d", first + i);
    if (i == cursor) end = col;
  }
  if (run > 2) end = canvas_printf(canvas, cell, 0, col, style, "%d-%d", first, first + run - 1);
  if (cursor >= 0 && cursor < run)
    canvas_over(canvas, rect_intersect(cell, (Rect){cell.row, cell.col + begin, 1, end - begin}),
                STYLE_CURSOR);
}

// Which of the cell's elements the cursor is on, -1 for none.
static int cursor_in(const Fragments *f, const CellShape *shape, int row, int col) {
  int down = f->row - row, right = f->col - col;
  bool inside = down >= 0 && down < shape->rows && right >= 0 && right < shape->cols;
  return inside && !f->beside ? down + right : -1;
}

FragmentOwner fragments_owner(const Fragments *f, int row, int col) {
  FragmentOwner owner = fragment_map_owner(&f->map, row, col);
  owner.lane |= f->product;
  return owner;
}

static void draw_cell(Canvas *canvas, Rect cell, const Fragments *f, const CellShape *shape,
                      int row, int col) {
  FragmentOwner owner = fragments_owner(f, row, col);
  bool mine = f->of_row ? row == f->row : owner.lane == f->owner.lane;
  int cursor = cursor_in(f, shape, row, col);
  Style style = STYLE_TEXT;
  if (mine) style = style_over(style_address(owner.value / f->packing.per_register), STYLE_HELD);
  int at =
      canvas_printf(canvas, cell, 0, 0, style,
                    f->bare ? "%*d" : "%*d:", f->bare ? shape->lane : shape->lane - 1, owner.lane);
  if (!f->bare)
    draw_values(canvas, cell, at, style, cursor, owner.value, shape->run);
  else if (cursor >= 0)
    canvas_over(canvas, cell, STYLE_CURSOR);
  canvas_spot(canvas, cell, FRAGMENTS_SPOT_ELEMENT, fragments_spot(f, row, col));
}

// "w1 16", " │ 17": the warp of a row, where there are four.
static void draw_label(Canvas *canvas, Rect in, const Fragments *f, int at, int row, bool here) {
  const int warp = fragment_map_owner(&f->map, row, 0).lane / LANES;
  const bool first = row == 0 || fragment_map_owner(&f->map, row - 1, 0).lane / LANES != warp;
  Style style = style_address(warp);
  bool mine = warp == f->owner.lane / LANES;
  if (atom_warps(f->atom) > 1 && (at == 0 || first))
    canvas_printf(canvas, in, at + 1, 0, mine ? style_over(style, STYLE_HELD) : style, "w%d", warp);
  else if (atom_warps(f->atom) > 1)
    canvas_glyph(canvas, in, at + 1, 1, mine ? STYLE_TITLE : STYLE_DIM, GLYPH_VLINE);
  canvas_printf(canvas, in, at + 1, label_cols(f) - ROW_COLS, here ? STYLE_TITLE : STYLE_HEADER,
                "%2d", row);
}

void fragments_draw_grid(Canvas *canvas, Rect in, const Fragments *f) {
  CellShape shape = cell_shape(f);
  int across = f->map.cols / shape.cols, fitting = (in.cols - label_cols(f) + 1) / shape.all;
  int down = f->map.rows / shape.rows;
  if (fitting < 1 || in.rows < 2) return;
  int first_col = view_scroll(f->col / shape.cols, across, fitting);
  int first_row = view_scroll(f->row / shape.rows, down, in.rows - 1);
  for (int i = 0; i < fitting && first_col + i < across; i++) {
    int col = (first_col + i) * shape.cols, at = label_cols(f) + i * shape.all;
    bool here = !f->beside && f->col / shape.cols == first_col + i;
    canvas_printf(canvas, in, 0, f->bare ? at : at + shape.lane, here ? STYLE_TITLE : STYLE_HEADER,
                  "%d", col);
  }
  for (int r = 0; r + 1 < in.rows && first_row + r < down; r++) {
    int row = (first_row + r) * shape.rows;
    bool here = !f->beside && f->row / shape.rows == first_row + r;
    draw_label(canvas, in, f, r, row, here);
    for (int i = 0; i < fitting && first_col + i < across; i++) {
      Rect cell = {in.row + r + 1, in.col + label_cols(f) + i * shape.all, 1, shape.all - 1};
      draw_cell(canvas, rect_intersect(in, cell), f, &shape, row, (first_col + i) * shape.cols);
    }
  }
}

// ---- the registers of a lane --------------------------------------------------------------------

const char *fragments_register_text(const Fragments *f, int lane, int reg, char out[32]) {
  int per = f->packing.per_register, first = reg * per;
  FragmentElement from = fragment_map_element(&f->map, lane, first);
  const int last = first + per - 1 < f->map.n_values ? first + per - 1 : f->map.n_values - 1;
  FragmentElement to = fragment_map_element(&f->map, lane, last);
  char joint = per == 2 ? ',' : '-';
  if (to.row != from.row)
    snprintf(out, 32, "[%d%c%d][%d]", from.row, joint, to.row, from.col);
  else if (to.col != from.col)
    snprintf(out, 32, "[%d][%d%c%d]", from.row, from.col, joint, to.col);
  else
    snprintf(out, 32, "[%d][%d]", from.row, from.col);
  return out;
}

void fragments_draw_lane(Canvas *canvas, Rect in, const Fragments *f) {
  int n = f->packing.n_registers, rows = in.rows - LANE_HEAD_ROWS;
  char text[32];
  canvas_printf(canvas, in, 0, 0, STYLE_TITLE, "lane %d holds", f->owner.lane);
  int first = view_scroll(f->reg, n, rows);
  for (int i = 0; i < rows && first + i < n; i++) {
    int reg = first + i, row = LANE_HEAD_ROWS + i;
    if (reg == f->reg) canvas_glyph(canvas, in, row, 0, STYLE_TITLE, GLYPH_POINTER);
    int col = canvas_printf(canvas, in, row, 1, style_address(reg), "r%d", reg);
    canvas_text(canvas, in, row, col + 1, reg == f->reg ? STYLE_TITLE : STYLE_TEXT,
                fragments_register_text(f, f->owner.lane, reg, text));
  }
}
