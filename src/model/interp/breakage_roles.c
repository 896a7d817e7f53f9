// Faults of kernels with warp roles: one role does alone a step that all must do alike, or all do a
// step that belongs to one role. And one fault of the launch: memory that it lacks.
//
// Worked example, block_barrier: the writing warps' "barrier 2 of 128 threads", article 004's
// warpgroup_sync(10), becomes "barrier", its cta_sync(). The warps that fetch and multiply never
// come there: they wait at mbarriers, or stand at the barrier behind the roles, which is another
// one.
#include "model/interp/breakage_parts.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/ring.h"
#include "model/ir/stmt.h"

static Stmt *find_work(Stmt *list, RoleWork work) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt_is_role(stmt, work)) return stmt;
    Stmt *inner = stmt->body ? find_work(stmt->body, work) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

// The writers of C: those with that role, or those that multiply and write.
static Stmt *find_writers(Program *program) {
  Stmt *list = program_main_kernel(program)->body, *writers = find_work(list, WORK_WRITES);
  return writers ? writers : find_work(list, WORK_MULTIPLIES);
}

// ---- barriers -----------------------------------------------------------------------------------

static void meet_all(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (!stmt_is_op(stmt, OP_BARRIER) || stmt->op.threads == 0 || stmt_is_turn(stmt)) return;
  stmt->op.threads = 0;
  stmt->op.id = NULL;
  *(bool *)context = true;
}

// Where a role has no barrier of its own one is put at its head.
bool break_block_barrier(Program *program) {
  Stmt *role = find_writers(program);
  bool found = false;
  if (!role) return false;
  stmt_walk(role->body, meet_all, &found);
  if (!found) stmt_insert(&role->body, stmt_op(program, role->knob, (Op){.kind = OP_BARRIER}));
  return true;
}

// ---- tiles and slabs ----------------------------------------------------------------------------

// The same variable, which expressions read as before, with another extent.
static Var *with_extent(Program *program, const Var *var, int64_t extent) {
  Var *copy = ARENA_NEW(program->arena, Var);
  *copy = *var;
  copy->extent = extent;
  return copy;
}

void breakage_shorten(Program *program, Stmt *loop) {
  const Var *was = loop->var;
  loop->var = with_extent(program, was, was->extent - 1);
  if (loop->var->extent == 1)
    stmt_substitute(program, loop->body, was, ex_const(program->arena, 0));
}

// The bit of a phase was turn / 2 where there were turns for two phases only.
static void keep_to_a_bit(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Program *program = context;
  if (!stmt_is_op(stmt, OP_MBAR_WAIT)) return;
  stmt->op.phase = ex_mod(program->arena, stmt->op.phase, 2);
}

// while (valid) without next_tile: the tile stays t % grid, the block's first, and the loop goes on
// twice as far as there are tiles, beyond what the others have for it.
bool break_tile_kept(Program *program) {
  Stmt *tiles = kernel_writer_tiles(program_main_kernel(program));
  if (!find_writers(program) || !tiles || tiles->end || tiles->var->extent < 2) return false;
  Arena *arena = program->arena;
  const Expr *kept = ex_binary(arena, EXPR_MOD, ex_var(arena, tiles->var),
                               ex_var(arena, program->persistent.grid));
  const int64_t beyond = 2 * tiles->var->extent;
  Stmt *turn = tiles->body;
  const Var *fewer = turn->var;
  turn->var = with_extent(program, fewer, beyond);
  stmt_substitute(program, turn->next, fewer, ex_var(arena, turn->var));
  stmt_walk(turn->next, keep_to_a_bit, program);
  stmt_substitute(program, turn->next, tiles->var, kept);
  tiles->var = with_extent(program, tiles->var, beyond);
  return true;
}

bool break_fetch_short(Program *program) {
  Stmt *role = find_work(program_main_kernel(program)->body, WORK_FETCHES);
  Stmt *slabs = role ? stmt_find_tier(role->body, TIER_SERIAL_OUTER) : NULL;
  if (!slabs || slabs->end || slabs->var->extent < 2) return false;
  breakage_shorten(program, slabs);
  return true;
}

// ---- elect.sync ---------------------------------------------------------------------------------

// "if thread == 160, elected" stands in "if (thread % 32) < 16".
static bool half_asks(Program *program, Stmt **link) {
  enum { HALF = 16 };
  Arena *arena = program->arena;
  const Var *any = program->any_thread ? program->any_thread : program->thread;
  const Expr *lane = ex_mod(arena, ex_var(arena, any), LANES);
  bool found = false;
  for (; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    if (!stmt->elects) {
      found |= half_asks(program, &stmt->body);
      continue;
    }
    *link = stmt_if(program, stmt->knob, ex_lt(arena, lane, ex_const(arena, HALF)), stmt);
    (*link)->next = stmt->next;
    stmt->next = NULL;
    found = true;
  }
  return found;
}

bool break_elect_diverged(Program *program) {
  return half_asks(program, &program_main_kernel(program)->body);
}

// ---- the launch ---------------------------------------------------------------------------------

// Article 004's pool.alloc() behind pool.commit(): mbarriers lie behind all slabs, and the launch
// asks for those alone.
bool break_pool_late(Program *program) {
  int64_t slabs = 0;
  for (int i = 0; i < program->n_buffers; i++)
    if (program->buffer[i]->space == SPACE_SHARED) slabs += buffer_bytes(program->buffer[i]);
  const bool late = slabs && slabs < program_smem_bytes(program);
  if (late) program->smem_asked = slabs;
  return late;
}
