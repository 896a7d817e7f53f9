// Statements as CUDA lines: loops, LETs, IFs and the operations.
//
// One row per operation says how it is written. Register buffers are C arrays indexed by loop
// variables of unrolled loops; shared and global ones are pointers indexed by their offset:
//   LOAD  width 1   a[m_r] = A_s[k_i * 132 + m_t * 8 + m_r];
//   LOAD  width 4   load4(&a[m_g * 4], &A_s[k_i * 132 + m_t * 8 + m_g * 4]);
//   with a guard    a[m_r] = m_b * 16 + m_t < M ? A[(m_b * 16 + m_t) * K + k] : 0.0f;
//   FMA             acc[m_r][n_r] += a[m_r] * b[n_r];    contracted to one fma.rn by the compiler
//
// Left out because it says nothing: loops of one iteration, dimensions of length one, a note that
// already stands above the group.
#include <assert.h>
#include <string.h>

#include "kernels/emit_base.h"

enum { LINE_COLUMNS = 100 };

// ---- operands -----------------------------------------------------------------------------------

static ExprText expr_text(Emitter *emitter, Str *out) {
  return (ExprText){emitter->arena, out, &emitter->symbols, emitter->names, emitter->n_threads};
}

static const char *print_expr(Emitter *emitter, const Expr *expr) {
  Str out = str_new(emitter->arena);
  ExprText text = expr_text(emitter, &out);
  emit_expr(&text, expr);
  return out.text;
}

static const char *print_guard(Emitter *emitter, const Access *access) {
  Str out = str_new(emitter->arena);
  ExprText text = expr_text(emitter, &out);
  return emit_guard(&text, emitter->program, access) ? out.text : NULL;
}

static void print_register_index(ExprText *text, const Access *access) {
  for (int d = 0; d < access->buffer->rank; d++) {
    if (access->buffer->dim[d] == 1) continue;
    str_add_char(text->out, '[');
    emit_expr(text, access->idx[d]);
    str_add_char(text->out, ']');
  }
}

// "acc[m_r][n_r]", "A_s[k_i * 132 + m_t * 8]"
static const char *print_element(Emitter *emitter, const Access *access) {
  Str out = str_new(emitter->arena);
  ExprText text = expr_text(emitter, &out);
  const Expr *rest;
  const EmitBase *base = emit_base_of(emitter, access, &rest);
  str_add(&out, base ? base->name : access->buffer->name);
  if (access->buffer->space == SPACE_REGISTER) {
    print_register_index(&text, access);
    return out.text;
  }
  str_add_char(&out, '[');
  if (base)
    emit_sum(&text, emitter->program, access->buffer, rest);
  else
    emit_offset(&text, emitter->program, access);
  str_add_char(&out, ']');
  return out.text;
}

static const char *helper(Emitter *emitter, PreludeHelper which) {
  emitter->helper_used[which] = true;
  return prelude_name(which);
}

// The helper for `width` elements out of a run that starts at the narrowest.
static PreludeHelper helper_of_width(PreludeHelper first, int first_width, int width) {
  int step = 0;
  while (first_width << step < width) step++;
  assert(first_width << step == width && width <= 4);
  return first + (unsigned)step;
}

// ---- operations ---------------------------------------------------------------------------------

// A statement under a guard, on one line where it fits.
static void guarded_line(Emitter *emitter, const char *guard, const char *statement) {
  if (!guard) {
    emitter_line(emitter, "%s", statement);
    return;
  }
  size_t columns = strlen(guard) + strlen(statement) + sizeof "if () " - 1;
  if ((size_t)emitter->depth * 2 + columns <= LINE_COLUMNS) {
    emitter_line(emitter, "if (%s) %s", guard, statement);
    return;
  }
  emitter_line(emitter, "if (%s)", guard);
  emitter->depth++;
  emitter_line(emitter, "%s", statement);
  emitter->depth--;
}

static const char *print_float(Emitter *emitter, double value) {
  const char *digits = arena_printf(emitter->arena, "%.9g", value);
  bool has_point = strpbrk(digits, ".e") != NULL;
  return arena_printf(emitter->arena, has_point ? "%sf" : "%s.0f", digits);
}

