// Attention as three naive nests, which hand on what they found in global memory.
//
//   scores    for h, q, t   S[h, q, t] = sum over e of Q[h, q, e] * K[h, e, t]
//   softmax   for h, q      the largest score of the row; P[h, q, t] = exp2(alpha * (S - largest));
//                           L[h, q] = the sum of that
//   apply     for h, q, d   O[h, q, d] = sum over t of P[h, q, t] * V[h, t, d], divided by L[h, q]
//
// P is rounded to the operands' type before it is multiplied, and not yet divided by L, so that
// fusing the three changes no rounding. A key that a query does not see has a score of -infinity,
// hence a weight of 0.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId none = KNOB_NONE;

const Expr *attention_unseen_key(const Program *program, const Expr *q, const Expr *t) {
  const Problem *problem = &program->problem;
  if (!problem->causal) return NULL;
  return ex_lt(program->arena, ex_add_const(program->arena, q, problem->n - problem->m), t);
}

Access operand_element(Program *program, const Product *product, int operand, const Expr *row,
                       const Expr *column) {
  Buffer *buffer = program_buffer(program, product->operand[operand].global);
  if (!product->batch) return access2(buffer, row, column);
  return access3(buffer, axis_expr(program->arena, product->batch), row, column);
}

const char *axis_digit_name(Program *program, const Axis *axis, const char *ending) {
  return arena_printf(program->arena, "%s%s", axis->name, ending);
}

// The variable changes its tier alone, for all kernels at once: they have the same heads.
void attention_bind_batch(Program *program, const Product *product) {
  if (product->batch)
    attention_bind_batch_of(program, product, product_kernel_of(program, product));
}

void attention_bind_batch_of(Program *program, const Product *product, Kernel *kernel) {
  Digit *digit = &product->batch->digit[0];
  Stmt *loop = kernel->body;
  Var *serial_var = loop->var;
  if (digit->var->tier != TIER_BLOCK)
    digit->var = program_var(program, digit->var->name, VAR_LOOP, TIER_BLOCK, digit->var->extent);
  stmt_substitute(program, loop->body, serial_var, ex_var(program->arena, digit->var));
  loop->var = digit->var;
  loop->knob = KNOB_HEADS;
}

Buffer *attention_new_registers(Program *program, const char *name, BufferRole role, int64_t rows,
                                int64_t columns, KnobId knob) {
  const int64_t dim[2] = {rows, columns};
  return program_new_buffer(program, name, SPACE_REGISTER, role, columns ? 2 : 1, dim, knob);
}

// ---- pieces -------------------------------------------------------------------------------------

// A loop variable for the digit of an axis that has none yet.
static const Expr *serial(Program *program, Axis *axis) {
  if (axis->n_digits == 0)
    axis->digit[axis->n_digits++] =
        (Digit){program_var(program, axis->name, VAR_LOOP, TIER_SERIAL, axis->extent), 1};
  return ex_var(program->arena, axis->digit[0].var);
}

static Stmt *over(Program *program, const Axis *axis, Stmt *body) {
  return stmt_loop(program, none, axis->digit[0].var, body);
}

static Stmt *op1(Program *program, OpKind kind, Access dst, Access src) {
  return stmt_op(program, none, (Op){.kind = kind, .dst = dst, .src = src});
}

static Stmt *constant(Program *program, Access dst, double value) {
  return stmt_op(program, none, (Op){.kind = OP_INIT, .dst = dst, .value = value});
}

static void add_kernel(Program *program, const char *name, Stmt *body) {
  program->kernel[program->n_kernels++] = (Kernel){.name = name, .body = body, .knob = none};
}

static Access register_at(Program *program, const Product *product, int operand) {
  const Expr *zero = ex_const(program->arena, 0);
  Buffer *buffer = program_buffer(program, product->operand[operand].registers);
  return buffer->rank == 2 ? access2(buffer, zero, zero) : access1(buffer, zero);
}

static void add_registers(Program *program, const Product *product, const char *const names[]) {
  for (int operand = ATOM_A; operand <= ATOM_C; operand++)
    attention_new_registers(program, names[operand], product->operand[operand].registers, 1,
                            operand == ATOM_C ? 1 : 0, none);
}

// One cell of a product: its sum, `behind` it, and the store.
static Stmt *cell(Program *program, const Product *product, Stmt *behind) {
  const Expr *zero = ex_const(program->arena, 0);
  Access at[ATOM_OPERANDS], to[ATOM_OPERANDS];
  for (int i = 0; i < ATOM_OPERANDS; i++) {
    at[i] = register_at(program, product, i);
    to[i] = operand_element(program, product, i, zero, zero);
  }
  Op multiply = {.kind = OP_FMA, .dst = at[ATOM_C], .src = at[ATOM_A], .src2 = at[ATOM_B]};
  Stmt *step = stmt_list(op1(program, OP_LOAD, at[ATOM_A], to[ATOM_A]),
                         op1(program, OP_LOAD, at[ATOM_B], to[ATOM_B]),
                         stmt_op(program, none, multiply), NULL);
  Stmt *sum =
      stmt_list(constant(program, at[ATOM_C], 0), over(program, product->axis[AXIS_K], step), NULL);
  Stmt *store = op1(program, OP_STORE, to[ATOM_C], at[ATOM_C]);
  return behind ? stmt_list(sum, behind, store, NULL) : stmt_list(sum, store, NULL);
}

