// wmma: matrices with fragments in no documented order. (PTX ISA, 9.7.14.4.)
//
// A program may not know which lane holds which element, so any order does: lane l has the elements
// l·e … l·e + e − 1 of the matrix by rows, e = elements / 32, again from the first where it has
// room for more. For the same reason the accesses of a load or store cannot be counted: their lines
// say so.
#include <math.h>

#include "ptx/module/float_format.h"
#include "ptx/module/multiply.h"
#include "ptx/module/tensor_sum.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_sync.h"

enum { WMMA_ELEMENTS = 512, UNCOUNTED_BYTES = 64 };

typedef struct Shape {
  PtxModifier name;
  int m, n, k;
} Shape;

static const Shape shapes[] = {
    {PTX_MOD_m16n16k16, 16, 16, 16}, {PTX_MOD_m32n8k16, 32, 8, 16}, {PTX_MOD_m8n32k16, 8, 32, 16},
    {PTX_MOD_m16n16k8, 16, 16, 8},   {PTX_MOD_m8n8k4, 8, 8, 4},
};

static const Shape *shape_of(const PtxInst *i) {
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
    if (ptx_has(i, shapes[s].name)) return &shapes[s];
  return NULL;
}

// The extents of the operand that a load or store names.
static void extents(const PtxInst *i, int *rows, int *cols) {
  const Shape *s = shape_of(i);
  *rows = ptx_has(i, PTX_MOD_b) ? s->k : s->m;
  *cols = ptx_has(i, PTX_MOD_a) ? s->k : s->n;
}

static int bytes_of(PtxType type) { return ptx_types[type].bits / 8; }

// Values in one register: two halves, four bytes.
static int per_register(PtxType type) { return bytes_of(type) < 4 ? 4 / bytes_of(type) : 1; }

static bool is_known_type(PtxType type) {
  return type == PTX_F16 || type == PTX_BF16 || type == PTX_TF32 || type == PTX_F32 ||
         type == PTX_F64 || type == PTX_S8 || type == PTX_U8 || type == PTX_S32;
}

static bool holds_all(const PtxGroup *g, PtxType type, int elements) {
  return g->kind == PTX_GROUP_VALUE && is_known_type(type) && elements <= WMMA_ELEMENTS &&
         g->n * per_register(type) * PTX_LANES >= elements;
}

// The types of A, B, C and D of a product: two names for halves, four for the rest.
static void types_of(const PtxInst *i, PtxType out[4]) {
  const bool halves = i->form.n_types == 2;
  out[0] = halves ? PTX_F16 : i->form.types[1];
  out[1] = halves ? PTX_F16 : i->form.types[2];
  out[2] = halves ? i->form.types[1] : i->form.types[3];
  out[3] = i->form.types[0];
}

const char *ptx_wmma_refuses(const PtxInst *i) {
  static const char *const no = "wmma of this shape and type is not run here";
  const Shape *s = shape_of(i);
  if (!s) return no;
  if (i->run == run_wmma_mma) {
    PtxType types[4];
    if (i->n_groups != 4 || (i->form.n_types != 2 && i->form.n_types != 4)) return no;
    types_of(i, types);
    const bool fits = holds_all(&i->groups[1], types[0], s->m * s->k) &&
                      holds_all(&i->groups[2], types[1], s->k * s->n) &&
                      holds_all(&i->groups[3], types[2], s->m * s->n) &&
                      holds_all(&i->groups[0], types[3], s->m * s->n);
    return fits ? NULL : no;
  }
  int rows, cols;
  extents(i, &rows, &cols);
  const PtxGroup *registers = &i->groups[i->run == run_wmma_load ? 0 : 1];
  if (i->n_groups > 2 && (i->groups[2].kind != PTX_GROUP_VALUE || i->groups[2].n != 1)) return no;
  return holds_all(registers, i->form.types[0], rows * cols) ? NULL : no;
}

// ---- registers ----------------------------------------------------------------------------------

static uint64_t get(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, PtxType type, int element,
                    int elements) {
  const int each = elements / PTX_LANES, per = per_register(type), slot = element % each;
  const uint64_t word = ptx_lanes(m, w, g, slot / per)[element / each];
  return ptx_cut(word >> slot % per * ptx_types[type].bits, ptx_types[type].bits);
}

static void put(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, PtxType type, int element,
                int elements, uint64_t bits) {
  const int each = elements / PTX_LANES, per = per_register(type), width = ptx_types[type].bits;
  for (int slot = element % each; slot < g->n * per; slot += each) {
    uint64_t *word = &ptx_lanes(m, w, g, slot / per)[element / each];
    const int shift = slot % per * width;
    const uint64_t kept = width == 64 ? 0 : *word & ~(ptx_cut(~UINT64_C(0), width) << shift);
    *word = kept | bits << shift;
  }
}

// ---- memory -------------------------------------------------------------------------------------

