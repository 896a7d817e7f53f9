// Products into tensor memory: tcgen05.mma of one CTA and of a pair. (PTX ISA, 9.7.16.)
//
// A product is carried out where it is asked for, like wgmma and bulk copies. The instruction
// descriptor gives its types, its shape and the direction of its tiles (banks/layouts). D has the
// ISA's data path layouts D, F, A and B; A may lie in tensor memory, as in layout D.
//
//   cta_group::2, M = 256: each CTA has 128 rows of A and D and half of B's columns
//   cta_group::2, M = 128: 64 rows; the upper half of N lies in lanes 64 to 127
//
// The run goes on and D is unknown behind: .ws, .ashift, sums that saturate, a sparse A of tf32, of
// 4 bits or with scale factors, or with M = 64 in a CTA.
#include "banks/layouts/instruction_descriptor.h"
#include "base/str.h"
#include "ptx/module/float_format.h"
#include "ptx/module/multiply.h"
#include "ptx/run/mma.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_sync.h"
#include "ptx/tensor/run_tmem.h"

enum { ARCH = 100, K_MAX = PTX_T_K, N_MAX = PTX_T_N, K_BYTES = 32 };

// ---- what it is ---------------------------------------------------------------------------------

static const struct {
  PtxModifier word;
  const char *name;
} kinds[] = {{PTX_MOD_kind_f16, "f16"},           {PTX_MOD_kind_tf32, "tf32"},
             {PTX_MOD_kind_f8f6f4, "f8f6f4"},     {PTX_MOD_kind_i8, "i8"},
             {PTX_MOD_kind_mxf8f6f4, "mxf8f6f4"}, {PTX_MOD_kind_mxf4, "mxf4"},
             {PTX_MOD_kind_mxf4nvf4, "mxf4nvf4"}};

static const InstructionKind *kind_of(const PtxInst *i) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (ptx_has(i, kinds[k].word)) return instruction_kind_find(kinds[k].name);
  return NULL;
}

// The type that a field names; PTX_NO_TYPE: none.
static PtxType type_of(Arena *arena, const InstructionDescriptor *d, const char *field) {
  for (int i = 0; i < instruction_field_count(d->kind); i++) {
    const InstructionField *f = instruction_field_at(d->kind, i);
    if (!str_equal(f->name, field)) continue;
    const char *name = instruction_field_text(arena, d, f);
    return ptx_type_find(name, (int)strlen(name));
  }
  return PTX_NO_TYPE;
}

static const char *refuses_product(PtxMachine *m, const PtxProduct *p) {
  const InstructionUse use = {.cta_group = p->pair ? 2 : 1, .weight_stationary = p->stationary};
  Diags diags = diags_new(m->arena);
  if (!instruction_descriptor_check(m->arena, &p->descriptor, use, &diags))
    return arena_printf(m->arena, "the instruction descriptor 0x%08x: %s", p->descriptor.word,
                        diags_text(m->arena, &diags));
  return p->pair && m->n_blocks % 2 ? "a pair of CTAs needs a cluster of an even number of blocks"
                                    : NULL;
}

// Metadata of tf32 and those with M = 64 are nowhere told in words, and of selectors beyond the
// pair of columns that a read takes nothing is known.
static const char *unknown_sparse(const PtxProduct *p) {
  if (p->meta.bits != 8 && p->meta.bits != 16) return "a product of a sparse A of tf32 or 4 bits";
  if (ptx_product_rows(p) != TENSOR_LANES) return "a product of a sparse A with M = 64";
  const int selector = instruction_value(&p->descriptor, "sel");
  return selector > (p->meta.bits == 16 ? 1 : 0) ? "a sparsity selector beyond the first two"
                                                 : NULL;
}

