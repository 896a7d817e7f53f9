// Faults of blocks that go through lists of tiles: counts that go on from one tile to the next.
//
// Worked example, own_slabs, tiles of 7 slabs, consumers that take them by turns. In the tile of
// turn 3, its second, a consumer takes slab 0 for the block's number 7, and it is number 21.
#include "model/interp/breakage_parts.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/ring.h"
#include "model/ir/stmt.h"

// Tells what counts the tiles of a block; NULL: it has no list of them.
static const Var *turn_of(Program *program) {
  const Stmt *tiles = kernel_tiles(program_main_kernel(program));
  return tiles && tiles->body->kind == STMT_LET ? tile_turn(tiles) : NULL;
}

static bool is_of(const Access *access, BufferRole role) {
  return access->buffer && access->buffer->role == role;
}

static void substitute_alone(Program *program, Stmt *stmt, const Var *var, const Expr *by) {
  Stmt *next = stmt->next;
  stmt->next = NULL;
  stmt_substitute(program, stmt, var, by);
  stmt->next = next;
}

typedef struct Recount {
  Program *program;
  const Var *count;
  const Expr *by;
  bool waits;  // for bytes of a slab whose place depends on the count
} Recount;

// Only rings of slabs: the order of the consumers, and the pieces bound for C, go by the turn as
// before.
static void recount(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Recount *to = context;
  bool other = stmt->kind != STMT_OP || is_of(&stmt->op.dst, ROLE_ORDER) ||
               is_of(&stmt->op.dst, ROLE_SLAB_C) || is_of(&stmt->op.src, ROLE_SLAB_C);
  if (other) return;
  if (stmt_is_op(stmt, OP_MBAR_WAIT) && is_of(&stmt->op.dst, ROLE_FULL))
    to->waits |= expr_uses(stmt->op.phase, to->count) || expr_uses(stmt->op.dst.idx[0], to->count);
  substitute_alone(to->program, stmt, to->count, to->by);
}

// Harmless where no mbarrier counts on; changes nothing where a tile's slabs go round the ring an
// even number of times.
bool break_ring_restarts_per_tile(Program *program) {
  const Var *count = program->persistent.before ? program->persistent.before : turn_of(program);
  Recount to = {program, count, ex_const(program->arena, 0), false};
  if (to.count) stmt_walk(program_main_kernel(program)->body, recount, &to);
  return to.waits;
}

bool break_order_wait(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_MBAR_WAIT, ROLE_ORDER);
}

// Changes nothing where the slabs of two tiles go round the ring an even number of times. Where
// some tiles have fewer slabs no consumer counts by turns.
bool break_own_slabs(Program *program) {
  const Var *turn = turn_of(program);
  if (!turn || program->persistent.before || !program_buffer(program, ROLE_ORDER)) return false;
  Recount to = {program, turn, ex_div(program->arena, ex_var(program->arena, turn), 2), false};
  stmt_walk(kernel_tiles(program_main_kernel(program)), recount, &to);
  return to.waits;
}

static bool fetch_from_0(Program *program, Stmt *stmt) {
  if (!stmt_is_op(stmt, OP_TMA_LOAD)) return false;
  substitute_alone(program, stmt, program->persistent.from, ex_const(program->arena, 0));
  return true;
}

bool break_parts_from_0(Program *program) {
  return program->persistent.from && breakage_change_each(program, fetch_from_0);
}
