// Fields of a tensor map → what the driver would say, and where a box's elements lie.
//
// Worked example, f16, box=64x8, swizzle=128B: rows of 128 bytes, one span each, so row r of the
// box begins at 128 * r, and its 16-byte chunk c lies at chunk c ^ r % 8.
//
// A row narrower than the span still takes one: the programming guide asks for memory "to
// accommodate the full swizzle width".
#include "banks/layouts/tma_box.h"

#include <inttypes.h>
#include <string.h>

#include "banks/engine/bank.h"
#include "banks/engine/unit.h"
#include "banks/layouts/notation_scan.h"
#include "banks/layouts/notation_table.h"
#include "base/nearest.h"
#include "base/whole.h"

const TmaSwizzle tma_swizzle_table[] = {
    {"none", 0, {0, 4, 3}, true},
    {"32B", 32, {1, 4, 3}, true},
    {"64B", 64, {2, 4, 3}, true},
    {"128B", 128, {3, 4, 3}, true},
    {"128B_ATOM_32B", 128, {2, 5, 2}, true},
    {"128B_ATOM_32B_FLIP_8B", 128, {2, 5, 2}, false},
    {"128B_ATOM_64B", 128, {1, 6, 1}, false},
};
const int tma_swizzle_count = sizeof tma_swizzle_table / sizeof tma_swizzle_table[0];
enum { N_SWIZZLES = sizeof tma_swizzle_table / sizeof tma_swizzle_table[0] };

enum { BOX_SIDE_MAX = 256, STEP_MAX = 8, CHUNK_BYTES = 16 };
// Where units have gaps: elements of a row of the box, and what a row of the tensor is a multiple
// of; bytes that strides are a multiple of. (cuda.h, cuTensorMapEncodeTiled.)
enum { GAPPED_ROW = 128, GAPPED_STRIDE = 32 };

static const TmaPacked packed_table[] = {{"b4x16", {2, 1, 1}, true},
                                         {"b4x16_p64", {16, 8, 16}, false},
                                         {"b6x16_p32", {16, 12, 16}, true}};

const TmaPacked *tma_packed_find(const char *name) {
  for (size_t i = 0; i < sizeof packed_table / sizeof packed_table[0]; i++)
    if (str_equal(packed_table[i].name, name)) return &packed_table[i];
  return NULL;
}

TmaUnit tma_box_unit(const TmaBox *box) {
  return box->packed ? box->packed->unit : (TmaUnit){1, box->elem_bytes, box->elem_bytes};
}

static bool has_gaps(const TmaBox *box) {
  return tma_box_unit(box).shared_bytes > tma_box_unit(box).global_bytes;
}

// Units that have all of the elements.
static int64_t units_of(const TmaBox *box, int64_t elements) {
  const int each = tma_box_unit(box).elements;
  return elements / each + (elements % each != 0);
}

int64_t tma_box_global_bytes(const TmaBox *box, int64_t elements) {
  int64_t bytes;
  const bool large =
      __builtin_mul_overflow(units_of(box, elements), tma_box_unit(box).global_bytes, &bytes);
  return large ? CUTE_NUMBER_MAX : bytes;
}

// ---- reading ------------------------------------------------------------------------------------

static bool read_extents(Scan *scan, const char *what, long long *out, int *n) {
  *n = 0;
  do {
    if (*n == TMA_RANK_MAX) return scan_refuse(scan, "a tensor has 5 dimensions at most");
    if (!scan_number(scan, what, &out[(*n)++])) return false;
  } while (scan_take(scan, "x") || scan_take(scan, ":"));
  return true;
}

static bool read_swizzle(Scan *scan, TmaBox *out) {
  size_t n = strcspn(scan->at, ", ");
  const char *name = arena_strndup(scan->arena, scan->at, n), *names[N_SWIZZLES];
  for (int i = 0; i < N_SWIZZLES; i++) {
    names[i] = tma_swizzle_table[i].name;
    if (!str_equal_fold(names[i], name)) continue;
    out->swizzle = &tma_swizzle_table[i];
    scan->at += n;
    return true;
  }
  diag_add_unknown(scan->diags, "tma", "swizzle", str_sanitise(scan->arena, name), names,
                   N_SWIZZLES);
  return false;
}

static bool read_type(Scan *scan, TmaBox *out) {
  out->type = scan_word(scan);
  if (!out->type) return scan_fail(scan, "a type, such as f16");
  out->packed = tma_packed_find(out->type);
  out->elem_bytes = out->packed ? 1 : unit_bytes(out->type, scan->diags);
  if (out->elem_bytes == 0 || out->elem_bytes <= 8) return out->elem_bytes > 0;
  return scan_refuse(scan, "elements of a tensor map have at most 8 bytes");
}

