// Building, simplifying and printing index expressions; expr_eval.c evaluates them.
//
// Every builder first lets the ranges speak, then makes a node. Worked example, for n_t in 0..16:
//   ex_mod(m_t·16 + n_t, 16)  →  n_t      the sum's first term is a multiple of 16, the rest < 16
//   ex_lt(m_t·16 + n_t, 4096) →  1        its range is [0, 255]
// so the guards and remainders that remain in a program are the ones that are really needed.
#include "model/ir/expr.h"

#include <assert.h>
#include <string.h>

#include "base/whole.h"

static const struct {
  const char *name, *help;
} tier_rows[TIER_COUNT] = {
#define X(id, name, help) {name, help},
    TIER_TABLE(X)
#undef X
};

static const struct {
  const char *text;
  int precedence;
} op_rows[EXPR_COUNT] = {
#define X(id, text, precedence) {text, precedence},
    EXPR_TABLE(X)
#undef X
};

const char *expr_op_text(ExprOp op) { return op_rows[op].text; }
int expr_precedence(ExprOp op) { return op_rows[op].precedence; }

const char *tier_name(Tier tier) { return tier_rows[tier].name; }
const char *tier_help(Tier tier) { return tier_rows[tier].help; }

bool tier_is_hardware(Tier tier) {
  return tier == TIER_BLOCK || tier == TIER_CLUSTER || tier == TIER_WARP || tier == TIER_THREAD;
}

bool var_is_of_lane(const Var *var) { return var->kind == VAR_THREAD || var->tier == TIER_THREAD; }

// ---- nodes --------------------------------------------------------------------------------------

static const Expr *node(Arena *arena, Expr value) {
  Expr *expr = ARENA_NEW(arena, Expr);
  *expr = value;
  return expr;
}

const Expr *ex_const(Arena *arena, int64_t value) {
  return node(arena, (Expr){.op = EXPR_CONST, .value = value, .lo = value, .hi = value});
}

const Expr *ex_var(Arena *arena, const Var *var) {
  if (var->extent == 1) return ex_const(arena, 0);
  int64_t lo = var->kind == VAR_GRID;
  return node(arena, (Expr){.op = EXPR_VAR, .var = var, .lo = lo, .hi = var->extent - 1});
}

static bool is_const(const Expr *expr) { return expr->op == EXPR_CONST; }
bool expr_is_const(const Expr *expr, int64_t value) {
  return is_const(expr) && expr->value == value;
}

static const Expr *binary(Arena *arena, ExprOp op, const Expr *a, const Expr *b, int64_t lo,
                          int64_t hi) {
  if (lo == hi) return ex_const(arena, lo);
  return node(arena, (Expr){.op = op, .a = a, .b = b, .lo = lo, .hi = hi});
}

// Sums lean to the left, with their constant at the right. So the text of a sum, which has no
// parentheses, stands for one expression: (x + 2) + 3 is x + 5, 3 + x is x + 3, x + (y + 1) is (x +
// y) + 1.
const Expr *ex_add(Arena *arena, const Expr *a, const Expr *b) {
  if (is_const(a)) {
    const Expr *swap = a;
    a = b;
    b = swap;
  }
  if (expr_is_const(b, 0)) return a;
  if (b->op == EXPR_ADD) return ex_add(arena, ex_add(arena, a, b->a), b->b);
  if (is_const(b) && a->op == EXPR_ADD && is_const(a->b))
    return ex_add(arena, a->a, ex_const(arena, a->b->value + b->value));
  if (!is_const(b) && a->op == EXPR_ADD && is_const(a->b))
    return ex_add(arena, ex_add(arena, a->a, b), a->b);
  return binary(arena, EXPR_ADD, a, b, a->lo + b->lo, a->hi + b->hi);
}

const Expr *ex_add_const(Arena *arena, const Expr *a, int64_t b) {
  return ex_add(arena, a, ex_const(arena, b));
}

const Expr *ex_sub(Arena *arena, const Expr *a, const Expr *b) {
  if (expr_is_const(b, 0)) return a;
  return binary(arena, EXPR_SUB, a, b, a->lo - b->hi, a->hi - b->lo);
}

