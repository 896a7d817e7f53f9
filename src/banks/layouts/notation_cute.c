// CuTe's texts as layouts, and back.
//
// Parts are applied one after the other to the number of each element: row r, column c of R rows is
// r + R * c, which a layout splits over its modes, the first one fastest. Offsets are in elements
// until a swizzle of bytes comes along, and in bytes from there on.
#include "banks/layouts/notation_table.h"
#include "base/whole.h"

static bool check_swizzles(const CuteText *text, const char *source, int elem_bytes, Diags *diags) {
  for (int i = 0; i < text->n; i++) {
    const CutePart *part = &text->part[i];
    bool splits = part->kind == CUTE_PART_SWIZZLE && part->bytes && part->swizzle.bits &&
                  part->swizzle.base < log2_up(elem_bytes);
    if (!splits) continue;
    diag_add(diags, "layout", "%s: a swizzle of bytes from bit %d takes elements of %d bytes apart",
             str_sanitise(diags->arena, source), part->swizzle.base, elem_bytes);
    return false;
  }
  return true;
}

// The first byte of the element with this number.
static int64_t byte_of(const CuteText *text, int64_t element, int elem_bytes) {
  int64_t at = element, scale = elem_bytes;
  for (int i = 0; i < text->n; i++) {
    const CutePart *part = &text->part[i];
    if (part->kind == CUTE_PART_LAYOUT) at = cute_offset(&part->layout, at);
    if (part->kind == CUTE_PART_OFFSET) at += part->offset;
    if (part->kind != CUTE_PART_SWIZZLE) continue;
    if (part->bytes && scale != 1) {
      at *= scale;
      scale = 1;
    }
    at = cute_swizzle(part->swizzle, at);
  }
  return min64(at, CUTE_NUMBER_MAX) * scale;
}

const Layout *read_cute(Arena *arena, const LayoutSlab *known, const char *source, Diags *diags) {
  CuteText text;
  if (!cute_text_parse(arena, source, &text, diags)) return NULL;
  const CuteLayout *domain = &text.part[0].layout;
  CuteLayout first = cute_mode(domain, 0);
  Extents said = {1, cute_size(domain), text.element_bits / 8};
  if (cute_rank(domain) > 1) {
    said.rows = cute_size(&first);
    said.cols /= said.rows;
  }
  LayoutSlab slab;
  if (!notation_slab(source, known, said, &slab, diags)) return NULL;
  if (!check_swizzles(&text, source, slab.elem_bytes, diags)) return NULL;
  int cols = slab.row_bytes / slab.elem_bytes;
  int64_t *offset = ARENA_ARRAY(arena, int64_t, slab.rows * cols);
  for (int row = 0; row < slab.rows; row++)
    for (int col = 0; col < cols; col++)
      offset[row * cols + col] = byte_of(&text, row + (int64_t)slab.rows * col, slab.elem_bytes);
  return notation_layout(arena, source, &slab, offset, diags);
}

static bool has_strides(const LayoutForm *form, const char **why) {
  if (form->affine) return true;
  *why = form->facts.linear ? "its bits are XORed in more ways than one swizzle does"
                            : "it is no sum of strides, with or without a swizzle";
  return false;
}

const char *print_cute(Arena *arena, const LayoutForm *form, const char **why) {
  if (!has_strides(form, why)) return NULL;
  Str out = str_new(arena);
  if (form->swizzle.bits || form->base)
    str_printf(&out, "Sw<%d,%d,%d> o _%lld o ", form->swizzle.bits, form->swizzle.base,
               form->swizzle.shift, (long long)form->base);
  cute_print(&out, &form->shape);
  return out.text;
}

const char *print_smem_ptr(Arena *arena, const LayoutForm *form, const char **why) {
  if (!has_strides(form, why)) return NULL;
  if (form->base) {
    *why = "its first element is not where the pointer points";
    return NULL;
  }
  int elem = form->layout->slab.elem_bytes;
  Str out = str_new(arena);
  if (form->swizzle.bits)
    str_printf(&out, "Sw<%d,%d,%d> o ", form->swizzle.bits, form->swizzle.base + log2_up(elem),
               form->swizzle.shift);
  str_printf(&out, "smem_ptr[%db](unset) o ", elem * 8);
  cute_print(&out, &form->shape);
  return out.text;
}
