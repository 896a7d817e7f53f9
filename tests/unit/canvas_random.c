// Random rectangles, texts and styles from a xorshift generator.
#include "canvas_random.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "tui/canvas/utf8.h"

Random random_new(uint64_t seed) { return (Random){seed * 0x9E3779B97F4A7C15u + 0x1234567u}; }

uint32_t random_bits(Random *random) {
  random->state ^= random->state << 13;
  random->state ^= random->state >> 7;
  random->state ^= random->state << 17;
  return (uint32_t)(random->state >> 32);
}

int random_between(Random *random, int low, int high) {
  if (high < low) return low;
  return low + (int)(random_bits(random) % (uint32_t)(high - low + 1));
}

const char *random_text(Random *random, Arena *arena, int most) {
  static const char *const pieces[] = {
      "a",        "b",      "Z",      " ",      "0",        "~",        "│",     "─",
      "┼",        "█",      "…",      "×",      "é",        "漢",       "한",    "ｱ",
      "e\u0301",  "\u0301", "日本",   "\t",     "\n",       "\033[31m", "\x7f",  "\xC3",
      "\xE2\x82", "\xFF",   "\u202e", "\u200b", "\xC2\x9B", "Ω",        "hgemm", "BM=128",
  };
  Str text = str_new(arena);
  for (int n = random_between(random, 0, most); n > 0; n--)
    str_add(&text, pieces[random_bits(random) % (sizeof pieces / sizeof pieces[0])]);
  return text.text;
}

Style random_style(Random *random) {
  Style style = (Style)random_between(random, 0, STYLE_COUNT - 1);
  if (random_bits(random) % 4) return style;
  return style_over(style, (StyleRole)random_between(random, STYLE_CURSOR, STYLE_SHADOW));
}

static Rect random_rect(Random *random, Rect in) {
  return (Rect){in.row + random_between(random, -5, in.rows + 5),
                in.col + random_between(random, -5, in.cols + 5),
                random_between(random, -2, in.rows + 10), random_between(random, -2, in.cols + 10)};
}

static void draw_text(Random *random, Arena *arena, Canvas *canvas, Rect in, Style style) {
  int row = random_between(random, -2, in.rows + 1), col = random_between(random, -8, in.cols + 1);
  const char *text = random_text(random, arena, in.cols + 4);
  int cols = random_between(random, -1, in.cols + 3);
  switch (random_bits(random) % 5) {
    case 0:
      canvas_text(canvas, in, row, col, style, text);
      break;
    case 1:
      canvas_printf(canvas, in, row, col, style, "%d %s", row, text);
      break;
    case 2:
      canvas_fit(canvas, in, row, col, cols, (Align)random_between(random, 0, 2), style, text);
      break;
    case 3:
      canvas_wrap(canvas, in, style, text);
      break;
    default:
      canvas_repeat(canvas, in, row, col, style, (Glyph)random_between(random, 0, GLYPH_COUNT - 1),
                    cols);
  }
}

static void draw_lines(Random *random, Arena *arena, Canvas *canvas, Rect in, Style style) {
  int row = random_between(random, -2, in.rows + 1), col = random_between(random, -8, in.cols + 1);
  int n = random_between(random, -1, in.cols + in.rows);
  switch (random_bits(random) % 5) {
    case 0:
      canvas_hline(canvas, in, row, col, n, style);
      break;
    case 1:
      canvas_vline(canvas, in, row, col, n, style);
      break;
    case 2:
      canvas_frame(canvas, in, style, style, random_text(random, arena, 12));
      break;
    case 3:
      canvas_bar(canvas, in, row, col, n, random_between(random, -1, 11) / 10.0, style);
      break;
    default:
      canvas_spark(canvas, in, row, col, (double[]){0, 1, NAN, 2, -1, 3, INFINITY, 9, 4}, 9, 9,
                   style);
  }
}

static void draw_area(Random *random, Canvas *canvas, Rect in, Style style) {
  switch (random_bits(random) % 4) {
    case 0:
      canvas_fill(canvas, in, style);
      break;
    case 1:
      canvas_restyle(canvas, in, style);
      break;
    case 2:
      canvas_over(canvas, in, (StyleRole)(style & 0xFF));
      break;
    default:
      canvas_glyph(canvas, in, 0, 0, style, GLYPH_CHECK);
  }
}

void random_draw(Random *random, Arena *arena, Canvas *canvas, Rect in) {
  Style style = random_style(random);
  uint32_t kind = random_bits(random) % 8;
  if (kind < 4)
    draw_text(random, arena, canvas, in, style);
  else if (kind < 7)
    draw_lines(random, arena, canvas, in, style);
  else
    draw_area(random, canvas, in, style);
}

void canvas_scribble(Canvas *canvas, uint64_t seed, int calls) {
  Random random = random_new(seed);
  Arena *arena = arena_new("scribble");
  for (int i = 0; i < calls; i++)
    random_draw(&random, arena, canvas, random_rect(&random, canvas_rect(canvas)));
  arena_free(arena);
}

static bool cell_is_sound(const Canvas *canvas, int row, int col) {
  const Cell *cell = canvas_cell(canvas, row, col), *next = canvas_cell(canvas, row, col + 1);
  const Cell *before = canvas_cell(canvas, row, col - 1);
  uint32_t code;
  if (cell->width == 0) return !cell->text[0] && before && before->width == 2;
  if (!memchr(cell->text, 0, CELL_BYTES) || !utf8_decode(cell->text, &code)) return false;
  if (utf8_width(code) != cell->width || utf8_columns(cell->text) != cell->width) return false;
  if (canvas->ascii && code >= 0x80) return false;
  return cell->width == 1 || (next && next->width == 0);
}

const char *canvas_fault(Arena *arena, const Canvas *canvas) {
  for (int row = 0; row < canvas->rows; row++)
    for (int col = 0; col < canvas->cols; col++)
      if (!cell_is_sound(canvas, row, col))
        return arena_printf(arena, "row %d, column %d holds \"%s\" of width %d", row, col,
                            canvas_cell(canvas, row, col)->text,
                            canvas_cell(canvas, row, col)->width);
  return NULL;
}
