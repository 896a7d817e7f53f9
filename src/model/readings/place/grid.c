// From the main kernel's hardware loops to tiles, waves and panels.
//
// For every blockIdx.x the BLOCK digits are taken apart and the LETs between them evaluated, 32
// CTAs at a time; where the tile lies is then the sum of the axis's own BLOCK digits. No knob is
// read: a swizzled order, split-K, or an order yet to come are whatever the program says.
//
// Worked example, tf32, 4096³ in tiles of 128 × 128 on 26 SMs: a panel is 128 · 4096 · 4 = 2 MiB.
// In row order CTA 0 … 31 share one panel of A and ask for 32 of B; CTA 32 is the first to come
// back to a panel of B. The lap is 32 CTAs and 33 panels, 66 MiB, twice the L2. In groups of 8 down
// M CTA 8 comes back to the first panel of A: 8 + 1 panels, 18 MiB. With two CTAs an SM a wave is
// 52 CTAs, and the 1024 of them leave 36 for the twentieth: 31 % of the GPU has nothing to do then.
//
// Up to GRID_MAPPED_MAX CTAs the order is kept with its inverse; of a larger grid every n-th CTA.
// Windows are evaluated as they are asked for, so they are exact in any grid.
#include "model/readings/place/grid.h"

#include <math.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/find_op.h"
#include "model/ir/lanes.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/ops/ops.h"

static const struct {
  const char *name, *help;
} spans[] = {
#define X(id, name, help) {name, help},
    GRID_SPAN_TABLE(X)
#undef X
};

const char *grid_span_name(GridSpan span) { return spans[span].name; }
const char *grid_span_help(GridSpan span) { return spans[span].help; }

// ---- one CTA after the other --------------------------------------------------------------------

static bool is_block(const Var *var) {
  return var->tier == TIER_BLOCK || var->tier == TIER_CLUSTER;
}

// The elements of the axis between one CTA's part and the next.
static int64_t block_step(const Axis *axis) {
  int64_t step = 0;
  for (int i = 0; i < axis->n_digits; i++)
    if (is_block(axis->digit[i].var) && (step == 0 || axis->digit[i].weight < step))
      step = axis->digit[i].weight;
  return step ? step : axis->extent;
}

static int64_t block_count(const Axis *axis) {
  int64_t count = 1;
  for (int i = 0; i < axis->n_digits; i++)
    if (is_block(axis->digit[i].var)) count *= axis->digit[i].var->extent;
  return count;
}

static int64_t cluster_count(const Axis *axis) {
  int64_t count = 1;
  for (int i = 0; i < axis->n_digits; i++)
    if (axis->digit[i].var->tier == TIER_CLUSTER) count *= axis->digit[i].var->extent;
  return count;
}

// The place along an axis where each CTA's part begins, in steps.
static void block_position(const Axis *axis, const int64_t *env, int64_t out[LANES]) {
  int64_t step = block_step(axis);
  memset(out, 0, LANES * sizeof *out);
  for (int i = 0; i < axis->n_digits; i++) {
    const Digit *digit = &axis->digit[i];
    if (!is_block(digit->var)) continue;
    const int64_t *value = env + (ptrdiff_t)digit->var->id * LANES;
    for (int lane = 0; lane < LANES; lane++) out[lane] += value[lane] * (digit->weight / step);
  }
}

typedef struct Tiles {
  int64_t row[LANES], col[LANES], split[LANES];
} Tiles;

// The LETs at the head of a persistent kernel's loop over tiles, for those of these numbers.
static void evaluate_tiles(const Grid *grid, const int64_t cta[LANES]) {
  const Stmt *tiles = grid->launch.tiles;
  int64_t number[LANES], cluster = grid->launch.cluster;
  for (int lane = 0; lane < LANES; lane++) number[lane] = cta[lane] / cluster;
  lanes_set(grid->env, tiles->var, number);
  for (const Stmt *let = tiles->body; let && let->kind == STMT_LET; let = let->next)
    lanes_let(grid->env, let);
}