// Products of index expressions never come near 2^63: extents are below 2^31.
const Expr *ex_mul(Arena *arena, const Expr *a, const Expr *b) {
  if (is_const(a)) {
    const Expr *swap = a;
    a = b;
    b = swap;
  }
  if (expr_is_const(b, 1)) return a;
  if (expr_is_const(b, 0)) return b;
  if (is_const(b) && a->op == EXPR_MUL && is_const(a->b))
    return ex_mul(arena, a->a, ex_const(arena, a->b->value * b->value));
  if (is_const(b) && a->op == EXPR_ADD)
    return ex_add(arena, ex_mul(arena, a->a, b), ex_mul(arena, a->b, b));
  int64_t p = a->lo * b->lo, q = a->lo * b->hi, r = a->hi * b->lo, s = a->hi * b->hi;
  return binary(arena, EXPR_MUL, a, b, min64(min64(p, q), min64(r, s)),
                max64(max64(p, q), max64(r, s)));
}

const Expr *ex_mul_const(Arena *arena, const Expr *a, int64_t b) {
  return ex_mul(arena, a, ex_const(arena, b));
}

// Splits a sum into the terms that are multiples of `by` and the others.
static void split_multiples(Arena *arena, const Expr *expr, int64_t by, const Expr **multiples,
                            const Expr **rest) {
  if (expr->op == EXPR_ADD) {
    split_multiples(arena, expr->a, by, multiples, rest);
    split_multiples(arena, expr->b, by, multiples, rest);
    return;
  }
  const Expr **side = expr_divisor(expr) % by == 0 ? multiples : rest;
  *side = ex_add(arena, *side, expr);
}

// expr / by for an expression with a divisor that is a multiple of `by`.
static const Expr *divide_exactly(Arena *arena, const Expr *expr, int64_t by) {
  if (is_const(expr)) return ex_const(arena, expr->value / by);
  if (expr->op == EXPR_ADD)
    return ex_add(arena, divide_exactly(arena, expr->a, by), divide_exactly(arena, expr->b, by));
  if (expr->op == EXPR_MUL && is_const(expr->b) && expr->b->value % by == 0)
    return ex_mul_const(arena, expr->a, expr->b->value / by);
  return binary(arena, EXPR_DIV, expr, ex_const(arena, by), expr->lo / by, expr->hi / by);
}

// Can divide_exactly take the factor out of every term?
static bool has_factor(const Expr *expr, int64_t by) {
  if (is_const(expr)) return expr->value % by == 0;
  if (expr->op == EXPR_ADD) return has_factor(expr->a, by) && has_factor(expr->b, by);
  return expr->op == EXPR_MUL && is_const(expr->b) && expr->b->value % by == 0;
}

// (16·x + y) / 32 is x / 2 for y < 16. The unit is the largest one that divides b and has its
// multiples in the sum apart from the rest. Returns the sum in that unit, NULL when there is none.
static const Expr *without_low_digits(Arena *arena, const Expr *a, int64_t b, int64_t *unit) {
  for (*unit = b / 2; b % 2 == 0 && *unit > 1 && b % *unit == 0; *unit /= 2) {
    const Expr *multiples = ex_const(arena, 0), *rest = multiples;
    split_multiples(arena, a, *unit, &multiples, &rest);
    bool apart = rest->lo >= 0 && rest->hi < *unit && !is_const(multiples) && !is_const(rest);
    if (apart && has_factor(multiples, *unit)) return divide_exactly(arena, multiples, *unit);
  }
  return NULL;
}

const Expr *ex_div(Arena *arena, const Expr *a, int64_t b) {
  assert(b >= 1 && a->lo >= 0);
  if (b == 1) return a;
  const Expr *multiples = ex_const(arena, 0), *rest = multiples;
  split_multiples(arena, a, b, &multiples, &rest);
  if (rest->lo >= 0 && !expr_is_const(multiples, 0))
    return ex_add(arena, divide_exactly(arena, multiples, b), ex_div(arena, rest, b));
  int64_t common = common_divisor(expr_divisor(a), b);
  if (common > 1 && a->hi >= b && has_factor(a, common))
    return ex_div(arena, divide_exactly(arena, a, common), b / common);
  if (a->hi >= b) {
    const Expr *coarse = without_low_digits(arena, a, b, &common);
    if (coarse) return ex_div(arena, coarse, b / common);
  }
  if (a->op == EXPR_DIV && is_const(a->b)) return ex_div(arena, a->a, a->b->value * b);
  return binary(arena, EXPR_DIV, a, ex_const(arena, b), a->lo / b, a->hi / b);
}

