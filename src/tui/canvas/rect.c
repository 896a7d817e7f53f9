// Cutting rectangles.
//
// A strip is cut from the rectangle, never more: taking 3 rows off the 2-row rectangle {5,0,2,80}
// returns {5,0,2,80} and leaves {7,0,0,80}, which is empty and stays where the strip ended.
#include "tui/canvas/rect.h"

#include "base/whole.h"

static Rect rect_make(int row, int col, int rows, int cols) {
  return (Rect){row, col, max_int(0, rows), max_int(0, cols)};
}

bool rect_empty(Rect rect) { return rect.rows <= 0 || rect.cols <= 0; }

bool rect_contains(Rect rect, int row, int col) {
  return row >= rect.row && row - rect.row < rect.rows && col >= rect.col &&
         col - rect.col < rect.cols;
}

bool rect_equal(Rect a, Rect b) {
  return a.row == b.row && a.col == b.col && a.rows == b.rows && a.cols == b.cols;
}

Rect rect_intersect(Rect a, Rect b) {
  int row = max_int(a.row, b.row), col = max_int(a.col, b.col);
  int row_end = min_int(a.row + a.rows, b.row + b.rows);
  int col_end = min_int(a.col + a.cols, b.col + b.cols);
  return rect_make(row, col, row_end - row, col_end - col);
}

Rect rect_inset(Rect rect, int rows, int cols) {
  return rect_make(rect.row + rows, rect.col + cols, rect.rows - 2 * rows, rect.cols - 2 * cols);
}

Rect rect_take_top(Rect *rest, int rows) {
  rows = min_int(max_int(0, rows), rest->rows);
  Rect strip = {rest->row, rest->col, rows, rest->cols};
  rest->row += rows;
  rest->rows -= rows;
  return strip;
}

Rect rect_take_bottom(Rect *rest, int rows) {
  rows = min_int(max_int(0, rows), rest->rows);
  rest->rows -= rows;
  return (Rect){rest->row + rest->rows, rest->col, rows, rest->cols};
}

Rect rect_take_left(Rect *rest, int cols) {
  cols = min_int(max_int(0, cols), rest->cols);
  Rect strip = {rest->row, rest->col, rest->rows, cols};
  rest->col += cols;
  rest->cols -= cols;
  return strip;
}

Rect rect_take_right(Rect *rest, int cols) {
  cols = min_int(max_int(0, cols), rest->cols);
  rest->cols -= cols;
  return (Rect){rest->row, rest->col + rest->cols, rest->rows, cols};
}
