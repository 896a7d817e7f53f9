// Neighbours of a schedule, one model build each (about half a millisecond).
//
// Worked example: BM=BN=16, FM=FN=8 without groups. One step up CELL_GROUP is 1, which helps
// nothing; of the powers further up 4 has the highest estimate, so that one is kept. Knobs of the
// problem are left out: a smaller M helps no user.
#include "tui/session/knob_trials.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "model/readings/rules/knob_use.h"

void advice_init(Advice *advice) { *advice = (Advice){.arena = arena_new("advice")}; }

void advice_free(Advice *advice) {
  arena_free(advice->arena);
  *advice = (Advice){0};
}

void advice_start(Advice *advice, const Schedule *schedule, const Calibration *fits, KnobId first) {
  uint64_t key = schedule_identity(schedule);
  advice->first = first;
  if (advice->key == key && advice->fits == fits && schedule_says_same(&advice->schedule, schedule))
    return;
  advice->fits = fits;
  advice->key = key;
  advice->schedule = *schedule;
  advice->n_done = 0;
  memset(advice->done, 0, sizeof advice->done);
}

static uint64_t name_of_site(const Site *site) {
  return hash_text(hash_bytes(HASH_START, site->text, strcspn(site->text, " ")), site->op->name);
}

static void keep_sites(Trial *trial, const Model *model) {
  trial->n_sites = model->n_sites < TRIAL_SITES ? model->n_sites : TRIAL_SITES;
  for (int i = 0; i < trial->n_sites; i++) {
    const Site *site = &model->site[i];
    trial->site[i].name = name_of_site(site);
    trial->site[i].wavefronts = site->count.known ? site->count.wavefronts : -1;
  }
}

int trial_wavefronts(const Trial *trial, const Site *site) {
  const uint64_t name = name_of_site(site);
  for (int i = trial->n_sites - 1; i >= 0; i--)
    if (trial->site[i].name == name) return trial->site[i].wavefronts;
  return -1;
}

static void judge(Advice *advice, Trial *trial, const Schedule *schedule,
                  const TargetTable *targets) {
  arena_reset(advice->arena);
  trial->n_sites = 0;
  const Model *model = model_build(advice->arena, targets, schedule);
  trial->legal = model->ok;
  trial->value = schedule->value[trial->knob];
  if (!model->ok) {
    trial->rule = model->diags.first->rule;
    snprintf(trial->why, sizeof trial->why, "%s", model->diags.first->text);
    return;
  }
  trial->resources = model->resources;
  trial->traffic = model->traffic;
  trial->key = schedule_identity(schedule);
  keep_sites(trial, model);
  trial->stand_in = estimate_of(advice->fits, model);
}

// A few positions, each a thing of its own: LDMATRIX 0, 1, 2.
static bool is_switch(const Knob *knob) {
  enum { POSITIONS_MAX = 4 };
  return knob->type == KNOB_TYPE_FLAG ||
         (knob->type == KNOB_TYPE_INT && knob->hi - knob->lo < POSITIONS_MAX);
}

// The powers of two beyond the next one: CELL_GROUP 4 when it is 0 and one step would be 1; of a
// switch the positions beyond: SWIZZLE 3.
static void make_far_trial(Advice *advice, Trial *best, const TargetTable *targets) {
  Schedule schedule = advice->schedule;
  int64_t value;
  for (int step = 0; knob_step(&schedule, best->knob, 1, &value); step++) {
    schedule_set(&schedule, best->knob, value);
    if (step == 0) continue;
    Trial trial = {.knob = best->knob, .direction = 2, .exists = true};
    judge(advice, &trial, &schedule, targets);
    // Between equals the larger value wins: groups of 4 keep their 16-byte accesses, groups of 2 do
    // not.
    bool better = trial.stand_in.tflops >= best->stand_in.tflops;
    if (trial.legal && (!best->exists || better)) *best = trial;
  }
}

static void make_trial(Advice *advice, int index, const TargetTable *targets) {
  static const int directions[ADVICE_PER_KNOB] = {-1, 1, 2};
  Trial *trial = &advice->trial[index];
  Schedule schedule = advice->schedule;
  *trial = (Trial){.knob = (KnobId)(index / ADVICE_PER_KNOB),
                   .direction = directions[index % ADVICE_PER_KNOB]};
  const Knob *knob = &knob_table[trial->knob];
  if (knob_is_problem(trial->knob) || !knob_is_used(trial->knob, &schedule)) return;
  if (trial->direction == 2) {
    if (knob->type == KNOB_TYPE_POWER || is_switch(knob)) make_far_trial(advice, trial, targets);
    return;
  }
  trial->exists = knob_step(&schedule, trial->knob, trial->direction, &trial->value);
  if (!trial->exists) return;
  schedule_set(&schedule, trial->knob, trial->value);
  judge(advice, trial, &schedule, targets);
}

static int next_trial(const Advice *advice) {
  for (int i = 0; i < ADVICE_PER_KNOB && advice->first >= 0; i++)
    if (!advice->done[ADVICE_PER_KNOB * advice->first + i])
      return ADVICE_PER_KNOB * advice->first + i;
  for (int i = 0; i < ADVICE_TRIALS; i++)
    if (!advice->done[i]) return i;
  return -1;
}

bool advice_step(Advice *advice, const TargetTable *targets) {
  int index = next_trial(advice);
  if (index < 0) return false;
  make_trial(advice, index, targets);
  advice->done[index] = true;
  advice->n_done++;
  return advice->n_done < ADVICE_TRIALS;
}

const Trial *advice_find(const Advice *advice, KnobId knob, int direction) {
  if (knob < 0) return NULL;
  int index = ADVICE_PER_KNOB * (int)knob + (direction > 0);
  return advice->done[index] ? &advice->trial[index] : NULL;
}

bool advice_done(const Advice *advice) { return advice->n_done == ADVICE_TRIALS; }

// A switch is worth 10 % more than a size: turning FN to 7 may win a little by the model and loses
// every wide access and every whole tile on the way. Taking an operand out of shared memory is
// never advised: the model does not know what the L1 cache makes of it.
double advice_weight(const Trial *trial) {
  KnobType type = knob_table[trial->knob].type;
  if (type == KNOB_TYPE_STAGE && trial->direction < 0) return 0;
  bool size = type == KNOB_TYPE_INT && !is_switch(&knob_table[trial->knob]);
  return size ? 0.9 : 1;
}