static void move(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask, bool is_store) {
  const PtxType type = i->form.types[0];
  const PtxGroup *address = &i->groups[is_store ? 0 : 1], *values = &i->groups[is_store ? 1 : 0];
  const int bytes = bytes_of(type);
  int rows, cols;
  extents(i, &rows, &cols);
  const bool by_rows = ptx_has(i, PTX_MOD_row);
  const int64_t stride = i->n_groups > 2 ? (int64_t)(int32_t)ptx_lanes(m, w, &i->groups[2], 0)[0]
                                         : (by_rows ? cols : rows);
  PtxAccess access;
  ptx_access_begin(m, w, i, mask, bytes, is_store, address, &access);
  const uint64_t base = ptx_access_address(m, w, address, 0);
  const int elements = rows * cols;
  for (int e = 0; e < elements; e++) {
    const uint32_t lane = (uint32_t)(e / (elements / PTX_LANES));
    const int64_t at = by_rows ? e / cols * stride + e % cols : e % cols * stride + e / cols;
    const PtxPlace place =
        ptx_access_lane(m, w, &access, lane, i->space, base + (uint64_t)(at * bytes));
    if (!place.bytes) return;
    uint64_t bits = is_store ? get(m, w, values, type, e, elements) : 0;
    const bool shared = access.space == PTX_SPACE_SHARED;
    if (shared)
      ptx_touch(m, w, (int)lane, place.offset, bytes, is_store ? PTX_WRITES : PTX_READS,
                is_store ? (const unsigned char *)&bits : NULL);
    if (is_store) {
      memcpy(place.bytes, &bits, (size_t)bytes);
      ptx_mark_written(&place, bytes, true);
      if (w->doubt) ptx_mark_unknown(&place, bytes);
    } else {
      ptx_check_written(m, w, &access, lane, &place, access.addr[lane]);
      memcpy(&bits, place.bytes, (size_t)bytes);
      if (ptx_place_is_unknown(m, &place, access.space, bytes)) ptx_doubt(m, w, mask);
      put(m, w, values, type, e, elements, bits);
    }
  }
  for (int n = 0; !is_store && n < values->n; n++) {
    const PtxArg arg = m->module->args[values->at + n];
    if (arg >= 0) w->frame_taint[arg] = ~0u;
  }
  access.bytes = UNCOUNTED_BYTES;
  if (access.space == PTX_SPACE_SHARED) ptx_access_end(m, &access);
}

void run_wmma_load(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  move(m, w, i, mask, false);
}
void run_wmma_store(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  move(m, w, i, mask, true);
}

// ---- product ------------------------------------------------------------------------------------

static uint64_t bits_of(PtxType type, double value) {
  if (type == PTX_S32) return (uint32_t)(int64_t)value;
  return ptx_float_round(ptx_format_of(type), value, PTX_ROUND_NEAREST, false);
}

static void take(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, PtxType type, int elements,
                 double *out) {
  for (int e = 0; e < elements; e++) out[e] = ptx_type_value(type, get(m, w, g, type, e, elements));
}

// c += a · b, row by row. Sixteen rows go at a time: of m8n32k16 those of the transposed product.
static void multiply(const Shape *s, const PtxSumRule *rule, const PtxType types[4],
                     const double *a, const double *b, double *c) {
  const bool turned = s->m % PTX_ROWS_AT_ONCE != 0;
  const int rows = turned ? s->n : s->m, cols = turned ? s->m : s->n;
  double left[WMMA_ELEMENTS], right[WMMA_ELEMENTS], sums[WMMA_ELEMENTS];
  for (int k = 0; k < s->k; k++) {
    for (int r = 0; r < rows; r++) left[k * rows + r] = turned ? b[k * s->n + r] : a[r * s->k + k];
    for (int col = 0; col < cols; col++)
      right[col * s->k + k] = turned ? a[col * s->k + k] : b[k * s->n + col];
  }
  for (int e = 0; e < s->m * s->n; e++) {
    const int row = e / s->n, col = e % s->n;
    sums[turned ? row * rows + col : col * rows + row] = c[e];
  }
  ptx_multiply(&(PtxFactors){.rows = rows,
                             .cols = cols,
                             .k = s->k,
                             .a = left,
                             .b = right,
                             .b_col = s->k,
                             .b_k = 1,
                             .is_f64 = types[3] == PTX_F64,
                             .rule = rule,
                             .types = {types[turned], types[!turned]}},
               sums);
  for (int e = 0; e < s->m * s->n; e++) {
    const int row = e / s->n, col = e % s->n;
    c[e] = sums[turned ? row * rows + col : col * rows + row];
  }
}

void run_wmma_mma(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const Shape *s = shape_of(i);
  PtxType types[4];
  types_of(i, types);
  if (mask != ~0u) ptx_find(m, w, PTX_FINDING_MISSING_LANES, w->pc, -1, ~mask);
  double a[WMMA_ELEMENTS], b[WMMA_ELEMENTS], c[WMMA_ELEMENTS];
  take(m, w, &i->groups[1], types[0], s->m * s->k, a);
  take(m, w, &i->groups[2], types[1], s->k * s->n, b);
  take(m, w, &i->groups[3], types[2], s->m * s->n, c);
  const PtxSumRule *rule = ptx_sum_rule(m->module->cc, false, types[0], types[1], types[3]);
  multiply(s, rule, types, a, b, c);
  for (int e = 0; e < s->m * s->n; e++)
    put(m, w, &i->groups[0], types[3], e, s->m * s->n, bits_of(types[3], c[e]));
  if (!rule) m->approximations += PTX_LANES;
}
