// 64 bits ↔ fields → the canonical layout that they stand for.
//
// Both architectures have the same fields at the same bits but for the swizzle, which has two bits
// in the one and three in the other, and for the constants of tcgen05. So one table of fields per
// architecture decodes, encodes and finds bits that belong to none.
//
// T elements are 16 bytes, W chunks of 16 bytes a row of the pattern, m and k repeats:
//   K-major    none      ((8,m),(T,2)):((T,SBO),(1,LBO))
//              32-128B   ((8,m),(T,2)):((W*T,SBO),(1,T))            LBO is not used
//   MN-major   none      ((T,1,m),(8,k)):((1,T,SBO),(T,LBO))
//              32-128B   ((T,W,m),(8,k)):((1,T,LBO),(W*T,SBO))      4 instead of 8 for 32B atoms
//
// Worked example, f16, sm_90, 0x4000004000010040: start 0x40 * 16 = 1024, LBO 1 * 16, SBO
// 0x40 * 16 = 1024, swizzle 1: 128B. K-major with 64 rows: T = 8, W = 8, SBO = 512 elements, so
// Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_8),(_8,_2)):((_64,_512),(_1,_8)).
#include "banks/layouts/smem_descriptor.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank.h"
#include "banks/layouts/notation.h"
#include "banks/layouts/notation_scan.h"
#include "base/nearest.h"
#include "base/whole.h"

enum { CHUNK_BYTES = 16, K_BYTES = 32, ROWS_MAX = 256, FIXED_ONE = 1 };

static const DescriptorSwizzle SWIZZLES[] = {
    {"none", 16, {0, 0}, 8, {0, 4, 3}},
    {"32B", 32, {3, 6}, 8, {1, 4, 3}},
    {"64B", 64, {2, 4}, 8, {2, 4, 3}},
    {"128B", 128, {1, 2}, 8, {3, 4, 3}},
    {"128B_ATOM_32B", 128, {-1, 1}, 4, {2, 5, 2}},
};
enum { N_SWIZZLES = sizeof SWIZZLES / sizeof SWIZZLES[0] };

static const DescriptorCopy COPIES[] = {
    {"32x128b", 32, 16}, {"64x128b", 64, 16}, {"128x128b", 128, 16}, {"128x256b", 128, 32}};

int descriptor_copy_count(void) { return sizeof COPIES / sizeof COPIES[0]; }
const DescriptorCopy *descriptor_copy_at(int index) { return &COPIES[index]; }

static int bytes_along_k(const DescriptorTile *tile) {
  return tile->k_bytes ? tile->k_bytes : K_BYTES;
}

const DescriptorSwizzle *descriptor_swizzle_at(int index) { return &SWIZZLES[index]; }

// ---- bits ---------------------------------------------------------------------------------------

typedef enum FieldId {
  START,
  LBO,
  SBO,
  FIXED_46,
  BASE,
  LBO_MODE,
  FIXED_53,
  SWIZZLE,
  N_FIELDS
} FieldId;

typedef struct Field {
  int first, bits;  // bits = 0: the architecture has none
} Field;

static const Field FIELDS[2][N_FIELDS] = {
    {[START] = {0, 14}, [LBO] = {16, 14}, [SBO] = {32, 14}, [BASE] = {49, 3}, [SWIZZLE] = {62, 2}},
    {[START] = {0, 14},
     [LBO] = {16, 14},
     [SBO] = {32, 14},
     [FIXED_46] = {46, 3},
     [BASE] = {49, 3},
     [LBO_MODE] = {52, 1},
     [FIXED_53] = {53, 8},
     [SWIZZLE] = {61, 3}},
};

static const struct {
  const char *name;
  FieldId field;
} PARTS[DESCRIPTOR_PARTS] = {[DESCRIPTOR_START] = {"start", START},
                             [DESCRIPTOR_LBO] = {"lbo", LBO},
                             [DESCRIPTOR_SBO] = {"sbo", SBO},
                             [DESCRIPTOR_BASE] = {"base", BASE},
                             [DESCRIPTOR_SWIZZLE] = {"swizzle", SWIZZLE}};

static int column_of(int arch) { return arch == 100; }

const char *descriptor_part_name(DescriptorPart part) { return PARTS[part].name; }

