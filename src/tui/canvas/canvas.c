// Cells, clipping, and lines that join.
//
// There is one way into the grid, put(): it clips against the rectangle and the canvas, takes care
// of both halves of wide characters, and replaces what the ASCII mode has no character for.
// Everything else is arithmetic in front of it.
//
// A wide character is a head of width 2 and a tail of width 0. Writing over one half blanks the
// other, even where that lies outside the rectangle: half a character cannot be shown.
//
// A line cell remembers which of its four neighbours it reaches: up 1, right 2, down 4, left 8. A
// horizontal line through column 3 adds 2 + 8 there; if a vertical line (1 + 4) is already in place
// the sum is 15, the crossing; where the vertical line only starts (4) it is 14, the tee. Writing
// text into a line cell forgets its arms.
#include "tui/canvas/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tui/canvas/utf8.h"

enum { UP = 1, RIGHT = 2, DOWN = 4, LEFT = 8 };

static const uint8_t joined[16] = {
    [UP] = GLYPH_VLINE,
    [DOWN] = GLYPH_VLINE,
    [UP | DOWN] = GLYPH_VLINE,
    [RIGHT] = GLYPH_HLINE,
    [LEFT] = GLYPH_HLINE,
    [LEFT | RIGHT] = GLYPH_HLINE,
    [UP | RIGHT] = GLYPH_CORNER_BL,
    [RIGHT | DOWN] = GLYPH_CORNER_TL,
    [UP | LEFT] = GLYPH_CORNER_BR,
    [DOWN | LEFT] = GLYPH_CORNER_TR,
    [UP | RIGHT | DOWN] = GLYPH_TEE_RIGHT,
    [UP | DOWN | LEFT] = GLYPH_TEE_LEFT,
    [UP | RIGHT | LEFT] = GLYPH_TEE_UP,
    [RIGHT | DOWN | LEFT] = GLYPH_TEE_DOWN,
    [UP | RIGHT | DOWN | LEFT] = GLYPH_CROSS_LINES,
};

static int limit(int n, int low, int high) { return n < low ? low : n > high ? high : n; }

// ---- the grid -----------------------------------------------------------------------------------

Canvas *canvas_new(Arena *arena, int rows, int cols, bool ascii) {
  Canvas *canvas = ARENA_NEW(arena, Canvas);
  canvas->arena = arena;
  canvas->ascii = ascii;
  canvas_resize(canvas, rows, cols);
  return canvas;
}

void canvas_resize(Canvas *canvas, int rows, int cols) {
  canvas->rows = limit(rows, 1, CANVAS_ROWS_MAX);
  canvas->cols = limit(cols, 1, CANVAS_COLS_MAX);
  int need = canvas->rows * canvas->cols;
  if (need > canvas->capacity) {  // doubling: dragging a window's corner must not fill the arena
    canvas->capacity = need > 2 * canvas->capacity ? need : 2 * canvas->capacity;
    canvas->cells = ARENA_ARRAY(canvas->arena, Cell, canvas->capacity);
  }
  canvas_clear(canvas);
}

static const Cell blank = {.text = " ", .width = 1};

void canvas_clear(Canvas *canvas) {
  for (int i = 0; i < canvas->rows * canvas->cols; i++) canvas->cells[i] = blank;
  canvas->cursor_shown = false;
  canvas->n_spots = 0;
}

Rect canvas_rect(const Canvas *canvas) { return (Rect){0, 0, canvas->rows, canvas->cols}; }

static Cell *cell_at(const Canvas *canvas, int row, int col) {
  return &canvas->cells[row * canvas->cols + col];
}

const Cell *canvas_cell(const Canvas *canvas, int row, int col) {
  return rect_contains(canvas_rect(canvas), row, col) ? cell_at(canvas, row, col) : NULL;
}

// Rows and columns of a caller may be anything; beyond this they are outside every rectangle and
// sums of two of them still fit an int.
static int sane(int n) { return limit(n, -1000000, 1000000); }

// The part of `in` that is on the canvas.
static Rect clip(const Canvas *canvas, Rect in) {
  return rect_intersect(canvas_rect(canvas),
                        (Rect){sane(in.row), sane(in.col), sane(in.rows), sane(in.cols)});
}