static void emit_init(Emitter *emitter, const Op *op) {
  const char *to = print_element(emitter, &op->dst), *value = print_float(emitter, op->value);
  if (op->width == 1)
    emitter_line(emitter, "%s = %s;", to, value);
  else
    emitter_line(emitter, "%s(&%s, %s);",
                 helper(emitter, helper_of_width(PRELUDE_FILL2, 2, op->width)), to, value);
}

static void emit_wide_load(Emitter *emitter, const Op *op, const char *to, const char *from,
                           const char *guard) {
  PreludeHelper first = guard ? PRELUDE_LOAD2_OR_ZERO : PRELUDE_LOAD2;
  const char *name = helper(emitter, helper_of_width(first, 2, op->width));
  if (guard)
    emitter_line(emitter, "%s(&%s, &%s, %s);", name, to, from, guard);
  else
    emitter_line(emitter, "%s(&%s, &%s);", name, to, from);
}

static void emit_load(Emitter *emitter, const Op *op) {
  const char *to = print_element(emitter, &op->dst), *from = print_element(emitter, &op->src);
  const char *guard = print_guard(emitter, &op->src);
  if (op->width > 1)
    emit_wide_load(emitter, op, to, from, guard);
  else if (guard)
    emitter_line(emitter, "%s = %s ? %s : 0.0f;", to, guard, from);
  else
    emitter_line(emitter, "%s = %s;", to, from);
}

static void emit_store(Emitter *emitter, const Op *op) {
  const char *to = print_element(emitter, &op->dst), *from = print_element(emitter, &op->src);
  const char *statement = arena_printf(emitter->arena, "%s = %s;", to, from);
  if (op->width > 1)
    statement =
        arena_printf(emitter->arena, "%s(&%s, &%s);",
                     helper(emitter, helper_of_width(PRELUDE_STORE2, 2, op->width)), to, from);
  guarded_line(emitter, print_guard(emitter, &op->dst), statement);
}

static void emit_fma(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s += %s * %s;", print_element(emitter, &op->dst),
               print_element(emitter, &op->src), print_element(emitter, &op->src2));
}

static void emit_add(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s += %s;", print_element(emitter, &op->dst),
               print_element(emitter, &op->src));
}

static void emit_scale(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s *= alpha;", print_element(emitter, &op->dst));
}

static void emit_atomic_add(Emitter *emitter, const Op *op) {
  const char *statement =
      arena_printf(emitter->arena, "atomicAdd(&%s, %s);", print_element(emitter, &op->dst),
                   print_element(emitter, &op->src));
  guarded_line(emitter, print_guard(emitter, &op->dst), statement);
}

static void emit_barrier(Emitter *emitter, const Op *op) {
  (void)op;
  emitter_line(emitter, "__syncthreads();");
}

static void emit_cp_async(Emitter *emitter, const Op *op) {
  const char *to = print_element(emitter, &op->dst), *from = print_element(emitter, &op->src);
  const char *guard = print_guard(emitter, &op->src);
  PreludeHelper first = guard ? PRELUDE_CP_ASYNC1_OR_ZERO : PRELUDE_CP_ASYNC1;
  const char *name = helper(emitter, helper_of_width(first, 1, op->width));
  if (guard)
    emitter_line(emitter, "%s(&%s, &%s, %s);", name, to, from, guard);
  else
    emitter_line(emitter, "%s(&%s, &%s);", name, to, from);
}

static void emit_cp_commit(Emitter *emitter, const Op *op) {
  (void)op;
  emitter_line(emitter, "%s();", helper(emitter, PRELUDE_CP_ASYNC_COMMIT));
}

static void emit_cp_wait(Emitter *emitter, const Op *op) {
  emitter_line(emitter, "%s<%lld>();", helper(emitter, PRELUDE_CP_ASYNC_WAIT),
               (long long)op->count);
}

