// A recursive descent over CuTe's notation, with the column of what cannot be read.
//
// A composition is a chain "f o g o h": parts are read from the left and turned round, for the last
// one is applied first. A layout is shapes, ":" and strides of the same nesting; the strides are
// read along the tree of the shapes, so the first place where they part is the one that is told.
#include "banks/layouts/cute_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/notation_scan.h"
#include "base/whole.h"

typedef struct Reader {
  Scan scan;
  CuteAlgebra algebra;
  int depth;
} Reader;

static bool read_layout(Reader *r, CuteLayout *out);

static const CuteLayout NOTHING = {.shape = 1};

// ---- shapes and strides -------------------------------------------------------------------------

// A number or a tuple of them, kept as the shapes of a tree.
static bool read_shape(Reader *r, CuteLayout *out) {
  *out = NOTHING;
  long long number;
  if (!scan_take(&r->scan, "(")) {
    if (!scan_number(&r->scan, "a shape", &number)) return false;
    if (number < 1) return scan_refuse(&r->scan, "a shape of 0 has no elements");
    *out = cute_leaf(number, 0);
    return true;
  }
  if (++r->depth > CUTE_DEPTH_MAX) return scan_refuse(&r->scan, "more than 16 tuples are nested");
  CuteLayout mode[CUTE_LEAVES_MAX];
  int n = 0;
  do {
    if (n == CUTE_LEAVES_MAX) return scan_refuse(&r->scan, "a tuple of more than 64");
    if (!read_shape(r, &mode[n++])) return false;
  } while (scan_take(&r->scan, ","));
  r->depth--;
  if (!scan_take(&r->scan, ")")) return scan_fail(&r->scan, "\",\" or \")\"");
  *out = cute_tuple(&r->algebra, n, mode);
  return true;
}

static bool read_stride(Reader *r, const CuteLayout *shape, CuteLayout *out) {
  *out = *shape;
  long long number;
  if (shape->rank == 0) {
    if (scan_peek(&r->scan) == '(')
      return scan_fail(&r->scan, "one stride, for the shape has a number here");
    if (!scan_number(&r->scan, "a stride", &number)) return false;
    if (scan_peek(&r->scan) == '@')
      return scan_refuse(&r->scan, "strides of coordinates (1@0) give no offset in memory");
    out->stride = number;
    return true;
  }
  if (!scan_take(&r->scan, "("))
    return scan_fail(&r->scan, arena_printf(r->scan.arena, "\"(\" and %d strides", shape->rank));
  CuteLayout *mode = ARENA_ARRAY(r->scan.arena, CuteLayout, shape->rank);
  for (int i = 0; i < shape->rank; i++) {
    if (i > 0 && !scan_take(&r->scan, ","))
      return scan_fail(&r->scan,
                       arena_printf(r->scan.arena, "\",\" and stride %d of %d, one for each shape",
                                    i + 1, shape->rank));
    if (!read_stride(r, &shape->mode[i], &mode[i])) return false;
  }
  out->mode = mode;
  return scan_take(&r->scan, ")") ||
         scan_fail(&r->scan,
                   arena_printf(r->scan.arena, "\")\" after %d strides, one for each shape",
                                shape->rank));
}

static bool check_algebra(Reader *r, const CuteLayout *layout) {
  CuteLayout leaf[CUTE_LEAVES_MAX];
  if (cute_leaves(layout, leaf) == CUTE_LEAVES_MAX && !r->algebra.fault)
    r->algebra.fault = "a layout has 64 leaves or more";
  return !r->algebra.fault || scan_refuse(&r->scan, r->algebra.fault);
}

static bool read_pair(Reader *r, CuteLayout *out) {
  CuteLayout shape;
  if (!read_shape(r, &shape)) return false;
  if (!scan_take(&r->scan, ":")) return scan_fail(&r->scan, "\":\" and the strides");
  const bool right = scan_take(&r->scan, "LayoutRight");
  if (right || scan_take(&r->scan, "LayoutLeft")) {
    *out = cute_compact(&r->algebra, shape, right);
    return check_algebra(r, out);
  }
  return read_stride(r, &shape, out) && check_algebra(r, out);
}

// ---- tilers and operations ----------------------------------------------------------------------

// A shape as a tiler of one mode: 4 is 4:1.
static bool compact_mode(Reader *r, const CuteLayout *shape, CuteLayout *out) {
  if (shape->rank) return scan_refuse(&r->scan, "a mode of a tiler is a number or a layout");
  *out = cute_leaf(shape->shape, 1);
  return true;
}

// "<L, L>".
static bool read_modes(Reader *r, CuteTiler *out) {
  CuteLayout *mode = ARENA_ARRAY(r->scan.arena, CuteLayout, CUTE_LEAVES_MAX);
  do {
    if (out->n == CUTE_LEAVES_MAX) return scan_refuse(&r->scan, "a tiler of more than 64 modes");
    CuteLayout *to = &mode[out->n++];
    if (!read_shape(r, to)) return false;
    if (scan_take(&r->scan, ":") ? !read_stride(r, to, to) : !compact_mode(r, to, to)) return false;
  } while (scan_take(&r->scan, ","));
  out->mode = mode;
  return scan_take(&r->scan, ">") || scan_fail(&r->scan, "\",\" or \">\"");
}

