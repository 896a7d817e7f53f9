// load, multiply → the next k-step's values are read while this one's are multiplied.
//
// Requires: stage. Ensures: fragments are [2][…]; inside the k_i loop, step k_i + 1 is read into
// the other half before step k_i is multiplied; the loop is unrolled whole, because the half (k_i
// mod 2) must be known when registers are named. Preserves: what is multiplied with what.
//
// Within a slab: the first k-step is read in front of the k_i loop. Worked example, BK = 16: the
// multiply of step 5 no longer waits for the read of step 5, which was issued before the multiply
// of step 4.
//
// Across slabs, where the pipelined body ends in a barrier and BK is even: the last multiply moves
// behind the barrier, and between the two the first k-step of the next slab is read. No multiply of
// the main loop then waits for shared memory. A wait for the slab's bytes goes with its first
// reads: it moves in front of the loop, and for the next slab behind the barrier, or behind the
// arrival that takes its place where warps have roles.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_FRAG_BUFFER;

bool pass_fragment_buffer_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_FRAG_BUFFER] == 2 && schedule->value[KNOB_STAGE] != 0;
}

void fragment_add_sets(Buffer *fragment, int64_t n) {
  int64_t elements = buffer_elements(fragment);
  for (int d = fragment->rank; d > 0; d--) {
    fragment->dim[d] = fragment->dim[d - 1];
    fragment->stride[d] = fragment->stride[d - 1];
  }
  fragment->dim[0] = n;
  fragment->stride[0] = elements;
  fragment->rank++;
}

typedef struct Sets {
  const Buffer *fragment;
  const Expr *set;
} Sets;

static void index_set(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const Sets *sets = context;
  if (access->buffer != sets->fragment) return;
  for (int d = access->buffer->rank - 1; d > 0; d--) access->idx[d] = access->idx[d - 1];
  access->idx[0] = sets->set;
}

void fragment_index_sets(Stmt *list, const Buffer *fragment, const Expr *set) {
  Sets sets = {fragment, set};
  stmt_each_access(list, index_set, &sets);
}

// `list` for the iteration behind this one where the loop comes to that; NULL when it never does. A
// part of a tile that is split has fewer slabs than the loop may have.
static Stmt *if_next(Program *program, const Stmt *list, const Stmt *loop, const char *name) {
  Arena *arena = program->arena;
  const Var *var = loop->var;
  const Expr *next = ex_add_const(arena, ex_var(arena, var), 1);
  const Expr *some = ex_lt(arena, next, stmt_loop_end(arena, loop));
  if (expr_is_const(some, 0)) return NULL;
  Var *let = program_var(program, name, VAR_LET, var->tier, var->extent);
  Stmt *body = stmt_let(program, knob, let, next);
  body->next = stmt_copy_for(program, list, var, ex_var(arena, let));
  return stmt_if(program, knob, some, body);
}

// "k_j": the step ahead.
static const char *step_ahead(Program *program, const Product *product) {
  return axis_digit_name(program, product->axis[AXIS_K], "_j");
}

static void within_slab(Program *program, const Product *product, Stmt *k_o, Stmt *k_i,
                        const Stmt *reads) {
  const Expr *first = ex_const(program->arena, 0);
  Stmt **link = stmt_find_multiply(product, &k_o->body);
  stmt_insert(link, stmt_copy_for(program, reads, k_i->var, first));
  stmt_insert(&k_i->body, if_next(program, reads, k_i, step_ahead(program, product)));
}

// Tells what the last step's copy of the body never comes to: factors that came with an earlier
// step.
static void drop_never(Stmt **link) {
  while (*link)
    if ((*link)->kind == STMT_IF && expr_is_const((*link)->expr, 0))
      stmt_cut(link);
    else
      link = &(*link)->next;
}

// k_i runs to BK - 1; then the barrier, the first reads of the next slab, the last multiply.
static void across_slabs(Program *program, Stmt *k_o, Stmt *k_i, const Stmt *reads) {
  Arena *arena = program->arena;
  const Var *step = k_i->var;
  const Expr *first = ex_const(arena, 0);
  Stmt *first_reads = stmt_copy_for(program, reads, step, first);
  Stmt **wait = stmt_find_link(&k_o->body, OP_MBAR_WAIT, ROLE_FULL);
  if (wait) stmt_insert(&first_reads, stmt_cut(wait));
  Stmt *last = stmt_copy_for(program, k_i->body, step, ex_const(arena, step->extent - 1));
  drop_never(&last);
  k_i->var = program_var(program, step->name, VAR_LOOP, step->tier, step->extent - 1);
  const Expr *now = ex_var(arena, k_i->var);
  stmt_substitute(program, k_i->body, step, now);
  stmt_insert(&k_i->body, stmt_copy_for(program, reads, step, ex_add_const(arena, now, 1)));
  Stmt *ahead = if_next(program, first_reads, k_o, "k_n");
  Stmt *tail = stmt_last(k_o->body);
  stmt_insert(&tail->next, last);
  stmt_insert(&tail->next, ahead);
  Stmt **link = &kernel_inner(program_main_kernel(program))->body;
  while (*link != k_o) link = &(*link)->next;
  stmt_insert(link, stmt_copy_for(program, first_reads, k_o->var, first));
}

void pass_fragment_buffer(Program *program, Product *product, const Schedule *schedule) {
  Stmt *k_o = program_slab_loop(program);
  Stmt *k_i = stmt_find_steps(product, k_o->body);
  const Expr *half = ex_mod(program->arena, ex_var(program->arena, k_i->var), 2);
  Stmt *reads = NULL;
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    if (!operand_slab(program, product, operand)) continue;  // it is in registers already
    Buffer *fragment = program_buffer(program, product->operand[operand].registers);
    fragment_add_sets(fragment, 2);
    fragment->knob = knob;
    fragment_index_sets(k_i->body, fragment, half);
    Stmt *read = stmt_cut(stmt_find_read(product, (AtomOperand)operand, &k_i->body));
    stmt_insert(reads ? &stmt_last(reads)->next : &reads, read);
  }
  k_i->unroll = UNROLL_FULL;
  const Stmt *tail = stmt_last(k_o->body);
  bool meets = tail->op.kind == OP_BARRIER && schedule->value[KNOB_PIPELINE_STAGES];
  bool arrives = tail->op.kind == OP_MBAR_ARRIVE;
  if (tail->kind == STMT_OP && (meets || arrives) && k_i->var->extent % 2 == 0)
    across_slabs(program, k_o, k_i, reads);
  else
    within_slab(program, product, k_o, k_i, reads);
}