// ---- one cell -----------------------------------------------------------------------------------

static void blank_text(Cell *cell) {
  memcpy(cell->text, blank.text, CELL_BYTES);
  cell->width = 1;
  cell->arms = 0;
}

// Before a cell is written: the other half of a wide character goes.
static void free_cell(Canvas *canvas, int row, int col) {
  Cell *cell = cell_at(canvas, row, col);
  if (cell->width == 0 && col > 0) blank_text(cell - 1);
  if (cell->width == 2 && col + 1 < canvas->cols) blank_text(cell + 1);
}

static void write_cell(Canvas *canvas, int row, int col, Style style, const char *text, int bytes,
                       int width) {
  free_cell(canvas, row, col);
  Cell *cell = cell_at(canvas, row, col);
  memset(cell, 0, sizeof *cell);
  memcpy(cell->text, text, (size_t)bytes);
  cell->style = style;
  cell->width = (uint8_t)width;
}

static void put_wide(Canvas *canvas, Rect area, int row, int col, Style style, const char *text,
                     int bytes) {
  bool left = rect_contains(area, row, col), right = rect_contains(area, row, col + 1);
  if (left && right) {
    write_cell(canvas, row, col, style, text, bytes, 2);
    write_cell(canvas, row, col + 1, style, "", 0, 0);
  } else if (left || right) {
    write_cell(canvas, row, left ? col : col + 1, style, " ", 1, 1);
  }
}

// One character at a column of the canvas; returns its width.
static int put(Canvas *canvas, Rect area, int row, int col, Style style, uint32_t code) {
  char text[4];
  int width = utf8_width(code);
  if (width < 0 || utf8_is_format(code) || code == UTF8_REPLACEMENT) code = '?', width = 1;
  if (canvas->ascii && code >= 0x80 && width > 0) {
    char ascii[2] = {glyph_fallback(code), 0};
    for (int i = 0; i < width; i++)
      if (rect_contains(area, row, col + i)) write_cell(canvas, row, col + i, style, ascii, 1, 1);
    return width;
  }
  int bytes = utf8_encode(code, text);
  if (width == 2)
    put_wide(canvas, area, row, col, style, text, bytes);
  else if (width == 1 && rect_contains(area, row, col))
    write_cell(canvas, row, col, style, text, bytes, 1);
  return width;
}

// A combining character joins the cell before it, where it has room.
static void combine(Canvas *canvas, Rect area, int row, int col, uint32_t code) {
  char text[4];
  if (canvas->ascii || !rect_contains(area, row, col)) return;
  Cell *cell = cell_at(canvas, row, col);
  if (cell->width == 0 && col > 0) cell--;
  size_t used = strlen(cell->text);
  int bytes = utf8_encode(code, text);
  uint32_t first;
  bool alone = utf8_decode(cell->text, &first) == (int)used;
  if (alone && used + (size_t)bytes < CELL_BYTES) memcpy(cell->text + used, text, (size_t)bytes);
}

// ---- text ---------------------------------------------------------------------------------------

// Says that a text goes on, behind the part that is shown or in the last cell that there is.
static void put_ellipsis(Canvas *canvas, Rect area, int row, int col, Style style) {
  const int last = area.col + area.cols - 1;
  put(canvas, area, row, col < last ? col : last, style, glyph_code(GLYPH_ELLIPSIS));
}

// Draws the first `bytes` bytes; returns the column after them. A cut at the right edge must not
// leave another text there, a 4096 that reads 40. A single character is a piece of a picture, and
// pictures end where their box does.
static int draw_bytes(Canvas *canvas, Rect in, int row, int col, Style style, const char *text,
                      size_t bytes) {
  Rect area = clip(canvas, in);
  row = sane(row) + sane(in.row);
  int at = sane(col) + sane(in.col), start = at, inked = at;
  uint32_t code;
  for (const char *end = text + bytes; text < end;) {
    int n = utf8_decode(text, &code);
    if (n == 0) break;
    text += n;
    if (utf8_width(code) == 0 && !utf8_is_format(code)) {
      if (at > start) combine(canvas, area, row, at - 1, code);
    } else {
      at += put(canvas, area, row, at, style, code);
      if (code != ' ') inked = at;
    }
  }
  if (inked > area.col + area.cols && inked > start + 1)
    put_ellipsis(canvas, area, row, inked, style);
  return at - sane(in.col);
}

