// How long the real GPU was at each launch: an event in front of it, and one behind. Nothing is
// waited for: events are looked at when a later launch comes by, and at the end of the program. So
// a program that needs two kernels side by side goes on as it did.
#include <stdlib.h>
#include <unistd.h>

#include "driver/driver_launch.h"

typedef struct Timed {
  void *before, *behind;
  SeenRow *row;
} Timed;

// Launches that no time is known of yet. Where the ring is full, later ones are not timed.
enum { PENDING = 4096, RELAXED = 2 };
static Timed pending[PENDING];
static unsigned oldest, end;
static pid_t process;

typedef int OfEvent(void *event);
typedef int CreateEvent(void **event, unsigned flags);
typedef int RecordEvent(void *event, void *stream);
typedef int ElapsedTime(float *ms, void *from, void *to);
typedef int ExchangeMode(int *mode);
static struct {
  OfEvent *query, *destroy;
  CreateEvent *create;
  RecordEvent *record;
  ElapsedTime *elapsed;
  ExchangeMode *exchange;
} real;

static void drop(const Timed *t) {
  if (t->before) real.destroy(t->before);
  if (t->behind) real.destroy(t->behind);
}

// False: the GPU is not so far.
static bool take_time(const Timed *t) {
  enum { NOT_READY = 600 };
  float ms = 0;
  if (real.query(t->behind) == NOT_READY) return false;
  if (real.elapsed(&ms, t->before, t->behind) == DRIVER_OK) {
    t->row->ms += (double)ms;
    t->row->timed++;
  }
  drop(t);
  return true;
}

static void take_times(void) {
  while (oldest != end && take_time(&pending[oldest % PENDING])) oldest++;
}

// A child that was forked has no context; and no launch of another thread is waited for.
static void at_end(void) {
  if (getpid() != process || pthread_mutex_trylock(&driver_mutex) != 0) return;
  for (; oldest != end; oldest++) take_time(&pending[oldest % PENDING]);
  pthread_mutex_unlock(&driver_mutex);
}

static bool begin(void) {
  static bool asked;
  if (asked) return real.create != NULL;
  asked = true;
  real.query = (OfEvent *)driver_real("cuEventQuery");
  real.destroy = (OfEvent *)driver_real("cuEventDestroy_v2");
  real.record = (RecordEvent *)driver_real("cuEventRecord");
  real.elapsed = (ElapsedTime *)driver_real("cuEventElapsedTime");
  real.exchange = (ExchangeMode *)driver_real("cuThreadExchangeStreamCaptureMode");
  if (real.query && real.destroy && real.record && real.elapsed)
    real.create = (CreateEvent *)driver_real("cuEventCreate");
  // In front of what the driver itself does at the end: later ones are run first.
  process = getpid();
  if (real.create) atexit(at_end);
  return real.create != NULL;
}

static bool make(Timed *t, const DriverRun *run, SeenRow *row) {
  *t = (Timed){.row = row};
  return real.create(&t->before, 0) == DRIVER_OK && real.create(&t->behind, 0) == DRIVER_OK &&
         real.record(t->before, run->stream) == DRIVER_OK;
}

DriverResult driver_time_launch(const DriverRun *run, SeenRow *row) {
  if (!driver_settings()->times || !row || !begin()) return run->run(run->self);
  // Another thread may capture a graph meanwhile: its capture must not end by these calls.
  int mode = RELAXED;
  const bool exchanged = real.exchange && real.exchange(&mode) == DRIVER_OK;
  take_times();
  Timed t = {0};
  const bool ok = end - oldest < PENDING && make(&t, run, row);
  const DriverResult result = run->run(run->self);
  if (ok && result == DRIVER_OK && real.record(t.behind, run->stream) == DRIVER_OK)
    pending[end++ % PENDING] = t;
  else
    drop(&t);
  if (exchanged) real.exchange(&mode);
  return result;
}
