// Tensor memory: columns to the right by the sums that they hold, lanes down by the warp that reads
// them.
//
//   columns      0       128     256     384
//   sums         aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb     a: products that warp 8 issues
//   lanes  0-31  00000000000000004444444444444444     warp 0 reads a, warp 4 reads b
//
// Columns of scale factors have a letter of their own, and in the lanes the warp that copies them
// and multiplies by them: all four quarters hold the same.
#include <inttypes.h>
#include <stdio.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "tui/views/memory/chip.h"

enum { LABEL = 15, CELLS_WIDE = 64, CELLS_NARROW = 16, MARKS = 4 };

static int cells_of(Rect in) {
  int cells = CELLS_WIDE;
  while (cells > CELLS_NARROW && cells > in.cols - LABEL) cells /= 2;
  return cells;
}

// The range that has a column; -1: none.
static int range_at(const ChipTensor *tensor, int column) {
  for (int i = 0; i < tensor->n; i++) {
    const ChipRange *range = &tensor->range[i];
    if (column >= range->first && column < range->first + range->n) return i;
  }
  return -1;
}

static char digit(int number) {
  return number < 0 ? '?' : number < 10 ? (char)('0' + number) : (char)('a' + number - 10);
}

static void draw_axis(Canvas *canvas, Rect row, int cells) {
  canvas_text(canvas, row, 0, 1, STYLE_HEADER, "columns");
  for (int i = 0; i < MARKS; i++)
    canvas_printf(canvas, row, 0, LABEL + i * cells / MARKS, STYLE_DIM, "%d",
                  i * TENSOR_COLUMNS / MARKS);
}

// A cell of the sums' row (quarter -1), or of 32 lanes: the owner. Free cells are dots, and cells
// that are allocated without an owner are dashes.
static void draw_cell(Canvas *canvas, Rect row, int col, const ChipTensor *tensor, int column,
                      int quarter) {
  const int at = range_at(tensor, column);
  if (at < 0) {
    canvas_glyph(canvas, row, 0, col, STYLE_DIM,
                 column < tensor->columns ? GLYPH_HLINE : GLYPH_MIDDLE_DOT);
    return;
  }
  const char text[2] = {quarter < 0 ? (char)('a' + at) : digit(tensor->range[at].reader[quarter]),
                        '\0'};
  canvas_text(canvas, row, 0, col, (Style)(STYLE_ADDRESS_0 + at % 8), text);
}

static void draw_lanes(Canvas *canvas, Rect row, const ChipTensor *tensor, int cells, int quarter) {
  bool factors = false;
  for (int i = 0; i < tensor->n; i++) factors |= tensor->range[i].factors != NULL;
  if (quarter < 0)
    canvas_text(canvas, row, 0, 1, STYLE_TEXT, factors ? "sums, factors" : "sums");
  else
    canvas_printf(canvas, row, 0, 1, STYLE_TEXT, "lanes %3d-%d", quarter * 32, quarter * 32 + 31);
  for (int cell = 0; cell < cells; cell++)
    draw_cell(canvas, row, LABEL + cell, tensor, cell * TENSOR_COLUMNS / cells, quarter);
}

static void draw_range(Canvas *canvas, Rect row, const ChipTensor *tensor, int at) {
  const ChipRange *range = &tensor->range[at];
  unsigned readers = 0;
  char text[CHIP_TEXT];
  for (int q = 0; q < TENSOR_QUARTERS; q++)
    if (range->reader[q] >= 0) readers |= 1U << range->reader[q];
  const char letter[2] = {(char)('a' + at), '\0'};
  canvas_text(canvas, row, 0, 1, (Style)(STYLE_ADDRESS_0 + at % 8), letter);
  if (range->factors) {
    const bool a = range->factors->role == ROLE_TENSOR_SFA;
    const int end = canvas_printf(canvas, row, 0, 3, STYLE_TEXT, "columns %d-%d  factors of %s",
                                  range->first, range->first + range->n - 1, a ? "A" : "B");
    canvas_printf(canvas, row, 0, end, STYLE_TEXT, ", warp %d copies them", range->asks);
    return;
  }
  int col = canvas_printf(canvas, row, 0, 3, STYLE_TEXT, "columns %d-%d  warp %d issues",
                          range->first, range->first + range->n - 1, range->asks);
  col = canvas_printf(canvas, row, 0, col, STYLE_TEXT, ", %s read%s",
                      chip_numbers(text, "warp", readers), readers & (readers - 1) ? "" : "s");
  col = canvas_printf(canvas, row, 0, col, STYLE_DIM, "  rows of A_s from %" PRId64, range->row);
  if (tensor->n_sets > 1)
    canvas_printf(canvas, row, 0, col, STYLE_DIM, ", tiles %% %d = %d", tensor->n_sets, range->set);
}

static void draw_words(Canvas *canvas, Rect in, const ChipTensor *tensor) {
  char text[300];
  rect_take_left(&in, 1);
  snprintf(
      text, sizeof text,
      "A digit names the warp that reads: warp w reads the 32 lanes from 32 * (w %% 4) on, and "
      "row r of a tile lies in lane r. All lanes of warp %d allocate%s the columns, a power of "
      "two; warp %d frees them when all warps have read.",
      tensor->allocates, tensor->pair ? ", for both CTAs," : "", tensor->frees);
  canvas_wrap(canvas, in, STYLE_NOTE, text);
}

int chip_tensor_rows(const ChipSide *side) {
  if (!side->chip || !side->chip->tensor.columns) return 3;
  return 1 + 2 + TENSOR_QUARTERS + side->chip->tensor.n + 3;
}

void chip_draw_tensor(Canvas *canvas, Rect in, const ChipSide *side) {
  const ChipTensor *tensor = side->chip ? &side->chip->tensor : NULL;
  Rect title = rect_take_top(&in, 1);
  int col = canvas_text(canvas, title, 0, 1, STYLE_TITLE, "TENSOR MEMORY");
  if (!tensor || !tensor->columns) {
    rect_take_left(&in, 1);
    canvas_wrap(canvas, in, STYLE_DIM,
                "none: the sums lie in registers. tcgen05 keeps sums in tensor memory: see "
                "ladder blackwell, TARGET=b200.");
    return;
  }
  canvas_printf(canvas, title, 0, col + 2, STYLE_TEXT,
                "%" PRId64 " of %d columns allocated, 128 lanes of 32 bits each", tensor->columns,
                TENSOR_COLUMNS);
  const int cells = cells_of(in);
  draw_axis(canvas, rect_take_top(&in, 1), cells);
  for (int q = -1; q < TENSOR_QUARTERS; q++)
    draw_lanes(canvas, rect_take_top(&in, 1), tensor, cells, q);
  for (int i = 0; i < tensor->n; i++) draw_range(canvas, rect_take_top(&in, 1), tensor, i);
  draw_words(canvas, in, tensor);
}