int canvas_text(Canvas *canvas, Rect in, int row, int col, Style style, const char *text) {
  return draw_bytes(canvas, in, row, col, style, text, strlen(text));
}

int canvas_printf(Canvas *canvas, Rect in, int row, int col, Style style, const char *format, ...) {
  char text[4 * CANVAS_COLS_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return canvas_text(canvas, in, row, col, style, text);
}

int canvas_label(Canvas *canvas, Rect in, int row, int col, Style style, const char *text) {
  const int end = sane(col) + utf8_columns(text);
  return end > in.cols ? end : canvas_text(canvas, in, row, col, style, text);
}

int canvas_glyph(Canvas *canvas, Rect in, int row, int col, Style style, Glyph glyph) {
  return canvas_text(canvas, in, row, col, style, glyph_text(glyph, canvas->ascii));
}

int canvas_repeat(Canvas *canvas, Rect in, int row, int col, Style style, Glyph glyph, int n) {
  n = limit(n, 0, CANVAS_COLS_MAX);
  col = sane(col);
  for (int i = 0; i < n; i++) canvas_glyph(canvas, in, row, col + i, style, glyph);
  return col + n;
}

// Bytes up to the last end of a clause outside brackets, with the blank behind it, in the second
// half of the first `fits`; 0: there is none, or `cols` are too few for sentences. "loop over
// slabs; " of "loop over slabs; the last". A colon promises what follows, so it ends one only where
// nothing else does.
static size_t clause_at(const char *text, size_t fits, int cols) {
  enum { SENTENCE_COLS = 50 };
  if (cols < SENTENCE_COLS) return 0;
  int depth = 0;
  size_t at = 0, colon = 0;
  for (size_t i = 0; i + 1 < fits; i++) {
    depth += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
    const bool ends = strchr(",;.", text[i]) && depth == 0, opens = text[i + 2] == '(' && !depth;
    if (text[i + 1] == ' ' && (ends || opens)) at = i + 2;
    if (text[i + 1] == ' ' && text[i] == ':' && depth == 0) colon = i + 2;
  }
  const size_t least = depth > 0 ? fits / 3 : fits / 2;  // a bracket would be left open
  return at > least ? at : colon > least ? colon : 0;
}

// Bytes of the text that stay where it is cut after `cols` columns: in a row of sentences whole
// clauses, else whole words, unless that would leave a quarter of the columns empty.
static size_t cut_at(const char *text, int cols) {
  size_t fits = utf8_fit(text, cols), at = fits;
  const size_t clause = clause_at(text, fits, cols);
  if (clause) return clause;
  if (text[fits] == ' ') return fits;
  while (at > 0 && text[at - 1] != ' ') at--;
  while (at > 0 && text[at - 1] == ' ') at--;
  return fits - at <= (size_t)cols / 4 && at > 0 ? at : fits;
}

int canvas_fit(Canvas *canvas, Rect in, int row, int col, int cols, Align align, Style style,
               const char *text) {
  if (cols <= 0) return col;
  cols = limit(cols, 0, CANVAS_COLS_MAX);
  col = sane(col);
  int need = utf8_columns(text);
  size_t bytes = strlen(text);
  bool cut = need > cols;
  if (cut) {
    bytes = cut_at(text, cols - 1);
    need = cols;
  }
  Rect slot = clip(canvas, (Rect){sane(in.row) + sane(row), sane(in.col) + sane(col), 1, cols});
  canvas_fill(canvas, rect_intersect(slot, clip(canvas, in)), style);
  int gap = align == ALIGN_LEFT ? 0 : align == ALIGN_RIGHT ? cols - need : (cols - need) / 2;
  int at = draw_bytes(canvas, in, row, col + gap, style, text, bytes);
  if (cut)
    put_ellipsis(canvas, clip(canvas, in), sane(in.row) + sane(row), sane(in.col) + at, style);
  return col + cols;
}

size_t canvas_line_bytes(const char *text, int cols, size_t *skip) {
  size_t paragraph = strcspn(text, "\n"), fits = utf8_fit(text, cols);
  *skip = 0;
  if (fits >= paragraph) return *skip = text[paragraph] == '\n', paragraph;
  size_t at = fits;
  while (at > 0 && text[at] != ' ') at--;
  if (at == 0) return fits ? fits : utf8_next(text, 0);
  *skip = strspn(text + at, " ");
  while (at > 0 && text[at - 1] == ' ') at--, ++*skip;
  return at;
}

// Bytes of the last row that there is room for, of a text that goes on: whole clauses, else words.
static size_t last_row_bytes(const char *text, int cols) {
  size_t skip;
  const size_t bytes = canvas_line_bytes(text, cols, &skip);
  const size_t clause = text[bytes] == '\n' ? 0 : clause_at(text, utf8_fit(text, cols - 1), cols);
  if (clause) return clause;
  return utf8_fit(text, cols - 1) >= bytes ? bytes : canvas_line_bytes(text, cols - 1, &skip);
}

// `marks`: the last row that there is room for says that the text goes on.
static int wrap(Canvas *canvas, Rect in, Style style, const char *text, int first, bool marks) {
  int row = -first;
  if (in.cols <= 0) return 0;
  for (size_t skip; *text; row++) {
    size_t bytes = canvas_line_bytes(text, in.cols, &skip);
    if (canvas && row >= 0 && row < in.rows) {
      const bool goes_on = marks && row == in.rows - 1 && text[bytes + skip];
      const size_t kept = goes_on ? last_row_bytes(text, in.cols) : bytes;
      const int end = draw_bytes(canvas, in, row, 0, style, text, kept);
      if (goes_on)
        put_ellipsis(canvas, clip(canvas, in), sane(in.row) + row, sane(in.col) + end, style);
    }
    text += bytes + skip;
  }
  return row + first;
}

int canvas_wrap_from(Canvas *canvas, Rect in, Style style, const char *text, int first) {
  return wrap(canvas, in, style, text, first, false);
}

int canvas_wrap(Canvas *canvas, Rect in, Style style, const char *text) {
  return wrap(canvas, in, style, text, 0, true);
}

int canvas_wrap_rows(const char *text, int cols) {
  return canvas_wrap(NULL, (Rect){0, 0, 0, cols}, 0, text);
}

// ---- areas --------------------------------------------------------------------------------------

void canvas_fill(Canvas *canvas, Rect in, Style style) {
  Rect area = clip(canvas, in);
  for (int row = area.row; row < area.row + area.rows; row++)
    for (int col = area.col; col < area.col + area.cols; col++)
      write_cell(canvas, row, col, style, " ", 1, 1);
}

void canvas_restyle(Canvas *canvas, Rect in, Style style) {
  Rect area = clip(canvas, in);
  for (int row = area.row; row < area.row + area.rows; row++)
    for (int col = area.col; col < area.col + area.cols; col++)
      cell_at(canvas, row, col)->style = style;
}

void canvas_over(Canvas *canvas, Rect in, StyleRole over) {
  Rect area = clip(canvas, in);
  for (int row = area.row; row < area.row + area.rows; row++)
    for (int col = area.col; col < area.col + area.cols; col++) {
      Cell *cell = cell_at(canvas, row, col);
      cell->style = style_over(cell->style, over);
    }
}

// ---- lines --------------------------------------------------------------------------------------

static void add_arms(Canvas *canvas, Rect area, int row, int col, Style style, unsigned arms) {
  if (!rect_contains(area, row, col) || !arms) return;
  arms |= cell_at(canvas, row, col)->arms;
  const char *text = glyph_text((Glyph)joined[arms], canvas->ascii);
  write_cell(canvas, row, col, style, text, (int)strlen(text), 1);
  cell_at(canvas, row, col)->arms = (uint8_t)arms;
}

// `n` cells from (row, col) of the canvas on; the ends reach only inwards. A line of one cell
// reaches both ways.
static void line(Canvas *canvas, Rect area, int row, int col, int n, bool down, Style style) {
  unsigned back = down ? UP : LEFT, ahead = down ? DOWN : RIGHT;
  int first = limit(down ? area.row - row : area.col - col, 0, n);
  int end = limit(down ? area.row + area.rows - row : area.col + area.cols - col, 0, n);
  for (int i = first; i < end; i++) {
    unsigned arms = n == 1 ? back | ahead : (i > 0 ? back : 0) | (i < n - 1 ? ahead : 0);
    add_arms(canvas, area, down ? row + i : row, down ? col : col + i, style, arms);
  }
}

void canvas_hline(Canvas *canvas, Rect in, int row, int col, int n, Style style) {
  line(canvas, clip(canvas, in), sane(in.row) + sane(row), sane(in.col) + sane(col),
       limit(n, 0, 1000000), false, style);
}

void canvas_vline(Canvas *canvas, Rect in, int row, int col, int n, Style style) {
  line(canvas, clip(canvas, in), sane(in.row) + sane(row), sane(in.col) + sane(col),
       limit(n, 0, 1000000), true, style);
}

Rect canvas_halve(Canvas *canvas, Rect *in) {
  Rect left = rect_take_left(in, (in->cols - 1) / 2);
  canvas_vline(canvas, *in, 0, 0, in->rows, STYLE_BORDER);
  rect_take_left(in, 1);
  return left;
}

void canvas_frame(Canvas *canvas, Rect in, Style style, Style title_style, const char *title) {
  if (rect_empty(in)) return;
  bool wide = in.cols > 1, high = in.rows > 1;
  if (wide || !high) canvas_hline(canvas, in, 0, 0, in.cols, style);
  if (wide && high) canvas_hline(canvas, in, in.rows - 1, 0, in.cols, style);
  if (high) canvas_vline(canvas, in, 0, 0, in.rows, style);
  if (high && wide) canvas_vline(canvas, in, 0, in.cols - 1, in.rows, style);
  int room = in.cols - 6, need = title ? utf8_columns(title) : 0;
  if (need == 0 || room < 3) return;
  canvas_text(canvas, in, 0, 2, style, " ");
  int end = canvas_fit(canvas, in, 0, 3, need < room ? need : room, ALIGN_LEFT, title_style, title);
  canvas_text(canvas, in, 0, end, style, " ");
}

// ---- charts -------------------------------------------------------------------------------------

static int eighths_of(double share, int most) {
  if (!(share > 0)) return 0;
  if (share >= 1) return most;
  int eighths = (int)(share * most + 0.5);
  return eighths ? eighths : 1;
}

void canvas_bar(Canvas *canvas, Rect in, int row, int col, int cols, double fraction, Style style) {
  cols = limit(cols, 0, CANVAS_COLS_MAX);
  col = sane(col);
  int eighths = eighths_of(fraction, 8 * cols);
  for (int i = 0; i < cols && 8 * i < eighths; i++)
    canvas_text(canvas, in, row, col + i, style, glyph_gauge(eighths - 8 * i, canvas->ascii));
}

void canvas_spark(Canvas *canvas, Rect in, int row, int col, const double *values, int n,
                  double top, Style style) {
  col = sane(col);
  for (int i = 0; i < n && i < CANVAS_COLS_MAX; i++)
    canvas_text(canvas, in, row, col + i, style,
                glyph_bar(eighths_of(values[i] / top, 8), canvas->ascii));
}

// ---- the cursor and the mouse -------------------------------------------------------------------

void canvas_set_cursor(Canvas *canvas, Rect in, int row, int col) {
  row = sane(row) + sane(in.row);
  col = sane(col) + sane(in.col);
  canvas->cursor_shown = rect_contains(clip(canvas, in), row, col);
  canvas->cursor_row = row;
  canvas->cursor_col = col;
}

void canvas_spot(Canvas *canvas, Rect area, int what, int value) {
  area = clip(canvas, area);
  if (rect_empty(area) || canvas->n_spots == CANVAS_SPOTS) return;
  canvas->spots[canvas->n_spots++] = (Spot){area, what, value};
}

const Spot *canvas_spot_at(const Canvas *canvas, int row, int col) {
  for (int i = canvas->n_spots - 1; i >= 0; i--)
    if (rect_contains(canvas->spots[i].area, row, col)) return &canvas->spots[i];
  return NULL;
}
