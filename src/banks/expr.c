// Precedence climbing into a postfix list, run on a small stack.
//
// The parser knows one loop: read an operand, then take binary operators as long as they bind at
// least as tightly as the caller asks. It emits postfix as it goes and keeps count of the stack
// depth that running it will need, so evaluation needs neither recursion nor a bounds check. An
// undefined value is carried on the stack as a reason instead of stopping the run, because the
// other arm of ?: may be the one that is taken.
//
// Worked example: "col ^ ((row >> 1) & 3) << 2" becomes
//   col  row  1  >>  3  &  2  <<  ^      (depth 3)
// since << binds tighter than ^; for row 6, col 5: 6 >> 1 = 3, & 3 = 3, << 2 = 12, 5 ^ 12 = 9.
#include "banks/expr.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"

typedef enum ExprCode {
  EXPR_CONSTANT,
  EXPR_VARIABLE,
  EXPR_NEGATE,
  EXPR_INVERT,
  EXPR_NOT,
  EXPR_SELECT,
  EXPR_OR_ELSE,
  EXPR_AND_THEN,
  EXPR_OR,
  EXPR_XOR,
  EXPR_AND,
  EXPR_EQUAL,
  EXPR_DIFFER,
  EXPR_LESS_EQUAL,
  EXPR_GREATER_EQUAL,
  EXPR_LESS,
  EXPR_GREATER,
  EXPR_SHIFT_LEFT,
  EXPR_SHIFT_RIGHT,
  EXPR_ADD,
  EXPR_SUBTRACT,
  EXPR_MULTIPLY,
  EXPR_DIVIDE,
  EXPR_MODULO,
} ExprCode;

typedef struct ExprStep {
  ExprCode code;
  int64_t value;  // of a constant, or the index of a variable
} ExprStep;

struct Expr {
  int n_steps;
  ExprStep *steps;
};

typedef struct Operator {
  const char *spelling;
  int precedence;
  ExprCode code;
} Operator;

// Longer spellings first, so that "<<" is not read as "<".
static const Operator BINARY[] = {
    {"||", 1, EXPR_OR_ELSE},    {"&&", 2, EXPR_AND_THEN},
    {"==", 6, EXPR_EQUAL},      {"!=", 6, EXPR_DIFFER},
    {"<<", 8, EXPR_SHIFT_LEFT}, {">>", 8, EXPR_SHIFT_RIGHT},
    {"<=", 7, EXPR_LESS_EQUAL}, {">=", 7, EXPR_GREATER_EQUAL},
    {"<", 7, EXPR_LESS},        {">", 7, EXPR_GREATER},
    {"|", 3, EXPR_OR},          {"^", 4, EXPR_XOR},
    {"&", 5, EXPR_AND},         {"+", 9, EXPR_ADD},
    {"-", 9, EXPR_SUBTRACT},    {"*", 10, EXPR_MULTIPLY},
    {"/", 10, EXPR_DIVIDE},     {"%", 10, EXPR_MODULO},
};

typedef struct Parser {
  Arena *arena;
  const char *text, *at;
  const ExprName *names;
  int n_names;
  Diags *diags;
  bool failed;
  Expr *expr;
  int depth;    // values on the stack after the steps so far
  int nesting;  // open parentheses, signs and arms: what the parser's own recursion costs
} Parser;

static void fail(Parser *p, const char *nearest, const char *format, const char *detail) {
  if (p->failed) return;
  p->failed = true;
  char *what = arena_printf(p->arena, format, detail);
  Diag *diag = diag_add(p->diags, "expression", "\"%s\", column %d: %s",
                        str_sanitise(p->arena, p->text), (int)(p->at - p->text) + 1, what);
  diag->nearest = nearest;
}

static void emit(Parser *p, ExprCode code, int64_t value, int depth_change) {
  p->depth += depth_change;
  if (p->depth > EXPR_STACK_MAX) fail(p, NULL, "%s", "more than 64 values wait for an operator");
  if (p->failed) return;
  p->expr->steps[p->expr->n_steps++] = (ExprStep){code, value};
}

static void skip_blanks(Parser *p) {
  while (isspace((unsigned char)*p->at)) p->at++;
}

static bool take(Parser *p, char c) {
  skip_blanks(p);
  if (*p->at != c) return false;
  p->at++;
  return true;
}

static void parse_ternary(Parser *p);

