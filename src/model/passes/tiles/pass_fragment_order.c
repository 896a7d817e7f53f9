// A fragment of A and B per k-step → a slab's fragments in another order.
//
// Requires: atomize, stage. Ensures: FRAG_ORDER = 1, all k-steps of a slab are read before the
// first multiply; FRAG_ORDER = 2, for each row of atoms all its k-steps of A, then for each column
// all its k-steps of B, which are therefore read once per row. The k_i loop that multiplies is
// unrolled whole, since fragments are named by k_i. Preserves: the sums, each in the order of k.
//
// Worked example, m8n8k4 with FM = 2, FN = 8, BK = 4; fragments read for one slab by a warp:
//
//   FRAG_ORDER  read                 registers (2 for a fragment)  products per fragment
//   0           4 · (2 + 8) = 40                (2 + 8) · 2 = 20           64 / 40 = 1.6
//   1           4 · (2 + 8) = 40            4 · (2 + 8) · 2 = 80           64 / 40 = 1.6
//   2           4 · (2 + 2 · 8) = 72             4 · (1 + 1) · 2 = 16     64 / 72 = 0.89
//
// Reading along K (0) uses each fragment once for all it is good for and holds only one k-step of
// them; that it is the default is no accident.
#include <assert.h>

#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

enum { UP_FRONT = 1, ROW_BY_ROW = 2 };

static const KnobId knob = KNOB_FRAG_ORDER;

bool pass_fragment_order_wanted(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  return v[KNOB_FRAG_ORDER] && v[KNOB_FRAG_BUFFER] == 1 && v[KNOB_STAGE] && v[KNOB_ATOM_KIND];
}

static Var *step_var(Program *program, const char *name, int64_t extent) {
  return program_var(program, name, VAR_LOOP, TIER_REGISTER, extent);
}

static void set_dims(Buffer *buffer, int rank, const int64_t *dim) {
  buffer->rank = rank;
  buffer->knob = knob;
  for (int64_t d = rank - 1, stride = 1; d >= 0; stride *= dim[d--]) {
    buffer->dim[d] = dim[d];
    buffer->stride[d] = stride;
  }
}

// The index [atom, value] of a fragment becomes [step, atom - first, value].
typedef struct Reindex {
  const Buffer *fragment;
  const Expr *step, *atom;  // atom: NULL leaves it as it is
} Reindex;

static void reindex(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const Reindex *to = context;
  if (access->buffer != to->fragment) return;
  access->idx[2] = access->idx[1];
  access->idx[1] = to->atom ? to->atom : access->idx[0];
  access->idx[0] = to->step;
}

// A loop over the slab's k-steps around what reads one of them.
static Stmt *read_steps(Program *program, Stmt *reads, const Var *k_i, const char *name) {
  Var *step = step_var(program, name, k_i->extent);
  stmt_substitute(program, reads, k_i, ex_var(program->arena, step));
  return stmt_wrap_register(program, knob, step, reads);
}

static void add_steps(Stmt *list, Buffer *fragment, const Expr *step, const Expr *atom) {
  Reindex to = {fragment, step, atom};
  stmt_each_access(list, reindex, &to);
}

// ---- the whole slab -----------------------------------------------------------------------------

static void up_front(Program *program, const Product *product, Stmt **k_link, Stmt *a, Stmt *b) {
  Stmt *k_i = *k_link, *reads = stmt_list(a, b, NULL);
  const Expr *now = ex_var(program->arena, k_i->var);
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    Buffer *fragment = program_buffer(program, product->operand[operand].registers);
    int64_t dim[] = {k_i->var->extent, fragment->dim[0], fragment->dim[1]};
    set_dims(fragment, 3, dim);
    add_steps(reads, fragment, now, NULL);
    add_steps(k_i->body, fragment, now, NULL);
  }
  stmt_insert(k_link, read_steps(program, reads, k_i->var,
                                 axis_digit_name(program, product->axis[AXIS_K], "_f")));
}

// ---- rows and columns ---------------------------------------------------------------------------

