// The search's conversation with the workers.
//
//   candidates ─► COMPILING ─► READY ─► TIMING ─► TIMED, WRONG or FAILED
//                (all cores)          (alone on the GPU)
//
// Every worker has a compile for each one that it runs at once and half of that number waiting, and
// three timings, of which two wait; until its GPU has said the first time its cores compile on. Its
// cores and its GPU never stand still while this side thinks, and no timing asks for a kernel that
// is not compiled. A worker that dies takes its requests with it. The timing that the GPU was at is
// to blame and lost; the others wait for a worker again, twice at most.
//
// A request's key names its point and its question, whatever has become of the point by the time it
// is done; the second point of a pair is found beside the first:
//
//   field 8 bits | worker 16 | round 8, or a compile | point 32
#include "kernels/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "kernels/device/timing.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/tune/tune_inside.h"

enum {
  TIMINGS = 3,      // of a worker at a time: one runs, two wait
  READY_COLD = 64,  // compiled ahead while its GPU begins, which takes seconds where there are many
  COMPILE_MS = 20000,
  BRIEF_MS = 6000,
  BRIEF_COLD_MS = 30000,  // with the GPU's context and the problem's data to be made
  SHORT_MS = 60000,
  HOT_MS = 240000,
  BRIEF_BUDGET_MS = 10,
  SHORT_BUDGET_MS = 200,
  FINAL_BUDGET_MS = 1500,
  HOT_BUDGET_MS = 4000
};
// The time begins with the first worker, which may come out of a queue (cli_worker_open_queued).
static const double late_s = 60, waits_s = 660;

const char *tune_round_name(TuneRound round) {
  static const char *const names[] = {"brief", "short", "final"};
  return names[round];
}

double tune_now(const Tune *tune) { return clock_seconds() - tune->started; }
double tune_elapsed_s(const Tune *tune) { return tune_now(tune); }
double tune_waits_s(void) { return waits_s; }
int tune_n_fields(const Tune *tune) { return tune->n_fields; }
const TuneField *tune_field(const Tune *tune, int field) { return &tune->field[field]->told; }

// ---- asking -------------------------------------------------------------------------------------

typedef struct Asked {
  Field *field;
  TunePoint *point;
  int worker;
  TuneRound round;  // TUNE_ROUNDS: it was a compile
} Asked;

static uint64_t key_of(const Tune *tune, const Field *field, int point, int worker,
                       TuneRound round) {
  uint64_t number = 0;
  while (tune->field[number] != field) number++;
  return number << 56 | (uint64_t)worker << 40 | (uint64_t)round << 32 | (uint64_t)point;
}

static Asked read_key(const Tune *tune, uint64_t key) {
  Field *field = tune->field[key >> 56];
  return (Asked){.field = field,
                 .point = &field->told.point[key & UINT32_MAX],
                 .worker = (int)(key >> 40 & UINT16_MAX),
                 .round = (TuneRound)(key >> 32 & UINT8_MAX)};
}

static int64_t submit(Tune *tune, ClientRequest *request, uint64_t key, int worker) {
  request->key = key;
  request->worker = worker + 1;
  tune->last_id = client_submit(tune->options.client, request);
  if (!tune->first_id) tune->first_id = tune->last_id;
  return tune->last_id;
}

// A point of a later round, or of an earlier run, has given its plan back.
static const Plan *plan_of(Arena *arena, const Field *field, const TunePoint *point) {
  if (point->plan) return point->plan;
  const Model *model = candidate_model(arena, &field->told.targets, &point->schedule, NULL);
  return plan_from_model(arena, model, schedule_record_text(arena, &point->schedule));
}

static void ask_compile(Tune *tune, Field *field, int index, int worker) {
  TunePoint *point = &field->told.point[index];
  Arena *scratch = arena_new("compile");
  const Plan *plan = plan_of(scratch, field, point);
  // Blocks of causal attention differ, and to walk all of them takes longer than to time the
  // kernel.
  const bool plays = !point->schedule.value[KNOB_CAUSAL];
  ClientRequest request = {.kind = MESSAGE_COMPILE,
                           .plan = plan,
                           .want = plays ? "cubin,clock" : "cubin",
                           .state = plan->label,
                           .device = &field->told.device,
                           .keep = true,
                           .deadline_ms = COMPILE_MS};
  point->request = submit(tune, &request, key_of(tune, field, index, worker, TUNE_ROUNDS), worker);
  tune_set_state(field, point, TUNE_COMPILING);
  point->worker = worker;
  point->tries++;
  tune->worker[worker].n_compiling++;
  arena_free(scratch);
}

