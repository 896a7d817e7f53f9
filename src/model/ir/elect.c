// Which conditions are of one lane, and which of whole warps: read off their form.
//
// Worked example, (thread % 32) == 0 && 127 < thread: the first conjunct is one lane's, the number
// of which begins anew after 32 threads; the second is whole warps', for 128 is a multiple of 32.
#include "model/ir/elect.h"

static bool is_constant(const Expr *expr) { return expr->op == EXPR_CONST; }

static bool is_thread(const Expr *expr) {
  return expr->op == EXPR_VAR && expr->var->kind == VAR_THREAD;
}

int64_t elect_period(const Expr *number) {
  int64_t period = 0;
  if (is_thread(number) || (number->op == EXPR_VAR && number->var->tier == TIER_THREAD))
    period = number->var->extent;
  if (number->op == EXPR_MOD && is_thread(number->a) && is_constant(number->b))
    period = number->b->value;
  return period % LANES ? 0 : period;
}

const Expr *elect_test(const Expr *condition) {
  if (condition->op == EXPR_LAND) {
    const Expr *left = elect_test(condition->a);
    return left ? left : elect_test(condition->b);
  }
  const bool asks = condition->op == EXPR_EQ && is_constant(condition->b);
  return asks && elect_period(condition->a) ? condition : NULL;
}

// A warp begins at the number: the threads below it make whole warps.
static bool begins_warp(const Expr *expr, int64_t behind) {
  return is_constant(expr) && (expr->value + behind) % LANES == 0;
}

bool elect_is_of_warps(const Expr *condition) {
  if (condition->op == EXPR_LAND)
    return elect_is_of_warps(condition->a) && elect_is_of_warps(condition->b);
  if (!expr_any(condition, var_is_of_lane)) return true;
  if (condition->op == EXPR_EQ && condition->a->op == EXPR_DIV)
    return is_thread(condition->a->a) && begins_warp(condition->a->b, 0);
  if (condition->op != EXPR_LT) return false;
  const Expr *a = condition->a, *b = condition->b;
  return (elect_period(a) && begins_warp(b, 0)) || (elect_period(b) && begins_warp(a, 1));
}