DescriptorBits descriptor_part_bits(DescriptorPart part, int arch) {
  Field field = FIELDS[column_of(arch)][PARTS[part].field];
  return (DescriptorBits){field.first, field.bits};
}

static uint64_t mask_of(Field field) { return ((UINT64_C(1) << field.bits) - 1) << field.first; }

static int take(uint64_t word, Field field) {
  return (int)((word & mask_of(field)) >> field.first);
}

static uint64_t put(int64_t value, Field field) {
  return (uint64_t)value << field.first & mask_of(field);
}

int smem_descriptor_arch(uint64_t word) {
  return take(word, FIELDS[1][FIXED_46]) == FIXED_ONE ? 100 : 90;
}

SmemDescriptor smem_descriptor_decode(uint64_t word, int arch) {
  const Field *field = FIELDS[column_of(arch)];
  SmemDescriptor out = {.arch = arch, .unused = word};
  for (int i = 0; i < N_FIELDS; i++) out.unused &= ~mask_of(field[i]);
  out.start = (int64_t)take(word, field[START]) * CHUNK_BYTES;
  out.lbo = (int64_t)take(word, field[LBO]) * CHUNK_BYTES;
  out.sbo = (int64_t)take(word, field[SBO]) * CHUNK_BYTES;
  out.base_offset = take(word, field[BASE]);
  out.lbo_absolute = take(word, field[LBO_MODE]);
  out.fixed[0] = take(word, field[FIXED_46]);
  out.fixed[1] = take(word, field[FIXED_53]);
  out.swizzle_code = take(word, field[SWIZZLE]);
  for (int i = 0; i < N_SWIZZLES; i++)
    if (SWIZZLES[i].code[column_of(arch)] == out.swizzle_code) out.swizzle = &SWIZZLES[i];
  return out;
}

uint64_t smem_descriptor_encode(const SmemDescriptor *d) {
  const Field *field = FIELDS[column_of(d->arch)];
  return d->unused | put(d->start / CHUNK_BYTES, field[START]) |
         put(d->lbo / CHUNK_BYTES, field[LBO]) | put(d->sbo / CHUNK_BYTES, field[SBO]) |
         put(d->fixed[0], field[FIXED_46]) | put(d->base_offset, field[BASE]) |
         put(d->lbo_absolute, field[LBO_MODE]) | put(d->fixed[1], field[FIXED_53]) |
         put(d->swizzle_code, field[SWIZZLE]);
}

// ---- text ---------------------------------------------------------------------------------------

static bool read_bytes(Scan *scan, const char *what, int64_t *out) {
  long long bytes;
  if (!scan_number(scan, what, &bytes)) return false;
  *out = bytes;
  if (bytes >= 1 << 18)
    return scan_refuse(scan, arena_printf(scan->arena, "%s is 2^18 or more", what));
  return bytes % CHUNK_BYTES == 0 ||
         scan_refuse(
             scan, arena_printf(scan->arena, "%s of %lld bytes is no multiple of 16", what, bytes));
}

static bool read_swizzle(Scan *scan, SmemDescriptor *out) {
  size_t n = strcspn(scan->at, ", ");
  const char *name = arena_strndup(scan->arena, scan->at, n), *names[N_SWIZZLES];
  int n_names = 0;
  for (int i = 0; i < N_SWIZZLES; i++) {
    int code = SWIZZLES[i].code[column_of(out->arch)];
    if (code >= 0) names[n_names++] = SWIZZLES[i].name;
    if (code < 0 || !str_equal_fold(SWIZZLES[i].name, name)) continue;
    out->swizzle = &SWIZZLES[i];
    out->swizzle_code = code;
    scan->at += n;
    return true;
  }
  diag_add_unknown(scan->diags, "descriptor", "swizzle", str_sanitise(scan->arena, name), names,
                   n_names);
  return false;
}

