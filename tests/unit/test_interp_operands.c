// What the interpreter says of single operations: widths and alignment, variables that leave their
// range, operands of a wrong kind, what does not fit together.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "interp_recipe.h"
#include "model/interp/interp.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

Suite *suite_interp_operands(void);

static Arena *arena;

static void setup(void) {
  arena = arena_new("test interp operands");
  recipe_use(arena);
}
static void teardown(void) { arena_free(arena); }

// One thread row of 8 copies a 4-wide run of A to C through registers: C = A for K = N.
static Program *wide_copy(int64_t n, const Expr *(*column)(const Var *), int width) {
  Program *p = program_new(arena, (Problem){.m = 4, .n = n, .k = n});
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
  for (int i = 0; i < 4 * 32; i++) ck_assert_double_eq(good->c[i], (double)a[i]);
  const InterpResult *bad = interpret(arena, wide_copy(32, shifted, 4), &options);
  ck_assert(recipe_says(bad, FINDING_MISALIGNED, "moves 16 bytes at byte 8"));
  ck_assert(
      recipe_says(bad, FINDING_OUT_OF_BOUNDS, "has index 30, 4 wide, where 0 to 28 is inside"));
  const InterpResult *odd = interpret(arena, wide_copy(30, aligned, 4), &options);
  ck_assert(
      recipe_says(odd, FINDING_OUT_OF_BOUNDS, "has index 28, 4 wide, where 0 to 26 is inside"));
  const InterpResult *three = interpret(arena, wide_copy(32, aligned, 3), &options);
  ck_assert(recipe_says(three, FINDING_OPERAND, "load moves 3 elements of f32, 12 bytes"));
}
END_TEST

// A LET whose value reaches its extent is told and clamped, wherever it stands: between the
// hardware loops, in the body, and where it changes with a loop.
static Program *let_program(int where, int64_t extent) {
  Program *p = program_new(arena, (Problem){.m = 64, .n = 4, .k = 4});
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
    ck_assert(!recipe_says(good, FINDING_VARIABLE_RANGE, ""));
    const InterpResult *bad = interpret(arena, let_program(rows[i].where, rows[i].bad), &options);
    char expected[64];
    snprintf(expected, sizeof expected, "gives m a value outside 0 to %d", (int)rows[i].bad - 1);
    ck_assert_msg(recipe_says(bad, FINDING_VARIABLE_RANGE, expected), "let %zu", i);
  }
}
END_TEST

// Static digits, XOR swizzles, tables and shifts: the split of an expression into its parts must
// give what expr_eval gives. C[t, k] is stored at a swizzled column and every cell must be hit.
START_TEST(swizzled_columns_are_a_permutation) {
  Program *p = program_new(arena, (Problem){.m = 64, .n = 32, .k = 4});
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
  Problem problem = {.m = 8, .n = 8, .k = 8};
  Program *p = recipe_naive(problem);
  Stmt *cell = p->kernel[0].body->body->body;  // init
  cell->op.dst = access2(program_buffer(p, ROLE_C), num(0), num(0));
  const InterpResult *result = interpret(arena, p, &(InterpOptions){0});
  ck_assert(recipe_says(result, FINDING_OPERAND,
                        "init cannot take C, in global memory, as its destination"));
  p = recipe_naive(problem);
  stmt_last(p->kernel[0].body->body->body)->op.dst =
      access2(program_buffer(p, ROLE_A), num(0), num(0));
  ck_assert(recipe_says(interpret(arena, p, &(InterpOptions){0}), FINDING_OPERAND,
                        "the input A is written"));
  p = recipe_naive(problem);
  p->kernel[0].body->var = new_var(p, "t", TIER_THREAD, 8);
  p->kernel[0].body->body->body->op.dst.idx[0] =
      ex_mod(arena, ex_var(arena, p->kernel[0].body->var), 2);
  ck_assert(recipe_says(interpret(arena, p, &(InterpOptions){0}), FINDING_OPERAND,
                        "the index of register x differs between the lanes"));
}
END_TEST

START_TEST(what_does_not_fit_together_is_told) {
  Program *p = recipe_naive((Problem){.m = 8, .n = 8, .k = 8});
  program_buffer(p, ROLE_A)->type = DTYPE_F16;
  ck_assert(recipe_says(interpret(arena, p, &(InterpOptions){0}), FINDING_OPERAND,
                        "load takes A, of f16, into x, of f32: it does not convert"));
  p = recipe_naive((Problem){.m = 8, .n = 8, .k = 8});
  Op *op = &stmt_last(p->kernel[0].body->body->body->next->body)->op;
  op->kind = OP_MMA;
  ck_assert(
      recipe_says(interpret(arena, p, &(InterpOptions){0}), FINDING_OPERAND, "mma names no atom"));
}
END_TEST

Suite *suite_interp_operands(void) {
  Suite *suite = suite_create("interp_operands");
  TCase *tc = tcase_create("interp operands");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, wide_accesses);
  tcase_add_test(tc, variables_stay_in_their_range);
  tcase_add_test(tc, swizzled_columns_are_a_permutation);
  tcase_add_test(tc, operands_of_a_wrong_kind_are_told);
  tcase_add_test(tc, what_does_not_fit_together_is_told);
  suite_add_tcase(suite, tc);
  return suite;
}