static const char *unknown_product(const PtxInst *i, const PtxProduct *p) {
  const bool scaled = ptx_has(i, PTX_MOD_block_scale);
  if (scaled && p->is_sparse) return "a block-scaled product of a sparse A";
  if (scaled && (p->factors == 0 || !p->factor)) return "a block-scaled product of this kind";
  if (instruction_value(&p->descriptor, "k96") == 1) return "a product with K = 96";
  if (scaled && ptx_product_rows(p) != TENSOR_LANES) return "a block-scaled product with M = 64";
  const char *sparse = p->is_sparse ? unknown_sparse(p) : NULL;
  if (sparse) return sparse;
  if (p->packing[0] && i->groups[1].kind == PTX_GROUP_ADDRESS)
    return "elements of 4 or 6 bits in tensor memory";
  if (p->stationary) return "a product with .ws";
  if (ptx_has(i, PTX_MOD_ashift)) return "a product with .ashift";
  if (instruction_value(&p->descriptor, "sat") == 1) return "sums that saturate";
  if (!p->type[0] || !p->type[1]) return "a product of this type";
  return p->element_bytes[0] != p->element_bytes[1] ? "A and B of different width" : NULL;
}

static PtxTilePacking packing_of(PtxType type, bool packed) {
  if (type == PTX_E2M1) return packed ? PTX_TILE_PAIRS : PTX_TILE_4_IN_16;
  return type == PTX_E2M3 || type == PTX_E3M2 ? PTX_TILE_6_IN_16 : PTX_TILE_PLAIN;
}

static const PtxProduct *product_of(PtxMachine *m, const PtxInst *i, uint32_t word) {
  const InstructionKind *kind = kind_of(i);
  const bool pair = ptx_has(i, PTX_MOD_cta_group_2), stationary = ptx_has(i, PTX_MOD_ws);
  for (PtxProduct *p = m->product_plans; p; p = p->next)
    if (p->descriptor.kind == kind && p->descriptor.word == word && p->pair == pair &&
        p->stationary == stationary)
      return p;
  PtxProduct *p = ARENA_NEW(m->arena, PtxProduct);
  const InstructionDescriptor d = {.kind = kind, .word = word};
  const char *const names[] = {"a", "b"}, *const majors[] = {"ta", "tb"};
  const bool packed = ptx_has(i, PTX_MOD_kind_mxf4) || ptx_has(i, PTX_MOD_kind_mxf4nvf4);
  *p = (PtxProduct){.descriptor = d,
                    .pair = pair,
                    .stationary = stationary,
                    .is_sparse = ptx_has(i, PTX_MOD_sp),
                    .sign = 1,
                    .next = m->product_plans};
  p->m = instruction_value(&d, "m");
  p->n = instruction_value(&d, "n");
  p->d = type_of(m->arena, &d, "d");
  if (!p->d) p->d = PTX_F32;  // of scaled products there is no other
  for (int o = 0; o < 2; o++) {
    p->type[o] = type_of(m->arena, &d, names[o]);
    p->packing[o] = packing_of(p->type[o], packed);
    p->element_bytes[o] = p->packing[o] || !p->type[o] ? 1 : ptx_types[p->type[o]].bits / 8;
    p->trans[o] = instruction_value(&d, majors[o]) == 1;
  }
  p->stored_k = K_BYTES / p->element_bytes[0] * (packed ? 2 : 1);
  p->k = p->is_sparse ? 2 * p->stored_k : p->stored_k;
  if (p->is_sparse && p->type[0]) p->meta = sparse_meta(packed ? 4 : 8 * p->element_bytes[0], p->k);
  p->meta.ordered = true;
  if (ptx_has(i, PTX_MOD_block_scale)) {
    p->factors = ptx_product_factors(i);
    p->factor = type_of(m->arena, &d, "scale");
  }
  if (instruction_value(&d, "nega") == 1) p->sign = -p->sign;
  if (instruction_value(&d, "negb") == 1) p->sign = -p->sign;
  p->why = refuses_product(m, p);
  p->unknown = unknown_product(i, p);
  return m->product_plans = p;
}