// cuBLAS stands beside the first point, so that its time is known from the start.
static bool wants_reference(const Field *field) {
  enum { TRIES = 3 };
  return field->told.cublas_ns <= 0 && field->n_references < TRIES;
}

static ClientRequest brief_request(const TuneWorker *worker) {
  return (ClientRequest){.kind = MESSAGE_BENCH,
                         .brief = true,
                         .no_reference = true,
                         .budget_ms = BRIEF_BUDGET_MS,
                         .deadline_ms = worker->warm ? BRIEF_MS : BRIEF_COLD_MS};
}

static ClientRequest timing_request(const Tune *tune, const Field *field,
                                    const TuneWorker *worker) {
  const bool final = field->told.round == TUNE_FINAL, hot = final && tune_is_hot(tune);
  const bool reference = final || wants_reference(field);
  if (field->told.round == TUNE_BRIEF && !reference) return brief_request(worker);
  return (ClientRequest){.kind = MESSAGE_BENCH,
                         .hot = hot,
                         .no_reference = !reference,
                         .budget_ms = hot     ? HOT_BUDGET_MS
                                      : final ? FINAL_BUDGET_MS
                                              : SHORT_BUDGET_MS,
                         .deadline_ms = hot ? HOT_MS : SHORT_MS};
}

static void ask_timing(Tune *tune, Field *field, const int *index, int n, int worker) {
  Arena *scratch = arena_new("timing");
  ClientRequest request = timing_request(tune, field, &tune->worker[worker]);
  field->n_references += !request.no_reference;
  for (int i = 0; i < n; i++) {
    TunePoint *point = &field->told.point[index[i]];
    const Plan *plan = plan_of(scratch, field, point);
    *(i ? &request.plan_b : &request.plan) = plan;
    *(i ? &request.state_b : &request.state) = plan->label;
    *(i ? &request.compiled_b : &request.compiled) = point->compiled;
    tune_set_state(field, point, TUNE_TIMING);
    point->worker = worker;
    point->asked = field->told.round;
    point->partner = n == 2 ? index[1 - i] : -1;
    point->beside_cublas = !request.no_reference && field->told.round == TUNE_BRIEF;
  }
  const int64_t id =
      submit(tune, &request, key_of(tune, field, index[0], worker, field->told.round), worker);
  for (int i = 0; i < n; i++) field->told.point[index[i]].request = id;
  tune->worker[worker].n_timing++;
  arena_free(scratch);
}

// ---- keeping a worker busy ----------------------------------------------------------------------

// The most promising of those that this worker has compiled, the first of equals.
static int next_ready(const Field *field, int worker) {
  int best = -1;
  const TunePoint *points = field->told.point;
  for (int i = 0; i < field->n_under_way; i++) {
    const int at = field->under_way[i];
    if (points[at].state != TUNE_READY || points[at].worker != worker) continue;
    const double better = best < 0 ? 1 : points[best].predicted_ns - points[at].predicted_ns;
    if (better > 0 || (!(better < 0) && at < best)) best = at;
  }
  return best;
}

static int n_ready(const Field *field, int worker) {
  int n = 0;
  for (int i = 0; i < field->n_under_way; i++) {
    const TunePoint *point = &field->told.point[field->under_way[i]];
    n += point->state == TUNE_READY && point->worker == worker;
  }
  return n;
}

static bool may_choose(const Tune *tune, const Field *field) {
  const int most = tune->options.points_max, at_a_time = tune->options.at_a_time;
  if (at_a_time && field->n_under_way - field->told.n_by_state[TUNE_WAITING] >= at_a_time)
    return false;
  return !most || field->told.n_points < most || field->told.n_by_state[TUNE_WAITING] > 0;
}