// The body of the loop over `var`, or the list itself where wrap_register left the loop out.
static Stmt *unwrapped(Stmt *list, const Var *var) {
  return list->kind == STMT_LOOP && list->var == var ? list->body : list;
}

// Fragments of B that one statement reads: 2 where ldmatrix brings a pair.
static int64_t fragments_of_a_read(Stmt *b, const Buffer *fragment) {
  enum { REGISTER_BYTES = 4 };
  const Stmt *load = stmt_find_op(b, OP_LDMATRIX, fragment->role);
  if (!load) return 1;
  return load->op.matrices * REGISTER_BYTES / (fragment->dim[1] * dtype_bytes(fragment->type));
}

// One column of atoms after the other, or one pair of columns.
static Stmt *columns(Program *program, const Product *product, Stmt *k_i, Stmt *b) {
  Arena *arena = program->arena;
  Buffer *fragment = program_buffer(program, product->operand[ATOM_B].registers);
  Var *n = axis_digit(product->axis[AXIS_N], TIER_REGISTER)->var, *outer = n;
  int64_t width = fragments_of_a_read(b, fragment);
  Var *inner = step_var(program, "n_q", width);
  if (width > 1)
    outer = b->kind == STMT_LOOP ? b->var : step_var(program, "n_p", n->extent / width);
  const Expr *step = ex_var(arena, k_i->var), *at = ex_var(arena, inner);
  int64_t dim[] = {k_i->var->extent, width, fragment->dim[1]};
  set_dims(fragment, 3, dim);
  Stmt *reads = unwrapped(b, outer);
  add_steps(reads, fragment, step, ex_const(arena, 0));
  add_steps(k_i->body, fragment, step, at);
  if (width > 1)
    stmt_substitute(program, k_i->body, n,
                    ex_add(arena, ex_mul_const(arena, ex_var(arena, outer), width), at));
  Stmt *multiply = stmt_wrap_register(program, KNOB_FN, inner, k_i);
  Stmt *column = stmt_list(read_steps(program, reads, k_i->var, "k_b"), multiply, NULL);
  return stmt_wrap_register(program, KNOB_FN, outer, column);
}

static void row_by_row(Program *program, const Product *product, Stmt **k_link, Stmt *a, Stmt *b) {
  Arena *arena = program->arena;
  Stmt *k_i = stmt_cut(k_link);
  Var *m = axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var;
  Buffer *fragment = program_buffer(program, product->operand[ATOM_A].registers);
  const Expr *step = ex_var(arena, k_i->var), *only = ex_const(arena, 0);
  k_i->body = stmt_op(program, KNOB_ATOM_KIND,
                      stmt_find_op(k_i->body, OP_MMA, product->operand[ATOM_C].registers)->op);
  int64_t dim[] = {k_i->var->extent, 1, fragment->dim[1]};
  set_dims(fragment, 3, dim);
  a = unwrapped(a, m);
  add_steps(a, fragment, step, only);
  add_steps(k_i->body, fragment, step, only);
  Stmt *row =
      stmt_list(read_steps(program, a, k_i->var, "k_a"), columns(program, product, k_i, b), NULL);
  stmt_insert(k_link, stmt_wrap_register(program, KNOB_FM, m, row));
}

void pass_fragment_order(Program *program, Product *product, const Schedule *schedule) {
  Stmt *k_o = program_slab_loop(program);
  Stmt *k_i = stmt_find_steps(product, k_o->body), **link = &k_o->body;
  while (*link != k_i) link = &(*link)->next;
  Stmt *a = stmt_cut(stmt_find_read(product, ATOM_A, &k_i->body));
  Stmt *b = stmt_cut(stmt_find_read(product, ATOM_B, &k_i->body));
  assert(k_i->body && !k_i->body->next);
  k_i->unroll = UNROLL_FULL;
  k_i->knob = knob;
  if (schedule->value[KNOB_FRAG_ORDER] == UP_FRONT)
    up_front(program, product, link, a, b);
  else
    row_by_row(program, product, link, a, b);
}
