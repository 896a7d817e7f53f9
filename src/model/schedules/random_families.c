// Draws of the families that have tables of their own: attention, and sums in tensor memory.
#include "base/random.h"
#include "model/ir/role.h"
#include "model/schedules/random_draw.h"
#include "model/words/schedule_atom.h"

// ---- attention ----------------------------------------------------------------------------------

static const RandomKnob attention_knobs[] = {
    {KNOB_WM, 4},          {KNOB_FM, 2},         {KNOB_FN, 8},       {KNOB_PAD_SMEM, 8},
    {KNOB_SWIZZLE, 3},     {KNOB_LDMATRIX, 2},   {KNOB_L2_HINT, 1},  {KNOB_ASYNC_COPY, 1},
    {KNOB_FRAG_BUFFER, 2}, {KNOB_FRAG_ORDER, 1}, {KNOB_EAGER_KV, 1}, {KNOB_UNROLL_K, 4},
    {KNOB_MIN_BLOCKS, 2},
};
static const RandomKnob attention_problem[] = {
    {KNOB_HEADS, 3}, {KNOB_CAUSAL, 1}, {KNOB_M, 100}, {KNOB_N, 160}};

// For a warpgroup's atoms: a fused kernel, staged, with tiles and no fragments.
static void draw_attention_group(uint64_t *state, Schedule *schedule) {
  int64_t *v = schedule->value;
  v[KNOB_FUSE] = 1;
  v[KNOB_STAGE] = STAGE_A | STAGE_B;
  v[KNOB_TMA] = random_between(state, 0, 1);
  v[KNOB_ATOM_N] = 16 * random_between(state, 1, 5);
  v[KNOB_WM] = random_between(state, 1, 2);
  v[KNOB_FN] = random_between(state, 1, 2);
  v[KNOB_WARP_SPECIALIZE] = v[KNOB_TMA] && random_between(state, 0, 1);
  if (v[KNOB_WARP_SPECIALIZE]) {
    v[KNOB_EAGER_KV] = 0;
    v[KNOB_BUFFER_COUNT] = random_between(state, 2, 3);
    v[KNOB_MMA_GROUPS] = random_between(state, 0, 1);
    v[KNOB_ROLE_SCHEDULE] = v[KNOB_WM] == 2 && random_between(state, 0, 1);
  }
  v[KNOB_FRAG_BUFFER] = 1;
  v[KNOB_A_REGS] = 0;
  v[KNOB_LDMATRIX] = v[KNOB_FRAG_ORDER] = v[KNOB_PAD_SMEM] = 0;
}

// A third of them plain fma, half of the others fused, and most of those staged.
void random_draw_attention(uint64_t *state, const RandomDraw *draw, Schedule *schedule) {
  int64_t *v = schedule->value;
  v[KNOB_PROGRAM] = COMPUTES_ATTENTION;
  RANDOM_DRAW_ALL(state, attention_problem, schedule);
  v[KNOB_K] = 16 * random_between(state, 1, 4);
  if (draw->n_kinds == 0 || random_between(state, 0, 2) == 0) {
    v[KNOB_BM] = random_between(state, 1, 16);
    v[KNOB_BN] = random_between(state, 1, 16);
    return;
  }
  v[KNOB_ATOM_KIND] = draw->kind[random_between(state, 0, draw->n_kinds - 1)];
  schedule_take_type(schedule);
  RANDOM_DRAW_ALL(state, attention_knobs, schedule);
  v[KNOB_FUSE] = random_between(state, 0, 1);
  if (v[KNOB_FUSE] && v[KNOB_CAUSAL] && v[KNOB_WM] % 2) v[KNOB_TILE_ORDER] = ORDER_LONGEST;
  v[KNOB_STAGE] = v[KNOB_FUSE] && random_between(state, 0, 3) ? STAGE_A | STAGE_B : 0;
  if (v[KNOB_STAGE]) {
    v[KNOB_TMA] = draw->target->has_tma && random_between(state, 0, 2) == 0;
    v[KNOB_A_REGS] = v[KNOB_FRAG_BUFFER] == 1 && random_between(state, 0, 1);
  } else {
    v[KNOB_LDMATRIX] = v[KNOB_FRAG_ORDER] = v[KNOB_EAGER_KV] = 0;
  }
  if (random_is_of_warpgroups(schedule)) draw_attention_group(state, schedule);
}

// ---- Blackwell ----------------------------------------------------------------------------------

