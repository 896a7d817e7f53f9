// Statements as CUDA lines: loops, LETs, IFs, and the remarks above them. emit_op.c writes the
// operations.
//
//   // STAGE=11: this thread's values of A       the remark, once above a group
//   #pragma unroll                               REGISTER loops own their registers
//   for (int m_r = 0; m_r < 8; ++m_r)            no braces around a single statement
//     a[m_r] = A_s_at[m_r * 16 + k_i];
//
// Left out because it says nothing: loops of one iteration, dimensions of length one, a note that
// already stands above the group.
#include <string.h>

#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/text/emit_op.h"
#include "model/text/emit_parts.h"

// ---- remarks ------------------------------------------------------------------------------------

static bool is_flattened(const Stmt *stmt) {
  return stmt->kind == STMT_LOOP && stmt->var->extent == 1 && stmt->var->tier != TIER_TILE &&
         !stmt->end;
}

static bool is_unrolled(const Stmt *stmt) {
  return is_flattened(stmt) || (stmt->kind == STMT_LOOP && stmt->var->tier == TIER_REGISTER);
}

// NULL: nothing to say.
static const char *remark_of(const Emitter *emitter, const Stmt *stmt) {
  if (stmt->note) return stmt->note;
  if (stmt->knob == KNOB_NONE) return NULL;
  const Stmt *at = stmt;
  while (at && (at->kind == STMT_IF || is_unrolled(at))) at = at->body;
  if (!at || at->kind != STMT_OP) return NULL;
  const Buffer *target = at->op.dst.buffer ? at->op.dst.buffer : at->op.src.buffer;
  const char *const *purposes = op_emission(at->op.kind)->purposes;
  if (!purposes || !target) return NULL;
  return emit_words_of(emitter, purposes[target->role], target->role);
}

const char *emit_says(Arena *arena, const Program *program, const Stmt *stmt) {
  const Emitter emitter = {.arena = arena, .program = program};
  return remark_of(&emitter, stmt);
}

