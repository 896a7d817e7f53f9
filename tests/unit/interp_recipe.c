// See interp_recipe.h. A staged kernel of two slabs, for orientation:
//
//   for m_b, n_b BLOCK, m_t, n_t THREAD:  acc = 0
//     for k_o: fill A_s[k_o % 2], B_s[k_o % 2] element by element; barrier; multiply
//     C = acc
#include <string.h>

#include "interp_recipe.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static Arena *arena;

void recipe_use(Arena *to) { arena = to; }
Arena *recipe_arena(void) { return arena; }

typedef struct Build {
  Program *p;
  const Recipe *r;
  Var *m_b, *n_b, *split, *m_t, *n_t, *k_o, *slot;
  Buffer *a, *b, *c, *partial, *a_s, *b_s, *acc, *fa, *fb;
  int64_t n_slabs;  // of one split
} Build;

const Expr *num(int64_t value) { return ex_const(arena, value); }
const Expr *var(const Var *v) { return v ? ex_var(arena, v) : num(0); }
const Expr *add(const Expr *a, const Expr *b) { return ex_add(arena, a, b); }
const Expr *times(const Expr *a, int64_t b) { return ex_mul_const(arena, a, b); }

Stmt *op1(Program *p, OpKind kind, Access dst, Access src) {
  return stmt_op(p, KNOB_NONE, (Op){.kind = kind, .dst = dst, .src = src});
}
Stmt *init(Program *p, Access dst) {
  return stmt_op(p, KNOB_NONE, (Op){.kind = OP_INIT, .dst = dst});
}
static Stmt *fma_op(Program *p, Access dst, Access a, Access b) {
  return stmt_op(p, KNOB_NONE, (Op){.kind = OP_FMA, .dst = dst, .src = a, .src2 = b});
}
// An operation whose one number it is: groups of a wait, threads of a barrier, registers of a role.
Stmt *plain(Program *p, OpKind kind, int64_t number) {
  Op op = {.kind = kind};
  const OpAction action = op_facts(kind)->action;
  if (action == ACTION_WAIT) op.groups = number;
  if (action == ACTION_MEET) op.threads = number;
  if (action == ACTION_GIVE || action == ACTION_TAKE) op.registers = number;
  return stmt_op(p, KNOB_NONE, op);
}
Stmt *loop(Program *p, Var *v, Stmt *body) { return stmt_loop(p, KNOB_NONE, v, body); }
Var *new_var(Program *p, const char *name, Tier tier, int64_t extent) {
  return program_var(p, name, VAR_LOOP, tier, extent);
}
static Buffer *buffer2(Program *p, const char *name, Space space, BufferRole role, int64_t rows,
                       int64_t columns) {
  return program_new_buffer(p, name, space, role, 2, (int64_t[]){rows, columns}, KNOB_NONE);
}
static Buffer *buffer3(Program *p, const char *name, Space space, BufferRole role, int64_t n,
                       int64_t rows, int64_t columns) {
  return program_new_buffer(p, name, space, role, 3, (int64_t[]){n, rows, columns}, KNOB_NONE);
}

static const Expr *tid(const Build *b) { return add(times(var(b->m_t), b->r->bn), var(b->n_t)); }

// The k at which a slab starts: split, then slab.
static const Expr *slab_k(const Build *b, const Expr *slab) {
  return times(add(times(var(b->split), b->n_slabs), slab), b->r->bk);
}

// Element e = tid + i·threads of a slab moves from (row, column) of the matrix; a guard where the
// threads do not divide the slab.
static Stmt *fill_one(const Build *b, const Expr *slab, const Expr *slot, bool is_a) {
  Program *p = b->p;
  const Recipe *r = b->r;
  int64_t rows = is_a ? r->bm * r->fm : r->bk, columns = is_a ? r->bk : r->bn * r->fn;
  int64_t threads = r->bm * r->bn, steps = (rows * columns + threads - 1) / threads;
  Var *i = new_var(p, is_a ? "i_a" : "i_b", TIER_SERIAL, steps);
  const Expr *e = add(times(var(i), threads), tid(b));
  const Expr *row = ex_div(arena, e, columns), *column = ex_mod(arena, e, columns);
  const Expr *from_row = is_a ? add(times(var(b->m_b), rows), row) : add(slab_k(b, slab), row);
  const Expr *from_column =
      is_a ? add(slab_k(b, slab), column) : add(times(var(b->n_b), columns), column);
  if (r->fault == SAME_TARGET && is_a) {
    row = ex_div(arena, row, 2);
    e = num(0);
  }
  Access from = access2(is_a ? b->a : b->b, from_row, from_column);
  Access to = access3(is_a ? b->a_s : b->b_s, slot, row, column);
  Stmt *move;
  if (r->async) {
    move = op1(p, OP_CP_ASYNC, to, from);
  } else {
    Access temp = access1(program_buffer(p, ROLE_TEMP), num(0));
    move = stmt_list(op1(p, OP_LOAD, temp, from), op1(p, OP_STORE, to, temp), NULL);
  }
  const Expr *inside = ex_lt(arena, e, num(rows * columns));
  return loop(p, i, expr_is_const(inside, 1) ? move : stmt_if(p, KNOB_NONE, inside, move));
}