typedef struct Counts {
  int shape, box, step, stride;
} Counts;

static bool read_field(Scan *scan, TmaBox *out, Counts *n) {
  const char *key = scan_word(scan);
  if (!key) return scan_fail(scan, "shape, box, swizzle, type, strides or step");
  if (!scan_expect(scan, "=")) return false;
  if (str_equal(key, "shape")) return read_extents(scan, "an extent", out->shape, &n->shape);
  if (str_equal(key, "box")) return read_extents(scan, "an extent", out->box, &n->box);
  if (str_equal(key, "step")) return read_extents(scan, "a step", out->step, &n->step);
  if (str_equal(key, "strides")) return read_extents(scan, "bytes", out->stride + 1, &n->stride);
  if (str_equal(key, "swizzle")) return read_swizzle(scan, out);
  if (str_equal(key, "type")) return read_type(scan, out);
  return scan_refuse(scan, arena_printf(scan->arena,
                                        "no field \"%s\"; fields are shape, box, swizzle, type, "
                                        "strides and step",
                                        key));
}

// Rows follow each other, planes do, and so on; a value that is too large stays so.
static void fill_defaults(TmaBox *out, const Counts *n) {
  for (int i = n->step; i < out->rank; i++) out->step[i] = 1;
  for (int i = n->stride + 1; i < out->rank; i++) {
    if (i == 1)
      out->stride[i] = tma_box_global_bytes(out, out->shape[0]);
    else if (__builtin_mul_overflow(out->stride[i - 1], out->shape[i - 1], &out->stride[i]))
      out->stride[i] = CUTE_NUMBER_MAX;
  }
}

bool tma_box_parse(Arena *arena, const char *text, TmaBox *out, Diags *diags) {
  Scan scan = scan_new(arena, text, diags);
  *out = (TmaBox){.type = "f16", .elem_bytes = 2, .swizzle = &tma_swizzle_table[0]};
  Counts n = {0};
  do {
    if (!read_field(&scan, out, &n)) return false;
  } while (scan_take(&scan, ","));
  if (!scan_end(&scan)) return false;
  if (n.box == 0) return scan_refuse(&scan, "a box is needed: box=64x64");
  if (n.shape && n.shape != n.box)
    return scan_refuse(&scan,
                       arena_printf(arena, "shape has %d dimensions and box %d", n.shape, n.box));
  out->rank = n.box;
  if (n.step > n.box || n.stride >= n.box + (n.box == 1))
    return scan_refuse(&scan, arena_printf(arena,
                                           "a box of %d dimensions has %d strides and %d "
                                           "steps",
                                           n.box, n.box - 1, n.box));
  if (!n.shape) memcpy(out->shape, out->box, sizeof out->shape);
  fill_defaults(out, &n);
  return true;
}

// ---- checks -------------------------------------------------------------------------------------

static int64_t inner_bytes(const TmaBox *box) {
  return units_of(box, box->box[0]) * tma_box_unit(box).shared_bytes;
}

// The elements in so many bytes of a row in shared memory.
static int64_t elements_of(const TmaBox *box, int64_t bytes) {
  const TmaUnit unit = tma_box_unit(box);
  return bytes / unit.shared_bytes * unit.elements;
}

// The rules for packed elements alone.
static void check_packed(const TmaBox *box, Diags *diags) {
  const bool gaps = has_gaps(box);
  const int whole = gaps ? GAPPED_ROW : tma_box_unit(box).elements;
  if (box->shape[0] % whole)
    diag_add(diags, "tma", "dimension 0 has %lld %s, not a multiple of %d", box->shape[0],
             box->type, whole);
  if (gaps ? box->box[0] != GAPPED_ROW : box->box[0] % whole != 0)
    diag_add(diags, "tma", "a row of the box has %lld %s: %s%d", box->box[0], box->type,
             gaps ? "it has to be " : "not a multiple of ", whole);
  for (int i = 1; gaps && i < box->rank; i++)
    if (box->stride[i] % GAPPED_STRIDE)
      diag_add(diags, "tma", "dimension %d has a stride of %lld bytes: %s takes multiples of %d", i,
               box->stride[i], box->type, GAPPED_STRIDE);
  const int span = box->swizzle->span_bytes;
  if (gaps && span && span != GAPPED_ROW)
    diag_add(diags, "tma", "swizzle=%s: %s takes none, or one of 128B", box->swizzle->name,
             box->type);
}

