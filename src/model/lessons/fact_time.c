// Facts of time: what a run without values says of one turn of the loop over K.
//
// Worked example, a ring of three with cp.async on an H200: a turn takes 1033 clocks, its
// multiplications 788 of the tensor cores, so these stand idle for 24 % of it.
#include <math.h>

#include "model/lessons/fact_compute.h"
#include "model/readings/time/timeline.h"
#include "model/schedules/sequential.h"

// False after a finding: the loop is too short for turns that are all alike.
static bool turn_of(const FactScene *scene, const Model *model, FactValue *value, Diags *diags) {
  const Timeline *timeline = timeline_run(scene->arena, model, NULL, &(TimelineOptions){0});
  value->number = timeline->turn_clocks;
  if (timeline->turn_clocks > 0) return true;
  diag_add(diags, "time", "the loop over K is so short that no turn stands for the others");
  return false;
}

bool fact_turn_clocks(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  (void)args;
  return turn_of(scene, scene->model, value, diags);
}

bool fact_idle_multipliers(const FactScene *scene, const FactArgs *args, FactValue *value,
                           Diags *diags) {
  (void)args;
  double busy = scene->model->traffic.fma_clocks;
  if (busy < 0)
    diag_add(diags, "time",
             "no source states the rate of this instruction on this "
             "GPU");
  if (busy < 0 || !turn_of(scene, scene->model, value, diags)) return false;
  value->number = 100 * fmax(0, 1 - busy / value->number);
  return true;
}

bool fact_sequential_turn(const FactScene *scene, const FactArgs *args, FactValue *value,
                          Diags *diags) {
  (void)args;
  Schedule alone = scene->model->schedule;
  const char *why;
  if (schedule_sequential(scene->arena, scene->world->targets, &alone, &why))
    return turn_of(scene, model_build(scene->arena, scene->world->targets, &alone), value, diags);
  diag_add(diags, "time", "%s", why);
  return false;
}