// The tiles of CTAs first, first + stride, …; those beyond the grid count as its last one.
static void evaluate(const Grid *grid, int64_t first, int64_t stride, Tiles *out) {
  int64_t *env = grid->env;
  const Launch *launch = &grid->launch;
  int64_t index[LANES], value[LANES];
  for (int i = 0; i < LANES; i++) index[i] = min64(first + i * stride, grid->n_ctas - 1);
  for (int d = 0; d < launch->n_block_digits; d++) {
    const HardwareDigit *digit = &launch->block[d];
    for (int i = 0; i < LANES; i++) value[i] = index[i] / digit->stride % digit->var->extent;
    memcpy(env + (ptrdiff_t)digit->var->id * LANES, value, sizeof value);
  }
  if (grid->program->block)
    memcpy(env + (ptrdiff_t)grid->program->block->id * LANES, index, sizeof index);
  lanes_enter_grid(grid->program, launch, grid->n_ctas / launch->cluster, env);
  if (launch->tiles) evaluate_tiles(grid, index);
  Axis *const *axis = grid->product->axis;
  block_position(axis[AXIS_M], env, out->row);
  block_position(axis[AXIS_N], env, out->col);
  block_position(axis[AXIS_K], env, out->split);
  if (!grid->heads) return;
  block_position(grid->product->batch, env, value);
  for (int i = 0; i < LANES; i++) out->col[i] += value[i] * (grid->cols / grid->heads);
}

static int64_t tile_number(const Grid *grid, int64_t row, int64_t col, int64_t split) {
  return (split * grid->rows + row) * grid->cols + col;
}

static void map_ctas(Arena *arena, Grid *grid) {
  grid->stride = ceil_div(grid->n_ctas, GRID_MAPPED_MAX);
  grid->n_mapped = ceil_div(grid->n_ctas, grid->stride);
  int64_t *tile = ARENA_ARRAY(arena, int64_t, grid->n_mapped);
  for (int64_t i = 0; i < grid->n_mapped; i += LANES) {
    Tiles at;
    evaluate(grid, i * grid->stride, grid->stride, &at);
    for (int lane = 0; lane < LANES && i + lane < grid->n_mapped; lane++)
      tile[i + lane] = tile_number(grid, at.row[lane], at.col[lane], at.split[lane]);
  }
  grid->tile = tile;
}

static void map_tiles(Arena *arena, Grid *grid) {
  int64_t n_tiles = grid->rows * grid->cols * grid->splits;
  if (grid->stride > 1 || n_tiles > GRID_MAPPED_MAX) return;
  int64_t *cta = ARENA_ARRAY(arena, int64_t, n_tiles);
  for (int64_t i = 0; i < n_tiles; i++) cta[i] = -1;
  for (int64_t i = 0; i < grid->n_ctas; i++)
    if (grid->tile[i] < n_tiles) cta[grid->tile[i]] = i;
  grid->cta = cta;
}

GridCta grid_cta(const Grid *grid, int64_t index) {
  int64_t tile = grid->tile[index / grid->stride];
  if (index % grid->stride) {
    GridCta batch[GRID_BATCH];
    grid_ctas(grid, index, batch);
    return batch[0];
  }
  return (GridCta){index, tile / grid->cols % grid->rows, tile % grid->cols,
                   tile / grid->cols / grid->rows};
}

int grid_ctas(const Grid *grid, int64_t first, GridCta out[GRID_BATCH]) {
  Tiles at;
  evaluate(grid, first, 1, &at);
  for (int i = 0; i < GRID_BATCH; i++)
    out[i] = (GridCta){first + i, at.row[i], at.col[i], at.split[i]};
  return (int)min64(GRID_BATCH, grid->n_ctas - first);
}

