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
#include "banks/engine/formula.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"

typedef enum FormulaCode {
  FORMULA_CONSTANT,
  FORMULA_VARIABLE,
  FORMULA_NEGATE,
  FORMULA_INVERT,
  FORMULA_NOT,
  FORMULA_SELECT,
  FORMULA_OR_ELSE,
  FORMULA_AND_THEN,
  FORMULA_OR,
  FORMULA_XOR,
  FORMULA_AND,
  FORMULA_EQUAL,
  FORMULA_DIFFER,
  FORMULA_LESS_EQUAL,
  FORMULA_GREATER_EQUAL,
  FORMULA_LESS,
  FORMULA_GREATER,
  FORMULA_SHIFT_LEFT,
  FORMULA_SHIFT_RIGHT,
  FORMULA_ADD,
  FORMULA_SUBTRACT,
  FORMULA_MULTIPLY,
  FORMULA_DIVIDE,
  FORMULA_MODULO,
} FormulaCode;

typedef struct FormulaStep {
  FormulaCode code;
  int64_t value;  // of a constant, or the index of a variable
} FormulaStep;

struct Formula {
  int n_steps;
  FormulaStep *steps;
};

typedef struct Operator {
  const char *spelling;
  int precedence;
  FormulaCode code;
} Operator;

// Longer spellings first, so that "<<" is not read as "<".
static const Operator BINARY[] = {
    {"||", 1, FORMULA_OR_ELSE},    {"&&", 2, FORMULA_AND_THEN},
    {"==", 6, FORMULA_EQUAL},      {"!=", 6, FORMULA_DIFFER},
    {"<<", 8, FORMULA_SHIFT_LEFT}, {">>", 8, FORMULA_SHIFT_RIGHT},
    {"<=", 7, FORMULA_LESS_EQUAL}, {">=", 7, FORMULA_GREATER_EQUAL},
    {"<", 7, FORMULA_LESS},        {">", 7, FORMULA_GREATER},
    {"|", 3, FORMULA_OR},          {"^", 4, FORMULA_XOR},
    {"&", 5, FORMULA_AND},         {"+", 9, FORMULA_ADD},
    {"-", 9, FORMULA_SUBTRACT},    {"*", 10, FORMULA_MULTIPLY},
    {"/", 10, FORMULA_DIVIDE},     {"%", 10, FORMULA_MODULO},
};

typedef struct Parser {
  Arena *arena;
  const char *text, *at;
  const FormulaName *names;
  int n_names;
  Diags *diags;
  bool failed;
  Formula *formula;
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

static void emit(Parser *p, FormulaCode code, int64_t value, int depth_change) {
  p->depth += depth_change;
  if (p->depth > FORMULA_STACK_MAX) fail(p, NULL, "%s", "more than 64 values wait for an operator");
  if (p->failed) return;
  p->formula->steps[p->formula->n_steps++] = (FormulaStep){code, value};
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

// Goes one deeper: a parenthesis, a sign or the arms of ?:.
static void parse_nested(Parser *p, void (*parse)(Parser *p)) {
  if (p->nesting == FORMULA_STACK_MAX) fail(p, NULL, "%s", "it is nested deeper than 64 levels");
  if (p->failed) return;
  p->nesting++;
  parse(p);
  p->nesting--;
}

static void parse_number(Parser *p) {
  char *end = NULL;
  errno = 0;
  bool hex = p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X');
  long long value = strtoll(p->at, &end, hex ? 16 : 10);
  if (!hex && p->at[0] == '0' && isdigit((unsigned char)p->at[1]))
    fail(p, arena_printf(p->arena, "%lld", value), "%s",
         "C reads a number with a leading 0 as octal; leave out the 0");
  if (errno == ERANGE) fail(p, "9223372036854775807", "%s", "the number does not fit in 64 bits");
  const char *digits_end = end;
  while (*end && strchr("uUlL", *end)) end++;
  if ((hex && digits_end < p->at + 3) || isalnum((unsigned char)*end) || *end == '.')
    fail(p, NULL, "%s", "not a whole number");
  p->at = end;
  emit(p, FORMULA_CONSTANT, value, 1);
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
    emit(p, FORMULA_VARIABLE, p->names[i].variable, 1);
    return;
  }
  const char *nearest = nearest_name(name, known, p->n_names);
  fail(p, nearest || p->n_names == 0 ? nearest : known[0], "there is no variable \"%s\" here",
       name);
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
    parse_nested(p, parse_ternary);
    if (!take(p, ')')) fail(p, NULL, "%s", "a ')' is missing");
  } else if (c == '\0') {
    fail(p, NULL, "%s", "it ends before a number or a variable");
  } else {
    fail(p, NULL, "%s", "a number, a variable or '(' should be here");
  }
}

static void parse_unary(Parser *p) {
  if (p->failed) return;
  if (take(p, '+')) {
    parse_nested(p, parse_unary);
  } else if (take(p, '-')) {
    parse_nested(p, parse_unary);
    emit(p, FORMULA_NEGATE, 0, 0);
  } else if (take(p, '~')) {
    parse_nested(p, parse_unary);
    emit(p, FORMULA_INVERT, 0, 0);
  } else if (take(p, '!')) {
    parse_nested(p, parse_unary);
    emit(p, FORMULA_NOT, 0, 0);
  } else {
    parse_operand(p);
  }
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
  parse_binary(p, 1);
  if (p->failed || !take(p, '?')) return;
  parse_nested(p, parse_ternary);
  if (!take(p, ':')) fail(p, NULL, "%s", "a ':' is missing after '?'");
  parse_nested(p, parse_ternary);
  emit(p, FORMULA_SELECT, 0, -2);
}

