// Threads that share work.
//
//   Team *team = team_new(team_usual());
//   team_run(team, n, work, context);      work(context, 0) … work(context, n - 1)
//   team_begin(team, n, work, context);    … something else meanwhile …    team_finish(team);
//   team_end(team);
//
// Each item is done once, by whichever thread is free, the caller's among them; what items write
// must be apart. Results that are kept by item do not depend on the number of threads.
#pragma once
#include <pthread.h>
#include <stdbool.h>

// A thread with a stack of its own size: `ulimit -s` is about the program's first one, and where it
// is small, threads would get no more. False where none can be started.
static inline bool thread_start(pthread_t *thread, void *(*main)(void *), void *context) {
  enum { STACK_BYTES = 8 << 20 };
  pthread_attr_t how;
  if (pthread_attr_init(&how) != 0) return false;
  const bool started = pthread_attr_setstacksize(&how, STACK_BYTES) == 0 &&
                       pthread_create(thread, &how, main, context) == 0;
  pthread_attr_destroy(&how);
  return started;
}

typedef struct Team Team;
typedef void TeamWork(void *context, int item);

// Processors that this process may run on: taskset, Slurm and containers leave it a part of them.
int team_processors(void);
// The number of threads worth having beside other work: a quarter of the processors, 1 … 8.
int team_usual(void);
// `threads` counts the caller: 1 starts none. One that cannot be started leaves the others more.
Team *team_new(int threads);
int team_threads(const Team *team);  // that were started: with none, a round is done by who ends it
// Gives the items to the threads and returns at once. What they read and write is theirs until
// team_finish(), which does what is still to be done with them; a round is finished before another.
void team_begin(Team *team, int n, TeamWork *work, void *context);
bool team_is_done(Team *team);  // with the round that is begun, or there is none
void team_finish(Team *team);   // no round is begun: nothing happens
// Both: returns when all items are done.
void team_run(Team *team, int n, TeamWork *work, void *context);
void team_end(Team *team);  // NULL: nothing happens
