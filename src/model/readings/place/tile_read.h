// The tiles that the tensor core reads by descriptors: which of an operand's slab, and where each
// begins.
//
//   TileReads reads = tile_reads(arena, model, ATOM_A);
//   reads.n          8: two warpgroups, four steps along K
//   tile_read_descriptor(&reads, 5)        the 64 bits that the sixth of them is asked with
//   tile_read_holder(&reads, byte)         which element of the slab lies there
#pragma once
#include "model/ir/matrix_tile.h"
#include "model/readings/model.h"

// One tile. Places are in the slab: rows of M or N, and of K, from its first element on.
typedef struct TileRead {
  int asker;      // the first warpgroup that asks for it, or the warp, one thread of which does
  int64_t start;  // byte of shared memory
  int64_t row, k;
} TileRead;

typedef struct TileReads {
  const char *why;     // there are none: what to turn; NULL when there are some
  const Buffer *slab;  // of which slot 0 is read
  TileShape shape;
  const Op *op;            // that reads them
  bool by_thread;          // one thread asks: tcgen05.mma
  MatrixTile said, meant;  // what stands in the program; what its buffer asks for
  int n;
  const TileRead *read;  // in the order in which they are asked for
} TileReads;

// Tiles of one block in its first slab. Of more than some hundred a warp, some are left out.
TileReads tile_reads(Arena *arena, const Model *model, AtomOperand operand);

SmemDescriptor tile_read_descriptor(const TileReads *reads, int index);
DescriptorTile tile_read_shape(const TileReads *reads);

// The element of the slab that lies at a byte of shared memory; `inside` is false where that is
// none of it, and `slot` counts from the slab's beginning.
typedef struct TileHolder {
  bool inside;
  int64_t slot, row, k;
} TileHolder;

TileHolder tile_read_holder(const TileReads *reads, int64_t byte);

// Whether a word reads another place than the program means for element (row, k) of a tile.
bool tile_read_differs(const TileReads *reads, int index, const SmemDescriptor *word, bool trans,
                       int64_t row, int64_t k);

// A core matrix is 8 lines of 16 bytes; lines are rows of M or N where K runs fastest, of K where
// it does not. They are numbered along the line first. Also the line in it, 0 … 7.
int tile_read_core(const TileReads *reads, bool trans, int64_t row, int64_t k, int *line);
