// Index expressions, by C's precedences; built by the functions that the passes use, so a text that
// was printed gives the expression that was printed.
//
//   m_b * 128 + (k_i + 1) % 2 * 8      a sum of products
//   (k_o < 3 ? 0 : k_o - 3)            a choice always stands in parentheses
//   min(tid, 255)   table{0,2,1,3}[n_r]
//
// The builders assert rules that the passes keep; here the text must keep them: no divisor below 1,
// no negative operand of / % << >> & ^, no index beside its table, no overflow.
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/notation/parser.h"

static const Expr *fail(Parser *p, const char *at, const char *what) {
  parse_fail_at(p, at, what);
  return NULL;
}

// ---- what an operator takes ---------------------------------------------------------------------

static bool is_bits(ExprOp op) {
  return op == EXPR_SHL || op == EXPR_SHR || op == EXPR_AND || op == EXPR_XOR;
}

// The furthest from 0 that the result can be; VALUE_MAX + 1 when it is too far. Operands are within
// VALUE_MAX.
static int64_t reach(ExprOp op, const Expr *a, const Expr *b) {
  int64_t x = a->hi > -a->lo ? a->hi : -a->lo, y = b->hi > -b->lo ? b->hi : -b->lo, out = 0;
  if (op == EXPR_MUL && __builtin_mul_overflow(x, y, &out)) return VALUE_MAX + 1;
  if (op == EXPR_ADD || op == EXPR_SUB) out = x + y;
  if (op == EXPR_SHL) out = b->hi > 30 || x > VALUE_MAX >> b->hi ? VALUE_MAX + 1 : x << b->hi;
  return out;
}

// Says what the operands lack; NULL: they are as the builders want them.
static const char *operand_fault(ExprOp op, const Expr *a, const Expr *b, bool *at_right) {
  bool divides = op == EXPR_DIV || op == EXPR_MOD;
  *at_right = false;
  if ((divides || is_bits(op) || op == EXPR_LAND) && a->lo < 0)
    return "an operand that is never negative";
  *at_right = true;
  if ((is_bits(op) || op == EXPR_LAND) && b->lo < 0) return "an operand that is never negative";
  if (divides && b->lo < 1) return "a divisor that is never below 1";
  if (op == EXPR_SHR && b->hi > 62) return "a shift by at most 62";
  if (reach(op, a, b) > VALUE_MAX) return "an expression that stays below 2^40";
  return NULL;
}

// ---- operands -----------------------------------------------------------------------------------

static const Expr *parse_constant(Parser *p) {
  bool negative = parse_maybe(p, "-");
  int64_t value;
  if (!parse_number(p, 0, VALUE_MAX, &value)) return NULL;
  return ex_const(p->arena, negative ? -value : value);
}

static const Expr *parse_variable(Parser *p, const char *at, const char *name) {
  for (const ScopeVar *scope = p->scope; scope; scope = scope->outer)
    if (str_equal(scope->var->name, name)) return ex_var(p->arena, scope->var);
  return fail(p, at, "a variable that is known here");
}

static const Expr *parse_min(Parser *p) {
  const Expr *a = parse_word(p, "(") ? parse_expr(p) : NULL;
  const Expr *b = a && parse_word(p, ",") ? parse_expr(p) : NULL;
  return b && parse_word(p, ")") ? ex_min(p->arena, a, b) : NULL;
}

enum { TABLE_MAX = 16384, TABLES_MAX = 16 };

// One array for each content, as a pass that looks up the same table twice has it.
static const int64_t *known_table(Parser *p, const int64_t *value, int length) {
  int n = 0;
  for (const KnownTable *t = p->tables; t; t = t->next, n++)
    if (t->length == length && memcmp(t->value, value, sizeof *value * (size_t)length) == 0)
      return t->value;
  if (n == TABLES_MAX) return NULL;
  KnownTable *table = ARENA_NEW(p->arena, KnownTable);
  *table = (KnownTable){value, length, p->tables};
  p->tables = table;
  return value;
}

static int count_commas(const char *at) {
  int n = 0;
  for (; *at && *at != '}'; at++) n += *at == ',';
  return n;
}

