// Drawing schedules that cover the corners: sizes that do not divide, odd tiles, deep rings.
//
// The kind is drawn first: plain FMA or a tensor-core atom, of a warp or of a warpgroup, half and
// half, and in one of four, where the target has it, that slabs come by TMA; of Hopper's family
// what it has besides wgmma. Then each knob of its table is drawn on its own; the rules decide, and
// what breaks one is drawn again. Numbers are drawn by octave (1, 2-3, 4-7, …), because a tile of 3
// and a tile of 5 are as interesting as all from 32 to 64 together, and half of them are rounded to
// a power of two, because wide accesses, swizzles and patches of lanes only happen there. The
// problem comes last and fits the tile: 1 to 3 tiles each way, with an edge more often than not.
// Worked example:
//   BM=4 BN=8 FM=2 FN=4 BK=8  → tile 8 × 32 → M = 13 (2 tiles, the second cut), N = 64, K = 27
#include "model/schedules/random_schedule.h"
#include "model/words/schedule_atom.h"
#include "model/words/split.h"

#include <assert.h>
#include <string.h>

#include "base/die.h"
#include "base/random.h"
#include "base/whole.h"
#include "model/passes/passes.h"
#include "model/readings/derive.h"
#include "model/readings/rules/rule.h"
#include "model/schedules/random_draw.h"
#include "model/schedules/reduce.h"
#include "model/words/fragment.h"

static const RandomKnob fma_knobs[] = {
    {KNOB_BM, 32},         {KNOB_BN, 32},       {KNOB_FM, 16},        {KNOB_FN, 16},
    {KNOB_CELL_GROUP, 8},  {KNOB_LANES_M, 32},  {KNOB_LANE_ORDER, 1}, {KNOB_BK, 32},
    {KNOB_TRANSPOSE_A, 1}, {KNOB_VECTORIZE, 1}, {KNOB_PAD_SMEM, 8},   {KNOB_PAD_CELLS, 4},
};

static const RandomKnob atom_knobs[] = {
    {KNOB_WM, 4},       {KNOB_WN, 4},        {KNOB_FM, 4},          {KNOB_FN, 8},
    {KNOB_BK, 4},       {KNOB_VECTORIZE, 1}, {KNOB_TRANSPOSE_B, 1}, {KNOB_SWIZZLE, 3},
    {KNOB_LDMATRIX, 2}, {KNOB_EPILOGUE, 1},  {KNOB_FRAG_ORDER, 2},  {KNOB_SERPENTINE, 1},
};

static const RandomKnob common_knobs[] = {
    {KNOB_A_COL, 1},           {KNOB_B_COL, 1},
    {KNOB_STAGE, 3},           {KNOB_BUFFER_COUNT, 4},
    {KNOB_PIPELINE_STAGES, 2}, {KNOB_ASYNC_COPY, 1},
    {KNOB_FRAG_BUFFER, 2},     {KNOB_INTERLEAVE_LOADS, 1},
    {KNOB_UNROLL_K, 16},       {KNOB_GROUP_M, 4},
    {KNOB_SPLITK, 6},          {KNOB_ATOMIC_FREE_SPLITK, 1},
    {KNOB_ALPHA, 1},           {KNOB_COPY_STEPS, 4},
    {KNOB_UNROLL_RING, 1},     {KNOB_COPY_FROM, 3},
    {KNOB_L2_HINT, 1},         {KNOB_GROUP_N, 4},
    {KNOB_MIN_BLOCKS, 2},
};

// Typed layouts for a slab of either operand; which of them fit its rows the rules say.
static const char *const layouts[] = {
    "swizzle:3:4:3",
    "swizzle:2:4:3",
    "swizzle:1:4:4",
    "xor:'col ^ ((row & 7) << 3)'",
    "xor:'col ^ ((row & 3) << 3)'",
    "xor:'col ^ (((row >> 1) & 3) << 2)'",
    "xor:'col ^ ((row & 1) << 4)'",
    "xoroff:'off ^ (((off >> 6) & 3) << 3)'",
    "xoroff:'off ^ ((((row >> 1) ^ (row >> 3)) & 3) << 2) ^ (((row >> 5) & 1) << 4)'",
    "xoroff:'off ^ ((off >> 9 ^ off >> 10) & 1) * 1536'",
};

