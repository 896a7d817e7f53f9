// Program → who does what to which mbarrier, column and slice, by a walk of every warp of a
// cluster.
//
// Each warp goes through the kernel with its lanes' numbers (ir/lanes.h): conditions switch lanes
// off, LETs are evaluated, one tile stands for all, and of the loop over slabs the first ones are
// run, as many as show how slots and phases come back. What a warp does for the first time is
// noted, so the phase of a wait is the one that it asks for first. Bodies that touch neither
// mbarriers nor tensor memory nor boxes are left out.
//
// Worked example, a pair: warp 8 of CTA 0 commits to empty with mask 3, so the mbarriers of both
// CTAs get its arrival; both producers' boxes count at full of the even CTA, 2 * 32 KiB.
#include "model/readings/on_chip.h"

#include <string.h>

#include "base/whole.h"
#include "model/ir/lanes.h"
#include "model/ir/op.h"
#include "model/ir/rewrite.h"
#include "model/ir/ring.h"

enum { REGISTER_TURNS = 64, SETS_MAX = 8 };

typedef struct ChipWalk {
  Arena *arena;
  const Program *program;
  OnChip *out;
  Launch launch;
  int64_t *env;  // [n_vars][LANES]
  int rank, warp;
  const WarpRole *role;
  const Var *turn;  // the tile's, inside a loop over tiles
  int slab;         // of the loop over slabs; -1: outside
} ChipWalk;

static int64_t value_at(const ChipWalk *w, const Expr *expr, int lane) {
  int64_t value[LANES];
  expr_eval_warp(expr, w->env, value);
  return value[lane];
}

// ---- mbarriers ----------------------------------------------------------------------------------

static ChipBarrier *barrier_of(ChipWalk *w, const Buffer *buffer) {
  OnChip *out = w->out;
  for (int i = 0; i < out->n_barriers; i++)
    if (out->barrier[i].buffer == buffer) return &out->barrier[i];
  if (out->n_barriers == CHIP_BARRIERS) return NULL;
  out->barrier[out->n_barriers] = (ChipBarrier){.buffer = buffer};
  return &out->barrier[out->n_barriers++];
}

// The use by a statement, made when it is first met; NULL: there is no room.
static ChipUse *use_of(ChipWalk *w, ChipUse *use, int *n, const Stmt *stmt) {
  for (int i = 0; i < *n; i++)
    if (use[i].stmt == stmt) return &use[i];
  if (*n == CHIP_USES) return NULL;
  use[*n] = (ChipUse){.stmt = stmt, .role = w->role, .phase = -1};
  return &use[(*n)++];
}

// Ranks whose mbarriers a statement is about.
static unsigned ranks_of(const ChipWalk *w, const Op *op, int lane) {
  if (op->mask) return (unsigned)value_at(w, op->mask, lane);
  if (op->cta_group == 2 && op_moves_box(op->kind)) return 1U << (w->rank & ~1);
  return 1U << w->rank;
}

static void note_turn(ChipWalk *w, const Op *op, int64_t phase, int lane) {
  const BufferRole role = op->dst.buffer->role;
  if (w->slab < 0 || w->slab >= CHIP_FIRST_SLABS || (role != ROLE_FULL && role != ROLE_EMPTY))
    return;
  ChipTurn *turn = &w->out->turn[w->slab];
  turn->slot = value_at(w, op->dst.idx[0], lane);
  *(role == ROLE_FULL ? &turn->full_phase : &turn->empty_phase) = phase;
  w->out->n_turns = max_int(w->out->n_turns, w->slab + 1);
  w->out->n_slots = op->dst.buffer->dim[0];
}

static void note_wait(ChipWalk *w, const Stmt *stmt, int lane) {
  const Op *op = &stmt->op;
  ChipBarrier *barrier = barrier_of(w, op->dst.buffer);
  ChipUse *use = barrier ? use_of(w, barrier->wait, &barrier->n_waits, stmt) : NULL;
  const int64_t phase = value_at(w, op->phase, lane);
  note_turn(w, op, phase, lane);
  if (!use) return;
  if (use->phase < 0) use->phase = phase;
  use->by |= 1U << w->rank;
  use->at |= 1U << w->rank;
  use->warps |= 1U << w->warp;
}

static void note_signal(ChipWalk *w, const Stmt *stmt, const Buffer *buffer, int64_t bytes,
                        int lane) {
  ChipBarrier *barrier = barrier_of(w, buffer);
  ChipUse *use = barrier ? use_of(w, barrier->signal, &barrier->n_signals, stmt) : NULL;
  if (!use) return;
  use->by |= 1U << w->rank;
  use->at |= ranks_of(w, &stmt->op, lane);
  use->warps |= 1U << w->warp;
  use->bytes = bytes;
}

