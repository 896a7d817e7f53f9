// Printing expressions, offsets and guards.
//
// Nothing is decided here about where an element lies: the offset is the tree access_offset()
// gives. It has every product multiplied out, which is hard to read, so terms that share a stride
// are put in one parenthesis. Worked example, A[M][K] with K = 4096:
//   tree     m_b*524288 + m_t*4096 + k_o*16 + 5
//   by 4096  (m_b*128 + m_t) * K   and the rest   k_o*16 + 5
//   text     (m_b * 128 + m_t) * K + k_o * 16 + 5
// Only constants that divide exactly are moved, so the value is the tree's for every environment.
//
// Numbers are int as long as their range allows. A sum or product that leaves 32 bits while its
// operands do not gets its left operand cast: (long long)(m_b * 128 + m_t) * K.
#include "model/text/emit_expr.h"

#include <assert.h>

#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

static bool is_wide(const Expr *expr) { return expr->hi > INT32_MAX || expr->lo < INT32_MIN; }

static void print_operand(ExprText *text, const Expr *expr, bool parentheses, bool cast) {
  if (cast) str_add(text->out, "(long long)");
  bool enclose = parentheses || (cast && expr_precedence(expr->op) < PRECEDENCE_ATOM);
  if (enclose) str_add_char(text->out, '(');
  emit_expr(text, expr);
  if (enclose) str_add_char(text->out, ')');
}

static void print_infix(ExprText *text, const Expr *expr) {
  int own = expr_precedence(expr->op);
  // Mixed bit operators get parentheses although C needs none: few readers remember their order.
  bool logic = expr->op == EXPR_LAND || expr->op == EXPR_LT || expr->op == EXPR_EQ;
  bool bits = own <= PRECEDENCE_BITS && !logic;
  int left = expr_precedence(expr->a->op), right = expr_precedence(expr->b->op);
  bool overflows = is_wide(expr) && !is_wide(expr->a) && !is_wide(expr->b);
  print_operand(text, expr->a, left < own || (bits && left < PRECEDENCE_ATOM), overflows);
  str_printf(text->out, " %s ", expr_op_text(expr->op));
  bool associative = expr->op == EXPR_ADD || expr->op == EXPR_LAND;
  bool enclose = right < own || (right == own && !associative) || (bits && right < PRECEDENCE_ATOM);
  print_operand(text, expr->b, enclose, false);
}

static int table_number(EmitSymbols *symbols, const Expr *expr) {
  for (int i = 0; i < symbols->n_tables; i++)
    if (symbols->table[i]->table == expr->table) return i;
  assert(symbols->n_tables < EMIT_TABLES_MAX);
  symbols->table[symbols->n_tables] = expr;
  return symbols->n_tables++;
}

static void print_table(ExprText *text, const Expr *expr) {
  str_printf(text->out, "table_%d[", table_number(text->symbols, expr));
  emit_expr(text, expr->a);
  str_add_char(text->out, ']');
}

// min(tid, 255) in a block of 256 threads is how a program says that tid < 256; the launch sees to
// it, so the text need not.
static bool is_thread_bound(const ExprText *text, const Expr *expr) {
  bool is_thread = expr->a->op == EXPR_VAR && expr->a->var->kind == VAR_THREAD;
  return is_thread && expr->b->op == EXPR_CONST && expr->b->value >= text->n_threads - 1;
}

static void print_min(ExprText *text, const Expr *expr) {
  if (is_thread_bound(text, expr)) {
    emit_expr(text, expr->a);
    return;
  }
  bool wide = is_wide(expr->a) || is_wide(expr->b);  // CUDA's min wants both sides of one type
  str_add(text->out, "min(");
  print_operand(text, expr->a, false, wide);
  str_add(text->out, ", ");
  print_operand(text, expr->b, false, wide);
  str_add_char(text->out, ')');
}

static void print_select(ExprText *text, const Expr *expr) {
  str_add_char(text->out, '(');
  emit_expr(text, expr->a);
  str_add(text->out, " ? ");
  emit_expr(text, expr->b);
  str_add(text->out, " : ");
  emit_expr(text, expr->c);
  str_add_char(text->out, ')');
}

const char *emit_runs_along(const EmitRing *ring, const Expr *number) {
  for (int i = 0; ring && i < ring->n; i++)
    if (expr_equal(ring->term[i].number, number)) return ring->term[i].text;
  return NULL;
}

