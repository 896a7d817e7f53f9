// Products of knobs.
//
// The product is counted through like a mileage meter: FM=4,8 and PAD_SMEM=0,4 give (4,0) (4,4)
// (8,0) (8,4). What breaks a rule is passed over.
#include "cli/common/tables/sweep.h"

#include <string.h>

#include "base/str.h"
#include "model/readings/rules/rule.h"

// Whether there is a program for the schedule and an SM has room for one of its blocks.
static bool sweep_is_legal(const TargetTable *targets, const Schedule *schedule) {
  Arena *scratch = arena_new("sweep");
  Diags diags = diags_new(scratch);
  const Target *target = target_find(targets, schedule->target, &diags);
  bool legal = target && rules_allow(scratch, schedule, target);
  if (legal) {
    const Model *model = model_build(scratch, targets, schedule);
    legal = model->ok && model->resources.blocks_per_sm > 0;
  }
  arena_free(scratch);
  return legal;
}

// ---- products -----------------------------------------------------------------------------------

static KnobId find_knob(const char *name, Diags *diags) {
  const char *nearest = NULL;
  KnobId knob = knob_find(name, &nearest);
  if (knob == KNOB_NONE)
    diag_add(diags, "unknown_knob", "there is no knob \"%s\"%s", str_sanitise(diags->arena, name),
             nearest ? "" : "; gemmview knobs lists them")
        ->nearest = nearest;
  else if (knob_table[knob].type == KNOB_TYPE_TARGET)
    diag_add(diags, "usage", "%s cannot be swept: a run uses one GPU", knob_table[knob].name);
  else
    return knob;
  return KNOB_NONE;
}

static bool add_value(SweepAxis *axis, int64_t value, Diags *diags) {
  if (axis->n == SWEEP_VALUES_MAX) {
    diag_add(diags, "usage", "%s has more than %d values here; name those to visit",
             knob_table[axis->knob].name, (int)SWEEP_VALUES_MAX);
    return false;
  }
  axis->value[axis->n++] = value;
  return true;
}

// From the lowest value up, as the arrow keys would.
static bool add_all_values(SweepAxis *axis, const Schedule *base, Diags *diags) {
  Schedule at = *base;
  for (int64_t value; knob_step(&at, axis->knob, -1, &value);) at.value[axis->knob] = value;
  if (!add_value(axis, at.value[axis->knob], diags)) return false;
  for (int64_t value; knob_step(&at, axis->knob, +1, &value);) {
    at.value[axis->knob] = value;
    if (!add_value(axis, value, diags)) return false;
  }
  return true;
}

static bool add_values(SweepAxis *axis, const char *list, Diags *diags) {
  const char *name = knob_table[axis->knob].name;
  for (const char *at = list;;) {
    const size_t n = strcspn(at, ",");
    Schedule schedule = schedule_default();
    const char *value = arena_strndup(diags->arena, at, n);
    if (!schedule_parse(&schedule, arena_printf(diags->arena, "%s=%s", name, value), diags) ||
        !add_value(axis, schedule.value[axis->knob], diags))
      return false;
    if (!at[n]) return true;
    at += n + 1;
  }
}

bool sweep_add_axis(SweepAxes *axes, const char *text, const Schedule *base, Diags *diags) {
  const size_t n = strcspn(text, "=");
  const KnobId knob = find_knob(arena_strndup(diags->arena, text, n), diags);
  if (knob == KNOB_NONE) return false;
  if (axes->n == SWEEP_AXES_MAX) {
    diag_add(diags, "usage", "at most %d knobs are swept at once", (int)SWEEP_AXES_MAX);
    return false;
  }
  for (int i = 0; i < axes->n; i++)
    if (axes->axis[i].knob == knob) {
      diag_add(diags, "usage", "%s is swept twice; give all its values at once",
               knob_table[knob].name);
      return false;
    }
  SweepAxis *axis = &axes->axis[axes->n++];
  *axis = (SweepAxis){.knob = knob};
  return text[n] ? add_values(axis, text + n + 1, diags) : add_all_values(axis, base, diags);
}

int64_t sweep_product(const SweepAxes *axes) {
  int64_t product = 1;
  for (int i = 0; i < axes->n; i++) product *= axes->axis[i].n;
  return product;
}

static Schedule point_of(const SweepAxes *axes, const Schedule *base, int64_t number) {
  Schedule schedule = *base;
  int64_t slower = sweep_product(axes);
  for (int i = 0; i < axes->n; i++) {
    const SweepAxis *axis = &axes->axis[i];
    slower /= axis->n;
    schedule_set(&schedule, axis->knob, axis->value[number / slower % axis->n]);
  }
  return schedule;
}

static const char *reason_of(Arena *arena, const TargetTable *targets, const Schedule *schedule) {
  const Model *model = model_build(arena, targets, schedule);
  return model->ok ? "no block fits an SM" : model->diags.first->text;
}

SweepPoints sweep_points(Arena *arena, const SweepAxes *axes, const Schedule *base,
                         const TargetTable *targets) {
  const int64_t product = sweep_product(axes);
  SweepPoints points = {.point = ARENA_ARRAY(arena, Schedule, product)};
  for (int64_t i = 0; i < product; i++) {
    Schedule schedule = point_of(axes, base, i);
    if (sweep_is_legal(targets, &schedule))
      points.point[points.n++] = schedule;
    else if (points.n_illegal++ == 0)
      points.illegal = schedule;
  }
  if (points.n_illegal) points.reason = reason_of(arena, targets, &points.illegal);
  return points;
}
