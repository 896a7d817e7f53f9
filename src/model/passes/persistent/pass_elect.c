// if thread == 160 → if thread == 160, elected.
//
// Requires: TMA, or an atom that one thread issues. Ensures: wherever one lane of a warp issues a
// copy by TMA, a product of tcgen05, a commit, or an mbarrier's expect, elect.sync says which lane
// that is. Preserves: the number of threads that run each statement, and their warps.
//
// Why: a copy by TMA or a product of tcgen05 is an instruction of the warp, whose operands are
// uniform registers. Behind `threadIdx.x == 160` ptxas cannot know that one lane alone is left, and
// makes a loop around each of them that runs once for every active lane. Behind elect.sync it
// knows. Rung blackwell/roles, sm_100a, CUDA 13.0: 143 such loops (BRA.U.ANY), and none.
#include "model/passes/passes.h"

#include "model/ir/elect.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/words/schedule_atom.h"

bool pass_elect_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_ELECT] &&
         (pass_tma_wanted(schedule) || atom_is_of_thread(schedule_atom_row(schedule)));
}

static void note_issue(Stmt *stmt, int depth, void *issues) {
  (void)depth;
  if (stmt->kind != STMT_OP) return;
  const OpFacts *facts = op_facts(stmt->op.kind);
  if (facts->scope == SCOPE_THREAD || facts->completes == COMPLETES_BY_BULK) *(bool *)issues = true;
}

static void elect_one(Stmt *stmt, int depth, void *context) {
  (void)depth;
  (void)context;
  if (stmt->kind != STMT_IF || stmt->role || !elect_test(stmt->expr)) return;
  stmt_walk(stmt->body, note_issue, &stmt->elects);
}

void pass_elect(Program *program, Product *product, const Schedule *schedule) {
  (void)product;
  (void)schedule;
  stmt_walk(program_main_kernel(program)->body, elect_one, NULL);
}
