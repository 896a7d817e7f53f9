// Row by row, the runs of cells that changed.
//
// A cell changed when its text or its look did (two styles may look alike). Runs separated by a few
// unchanged cells are drawn as one, since repeating them is shorter than moving the cursor. A
// changed tail of blanks in the terminal's own background is erased with "\e[K".
//
// Worked example: "bk  32" becomes "bk  16" at row 4, column 10 in the same style. The run is
// columns 14 and 15: "\e[5;15H" + "16" = 9 bytes (and the colour, if it is not the default).
//
// After a wide or a combined character the cursor is set again: terminals disagree about how far
// those advance, and the rest of the row must not depend on it.
#include "tui/canvas/canvas_diff.h"

#include <stdio.h>
#include <string.h>

#include "tui/canvas/sgr.h"
#include "tui/canvas/utf8.h"

enum { GAP = 3, ERASE_FROM = 5 };

typedef struct Painter {
  Str *out;
  const Present *how;
  const Canvas *before, *after;
  int cols;
  int row, col;  // where the terminal's cursor is; row -1: unknown
  Look look;     // what it draws with
} Painter;

static Look look_of(const Painter *painter, const Cell *cell) {
  return theme_look(painter->how->theme, cell->style, painter->how->depth);
}

static const Cell *row_cells(const Canvas *canvas, int row) {
  return canvas && row < canvas->rows ? canvas->cells + row * canvas->cols : NULL;
}

// A look in which a blank cannot be seen: its foreground, bold and dim say nothing then.
static bool is_bare(Look look) {
  return look.bg.kind == COLOR_DEFAULT && !(look.attributes & (LOOK_REVERSE | LOOK_UNDERLINE));
}

static bool is_plain_blank(const Painter *painter, const Cell *cell) {
  return str_equal(cell->text, " ") && is_bare(look_of(painter, cell));
}

static bool changed(const Painter *painter, const Cell *before, const Cell *after, int col) {
  if (!before || col >= painter->before->cols) return !is_plain_blank(painter, after);
  if (memcmp(before->text, after->text, CELL_BYTES) || before->width != after->width) return true;
  if (before->style == after->style) return false;
  if (is_plain_blank(painter, before) && is_plain_blank(painter, after)) return false;
  return !look_equal(look_of(painter, before), look_of(painter, after));
}

// To a place in the next row, counted from where the cursor is: down, or to its begin and right.
static const char *step_down(const Painter *painter, int col, char *text, size_t size) {
  if (col == painter->col)
    snprintf(text, size, "\033[B");
  else if (col == 0)
    snprintf(text, size, "\r\n");
  else if (col == 1)
    snprintf(text, size, "\r\n\033[C");
  else
    snprintf(text, size, "\r\n\033[%dC", col);
  return text;
}

// The shorter of two ways: "\e[13;4H" says the place, "\r\n\e[3C" how to get there.
static void move_by_text(Painter *painter, int row, int col) {
  char place[32], step[32];
  snprintf(place, sizeof place, "\033[%d;%dH", row + 1, col + 1);
  const bool below = painter->row >= 0 && row == painter->row + 1;
  const char *way = below ? step_down(painter, col, step, sizeof step) : place;
  str_add(painter->out, strlen(way) < strlen(place) ? way : place);
}

// A count of 1 is what none says.
static void add_right(Str *out, int columns) {
  if (columns == 1)
    str_add(out, "\033[C");
  else
    str_printf(out, "\033[%dC", columns);
}

static void move_to(Painter *painter, int row, int col) {
  if (painter->row == row && painter->col == col) return;
  if (painter->how->move)
    painter->how->move(painter->out, row, col);
  else if (painter->row == row && painter->col < col)
    add_right(painter->out, col - painter->col);
  else
    move_by_text(painter, row, col);
  painter->row = row;
  painter->col = col;
}

static void set_look(Painter *painter, Look look) {
  sgr_change(painter->out, painter->look, look, painter->how->eight);
  painter->look = look;
}

static void draw_cell(Painter *painter, int row, int col, const Cell *cell) {
  if (cell->width == 0) return;
  bool whole = col + cell->width <= painter->cols;
  move_to(painter, row, col);
  if (!is_plain_blank(painter, cell) || !is_bare(painter->look))
    set_look(painter, look_of(painter, cell));
  str_add(painter->out, whole ? cell->text : " ");
  painter->col += cell->width;
  uint32_t code;
  bool alone = cell->width == 1 && !cell->text[utf8_decode(cell->text, &code)];
  if (!alone || painter->col >= painter->cols) painter->row = -1;
}

// The column from which the new row is blank; painter->cols when its last cell is not.
static int blank_from(const Painter *painter, const Cell *cells) {
  int col = painter->cols;
  while (col > 0 && is_plain_blank(painter, &cells[col - 1])) col--;
  return col;
}

static void erase_tail(Painter *painter, int row, int from) {
  move_to(painter, row, from);
  set_look(painter, (Look){0});
  str_add(painter->out, "\033[K");
}

// Whether the cell is one byte in the look that is set.
static bool repeats_cheaply(const Painter *painter, const Cell *cell) {
  if (cell->width != 1 || cell->text[0] & 0x80) return false;
  if (is_plain_blank(painter, cell)) return is_bare(painter->look);
  return look_equal(look_of(painter, cell), painter->look);
}

// The first of the unchanged cells before `col` that are cheaper to repeat than to skip, from where
// the cursor is or from the begin of the next row; `col` when that is too far away or the look
// would have to change for them.
static int run_start(const Painter *painter, const Cell *cells, int row, int col) {
  const bool below = painter->row >= 0 && row == painter->row + 1;
  const int from = painter->row == row ? painter->col : below ? 0 : col;
  if (from > col || col - from > GAP) return col;
  for (int at = from; at < col; at++)
    if (!repeats_cheaply(painter, &cells[at])) return col;
  return from;
}

static void draw_row(Painter *painter, int row) {
  const Cell *before = row_cells(painter->before, row), *after = row_cells(painter->after, row);
  int end = painter->cols, blank = painter->how->can_erase ? blank_from(painter, after) : end;
  int changed_blanks = 0;
  for (int col = blank; col < end; col++)
    changed_blanks += changed(painter, before ? before + col : NULL, after + col, col);
  bool erase = changed_blanks >= ERASE_FROM;
  if (erase) end = blank;
  for (int col = 0; col < end; col++) {
    if (!changed(painter, before ? before + col : NULL, after + col, col)) continue;
    for (int at = run_start(painter, after, row, col); at <= col; at++)
      draw_cell(painter, row, at, &after[at]);
  }
  if (erase) erase_tail(painter, row, blank);
}

void present_difference(Str *out, const Present *present, const Canvas *before, const Canvas *after,
                        int rows, int cols) {
  Painter painter = {.out = out, .how = present, .before = before, .after = after, .row = -1};
  painter.cols = cols < after->cols ? cols : after->cols;
  for (int row = 0; row < rows && row < after->rows; row++) draw_row(&painter, row);
  set_look(&painter, (Look){0});
}