// One more compile where the worker has room for it; whether it may have room for another.
static bool keep_compiling(Tune *tune, Field *field, int worker) {
  const TuneWorker *its = &tune->worker[worker];
  const int ahead = its->n_compiles + its->n_compiles / 2 + 1;
  const int room = ahead + (its->warm ? TIMINGS : READY_COLD) - n_ready(field, worker);
  if (its->n_compiling >= ahead || its->n_compiling >= room || !may_choose(tune, field))
    return false;
  // While all its cores have work there is time for the team to end what it is at.
  if (its->n_compiling >= its->n_compiles && tune_would_wait(tune, field)) return false;
  const int point = tune_choose(tune, field);
  if (point >= 0) ask_compile(tune, field, point, worker);
  return point >= 0;
}

static void keep_timing(Tune *tune, Field *field, int worker) {
  while (tune->worker[worker].n_timing < TIMINGS) {
    int point[2] = {next_ready(field, worker), -1};
    if (point[0] < 0) return;
    ask_timing(tune, field, point, 1, worker);
  }
}

static void keep_on(Tune *tune, Field *field, int worker) {
  while (tune->worker[worker].n_timing < 1) {
    int point[2];
    const int n = tune_next_of_round(field, point);
    if (n == 0) return;
    ask_timing(tune, field, point, n, worker);
  }
}

// The field of a worker that has work; NULL: it is gone, restarted, or not there yet.
static Field *field_of(const Tune *tune, int worker) {
  const TuneWorker *its = &tune->worker[worker];
  Field *field = its->at_work ? tune->field[its->field] : NULL;
  return field && !field->told.error && field->told.round < TUNE_ROUNDS ? field : NULL;
}

// GPUs first: what each has compiled is asked for before any candidate is looked at, and then each
// worker has one more to compile, so that answers that come meanwhile wait for one choice at most.
// Whether there is more to choose.
static bool keep_busy(Tune *tune) {
  bool more = false;
  for (int i = 0; i < tune->options.n_workers; i++) {
    Field *field = field_of(tune, i);
    if (!field) continue;
    tune_advance(tune, field);
    if (field->told.round == TUNE_BRIEF)
      keep_timing(tune, field, i);
    else if (field->told.round < TUNE_ROUNDS)
      keep_on(tune, field, i);
  }
  for (int i = 0; i < tune->options.n_workers; i++) {
    Field *field = field_of(tune, i);
    if (field && field->told.round == TUNE_BRIEF) more |= keep_compiling(tune, field, i);
  }
  return more;
}

// ---- what workers say ---------------------------------------------------------------------------

static void give_error(Tune *tune, TunePoint *point, const char *error) {
  if (!point->error) point->error = arena_strdup(tune->arena, error);
}

static void take_time(Field *field, TunePoint *point, const BenchResult *result, int entry) {
  const BenchEntry *timed = &result->entries[entry];
  point->round = point->asked;
  point->time_ns = timed->time.median_ns;
  point->tflops = timed->tflops;
  point->ratio = timed->ratio;
  point->cublas_ns = result->reference.time.median_ns;
  if (point->cublas_ns > 0) field->told.cublas_ns = point->cublas_ns;
  field->told.simulated = timing_is_simulated(result->method);
}

// It has not said how fast cuBLAS is: another point is to have it beside it.
static void leave_reference(Field *field, TunePoint *point) {
  field->n_references -= point->beside_cublas;
  point->beside_cublas = false;
}

static void take_entry(Tune *tune, Field *field, TunePoint *point, const BenchResult *result,
                       int entry) {
  if (point->state != TUNE_TIMING || entry >= result->n_entries) return;
  const BenchEntry *timed = &result->entries[entry];
  const bool right = timed->ok && timed->time.n_samples > 0;
  const bool wrong = timed->verify.ran && !timed->verify.ok;
  if (right) {
    take_time(field, point, result, entry);
    tune->worker[point->worker].warm = true;
  } else {
    const char *why = timed->error ? timed->error : result->error;
    give_error(tune, point, why ? why : "was not timed");
    point->time_ns = 0;
    leave_reference(field, point);
  }
  tune_settle(tune, field, point, right ? TUNE_TIMED : wrong ? TUNE_WRONG : TUNE_FAILED);
}

