// CuTe's texts as layouts, and back.
//
// Parts are applied one after the other to the number of each element, which a layout splits over
// its modes, the first one fastest; which modes are rows and which columns says notation.h. Offsets
// are in elements until a swizzle of bytes comes along, and in bytes from there on.
#include "banks/layouts/cute_cxx.h"
#include "banks/layouts/notation_table.h"
#include "base/whole.h"

static bool check_swizzles(const CuteText *text, const char *source, int elem_bytes, Diags *diags) {
  for (int i = 0; i < text->n; i++) {
    const CutePart *part = &text->part[i];
    bool splits = part->kind == CUTE_PART_SWIZZLE && part->bytes && part->swizzle.bits &&
                  part->swizzle.base < log2_up(elem_bytes);
    if (!splits) continue;
    diag_add(diags, "layout", "%s: a swizzle of bytes from bit %d splits elements of %d bytes",
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

static bool is_swizzle(const CutePart *part) {
  return part->kind == CUTE_PART_SWIZZLE && part->swizzle.bits > 0;
}

// The same composition with a pointer behind its innermost swizzle, which makes all of them count
// bytes; NULL where it has one, or no swizzle.
static const char *with_pointer(Arena *arena, const CuteText *text, int elem_bytes) {
  int innermost = 0;
  while (innermost < text->n && !is_swizzle(&text->part[innermost])) innermost++;
  if (innermost == text->n || text->element_bits || elem_bytes == 1) return NULL;
  Str out = str_new(arena);
  for (int i = text->n - 1; i >= 0; i--) {
    const CutePart *part = &text->part[i];
    if (part->kind == CUTE_PART_SWIZZLE)
      str_printf(&out, "Sw<%d,%d,%d> o ", part->swizzle.bits, part->swizzle.base,
                 part->swizzle.shift);
    if (part->kind == CUTE_PART_OFFSET && part->offset)
      str_printf(&out, "_%lld o ", (long long)part->offset);
    if (part->kind == CUTE_PART_LAYOUT) {
      cute_print(&out, &part->layout);
      if (i > 0) str_add(&out, " o ");
    }
    if (i == innermost) str_printf(&out, "smem_ptr[%db](unset) o ", elem_bytes * 8);
  }
  return out.text;
}

// Elements that a stride of 0 puts into one place.
static int shared_of(const CuteText *text) {
  CuteLayout leaf[CUTE_LEAVES_MAX];
  const int n = cute_leaves(&text->part[0].layout, leaf);
  int64_t shared = 1;
  for (int i = 0; i < n; i++)
    if (leaf[i].stride == 0) shared *= leaf[i].shape;
  return (int)min64(shared, CUTE_NUMBER_MAX >> 16);
}

static LayoutUnit unit_of(const CuteText *text) {
  for (int i = 0; i < text->n; i++)
    if (is_swizzle(&text->part[i]))
      return text->part[i].bytes ? LAYOUT_UNIT_BYTES : LAYOUT_UNIT_ELEMENTS;
  return LAYOUT_UNIT_NONE;
}

// ---- rows and columns ---------------------------------------------------------------------------

// From a row, and from a column, to the number of an element.
typedef struct Matrix {
  CuteLayout rows, cols;
} Matrix;

// A mode as the numbers of its elements, and how near to each other these lie in memory.
typedef struct Mode {
  CuteLayout number;
  int64_t step;  // the least stride; 0 where it has one element
} Mode;

static Mode mode_of(const CuteLayout *domain, int i, int64_t *before) {
  CuteLayout mode = cute_mode(domain, i), leaf[CUTE_LEAVES_MAX];
  Mode out = {cute_leaf(cute_size(&mode), *before), 0};
  const int n = cute_leaves(&mode, leaf);
  for (int k = 0; k < n; k++)
    if (leaf[k].shape > 1 && (out.step == 0 || leaf[k].stride < out.step))
      out.step = leaf[k].stride;
  *before *= out.number.shape;
  return out;
}

// The mode that runs across where all others run down; -1: the first runs down, all others across.
static int mode_across(const Mode *mode, int n) {
  if (n < 3 || mode[0].step == 1) return -1;
  for (int i = n - 1; i > 0; i--)
    if (mode[i].step == 1) return i;
  return -1;
}

static void sort_by_step(Mode *mode, int n) {
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0 && mode[k].step < mode[k - 1].step; k--) {
      const Mode swap = mode[k];
      mode[k] = mode[k - 1];
      mode[k - 1] = swap;
    }
}

static Matrix matrix_of(Arena *arena, const CuteLayout *domain) {
  CuteAlgebra algebra = {.arena = arena};
  Mode mode[CUTE_LEAVES_MAX] = {{.step = 0}};
  CuteLayout rest[CUTE_LEAVES_MAX];
  int64_t before = 1;
  const int n = cute_rank(domain);
  for (int i = 0; i < n; i++) mode[i] = mode_of(domain, i, &before);
  if (n == 1) return (Matrix){cute_leaf(1, 0), mode[0].number};
  const int across = mode_across(mode, n);
  const Mode alone = mode[across < 0 ? 0 : across];
  int n_rest = 0;
  for (int i = 0; i < n; i++)
    if (i != (across < 0 ? 0 : across)) mode[n_rest++] = mode[i];
  if (across >= 0) sort_by_step(mode, n_rest);
  for (int i = 0; i < n_rest; i++) rest[i] = mode[i].number;
  const CuteLayout others = cute_tuple(&algebra, n_rest, rest);
  return across < 0 ? (Matrix){alone.number, others} : (Matrix){others, alone.number};
}

// ---- elements of less than a byte ---------------------------------------------------------------

// The layout of groups of `n` neighbours: the mode of stride 1 has fewer of them, other strides are
// shorter. False where neighbours are not all in one group.
static bool group_leaves(Arena *arena, const CuteLayout *from, int64_t n, CuteLayout *out) {
  *out = *from;
  if (from->rank == 0) {
    if (from->shape == 1 || from->stride == 0) return true;
    const bool neighbours = from->stride == 1;
    if ((neighbours ? from->shape : from->stride) % n) return false;
    *out = neighbours ? cute_leaf(from->shape / n, 1) : cute_leaf(from->shape, from->stride / n);
    return true;
  }
  CuteLayout *mode = ARENA_ARRAY(arena, CuteLayout, from->rank);
  for (int i = 0; i < from->rank; i++)
    if (!group_leaves(arena, &from->mode[i], n, &mode[i])) return false;
  out->mode = mode;
  return true;
}

// Bits become elements of the type that is asked for, two halves of a byte become one.
static bool widen(Arena *arena, CuteText *text, const char *source, const LayoutSlab *known,
                  Diags *diags) {
  if (text->element_bits == 0 || text->element_bits >= 8) return true;
  const int bits = text->element_bits == 1 ? 8 * (known->elem_bytes ? known->elem_bytes : 2) : 8;
  CuteLayout whole;
  if (group_leaves(arena, &text->part[0].layout, bits / text->element_bits, &whole)) {
    text->part[0].layout = whole;
    text->element_bits = bits;
    return true;
  }
  diag_add(diags, "layout", "%s: its elements of %d bit%s do not form whole elements of %d bits",
           str_sanitise(arena, source), text->element_bits, plural_s(text->element_bits), bits);
  return false;
}

// ---- reading ------------------------------------------------------------------------------------

const Layout *notation_read_cute(Arena *arena, const LayoutSlab *known, const char *source,
                                 Diags *diags) {
  CuteText text;
  if (!cute_text_parse(arena, source, &text, diags)) return NULL;
  if (!widen(arena, &text, source, known, diags)) return NULL;
  const Matrix matrix = matrix_of(arena, &text.part[0].layout);
  const Extents said = {cute_size(&matrix.rows), cute_size(&matrix.cols), text.element_bits / 8};
  LayoutSlab slab;
  if (!notation_slab(source, known, said, &slab, diags)) return NULL;
  if (!check_swizzles(&text, source, slab.elem_bytes, diags)) return NULL;
  int cols = slab.row_bytes / slab.elem_bytes;
  int64_t *offset = ARENA_ARRAY(arena, int64_t, slab.rows * cols);
  for (int row = 0; row < slab.rows; row++)
    for (int col = 0; col < cols; col++)
      offset[row * cols + col] = byte_of(
          &text, cute_offset(&matrix.rows, row) + cute_offset(&matrix.cols, col), slab.elem_bytes);
  const Layout *read = notation_layout(arena, source, &slab, offset, diags);
  if (!read) return NULL;
  Layout *layout = ARENA_NEW(arena, Layout);
  *layout = *read;
  layout->unit = unit_of(&text);
  layout->shared = shared_of(&text);
  layout->other = with_pointer(arena, &text, slab.elem_bytes);
  return layout;
}

static bool has_strides(const LayoutForm *form, const char **why) {
  if (form->affine) return true;
  *why = form->facts.linear ? "its XORs of bits are not one swizzle"
                            : "it is not a sum of strides, with or without a swizzle";
  return false;
}

const char *notation_print_cute(Arena *arena, const LayoutForm *form, const char **why) {
  if (!has_strides(form, why)) return NULL;
  Str out = str_new(arena);
  if (form->swizzle.bits || form->base)
    str_printf(&out, "Sw<%d,%d,%d> o _%lld o ", form->swizzle.bits, form->swizzle.base,
               form->swizzle.shift, (long long)form->base);
  cute_print(&out, &form->shape);
  return out.text;
}

const char *notation_print_smem_ptr(Arena *arena, const LayoutForm *form, const char **why) {
  if (!has_strides(form, why)) return NULL;
  if (form->base) {
    *why = "its first element is not at the pointer";
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