enum { DRAWS_MAX = 100000, LAYOUT_ONE_IN = 6, TMA_ONE_IN = 4 };

static int64_t power_at_most(int64_t value) {
  int64_t power = 1;
  while (power * 2 <= value) power *= 2;
  return power;
}

static int64_t draw_number(uint64_t *state, int64_t lo, int64_t hi) {
  if (hi - lo < 4) return random_between(state, lo, hi);
  int octaves = 0;
  while ((int64_t)1 << (octaves + 1) <= hi) octaves++;
  int64_t first = (int64_t)1 << random_between(state, 0, octaves);
  int64_t value = random_between(state, first, 2 * first - 1);
  if (random_between(state, 0, 1)) value = power_at_most(value);
  if (lo == 0 && random_between(state, 0, 2) == 0) value = 0;
  return value < lo ? lo : value > hi ? hi : value;
}

static int64_t draw_knob(uint64_t *state, KnobId id, int64_t hi) {
  const Knob *knob = &knob_table[id];
  int64_t value = draw_number(state, knob->lo, hi < knob->hi || knob->hi == 0 ? hi : knob->hi);
  return knob->type == KNOB_TYPE_POWER && value > 0 ? power_at_most(value) : value;
}

void random_draw_all(uint64_t *state, const RandomKnob *drawn, int n, Schedule *schedule) {
  for (int i = 0; i < n; i++)
    schedule->value[drawn[i].knob] = draw_knob(state, drawn[i].knob, drawn[i].hi);
}

static void draw_layouts(uint64_t *state, Schedule *schedule) {
  const int n = sizeof layouts / sizeof *layouts;
  for (int side = 0; side < 2; side++) {
    bool wanted = random_between(state, 1, LAYOUT_ONE_IN) == 1;
    const char *text = layouts[random_between(state, 0, n - 1)];
    if (wanted && schedule->value[KNOB_PAD_SMEM] == 0 && schedule->value[KNOB_SWIZZLE] == 0)
      strcpy(schedule->layout[side], text);
  }
}

// The article's pad instead of the other layouts of an fma kernel, now and then.
static void draw_pad_cells(uint64_t *state, Schedule *schedule) {
  int64_t *v = schedule->value;
  bool other = v[KNOB_PAD_SMEM] || schedule->layout[0][0] || schedule->layout[1][0];
  if (!other && v[KNOB_ATOM_KIND] == 0) v[KNOB_PAD_CELLS] = random_between(state, 0, 4);
}

// One operand alone, now and then: by cp.async, or padded.
static void draw_operands(uint64_t *state, Schedule *schedule) {
  const KnobId knobs[] = {KNOB_ASYNC_OPERANDS, KNOB_PAD_OPERANDS};
  for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++)
    if (random_between(state, 0, 2) == 0)
      schedule->value[knobs[i]] = random_between(state, 0, 1) ? STAGE_A : STAGE_B;
}

// ---- atoms --------------------------------------------------------------------------------------

// The values of ATOM_KIND that the target can carry out; for Hopper's family only the atoms of
// warpgroups. Returns their number.
static int find_atoms(const Target *target, RandomFamily family, int64_t kind[RANDOM_ATOMS_MAX]) {
  int n = 0;
  for (int64_t value = 1; value <= knob_table[KNOB_ATOM_KIND].hi; value++) {
    const Atom *atom = atom_find_knob(knob_enum_text(KNOB_ATOM_KIND, value));
    if (!atom || !atom_on(atom, target->cc)) continue;
    if (atom_is_of_thread(atom) != (family == RANDOM_BLACKWELL)) continue;
    if (family == RANDOM_SCALED && !atom_scales(atom)) continue;
    const bool of_attention = strcmp(atom->acc, "f32") == 0 && !atom_scales(atom) &&
                              (!atom_reads_tiles(atom) || atom->bits == 16);
    if (family == RANDOM_ATTENTION ? of_attention
                                   : family != RANDOM_HOPPER || atom_is_of_warpgroup(atom))
      kind[n++] = value;
  }
  assert(n <= RANDOM_ATOMS_MAX);
  return n;
}

