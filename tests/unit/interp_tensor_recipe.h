// Tensor-core programs built by hand for the tests of the interpreter, and faults to plant in them.
//
// They owe nothing to the passes: where a lane's values are, and which row a lane addresses, is
// spelled out here from the PTX ISA once more. One recipe makes the family (any mma atom, warps,
// slabs of a ring, cp.async, ldmatrix, Swizzle<B,4,3>); a fault is one field of it.
#pragma once
#include "model/ir/names.h"

typedef enum TensorFault {
  TENSOR_SOUND,
  ROW_OFF,            // ldmatrix of A: each lane addresses the row after its own
  MATRIX_OFF,         // ldmatrix of A: each lane addresses its row of the next matrix
  ROW_SHIFTED,        // ldmatrix of A: addresses one element to the right
  ROW_BEYOND,         // ldmatrix of A: the last row addressed lies outside of the slab
  NO_TRANS,           // ldmatrix of B as it lies
  HALF_LOADS,         // ldmatrix of A by half a warp
  HALF_MULTIPLIES,    // mma without lane 31
  INSIDE_REGISTER,    // ldmatrix of A to registers from value 1 on
  READ_UNSWIZZLED,    // A is stored swizzled and read as if it were not
  FOLDED_LAYOUT,      // the layout of A puts every second chunk onto the one before
  FRAGMENTS_SWAPPED,  // mma takes the other fragment of A
  VALUES_SWAPPED,     // direct loads of A: rows 8 apart come in the wrong order
  NO_FILL_BARRIER,
  NO_COPY_WAIT,
  UNGUARDED_TAIL,  // the ring goes on being filled behind the last slab
  WRONG_ACC,       // the accumulators' buffer is of another type than the atom's
  NARROW_COPY,     // cp.async of 2 bytes
} TensorFault;

typedef struct TensorRecipe {
  const char *atom;  // "m16n8k16.f16", "m16n8k16.f16.f16"
  int64_t m, n, k;
  int wm, wn, fm, fn;  // warps, atoms of each
  int bk;              // atoms of a slab; 0: fragments come straight from global memory
  int slabs;           // of the ring; more than one: by cp.async
  bool async;
  bool ldmatrix_a, ldmatrix_b;
  int swizzle;  // B of Swizzle<B,4,3>; 0: none
  DType out;
  TensorFault fault;
} TensorRecipe;

// recipe_use() says where.
Program *tensor_build(const TensorRecipe *recipe);
