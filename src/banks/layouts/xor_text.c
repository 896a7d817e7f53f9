#include "banks/layouts/xor_text.h"

#include <stdbool.h>

static void add_term(Str *out, const char *variable, int shift, uint32_t mask) {
  if (mask == 0) return;
  if (shift == 0)
    str_printf(out, " ^ (%s & %u)", variable, mask);
  else
    str_printf(out, " ^ ((%s %s %d) & %u)", variable, shift > 0 ? ">>" : "<<",
               shift > 0 ? shift : -shift, mask);
}

void xor_text_add(Str *out, const BitMap *map, XorSource source, int scale) {
  for (int shift = -31; shift <= 31; shift++) {
    uint32_t mask = 0;
    for (int o = 0; o < map->n; o++) {
      int i = o + shift + source.origin;
      bool inside = i >= source.first && i < source.end;
      if (inside && ((map->row[o] ^ 1u << o) >> i & 1)) mask |= 1u << (o + scale);
    }
    add_term(out, source.variable, shift, mask);
  }
}