// A grid whose block digits are the axes' own reads both ways without a map.
static int64_t owner_by_digits(const Grid *grid, const int64_t position[AXIS_COUNT]) {
  int64_t index = 0;
  if (grid->launch.tiles || grid->heads) return -1;
  for (int d = 0; d < grid->launch.n_block_digits; d++) {
    const HardwareDigit *digit = &grid->launch.block[d];
    const Axis *axis = grid->program->axis, *end = axis + AXIS_COUNT;
    while (axis < end && axis->digit[0].var != digit->var) axis++;
    if (axis == end) return -1;
    index += position[axis - grid->program->axis] * digit->stride;
  }
  return index;
}

int64_t grid_owner(const Grid *grid, int64_t row, int64_t col, int64_t split) {
  if (grid->cta) return grid->cta[tile_number(grid, row, col, split)];
  return owner_by_digits(grid, (int64_t[]){[AXIS_M] = row, [AXIS_N] = col, [AXIS_K] = split});
}

GridRange grid_k_range(const Grid *grid, int64_t split) {
  int64_t k = problem_depth(&grid->program->problem), begin = min64(split * grid->k_part, k);
  return (GridRange){begin, min64(begin + grid->k_part, k)};
}

// ---- from afar ----------------------------------------------------------------------------------

int64_t grid_overview_cell(const GridOverview *o, const GridCta *cta) {
  int64_t split = cta->split / o->split_step, row = cta->row / o->row_step;
  return (split * o->rows + row) * o->cols + cta->col / o->col_step;
}

static GridOverview shape_overview(const Grid *grid) {
  GridOverview o = {.row_step = ceil_div(grid->rows, GRID_OVERVIEW_SIDE),
                    .col_step = ceil_div(grid->cols, GRID_OVERVIEW_SIDE)};
  o.rows = ceil_div(grid->rows, o.row_step);
  o.cols = ceil_div(grid->cols, o.col_step);
  o.split_step = ceil_div(grid->splits, GRID_OVERVIEW_MAX / (o.rows * o.cols));
  o.splits = ceil_div(grid->splits, o.split_step);
  return o;
}

static void look_from_afar(Arena *arena, Grid *grid) {
  GridOverview o = shape_overview(grid);
  int64_t n = o.rows * o.cols * o.splits, *first = ARENA_ARRAY(arena, int64_t, n);
  for (int64_t i = 0; i < n; i++) first[i] = -1;
  for (int64_t i = 0; i < grid->n_mapped; i++) {
    GridCta cta = grid_cta(grid, i * grid->stride);
    int64_t cell = grid_overview_cell(&o, &cta);
    if (first[cell] < 0) first[cell] = cta.index;
  }
  o.first = first;
  grid->overview = o;
}

// ---- waves --------------------------------------------------------------------------------------

// The parts into which the tiles of the last turn are cut: the iterations beyond the whole tiles.
static int64_t count_parts(const Grid *grid, int64_t blocks) {
  const Launch *launch = &grid->launch;
  if (!launch->tiles || !launch->tiles->end) return 1;
  lanes_enter_grid(grid->program, launch, max64(blocks / launch->cluster, 1), grid->env);
  int64_t items[LANES];
  expr_eval_warp(launch->tiles->end, grid->env, items);
  return 1 + (items[0] * launch->cluster - grid->n_ctas) / grid->tail_ctas;
}

// Clusters are on the chip together as far as each fits in a place of it; of lists that clusters
// claim a few may have no tiles.
static void find_places(Arena *arena, Grid *grid, const Model *model) {
  const Stmt *claim = stmt_find_action(program_main(grid->program)->body, ACTION_CLAIM, ROLE_COUNT);
  const ListShape shape = {.tiles = grid->n_ctas / grid->launch.cluster,
                           .cluster = (int)grid->launch.cluster,
                           .blocks = (int)grid->blocks_per_sm};
  ListDeal *deal = claim ? op_deal(claim->op.kind) : NULL;
  grid->anywhere = chip_map(arena, model->target, shape, NULL);
  grid->chip = deal ? chip_map(arena, model->target, shape, deal) : grid->anywhere;
  if (grid->chip) grid->wave_ctas = grid->chip->lists * grid->launch.cluster;
}

