// One counter says which item is next; any free thread takes it. A thread sleeps until there is a
// round that it has not seen. The thread that ends the round takes the items that no thread has
// taken yet, then sleeps until the last one that takes part in it is done.
#include "base/team.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/die.h"

enum { TEAM_MAX = 8, PROCESSORS_EACH = 4 };

struct Team {
  pthread_mutex_t mutex;
  pthread_cond_t begun, done;
  int n_threads;  // beside the caller
  pthread_t thread[TEAM_MAX];
  int round, n_busy;
  bool over;
  bool begun_round;  // the caller's own
  // For the round.
  TeamWork *work;
  void *context;
  int n_items;
  atomic_int next;
};

int team_processors(void) {
  cpu_set_t allowed;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const int n = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
  return n > 0 ? n : online > 0 ? (int)online : 1;
}

int team_usual(void) {
  const int threads = team_processors() / PROCESSORS_EACH;
  return threads < 1 ? 1 : threads > TEAM_MAX ? TEAM_MAX : threads;
}

static void take_part(Team *team) {
  for (int item; (item = atomic_fetch_add(&team->next, 1)) < team->n_items;)
    team->work(team->context, item);
}

static void *thread_main(void *argument) {
  Team *team = argument;
  int seen = 0;
  pthread_mutex_lock(&team->mutex);
  for (;;) {
    while (team->round == seen && !team->over) pthread_cond_wait(&team->begun, &team->mutex);
    if (team->over) break;
    seen = team->round;
    pthread_mutex_unlock(&team->mutex);
    take_part(team);
    pthread_mutex_lock(&team->mutex);
    if (--team->n_busy == 0) pthread_cond_signal(&team->done);
  }
  pthread_mutex_unlock(&team->mutex);
  return NULL;
}

// Signals are the caller's.
static void start_threads(Team *team, int n) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (team->n_threads < n && thread_start(&team->thread[team->n_threads], thread_main, team))
    team->n_threads++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

Team *team_new(int threads) {
  Team *team = calloc(1, sizeof *team);
  if (!team) die("out of memory for a team of threads");
  pthread_mutex_init(&team->mutex, NULL);
  pthread_cond_init(&team->begun, NULL);
  pthread_cond_init(&team->done, NULL);
  start_threads(team, (threads < TEAM_MAX ? threads : TEAM_MAX) - 1);
  return team;
}

int team_threads(const Team *team) { return team->n_threads; }

void team_begin(Team *team, int n, TeamWork *work, void *context) {
  pthread_mutex_lock(&team->mutex);
  assert(!team->begun_round);
  team->begun_round = true;
  team->work = work;
  team->context = context;
  team->n_items = n;
  atomic_store(&team->next, 0);
  team->n_busy = team->n_threads;
  team->round++;
  pthread_cond_broadcast(&team->begun);
  pthread_mutex_unlock(&team->mutex);
}

bool team_is_done(Team *team) {
  pthread_mutex_lock(&team->mutex);
  const bool done =
      !team->begun_round || (team->n_busy == 0 && atomic_load(&team->next) >= team->n_items);
  pthread_mutex_unlock(&team->mutex);
  return done;
}

void team_finish(Team *team) {
  if (!team->begun_round) return;
  take_part(team);
  pthread_mutex_lock(&team->mutex);
  while (team->n_busy) pthread_cond_wait(&team->done, &team->mutex);
  team->begun_round = false;
  pthread_mutex_unlock(&team->mutex);
}

void team_run(Team *team, int n, TeamWork *work, void *context) {
  team_begin(team, n, work, context);
  team_finish(team);
}

void team_end(Team *team) {
  if (!team) return;
  team_finish(team);
  pthread_mutex_lock(&team->mutex);
  team->over = true;
  pthread_cond_broadcast(&team->begun);
  pthread_mutex_unlock(&team->mutex);
  for (int i = 0; i < team->n_threads; i++) pthread_join(team->thread[i], NULL);
  pthread_cond_destroy(&team->begun);
  pthread_cond_destroy(&team->done);
  pthread_mutex_destroy(&team->mutex);
  free(team);
}