static void parse_number(Parser *p) {
  char *end = NULL;
  errno = 0;
  bool hex = p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X');
  long long value = strtoll(p->at, &end, hex ? 16 : 10);
  if (errno == ERANGE) fail(p, "9223372036854775807", "%s", "the number does not fit in 64 bits");
  const char *digits_end = end;
  while (*end && strchr("uUlL", *end)) end++;
  if ((hex && digits_end < p->at + 3) || isalnum((unsigned char)*end) || *end == '.')
    fail(p, NULL, "%s", "not a whole number");
  p->at = end;
  emit(p, EXPR_CONSTANT, value, 1);
}

static void parse_name(Parser *p) {
  const char *start = p->at, *end = p->at;
  while (isalnum((unsigned char)*end) || *end == '_' || *end == '.') end++;
  char *name = arena_strndup(p->arena, start, (size_t)(end - start));
  const char **known = ARENA_ARRAY(p->arena, const char *, p->n_names);
  for (int i = 0; i < p->n_names; i++) {
    known[i] = p->names[i].name;
    if (!str_equal(known[i], name)) continue;
    p->at = end;
    emit(p, EXPR_VARIABLE, p->names[i].variable, 1);
    return;
  }
  const char *nearest = nearest_name(name, known, p->n_names);
  fail(p, nearest ? nearest : known[0], "there is no variable \"%s\" here", name);
}

static void parse_operand(Parser *p) {
  skip_blanks(p);
  char c = *p->at;
  if (isdigit((unsigned char)c)) {
    parse_number(p);
  } else if (isalpha((unsigned char)c) || c == '_') {
    parse_name(p);
  } else if (c == '(') {
    p->at++;
    parse_ternary(p);
    if (!take(p, ')')) fail(p, NULL, "%s", "a ')' is missing");
  } else if (c == '\0') {
    fail(p, NULL, "%s", "it ends where a number or a variable should be");
  } else {
    fail(p, NULL, "%s", "a number, a variable or '(' should be here");
  }
}

static void parse_unary(Parser *p) {
  if (++p->nesting > EXPR_STACK_MAX) fail(p, NULL, "%s", "it is nested more than 64 deep");
  if (p->failed) return;
  if (take(p, '+')) {
    parse_unary(p);
  } else if (take(p, '-')) {
    parse_unary(p);
    emit(p, EXPR_NEGATE, 0, 0);
  } else if (take(p, '~')) {
    parse_unary(p);
    emit(p, EXPR_INVERT, 0, 0);
  } else if (take(p, '!')) {
    parse_unary(p);
    emit(p, EXPR_NOT, 0, 0);
  } else {
    parse_operand(p);
  }
  p->nesting--;
}

static const Operator *peek_operator(Parser *p) {
  skip_blanks(p);
  for (size_t i = 0; i < sizeof BINARY / sizeof BINARY[0]; i++)
    if (str_starts(p->at, BINARY[i].spelling)) return &BINARY[i];
  return NULL;
}

static void parse_binary(Parser *p, int min_precedence) {
  parse_unary(p);
  const Operator *op = peek_operator(p);
  while (!p->failed && op && op->precedence >= min_precedence) {
    p->at += strlen(op->spelling);
    parse_binary(p, op->precedence + 1);
    emit(p, op->code, 0, -1);
    op = peek_operator(p);
  }
}

static void parse_ternary(Parser *p) {
  if (++p->nesting > EXPR_STACK_MAX) fail(p, NULL, "%s", "it is nested more than 64 deep");
  if (p->failed) return;
  parse_binary(p, 1);
  if (!p->failed && take(p, '?')) {
    parse_ternary(p);
    if (!take(p, ':')) fail(p, NULL, "%s", "a ':' is missing after '?'");
    if (!p->failed) parse_ternary(p);
    emit(p, EXPR_SELECT, 0, -2);
  }
  p->nesting--;
}

const Expr *expr_parse(Arena *arena, const char *text, const ExprName *names, int n_names,
                       Diags *diags) {
  size_t length = strlen(text);
  if (length > EXPR_TEXT_MAX) {
    diag_add(diags, "expression", "the expression has %zu characters, at most %d are read", length,
             EXPR_TEXT_MAX);
    return NULL;
  }
  Parser p = {.arena = arena, .text = text, .at = text, .names = names, .n_names = n_names};
  p.diags = diags;
  p.expr = ARENA_NEW(arena, Expr);
  p.expr->steps = ARENA_ARRAY(arena, ExprStep, length + 1);
  parse_ternary(&p);
  skip_blanks(&p);
  if (!p.failed && *p.at) fail(&p, NULL, "%s", "an operator or the end should be here");
  assert(p.failed || p.depth == 1);
  return p.failed ? NULL : p.expr;
}

