// All warpgroups asking at the same time → one after the other (FlashAttention-3: ping-pong).
//
// Without turns the warpgroups of a block wait for the same slab and ask for their scores at the
// same time. The tensor core serves them alternately, so all of them end late and together, and
// then all of them weigh while the tensor core is idle.
//
// order[w] has a phase for each block of keys, which ends when all warps of warpgroup w have asked.
// A warpgroup asks when the one before it has asked for the same block; the first one asks when the
// last one has asked for the block before.
//
// Worked example, three warpgroups:
//   wait order[2] phase 1 (0 for the others: order[w - 1]); fence; wgmma …; commit; arrive order[w]
#include "model/passes/attention/asking_turns.h"

#include "model/ir/find_op.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

static const KnobId knob = KNOB_ROLE_SCHEDULE;

AskingTurns asking_turns(Program *program, const Stmt *walk, const Schedule *schedule) {
  if (schedule->value[knob] != ROLES_PINGPONG) return (AskingTurns){NULL, NULL};
  Arena *arena = program->arena;
  const Product *scores = &program->product[0];
  const Var *group = axis_digit(scores->axis[AXIS_M], TIER_WARP)->var;
  const int64_t groups = group->extent;
  Buffer *order = program_new_buffer(program, "order", SPACE_BARRIER, ROLE_ORDER, 1, &groups, knob);
  Stmt *of_one_thread = kernel_block(program_main_kernel(program))->body;
  tma_add_inits(of_one_thread, tma_build_inits(program, order, atom_warps(scores->atom), knob));
  const Expr *own = ex_var(arena, group), *first = ex_lt(arena, own, ex_const(arena, 1));
  const Expr *before = ex_mod(arena, ex_add_const(arena, own, groups - 1), groups);
  const Expr *phase = ex_mod(arena, ex_add(arena, ex_var(arena, walk->var), first), 2);
  Op wait = {.kind = OP_MBAR_WAIT, .dst = access1(order, before), .phase = phase};
  Op arrive = {.kind = OP_MBAR_ARRIVE, .dst = access1(order, own)};
  Stmt *begin = stmt_op(program, knob, wait);
  begin->note = "the warpgroup before has asked for its products";
  return (AskingTurns){begin, stmt_op(program, knob, arrive)};
}

void ask_for_scores_in_turns(Program *program, Stmt *walk, const Schedule *schedule) {
  const AskingTurns turns = asking_turns(program, walk, schedule);
  if (!turns.begin) return;
  stmt_insert(stmt_find_link(&walk->body, OP_WG_FENCE, ROLE_COUNT), turns.begin);
  stmt_insert(&(*stmt_find_link(&walk->body, OP_WG_COMMIT, ROLE_COUNT))->next, turns.end);
}
