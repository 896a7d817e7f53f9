// Neighbours of a schedule, one model build each (about half a millisecond).
//
// Worked example: BM=BN=16, FM=FN=8 without groups. CELL_GROUP up is 4 (0, 1, 2, 4 … are its values
// and knob_step names the next worth visiting); its trial says shared 20 -> 12 clocks, so
// advice_best names it. Knobs of the problem are left out: nobody is helped by a smaller M.
#include "tui/advice.h"

#include <string.h>

#include "base/str.h"

void advice_init(Advice *advice) { *advice = (Advice){.arena = arena_new("advice")}; }

void advice_free(Advice *advice) {
  arena_free(advice->arena);
  *advice = (Advice){0};
}

void advice_start(Advice *advice, const Schedule *schedule, KnobId first) {
  uint64_t key = schedule_key(schedule);
  advice->first = first;
  if (advice->key == key) return;
  advice->key = key;
  advice->schedule = *schedule;
  advice->n_done = 0;
  memset(advice->done, 0, sizeof advice->done);
}

static void make_trial(Advice *advice, int index, const TargetTable *targets) {
  Trial *trial = &advice->trial[index];
  Schedule schedule = advice->schedule;
  *trial = (Trial){.knob = (KnobId)(index / 2), .direction = index % 2 ? 1 : -1};
  bool problem = str_equal(knob_table[trial->knob].tier, "PROBLEM");
  trial->exists = !problem && knob_step(&schedule, trial->knob, trial->direction, &trial->value);
  if (!trial->exists) return;
  schedule_set(&schedule, trial->knob, trial->value);
  arena_reset(advice->arena);
  const Model *model = model_build(advice->arena, targets, &schedule);
  trial->legal = model->ok;
  if (!model->ok) {
    trial->rule = model->diags.first->rule;
    return;
  }
  trial->resources = model->resources;
  trial->traffic = model->traffic;
  trial->totals = side_total_sites(model);
}

static int next_trial(const Advice *advice) {
  for (int direction = 1; direction >= 0 && advice->first >= 0; direction--)
    if (!advice->done[2 * advice->first + direction]) return 2 * advice->first + direction;
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
  int index = 2 * (int)knob + (direction > 0);
  return advice->done[index] ? &advice->trial[index] : NULL;
}

// A switch is worth 5 % more than a size: turning FN to 7 may win a little by the model and loses
// every wide access and every whole tile on the way. Taking an operand out of shared memory is
// never advised: the model does not know what the L1 cache makes of it.
static double worth(const Trial *trial) {
  KnobType type = knob_table[trial->knob].type;
  if (type == KNOB_TYPE_STAGE && trial->direction < 0) return 0;
  return trial->traffic.roofline_tflops * (type == KNOB_TYPE_INT ? 0.95 : 1);
}

const Trial *advice_best(const Advice *advice, const Traffic *now) {
  if (advice->n_done < ADVICE_TRIALS) return NULL;
  const Trial *best = NULL;
  double most = now->roofline_tflops * 1.01;
  for (int i = 0; i < ADVICE_TRIALS; i++) {
    const Trial *trial = &advice->trial[i];
    if (!trial->exists || !trial->legal || !(worth(trial) > most)) continue;
    most = worth(trial);
    best = trial;
  }
  return best;
}
