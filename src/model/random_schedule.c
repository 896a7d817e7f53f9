// Drawing schedules that cover the corners: sizes that do not divide, odd tiles, deep rings.
//
// Each knob of the table below is drawn on its own; the rules then decide, and what breaks one is
// drawn again. Numbers are drawn by octave (1, 2-3, 4-7, …), because a tile of 3 and a tile of 5
// are as interesting as all from 32 to 64 together, and half of them are rounded to a power of two,
// because wide accesses and patches of lanes only happen there. The problem comes last and fits the
// tile: 1 to 3 tiles each way, with an edge more often than not. Worked example:
//   BM=4 BN=8 FM=2 FN=4 BK=8  → tile 8 × 32 → M = 13 (2 tiles, the second cut), N = 64, K = 27
#include "model/random_schedule.h"

#include <assert.h>
#include <string.h>

#include "base/die.h"
#include "base/random.h"
#include "model/derive.h"
#include "model/rule.h"

// The knobs that are drawn, up to where. The others keep their defaults: they name what the rules
// call not built, or follow from the problem.
static const struct {
  KnobId knob;
  int64_t hi;
} drawn[] = {
    {KNOB_BM, 32},
    {KNOB_BN, 32},
    {KNOB_FM, 16},
    {KNOB_FN, 16},
    {KNOB_CELL_GROUP, 8},
    {KNOB_LANES_M, 32},
    {KNOB_LANE_ORDER, 1},
    {KNOB_BK, 32},
    {KNOB_STAGE, 3},
    {KNOB_TRANSPOSE_A, 1},
    {KNOB_VECTORIZE, 1},
    {KNOB_PAD_SMEM, 8},
    {KNOB_BUFFER_COUNT, 4},
    {KNOB_PIPELINE_STAGES, 1},
    {KNOB_ASYNC_COPY, 1},
    {KNOB_FRAG_BUFFER, 2},
    {KNOB_INTERLEAVE_LOADS, 1},
    {KNOB_UNROLL_K, 16},
    {KNOB_GROUP_M, 4},
    {KNOB_SPLITK, 6},
    {KNOB_ATOMIC_FREE_SPLITK, 1},
    {KNOB_ALPHA, 1},
};
enum { N_DRAWN = sizeof drawn / sizeof drawn[0], DRAWS_MAX = 100000 };

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

// About `tiles` tiles, a few elements less three times out of four.
static int64_t draw_extent(uint64_t *state, int64_t tile, int64_t max) {
  int64_t extent = tile * random_between(state, 1, 3);
  if (random_between(state, 0, 3)) extent -= random_between(state, 0, tile - 1);
  if (random_between(state, 0, 1) && extent > 4) extent -= extent % 4;
  return extent < max ? extent : max;
}

static int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

static void draw(uint64_t *state, const RandomLimits *limits, Schedule *schedule) {
  for (int i = 0; i < N_DRAWN; i++)
    schedule->value[drawn[i].knob] = draw_knob(state, drawn[i].knob, drawn[i].hi);
  const int64_t *v = schedule->value;
  int64_t depth = v[KNOB_BK] * v[KNOB_SPLITK];
  schedule->value[KNOB_M] = draw_extent(state, v[KNOB_BM] * v[KNOB_FM], limits->extent_max);
  schedule->value[KNOB_N] = draw_extent(state, v[KNOB_BN] * v[KNOB_FN], limits->extent_max);
  schedule->value[KNOB_K] = draw_extent(state, depth, limits->extent_max);
}

// Cells outside C are computed too, and threads of a last partial warp idle along.
static int64_t count_fma(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  return round_up(v[KNOB_M], v[KNOB_BM] * v[KNOB_FM]) *
         round_up(v[KNOB_N], v[KNOB_BN] * v[KNOB_FN]) *
         round_up(v[KNOB_K], v[KNOB_BK] * v[KNOB_SPLITK]);
}

static bool is_legal(Arena *scratch, const TargetTable *targets, const Schedule *schedule) {
  const Target *target = target_find(targets, schedule->target, NULL);
  assert(target);
  Diags diags = diags_new(scratch);
  rules_check_knobs(schedule, target, &diags);
  return diags.count == 0 && model_build(scratch, targets, schedule)->ok;
}

static void mark_given(Schedule *schedule, const Schedule *defaults) {
  if (strcmp(schedule->target, schedule_default().target) != 0)
    schedule_set(schedule, KNOB_TARGET, schedule->value[KNOB_TARGET]);
  for (int id = 0; id < KNOB_COUNT; id++)
    if (schedule->value[id] != defaults->value[id] || id <= KNOB_K)
      schedule_set(schedule, (KnobId)id, schedule->value[id]);
}

Schedule schedule_random(Arena *scratch, const TargetTable *targets, const char *target,
                         const RandomLimits *limits, uint64_t *state, int *draws) {
  Schedule defaults = schedule_default();
  assert(strlen(target) < sizeof defaults.target);
  strcpy(defaults.target, target);
  for (int tries = 1; tries <= DRAWS_MAX; tries++) {
    Schedule schedule = defaults;
    draw(state, limits, &schedule);
    if (count_fma(&schedule) > limits->fma_max || !is_legal(scratch, targets, &schedule)) continue;
    mark_given(&schedule, &defaults);
    if (draws) *draws = tries;
    return schedule;
  }
  die("no legal schedule within %d draws for target %s", DRAWS_MAX, target);
}
