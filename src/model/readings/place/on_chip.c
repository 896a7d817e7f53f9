// Program → who does what to which mbarrier, column and slice, by a walk of every warp of a
// cluster.
//
// The walk is cluster_walk.h's; of the loop over slabs it looks at enough to show how slots and
// phases come back. What a warp does for the first time is noted, so the phase of a wait is the one
// that it asks for first. Who reads which columns is looked for in a walk of its own, when all
// columns are known.
//
// Worked example, a pair: warp 8 of CTA 0 commits to empty with mask 3, so the mbarriers of both
// CTAs get its arrival; both producers' boxes count at full of the even CTA, 2 * 32 KiB.
#include "model/readings/place/on_chip.h"

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/cluster_walk.h"
#include "model/ir/lanes.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

enum { SETS_MAX = 8 };

typedef struct ChipWalk {
  const Program *program;
  OnChip *out;
  bool barriers_alone;
} ChipWalk;

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
static ChipUse *use_of(const ClusterVisit *v, ChipUse *use, int *n) {
  for (int i = 0; i < *n; i++)
    if (use[i].stmt == v->stmt) return &use[i];
  if (*n == CHIP_USES) return NULL;
  use[*n] = (ChipUse){.stmt = v->stmt, .role = v->role, .phase = -1};
  return &use[(*n)++];
}

// Ranks whose mbarriers a statement is about.
static unsigned ranks_of(const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  if (op->ranks) return (unsigned)cluster_value(v, op->ranks);
  if (op->cta_group == 2 && op_moves_box(op->kind)) return 1U << (v->rank & ~1);
  return 1U << v->rank;
}

static void note_turn(ChipWalk *w, const ClusterVisit *v, int64_t phase) {
  const Op *op = &v->stmt->op;
  const BufferRole role = op->dst.buffer->role;
  if (v->slab < 0 || v->slab >= CHIP_FIRST_SLABS || (role != ROLE_FULL && role != ROLE_EMPTY))
    return;
  ChipTurn *turn = &w->out->turn[v->slab];
  turn->slot = cluster_value(v, op->dst.idx[0]);
  *(role == ROLE_FULL ? &turn->full_phase : &turn->empty_phase) = phase;
  w->out->n_turns = max_int(w->out->n_turns, v->slab + 1);
  w->out->n_slots = op->dst.buffer->dim[0];
}

static void note_wait(ChipWalk *w, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  ChipBarrier *barrier = barrier_of(w, op->dst.buffer);
  ChipUse *use = barrier ? use_of(v, barrier->wait, &barrier->n_waits) : NULL;
  const int64_t phase = cluster_value(v, op->phase);
  note_turn(w, v, phase);
  if (!use) return;
  if (use->phase < 0) use->phase = phase;
  use->by |= 1U << v->rank;
  use->at |= 1U << v->rank;
  use->warps |= 1U << v->warp;
}

static void note_signal(ChipWalk *w, const ClusterVisit *v, const Buffer *buffer, int64_t bytes) {
  ChipBarrier *barrier = barrier_of(w, buffer);
  ChipUse *use = barrier ? use_of(v, barrier->signal, &barrier->n_signals) : NULL;
  if (!use) return;
  use->by |= 1U << v->rank;
  use->at |= ranks_of(v);
  use->warps |= 1U << v->warp;
  use->bytes = bytes;
}

static void note_barrier(ChipWalk *w, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpAction action = op_facts(op->kind)->action;
  const Buffer *dst = op->dst.buffer;
  if (action == ACTION_SET) {
    ChipBarrier *barrier = barrier_of(w, dst);
    if (barrier) barrier->arrivals = op->arrivals;
  }
  if (action == ACTION_WAIT) note_wait(w, v);
  if (action == ACTION_SIGNAL) note_signal(w, v, dst, 0);
  if (action == ACTION_EXPECT) note_signal(w, v, dst, op->bytes);
}

// ---- boxes --------------------------------------------------------------------------------------

static void widen_slice(int64_t *first, int64_t *n, int64_t at, int64_t count, bool there) {
  const int64_t end = there ? max64(*first + *n, at + count) : at + count;
  *first = there ? min64(*first, at) : at;
  *n = end - *first;
}

