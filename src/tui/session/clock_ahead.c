// Lists are looked through in their order until something is found that is missing.
//
// Worked example, fp32/padded with the cursor on BM: the state itself, BM=8, BM=32, then LANES_M=8,
// which promises most, and the next ones. Once LANES_M=8 has its number it may promise less than
// another: the order follows.
#include "tui/session/clock_ahead.h"

#include "tui/session/knob_gain.h"

enum { TRIES = 6 };

typedef struct Search {
  const Session *session;
  ClockAsked *asked;
  const void *context;
  ClockWanted *out;
} Search;

static bool is_missing(const Search *search, uint64_t key) {
  return !results_clocked(&search->session->background.results, key) &&
         !search->asked(search->context, key);
}

static bool take(const Search *search, const Schedule *schedule, uint64_t key) {
  if (!is_missing(search, key)) return false;
  *search->out = (ClockWanted){*schedule, key};
  return true;
}

static bool take_side(const Search *search, const Side *side) {
  return take(search, &side->pictured, side->picture->key);
}

static bool take_trial(const Search *search, const Trial *trial) {
  if (!trial || !trial->exists || !trial->legal || !is_missing(search, trial->key)) return false;
  Schedule schedule = search->session->background.advice->schedule;
  schedule_set(&schedule, trial->knob, trial->value);
  return take(search, &schedule, trial->key);
}

// Trials of another schedule than the one at hand are on their way out.
static bool take_neighbours(const Search *search) {
  const Session *session = search->session;
  const Advice *advice = session->background.advice;
  const Trial *best[TRIES];
  if (advice->key != session->doc.now.picture->key) return false;
  if (take_trial(search, advice_find(advice, session->at.knob, -1)) ||
      take_trial(search, advice_find(advice, session->at.knob, +1)))
    return true;
  const Estimate own = session_stand_in(session, session->doc.now.picture->estimate);
  const int n = promise_order(&session->background.results, advice, &own, best, TRIES);
  for (int i = 0; i < n; i++)
    if (take_trial(search, best[i])) return true;
  return false;
}

static bool take_rungs(const Search *search) {
  const Session *session = search->session;
  if (session->background.estimated != session->doc.ladder) return false;
  for (int i = 0; i < session->doc.ladder->n_rungs && i < SESSION_RUNGS_MAX; i++)
    if (session->background.stand_ins[i].estimate.by &&
        take(search, &session->doc.ladder->rung[i].schedule, session->background.stand_ins[i].key))
      return true;
  return false;
}

static bool take_points(const Search *search) {
  const KnobSweep *sweep = search->session->background.sweep;
  for (int i = 0; i < sweep->n_done; i++) {
    if (!sweep->point[i].legal || !is_missing(search, sweep->point[i].key)) continue;
    const Schedule schedule = knobsweep_schedule(sweep, i);
    return take(search, &schedule, sweep->point[i].key);
  }
  return false;
}

bool clock_ahead_next(const Session *session, ClockAsked *asked, const void *context,
                      ClockWanted *out) {
  const Search search = {session, asked, context, out};
  if (take_side(&search, &session->doc.now)) return true;
  if (session->doc.comparing && take_side(&search, &session->doc.then)) return true;
  if (session->background.clocks_shown == CLOCKS_OF_LADDER && take_rungs(&search)) return true;
  if (session->background.clocks_shown == CLOCKS_OF_SWEEP && take_points(&search)) return true;
  return take_neighbours(&search);
}