static void (*const op_writers[OP_COUNT])(Emitter *emitter, const Op *op) = {
    [OP_INIT] = emit_init,       [OP_LOAD] = emit_load,         [OP_STORE] = emit_store,
    [OP_FMA] = emit_fma,         [OP_ADD] = emit_add,           [OP_ATOMIC_ADD] = emit_atomic_add,
    [OP_BARRIER] = emit_barrier, [OP_CP_ASYNC] = emit_cp_async, [OP_CP_COMMIT] = emit_cp_commit,
    [OP_CP_WAIT] = emit_cp_wait, [OP_SCALE] = emit_scale,
};

// ---- remarks ------------------------------------------------------------------------------------

// What an operation is for, by what it writes; the remark above a group whose pass left no note.
static const char *const purposes[OP_COUNT][ROLE_COUNT] = {
    [OP_LOAD] = {[ROLE_STAGE_A] = "fetch the slab of A",
                 [ROLE_STAGE_B] = "fetch the slab of B",
                 [ROLE_FRAG_A] = "this thread's values of A",
                 [ROLE_FRAG_B] = "this thread's values of B"},
    [OP_STORE] = {[ROLE_SLAB_A] = "put the slab of A into shared memory",
                  [ROLE_SLAB_B] = "put the slab of B into shared memory",
                  [ROLE_C] = "write the cells of C",
                  [ROLE_PARTIAL] = "write this split's partial sums"},
    [OP_FMA] = {[ROLE_ACC] = "add the outer product of a and b"},
    [OP_SCALE] = {[ROLE_ACC] = "the BLAS factor; stores no longer say where the sums live"},
    [OP_CP_ASYNC] = {[ROLE_SLAB_A] = "start the copy of the slab of A",
                     [ROLE_SLAB_B] = "start the copy of the slab of B"},
    [OP_ATOMIC_ADD] = {[ROLE_C] = "add this split's part of the cells"},
};

static bool is_unrolled(const Stmt *stmt) {
  return stmt->kind == STMT_LOOP && (stmt->var->tier == TIER_REGISTER || stmt->var->extent == 1);
}

// NULL: nothing to say.
static const char *remark_of(const Stmt *stmt) {
  if (stmt->note) return stmt->note;
  if (stmt->knob == KNOB_NONE) return NULL;
  const Stmt *at = stmt;
  while (at && (at->kind == STMT_IF || is_unrolled(at))) at = at->body;
  if (!at || at->kind != STMT_OP || !at->op.dst.buffer) return NULL;
  return purposes[at->op.kind][at->op.dst.buffer->role];
}

