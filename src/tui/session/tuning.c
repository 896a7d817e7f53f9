// Nothing here waits but tuning_free().
#include "tui/session/tuning.h"

#include <string.h>

static Schedule problem_of(const Schedule *schedule) {
  Schedule base = schedule_default();
  for (int i = 0; i < KNOB_COUNT; i++)
    if (knob_is_problem((KnobId)i) && knob_table[i].type != KNOB_TYPE_TARGET)
      schedule_set(&base, (KnobId)i, schedule->value[i]);
  return base;
}

bool tuning_runs(const Session *session) {
  return session->background.tuning && session->background.tuning->run;
}

// The schedule on the screen first, then rungs, the last ones of each ladder first.
static const Schedule *seeds_of(Session *session, int *n) {
  int n_rungs = 0;
  for (int i = 0; i < session->doc.n_ladders; i++) n_rungs += session->doc.ladders[i]->n_rungs;
  Schedule *seeds = ARENA_ARRAY(session->frame, Schedule, n_rungs + 1);
  *n = 0;
  if (!session->doc.now.reasons) seeds[(*n)++] = session->doc.now.schedule;
  for (int i = 0; i < session->doc.n_ladders; i++)
    for (int rung = session->doc.ladders[i]->n_rungs - 1; rung >= 0; rung--)
      if (!session->doc.ladders[i]->rung[rung].not_built)
        seeds[(*n)++] = session->doc.ladders[i]->rung[rung].schedule;
  return seeds;
}

static Tuning *tuning_of(Session *session) {
  if (!session->background.tuning) session->background.tuning = ARENA_NEW(session->app, Tuning);
  return session->background.tuning;
}

static void forget_ranking(Tuning *tuning) {
  if (tuning->ranking) ranking_free(tuning->ranking);
  tuning->ranking = NULL;
}

// Another problem is ranked anew, for the GPU of the state: no worker has another. Seeds are
// copied, because the frame's own do not last.
static void begin_ranking(Session *session, Tuning *tuning) {
  Schedule base = problem_of(&session->doc.now.schedule);
  memcpy(base.target, session->doc.now.schedule.target, sizeof base.target);
  if (tuning->ranking && schedule_same(&base, &tuning->base)) return;
  if (!tuning->ranked) tuning->ranked = arena_new("ranking of a search");
  forget_ranking(tuning);
  arena_reset(tuning->ranked);
  int n = 0;
  const Schedule *seeds = seeds_of(session, &n);
  Schedule *kept = ARENA_ARRAY(tuning->ranked, Schedule, n + 1);
  for (int i = 0; i < n; i++) kept[i] = seeds[i];
  tuning->base = base;
  tuning->ranking = ranking_new(tuning->ranked, &session->doc.targets,
                                session_fits(session, &session->doc.now.schedule), &base, kept, n);
}

bool tuning_rank(Session *session) {
  Tuning *tuning = tuning_of(session);
  if (tuning->started) return false;
  begin_ranking(session, tuning);
  return ranking_step(tuning->ranking);
}

bool tuning_start(Session *session, const ClientOptions *options, double seconds) {
  if (tuning_runs(session)) {
    session_say(session, SAID_NOTE, "a search is under way");
    return false;
  }
  Tuning *tuning = tuning_of(session);
  forget_ranking(tuning);
  int n_seeds = 0;
  const Schedule *seeds = seeds_of(session, &n_seeds);
  tuning->base = problem_of(&session->doc.now.schedule);
  tuning->seen = (TuneSeen){.seconds = seconds};
  tuning->run = tune_run_start(&(TuneRunOptions){.client = *options,
                                                 .targets = &session->doc.targets,
                                                 .base = tuning->base,
                                                 .seeds = seeds,
                                                 .n_seeds = n_seeds,
                                                 .gpu = session->background.device.name,
                                                 .seconds = seconds});
  tuning->started = tuning->run != NULL;
  if (!tuning->run) session_say(session, SAID_ERROR, "the search could not start a thread");
  return tuning->run != NULL;
}

bool tuning_poll(Session *session) {
  if (!tuning_runs(session)) return false;
  Tuning *tuning = session->background.tuning;
  const int before = tuning->seen.serial;
  tune_run_seen(tuning->run, &tuning->seen);
  if (tuning->seen.serial == before) return false;
  if (tuning->seen.over) {
    tune_run_end(tuning->run);
    tuning->run = NULL;
    session->wishes.known = true;
  }
  return true;
}

void tuning_cancel(Session *session) {
  if (!tuning_runs(session)) return;
  tune_run_cancel(session->background.tuning->run);
  session_say(session, SAID_NOTE, "the search ends; its results stay");
}

void tuning_free(Session *session) {
  if (tuning_runs(session)) tune_run_end(session->background.tuning->run);
  if (!session->background.tuning) return;
  session->background.tuning->run = NULL;
  forget_ranking(session->background.tuning);
  if (session->background.tuning->ranked) arena_free(session->background.tuning->ranked);
  session->background.tuning->ranked = NULL;
}