// ---- where it lies ------------------------------------------------------------------------------

static bool is_folded(const PtxProduct *p) { return p->pair && p->m == TENSOR_LANES; }
static int columns_of(const PtxProduct *p) { return is_folded(p) ? p->n / 2 : p->n; }

static int lane_of(const PtxProduct *p, int row, int n) {
  if (is_folded(p)) return row + (n >= p->n / 2 ? 64 : 0);
  return ptx_product_rows(p) == 64 ? row / 16 * 32 + row % 16 : row;
}

static uint64_t number(const PtxAsked *q, int group) {
  return ptx_lanes(q->m, q->w, &q->i->groups[group], 0)[q->lane];
}

static int pred_group(const PtxInst *i) {
  for (int g = 4; g < i->n_groups; g++)
    if (i->groups[g].kind == PTX_GROUP_PRED) return g;
  return -1;
}

// Elements from `out` on; `to` says the steps between them.
static bool read_tile(PtxAsked *q, int operand, int rank, int rows, int k, PtxTileSteps to,
                      double *out) {
  static _Thread_local double as_read[K_MAX * N_MAX];
  const PtxProduct *p = q->p;
  const PtxTile tile = {.descriptor = smem_descriptor_decode(number(q, 1 + operand), ARCH),
                        .trans = p->trans[operand],
                        .rank = rank,
                        .rows = rows,
                        .k = k,
                        .element_bytes = p->element_bytes[operand],
                        .packing = p->packing[operand],
                        .type = p->type[operand] ? p->type[operand] : PTX_U8};
  if (!tile.descriptor.swizzle) {
    ptx_stop(q->m, q->w, PTX_FINDING_NOT_RUN, 1u << q->lane,
             "a descriptor with an undefined swizzle");
    return false;
  }
  if (!ptx_tile_read(q->m, q->w, (int)q->lane, &tile, PTX_ASKS, as_read)) return false;
  const PtxTileSteps from = ptx_tile_steps(&tile);
  for (int row = 0; row < rows; row++)
    for (int e = 0; e < k; e++) out[row * to.row + e * to.k] = as_read[row * from.row + e * from.k];
  return true;
}

// A of one CTA out of its tensor memory: row r in lane r, elements side by side in columns.
static bool read_a_columns(PtxAsked *q, PtxBlock *block) {
  const PtxProduct *p = q->p;
  const int bytes = p->element_bytes[0], rows = ptx_product_rows(p);
  const uint32_t address = (uint32_t)ptx_access_address(q->m, q->w, &q->i->groups[1], q->lane);
  const bool is_packed = p->packing[0] == PTX_TILE_PAIRS;
  const PtxTmemReach reach = {.quarters = 0xf,
                              .column = (int)(address & 0xffff),
                              .n = p->stored_k * bytes / 4 / (is_packed ? 2 : 1),
                              .product = q->w->asked,
                              .block = block};
  if (!ptx_tmem_has(q->m, q->w, q->lane, &reach)) return false;
  ptx_tmem_read(q->m, q->w, q->lane, &reach);
  if (rows != TENSOR_LANES) ptx_doubt(q->m, q->w, ~0u);
  if (p->packing[0]) return true;
  for (int row = 0; row < rows; row++)
    for (int k = 0; k < p->stored_k; k++) {
      const int column = reach.column + k * bytes / 4;
      const uint64_t bits = block->tmem->bits[row][column] >> k * bytes % 4 * 8;
      if (block->tmem->unknown[row][column]) ptx_doubt(q->m, q->w, ~0u);
      q->a[k * rows + row] = p->type[0] ? ptx_type_value(p->type[0], ptx_cut(bits, bytes * 8)) : 0;
    }
  return true;
}

