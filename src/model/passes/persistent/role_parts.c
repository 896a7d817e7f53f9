// A kernel of one program for all warps → one with a table of roles: the parts that both kinds of
// it share, those whose consumers multiply and write (pass_warp_specialize.c) and those of tcgen05,
// where one thread multiplies and others write (tensor_roles.c).
#include "model/passes/persistent/role_parts.h"

#include "model/ir/program.h"
#include "model/ir/stmt.h"

static const KnobId knob = KNOB_WARP_SPECIALIZE;

Stmt *role_new(Program *program, WarpRole what, const Expr *condition, Stmt *body,
               const char *note) {
  Kernel *kernel = program_main_kernel(program);
  WarpRole *role = ARENA_NEW(program->arena, WarpRole);
  *role = what;
  kernel->role[kernel->n_roles++] = role;
  Stmt *stmt = stmt_if(program, knob, condition, body);
  stmt->role = role;
  stmt->note = note;
  return stmt;
}

Stmt *role_slabs(Program *program, const Stmt *k_o, Stmt *list) {
  Var *own = program_var(program, "k_o", VAR_LOOP, TIER_SERIAL_OUTER, k_o->var->extent);
  stmt_substitute(program, list, k_o->var, ex_var(program->arena, own));
  Stmt *loop = stmt_loop(program, knob, own, list);
  loop->end = k_o->end;
  return loop;
}

Stmt *role_tiles(Program *program, const Stmt *tiles, Stmt *list) {
  if (!tiles) return list;
  Stmt *head = NULL, **link = &head;
  for (const Stmt *let = tiles->body; let->kind == STMT_LET; let = let->next) {
    *link = stmt_let(program, let->knob, let->var, let->expr);
    link = &(*link)->next;
  }
  *link = list;
  Stmt *loop = stmt_loop(program, tiles->knob, tiles->var, head);
  loop->end = tiles->end;
  return loop;
}

Stmt *role_asked(Stmt **link) {
  Stmt *fetch = stmt_cut(link);
  return fetch->kind == STMT_IF ? fetch->body : fetch;
}

void role_count_threads(Program *program, int64_t n_threads) {
  program->any_thread = program_var(program, "thread", VAR_THREAD, TIER_THREAD, n_threads);
}

const Expr *role_thread(Program *program) { return ex_var(program->arena, program->any_thread); }

const Expr *role_is_thread(Program *program, int64_t thread) {
  Arena *arena = program->arena;
  return ex_binary(arena, EXPR_EQ, role_thread(program), ex_const(arena, thread));
}

// The statement that initialises full initialises these too, and asks for thread 0 of all.
Buffer *role_mbarriers(Program *program, const char *name, BufferRole role, int64_t n,
                       int64_t arrivals) {
  Buffer *mbarriers = program_new_buffer(program, name, SPACE_BARRIER, role, 1, &n, knob);
  Stmt *init = kernel_block(program_main_kernel(program))->body;
  tma_add_inits(init, tma_build_inits(program, mbarriers, arrivals, knob));
  init->expr = role_is_thread(program, 0);
  return mbarriers;
}