const Expr *ex_mod(Arena *arena, const Expr *a, int64_t b) {
  assert(b >= 1 && a->lo >= 0);
  if (a->hi < b) return a;
  if (is_const(a)) return ex_const(arena, a->value % b);
  if (a->op == EXPR_MOD && is_const(a->b) && a->b->value % b == 0) return ex_mod(arena, a->a, b);
  const Expr *multiples = ex_const(arena, 0), *rest = multiples;
  split_multiples(arena, a, b, &multiples, &rest);
  if (rest->lo >= 0 && rest->hi < b) return rest;
  if (rest->lo >= 0 && !expr_is_const(multiples, 0)) return ex_mod(arena, rest, b);
  int64_t common = common_divisor(expr_divisor(a), b);
  if (common > 1 && has_factor(a, common))
    return ex_mul_const(arena, ex_mod(arena, divide_exactly(arena, a, common), b / common), common);
  return binary(arena, EXPR_MOD, a, ex_const(arena, b), 0, min64(b - 1, a->hi));
}

const Expr *ex_div_expr(Arena *arena, const Expr *a, const Expr *b) {
  if (is_const(b)) return ex_div(arena, a, b->value);
  assert(a->lo >= 0 && b->lo >= 1);
  return binary(arena, EXPR_DIV, a, b, a->lo / b->hi, a->hi / b->lo);
}

const Expr *ex_mod_expr(Arena *arena, const Expr *a, const Expr *b) {
  if (is_const(b)) return ex_mod(arena, a, b->value);
  assert(a->lo >= 0 && b->lo >= 1);
  return binary(arena, EXPR_MOD, a, b, 0, min64(a->hi, b->hi - 1));
}

const Expr *ex_lt(Arena *arena, const Expr *a, const Expr *b) {
  return binary(arena, EXPR_LT, a, b, a->hi < b->lo, a->lo < b->hi);
}

const Expr *ex_land(Arena *arena, const Expr *a, const Expr *b) {
  if (!a || expr_is_const(a, 1)) return b;
  if (!b || expr_is_const(b, 1)) return a;
  return binary(arena, EXPR_LAND, a, b, a->lo && b->lo, a->hi && b->hi);
}

const Expr *ex_min(Arena *arena, const Expr *a, const Expr *b) {
  if (a->hi <= b->lo || expr_equal(a, b)) return a;
  if (b->hi <= a->lo) return b;
  return binary(arena, EXPR_MIN, a, b, min64(a->lo, b->lo), min64(a->hi, b->hi));
}

// The smallest 2^n - 1 that is not below `value`: the reach of xor and shifts.
static int64_t all_ones(int64_t value) {
  int64_t ones = 0;
  while (ones < value) ones = ones * 2 + 1;
  return ones;
}

// (512·x + y) ^ z is 512·x + (y ^ z) for y, z < 512: what a swizzle leaves alone stays a sum.
static const Expr *ex_xor(Arena *arena, const Expr *a, const Expr *b) {
  if (expr_is_const(b, 0)) return a;
  if (expr_is_const(a, 0)) return b;
  for (int64_t span = all_ones(b->hi) + 1; span <= a->hi; span *= 2) {
    const Expr *multiples = ex_const(arena, 0), *rest = multiples;
    split_multiples(arena, a, span, &multiples, &rest);
    if (rest->lo < 0 || rest->hi >= span || is_const(multiples)) continue;
    return ex_add(arena, multiples, ex_binary(arena, EXPR_XOR, rest, b));
  }
  return binary(arena, EXPR_XOR, a, b, 0, all_ones(max64(a->hi, b->hi)));
}