static bool read_a(PtxAsked *q, PtxBlock *block) {
  if (q->i->groups[1].kind == PTX_GROUP_ADDRESS) return read_a_columns(q, block);
  const int rows = ptx_product_rows(q->p);
  return read_tile(q, 0, block->rank, rows, q->p->stored_k, (PtxTileSteps){1, rows}, q->a);
}

// All columns of B: of a pair each CTA has half of them.
static bool read_b(PtxAsked *q, const PtxBlock *first) {
  const PtxProduct *p = q->p;
  const int k = p->k, ctas = p->pair ? 2 : 1, n = p->n / ctas;
  for (int cta = 0; cta < ctas; cta++)
    if (!read_tile(q, 1, first->rank + cta, n, k, (PtxTileSteps){k, 1}, &q->b[cta * n * k]))
      return false;
  return true;
}

// ---- the product --------------------------------------------------------------------------------

// The lanes of a quarter of a CTA's D that stay as they are, a bit for each.
static uint32_t disabled(const PtxAsked *q, int cta, int quarter) {
  const int word = cta * TENSOR_QUARTERS + quarter;
  if (!q->disabled || word >= q->disabled->n) return 0;
  return (uint32_t)ptx_lanes(q->m, q->w, q->disabled, word)[q->lane];
}

static void take_sums(PtxAsked *q, const PtxTmem *tmem, int rows) {
  const PtxProduct *p = q->p;
  for (int n = 0; n < p->n; n++)
    for (int row = 0; row < rows; row++) {
      const uint64_t bits = tmem->bits[lane_of(p, row, n)][q->column + n % columns_of(p)];
      q->d[n * rows + row] = q->adds ? ptx_type_value(p->d, bits) * q->scale : 0;
    }
}

static void put_sums(PtxAsked *q, PtxTmem *tmem, int rows, int cta) {
  const PtxProduct *p = q->p;
  for (int n = 0; n < p->n; n++)
    for (int row = 0; row < rows; row++) {
      const int lane = lane_of(p, row, n), column = q->column + n % columns_of(p);
      if (disabled(q, cta, lane / PTX_LANES) >> lane % PTX_LANES & 1) continue;
      tmem->bits[lane][column] =
          p->unknown ? 0 : (uint32_t)ptx_mma_bits(q->i, p->d, q->d[n * rows + row]);
      tmem->unknown[lane][column] =
          p->unknown || q->w->doubt || (q->adds && tmem->unknown[lane][column]);
    }
}

static void multiply(PtxAsked *q, PtxTmem *tmem, int cta) {
  const PtxProduct *p = q->p;
  const int rows = ptx_product_rows(p);
  if (!p->unknown) {
    take_sums(q, tmem, rows);
    for (int e = 0; p->sign < 0 && e < p->k * rows; e++) q->a[e] = -q->a[e];
    const double *b = p->factors ? q->scaled_b : q->b;
    ptx_multiply(
        &(PtxFactors){
            .rows = rows, .cols = p->n, .k = p->k, .a = q->a, .b = b, .b_col = p->k, .b_k = 1},
        q->d);
  }
  put_sums(q, tmem, rows, cta);
}

static bool add_products(PtxAsked *q, PtxBlock *block, int cta) {
  const PtxProduct *p = q->p;
  PtxTmemReach reach = {.quarters = 0xf,
                        .column = q->column,
                        .n = columns_of(p),
                        .product = q->w->asked,
                        .block = block};
  if (!ptx_tmem_has(q->m, q->w, q->lane, &reach) || !read_a(q, block)) return false;
  if (!p->unknown && p->is_sparse && !ptx_product_spread(q, block)) return false;
  if (!p->unknown && p->factors && !ptx_product_scale(q, block)) return false;
  for (int quarter = 0; quarter < TENSOR_QUARTERS; quarter++)
    if (disabled(q, cta, quarter) == ~0u) reach.quarters &= ~(1u << quarter);
  if (q->adds) ptx_tmem_read(q->m, q->w, q->lane, &reach);
  ptx_tmem_write(q->m, q->w, q->lane, &reach);
  multiply(q, block->tmem, cta);
  return true;
}

