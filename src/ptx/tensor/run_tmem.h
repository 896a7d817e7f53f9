// Tensor memory of a block, and the products that tcgen05.mma puts there.
#pragma once
#include "banks/layouts/instruction_descriptor.h"
#include "model/ir/buffer.h"
#include "model/ir/names.h"
#include "model/words/sparse.h"
#include "ptx/run/run_access.h"
#include "ptx/tensor/run_tile.h"

enum { TMEM_UNITS = TENSOR_COLUMNS / TENSOR_COLUMNS_LEAST };

struct PtxTmem {
  uint32_t bits[TENSOR_LANES][TENSOR_COLUMNS];
  bool unknown[TENSOR_LANES][TENSOR_COLUMNS];
  OrderPlace (*place)[TENSOR_COLUMNS];  // [TENSOR_QUARTERS]
  uint8_t had[TMEM_UNITS];              // where an allocation begins: its units of 32 columns
  uint32_t taken;                       // units
  bool gave_up;
  int alloc_pc;
};

// Columns of some quarters, as bits, that an instruction is at.
typedef struct PtxTmemReach {
  uint32_t quarters;
  int column, n;
  uint32_t product;  // 0: by ld or st
  PtxBlock *block;   // the block with the tensor memory; NULL: the warp's own
} PtxTmemReach;

static inline PtxTmem *ptx_tmem_of(const PtxWarp *w, const PtxTmemReach *reach) {
  return (reach->block ? reach->block : w->block)->tmem;
}
// False after a finding that ends the block: not all of them are allocated.
bool ptx_tmem_has(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach);
void ptx_tmem_read(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach);
// Gives columns back: a warp that may still be at them is told. A barrier is enough, no fence is
// asked.
void ptx_tmem_free(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach);
void ptx_tmem_write(PtxMachine *m, PtxWarp *w, uint32_t lane, const PtxTmemReach *reach);

// ---- a tcgen05.mma, laid out, and one that a thread has asked for -------------------------------

enum { PTX_T_N = 256, PTX_T_K = 128 };  // K of a sparse product of 4 bits

// Holds what an instruction descriptor comes to, for one kind.
typedef struct PtxProduct {
  InstructionDescriptor descriptor;
  bool pair, is_sparse, stationary;
  int m, n, k, stored_k;      // M of all, k of B, k of A as it lies in memory
  int element_bytes[2];       // of A and B as tiles have them
  PtxTilePacking packing[2];  // of elements of 4 and 6 bits
  PtxType type[2], d;
  bool trans[2];
  double sign;
  int factors;          // of a row along K; 0: no block scaling
  PtxType factor;       // their type
  SparseMeta meta;      // of a sparse A
  const char *why;      // it is not run; NULL
  const char *unknown;  // why D is not known; NULL: it is
  struct PtxProduct *next;
} PtxProduct;

// Operands of the instruction, by the form that it has.
typedef struct PtxAsked {
  PtxMachine *m;
  PtxWarp *w;
  const PtxInst *i;
  const PtxProduct *p;
  uint32_t lane;
  int column;  // of D
  bool adds;
  double scale;              // of D as it was
  const PtxGroup *disabled;  // NULL: no mask
  // [col][k], [k][row], [col][row]; B of both CTAs of a pair, and times the factors of one of them
  double b[PTX_T_K * PTX_T_N], a[PTX_T_K * TENSOR_LANES], d[PTX_T_N * TENSOR_LANES];
  double scaled_b[PTX_T_K * PTX_T_N];
} PtxAsked;

static inline int ptx_product_rows(const PtxProduct *p) { return p->pair ? p->m / 2 : p->m; }
// The operand with the instruction descriptor.
static inline int ptx_product_idesc(const PtxInst *i) { return ptx_has(i, PTX_MOD_sp) ? 4 : 3; }

// How many factors a row of A has; 0 where the instruction says no number that its kind has.
int ptx_product_factors(const PtxInst *i);
// A times its factors, and B times its own as scaled_b, which tensor memory of `block` has; false
// after a finding.
bool ptx_product_scale(PtxAsked *q, PtxBlock *block);
// A as it is stored → A, by metadata in tensor memory of `block`; false after a finding.
bool ptx_product_spread(PtxAsked *q, PtxBlock *block);