static void count_waves(Arena *arena, Grid *grid, const Model *model) {
  grid->blocks_per_sm = model->resources.blocks_per_sm > 0 ? model->resources.blocks_per_sm : 1;
  grid->sm_count = model->target->sm_count;
  grid->l2_bytes = model->target->l2_bytes;
  grid->l2_copies = (double)grid->l2_bytes / target_l2_kept(model->target);
  const int64_t room = grid->blocks_per_sm * grid->sm_count;
  grid->wave_ctas = room;
  if (grid->persistent || grid->launch.cluster > 1) find_places(arena, grid, model);
  grid->n_waves = ceil_div(grid->n_ctas, grid->wave_ctas);
  grid->tail_ctas = grid->n_ctas - (grid->n_waves - 1) * grid->wave_ctas;
  grid->tail_parts = count_parts(grid, min64(grid->n_ctas, grid->wave_ctas));
  double rounds = grid_rounds(grid), tail = rounds - (double)(grid->n_waves - 1);
  grid->tail_idle = fmax(0, 1 - (double)grid->tail_ctas / (tail * (double)room));
  grid->idle = 1 - (double)grid->n_ctas / (rounds * (double)room);
}

double grid_rounds(const Grid *grid) {
  int64_t turns = ceil_div(grid->tail_ctas * grid->tail_parts, grid->wave_ctas);
  return (double)(grid->n_waves - 1) + (double)turns / (double)grid->tail_parts;
}

int64_t grid_wave(const Grid *grid, int64_t index) { return index / grid->wave_ctas; }

int64_t grid_blocks(const Grid *grid) {
  return grid->persistent ? min64(grid->n_ctas, grid->wave_ctas) : grid->n_ctas;
}

int64_t grid_block(const Grid *grid, int64_t index) { return index % grid_blocks(grid); }

// Clusters go on by their number; first parts stand in front of second ones
// (pass_tail_split.c).
bool grid_item(const Grid *grid, int64_t block, int64_t i, GridItem *out) {
  const int64_t tile = block + i * grid_blocks(grid), cut = grid->n_ctas - grid->tail_ctas;
  *out = (GridItem){tile, -1};
  if (grid->tail_parts == 1 || tile < cut) return tile < grid->n_ctas;
  const int64_t part = (tile - cut) / grid->tail_ctas;
  *out = (GridItem){cut + (tile - cut) % grid->tail_ctas, part};
  return part < grid->tail_parts;
}

int grid_place(const Grid *grid, int64_t index) {
  if (!grid->chip || !grid->chip->placed) return -1;
  return grid->chip->of_list[index / grid->launch.cluster % grid->chip->lists];
}

const char *grid_span_here(const Grid *grid, GridSpan span) {
  return span == GRID_SPAN_WAVE ? grid_words(grid).wave : grid_span_name(span);
}

GridWords grid_words(const Grid *grid) {
  static const GridWords words[] = {{"CTA", "CTAs", "wave", "waves"},
                                    {"tile", "tiles", "turn", "turns"}};
  return words[grid->persistent];
}

int64_t grid_wave_size(const Grid *grid, int64_t wave) {
  return wave == grid->n_waves - 1 ? grid->tail_ctas : grid->wave_ctas;
}

// The first CTA that shares a panel with CTA 0 which the one before it does not: 8 in groups of
// eight, 32 in rows of 32. With one row or column of tiles nothing comes back: the whole grid, or
// the part of it that shares no panel's part of K with what follows.
static int64_t find_lap(const Grid *grid) {
  int64_t row = 0, col = 0, split = 0;
  bool shared_a = true, shared_b = true;
  for (int64_t first = 0; first < min64(grid->n_ctas, GRID_WINDOW_MAX); first += LANES) {
    Tiles at;
    evaluate(grid, first, 1, &at);
    for (int i = 0; i < LANES && first + i < grid->n_ctas; i++) {
      if (first + i == 0) row = at.row[0], col = at.col[0], split = at.split[0];
      bool a = at.row[i] == row && at.split[i] == split && !grid->heads;
      bool b = at.col[i] == col && at.split[i] == split;
      bool back = (a && !shared_a) || (b && !shared_b) || (grid->heads && !b);
      if (back || at.split[i] != split) return first + i;
      shared_a = a;
      shared_b = b;
    }
  }
  return min64(grid->n_ctas, GRID_WINDOW_MAX);
}