void emit_expr(ExprText *text, const Expr *expr) {
  const char *running = emit_runs_along(text->symbols->ring, expr);
  if (running) {
    str_add(text->out, running);
    return;
  }
  switch (expr->op) {
    case EXPR_CONST:
      str_printf(text->out, is_wide(expr) ? "%lldLL" : "%lld", (long long)expr->value);
      return;
    case EXPR_VAR:
      str_add(text->out, text->names[expr->var->id]);
      return;
    case EXPR_TABLE:
      print_table(text, expr);
      return;
    case EXPR_MIN:
      print_min(text, expr);
      return;
    case EXPR_SELECT:
      print_select(text, expr);
      return;
    default:
      print_infix(text, expr);
      return;
  }
}

// ---- offsets ------------------------------------------------------------------------------------

typedef struct Split {
  const Expr *multiple, *rest;  // the sum is multiple · stride + rest
} Split;

static void split_sum(Arena *arena, const Expr *sum, int64_t stride, Split *split) {
  if (sum->op == EXPR_ADD) {
    split_sum(arena, sum->a, stride, split);
    split_sum(arena, sum->b, stride, split);
  } else if (sum->op == EXPR_CONST) {
    split->multiple = ex_add_const(arena, split->multiple, sum->value / stride);
    split->rest = ex_add_const(arena, split->rest, sum->value % stride);
  } else if (sum->op == EXPR_MUL && sum->b->op == EXPR_CONST && sum->b->value % stride == 0) {
    const Expr *quotient = ex_mul_const(arena, sum->a, sum->b->value / stride);
    split->multiple = ex_add(arena, split->multiple, quotient);
  } else {
    split->rest = ex_add(arena, split->rest, sum);
  }
}

// For attention, K is a matrix.
const char *emit_extent_name(const Program *program, int axis) {
  static const char *const names[][AXIS_COUNT] = {
      [PROBLEM_MATMUL] = {"M", "N", "K"}, [PROBLEM_ATTENTION] = {"QUERIES", "KEYS", "HEAD_DIM"}};
  return names[program->problem.kind][axis];
}

const char *emit_end_name(const Program *program, int axis) {
  static const char *const names[][AXIS_COUNT] = {
      [PROBLEM_MATMUL] = {"m_end", "n_end", "k_end"},
      [PROBLEM_ATTENTION] = {"queries_end", "keys_end", "head_dim_end"}};
  return names[program->problem.kind][axis];
}

// Which axes span the last two dimensions of a global buffer; -1: none.
static const int dim_axes[ROLE_COUNT][2] = {
    [ROLE_A] = {AXIS_M, AXIS_K},       [ROLE_B] = {AXIS_K, AXIS_N},
    [ROLE_C] = {AXIS_M, AXIS_N},       [ROLE_PARTIAL] = {AXIS_M, AXIS_N},
    [ROLE_V] = {AXIS_N, AXIS_K},       [ROLE_SCORES] = {AXIS_M, AXIS_N},
    [ROLE_WEIGHTS] = {AXIS_M, AXIS_N}, [ROLE_ROW_SUMS] = {-1, AXIS_M},
};

// The axis with a name that can stand for the length of a dimension; -1 when there is none.
static int dim_axis(const Program *program, const Buffer *buffer, int d) {
  if (buffer->space != SPACE_GLOBAL || d >= buffer->rank) return -1;
  int of_matrix = d - (buffer->rank - 2);
  if (of_matrix < 0) return -1;
  bool outputs = buffer->role == ROLE_C && program->problem.kind == PROBLEM_ATTENTION;
  int axis = outputs && of_matrix == 1 ? AXIS_K : dim_axes[buffer->role][of_matrix];
  return axis >= 0 && program->axis[axis].extent == buffer->dim[d] ? axis : -1;
}

static void print_extent(ExprText *text, const Program *program, int axis) {
  text->symbols->extent[axis] = true;
  str_add(text->out, emit_extent_name(program, axis));
}

// The dimensions from slow to fast; the last two of a column-major operand the other way round.
static int dim_in_memory(const Buffer *buffer, int i) {
  int batch = buffer->rank - 2;
  if (i < batch || buffer_fast_dimension(buffer) == buffer->rank - 1) return i;
  return buffer->rank - 1 - (i - batch);
}

