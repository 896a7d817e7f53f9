// The canvas as a picture that stays text.
//
// A cell is 8 x 16 pixels, so every edge lies on a pixel. The font size is chosen so that a column
// of DejaVu Sans Mono (advance 1233/2048 em) is exactly 8 wide; other fonts are pressed into the
// same columns by textLength, word by word, so a row never drifts.
//
// Lines and blocks are drawn as shapes, not with the font's glyphs: fonts leave gaps between rows.
// A box cell is drawn by its arms: "├" is a vertical bar through the cell and a horizontal one from
// the middle to the right edge. "▃" is a rectangle over the lower 3/8 of its cell. Adjacent cells
// of one background become one rectangle. Everything else is <text>, one element for a run of
// words of one look.
#include <string.h>

#include "base/str.h"
#include "tui/canvas/export.h"
#include "tui/canvas/utf8.h"

enum { CELL_W = 8, CELL_H = 16, MARGIN = 8, BASELINE = 12 };
#define FONT_SIZE "13.288"

typedef struct Picture {
  Str out;
  const Canvas *canvas;
  const Theme *theme;
  ColorDepth depth;
} Picture;

typedef struct Paint {
  Color ink, paper;
  uint8_t attributes;
} Paint;

static Paint paint_of(const Picture *picture, const Cell *cell) {
  Look look = theme_look(picture->theme, cell->style, picture->depth);
  Paint paint = {theme_color_rgb(picture->theme, look.fg, false),
                 theme_color_rgb(picture->theme, look.bg, true), look.attributes};
  if (look.attributes & LOOK_REVERSE) {
    Color ink = paint.ink;
    paint.ink = paint.paper;
    paint.paper = ink;
  }
  return paint;
}

static const Cell *cell_at(const Picture *picture, int row, int col) {
  return &picture->canvas->cells[row * picture->canvas->cols + col];
}

static bool paint_equal(Paint a, Paint b) { return !memcmp(&a, &b, sizeof a); }

static const char *hex(Color color, char text[8]) {
  static const char digits[] = "0123456789abcdef";
  const uint8_t parts[] = {color.r, color.g, color.b};
  text[0] = '#';
  for (int i = 0; i < 6; i++) text[1 + i] = digits[parts[i / 2] >> (i % 2 ? 0 : 4) & 15];
  text[7] = 0;
  return text;
}

static void add_escaped(Str *out, const char *text) {
  for (; *text; text++) {
    if (*text == '&')
      str_add(out, "&amp;");
    else if (*text == '<')
      str_add(out, "&lt;");
    else if (*text == '>')
      str_add(out, "&gt;");
    else if (*text == '"')
      str_add(out, "&quot;");
    else
      str_add_char(out, *text);
  }
}

static const char *faded(Paint paint) {
  return paint.attributes & LOOK_DIM ? " opacity=\".62\"" : "";
}

static void rectangle(Picture *picture, double x, double y, double w, double h, Color fill,
                      const char *more) {
  char color[8];
  str_printf(&picture->out, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\"%s/>\n",
             x, y, w, h, hex(fill, color), more);
}

static int x_of(int col) { return MARGIN + col * CELL_W; }
static int y_of(int row) { return MARGIN + row * CELL_H; }

// ---- shapes -------------------------------------------------------------------------------------

// Blocks as parts of a cell in eighths: left, top, width, height; and how opaque.
typedef struct Block {
  Glyph glyph;
  int left, top, width, height;
  const char *more;
} Block;

static const Block blocks[] = {
    {GLYPH_BAR_1, 0, 7, 8, 1, ""},
    {GLYPH_BAR_2, 0, 6, 8, 2, ""},
    {GLYPH_BAR_3, 0, 5, 8, 3, ""},
    {GLYPH_BAR_4, 0, 4, 8, 4, ""},
    {GLYPH_BAR_5, 0, 3, 8, 5, ""},
    {GLYPH_BAR_6, 0, 2, 8, 6, ""},
    {GLYPH_BAR_7, 0, 1, 8, 7, ""},
    {GLYPH_BAR_8, 0, 0, 8, 8, ""},
    {GLYPH_GAUGE_1, 0, 0, 1, 8, ""},
    {GLYPH_GAUGE_2, 0, 0, 2, 8, ""},
    {GLYPH_GAUGE_3, 0, 0, 3, 8, ""},
    {GLYPH_GAUGE_4, 0, 0, 4, 8, ""},
    {GLYPH_GAUGE_5, 0, 0, 5, 8, ""},
    {GLYPH_GAUGE_6, 0, 0, 6, 8, ""},
    {GLYPH_GAUGE_7, 0, 0, 7, 8, ""},
    {GLYPH_HALF_RIGHT, 4, 0, 4, 8, ""},
    {GLYPH_HALF_UPPER, 0, 0, 8, 4, ""},
    {GLYPH_SHADE_LIGHT, 0, 0, 8, 8, " opacity=\".25\""},
    {GLYPH_SHADE_MEDIUM, 0, 0, 8, 8, " opacity=\".5\""},
    {GLYPH_SHADE_DARK, 0, 0, 8, 8, " opacity=\".75\""},
};

