// load, multiply → the next k-step's values are read while this one's are multiplied.
//
// Requires: stage. Ensures: fragments are [2][…]; the first k-step of a slab is read in front of the
// k_i loop; inside, step k_i + 1 is read into the other half before step k_i is multiplied; the k_i
// loop is unrolled whole, because the half (k_i mod 2) must be known when registers are named.
//
// Worked example, BK = 16: 16 reads of a and b as before, but the multiply of step 5 no longer waits
// for the read of step 5: that was issued before the multiply of step 4.
#include "model/passes.h"

static const KnobId knob = KNOB_FRAG_BUFFER;

bool pass_fragment_buffer_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_FRAG_BUFFER] == 2 && schedule->value[KNOB_STAGE] != 0;
}

static bool is_fragment(const Buffer *buffer) {
  return buffer->role == ROLE_FRAG_A || buffer->role == ROLE_FRAG_B;
}

static void add_halves(Buffer *fragment) {
  fragment->dim[1] = fragment->dim[0];
  fragment->stride[1] = 1;
  fragment->dim[0] = 2;
  fragment->stride[0] = fragment->dim[1];
  fragment->rank = 2;
  fragment->knob = knob;
}

static void index_half(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  if (!is_fragment(access->buffer)) return;
  access->idx[1] = access->idx[0];
  access->idx[0] = context;
}

static Stmt *reads_at(Program *program, const Stmt *reads, const Stmt *k_i, const Expr *step) {
  Stmt *copy = copy_list(program, reads);
  substitute(program, copy, k_i->var, step);
  return copy;
}

void pass_fragment_buffer(Program *program, const Schedule *schedule) {
  (void)schedule;
  Arena *arena = program->arena;
  Kernel *kernel = main_kernel(program);
  Stmt *k_i = find_tier(kernel->body, TIER_STAGE_INNER);
  for (int i = 0; i < program->n_buffers; i++)
    if (is_fragment(program->buffer[i])) add_halves(program->buffer[i]);
  const Expr *half = ex_mod(arena, ex_var(arena, k_i->var), 2);
  each_access(k_i->body, index_half, (void *)(uintptr_t)half);
  Stmt *a = cut(find_link(&k_i->body, OP_LOAD, ROLE_FRAG_A));
  Stmt *b = cut(find_link(&k_i->body, OP_LOAD, ROLE_FRAG_B));
  Stmt *reads = stmt_list(a, b, NULL);
  k_i->unroll = UNROLL_FULL;
  Stmt *k_o = find_tier(kernel->body, TIER_SERIAL_OUTER);
  Stmt **link = find_link(&k_o->body, OP_FMA, ROLE_COUNT);
  insert(link, reads_at(program, reads, k_i, ex_const(arena, 0)));
  const Expr *next = ex_add_const(arena, ex_var(arena, k_i->var), 1);
  const Expr *some = ex_lt(arena, next, ex_const(arena, k_i->var->extent));
  if (expr_is_const(some, 0)) return;
  Var *var = program_var(program, "k_j", VAR_LET, TIER_STAGE_INNER, k_i->var->extent);
  Stmt *body = stmt_let(program, knob, var, next);
  body->next = reads_at(program, reads, k_i, ex_var(arena, var));
  insert(&k_i->body, stmt_if(program, knob, some, body));
}
