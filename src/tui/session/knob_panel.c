// Worked example: fp32/padded has 12 knobs that do something. The main line of the ladder uses ten
// more; LANES_M of rung 13 is two rungs away and comes before SPLITK of rung 17.
#include "tui/session/knob_panel.h"

#include <limits.h>
#include <stdlib.h>

#include "model/readings/rules/knob_use.h"

bool knob_at_rest(const Schedule *schedule, KnobId id) {
  const Knob *knob = &knob_table[id];
  // Both operands: what the knob refines is another one's, which says whether it does anything.
  const bool refines = knob->type == KNOB_TYPE_STAGE && knob->value == knob->hi;
  if (knob->type == KNOB_TYPE_TARGET || (knob->type == KNOB_TYPE_STAGE && !refines)) return false;
  if (knob->type == KNOB_TYPE_LAYOUT) return !schedule->layout[knob_layout_side(id)][0];
  const bool lowest = knob->value == knob->lo || refines;
  return lowest && schedule->value[id] == knob->value;
}

// Whether the knob is shown whatever the ladder uses.
static bool is_wanted(const Session *session, KnobId knob) {
  if (knob == session->at.knob || session->at.touched[knob]) return true;
  const Schedule *now = &session->doc.now.schedule;
  if (schedule_differs(&session_rung(session)->schedule, now, knob)) return true;
  if (session->doc.comparing && schedule_differs(&session->doc.then.pictured, now, knob))
    return true;
  return !knob_is_problem(knob) && !knob_at_rest(now, knob);
}

// Rungs between the present one and the nearest of the main line that uses the knob; INT_MAX: none.
static int rungs_away(const Session *session, KnobId knob) {
  const Ladder *ladder = session->doc.ladder;
  int nearest = INT_MAX;
  for (int i = 0; i < ladder->n_rungs; i++) {
    if (ladder->rung[i].aside || knob_at_rest(&ladder->rung[i].schedule, knob)) continue;
    const int away = abs(i - session->doc.rung);
    if (away < nearest) nearest = away;
  }
  return nearest;
}

// The nearest knob that the ladder uses and that is not shown yet; KNOB_NONE: there is none.
static KnobId next_of_ladder(const Session *session, const KnobShown shown[KNOB_COUNT]) {
  KnobId next = KNOB_NONE;
  int nearest = INT_MAX;
  for (int i = 0; i < KNOB_COUNT; i++) {
    const KnobId knob = (KnobId)i;
    if (shown[i] || knob_is_problem(knob) || !knob_is_used(knob, &session->doc.now.schedule))
      continue;
    const int away = rungs_away(session, knob);
    if (away >= nearest) continue;
    nearest = away;
    next = knob;
  }
  return next;
}

void knobs_shown(const Session *session, KnobShown shown[KNOB_COUNT]) {
  int n = 0;
  for (int i = 0; i < KNOB_COUNT; i++) {
    const bool used = knob_is_used((KnobId)i, &session->doc.now.schedule);
    shown[i] = used && is_wanted(session, (KnobId)i) ? KNOB_WANTED : KNOB_HIDDEN;
    n += shown[i] != KNOB_HIDDEN;
  }
  for (KnobId next; n < KNOBS_AT_FIRST && (next = next_of_ladder(session, shown)) != KNOB_NONE; n++)
    shown[next] = KNOB_USEFUL;
}
