// What tests of hostile texts look for.
#pragma once
#include <stddef.h>

// The first character that a terminal could act on; NULL: there is none.
static inline const char *unclean(const char *text) {
  for (const char *c = text; *c; c++) {
    unsigned char byte = (unsigned char)*c, next = (unsigned char)c[1];
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) return c;
    if (byte == 0xC2 && next < 0xA0) return c;
    if (byte == 0xE2 && next == 0x80 && (unsigned char)c[2] >= 0xAA && (unsigned char)c[2] <= 0xAE)
      return c;  // U+202A … U+202E turn the line around
  }
  return NULL;
}