static Grid *new_grid(Arena *arena, const Model *model) {
  Grid *grid = ARENA_NEW(arena, Grid);
  const Program *program = model->program;
  const Product *product = &program->product[program->n_products - 1];
  Axis *const *axis = product->axis;
  grid->program = program;
  grid->product = product;
  grid->heads = product->batch ? block_count(product->batch) : 0;
  grid->launch = kernel_launch(program_main(program));
  // Variables of other tiers stay 0 in it: a tile does not depend on the thread.
  grid->env = ARENA_ARRAY(arena, int64_t, (size_t)program->n_vars * LANES);
  grid->n_ctas = grid->launch.n_blocks;
  grid->rows = block_count(axis[AXIS_M]);
  grid->cols = block_count(axis[AXIS_N]) * max64(grid->heads, 1);
  grid->splits = block_count(axis[AXIS_K]);
  grid->tile_m = block_step(axis[AXIS_M]);
  grid->tile_n = block_step(axis[AXIS_N]);
  grid->k_part = block_step(axis[AXIS_K]);
  grid->cluster_rows = cluster_count(axis[AXIS_M]);
  grid->cluster_cols = cluster_count(axis[AXIS_N]);
  const ProductOperand *operand = program->product[0].operand;
  grid->sharers_a = program_sharers(arena, program, operand[ATOM_A].global);
  grid->sharers_b = program_sharers(arena, program, operand[ATOM_B].global);
  grid->adds = stmt_find_action(program_main(program)->body, ACTION_ADD, ROLE_C) != NULL;
  grid->partial = program_buffer(program, ROLE_PARTIAL) != NULL;
  grid->persistent = grid->launch.tiles != NULL;
  count_waves(arena, grid, model);
  grid->lap_ctas = find_lap(grid);
  return grid;
}

const Grid *grid_outline(Arena *arena, const Model *model) { return new_grid(arena, model); }

const Grid *grid_build(Arena *arena, const Model *model) {
  Grid *grid = new_grid(arena, model);
  map_ctas(arena, grid);
  map_tiles(arena, grid);
  look_from_afar(arena, grid);
  return grid;
}

// ---- windows ------------------------------------------------------------------------------------

// A set of panels: open addressing, keys are panel + 1.
typedef struct PanelSet {
  int64_t *slot;
  uint64_t mask;
} PanelSet;

static PanelSet new_set(Arena *arena, int64_t n) {
  uint64_t size = 16;
  while (size < 2 * (uint64_t)n) size *= 2;
  return (PanelSet){ARENA_ARRAY(arena, int64_t, size), size - 1};
}

static bool set_add(PanelSet *set, int64_t panel) {
  uint64_t at = (uint64_t)panel * UINT64_C(0x9e3779b97f4a7c15) >> 20;
  while (set->slot[at & set->mask]) {
    if (set->slot[at & set->mask] == panel + 1) return false;
    at++;
  }
  set->slot[at & set->mask] = panel + 1;
  return true;
}

// Each head has queries of its own.
static int64_t a_panels(const Grid *grid) {
  return grid->rows * (grid->heads ? grid->cols : grid->splits);
}

int64_t grid_a_panel(const Grid *grid, int64_t row, int64_t col, int64_t split) {
  return (grid->heads ? col : split) * grid->rows + row;
}

int64_t grid_b_panel(const Grid *grid, int64_t col, int64_t split) {
  return a_panels(grid) + split * grid->cols + col;
}

int64_t grid_panels(const Grid *grid) { return a_panels(grid) + grid->splits * grid->cols; }

