// The moves the passes share. All of them work on a private clone of the program (program_clone), so
// statements may be relinked freely; variables and expressions are never altered, only replaced.
#include "model/rewrite.h"

#include <assert.h>

Kernel *main_kernel(Program *program) { return &program->kernel[program->main_kernel]; }

// ---- finding ------------------------------------------------------------------------------------

Stmt *find_tier(Stmt *list, Tier tier) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt->kind == STMT_LOOP && stmt->var->tier == tier) return stmt;
    Stmt *inner = stmt->body ? find_tier(stmt->body, tier) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

Stmt *find_loop(Stmt *list, const Var *var) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt->kind == STMT_LOOP && stmt->var == var) return stmt;
    Stmt *inner = stmt->body ? find_loop(stmt->body, var) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

static bool is_op(const Stmt *stmt, OpKind kind, BufferRole role) {
  if (stmt->kind != STMT_OP || stmt->op.kind != kind) return false;
  return role == ROLE_COUNT || (stmt->op.dst.buffer && stmt->op.dst.buffer->role == role);
}

Stmt *find_op(Stmt *list, OpKind kind, BufferRole role) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (is_op(stmt, kind, role)) return stmt;
    Stmt *inner = stmt->body ? find_op(stmt->body, kind, role) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

Stmt **find_link(Stmt **list, OpKind kind, BufferRole role) {
  for (Stmt **link = list; *link; link = &(*link)->next)
    if (is_op(*link, kind, role) || find_op((*link)->body, kind, role)) return link;
  return NULL;
}

Stmt *cut(Stmt **link) {
  Stmt *stmt = *link;
  *link = stmt->next;
  stmt->next = NULL;
  return stmt;
}

void insert(Stmt **link, Stmt *list) {
  if (!list) return;
  stmt_last(list)->next = *link;
  *link = list;
}

// ---- rewriting ----------------------------------------------------------------------------------

void each_access(Stmt *list, AccessVisit *visit, void *context) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    Access *access[] = {&stmt->op.dst, &stmt->op.src, &stmt->op.src2};
    for (int i = 0; i < 3; i++)
      if (stmt->kind == STMT_OP && access[i]->buffer) visit(access[i], stmt, context);
    each_access(stmt->body, visit, context);
  }
}

typedef struct Substitution {
  Arena *arena;
  const Var *var;
  const Expr *by;
} Substitution;

static void substitute_access(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const Substitution *s = context;
  for (int d = 0; d < access->buffer->rank; d++)
    access->idx[d] = expr_substitute(s->arena, access->idx[d], s->var, s->by);
}

static void substitute_stmt(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const Substitution *s = context;
  if (stmt->expr) stmt->expr = expr_substitute(s->arena, stmt->expr, s->var, s->by);
}

void substitute(Program *program, Stmt *list, const Var *var, const Expr *by) {
  Substitution s = {program->arena, var, by};
  each_access(list, substitute_access, &s);
  stmt_walk(list, substitute_stmt, &s);
}

Stmt *copy_list(Program *program, const Stmt *list) {
  Stmt *first = NULL, **link = &first;
  for (; list; list = list->next) {
    Stmt *copy = ARENA_NEW(program->arena, Stmt);
    *copy = *list;
    copy->id = program->n_stmt_ids++;
    copy->body = copy_list(program, list->body);
    copy->next = NULL;
    *link = copy;
    link = &copy->next;
  }
  return first;
}

Stmt *wrap_register(Program *program, KnobId knob, Var *var, Stmt *list) {
  return var->extent == 1 ? list : stmt_loop(program, knob, var, list);
}

// Replaces each loop over `var` in the list by the two loops of the split.
static void split_loops(Program *program, Stmt **list, const Var *var, Split split, KnobId knob) {
  for (Stmt **link = list; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    split_loops(program, &stmt->body, var, split, knob);
    if (stmt->kind != STMT_LOOP || stmt->var != var) continue;
    Stmt *inner = wrap_register(program, knob, split.inner, stmt->body);
    Stmt *outer = wrap_register(program, knob, split.outer, inner);
    Stmt **tail = &stmt_last(outer)->next, *rest = stmt->next;
    *link = outer;
    *tail = rest;
    split_loops(program, tail, var, split, knob);
    return;
  }
}

Split split_register(Program *program, const Var *var, int64_t width, const char *outer_name,
                     const char *inner_name, KnobId knob) {
  assert(var->extent % width == 0);
  Split split = {program_var(program, outer_name, VAR_LOOP, TIER_REGISTER, var->extent / width),
                 program_var(program, inner_name, VAR_LOOP, TIER_REGISTER, width)};
  Kernel *kernel = main_kernel(program);
  split_loops(program, &kernel->body, var, split, knob);
  Arena *arena = program->arena;
  const Expr *by = ex_add(arena, ex_mul_const(arena, ex_var(arena, split.outer), width),
                          ex_var(arena, split.inner));
  substitute(program, kernel->body, var, by);
  return split;
}

// ---- axes ---------------------------------------------------------------------------------------

static void apply_axis(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  Program *program = context;
  static const int axes[ROLE_COUNT][2] = {
      [ROLE_A] = {AXIS_M, AXIS_K}, [ROLE_B] = {AXIS_K, AXIS_N}, [ROLE_C] = {AXIS_M, AXIS_N}};
  BufferRole role = access->buffer->role;
  if (role != ROLE_A && role != ROLE_B && role != ROLE_C) return;
  for (int d = 0; d < 2; d++)
    access->idx[d] = axis_expr(program->arena, &program->axis[axes[role][d]]);
}

void apply_axes(Program *program) {
  each_access(main_kernel(program)->body, apply_axis, program);
}

static bool is_outside(const Var *var) {
  return var->tier == TIER_BLOCK || var->tier == TIER_CLUSTER || var->tier == TIER_SERIAL_OUTER;
}

static const Expr *axis_side(Program *program, const Axis *axis, bool outside) {
  Axis side = {0};
  for (int i = 0; i < axis->n_digits; i++)
    if (is_outside(axis->digit[i].var) == outside) side.digit[side.n_digits++] = axis->digit[i];
  return axis_expr(program->arena, &side);
}

const Expr *axis_inside(Program *program, const Axis *axis) {
  return axis_side(program, axis, false);
}
const Expr *axis_outside(Program *program, const Axis *axis) {
  return axis_side(program, axis, true);
}

int64_t axis_tile(const Axis *axis) {
  int64_t elements = 1;
  for (int i = 0; i < axis->n_digits; i++)
    if (!is_outside(axis->digit[i].var)) elements *= axis->digit[i].var->extent;
  return elements;
}

Stmt *kernel_inner(Kernel *kernel) {
  Stmt *inner = NULL;
  for (Stmt *at = kernel->body; at; at = at->kind == STMT_LET ? at->next : at->body) {
    if (at->kind == STMT_LET) continue;
    if (at->kind != STMT_LOOP || !tier_is_hardware(at->var->tier)) break;
    inner = at;
  }
  return inner;
}
