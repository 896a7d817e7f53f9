// Every block fetches its own slabs → the blocks of a cluster fetch shared slabs together.
//
// Requires: tma, cluster. Blocks of one row of a cluster (the same m_c) need the same slab of A,
// blocks of one column (the same n_c) the same slab of B. Ensures: each of them asks for its share
// of it, whole panels or runs of rows, which goes to the same place in all of them, by a mask of
// their ranks; the bytes count at the full[slot] of each, which expects the whole slab as before. A
// slot is asked for again when every block that gets a part of it has read it to the end. The
// cluster meets when the mbarriers are there.
//
// Worked example, CLUSTER_M = 2, CLUSTER_N = 1, slabs of 128 × 64 and 64 × 256 in panels of 64:
//   A   two blocks, two slabs: each asks for its own
//   B   one slab: m_c = 0 asks for panels 0 and 1, m_c = 1 for 2 and 3, both with mask 3
//   so of 48 KiB that each block is given, 32 come from L2 for it.
//
// With roles, a consumer that has read a slot arrives at the empty[slot] of every block that fills
// it: the blocks of its row and of its column, itself among them. Worked example, 2 × 2 blocks, 8
// warps: 3 · 8 arrivals end a phase. At the end the cluster meets once more, for others may still
// arrive at a block's mbarriers. Without roles the barrier at the end of a slab becomes the
// cluster's, and every block has waited for all writes to it before it ends.
//
// The fence moves from the thread that asks to the threads that have read: it waits for the
// accesses of an SM (see pass_tma.c), and the thread that asks for a box may be on another one.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

static const KnobId knob = KNOB_MULTICAST;

bool pass_multicast_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_MULTICAST] && pass_cluster_wanted(schedule) &&
         pass_tma_wanted(schedule);
}

enum { PATTERN_ROWS = 8 };

bool pass_multicast_divides(int64_t rows, int64_t panels, int64_t blocks) {
  return panels % blocks == 0 || rows % (blocks * PATTERN_ROWS) == 0;
}

// A slab that `blocks` of a cluster need.
typedef struct Shared {
  BufferRole slab;
  int slow;  // the operand's dimension that counts the rows of a box
  int64_t blocks;
  const Expr *part;  // which of the shares is this block's
  const Expr *mask;  // the ranks that need it
} Shared;

// ---- ranks --------------------------------------------------------------------------------------

// The digit of an axis that counts blocks in a cluster; NULL: there is one.
static const Var *place_of(const Axis *axis) {
  for (int i = 0; i < axis->n_digits; i++)
    if (axis->digit[i].var->tier == TIER_CLUSTER) return axis->digit[i].var;
  return NULL;
}

static int64_t blocks_along(const Var *place) { return place ? place->extent : 1; }

static const Expr *place_expr(Arena *arena, const Var *place) {
  return place ? ex_var(arena, place) : ex_const(arena, 0);
}

static const Expr *shift_left(Arena *arena, int64_t bits, const Expr *by) {
  return ex_binary(arena, EXPR_SHL, ex_const(arena, bits), by);
}

// Rank m_c · CLUSTER_N + n_c: a row has neighbouring bits, a column every CLUSTER_N-th.
static Shared shared_a(Program *program, const Product *product) {
  Arena *arena = program->arena;
  const Var *m = place_of(product->axis[AXIS_M]), *n = place_of(product->axis[AXIS_N]);
  int64_t blocks = blocks_along(n), row = ((int64_t)1 << blocks) - 1;
  const Expr *first = ex_mul_const(arena, place_expr(arena, m), blocks);
  return (Shared){product->operand[ATOM_A].slab, product_slow_dimension(product, ATOM_A), blocks,
                  place_expr(arena, n), shift_left(arena, row, first)};
}

static Shared shared_b(Program *program, const Product *product) {
  Arena *arena = program->arena;
  const Var *m = place_of(product->axis[AXIS_M]), *n = place_of(product->axis[AXIS_N]);
  int64_t column = 0;
  for (int64_t i = 0; i < blocks_along(m); i++) column |= (int64_t)1 << i * blocks_along(n);
  return (Shared){product->operand[ATOM_B].slab, product_slow_dimension(product, ATOM_B),
                  blocks_along(m), place_expr(arena, m),
                  shift_left(arena, column, place_expr(arena, n))};
}

// ---- shares -------------------------------------------------------------------------------------

static bool fetches(const Stmt *stmt, const Shared *shared) {
  return stmt && stmt->kind == STMT_OP && op_moves_box(stmt->op.kind) && stmt->op.dst.buffer &&
         stmt->op.dst.buffer->role == shared->slab;
}

// A run of rows of the box instead of all of them.
static void take_rows(Program *program, Op *copy, const Shared *shared) {
  Arena *arena = program->arena;
  copy->box[0] /= shared->blocks;
  const Expr *first = ex_mul_const(arena, shared->part, copy->box[0]);
  const Expr **to = &copy->dst.idx[copy->dst.buffer->rank - 2];
  const Expr **from = &copy->src.idx[shared->slow];
  *to = ex_add(arena, *to, first);
  *from = ex_add(arena, *from, first);
}

// The loop over panels runs over the block's own.
static void take_panels(Program *program, Stmt *loop, const Shared *shared) {
  Arena *arena = program->arena;
  const Var *all = loop->var;
  int64_t own = all->extent / shared->blocks;
  Var *var = program_var(program, all->name, VAR_LOOP, TIER_REGISTER, own);
  const Expr *panel = ex_add(arena, ex_mul_const(arena, shared->part, own), ex_var(arena, var));
  loop->var = var;
  stmt_substitute(program, loop->body, all, panel);
}