// K and V of a head, whole; queries, all of their dimension.
static int64_t head_panel_bytes(const Grid *grid, int axis, int64_t at) {
  const Problem *problem = &grid->program->problem;
  const int64_t first = min64(at * grid->tile_m, problem->m);
  const int64_t rows = axis == AXIS_M ? min64(grid->tile_m, problem->m - first) : 2 * problem->n;
  return rows * problem->k * dtype_bytes(problem_operand_type(problem));
}

int64_t grid_panel_bytes(const Grid *grid, int axis, int64_t at, int64_t split) {
  if (grid->heads) return head_panel_bytes(grid, axis, at);
  GridRange k = grid_k_range(grid, split);
  int64_t tile = axis == AXIS_M ? grid->tile_m : grid->tile_n;
  int64_t extent = grid->program->axis[axis].extent;
  int64_t wide = min64(tile, extent - min64(at * tile, extent));
  return wide * (k.end - k.begin) * dtype_bytes(problem_operand_type(&grid->program->problem));
}

int64_t grid_written_bytes(const Grid *grid) {
  const Problem *problem = &grid->program->problem;
  const int64_t columns = grid->heads ? problem->k : grid->tile_n;
  return grid->tile_m * columns * dtype_bytes(grid->partial ? problem->acc : problem->out);
}

GridWindow grid_window(Arena *scratch, const Grid *grid, int64_t first, int64_t n) {
  if (first > grid->n_ctas) first = grid->n_ctas;
  n = min64(min64(n, grid->n_ctas - first), GRID_WINDOW_MAX);
  GridWindow window = {.first = first, .n = n};
  PanelSet a = new_set(scratch, n), b = new_set(scratch, n);
  for (int64_t i = 0; i < n; i += LANES) {
    Tiles at;
    evaluate(grid, first + i, 1, &at);
    for (int lane = 0; lane < LANES && i + lane < n; lane++) {
      int64_t row = at.row[lane], col = at.col[lane], split = at.split[lane];
      if (set_add(&a, grid_a_panel(grid, row, col, split))) {
        window.a_panels++;
        window.a_bytes += grid_panel_bytes(grid, AXIS_M, row, split);
      }
      if (set_add(&b, grid_b_panel(grid, col, split))) {
        window.b_panels++;
        window.b_bytes += grid_panel_bytes(grid, AXIS_N, col, split);
      }
    }
  }
  window.bytes = window.a_bytes + window.b_bytes;
  int64_t distinct = window.a_panels + window.b_panels;
  window.reuse = distinct ? 2 * (double)n / (double)distinct : 0;
  return window;
}

// ---- work ---------------------------------------------------------------------------------------

// Each CTA goes through the blocks of keys that the loop over them names.
GridWork grid_work(Arena *arena, const Grid *grid) {
  const Stmt *walk = grid->heads ? program_slab_loop(grid->program) : NULL;
  if (!walk || !walk->end) return (GridWork){0};
  double *of_row = ARENA_ARRAY(arena, double, grid->rows);
  GridWork work = {.fewest = walk->var->extent, .rows = grid->rows, .of_row = of_row};
  for (int64_t first = 0; first < grid->rows; first += LANES) {
    Tiles at;
    int64_t blocks[LANES];
    evaluate(grid, first, 1, &at);
    expr_eval_warp(walk->end, grid->env, blocks);
    for (int i = 0; i < LANES && first + i < grid->rows; i++) {
      work.fewest = min64(work.fewest, blocks[i]);
      work.most = max64(work.most, blocks[i]);
      work.mean += (double)blocks[i] / (double)grid->rows;
      of_row[at.row[i]] = (double)blocks[i];
    }
  }
  return work;
}

int64_t grid_span_ctas(const Grid *grid, GridSpan span, int64_t blocks) {
  const int64_t ctas[] = {[GRID_SPAN_LAP] = grid->lap_ctas,
                          [GRID_SPAN_ROW] = grid->cols,
                          [GRID_SPAN_WAVE] = grid->wave_ctas,
                          [GRID_SPAN_BLOCKS] = blocks};
  int64_t most = min64(grid->n_ctas, GRID_WINDOW_MAX), n = ctas[span];
  return n < 1 ? 1 : min64(n, most);
}
