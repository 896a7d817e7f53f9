// Copies of V and K right behind the barriers that free their slabs.
//
// Requires: fuse, stage, async_copy or tma: in the loop over blocks of keys K is asked for, waited
// for and multiplied, then V. Ensures: V is asked for behind the first barrier, which says that the
// block before has read V to the end; the next block's K behind the second one, which says that K
// has been read; the first K in front of the loop. Preserves: waits and barriers, each of which now
// waits for what was asked for a product earlier.
//
// Worked example, three blocks:
//   before   K0 wait S0 V0 wait O0  K1 wait S1 V1 wait O1  K2 wait S2 V2 wait O2
//   after    K0  wait V0 S0 wait K1 O0  wait V1 S1 wait K2 O1  wait V2 S2 wait O2
//
// One product earlier still, and a copy would write where warps still read: a race.
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_EAGER_KV;

bool pass_eager_kv_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_EAGER_KV] && pass_fuse_wanted(schedule) &&
         (pass_async_copy_wanted(schedule) || pass_tma_wanted(schedule));
}

// Tells what asks for a slab, cut out of the list: one thread for boxes, or copies with the commit
// behind them.
static Stmt *take_copies(Stmt **list, BufferRole slab) {
  if (stmt_find_op(*list, OP_TMA_LOAD, slab))
    return stmt_cut(stmt_find_link(list, OP_TMA_LOAD, slab));
  Stmt *copies = stmt_cut(stmt_find_link(list, OP_CP_ASYNC, slab));
  return stmt_list(copies, stmt_cut(stmt_find_link(list, OP_CP_COMMIT, ROLE_COUNT)), NULL);
}

// Behind the barrier in front of a product's steps.
static Stmt **behind_barrier(const Product *product, Stmt **list) {
  Stmt **at = stmt_find_multiply(product, list);
  Stmt **found = NULL;
  for (Stmt **link = list; link != at; link = &(*link)->next)
    if ((*link)->kind == STMT_OP && (*link)->op.kind == OP_BARRIER) found = &(*link)->next;
  return found;
}

// Each barrier has two purposes: one slab has come, and no lane reads the other any more.
static void say_why(const Product *product, Stmt **list, const char *why) {
  Stmt **behind = behind_barrier(product, list), *barrier = *list;
  while (behind && &barrier->next != behind) barrier = barrier->next;
  if (behind) barrier->note = why;
}

static Stmt *noted(Stmt *stmt, const char *note) {
  stmt->note = note;
  stmt->knob = knob;
  return stmt;
}

// For Q, behind which the first K may come right away.
static bool is_wait(const Stmt *stmt) {
  return stmt->kind == STMT_OP && stmt->op.kind == OP_MBAR_WAIT;
}

void pass_eager_kv(Program *program, Product *values, const Schedule *schedule) {
  (void)schedule;
  Arena *arena = program->arena;
  const Product *scores = &program->product[0];
  Stmt *walk = program_slab_loop(program);
  Stmt *k = take_copies(&walk->body, scores->operand[ATOM_B].slab);
  Stmt *v = take_copies(&walk->body, values->operand[ATOM_B].slab);
  say_why(scores, &walk->body, "this block's K is there, and the V before it is read");
  say_why(values, &walk->body, "this block's V is there, and its K is read");
  const Expr *next = ex_add_const(arena, ex_var(arena, walk->var), 1);
  const Expr *is_one = ex_lt(arena, next, stmt_loop_end(arena, walk));
  Var *ahead = program_var(program, "t_n", VAR_LET, walk->var->tier, walk->var->extent);
  Stmt *let = stmt_let(program, knob, ahead, next);
  let->next = stmt_copy_for(program, k, walk->var, ex_var(arena, ahead));
  stmt_insert(behind_barrier(scores, &walk->body), noted(v, "V is wanted by the next product"));
  if (walk->var->extent > 1)
    stmt_insert(behind_barrier(values, &walk->body),
                noted(stmt_if(program, knob, is_one, let), "K is read: fetch the next block's"));
  Stmt **link = &kernel_inner(program_main_kernel(program))->body;
  while (*link != walk && !is_wait(*link)) link = &(*link)->next;
  stmt_insert(link, stmt_copy_for(program, k, walk->var, ex_const(arena, 0)));
}