static bool read_field(Scan *scan, SmemDescriptor *out) {
  const char *key = scan_word(scan);
  long long number;
  if (!key) return scan_fail(scan, "start, lbo, sbo, swizzle or base");
  if (!scan_expect(scan, "=")) return false;
  if (str_equal(key, "start")) return read_bytes(scan, "the start address", &out->start);
  if (str_equal(key, "lbo")) return read_bytes(scan, "the leading byte offset", &out->lbo);
  if (str_equal(key, "sbo")) return read_bytes(scan, "the stride byte offset", &out->sbo);
  if (str_equal(key, "swizzle")) return read_swizzle(scan, out);
  if (!str_equal(key, "base"))
    return scan_refuse(scan, arena_printf(scan->arena,
                                          "no field \"%s\"; there are start, lbo, sbo, "
                                          "swizzle and base",
                                          key));
  if (!scan_number(scan, "a base offset", &number)) return false;
  out->base_offset = (int)min64(number, INT32_MAX);
  return number < 8 || scan_refuse(scan, "a base offset is 0 to 7");
}

bool smem_descriptor_is_bare_hex(const char *text) {
  enum { DIGITS = 16 };
  const size_t digits = strspn(text, "0123456789"), n = strspn(text, "0123456789abcdefABCDEF");
  const bool is_word = text[n] == '\0' || text[n + strspn(text + n, "uUlL")] == '\0';
  return is_word && n <= DIGITS && (n == DIGITS || (digits > 0 && digits < n));
}

bool smem_descriptor_edit(Arena *arena, const char *text, SmemDescriptor *inout, Diags *diags) {
  char *end;
  errno = 0;
  const bool bare = smem_descriptor_is_bare_hex(text);
  uint64_t word = strtoull(text, &end, bare ? 16 : *text == '0' && (text[1] | 32) == 'x' ? 16 : 10);
  if (errno == ERANGE) {
    diag_add(diags, "descriptor", "\"%s\" has more than the 64 bits of a descriptor",
             str_sanitise(arena, text));
    return false;
  }
  if (end != text && isxdigit((unsigned char)*text) && *end && !strchr("uUlL", *end)) {
    diag_add(diags, "descriptor", "\"%s\", column %d: expected a digit, or the end of 64 bits",
             str_sanitise(arena, text), (int)(end - text) + 1);
    return false;
  }
  while (end != text && (*end == 'u' || *end == 'l' || *end == 'U' || *end == 'L')) end++;
  if (end != text && *end == '\0') {
    *inout = smem_descriptor_decode(word, inout->arch);
    return true;
  }
  Scan scan = scan_new(arena, text, diags);
  SmemDescriptor out = *inout;
  do {
    if (!read_field(&scan, &out)) return false;
  } while (scan_take(&scan, ","));
  if (!scan_end(&scan)) return false;
  *inout = out;
  return true;
}

bool smem_descriptor_parse(Arena *arena, const char *text, int arch, SmemDescriptor *out,
                           Diags *diags) {
  *out = smem_descriptor_decode(arch == 100 ? put(FIXED_ONE, FIELDS[1][FIXED_46]) : 0, arch);
  return smem_descriptor_edit(arena, text, out, diags);
}

// ---- checks -------------------------------------------------------------------------------------

// Bytes after which the pattern repeats, all of them lines of 128.
static int pattern_bytes(const SmemDescriptor *d) {
  const CuteSwizzle *s = &d->swizzle->swizzle;
  return s->bits ? 1 << (s->base + s->shift + s->bits) : CHUNK_BYTES;
}

// A base offset says where the pattern starts: at the start address. Without one it starts at a
// boundary, maybe before.
int smem_descriptor_lead(const SmemDescriptor *d) {
  return d->base_offset || !d->swizzle ? 0 : (int)(d->start % pattern_bytes(d));
}

static void check_bits(const SmemDescriptor *d, Diags *diags) {
  if (d->unused)
    diag_add(diags, "descriptor", "bits 0x%016" PRIx64 " are set and belong to no field of sm_%d",
             d->unused, d->arch);
  if (d->arch == 100 && d->fixed[0] != FIXED_ONE)
    diag_add(diags, "descriptor", "bits 46-48 are %d: tcgen05 wants 0b001 there%s", d->fixed[0],
             d->fixed[0] ? "" : "; this may be a descriptor of wgmma: --arch 90");
  if (d->fixed[1])
    diag_add(diags, "descriptor", "bits 53-60 are 0x%x: tcgen05 wants 0 there", d->fixed[1]);
  if (!d->swizzle)
    diag_add(diags, "descriptor", "swizzle %d means nothing: 0, 1, 2, 4 and 6 do", d->swizzle_code);
  if (d->start >= BANK_SMEM_BYTES_MAX)
    diag_add(diags, "descriptor", "the start address is %" PRId64 "; shared memory has %d bytes",
             d->start, BANK_SMEM_BYTES_MAX);
}