// A value on the stack; `why` is set where it is undefined.
typedef struct Slot {
  int64_t value;
  const char *why;
} Slot;

static Slot undefined(const char *why) { return (Slot){.why = why}; }

static Slot shift_slot(ExprCode code, int64_t value, int64_t by) {
  if (by < 0 || by > 62) return undefined("shifts by less than 0 or more than 62 bits");
  if (code == EXPR_SHIFT_RIGHT) return (Slot){.value = value >> by};
  int64_t out;
  if (__builtin_mul_overflow(value, (int64_t)1 << by, &out)) return undefined("overflows 64 bits");
  return (Slot){.value = out};
}

static Slot divide_slot(ExprCode code, int64_t a, int64_t b) {
  if (b == 0) return undefined("divides by zero");
  if (a == INT64_MIN && b == -1) return undefined("overflows 64 bits");
  return (Slot){.value = code == EXPR_DIVIDE ? a / b : a % b};
}

static Slot add_slot(ExprCode code, int64_t a, int64_t b) {
  int64_t out = 0;
  bool over = code == EXPR_ADD        ? __builtin_add_overflow(a, b, &out)
              : code == EXPR_SUBTRACT ? __builtin_sub_overflow(a, b, &out)
                                      : __builtin_mul_overflow(a, b, &out);
  return over ? undefined("overflows 64 bits") : (Slot){.value = out};
}

static Slot binary_slot(ExprCode code, Slot left, Slot right) {
  if (left.why) return left;
  if (code == EXPR_OR_ELSE && left.value) return (Slot){.value = 1};
  if (code == EXPR_AND_THEN && !left.value) return (Slot){.value = 0};
  if (right.why) return right;
  int64_t a = left.value, b = right.value;
  switch (code) {
    case EXPR_OR_ELSE:
    case EXPR_AND_THEN:
      return (Slot){.value = b != 0};
    case EXPR_OR:
      return (Slot){.value = a | b};
    case EXPR_XOR:
      return (Slot){.value = a ^ b};
    case EXPR_AND:
      return (Slot){.value = a & b};
    case EXPR_EQUAL:
      return (Slot){.value = a == b};
    case EXPR_DIFFER:
      return (Slot){.value = a != b};
    case EXPR_LESS_EQUAL:
      return (Slot){.value = a <= b};
    case EXPR_GREATER_EQUAL:
      return (Slot){.value = a >= b};
    case EXPR_LESS:
      return (Slot){.value = a < b};
    case EXPR_GREATER:
      return (Slot){.value = a > b};
    case EXPR_SHIFT_LEFT:
    case EXPR_SHIFT_RIGHT:
      return shift_slot(code, a, b);
    case EXPR_DIVIDE:
    case EXPR_MODULO:
      return divide_slot(code, a, b);
    default:
      return add_slot(code, a, b);
  }
}

static Slot unary_slot(ExprCode code, Slot slot) {
  if (slot.why) return slot;
  if (code == EXPR_NOT) return (Slot){.value = !slot.value};
  if (code == EXPR_INVERT) return (Slot){.value = ~slot.value};
  return add_slot(EXPR_SUBTRACT, 0, slot.value);
}

bool expr_eval(const Expr *expr, const int64_t *values, int64_t *out, const char **why) {
  Slot stack[EXPR_STACK_MAX];
  int n = 0;
  for (int i = 0; i < expr->n_steps; i++) {
    const ExprStep *step = &expr->steps[i];
    if (step->code == EXPR_CONSTANT || step->code == EXPR_VARIABLE) {
      stack[n++] = (Slot){.value = step->code == EXPR_CONSTANT ? step->value : values[step->value]};
    } else if (step->code <= EXPR_NOT) {
      stack[n - 1] = unary_slot(step->code, stack[n - 1]);
    } else if (step->code == EXPR_SELECT) {
      Slot chosen = stack[n - 3].value ? stack[n - 2] : stack[n - 1];
      n -= 2;
      if (!stack[n - 1].why) stack[n - 1] = chosen;
    } else {
      n--;
      stack[n - 1] = binary_slot(step->code, stack[n - 1], stack[n]);
    }
  }
  assert(n == 1);
  *out = stack[0].value;
  *why = stack[0].why;
  return stack[0].why == NULL;
}
