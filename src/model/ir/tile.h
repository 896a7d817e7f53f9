// How the tensor core finds a tile of an operand in shared memory: the fields of its matrix
// descriptor but for the address (PTX ISA, wgmma: Matrix Descriptor Format). They follow from the
// buffer (ir/matrix_tile.h); in a program that a user edited they are what stands there.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct MatrixTile {
  bool is_described;  // false: not in shared memory, or laid out as no descriptor can say
  bool trans;         // M or N runs fastest, not K
  int swizzle;        // 0 none, 1 32B, 2 64B, 3 128B
  int64_t lbo, sbo;   // leading and stride dimension byte offset
} MatrixTile;
