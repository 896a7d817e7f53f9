// Tensor memory of a block, for run_tcgen05.c and tmem_order.c.
#pragma once
#include "model/ir/buffer.h"
#include "model/ir/names.h"
#include "ptx/run/run.h"

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
