// Blocks of queries from the first to the last → from the last to the first.
//
// Requires: fuse, a causal mask. Ensures: q_b is a LET over a BLOCK loop g, down from the last one;
// heads stay outermost, so that blocks that run together share K and V in L2. Preserves: which
// blocks there are.
//
// Blocks start in the order of their numbers, each as soon as one before it is done. Worked
// example, one head, 8 blocks of 1 … 8 blocks of keys, on 4 SMs: in that order the SMs are done
// after 1 + 5, 2 + 6, 3 + 7 and 4 + 8 = 12 blocks of keys, from the longest on after 8 + 1, 7 + 2,
// 6 + 3, 5 + 4 = 9.
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_TILE_ORDER;

bool pass_longest_first_wanted(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  return v[KNOB_TILE_ORDER] == ORDER_LONGEST && v[KNOB_CAUSAL] && pass_fuse_wanted(schedule);
}

void pass_longest_first(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Arena *arena = program->arena;
  Var *q = product->axis[AXIS_M]->digit[0].var;
  Stmt **link = &program_main_kernel(program)->body;
  while ((*link)->var != q) link = &(*link)->body;
  Stmt *inside = (*link)->body;
  Var *g = program_var(program, "g", VAR_LOOP, TIER_BLOCK, q->extent);
  const Expr *down = ex_sub(arena, ex_const(arena, q->extent - 1), ex_var(arena, g));
  Stmt *let = tile_let_digit(program, knob, q, down);
  let->next = inside;
  *link = stmt_loop(program, knob, g, let);
}
