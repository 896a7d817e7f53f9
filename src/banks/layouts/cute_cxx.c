// The text is copied, and what C++ writes in another way than print() is written anew: one row of
// WORDS for each such word, with the function that reads what stands behind it.
//
// Worked example: "logical_divide(make_layout(make_shape(8,64),GenRowMajor{}), _4{})" is copied up
// to make_layout, which becomes "(_8,_64):(_64,_1)"; of "_4{}" the braces are left out.
#include "banks/layouts/cute_cxx.h"

#include <ctype.h>
#include <string.h>

#include "banks/layouts/notation_scan.h"
#include "base/whole.h"

typedef struct Cxx {
  Scan scan;
  CuteAlgebra algebra;
  int depth;
} Cxx;

typedef bool CxxRead(Cxx *x, const char *word, Str *out);

static bool copy_until(Cxx *x, const char *ends, Str *out);

// ---- numbers and tuples -------------------------------------------------------------------------

static void take_braces(Cxx *x) {
  if (scan_take(&x->scan, "{")) scan_expect(&x->scan, "}");
}

static const char *take_word(Cxx *x) {
  while (scan_take(&x->scan, "cute::") || scan_take(&x->scan, "cutlass::")) continue;
  return scan_peek(&x->scan) == '_' ? NULL : scan_word(&x->scan);
}

// The closing bracket of what `word` opens: types have <>, functions ().
static const char *open_bracket(Cxx *x) {
  if (scan_take(&x->scan, "<")) return ">";
  if (scan_take(&x->scan, "(")) return ")";
  scan_fail(&x->scan, "\"<\" or \"(\"");
  return NULL;
}

static bool is_tuple_word(const char *word) {
  static const char *const words[] = {"Shape",     "Stride",     "Step",        "Coord",
                                      "Tile",      "make_shape", "make_stride", "make_coord",
                                      "make_tile", "make_step",  "make_tuple",  "tuple"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(word, words[i]) == 0) return true;
  return false;
}

static bool is_number_word(const char *word) { return !strcmp(word, "Int") || !strcmp(word, "C"); }

// "_8", "8", "_8{}", "Int<8>{}", or a tuple of such: a tree of shapes. `what` is wanted.
static bool read_tree(Cxx *x, const char *what, CuteLayout *out) {
  *out = cute_leaf(1, 0);
  long long number = 0;
  const char *begin = x->scan.at, *word = take_word(x);
  if (!word || is_number_word(word)) {
    if (word && !scan_expect(&x->scan, "<")) return false;
    if (!scan_number(&x->scan, what, &number)) return false;
    if (word && !scan_expect(&x->scan, ">")) return false;
    take_braces(x);
    *out = cute_leaf(number, 0);
    return !x->scan.failed;
  }
  if (!is_tuple_word(word)) {
    x->scan.at = begin;
    return scan_fail(&x->scan, what);
  }
  if (++x->depth > CUTE_DEPTH_MAX) return scan_refuse(&x->scan, "more than 16 tuples are nested");
  const char *end = open_bracket(x);
  CuteLayout *mode = ARENA_ARRAY(x->scan.arena, CuteLayout, CUTE_LEAVES_MAX);
  int n = 0;
  do {
    if (n == CUTE_LEAVES_MAX) return scan_refuse(&x->scan, "a tuple of more than 64");
    if (!end || !read_tree(x, what, &mode[n++])) return false;
  } while (scan_take(&x->scan, ","));
  if (!scan_expect(&x->scan, end)) return false;
  take_braces(x);
  x->depth--;
  *out = cute_tuple(&x->algebra, n, mode);
  return !x->scan.failed;
}

// Shapes with the strides of another tree, which has to have the same nesting.
static bool with_strides(Cxx *x, const CuteLayout *stride, CuteLayout *shape) {
  if (shape->rank != stride->rank)
    return scan_refuse(&x->scan, "strides must be nested as their shapes, one for each");
  if (shape->rank == 0) {
    shape->stride = stride->shape;
    return true;
  }
  CuteLayout *mode = ARENA_ARRAY(x->scan.arena, CuteLayout, shape->rank);
  for (int i = 0; i < shape->rank; i++) {
    mode[i] = shape->mode[i];
    if (!with_strides(x, &stride->mode[i], &mode[i])) return false;
  }
  shape->mode = mode;
  return true;
}

// ---- layouts ------------------------------------------------------------------------------------