static TunePoint *partner(Field *field, const TunePoint *point) {
  return point->partner < 0 ? NULL : &field->told.point[point->partner];
}

static void on_result(Tune *tune, Field *field, TunePoint *point, const ClientEvent *event) {
  TunePoint *second = partner(field, point);
  if (event->compile && !event->compile->ok) give_error(tune, point, event->compile->error);
  if (event->compile && point->state == TUNE_COMPILING) tune_count(field, point, event->compile);
  if (event->clock && point->state == TUNE_COMPILING) tune_clock(field, point, event->clock);
  if (!event->bench) return;
  take_entry(tune, field, point, event->bench, 0);
  if (second) take_entry(tune, field, second, event->bench, 1);
}

// Whether the request was lost through another's fault. When a worker dies it fails all that it
// has, oldest first: the first timing among them is what it was at. A GPU that no context can be
// made on times nothing.
static bool is_innocent(Tune *tune, const TunePoint *point, const ClientEvent *event) {
  const ErrorKind kind = event->message.error;
  TuneWorker *worker = &tune->worker[point->worker];
  const bool no_gpu = kind == ERROR_NO_GPU || kind == ERROR_LOCK;
  worker->warm = false;
  if (kind == ERROR_TIMEOUT) worker->blamed_id = tune->last_id;
  if (!no_gpu && kind != ERROR_WORKER && kind != ERROR_PROTOCOL) return false;
  if (no_gpu || event->worker < 0) tune_lose_worker(tune, point->worker, event->message.text);
  if (no_gpu || event->worker < 0 || event->id <= worker->blamed_id || point->state != TUNE_TIMING)
    return true;
  worker->blamed_id = tune->last_id;
  return false;
}

// All that has been right in a round before is not to blame in a later one, unless it does not end.
static void on_error(Tune *tune, TunePoint *point, const Asked *asked, const ClientEvent *event) {
  const bool later = asked->round == TUNE_SHORT || asked->round == TUNE_FINAL;
  const ErrorKind kind = event->message.error;
  const bool innocent = is_innocent(tune, point, event) ||
                        (later && (kind == ERROR_WORKER || kind == ERROR_PROTOCOL));
  const bool once_more = innocent && point->tries < TUNE_TRIES;
  const bool keeps_time = later && (innocent || kind == ERROR_TIMEOUT);
  point->another_turn = later && once_more;
  point->again = once_more || keeps_time || kind == ERROR_CANCELLED;
  if (!point->again) give_error(tune, point, event->message.text);
}

// All compiled points whose timing no worker will do any more wait for another worker.
static void end_compile(Tune *tune, Field *field, TunePoint *point) {
  const TuneWorker *worker = &tune->worker[point->worker];
  if (point->again || worker->gone || tune->field[worker->field] != field) {
    tune_set_state(field, point, TUNE_WAITING);
    return;
  }
  field->told.n_compiled += !point->was_compiled;
  point->was_compiled = true;
  if (point->error)
    tune_settle(tune, field, point, TUNE_FAILED);
  else
    tune_set_state(field, point, TUNE_READY);
}

// A point of a later round keeps the time that it had, and its place among those to be timed where
// the worker was lost.
static void take_back(Field *field, TunePoint *point, bool another_turn) {
  tune_set_state(field, point, TUNE_TIMED);
  if (!another_turn) return;
  point->tries++;
  field->chosen[--field->n_given] = (int)(point - field->told.point);
}

// All that is still being timed at the end of its request has no time.
static void end_point(Tune *tune, Field *field, TunePoint *point, const TunePoint *first) {
  if (!point || point->state != TUNE_TIMING) return;
  leave_reference(field, point);
  if (first->again && point->asked == TUNE_BRIEF) {
    tune_set_state(field, point, TUNE_WAITING);
  } else if (first->again) {
    take_back(field, point, first->another_turn);
  } else {
    give_error(tune, point,
               first->error ? first->error : "the worker ended the request without a result");
    point->time_ns = 0;
    tune_settle(tune, field, point, TUNE_FAILED);
  }
}

