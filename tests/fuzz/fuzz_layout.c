// Any bytes as a layout of a slab, in every dialect, as a layout of registers, as a descriptor, as
// a tensor map, and as an expression in lane, row and col: refused with findings that are safe to
// print, or a layout whose every byte lies inside its storage, and that solves to the same numbers
// when it is read again, also from what each dialect that can say it makes of it.
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/formula.h"
#include "banks/layouts/instruction_descriptor.h"
#include "banks/layouts/notation.h"
#include "banks/layouts/smem_descriptor.h"
#include "banks/layouts/tma_box.h"
#include "banks/registers/register_text.h"
#include "banks/registers/ttgir.h"
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

// The text has to say its shape itself. Small ones alone are printed: eleven dialects read them
// again.
static void try_notation(Arena *arena, const char *text) {
  Diags diags = diags_new(arena);
  const Layout *layout = notation_parse(arena, &(LayoutSlab){0}, text, &diags);
  if (!layout) {
    check_findings(arena, &diags);
    return;
  }
  if (layout->slab.rows * layout->slab.row_bytes > 1 << 12) return;
  LayoutForm form = layout_form(arena, layout);
  for (int i = 0; i < notation_count; i++) {
    const char *why = NULL, *said = notation_print(arena, &notation_table[i], &form, &why);
    if (!said && !why) abort();
    const Layout *again = said ? notation_parse(arena, &layout->slab, said, &diags) : layout;
    if (!again || !notation_same(again, layout)) abort();
  }
}

// Registers over a small tensor: every place holds nothing or an element.
static void try_registers(Arena *arena, const char *text) {
  static const TensorShape shapes[] = {{0, {0}}, {2, {32, 64}}, {1, {128}}};
  static const char *const operands[] = {NULL, "A", "S"};
  for (int i = 0; i < 3; i++) {
    Diags diags = diags_new(arena);
    const RegisterAsked asked = {.shape = shapes[i], .operand = operands[i]};
    if (!register_text_is(text, NULL)) continue;
    const RegisterLayout *layout = register_text_read(arena, text, &asked, &diags);
    if (!layout) {
      check_findings(arena, &diags);
      continue;
    }
    const int n = register_places(layout), size = tensor_size(&layout->shape);
    for (int place = 0; place < n && place < 1 << 12; place++) {
      const int element = register_element(layout, register_place_at(layout, place));
      if (element < -1 || element >= size) abort();
    }
  }
  Diags diags = diags_new(arena);
  if (!ttgir_read(arena, text, &diags)) check_findings(arena, &diags);
}

static void try_descriptor(Arena *arena, const char *text) {
  for (int i = 0; i < 4; i++) {
    Diags diags = diags_new(arena);
    Str notes = str_new(arena);
    SmemDescriptor descriptor;
    DescriptorTile tile = {.mn_major = i & 1, .rows = i & 2 ? 128 : 8, .elem_bytes = 1 << (i & 2)};
    if (!smem_descriptor_parse(arena, text, i & 2 ? 100 : 90, &descriptor, &diags) ||
        !smem_descriptor_check(&descriptor, &tile, &notes, &diags))
      check_findings(arena, &diags);
  }
}

// Every number is a descriptor of every kind; what was read well is found by its own number again.
static void try_instruction(Arena *arena, const char *text) {
  const char *const *kinds;
  const int n = instruction_kind_names(&kinds);
  for (int i = 0; i < n; i++) {
    Diags diags = diags_new(arena);
    InstructionDescriptor descriptor, again;
    const InstructionUse use = {1 + (i & 1), i & 2};
    const bool well = instruction_descriptor_parse(arena, kinds[i], text, &descriptor, &diags);
    if (!well || !instruction_descriptor_check(arena, &descriptor, use, &diags))
      check_findings(arena, &diags);
    const char *number = arena_printf(arena, "%" PRIu32, descriptor.word);
    if (!well) continue;
    if (!instruction_descriptor_parse(arena, kinds[i], number, &again, &diags)) abort();
    if (again.word != descriptor.word) abort();
  }
}

static void try_box(Arena *arena, const char *text) {
  Diags diags = diags_new(arena);
  TmaBox box;
  if (!tma_box_parse(arena, text, &box, &diags) || !tma_box_check(&box, &diags) ||
      !tma_box_layout(arena, &box, text, &diags))
    check_findings(arena, &diags);
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
  try_notation(arena, text);
  try_registers(arena, text);
  try_descriptor(arena, text);
  try_instruction(arena, text);
  try_box(arena, text);
  try_formula(arena, text);
  arena_free(arena);
  return 0;
}