// LayoutLeft, GenColMajor; LayoutRight, GenRowMajor. False: neither stands there.
static bool take_order(Cxx *x, bool *right) {
  static const char *const words[] = {"LayoutLeft", "GenColMajor", "LayoutRight", "GenRowMajor"};
  scan_peek(&x->scan);
  for (int i = 0; i < 4; i++) {
    if (!scan_take(&x->scan, words[i])) continue;
    *right = i >= 2;
    take_braces(x);
    return true;
  }
  return false;
}

static bool read_layout(Cxx *x, const char *word, Str *out) {
  (void)word;
  const char *end = open_bracket(x);
  CuteLayout shape, stride;
  bool right = false;
  if (!end || !read_tree(x, "a shape: a number, Shape<…> or make_shape(…)", &shape)) return false;
  if (!scan_take(&x->scan, ",") || take_order(x, &right)) {
    shape = cute_compact(&x->algebra, shape, right);
  } else if (!read_tree(x, "strides: Stride<…>, make_stride(…) or LayoutRight{}", &stride) ||
             !with_strides(x, &stride, &shape)) {
    return false;
  }
  if (!scan_expect(&x->scan, end)) return false;
  take_braces(x);
  cute_print(out, &shape);
  return !x->scan.failed;
}

// A tuple that is no layout's: of numbers, or a tiler of layouts.
static bool read_tuple(Cxx *x, const char *word, Str *out) {
  const bool tile = !strcmp(word, "Tile") || !strcmp(word, "make_tile");
  const char *end = open_bracket(x);
  str_add(out, tile ? "<" : "(");
  if (!end || !copy_until(x, end, out) || !scan_expect(&x->scan, end)) return false;
  str_add(out, tile ? ">" : ")");
  take_braces(x);
  return !x->scan.failed;
}

static bool read_number(Cxx *x, const char *word, Str *out) {
  (void)word;
  long long number;
  if (!scan_expect(&x->scan, "<") || !scan_signed(&x->scan, "a number", &number) ||
      !scan_expect(&x->scan, ">"))
    return false;
  take_braces(x);
  str_printf(out, "_%lld", number);
  return !x->scan.failed;
}

static bool read_pointer_flag(Cxx *x, const char *word, Str *out) {
  (void)word;
  long long bits;
  if (!scan_expect(&x->scan, "<") || !scan_number(&x->scan, "bits of an element", &bits) ||
      !scan_expect(&x->scan, ">"))
    return false;
  take_braces(x);
  str_printf(out, "smem_ptr[%lldb](unset)", bits);
  return !x->scan.failed;
}

// CUTLASS's own atoms are written so, in bits.
static bool read_bit_pointer(Cxx *x, const char *word, Str *out) {
  (void)word;
  take_braces(x);
  str_add(out, "smem_ptr[1b](unset)");
  return !x->scan.failed;
}

static bool read_swizzle(Cxx *x, const char *word, Str *out) {
  (void)word;
  str_add(out, "Sw<");
  if (!scan_expect(&x->scan, "<") || !copy_until(x, ">", out) || !scan_expect(&x->scan, ">"))
    return false;
  str_add(out, ">");
  take_braces(x);
  return !x->scan.failed;
}

// composition(Swizzle<…>{}, L) and its kin; of two layouts it is the operation of that name.
static bool read_composed(Cxx *x, const char *word, Str *out) {
  const char *end = open_bracket(x), *begin = x->scan.at;
  const char *first = end ? take_word(x) : NULL;
  const bool swizzled = first && !strcmp(first, "Swizzle");
  x->scan.at = begin;
  if (!end) return false;
  if (!swizzled) {
    str_printf(out, "%s(", word);
    if (!copy_until(x, end, out) || !scan_expect(&x->scan, end)) return false;
    str_add(out, ")");
    return true;
  }
  Str part[3];
  int n = 0;
  do {
    if (n == 3)
      return scan_refuse(&x->scan,
                         "expected a swizzle, an offset and a layout, "
                         "composed");
    part[n] = str_new(x->scan.arena);
    str_add(&part[n], "");
    if (!copy_until(x, ">,)", &part[n++])) return false;
  } while (scan_take(&x->scan, ","));
  if (n < 2) return scan_fail(&x->scan, "\",\" and the layout that the swizzle is applied to");
  if (!scan_expect(&x->scan, end)) return false;
  take_braces(x);
  str_printf(out, "%s o %s o %s", part[0].text, n == 3 ? part[1].text : "_0", part[n - 1].text);
  return !x->scan.failed;
}

