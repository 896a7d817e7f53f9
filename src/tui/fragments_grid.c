// The operand as a grid, and the registers of one lane: both directions of a fragment.
//
//        0      2      4      6      8       lane 14
//    3   12:0,1 13:0,1 14:0,1 15:0,1 12:4,5  r0  [3][4,5]
//
// A cell is lane:value. Neighbours that one lane holds share a cell; the cells of the lane under
// the cursor wear the colour of their register, and so does the register in the list beside the
// grid.
#include <stdio.h>

#include "tui/fragments.h"
#include "tui/view.h"

enum { LABEL_COLS = 3, LANE_HEAD_ROWS = 1 };

// Neighbours in a row that one lane holds one after the other.
static int run_of_neighbours(const FragmentMap *map) {
  int run = 1;
  for (int b = 0; b < map->n_value_bits && map->col_of_value_bit[b] == run; b++) run *= 2;
  return run;
}

static int digits(int number) { return number < 10 ? 1 : number < 100 ? 2 : 3; }

// Columns of the widest "lane:", of its values, and of the cell with the blank after it.
typedef struct CellShape {
  int run, lane, values, all;
} CellShape;

static CellShape cell_shape(const Fragments *f) {
  CellShape shape = {.run = run_of_neighbours(&f->map), .lane = digits(f->map.n_lanes - 1) + 1};
  int value = digits(f->map.n_values - 1);
  shape.values = shape.run == 1 ? value : 2 * value + 1;
  shape.all = shape.lane + shape.values + 1;
  return shape;
}

int fragments_grid_cols(const Fragments *f) {
  CellShape shape = cell_shape(f);
  return LABEL_COLS + f->map.cols / shape.run * shape.all;
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

static void draw_cell(Canvas *canvas, Rect cell, const Fragments *f, const CellShape *shape,
                      int row, int col) {
  FragmentOwner owner = fragment_map_owner(&f->map, row, col);
  bool mine = owner.lane == f->owner.lane;
  Style style = mine ? style_address(owner.value / f->packing.per_register) : STYLE_TEXT;
  int at = canvas_printf(canvas, cell, 0, 0, style, "%*d:", shape->lane - 1, owner.lane);
  draw_values(canvas, cell, at, style, row == f->row ? f->col - col : -1, owner.value, shape->run);
  canvas_spot(canvas, cell, FRAGMENTS_SPOT_ELEMENT, row * FRAGMENTS_BASE + col);
}

void fragments_draw_grid(Canvas *canvas, Rect in, const Fragments *f) {
  CellShape shape = cell_shape(f);
  int groups = f->map.cols / shape.run, fitting = (in.cols - LABEL_COLS + 1) / shape.all;
  if (fitting < 1 || in.rows < 2) return;
  int first_group = view_scroll(f->col / shape.run, groups, fitting);
  int first_row = view_scroll(f->row, f->map.rows, in.rows - 1);
  for (int i = 0; i < fitting && first_group + i < groups; i++) {
    int col = (first_group + i) * shape.run, at = LABEL_COLS + i * shape.all;
    bool here = f->col / shape.run == first_group + i;
    canvas_printf(canvas, in, 0, at + shape.lane, here ? STYLE_TITLE : STYLE_HEADER, "%d", col);
  }
  for (int r = 0; r + 1 < in.rows && first_row + r < f->map.rows; r++) {
    int row = first_row + r;
    canvas_printf(canvas, in, r + 1, 0, row == f->row ? STYLE_TITLE : STYLE_HEADER, "%2d", row);
    for (int i = 0; i < fitting && first_group + i < groups; i++) {
      Rect cell = {in.row + r + 1, in.col + LABEL_COLS + i * shape.all, 1, shape.all - 1};
      draw_cell(canvas, rect_intersect(in, cell), f, &shape, row, (first_group + i) * shape.run);
    }
  }
}

// ---- the registers of a lane --------------------------------------------------------------------

const char *fragments_register_text(const Fragments *f, int lane, int reg, char out[32]) {
  int per = f->packing.per_register, first = reg * per;
  FragmentElement from = fragment_map_element(&f->map, lane, first);
  FragmentElement to = fragment_map_element(&f->map, lane, first + per - 1);
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
