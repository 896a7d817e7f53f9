// Where the metadata of a sparse operand lie, and which columns they keep.
#include "model/words/sparse.h"

enum { QUAD = 4, HALF_ROWS = 8, WORD_BITS = 32, SLOTS = 4, TF32_BITS = 32 };

static bool rows_share_a_word(const SparseMeta *meta) { return meta->bits >= 16; }

SparseMeta sparse_meta(int bits, int k) {
  SparseMeta meta = {.bits = bits, .chunk = bits == TF32_BITS ? 2 : bits == 4 ? 8 : 4};
  enum { ROWS = 16, LANE_GROUPS = 8 };
  meta.chunks = k / meta.chunk;
  meta.lanes = ROWS * meta.chunks * SPARSE_META_BITS / (LANE_GROUPS * WORD_BITS);
  return meta;
}

int sparse_selectors(const SparseMeta *meta) { return QUAD / meta->lanes; }

SparsePlace sparse_place(const SparseMeta *meta, int row, int chunk) {
  const int lane = row % HALF_ROWS * QUAD, upper = row / HALF_ROWS;
  if (rows_share_a_word(meta)) {
    const int of_word = WORD_BITS / 2 / SPARSE_META_BITS;
    return (SparsePlace){lane + chunk / of_word,
                         upper * WORD_BITS / 2 + chunk % of_word * SPARSE_META_BITS};
  }
  const int of_word = WORD_BITS / SPARSE_META_BITS;
  return (SparsePlace){lane + upper + chunk / of_word * 2, chunk % of_word * SPARSE_META_BITS};
}

int sparse_kept(const SparseMeta *meta, unsigned bits, int columns[SPARSE_KEPT_MAX]) {
  const int first = bits & 3, second = bits >> 2 & 3;
  enum { ORDERED = 1 << 0x4 | 1 << 0x8 | 1 << 0xc | 1 << 0x9 | 1 << 0xd | 1 << 0x6 | 1 << 0xe };
  if (first == second || (meta->ordered && !(ORDERED >> (bits & 0xf) & 1))) return 0;
  if (meta->bits == TF32_BITS) {
    columns[0] = first / 2;
    return first % 2 == 0 && second == first + 1 ? 1 : 0;
  }
  const int slot = meta->chunk / SLOTS;
  for (int e = 0; e < slot; e++) {
    columns[e] = first * slot + e;
    columns[slot + e] = second * slot + e;
  }
  return 2 * slot;
}