// table{0,2,1,3}[index]
static const Expr *parse_table(Parser *p) {
  const char *begin = p->at;
  if (!parse_word(p, "{")) return NULL;
  int length = count_commas(p->at) + 1;
  if (length > TABLE_MAX) return fail(p, begin, "a table of at most 16384 numbers");
  int64_t *value = ARENA_ARRAY(p->arena, int64_t, length);
  for (int i = 0; i < length; i++) {
    if (i && !parse_word(p, ",")) return NULL;
    bool negative = parse_maybe(p, "-");
    if (!parse_number(p, 0, EXTENT_MAX, &value[i])) return NULL;
    if (negative) value[i] = -value[i];
  }
  if (!parse_word(p, "}") || !parse_word(p, "[")) return NULL;
  const char *at = p->at;
  const Expr *index = parse_expr(p);
  if (!index || !parse_word(p, "]")) return NULL;
  if (index->lo < 0 || index->hi >= length) return fail(p, at, "an index inside the table");
  const int64_t *table = known_table(p, value, length);
  if (!table) return fail(p, begin, "at most 16 different tables");
  return ex_table(p->arena, table, length, index);
}

// (a), or (a ? b : c)
static const Expr *parse_parentheses(Parser *p) {
  const Expr *a = parse_expr(p);
  if (!a || !parse_maybe(p, "?")) return a && parse_word(p, ")") ? a : NULL;
  const Expr *b = parse_expr(p);
  const Expr *c = b && parse_word(p, ":") ? parse_expr(p) : NULL;
  return c && parse_word(p, ")") ? ex_select(p->arena, a, b, c) : NULL;
}

static const Expr *parse_operand(Parser *p) {
  parse_blanks(p);
  const char *at = p->at;
  if (isdigit((unsigned char)*at) || *at == '-') return parse_constant(p);
  if (parse_maybe(p, "(")) return parse_parentheses(p);
  const char *name = parse_name(p, "a variable, a number or \"(\"");
  if (!name) return NULL;
  if (str_equal(name, "min")) return parse_min(p);
  if (str_equal(name, "table")) return parse_table(p);
  return parse_variable(p, at, name);
}

// ---- operators ----------------------------------------------------------------------------------

// The longest operator that stands here: "<<" is not "<".
static ExprOp operator_here(Parser *p) {
  size_t length = 0;
  ExprOp found = EXPR_COUNT;
  parse_blanks(p);
  for (int op = 0; op < EXPR_COUNT; op++) {
    const char *text = expr_op_text((ExprOp)op);
    if (!text || strlen(text) <= length || !str_starts(p->at, text)) continue;
    found = (ExprOp)op;
    length = strlen(text);
  }
  return found;
}

static const Expr *parse_binary(Parser *p, int least) {
  const char *at = p->at;
  const Expr *a = parse_operand(p);
  while (a) {
    ExprOp op = operator_here(p);
    if (op == EXPR_COUNT || expr_precedence(op) < least) break;
    if (++p->n_operators > OPERATORS_MAX) return fail(p, p->at, "at most 400 operators in a line");
    p->at += strlen(expr_op_text(op));
    const char *right = p->at;
    const Expr *b = parse_binary(p, expr_precedence(op) + 1);
    if (!b) return NULL;
    bool at_right;
    const char *fault = operand_fault(op, a, b, &at_right);
    if (fault) return fail(p, at_right ? right : at, fault);
    a = ex_binary(p->arena, op, a, b);
  }
  return a;
}

const Expr *parse_expr(Parser *p) {
  if (p->nesting >= NESTING_MAX) return fail(p, p->at, "at most 60 levels of parentheses");
  p->nesting++;
  const Expr *expr = parse_binary(p, 0);
  p->nesting--;
  return expr;
}

static const char *printed(Parser *p, const Expr *expr) {
  Str out = str_new(p->arena);
  expr_print(&out, expr);
  return out.text;
}

bool parse_same_expr(Parser *p, const Expr *expr) {
  const char *at = p->at, *wanted = printed(p, expr);
  const Expr *here = parse_expr(p);
  if (!here) return false;
  if (str_equal(printed(p, here), wanted)) return true;
  return parse_fail_at(p, at, arena_printf(p->arena, "\"%s\"", wanted));
}