static void check_base(const SmemDescriptor *d, Str *notes, Diags *diags) {
  int due = (int)(d->start % pattern_bytes(d) >> 7 & 7), lead = smem_descriptor_lead(d);
  bool plain = d->swizzle->swizzle.bits == 0;
  if (d->base_offset && plain)
    diag_add(diags, "descriptor", "base offset %d without a swizzle: there is no pattern to place",
             d->base_offset);
  else if (d->base_offset && d->base_offset != due)
    diag_add(diags, "descriptor",
             "base offset %d: a pattern that starts at 0x%" PRIx64
             " has (address >> 7) & 7 = %d, "
             "or 0 at a boundary of %d bytes",
             d->base_offset, d->start, due, pattern_bytes(d))
        ->nearest = arena_printf(diags->arena, "base=%d", due);
  if (lead >> 7)
    str_printf(notes,
               "the start lies in row %d of a pattern that starts %d bytes before it; if the "
               "pattern starts here, base is %d\n",
               lead / d->swizzle->span_bytes, lead, due);
  else if (lead)
    str_printf(notes, "the start is %d bytes into a row of the pattern: %d steps of K\n", lead,
               lead / K_BYTES);
}

static void check_type(const SmemDescriptor *d, const DescriptorTile *tile, Diags *diags) {
  bool atom32 = d->swizzle->columns == 4;
  if (!tile->mn_major) return;
  if (d->arch == 90 && tile->elem_bytes != 2)
    diag_add(diags, "descriptor",
             "wgmma reads operands with M or N fastest in types of 16 bits "
             "alone, and these have %d",
             tile->elem_bytes * 8);
  if (d->arch == 100 && tile->elem_bytes == 4 && !atom32)
    diag_add(diags, "descriptor",
             "tcgen05 reads 32-bit types with M or N fastest by swizzle "
             "128B_ATOM_32B alone, not %s",
             d->swizzle->name);
  if (d->arch == 100 && tile->elem_bytes < 4 && atom32)
    diag_add(diags, "descriptor",
             "128B_ATOM_32B with M or N fastest is for 32-bit types, and these "
             "have %d",
             tile->elem_bytes * 8);
}

static void check_rows(const SmemDescriptor *d, const DescriptorTile *tile, Diags *diags) {
  int panel = tile->mn_major ? min_int(d->swizzle->span_bytes / tile->elem_bytes, tile->rows) : 8;
  int chunk = CHUNK_BYTES / tile->elem_bytes;
  if (tile->rows < 8 || tile->rows > ROWS_MAX || tile->rows % 8)
    diag_add(diags, "descriptor", "%d rows: M and N are multiples of 8 up to %d", tile->rows,
             ROWS_MAX);
  else if (tile->mn_major && tile->rows % chunk)
    diag_add(diags, "descriptor", "%d rows are no whole number of chunks of %d", tile->rows, chunk);
  else if (tile->rows % panel)
    diag_add(diags, "descriptor", "%d rows are no whole number of patterns of %d", tile->rows,
             panel);
}

static bool is_drawn(const SmemDescriptor *d, const DescriptorTile *tile, const char **why) {
  *why = d->lbo_absolute ? "its leading dimension is an address, for K of 48 bytes"
         : d->swizzle->columns == 4 && !tile->mn_major
             ? "128B_ATOM_32B with K fastest has no canonical layout"
         : tile->mn_major && K_BYTES / tile->elem_bytes < d->swizzle->columns
             ? "K of 32 bytes has fewer columns than the pattern"
             : NULL;
  return !*why;
}

