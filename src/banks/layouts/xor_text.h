// A map that is linear over bits, written as XORs of shifted and masked copies.
//
// All pairs (output bit o, input bit i) with i - o = s share the term (off >> s) & mask.
#pragma once
#include <stdint.h>

#include "base/str.h"

// Output bit o is the parity of (index & row[o]).
typedef struct BitMap {
  int n;
  uint32_t row[32];
} BitMap;

// Bits first … end - 1 of the index, which a variable holds; its own bit 0 is bit `origin` of the
// index of elements.
typedef struct XorSource {
  const char *variable;
  int first, end, origin;
} XorSource;

// " ^ ((row >> 1) & 12)" for each shift that the map has beyond the identity. Bit i of the map's
// index is bit i + scale of the index of elements.
void xor_text_add(Str *out, const BitMap *map, XorSource source, int scale);