static const Expr *ex_bits(Arena *arena, ExprOp op, const Expr *a, const Expr *b) {
  assert(a->lo >= 0 && b->lo >= 0);
  if (is_const(a) && is_const(b)) {
    Expr probe = {.op = op, .a = a, .b = b};
    return ex_const(arena, expr_eval(&probe, NULL));
  }
  switch (op) {
    case EXPR_SHL:
      return binary(arena, op, a, b, a->lo << b->lo, a->hi << b->hi);
    case EXPR_SHR:
      return binary(arena, op, a, b, a->lo >> b->hi, a->hi >> b->lo);
    case EXPR_AND:
      return binary(arena, op, a, b, 0, min64(a->hi, b->hi));
    default:
      return ex_xor(arena, a, b);
  }
}

const Expr *ex_binary(Arena *arena, ExprOp op, const Expr *a, const Expr *b) {
  switch (op) {
    case EXPR_ADD:
      return ex_add(arena, a, b);
    case EXPR_SUB:
      return ex_sub(arena, a, b);
    case EXPR_MUL:
      return ex_mul(arena, a, b);
    case EXPR_DIV:
      return ex_div_expr(arena, a, b);
    case EXPR_MOD:
      return ex_mod_expr(arena, a, b);
    case EXPR_LT:
      return ex_lt(arena, a, b);
    case EXPR_LAND:
      return ex_land(arena, a, b);
    case EXPR_MIN:
      return ex_min(arena, a, b);
    case EXPR_EQ:
      return binary(arena, op, a, b, is_const(a) && is_const(b) && a->value == b->value,
                    a->lo <= b->hi && b->lo <= a->hi);
    default:
      return ex_bits(arena, op, a, b);
  }
}

const Expr *ex_select(Arena *arena, const Expr *cond, const Expr *yes, const Expr *no) {
  if (is_const(cond)) return cond->value ? yes : no;
  return node(arena, (Expr){.op = EXPR_SELECT,
                            .a = cond,
                            .b = yes,
                            .c = no,
                            .lo = min64(yes->lo, no->lo),
                            .hi = max64(yes->hi, no->hi)});
}

const Expr *ex_table(Arena *arena, const int64_t *table, int length, const Expr *index) {
  assert(length > 0 && index->lo >= 0 && index->hi < length);
  int64_t lo = table[0], hi = table[0];
  for (int i = 1; i < length; i++) {
    lo = min64(lo, table[i]);
    hi = max64(hi, table[i]);
  }
  return node(arena, (Expr){.op = EXPR_TABLE,
                            .a = index,
                            .table = table,
                            .table_length = length,
                            .lo = lo,
                            .hi = hi});
}

// ---- reasoning ----------------------------------------------------------------------------------

const Expr *expr_substitute(Arena *arena, const Expr *expr, const Var *var, const Expr *by) {
  if (!expr || expr->op == EXPR_CONST) return expr;
  if (expr->op == EXPR_VAR) return expr->var == var ? by : expr;
  if (!expr_uses(expr, var)) return expr;
  const Expr *a = expr_substitute(arena, expr->a, var, by);
  const Expr *b = expr_substitute(arena, expr->b, var, by);
  if (expr->op == EXPR_SELECT)
    return ex_select(arena, a, b, expr_substitute(arena, expr->c, var, by));
  if (expr->op == EXPR_TABLE) return ex_table(arena, expr->table, expr->table_length, a);
  return ex_binary(arena, expr->op, a, b);
}

bool expr_equal(const Expr *a, const Expr *b) {
  if (a == b) return true;
  if (!a || !b || a->op != b->op) return false;
  if (a->op == EXPR_CONST) return a->value == b->value;
  if (a->op == EXPR_VAR) return a->var == b->var;
  return a->table == b->table && expr_equal(a->a, b->a) && expr_equal(a->b, b->b) &&
         expr_equal(a->c, b->c);
}

bool expr_uses(const Expr *expr, const Var *var) {
  if (!expr) return false;
  if (expr->op == EXPR_VAR) return expr->var == var;
  return expr_uses(expr->a, var) || expr_uses(expr->b, var) || expr_uses(expr->c, var);
}

bool expr_any(const Expr *expr, bool (*is_one)(const Var *var)) {
  if (!expr) return false;
  if (expr->op == EXPR_VAR) return is_one(expr->var);
  return expr_any(expr->a, is_one) || expr_any(expr->b, is_one) || expr_any(expr->c, is_one);
}

