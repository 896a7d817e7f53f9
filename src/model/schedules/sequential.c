// A ring of one slab, filled and read in turn by the same warps.
#include "model/schedules/sequential.h"

#include "base/str.h"
#include "model/readings/model.h"

// Tells what makes copies run beside multiplications, and the values without it; what hangs on a
// knob stands before it.
static const struct {
  KnobId knob;
  int64_t without;
} overlaps[] = {
    {KNOB_ROLE_SCHEDULE, ROLES_COOPERATIVE},
    {KNOB_ACC_BUFFERS, 1},
    {KNOB_CTA_GROUP, 1},
    {KNOB_MMA_GROUPS, 0},
    {KNOB_PRODUCER_WARPS, 0},
    {KNOB_WARP_SPECIALIZE, 0},
    {KNOB_COPY_FROM, 0},
    {KNOB_COPY_STEPS, 0},
    {KNOB_PIPELINE_STAGES, 0},
    {KNOB_UNROLL_RING, 0},
    {KNOB_BUFFER_COUNT, 1},
};
enum { OVERLAPS = sizeof overlaps / sizeof *overlaps };

const char *schedule_sequential(Arena *arena, const TargetTable *targets, Schedule *schedule,
                                const char **why) {
  Schedule alone = *schedule;
  Str change = str_new(arena);
  for (int i = 0; i < OVERLAPS; i++) {
    KnobId knob = overlaps[i].knob;
    if (alone.value[knob] == overlaps[i].without) continue;
    schedule_set(&alone, knob, overlaps[i].without);
    str_printf(&change, "%s%s=%s", change.length ? "," : "", knob_table[knob].name,
               knob_value_text(arena, &alone, knob));
  }
  *why = "this schedule copies and multiplies in turn: it has no overlap to remove";
  if (!change.length) return NULL;
  const Model *model = model_build(arena, targets, &alone);
  if (!model->ok) {
    *why = arena_printf(arena, "the overlap cannot be removed: %s", model->diags.first->text);
    return NULL;
  }
  *schedule = alone;
  return change.text;
}