static bool read_tiler(Reader *r, CuteTiler *out) {
  *out = (CuteTiler){0};
  if (scan_take(&r->scan, "<")) return read_modes(r, out);
  CuteLayout *mode = ARENA_ARRAY(r->scan.arena, CuteLayout, CUTE_LEAVES_MAX);
  out->mode = mode;
  if (isalpha((unsigned char)scan_peek(&r->scan))) return read_layout(r, mode);
  CuteLayout shape;
  if (!read_shape(r, &shape)) return false;
  if (scan_take(&r->scan, ":")) return read_stride(r, &shape, mode);
  if (shape.rank == 0) return compact_mode(r, &shape, mode);
  for (int i = 0; i < shape.rank; i++)
    if (!compact_mode(r, &shape.mode[i], &mode[i])) return false;
  out->n = shape.rank;
  return true;
}

typedef CuteLayout CuteWithTiler(CuteAlgebra *algebra, CuteLayout a, CuteTiler b);
typedef CuteLayout CuteAlone(CuteAlgebra *algebra, CuteLayout a);

static CuteLayout complement_to(CuteAlgebra *algebra, CuteLayout a, CuteTiler b) {
  return cute_complement(algebra, a, cute_size(&b.mode[0]));
}

static const struct {
  const char *name;
  CuteWithTiler *with_tiler;
  CuteAlone *alone;
} OPERATIONS[] = {
    {"composition", cute_compose_by_mode, NULL},
    {"complement", complement_to, NULL},
    {"coalesce", NULL, cute_coalesce},
    {"right_inverse", NULL, cute_right_inverse},
    {"logical_divide", cute_logical_divide, NULL},
    {"zipped_divide", cute_zipped_divide, NULL},
    {"tiled_divide", cute_tiled_divide, NULL},
    {"flat_divide", cute_flat_divide, NULL},
    {"logical_product", cute_logical_product, NULL},
    {"zipped_product", cute_zipped_product, NULL},
    {"tiled_product", cute_tiled_product, NULL},
};
enum { N_OPERATIONS = sizeof OPERATIONS / sizeof OPERATIONS[0] };

static int operation_of(const char *name) {
  for (int i = 0; i < N_OPERATIONS; i++)
    if (str_equal(OPERATIONS[i].name, name)) return i;
  return -1;
}

static bool read_operation(Reader *r, CuteLayout *out) {
  const char *begin = r->scan.at, *name = scan_word(&r->scan);
  int i = operation_of(name);
  if (i < 0) {
    r->scan.at = begin;
    return scan_fail(&r->scan, "a layout, or an operation such as logical_divide");
  }
  if (++r->depth > CUTE_DEPTH_MAX) return scan_refuse(&r->scan, "more than 16 are nested");
  CuteTiler tiler;
  if (!scan_expect(&r->scan, "(") || !read_layout(r, out)) return false;
  if (OPERATIONS[i].with_tiler) {
    if (!scan_expect(&r->scan, ",") || !read_tiler(r, &tiler)) return false;
    *out = OPERATIONS[i].with_tiler(&r->algebra, *out, tiler);
  } else {
    *out = OPERATIONS[i].alone(&r->algebra, *out);
  }
  r->depth--;
  return check_algebra(r, out) && scan_expect(&r->scan, ")");
}

static bool read_layout(Reader *r, CuteLayout *out) {
  *out = NOTHING;
  return isalpha((unsigned char)scan_peek(&r->scan)) ? read_operation(r, out) : read_pair(r, out);
}

// ---- compositions -------------------------------------------------------------------------------

// Reads the part behind the name of a swizzle: <B,M,S>.
static bool read_swizzle(Reader *r, CutePart *part) {
  long long n[3];
  static const char *const what[3] = {"B, the number of bits", "M, the lowest bit", "S, the shift"};
  part->kind = CUTE_PART_SWIZZLE;
  if (!scan_expect(&r->scan, "<")) return false;
  for (int i = 0; i < 3; i++) {
    if (i > 0 && !scan_expect(&r->scan, ",")) return false;
    if (!scan_signed(&r->scan, what[i], &n[i])) return false;
  }
  if (n[0] < 0 || n[0] > 16 || n[1] < 0 || n[1] > 20 || n[2] < -20 || n[2] > 20)
    return scan_refuse(&r->scan, "B is 0 to 16, M 0 to 20 and S -20 to 20");
  if (llabs(n[2]) < n[0])
    return scan_refuse(&r->scan, "|S| < B: the bits read and the bits flipped overlap");
  part->swizzle = (CuteSwizzle){(int)n[0], (int)n[1], (int)n[2]};
  return scan_expect(&r->scan, ">");
}

static bool is_element_bits(long long bits) {
  static const int known[] = {1, 4, 8, 16, 32, 64, 128};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (bits == known[i]) return true;
  return false;
}