// The largest power of two in a divisor; 0 (a constant 0) counts as divisible by all that matter.
static int64_t low_bit(int64_t divisor) { return divisor ? divisor & -divisor : (int64_t)1 << 40; }

int64_t expr_divisor(const Expr *expr) {
  switch (expr->op) {
    case EXPR_CONST:
      return expr->value < 0 ? -expr->value : expr->value;
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MIN:
      return common_divisor(expr_divisor(expr->a), expr_divisor(expr->b));
    case EXPR_MUL:
      return expr_divisor(expr->a) * expr_divisor(expr->b);
    case EXPR_MOD:
      return common_divisor(expr_divisor(expr->a), expr_divisor(expr->b));
    case EXPR_SELECT:
      return common_divisor(expr_divisor(expr->b), expr_divisor(expr->c));
    case EXPR_SHL:
      return is_const(expr->b) ? expr_divisor(expr->a) << expr->b->value : 1;
    case EXPR_AND:  // the trailing zeros of either side
      return max64(low_bit(expr_divisor(expr->a)), low_bit(expr_divisor(expr->b)));
    case EXPR_XOR:
      return common_divisor(low_bit(expr_divisor(expr->a)), low_bit(expr_divisor(expr->b)));
    default:
      return 1;
  }
}

bool expr_stride(const Expr *expr, const Var *var, int64_t *stride) {
  int64_t a = 0, b = 0;
  *stride = 0;
  if (!expr_uses(expr, var)) return true;
  switch (expr->op) {
    case EXPR_VAR:
      *stride = 1;
      return true;
    case EXPR_ADD:
    case EXPR_SUB:
      if (!expr_stride(expr->a, var, &a) || !expr_stride(expr->b, var, &b)) return false;
      *stride = expr->op == EXPR_ADD ? a + b : a - b;
      return true;
    case EXPR_MUL:
      if (!is_const(expr->b) || !expr_stride(expr->a, var, &a)) return false;
      *stride = a * expr->b->value;
      return true;
    default:
      return false;
  }
}

// ---- text ---------------------------------------------------------------------------------------

static void print_operand(Str *out, const Expr *expr, bool parentheses) {
  if (parentheses) str_add_char(out, '(');
  expr_print(out, expr);
  if (parentheses) str_add_char(out, ')');
}

static void print_infix(Str *out, const Expr *expr) {
  int own = op_rows[expr->op].precedence;
  // Mixed bit operators get parentheses although C needs none: few readers remember their order.
  bool bits = own <= 5 && own != 4 && expr->op != EXPR_LAND;
  int left = op_rows[expr->a->op].precedence, right = op_rows[expr->b->op].precedence;
  print_operand(out, expr->a, left < own || (bits && left < 9));
  str_printf(out, " %s ", op_rows[expr->op].text);
  bool associative = expr->op == EXPR_ADD || expr->op == EXPR_LAND;
  print_operand(out, expr->b, right < own || (right == own && !associative) || (bits && right < 9));
}

static void print_table(Str *out, const Expr *expr) {
  str_add(out, "table{");
  for (int i = 0; i < expr->table_length; i++) {
    if (i) str_add_char(out, ',');
    str_add_number(out, expr->table[i]);
  }
  str_add(out, "}[");
  expr_print(out, expr->a);
  str_add_char(out, ']');
}

void expr_print(Str *out, const Expr *expr) {
  switch (expr->op) {
    case EXPR_CONST:
      str_printf(out, "%lld", (long long)expr->value);
      return;
    case EXPR_VAR:
      str_add(out, expr->var->name);
      return;
    case EXPR_TABLE:
      print_table(out, expr);
      return;
    case EXPR_MIN:
      str_add(out, "min(");
      expr_print(out, expr->a);
      str_add(out, ", ");
      expr_print(out, expr->b);
      str_add_char(out, ')');
      return;
    case EXPR_SELECT:
      str_add_char(out, '(');
      expr_print(out, expr->a);
      str_add(out, " ? ");
      expr_print(out, expr->b);
      str_add(out, " : ");
      expr_print(out, expr->c);
      str_add_char(out, ')');
      return;
    default:
      print_infix(out, expr);
      return;
  }
}
