// Facts of clusters and persistent blocks: the block that fetches for others, the tile of a block
// in a turn, and the bytes that L2 sees.
//
// Worked example, two blocks along M, slabs of 128 × 64 and 64 × 256 in bf16: each block is given
// 48 KiB for a slab and asks L2 for 32 of them; a phase of empty ends with 2 · 8 arrivals.
#include "base/nearest.h"
#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/ring.h"
#include "model/ir/stmt.h"
#include "model/lessons/fact_compute.h"
#include "model/readings/place/chip_merge.h"

// ---- clusters -----------------------------------------------------------------------------------

static const BufferRole barrier_roles[] = {ROLE_FULL, ROLE_EMPTY, ROLE_ACC_FULL, ROLE_ACC_EMPTY};
enum { BARRIERS = sizeof barrier_roles / sizeof *barrier_roles };

// The first argument is the name of one of the kernel's mbarriers; NULL after a finding.
static const Buffer *find_barrier(const FactScene *scene, const FactArgs *args, Diags *diags) {
  const char *names[BARRIERS];
  int n = 0;
  for (int i = 0; i < BARRIERS; i++) {
    const Buffer *buffer = program_buffer(scene->model->program, barrier_roles[i]);
    if (!buffer) continue;
    names[n++] = buffer->name;
    if (str_equal(buffer->name, args->word[0])) return buffer;
  }
  Diag *diag = diag_add(diags, "fact", "this kernel has no mbarrier \"%s\"",
                        str_sanitise(diags->arena, args->word[0]));
  diag->nearest = nearest_name(args->word[0], names, n);
  return NULL;
}

bool fact_arrivals(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Buffer *barrier = find_barrier(scene, args, diags);
  if (!barrier) return false;
  const Kernel *kernel = program_main(scene->model->program);
  value->number = (double)stmt_find_action(kernel->body, ACTION_SET, barrier->role)->op.arrivals;
  return true;
}

// The copy that fills a slab, named as the nest names it; NULL after a finding.
static const Stmt *find_box(const FactScene *scene, const char *slab, Diags *diags) {
  const Program *program = scene->model->program;
  for (int i = 0; i < program->n_buffers; i++) {
    const Buffer *buffer = program->buffer[i];
    if (!str_equal(buffer->name, slab)) continue;
    const Stmt *copy = stmt_find_action(program_main(program)->body, ACTION_MOVE, buffer->role);
    if (copy && op_moves_box(copy->op.kind)) return copy;
  }
  diag_add(diags, "fact", "no box of TMA fills \"%s\" here", str_sanitise(diags->arena, slab))
      ->nearest = "A_s";
  return NULL;
}

// An environment in which the block of this rank evaluates what its digits alone decide.
static int64_t *rank_env(const FactScene *scene, int64_t rank) {
  const Program *program = scene->model->program;
  const Launch launch = kernel_launch(program_main(program));
  int64_t *env = ARENA_ARRAY(scene->arena, int64_t, program->n_vars);
  for (int d = 0; d < launch.n_block_digits; d++) {
    const HardwareDigit *digit = &launch.block[d];
    if (digit->var->tier == TIER_CLUSTER)
      env[digit->var->id] = rank / digit->stride % digit->var->extent;
  }
  return env;
}

bool fact_mask(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const int64_t cluster = kernel_launch(program_main(scene->model->program)).cluster;
  const Stmt *box = find_box(scene, args->word[0], diags);
  int64_t rank;
  if (!box || !fact_int(args->word[1], 0, cluster - 1, "RANK", &rank, diags)) return false;
  const Expr *mask = box->op.ranks;
  if (!mask) diag_add(diags, "fact", "%s goes to one block alone", args->word[0]);
  if (mask) value->number = (double)expr_eval(mask, rank_env(scene, rank));
  return mask != NULL;
}

// ---- turns --------------------------------------------------------------------------------------

static int64_t clusters_at_once(const Grid *grid) {
  return grid_blocks(grid) / grid->launch.cluster;
}

bool fact_cluster_blocks(const FactScene *scene, const FactArgs *args, FactValue *value,
                         Diags *diags) {
  (void)args, (void)diags;
  value->number = (double)kernel_launch(program_main(scene->model->program)).cluster;
  return true;
}

// NULL after a finding: blocks of this kernel have a tile each.
static const Grid *persistent_grid(const FactScene *scene, Diags *diags) {
  const Grid *grid = grid_outline(scene->arena, scene->model);
  if (grid->persistent) return grid;
  diag_add(diags, "fact", "no block of this kernel has more than one tile: PERSISTENT=0");
  return NULL;
}