// Boxes of one slab: those of a later one come again, and are left out.
static void note_slice(ChipWalk *w, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const int operand = product_operand(program_product(w->program), op->dst.buffer->role);
  if (operand > ATOM_B || v->slab > 0) return;
  const Access *from = op_box_global(op);
  const bool by_columns = program_product(w->program)->operand[operand].column_major;
  const int across = operand == ATOM_A ? 0 : 1;  // the dimension of M, or of N
  const int64_t at = cluster_value(v, from->idx[across]);
  const int64_t k = cluster_value(v, from->idx[!across]) % w->out->tile_k;
  const bool across_is_slow = (operand == ATOM_B) == by_columns;
  ChipSlice *slice = &w->out->rank[v->rank].slice[operand];
  widen_slice(&slice->first, &slice->n, at, op->box[across_is_slow ? 0 : 1], slice->there);
  widen_slice(&slice->k, &slice->n_k, k, op->box[across_is_slow ? 1 : 0], slice->there);
  slice->there = true;
  slice->bytes = slice->n * slice->n_k * dtype_bytes(from->buffer->type);
  slice->to |= op->ranks ? ranks_of(v) : 1U << v->rank;
  slice->counted_at |= ranks_of(v);
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

static int64_t column_in_turn(const ClusterVisit *v, const Access *access, int turn) {
  if (v->turn) lanes_set_all(v->env, v->turn, turn);
  return access->buffer->column + cluster_value(v, access->idx[access->buffer->rank - 1]);
}

// The columns that a product adds to, in each set of sums that the tiles take by turns.
static void note_product(ChipWalk *w, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const Buffer *a = op->src.buffer;
  ChipRange range = {.n = op->atom->n, .asks = v->warp, .reader = {-1, -1, -1, -1}};
  w->out->rank[v->rank].asks = true;
  range.row = cluster_value(v, op->src.idx[a->rank - 2]);
  const int64_t first = column_in_turn(v, &op->dst, 0);
  for (int set = 0; set < SETS_MAX; set++) {
    range.first = (int)column_in_turn(v, &op->dst, set);
    range.set = set;
    if (set > 0 && range.first == first) break;
    add_range(&w->out->tensor, range);
    if (!v->turn) break;
  }
  column_in_turn(v, &op->dst, 0);
}

// The columns of the factors that a warpgroup's products look into, of all slots and words.
static void note_factors(ChipWalk *w, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const Product *product = program_product(w->program);
  const int64_t groups = product_warps(product);
  for (int i = ATOM_A; i <= ATOM_B; i++) {
    const Buffer *buffer = op->scale[i].buffer;
    if (!buffer || buffer->space != SPACE_TENSOR) continue;
    const int64_t n = buffer->dim[1] / groups, at = cluster_value(v, op->scale[i].idx[1]);
    add_range(&w->out->tensor, (ChipRange){.first = buffer->column + (int)(at / n * n),
                                           .n = (int)n,
                                           .asks = v->warp,
                                           .reader = {v->warp, v->warp, v->warp, v->warp},
                                           .factors = buffer});
  }
}

// A warp that reads columns reads them of its quarter of the lanes, and of every set.
static void note_read(ChipWalk *w, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  ChipTensor *tensor = &w->out->tensor;
  const int64_t row = cluster_value(v, op->src.idx[0]);
  for (int set = 0; set < max_int(tensor->n_sets, 1); set++) {
    const int64_t column = column_in_turn(v, &op->src, set);
    for (int i = 0; i < tensor->n; i++) {
      ChipRange *range = &tensor->range[i];
      const bool inside = column >= range->first && column < range->first + range->n;
      if (inside) range->reader[row / LANES % TENSOR_QUARTERS] = v->warp;
    }
  }
  column_in_turn(v, &op->src, 0);
}

static void note_tensor(ChipWalk *w, const ClusterVisit *v) {
  const Op *op = &v->stmt->op;
  const OpAction action = op_facts(op->kind)->action;
  ChipTensor *tensor = &w->out->tensor;
  if (action == ACTION_ALLOCATE) {
    tensor->columns = op->columns;
    tensor->allocates = v->warp;
    tensor->pair = w->out->pair = op->cta_group == 2;
  }
  if (action == ACTION_RELEASE) tensor->frees = v->warp;
  if (action != ACTION_MULTIPLY || op->dst.buffer->space != SPACE_TENSOR) return;
  note_product(w, v);
  note_factors(w, v);
}

// ---- the walk -----------------------------------------------------------------------------------

static bool is_of_interest(const Op *op) {
  const Buffer *dst = op->dst.buffer, *src = op->src.buffer;
  return (dst && (dst->space == SPACE_BARRIER || dst->space == SPACE_TENSOR)) ||
         (src && (src->space == SPACE_BARRIER || src->space == SPACE_TENSOR)) ||
         op_moves_box(op->kind);
}

static void note_op(void *context, const ClusterVisit *v) {
  ChipWalk *w = context;
  const Op *op = &v->stmt->op;
  const Buffer *dst = op->dst.buffer, *at = op->src2.buffer;
  if (!w->barriers_alone) note_tensor(w, v);
  if (dst && dst->space == SPACE_BARRIER) note_barrier(w, v);
  if (!op_moves_box(op->kind) || !at || at->space != SPACE_BARRIER) return;
  note_signal(w, v, at, op->box[0] * op->box[1] * dtype_bytes(dst->type));
  if (!w->barriers_alone) note_slice(w, v);
}

static void note_reader(void *context, const ClusterVisit *v) {
  const Buffer *src = v->stmt->op.src.buffer;
  if (src && src->space == SPACE_TENSOR) note_read(context, v);
}

static void walk(Arena *arena, ChipWalk *w) {
  static const ClusterVisitor all = {.visit = note_op,
                                     .counts = is_of_interest,
                                     .slabs = CHIP_FIRST_SLABS},
                              readers = {.visit = note_reader,
                                         .counts = is_of_interest,
                                         .slabs = CHIP_FIRST_SLABS};
  cluster_walk(arena, w->program, &all, w);
  if (w->barriers_alone) return;
  cluster_walk(arena, w->program, &readers, w);
}

// Where the tiles of the CTAs begin.
static void place_tiles(Arena *arena, const Program *program, const Launch *launch, OnChip *chip) {
  const Axis *const *axis = (const Axis *const *)program_product(program)->axis;
  int64_t *env = ARENA_ARRAY(arena, int64_t, (int64_t)program->n_vars * LANES);
  for (int r = 0; r < chip->n_ranks; r++) {
    bool active[LANES];
    lanes_enter(program, launch, r, 0, env, active);
    const ClusterVisit first = {.rank = r, .env = env};
    chip->rank[r].m = cluster_value(&first, axis_expr(arena, axis[AXIS_M]));
    chip->rank[r].n = cluster_value(&first, axis_expr(arena, axis[AXIS_N]));
  }
}

// ---- intensity ----------------------------------------------------------------------------------

static int64_t fetched_rows(const OnChip *chip, const ChipSlice *slice) {
  return slice->n * slice->n_k / chip->tile_k;
}

// A CTA for which no other one fetches has its whole tile to fetch.
static void fetch_tile(OnChip *chip, ChipRank *rank, int element_bytes) {
  const int64_t first[] = {rank->m, rank->n}, n[] = {chip->tile_m, chip->tile_n};
  for (int i = 0; i < 2; i++)
    rank->slice[i] = (ChipSlice){.first = first[i],
                                 .n = n[i],
                                 .n_k = chip->tile_k,
                                 .bytes = n[i] * chip->tile_k * element_bytes};
}

// Scale factors of the rows of A and of B that a CTA multiplies, one for a number of elements along
// K: of a slab 128 deep of mxf8, tiles of 128 x 128, 4 bytes for each of 256 rows.
static int64_t factor_bytes(const OnChip *chip, DType type) {
  const DTypeScale scale = dtype_scale(type);
  if (!scale.elements) return 0;
  const int64_t each = ceil_div(chip->tile_k * dtype_elements(type), scale.elements);
  return (chip->tile_m + chip->tile_n) * each * dtype_bytes(scale.type);
}

// Two elements of 4 bits share a byte, and a unit of K is both.
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

static OnChip *new_chip(Arena *arena, const Launch *launch) {
  OnChip *chip = ARENA_NEW(arena, OnChip);
  chip->n_ranks = launch->cluster;
  chip->n_warps = launch_block_warps(launch);
  for (int i = 0; i < CHIP_FIRST_SLABS; i++) chip->turn[i] = (ChipTurn){-1, -1, -1};
  return chip;
}

const OnChip *on_chip_barriers(Arena *arena, const Model *model) {
  const Launch launch = kernel_launch(program_main(model->program));
  OnChip *chip = new_chip(arena, &launch);
  walk(arena, &(ChipWalk){model->program, chip, true});
  return chip;
}

const OnChip *on_chip(Arena *arena, const Model *model) {
  const Program *program = model->program;
  if (program->n_products != 1) return NULL;
  const Product *product = program_product(program);
  const Launch launch = kernel_launch(program_main(program));
  OnChip *chip = new_chip(arena, &launch);
  chip->tile_m = axis_tile(product->axis[AXIS_M]);
  chip->tile_n = axis_tile(product->axis[AXIS_N]);
  chip->tile_k = axis_tile(product->axis[AXIS_K]);
  walk(arena, &(ChipWalk){program, chip, false});
  place_tiles(arena, program, &launch, chip);
  weigh(chip, problem_operand_type(&program->problem));
  return chip;
}