static void check_places(const SmemDescriptor *d, const DescriptorTile *tile, Str *notes,
                         Diags *diags) {
  const char *why;
  if (!is_drawn(d, tile, &why)) {
    str_printf(notes, "not drawn: %s\n", why);
    return;
  }
  const Layout *layout = smem_descriptor_layout(diags->arena, d, tile, diags);
  if (!layout) return;
  LayoutFacts facts = layout_examine(diags->arena, layout);
  int row = layout->slab.row_bytes, elem = layout->slab.elem_bytes;
  const char *line = tile->mn_major ? "k" : "row", *along = tile->mn_major ? "row" : "k";
  const int *clash = facts.clash;
  if (!facts.bijective)
    diag_add(
        diags, "descriptor",
        "(%s %d, %s %d) and (%s %d, %s %d) are both read from byte %d: LBO or SBO is too small",
        line, clash[0] / row, along, clash[0] % row / elem, line, clash[1] / row, along,
        clash[1] % row / elem, layout->offset_of[clash[0]]);
  int64_t end = d->start - smem_descriptor_lead(d) + layout->storage_bytes;
  if (end > BANK_SMEM_BYTES_MAX)
    diag_add(diags, "descriptor", "the operand ends at %" PRId64 "; shared memory has %d bytes",
             end, BANK_SMEM_BYTES_MAX);
}

bool smem_descriptor_check(const SmemDescriptor *d, const DescriptorTile *tile, Str *notes,
                           Diags *diags) {
  int before = diags->count;
  check_bits(d, diags);
  if (!d->swizzle) return false;
  check_base(d, notes, diags);
  check_type(d, tile, diags);
  check_rows(d, tile, diags);
  bool swizzled = d->swizzle->swizzle.bits > 0;
  if (swizzled && !tile->mn_major)
    str_add(notes, "LBO is not used: rows of the pattern hold all of K\n");
  if (swizzled && d->sbo % pattern_bytes(d))
    str_printf(notes, "SBO is no multiple of the pattern's %d bytes, as TMA would write it\n",
               pattern_bytes(d));
  if (diags->count == before) check_places(d, tile, notes, diags);
  return diags->count == before;
}

// ---- the canonical layout -----------------------------------------------------------------------

typedef struct Canonical {
  CuteLayout rows, k;
} Canonical;

static CuteLayout leaves(CuteAlgebra *algebra, int n, const CuteLayout *leaf) {
  return cute_tuple(algebra, n, leaf);
}

static Canonical canonical(CuteAlgebra *algebra, const SmemDescriptor *d,
                           const DescriptorTile *tile) {
  int64_t t = CHUNK_BYTES / tile->elem_bytes, lbo = d->lbo / tile->elem_bytes;
  int64_t sbo = d->sbo / tile->elem_bytes, w = d->swizzle->span_bytes / CHUNK_BYTES;
  bool plain = d->swizzle->swizzle.bits == 0;
  if (!tile->mn_major)
    return (Canonical){
        leaves(algebra, 2, (CuteLayout[]){cute_leaf(8, w * t), cute_leaf(tile->rows / 8, sbo)}),
        leaves(algebra, 2,
               (CuteLayout[]){cute_leaf(t, 1),
                              cute_leaf(bytes_along_k(tile) / CHUNK_BYTES, plain ? lbo : t)})};
  int64_t chunks = min64(w, tile->rows / t), columns = d->swizzle->columns;
  int64_t m = tile->rows / (t * chunks), k = K_BYTES / tile->elem_bytes / columns;
  return (Canonical){
      leaves(
          algebra, 3,
          (CuteLayout[]){cute_leaf(t, 1), cute_leaf(chunks, t), cute_leaf(m, plain ? sbo : lbo)}),
      leaves(algebra, 2,
             (CuteLayout[]){cute_leaf(columns, w * t), cute_leaf(k, plain ? lbo : sbo)})};
}

static const char *text_of(CuteAlgebra *algebra, const SmemDescriptor *d,
                           const DescriptorTile *tile, CuteLayout first, CuteLayout second) {
  const CuteSwizzle *s = &d->swizzle->swizzle;
  CuteLayout both = cute_tuple(algebra, 2, (CuteLayout[]){first, second});
  Str out = str_new(algebra->arena);
  if (s->bits) str_printf(&out, "Sw<%d,%d,%d> o ", s->bits, s->base, s->shift);
  str_printf(&out, "smem_ptr[%db](unset) o ", tile->elem_bytes * 8);
  int lead = smem_descriptor_lead(d);
  if (lead) str_printf(&out, "_%d o ", lead / tile->elem_bytes);
  cute_print(&out, &both);
  return out.text;
}

