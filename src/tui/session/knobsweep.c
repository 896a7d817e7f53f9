// The values are those that Left and Right visit, the present one among them.
//
// Worked example: SPLITK at 8 on 128 × 128 × 16384. From 8 the steps lead down to 4, 2, 1 and up to
// 16 … 1024; eleven points, of which those beyond K / BK break splits_fit and keep its sentence.
// Moving to the value under the cursor changes nothing but the swept knob, so the points stay.
#include "tui/session/knobsweep.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

void knobsweep_init(KnobSweep *sweep) {
  *sweep = (KnobSweep){.arena = arena_new("sweep"), .knob = KNOB_NONE};
}

void knobsweep_free(KnobSweep *sweep) {
  arena_free(sweep->arena);
  *sweep = (KnobSweep){.knob = KNOB_NONE};
}

static uint64_t key_without(const Schedule *schedule, KnobId knob) {
  Schedule same = *schedule;
  same.value[knob] = knob_table[knob].lo;
  return schedule_identity(&same);
}

static void add_value(KnobSweep *sweep, int64_t value) {
  if (sweep->n < KNOBSWEEP_POINTS_MAX) sweep->point[sweep->n++] = (SweepPoint){.value = value};
}

static void list_values(KnobSweep *sweep) {
  Schedule schedule = sweep->schedule;
  int64_t value = schedule.value[sweep->knob], down[KNOBSWEEP_POINTS_MAX];
  int n_down = 0;
  while (n_down < KNOBSWEEP_POINTS_MAX && knob_step(&schedule, sweep->knob, -1, &value))
    schedule.value[sweep->knob] = down[n_down++] = value;
  while (n_down > 0) add_value(sweep, down[--n_down]);
  schedule = sweep->schedule;
  add_value(sweep, schedule.value[sweep->knob]);
  while (knob_step(&schedule, sweep->knob, 1, &value) && sweep->n < KNOBSWEEP_POINTS_MAX)
    add_value(sweep, schedule.value[sweep->knob] = value);
}

int knobsweep_find(const KnobSweep *sweep, int64_t value) {
  for (int i = 0; i < sweep->n; i++)
    if (sweep->point[i].value == value) return i;
  return -1;
}

void knobsweep_start(KnobSweep *sweep, const Schedule *schedule, const Calibration *fits,
                     KnobId knob) {
  KnobType type = knob >= 0 ? knob_table[knob].type : KNOB_TYPE_TARGET;
  bool swept = type != KNOB_TYPE_TARGET && type != KNOB_TYPE_LAYOUT;
  uint64_t key = swept ? key_without(schedule, knob) : 0;
  bool same = swept && sweep->knob == knob && sweep->key == key && sweep->fits == fits;
  sweep->schedule = *schedule;
  if (same && knobsweep_find(sweep, schedule->value[knob]) >= 0) return;
  sweep->knob = swept ? knob : KNOB_NONE;
  sweep->key = key;
  sweep->fits = fits;
  sweep->n = sweep->n_done = 0;
  if (swept) list_values(sweep);
}

Schedule knobsweep_schedule(const KnobSweep *sweep, int point) {
  Schedule schedule = sweep->schedule;
  schedule_set(&schedule, sweep->knob, sweep->point[point].value);
  return schedule;
}

bool knobsweep_step(KnobSweep *sweep, const TargetTable *targets) {
  if (sweep->n_done >= sweep->n) return false;
  SweepPoint *point = &sweep->point[sweep->n_done];
  Schedule schedule = knobsweep_schedule(sweep, sweep->n_done);
  arena_reset(sweep->arena);
  const Model *model = model_build(sweep->arena, targets, &schedule);
  point->done = true;
  point->legal = model->ok;
  if (model->ok) {
    point->resources = model->resources;
    point->traffic = model->traffic;
    point->key = schedule_identity(&schedule);
    point->stand_in = estimate_of(sweep->fits, model);
  } else {
    snprintf(point->reason, sizeof point->reason, "%s", model->diags.first->text);
  }
  return ++sweep->n_done < sweep->n;
}