static bool same_text(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

static void emit_remark(Emitter *emitter, const Stmt *stmt, const char *remark) {
  if (stmt->knob == KNOB_NONE)
    emitter_line(emitter, "// %s", remark);
  else
    emitter_line(emitter, "// %s: %s", emitter_knob(emitter, stmt->knob), remark);
}

// ---- structure ----------------------------------------------------------------------------------

static bool is_flattened(const Stmt *stmt) {
  return stmt->kind == STMT_LOOP && stmt->var->extent == 1;
}

// Whether the list comes out as one statement under no new remark, so that it needs no braces: an
// operation, perhaps in unrolled loops of its own.
static bool is_bare(const Stmt *list, const char *group) {
  if (!list || list->next) return false;
  const char *remark = remark_of(list);
  if (remark && !same_text(remark, group)) return false;
  if (list->kind == STMT_OP) return true;
  return is_unrolled(list) && is_bare(list->body, remark);
}

static bool has_let(const Stmt *list) {
  for (; list; list = list->next)
    if (list->kind == STMT_LET || (is_flattened(list) && has_let(list->body))) return true;
  return false;
}

static void emit_block(Emitter *emitter, const Stmt *owner, const char *group, bool braces) {
  emitter->depth++;
  emit_stmts(emitter, owner->body, group);
  emitter->depth--;
  emitter->stmt = owner;
  emitter->knob = owner->knob;
  if (braces) emitter_line(emitter, "}");
}

static void emit_flattened(Emitter *emitter, const Stmt *loop, const char *group) {
  if (!has_let(loop->body)) {
    emit_stmts(emitter, loop->body, group);
    return;
  }
  emitter_line(emitter, "{");
  emit_block(emitter, loop, group, true);
}

static void emit_unroll(Emitter *emitter, const Stmt *loop) {
  if (loop->var->tier == TIER_REGISTER || loop->unroll == UNROLL_FULL)
    emitter_line(emitter, "#pragma unroll");
  else if (loop->unroll > 0)
    emitter_line(emitter, "#pragma unroll %d", loop->unroll);
}

// A loop over a whole axis of the problem ends at the axis' name.
static const char *print_extent(Emitter *emitter, const Var *var) {
  for (int a = 0; a < AXIS_COUNT; a++) {
    const Axis *axis = &emitter->program->axis[a];
    for (int d = 0; d < axis->n_digits; d++) {
      if (axis->digit[d].var != var || var->extent != axis->extent) continue;
      emitter->symbols.extent[a] = true;
      return emit_extent_names[a];
    }
  }
  return arena_printf(emitter->arena, "%lld", (long long)var->extent);
}

// Loops that stay loops say which knob gave them their length.
static const char *print_loop_remark(Emitter *emitter, const Stmt *loop) {
  bool silent = loop->knob == KNOB_NONE || loop->note || loop->var->tier == TIER_REGISTER;
  if (silent) return "";
  return arena_printf(emitter->arena, "  // %s", emitter_knob(emitter, loop->knob));
}

static void emit_loop(Emitter *emitter, const Stmt *loop, const char *group) {
  if (is_flattened(loop)) {
    emit_flattened(emitter, loop, group);
    return;
  }
  const char *name = emitter->names[loop->var->id];
  bool braces = !is_bare(loop->body, group);
  emit_unroll(emitter, loop);
  emitter_line(emitter, "for (int %s = 0; %s < %s; ++%s)%s%s", name, name,
               print_extent(emitter, loop->var), name, braces ? " {" : "",
               print_loop_remark(emitter, loop));
  emit_block(emitter, loop, group, braces);
}

static void emit_if(Emitter *emitter, const Stmt *stmt, const char *group) {
  bool braces = !is_bare(stmt->body, group);
  emitter_line(emitter, "if (%s)%s", print_expr(emitter, stmt->expr), braces ? " {" : "");
  emit_block(emitter, stmt, group, braces);
}

static void emit_let(Emitter *emitter, const Stmt *stmt) {
  const char *type = stmt->var->extent > (int64_t)INT32_MAX + 1 ? "long long" : "int";
  emitter_line(emitter, "const %s %s = %s;", type, emitter->names[stmt->var->id],
               print_expr(emitter, stmt->expr));
}

static void emit_one(Emitter *emitter, const Stmt *stmt, const char *group) {
  switch (stmt->kind) {
    case STMT_LOOP:
      emit_loop(emitter, stmt, group);
      return;
    case STMT_IF:
      emit_if(emitter, stmt, group);
      return;
    case STMT_LET:
      emit_let(emitter, stmt);
      return;
    case STMT_OP:
      op_writers[stmt->op.kind](emitter, &stmt->op);
      return;
  }
}

// Comes out as several lines of its own: an IF, or a loop that some knob made and that stays a
// loop.
static bool is_block(const Stmt *stmt) {
  bool is_loop = stmt->kind == STMT_LOOP && !is_unrolled(stmt) && stmt->knob != KNOB_NONE;
  return is_loop || stmt->kind == STMT_IF;
}

// Waits and commits belong to what stands above them.
static bool is_tail(const Stmt *stmt) {
  return stmt->kind == STMT_OP && !stmt->op.dst.buffer && !stmt->note;
}

static bool starts_group(const Stmt *before, const Stmt *stmt) {
  const char *own = remark_of(stmt), *above = remark_of(before);
  if (is_block(before) || is_block(stmt)) return true;
  return !is_tail(stmt) && own != above && !same_text(own, above);
}

void emit_stmts(Emitter *emitter, const Stmt *first, const char *group) {
  const Stmt *before = NULL;
  for (const Stmt *stmt = first; stmt; before = stmt, stmt = stmt->next) {
    const char *remark = remark_of(stmt);
    emitter->stmt = stmt;
    emitter->knob = stmt->knob;
    if (before && starts_group(before, stmt)) emitter_blank(emitter);
    if (remark && !same_text(remark, group)) emit_remark(emitter, stmt, remark);
    group = remark;
    emit_one(emitter, stmt, group);
  }
}
