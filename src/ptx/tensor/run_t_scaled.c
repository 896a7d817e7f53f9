// Scale factors and metadata of tcgen05.mma, and the copies that bring them. (PTX ISA, 9.7.16.10.7
// "Block Scaling", 9.7.16.10.8 "Sparse Matrices", 9.7.16.9.2 "tcgen05.cp".)
//
//   factors   row r of A, or column r of B: lane r % 32 of each quarter of the lanes, column r /
//   32,
//             from the byte on that the ID names
//   metadata  of 8 bits: row r in lane r, 32 columns of A in each column; of 16 bits: rows r and
//             r + 8 in one word, of lane 16 · (r / 16) + 8 · h + r % 8 for half h of the columns of
//             A, and the selector counts columns
//
// A copy takes rows of 16 or 32 bytes that a descriptor finds; word c of row r goes to column c.
// The rows that metadata of 16 bits stand for are as in jax's format_tcgen05_sparse_metadata, whose
// formula was read, not run.
#include <string.h>

#include "ptx/module/float_format.h"
#include "ptx/run/mma.h"
#include "ptx/tensor/run_tmem.h"

enum { QUARTER = TENSOR_LANES / TENSOR_QUARTERS };

static int column_at(const PtxAsked *q, int group) {
  return (int)(ptx_access_address(q->m, q->w, &q->i->groups[group], q->lane) & 0xffff);
}

static bool read_columns(PtxAsked *q, PtxBlock *block, int column, int n) {
  const PtxTmemReach reach = {
      .quarters = 0xf, .column = column, .n = n, .product = q->w->asked, .block = block};
  if (!ptx_tmem_has(q->m, q->w, q->lane, &reach)) return false;
  ptx_tmem_read(q->m, q->w, q->lane, &reach);
  return true;
}

static uint32_t tensor_word(PtxAsked *q, const PtxTmem *tmem, int lane, int column) {
  if (tmem->unknown[lane][column]) ptx_doubt(q->m, q->w, ~0u);
  return tmem->bits[lane][column];
}

// ---- scale factors ------------------------------------------------------------------------------

int ptx_product_factors(const PtxInst *i) {
  if (ptx_has(i, PTX_MOD_kind_mxf8f6f4)) return 1;
  if (ptx_has(i, PTX_MOD_kind_mxf4)) return 2;
  if (ptx_has(i, PTX_MOD_scale_vec_2) || ptx_has(i, PTX_MOD_block32)) return 2;
  return ptx_has(i, PTX_MOD_scale_vec_4) || ptx_has(i, PTX_MOD_block16) ? 4 : 0;
}

// Each quarter of the lanes has its own copy of the factors of B: they must agree.
static uint32_t factor_of_column(PtxAsked *q, const PtxTmem *tmem, int row, int column) {
  const uint32_t word = tensor_word(q, tmem, row % QUARTER, column);
  for (int quarter = 1; quarter < TENSOR_QUARTERS; quarter++) {
    if (tensor_word(q, tmem, quarter * QUARTER + row % QUARTER, column) == word) continue;
    ptx_give_unknown(q->m, q->w, "factors of B that differ by quarters of the lanes");
    ptx_doubt(q->m, q->w, ~0u);
  }
  return word;
}

static void scale(const PtxProduct *p, uint32_t word, int id, int step, double *row) {
  for (int f = 0; f < p->factors; f++) {
    const double factor = ptx_type_value(p->factor, word >> (id + f) % 4 * 8 & 0xff);
    for (int k = f * p->k / p->factors; k < (f + 1) * p->k / p->factors; k++)
      row[k * step] *= factor;
  }
}