// ---- atoms of wgmma and tcgen05 -----------------------------------------------------------------

static int bits_of_type(const char *name) {
  static const struct {
    const char *name;
    int bits;
  } types[] = {{"half_t", 16},        {"half", 16},       {"__half", 16},      {"bfloat16_t", 16},
               {"__nv_bfloat16", 16}, {"tfloat32_t", 32}, {"float", 32},       {"double", 64},
               {"int8_t", 8},         {"uint8_t", 8},     {"float_e4m3_t", 8}, {"float_e5m2_t", 8},
               {"int32_t", 32},       {"uint32_t", 32}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strcmp(types[i].name, name) == 0) return types[i].bits;
  return 0;
}

// "GMMA::Layout_K_SW128_Atom<half_t>{}": eight rows of 128 bits without a swizzle, of 256, 512 or
// 1024 with one of 1, 2 or 3 bits (CUTLASS, cute/atom/mma_traits_sm90_gmma.hpp).
static bool read_atom(Cxx *x, const char *word, Str *out) {
  static const char *const widths[] = {"INTER", "SW32", "SW64", "SW128"};
  (void)word;
  const bool named = scan_expect(&x->scan, "::") && scan_expect(&x->scan, "Layout_");
  if (!named) return false;
  const bool k = scan_take(&x->scan, "K_");
  if (!k && !scan_take(&x->scan, "MN_")) return scan_fail(&x->scan, "\"K_\" or \"MN_\"");
  int bits = 0;
  while (bits < 4 && !scan_take(&x->scan, widths[bits])) bits++;
  if (bits == 4) return scan_fail(&x->scan, "\"INTER\", \"SW32\", \"SW64\" or \"SW128\"");
  if (!scan_expect(&x->scan, "_Atom") || !scan_expect(&x->scan, "<")) return false;
  const char *type = take_word(x);
  const int element = type ? bits_of_type(type) : 0;
  if (!element) return scan_refuse(&x->scan, "expected a type such as half_t, float or int8_t");
  if (!scan_expect(&x->scan, ">")) return false;
  take_braces(x);
  const int n = (128 << bits) / element;
  str_printf(out, "Sw<%d,4,3> o smem_ptr[%db](unset) o ", bits, element);
  if (k)
    str_printf(out, "(_8,_%d):(_%d,_1)", n, n);
  else
    str_printf(out, "(_%d,_8):(_1,_%d)", n, n);
  return !x->scan.failed;
}

// ---- tile_to_shape ------------------------------------------------------------------------------

// Which mode comes i-th: Step<_2,_1> counts from 1, LayoutRight begins with the last one.
static int mode_at(const CuteLayout *step, bool right, int rank, int i) {
  for (int m = 0; step->rank == rank && m < rank; m++)
    if (step->mode[m].shape == i + 1) return m;
  return right ? rank - 1 - i : i;
}

// Repeats a block behind itself until the shape is full: mode i is (block's i, its repeats).
static bool fill_shape(Cxx *x, const CuteLayout *block, const CuteLayout *shape,
                       const CuteLayout *step, bool right, CuteLayout *out) {
  const int rank = cute_rank(shape);
  if (rank != cute_rank(block))
    return scan_refuse(&x->scan, "the shape has another number of modes than the layout");
  CuteLayout *mode = ARENA_ARRAY(x->scan.arena, CuteLayout, rank);
  int64_t next = cute_cosize(block);
  for (int i = 0; i < rank; i++) {
    const int at = mode_at(step, right, rank, i);
    const CuteLayout pair[2] = {cute_mode(block, at), cute_mode(shape, at)};
    const int64_t have = cute_size(&pair[0]), wanted = cute_size(&pair[1]);
    if (wanted % have != 0)
      return scan_refuse(&x->scan, "the shape is not a multiple of the layout's in each mode");
    const int64_t n = wanted / have;
    const CuteLayout parts[2] = {pair[0], cute_leaf(n, n > 1 ? next : 0)};
    mode[at] = cute_tuple(&x->algebra, 2, parts);
    next *= n;
  }
  *out = cute_tuple(&x->algebra, rank, mode);
  return !x->algebra.fault || scan_refuse(&x->scan, x->algebra.fault);
}

