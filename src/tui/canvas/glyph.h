// The characters that the program draws, each with its ASCII stand-in.
//
// Views name them (GLYPH_CHECK) or simply write them in their texts: a canvas made with ascii =
// true replaces every character of glyph.def by its stand-in and any other by '?'.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef enum Glyph {
#define GLYPH(name, utf8, ascii) GLYPH_##name,
#include "tui/canvas/glyph.def"
#undef GLYPH
  GLYPH_COUNT,
} Glyph;

const char *glyph_text(Glyph glyph, bool ascii);
const char *glyph_name(Glyph glyph);  // "check": for tests and messages
uint32_t glyph_code(Glyph glyph);
// The stand-in for a character outside ASCII; '?' for one that is not in the table.
char glyph_fallback(uint32_t code);

// A vertical bar of 0 to 8 eighths (0 is a blank), and the open end of a horizontal one.
const char *glyph_bar(int eighths, bool ascii);
const char *glyph_gauge(int eighths, bool ascii);