// The operand behind the predicate is an exponent: D as it was is divided by two to that power.
static double scale_of(const PtxAsked *q, int pred) {
  const bool given = pred + 1 < q->i->n_groups && !q->p->stationary;
  return given ? 1 / (double)(UINT64_C(1) << (number(q, pred + 1) & 15)) : 1;
}

static bool ask(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane) {
  static _Thread_local PtxAsked asked;
  const uint32_t address = (uint32_t)ptx_access_address(m, w, &i->groups[0], lane);
  const int pred = pred_group(i);
  const PtxProduct *p =
      product_of(m, i, (uint32_t)ptx_lanes(m, w, &i->groups[ptx_product_idesc(i)], 0)[lane]);
  if (p->why || address >> 16) {
    ptx_stop(m, w, PTX_FINDING_NOT_RUN, 1u << lane,
             p->why ? p->why : "D begins in lane 0 of tensor memory");
    return false;
  }
  PtxAsked *q = &asked;
  q->m = m, q->w = w, q->i = i, q->p = p, q->lane = lane;
  q->column = (int)address;
  q->adds = ptx_pred(m, w, &i->groups[pred]) >> lane & 1;
  q->scale = scale_of(q, pred);
  const PtxGroup *mask = pred > ptx_product_idesc(i) + 1 ? &i->groups[pred - 1] : NULL;
  q->disabled = mask && mask->kind == PTX_GROUP_VALUE ? mask : NULL;
  w->asked++;
  PtxBlock *first = p->pair ? &m->blocks[w->block->rank & ~1] : w->block;
  if (p->unknown) ptx_give_unknown(m, w, p->unknown);
  if (!read_b(q, first)) return false;
  for (int cta = 0; cta < (p->pair ? 2 : 1); cta++) {
    if (first[cta].rank != w->block->rank) ptx_reach(m, w, (int)lane, first[cta].rank);
    if (!add_products(q, &first[cta], cta)) return false;
  }
  if (p->d != PTX_S32) m->approximations++;
  return true;
}

void run_t_mma(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  FOR_LANES(mask) if (!ask(m, w, i, l)) return;
}

// ---- forms --------------------------------------------------------------------------------------

const char *ptx_product_refuses(const PtxInst *i) {
  const PtxGroup *g = i->groups;
  const int idesc = ptx_product_idesc(i), pred = pred_group(i);
  if (!kind_of(i)) return "tcgen05.mma: this kind is not known";
  if (i->n_groups < idesc + 2 || g[0].kind != PTX_GROUP_ADDRESS || g[0].n != 1 || pred < 0)
    return "tcgen05.mma takes D, A, B, a descriptor and a predicate";
  const bool scales = ptx_has(i, PTX_MOD_block_scale);
  const int between = pred - idesc - 1;
  const bool masked = between == 1 && g[idesc + 1].kind == PTX_GROUP_VALUE;
  if (scales ? between != 2 : between != 0 && !masked)
    return "tcgen05.mma takes a mask of lanes, or two addresses of scale factors";
  const int words = ptx_has(i, PTX_MOD_cta_group_2) ? 2 * 4 : 4;
  if (masked && g[idesc + 1].n != words) return "a mask of lanes of D has four words for each CTA";
  const bool a_is_address = g[1].kind == PTX_GROUP_ADDRESS;
  if ((!a_is_address && g[1].kind != PTX_GROUP_VALUE) || g[1].n != 1 ||
      g[2].kind != PTX_GROUP_VALUE || g[2].n != 1 || g[idesc].kind != PTX_GROUP_VALUE ||
      g[idesc].n != 1)
    return "tcgen05.mma takes descriptors";
  return pred + 2 < i->n_groups ? "tcgen05.mma of this form is not run here" : NULL;
}