#define TURN_FACT(name, expression)                                                                \
  bool fact_##name(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    const Grid *grid = persistent_grid(scene, diags);                                              \
    (void)args;                                                                                    \
    if (grid) value->number = (double)(expression);                                                \
    return grid != NULL;                                                                           \
  }
TURN_FACT(lists, clusters_at_once(grid))
TURN_FACT(turns, grid->n_waves)
TURN_FACT(last_turn, grid->tail_ctas / grid->launch.cluster)
TURN_FACT(idle_last_turn, 100 * grid->tail_idle)

static GridWindow first_turn(const FactScene *scene, const Grid *grid) {
  return grid_window(scene->arena, grid, 0, grid->wave_ctas);
}
TURN_FACT(turn_panels, first_turn(scene, grid).a_panels + first_turn(scene, grid).b_panels)
TURN_FACT(turn_mib, (double)first_turn(scene, grid).bytes / 0x1p20)

bool fact_tile_in_turn(const FactScene *scene, const FactArgs *args, FactValue *value,
                       Diags *diags) {
  const Grid *grid = persistent_grid(scene, diags);
  int64_t list, turn;
  if (!grid || !fact_int(args->word[0], 0, clusters_at_once(grid) - 1, "LIST", &list, diags) ||
      !fact_int(args->word[1], 1, grid->n_waves, "TURN", &turn, diags))
    return false;
  const int64_t tile = list + (turn - 1) * clusters_at_once(grid);
  const bool known = tile < grid->n_ctas / grid->launch.cluster;
  value->number = (double)tile;
  if (!known)
    diag_add(diags, "fact", "list %s has nothing to do in turn %s", args->word[0], args->word[1]);
  return known;
}

// Tiles and slabs count from 1 here, as readers do.
bool fact_ring_slot(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Grid *grid = persistent_grid(scene, diags);
  const Stmt *box = grid ? find_box(scene, "A_s", diags) : NULL;
  int64_t turn, slab;
  if (!box) return false;
  const Program *program = scene->model->program;
  const Var *k_o = program_slab_loop(program)->var;
  if (!fact_int(args->word[0], 1, grid->n_waves, "TURN", &turn, diags) ||
      !fact_int(args->word[1], 1, k_o->extent, "SLAB", &slab, diags))
    return false;
  int64_t *env = ARENA_ARRAY(scene->arena, int64_t, program->n_vars);
  env[tile_turn(grid->launch.tiles)->id] = turn - 1;
  env[k_o->id] = slab - 1;
  value->number = (double)expr_eval(box->op.dst.idx[0], env);
  return true;
}

// ---- what L2 sees -------------------------------------------------------------------------------

bool fact_slab_kib(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Program *program = scene->model->program;
  const Axis *axis = program->axis;
  const double rows = (double)(axis_tile(&axis[AXIS_M]) + axis_tile(&axis[AXIS_N]));
  (void)args, (void)diags;
  value->number = rows * (double)axis_tile(&axis[AXIS_K]) *
                  dtype_bytes(problem_operand_type(&program->problem)) / 0x1p10;
  return true;
}

bool fact_l2_slab_kib(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  const Model *model = scene->model;
  const Stmt *slabs = program_slab_loop(model->program);
  const double of_block = model->traffic.l2_bytes / (double)model->resources.n_blocks;
  (void)args, (void)diags;
  value->number = of_block / (slabs ? (double)slabs->var->extent : 1) / 0x1p10;
  return true;
}

// False after a finding: no source says where the SMs of this GPU are.
static bool merge_of(const FactScene *scene, ChipMerge *merge, Diags *diags) {
  const Grid *grid = persistent_grid(scene, diags);
  if (grid && grid->chip) *merge = chip_merge(scene->arena, grid, grid->chip);
  if (grid && !grid->chip)
    diag_add(diags, "fact", "no source says which SMs of %s are neighbours",
             scene->model->target->name);
  return grid && grid->chip;
}

bool fact_turn_fetches(const FactScene *scene, const FactArgs *args, FactValue *value,
                       Diags *diags) {
  ChipMerge merge;
  (void)args;
  if (!merge_of(scene, &merge, diags)) return false;
  value->number = chip_merge_fetches(merge.asked);
  return true;
}

bool fact_merged_fetches(const FactScene *scene, const FactArgs *args, FactValue *value,
                         Diags *diags) {
  ChipMerge merge;
  (void)args;
  if (!merge_of(scene, &merge, diags)) return false;
  value->number = chip_merge_fetches(merge.sent);
  return true;
}
