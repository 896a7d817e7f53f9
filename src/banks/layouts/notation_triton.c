// Triton's encodings of shared memory as layouts, and back.
//
// TritonGPUAttrDefs.td says what each means, and LinearLayoutConversions does for shapes larger
// than a tile:
//   swizzled_shared  row r of C columns: column c lies at r * C + (c ^ vec * (r / perPhase %
//                    maxPhase)), the rows being those of order[1]
//   nvmma_shared     panels swizzlingByteWidth bytes wide, each with all rows, one after the other;
//                    in a panel 16-byte chunks are XORed as TMA does it. Width 0: rows.
//   padded_shared    index i lies at i + (i / interval) * pad, summed over all intervals
//   shared_linear    bases
// An encoding of registers (blocked, linear, mma) is told from these.
//
// Worked example, swizzled_shared with vec 8, perPhase 2, maxPhase 4 on rows of 32 halves: row 6
// has phase 6 / 2 % 4 = 3, so its column 5 lies at 6 * 32 + (5 ^ 24) = 221.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/notation_table.h"
#include "base/whole.h"

enum { PADS_MAX = 8, DIMS_MAX = 5, BOX_ROWS_MAX = 256 };

typedef enum Encoding { SWIZZLED, NVMMA, PADDED, LINEAR } Encoding;

static const struct {
  const char *name;
  Encoding encoding;
} ENCODINGS[] = {{"swizzled_shared", SWIZZLED},
                 {"shared", SWIZZLED},
                 {"nvmma_shared", NVMMA},
                 {"padded_shared", PADDED},
                 {"shared_linear", LINEAR}};
enum { N_ENCODINGS = sizeof ENCODINGS / sizeof ENCODINGS[0] };

typedef struct TritonText {
  Encoding encoding;
  Extents said;  // by memdesc, or by padded_shared's shape
  long long vec, per_phase, max_phase, width, bits;
  bool transposed, fp4_padded, leading_offset, has_offset;
  long long order[DIMS_MAX];
  int n_order;
  Bases offset;
  int n_pads;
  long long interval[PADS_MAX], pad[PADS_MAX];
} TritonText;

bool triton_is(const char *text) {
  text += strspn(text, " \t\r\n");
  return *text == '#' || *text == '!' || str_starts(text, "memdesc<");
}

// ---- attributes ---------------------------------------------------------------------------------

static bool scan_list(Scan *scan, long long *out, int most, int *n) {
  *n = 0;
  if (!scan_expect(scan, "[")) return false;
  if (scan_take(scan, "]")) return true;
  do {
    if (*n == most) return scan_refuse(scan, "a list of more than 5 dimensions");
    if (!scan_number(scan, "a number", &out[(*n)++])) return false;
  } while (scan_take(scan, ","));
  return scan_take(scan, "]") || scan_fail(scan, "\",\" or \"]\"");
}

static bool scan_bool(Scan *scan, bool *out) {
  *out = scan_take(scan, "true");
  return *out || scan_take(scan, "false") || scan_fail(scan, "true or false");
}

static bool scan_shape(Scan *scan, TritonText *out) {
  long long dim[DIMS_MAX];
  int n;
  if (!scan_list(scan, dim, DIMS_MAX, &n)) return false;
  if (n != 1 && n != 2) return scan_refuse(scan, "shapes of one or two dimensions are read");
  out->said.rows = n == 2 ? dim[0] : 1;
  out->said.cols = dim[n - 1];
  return true;
}

static bool scan_order(Scan *scan, TritonText *out) {
  if (!scan_list(scan, out->order, DIMS_MAX, &out->n_order)) return false;
  bool ok = out->n_order == 1 ? out->order[0] == 0
                              : out->n_order == 2 && out->order[0] + out->order[1] == 1;
  return ok || scan_refuse(scan, "order is [1, 0], [0, 1] or [0]: two dimensions are read");
}

// CTAsPerCGA and its like: one block holds all of it.
static bool scan_one_block(Scan *scan) {
  long long value[DIMS_MAX];
  int n;
  if (!scan_list(scan, value, DIMS_MAX, &n)) return false;
  for (int i = 0; i < n; i++)
    if (value[i] != 1) return scan_refuse(scan, "it is spread over several CTAs");
  return true;
}

