// The interpreter on programs built by hand: the sound ones are silent and exact, and each planted
// fault is told as what it is.
//
// One builder makes the whole family (block and thread tiers, staging, a ring of slabs, cp.async,
// split-K both ways); a fault is one field of its recipe, so every faulty program differs from a
// sound one, which is tested too, in exactly that.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/interp.h"

Suite *suite_interp(void);

typedef enum Fault {
  SOUND,
  NO_BARRIER_AFTER_FILL,   // readers do not wait for the slab
  NO_BARRIER_BEFORE_FILL,  // the next slab overwrites what is still read
  ROW_TOO_SHORT,           // the slab's rows overlap by one element
  SLAB_TOO_SMALL,          // the last row is missing
  SLOT_CONSTANT,           // the phase index dropped: one slab, one barrier
  SPLIT_GUARDED,           // first split stores, the rest add
  NO_ZERO,                 // atomic split-K without its zero kernel
  NO_WAIT,
  WAIT_LAX,          // one group too many stays in flight
  FRAGMENT_OFF,      // multiplies a[i + 1] where a[i] belongs, the last one wraps
  FRAGMENT_BEYOND,   // the same without wrapping
  FRAGMENT_UNREAD,   // the last a[] is never loaded
  K_TAIL_LOST,       // K / BK slabs, rounded down
  NO_INIT,           // the accumulators never start at 0
  BARRIER_IN_LANES,  // a barrier that only half of each warp reaches
  BARRIER_IN_WARP,   // a barrier that only the first warp reaches
  LAST_ROW_UNSTORED,
  SAME_TARGET,   // two lanes of one instruction store one element
  REDUCE_EARLY,  // partials are summed in the kernel that writes them
} Fault;

typedef struct Recipe {
  Problem problem;
  int bm, bn, fm, fn, bk;
  int slabs;  // ring size; 1: one slab, two barriers
  bool async;
  int splits;     // > 1: split-K
  bool partials;  // through a workspace instead of atomic adds
  int pad;
  Fault fault;
} Recipe;

static Arena *arena;

static void setup(void) { arena = arena_new("test interp"); }
static void teardown(void) { arena_free(arena); }

// ---- a builder --------------------------------------------------------------------------------

typedef struct Build {
  Program *p;
  const Recipe *r;
  Var *m_b, *n_b, *split, *m_t, *n_t, *k_o, *slot;
  Buffer *a, *b, *c, *partial, *a_s, *b_s, *acc, *fa, *fb;
  int64_t n_slabs;  // of one split
} Build;

static const Expr *num(int64_t value) { return ex_const(arena, value); }
static const Expr *var(const Var *v) { return v ? ex_var(arena, v) : num(0); }
static const Expr *add(const Expr *a, const Expr *b) { return ex_add(arena, a, b); }
static const Expr *times(const Expr *a, int64_t b) { return ex_mul_const(arena, a, b); }