bool ptx_product_scale(PtxAsked *q, PtxBlock *block) {
  const PtxProduct *p = q->p;
  const int rows = ptx_product_rows(p), group = ptx_product_idesc(q->i) + 1;
  const int a = column_at(q, group), b = column_at(q, group + 1);
  const int id_a = instruction_value(&p->descriptor, "sfa"),
            id_b = instruction_value(&p->descriptor, "sfb");
  if (!read_columns(q, block, a, (rows + QUARTER - 1) / QUARTER) ||
      !read_columns(q, block, b, (p->n + QUARTER - 1) / QUARTER))
    return false;
  for (int row = 0; row < rows; row++)
    scale(p, tensor_word(q, block->tmem, row, a + row / QUARTER), id_a, rows, &q->a[row]);
  memcpy(q->scaled_b, q->b, sizeof *q->b * (size_t)(p->n * p->k));
  for (int n = 0; n < p->n; n++)
    scale(p, factor_of_column(q, block->tmem, n, b + n / QUARTER), id_b, 1, &q->scaled_b[n * p->k]);
  return true;
}

// ---- metadata -----------------------------------------------------------------------------------

typedef struct MetaPlace {
  int lane, column, bit;
} MetaPlace;

static MetaPlace meta_place(const SparseMeta *meta, int row, int chunk) {
  enum { OF_WORD = 32 / SPARSE_META_BITS, SLAB = 16, HALF = 8 };
  if (meta->bits == 8) return (MetaPlace){row, chunk / OF_WORD, chunk % OF_WORD * SPARSE_META_BITS};
  return (MetaPlace){row / SLAB * SLAB + chunk / (OF_WORD / 2) * HALF + row % HALF, 0,
                     row % SLAB / HALF * 16 + chunk % (OF_WORD / 2) * SPARSE_META_BITS};
}

bool ptx_product_spread(PtxAsked *q, PtxBlock *block) {
  static _Thread_local double stored[PTX_T_K * TENSOR_LANES];
  static _Thread_local uint8_t bits[PTX_T_K / 4 * TENSOR_LANES];
  const PtxProduct *p = q->p;
  const SparseMeta *meta = &p->meta;
  enum { META = 3 };
  const int rows = ptx_product_rows(p);
  const int column = column_at(q, META) + instruction_value(&p->descriptor, "sel");
  if (!read_columns(q, block, column, meta->bits == 8 ? 2 : 1)) return false;
  for (int chunk = 0; chunk < meta->chunks; chunk++)
    for (int row = 0; row < rows; row++) {
      const MetaPlace at = meta_place(meta, row, chunk);
      bits[chunk * rows + row] =
          (uint8_t)(tensor_word(q, block->tmem, at.lane, column + at.column) >> at.bit & 0xf);
    }
  memcpy(stored, q->a, sizeof *stored * (size_t)(p->stored_k * rows));
  if (ptx_sparse_put(meta, rows, bits, stored, q->a)) return true;
  ptx_give_unknown(q->m, q->w, "a sparse A whose metadata mean nothing");
  ptx_doubt(q->m, q->w, ~0u);
  return true;
}

// ---- copies -------------------------------------------------------------------------------------

typedef struct CopyShape {
  int rows, words;     // of the source
  int quarters_of[4];  // for each 32 rows, the quarters of the lanes that get them, as bits
} CopyShape;

// Rows 32 · n and on go to the quarters of the n-th number.
static bool copy_shape(const PtxInst *i, CopyShape *shape) {
  static const struct {
    PtxModifier form, spread;
    CopyShape shape;
  } shapes[] = {
      {PTX_MOD_t128x256b, PTX_MOD_none, {128, 8, {1, 2, 4, 8}}},
      {PTX_MOD_t128x128b, PTX_MOD_none, {128, 4, {1, 2, 4, 8}}},
      {PTX_MOD_t64x128b, PTX_MOD_warpx2_a, {64, 4, {1 | 4, 2 | 8}}},
      {PTX_MOD_t64x128b, PTX_MOD_warpx2_b, {64, 4, {1 | 2, 4 | 8}}},
      {PTX_MOD_t32x128b, PTX_MOD_warpx4, {32, 4, {1 | 2 | 4 | 8}}},
  };
  if (ptx_has(i, PTX_MOD_to_b8)) return false;
  for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
    if (ptx_has(i, shapes[n].form) &&
        (shapes[n].spread == PTX_MOD_none || ptx_has(i, shapes[n].spread))) {
      *shape = shapes[n].shape;
      return true;
    }
  return false;
}