const Formula *formula_parse(Arena *arena, const char *text, const FormulaName *names, int n_names,
                             Diags *diags) {
  size_t length = strlen(text);
  if (length > FORMULA_TEXT_MAX) {
    diag_add(diags, "expression", "the expression has %zu characters, at most %d are read", length,
             FORMULA_TEXT_MAX);
    return NULL;
  }
  Parser p = {.arena = arena, .text = text, .at = text, .names = names, .n_names = n_names};
  p.diags = diags;
  p.formula = ARENA_NEW(arena, Formula);
  p.formula->steps = ARENA_ARRAY(arena, FormulaStep, length + 1);
  parse_ternary(&p);
  skip_blanks(&p);
  if (!p.failed && *p.at) fail(&p, NULL, "%s", "an operator or the end should be here");
  assert(p.failed || p.depth == 1);
  return p.failed ? NULL : p.formula;
}

// A value on the stack; `why` is set where it is undefined.
typedef struct Slot {
  int64_t value;
  const char *why;
} Slot;

static Slot undefined(const char *why) { return (Slot){.why = why}; }

static Slot shift_slot(FormulaCode code, int64_t value, int64_t by) {
  if (by < 0 || by > 62) return undefined("shifts by less than 0 or more than 62 bits");
  if (code == FORMULA_SHIFT_RIGHT) return (Slot){.value = value >> by};
  int64_t out;
  if (__builtin_mul_overflow(value, (int64_t)1 << by, &out)) return undefined("overflows 64 bits");
  return (Slot){.value = out};
}

static Slot divide_slot(FormulaCode code, int64_t a, int64_t b) {
  if (b == 0) return undefined("divides by zero");
  if (a == INT64_MIN && b == -1) return undefined("overflows 64 bits");
  return (Slot){.value = code == FORMULA_DIVIDE ? a / b : a % b};
}

static Slot add_slot(FormulaCode code, int64_t a, int64_t b) {
  int64_t out = 0;
  bool over = code == FORMULA_ADD        ? __builtin_add_overflow(a, b, &out)
              : code == FORMULA_SUBTRACT ? __builtin_sub_overflow(a, b, &out)
                                         : __builtin_mul_overflow(a, b, &out);
  return over ? undefined("overflows 64 bits") : (Slot){.value = out};
}

static Slot binary_slot(FormulaCode code, Slot left, Slot right) {
  if (left.why) return left;
  if (code == FORMULA_OR_ELSE && left.value) return (Slot){.value = 1};
  if (code == FORMULA_AND_THEN && !left.value) return (Slot){.value = 0};
  if (right.why) return right;
  int64_t a = left.value, b = right.value;
  switch (code) {
    case FORMULA_OR_ELSE:
    case FORMULA_AND_THEN:
      return (Slot){.value = b != 0};
    case FORMULA_OR:
      return (Slot){.value = a | b};
    case FORMULA_XOR:
      return (Slot){.value = a ^ b};
    case FORMULA_AND:
      return (Slot){.value = a & b};
    case FORMULA_EQUAL:
      return (Slot){.value = a == b};
    case FORMULA_DIFFER:
      return (Slot){.value = a != b};
    case FORMULA_LESS_EQUAL:
      return (Slot){.value = a <= b};
    case FORMULA_GREATER_EQUAL:
      return (Slot){.value = a >= b};
    case FORMULA_LESS:
      return (Slot){.value = a < b};
    case FORMULA_GREATER:
      return (Slot){.value = a > b};
    case FORMULA_SHIFT_LEFT:
    case FORMULA_SHIFT_RIGHT:
      return shift_slot(code, a, b);
    case FORMULA_DIVIDE:
    case FORMULA_MODULO:
      return divide_slot(code, a, b);
    default:
      return add_slot(code, a, b);
  }
}

static Slot unary_slot(FormulaCode code, Slot slot) {
  if (slot.why) return slot;
  if (code == FORMULA_NOT) return (Slot){.value = !slot.value};
  if (code == FORMULA_INVERT) return (Slot){.value = ~slot.value};
  return add_slot(FORMULA_SUBTRACT, 0, slot.value);
}

bool formula_eval(const Formula *formula, const int64_t *values, int64_t *out, const char **why) {
  Slot stack[FORMULA_STACK_MAX];
  int n = 0;
  for (int i = 0; i < formula->n_steps; i++) {
    const FormulaStep *step = &formula->steps[i];
    if (step->code == FORMULA_CONSTANT || step->code == FORMULA_VARIABLE) {
      stack[n++] =
          (Slot){.value = step->code == FORMULA_CONSTANT ? step->value : values[step->value]};
    } else if (step->code <= FORMULA_NOT) {
      stack[n - 1] = unary_slot(step->code, stack[n - 1]);
    } else if (step->code == FORMULA_SELECT) {
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
