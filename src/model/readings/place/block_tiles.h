// The tiles of a block: which part of each matrix it works on at a time, which part of that one
// warp has, and how much of it lies in registers at once.
//
//   BlockTiles tiles = block_tiles(arena, program);
//   tiles.tile[0]       Q, A of S: 64 × 128; a warp has 16 × 128, of which 16 × 16 lie in registers
//
// It is the tile dimension table of article 003, read off the axes and the buffers of a program:
// one line for each operand of each product, a matmul's A, B and C, or attention's Q, K, S, P, V
// and O. Fragments count as there: matrices of eight rows of 16 bytes, of sums 8 × 8.
#pragma once
#include "model/ir/names.h"
#include "model/words/fragment.h"

enum { BLOCK_TILES_MAX = PRODUCTS_MAX * ATOM_OPERANDS };

// Rows and columns as the product takes them: of A m × k, of B k × n, of C m × n.
typedef struct TileExtents {
  int64_t rows, cols;
} TileExtents;

typedef struct BlockTile {
  const char *name;  // "Q"
  int product;
  AtomOperand operand;
  bool column_major;   // as it lies in global memory; of sums false
  TileExtents block;   // what the block works on in one turn of its loop over slabs
  TileExtents warp;    // what one warp, or warpgroup, multiplies or adds up of it
  TileExtents unit;    // elements of a fragment
  TileExtents held;    // of the warp's share, what one set of registers has at a time
  int steps;           // sets that the warp's share is cut into along k; 1: it is held whole
  int sets;            // copies of the registers; 0: no register holds it
  int registers;       // of a lane, 32 bits each, all sets
  int64_t slot_bytes;  // of its slab in shared memory; 0: it is not staged
  int slots;
} BlockTile;

typedef struct BlockTiles {
  int n;
  int group_warps;  // that share a `warp` tile: 4 of a warpgroup
  BlockTile tile[BLOCK_TILES_MAX];
} BlockTiles;

// The tiles of the products that the main kernel computes.
BlockTiles block_tiles(Arena *arena, const Program *program);
// Whole fragments in rows and columns.
TileExtents block_tile_fragments(const BlockTile *tile, TileExtents of);