// Lines by the neighbours they reach: up, right, down, left; and their width in pixels.
typedef struct Line {
  Glyph glyph;
  bool up, right, down, left;
  int width;
} Line;

static const Line lines[] = {
    {GLYPH_HLINE, 0, 1, 0, 1, 1},       {GLYPH_VLINE, 1, 0, 1, 0, 1},
    {GLYPH_CORNER_TL, 0, 1, 1, 0, 1},   {GLYPH_CORNER_TR, 0, 0, 1, 1, 1},
    {GLYPH_CORNER_BL, 1, 1, 0, 0, 1},   {GLYPH_CORNER_BR, 1, 0, 0, 1, 1},
    {GLYPH_TEE_RIGHT, 1, 1, 1, 0, 1},   {GLYPH_TEE_LEFT, 1, 0, 1, 1, 1},
    {GLYPH_TEE_DOWN, 0, 1, 1, 1, 1},    {GLYPH_TEE_UP, 1, 1, 0, 1, 1},
    {GLYPH_CROSS_LINES, 1, 1, 1, 1, 1}, {GLYPH_HLINE_HEAVY, 0, 1, 0, 1, 2},
    {GLYPH_VLINE_HEAVY, 1, 0, 1, 0, 2},
};

static const Block *find_block(const Cell *cell) {
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
    if (str_equal(cell->text, glyph_text(blocks[i].glyph, false))) return &blocks[i];
  return NULL;
}

static const Line *find_line(const Cell *cell) {
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    if (str_equal(cell->text, glyph_text(lines[i].glyph, false))) return &lines[i];
  return NULL;
}

// Shapes live in U+2500 … U+259F: E2 94 … E2 96.
static bool is_shape(const Cell *cell) {
  return (cell->text[0] & 0xFF) == 0xE2 && (cell->text[1] & 0xFC) == 0x94 &&
         (find_block(cell) || find_line(cell));
}

static void draw_line(Picture *picture, const Line *line, int x, int y, Paint paint) {
  int cx = x + CELL_W / 2, cy = y + CELL_H / 2, w = line->width;
  int left = line->left ? x : cx, right = line->right ? x + CELL_W : cx + w;
  int top = line->up ? y : cy, bottom = line->down ? y + CELL_H : cy + w;
  const char *more = faded(paint);
  if (line->left || line->right) rectangle(picture, left, cy, right - left, w, paint.ink, more);
  if (line->up || line->down) rectangle(picture, cx, top, w, bottom - top, paint.ink, more);
}

static void draw_shape(Picture *picture, int row, int col) {
  const Cell *cell = cell_at(picture, row, col);
  Paint paint = paint_of(picture, cell);
  const Block *block = find_block(cell);
  if (!block) {
    draw_line(picture, find_line(cell), x_of(col), y_of(row), paint);
    return;
  }
  rectangle(picture, x_of(col) + block->left * CELL_W / 8.0, y_of(row) + block->top * CELL_H / 8.0,
            block->width * CELL_W / 8.0, block->height * CELL_H / 8.0, paint.ink,
            *block->more ? block->more : faded(paint));
}

// ---- text ---------------------------------------------------------------------------------------

static bool is_blank(const Cell *cell) { return str_equal(cell->text, " "); }

static bool continues_run(const Picture *picture, int row, int col, Paint paint) {
  if (col >= picture->canvas->cols) return false;
  const Cell *cell = cell_at(picture, row, col);
  return !(cell->text[0] & 0x80) && cell->width == 1 && paint_equal(paint, paint_of(picture, cell));
}

