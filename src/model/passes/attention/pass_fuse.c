// scores, softmax, apply → one kernel that goes through the keys block by block.
//
// Requires: atomize; WN = 1, so that a warp has whole rows of scores. Ensures: one kernel
// `attention`: h and q_b (BLOCK), q_w (WARP), lane outermost; t_o (SERIAL_OUTER) walks the keys,
// FN atoms of them at a time, and in it e_i and u_i (STAGE_INNER) are the steps of the two
// products. S, P and L are gone: scores become weights where they lie in registers, and weights
// become operand A there (relayout in fragment.h). Preserves: what is multiplied with what.
//
// The softmax goes along, with a maximum that may still grow. Worked example, one row whose blocks
// have the maxima 3, 5, 4, alpha = 1:
//
//   block  row_max  row_base  rescale                  row_sum, and O alike
//   0      3        3         exp2(-inf - 3) = 0       sum of exp2(s - 3)
//   1      5        5         exp2(3 - 5) = 1/4        1/4 of that + sum of exp2(s - 5)
//   2      5        5         exp2(5 - 5) = 1          that + sum of exp2(s - 5)
//
// and at the end O is divided by row_sum. Each lane adds up its own columns; the lanes of a row
// meet for the maximum in each block, for the sum once, behind the loop.
#include <assert.h>

#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/attention/row_values.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

static const KnobId knob = KNOB_FUSE;

bool pass_fuse_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_PROGRAM] == COMPUTES_ATTENTION && schedule->value[KNOB_FUSE];
}

typedef struct Rows {
  Buffer *max, *sum, *base, *rescale;
} Rows;

// ---- one row ------------------------------------------------------------------------------------

typedef struct RowOp {
  OpKind kind;
  Buffer *dst, *src, *src2;  // NULL: none
  double value;
  int64_t count;
} RowOp;

static Op row_op(Program *program, const Product *product, const Expr *at[3], const void *context) {
  (void)program, (void)product;
  const RowOp *row = context;
  Op op = {.kind = row->kind,
           .dst = access2(row->dst, at[0], at[1]),
           .value = row->value,
           .lane_bits = row->count};
  if (row->src) op.src = access2(row->src, at[0], at[1]);
  if (row->src2) op.src2 = access2(row->src2, at[0], at[1]);
  return op;
}

static Stmt *on_rows(Program *program, const Product *product, RowOp op) {
  return rows_over_rows(program, product, knob, row_op, &op);
}

static Access score_at(Program *program, const Product *product, const Expr *at[3]) {
  return access3(program_buffer(program, product->operand[ATOM_C].registers), at[0], at[1], at[2]);
}

// row = op(row, its scores)
static Op of_scores(Program *program, const Product *product, const Expr *at[3],
                    const void *context) {
  const RowOp *row = context;
  return (Op){.kind = row->kind,
              .dst = access2(row->dst, at[0], row_of_value(program, product, at[2])),
              .src = score_at(program, product, at)};
}

static Op weigh(Program *program, const Product *product, const Expr *at[3], const void *context) {
  const Rows *rows = context;
  const Access score = score_at(program, product, at);
  return (Op){.kind = OP_EXP2,
              .dst = score,
              .src = score,
              .src2 = access2(rows->base, at[0], row_of_value(program, product, at[2]))};
}

static Op rescale_sums(Program *program, const Product *product, const Expr *at[3],
                       const void *context) {
  const Rows *rows = context;
  return rows_by_row(program, product, OP_MUL, at, rows->rescale);
}

static Op divide_sums(Program *program, const Product *product, const Expr *at[3],
                      const void *context) {
  const Rows *rows = context;
  return rows_by_row(program, product, OP_DIV, at, rows->sum);
}

static Stmt *noted(Stmt *stmt, const char *note) {
  stmt->note = note;
  return stmt;
}

// Between the products of a block of keys.
static Stmt *online_softmax(Program *program, const Product *scores, const Product *values,
                            const Rows *r) {
  const int64_t lanes = lanes_of_row(scores);
  return stmt_list(
      noted(on_rows(program, scores, (RowOp){OP_CONVERT, r->rescale, r->max, NULL, 0, 0}),
            "the largest score of the blocks before"),
      rows_over_values(program, scores, knob, of_scores,
                       &(RowOp){OP_MAX, r->max, NULL, NULL, 0, 0}),
      on_rows(program, scores, (RowOp){OP_LANES_MAX, r->max, NULL, NULL, 0, lanes}),
      noted(on_rows(program, scores, (RowOp){OP_CONVERT, r->base, r->max, NULL, 0, 0}),
            "alpha times the largest score"),
      on_rows(program, scores, (RowOp){OP_SCALE, r->base, NULL, NULL, 0, 0}),
      on_rows(program, scores, (RowOp){OP_EXP2, r->rescale, r->rescale, r->base, 0, 0}),
      rows_over_values(program, scores, knob, weigh, r),
      on_rows(program, scores, (RowOp){OP_MUL, r->sum, r->rescale, NULL, 0, 0}),
      noted(rows_over_values(program, scores, knob, of_scores,
                             &(RowOp){OP_ADD, r->sum, NULL, NULL, 0, 0}),
            "add up the weights that this lane has"),
      rows_over_values(program, values, knob, rescale_sums, r), NULL);
}