bool random_family_on(RandomFamily family, const Target *target) {
  int64_t kind[RANDOM_ATOMS_MAX];
  const bool of_atoms = family != RANDOM_ANY && family != RANDOM_ATTENTION;
  return !of_atoms || find_atoms(target, family, kind) > 0;
}

// Half of the staged epilogues of a target that can leave by TMA, in pieces that fit more often
// than not, and half of those with C of 16 bits are filled by stmatrix.
static void draw_epilogue(uint64_t *state, const Target *target, Schedule *schedule) {
  int64_t *v = schedule->value;
  const Atom *atom = schedule_atom_row(schedule);
  if (!v[KNOB_EPILOGUE] || !target->has_tma) return;
  v[KNOB_TMA_STORE] = random_between(state, 0, 1);
  v[KNOB_STMATRIX] = atom->bits == 16 ? random_between(state, 0, 1) : 0;
  v[KNOB_EPI_BUFFERS] = random_between(state, 1, 2);
  if (random_between(state, 0, 1)) v[KNOB_EPI_N] = 8 * random_between(state, 1, v[KNOB_FN]);
}

bool random_is_of_warpgroups(const Schedule *schedule) {
  const Atom *atom = schedule_atom_row(schedule);
  return atom && atom_is_of_warpgroup(atom);
}

// Tells what wgmma leaves of the draw: slabs of both operands in whole panels, no knobs of
// fragments, one to three warpgroups, mostly a narrow atom, so that there are several and the
// interpreter is quick. Types of other than 16 bits run along K.
static void draw_group(uint64_t *state, const Atom *atom, Schedule *schedule) {
  int64_t *v = schedule->value;
  enum { NARROW = 64, WIDE = 256, STEP = 8, WIDE_ONE_IN = 8 };
  int64_t most = random_between(state, 1, WIDE_ONE_IN) == 1 ? WIDE : NARROW;
  v[KNOB_ATOM_N] = STEP * random_between(state, 1, most / STEP);
  if (!atom_has_n(atom, (int)v[KNOB_ATOM_N])) v[KNOB_ATOM_N] += STEP;
  v[KNOB_WM] = random_between(state, 1, 2);
  v[KNOB_WN] = v[KNOB_WM] == 1 ? random_between(state, 1, 3) : 1;
  v[KNOB_FM] = random_between(state, 1, 2);
  v[KNOB_FN] = random_between(state, 1, 3);
  v[KNOB_STAGE] = STAGE_A | STAGE_B;
  v[KNOB_FRAG_BUFFER] = 1;
  v[KNOB_FRAG_ORDER] = v[KNOB_COPY_STEPS] = v[KNOB_INTERLEAVE_LOADS] = v[KNOB_SERPENTINE] = 0;
  v[KNOB_PAD_SMEM] = v[KNOB_TRANSPOSE_B] = 0;
  v[KNOB_A_REGS] = random_between(state, 0, 3) == 0;
  if (v[KNOB_A_REGS] == 0) v[KNOB_LDMATRIX] = 0;
  if (atom->bits != 16 || v[KNOB_A_REGS]) v[KNOB_A_COL] = 0;
  if (atom->bits != 16) v[KNOB_B_COL] = 1;
  v[KNOB_MMA_GROUPS] = !v[KNOB_A_REGS] && random_between(state, 0, 1);
}