static void note_barrier(ChipWalk *w, const Stmt *stmt, int lane) {
  const Op *op = &stmt->op;
  const OpAction action = op_facts(op->kind)->action;
  const Buffer *dst = op->dst.buffer;
  if (action == ACTION_SET) {
    ChipBarrier *barrier = barrier_of(w, dst);
    if (barrier) barrier->arrivals = op->count;
  }
  if (action == ACTION_WAIT) note_wait(w, stmt, lane);
  if (action == ACTION_SIGNAL) note_signal(w, stmt, dst, 0, lane);
  if (action == ACTION_EXPECT) note_signal(w, stmt, dst, op->count, lane);
}

// ---- boxes --------------------------------------------------------------------------------------

static void widen_slice(int64_t *first, int64_t *n, int64_t at, int64_t count, bool there) {
  const int64_t end = there ? max64(*first + *n, at + count) : at + count;
  *first = there ? min64(*first, at) : at;
  *n = end - *first;
}

// Boxes of one slab: those of a later one come again, and are left out.
static void note_slice(ChipWalk *w, const Op *op, int lane) {
  const int operand = product_operand(program_product(w->program), op->dst.buffer->role);
  if (operand > ATOM_B || w->slab > 0) return;
  const Access *from = op_box_global(op);
  const bool by_columns = program_product(w->program)->operand[operand].column_major;
  const int across = operand == ATOM_A ? 0 : 1;  // the dimension of M, or of N
  const int64_t at = value_at(w, from->idx[across], lane);
  const int64_t k = value_at(w, from->idx[!across], lane) % w->out->tile_k;
  const bool across_is_slow = (operand == ATOM_B) == by_columns;
  ChipSlice *slice = &w->out->rank[w->rank].slice[operand];
  widen_slice(&slice->first, &slice->n, at, op->box[across_is_slow ? 0 : 1], slice->there);
  widen_slice(&slice->k, &slice->n_k, k, op->box[across_is_slow ? 1 : 0], slice->there);
  slice->there = true;
  slice->bytes = slice->n * slice->n_k * dtype_bytes(from->buffer->type);
  slice->to |= op->mask ? ranks_of(w, op, lane) : 1U << w->rank;
  slice->counted_at |= ranks_of(w, op, lane);
  w->out->by_tma = true;
}

// ---- tensor memory ------------------------------------------------------------------------------

static void add_range(ChipTensor *tensor, ChipRange range) {
  int at = tensor->n;
  for (int i = 0; i < tensor->n; i++)
    if (tensor->range[i].first == range.first) return;
  if (tensor->n == CHIP_RANGES) return;
  for (; at > 0 && tensor->range[at - 1].first > range.first; at--)
    tensor->range[at] = tensor->range[at - 1];
  tensor->range[at] = range;
  tensor->n++;
  tensor->n_sets = max_int(tensor->n_sets, range.set + 1);
}

static int64_t column_in_turn(ChipWalk *w, const Access *access, int turn, int lane) {
  if (w->turn) lanes_set_all(w->env, w->turn, turn);
  return access->buffer->column + value_at(w, access->idx[access->buffer->rank - 1], lane);
}

// The columns that a product adds to, in each set of sums that the tiles take by turns.
static void note_product(ChipWalk *w, const Op *op, int lane) {
  const Buffer *a = op->src.buffer;
  ChipRange range = {.n = op->atom->n, .asks = w->warp, .reader = {-1, -1, -1, -1}};
  w->out->rank[w->rank].asks = true;
  range.row = value_at(w, op->src.idx[a->rank - 2], lane);
  const int64_t first = column_in_turn(w, &op->dst, 0, lane);
  for (int set = 0; set < SETS_MAX; set++) {
    range.first = (int)column_in_turn(w, &op->dst, set, lane);
    range.set = set;
    if (set > 0 && range.first == first) break;
    add_range(&w->out->tensor, range);
    if (!w->turn) break;
  }
  column_in_turn(w, &op->dst, 0, lane);
}

// The columns of the factors that a warpgroup's products look into, of all slots and words.
static void note_factors(ChipWalk *w, const Op *op, int lane) {
  const Product *product = program_product(w->program);
  const int64_t groups = axis_digit(product->axis[AXIS_M], TIER_WARP)->var->extent *
                         axis_digit(product->axis[AXIS_N], TIER_WARP)->var->extent;
  for (int i = ATOM_A; i <= ATOM_B; i++) {
    const Buffer *buffer = op->scale[i].buffer;
    if (!buffer || buffer->space != SPACE_TENSOR) continue;
    const int64_t n = buffer->dim[1] / groups, at = value_at(w, op->scale[i].idx[1], lane);
    add_range(&w->out->tensor, (ChipRange){.first = buffer->column + (int)(at / n * n),
                                           .n = (int)n,
                                           .asks = w->warp,
                                           .reader = {w->warp, w->warp, w->warp, w->warp},
                                           .factors = buffer});
  }
}

