// Finds the schedule that `f` applies: the legal one nearest to one that breaks rules.
//
// If one knob was moved, that knob goes back towards the drawn state until the schedule is legal.
// If it never is, or if several knobs differ, the rules' own suggestions are followed one by one.
// Worked example: FM=64 where FM=32 is drawn and 64 meets the register limit: FM=32.
#include <stdio.h>

#include "tui/session/session.h"

static bool is_legal(Session *session, const Schedule *schedule) {
  arena_reset(session->trial);
  return model_build(session->trial, &session->doc.targets, schedule)->ok;
}

// The knob in which the schedule differs from the picture's, KNOB_NONE when there are several.
static KnobId changed_knob(const Session *session) {
  KnobId changed = KNOB_NONE;
  if (schedule_distance(&session->doc.now.schedule, &session->doc.now.pictured) != 1)
    return KNOB_NONE;
  for (int i = 0; i < KNOB_COUNT; i++)
    if (schedule_differs(&session->doc.now.schedule, &session->doc.now.pictured, (KnobId)i))
      changed = (KnobId)i;
  return changed;
}

// From the value that was asked for back to the one that is drawn, the first that is legal.
static bool walk_back(Session *session, KnobId knob) {
  Schedule *fix = &session->doc.fix;
  int64_t drawn = session->doc.now.pictured.value[knob], value;
  int direction = drawn > fix->value[knob] ? 1 : -1;
  while (knob_step(fix, knob, direction, &value) && value != fix->value[knob]) {
    schedule_set(fix, knob, value);
    if (is_legal(session, fix)) return true;
  }
  return false;
}

// Follows the rules' suggestions, one after the other, until no rule is broken.
static bool follow_rules(Session *session) {
  enum { STEPS_MAX = 8 };
  for (int i = 0; i < STEPS_MAX; i++) {
    arena_reset(session->trial);
    const Model *model = model_build(session->trial, &session->doc.targets, &session->doc.fix);
    if (model->ok) return true;
    const Diag *diag = model->diags.first;
    Diags ignored = diags_new(session->trial);
    if (!diag || !diag->nearest || !schedule_parse(&session->doc.fix, diag->nearest, &ignored))
      return false;
  }
  return false;
}

static void write_fix(Session *session) {
  size_t n = 0;
  session->doc.fix_text[0] = '\0';
  arena_reset(session->trial);
  for (int i = 0; i < KNOB_COUNT && n < sizeof session->doc.fix_text; i++) {
    if (!schedule_differs(&session->doc.fix, &session->doc.now.schedule, (KnobId)i)) continue;
    const char *value = knob_value_text(session->trial, &session->doc.fix, (KnobId)i);
    n += (size_t)snprintf(session->doc.fix_text + n, sizeof session->doc.fix_text - n, "%s%s=%s",
                          n ? "," : "", knob_table[i].name, value);
  }
}

// A user who moved one knob too far wants that knob back, not another one.
void session_find_fix(Session *session) {
  KnobId knob = changed_knob(session);
  session->doc.fix = session->doc.now.schedule;
  session->doc.has_fix = knob != KNOB_NONE && walk_back(session, knob);
  if (!session->doc.has_fix) {
    session->doc.fix = session->doc.now.schedule;
    session->doc.has_fix = follow_rules(session);
  }
  if (session->doc.has_fix) write_fix(session);
}
