// Registers that change hands: setmaxnreg.
//
// A block starts with a share of the register file, as much for each thread
// (program_start_registers). A warp that gives some back puts them into the block's pool; one that
// takes more waits until the pool has them. No value moves, so all that can go wrong is to wait for
// ever, or to give what one has not. Worked example, 8 consumer and 4 producer warps that start
// with 168 for each thread:
//   4 warps keep 40      the pool has 4 · 32 · 128 = 16,384
//   8 warps take 232     8 · 32 · 64 = 16,384: the last one finds just what it needs
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/ops/ops.h"

// ---- run ----------------------------------------------------------------------------------------

static int64_t wanted(const Warp *w, const Code *code) {
  return (code->stmt->op.registers - w->registers) * LANES;
}

static bool may_take(const Machine *m, const Warp *w, const Code *code) {
  return wanted(w, code) <= m->own->free_registers;
}

// A warp that has to wait stands before the statement and comes back to it.
static void run_registers(Machine *m, Warp *w, const Code *code) {
  bool gives = op_facts(code->stmt->op.kind)->action == ACTION_GIVE;
  if (w->alive & ~w->active)
    interp_report(m, FINDING_DIVERGENCE, w, lowest_lane(w->active), code->stmt, NULL, 0,
                  "changes the registers of a warp while lanes are missing");
  if (gives != (wanted(w, code) <= 0))
    interp_report(m, FINDING_OPERAND, w, lowest_lane(w->active), code->stmt, NULL, 0,
                  "has %lld registers and %s %lld", (long long)w->registers,
                  gives ? "must keep" : "takes", (long long)code->stmt->op.registers);
  if (!may_take(m, w, code)) {
    w->state = WARP_ASLEEP;
    w->pc--;
    return;
  }
  m->own->free_registers -= wanted(w, code);
  w->registers = code->stmt->op.registers;
}

static void report_registers(Machine *m, const Warp *w, const Code *code) {
  interp_report(
      m, FINDING_DEADLOCK, w, -1, code->stmt, NULL, 0,
      "warp %s waits for %lld registers in each thread and has %lld; the block has %lld free, "
      "and the warp needs %lld more",
      interp_warp_name(m, w->index), (long long)code->stmt->op.registers, (long long)w->registers,
      (long long)m->own->free_registers, (long long)wanted(w, code));
}

// ---- emit ---------------------------------------------------------------------------------------

static const PreludeText give = {
    "registers_give",
    "// Each thread of the warp keeps n registers and gives the others back.\n"
    "template <int n>\n__device__ __forceinline__ void registers_give() {\n"
    "  asm volatile(\"setmaxnreg.dec.sync.aligned.u32 %0;\" ::\"n\"(n));\n}\n"};
static const PreludeText take = {
    "registers_take",
    "// The warp goes on when each of its threads has n registers.\n"
    "template <int n>\n__device__ __forceinline__ void registers_take() {\n"
    "  asm volatile(\"setmaxnreg.inc.sync.aligned.u32 %0;\" ::\"n\"(n));\n}\n"};

static void emit_give(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>();", emit_given(emitter, &give), (long long)op->registers);
}

static void emit_take(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>();", emit_given(emitter, &take), (long long)op->registers);
}

const OpRules rules_REGS_GIVE = {
    .text = {.write = emit_give},
    {.run = run_registers, .may_go_on = may_take, .report_stuck = report_registers}};
const OpRules rules_REGS_TAKE = {
    .text = {.write = emit_take},
    {.run = run_registers, .may_go_on = may_take, .report_stuck = report_registers}};
