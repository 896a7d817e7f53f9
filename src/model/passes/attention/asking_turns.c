// All warpgroups asking at the same time → one after the other (FlashAttention-3: ping-pong).
//
// Without turns the warpgroups of a block wait for the same slab and ask for their scores at the
// same time. The tensor core serves them alternately, so all of them end late and together, and
// then all of them weigh while the tensor core is idle.
//
// Warpgroup w asks when it has met, at a named barrier of its own, the arrival of the warpgroup
// before it, which arrives when it has asked. The last one arrives once in front of all blocks of
// keys, so that the first one may begin.
//
// Named barriers, not mbarriers: a warp that waits at one takes no issue slots, and one instruction
// arrives for a warp. On an H200 (2026-11-29, 64 heads, 4,096 keys, 128 columns, exported kernels)
// turns by bar.sync and bar.arrive made 580 and 594 TFLOP/s of 573 and 583, turns by mbarriers 553.
//
// Worked example, three warpgroups, of which barriers 13, 14 and 15 are:
//   in front      warpgroup 2: barrier.arrive 13
//   each block    warpgroup w: barrier 13 + w of 256 threads; fence; wgmma …; commit;
//                              barrier.arrive 13 + (w + 1) % 3 of 256 threads
#include "model/passes/attention/asking_turns.h"

#include "model/ir/find_op.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

static const KnobId knob = KNOB_ROLE_SCHEDULE;

// The threads of two warpgroups: one waits, the other has arrived.
static Op op_at_barrier(OpKind kind, const Product *scores, const Expr *id) {
  return (Op){.kind = kind, .id = id, .threads = 2 * atom_warps(scores->atom) * LANES};
}

// The barriers are the last ones of the block: other passes number theirs from the first on.
AskingTurns asking_turns(Program *program, const Schedule *schedule) {
  if (schedule->value[knob] != ROLES_PINGPONG) return (AskingTurns){NULL, NULL, NULL};
  Arena *arena = program->arena;
  const Product *scores = &program->product[0];
  const Var *group = axis_digit(scores->axis[AXIS_M], TIER_WARP)->var;
  const int64_t groups = group->extent, first = BLOCK_BARRIERS - groups;
  const Expr *own = ex_var(arena, group);
  const Expr *next = ex_mod(arena, ex_add_const(arena, own, 1), groups);
  const Op wait = op_at_barrier(OP_BARRIER, scores, ex_add_const(arena, own, first));
  const Op arrive = op_at_barrier(OP_BARRIER_ARRIVE, scores, ex_add_const(arena, next, first));
  const Op let_begin = op_at_barrier(OP_BARRIER_ARRIVE, scores, ex_const(arena, first));
  AskingTurns turns = {
      .first = stmt_if(program, knob, ex_lt(arena, ex_const(arena, groups - 2), own),
                       stmt_op(program, knob, let_begin)),
      .begin = stmt_op(program, knob, wait),
      .end = stmt_op(program, knob, arrive),
  };
  turns.first->note = "the first warpgroup may ask";
  turns.begin->note = "the warpgroup before has asked for its products";
  turns.end->note = "the next one may ask";
  return turns;
}

void ask_for_scores_in_turns(Program *program, Stmt *walk, const Schedule *schedule) {
  const AskingTurns turns = asking_turns(program, schedule);
  if (!turns.begin) return;
  stmt_insert(stmt_find_link(&walk->body, OP_WG_FENCE, ROLE_COUNT), turns.begin);
  stmt_insert(&(*stmt_find_link(&walk->body, OP_WG_COMMIT, ROLE_COUNT))->next, turns.end);
  asking_turns_begin(program, walk, &turns);
}

void asking_turns_begin(Program *program, const Stmt *walk, const AskingTurns *turns) {
  stmt_insert(stmt_link_to(&kernel_inner(program_main_kernel(program))->body, walk), turns->first);
}
