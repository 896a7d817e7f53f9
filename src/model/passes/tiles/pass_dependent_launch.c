// zero, matmul → zero, matmul dependent: it is launched early, and waits for zero.
//
// Requires: more than one kernel. Ensures: every kernel but the first is launched with programmatic
// stream serialization, and griddepcontrol.wait stands in front of its first statement that runs.
// Preserves: what each kernel computes, and that each sees all that the one in front of it wrote.
//
// Without it a kernel begins when the one in front has ended, its memory has been flushed and the
// launch has been processed, one after the other. With it the launch is over by then. Worked
// example, 64 x 4096 x 14336 bf16 with SPLITK=2 and partial sums, exported (NVIDIA H200, driver
// 580.159.04, 2026-11-28): the product alone 32.0 us, with `reduce` behind it 35.2 us, with
// `reduce` launched early 33.4 us. A thread waits before it does anything else: all that could be
// done before is an address or two.
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/knob.h"

bool schedule_has_kernels(const Schedule *schedule) {
  const bool attention = schedule->value[KNOB_PROGRAM] == COMPUTES_ATTENTION;
  return pass_split_k_wanted(schedule) || pass_tail_split_wanted(schedule) ||
         pass_split_f32_wanted(schedule) || (attention && !schedule->value[KNOB_FUSE]);
}

bool pass_dependent_launch_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_DEPENDENT_LAUNCH] && schedule_has_kernels(schedule);
}

static bool goes_parallel(const Stmt *stmt) {
  return stmt->kind == STMT_LOOP && tier_is_hardware(stmt->var->tier);
}

static void wait_first(Program *program, Kernel *kernel) {
  Stmt **link = &kernel->body;
  while (*link && ((*link)->kind == STMT_LET || goes_parallel(*link)))
    link = (*link)->kind == STMT_LET ? &(*link)->next : &(*link)->body;
  Stmt *wait = stmt_op(program, KNOB_DEPENDENT_LAUNCH, (Op){.kind = OP_GRID_WAIT});
  wait->next = *link;
  *link = wait;
}

void pass_dependent_launch(Program *program, Product *product, const Schedule *schedule) {
  (void)product;
  (void)schedule;
  for (int i = 1; i < program->n_kernels; i++) {
    program->kernel[i].dependent = true;
    wait_first(program, &program->kernel[i]);
  }
}
