// The owners of a tile of C: for every cell of a CTA's tile the thread that keeps it, and its
// register.
//
//   const TileMap *map = tile_map_build(arena, program, 0);
//   TileOwner owner = tile_map_owner(map, 3, 5);      thread 14, acc[0, 0, 1]
//
// Cells count from the corner of the tile. Every CTA's tile is shared out alike; where consumers
// take tiles by turns it is the first one's.
#pragma once
#include "model/ir/names.h"
#include "model/words/fragment.h"

typedef struct TileOwner {
  int thread;  // of the block
  int value;   // index into the accumulators of the thread, atom by atom
} TileOwner;

// The smallest rectangle that holds all cells of an owner.
typedef struct TileBox {
  int64_t row, col, rows, cols;
} TileBox;

typedef struct TileMap {
  const Program *program;
  const Product *product;
  int64_t rows, cols;
  int n_threads, n_warps;          // threads that keep cells; warps of all who multiply
  const uint16_t *thread, *value;  // [rows · cols]; thread UINT16_MAX: no owner
  const TileBox *of_thread, *of_warp;
} TileMap;

// `product`: the number of the one whose sums are shared out, 0 of a matmul.
const TileMap *tile_map_build(Arena *arena, const Program *program, int product);
TileOwner tile_map_owner(const TileMap *map, int64_t row, int64_t col);
// The atom that holds the cell; the cell itself without an atom.
TileBox tile_map_atom(const TileMap *map, int64_t row, int64_t col);
// "acc[2, 7, 1]"; with an atom the last index counts the lane's values.
const char *tile_map_register_text(const TileMap *map, int value, char out[48]);