static bool read_tile_to_shape(Cxx *x, const char *word, Str *out) {
  (void)word;
  Str block = str_new(x->scan.arena);
  CuteLayout shape, step = cute_leaf(1, 0), filled;
  bool right = false;
  if (!scan_expect(&x->scan, "(") || !copy_until(x, ",", &block) || !scan_expect(&x->scan, ",") ||
      !read_tree(x, "a shape: Shape<…> or make_shape(…)", &shape))
    return false;
  if (scan_take(&x->scan, ",") && !take_order(x, &right) &&
      !read_tree(x, "an order: Step<…> or LayoutRight{}", &step))
    return false;
  if (!scan_expect(&x->scan, ")")) return false;
  CuteText text;
  if (!cute_printed_parse(x->scan.arena, block.text, &text, x->scan.diags)) {
    x->scan.failed = true;
    return false;
  }
  if (!fill_shape(x, &text.part[0].layout, &shape, &step, right, &filled)) return false;
  const char *last = strrchr(block.text, 'o');
  if (text.n > 1 || text.element_bits)
    str_printf(out, "%.*so ", (int)(last - block.text), block.text);
  cute_print(out, &filled);
  return true;
}

// ---- the text -----------------------------------------------------------------------------------

static const struct {
  const char *word;
  CxxRead *read;
} WORDS[] = {
    {"Layout", read_layout},
    {"make_layout", read_layout},
    {"composition", read_composed},
    {"ComposedLayout", read_composed},
    {"make_composed_layout", read_composed},
    {"Swizzle", read_swizzle},
    {"smem_ptr_flag_bits", read_pointer_flag},
    {"smem_ptr_flag", read_bit_pointer},
    {"GMMA", read_atom},
    {"UMMA", read_atom},
    {"tile_to_shape", read_tile_to_shape},
    {"Int", read_number},
    {"C", read_number},
};
enum { N_WORDS = sizeof WORDS / sizeof WORDS[0] };

static bool read_word(Cxx *x, Str *out) {
  const char *word = take_word(x);
  for (int i = 0; word && i < N_WORDS; i++)
    if (strcmp(WORDS[i].word, word) == 0) return WORDS[i].read(x, word, out);
  if (word && is_tuple_word(word)) return read_tuple(x, word, out);
  if (word) str_add(out, word);
  return true;
}

// Copies up to one of `ends` outside of brackets, or to the end of the text.
static bool copy_until(Cxx *x, const char *ends, Str *out) {
  if (++x->depth > CUTE_DEPTH_MAX) return scan_refuse(&x->scan, "more than 16 are nested");
  int open = 0;
  for (; *x->scan.at;) {
    const char c = *x->scan.at;
    if (open == 0 && strchr(ends, c)) break;
    if (isalpha((unsigned char)c)) {
      if (!read_word(x, out)) return false;
      continue;
    }
    open += (c == '(' || c == '<') - (c == ')' || c == '>');
    if (str_starts(x->scan.at, "{}")) {
      x->scan.at += 2;
      continue;
    }
    str_add_char(out, c);
    x->scan.at++;
    while (c == '_' && isalnum((unsigned char)*x->scan.at)) str_add_char(out, *x->scan.at++);
  }
  x->depth--;
  return true;
}

// Whether one of these words stands in the text.
static bool is_cxx(const char *text) {
  static const char *const signs[] = {"Layout<", "make_layout", "ComposedLayout", "make_composed",
                                      "GMMA::",  "UMMA::",      "tile_to_shape",  "Swizzle<",
                                      "Shape<",  "make_shape",  "Int<",           "{}"};
  const bool swizzle_alone = !strchr(text, '(') && !strstr(text, "Layout");
  for (size_t i = 0; !swizzle_alone && i < sizeof signs / sizeof signs[0]; i++)
    if (strstr(text, signs[i])) return !strchr(text, '#') && !strchr(text, ';');
  return false;
}

static const char *printed(Arena *arena, const char *text, Diags *diags) {
  Cxx x = {.scan = scan_new(arena, text, diags), .algebra = {.arena = arena}};
  Str out = str_new(arena);
  str_add(&out, "");
  if (!copy_until(&x, "", &out)) return NULL;
  return x.scan.failed ? NULL : out.text;
}

bool cute_text_is(const char *text) { return is_cxx(text) || cute_printed_is(text); }

bool cute_text_parse(Arena *arena, const char *text, CuteText *out, Diags *diags) {
  if (is_cxx(text)) text = printed(arena, text, diags);
  return text && cute_printed_parse(arena, text, out, diags);
}
