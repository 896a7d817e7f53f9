// Rows of sums, as lanes have them: what attention does between its products.
//
// Which row a value of an atom's sums belongs to, and which lanes share it, is read off the atom's
// fragment map (fragment_rows). Worked example, m16n8k16, row = lane / 4 + value / 2 % 2 · 8: a
// lane has two rows, of values 0 and 1 and of values 2 and 3, each shared by lanes l ^ 1, l ^ 2 and
// l ^ 3.
#include "model/passes/attention/row_values.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

static FragmentMap sums_of(const Product *product) { return fragment_map(product->atom, ATOM_C); }

static FragmentRows rows_of(const Product *product) {
  const FragmentMap map = sums_of(product);
  return fragment_rows(&map);
}

static int64_t rows_of_lane(const Product *product) { return rows_of(product).n_rows; }

const Expr *row_of_value(Program *program, const Product *product, const Expr *value) {
  const FragmentRows rows = rows_of(product);
  return layout_bits_expr(program->arena, value, rows.count_of_value_bit,
                          sums_of(product).n_value_bits);
}

static const Expr *value_of_row(Program *program, const Product *product, const Expr *row) {
  const FragmentRows rows = rows_of(product);
  return layout_bits_expr(program->arena, row, rows.value_of_row_bit, rows.n_row_bits);
}

int64_t lanes_of_row(const Product *product) { return rows_of(product).lane_mask; }

static Var *counter(Program *program, const char *name, int64_t extent) {
  return program_var(program, name, VAR_LOOP, TIER_REGISTER, extent);
}

Stmt *rows_over_values(Program *program, const Product *product, KnobId knob, ValueOp *op,
                       const void *context) {
  Arena *arena = program->arena;
  Var *m = axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var;
  Var *n = axis_digit(product->axis[AXIS_N], TIER_REGISTER)->var;
  Var *value = counter(program, "v", sums_of(product).n_values);
  const Expr *at[3] = {ex_var(arena, m), ex_var(arena, n), ex_var(arena, value)};
  Stmt *stmt = stmt_op(program, knob, op(program, product, at, context));
  stmt = stmt_wrap_register(program, knob, n, stmt_wrap_register(program, knob, value, stmt));
  return stmt_wrap_register(program, knob, m, stmt);
}

Stmt *rows_over_rows(Program *program, const Product *product, KnobId knob, ValueOp *op,
                     const void *context) {
  Arena *arena = program->arena;
  Var *m = axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var;
  Var *row = counter(program, "i", rows_of_lane(product));
  const Expr *at[3] = {ex_var(arena, m), ex_var(arena, row), NULL};
  Stmt *stmt = stmt_op(program, knob, op(program, product, at, context));
  return stmt_wrap_register(program, knob, m, stmt_wrap_register(program, knob, row, stmt));
}

// ---- what stands behind a product's sums --------------------------------------------------------

static Access sum_at(Program *program, const Product *product, const Expr *at[3]) {
  Buffer *sums = program_buffer(program, product->operand[ATOM_C].registers);
  return access3(sums, at[0], at[1], at[2]);
}

static Op hide(Program *program, const Product *product, const Expr *at[3], const void *context) {
  (void)context;
  return (Op){
      .kind = OP_INIT, .dst = sum_at(program, product, at), .value = (double)-__builtin_inf()};
}

// The row or column of the axis that a value of the sums lies in.
static const Expr *place(Program *program, const Product *product, int axis, const Expr *value) {
  return ex_add(program->arena, axis_expr(program->arena, product->axis[axis]),
                fragment_part_of(program, product, ATOM_C, axis, value));
}

// The innermost statement of the nest stands under the condition.
static Stmt *only_if(Program *program, Stmt *nest, const Expr *condition) {
  Stmt **link = &nest;
  while ((*link)->kind == STMT_LOOP) link = &(*link)->body;
  *link = stmt_if(program, (*link)->knob, condition, *link);
  return nest;
}

static Var *value_variable(Stmt *nest) {
  while (nest->body->kind == STMT_LOOP) nest = nest->body;
  return nest->var;
}

