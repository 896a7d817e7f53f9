// One thread followed while it runs: its statements in order, with the values that it saw.
//
//   stmt  14  k_o = 0
//   stmt  16  r_a[c_a] = load A[m_b * 32 + tid / 8, k_o * 8 + tid % 8]   A[0, 5] is 3; r_a[0] = 3
//
// Every value that is read is looked up before the statement runs ("is"); its result is looked up
// afterwards ("="). The indices come from the access, evaluated for this one lane. A copy in the
// background shows the old values of its destination until it lands.
#include "model/interp/interp_machine.h"
#include "model/ir/notation/print_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

enum { VALUES_MAX = 4 };

// An access of the thread, as it stands now.
typedef struct Seen {
  Machine *m;
  const Warp *w;
  uint32_t lane;
  const int64_t *env;
} Seen;

static uint32_t lane_of(const Machine *m) { return (uint32_t)m->trace->thread % LANES; }

bool trace_wants(const Machine *m, const Warp *w) {
  const InterpTrace *trace = m->trace;
  return m->block == trace->block && w->place == trace->thread / LANES &&
         (w->active >> lane_of(m) & 1);
}

static Seen seen_now(Machine *m, const Warp *w) {
  int n = m->program->n_vars;
  uint32_t lane = lane_of(m);
  int64_t *env = ARENA_ARRAY(m->arena, int64_t, n);
  for (int v = 0; v < n; v++)
    env[v] = m->code->dep[v] & DEP_LANE ? w->lanes[v * LANES + (int)lane] : w->scalar[v];
  return (Seen){m, w, lane, env};
}

// ---- values -------------------------------------------------------------------------------------

// A byte of two e2m1 is carried as its code: the elements that it is, the first in its low half.
static void add_number(Str *out, DType type, double value) {
  if (dtype_elements(type) == 1 || value != value) {
    str_printf(out, " %g", value);
    return;
  }
  str_printf(out, " (%g %g)", number_element(type, value, 0), number_element(type, value, 1));
}

static void add_register(const Seen *s, Str *out, const Memory *memory, int64_t at) {
  int64_t row = memory->first_row + at * memory->rows;
  if (s->w->written[row] >> s->lane & 1)
    add_number(out, memory->type, row_get(&s->w->row[row], memory->type, s->lane));
  else
    str_add(out, " unwritten");
}

static void add_element(const Seen *s, Str *out, const Memory *memory, int64_t at) {
  if (memory->shadow && !shadow_is_written(s->m, memory, at))
    str_add(out, " unwritten");
  else
    add_number(out, memory->type, number_read(memory->type, memory_at(memory, at)));
}

// For the block at hand, whichever thread wrote the column.
static void add_column(const Seen *s, Str *out, const Memory *memory, int64_t at) {
  const int64_t each = buffer_column_elements(memory->buffer), cell = at / each;
  const int64_t lane = cell / TENSOR_COLUMNS;
  const int64_t column = memory->buffer->column + cell % TENSOR_COLUMNS;
  const Row *row = &s->m->own->tensor.row[lane / LANES][column];
  if (each > 1) {  // of a word of several
    const uint8_t byte = (uint8_t)((uint32_t)row->whole[lane % LANES] >> 8 * (at % each));
    str_printf(out, " %g", number_read(memory->type, &byte));
    return;
  }
  str_printf(out, " %g", row_get(row, memory->type, (uint32_t)(lane % LANES)));
}

static void add_values(const Seen *s, Str *out, const Memory *memory, int64_t at, int width) {
  if (memory->buffer->role == ROLE_TENSOR_BASE || memory->buffer->role == ROLE_LIST) {
    str_add(out, " a word");
    return;
  }
  if (memory->mbar) {
    const OrderPhases *bar = &memory->mbar[at].order->phases;
    str_printf(out, " in phase %u, %lld arrivals and %lld B to come", bar->phase,
               (long long)bar->pending, (long long)bar->bytes);
    return;
  }
  for (int j = 0; j < width && j < VALUES_MAX; j++)
    (memory->buffer->space == SPACE_TENSOR ? add_column
     : memory->data                        ? add_element
                                           : add_register)(s, out, memory, at + j);
  if (width > VALUES_MAX) str_add(out, " …");
}