static Stmt *fill(const Build *b, const Expr *slab, const Expr *slot) {
  return stmt_list(fill_one(b, slab, slot, true), fill_one(b, slab, slot, false), NULL);
}

static const Expr *fragment_index(const Build *b, Var *i) {
  if (b->r->fault == FRAGMENT_BEYOND) return add(var(i), num(1));
  if (b->r->fault == FRAGMENT_OFF) return ex_mod(arena, add(var(i), num(1)), b->r->fm);
  return var(i);
}

static Stmt *multiply(const Build *b, const Expr *slot) {
  Program *p = b->p;
  const Recipe *r = b->r;
  Var *k = new_var(p, "k_i", TIER_STAGE_INNER, r->bk);
  Var *i = new_var(p, "m_r", TIER_REGISTER, r->fm), *j = new_var(p, "n_r", TIER_REGISTER, r->fn);
  Var *ia = new_var(p, "m_l", TIER_REGISTER, r->fm), *jb = new_var(p, "n_l", TIER_REGISTER, r->fn);
  const Expr *m = add(times(var(b->m_t), r->fm), var(ia));
  const Expr *n = add(times(var(b->n_t), r->fn), var(jb));
  Stmt *load_a = op1(p, OP_LOAD, access1(b->fa, var(ia)), access3(b->a_s, slot, m, var(k)));
  if (r->fault == FRAGMENT_UNREAD)
    load_a = stmt_if(p, KNOB_NONE, ex_lt(arena, var(ia), num(r->fm - 1)), load_a);
  Stmt *load_b = op1(p, OP_LOAD, access1(b->fb, var(jb)), access3(b->b_s, slot, var(k), n));
  Stmt *mul = fma_op(p, access2(b->acc, var(i), var(j)), access1(b->fa, fragment_index(b, i)),
                     access1(b->fb, var(j)));
  return loop(
      p, k, stmt_list(loop(p, ia, load_a), loop(p, jb, load_b), loop(p, i, loop(p, j, mul)), NULL));
}

static Stmt *barrier(const Build *b) {
  Stmt *stmt = plain(b->p, OP_BARRIER, 0);
  const Expr *few = NULL;
  if (b->r->fault == BARRIER_IN_LANES) few = ex_lt(arena, ex_mod(arena, tid(b), 32), num(16));
  if (b->r->fault == BARRIER_IN_WARP) few = ex_lt(arena, tid(b), num(32));
  return few ? stmt_if(b->p, KNOB_NONE, few, stmt) : stmt;
}

static Stmt *list2(Stmt *a, Stmt *b) {
  if (!a || !b) return a ? a : b;
  return stmt_list(a, b, NULL);
}

// One slab: fill, barrier, multiply, barrier. A ring of two needs the first barrier only.
static Stmt *staged(const Build *b) {
  const Recipe *r = b->r;
  const Expr *slot = ex_mod(arena, var(b->k_o), r->slabs);
  if (r->fault == SLOT_CONSTANT) slot = num(0);
  Stmt *body = fill(b, var(b->k_o), slot);
  if (r->async && r->fault != NO_WAIT)
    stmt_list(body, plain(b->p, OP_CP_COMMIT, 0),
              plain(b->p, OP_CP_WAIT, r->fault == WAIT_LAX ? 1 : 0), NULL);
  if (r->fault != NO_BARRIER_AFTER_FILL) stmt_list(body, barrier(b), NULL);
  stmt_list(body, multiply(b, slot), NULL);
  if (r->slabs == 1 && r->fault != NO_BARRIER_BEFORE_FILL)
    stmt_list(body, plain(b->p, OP_BARRIER, 0), NULL);
  return loop(b->p, b->k_o, body);
}

