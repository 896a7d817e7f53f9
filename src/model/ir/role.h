// Where a buffer lies, and what it is for.
#pragma once
#include "model/ir/names.h"

// BARRIER: mbarriers, 8 bytes each, which lie in shared memory behind everything else. TENSOR:
// tensor memory, 128 lanes of columns of 32 bits, of which a block has what it has allocated.
typedef enum Space {
  SPACE_GLOBAL,
  SPACE_SHARED,
  SPACE_REGISTER,
  SPACE_BARRIER,
  SPACE_TENSOR,
  SPACE_COUNT
} Space;

// Tensor memory of an SM (PTX ISA, Tensor Memory): lanes and columns, of which an allocation has a
// power of two, from 32 on; a warp reaches the lanes of its quarter, 32 * (warp % 4) and up.
enum { TENSOR_LANES = 128, TENSOR_COLUMNS = 512, TENSOR_COLUMNS_LEAST = 32, TENSOR_QUARTERS = 4 };
// Columns come in powers of two: whether this number can be had, and the least that has room for
// it.
static inline bool tensor_can_allocate(int64_t columns) {
  return columns >= TENSOR_COLUMNS_LEAST && columns <= TENSOR_COLUMNS && is_power_of_two(columns);
}
static inline int64_t tensor_allocation(int64_t columns) {
  int64_t n = TENSOR_COLUMNS_LEAST;
  while (n < columns) n *= 2;
  return n;
}

// All that a buffer is for. The passes find buffers by role, never by name.
typedef enum BufferRole {
  ROLE_A,
  ROLE_B,
  ROLE_C,       // the problem's operands in global memory; of attention Q, K and O,
  ROLE_V,       // and V
  ROLE_SCORES,  // S, its weights P and their row sums, where kernels hand them on
  ROLE_WEIGHTS,
  ROLE_ROW_SUMS,
  ROLE_PARTIAL,  // split-K workspace [splits][M][N]
  ROLE_PARTS_A,
  ROLE_PARTS_B,  // parts of f32 operands, [M][parts · K] and [parts · K][N]
  ROLE_PART,     // a part in registers, on its way there
  ROLE_RUN,      // sums of a run of slabs, which a promotion adds to the accumulators
  ROLE_SLAB_A,
  ROLE_SLAB_B,  // staged tiles in shared memory
  ROLE_ACC,     // accumulators [FM][FN]
  ROLE_FRAG_A,
  ROLE_FRAG_B,  // one k-step's values of a thread
  ROLE_STAGE_A,
  ROLE_STAGE_B,  // registers on the way from global to shared
  ROLE_SLAB_C,
  ROLE_STAGE_C,  // the epilogue's staged tile, and registers on its way to C
  ROLE_FULL,
  ROLE_EMPTY,  // mbarriers, one per slot of the ring: it is filled; it is read to the end
  ROLE_ORDER,  // mbarriers, one per consumer that takes tiles by turns: it has multiplied its tile
  ROLE_SLAB_V,
  ROLE_STAGE_V,
  ROLE_FRAG_V,
  ROLE_FRAG_P,   // the weights as operand A of the second product
  ROLE_SCORE,    // sums of the first product
  ROLE_ROW_MAX,  // of each of a thread's rows: the largest score, the sum of weights,
  ROLE_ROW_SUM,
  ROLE_ROW_BASE,     // alpha times the largest score,
  ROLE_ROW_DIVISOR,  // the sum of weights that another kernel has found,
  ROLE_RESCALE,      // and what older sums are worth below a new maximum
  ROLE_LIST,         // a word behind them: the list of tiles that the cluster has claimed
  ROLE_ACC_FULL,
  ROLE_ACC_EMPTY,    // mbarriers, one per set of sums: they are whole; they have been read
  ROLE_SUMS,         // accumulators in tensor memory, which registers take on their way out
  ROLE_TENSOR_BASE,  // a word behind the mbarriers: where the block's tensor memory begins
  ROLE_TEMP,
  ROLE_SFA,
  ROLE_SFB,  // scale factors in global memory, [M][K / S] and [N][K / S],
  ROLE_FRAG_SFA,
  ROLE_FRAG_SFB,  // and those that a lane gives to its warp's atoms, a register for each
  ROLE_SLAB_SFA,
  ROLE_SLAB_SFB,    // of a slab, in shared memory, in tiles
  ROLE_TENSOR_SFA,  // and in tensor memory, [lanes][columns][4]
  ROLE_TENSOR_SFB,
  ROLE_COUNT
} BufferRole;

const char *buffer_role_name(BufferRole role);  // "slab_a"
// The words in SPACE_BARRIER: "mbarrier", or beside them the "address" of the block's tensor memory
// and the "number" of the cluster's list.
const char *buffer_barrier_word(BufferRole role);
