// Rectangles of cells: where a view may draw, and how a screen is cut into panes.
//
// Nothing here can produce a negative size: what does not fit becomes empty, and drawing into an
// empty rectangle draws nothing, so a layout needs no special case for small screens.
//
//   Rect body = canvas_rect(canvas);
//   Rect header = rect_take_top(&body, 1);     row 0; body is the rest
//   Rect knobs = rect_take_left(&body, 30);    30 columns, or what there is
#pragma once
#include <stdbool.h>

typedef struct Rect {
  int row, col, rows, cols;
} Rect;

bool rect_empty(Rect rect);
bool rect_contains(Rect rect, int row, int col);
bool rect_equal(Rect a, Rect b);
// The cells that both have; an empty rectangle when there are none.
Rect rect_intersect(Rect a, Rect b);
// Without `rows` rows at the top and at the bottom and `cols` columns at either side.
Rect rect_inset(Rect rect, int rows, int cols);

// Cuts a strip off `rest` and returns it.
Rect rect_take_top(Rect *rest, int rows);
Rect rect_take_bottom(Rect *rest, int rows);
Rect rect_take_left(Rect *rest, int cols);
Rect rect_take_right(Rect *rest, int cols);