static Rows add_rows(Program *program, const Product *product) {
  Rows rows = {program_buffer(program, ROLE_ROW_MAX), program_buffer(program, ROLE_ROW_SUM),
               program_buffer(program, ROLE_ROW_BASE),
               attention_new_registers(program, "rescale", ROLE_RESCALE, 1, 0, knob)};
  Buffer *all[] = {rows.max, rows.sum, rows.base, rows.rescale};
  for (int i = 0; i < 4; i++) rows_shape(product, all[i], knob);
  return rows;
}

// ---- weights as operand A -----------------------------------------------------------------------

// The step's fragment of P is that part of the scores which lies in its columns, two values at a
// time: both are in one register of P.
static Stmt *relayout(Program *program, Product *values, const Product *scores, const Var *step) {
  Arena *arena = program->arena;
  Relayout map;
  bool in_place = fragment_relayout(scores->atom, values->atom, &map);
  assert(in_place);
  (void)in_place;
  ProductOperand *p = &values->operand[ATOM_A];
  const int width = map.run;
  p->value_width = width;
  p->value = program_var(program, "v_p", VAR_LOOP, TIER_REGISTER, map.n_values / width);
  Var *atoms = axis_digit(values->axis[AXIS_M], TIER_REGISTER)->var;
  const Expr *m = ex_var(arena, atoms);
  const Expr *value = ex_mul_const(arena, ex_var(arena, p->value), width);
  const Expr *at = ex_var(arena, step);
  const Expr *first = ex_mul_const(arena, ex_div(arena, at, map.n_steps), map.n_atoms);
  const Expr *atom =
      ex_add(arena, first, layout_bits_expr(arena, value, map.atom_of_bit, map.n_bits));
  const Expr *begin = ex_mul_const(arena, ex_mod(arena, at, map.n_steps), map.step_values);
  const Expr *from =
      ex_add(arena, begin, layout_bits_expr(arena, value, map.value_of_bit, map.n_bits));
  Op op = {
      .kind = OP_CONVERT,
      .dst = access2(program_buffer(program, p->registers), m, value),
      .src = access3(program_buffer(program, scores->operand[ATOM_C].registers), m, atom, from),
      .width = width};
  Stmt *stmt = stmt_wrap_register(program, knob, p->value, stmt_op(program, knob, op));
  return stmt_wrap_register(program, KNOB_FM, atoms, stmt);
}

// ---- axes ---------------------------------------------------------------------------------------

// The loop over keys of both products: the blocks of the first one's columns.
static Var *walk_keys(Program *program, const Product *scores, Stmt *list) {
  Axis *t = scores->axis[AXIS_N];
  Digit block = t->digit[0], warp = t->digit[1], atom = t->digit[2];
  Var *walk = program_var(program, "t_o", VAR_LOOP, TIER_SERIAL_OUTER, block.var->extent);
  stmt_substitute(program, list, block.var, ex_var(program->arena, walk));
  stmt_substitute(program, list, warp.var, ex_const(program->arena, 0));
  t->n_digits = 2;
  t->digit[0] = (Digit){walk, block.weight};
  t->digit[1] = atom;
  return walk;
}

// The only loop of a product's sum over its depth: its last digit counts the steps of a block.
static Stmt *step_loop(Program *program, const Product *product, Var *walk, int64_t steps,
                       Stmt *list) {
  Arena *arena = program->arena;
  Axis *k = product->axis[AXIS_K];
  const int64_t weight = k->digit[0].weight;
  Stmt *loop = stmt_find_loop(list, k->digit[0].var);
  Var *step =
      program_var(program, axis_digit_name(program, k, "_i"), VAR_LOOP, TIER_STAGE_INNER, steps);
  const Expr *at = ex_var(arena, step);
  if (walk) at = ex_add(arena, ex_mul_const(arena, ex_var(arena, walk), steps), at);
  stmt_substitute(program, list, k->digit[0].var, at);
  k->n_digits = 0;
  if (walk) k->digit[k->n_digits++] = (Digit){walk, steps * weight};
  k->digit[k->n_digits++] = (Digit){step, weight};
  loop->var = step;
  loop->unroll = walk ? UNROLL_FULL : 0;  // scores are named by the step
  return loop;
}