// Draws the knobs that go with an atom: its types, a pad in whole 16-byte chunks, no swizzle where
// there is a pad. ldmatrix, swizzles and staged epilogues need both operands staged and K in one
// piece.
static void draw_atom(uint64_t *state, const Target *target, const int64_t *kind, int n_kinds,
                      Schedule *schedule) {
  int64_t *v = schedule->value;
  v[KNOB_ATOM_KIND] = kind[random_between(state, 0, n_kinds - 1)];
  const Atom *atom = schedule_atom_row(schedule);
  DType type = DTYPE_F32;
  dtype_find(atom->type, &type);
  v[KNOB_DTYPE] = (int64_t)type;
  v[KNOB_ACC] = atom->f16_acc ? random_between(state, 0, 1) : 0;
  RANDOM_DRAW_ALL(state, atom_knobs, schedule);
  if (random_between(state, 0, 1)) v[KNOB_STAGE] = STAGE_A | STAGE_B;
  if (random_between(state, 0, 2)) v[KNOB_SPLITK] = 1;
  if (v[KNOB_STAGE] == 0) v[KNOB_LDMATRIX] = 0;
  if (v[KNOB_FRAG_BUFFER] == 2) v[KNOB_FRAG_ORDER] = 0;
  if (v[KNOB_FRAG_ORDER]) v[KNOB_COPY_STEPS] = 0;
  draw_epilogue(state, target, schedule);
  if (v[KNOB_SPLITK] > 1 && !v[KNOB_TMA_STORE]) v[KNOB_EPILOGUE] = v[KNOB_STMATRIX] = 0;
  if (atom->bits != 32) v[KNOB_TRANSPOSE_B] = 0;
  if (v[KNOB_SWIZZLE] == 0 && random_between(state, 0, 1)) v[KNOB_PAD_SMEM] = 128 / atom->bits;
  if (atom_is_of_warpgroup(atom)) draw_group(state, atom, schedule);
  if (atom_scales(atom)) v[KNOB_FRAG_ORDER] = 0;
  if (atom_scales(atom) && v[KNOB_STAGE]) v[KNOB_SCALE_WORDS] = random_between(state, 0, 1);
  if (atom->bits == 4) v[KNOB_A_COL] = 0, v[KNOB_B_COL] = 1;
}

// ---- TMA ----------------------------------------------------------------------------------------

// Draws what TMA's rules ask for, so that not nearly all of the draws are refused: plain slabs as
// the matrices lie, mostly with rows of a power of two of 16 bytes or more. Box sides, the
// alignment of rows and whole warps are left to the rules.
static void draw_tma(uint64_t *state, Schedule *schedule) {
  int64_t *v = schedule->value;
  v[KNOB_TMA] = 1;
  v[KNOB_PAD_SMEM] = v[KNOB_PAD_CELLS] = v[KNOB_TRANSPOSE_A] = v[KNOB_TRANSPOSE_B] = 0;
  schedule->layout[0][0] = schedule->layout[1][0] = 0;
  if (v[KNOB_ATOM_KIND] == 0) v[KNOB_SWIZZLE] = random_between(state, 0, 3);
  if (random_between(state, 0, 1)) {
    v[KNOB_BK] = power_at_most(v[KNOB_BK]);
    if (v[KNOB_ATOM_KIND] == 0 && v[KNOB_BK] < 4) v[KNOB_BK] = 4;
  }
}

// Whether warps have roles, and the ring that they need.
static void draw_roles(uint64_t *state, bool roles, Schedule *schedule) {
  int64_t *v = schedule->value;
  v[KNOB_WARP_SPECIALIZE] = roles;
  if ((v[KNOB_WARP_SPECIALIZE] || v[KNOB_PIPELINE_STAGES]) && v[KNOB_BUFFER_COUNT] < 2)
    v[KNOB_BUFFER_COUNT] = random_between(state, 2, 4);
  if (v[KNOB_WARP_SPECIALIZE]) v[KNOB_PRODUCER_WARPS] = random_between(state, 0, 4);
  if (v[KNOB_WARP_SPECIALIZE] && random_between(state, 0, 1))
    v[KNOB_PRODUCER_REGS] = 8 * random_between(state, 3, 8);
}

// ---- clusters -----------------------------------------------------------------------------------

// A cluster of two blocks or more; most clusters with slabs by TMA fetch them together. The rules
// handle shares that do not come out even.
static void draw_cluster(uint64_t *state, bool tma, Schedule *schedule) {
  int64_t *v = schedule->value;
  v[KNOB_CLUSTER_M] = (int64_t)1 << random_between(state, 0, 2);
  v[KNOB_CLUSTER_N] = (int64_t)1 << random_between(state, v[KNOB_CLUSTER_M] == 1, 2);
  if (v[KNOB_CLUSTER_M] * v[KNOB_CLUSTER_N] > CLUSTER_PORTABLE) v[KNOB_CLUSTER_N] = 1;
  v[KNOB_MULTICAST] = tma && random_between(state, 0, 3) > 0;
}

