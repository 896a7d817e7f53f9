// One block, event after event, for a reader that compares another reading with what happens.
#include "model/interp/interp_machine.h"

static bool is_watched(const Machine *m) {
  return m->watch->kernel == m->kernel && m->watch->block == m->block;
}

// The words in which a cluster keeps the number of its list, and a block where its tensor memory
// is, lie among mbarriers and are none.
static bool is_mbarrier(const Buffer *buffer) {
  return buffer && buffer->space == SPACE_BARRIER && buffer->role != ROLE_LIST &&
         buffer->role != ROLE_TENSOR_BASE;
}

static const Operand *mbarrier_of(const Code *code) {
  const Operand *operand[] = {&code->dst, &code->src2};
  for (int i = 0; i < 2; i++)
    if (is_mbarrier(operand[i]->buffer)) return operand[i];
  return NULL;
}

static void see(const Machine *m, int warp, const Code *code, const Buffer *buffer,
                const Mbar *bar) {
  InterpSeen seen = {.warp = warp, .stmt = code->stmt, .mbarrier = buffer};
  if (bar) {
    seen.at = (int)(bar - m->memory[buffer->id].mbar);
    seen.phase = bar->order->phases.phase;
    seen.pending = bar->order->phases.pending;
    seen.bytes = bar->order->phases.bytes;
  }
  m->watch->see(m->watch->context, &seen);
}

void watch_op(const Machine *m, const Warp *w, const Code *code) {
  if (!is_watched(m)) return;
  const Operand *operand = mbarrier_of(code);
  int64_t at = operand ? interp_scalar(w, &operand->offset) : 0;
  bool inside = operand && at >= 0 && at < m->memory[operand->buffer->id].elements;
  see(m, w->index, code, operand ? operand->buffer : NULL,
      inside ? &m->memory[operand->buffer->id].mbar[at] : NULL);
}

void watch_landing(const Machine *m, const Code *code, const Mbar *bar) {
  const Operand *operand = mbarrier_of(code);
  if (is_watched(m)) see(m, -1, code, operand->buffer, bar);
}