static bool scan_no_bases(Scan *scan) {
  Bases bases;
  if (!bases_scan(scan, &bases)) return false;
  return bases.n == 0 || scan_refuse(scan, "it is spread over several CTAs");
}

static bool scan_value(Scan *scan, const char *key, TritonText *out) {
  const struct {
    const char *key;
    long long *number;
    bool *flag;
  } plain[] = {{"vec", &out->vec, NULL},
               {"perPhase", &out->per_phase, NULL},
               {"maxPhase", &out->max_phase, NULL},
               {"swizzlingByteWidth", &out->width, NULL},
               {"elementBitWidth", &out->bits, NULL},
               {"alignment", &(long long){0}, NULL},
               {"rank", &(long long){0}, NULL},
               {"transposed", NULL, &out->transposed},
               {"fp4Padded", NULL, &out->fp4_padded},
               {"hasLeadingOffset", NULL, &out->leading_offset}};
  for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
    if (!str_equal(key, plain[i].key)) continue;
    return plain[i].flag ? scan_bool(scan, plain[i].flag)
                         : scan_number(scan, "a number", plain[i].number);
  }
  if (str_equal(key, "order")) return scan_order(scan, out);
  if (str_equal(key, "shape")) return scan_shape(scan, out);
  if (str_equal(key, "offset")) return (out->has_offset = true) && bases_scan(scan, &out->offset);
  if (str_equal(key, "block") || str_equal(key, "CGALayout")) return scan_no_bases(scan);
  if (str_equal(key, "CTAsPerCGA") || str_equal(key, "CTASplitNum")) return scan_one_block(scan);
  int n;
  if (str_equal(key, "CTAOrder")) return scan_list(scan, (long long[DIMS_MAX]){0}, DIMS_MAX, &n);
  return scan_refuse(scan, arena_printf(scan->arena, "no encoding has \"%s\"", key));
}

static bool scan_attributes(Scan *scan, TritonText *out, const char *closing) {
  if (scan_take(scan, closing)) return true;
  do {
    const char *key = scan_word(scan);
    if (!key) return scan_fail(scan, "the name of an attribute, such as vec");
    if (!scan_expect(scan, "=") || !scan_value(scan, key, out)) return false;
  } while (scan_take(scan, ","));
  return scan_expect(scan, closing);
}

// "[64:+8, 256:+4]".
static bool scan_pads(Scan *scan, TritonText *out) {
  if (!scan_expect(scan, "[")) return false;
  do {
    if (out->n_pads == PADS_MAX) return scan_refuse(scan, "more than 8 pads");
    long long *interval = &out->interval[out->n_pads], *pad = &out->pad[out->n_pads++];
    if (!scan_number(scan, "an interval", interval) || !scan_expect(scan, ":+") ||
        !scan_number(scan, "a pad", pad))
      return false;
    if (!is_power_of_two(*interval) || !is_power_of_two(*pad))
      return scan_refuse(scan, "intervals and pads are powers of two");
  } while (scan_take(scan, ","));
  return scan_take(scan, "]") || scan_fail(scan, "\",\" or \"]\"");
}

static bool scan_body(Scan *scan, TritonText *out) {
  if (!scan_expect(scan, "<")) return false;
  if (out->encoding == PADDED && !scan_pads(scan, out)) return false;
  if (!scan_expect(scan, "{") || !scan_attributes(scan, out, "}")) return false;
  if (!scan_take(scan, ",")) return scan_expect(scan, ">");
  return scan_attributes(scan, out, ">");  // shared_linear's alignment stands outside
}

static bool scan_encoding(Scan *scan, TritonText *out) {
  if (!scan_expect(scan, "#")) return false;
  const char *name = scan_word(scan);
  if (name && scan_take(scan, "=")) return scan_encoding(scan, out);  // #shared = #ttg.…
  if (name && scan_take(scan, ".")) name = scan_word(scan);
  for (int i = 0; name && i < N_ENCODINGS; i++) {
    if (!str_equal(name, ENCODINGS[i].name)) continue;
    out->encoding = ENCODINGS[i].encoding;
    return scan_body(scan, out);
  }
  static const char *const registers[] = {"blocked", "linear", "slice", "dot_op", "nvidia_mma"};
  for (size_t i = 0; name && i < sizeof registers / sizeof registers[0]; i++)
    if (str_equal(name, registers[i]))
      return scan_refuse(scan, "it is a layout of registers, not of memory");
  return scan_refuse(scan,
                     "expected #ttg.swizzled_shared, nvmma_shared, padded_shared or shared_linear");
}

