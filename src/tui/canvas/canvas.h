// A grid of cells: what views draw on, and what becomes a terminal, text, ANSI or SVG.
//
//   static void draw(Canvas *canvas, Rect in, const Session *session) {
//     canvas_frame(canvas, in, STYLE_BORDER, STYLE_TITLE, "KNOBS");
//     Rect body = rect_inset(in, 1, 1);
//     canvas_printf(canvas, body, 0, 0, STYLE_KNOB, "BM %d", bm);
//   }
//
// Every call takes the rectangle it may draw in; rows and columns count from that rectangle's
// corner and what lies outside it, or outside the canvas, is left out, so no caller needs to check.
// A text that loses something at the right edge ends there in an ellipsis; single characters, of
// which pictures are made, are just left out. A character two columns wide is drawn whole or not at
// all. Drawing never allocates and never fails.
//
// Text is UTF-8 of any origin: control characters, ill-formed bytes and characters that change the
// direction of writing appear as one '?', so nothing in a text can act on a terminal.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "tui/canvas/glyph.h"
#include "tui/canvas/rect.h"
#include "tui/canvas/theme.h"

enum { CANVAS_ROWS_MAX = 500, CANVAS_COLS_MAX = 1000, CELL_BYTES = 8, CANVAS_SPOTS = 4096 };

typedef struct Cell {
  char text[CELL_BYTES];  // the character, at most one combining one with it, terminated
  Style style;
  uint8_t width;  // columns: 1, 2, or 0 for the right half of a wide character
  uint8_t arms;   // of a line: which neighbours it reaches (canvas.c)
} Cell;

// A part of the screen where a click means something: the last spot that covers a cell counts.
typedef struct Spot {
  Rect area;
  int what, value;
} Spot;

typedef struct Canvas {
  int rows, cols;
  bool ascii;
  bool cursor_shown;
  int cursor_row, cursor_col;
  Cell *cells;  // rows * cols, row by row
  int n_spots;
  Spot spots[CANVAS_SPOTS];
  Arena *arena;
  int capacity;
} Canvas;

// Blank. Sizes are limited to 1 … CANVAS_*_MAX; the memory lives in `arena`.
Canvas *canvas_new(Arena *arena, int rows, int cols, bool ascii);
// Another size; everything is blank afterwards.
void canvas_resize(Canvas *canvas, int rows, int cols);
void canvas_clear(Canvas *canvas);
Rect canvas_rect(const Canvas *canvas);
const Cell *canvas_cell(const Canvas *canvas, int row, int col);  // NULL outside

// Text from one row and column on. Each returns the column after the text, as if nothing had been
// cut, so that calls can be chained:  col = canvas_text(…, col, …).
int canvas_text(Canvas *canvas, Rect in, int row, int col, Style style, const char *text);
int canvas_printf(Canvas *canvas, Rect in, int row, int col, Style style, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
// Whole or not at all: for the marks of an axis, which mean their place and nothing without it.
int canvas_label(Canvas *canvas, Rect in, int row, int col, Style style, const char *text);
int canvas_glyph(Canvas *canvas, Rect in, int row, int col, Style style, Glyph glyph);
int canvas_repeat(Canvas *canvas, Rect in, int row, int col, Style style, Glyph glyph, int n);

typedef enum Align { ALIGN_LEFT, ALIGN_RIGHT, ALIGN_CENTRE } Align;
// Text in exactly `cols` columns: padded with blanks, or cut with an ellipsis. Returns col + cols.
int canvas_fit(Canvas *canvas, Rect in, int row, int col, int cols, Align align, Style style,
               const char *text);
// Text broken at blanks (and inside a word that is longer than a line) over the rows of `in`.
// Returns the rows it needs, drawn or not; '\n' starts a new one. Where it needs more than `in`
// has, the last row ends in an ellipsis.
int canvas_wrap(Canvas *canvas, Rect in, Style style, const char *text);
// The same without its first lines, for text that scrolls.
int canvas_wrap_from(Canvas *canvas, Rect in, Style style, const char *text, int first);
int canvas_wrap_rows(const char *text, int cols);
// Bytes of the first of those lines, and in `skip` the number of bytes to leave out after them.
size_t canvas_line_bytes(const char *text, int cols, size_t *skip);

void canvas_fill(Canvas *canvas, Rect in, Style style);  // blanks
// Gives cells another style, or lays one over theirs, and leaves the characters.
void canvas_restyle(Canvas *canvas, Rect in, Style style);
void canvas_over(Canvas *canvas, Rect in, StyleRole over);

// Lines join the lines they touch or cross.
void canvas_hline(Canvas *canvas, Rect in, int row, int col, int n, Style style);
void canvas_vline(Canvas *canvas, Rect in, int row, int col, int n, Style style);
// The left half of `in`, with a line between it and the rest.
Rect canvas_halve(Canvas *canvas, Rect *in);
// The border of `in` with a title in its top line; NULL for none.
void canvas_frame(Canvas *canvas, Rect in, Style style, Style title_style, const char *title);

// A bar of `cols` columns filled to `fraction` (0 … 1; NaN draws none of it) in eighths of a cell.
void canvas_bar(Canvas *canvas, Rect in, int row, int col, int cols, double fraction, Style style);
// One column for each value, as high as its share of `top`; NaN leaves a blank.
void canvas_spark(Canvas *canvas, Rect in, int row, int col, const double *values, int n,
                  double top, Style style);

void canvas_set_cursor(Canvas *canvas, Rect in, int row, int col);
// Marks the cells of `area` as clickable; later spots lie above earlier ones.
void canvas_spot(Canvas *canvas, Rect area, int what, int value);
const Spot *canvas_spot_at(const Canvas *canvas, int row, int col);  // NULL: none
