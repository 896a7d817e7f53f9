// The body of a block that multiplies by tcgen05.
//
// A warpgroup has an atom's rows in the 128 lanes of tensor memory, FM x FN atoms side by side in
// columns of its own. Its first thread asks for the products of a step and commits them to
// acc_full; all of its threads wait for that, and behind the last step read their rows, a piece of
// columns at a time. Worked example, WM = 2, FM = 1, FN = 2, ATOM_N = 128: 512 columns, of which
// warpgroup 1 has 256 to 511, its second atom 384 to 511.
//
//   if tid == 0: init acc_full; fence.mbarrier_init
//   if tid < 32: tensor_base[0] = tcgen05.alloc 512 columns
//   barrier
//   for k
//     if lane == 0: sums += A * B, …; tcgen05.commit acc_full[g]
//     wait acc_full[g] phase k % 2
//     barrier      a warp that comes two phases late would wait for ever
//   tcgen05.fence::after_thread_sync
//   for each atom and piece: tcgen05.ld, tcgen05.wait::ld, store
//   barrier
//   if tid < 32: tcgen05.dealloc
#include "model/passes/tensor/tensor_body.h"

#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/tensor/tensor_factors.h"

static const KnobId knob = KNOB_ATOM_KIND;

enum { PIECE_USUAL = 32 };

int64_t tensor_piece(const Schedule *schedule, int n) {
  if (schedule->value[KNOB_EPI_N]) return schedule->value[KNOB_EPI_N];
  int64_t piece = PIECE_USUAL;
  while (n % piece) piece /= 2;
  return piece;
}

int64_t tensor_columns(const Schedule *schedule, int n) {
  const int64_t *v = schedule->value;
  return v[KNOB_ACC_BUFFERS] * v[KNOB_WM] * v[KNOB_WN] * v[KNOB_FM] * v[KNOB_FN] * n;
}

void tensor_buffers(Program *program, Product *product, const Schedule *schedule) {
  const int n = product->atom->n;
  ProductOperand *c = &product->operand[ATOM_C];
  Buffer *acc = program_buffer(program, c->registers);
  acc->rank = 1;
  acc->dim[0] = tensor_piece(schedule, n);
  acc->stride[0] = 1;
  acc->knob = knob;
  const int64_t dim[2] = {TENSOR_LANES, tensor_columns(schedule, n)}, one = 1;
  const int64_t *v = schedule->value, sets = v[KNOB_ACC_BUFFERS] * v[KNOB_WM] * v[KNOB_WN];
  program_new_buffer(program, "sums", SPACE_TENSOR, ROLE_SUMS, 2, dim, knob);
  tensor_factor_buffers(program, product, schedule, dim[1]);
  program_new_buffer(program, "acc_full", SPACE_BARRIER, ROLE_ACC_FULL, 1, &sets, knob);
  program_new_buffer(program, "tensor_base", SPACE_BARRIER, ROLE_TENSOR_BASE, 1, &one, knob);
  c->registers = ROLE_SUMS;
}

static Stmt *op_of(Program *program, OpKind kind) {
  return stmt_op(program, knob, (Op){.kind = kind});
}

static Stmt *noted(Stmt *stmt, const char *note) {
  stmt->note = note;
  return stmt;
}

static const Expr *digit_var(Program *program, const Product *product, int axis, Tier tier) {
  return ex_var(program->arena, axis_digit(product->axis[axis], tier)->var);
}

// Numbers the groups of a grid row by row.
static const Expr *row_major(Program *program, const Product *product, Tier tier) {
  Arena *arena = program->arena;
  const int64_t columns = axis_digit(product->axis[AXIS_N], tier)->var->extent;
  return ex_add(arena, ex_mul_const(arena, digit_var(program, product, AXIS_M, tier), columns),
                digit_var(program, product, AXIS_N, tier));
}

Access tensor_of_group(Program *program, const Product *product, Buffer *mbarriers) {
  return access1(mbarriers, row_major(program, product, TIER_WARP));
}

static Access full_of(Program *program, const Product *product) {
  return tensor_of_group(program, product, program_buffer(program, ROLE_ACC_FULL));
}

const Expr *tensor_tiles(const Program *program) {
  const Stmt *tiles = kernel_launch(program_main(program)).tiles;
  return tiles ? ex_var(program->arena, tile_turn(tiles)) : ex_const(program->arena, 0);
}

