// A sparse A as it is stored → the A that it stands for, by the metadata that lanes give.
#include <string.h>

#include "ptx/run/mma.h"

bool ptx_sparse_plan(PtxSparse *sparse, const PtxInst *inst, int words, int bits, int k) {
  *sparse = (PtxSparse){true, words, words + 1, sparse_meta(bits, k)};
  sparse->meta.ordered = ptx_mods_has(&inst->form.mods, PTX_MOD_sp_ordered);
  return words + 1 < inst->n_groups && inst->groups[words].kind == PTX_GROUP_VALUE &&
         inst->groups[words].n == 1 && inst->groups[words + 1].kind == PTX_GROUP_VALUE &&
         inst->groups[words + 1].n == 1;
}

bool ptx_sparse_put(const SparseMeta *meta, int rows, const uint8_t *bits, const double *stored,
                    double *out) {
  const int k = meta->chunks * meta->chunk;
  memset(out, 0, sizeof *out * (size_t)(k * rows));
  for (int chunk = 0; chunk < meta->chunks; chunk++)
    for (int row = 0; row < rows; row++) {
      int columns[SPARSE_KEPT_MAX];
      const int n = sparse_kept(meta, bits[chunk * rows + row], columns);
      if (n == 0) return false;
      for (int e = 0; e < n; e++)
        out[(chunk * meta->chunk + columns[e]) * rows + row] = stored[(chunk * n + e) * rows + row];
    }
  return true;
}

bool ptx_sparse_spread(PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxSparse *sparse,
                       const double *stored, double *out) {
  enum { CHUNKS_MAX = PTX_MMA_K / 2 };
  uint8_t bits[CHUNKS_MAX * PTX_MMA_ROWS];
  const SparseMeta *meta = &sparse->meta;
  const uint64_t *words = ptx_lanes(m, w, &i->groups[sparse->words], 0);
  const uint64_t selector = ptx_lanes(m, w, &i->groups[sparse->selector], 0)[0];
  const bool exists = selector < (uint64_t)sparse_selectors(meta);
  for (int chunk = 0; exists && chunk < meta->chunks; chunk++)
    for (int row = 0; row < PTX_MMA_ROWS; row++) {
      const SparsePlace at = sparse_place(meta, row, chunk);
      bits[chunk * PTX_MMA_ROWS + row] =
          (uint8_t)(words[at.lane + (int)selector * meta->lanes] >> at.bit & 0xf);
    }
  if (exists && ptx_sparse_put(meta, PTX_MMA_ROWS, bits, stored, out)) return true;
  ptx_give_unknown(m, w, "a sparse A whose metadata mean nothing");
  ptx_doubt(m, w, ~0u);
  return false;
}
