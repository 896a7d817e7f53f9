// Faults of multiplications in the background: their order, their descriptors, their registers.
//
// The assembler mends some of them: sums that are touched in flight make it wait behind every wgmma
// (C7510 and its neighbours), so a run on a GPU may well be right. The interpreter takes the
// program at its word.
//
// Worked example, release_early, a group left in flight:
//   wgmma.commit; wgmma.wait until 1 in flight; if 0 < k_o: arrive empty[k_o - 1]
// becomes
//   wgmma.commit; if 0 < k_o: arrive empty[k_o - 1]; wgmma.wait until 1 in flight
// so that the next box may land where the slab before is still being multiplied.
#include "model/interp/breakage_parts.h"
#include "model/ir/find_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

bool break_wg_wait(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_WG_WAIT, ROLE_COUNT);
}

static bool wait_for_less(Program *program, Stmt *stmt) {
  (void)program;
  if (!stmt_is_op(stmt, OP_WG_WAIT)) return false;
  stmt->op.groups++;
  return true;
}

bool break_wg_wait_lax(Program *program) { return breakage_change_each(program, wait_for_less); }

bool break_wg_fence(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_WG_FENCE, ROLE_COUNT);
}

bool break_wg_commit(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_WG_COMMIT, ROLE_COUNT);
}

static bool keep_sums(Program *program, Stmt *stmt) {
  (void)program;
  bool begins = stmt->op.scale_d || stmt->op.enable_input_d;
  stmt->op.scale_d = stmt->op.enable_input_d = NULL;
  return begins;
}

bool break_sums_kept(Program *program) { return breakage_change_each(program, keep_sums); }

// ---- descriptors --------------------------------------------------------------------------------

static bool swap_offsets(MatrixTile *tile) {
  if (tile->lbo == tile->sbo) return false;
  int64_t lbo = tile->lbo;
  tile->lbo = tile->sbo;
  tile->sbo = lbo;
  return true;
}

static bool forget_swizzle(MatrixTile *tile) {
  bool had = tile->swizzle != 0;
  tile->swizzle = 0;
  return had;
}

static bool forget_trans(MatrixTile *tile) {
  bool had = tile->trans;
  tile->trans = false;
  return had;
}

static bool change_tiles(Stmt *stmt, bool (*change)(MatrixTile *)) {
  bool changed = false;
  for (int i = 0; i < 2 && op_reads_tiles(stmt->op.kind); i++)
    if (stmt->op.tile[i].is_described) changed |= change(&stmt->op.tile[i]);
  return changed;
}

static bool swap_each(Program *program, Stmt *stmt) {
  (void)program;
  return change_tiles(stmt, swap_offsets);
}

static bool unswizzle_each(Program *program, Stmt *stmt) {
  (void)program;
  return change_tiles(stmt, forget_swizzle);
}

static bool turn_each(Program *program, Stmt *stmt) {
  (void)program;
  return change_tiles(stmt, forget_trans);
}

bool break_lbo_sbo_swapped(Program *program) { return breakage_change_each(program, swap_each); }
bool break_mode_off(Program *program) { return breakage_change_each(program, unswizzle_each); }
bool break_trans_off(Program *program) { return breakage_change_each(program, turn_each); }

// ---- order --------------------------------------------------------------------------------------

// Puts the wait that stands behind the loop over slabs at the end of its list, behind the stores. A
// wait inside of the loop also guards the slot; release_early is about that one.
bool break_sums_early(Program *program) {
  Stmt *k_o = program_slab_loop(program), **link = k_o ? &k_o->next : NULL;
  while (link && *link && !stmt_is_op(*link, OP_WG_WAIT)) link = &(*link)->next;
  if (!link || !*link || !(*link)->next) return false;
  Stmt *wait = *link;
  *link = wait->next;
  wait->next = NULL;
  stmt_last(*link)->next = wait;
  return true;
}

static bool releases(Stmt *stmt) {
  if (stmt_is_op(stmt, OP_MBAR_ARRIVE)) return true;
  return stmt->body && stmt_find_op(stmt->body, OP_MBAR_ARRIVE, ROLE_EMPTY);
}

// In the loop over slabs: the arrival at empty moves in front of the wait.
bool break_release_early(Program *program) {
  Stmt *k_o = program_slab_loop(program), **link = k_o ? &k_o->body : NULL;
  while (link && *link && !stmt_is_op(*link, OP_WG_WAIT)) link = &(*link)->next;
  if (!link || !*link) return false;
  Stmt *wait = *link, **at = &wait->next;
  while (*at && !releases(*at)) at = &(*at)->next;
  if (!*at) return false;
  Stmt *arrive = *at;
  *at = arrive->next;
  arrive->next = wait;
  *link = arrive;
  return true;
}
