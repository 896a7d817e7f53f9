// Evaluating index expressions: for one thread, and for the 32 lanes of a warp at once.
//
// `env` has the value of each variable by its id; of a warp the values of 32 lanes lie side by
// side, env[id * 32 + lane]. Worked example, lane % 8 * 4 over a warp: 0, 4, … 28, 0, 4, … by two
// loops over 32 numbers, one for each operator, instead of 32 walks of the tree.
#include <stdlib.h>
#include <string.h>

#include "model/ir/expr.h"

static int64_t apply(ExprOp op, int64_t a, int64_t b) {
  switch (op) {
    case EXPR_ADD:
      return a + b;
    case EXPR_SUB:
      return a - b;
    case EXPR_MUL:
      return a * b;
    case EXPR_DIV:
      return a / b;
    case EXPR_MOD:
      return a % b;
    case EXPR_SHL:
      return a << b;
    case EXPR_SHR:
      return a >> b;
    case EXPR_LT:
      return a < b;
    case EXPR_EQ:
      return a == b;
    case EXPR_AND:
      return a & b;
    case EXPR_XOR:
      return a ^ b;
    case EXPR_LAND:
      return a && b;
    case EXPR_MIN:
      return a < b ? a : b;
    default:
      abort();
  }
}

int64_t expr_eval(const Expr *expr, const int64_t *env) {
  switch (expr->op) {
    case EXPR_CONST:
      return expr->value;
    case EXPR_VAR:
      return env[expr->var->id];
    case EXPR_SELECT:
      return expr_eval(expr_eval(expr->a, env) ? expr->b : expr->c, env);
    case EXPR_TABLE:
      return expr->table[expr_eval(expr->a, env)];
    default:
      return apply(expr->op, expr_eval(expr->a, env), expr_eval(expr->b, env));
  }
}

static void warp_constant(int64_t value, int64_t *out) {
  for (int i = 0; i < LANES; i++) out[i] = value;
}

#define EACH_LANE(expression)                          \
  for (int i = 0; i < LANES; i++) out[i] = expression; \
  return

// One loop per operator, so that the compiler can vectorise it. A lane that is switched off may
// hold any numbers: division by zero is answered with 0 there.
static void warp_apply(ExprOp op, const int64_t *b, int64_t *out) {
  switch (op) {
    case EXPR_ADD:
      EACH_LANE(out[i] + b[i]);
    case EXPR_SUB:
      EACH_LANE(out[i] - b[i]);
    case EXPR_MUL:
      EACH_LANE(out[i] * b[i]);
    case EXPR_DIV:
      EACH_LANE(b[i] ? out[i] / b[i] : 0);
    case EXPR_MOD:
      EACH_LANE(b[i] ? out[i] % b[i] : 0);
    case EXPR_LT:
      EACH_LANE(out[i] < b[i]);
    case EXPR_AND:
      EACH_LANE(out[i] & b[i]);
    case EXPR_XOR:
      EACH_LANE(out[i] ^ b[i]);
    default:
      EACH_LANE(apply(op, out[i], b[i]));
  }
}

// x / 2^shift as C rounds it, toward 0: shifts of whole vectors where a division is one lane's.
static int64_t shifted(int64_t x, int shift) {
  return (x + ((x >> 63) & (((int64_t)1 << shift) - 1))) >> shift;
}

// By a constant above 0, which most operands on the right are.
static void warp_apply_constant(ExprOp op, int64_t by, int64_t *out) {
  const int shift = by & (by - 1) ? -1 : __builtin_ctzll((uint64_t)by);
  if (op == EXPR_ADD) {
    EACH_LANE(out[i] + by);
  }
  if (op == EXPR_MUL) {
    EACH_LANE(out[i] * by);
  }
  if (op == EXPR_DIV && shift >= 0) {
    EACH_LANE(shifted(out[i], shift));
  }
  if (op == EXPR_MOD && shift >= 0) {
    EACH_LANE(out[i] - (shifted(out[i], shift) << shift));
  }
  int64_t b[LANES];
  warp_constant(by, b);
  warp_apply(op, b, out);
}

static void warp_select(const Expr *expr, const int64_t *env, int64_t *out) {
  int64_t yes[LANES], no[LANES];
  expr_eval_warp(expr->a, env, out);
  expr_eval_warp(expr->b, env, yes);
  expr_eval_warp(expr->c, env, no);
  for (int i = 0; i < LANES; i++) out[i] = out[i] ? yes[i] : no[i];
}

static void warp_table(const Expr *expr, const int64_t *env, int64_t *out) {
  expr_eval_warp(expr->a, env, out);
  for (int i = 0; i < LANES; i++) {
    int64_t at = out[i];
    out[i] = at >= 0 && at < expr->table_length ? expr->table[at] : 0;
  }
}

void expr_eval_warp(const Expr *expr, const int64_t *env, int64_t *out) {
  switch (expr->op) {
    case EXPR_CONST:
      warp_constant(expr->value, out);
      return;
    case EXPR_VAR:
      memcpy(out, env + (ptrdiff_t)expr->var->id * LANES, LANES * sizeof *out);
      return;
    case EXPR_SELECT:
      warp_select(expr, env, out);
      return;
    case EXPR_TABLE:
      warp_table(expr, env, out);
      return;
    default:
      break;
  }
  expr_eval_warp(expr->a, env, out);
  if (expr->b->op == EXPR_CONST && expr->b->value > 0) {
    warp_apply_constant(expr->op, expr->b->value, out);
    return;
  }
  int64_t b[LANES];
  expr_eval_warp(expr->b, env, b);
  warp_apply(expr->op, b, out);
}