// Half of the schedules with slabs by TMA have clusters, a few of the others. Drawn from a copy of
// the state: all other draws stay the same as without these knobs.
static void draw_clusters(uint64_t state, bool tma, Schedule *schedule) {
  enum { CLUSTER_ONE_IN = 8, WITH_TMA_ONE_IN = 2 };
  if (random_between(&state, 1, tma ? WITH_TMA_ONE_IN : CLUSTER_ONE_IN) == 1)
    draw_cluster(&state, tma, schedule);
}

// ---- persistent blocks --------------------------------------------------------------------------

// Blocks with several tiles in this order: in which direction they walk K, and where consumers can
// have slabs of C of their own, whether these take tiles by turns.
static void draw_tiles(uint64_t *state, int64_t order, Schedule *schedule) {
  int64_t *v = schedule->value;
  v[KNOB_PERSISTENT] = 1;
  v[KNOB_TILE_ORDER] = order;
  v[KNOB_SERPENTINE_K] = v[KNOB_STAGE] && random_between(state, 0, 1);
  if (v[KNOB_WARP_SPECIALIZE] && v[KNOB_SPLITK] == 1 && !v[KNOB_UNROLL_RING])
    v[KNOB_TAIL_SPLIT] = random_between(state, 1, 4);
  bool own_slabs_of_c = !v[KNOB_EPILOGUE] || v[KNOB_TMA_STORE];
  if (v[KNOB_WARP_SPECIALIZE] && random_is_of_warpgroups(schedule) && own_slabs_of_c)
    v[KNOB_ROLE_SCHEDULE] = random_between(state, ROLES_COOPERATIVE, ROLES_PINGPONG);
}

int64_t random_draw_order(uint64_t *state) {
  return random_between(state, ORDER_GROUP, ORDER_HILBERT);
}

// Half of the schedules. From a copy of the state: whatever else is drawn stays as it was without
// these knobs.
static void draw_persistent(uint64_t state, Schedule *schedule) {
  if (!random_between(&state, 0, 1)) return;
  int64_t order = random_draw_order(&state);
  bool lists = schedule->value[KNOB_WARP_SPECIALIZE] && random_between(&state, 0, 1);
  draw_tiles(&state, lists ? tile_order_met(order) : order, schedule);
}

// ---- Hopper -------------------------------------------------------------------------------------

static RandomHopper draw_hopper(uint64_t *state) {
  RandomHopper has = {
      .roles = random_between(state, 0, 3) > 0,
      .cluster = random_between(state, 0, 2) > 0,
      .persistent = random_between(state, 0, 2) > 0,
      .store = random_between(state, 0, 1),
      .splits = random_between(state, 0, 9) == 0,
  };
  has.lists = has.roles && has.persistent && random_between(state, 0, 1);
  return has;
}

static void draw_store(uint64_t *state, const Target *target, Schedule *schedule) {
  schedule->value[KNOB_EPILOGUE] = 1;
  draw_epilogue(state, target, schedule);
  schedule->value[KNOB_TMA_STORE] = 1;
}

static void draw_on_hopper(uint64_t *state, const Target *target, const RandomHopper *has,
                           Schedule *schedule) {
  draw_tma(state, schedule);
  draw_roles(state, has->roles, schedule);
  if (has->splits) schedule->value[KNOB_SPLITK] = random_between(state, 2, 4);
  if (has->store) draw_store(state, target, schedule);
  if (has->cluster) draw_cluster(state, true, schedule);
  if (has->lists && has->cluster) schedule->value[KNOB_MULTICAST] = 1;
  if (has->persistent)
    draw_tiles(state, has->lists ? tile_order_met(ORDER_GROUP) : random_draw_order(state),
               schedule);
}

// ---- the problem --------------------------------------------------------------------------------

