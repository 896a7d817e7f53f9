// Only a time of this GPU is held against one of this GPU. Worked example: the history has 3.05 ms
// of 4096³ in fp32, the state on the screen was recorded with 3.75 ms on the same kind of GPU: 1.23
// times as fast. Less than 1 % is nothing to speak of.
#include "tui/session/better_kernel.h"

#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/program.h"
#include "model/readings/rules/knob_use.h"
#include "tui/session/at_hand.h"

static const Timed *timed_here(const Session *session) {
  const Timed *timed = results_find(&session->background.results, &session->doc.now.schedule);
  return timed && timed->ok && timed->time_ns > 0 && !at_hand_is_other(session, timed) ? timed
                                                                                       : NULL;
}

static bool is_of_this_problem(Arena *arena, const Session *session, const HistoryRow *row) {
  const Plan plan = plan_of_problem(&session_model(session)->program->problem);
  const Target *here = device_target(&session->doc.targets, &session->background.device);
  return here == session_model(session)->target &&
         str_equal(row->problem, history_problem(arena, &plan));
}

BetterKernel better_kernel(Arena *arena, const Session *session) {
  static const double least = 1.01;
  const Results *results = &session->background.results;
  const BetterKernel none = {0};
  if (!results->best || session->doc.now.reasons || !session->background.device.name[0])
    return none;
  if (schedule_identity(results->best_schedule) == session->doc.now.picture->key ||
      !is_of_this_problem(arena, session, results->best))
    return none;
  const Timed *own = timed_here(session);
  const double gain = own ? own->time_ns / results->best->time_ns : 0;
  if (own && gain < least) return none;
  return (BetterKernel){results->best, results->best_schedule, own, gain};
}

// `arrow`: between the value before and the new one; NULL: the new one alone.
static const char *say_changes(Arena *arena, const Session *session, const Schedule *schedule,
                               const char *arrow) {
  const Schedule *now = &session->doc.now.schedule;
  Str out = str_new(arena);
  for (int i = 0; i < KNOB_COUNT; i++) {
    const KnobId knob = (KnobId)i;
    const bool used = knob_is_used(knob, now) || knob_is_used(knob, schedule);
    if (!used || !schedule_differs(now, schedule, knob)) continue;
    str_printf(&out, "%s%s ", out.length ? ", " : "", knob_table[i].name);
    if (arrow) str_printf(&out, "%s %s ", knob_value_text(arena, now, knob), arrow);
    str_add(&out, knob_value_text(arena, schedule, knob));
  }
  return out.length ? out.text : "no change that matters here";
}

const char *better_kernel_changes(Arena *arena, const Session *session, const Schedule *schedule) {
  return say_changes(arena, session, schedule, session->ascii ? "->" : "→");
}

const char *better_kernel_values(Arena *arena, const Session *session, const Schedule *schedule) {
  return say_changes(arena, session, schedule, NULL);
}