static void end_timing(Tune *tune, Field *field, TunePoint *point) {
  end_point(tune, field, partner(field, point), point);
  end_point(tune, field, point, point);
}

static void end_request(Tune *tune, const Asked *asked, bool is_its) {
  const bool compiled = asked->round == TUNE_ROUNDS;
  TuneWorker *worker = &tune->worker[asked->worker];
  if (compiled)
    worker->n_compiling--;
  else
    worker->n_timing--;
  if (!compiled && asked->round != TUNE_BRIEF) asked->field->n_open--;
  if (!is_its) return;
  (compiled ? end_compile : end_timing)(tune, asked->field, asked->point);
  asked->point->again = asked->point->another_turn = false;
}

// A point that has its time may be asked for in the next round before its request is done.
static void on_event(Tune *tune, const ClientEvent *event) {
  const Message *said = &event->message;
  if (said->kind == MESSAGE_MACHINE) tune_look_at_machine(tune, event->worker);
  if (!tune->first_id || event->id < tune->first_id) return;  // a search before asked
  const Asked asked = read_key(tune, event->key);
  const bool is_its = asked.point->request == event->id;
  if (said->kind == MESSAGE_RESULT && is_its) on_result(tune, asked.field, asked.point, event);
  if (said->kind == MESSAGE_ERROR && is_its) on_error(tune, asked.point, &asked, event);
  if (said->kind == MESSAGE_DONE) end_request(tune, &asked, is_its);
}

// ---- the search ---------------------------------------------------------------------------------

Tune *tune_start(Arena *arena, const TuneOptions *options) {
  Tune *tune = ARENA_NEW(arena, Tune);
  tune->arena = arena;
  tune->options = *options;
  tune->team = team_new(1 + team_usual());
  tune->started = clock_seconds();
  for (int i = 0; i < CLIENT_WORKERS_MAX; i++) tune->worker[i].field = -1;
  tune_look_at_workers(tune);
  return tune;
}

void tune_cancel(Tune *tune) { tune->cancelled = true; }

void tune_end(Tune *tune) {
  team_end(tune->team);
  for (int f = 0; f < tune->n_fields; f++) {
    const TuneField *field = &tune->field[f]->told;
    for (int i = 0; i < field->n_points; i++)
      if (field->point[i].state == TUNE_COMPILING || field->point[i].state == TUNE_TIMING)
        client_cancel(tune->options.client, field->point[i].request);
    tune_field_end(tune->field[f]);
  }
}

// A worker that has not come yet is waited for as long as no worker has come to an end.
static bool waits_for_any(const Tune *tune) {
  for (int i = 0; i < tune->options.n_workers; i++)
    if (tune->worker[i].field < 0 && !tune->worker[i].gone) return true;
  return false;
}

static bool is_over(const Tune *tune) {
  bool open = false, any_done = false;
  for (int i = 0; i < tune->n_fields; i++) {
    const TuneField *told = &tune->field[i]->told;
    const bool done = told->round == TUNE_ROUNDS || told->error;
    any_done |= done;
    open |= !done && tune_has_hands(tune, i);
  }
  open |= !any_done && waits_for_any(tune);
  const double late = tune->n_fields ? tune->options.seconds + late_s : waits_s;
  return tune->cancelled || !open || tune_now(tune) > late;
}

bool tune_step(Tune *tune, int timeout_ms) {
  ClientEvent *event = client_next(tune->options.client, tune->hungry ? 0 : timeout_ms);
  for (; event; event = client_poll(tune->options.client)) {
    on_event(tune, event);
    client_event_free(event);
  }
  tune_look_at_workers(tune);
  tune->hungry = keep_busy(tune);
  return !is_over(tune);
}

const char *tune_error(const Tune *tune) {
  for (int i = 0; i < tune->options.n_workers; i++)
    if (!tune->worker[i].gone && tune->n_fields) return NULL;
  for (int i = 0; i < tune->options.n_workers; i++)
    if (tune->worker[i].gone) return tune->worker[i].gone;
  return "no worker has answered";
}

const char *tune_worker_error(const Tune *tune, int worker) { return tune->worker[worker].gone; }