static void check_side(const TmaBox *box, int i, Diags *diags) {
  if (box->shape[i] < 1 || box->shape[i] > INT64_C(1) << 32)
    diag_add(diags, "tma", "dimension %d has %lld elements: 1 to 2^32 are allowed", i,
             box->shape[i]);
  if (box->box[i] < 1 || box->box[i] > BOX_SIDE_MAX)
    diag_add(diags, "tma", "the box has %lld elements along dimension %d: 1 to %d are allowed",
             box->box[i], i, BOX_SIDE_MAX)
        ->nearest = arena_printf(diags->arena, "%d", box->box[i] < 1 ? 1 : BOX_SIDE_MAX);
  if (box->step[i] < 1 || box->step[i] > STEP_MAX)
    diag_add(diags, "tma", "a step of %lld along dimension %d: 1 to %d are allowed", box->step[i],
             i, STEP_MAX);
  if (i == 0) return;
  if (box->stride[i] % CHUNK_BYTES != 0)
    diag_add(diags, "tma", "dimension %d has a stride of %lld bytes, not a multiple of %d", i,
             box->stride[i], CHUNK_BYTES)
        ->nearest = arena_printf(diags->arena, "%" PRId64, round_up(box->stride[i], CHUNK_BYTES));
  if (box->stride[i] >= INT64_C(1) << 40)
    diag_add(diags, "tma", "dimension %d has a stride of %lld bytes: less than 2^40 are allowed", i,
             box->stride[i]);
}

bool tma_box_check(const TmaBox *box, Diags *diags) {
  int before = diags->count;
  for (int i = 0; i < box->rank; i++) check_side(box, i, diags);
  if (box->packed) check_packed(box, diags);
  if (inner_bytes(box) % CHUNK_BYTES != 0)
    diag_add(diags, "tma", "a row of the box is %lld %s, %" PRId64 " bytes, not a multiple of %d",
             box->box[0], box->type, inner_bytes(box), CHUNK_BYTES)
        ->nearest =
        arena_printf(diags->arena, "%" PRId64 " elements",
                     elements_of(box, (int64_t)round_up(inner_bytes(box), CHUNK_BYTES)));
  int span = box->swizzle->span_bytes;
  if (span && inner_bytes(box) > span)
    diag_add(diags, "tma",
             "a row of the box is %lld %s, %" PRId64
             " bytes; swizzle=%s takes %d at "
             "most",
             box->box[0], box->type, inner_bytes(box), box->swizzle->name, span)
        ->nearest = arena_printf(diags->arena, "%" PRId64 " elements", elements_of(box, span));
  if (diags->count == before && tma_box_bytes(box) > BANK_SMEM_BYTES_MAX)
    diag_add(diags, "tma", "the box has %" PRId64 " bytes; shared memory has %d at most",
             tma_box_bytes(box), BANK_SMEM_BYTES_MAX);
  return diags->count == before;
}

// ---- the box ------------------------------------------------------------------------------------

static int64_t pitch_of(const TmaBox *box) {
  return max64(inner_bytes(box), box->swizzle->span_bytes);
}

static int64_t rows_of(const TmaBox *box) {
  int64_t rows = 1;
  for (int i = 1; i < box->rank; i++) rows *= ceil_div(box->box[i], box->step[i]);
  return rows;
}

int64_t tma_box_moved_bytes(const TmaBox *box) {
  return rows_of(box) * tma_box_global_bytes(box, box->box[0]);
}

int64_t tma_box_bytes(const TmaBox *box) { return rows_of(box) * pitch_of(box); }

int tma_box_alignment(const TmaBox *box) {
  (void)box;
  return BANK_LINE_BYTES;
}

// The pattern repeats every 2^B rows, each a line of 128 bytes.
int tma_box_repeat(const TmaBox *box) {
  const CuteSwizzle *s = &box->swizzle->swizzle;
  return s->bits ? 1 << (s->base + s->shift + s->bits) : BANK_LINE_BYTES;
}

int64_t tma_box_address(const TmaBox *box, int64_t corner, int64_t row, int64_t byte) {
  return cute_swizzle(box->swizzle->swizzle, corner + row * pitch_of(box) + byte);
}

const Layout *tma_box_layout(Arena *arena, const TmaBox *box, const char *text, Diags *diags) {
  if (!box->swizzle->drawn) {
    diag_add(diags, "tma_pattern",
             "swizzle=%s: its layout is not documented, so it is checked but not drawn",
             box->swizzle->name);
    return NULL;
  }
  LayoutSlab slab;
  Extents said = {rows_of(box), inner_bytes(box) / box->elem_bytes, box->elem_bytes};
  if (!notation_slab(text, &(LayoutSlab){0}, said, &slab, diags)) return NULL;
  int cols = slab.row_bytes / slab.elem_bytes;
  int64_t *offset = ARENA_ARRAY(arena, int64_t, slab.rows * cols);
  for (int i = 0; i < slab.rows * cols; i++)
    offset[i] = tma_box_address(box, 0, i / cols, (int64_t)(i % cols) * slab.elem_bytes);
  return notation_layout(arena, text, &slab, offset, diags);
}
