// One block per tile of C → SPLITK blocks per tile, each with a part of K.
//
// Requires: tile. Ensures: a BLOCK loop k_s outermost, k = k_s·P + k' with P a whole number of
// slabs; the parts meet either by atomic adds onto a C that a kernel `zero` has cleared, or as
// partial sums [SPLITK][M][N] that a kernel `reduce` adds up (ATOMIC_FREE_SPLITK). Preserves: the
// tile.
//
// Worked example, K = 16384, SPLITK = 8: P = 2048 and 8 times the blocks. It is not enough to
// let split 0 store and the others add: nothing orders split 0 first, and its store may wipe out a
// sum that another split has already added. That is why there is a `zero` kernel.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/flat_kernel.h"
#include "model/passes/passes.h"

bool pass_split_k_wanted(const Schedule *schedule) { return schedule->value[KNOB_SPLITK] > 1; }

static Flat cells_of(Program *program, const Buffer *c) {
  return flat_cells(program, c->dim[0], c->dim[1], 1);
}

static Buffer *temp_register(Program *program, const char *name, KnobId knob) {
  return flat_registers(program, name, ROLE_TEMP, 1, knob);
}

static Kernel zero_kernel(Program *program, Buffer *c) {
  const Expr *zero = ex_const(program->arena, 0);
  Flat flat = cells_of(program, c);
  Access at = access1(temp_register(program, "zero", KNOB_SPLITK), zero);
  Access C = access2(c, flat.slow, flat.fast);
  Stmt *body =
      stmt_list(stmt_op(program, KNOB_SPLITK, (Op){.kind = OP_INIT, .dst = at}),
                stmt_op(program, KNOB_SPLITK, (Op){.kind = OP_STORE, .dst = C, .src = at}), NULL);
  return (Kernel){
      .name = "zero", .body = flat_bind(program, KNOB_SPLITK, flat, body), .knob = KNOB_SPLITK};
}

static Kernel reduce_kernel(Program *program, Buffer *c, Buffer *partial) {
  KnobId knob = KNOB_ATOMIC_FREE_SPLITK;
  Arena *arena = program->arena;
  const Expr *zero = ex_const(arena, 0);
  Flat flat = cells_of(program, c);
  Var *split = program_var(program, "s", VAR_LOOP, TIER_SERIAL, partial->dim[0]);
  Access sum = access1(temp_register(program, "sum", knob), zero);
  Access part = access1(temp_register(program, "part", knob), zero);
  Access P = access3(partial, ex_var(arena, split), flat.slow, flat.fast);
  Access C = access2(c, flat.slow, flat.fast);
  Stmt *step =
      stmt_list(stmt_op(program, knob, (Op){.kind = OP_LOAD, .dst = part, .src = P}),
                stmt_op(program, knob, (Op){.kind = OP_ADD, .dst = sum, .src = part}), NULL);
  Stmt *body =
      stmt_list(stmt_op(program, knob, (Op){.kind = OP_INIT, .dst = sum}),
                stmt_loop(program, knob, split, step),
                stmt_op(program, knob, (Op){.kind = OP_STORE, .dst = C, .src = sum}), NULL);
  return (Kernel){.name = "reduce", .body = flat_bind(program, knob, flat, body), .knob = knob};
}

static void split_axis(Program *program, const Product *product, const Schedule *schedule) {
  Axis *k = product->axis[AXIS_K];
  int64_t splits = schedule->value[KNOB_SPLITK], bk = schedule->value[KNOB_BK];
  int64_t step = k->digit[0].weight;  // 1, or the depth of an atom
  int64_t part = ceil_div(ceil_div(k->digit[0].var->extent, splits), bk) * bk;
  Kernel *kernel = program_main_kernel(program);
  Stmt *loop = stmt_find_loop(kernel->body, k->digit[0].var);
  Var *outer = program_var(program, "k_s", VAR_LOOP, TIER_BLOCK, splits);
  loop->var = program_var(program, "k", VAR_LOOP, TIER_SERIAL, part);
  k->n_digits = 2;
  k->digit[0] = (Digit){outer, part * step};
  k->digit[1] = (Digit){loop->var, step};
  kernel->body = stmt_loop(program, KNOB_SPLITK, outer, kernel->body);
  program_apply_axes(program, product);
}

static void store_partials(Program *program, const Product *product, Stmt *store) {
  Buffer *c = store->op.dst.buffer;
  const Var *splits = product->axis[AXIS_K]->digit[0].var;
  int64_t dim[3] = {splits->extent, c->dim[0], c->dim[1]};
  Buffer *partial =
      program_new_buffer(program, "P", SPACE_GLOBAL, ROLE_PARTIAL, 3, dim, KNOB_ATOMIC_FREE_SPLITK);
  const Expr *split = ex_var(program->arena, splits);
  store->op.dst = access3(partial, split, store->op.dst.idx[0], store->op.dst.idx[1]);
  store->knob = KNOB_ATOMIC_FREE_SPLITK;
  program->kernel[program->n_kernels++] = reduce_kernel(program, c, partial);
}

static void add_atomically(Program *program, Stmt *store) {
  store->op.kind = OP_ATOMIC_ADD;
  store->knob = KNOB_SPLITK;
  program->kernel[1] = program->kernel[0];
  program->kernel[0] = zero_kernel(program, store->op.dst.buffer);
  program->n_kernels = 2;
  program->main_kernel = 1;
}

void pass_split_k(Program *program, Product *product, const Schedule *schedule) {
  split_axis(program, product, schedule);
  Stmt *store =
      stmt_find_op(program_main_kernel(program)->body, OP_STORE, product->operand[ATOM_C].global);
  if (schedule->value[KNOB_ATOMIC_FREE_SPLITK])
    store_partials(program, product, store);
  else
    add_atomically(program, store);
}