// The first column of the atom at hand.
static const Expr *column_of(Program *program, const Product *product) {
  Arena *arena = program->arena;
  const int64_t atoms = axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var->extent *
                        axis_digit(product->axis[AXIS_N], TIER_REGISTER)->var->extent;
  const Expr *atom =
      ex_add(arena, ex_mul_const(arena, row_major(program, product, TIER_WARP), atoms),
             row_major(program, product, TIER_REGISTER));
  return ex_mul_const(arena, atom, product->atom->n);
}

static Stmt *over_atoms(Program *program, const Product *product, Stmt *list) {
  const Var *rows = axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var;
  const Var *columns = axis_digit(product->axis[AXIS_N], TIER_REGISTER)->var;
  Stmt *inner = stmt_wrap_register(program, KNOB_FN, (Var *)(uintptr_t)columns, list);
  return stmt_wrap_register(program, KNOB_FM, (Var *)(uintptr_t)rows, inner);
}

static const Expr *is_first(Program *program, const Var *of) {
  Arena *arena = program->arena;
  return ex_binary(arena, EXPR_EQ, ex_var(arena, of), ex_const(arena, 0));
}

static Stmt *by_first_warp(Program *program, Op op) {
  Arena *arena = program->arena;
  const Expr *first = ex_lt(arena, ex_var(arena, program->thread), ex_const(arena, LANES));
  return stmt_if(program, knob, first, stmt_op(program, knob, op));
}

// Up to the last column of any buffer, or the number asked for.
static int64_t allocation(const Program *program, const Schedule *schedule) {
  int64_t end = 0;
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (buffer->space == SPACE_TENSOR) end = max64(end, buffer->column + buffer->dim[1]);
  }
  return max64(tensor_allocation(end), schedule->value[KNOB_TENSOR_COLUMNS]);
}

static Stmt *begin(Program *program, const Schedule *schedule) {
  Buffer *base = program_buffer(program, ROLE_TENSOR_BASE);
  Stmt *inits = tma_build_inits(program, program_buffer(program, ROLE_ACC_FULL), 1, knob);
  Stmt *all = stmt_list(inits, tma_fence_inits(program, knob), NULL);
  Stmt *init = stmt_if(program, knob, is_first(program, program->thread), all);
  Stmt *alloc = by_first_warp(program, (Op){.kind = OP_T_ALLOC,
                                            .dst = access1(base, ex_const(program->arena, 0)),
                                            .columns = allocation(program, schedule)});
  return stmt_list(noted(init, "a phase of acc_full ends when products are done"), alloc,
                   stmt_barrier(program, knob, "tensor memory is there"), NULL);
}

static Stmt *end(Program *program, const Schedule *schedule) {
  Buffer *base = program_buffer(program, ROLE_TENSOR_BASE);
  Op op = {.kind = OP_T_FREE,
           .src = access1(base, ex_const(program->arena, 0)),
           .columns = allocation(program, schedule)};
  return stmt_list(stmt_barrier(program, knob, "the sums are read"), by_first_warp(program, op),
                   NULL);
}

static Stmt *step(Program *program, const Product *product, const Access *operand) {
  Arena *arena = program->arena;
  const Expr *k = ex_var(arena, product->axis[AXIS_K]->digit[0].var);
  Op multiply = {.kind = OP_T_MMA,
                 .atom = product->atom,
                 .dst = access2(program_buffer(program, ROLE_SUMS), ex_const(arena, 0),
                                column_of(program, product)),
                 .src = operand[ATOM_A],
                 .src2 = operand[ATOM_B],
                 .enable_input_d = ex_lt(arena, ex_const(arena, 0), k)};
  tensor_find_factors(program, product, &multiply);
  tensor_factor_step(program, product, &multiply, k);
  Op commit = {.kind = OP_T_COMMIT, .dst = full_of(program, product)};
  Op wait = {.kind = OP_MBAR_WAIT, .dst = full_of(program, product), .phase = ex_mod(arena, k, 2)};
  Stmt *products = over_atoms(program, product, stmt_op(program, knob, multiply));
  Stmt *copies = tensor_factor_copies(program, product);
  if (copies) products = stmt_list(copies, products, NULL);
  Stmt *asks = stmt_list(products, stmt_op(program, knob, commit), NULL);
  Stmt *one = stmt_if(program, knob, is_first(program, product->lane), asks);
  return stmt_list(noted(one, "one thread asks for the warpgroup's products"),
                   stmt_op(program, knob, wait),
                   stmt_barrier(program, knob, "no warp is a phase behind"), NULL);
}

