// Two tables of ranges (width.def), searched by halving: characters of no column and of two.
//
// Worked example: "a\xCC\x81…" is an a with an accent and three dots. The accent is U+0301, which
// takes no column and goes with its a: the text has two columns, and fits into one as "a\xCC\x81".
#include "tui/canvas/utf8.h"

typedef struct Range {
  uint32_t first, last;
} Range;

#define WIDTH_ZERO(first, last) {first, last},
static const Range zero[] = {
#include "tui/canvas/width.def"
};
#undef WIDTH_ZERO
#define WIDTH_WIDE(first, last) {first, last},
static const Range wide[] = {
#include "tui/canvas/width.def"
};
#undef WIDTH_WIDE

static bool listed(const Range *ranges, size_t n, uint32_t code) {
  size_t low = 0;
  while (low < n) {
    size_t middle = low + (n - low) / 2;
    if (code > ranges[middle].last)
      low = middle + 1;
    else if (code < ranges[middle].first)
      n = middle;
    else
      return true;
  }
  return false;
}

int utf8_width(uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return -1;
  if (code < 0x300) return 1;
  if (listed(zero, sizeof zero / sizeof zero[0], code)) return 0;
  return listed(wide, sizeof wide / sizeof wide[0], code) ? 2 : 1;
}

static int drawn_width(uint32_t code) {
  int width = utf8_width(code);
  return width < 0 ? 1 : width;
}

int utf8_columns(const char *text) {
  int columns = 0;
  uint32_t code;
  for (int bytes; (bytes = utf8_decode(text, &code)) > 0; text += bytes)
    columns += drawn_width(code);
  return columns;
}

size_t utf8_fit(const char *text, int columns) {
  size_t offset = 0;
  uint32_t code;
  for (int bytes; (bytes = utf8_decode(text + offset, &code)) > 0; offset += (size_t)bytes) {
    columns -= drawn_width(code);
    if (columns < 0) break;
  }
  return offset;
}

size_t utf8_next(const char *text, size_t offset) {
  uint32_t code;
  int bytes = utf8_decode(text + offset, &code);
  do offset += (size_t)bytes;
  while ((bytes = utf8_decode(text + offset, &code)) > 0 && utf8_width(code) == 0);
  return offset;
}

size_t utf8_previous(const char *text, size_t offset) {
  size_t at = 0, before = 0;
  while (at < offset && text[at]) before = at, at = utf8_next(text, at);
  return before;
}