static void take_share(Program *program, Stmt *list, const Shared *shared) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    bool panels = stmt->kind == STMT_LOOP && fetches(stmt->body, shared) &&
                  stmt->var->tier == TIER_REGISTER && stmt->var->extent % shared->blocks == 0;
    Stmt *copy = panels ? stmt->body : stmt;
    if (!fetches(copy, shared)) {
      take_share(program, stmt->body, shared);
      continue;
    }
    if (panels)
      take_panels(program, stmt, shared);
    else
      take_rows(program, &copy->op, shared);
    copy->op.ranks = shared->mask;
    copy->knob = knob;
    copy->note = "a share of the slab, for all who need it";
  }
}

// ---- waits between blocks -----------------------------------------------------------------------

static bool expects(const Stmt *stmt) {
  return stmt->kind == STMT_OP && stmt->op.kind == OP_MBAR_EXPECT;
}

// Takes the fences in front of the copies away, and no others: they stand beside the expect of the
// bytes; the fence of sums that leave by TMA does not. Says whether there were any.
static bool take_fences(Stmt **list) {
  bool any = false, asks = false;
  for (const Stmt *stmt = *list; stmt; stmt = stmt->next) asks |= expects(stmt);
  for (Stmt **link = list; *link;) {
    Stmt *stmt = *link;
    if (asks && stmt->kind == STMT_OP && stmt->op.kind == OP_FENCE_ASYNC) {
      stmt_cut(link);
      any = true;
      continue;
    }
    any |= take_fences(&stmt->body);
    link = &stmt->next;
  }
  return any;
}

static Stmt *fence_of_reader(Program *program) {
  Stmt *fence = stmt_op(program, knob, (Op){.kind = OP_FENCE_ASYNC});
  fence->note = "what was read of the slot comes before copies that other blocks ask for";
  return fence;
}

static Stmt *cluster_barrier(Program *program, const char *why) {
  Stmt *stmt = stmt_op(program, knob, (Op){.kind = OP_CLUSTER_BARRIER});
  stmt->note = why;
  return stmt;
}

typedef struct Readers {
  const Expr *mask;  // the blocks that fill this one's slots, and get what fills theirs
  int64_t n;
  bool fence;
} Readers;

// Ranks of both masks, which have this block alone in common.
static const Expr *both(Program *program, const Shared *a, const Shared *b) {
  Arena *arena = program->arena;
  if (a->blocks == 1) return b->mask;
  if (b->blocks == 1) return a->mask;
  const Expr *own = shift_left(arena, 1, cluster_rank(arena, program_main(program)));
  return ex_binary(arena, EXPR_XOR, ex_binary(arena, EXPR_XOR, a->mask, b->mask), own);
}

static void arrive_at_all(Program *program, Stmt **list, const Readers *readers) {
  for (Stmt **link = list; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    if (stmt->body) arrive_at_all(program, &stmt->body, readers);
    if (stmt->kind != STMT_OP || !stmt->op.dst.buffer || stmt->op.dst.buffer->role != ROLE_EMPTY)
      continue;
    if (stmt->op.kind == OP_MBAR_INIT) stmt->op.arrivals *= readers->n;
    if (stmt->op.kind != OP_MBAR_ARRIVE && stmt->op.kind != OP_T_COMMIT) continue;
    stmt->op.ranks = readers->mask;
    stmt->knob = knob;
    if (!readers->fence) continue;
    stmt_insert(link, fence_of_reader(program));
    link = &(*link)->next;
  }
}

// The barriers of the loop over slabs, at which a slot is known to be read, become the cluster's.
static void meet_in_cluster(Program *program, Stmt **list, bool inside, bool fence) {
  for (Stmt **link = list; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    bool slabs = stmt->kind == STMT_LOOP && stmt->var->tier == TIER_SERIAL_OUTER;
    if (stmt->body) meet_in_cluster(program, &stmt->body, inside || slabs, fence);
    if (!inside || stmt->kind != STMT_OP || stmt->op.kind != OP_BARRIER) continue;
    stmt->op = (Op){.kind = OP_CLUSTER_BARRIER, .width = 1};
    stmt->knob = knob;
    if (!fence) continue;
    stmt_insert(link, fence_of_reader(program));
    link = &(*link)->next;
  }
}

// ---- the pass -----------------------------------------------------------------------------------

void pass_multicast(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  Kernel *kernel = program_main_kernel(program);
  Stmt *inner = kernel_block(kernel);
  Shared a = shared_a(program, product), b = shared_b(program, product);
  if (!program_tma(program, product->operand[ATOM_A].global)) a.blocks = 1;
  if (!program_tma(program, product->operand[ATOM_B].global)) b.blocks = 1;
  if (a.blocks > 1) take_share(program, inner->body, &a);
  if (b.blocks > 1) take_share(program, inner->body, &b);

  Stmt **start = stmt_find_link(&inner->body, OP_BARRIER, ROLE_COUNT);
  stmt_cut(start);
  stmt_insert(start, cluster_barrier(program, "the mbarriers of all blocks are there"));
  Readers readers = {both(program, &a, &b), a.blocks + b.blocks - 1, take_fences(&inner->body)};
  if (!kernel_role(kernel, WORK_FETCHES)) {
    meet_in_cluster(program, &inner->body, false, readers.fence);
    return;
  }
  arrive_at_all(program, &inner->body, &readers);
  stmt_last(inner->body)->next =
      cluster_barrier(program, "no block ends while others arrive at its mbarriers");
}