// About `tiles` tiles, a few elements less three times out of four.
static int64_t draw_extent(uint64_t *state, int64_t tile, int64_t max) {
  int64_t extent = tile * random_between(state, 1, 3);
  if (random_between(state, 0, 3)) extent -= random_between(state, 0, tile - 1);
  if (random_between(state, 0, 1) && extent > 4) extent -= extent % 4;
  return extent < max ? extent : max;
}

// One problem in four has extents that the rules ought to refuse.
static void draw_problem(uint64_t *state, int64_t max, Schedule *schedule) {
  bool rough = random_between(state, 0, 3) == 0;
  for (KnobId axis = KNOB_M; axis <= KNOB_K; axis++) {
    int64_t grain = rough ? 1 : schedule_grain(schedule, axis);
    int64_t extent = draw_extent(state, schedule_tile(schedule, axis), max) / grain * grain;
    schedule->value[axis] = extent < grain ? grain : extent;
  }
}

static bool is_legal(Arena *scratch, const TargetTable *targets, const Target *target,
                     const Schedule *schedule) {
  return rules_allow(scratch, schedule, target) && model_build(scratch, targets, schedule)->ok;
}

static void mark_given(Schedule *schedule, const Schedule *defaults) {
  const Schedule drawn = *schedule;  // what is set makes others follow, until they are set too
  if (strcmp(schedule->target, schedule_default().target) != 0)
    schedule_set(schedule, KNOB_TARGET, schedule->value[KNOB_TARGET]);
  for (int id = 0; id < KNOB_COUNT; id++)
    if (drawn.value[id] != defaults->value[id] || id <= KNOB_K)
      schedule_set(schedule, (KnobId)id, drawn.value[id]);
  static const KnobId sides[] = {KNOB_LAYOUT_A, KNOB_LAYOUT_B};
  for (int side = 0; side < 2; side++)
    if (schedule->layout[side][0]) schedule_set(schedule, sides[side], 0);
}

// ---- what stays -------------------------------------------------------------------------------

static RandomDraw begin_draw(uint64_t *state, const Target *target, RandomFamily family) {
  RandomDraw draw = {.target = target, .family = family};
  draw.n_kinds = find_atoms(target, family, draw.kind);
  if (family == RANDOM_BLACKWELL) return draw;
  if (family == RANDOM_HOPPER) {
    draw.tensor = draw.tma = true;
    draw.hopper = draw_hopper(state);
    return draw;
  }
  draw.tensor = family == RANDOM_SCALED || (draw.n_kinds > 0 && random_between(state, 0, 1));
  draw.tma = target->has_tma && random_between(state, 1, TMA_ONE_IN) == 1;
  return draw;
}

static void draw_means(uint64_t *state, const RandomDraw *draw, Schedule *schedule) {
  if (draw->family == RANDOM_HOPPER) {
    draw_on_hopper(state, draw->target, &draw->hopper, schedule);
    return;
  }
  if (draw->tma) {
    draw_tma(state, schedule);
    draw_roles(state, random_between(state, 0, 1), schedule);
  }
  if (draw->target->has_clusters) draw_clusters(*state, draw->tma, schedule);
  draw_persistent(*state, schedule);
}

// ---- a schedule ---------------------------------------------------------------------------------

// False where slabs are to come by TMA and there are none, or the problem is over the limit.
static bool draw_schedule(uint64_t *state, const RandomDraw *draw, const RandomLimits *limits,
                          Schedule *schedule) {
  if (draw->family == RANDOM_ATTENTION) {
    random_draw_attention(state, draw, schedule);
    return schedule_fma(schedule) <= (double)limits->fma_max;
  }
  if (draw->family == RANDOM_BLACKWELL) {
    random_draw_tensor(state, draw, schedule);
    draw_problem(state, limits->extent_max, schedule);
    return schedule_fma(schedule) <= (double)limits->fma_max;
  }
  RANDOM_DRAW_ALL(state, common_knobs, schedule);
  if (draw->tensor)
    draw_atom(state, draw->target, draw->kind, draw->n_kinds, schedule);
  else
    RANDOM_DRAW_ALL(state, fma_knobs, schedule);
  if (draw->tma && schedule->value[KNOB_STAGE] == 0) return false;
  if (schedule->value[KNOB_STAGE] && !random_is_of_warpgroups(schedule)) {
    draw_layouts(state, schedule);
    draw_pad_cells(state, schedule);
    draw_operands(state, schedule);
  }
  draw_means(state, draw, schedule);
  if (!schedule->value[KNOB_WARP_SPECIALIZE]) schedule->value[KNOB_MMA_GROUPS] = 0;
  draw_problem(state, limits->extent_max, schedule);
  return schedule_fma(schedule) <= (double)limits->fma_max;
}

