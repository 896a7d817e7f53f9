#include "banks/layouts/layout_unit.h"

#include "banks/layouts/notation.h"

const char *layout_unit_name(LayoutUnit unit) {
  static const char *const names[] = {NULL, "bytes", "elements"};
  return names[unit];
}

LayoutOther layout_other(Arena *arena, const Layout *layout) {
  if (!layout->other) return (LayoutOther){0};
  Diags diags = diags_new(arena);
  LayoutOther out = {
      .unit = layout->unit == LAYOUT_UNIT_BYTES ? LAYOUT_UNIT_ELEMENTS : LAYOUT_UNIT_BYTES,
      .text = layout->other};
  out.layout = layout_parse(arena, &layout->slab, out.text, &diags);
  out.canonical = out.layout ? notation_canonical(arena, out.layout) : diags.first->text;
  return out;
}

const char *layout_unit_phrase(Arena *arena, const Layout *layout) {
  const char *unit = layout_unit_name(layout->unit);
  const LayoutOther other = layout_other(arena, layout);
  if (!unit) return "";
  if (!other.unit) return arena_printf(arena, "swizzle of %s", unit);
  return arena_printf(arena, "swizzle of %s; of %s %s", unit, layout_unit_name(other.unit),
                      other.text);
}