// "A[0, 5] is 3"; `word` stands between the place and the value there.
static void add_access(const Seen *s, Str *out, const Access *access, const Operand *operand,
                       const char *word) {
  if (!access->buffer) return;
  Arena *arena = s->m->arena;
  const Memory *memory = &s->m->memory[access->buffer->id];
  const Expr *guard = access_guard(arena, access);
  int64_t at = expr_eval(access_offset(arena, access), s->env);
  str_printf(out, "%s%s[", out->length ? "; " : "", access->buffer->name);
  for (int d = 0; d < access->buffer->rank; d++)
    str_printf(out, d ? ", %lld" : "%lld", (long long)expr_eval(access->idx[d], s->env));
  str_printf(out, "] %s", word);
  if (guard && !expr_eval(guard, s->env))
    str_add(out, " outside, by its guard");
  else if (at < 0 || at + operand->width > memory->elements)
    str_add(out, " out of bounds");
  else
    add_values(s, out, memory, at, operand->width);
}

// ---- lines --------------------------------------------------------------------------------------

static void add_line(Machine *m, const Code *code, const char *what, const char *values) {
  str_printf(&m->trace->text, "  stmt %3d  %s%s%s\n", code->stmt->id, what, *values ? "   " : "",
             values);
}

static const char *op_words(const Machine *m, const Op *op) {
  Spans words = spans_new(m->arena);
  op_print(&words, m->program, op, false);
  return words.text.text;
}

static void end_op(Machine *m, const Warp *w, const Code *code) {
  const Op *op = &code->stmt->op;
  const OperandFacts *dst = &op_facts(op->kind)->dst;
  if (code->stmt->kind != STMT_OP) {  // a loop that cannot be run, for example
    add_line(m, code, code->fault, "");
    return;
  }
  if (w->state == WARP_ASLEEP) {
    add_line(m, code, op_words(m, op), "waits");
    return;
  }
  const Seen after = seen_now(m, w);
  if (dst->written && !code->fault) add_access(&after, &m->trace_values, &op->dst, &code->dst, "=");
  add_line(m, code, op_words(m, op), m->trace_values.text);
}

static void end_var(Machine *m, const Warp *w, const Code *code) {
  const Seen after = seen_now(m, w);
  const Var *var = code->stmt->var;
  add_line(m, code, arena_printf(m->arena, "%s = %lld", var->name, (long long)after.env[var->id]),
           "");
}

static void end_if(Machine *m, const Warp *w, const Code *code) {
  Str words = str_new(m->arena);
  str_add(&words, "if ");
  expr_print(&words, code->stmt->expr);
  if (code->stmt->elects) str_add(&words, ", elected");
  add_line(m, code, words.text, w->active >> lane_of(m) & 1 ? "yes" : "no");
}

// Whether the trace tells this code. The ends of loops and conditions say nothing. Unrolled loops
// do not either: the indices show their variables.
static bool is_told(const Machine *m, const Warp *w, const Code *code) {
  switch (code->kind) {
    case CODE_OP:
    case CODE_LET:
    case CODE_IF:
      return true;
    case CODE_LOOP:
      return code->stmt->var->tier != TIER_REGISTER;
    case CODE_NEXT:
      return code->stmt->var->tier != TIER_REGISTER && w->pc != (int)(code - m->code->code) + 1;
    default:
      return false;
  }
}

void trace_begin(Machine *m, const Warp *w, const Code *code) {
  if (code->kind != CODE_OP || code->fault || m->trace->n_lines >= m->trace->limit) return;
  const Op *op = &code->stmt->op;
  const OpFacts *facts = op_facts(op->kind);
  const Seen before = seen_now(m, w);
  m->trace_values = str_new(m->arena);
  if (facts->src.read) add_access(&before, &m->trace_values, &op->src, &code->src, "is");
  if (facts->src2.read) add_access(&before, &m->trace_values, &op->src2, &code->src2, "is");
  for (int i = 0; i < 2; i++)
    if (op->scale[i].buffer)
      add_access(&before, &m->trace_values, &op->scale[i], &code->scale[i], "is");
  if (facts->dst.read) add_access(&before, &m->trace_values, &op->dst, &code->dst, "is");
}

// "kernel matmul", and where blocks have ranks which one it is.
static void add_heading(Machine *m) {
  Str *out = &m->trace->text;
  int64_t cluster = m->code->launch.cluster;
  str_printf(out, "kernel %s", m->program->kernel[m->kernel].name);
  if (cluster > 1)
    str_printf(out, ", rank %lld of %lld in its cluster", (long long)(m->block % cluster),
               (long long)cluster);
  str_add_char(out, '\n');
}

void trace_end(Machine *m, const Warp *w, const Code *code) {
  if (!is_told(m, w, code) || m->trace->n_lines++ >= m->trace->limit) return;
  if (m->trace->n_lines == 1 || m->trace->kernel != m->kernel) add_heading(m);
  m->trace->kernel = m->kernel;
  if (code->kind == CODE_OP)
    end_op(m, w, code);
  else if (code->kind == CODE_IF)
    end_if(m, w, code);
  else
    end_var(m, w, code);
}