static void product_kernel(Program *program, const Product *product, const char *name,
                           Stmt *behind) {
  Stmt *nest = over(program, product->axis[AXIS_N], cell(program, product, behind));
  nest = over(program, product->axis[AXIS_M], nest);
  add_kernel(program, name, over(program, product->batch, nest));
  program_apply_axes(program, product);
}

// ---- kernels ------------------------------------------------------------------------------------

static Stmt *hide_unseen(Program *program, const Product *scores) {
  const Expr *q = ex_var(program->arena, scores->axis[AXIS_M]->digit[0].var);
  const Expr *t = ex_var(program->arena, scores->axis[AXIS_N]->digit[0].var);
  const Expr *unseen = attention_unseen_key(program, q, t);
  if (!unseen) return NULL;
  Access at = register_at(program, scores, ATOM_C);
  Stmt *hide = stmt_if(program, none, unseen, constant(program, at, (double)-__builtin_inf()));
  hide->note = "the query does not see this key";
  return hide;
}

static Stmt *softmax_row(Program *program, const Product *scores, Access sums) {
  Arena *arena = program->arena;
  const Expr *zero = ex_const(arena, 0), *h = axis_expr(arena, scores->batch);
  const Expr *q = axis_expr(arena, scores->axis[AXIS_M]);
  const Expr *t = axis_expr(arena, scores->axis[AXIS_N]);
  Access x = access1(program_buffer(program, ROLE_TEMP), zero);
  Access largest = access1(program_buffer(program, ROLE_ROW_MAX), zero);
  Access base = access1(program_buffer(program, ROLE_ROW_BASE), zero);
  Access sum = access1(program_buffer(program, ROLE_ROW_SUM), zero);
  Access score = access3(program_buffer(program, ROLE_SCORES), h, q, t);
  Access weight = access3(program_buffer(program, ROLE_WEIGHTS), h, q, t);
  Op power = {.kind = OP_EXP2, .dst = x, .src = x, .src2 = base};
  Stmt *find = stmt_list(op1(program, OP_LOAD, x, score), op1(program, OP_MAX, largest, x), NULL);
  Stmt *weigh = stmt_list(op1(program, OP_LOAD, x, score), stmt_op(program, none, power),
                          op1(program, OP_ADD, sum, x), op1(program, OP_STORE, weight, x), NULL);
  return stmt_list(
      constant(program, largest, (double)-__builtin_inf()),
      over(program, scores->axis[AXIS_N], find), op1(program, OP_CONVERT, base, largest),
      stmt_op(program, none, (Op){.kind = OP_SCALE, .dst = base}), constant(program, sum, 0),
      over(program, scores->axis[AXIS_N], weigh), op1(program, OP_STORE, sums, sum), NULL);
}

static Stmt *divide_row(Program *program, const Product *values, Access sums) {
  Access sum = access1(program_buffer(program, ROLE_ROW_DIVISOR), ex_const(program->arena, 0));
  return stmt_list(op1(program, OP_LOAD, sum, sums),
                   op1(program, OP_DIV, register_at(program, values, ATOM_C), sum), NULL);
}

static void add_temporaries(Program *program) {
  const Problem *problem = &program->problem;
  const int64_t dim[3] = {problem->heads, problem->m, problem->n};
  program_new_buffer(program, "S", SPACE_GLOBAL, ROLE_SCORES, 3, dim, none);
  program_new_buffer(program, "P", SPACE_GLOBAL, ROLE_WEIGHTS, 3, dim, none);
  program_new_buffer(program, "L", SPACE_GLOBAL, ROLE_ROW_SUMS, 2, dim, none);
}

// Tells what the softmax has of a row, and what the product behind it is divided by.
static void add_row_registers(Program *program) {
  static const struct {
    const char *name;
    BufferRole role;
  } rows[] = {{"row_max", ROLE_ROW_MAX},
              {"row_base", ROLE_ROW_BASE},
              {"row_sum", ROLE_ROW_SUM},
              {"of_row", ROLE_ROW_DIVISOR},
              {"x", ROLE_TEMP}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    attention_new_registers(program, rows[i].name, rows[i].role, 1, 0, none);
}

Program *attention_nest(Arena *arena, Problem problem) {
  static const char *const score_names[] = {"Q_f", "K_f", "S_f"};
  static const char *const value_names[] = {"P_f", "V_f", "O_f"};
  Program *program = program_new(arena, problem);
  Product *scores = &program->product[0], *values = &program->product[1];
  add_temporaries(program);
  add_registers(program, scores, score_names);
  add_registers(program, values, value_names);
  add_row_registers(program);
  for (int i = 0; i < program->n_axes; i++) serial(program, &program->axis[i]);
  scores->kernel = KERNEL_SCORES;
  values->kernel = program->main_kernel = KERNEL_APPLY;
  Access sums = access2(program_buffer(program, ROLE_ROW_SUMS), axis_expr(arena, scores->batch),
                        axis_expr(arena, scores->axis[AXIS_M]));
  product_kernel(program, scores, "scores", hide_unseen(program, scores));
  Stmt *row = softmax_row(program, scores, sums);
  row = over(program, scores->batch, over(program, scores->axis[AXIS_M], row));
  add_kernel(program, "softmax", row);
  product_kernel(program, values, "apply", divide_row(program, values, sums));
  return program;
}
