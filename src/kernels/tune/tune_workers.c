// Tells which workers are at work: they come, are lost, and come back, perhaps with another kind of
// GPU.
//
//   its machine is known ─► at work for its kind of GPU ─► gone: it died once too often, or has no
//                               ▲        │                 GPU, no compiler, or no context on it
//                               └────────┘ restarted: it is asked nothing until it says hello
//
// All that a lost worker has compiled waits for another one.
#include "base/clock.h"
#include "base/str.h"
#include "kernels/tune/tune_inside.h"

static void count_workers(Tune *tune) {
  for (int i = 0; i < tune->n_fields; i++) tune->field[i]->told.n_workers = 0;
  for (int i = 0; i < tune->options.n_workers; i++) {
    const TuneWorker *worker = &tune->worker[i];
    if (worker->field >= 0 && !worker->gone) tune->field[worker->field]->told.n_workers++;
  }
}

static void hand_on_compiled(Tune *tune, int index) {
  const int at = tune->worker[index].field;
  if (at < 0) return;
  Field *field = tune->field[at];
  for (int i = 0; i < field->told.n_points; i++) {
    TunePoint *point = &field->told.point[i];
    if (point->state == TUNE_READY && point->worker == index)
      tune_set_state(field, point, TUNE_WAITING);
  }
}

void tune_lose_worker(Tune *tune, int index, const char *why) {
  tune->worker[index].gone = arena_strdup(tune->arena, why);
  hand_on_compiled(tune, index);
  count_workers(tune);
}

static int find_field(Tune *tune, const Device *device) {
  for (int i = 0; i < tune->n_fields; i++)
    if (str_equal(tune->field[i]->told.device.name, device->name)) return i;
  if (tune->n_fields == TUNE_FIELDS_MAX) return -1;
  if (tune->n_fields == 0) tune->started = clock_seconds();
  tune->field[tune->n_fields] = tune_field_new(tune, device);
  return tune->n_fields++;
}

// One that comes back may have been given another GPU, by Slurm or a pool of hosts.
static void give_field(Tune *tune, int index, const Device *device) {
  TuneWorker *worker = &tune->worker[index];
  const int field = find_field(tune, device);
  if (field < 0) {
    tune_lose_worker(tune, index, "too many kinds of GPU");
    return;
  }
  if (field != worker->field) hand_on_compiled(tune, index);
  worker->field = field;
  worker->gone = NULL;
  count_workers(tune);
}

void tune_look_at_machine(Tune *tune, int index) {
  TuneWorker *worker = &tune->worker[index];
  ClientStatus status;
  client_status(tune->options.client, index, &status);
  const bool works = *status.device.name && status.can_compile && !status.unreachable;
  const char *why = status.unreachable   ? status.reason
                    : status.can_compile ? status.gpu_error
                                         : status.nvrtc;
  if (!status.machine_known && !status.unreachable) return;
  if (!works) {
    tune_lose_worker(tune, index, *why ? why : "there is no GPU");
    return;
  }
  worker->n_compiles = status.n_compiles > 0 ? status.n_compiles : 1;
  give_field(tune, index, &status.device);
}

// Those that never came: a command that is not there says so by its end alone.
void tune_look_at_workers(Tune *tune) {
  for (int i = 0; i < tune->options.n_workers; i++) {
    TuneWorker *worker = &tune->worker[i];
    if (worker->field < 0 && !worker->gone) tune_look_at_machine(tune, i);
    worker->at_work = worker->field >= 0 && !worker->gone && client_is_up(tune->options.client, i);
  }
}

bool tune_has_hands(const Tune *tune, int field) {
  for (int i = 0; i < tune->options.n_workers; i++)
    if (tune->worker[i].field == field && tune->worker[i].at_work) return true;
  // A worker that was there may come back, but is not waited for when the time is over.
  return tune->field[field]->told.n_workers > 0 && tune_now(tune) < tune->options.seconds;
}