// The usual ring: slabs - 1 groups on their way before the loop, one more in each iteration, into
// the slab that the barrier has just freed.
static Stmt *pipelined(const Build *b) {
  const Recipe *r = b->r;
  Program *p = b->p;
  int ahead = r->slabs - 1;
  Stmt *list = NULL;
  for (int i = 0; i < ahead; i++)
    list = list2(list, stmt_list(fill(b, num(i), num(i)), plain(p, OP_CP_COMMIT, 0), NULL));
  const Expr *next = add(var(b->k_o), num(ahead));
  const Expr *next_slot = ex_mod(arena, next, r->slabs),
             *slot = ex_mod(arena, var(b->k_o), r->slabs);
  if (r->fault == SLOT_CONSTANT) next_slot = slot;
  Stmt *body = NULL;
  if (r->fault != NO_WAIT) body = plain(p, OP_CP_WAIT, r->fault == WAIT_LAX ? ahead : ahead - 1);
  if (r->fault != NO_BARRIER_AFTER_FILL) body = list2(body, barrier(b));
  Stmt *more = stmt_if(p, KNOB_NONE, ex_lt(arena, next, num(b->n_slabs)), fill(b, next, next_slot));
  body = list2(body, more);
  body = list2(body, plain(p, OP_CP_COMMIT, 0));
  return list2(list, loop(p, b->k_o, list2(body, multiply(b, slot))));
}

static Stmt *finish(const Build *b) {
  Program *p = b->p;
  const Recipe *r = b->r;
  Var *i = new_var(p, "m_w", TIER_REGISTER, r->fm), *j = new_var(p, "n_w", TIER_REGISTER, r->fn);
  const Expr *m = add(times(var(b->m_b), r->bm * r->fm), add(times(var(b->m_t), r->fm), var(i)));
  const Expr *n = add(times(var(b->n_b), r->bn * r->fn), add(times(var(b->n_t), r->fn), var(j)));
  Access from = access2(b->acc, var(i), var(j)), to = access2(b->c, m, n);
  Stmt *out;
  if (r->splits > 1 && r->partials)
    out = op1(p, OP_STORE, access3(b->partial, var(b->split), m, n), from);
  else if (r->splits > 1 && r->fault == SPLIT_GUARDED)
    out = stmt_list(
        stmt_if(p, KNOB_NONE, ex_binary(arena, EXPR_EQ, var(b->split), num(0)),
                op1(p, OP_STORE, to, from)),
        stmt_if(p, KNOB_NONE, ex_lt(arena, num(0), var(b->split)), op1(p, OP_ATOMIC_ADD, to, from)),
        NULL);
  else
    out = op1(p, r->splits > 1 ? OP_ATOMIC_ADD : OP_STORE, to, from);
  if (r->fault == LAST_ROW_UNSTORED)
    out = stmt_if(p, KNOB_NONE, ex_lt(arena, m, num(p->problem.m - 1)), out);
  return loop(p, i, loop(p, j, out));
}

static Stmt *tiers(const Build *b, Stmt *body) {
  Stmt *inner = loop(b->p, b->m_t, loop(b->p, b->n_t, body));
  if (b->split) inner = loop(b->p, b->split, inner);
  return loop(b->p, b->m_b, loop(b->p, b->n_b, inner));
}

// C[m, n] = 0 or the sum of the partials, one thread a cell.
static void add_cell_kernel(Build *b, const char *name, bool reduce) {
  Program *p = b->p;
  Var *block = new_var(p, "g", TIER_BLOCK, ceil_div(p->problem.m * p->problem.n, 64));
  Var *thread = new_var(p, "t", TIER_THREAD, 64);
  const Expr *cell = add(times(var(block), 64), var(thread));
  const Expr *m = ex_div(arena, cell, p->problem.n), *n = ex_mod(arena, cell, p->problem.n);
  Access sum = access1(program_buffer(p, ROLE_TEMP), num(0));
  Stmt *body = init(p, sum);
  if (reduce) {
    Var *s = new_var(p, "s", TIER_SERIAL, b->r->splits);
    Access part = access1(b->fa, num(0));
    Stmt *each = stmt_list(op1(p, OP_LOAD, part, access3(b->partial, var(s), m, n)),
                           op1(p, OP_ADD, sum, part), NULL);
    stmt_list(body, loop(p, s, each), NULL);
  }
  stmt_list(body, op1(p, OP_STORE, access2(b->c, m, n), sum), NULL);
  p->kernel[p->n_kernels++] =
      (Kernel){.name = name, .body = loop(p, block, loop(p, thread, body)), .knob = KNOB_NONE};
}

