#include "banks/layouts/layout.h"

#include "banks/layouts/notation.h"

const Layout *layout_parse(Arena *arena, const LayoutSlab *slab, const char *text, Diags *diags) {
  if (notation_is(text)) return notation_parse(arena, slab, text, diags);
  return layout_read_stages(arena, slab, text, diags);
}