static bool same_text(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

static void emit_remark(Emitter *emitter, const Stmt *stmt, const char *remark) {
  if (stmt->knob == KNOB_NONE)
    emitter_line(emitter, "// %s", remark);
  else
    emitter_line(emitter, "// %s: %s", emitter_knob(emitter, stmt->knob), remark);
}

// ---- structure ----------------------------------------------------------------------------------

// Whether the list comes out as one statement under no new remark, so that it needs no braces: an
// operation, perhaps in unrolled loops of its own.
static bool is_bare(const Emitter *emitter, const Stmt *list, const char *group) {
  if (!list || list->next || emit_has_stamps(emitter, list)) return false;
  if (emit_has_delay(emitter, list)) return false;
  const char *remark = remark_of(emitter, list);
  if (remark && !same_text(remark, group)) return false;
  if (list->kind == STMT_OP) return !emit_op_is_split(emitter, &list->op);
  return is_unrolled(list) && is_bare(emitter, list->body, remark);
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

// A loop over slabs with a ring that goes on at its end.
static void emit_round(Emitter *emitter, const Stmt *loop, const EmitRing *ring,
                       const char *group) {
  emitter->depth++;
  emit_stmts(emitter, loop->body, group);
  emitter->stmt = loop;
  emitter->knob = loop->knob;
  emitter_blank(emitter);
  emit_ring_end(emitter, ring);
  emitter->depth--;
  emitter_line(emitter, "}");
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

// The variable of a loop over a digit of an axis, or of another loop that is written alike.
static bool is_digit(const Digit *digit, const Var *var) {
  return digit->var == var || (digit->var->tier == var->tier && digit->var->kind == var->kind &&
                               str_equal(digit->var->name, var->name));
}

// A loop over a whole axis of the problem ends at the axis' name.
static const char *print_extent(Emitter *emitter, const Var *var) {
  for (int a = 0; a < AXIS_COUNT; a++) {
    const Axis *axis = &emitter->program->axis[a];
    for (int d = 0; d < axis->n_digits; d++) {
      if (!is_digit(&axis->digit[d], var) || var->extent != axis->extent) continue;
      emitter->symbols.extent[a] = true;
      return emit_extent_name(emitter->program, a);
    }
  }
  return arena_printf(emitter->arena, "%lld", (long long)var->extent);
}

// Where a loop ends: at a number that it says, or with its variable's range.
static const char *print_end(Emitter *emitter, const Stmt *loop) {
  return loop->end ? emit_condition(emitter, loop->end) : print_extent(emitter, loop->var);
}

// Loops that stay loops say which knob gave them their length.
static const char *print_loop_remark(Emitter *emitter, const Stmt *loop) {
  bool silent = loop->knob == KNOB_NONE || loop->note || loop->var->tier == TIER_REGISTER;
  if (silent) return "";
  return arena_printf(emitter->arena, "  // %s", emitter_knob(emitter, loop->knob));
}

// The tiles of a persistent block, or of its cluster.
static void emit_tiles(Emitter *emitter, const Stmt *loop, const char *group) {
  const char *name = emitter->names[loop->var->id], *blocks = "";
  int64_t cluster = kernel_launch(program_main(emitter->program)).cluster;
  if (cluster > 1) blocks = arena_printf(emitter->arena, " / %lld", (long long)cluster);
  const char *first = arena_printf(emitter->arena, "blockIdx.x%s", blocks);
  const char *step = arena_printf(emitter->arena, "gridDim.x%s", blocks);
  if (loop->expr) {
    first = emit_condition(emitter, loop->expr);
    step = emitter->names[emitter->program->persistent.grid->id];
  }
  const char *end = loop->end ? emit_condition(emitter, loop->end)
                              : arena_printf(emitter->arena, "%lld", (long long)loop->var->extent);
  emitter_line(emitter, "for (int %s = %s; %s < %s; %s += %s) {%s", name, first, name, end, name,
               step, print_loop_remark(emitter, loop));
  emit_block(emitter, loop, group, true);
}

static void emit_own_bounds(Emitter *emitter) {
  emitter->depth++;
  emit_bounds_declare(emitter);
  emitter->depth--;
}

static void emit_loop(Emitter *emitter, const Stmt *loop, const char *group) {
  if (loop->var->tier == TIER_TILE) {
    emit_tiles(emitter, loop, group);
    return;
  }
  if (is_flattened(loop)) {
    emit_flattened(emitter, loop, group);
    return;
  }
  const char *name = emitter->names[loop->var->id];
  const EmitRing *ring = emit_ring_begin(emitter, loop);
  const bool bounds = emit_bounds_begin(emitter, loop);
  bool braces = ring || bounds || !is_bare(emitter, loop->body, group);
  emit_unroll(emitter, loop);
  emitter_line(emitter, "for (int %s = 0; %s < %s; ++%s)%s%s", name, name, print_end(emitter, loop),
               name, braces ? " {" : "", print_loop_remark(emitter, loop));
  if (bounds) emit_own_bounds(emitter);
  if (ring)
    emit_round(emitter, loop, ring, group);
  else
    emit_block(emitter, loop, group, braces);
  if (bounds) emit_bounds_end(emitter);
}

// Copies that carry the condition themselves: a block for the LETs, and no branch.
static void emit_predicated(Emitter *emitter, const Stmt *stmt, const char *group) {
  emitter->predicate = emit_condition(emitter, stmt->expr);
  if (has_let(stmt->body)) emitter_line(emitter, "{");
  emit_block(emitter, stmt, group, has_let(stmt->body));
  emitter->predicate = NULL;
}

// With two roles every warp has one, so the second one is an else; with more some warps may have
// none.
static void emit_role(Emitter *emitter, const Stmt *stmt, const char *group) {
  if (program_main(emitter->program)->n_roles > 2)
    emitter_line(emitter, "if (%s) {", emit_if_condition(emitter, stmt));
  else if (stmt_is_role(stmt, WORK_FETCHES) && emitter->elects)
    emitter_line(emitter, "if (%s) {", emit_if_condition(emitter, stmt));
  else if (stmt_is_role(stmt, WORK_FETCHES))
    emitter_line(emitter, "if (threadIdx.x >= %lld) {", (long long)emitter->n_threads);
  else
    emitter_line(emitter, "else {");
  emitter->role = stmt->role;
  emit_block(emitter, stmt, group, true);
  emitter->role = NULL;
}

static void emit_if(Emitter *emitter, const Stmt *stmt, const char *group) {
  if (stmt->role) {
    emit_role(emitter, stmt, group);
    return;
  }
  if (stmt->predicated) {
    emit_predicated(emitter, stmt, group);
    return;
  }
  bool braces = !is_bare(emitter, stmt->body, group);
  emitter_line(emitter, "if (%s)%s", emit_if_condition(emitter, stmt), braces ? " {" : "");
  emit_block(emitter, stmt, group, braces);
}

// An unused number would be a warning. One without a statement behind it stands between hardware
// loops: emit_cuda.c sees to those.
static void emit_let(Emitter *emitter, const Stmt *stmt) {
  if (stmt->next && !emit_list_reads(emitter, stmt->next, stmt->var)) return;
  const char *type = stmt->var->extent > (int64_t)INT32_MAX + 1 ? "long long" : "int";
  emitter_line(emitter, "const %s %s = %s;", type, emitter->names[stmt->var->id],
               emit_condition(emitter, stmt->expr));
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
      emit_op(emitter, &stmt->op);
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

static bool starts_group(const Emitter *emitter, const Stmt *before, const Stmt *stmt) {
  const char *own = remark_of(emitter, stmt), *above = remark_of(emitter, before);
  if (is_block(before) || is_block(stmt)) return true;
  return !is_tail(stmt) && own != above && !same_text(own, above);
}

void emit_stmts(Emitter *emitter, const Stmt *first, const char *group) {
  const Stmt *before = NULL;
  for (const Stmt *stmt = first; stmt; before = stmt, stmt = stmt->next) {
    const char *remark = remark_of(emitter, stmt);
    emitter->stmt = stmt;
    emitter->knob = stmt->knob;
    if (before && starts_group(emitter, before, stmt)) emitter_blank(emitter);
    if (remark && !same_text(remark, group)) emit_remark(emitter, stmt, remark);
    group = remark;
    emit_delay_before(emitter, stmt);
    emit_stamp_before(emitter, before, stmt);
    emit_one(emitter, stmt, group);
    emit_stamp_behind(emitter, stmt);
  }
}
