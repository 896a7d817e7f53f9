// Registers that change hands: setmaxnreg.
//
// A block starts with a share of the register file, as much for each thread (start_registers). A
// warp that gives some back puts them into the block's pool; one that takes more waits until the
// pool has them. No value moves, so all that can go wrong is to wait for ever, or to give what one
// has not. Worked example, 8 consumer and 4 producer warps that start with 168 for each thread:
//   4 warps keep 40      the pool has 4 · 32 · 128 = 16,384
//   8 warps take 232     8 · 32 · 64 = 16,384: the last one finds just what it needs
#include "model/interp/interp_machine.h"

void interp_start_registers(Machine *m, Warp *w) {
  const Kernel *kernel = &m->program->kernel[m->kernel];
  w->registers = start_registers(m->code->launch.block_threads, kernel->min_blocks);
  m->free_registers = 0;
}

static int64_t wanted(const Warp *w, const Code *code) {
  return (code->stmt->op.count - w->registers) * LANES;
}

bool interp_may_take(const Machine *m, const Warp *w, const Code *code) {
  return wanted(w, code) <= m->free_registers;
}

// A warp that has to wait stands before the statement and comes back to it.
void interp_run_registers(Machine *m, Warp *w, const Code *code) {
  bool gives = op_facts(code->stmt->op.kind)->action == ACTION_GIVE;
  if (w->alive & ~w->active)
    interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                  "changes the registers of a warp that is not all there");
  if (gives != (wanted(w, code) <= 0))
    interp_report(m, FINDING_OPERAND, w, lowest_lane(w->active), code->stmt, NULL, 0,
                  "has %lld registers and %s %lld", (long long)w->registers,
                  gives ? "is to keep" : "takes", (long long)code->stmt->op.count);
  if (!interp_may_take(m, w, code)) {
    w->state = WARP_AT_MBARRIER;
    w->pc--;
    return;
  }
  m->free_registers -= wanted(w, code);
  w->registers = code->stmt->op.count;
}

void interp_report_registers(Machine *m, const Warp *w, const Code *code) {
  interp_report(
      m, FINDING_DEADLOCK, w, -1, code->stmt, NULL, 0,
      "warp %d waits for %lld registers in each thread where it has %lld; %lld of the block "
      "are free, and it needs %lld",
      w->index, (long long)code->stmt->op.count, (long long)w->registers,
      (long long)m->free_registers, (long long)wanted(w, code));
}
