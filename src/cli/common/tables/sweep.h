// The schedules that a sweep times: every point of a product of knobs.
//
//   SweepAxes axes = {0};
//   if (!sweep_add_axis(&axes, "FM=4,8,16", &base, &diags)) …
//   SweepPoints points = sweep_points(arena, &axes, &base, &targets, limit);
#pragma once
#include "model/readings/model.h"

enum { SWEEP_AXES_MAX = 8, SWEEP_VALUES_MAX = 128, SWEEP_TRIALS_MAX = 200000 };

typedef struct SweepAxis {
  KnobId knob;
  int n;
  int64_t value[SWEEP_VALUES_MAX];
} SweepAxis;

typedef struct SweepAxes {
  int n;
  SweepAxis axis[SWEEP_AXES_MAX];
} SweepAxes;

// "NAME=v1,v2" or "NAME", which stands for every value worth visiting. False after findings.
bool sweep_add_axis(SweepAxes *axes, const char *text, const Schedule *base, Diags *diags);
// The points of the product, legal or not.
int64_t sweep_product(const SweepAxes *axes);

typedef struct SweepPoints {
  int n;
  Schedule *point;  // the legal ones, in the order of the product, the last knob fastest
  int n_illegal;
  Schedule illegal;    // the first of them,
  const char *reason;  // and why
} SweepPoints;
SweepPoints sweep_points(Arena *arena, const SweepAxes *axes, const Schedule *base,
                         const TargetTable *targets);
