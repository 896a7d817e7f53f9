// From the canvas a terminal shows to the one it should show, in few bytes.
#pragma once
#include "base/str.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/theme.h"

typedef struct Present {
  const Theme *theme;
  ColorDepth depth;
  bool eight;                                // the terminal has 8 colours, not 16
  bool can_erase;                            // "\e[K" erases to the end of the row
  void (*move)(Str *out, int row, int col);  // the cursor; NULL: "\e[row;colH"
} Present;

// Appends what changes `before` into `after`; `before` NULL is a blank screen in the terminal's own
// colours with the cursor anywhere. Ends in the terminal's own colours. Cells of `after` outside
// rows x cols (a terminal that has just shrunk) are left out.
void present_difference(Str *out, const Present *present, const Canvas *before, const Canvas *after,
                        int rows, int cols);
