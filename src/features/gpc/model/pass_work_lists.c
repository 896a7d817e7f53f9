// Cluster c has tiles c, c + grid, … → each cluster claims a list that was meant for its place.
//
// Requires: persistent, warp_specialize; multicast where there are clusters, for the block of rank
// 0 has the list and the others read it there: between the barriers of multicast it is there to be
// read. Ensures: the thread that initialises the mbarriers claims a list (CLAIM) in front of the
// first barrier; the loops over tiles, of each role, begin with its number. Preserves: what is done
// for a tile, and that each is done once: VAR_GRID counts lists now, and each list has one cluster.
//
// The tiles of list l in turn i are number i · lists + l in the order of GROUP_M and GROUP_N, so a
// row of neighbouring lists has neighbouring tiles in every turn. The launch says by %smid which
// list is meant for which GPC (model/words/places.h), so that clusters of one GPC have neighbouring
// lists. Requests of one GPC for the same lines of the operand that is not multicast then merge on
// their way to L2.
//
// Worked example, 8 GPCs with 8 clusters of 2 × 1 blocks each, 64 lists, GROUP_N = 8: in each turn
// a GPC has one row of eight tiles, so its clusters read the same panel of A; eight rows a turn.
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_TILE_ORDER;

bool pass_work_lists_wanted(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  bool meet = pass_multicast_wanted(schedule) || pass_pair_wanted(schedule) ||
              !pass_cluster_wanted(schedule);
  return v[KNOB_TILE_ORDER] == ORDER_GPC && pass_persistent_wanted(schedule) &&
         pass_warp_specialize_wanted(schedule) && meet;
}

// The block of rank 0 claims for its cluster.
static Stmt *claim(Program *program, Buffer *list, int64_t tiles) {
  Arena *arena = program->arena;
  Op op = {.kind = OP_CLAIM,
           .dst = access1(list, ex_const(arena, 0)),
           .epoch = ex_var(arena, program->persistent.epoch),
           .lists = tiles};
  Stmt *stmt = stmt_op(program, knob, op);
  stmt->note = "the list that is meant for this place, or the next one that is free";
  if (kernel_launch(program_main_kernel(program)).cluster == 1) return stmt;
  const Expr *rank = cluster_rank(arena, program_main_kernel(program));
  return stmt_if(program, knob, ex_binary(arena, EXPR_EQ, rank, ex_const(arena, 0)), stmt);
}

static void begin_with_list(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const Program *program = context;
  if (stmt->kind != STMT_LOOP || stmt->var->tier != TIER_TILE) return;
  stmt->expr = ex_var(program->arena, program->persistent.list);
}

void pass_work_lists(Program *program, Product *product, const Schedule *schedule) {
  (void)product, (void)schedule;
  Kernel *kernel = program_main_kernel(program);
  int64_t one = 1, tiles = kernel_launch(kernel).tiles->var->extent;
  Buffer *list = program_new_buffer(program, "list", SPACE_BARRIER, ROLE_LIST, 1, &one, knob);
  Stmt *of_one_thread = kernel_block(kernel)->body;
  stmt_last(of_one_thread->body)->next = claim(program, list, tiles);
  stmt_walk(kernel->body, begin_with_list, program);
}