// ---- the kernel ---------------------------------------------------------------------------------

// Tells what the threads of a product's kernel do, cut in front of its stores.
static Stmt *take_sums(Program *program, const Product *product) {
  Stmt **list = &kernel_block(product_kernel_of(program, product))->body;
  Stmt **store = stmt_find_link(list, OP_STORE, product->operand[ATOM_C].global);
  stmt_cut(store);
  return *list;
}

// Where the last block of keys goes beyond them, scores of keys that do not exist. A causal query
// sees none behind the last anyway.
static Stmt *hidden(Program *program, const Product *scores) {
  const Axis *t = scores->axis[AXIS_N];
  const int64_t covered = t->digit[0].var->extent * t->digit[0].weight;
  Stmt *hide = covered > t->extent && !program->problem.causal
                   ? rows_hide_values(program, scores, knob, true)
                   : NULL;
  if (hide) hide->note = "there are no such keys";
  return hide;
}

// Blocks of keys that all queries of the block see none of are left out.
static const Expr *last_block(Program *program, const Product *scores, const Var *walk) {
  Arena *arena = program->arena;
  const Problem *problem = &program->problem;
  if (!problem->causal) return NULL;
  const Axis *q = scores->axis[AXIS_M];
  const int64_t keys = scores->axis[AXIS_N]->digit[0].weight;
  const Expr *first = axis_outside(program, q);
  const int64_t behind = axis_tile(q) + problem->n - problem->m + keys - 1;
  const Expr *blocks = ex_div(arena, ex_add_const(arena, first, behind), keys);
  return ex_min(arena, blocks, ex_const(arena, walk->extent));
}

static Stmt *append(Stmt *list, Stmt *more) { return more ? stmt_list(list, more, NULL) : list; }

void pass_fuse(Program *program, Product *values, const Schedule *schedule) {
  (void)schedule;
  Product *scores = &program->product[0];
  const double lowest = (double)-__builtin_inf();
  Stmt *first = take_sums(program, scores);
  Stmt *block = kernel_block(product_kernel_of(program, values));
  Var *walk = walk_keys(program, scores, first);
  const int64_t keys = scores->axis[AXIS_N]->digit[0].weight;
  step_loop(program, scores, NULL, scores->axis[AXIS_K]->digit[0].var->extent, first);
  Stmt *steps = step_loop(program, values, walk, keys / values->atom->k, block->body);
  Rows rows = add_rows(program, scores);
  Stmt **read = stmt_find_read(values, ATOM_A, &steps->body);
  stmt_cut(read);
  stmt_insert(read, relayout(program, values, scores, steps->var));

  Stmt **link = &block->body;
  while (*link != steps) link = &(*link)->next;
  Stmt *behind = steps->next;
  steps->next = NULL;
  Stmt *body = append(append(first, hidden(program, scores)),
                      online_softmax(program, scores, values, &rows));
  *link = stmt_list(on_rows(program, scores, (RowOp){OP_INIT, rows.max, NULL, NULL, lowest, 0}),
                    on_rows(program, scores, (RowOp){OP_INIT, rows.sum, NULL, NULL, 0, 0}),
                    stmt_loop(program, knob, walk, stmt_list(body, steps, NULL)), NULL);
  Stmt *loop = stmt_last(*link);
  loop->end = last_block(program, scores, walk);
  loop->next =
      stmt_list(on_rows(program, scores,
                        (RowOp){OP_LANES_SUM, rows.sum, NULL, NULL, 0, lanes_of_row(scores)}),
                rows_over_values(program, values, knob, divide_sums, &rows), NULL);
  Stmt **store = stmt_find_link(&behind, OP_STORE, values->operand[ATOM_C].global);
  stmt_last(loop)->next = stmt_cut(store);

  program->kernel[0] = (Kernel){.name = problem_kernel_name(&program->problem),
                                .body = program->kernel[values->kernel].body,
                                .knob = KNOB_NONE};
  program->n_kernels = 1;
  program->main_kernel = scores->kernel = values->kernel = 0;
  slab_drop_buffers(program, ROLE_SCORES, ROLE_WEIGHTS);
  slab_drop_buffers(program, ROLE_ROW_SUMS, ROLE_ROW_DIVISOR);
  slab_drop_buffers(program, ROLE_TEMP, ROLE_TEMP);
  program_apply_axes(program, scores);
  program_apply_axes(program, values);
}
