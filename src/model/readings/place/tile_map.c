// The axes of C read for every lane: row and column are the sums of the digits inside the tile, and
// with an atom the place that its fragment map gives to lane and value.
//
// Worked example, m16n8k16, 2 × 2 warps of 4 × 4 atoms: thread 46 is lane 14 of warp 1, m_w = 0 and
// n_w = 1. Its acc[1, 2, 3] is row 0·64 + 1·16 + (14 / 4 + 8) = 27 of the tile and its column
// 1·32 + 2·8 + (14 % 4 · 2 + 1) = 53.
#include "model/readings/place/tile_map.h"

#include <stdio.h>
#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

// The registers of one thread along an axis: every combination of the digits that it keeps.
typedef struct Kept {
  const Axis *axis;
  int64_t count;
} Kept;

static bool is_kept(const Digit *digit) { return digit->var->tier == TIER_REGISTER; }

static bool is_lanes(const Digit *digit) {
  return digit->var->tier == TIER_WARP || digit->var->tier == TIER_THREAD;
}

static Kept kept_along(const Axis *axis) {
  Kept kept = {axis, 1};
  for (int i = 0; i < axis->n_digits; i++)
    if (is_kept(&axis->digit[i])) kept.count *= axis->digit[i].var->extent;
  return kept;
}

// The place along the axis, inside the tile, where register `index` of each lane begins.
static void positions(const Kept *kept, int64_t index, const int64_t *env, int64_t out[LANES]) {
  const Axis *axis = kept->axis;
  memset(out, 0, LANES * sizeof *out);
  for (int i = axis->n_digits - 1; i >= 0; i--) {
    const Digit *digit = &axis->digit[i];
    int64_t own = index % digit->var->extent * digit->weight;
    if (is_kept(digit)) index /= digit->var->extent;
    for (int lane = 0; lane < LANES; lane++)
      out[lane] += is_kept(digit)    ? own
                   : is_lanes(digit) ? env[(ptrdiff_t)digit->var->id * LANES + lane] * digit->weight
                                     : 0;
  }
}

static int values_of(const Product *product) {
  return product->atom ? fragment_map(product->atom, ATOM_C).n_values : 1;
}

typedef struct Fill {
  TileMap *map;
  uint16_t *thread, *value;
  TileBox *of_thread, *of_warp;
} Fill;

// The box that holds another cell too; one without rows holds none so far.
static void widen(TileBox *box, int64_t row, int64_t col) {
  int64_t end_row = box->row + box->rows, end_col = box->col + box->cols;
  if (box->rows == 0) {
    *box = (TileBox){row, col, 1, 1};
    return;
  }
  if (row < box->row) box->row = row;
  if (col < box->col) box->col = col;
  box->rows = (row + 1 > end_row ? row + 1 : end_row) - box->row;
  box->cols = (col + 1 > end_col ? col + 1 : end_col) - box->col;
}

static void fill_cell(Fill *fill, int64_t row, int64_t col, int thread, int value) {
  const TileMap *map = fill->map;
  if (row >= map->rows || col >= map->cols) return;
  fill->thread[row * map->cols + col] = (uint16_t)thread;
  fill->value[row * map->cols + col] = (uint16_t)value;
  widen(&fill->of_thread[thread], row, col);
  widen(&fill->of_warp[thread / LANES], row, col);
}

static void fill_register(Fill *fill, int warp, const bool *active, const int64_t *row,
                          const int64_t *col, int first) {
  const Atom *atom = fill->map->product->atom;
  FragmentMap fragment = {0};
  if (atom) fragment = fragment_map(atom, ATOM_C);
  int first_lane = atom ? warp % atom_warps(atom) * LANES : 0;  // of the warp in its warpgroup
  for (int lane = 0; lane < LANES; lane++)
    for (int v = 0; active[lane] && v < (atom ? fragment.n_values : 1); v++) {
      FragmentElement at = {0, 0};
      if (atom) at = fragment_map_element(&fragment, first_lane + lane, v);
      fill_cell(fill, row[lane] + at.row, col[lane] + at.col, warp * LANES + lane, first + v);
    }
}

static void fill_warp(Fill *fill, int warp, const bool *active, const int64_t *env) {
  const Product *product = fill->map->product;
  Kept m = kept_along(product->axis[AXIS_M]), n = kept_along(product->axis[AXIS_N]);
  int values = values_of(product);
  for (int64_t i = 0; i < m.count; i++)
    for (int64_t j = 0; j < n.count; j++) {
      int64_t row[LANES], col[LANES];
      positions(&m, i, env, row);
      positions(&n, j, env, col);
      fill_register(fill, warp, active, row, col, (int)(i * n.count + j) * values);
    }
}

// Where consumers take tiles by turns the first one has the block's first tile.
static bool has_tile(const Program *program, const int64_t *env, const bool *active) {
  const Kernel *kernel = program_main(program);
  const Stmt *inner = kernel_inner((Kernel *)(uintptr_t)kernel);
  bool lanes[LANES];
  return !inner || inner->kind != STMT_IF || lanes_pass(env, inner->expr, active, lanes);
}

const TileMap *tile_map_build(Arena *arena, const Program *program, int of) {
  TileMap *map = ARENA_NEW(arena, TileMap);
  const Product *product = &program->product[of];
  Launch launch = kernel_launch(program_main(program));
  *map = (TileMap){.program = program,
                   .product = product,
                   .rows = axis_tile(product->axis[AXIS_M]),
                   .cols = axis_tile(product->axis[AXIS_N]),
                   .n_warps = launch_warps(&launch)};
  size_t cells = (size_t)(map->rows * map->cols);
  Fill fill = {map, ARENA_ARRAY(arena, uint16_t, cells), ARENA_ARRAY(arena, uint16_t, cells),
               ARENA_ARRAY(arena, TileBox, launch.n_threads),
               ARENA_ARRAY(arena, TileBox, map->n_warps)};
  memset(fill.thread, 0xff, cells * sizeof *fill.thread);
  int64_t *env = ARENA_ARRAY(arena, int64_t, (size_t)program->n_vars * LANES);
  for (int warp = 0; warp < map->n_warps; warp++) {
    bool active[LANES];
    lanes_enter(program, &launch, 0, warp, env, active);
    if (!has_tile(program, env, active)) continue;
    fill_warp(&fill, warp, active, env);
    for (int lane = 0; lane < LANES; lane++) map->n_threads += active[lane];
  }
  map->thread = fill.thread;
  map->value = fill.value;
  map->of_thread = fill.of_thread;
  map->of_warp = fill.of_warp;
  return map;
}

TileOwner tile_map_owner(const TileMap *map, int64_t row, int64_t col) {
  int64_t cell = row * map->cols + col;
  return (TileOwner){map->thread[cell], map->value[cell]};
}

TileBox tile_map_atom(const TileMap *map, int64_t row, int64_t col) {
  const Atom *atom = map->product->atom;
  int64_t m = atom ? atom->m : 1, n = atom ? atom->n : 1;
  return (TileBox){row / m * m, col / n * n, m, n};
}

const char *tile_map_register_text(const TileMap *map, int value, char out[48]) {
  const Product *product = map->product;
  const char *name = program_buffer(map->program, product->operand[ATOM_C].registers)->name;
  int values = values_of(product), n = (int)kept_along(product->axis[AXIS_N]).count;
  int atom = value / values;
  if (product->atom)
    snprintf(out, 48, "%.12s[%d, %d, %d]", name, atom / n, atom % n, value % values);
  else
    snprintf(out, 48, "%.12s[%d, %d]", name, atom / n, atom % n);
  return out;
}
