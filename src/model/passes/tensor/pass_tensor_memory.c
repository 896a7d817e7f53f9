// A commit and a wait for each step → one for each slab.
//
// Requires: stage, an atom of one thread. Ensures: the thread that asks goes through the steps of a
// slab by itself and commits once, behind them; the others wait once. Preserves: which products are
// asked for, in which order.
//
// Scale factors are copied for the whole slab, in front of its first product (tensor_factors.c).
//
// Worked example, BK = 4 atoms of 16: four products of 128 x 256 x 16 are under way together, and
// the phase of acc_full that slab k_o ends is k_o % 2.
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/tensor/tensor_factors.h"
#include "model/words/schedule_atom.h"

static const KnobId knob = KNOB_ATOM_KIND;

bool pass_tensor_memory_wanted(const Schedule *schedule) {
  return atom_is_of_thread(schedule_atom_row(schedule)) && schedule->value[KNOB_STAGE] != 0;
}

void pass_tensor_memory(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Arena *arena = program->arena;
  Stmt *k_o = program_slab_loop(program), **link = stmt_find_multiply(product, &k_o->body),
       *k_i = stmt_cut(link);
  Stmt *asks = stmt_cut(stmt_find_multiply(product, &k_i->body)),
       *wait = stmt_cut(&k_i->body);  // no barrier: a slab has one
  Stmt *commit = stmt_cut(stmt_find_link(&asks->body, OP_T_COMMIT, ROLE_ACC_FULL));
  const Expr *step = ex_add(arena, ex_var(arena, k_o->var), ex_var(arena, k_i->var));
  stmt_find_op(asks->body, OP_T_MMA, ROLE_SUMS)->op.enable_input_d =
      ex_lt(arena, ex_const(arena, 0), step);
  Stmt *copies = tensor_factors_of_slab(program, product, &asks->body, k_i);
  k_i->body = asks->body;
  k_i->unroll = UNROLL_FULL;
  asks->body = stmt_list(k_i, commit, NULL);
  stmt_insert(&asks->body, copies);
  wait->op.phase = ex_mod(arena, slab_counter(program, k_o->var), 2);
  commit->knob = wait->knob = knob;
  stmt_insert(link, stmt_list(asks, wait, NULL));
}
