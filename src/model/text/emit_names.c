// One name per variable, such that no name hides another where both can be seen.
//
// The nest tells variables apart by identity, C by name. Passes that split a loop twice may leave
// two loops of one name inside each other; the inner one gets a number. Worked example:
//   for n_q in 0..2: for n_q in 0..2: use n_q·4 + n_q·2   (two variables)
//   n_q * 4 + n_q2 * 2
// A variable keeps its name in every place where it is bound, so after a change all places are
// looked at again; each round renames at least one variable, to a name not seen before.
#include "model/ir/find_op.h"
#include "model/text/emit_parts.h"

#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/text/emit_expr.h"
#include "model/text/emit_op.h"

typedef struct Scope {
  const Var *var;
  const struct Scope *outer;
} Scope;

typedef struct Namer {
  Arena *arena;
  const Program *program;
  const char **name;  // by variable id
  int n_renamed;
} Namer;

static bool is_reserved(const Program *program, const char *name) {
  for (int i = 0; i < program->n_buffers; i++)
    if (strcmp(program->buffer[i]->name, name) == 0) return true;
  for (int a = 0; a < AXIS_COUNT; a++)
    if (strcmp(emit_extent_name(program, a), name) == 0) return true;
  return strcmp(name, "smem") == 0 || strcmp(name, "warp") == 0;
}

static bool is_free(const Namer *namer, const Var *var, const char *name, const Scope *scope) {
  if (is_reserved(namer->program, name)) return false;
  for (; scope; scope = scope->outer)
    if (scope->var != var && strcmp(namer->name[scope->var->id], name) == 0) return false;
  return true;
}

static void name_var(Namer *namer, const Var *var, const Scope *scope) {
  const char *name = namer->name[var->id];
  if (is_free(namer, var, name, scope)) return;
  namer->name[var->id] = arena_printf(namer->arena, "%s%d", var->name, 2 + namer->n_renamed++);
}

static const Scope *open_scope(Namer *namer, const Var *var, const Scope *outer) {
  Scope *scope = ARENA_NEW(namer->arena, Scope);
  *scope = (Scope){var, outer};
  return scope;
}

static void name_list(Namer *namer, const Stmt *list, const Scope *scope) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    const Scope *inside = scope;
    if (stmt->var) {
      name_var(namer, stmt->var, scope);
      inside = open_scope(namer, stmt->var, scope);
    }
    name_list(namer, stmt->body, inside);
    if (stmt->kind == STMT_LET) scope = inside;  // seen by all that follow
  }
}

static void start_name(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Namer *namer = context;
  if (stmt->var) namer->name[stmt->var->id] = stmt->var->name;
}

const char **emit_names(Arena *arena, const Program *program, const Kernel *kernel) {
  Namer namer = {arena, program, ARENA_ARRAY(arena, const char *, program->n_vars), 0};
  stmt_walk(kernel->body, start_name, &namer);
  if (program->thread) namer.name[program->thread->id] = program->thread->name;
  int64_t cluster = kernel_launch(program_main(program)).cluster;
  namer.name[program->persistent.grid->id] =
      cluster > 1 ? arena_printf(arena, "(gridDim.x / %lld)", (long long)cluster) : "gridDim.x";
  if (kernel != program_main(program))
    namer.name[program->persistent.grid->id] = program->persistent.grid->name;
  const Stmt *claim = stmt_find_action(kernel->body, ACTION_CLAIM, ROLE_COUNT);
  if (claim) op_emission(claim->op.kind)->name_known(arena, program, namer.name);
  if (program->any_thread) namer.name[program->any_thread->id] = "threadIdx.x";
  for (int before = -1; before != namer.n_renamed;) {
    before = namer.n_renamed;
    name_list(&namer, kernel->body, NULL);
  }
  return namer.name;
}
