// Any text of a layout: stages, or the text of another's dialect, CuTe's or Triton's (notation.h),
// which may say more than stages can and stands alone.
#pragma once
#include "banks/layouts/layout_stages.h"

// NULL after diagnostics (rules "layout", "expression"), as layout_read_stages() has them.
const Layout *layout_parse(Arena *arena, const LayoutSlab *slab, const char *text, Diags *diags);
