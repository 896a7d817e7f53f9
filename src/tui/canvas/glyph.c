// The glyph table read three ways: by name, by code point, by height.
//
// A character is looked up by comparing its four bytes with each row: only characters outside
// ASCII ask, and only under --ascii, and the table has about a hundred rows. A 200x60 screen full
// of them costs 12,000 scans, about a millisecond.
#include "tui/canvas/glyph.h"

#include <string.h>

#include "tui/canvas/utf8.h"

typedef struct GlyphRow {
  const char *name;
  char utf8[5], ascii[2];
} GlyphRow;

static const GlyphRow rows[GLYPH_COUNT] = {
#define GLYPH(name, utf8, ascii) [GLYPH_##name] = {#name, utf8, {ascii, 0}},
#include "tui/canvas/glyph.def"
#undef GLYPH
};

const char *glyph_text(Glyph glyph, bool ascii) {
  return ascii ? rows[glyph].ascii : rows[glyph].utf8;
}

const char *glyph_name(Glyph glyph) { return rows[glyph].name; }

uint32_t glyph_code(Glyph glyph) {
  uint32_t code = 0;
  utf8_decode(rows[glyph].utf8, &code);
  return code;
}

char glyph_fallback(uint32_t code) {
  char bytes[4] = {0};
  utf8_encode(code, bytes);
  for (int i = 0; i < GLYPH_COUNT; i++)
    if (!memcmp(rows[i].utf8, bytes, sizeof bytes)) return rows[i].ascii[0];
  return '?';
}

const char *glyph_bar(int eighths, bool ascii) {
  if (eighths <= 0) return " ";
  return glyph_text((Glyph)(GLYPH_BAR_1 + (eighths > 8 ? 8 : eighths) - 1), ascii);
}

const char *glyph_gauge(int eighths, bool ascii) {
  if (eighths <= 0) return " ";
  if (eighths >= 8) return glyph_text(GLYPH_BAR_8, ascii);
  return glyph_text((Glyph)(GLYPH_GAUGE_1 + eighths - 1), ascii);
}