// Half of the time every other row of cells is multiplied backwards. The draws that follow are the
// same.
static void draw_serpentine(uint64_t state, Schedule *schedule) {
  if (!schedule->value[KNOB_ATOM_KIND]) schedule->value[KNOB_SERPENTINE] = state >> 8 & 1;
}

// Half of the later kernels are launched early. The draws that follow are the same.
static void draw_launch(uint64_t state, const Target *target, Schedule *schedule) {
  schedule->value[KNOB_DEPENDENT_LAUNCH] =
      target->has_dependent_launch && schedule_has_kernels(schedule) && (state >> 12 & 1);
}

// Most of the time elect.sync picks the lane that issues. The draws that follow are the same.
static void draw_elect(uint64_t state, Schedule *schedule) {
  const bool issues = schedule->value[KNOB_TMA] || atom_is_of_thread(schedule_atom_row(schedule));
  if (issues) schedule->value[KNOB_ELECT] = random_between(&state, 0, 3) > 0;
}

// One staged product in eight with an atom for a type of parts becomes a split product of f32. One
// in four of the products that wait for their slabs is promoted. The draws that follow are the
// same.
static void draw_parts(uint64_t state, Schedule *schedule) {
  int64_t *v = schedule->value;
  const Atom *atom = schedule_atom_row(schedule);
  if (!atom || v[KNOB_STAGE] != (STAGE_A | STAGE_B) || v[KNOB_PROGRAM]) return;
  const SplitKind kind = (SplitKind)random_between(&state, SPLIT_NONE + 1, SPLIT_KINDS - 1);
  if (random_between(&state, 0, 7) == 0 && v[KNOB_DTYPE] == (int64_t)split_facts(kind)->type) {
    v[KNOB_SPLIT_F32] = (int64_t)kind;
    v[KNOB_DTYPE] = (int64_t)DTYPE_F32;
    v[KNOB_SPLITK] = v[KNOB_TAIL_SPLIT] = 1;
    v[KNOB_STMATRIX] = 0;
  }
  if (atom_is_of_warpgroup(atom) && !v[KNOB_MMA_GROUPS] && random_between(&state, 0, 3) == 0)
    v[KNOB_PROMOTE] = random_between(&state, 1, 3);
  const int64_t grain = schedule_grain(schedule, KNOB_K);
  if (v[KNOB_SPLIT_F32] || v[KNOB_PROMOTE]) v[KNOB_K] = ceil_div(v[KNOB_K], grain) * grain;
}

Schedule schedule_random(Arena *scratch, const TargetTable *targets, const char *name,
                         const RandomLimits *limits, uint64_t *state, int *draws) {
  Schedule defaults = schedule_plain();
  const Target *target = target_find(targets, name, NULL);
  assert(target && strlen(name) < sizeof defaults.target);
  assert(random_family_on(limits->family, target));
  strcpy(defaults.target, name);
  const RandomDraw draw = begin_draw(state, target, limits->family);
  for (int tries = 1; tries <= DRAWS_MAX; tries++) {
    Schedule schedule = defaults;
    if (!draw_schedule(state, &draw, limits, &schedule)) continue;
    draw_elect(*state, &schedule);
    draw_serpentine(*state, &schedule);
    draw_parts(*state, &schedule);
    draw_launch(*state, target, &schedule);
    if (!is_legal(scratch, targets, target, &schedule)) continue;
    mark_given(&schedule, &defaults);
    if (draws) *draws = tries;
    return schedule;
  }
  die("no legal schedule within %d draws for target %s", DRAWS_MAX, name);
}
