// a slab's copies in one heap → a share of them beside each k-step.
//
// Requires: pipeline with cp.async. Ensures: the copies of the slab ahead stand inside the k_i
// loop, behind the reads of a step and in front of its multiply, an equal share in each of the
// COPY_STEPS steps from COPY_FROM on; each carries its condition itself (a predicate, not a
// branch); the commit follows the k_i loop, which is unrolled whole. Preserves: which copies make a
// group, and the barrier before them: a slot is still written only after everybody has left it.
//
// Why: ldmatrix may not overtake a cp.async that stands before it, both touch shared memory. With
// all copies in front, the reads of the second k-step wait for sixteen address computations while
// the first multiply runs dry; and a branch around them splits what the assembler could interleave.
// H200, f16 at 4096³, 128 × 128 × 64: 377 TFLOP/s in one heap behind the reads, 395 in thirds.
//
// Worked example, 8 copies of A over 3 steps: 3, 3 and 2. Step k_i takes copies k_i · 3 + 0, 1, 2,
// as far as they are below 8. From step 1 on it is k_i - 1 that counts, round the n steps of a
// slab: (k_i + n - 1) mod n, so that step 0 comes last and finds no copies left.
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_COPY_STEPS;

bool pass_spread_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_COPY_STEPS] > 0 && pass_async_copy_wanted(schedule) &&
         schedule->value[KNOB_PIPELINE_STAGES];
}

// The share of one step: of `extent` copies, numbers step · share + 0 … share - 1, as far as there
// are.
static Stmt *share_of(Program *program, Stmt *copies, const Expr *step, int64_t steps) {
  Arena *arena = program->arena;
  if (copies->kind != STMT_LOOP)
    return stmt_if(program, knob, ex_lt(arena, step, ex_const(arena, 1)), copies);
  const Var *all = copies->var;
  int64_t extent = all->extent, share = ceil_div(extent, steps);
  Var *i = program_var(program, "i", VAR_LOOP, TIER_REGISTER, share);
  Var *c = program_var(program, all->name, VAR_LET, TIER_REGISTER, extent);
  const Expr *number = ex_mul_const(arena, step, share);
  if (share > 1) number = ex_add(arena, number, ex_var(arena, i));
  stmt_substitute(program, copies->body, all, ex_var(arena, c));
  Stmt *copy = stmt_list(stmt_let(program, knob, c, number), copies->body, NULL);
  const Expr *some = ex_lt(arena, number, ex_const(arena, extent));
  if (!expr_is_const(some, 1)) copy = stmt_if(program, knob, some, copy);
  return stmt_wrap_register(program, knob, i, copy);
}

// The k-step, counted from `from`, which is moved up where the slab would end before the copies.
static const Expr *first_is(Arena *arena, const Var *k_i, int64_t from, int64_t steps) {
  int64_t n = k_i->extent;
  const Expr *step = ex_var(arena, k_i);
  if (from > n - steps) from = n - steps;
  return from > 0 ? ex_mod(arena, ex_add_const(arena, step, n - from), n) : step;
}

void pass_spread(Program *program, Product *product, const Schedule *schedule) {
  Stmt *k_o = program_slab_loop(program);
  Stmt *k_i = *stmt_find_multiply(product, &k_o->body);
  Stmt **ahead_link = stmt_find_link(&k_o->body, OP_CP_ASYNC, ROLE_COUNT);
  if (!ahead_link) return;  // K is so short that the prologue has fetched it all
  if (k_i->kind != STMT_LOOP || k_i->var->tier != TIER_STAGE_INNER)
    return;  // an order without steps
  Stmt *ahead = stmt_cut(ahead_link);
  stmt_insert(&k_i->next, stmt_cut(stmt_find_link(&k_o->body, OP_CP_COMMIT, ROLE_COUNT)));
  int64_t steps = schedule->value[KNOB_COPY_STEPS];
  if (steps > k_i->var->extent) steps = k_i->var->extent;
  const Expr *step = first_is(program->arena, k_i->var, schedule->value[KNOB_COPY_FROM], steps);
  Stmt *heaps = ahead->body->next;  // behind the LET of the slab's number
  ahead->body->next = NULL;
  while (heaps) {
    Stmt *heap = stmt_cut(&heaps);
    stmt_last(ahead->body)->next = share_of(program, heap, step, steps);
  }
  ahead->predicated = true;
  ahead->knob = knob;
  ahead->note = "this step's share of the copies of a slab ahead";
  stmt_insert(stmt_find_multiply(product, &k_i->body), ahead);
  k_i->unroll = UNROLL_FULL;
}