static void put_word(const CopyShape *shape, PtxTmem *tmem, int row, int column, uint32_t word,
                     bool unknown) {
  for (int quarter = 0; quarter < TENSOR_QUARTERS; quarter++) {
    if (!(shape->quarters_of[row / QUARTER] >> quarter & 1)) continue;
    tmem->bits[quarter * QUARTER + row % QUARTER][column] = word;
    tmem->unknown[quarter * QUARTER + row % QUARTER][column] = unknown;
  }
}

// The descriptor finds the rows of each CTA in its own shared memory.
static bool copy_rows(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane,
                      const CopyShape *shape, const PtxTmemReach *reach) {
  static _Thread_local double bytes[PTX_TILE_ROWS * PTX_TILE_BYTES];
  const PtxTile tile = {
      .descriptor = smem_descriptor_decode(ptx_lanes(m, w, &i->groups[1], 0)[lane], 100),
      .rank = reach->block->rank,
      .rows = shape->rows,
      .k = shape->words * 4,
      .element_bytes = 1,
      .type = PTX_U8};
  if (!tile.descriptor.swizzle) {
    ptx_stop(m, w, PTX_FINDING_NOT_RUN, 1u << lane, "a descriptor with an undefined swizzle");
    return false;
  }
  if (!ptx_tile_read(m, w, (int)lane, &tile, PTX_ASKS, bytes)) return false;
  for (int row = 0; row < shape->rows; row++)
    for (int c = 0; c < shape->words; c++) {
      uint32_t word = 0;
      for (int byte = 0; byte < 4; byte++)
        word |= (uint32_t)bytes[row * tile.k + c * 4 + byte] << 8 * byte;
      put_word(shape, reach->block->tmem, row, reach->column + c, word, w->doubt != 0);
    }
  return true;
}

// Carries a copy out in the columns that it reaches in a CTA; `shape` NULL: they are unknown from
// now on. False after a finding.
static bool write_columns(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane,
                          const CopyShape *shape, const PtxTmemReach *reach) {
  if (!ptx_tmem_has(m, w, lane, reach)) return false;
  ptx_tmem_write(m, w, lane, reach);
  if (shape) return copy_rows(m, w, i, lane, shape, reach);
  for (int row = 0; row < TENSOR_LANES; row++)
    memset(&reach->block->tmem->unknown[row][reach->column], 1, (size_t)reach->n);
  return true;
}

// `n` columns of all lanes, of a pair in both CTAs.
static bool write_all(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane,
                      const CopyShape *shape, int n) {
  const bool pair = ptx_has(i, PTX_MOD_cta_group_2) && m->n_blocks > 1;
  PtxBlock *first = pair ? &m->blocks[w->block->rank & ~1] : w->block;
  const uint32_t address = (uint32_t)ptx_access_address(m, w, &i->groups[0], lane);
  w->asked++;
  for (int cta = 0; cta < (pair ? 2 : 1); cta++) {
    const PtxTmemReach reach = {.quarters = 0xf,
                                .column = (int)(address & 0xffff),
                                .n = n,
                                .product = w->asked,
                                .block = &first[cta]};
    if (shape && first[cta].rank != w->block->rank) ptx_reach(m, w, (int)lane, first[cta].rank);
    if (!write_columns(m, w, i, lane, shape, &reach)) return false;
  }
  return true;
}

void run_t_cp(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  CopyShape shape;
  if (copy_shape(i, &shape)) {
    FOR_LANES(mask) if (!write_all(m, w, i, l, &shape, shape.words)) return;
    return;
  }
  const bool wide = ptx_has(i, PTX_MOD_t128x256b) || ptx_has(i, PTX_MOD_t4x256b);
  ptx_give_unknown(m, w, "a copy into tensor memory");
  FOR_LANES(mask) write_all(m, w, i, l, NULL, wide ? 8 : 4);
}

void run_t_shift(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  ptx_give_unknown(m, w, "rows of tensor memory that move down");
  FOR_LANES(mask) write_all(m, w, i, l, NULL, 8);
}
