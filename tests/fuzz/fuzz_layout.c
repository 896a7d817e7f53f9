// Any bytes as a layout of a slab, and as an expression in lane, row and col: refused with findings
// that are safe to print, or a layout whose every byte lies inside its storage, and that solves to
// the same numbers when it is read again.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banks/formula.h"
#include "banks/layout.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_findings(Arena *arena, const Diags *diags) {
  if (diags->count == 0) abort();
  const char *text = diags_text(arena, diags);
  if (!str_equal(text, str_sanitise(arena, text))) abort();
}

static void try_layout(Arena *arena, const char *text) {
  static const LayoutSlab slabs[] = {{8, 128, 4}, {16, 64, 2}, {5, 96, 1}};
  for (int i = 0; i < 3; i++) {
    Diags diags = diags_new(arena), again = diags_new(arena);
    const Layout *layout = layout_parse(arena, &slabs[i], text, &diags);
    if (!layout) {
      check_findings(arena, &diags);
      continue;
    }
    int n = slabs[i].rows * slabs[i].row_bytes;
    const Layout *same = layout_parse(arena, &slabs[i], layout->text, &again);
    if (!same || memcmp(same->offset_of, layout->offset_of, sizeof(int32_t) * (size_t)n)) abort();
    for (int byte = 0; byte < n; byte++)
      if (layout->offset_of[byte] < 0 || layout->offset_of[byte] >= layout->storage_bytes) abort();
    layout_examine(arena, layout);
  }
}

static void try_formula(Arena *arena, const char *text) {
  static const FormulaName names[] = {{"lane", 0}, {"row", 1}, {"col", 2}};
  Diags diags = diags_new(arena);
  const Formula *formula = formula_parse(arena, text, names, 3, &diags);
  if (!formula) {
    check_findings(arena, &diags);
    return;
  }
  for (int64_t lane = 0; lane < 4; lane++) {
    int64_t values[] = {lane, INT64_MAX - lane, INT64_MIN + lane}, out;
    const char *why = NULL;
    if (!formula_eval(formula, values, &out, &why) && !why) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *arena = arena_new("fuzz");
  const char *text = arena_strndup(arena, (const char *)data, size < 2000 ? size : 2000);
  try_layout(arena, text);
  try_formula(arena, text);
  arena_free(arena);
  return 0;
}
