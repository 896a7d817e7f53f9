// Tells what a warp has asked of the tensor core in the background, and the registers that are busy
// with it.
//
// A wgmma belongs to the group that the next commit closes. Until a wait has seen that group end,
// its sums, and the fragment of A where it is in registers, belong to the tensor core: a warp that
// touches them finds anything. And what a warp did to registers itself is known to a later wgmma
// only behind a fence, and so is the first wgmma of all; sums of one shape in a row need none (PTX
// ISA, wgmma: Async Proxy, wgmma.fence).
//
// Worked example, serial numbers in front:
//   7  acc[0] = 0        touched[acc] = 7
//      wgmma.fence       fence = 8
//      wgmma acc         7 < 8: fine; busy_until[acc] = group 0
//      store acc         group 0 has not completed: missing wait
#include <string.h>

#include "base/hash.h"
#include "model/interp/interp_machine.h"

void tensor_start(const Machine *m, Warp *w) {
  TensorQueue *queue = w->tensor;
  size_t rows = (size_t)m->n_rows;
  memset(queue->touched, 0, sizeof *queue->touched * rows);
  memset(queue->busy_until, 0, sizeof *queue->busy_until * rows);
  queue->n = 0;
  queue->serial = 1;
  queue->fence = 0;  // the first wgmma of all needs one, even with untouched registers
  queue->issued = HASH_START;
}

static bool tensor_is_busy(const Warp *w, int row) {
  const uint32_t until = w->tensor->busy_until[row];
  return until && !order_group_is_over(&w->groups->products, until - 1);
}

void tensor_touch(Machine *m, const Warp *w, const Code *code, const Operand *operand,
                  const Registers *at) {
  TensorQueue *queue = w->tensor;
  int n = operand->width * at->rows;
  bool busy = false;
  for (int i = 0; i < n; i++) {
    busy = busy || tensor_is_busy(w, at->first + i);
    queue->touched[at->first + i] = queue->serial;
  }
  if (busy)
    interp_report(m, FINDING_MISSING_WAIT, w, -1, code->stmt, operand->buffer, at->at,
                  "warp %d uses registers of a wgmma in flight, with no wait for its group",
                  w->place);
}

void tensor_end(Machine *m, Warp *w) {
  const TensorQueue *queue = w->tensor;
  if (queue->n == 0) return;
  const Code *code = &m->code->code[queue->item[0].code];
  interp_report(m, FINDING_MISSING_WAIT, w, -1, code->stmt, code->dst.buffer, 0,
                "warp %d ends without a wait for its wgmma", w->place);
}

// The four warps of a warpgroup carry out one instruction together, so all must have asked for the
// same ones.
void tensor_compare_warps(Machine *m) {
  enum { WARPS = 4 };
  for (int i = 0; i < m->n_warps; i++) {
    const Warp *w = &m->warp[i], *first = w - w->place % WARPS;
    if (w->tensor->issued == first->tensor->issued) continue;
    interp_report(m, FINDING_DIVERGENCE, w, -1, NULL, NULL, 0,
                  "warp %d of a warpgroup has asked for other tiles than warp %d", w->place,
                  first->place);
  }
}