// A piece of columns: from tensor memory to C. The value that C's index goes by is a LET, so that
// it counts all columns of the atom.
static Stmt *piece(Program *program, const Product *product, Var *pieces, Var *values) {
  Arena *arena = program->arena;
  const ProductOperand *c = &product->operand[ATOM_C];
  Buffer *acc = program_buffer(program, ROLE_ACC), *sums = program_buffer(program, ROLE_SUMS);
  const Expr *zero = ex_const(arena, 0);
  const Expr *first = ex_mul_const(arena, ex_var(arena, pieces), acc->dim[0]);
  Op load = {.kind = OP_T_LD,
             .dst = access1(acc, zero),
             .src = access2(sums, ex_var(arena, product->lane),
                            ex_add(arena, column_of(program, product), first)),
             .width = (int)acc->dim[0]};
  Op store = {.kind = OP_STORE,
              .dst = operand_element(program, product, ATOM_C, zero, zero),
              .src = access1(acc, ex_mul_const(arena, ex_var(arena, values), c->value_width)),
              .width = c->value_width};
  const Expr *value = ex_add(arena, ex_mul_const(arena, ex_var(arena, pieces), values->extent),
                             ex_var(arena, values));
  Stmt *let = stmt_let(program, knob, c->value, value);
  Stmt *each = stmt_list(let, stmt_op(program, knob, store), NULL);
  return stmt_list(stmt_op(program, knob, load), op_of(program, OP_T_WAIT_LD),
                   stmt_loop(program, knob, values, each), NULL);
}

static Stmt *write_back(Program *program, const Product *product) {
  const ProductOperand *c = &product->operand[ATOM_C];
  const int64_t columns = program_buffer(program, ROLE_ACC)->dim[0];
  Var *pieces = program_var(program, "c_t", VAR_LOOP, TIER_REGISTER, product->atom->n / columns);
  Var *values = program_var(program, "v_t", VAR_LOOP, TIER_REGISTER, columns / c->value_width);
  Stmt *all = stmt_loop(program, knob, pieces, piece(program, product, pieces, values));
  return over_atoms(program, product, all);
}

Stmt *tensor_body(Program *program, const Product *product, const Schedule *schedule,
                  Access *operand) {
  Stmt *loop = stmt_loop(program, knob, product->axis[AXIS_K]->digit[0].var,
                         step(program, product, operand));
  return stmt_list(begin(program, schedule), loop, op_of(program, OP_T_AFTER),
                   write_back(program, product), end(program, schedule), NULL);
}

// ---- several tiles ------------------------------------------------------------------------------

void tensor_count_steps(Program *program, const Product *product) {
  Arena *arena = program->arena;
  const Stmt *outer = program_outer_k_loop(program), *inner = stmt_find_steps(product, outer->body);
  const int64_t in_slab = inner ? inner->var->extent : 1;
  const Expr *step = inner ? ex_var(arena, inner->var) : ex_const(arena, 0);
  const Expr *of_tile =
      ex_add(arena, ex_mul_const(arena, ex_var(arena, outer->var), in_slab), step);
  const Expr *of_block =
      ex_add(arena, ex_mul_const(arena, slab_counter(program, outer->var), in_slab), step);
  Op *multiply = &stmt_find_op(outer->body, OP_T_MMA, ROLE_SUMS)->op;
  multiply->enable_input_d = ex_lt(arena, ex_const(arena, 0), of_tile);
  tensor_factor_step(program, product, multiply, inner ? step : of_tile);
  stmt_find_op(outer->body, OP_MBAR_WAIT, ROLE_ACC_FULL)->op.phase = ex_mod(arena, of_block, 2);
}

void tensor_end_tile(Program *program, Stmt *tile) {
  Stmt **last = &tile;
  while ((*last)->next) last = &(*last)->next;
  (*last)->note = "the next tile may overwrite the sums";
  stmt_insert(last, op_of(program, OP_T_BEFORE));
  stmt_last(tile)->next = op_of(program, OP_T_AFTER);
}

// ---- taken apart --------------------------------------------------------------------------------

TensorFrame tensor_take_frame(Program *program) {
  Stmt **body = &kernel_block(program_main_kernel(program))->body;
  Stmt **link = stmt_find_link(body, OP_MBAR_INIT, ROLE_ACC_FULL);
  TensorFrame frame = {.begin = stmt_cut(link)};
  frame.begin->next = stmt_cut(link);
  frame.there = stmt_cut(link);
  Stmt **freed = stmt_find_link(body, OP_T_FREE, ROLE_COUNT);
  frame.end = stmt_cut(freed);
  return frame;
}