// ---- types --------------------------------------------------------------------------------------

// "f16", "bf16", "i8", "f8E4M3FN": the first number in it.
static int type_bytes(const char *type) {
  int bits = atoi(type + strcspn(type, "0123456789"));
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

// "2x64x32xf16": two buffers of 64 x 32.
static bool scan_dims(Scan *scan, Extents *out) {
  long long dim[DIMS_MAX];
  int n = 0;
  do {
    if (n == DIMS_MAX) return scan_refuse(scan, "more than 5 dimensions");
    if (!scan_number(scan, "a dimension", &dim[n++])) return false;
    if (!scan_expect(scan, "x")) return false;
  } while (isdigit((unsigned char)scan_peek(scan)));
  const char *type = scan_word(scan);
  out->elem_bytes = type ? type_bytes(type) : 0;
  out->rows = n > 1 ? dim[n - 2] : 1;
  out->cols = dim[n - 1];
  return out->elem_bytes || scan_fail(scan, "a type of 8, 16, 32 or 64 bits");
}

static bool scan_text(Scan *scan, TritonText *out) {
  *out = (TritonText){.vec = 1, .per_phase = 1, .max_phase = 1};
  if (scan_peek(scan) == '#') return scan_encoding(scan, out) && scan_end(scan);
  if (scan_take(scan, "!")) {
    if (!scan_word(scan) || !scan_take(scan, "."))
      return scan_fail(scan, "!ttg.memdesc<…>, or an encoding");
  }
  if (!scan_expect(scan, "memdesc") || !scan_expect(scan, "<") || !scan_dims(scan, &out->said) ||
      !scan_expect(scan, ",") || !scan_encoding(scan, out))
    return false;
  size_t n = strcspn(scan->at, ">");  // ", #smem, mutable"
  scan->at += n;
  return scan_expect(scan, ">") && scan_end(scan);
}

// ---- what they mean -----------------------------------------------------------------------------

// The matrix with its fast dimension across: of order [0, 1], the transposed one.
typedef struct Turned {
  const LayoutSlab *slab;
  bool columns;  // the fast dimension is the rows' index
  int slow, fast;
} Turned;

static Turned turn(const LayoutSlab *slab, bool columns) {
  int cols = slab->row_bytes / slab->elem_bytes;
  return (Turned){slab, columns, columns ? cols : slab->rows, columns ? slab->rows : cols};
}

typedef int64_t PlaceOf(const TritonText *text, const Turned *turned, int slow, int fast);

static int64_t place_swizzled(const TritonText *t, const Turned *turned, int slow, int fast) {
  int64_t flip = t->vec * (slow / t->per_phase % t->max_phase) % turned->fast;
  return (int64_t)slow * turned->fast + (fast ^ flip);
}

// The place is in elements; the swizzle is of bytes and leaves elements whole.
static int64_t place_nvmma(const TritonText *t, const Turned *turned, int slow, int fast) {
  int elem = turned->slab->elem_bytes;
  if (t->width == 0) return (int64_t)slow * turned->fast + fast;
  int64_t byte = (int64_t)fast * elem, panel = byte / t->width;
  byte = (panel * turned->slow + slow) * t->width + byte % t->width;
  return cute_swizzle((CuteSwizzle){log2_up(t->width / 16), 4, 3}, byte) / elem;
}

static int64_t pad_place(const TritonText *t, int64_t index) {
  int64_t place = index;
  for (int i = 0; i < t->n_pads; i++) place += index / t->interval[i] * t->pad[i];
  return place;
}

static int64_t place_row(const TritonText *t, const Turned *turned, int slow, int fast) {
  return pad_place(t, (int64_t)slow * turned->fast + fast);
}

static bool refuse(const char *text, Diags *diags, const char *sentence) {
  diag_add(diags, "layout", "%s: %s", str_sanitise(diags->arena, text), sentence);
  return false;
}

static bool check(const TritonText *t, const Turned *turned, const char *text, Diags *diags) {
  bool powers = is_power_of_two(turned->slow) && is_power_of_two(turned->fast);
  if (!powers) return refuse(text, diags, "Triton's shapes are powers of two");
  if (t->encoding == SWIZZLED) {
    if (t->leading_offset)
      return refuse(text, diags, "hasLeadingOffset is an old name: write nvmma_shared");
    bool ok =
        is_power_of_two(t->vec) && is_power_of_two(t->per_phase) && is_power_of_two(t->max_phase);
    return ok || refuse(text, diags, "vec, perPhase and maxPhase are powers of two");
  }
  if (t->encoding != NVMMA) return true;
  int elem = turned->slab->elem_bytes;
  if (t->fp4_padded) return refuse(text, diags, "fp4Padded elements have 4 bits and are not read");
  if (t->bits && t->bits != elem * 8)
    return refuse(text, diags,
                  arena_printf(diags->arena, "elementBitWidth = %lld, but elements have %d bytes",
                               t->bits, elem));
  if (t->width != 0 && t->width != 32 && t->width != 64 && t->width != 128)
    return refuse(text, diags, "swizzlingByteWidth is 0, 32, 64 or 128");
  if (turned->slow > BOX_ROWS_MAX || (t->width == 0 && turned->fast > BOX_ROWS_MAX))
    return refuse(text, diags, "more than 256 along a side need several boxes of TMA");
  if (t->width && (turned->fast * elem % t->width || turned->slow % 8))
    return refuse(text, diags,
                  arena_printf(diags->arena,
                               "panels are %lld bytes wide and 8 rows high, or "
                               "multiples of that",
                               t->width));
  return true;
}

const Layout *notation_read_triton(Arena *arena, const LayoutSlab *known, const char *source,
                                   Diags *diags) {
  Scan scan = scan_new(arena, source, diags);
  TritonText text;
  LayoutSlab slab;
  if (!scan_text(&scan, &text)) return NULL;
  if (text.has_offset && text.said.rows == 0) {
    int elem_bytes = text.said.elem_bytes;
    text.said = bases_extents(&text.offset);
    text.said.elem_bytes = elem_bytes;
  }
  if (text.encoding == NVMMA && !text.said.elem_bytes && text.bits <= 128)
    text.said.elem_bytes = (int)text.bits / 8;
  if (!notation_slab(source, known, text.said, &slab, diags)) return NULL;
  Turned turned = turn(&slab, text.transposed || (text.n_order == 2 && text.order[0] == 0));
  if (!check(&text, &turned, source, diags)) return NULL;
  int cols = slab.row_bytes / slab.elem_bytes;
  int64_t *offset = ARENA_ARRAY(arena, int64_t, slab.rows * cols);
  bool linear = text.encoding == LINEAR || text.has_offset;
  if (linear && !bases_place(arena, &text.offset, source, &slab, offset, diags)) return NULL;
  PlaceOf *const PLACES[] = {
      [SWIZZLED] = place_swizzled, [NVMMA] = place_nvmma, [PADDED] = place_row};
  for (int i = 0; i < slab.rows * cols; i++) {
    int slow = turned.columns ? i % cols : i / cols, fast = turned.columns ? i / cols : i % cols;
    int64_t place =
        linear ? pad_place(&text, offset[i]) : PLACES[text.encoding](&text, &turned, slow, fast);
    offset[i] = place * slab.elem_bytes;
  }
  return notation_layout(arena, source, &slab, offset, diags);
}

// ---- printing -----------------------------------------------------------------------------------

static const char *order_text(bool columns) { return columns ? "[0, 1]" : "[1, 0]"; }

const char *notation_print_swizzled_shared(Arena *arena, const LayoutForm *form, const char **why) {
  bool columns = !layout_form_is_row_major(form);
  int fast = log2_up(columns ? form->rows : form->cols), vec = form->swizzle.base;
  int64_t pad = layout_form_pad(form);
  if (pad) {
    *why = arena_printf(arena, "no encoding has a pad of %lld", (long long)pad);
    return NULL;
  }
  if (columns && !layout_form_is_column_major(form)) {
    Str shape = str_new(arena);
    if (form->affine) cute_print(&shape, &form->shape);
    *why = form->affine ? arena_printf(arena,
                                       "it needs rows or columns without gaps, but the strides "
                                       "are %s",
                                       shape.text)
                        : "it needs one swizzle of chunks by the row, and this is not one";
    return NULL;
  }
  if (form->swizzle.bits == 0)
    return arena_printf(arena,
                        "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
                        "order = %s}>",
                        order_text(columns));
  int phase = vec + form->swizzle.shift - fast;
  if (form->swizzle.shift < 0 || phase < 0) {
    *why = "a phase comes from the row, but here bits of the column are XORed";
    return NULL;
  }
  return arena_printf(arena,
                      "#ttg.swizzled_shared<{vec = %d, perPhase = %d, maxPhase = %d, "
                      "order = %s}>",
                      1 << vec, 1 << phase, 1 << form->swizzle.bits, order_text(columns));
}

static bool is_proven(Arena *arena, const LayoutForm *form, const char *text) {
  Diags unused = diags_new(arena);
  const Layout *again = notation_read_triton(arena, &form->layout->slab, text, &unused);
  return again && notation_same(again, form->layout);
}

const char *notation_print_nvmma_shared(Arena *arena, const LayoutForm *form, const char **why) {
  static const int widths[] = {128, 64, 32, 0};
  for (int columns = 0; columns < 2; columns++)
    for (int i = 0; i < 4; i++) {
      const char *text =
          arena_printf(arena,
                       "#ttg.nvmma_shared<{swizzlingByteWidth = %d, "
                       "transposed = %s, elementBitWidth = %d}>",
                       widths[i], columns ? "true" : "false", form->layout->slab.elem_bytes * 8);
      if (is_proven(arena, form, text)) return text;
    }
  *why = "it needs panels of 32, 64 or 128 bytes with TMA's swizzle of that width, or plain rows";
  return NULL;
}

// The pads that a walk along the fast dimension, then the slow one, comes by: where the place of a
// power of two is beyond what smaller intervals make of it.
static bool find_pads(const LayoutForm *form, bool columns, TritonText *out) {
  int fast = columns ? form->rows : form->cols, n = form->rows * form->cols;
  *out = (TritonText){0};
  for (int at = 1; at < n; at *= 2) {
    int slow = at / fast, along = at % fast;
    int64_t place = layout_form_element(form, columns ? along : slow, columns ? slow : along);
    int64_t pad = place - pad_place(out, at);
    if (pad == 0) continue;
    if (!is_power_of_two(pad) || out->n_pads == PADS_MAX) return false;
    out->interval[out->n_pads] = at;
    out->pad[out->n_pads++] = pad;
  }
  return out->n_pads > 0;
}

static const char *pads_text(Arena *arena, const LayoutForm *form, bool columns,
                             const TritonText *pads) {
  Str out = str_new(arena);
  str_add(&out, "#ttg.padded_shared<[");
  for (int i = 0; i < pads->n_pads; i++)
    str_printf(&out, "%s%lld:+%lld", i ? ", " : "", pads->interval[i], pads->pad[i]);
  str_printf(&out, "] {order = %s, shape = [%d, %d]}>", order_text(columns), form->rows,
             form->cols);
  return out.text;
}

const char *notation_print_padded_shared(Arena *arena, const LayoutForm *form, const char **why) {
  TritonText pads;
  bool powers = is_power_of_two(form->rows) && is_power_of_two(form->cols);
  for (int columns = 0; powers && columns < 2; columns++) {
    if (!find_pads(form, columns, &pads)) continue;
    const char *text = pads_text(arena, form, columns, &pads);
    if (is_proven(arena, form, text)) return text;
  }
  int64_t pad = layout_form_pad(form);
  *why = !powers
             ? arena_printf(arena, "%d x %d elements: not powers of two", form->rows, form->cols)
         : pad ? arena_printf(arena, "Triton's pads are powers of two, not %lld", (long long)pad)
               : "it needs at least one pad, of a power of two after a power of two of elements";
  return NULL;
}

const char *notation_print_shared_linear(Arena *arena, const LayoutForm *form, const char **why) {
  Bases bases;
  if (!bases_of(arena, form, &bases, why)) return NULL;
  Str out = str_new(arena);
  str_add(&out, "#ttg.shared_linear<{offset = ");
  bases_print(&out, &bases);
  str_add(&out, "}, alignment = 16>");
  return out.text;
}