// "K" or "132": the stride of the i-th dimension is the length of what lies inside it.
static void print_stride(ExprText *text, const Program *program, const Buffer *buffer, int i) {
  int d = dim_in_memory(buffer, i), inside = dim_in_memory(buffer, i + 1);
  int axis = dim_axis(program, buffer, inside);
  if (axis >= 0 && i + 2 == buffer->rank && buffer->stride[d] == buffer->dim[inside])
    print_extent(text, program, axis);
  else
    emit_expr(text, ex_const(text->arena, buffer->stride[d]));
}

static void print_multiple(ExprText *text, const Program *program, const Buffer *buffer, int i,
                           const Expr *multiple, bool wide) {
  bool enclose = expr_precedence(multiple->op) < PRECEDENCE_PRODUCT;
  if (!expr_is_const(multiple, 1) || wide) {
    print_operand(text, multiple, enclose, wide);
    str_add(text->out, " * ");
  }
  print_stride(text, program, buffer, i);
}

void emit_offset(ExprText *text, const Program *program, const Access *access) {
  emit_sum(text, program, access->buffer, access_offset(text->arena, access));
}

void emit_sum(ExprText *text, const Program *program, const Buffer *buffer, const Expr *rest) {
  bool wide = is_wide(rest) || buffer_elements(buffer) > INT32_MAX;
  bool empty = true;
  for (int i = 0; i + 1 < buffer->rank; i++) {
    int d = dim_in_memory(buffer, i);
    if (buffer->stride[d] <= 1 || buffer->dim[d] == 1) continue;
    const Expr *zero = ex_const(text->arena, 0);
    Split split = {zero, zero};
    split_sum(text->arena, rest, buffer->stride[d], &split);
    if (expr_is_const(split.multiple, 0)) continue;
    if (!empty) str_add(text->out, " + ");
    print_multiple(text, program, buffer, i, split.multiple, wide);
    rest = split.rest;
    empty = false;
  }
  if (!empty && expr_is_const(rest, 0)) return;
  if (!empty) str_add(text->out, " + ");
  print_operand(text, rest, !empty && expr_precedence(rest->op) < PRECEDENCE_SUM, false);
}

void emit_term(ExprText *text, const Program *program, const Buffer *buffer, const Expr *offset) {
  bool enclose = expr_precedence(offset->op) < PRECEDENCE_SUM;
  if (enclose) str_add_char(text->out, '(');
  emit_sum(text, program, buffer, offset);
  if (enclose) str_add_char(text->out, ')');
}

// ---- guards -------------------------------------------------------------------------------------

// The axis that one comparison of a guard is about: index < extent; -1: another one.
static int compared_axis(const Program *program, const Access *access, const Expr *guard) {
  for (int d = 0; guard->op == EXPR_LT && d < access->buffer->rank; d++) {
    const int axis = dim_axis(program, access->buffer, d);
    if (axis >= 0 && expr_equal(guard->a, access->idx[d])) return axis;
  }
  return -1;
}

static void print_guard(ExprText *text, const Program *program, const Access *access,
                        const Expr *guard) {
  if (guard->op == EXPR_LAND) {
    print_guard(text, program, access, guard->a);
    str_add(text->out, " && ");
    print_guard(text, program, access, guard->b);
    return;
  }
  const int axis = compared_axis(program, access, guard);
  if (axis < 0) {
    emit_expr(text, guard);
    return;
  }
  emit_expr(text, guard->a);
  str_add(text->out, " < ");
  if (text->symbols->own_end[axis])
    str_add(text->out, emit_end_name(program, axis));
  else
    print_extent(text, program, axis);
}

static void mark_axes(const Program *program, const Access *access, const Expr *guard,
                      bool named[AXIS_COUNT]) {
  if (guard->op == EXPR_LAND) {
    mark_axes(program, access, guard->a, named);
    mark_axes(program, access, guard->b, named);
    return;
  }
  const int axis = compared_axis(program, access, guard);
  if (axis >= 0) named[axis] = true;
}

void emit_guard_axes(Arena *arena, const Program *program, const Access *access,
                     bool named[AXIS_COUNT]) {
  const Expr *guard = access_guard(arena, access);
  if (guard) mark_axes(program, access, guard, named);
}

bool emit_guard(ExprText *text, const Program *program, const Access *access) {
  const Expr *guard = access_guard(text->arena, access);
  if (guard) print_guard(text, program, access, guard);
  return guard != NULL;
}