const char *smem_descriptor_cute(Arena *arena, const SmemDescriptor *d, const DescriptorTile *tile,
                                 const char **why) {
  CuteAlgebra algebra = {.arena = arena};
  if (!is_drawn(d, tile, why)) return NULL;
  Canonical both = canonical(&algebra, d, tile);
  return text_of(&algebra, d, tile, both.rows, both.k);
}

const Layout *smem_descriptor_layout(Arena *arena, const SmemDescriptor *d,
                                     const DescriptorTile *tile, Diags *diags) {
  CuteAlgebra algebra = {.arena = arena};
  const char *why;
  if (!is_drawn(d, tile, &why)) {
    diag_add(diags, "descriptor", "it is not drawn: %s", why);
    return NULL;
  }
  Canonical both = canonical(&algebra, d, tile);
  const char *text = tile->mn_major ? text_of(&algebra, d, tile, both.k, both.rows)
                                    : text_of(&algebra, d, tile, both.rows, both.k);
  return notation_parse(arena, &(LayoutSlab){.elem_bytes = tile->elem_bytes}, text, diags);
}

// ---- in words -----------------------------------------------------------------------------------

static const char *lbo_text(Arena *arena, const SmemDescriptor *d, const DescriptorTile *tile,
                            const char *across) {
  bool plain = d->swizzle->swizzle.bits == 0;
  int span = d->swizzle->span_bytes;
  if (d->lbo_absolute) return "an address of its own, for K of 48 bytes";
  if (!tile->mn_major && bytes_along_k(tile) == CHUNK_BYTES)
    return "not looked at: a row has one chunk of 16 bytes";
  if (!tile->mn_major && !plain) return "not looked at: all 32 bytes of K lie in one row";
  if (!tile->mn_major) return "16 bytes further along K: the core matrix beside it";
  if (plain) return "8 further along K: the next core matrix";
  return arena_printf(arena, "%d of %s further on: the next panel, %d bytes wide",
                      span / tile->elem_bytes, across, span);
}

static const char *sbo_text(Arena *arena, const SmemDescriptor *d, const DescriptorTile *tile,
                            const char *across) {
  bool plain = d->swizzle->swizzle.bits == 0;
  if (!tile->mn_major)
    return arena_printf(arena, "8 of %s further down: the next core matrix", across);
  if (!plain)
    return arena_printf(arena, "%d further along K: the next core matrix", d->swizzle->columns);
  return arena_printf(arena, "%d of %s further on: the next 16 bytes of a row",
                      CHUNK_BYTES / tile->elem_bytes, across);
}

static const char *bits_text(Arena *arena, int first, int n) {
  return n == 1 ? arena_printf(arena, "bit %d", first)
                : arena_printf(arena, "bits %d-%d", first, first + n - 1);
}

static const char *swizzle_text(Arena *arena, const SmemDescriptor *d) {
  const CuteSwizzle *s = &d->swizzle->swizzle;
  if (!s->bits) return "no bits move: rows of a core matrix lie 16 bytes apart";
  return arena_printf(arena, "%s of each address ^= %s; rows of %d bytes",
                      bits_text(arena, s->base, s->bits),
                      bits_text(arena, s->base + s->shift, s->bits), d->swizzle->span_bytes);
}

const char *descriptor_part_text(Arena *arena, const SmemDescriptor *d, const DescriptorTile *tile,
                                 DescriptorPart part, const char *across) {
  if (part == DESCRIPTOR_START)
    return arena_printf(arena, "byte %" PRId64 " of shared memory", d->start);
  if (!d->swizzle) return "the swizzle means nothing";
  if (part == DESCRIPTOR_LBO) return lbo_text(arena, d, tile, across);
  if (part == DESCRIPTOR_SBO) return sbo_text(arena, d, tile, across);
  if (part == DESCRIPTOR_SWIZZLE) return swizzle_text(arena, d);
  if (!d->swizzle->swizzle.bits) return "where the pattern begins; there is none";
  if (d->base_offset)
    return arena_printf(arena, "the pattern begins %d lines of 128 bytes behind a multiple of %d",
                        d->base_offset, pattern_bytes(d));
  return arena_printf(arena, "the pattern begins at a multiple of %d bytes", pattern_bytes(d));
}
