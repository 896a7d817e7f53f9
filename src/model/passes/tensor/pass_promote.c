// Sums of wgmma over all slabs → over runs of slabs, each of which is added to the accumulators.
//
// Requires: mma_groups with every slab waited for. Ensures: wgmma sums into `run`, registers beside
// the accumulators and of the same number; behind the wait of every PROMOTE-th slab each thread
// adds them to acc, and the next slab's first product begins them anew (scale-d is 0). Of a split
// product runs end from the last slab of the small products on: what wgmma loses of those is far
// below the last bit of the sum. Preserves: the ring; slots are released in front of the adds.
//
// wgmma does not round its sums but cuts them off, always towards 0: over 4096 products of positive
// numbers 1.4e-5 of the sum is lost (6xbf16, H100, CUDA 13.0, 2026-11-28), and cuBLAS's fp32 is off
// by 2.5e-7. Adds of fp32 round to nearest, so only a run's own loss is left: 256 deep 3.8e-7.
//
// Worked example, 6xbf16 with 64 slabs a product, PROMOTE=2: slabs 0 … 319 are one run, which ends
// at 319; then 320 and 321, 322 and 323, …
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_PROMOTE;

bool pass_promote_wanted(const Schedule *schedule) {
  return schedule->value[knob] && pass_mma_groups_wanted(schedule);
}

// The last slab of the small products of a split, and 0 without one: no run ends before it.
static int64_t first_end(const Program *program, int64_t slabs, int64_t every) {
  const SplitKind split = program->problem.split;
  if (!split) return every - 1;
  const int products = split_facts(split)->products;
  return slabs / products * (products - 1) - 1;
}

// Which slabs end runs, and begin them: from `first` on every `every`-th.
typedef struct Runs {
  int64_t first, every;
} Runs;

// (k_o + shift) % every is 0.
static const Expr *each_run(Arena *arena, const Runs *runs, const Expr *k_o, int64_t shift) {
  const Expr *place = ex_mod(arena, ex_add_const(arena, k_o, shift), runs->every);
  return ex_binary(arena, EXPR_EQ, place, ex_const(arena, 0));
}

static const Expr *ends_run(Arena *arena, const Runs *runs, const Expr *k_o) {
  const int64_t shift = (runs->first / runs->every + 1) * runs->every - runs->first;
  return ex_land(arena, ex_lt(arena, ex_const(arena, runs->first - 1), k_o),
                 each_run(arena, runs, k_o, shift));
}

// Slab 0 begins the first one.
static const Expr *begins_run(Arena *arena, const Runs *runs, const Expr *k_o) {
  const int64_t shift = (runs->first / runs->every + 1) * runs->every - runs->first - 1;
  const Expr *later = ex_land(arena, ex_lt(arena, ex_const(arena, runs->first), k_o),
                              each_run(arena, runs, k_o, shift));
  return ex_select(arena, ex_lt(arena, ex_const(arena, 0), k_o), later, ex_const(arena, 1));
}

// acc += run, register by register.
static Stmt *add_run(Program *program, const Buffer *acc, Buffer *run, const Access *sums) {
  Arena *arena = program->arena;
  Var *v = program_var(program, "v_s", VAR_LOOP, TIER_REGISTER, acc->dim[2]);
  const Expr *value = ex_var(arena, v);
  Op add = {.kind = OP_ADD,
            .dst = access3(sums->buffer, sums->idx[0], sums->idx[1], value),
            .src = access3(run, sums->idx[0], sums->idx[1], value)};
  return stmt_wrap_register(program, knob, v, stmt_op(program, knob, add));
}

void pass_promote(Program *program, Product *product, const Schedule *schedule) {
  Arena *arena = program->arena;
  const int64_t every = schedule->value[knob];
  Stmt *k_o = program_slab_loop(program), *k_i = *stmt_find_multiply(product, &k_o->body);
  Stmt *multiply = stmt_find_op(k_i, OP_WGMMA, product->operand[ATOM_C].registers);
  const Access sums = multiply->op.dst;
  Buffer *acc = sums.buffer;
  Buffer *run =
      program_new_buffer(program, "run", SPACE_REGISTER, ROLE_RUN, acc->rank, acc->dim, knob);
  const Runs runs = {first_end(program, k_o->var->extent, every), every};
  const Expr *slab = ex_var(arena, k_o->var), *step = ex_var(arena, k_i->var);
  const Expr *goes_on =
      ex_select(arena, begins_run(arena, &runs, slab), ex_const(arena, 0), ex_const(arena, 1));
  multiply->op.scale_d = ex_lt(arena, ex_const(arena, 0), ex_add(arena, step, goes_on));
  multiply->op.dst.buffer = run;
  Op init = {.kind = OP_INIT,
             .dst = access3(acc, sums.idx[0], sums.idx[1], ex_const(arena, 0)),
             .width = (int)acc->dim[2]};
  const Axis *m = product->axis[AXIS_M], *n = product->axis[AXIS_N];
  Stmt *zero = stmt_wrap_register(program, knob, axis_digit(n, TIER_REGISTER)->var,
                                  stmt_op(program, knob, init));
  zero = stmt_wrap_register(program, knob, axis_digit(m, TIER_REGISTER)->var, zero);
  Stmt *inner = kernel_inner(program_main_kernel(program));
  Stmt **link = &inner->body;
  while (*link != k_o) link = &(*link)->next;
  stmt_insert(link, zero);
  Stmt *adds = stmt_wrap_register(program, knob, axis_digit(n, TIER_REGISTER)->var,
                                  add_run(program, acc, run, &sums));
  adds = stmt_wrap_register(program, knob, axis_digit(m, TIER_REGISTER)->var, adds);
  Stmt *end = stmt_if(program, knob, ends_run(arena, &runs, slab), adds);
  end->note = "the run's sums join the others, rounded to nearest";
  stmt_insert(&stmt_last(k_o->body)->next, end);
}