// A warp that reads columns reads them of its quarter of the lanes, and of every set.
static void note_read(ChipWalk *w, const Op *op, int lane) {
  ChipTensor *tensor = &w->out->tensor;
  const int64_t row = value_at(w, op->src.idx[0], lane);
  for (int set = 0; set < max_int(tensor->n_sets, 1); set++) {
    const int64_t column = column_in_turn(w, &op->src, set, lane);
    for (int i = 0; i < tensor->n; i++) {
      ChipRange *range = &tensor->range[i];
      const bool inside = column >= range->first && column < range->first + range->n;
      if (inside) range->reader[row / LANES % TENSOR_QUARTERS] = w->warp;
    }
  }
  column_in_turn(w, &op->src, 0, lane);
}

static void note_tensor(ChipWalk *w, const Op *op, int lane, bool reads) {
  const OpAction action = op_facts(op->kind)->action;
  ChipTensor *tensor = &w->out->tensor;
  if (reads) {
    if (op->src.buffer && op->src.buffer->space == SPACE_TENSOR) note_read(w, op, lane);
    return;
  }
  if (action == ACTION_ALLOCATE) {
    tensor->columns = op->count;
    tensor->allocates = w->warp;
    tensor->pair = w->out->pair = op->cta_group == 2;
  }
  if (action == ACTION_RELEASE) tensor->frees = w->warp;
  if (action != ACTION_MULTIPLY || op->dst.buffer->space != SPACE_TENSOR) return;
  note_product(w, op, lane);
  note_factors(w, op, lane);
}

// ---- the walk -----------------------------------------------------------------------------------

static bool is_of_interest(const Op *op) {
  const Buffer *dst = op->dst.buffer, *src = op->src.buffer;
  return (dst && (dst->space == SPACE_BARRIER || dst->space == SPACE_TENSOR)) ||
         (src && (src->space == SPACE_BARRIER || src->space == SPACE_TENSOR)) ||
         op_moves_box(op->kind);
}

static bool has_interest(const Stmt *list) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next)
    if (stmt->body ? has_interest(stmt->body) : stmt->kind == STMT_OP && is_of_interest(&stmt->op))
      return true;
  return false;
}

// `reads`: the second walk, when all columns are known.
static void note_op(ChipWalk *w, const Stmt *stmt, const bool *active, bool reads) {
  const Op *op = &stmt->op;
  int lane = 0;
  while (lane < LANES && !active[lane]) lane++;
  if (lane == LANES || !is_of_interest(op)) return;
  note_tensor(w, op, lane, reads);
  if (reads) return;
  const Buffer *dst = op->dst.buffer, *at = op->src2.buffer;
  if (dst && dst->space == SPACE_BARRIER) note_barrier(w, stmt, lane);
  if (!op_moves_box(op->kind) || !at || at->space != SPACE_BARRIER) return;
  const int64_t bytes = op->box[0] * op->box[1] * dtype_bytes(dst->type);
  note_signal(w, stmt, at, bytes, lane);
  note_slice(w, op, lane);
}

static void walk_list(ChipWalk *w, const Stmt *list, const bool *active, bool reads);

static int64_t turns_of(const Stmt *loop) {
  const int64_t extent = loop->var->extent;
  if (loop->var->tier == TIER_SERIAL_OUTER) return min64(extent, CHIP_FIRST_SLABS);
  return loop->var->tier == TIER_REGISTER ? min64(extent, REGISTER_TURNS) : 1;
}

static void walk_loop(ChipWalk *w, const Stmt *loop, const bool *active, bool reads) {
  const bool slabs = loop->var->tier == TIER_SERIAL_OUTER, tiles = loop->var->tier == TIER_TILE;
  const int64_t turns = tier_is_hardware(loop->var->tier) || tiles ? 1 : turns_of(loop);
  if (tiles) w->turn = tile_turn(loop);
  for (int64_t i = 0; i < turns; i++) {
    if (slabs) w->slab = (int)i;
    if (!tier_is_hardware(loop->var->tier) && !tiles) lanes_set_all(w->env, loop->var, i);
    walk_list(w, loop->body, active, reads);
  }
  if (slabs) w->slab = -1;
  if (tiles) w->turn = NULL;
}

static void walk_if(ChipWalk *w, const Stmt *stmt, const bool *active, bool reads) {
  bool inner[LANES];
  const WarpRole *role = w->role;
  if (!lanes_pass(w->env, stmt->expr, active, inner)) return;
  if (stmt->role) w->role = stmt->role;
  walk_list(w, stmt->body, inner, reads);
  w->role = role;
}