static Stmt *op1(Program *p, OpKind kind, Access dst, Access src) {
  return stmt_op(p, KNOB_NONE, (Op){.kind = kind, .dst = dst, .src = src});
}
static Stmt *init(Program *p, Access dst) {
  return stmt_op(p, KNOB_NONE, (Op){.kind = OP_INIT, .dst = dst});
}
static Stmt *fma_op(Program *p, Access dst, Access a, Access b) {
  return stmt_op(p, KNOB_NONE, (Op){.kind = OP_FMA, .dst = dst, .src = a, .src2 = b});
}
static Stmt *plain(Program *p, OpKind kind, int64_t count) {
  return stmt_op(p, KNOB_NONE, (Op){.kind = kind, .count = count});
}
static Stmt *loop(Program *p, Var *v, Stmt *body) { return stmt_loop(p, KNOB_NONE, v, body); }
static Var *new_var(Program *p, const char *name, Tier tier, int64_t extent) {
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

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

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

static Program *build(const Recipe *r) {
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

static Program *build_naive(Problem problem) {
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

// ---- sound programs ---------------------------------------------------------------------------

static void print_findings(const InterpCheck *check) {
  for (int i = 0; i < check->n_findings; i++) puts(check->finding[i].text);
  if (check->n_wrong)
    printf("wrong: %lld cells, first C[%lld, %lld] = %g, expected %g\n", (long long)check->n_wrong,
           (long long)check->wrong_row, (long long)check->wrong_column, check->wrong_got,
           check->wrong_expected);
}

static InterpCheck run_check(const Recipe *recipe) {
  return interpret_check(arena, build(recipe), &(InterpOptions){.seed = 7});
}

static const Recipe sound[] = {
    {.problem = {32, 32, 32, DTYPE_F32},
     .bm = 8,
     .bn = 8,
     .fm = 1,
     .fn = 1,
     .bk = 8,
     .slabs = 1,
     .splits = 1},
    {.problem = {37, 29, 21, DTYPE_F32},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 3,
     .bk = 8,
     .slabs = 1,
     .splits = 1},
    {.problem = {37, 29, 21, DTYPE_F32},
     .bm = 6,
     .bn = 7,
     .fm = 3,
     .fn = 1,
     .bk = 5,
     .slabs = 1,
     .splits = 1},
    {.problem = {40, 40, 40, DTYPE_F32},
     .bm = 16,
     .bn = 4,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 2,
     .splits = 1,
     .pad = 1},
    {.problem = {33, 31, 47, DTYPE_F32},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 3,
     .splits = 1},
    {.problem = {33, 31, 47, DTYPE_F32},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 1,
     .splits = 1,
     .async = true},
    {.problem = {33, 31, 63, DTYPE_F32},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 2,
     .splits = 1,
     .async = true},
    {.problem = {33, 31, 63, DTYPE_F32},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 4,
     .splits = 1,
     .async = true},
    {.problem = {32, 32, 64, DTYPE_F32},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 1,
     .splits = 4},
    {.problem = {31, 33, 61, DTYPE_F32},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 2,
     .splits = 3},
    {.problem = {31, 33, 61, DTYPE_F32},
     .bm = 8,
     .bn = 8,
     .fm = 2,
     .fn = 2,
     .bk = 8,
     .slabs = 2,
     .splits = 3,
     .partials = true},
};
enum { N_SOUND = sizeof sound / sizeof sound[0] };

START_TEST(sound_programs_are_silent_and_exact) {
  InterpCheck check = run_check(&sound[_i]);
  if (!check.ok) print_findings(&check);
  ck_assert(check.ok);
  ck_assert_int_eq(check.n_found, 0);
  ck_assert(check.result->finished);
}
END_TEST

START_TEST(naive_nest_agrees_with_the_loop) {
  Problem problem = {9, 7, 13, DTYPE_F32, DTYPE_F32, DTYPE_F32};
  Program *naive = build_naive(problem);
  InterpCheck check = interpret_check(arena, naive, &(InterpOptions){.seed = 3});
  ck_assert(check.ok);
  ck_assert_int_eq(check.result->lanes[OP_FMA], 9 * 7 * 13);
  ck_assert_int_eq(check.result->lanes[OP_LOAD], 2 * 9 * 7 * 13);
  ck_assert_int_eq(check.result->lanes[OP_STORE], 9 * 7);
}
END_TEST

START_TEST(naive_and_tiled_agree_with_each_other) {
  Recipe recipe = sound[2];
  InterpCheck check = interpret_check_naive(arena, build_naive(recipe.problem), build(&recipe),
                                            &(InterpOptions){.seed = 11});
  ck_assert(check.ok);
}
END_TEST

// Every operation is counted by lane, a partial warp's missing lanes are not.
START_TEST(counts_are_those_of_the_nest) {
  Recipe recipe = sound[2];  // 42 threads, 18 × 7 tiles, 5 slabs of 5
  const InterpResult *result = interpret(arena, build(&recipe), &(InterpOptions){.seed = 1});
  int64_t blocks = 3 * 5, threads = blocks * 42;
  ck_assert_int_eq(result->lanes[OP_FMA], threads * 5 * 5 * 3);
  ck_assert_int_eq(result->lanes[OP_BARRIER], threads * 5 * 2);
  ck_assert_int_eq(result->lanes[OP_STORE], threads * 3 + blocks * 5 * (18 * 5 + 5 * 7));
  for (int64_t i = 0; i < (int64_t)37 * 29; i++) ck_assert(result->c_written[i]);
}
END_TEST

START_TEST(same_seed_same_run) {
  const Recipe *recipe = &sound[4];
  InterpOptions options = {.seed = 5};
  const InterpResult *a = interpret(arena, build(recipe), &options);
  const InterpResult *b = interpret(arena, build(recipe), &options);
  ck_assert_int_eq(a->steps, b->steps);
  ck_assert_mem_eq(a->c, b->c, sizeof(float) * 33 * 31);
}
END_TEST

START_TEST(inputs_are_small_whole_numbers_without_zero) {
  const float *x = interpret_inputs(arena, 1000, 9, 0), *y = interpret_inputs(arena, 1000, 9, 1);
  double sum = 0;
  for (int i = 0; i < 1000; i++) {
    ck_assert(x[i] == floorf(x[i]) && fabsf(x[i]) >= 1 && fabsf(x[i]) <= 8);
    sum += (double)(x[i] * y[i]);
  }
  ck_assert(fabs(sum) < 4000);  // the two matrices are not alike
  ck_assert_mem_ne(x, y, sizeof(float) * 1000);
}
END_TEST

// ---- planted faults ---------------------------------------------------------------------------

typedef struct Planted {
  Recipe recipe;
  FindingKind kind;  // one of the findings must be of this kind …
  const char *says;  // … and its text must hold this
  bool wrong;        // cells must be wrong as well
} Planted;

#define PLAIN .bm = 8, .bn = 8, .fm = 2, .fn = 2, .bk = 8, .splits = 1
#define EVEN .problem = {32, 32, 40, DTYPE_F32}
#define ODD .problem = {33, 31, 43, DTYPE_F32}

static const Planted planted[] = {
    {{EVEN, PLAIN, .slabs = 1, .fault = NO_BARRIER_AFTER_FILL},
     FINDING_RACE,
     "with no barrier between",
     false},
    {{EVEN, PLAIN, .slabs = 1, .fault = NO_BARRIER_BEFORE_FILL},
     FINDING_RACE,
     "race on A_s[0, ",
     false},
    {{EVEN, PLAIN, .slabs = 2, .fault = NO_BARRIER_AFTER_FILL}, FINDING_RACE, "race on", false},
    {{EVEN, PLAIN, .slabs = 1, .fault = ROW_TOO_SHORT}, FINDING_RACE, "writes (store", false},
    {{EVEN, PLAIN, .slabs = 1, .fault = SLAB_TOO_SMALL},
     FINDING_OUT_OF_BOUNDS,
     "of 120 elements",
     false},
    {{EVEN, PLAIN, .slabs = 2, .fault = SLOT_CONSTANT}, FINDING_RACE, "race on", false},
    {{EVEN, PLAIN, .slabs = 3, .async = true, .fault = SLOT_CONSTANT},
     FINDING_RACE,
     "copies into",
     false},
    {{EVEN, .bm = 8, .bn = 8, .fm = 2, .fn = 2, .bk = 8, .slabs = 1, .splits = 2,
      .fault = SPLIT_GUARDED},
     FINDING_RACE,
     "blocks of one kernel have no order",
     false},
    {{EVEN, .bm = 8, .bn = 8, .fm = 2, .fn = 2, .bk = 8, .slabs = 1, .splits = 2, .fault = NO_ZERO},
     FINDING_UNWRITTEN_READ,
     "reads what nothing wrote (atomic_add",
     true},
    {{EVEN, PLAIN, .slabs = 1, .async = true, .fault = NO_WAIT},
     FINDING_MISSING_WAIT,
     "with no wait for that copy between",
     true},
    {{EVEN, PLAIN, .slabs = 1, .async = true, .fault = WAIT_LAX},
     FINDING_MISSING_WAIT,
     "missing wait on",
     true},
    {{EVEN, PLAIN, .slabs = 3, .async = true, .fault = NO_WAIT},
     FINDING_MISSING_WAIT,
     "missing wait on",
     true},
    {{EVEN, PLAIN, .slabs = 3, .async = true, .fault = WAIT_LAX},
     FINDING_MISSING_WAIT,
     "missing wait on",
     true},
    {{EVEN, PLAIN, .slabs = 3, .async = true, .fault = NO_BARRIER_AFTER_FILL},
     FINDING_RACE,
     "race on",
     false},
    {{EVEN, PLAIN, .slabs = 1, .fault = FRAGMENT_OFF}, FINDING_COUNT, NULL, true},
    {{EVEN, PLAIN, .slabs = 1, .fault = FRAGMENT_BEYOND},
     FINDING_OUT_OF_BOUNDS,
     "out of bounds on a[2]",
     true},
    {{EVEN, PLAIN, .slabs = 1, .fault = FRAGMENT_UNREAD},
     FINDING_UNWRITTEN_READ,
     "unwritten read on a[1]",
     true},
    {{ODD, PLAIN, .slabs = 1, .fault = K_TAIL_LOST}, FINDING_COUNT, NULL, true},
    {{EVEN, PLAIN, .slabs = 1, .fault = NO_INIT},
     FINDING_UNWRITTEN_READ,
     "unwritten read on acc[0, 0]",
     true},
    {{EVEN, PLAIN, .slabs = 1, .fault = BARRIER_IN_LANES},
     FINDING_DIVERGENCE,
     "that lane 16 of its warp does not",
     false},
    {{EVEN, PLAIN, .slabs = 2, .fault = BARRIER_IN_WARP},
     FINDING_DEADLOCK,
     "warp 0 waits for warp 1, which has ended",
     false},
    {{EVEN, PLAIN, .slabs = 1, .fault = BARRIER_IN_WARP},
     FINDING_DIVERGENCE,
     "warp 1 is at the barrier",
     false},
    {{ODD, PLAIN, .slabs = 1, .fault = LAST_ROW_UNSTORED},
     FINDING_UNWRITTEN_RESULT,
     "C[32, 0]: nothing stores this cell; 31 of 1023",
     true},
    {{EVEN, PLAIN, .slabs = 1, .fault = SAME_TARGET}, FINDING_RACE, "race on A_s[0, ", true},
    {{EVEN, .bm = 8, .bn = 8, .fm = 2, .fn = 2, .bk = 8, .slabs = 1, .splits = 2, .partials = true,
      .fault = REDUCE_EARLY},
     FINDING_UNWRITTEN_RESULT,
     "1024 of 1024",
     true},
};
enum { N_PLANTED = sizeof planted / sizeof planted[0] };

static bool has_finding(const InterpCheck *check, FindingKind kind, const char *says) {
  for (int i = 0; i < check->n_findings; i++)
    if (check->finding[i].kind == kind && strstr(check->finding[i].text, says)) return true;
  return false;
}

START_TEST(planted_faults_are_told) {
  const Planted *row = &planted[_i];
  InterpCheck check = run_check(&row->recipe);
  bool told = row->kind == FINDING_COUNT || has_finding(&check, row->kind, row->says);
  if (!told) {
    printf("row %d: no finding of kind \"%s\" that says \"%s\" among:\n", _i,
           row->kind == FINDING_COUNT ? "" : finding_name(row->kind), row->says);
    print_findings(&check);
  }
  ck_assert(told);
  ck_assert(!check.ok);
  if (row->wrong) ck_assert_int_gt(check.n_wrong, 0);
}
END_TEST

// The same recipe without its fault is silent: what was told above is the fault, nothing else.
START_TEST(planted_recipes_are_sound_without_their_fault) {
  Recipe recipe = planted[_i].recipe;
  recipe.fault = SOUND;
  InterpCheck check = run_check(&recipe);
  if (!check.ok) print_findings(&check);
  ck_assert(check.ok);
}
END_TEST

static bool says(const InterpResult *result, FindingKind kind, const char *text) {
  for (int i = 0; i < result->n_findings; i++)
    if (result->finding[i].kind == kind && strstr(result->finding[i].text, text)) return true;
  return false;
}

// A race is found whatever the order in which the two sides happened to run.
START_TEST(races_do_not_depend_on_the_seed) {
  Recipe recipe = planted[_i].recipe;
  Program *program = build(&recipe);
  for (uint64_t seed = 0; seed < 20; seed++) {
    const InterpResult *result = interpret(arena, program, &(InterpOptions){.seed = seed});
    ck_assert_int_gt(result->n_found, 0);
    ck_assert(says(result, planted[_i].kind, ""));
  }
}
END_TEST

// ---- wide accesses, variables, operands -------------------------------------------------------

// One thread row of 8 copies a 4-wide run of A to C through registers: C = A for K = N.
static Program *wide_copy(int64_t n, const Expr *(*column)(const Var *), int width) {
  Program *p = program_new(arena, (Problem){4, n, n, DTYPE_F32, DTYPE_F32, DTYPE_F32});
  Buffer *x = program_new_buffer(p, "x", SPACE_REGISTER, ROLE_TEMP, 1, (int64_t[]){4}, KNOB_NONE);
  Var *m = new_var(p, "m_t", TIER_THREAD, 4), *t = new_var(p, "n_t", TIER_THREAD, (n + 3) / 4);
  Access reg = access1(x, num(0));
  Op load = {.kind = OP_LOAD, .width = width, .dst = reg};
  load.src = access2(program_buffer(p, ROLE_A), var(m), column(t));
  Op store = {.kind = OP_STORE, .width = width, .src = reg};
  store.dst = access2(program_buffer(p, ROLE_C), var(m), times(var(t), 4));
  Stmt *body = stmt_list(stmt_op(p, KNOB_NONE, load), stmt_op(p, KNOB_NONE, store), NULL);
  p->kernel[p->n_kernels++] =
      (Kernel){.name = "copy", .body = loop(p, m, loop(p, t, body)), .knob = KNOB_NONE};
  return p;
}

static const Expr *aligned(const Var *t) { return times(var(t), 4); }
static const Expr *shifted(const Var *t) {
  return ex_mod(arena, add(times(var(t), 4), num(2)), 32);
}

START_TEST(wide_accesses) {
  InterpOptions options = {.seed = 2};
  const InterpResult *good = interpret(arena, wide_copy(32, aligned, 4), &options);
  ck_assert_int_eq(good->n_found, 0);
  const float *a = interpret_inputs(arena, (int64_t)4 * 32, 2, 0);
  ck_assert_mem_eq(good->c, a, sizeof(float) * 4 * 32);
  const InterpResult *bad = interpret(arena, wide_copy(32, shifted, 4), &options);
  ck_assert(says(bad, FINDING_MISALIGNED, "moves 16 bytes at byte 8"));
  ck_assert(says(bad, FINDING_OUT_OF_BOUNDS, "has index 30, 4 wide, where 0 to 28 is inside"));
  const InterpResult *odd = interpret(arena, wide_copy(30, aligned, 4), &options);
  ck_assert(says(odd, FINDING_OUT_OF_BOUNDS, "has index 28, 4 wide, where 0 to 26 is inside"));
  const InterpResult *three = interpret(arena, wide_copy(32, aligned, 3), &options);
  ck_assert(says(three, FINDING_OPERAND, "load moves 3 elements"));
}
END_TEST

// A LET whose value reaches its extent is told and clamped, wherever it stands: between the
// hardware loops, in the body, and where it changes with a loop.
static Program *let_program(int where, int64_t extent) {
  Program *p = program_new(arena, (Problem){64, 4, 4, DTYPE_F32, DTYPE_F32, DTYPE_F32});
  Buffer *x = program_new_buffer(p, "x", SPACE_REGISTER, ROLE_TEMP, 1, (int64_t[]){1}, KNOB_NONE);
  Var *g = new_var(p, "g", TIER_BLOCK, 2), *t = new_var(p, "t", TIER_THREAD, 32);
  Var *k = new_var(p, "k", TIER_SERIAL, 4);
  Var *m = program_var(p, "m", VAR_LET, TIER_SERIAL, extent);
  const Expr *row = add(times(var(g), 32), var(t));
  if (where == 0) row = var(g);
  if (where == 3) row = ex_binary(arena, EXPR_XOR, row, var(k));
  if (where == 4) row = var(k);
  const Expr *used = where == 0 ? add(times(var(m), 32), var(t)) : var(m);
  if (where == 4) used = add(times(var(g), 32), add(times(ex_div(arena, var(t), 4), 4), var(m)));
  Stmt *let = stmt_let(p, KNOB_NONE, m, row);
  Stmt *store =
      op1(p, OP_STORE, access2(program_buffer(p, ROLE_C), used, var(k)), access1(x, num(0)));
  Stmt *body = where >= 2 ? stmt_list(let, store, NULL) : store;
  body = loop(p, k, body);
  if (where == 1) body = stmt_list(let, body, NULL);
  body = loop(p, t, stmt_list(init(p, access1(x, num(0))), body, NULL));
  if (where == 0) body = stmt_list(let, body, NULL);
  p->kernel[p->n_kernels++] = (Kernel){.name = "let", .body = loop(p, g, body), .knob = KNOB_NONE};
  return p;
}

START_TEST(variables_stay_in_their_range) {
  static const struct {
    int where;
    int64_t good, bad;
  } rows[] = {{0, 2, 1}, {1, 64, 63}, {2, 64, 63}, {3, 64, 63}, {4, 4, 3}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    InterpOptions options = {.seed = 4};
    const InterpResult *good = interpret(arena, let_program(rows[i].where, rows[i].good), &options);
    ck_assert(!says(good, FINDING_VARIABLE_RANGE, ""));
    const InterpResult *bad = interpret(arena, let_program(rows[i].where, rows[i].bad), &options);
    char expected[64];
    snprintf(expected, sizeof expected, "gives m a value outside 0 to %d", (int)rows[i].bad - 1);
    ck_assert_msg(says(bad, FINDING_VARIABLE_RANGE, expected), "let %zu", i);
  }
}
END_TEST

// Static digits, XOR swizzles, tables and shifts: the split of an expression into its parts must
// give what expr_eval gives. C[t, k] is stored at a swizzled column and every cell must be hit.
START_TEST(swizzled_columns_are_a_permutation) {
  Program *p = program_new(arena, (Problem){64, 32, 4, DTYPE_F32, DTYPE_F32, DTYPE_F32});
  static const int64_t table[] = {3, 1, 0, 2};
  Buffer *x = program_new_buffer(p, "x", SPACE_REGISTER, ROLE_TEMP, 1, (int64_t[]){1}, KNOB_NONE);
  Var *g = new_var(p, "g", TIER_BLOCK, 2), *t = new_var(p, "t", TIER_THREAD, 32);
  Var *hi = new_var(p, "hi", TIER_SERIAL, 8), *lo = new_var(p, "lo", TIER_SERIAL, 4);
  const Expr *swizzle = ex_binary(arena, EXPR_XOR, var(hi), ex_mod(arena, var(t), 8));
  const Expr *turn =
      ex_table(arena, table, 4, ex_binary(arena, EXPR_XOR, var(lo), ex_mod(arena, var(t), 4)));
  const Expr *column = add(ex_binary(arena, EXPR_SHL, swizzle, num(2)), turn);
  const Expr *row = ex_sub(arena, num(63), add(times(var(g), 32), var(t)));
  Stmt *store =
      op1(p, OP_STORE, access2(program_buffer(p, ROLE_C), row, column), access1(x, num(0)));
  Stmt *body = stmt_list(init(p, access1(x, num(0))), loop(p, hi, loop(p, lo, store)), NULL);
  p->kernel[p->n_kernels++] =
      (Kernel){.name = "swizzle", .body = loop(p, g, loop(p, t, body)), .knob = KNOB_NONE};
  const InterpResult *result = interpret(arena, p, &(InterpOptions){.seed = 1});
  ck_assert_int_eq(result->n_found, 0);
  ck_assert_int_eq(result->lanes[OP_STORE], 64 * 32);
}
END_TEST

START_TEST(operands_of_a_wrong_kind_are_told) {
  Problem problem = {8, 8, 8, DTYPE_F32, DTYPE_F32, DTYPE_F32};
  Program *p = build_naive(problem);
  Stmt *cell = p->kernel[0].body->body->body;  // init
  cell->op.dst = access2(program_buffer(p, ROLE_C), num(0), num(0));
  const InterpResult *result = interpret(arena, p, &(InterpOptions){0});
  ck_assert(
      says(result, FINDING_OPERAND, "init cannot take C, in global memory, as its destination"));
  p = build_naive(problem);
  stmt_last(p->kernel[0].body->body->body)->op.dst =
      access2(program_buffer(p, ROLE_A), num(0), num(0));
  ck_assert(
      says(interpret(arena, p, &(InterpOptions){0}), FINDING_OPERAND, "the input A is written"));
  p = build_naive(problem);
  p->kernel[0].body->var = new_var(p, "t", TIER_THREAD, 8);
  p->kernel[0].body->body->body->op.dst.idx[0] =
      ex_mod(arena, ex_var(arena, p->kernel[0].body->var), 2);
  ck_assert(says(interpret(arena, p, &(InterpOptions){0}), FINDING_OPERAND,
                 "the index of register x differs between the lanes"));
}
END_TEST

START_TEST(a_statement_behind_the_hardware_loops_is_told) {
  Recipe recipe = sound[0];
  Program *p = build(&recipe);
  stmt_list(p->kernel[0].body, plain(p, OP_BARRIER, 0), NULL);
  ck_assert(says(interpret(arena, p, &(InterpOptions){0}), FINDING_OPERAND,
                 "a statement stands behind a loop over blocks or threads"));
}
END_TEST

START_TEST(endless_and_enormous_programs_end) {
  Recipe recipe = sound[0];
  const InterpResult *cut = interpret(arena, build(&recipe), &(InterpOptions){.step_limit = 1000});
  ck_assert(!cut->finished);
  ck_assert(says(cut, FINDING_TOO_LONG, "1000 steps"));
  Program *huge = build_naive((Problem){100000, 100000, 10, DTYPE_F32, DTYPE_F32, DTYPE_F32});
  const InterpResult *result = interpret(arena, huge, &(InterpOptions){0});
  ck_assert(!result->finished);
  ck_assert(says(result, FINDING_TOO_LARGE, "10000000000 elements"));
}
END_TEST

START_TEST(findings_beyond_the_limit_are_counted) {
  Recipe recipe = planted[0].recipe;
  InterpOptions options = {.seed = 1, .max_findings = 1};
  const InterpResult *result = interpret(arena, build(&recipe), &options);
  ck_assert_int_eq(result->n_findings, 1);
  ck_assert_int_gt(result->n_found, 100);
  ck_assert_int_gt(result->finding[0].times, 10);
}
END_TEST

START_TEST(a_run_can_end_at_the_first_finding) {
  Recipe recipe = planted[0].recipe;
  InterpOptions options = {.seed = 1, .stop_at_first = true};
  InterpCheck check = interpret_check(arena, build(&recipe), &options);
  ck_assert(!check.ok);
  ck_assert(!check.result->finished);
  ck_assert_int_le(check.n_found, 64);
}
END_TEST

// SCALE multiplies by the launch's alpha; the check knows what the program makes of A·B.
START_TEST(alpha_scales_the_result) {
  Problem problem = {5, 6, 7, DTYPE_F32, DTYPE_F32, DTYPE_F32};
  Program *naive = build_naive(problem), *scaled = build_naive(problem);
  Stmt *before = scaled->kernel[0].body->body->body->next;  // the loop over k
  Access acc = access1(program_buffer(scaled, ROLE_TEMP), num(0));
  Stmt *scale = stmt_op(scaled, KNOB_NONE, (Op){.kind = OP_SCALE, .dst = acc});
  scale->next = before->next;
  before->next = scale;
  ck_assert(interpret_check_naive(arena, naive, scaled, &(InterpOptions){.seed = 1}).ok);
  ck_assert(interpret_check(arena, scaled, &(InterpOptions){.seed = 1, .alpha = 3}).ok);
  InterpCheck check = interpret_check(arena, naive, &(InterpOptions){.seed = 1, .factor = 2});
  ck_assert_int_ge(check.n_wrong, 25);
  check = interpret_check(arena, scaled, &(InterpOptions){.seed = 1, .factor = 1});
  ck_assert_int_ge(check.n_wrong, 25);
}
END_TEST

// The sentence of a race names both sides; the record agrees with it.
START_TEST(a_race_names_both_sides) {
  Recipe recipe = planted[0].recipe;
  const InterpResult *result = interpret(arena, build(&recipe), &(InterpOptions){.seed = 1});
  const Finding *f = &result->finding[0];
  ck_assert_int_eq(f->kind, FINDING_RACE);
  ck_assert_ptr_nonnull(f->who.stmt);
  ck_assert_ptr_nonnull(f->other.stmt);
  ck_assert_int_ne(f->who.thread, f->other.thread);
  ck_assert_int_eq(f->who.block, f->other.block);
  char who[64], other[64];
  snprintf(who, sizeof who, "warp %d lane %d ", f->who.thread / 32, f->who.thread % 32);
  snprintf(other, sizeof other, "stmt %d)", f->other.stmt->id);
  ck_assert_ptr_nonnull(strstr(f->text, who));
  ck_assert_ptr_nonnull(strstr(f->text, other));
}
END_TEST

// Where the fault is, the map shows it: the K tail is lost in every tile, one block's slab in one.
START_TEST(the_error_map_counts_by_tile) {
  Recipe recipe = {ODD, PLAIN, .slabs = 1, .fault = LAST_ROW_UNSTORED};
  InterpCheck check = run_check(&recipe);
  ck_assert_int_eq(check.tile_m, 16);
  ck_assert_int_eq(check.tiles_m, 3);
  ck_assert_int_eq(check.tiles_n, 2);
  static const int expected[] = {0, 0, 0, 0, 16, 15};
  ck_assert_mem_eq(check.wrong_in_tile, expected, sizeof expected);
  ck_assert_int_eq(check.n_wrong, 31);
  ck_assert_int_eq(check.wrong_row, 32);
  ck_assert_int_eq(check.wrong_column, 0);
}
END_TEST

Suite *suite_interp(void) {
  Suite *suite = suite_create("interp");
  TCase *tc = tcase_create("interp");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, sound_programs_are_silent_and_exact, 0, N_SOUND);
  tcase_add_test(tc, naive_nest_agrees_with_the_loop);
  tcase_add_test(tc, naive_and_tiled_agree_with_each_other);
  tcase_add_test(tc, counts_are_those_of_the_nest);
  tcase_add_test(tc, same_seed_same_run);
  tcase_add_test(tc, inputs_are_small_whole_numbers_without_zero);
  tcase_add_loop_test(tc, planted_faults_are_told, 0, N_PLANTED);
  tcase_add_loop_test(tc, planted_recipes_are_sound_without_their_fault, 0, N_PLANTED);
  tcase_add_loop_test(tc, races_do_not_depend_on_the_seed, 0, 4);
  tcase_add_test(tc, wide_accesses);
  tcase_add_test(tc, variables_stay_in_their_range);
  tcase_add_test(tc, swizzled_columns_are_a_permutation);
  tcase_add_test(tc, operands_of_a_wrong_kind_are_told);
  tcase_add_test(tc, a_statement_behind_the_hardware_loops_is_told);
  tcase_add_test(tc, endless_and_enormous_programs_end);
  tcase_add_test(tc, findings_beyond_the_limit_are_counted);
  tcase_add_test(tc, a_run_can_end_at_the_first_finding);
  tcase_add_test(tc, alpha_scales_the_result);
  tcase_add_test(tc, a_race_names_both_sides);
  tcase_add_test(tc, the_error_map_counts_by_tile);
  suite_add_tcase(suite, tc);
  return suite;
}