// The end of the run of text that starts at `col`: one look, single blanks between words, no
// shapes. A wide character is a run of its own, and so is any other that a font may not have.
static int run_end(const Picture *picture, int row, int col) {
  const Cell *first = cell_at(picture, row, col);
  Paint paint = paint_of(picture, first);
  int end = col + (first->width ? first->width : 1);
  if (first->text[0] & 0x80) return end;
  while (continues_run(picture, row, end, paint)) {
    if (is_blank(cell_at(picture, row, end)) &&
        (!continues_run(picture, row, end + 1, paint) || is_blank(cell_at(picture, row, end + 1))))
      break;
    end++;
  }
  return end;
}

static void draw_run(Picture *picture, int row, int col, int end) {
  Paint paint = paint_of(picture, cell_at(picture, row, col));
  char color[8];
  str_printf(&picture->out, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"%s\"%s%s%s>",
             x_of(col), y_of(row) + BASELINE, (end - col) * CELL_W, hex(paint.ink, color),
             paint.attributes & LOOK_BOLD ? " font-weight=\"bold\"" : "",
             paint.attributes & LOOK_ITALIC ? " font-style=\"italic\"" : "", faded(paint));
  for (int at = col; at < end; at++) add_escaped(&picture->out, cell_at(picture, row, at)->text);
  str_add(&picture->out, "</text>\n");
}

static void draw_row_text(Picture *picture, int row) {
  for (int col = 0, end; col < picture->canvas->cols; col = end) {
    const Cell *cell = cell_at(picture, row, col);
    end = col + 1;
    if (cell->width == 0 || is_blank(cell)) continue;
    if (is_shape(cell))
      draw_shape(picture, row, col);
    else
      draw_run(picture, row, col, end = run_end(picture, row, col));
  }
}

static void draw_row_ground(Picture *picture, int row) {
  Look text = theme_look(picture->theme, STYLE_TEXT, picture->depth);
  Color paper = theme_color_rgb(picture->theme, text.bg, true);
  for (int col = 0, end; col < picture->canvas->cols; col = end) {
    Paint paint = paint_of(picture, cell_at(picture, row, col));
    for (end = col + 1; end < picture->canvas->cols; end++)
      if (!color_equal(paint.paper, paint_of(picture, cell_at(picture, row, end)).paper)) break;
    if (!color_equal(paint.paper, paper))
      rectangle(picture, x_of(col), y_of(row), (end - col) * CELL_W, CELL_H, paint.paper, "");
  }
}

static void draw_row_underlines(Picture *picture, int row) {
  for (int col = 0, end; col < picture->canvas->cols; col = end) {
    Paint paint = paint_of(picture, cell_at(picture, row, col));
    for (end = col + 1; end < picture->canvas->cols; end++)
      if (!paint_equal(paint, paint_of(picture, cell_at(picture, row, end)))) break;
    if (paint.attributes & LOOK_UNDERLINE)
      rectangle(picture, x_of(col), y_of(row) + BASELINE + 2, (end - col) * CELL_W, 1, paint.ink,
                faded(paint));
  }
}

char *export_svg(Arena *arena, const Canvas *canvas, const Theme *theme, ColorDepth depth,
                 const char *title) {
  Picture picture = {str_new(arena), canvas, theme, depth};
  int width = canvas->cols * CELL_W + 2 * MARGIN, height = canvas->rows * CELL_H + 2 * MARGIN;
  Look text = theme_look(theme, STYLE_TEXT, depth);
  str_printf(&picture.out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
             "viewBox=\"0 0 %d %d\" xml:space=\"preserve\" font-size=\"" FONT_SIZE
             "\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace\">\n",
             width, height, width, height);
  str_add(&picture.out, "<title>");
  add_escaped(&picture.out, title ? str_sanitise(arena, title) : "gemmview");
  str_add(&picture.out, "</title>\n");
  rectangle(&picture, 0, 0, width, height, theme_color_rgb(theme, text.bg, true), " rx=\"6\"");
  str_add(&picture.out, "<g shape-rendering=\"crispEdges\">\n");
  for (int row = 0; row < canvas->rows; row++) draw_row_ground(&picture, row);
  str_add(&picture.out, "</g>\n");
  for (int row = 0; row < canvas->rows; row++) draw_row_text(&picture, row);
  for (int row = 0; row < canvas->rows; row++) draw_row_underlines(&picture, row);
  str_add(&picture.out, "</svg>\n");
  return picture.out.text;
}
