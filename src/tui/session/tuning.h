// The search that was started from the screen, and what was last seen of it.
//
//   tuning_start(session, &client_options, 60);     the problem on the screen
//   if (tuning_poll(session)) …                     there is news: draw again
//   session->background.tuning->seen
#pragma once
#include "kernels/tune/tune_run.h"
#include "model/schedules/ranking.h"
#include "tui/session/session.h"

typedef struct Tuning {
  TuneRun *run;   // NULL: it is over, or none was started
  bool started;   // there is something to show
  Schedule base;  // the problem that it is of
  TuneSeen seen;
  // Without a search on a GPU: states of the problem by the model alone, and the arena of that.
  Ranking *ranking;  // NULL: not asked for yet
  Arena *ranked;
} Tuning;

// One state more is ranked by the model, for the problem on the screen; false: all are, or a search
// on a GPU has been started.
bool tuning_rank(Session *session);

bool tuning_runs(const Session *session);
// Seeds are the state on the screen and the rungs of all ladders. False, after saying why, where
// one is under way already or cannot be started.
bool tuning_start(Session *session, const ClientOptions *options, double seconds);
// Takes new results; true: there were some. A search that has ended is put away.
bool tuning_poll(Session *session);
void tuning_cancel(Session *session);
// At the end of the session: waits until the thread has ended. Twice is once.
void tuning_free(Session *session);
