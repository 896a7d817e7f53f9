// arrive at acc_empty behind a tile's stores → behind the tcgen05.wait::ld of its last piece.
//
// Requires: roles of tcgen05. Ensures: the warps that write tell that the sums have been read as
// soon as the last of them are in registers, behind tcgen05.fence::before_thread_sync; what they do
// to those registers, and the store, stands behind that. Preserves: who reads which sums, and what
// is written.
//
// Worked example, four pieces of 32 columns through a slab: fence and arrival stand behind the
// wait in the loop over pieces, under n_p == 3. The tensor core begins with the next tile while the
// last piece is rounded, put into shared memory and sent; with one set of sums it waited for that.
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/schedule_atom.h"

static const KnobId knob = KNOB_WARP_SPECIALIZE;

bool pass_release_sums_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_WARP_SPECIALIZE] && atom_is_of_thread(schedule_atom_row(schedule));
}

// The wait for a piece somewhere in the list, and in *last the condition of its last turn: NULL
// where no loop turns.
static Stmt **find_wait(Program *program, Stmt **list, const Expr **last) {
  Arena *arena = program->arena;
  for (Stmt **link = list; *link; link = &(*link)->next) {
    const Stmt *stmt = *link;
    if (stmt->kind == STMT_OP && stmt->op.kind == OP_T_WAIT_LD) return link;
    Stmt **inner = stmt->body ? find_wait(program, &(*link)->body, last) : NULL;
    if (!inner) continue;
    const int64_t turns = stmt->kind == STMT_LOOP ? stmt->var->extent : 1;
    const Expr *ends = ex_const(arena, turns - 1);
    if (turns > 1)
      *last = ex_land(arena, ex_binary(arena, EXPR_EQ, ex_var(arena, stmt->var), ends), *last);
    return inner;
  }
  return NULL;
}

void pass_release_sums(Program *program, Product *product, const Schedule *schedule) {
  (void)product;
  (void)schedule;
  Stmt **tile = &kernel_writer(program_main_kernel(program))->body;
  Stmt *fence = stmt_cut(stmt_find_link(tile, OP_T_BEFORE, ROLE_COUNT));
  Stmt *arrive = stmt_cut(stmt_find_link(tile, OP_MBAR_ARRIVE, ROLE_ACC_EMPTY));
  const Expr *last = NULL;
  Stmt **read = find_wait(program, tile, &last);
  Stmt *release = stmt_list(fence, arrive, NULL);
  if (last) release = stmt_if(program, knob, last, release);
  release->note = "all sums of the tile are in registers: the next tile may overwrite them";
  stmt_insert(&(*read)->next, release);
}