// "smem_ptr[16b](unset)", "smem_ptr[16b](0x7f0c00000400)", or "smem_ptr" alone, which does not say
// what it points to: what comes before it is of bytes.
static bool read_pointer(Reader *r, CuteText *out) {
  long long bits;
  for (int i = 0; i < out->n; i++) out->part[i].bytes = true;
  if (scan_peek(&r->scan) == 'o') return true;
  if (!scan_expect(&r->scan, "[") || !scan_number(&r->scan, "bits of an element", &bits) ||
      !scan_expect(&r->scan, "b") || !scan_expect(&r->scan, "]") || !scan_expect(&r->scan, "("))
    return false;
  if (!is_element_bits(bits))
    return scan_refuse(&r->scan, "elements have 1, 4, 8, 16, 32, 64 or 128 bits here");
  out->element_bits = (int)bits;
  if (scan_take(&r->scan, "unset")) return scan_expect(&r->scan, ")");
  char *end;
  unsigned long long address = strtoull(r->scan.at, &end, 16);
  if (end == r->scan.at) return scan_fail(&r->scan, "\"unset\" or an address");
  if (address % 1024 != 0)
    return scan_refuse(&r->scan, "an address that is not a multiple of 1024 shifts the pattern");
  r->scan.at = end;
  return scan_expect(&r->scan, ")");
}

static bool is_swizzle_name(const char *word) {
  return str_equal(word, "Sw") || str_equal(word, "S") || str_equal(word, "Swizzle");
}

// A number alone is an offset; one before ":" is a layout.
static bool read_offset(Reader *r, CutePart *part) {
  const char *begin = r->scan.at;
  long long number;
  if (scan_peek(&r->scan) == '(' || isalpha((unsigned char)scan_peek(&r->scan))) return false;
  if (!scan_number(&r->scan, "a layout, an offset or Sw<B,M,S>", &number)) return false;
  part->kind = CUTE_PART_OFFSET;
  part->offset = number;
  if (scan_peek(&r->scan) != ':') return true;
  r->scan.at = begin;
  return false;
}

static bool read_part(Reader *r, CuteText *out) {
  const char *begin = r->scan.at;
  const char *word = scan_peek(&r->scan) == '_' ? NULL : scan_word(&r->scan);
  CutePart *part = &out->part[out->n];
  *part = (CutePart){.kind = CUTE_PART_LAYOUT};
  if (word && is_swizzle_name(word)) {
    out->n++;
    if (!read_swizzle(r, part)) return false;
    return !scan_take(&r->scan, "_smem_ptr") || read_pointer(r, out);
  }
  if (word && str_equal(word, "smem_ptr")) return read_pointer(r, out);
  r->scan.at = begin;
  out->n++;
  if (read_offset(r, part)) return true;
  part->kind = CUTE_PART_LAYOUT;
  return !r->scan.failed && read_layout(r, &part->layout);
}

static void turn_round(CuteText *text) {
  for (int i = 0; i < text->n / 2; i++) {
    CutePart swap = text->part[i];
    text->part[i] = text->part[text->n - 1 - i];
    text->part[text->n - 1 - i] = swap;
  }
}

bool cute_printed_parse(Arena *arena, const char *text, CuteText *out, Diags *diags) {
  Reader r = {.scan = scan_new(arena, text, diags), .algebra = {.arena = arena}};
  *out = (CuteText){0};
  do {
    if (out->n == CUTE_PARTS_MAX) return scan_refuse(&r.scan, "more than 6 parts are composed");
    if (!read_part(&r, out)) return false;
  } while (scan_take(&r.scan, "o"));
  if (!scan_end(&r.scan)) return false;
  turn_round(out);
  if (out->n > 0 && out->part[0].kind == CUTE_PART_LAYOUT) return true;
  return scan_refuse(&r.scan, "expected \"o\" and the layout that all this is applied to");
}

bool cute_printed_is(const char *text) {
  while (isspace((unsigned char)*text)) text++;
  if (*text == '(' || *text == '_' || isdigit((unsigned char)*text)) {
    // 128B, 64B and 32B are layouts of layout.h.
    return text[strspn(text, "0123456789")] != 'B';
  }
  size_t n = strcspn(text, "<([_ ");
  if (str_starts(text, "smem_ptr") || str_starts(text, "Sw<") || str_starts(text, "S<"))
    return true;
  if (str_starts(text, "Swizzle<")) return strstr(text, " o ") || strstr(text, ">_smem_ptr");
  for (int i = 0; i < N_OPERATIONS; i++) {
    n = strlen(OPERATIONS[i].name);
    if (str_starts(text, OPERATIONS[i].name) && text[n + strspn(text + n, " ")] == '(') return true;
  }
  return false;
}

int64_t cute_swizzle(CuteSwizzle swizzle, int64_t offset) {
  int from = swizzle.base + max_int(swizzle.shift, 0),
      to = swizzle.base - min_int(swizzle.shift, 0);
  int64_t mask = (INT64_C(1) << swizzle.bits) - 1;
  return offset ^ (offset >> from & mask) << to;
}