static void make_buffers(Build *b) {
  Program *p = b->p;
  const Recipe *r = b->r;
  int64_t tile_m = r->bm * r->fm, tile_n = r->bn * r->fn;
  b->a = program_buffer(p, ROLE_A);
  b->b = program_buffer(p, ROLE_B);
  b->c = program_buffer(p, ROLE_C);
  b->a_s = buffer3(p, "A_s", SPACE_SHARED, ROLE_SLAB_A, r->slabs, tile_m, r->bk);
  b->b_s = buffer3(p, "B_s", SPACE_SHARED, ROLE_SLAB_B, r->slabs, r->bk, tile_n);
  int64_t row = r->bk + r->pad - (r->fault == ROW_TOO_SHORT);
  b->a_s->stride[1] = row;
  b->a_s->stride[0] = row * (tile_m - (r->fault == SLAB_TOO_SMALL));
  program_place_shared(p);
  b->acc = buffer2(p, "acc", SPACE_REGISTER, ROLE_ACC, r->fm, r->fn);
  b->fa = program_new_buffer(p, "a", SPACE_REGISTER, ROLE_FRAG_A, 1, (int64_t[]){r->fm}, KNOB_NONE);
  b->fb = program_new_buffer(p, "b", SPACE_REGISTER, ROLE_FRAG_B, 1, (int64_t[]){r->fn}, KNOB_NONE);
  program_new_buffer(p, "x", SPACE_REGISTER, ROLE_TEMP, 1, (int64_t[]){1}, KNOB_NONE);
  if (r->partials)
    b->partial = buffer3(p, "P", SPACE_GLOBAL, ROLE_PARTIAL, r->splits, p->problem.m, p->problem.n);
}

Program *recipe_build(const Recipe *r) {
  Build b = {.p = program_new(arena, r->problem), .r = r};
  Program *p = b.p;
  make_buffers(&b);
  bool down = r->fault == K_TAIL_LOST;
  int64_t slabs = down ? r->problem.k / r->bk : ceil_div(r->problem.k, r->bk);
  b.n_slabs = ceil_div(slabs, r->splits);
  b.m_b = new_var(p, "m_b", TIER_BLOCK, ceil_div(r->problem.m, r->bm * r->fm));
  b.n_b = new_var(p, "n_b", TIER_BLOCK, ceil_div(r->problem.n, r->bn * r->fn));
  if (r->splits > 1) b.split = new_var(p, "k_s", TIER_BLOCK, r->splits);
  b.m_t = new_var(p, "m_t", TIER_THREAD, r->bm);
  b.n_t = new_var(p, "n_t", TIER_THREAD, r->bn);
  b.k_o = new_var(p, "k_o", TIER_SERIAL_OUTER, b.n_slabs);
  p->axis[AXIS_M].n_digits = p->axis[AXIS_N].n_digits = 1;
  p->axis[AXIS_M].digit[0] = (Digit){b.m_b, r->bm * r->fm};
  p->axis[AXIS_N].digit[0] = (Digit){b.n_b, r->bn * r->fn};
  if (r->splits > 1 && !r->partials && r->fault != NO_ZERO && r->fault != SPLIT_GUARDED)
    add_cell_kernel(&b, "zero", false);
  Var *i = new_var(p, "m_i", TIER_REGISTER, r->fm), *j = new_var(p, "n_i", TIER_REGISTER, r->fn);
  Stmt *start = loop(p, i, loop(p, j, init(p, access2(b.acc, var(i), var(j)))));
  if (r->fault == NO_INIT) start = NULL;
  bool ring = r->async && r->slabs > 1;
  Stmt *body = list2(start, list2(ring ? pipelined(&b) : staged(&b), finish(&b)));
  p->kernel[p->n_kernels++] =
      (Kernel){.name = "matmul", .body = tiers(&b, body), .knob = KNOB_NONE};
  p->main_kernel = p->n_kernels - 1;
  if (r->partials && r->fault != REDUCE_EARLY) add_cell_kernel(&b, "reduce", true);
  return p;
}

Program *recipe_naive(Problem problem) {
  Program *p = program_new(arena, problem);
  Buffer *reg = program_new_buffer(p, "x", SPACE_REGISTER, ROLE_TEMP, 1, (int64_t[]){3}, KNOB_NONE);
  Var *m = new_var(p, "m", TIER_SERIAL, problem.m), *n = new_var(p, "n", TIER_SERIAL, problem.n);
  Var *k = new_var(p, "k", TIER_SERIAL, problem.k);
  Access acc = access1(reg, num(0)), a = access1(reg, num(1)), b = access1(reg, num(2));
  Stmt *step = stmt_list(op1(p, OP_LOAD, a, access2(program_buffer(p, ROLE_A), var(m), var(k))),
                         op1(p, OP_LOAD, b, access2(program_buffer(p, ROLE_B), var(k), var(n))),
                         fma_op(p, acc, a, b), NULL);
  Stmt *cell =
      stmt_list(init(p, acc), loop(p, k, step),
                op1(p, OP_STORE, access2(program_buffer(p, ROLE_C), var(m), var(n)), acc), NULL);
  p->kernel[p->n_kernels++] =
      (Kernel){.name = "naive", .body = loop(p, m, loop(p, n, cell)), .knob = KNOB_NONE};
  return p;
}

bool recipe_says(const InterpResult *result, FindingKind kind, const char *text) {
  for (int i = 0; i < result->n_findings; i++)
    if (result->finding[i].kind == kind && strstr(result->finding[i].text, text)) return true;
  return false;
}
