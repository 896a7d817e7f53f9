// Grid and places → shares of the first turn, in bytes of panels.
#include "model/readings/place/l2_sharing.h"

#include "base/whole.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/ops/ops.h"
#include "model/readings/place/chip_merge.h"

// The bytes that the blocks of a turn ask for, and those that are sent for.
static ChipMerge merge_of(Arena *scratch, const Model *model, const Grid *grid, int blocks) {
  const int cluster = (int)grid->launch.cluster;
  const ListShape shape = {
      .tiles = ceil_div(grid->n_ctas, cluster), .cluster = cluster, .blocks = blocks};
  const Stmt *claim =
      stmt_find_action(program_main(model->program)->body, ACTION_CLAIM, ROLE_COUNT);
  ListDeal *deal = claim ? op_deal(claim->op.kind) : NULL;
  const ChipMap *map = chip_map(scratch, model->target, shape, deal);
  return map ? chip_merge(scratch, grid, map) : (ChipMerge){0};
}

L2Sharing l2_sharing(Arena *scratch, const Model *model, int resident) {
  const Grid *grid = grid_outline(scratch, model);
  const int64_t read = grid_window(scratch, grid, 0, grid->n_ctas).bytes;
  L2Sharing out = {
      .read_bytes = (double)read, .sent = 1, .distinct = 1, .replay = l2_replay(scratch, grid)};
  const ChipMerge one = merge_of(scratch, model, grid, 1),
                  all = merge_of(scratch, model, grid, resident);
  if (!(one.asked_bytes > 0 && all.asked_bytes > 0)) return out;
  const GridWindow window =
      grid_window(scratch, grid, 0, (int64_t)resident * model->target->sm_count);
  const double distinct = (double)window.bytes / all.asked_bytes;
  out.sent = one.sent_bytes / one.asked_bytes;
  out.distinct = distinct < 1 ? distinct : 1;
  return out;
}
