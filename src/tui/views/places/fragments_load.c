// ldmatrix: who addresses what, and who receives it.
//
// On the left shared memory as the instruction sees it: each row of 16 bytes with the lane that
// gives its address and the lanes it goes to. On the right the row under the cursor alone:
//
//   T5 addresses [5][0-7]: row 5 of matrix 0
//   │0,1      │2,3      │4,5      │6,7      │
//    T20 r0    T21 r0    T22 r0    T23 r0
//
// and the way back: from whose rows the registers of one lane come. Every matrix is a phase of its
// own: eight row addresses are served together.
#include <stdio.h>

#include "tui/frame/view.h"
#include "tui/views/places/fragments.h"

enum { LABEL_COLS = 4, PLAIN_COLS = 14, TRANS_COLS = 15, BOX_COLS_MAX = 10 };

static int cell_cols(const FragmentMemory *memory) {
  return memory->load.trans ? TRANS_COLS : PLAIN_COLS;
}

int fragments_tiles_cols(const Fragments *f) {
  return LABEL_COLS + f->memory.chunks * cell_cols(&f->memory);
}

static int matrix_of(int lane) { return lane % 32 / LDMATRIX_ROWS; }

// ---- all rows -----------------------------------------------------------------------------------

static void draw_row(Canvas *canvas, Rect cell, const Fragments *f, int lane) {
  int lanes[8], base = lane / 32 * 32;
  int n = ldmatrix_receivers(f->memory.load.trans, lane % LDMATRIX_ROWS, lanes);
  int col = canvas_printf(canvas, cell, 0, 0, style_address(matrix_of(lane)), "T%d", lane);
  col = canvas_glyph(canvas, cell, 0, col, STYLE_DIM, GLYPH_ARROW_RIGHT);
  if (n == 8) {
    col =
        canvas_printf(canvas, cell, 0, col, STYLE_TEXT, "T%d,%d", lanes[0] + base, lanes[1] + base);
    canvas_printf(canvas, cell, 0, col, STYLE_TEXT, "…%d", lanes[7] + base);
  } else {
    canvas_printf(canvas, cell, 0, col, STYLE_TEXT, "T%d-%d", lanes[0] + base, lanes[3] + base);
  }
  FragmentElement at = ldmatrix_address(&f->memory.load, lane);
  canvas_spot(canvas, cell, FRAGMENTS_SPOT_ELEMENT, fragments_spot(f, at.row, at.col));
  if (lane == f->address_lane) canvas_over(canvas, cell, STYLE_CURSOR);
}

static int memory_row(const Fragments *f) { return f->memory.row_is_row ? f->row : f->col; }

static int memory_chunk(const Fragments *f) {
  return (f->memory.row_is_row ? f->col : f->row) / f->memory.chunk_elems;
}

void fragments_draw_tiles(Canvas *canvas, Rect in, const Fragments *f) {
  const FragmentMemory *memory = &f->memory;
  int width = cell_cols(memory), fitting = (in.cols - LABEL_COLS + 2) / width;
  int first = view_scroll(memory_row(f), memory->rows, in.rows - 1);
  int first_chunk = view_scroll(memory_chunk(f), memory->chunks, fitting);
  canvas_text(canvas, in, 0, 1, STYLE_HEADER, memory->row_axis);
  for (int c = 0; c < fitting && first_chunk + c < memory->chunks; c++) {
    int chunk = first_chunk + c, at = LABEL_COLS + c * width, elem = chunk * memory->chunk_elems;
    canvas_printf(canvas, in, 0, at, STYLE_HEADER, "%s %d-%d", memory->col_axis, elem,
                  elem + memory->chunk_elems - 1);
    for (int i = 0; i + 1 < in.rows && first + i < memory->rows; i++) {
      Rect cell = {in.row + i + 1, in.col + at, 1, width - 2};
      int lane = memory->lane_at[first + i][chunk];
      if (lane >= 0) draw_row(canvas, rect_intersect(in, cell), f, lane);
    }
  }
  for (int i = 0; i + 1 < in.rows && first + i < memory->rows; i++)
    canvas_printf(canvas, in, i + 1, 0, first + i == memory_row(f) ? STYLE_TITLE : STYLE_HEADER,
                  "%2d", first + i);
}

// ---- one row ------------------------------------------------------------------------------------

static void draw_address(Canvas *canvas, Rect in, const Fragments *f) {
  const FragmentMemory *memory = &f->memory;
  FragmentElement at = ldmatrix_address(&memory->load, f->address_lane);
  int last = memory->chunk_elems - 1;
  int col = canvas_printf(canvas, in, 0, 0, style_address(matrix_of(f->address_lane)), "T%d",
                          f->address_lane);
  col = canvas_text(canvas, in, 0, col, STYLE_TEXT, " addresses ");
  if (memory->row_is_row)
    col = canvas_printf(canvas, in, 0, col, STYLE_TITLE, "[%d][%d-%d]", at.row, at.col,
                        at.col + last);
  else
    col = canvas_printf(canvas, in, 0, col, STYLE_TITLE, "[%d-%d][%d]", at.row, at.row + last,
                        at.col);
  canvas_printf(canvas, in, 0, col, STYLE_TEXT, ": row %d of matrix %d",
                f->address_lane % LDMATRIX_ROWS, matrix_of(f->address_lane));
}

