// Fragments of Q read for every block of keys → read once, in front of the loop over them.
//
// Requires: fuse, stage, an atom of one warp, FRAG_BUFFER = 1; stands behind fragment_order, so
// that there may be a set of fragments for each step already. Ensures: Q_f is [steps][…] and filled
// behind the arrival of Q's slab; the steps of the first product, unrolled whole, read K alone.
// Preserves: what is multiplied with what.
//
// Worked example, 64 queries of dimension 128 in four warps: eight steps of 4 registers are 32 of a
// thread, and of the 40 ldmatrix.x4 of a warp for 64 keys, 8 for Q and 32 for K, those 8 go.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_A_REGS;

bool pass_keep_queries_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_A_REGS] && pass_fuse_wanted(schedule) &&
         !pass_mma_groups_wanted(schedule) && pass_stage_wanted(schedule);
}

// Tells what says behind `last` that the slab is there, unless its bytes are waited for anyway.
static Stmt *slab_arrives(Program *program, const Product *product, Stmt *list, const Stmt *last) {
  const BufferRole slab = product->operand[ATOM_A].slab;
  if (stmt_find_op(list, OP_TMA_LOAD, slab)) return NULL;
  Stmt *meet = stmt_barrier(program, knob, "the slab of Q is filled");
  if (!stmt_find_op(list, OP_CP_ASYNC, slab)) return meet;
  Stmt *wait = stmt_list(stmt_op(program, knob, (Op){.kind = OP_CP_WAIT}), meet, NULL);
  if (last->kind == STMT_OP && last->op.kind == OP_CP_COMMIT) return wait;  // with the first K
  return stmt_list(stmt_op(program, knob, (Op){.kind = OP_CP_COMMIT}), wait, NULL);
}

// Cuts the read out of the statement at the link: a step of the product, or the loop that reads the
// steps of all; then the step gets the loop's variable as its own.
static Stmt *take_read(Program *program, const Product *product, Stmt **link) {
  const Var *rows = axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var;
  Stmt *loop = *link;
  if (loop->kind != STMT_LOOP || loop->var == rows) return stmt_cut(link);
  Stmt *read = stmt_cut(stmt_find_read(product, ATOM_A, &loop->body));
  Var *step = program_var(program, axis_digit_name(program, product->axis[AXIS_K], "_q"), VAR_LOOP,
                          TIER_REGISTER, loop->var->extent);
  stmt_substitute(program, read, loop->var, ex_var(program->arena, step));
  return stmt_wrap_register(program, knob, step, read);
}

void pass_keep_queries(Program *program, Product *product, const Schedule *schedule) {
  (void)product, (void)schedule;
  const Product *scores = &program->product[0];
  Stmt **front = &kernel_inner(program_main_kernel(program))->body, *list = *front;
  Stmt *walk = program_slab_loop(program), *steps = stmt_find_steps(scores, walk->body);
  Buffer *fragment = program_buffer(program, scores->operand[ATOM_A].registers);
  if (stmt_find_read(scores, ATOM_A, &steps->body)) {
    fragment_add_sets(fragment, steps->var->extent);
    fragment_index_sets(steps->body, fragment, ex_var(program->arena, steps->var));
  }
  const Stmt *last = NULL;
  for (; *front != walk; front = &(*front)->next) last = *front;
  Stmt *read = take_read(program, scores, stmt_find_read(scores, ATOM_A, &walk->body));
  Stmt *arrival = slab_arrives(program, scores, list, last);
  fragment->knob = steps->knob = knob;
  steps->unroll = UNROLL_FULL;
  stmt_insert(front, arrival ? stmt_list(arrival, read, NULL) : read);
}