// Where along the axis the part begins that a warp holds sums of, or a warpgroup; its length.
static const Expr *part_begin(Program *program, const Axis *axis) {
  const Expr *sum = ex_const(program->arena, 0);
  for (int i = 0; i < axis->n_digits; i++) {
    const Digit *digit = &axis->digit[i];
    if (digit->var->tier == TIER_REGISTER) continue;
    const Expr *var = ex_var(program->arena, digit->var);
    sum = ex_add(program->arena, sum, ex_mul_const(program->arena, var, digit->weight));
  }
  return sum;
}

// Whether query q does not see key t, or there is no such key.
static const Expr *hidden_key(Program *program, const Expr *q, const Expr *t, bool beyond_keys) {
  const Expr *last = ex_const(program->arena, program->problem.n - 1);
  return beyond_keys ? ex_lt(program->arena, last, t) : attention_unseen_key(program, q, t);
}

// If any key is hidden from any query, the last key is hidden from the first query. The test does
// not depend on the lane, so warps that see all their scores jump over the comparisons of each.
static const Expr *hides_some(Program *program, const Product *scores, bool beyond_keys) {
  const Axis *keys = scores->axis[AXIS_N];
  const Expr *last =
      ex_add_const(program->arena, part_begin(program, keys), axis_register_part(keys) - 1);
  return hidden_key(program, part_begin(program, scores->axis[AXIS_M]), last, beyond_keys);
}

Stmt *rows_hide_values(Program *program, const Product *scores, KnobId knob, bool beyond_keys) {
  Stmt *nest = rows_over_values(program, scores, knob, hide, NULL);
  const Expr *value = ex_var(program->arena, value_variable(nest));
  const Expr *q = place(program, scores, AXIS_M, value), *t = place(program, scores, AXIS_N, value);
  const Expr *some = hides_some(program, scores, beyond_keys);
  nest = only_if(program, nest, hidden_key(program, q, t, beyond_keys));
  return expr_is_const(some, 1) ? nest : stmt_if(program, knob, some, nest);
}

static Op load_row(Program *program, const Product *product, const Expr *at[3],
                   const void *context) {
  const Access *to = context;
  Arena *arena = program->arena;
  const Expr *row = place(program, product, AXIS_M, value_of_row(program, product, at[1]));
  Buffer *sums = program_buffer(program, ROLE_ROW_SUMS);
  return (Op){.kind = OP_LOAD,
              .dst = access2(to->buffer, at[0], at[1]),
              .src = access2(sums, axis_expr(arena, product->batch), row)};
}

Op rows_by_row(Program *program, const Product *product, OpKind kind, const Expr *at[3],
               Buffer *rows) {
  return (Op){.kind = kind,
              .dst = sum_at(program, product, at),
              .src = access2(rows, at[0], row_of_value(program, product, at[2]))};
}

static Op divide(Program *program, const Product *product, const Expr *at[3], const void *context) {
  const Access *by = context;
  return rows_by_row(program, product, OP_DIV, at, by->buffer);
}

void rows_shape(const Product *product, Buffer *buffer, KnobId knob) {
  const int64_t atoms = axis_digit(product->axis[AXIS_M], TIER_REGISTER)->var->extent;
  buffer->rank = 2;
  buffer->dim[0] = atoms;
  buffer->dim[1] = buffer->stride[0] = rows_of_lane(product);
  buffer->stride[1] = 1;
  buffer->knob = knob;
}

Stmt *attention_behind_sum(Program *program, const Product *product) {
  static const KnobId knob = KNOB_ATOM_KIND;
  if (product == &program->product[0])
    return program->problem.causal ? rows_hide_values(program, product, knob, false) : NULL;
  Access of_row = {.buffer = program_buffer(program, ROLE_ROW_DIVISOR)};
  rows_shape(product, of_row.buffer, knob);
  return stmt_list(rows_over_rows(program, product, knob, load_row, &of_row),
                   rows_over_values(program, product, knob, divide, &of_row), NULL);
}
