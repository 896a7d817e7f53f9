// A sparse operand A: half of each row is left out, and metadata say which half. (PTX ISA,
// "Sparse matrix storage" and "Matrix fragments for multiply-accumulate operation with sparse
// matrix A" of mma.sp; of wgmma.sp the same in each of its four warps.)
//
// A row of K elements is stored as K / 2. Four bits of metadata, two indices from 0 to 3 with the
// first one low, belong to a chunk of four slots, of which two are stored. A slot is one element of
// 8 or 16 bits, two of 4 bits, and half of a tf32, so that 0x4 means the first of two tf32 and 0xe
// the second. Worked example, f16: 0x9 = 0b1001 keeps columns 1 and 2 of a chunk of four. The two
// indices differ; where metadata are ordered (mma.sp::ordered_metadata, tcgen05.mma.sp) they are
// one of the seven values 4, 8, c, 9, d, 6 and e.
//
// The words of metadata lie in 1, 2 or 4 of each four lanes; where fewer than 4 do, a selector says
// which. With T the lane within these, and `row` from 0 to 15:
//
//   elements of 16 bits and tf32   lane / 4 = row % 8, bits 16 · (row / 8) …,  T: columns further
//   on elements of 8 and 4 bits       lane / 4 = row % 8, T & 1 = row / 8,        T & 2: columns
//   further on
//
// An H200 says the same of mma.sp (2026-11-29, driver 580.159.04): for ten shapes and each of their
// selectors, 23 cases, every nibble of every lane was changed, and moved the chunk that stands
// here.
#pragma once
#include <stdbool.h>

typedef struct SparseMeta {
  int bits;    // of an element
  int chunks;  // of a row
  int chunk;   // elements of a chunk: 2, 4 or 8
  int lanes;   // of each four that give metadata to one instruction: 1, 2 or 4
  bool ordered;
} SparseMeta;

enum { SPARSE_KEPT_MAX = 4, SPARSE_META_BITS = 4 };

// For an A of 16 rows with k elements, the left out ones included.
SparseMeta sparse_meta(int bits, int k);

typedef struct SparsePlace {
  int lane;  // with selector 0; selector s adds s · lanes
  int bit;   // the lowest of SPARSE_META_BITS of its word
} SparsePlace;

SparsePlace sparse_place(const SparseMeta *meta, int row, int chunk);
// The selectors that there are: 1, 2 or 4.
int sparse_selectors(const SparseMeta *meta);

// Columns of a chunk, in the order in which they are stored, that four bits of metadata keep; their
// number, or 0 where the bits have no meaning.
int sparse_kept(const SparseMeta *meta, unsigned bits, int columns[SPARSE_KEPT_MAX]);
