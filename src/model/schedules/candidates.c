// A walk in the space of knobs that mends what it breaks.
//
// A move gives a knob another of the values worth visiting. Where a rule fails then, the rule
// itself says what would hold (rule_nearest), and that is set too, up to MENDS times; a mend that
// would touch the problem or a knob that was fixed takes the move back. Nothing here knows a knob
// by name: from the default schedule of bf16 a walk of a dozen moves comes by wgmma, TMA and roles
// because the rules of one lead to the other.
//
//   WARP_SPECIALIZE=1 on a state without slabs   → auto stages both by TMA, in a ring of two
//   MULTICAST=1 without a cluster                → the rule's nearest: CLUSTER_M=2
//   BM=64 beside BN=32                           → 2048 threads; nearest: BN=16
#include "model/schedules/candidates.h"

#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "model/readings/rules/knob_use.h"
#include "model/readings/rules/rule.h"

enum {
  VALUES_MAX = 48,
  MENDS = 4,
  MENDS_OF_OTHERS = 12,
  CHANGES_MAX = 3,
  MOVES_MIN = 3,
  MOVES_MAX = 14
};

typedef struct Values {
  int n;
  int64_t value[VALUES_MAX];
} Values;

struct SearchSpace {
  const TargetTable *targets;
  const Target *target;
  Schedule base;
  bool kept[KNOB_COUNT];  // the problem's knobs, and those that the base names
  int n_moved;
  KnobId moved[KNOB_COUNT];
  Values values[KNOB_COUNT];  // worth visiting, of those
};

static Values values_of(const Schedule *base, KnobId knob) {
  Values values = {0};
  Schedule at = *base;
  at.value[knob] = knob_table[knob].lo;
  values.value[values.n++] = at.value[knob];
  for (int64_t value; values.n < VALUES_MAX && knob_step(&at, knob, +1, &value);)
    values.value[values.n++] = at.value[knob] = value;
  return values;
}

SearchSpace *search_space(Arena *arena, const TargetTable *targets, const Schedule *base) {
  SearchSpace *space = ARENA_NEW(arena, SearchSpace);
  space->targets = targets;
  space->target = target_find(targets, base->target, NULL);
  space->base = *base;
  for (int i = 0; i < KNOB_COUNT; i++) {
    const KnobId knob = (KnobId)i;
    space->kept[i] = knob_is_problem(knob) || schedule_is_given(base, knob);
    if (space->kept[i]) continue;
    space->values[knob] = values_of(base, knob);
    if (space->values[knob].n > 1) space->moved[space->n_moved++] = knob;
  }
  return space;
}

// Sets what the rules say until none fails.
static bool mend(const SearchSpace *space, Schedule *schedule, int mends) {
  Arena *scratch = arena_new("mend");
  bool legal = rules_allow(scratch, schedule, space->target);
  for (int i = 0; i < mends && !legal; i++) {
    Diags diags = diags_new(scratch);
    const char *nearest = rules_first_nearest(scratch, schedule, space->target, space->kept);
    if (!nearest || !schedule_parse(schedule, nearest, &diags)) break;
    legal = rules_allow(scratch, schedule, space->target);
  }
  arena_free(scratch);
  return legal;
}

static int64_t draw_value(const SearchSpace *space, uint64_t *random, const Schedule *from,
                          KnobId knob) {
  const Values *values = &space->values[knob];
  int64_t value = from->value[knob];
  if (random_between(random, 0, 1) &&
      knob_step(from, knob, random_between(random, 0, 1) ? 1 : -1, &value))
    return value;
  return values->value[random_between(random, 0, values->n - 1)];
}

// Whether the schedule has moved.
static bool set(const SearchSpace *space, KnobId knob, int64_t value, Schedule *schedule) {
  Schedule trial = *schedule;
  schedule_set(&trial, knob, value);
  if (schedule_same(&trial, schedule) || !mend(space, &trial, MENDS) ||
      schedule_same(&trial, schedule))
    return false;
  *schedule = trial;
  return true;
}

static bool move(const SearchSpace *space, uint64_t *random, Schedule *schedule) {
  const KnobId knob = space->moved[random_between(random, 0, space->n_moved - 1)];
  return knob_is_used(knob, schedule) &&
         set(space, knob, draw_value(space, random, schedule, knob), schedule);
}

// Values with names are different ways of working, which decide what the numbers are about: each is
// as likely as the others.
static void draw_names(const SearchSpace *space, uint64_t *random, Schedule *schedule) {
  for (int i = 0; i < space->n_moved; i++) {
    const KnobId knob = space->moved[i];
    const Values *values = &space->values[knob];
    if (knob_enum_text(knob, values->value[0]))
      set(space, knob, values->value[random_between(random, 0, values->n - 1)], schedule);
  }
}

bool candidate_draw(const SearchSpace *space, uint64_t *random, Schedule *out) {
  *out = space->base;
  if (!space->n_moved || !mend(space, out, MENDS_OF_OTHERS)) return false;
  draw_names(space, random, out);
  int64_t moves = random_between(random, MOVES_MIN, MOVES_MAX);
  for (int tries = 0; tries < 4 * MOVES_MAX && moves > 0; tries++)
    moves -= move(space, random, out);
  return true;
}

bool candidate_change(const SearchSpace *space, uint64_t *random, const Schedule *from,
                      Schedule *out) {
  *out = *from;
  if (!space->n_moved) return false;
  int64_t moves = random_between(random, 1, CHANGES_MAX);
  for (int tries = 0; tries < 8 && moves > 0; tries++) moves -= move(space, random, out);
  return !schedule_same(out, from);
}

// All at once, for one knob of a pair may be illegal without the other.
bool candidate_cross(const SearchSpace *space, uint64_t *random, const Schedule *a,
                     const Schedule *b, Schedule *out) {
  *out = *a;
  for (int i = 0; i < space->n_moved; i++) {
    const KnobId knob = space->moved[i];
    if (schedule_differs(a, b, knob) && random_between(random, 0, 1))
      schedule_set(out, knob, b->value[knob]);
  }
  return mend(space, out, MENDS) && !schedule_same(out, a) && !schedule_same(out, b);
}

// A typed layout is of its slab's extents; it stays behind with them.
bool candidate_transfer(const SearchSpace *space, const Schedule *from, Schedule *out) {
  *out = space->base;
  for (int i = 0; i < space->n_moved; i++)
    if (space->base.value[space->moved[i]] != from->value[space->moved[i]])
      schedule_set(out, space->moved[i], from->value[space->moved[i]]);
  for (int i = 0; i < space->n_moved; i++)
    if (out->value[space->moved[i]] != from->value[space->moved[i]])
      schedule_set(out, space->moved[i], from->value[space->moved[i]]);
  return mend(space, out, MENDS_OF_OTHERS);
}

const Model *candidate_model(Arena *arena, const TargetTable *targets, const Schedule *schedule,
                             uint64_t *program) {
  const Target *target = target_find(targets, schedule->target, NULL);
  if (!target || !rules_allow(arena, schedule, target)) return NULL;
  const Model *model = model_build(arena, targets, schedule);
  if (!model->ok || model->resources.blocks_per_sm == 0) return NULL;
  if (program) *program = hash_text(HASH_START, program_text(arena, model->program));
  return model;
}