static const RandomKnob tensor_knobs[] = {
    {KNOB_WM, 2},        {KNOB_WN, 2},           {KNOB_FM, 2},         {KNOB_FN, 2},
    {KNOB_BK, 4},        {KNOB_SWIZZLE, 3},      {KNOB_A_COL, 1},      {KNOB_B_COL, 1},
    {KNOB_TMA, 1},       {KNOB_BUFFER_COUNT, 3}, {KNOB_UNROLL_K, 3},   {KNOB_UNROLL_RING, 1},
    {KNOB_GROUP_M, 4},   {KNOB_GROUP_N, 4},      {KNOB_MIN_BLOCKS, 1}, {KNOB_EPI_BUFFERS, 2},
    {KNOB_CLUSTER_M, 2}, {KNOB_CLUSTER_N, 2},
};

// Blocks with lists of tiles, and where others write them sets of sums; a list that a cluster
// claims is gone through by roles that meet.
static void draw_tensor_tiles(uint64_t *state, Schedule *schedule) {
  int64_t *v = schedule->value;
  v[KNOB_PERSISTENT] = 1;
  v[KNOB_TILE_ORDER] = random_draw_order(state);
  v[KNOB_SERPENTINE_K] = random_between(state, 0, 1);
  if (!v[KNOB_WARP_SPECIALIZE]) return;
  v[KNOB_ACC_BUFFERS] = random_between(state, 1, 3);
  if (random_between(state, 0, 2) == 0) v[KNOB_TILE_ORDER] = tile_order_met(v[KNOB_TILE_ORDER]);
}

// A pair of CTAs: a cluster of its own kind, with one atom along N.
static void draw_pair(Schedule *schedule) {
  int64_t *v = schedule->value;
  v[KNOB_CTA_GROUP] = v[KNOB_CLUSTER_M] = 2;
  v[KNOB_CLUSTER_N] = v[KNOB_FN] = v[KNOB_WN] = 1;
  v[KNOB_MULTICAST] = 0;
  v[KNOB_ATOM_N] += v[KNOB_ATOM_N] % 16;
}

// Factors come by TMA, in tiles of 128 columns and whole words of a slab's steps.
static void draw_factors(uint64_t *state, int scales, Schedule *schedule) {
  enum { TILE = 128, WORD = 4 };
  int64_t *v = schedule->value;
  if (!scales) return;
  v[KNOB_TMA] = 1;
  v[KNOB_ATOM_N] = TILE;
  v[KNOB_BK] = WORD / scales * random_between(state, 1, scales);
}

void random_draw_tensor(uint64_t *state, const RandomDraw *draw, Schedule *schedule) {
  enum { STEP = 8, NARROW = 8, PIECE = 8 };
  int64_t *v = schedule->value;
  v[KNOB_ATOM_KIND] = draw->kind[random_between(state, 0, draw->n_kinds - 1)];
  schedule_take_type(schedule);
  RANDOM_DRAW_ALL(state, tensor_knobs, schedule);
  v[KNOB_ATOM_N] = STEP * random_between(state, 1, NARROW);
  v[KNOB_STAGE] = STAGE_A | STAGE_B;
  draw_factors(state, atom_scales(schedule_atom_row(schedule)), schedule);
  if (schedule_atom_row(schedule)->bits != 16) v[KNOB_A_COL] = 0, v[KNOB_B_COL] = 1;
  v[KNOB_WARP_SPECIALIZE] = v[KNOB_TMA] && random_between(state, 0, 2);
  v[KNOB_PIPELINE_STAGES] = v[KNOB_TMA] && !v[KNOB_WARP_SPECIALIZE] && random_between(state, 0, 1);
  v[KNOB_MULTICAST] = v[KNOB_TMA] && v[KNOB_CLUSTER_M] * v[KNOB_CLUSTER_N] > 1;
  v[KNOB_EPILOGUE] = v[KNOB_TMA_STORE] = random_between(state, 0, 1);
  v[KNOB_EPI_N] = random_between(state, 0, 1) * PIECE * (1 << random_between(state, 0, 2));
  if (random_between(state, 0, 1)) draw_tensor_tiles(state, schedule);
  if (v[KNOB_WARP_SPECIALIZE] && random_between(state, 0, 2) == 0) draw_pair(schedule);
  if (*state % 4 == 0) v[KNOB_TENSOR_COLUMNS] = TENSOR_COLUMNS;
}