static void walk_list(ChipWalk *w, const Stmt *list, const bool *active, bool reads) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt->kind == STMT_OP) note_op(w, stmt, active, reads);
    if (stmt->kind == STMT_LET) lanes_let(w->env, stmt);
    if (!stmt->body || !has_interest(stmt->body)) continue;
    if (stmt->kind == STMT_LOOP) walk_loop(w, stmt, active, reads);
    if (stmt->kind == STMT_IF) walk_if(w, stmt, active, reads);
  }
}

static void walk_warps(ChipWalk *w, bool reads) {
  bool active[LANES];
  for (w->warp = 0; w->warp < w->out->n_warps; w->warp++) {
    lanes_enter(w->program, &w->launch, w->rank, w->warp, w->env, active);
    walk_list(w, w->launch.body, active, reads);
  }
}

static void place_tile(ChipWalk *w) {
  bool active[LANES];
  ChipRank *rank = &w->out->rank[w->rank];
  const Axis *const *axis = (const Axis *const *)program_product(w->program)->axis;
  lanes_enter(w->program, &w->launch, w->rank, 0, w->env, active);
  rank->m = value_at(w, axis_expr(w->arena, axis[AXIS_M]), 0);
  rank->n = value_at(w, axis_expr(w->arena, axis[AXIS_N]), 0);
}

// ---- intensity ----------------------------------------------------------------------------------

static int64_t fetched_rows(const OnChip *chip, const ChipSlice *slice) {
  return slice->n * slice->n_k / chip->tile_k;
}

// A CTA that nobody fetches for fetches its whole tile.
static void fetch_tile(OnChip *chip, ChipRank *rank, int element_bytes) {
  const int64_t first[] = {rank->m, rank->n}, n[] = {chip->tile_m, chip->tile_n};
  for (int i = 0; i < 2; i++)
    rank->slice[i] = (ChipSlice){.first = first[i],
                                 .n = n[i],
                                 .n_k = chip->tile_k,
                                 .bytes = n[i] * chip->tile_k * element_bytes};
}

// Scale factors of the rows of A and of B that a CTA multiplies, one for each so many of K: of a
// slab 128 deep of mxf8, tiles of 128 x 128, 4 bytes for each of 256 rows.
static int64_t factor_bytes(const OnChip *chip, DType type) {
  const DTypeScale scale = dtype_scale(type);
  if (!scale.elements) return 0;
  const int64_t each = ceil_div(chip->tile_k * dtype_elements(type), scale.elements);
  return (chip->tile_m + chip->tile_n) * each * dtype_bytes(scale.type);
}

// Of elements of 4 bits two share a byte, and a unit of K is both.
static void weigh(OnChip *chip, DType type) {
  for (int r = 0; r < chip->n_ranks; r++) {
    ChipRank *rank = &chip->rank[r];
    if (!chip->by_tma) fetch_tile(chip, rank, dtype_bytes(type));
    rank->factors = factor_bytes(chip, type);
    rank->fetched = rank->slice[ATOM_A].bytes + rank->slice[ATOM_B].bytes + rank->factors;
  }
  const ChipRank *rank = &chip->rank[0];
  const double k =
      2.0 * (double)(chip->tile_k * dtype_elements(type)) / (double)max64(rank->fetched, 1);
  chip->intensity = k * (double)(chip->tile_m * chip->tile_n);
  chip->alone = k * (double)(fetched_rows(chip, &rank->slice[ATOM_A]) *
                             fetched_rows(chip, &rank->slice[ATOM_B]));
}

const OnChip *on_chip(Arena *arena, const Model *model) {
  const Program *program = model->program;
  if (program->n_products != 1) return NULL;
  const Product *product = program_product(program);
  OnChip *chip = ARENA_NEW(arena, OnChip);
  ChipWalk walk = {.arena = arena, .program = program, .out = chip, .slab = -1};
  walk.launch = kernel_launch(program_main(program));
  walk.env = ARENA_ARRAY(arena, int64_t, (int64_t)program->n_vars * LANES);
  chip->tile_m = axis_tile(product->axis[AXIS_M]);
  chip->tile_n = axis_tile(product->axis[AXIS_N]);
  chip->tile_k = axis_tile(product->axis[AXIS_K]);
  chip->n_ranks = walk.launch.cluster;
  chip->n_warps = launch_block_warps(&walk.launch);
  for (int i = 0; i < CHIP_FIRST_SLABS; i++) chip->turn[i] = (ChipTurn){-1, -1, -1};
  const bool walks = has_interest(walk.launch.body);
  for (walk.rank = 0; walk.rank < chip->n_ranks; walk.rank++) {
    if (walks) walk_warps(&walk, false);
    if (walks) walk_warps(&walk, true);
    place_tile(&walk);
  }
  weigh(chip, program->problem.dtype);
  return chip;
}