// "0,1", "4-7": the elements of a box, counted along the row from its beginning in the operand.
static void draw_box(Canvas *canvas, Rect box, const Fragments *f, int n_boxes, int i) {
  const FragmentMemory *memory = &f->memory;
  FragmentElement at = ldmatrix_address(&memory->load, f->address_lane);
  int each = memory->chunk_elems / n_boxes;
  int first = (memory->row_is_row ? at.col : at.row) + i * each, last = first + each - 1;
  canvas_glyph(canvas, box, 0, 0, STYLE_BORDER, GLYPH_VLINE);
  const char *format = each == 1 ? "%d" : each == 2 ? "%d,%d" : "%d-%d";
  char text[24];
  snprintf(text, sizeof text, format, first, last);
  canvas_text(canvas, box, 0, 1, STYLE_TEXT, text);
  canvas_glyph(canvas, box, 1, 1, STYLE_DIM, GLYPH_ARROW_DOWN);
}

static void draw_receiver(Canvas *canvas, Rect box, const Fragments *f, int lane) {
  int matrix = matrix_of(f->address_lane);
  bool trans = f->memory.load.trans;
  canvas_printf(canvas, box, 2, 1, STYLE_TITLE, "T%d", lane);
  canvas_printf(canvas, box, 3, 1, style_address(matrix), "r%d", matrix);
  if (trans) canvas_text(canvas, box, 4, 1, STYLE_TEXT, f->address_lane % 2 ? "high" : "low");
  if (lane == f->owner.lane)
    canvas_over(canvas, rect_intersect(box, (Rect){box.row + 2, box.col + 1, 1, box.cols - 1}),
                STYLE_CURSOR);
}

static int draw_boxes(Canvas *canvas, Rect in, const Fragments *f) {
  int lanes[8], row = f->address_lane % LDMATRIX_ROWS, base = f->address_lane / 32 * 32;
  int n = ldmatrix_receivers(f->memory.load.trans, row, lanes);
  int width = (in.cols - 1) / n < BOX_COLS_MAX ? (in.cols - 1) / n : BOX_COLS_MAX;
  for (int i = 0; i < n; i++) {
    Rect box = rect_intersect(in, (Rect){in.row, in.col + i * width, in.rows, width});
    draw_box(canvas, box, f, n, i);
    draw_receiver(canvas, box, f, lanes[i] + base);
  }
  canvas_glyph(canvas, in, 0, n * width, STYLE_BORDER, GLYPH_VLINE);
  return n == 8 ? 5 : 4;
}

// Which lanes address the rows that make up a register of the owner.
static void draw_back(Canvas *canvas, Rect in, const Fragments *f) {
  const LdMatrix *load = &f->memory.load;
  char text[32];
  canvas_printf(canvas, in, 0, 0, STYLE_TITLE, "T%d receives", f->owner.lane);
  int base = f->owner.lane / 32 * 32, lane = f->owner.lane % 32;
  for (int reg = 0; reg < load->n_matrices; reg++) {
    int from = base + ldmatrix_addressing_lane(reg, ldmatrix_element(load->trans, lane, 0).row);
    int to = base + ldmatrix_addressing_lane(reg, ldmatrix_element(load->trans, lane, 1).row);
    int col = canvas_printf(canvas, in, 1 + reg, 1, style_address(reg), "r%d", reg);
    canvas_text(canvas, in, 1 + reg, col + 1, STYLE_TEXT,
                fragments_register_text(f, f->owner.lane, reg, text));
    canvas_printf(canvas, in, 1 + reg, 18, STYLE_TEXT, from == to ? "from T%d" : "from T%d, T%d",
                  from, to);
    if (reg == f->reg) canvas_glyph(canvas, in, 1 + reg, 0, STYLE_TITLE, GLYPH_POINTER);
  }
}

static void draw_phases(Canvas *canvas, Rect in, const Fragments *f) {
  const FragmentMemory *memory = &f->memory;
  int n = memory->load.n_matrices;
  int title = canvas_printf(canvas, in, 0, 0, STYLE_TITLE, n == 1 ? "1 phase" : "%d phases", n);
  canvas_text(canvas, in, 0, title, STYLE_DIM, ", eight row addresses each");
  for (int i = 0; i < n; i++) {
    canvas_printf(canvas, in, 1 + i, 1, style_address(i), "m%d", i);
    int col = canvas_text(canvas, in, 1 + i, 4, STYLE_TEXT, memory->matrix_text[i]);
    canvas_glyph(canvas, in, 1 + i, col + 1, STYLE_DIM, GLYPH_ARROW_RIGHT);
    canvas_printf(canvas, in, 1 + i, col + 3, STYLE_TEXT, "r%d", i);
    if (i == matrix_of(f->address_lane))
      canvas_glyph(canvas, in, 1 + i, 0, STYLE_TITLE, GLYPH_POINTER);
  }
  if (n < LDMATRIX_MATRICES_MAX)
    canvas_printf(canvas, in, 1 + n, 1, STYLE_DIM, "lanes %d-31 have no address",
                  n * LDMATRIX_ROWS);
  int row = 1 + n + (n < LDMATRIX_MATRICES_MAX), values = f->map.n_values;
  if (row < in.rows)
    canvas_printf(canvas, in, row, 0, STYLE_DIM, "by value: %d loads of 32 lanes = %d addresses",
                  values, values * LANES);
}

void fragments_draw_shuffle(Canvas *canvas, Rect in, const Fragments *f) {
  int n = f->memory.load.n_matrices;
  draw_address(canvas, rect_take_top(&in, 1), f);
  Rect boxes = in;
  rect_take_top(&in, draw_boxes(canvas, boxes, f));
  if (in.rows > 2 * n + 2) rect_take_top(&in, 1);
  draw_back(canvas, rect_take_top(&in, 1 + n), f);
  if (in.rows > n + 1) rect_take_top(&in, 1);
  draw_phases(canvas, in, f);
}
