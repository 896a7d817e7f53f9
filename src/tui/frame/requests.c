// Requests are remembered by their id with the schedule they are for, because the session may be
// anywhere else by the time the answer comes.
//
// Worked example: the user presses Right four times on FM. Four pictures are drawn; 300 ms after
// the last, its plan is submitted with the picture's key. PTX arrives after some 20 ms and is filed
// under that key, registers and spills follow, then SASS where nvdisasm is installed. If the user
// has moved on meanwhile, the results are there when they come back.
#include "tui/frame/requests.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/program.h"
#include "tui/frame/view.h"
#include "tui/session/at_hand.h"
#include "tui/session/clock_ahead.h"
#include "tui/session/placed_loads.h"
#include "tui/session/tuning.h"

enum { REQUESTS_MAX = 160, PAST_ROWS = 100 };

typedef enum RequestKind {
  ASK_COMPILE,
  ASK_PLACE,
  ASK_CLOCK,
  ASK_BENCH,
  ASK_TRACE,
  ASK_PROBE,
  ASK_HISTORY,
  ASK_KNOWN
} RequestKind;

typedef struct Request {
  int64_t id;  // 0: the place is free
  RequestKind kind;
  uint64_t key;
  Schedule schedule, schedule_b;
  int copy, place;  // of ASK_PLACE
  int n_plans, n_accesses;
  ProbeAccess access[2];
} Request;

struct Requests {
  Arena *arena, *scratch;
  Client *client;
  ClientOptions options;  // of the client
  Session *session;
  Request request[REQUESTS_MAX];
  uint64_t seen_key, asked_key, asked_other;
  int64_t rests_since_ms;
  uint64_t known_key;  // of the problem and GPU that the history was asked about; 0: of none
};

Requests *requests_start(Arena *arena, const ClientOptions *options, Session *session) {
  Requests *requests = ARENA_NEW(arena, Requests);
  requests->arena = arena;
  requests->scratch = arena_new("requests");
  requests->session = session;
  if (options) requests->options = *options;
  requests->client = options ? client_start(options) : NULL;
  session->background.worker.present = requests->client != NULL;
  return requests;
}

void requests_stop(Requests *requests) {
  if (requests->client) client_stop(requests->client);
  arena_free(requests->scratch);
}

int requests_fd(const Requests *requests) {
  return requests->client ? client_wake_fd(requests->client) : -1;
}

// ---- asking -------------------------------------------------------------------------------------

static Request *free_request(Requests *requests) {
  for (int i = 0; i < REQUESTS_MAX; i++)
    if (!requests->request[i].id) return &requests->request[i];
  return NULL;
}

static Request *find_request(Requests *requests, int64_t id) {
  for (int i = 0; i < REQUESTS_MAX && id; i++)
    if (requests->request[i].id == id) return &requests->request[i];
  return NULL;
}

static const Plan *plan_of(Requests *requests, const Picture *picture, const char *label) {
  return plan_from_model(requests->scratch, picture->model, label);
}

static void ask_compile(Requests *requests, const Side *side) {
  Session *session = requests->session;
  Request *request = free_request(requests);
  if (!request) return;
  arena_reset(requests->scratch);
  ClientRequest ask = {.kind = MESSAGE_COMPILE,
                       .plan = plan_of(requests, side->picture, "explorer"),
                       .want = "ptx,cubin,code,sass",
                       .keep = side == &session->doc.then,
                       .key = side->picture->key};
  *request = (Request){
      .id = client_submit(requests->client, &ask), .key = ask.key, .schedule = side->pictured};
  results_begin_compile(&session->background.results, ask.key)->running = true;
}

// A of A|B is compiled after B, so that their instructions can stand beside each other.
static void tick_other(Requests *requests) {
  Session *session = requests->session;
  if (!session->doc.comparing) return;
  uint64_t key = session->doc.then.picture->key;
  if (key == requests->asked_other || results_compiled(&session->background.results, key)) return;
  requests->asked_other = key;
  ask_compile(requests, &session->doc.then);
}

static bool asks_for_key(const Requests *requests, RequestKind kind, uint64_t key) {
  for (int i = 0; i < REQUESTS_MAX; i++) {
    const Request *request = &requests->request[i];
    if (request->id && request->kind == kind && request->key == key) return true;
  }
  return false;
}

static bool asks_for(const Requests *requests, RequestKind kind) {
  for (int i = 0; i < REQUESTS_MAX; i++)
    if (requests->request[i].id && requests->request[i].kind == kind) return true;
  return false;
}

// The kernel with a copy moved, one at a time, so that a schedule that is turned to meanwhile does
// not wait for all of them.
static void tick_places(Requests *requests) {
  PlacedLoads *placed = requests->session->background.placed;
  int copy, place;
  if (!placed || placed->key != requests->seen_key || asks_for(requests, ASK_PLACE)) return;
  Request *request = free_request(requests);
  if (!request || !placed_loads_next(placed, &copy, &place)) return;
  arena_reset(requests->scratch);
  const ClientRequest ask = {.kind = MESSAGE_COMPILE,
                             .plan = placed_loads_plan(requests->scratch, placed, copy, place),
                             .want = "cubin",
                             .keep = true,
                             .key = placed->key};
  *request = (Request){.kind = ASK_PLACE, .key = ask.key, .copy = copy, .place = place};
  request->id = client_submit(requests->client, &ask);
  placed_loads_asked(placed, copy, place);
}

// ---- the clock ----------------------------------------------------------------------------------

static bool is_clock_asked(const void *context, uint64_t key) {
  return asks_for_key(context, ASK_CLOCK, key);
}

// The state at hand waits for its cubin, which the cache then has: two processes would compile the
// same text beside each other.
static bool is_compiling(const Requests *requests, uint64_t key) {
  const Compiled *compiled = results_compiled(&requests->session->background.results, key);
  return compiled && compiled->running && compiled->registers < 0;
}

static void ask_clock(Requests *requests, const ClockWanted *wanted) {
  Session *session = requests->session;
  Request *request = free_request(requests);
  if (!request) return;
  arena_reset(requests->scratch);
  const Model *model = model_build(requests->scratch, &session->doc.targets, &wanted->schedule);
  if (!model->ok) {
    results_add_clock(&session->background.results, wanted->key, NULL);
    return;
  }
  const ClientRequest ask = {.kind = MESSAGE_COMPILE,
                             .plan = plan_from_model(requests->scratch, model, "clock"),
                             .want = "clock",
                             .state = schedule_record_text(requests->scratch, &wanted->schedule),
                             .device = &session->background.device,
                             .keep = true,
                             .key = wanted->key};
  *request = (Request){.kind = ASK_CLOCK, .key = ask.key};
  request->id = client_submit(requests->client, &ask);
}

// One at a time, and none while something is timed: compilers would take the processor from it.
static void tick_clock(Requests *requests) {
  Session *session = requests->session;
  ClockWanted wanted;
  const bool timing = asks_for(requests, ASK_BENCH) || asks_for(requests, ASK_TRACE) ||
                      asks_for(requests, ASK_PROBE) || tuning_runs(session);
  if (timing || asks_for(requests, ASK_CLOCK) ||
      !clock_ahead_next(session, is_clock_asked, requests, &wanted) ||
      is_compiling(requests, wanted.key))
    return;
  ask_clock(requests, &wanted);
}

// The state was left: the clock's runs for it give their processor back.
static void leave_clocks(Requests *requests) {
  for (int i = 0; i < REQUESTS_MAX; i++)
    if (requests->request[i].id && requests->request[i].kind == ASK_CLOCK)
      client_cancel(requests->client, requests->request[i].id);
}

// Asks for all that the history has of the problem on the GPU at hand, once for each.
static void ask_known(Requests *requests) {
  Session *session = requests->session;
  if (!session->background.device.name[0]) return;
  const Plan plan = plan_of_problem(&session_model(session)->program->problem);
  arena_reset(requests->scratch);
  const char *problem = history_problem(requests->scratch, &plan);
  const uint64_t key = hash_text(hash_text(HASH_START, session->background.device.name), problem);
  Request *request = key == requests->known_key ? NULL : free_request(requests);
  if (!request) return;
  requests->known_key = key;
  at_hand_take_best(session, NULL);
  *request = (Request){.kind = ASK_KNOWN};
  request->id = client_ask_known(requests->client, session->background.device.name, problem);
}

void requests_known_again(Requests *requests) { requests->known_key = 0; }

static bool is_asked(const Requests *requests, uint64_t key) {
  return key == requests->asked_key ||
         results_compiled(&requests->session->background.results, key);
}

int requests_tick(Requests *requests, int64_t now_ms) {
  Session *session = requests->session;
  uint64_t key = session->doc.now.picture->key;
  if (requests->client) ask_known(requests);
  if (!requests->client || !session->background.worker.can_compile) return -1;
  if (key != requests->seen_key) {
    requests->seen_key = key;
    requests->rests_since_ms = now_ms;
    leave_clocks(requests);
  }
  int64_t left = requests->rests_since_ms + REQUESTS_REST_MS - now_ms;
  if (left > 0) return (int)left;
  if (!is_asked(requests, key)) {
    requests->asked_key = key;
    ask_compile(requests, &session->doc.now);
  }
  tick_other(requests);
  tick_places(requests);
  tick_clock(requests);
  return -1;
}

// Why there is no GPU to time on: what the worker says of its machine, or how it ended without a
// word.
static void say_no_gpu(Requests *requests) {
  ClientStatus status;
  client_status(requests->client, 0, &status);
  const char *told = requests->session->background.worker.gpu_error,
             *why = *told                ? told
                    : status.unreachable ? status.reason
                                         : "the worker is starting";
  session_say(requests->session, SAID_WARNING, "%s", why);
}

static bool has_gpu(Requests *requests) {
  Session *session = requests->session;
  if (!requests->client)
    session_say(session, SAID_WARNING, "no worker runs, so nothing can be timed here");
  else if (!session->background.worker.gpu[0])
    say_no_gpu(requests);
  else
    return true;
  return false;
}

static bool can_bench(Requests *requests) {
  if (!requests->session->doc.now.reasons) return has_gpu(requests);
  session_say(requests->session, SAID_WARNING,
              "not legal, so there is nothing to time; %s mends it",
              view_key_name(requests->session, "fix"));
  return false;
}

static bool is_timed_here(const Session *session, const Schedule *schedule) {
  const Timed *timed = results_find(&session->background.results, schedule);
  return timed && timed->origin == ORIGIN_MEASURED;
}

// The first press takes what others have measured just now; the next one measures.
void requests_bench(Requests *requests) {
  Session *session = requests->session;
  const Schedule *schedule = &session->doc.now.pictured;
  Request *request = free_request(requests);
  if (!request || !can_bench(requests)) return;
  arena_reset(requests->scratch);
  ClientRequest ask = {.kind = MESSAGE_BENCH,
                       .plan = plan_of(requests, session->doc.now.picture, "B"),
                       .state = schedule_record_text(requests->scratch, schedule),
                       .key = session->doc.now.picture->key,
                       .share = !is_timed_here(session, schedule) &&
                                !asks_for_key(requests, ASK_BENCH, session->doc.now.picture->key)};
  *request = (Request){.kind = ASK_BENCH,
                       .key = ask.key,
                       .n_plans = 1,
                       .schedule = session->doc.now.pictured,
                       .schedule_b = session->doc.then.pictured};
  if (session->doc.comparing) {
    ask.plan_b = plan_of(requests, session->doc.then.picture, "A");
    ask.state_b = schedule_record_text(requests->scratch, &session->doc.then.pictured);
    request->n_plans = 2;
  }
  request->id = client_submit(requests->client, &ask);
  snprintf(session->background.worker.line, sizeof session->background.worker.line,
           "timing begins");
}

void requests_trace(Requests *requests) {
  Session *session = requests->session;
  Request *request = free_request(requests);
  if (!request || !can_bench(requests)) return;
  arena_reset(requests->scratch);
  const Model *model = session_model(session);
  const Emission *traced = emit_traced(requests->scratch, model);
  const ClientRequest ask = {.kind = MESSAGE_TRACE,
                             .plan = plan_traced(requests->scratch, model, traced, 0),
                             .plan_b = plan_from_model(requests->scratch, model, ""),
                             .key = session->doc.now.picture->key};
  *request = (Request){.kind = ASK_TRACE, .key = ask.key};
  request->id = client_submit(requests->client, &ask);
  snprintf(session->background.worker.line, sizeof session->background.worker.line,
           "tracing begins");
}

static void add_access(Request *request, const Picture *picture, int index) {
  if (index < 0 || index >= picture->model->n_sites) return;
  const Site *site = &picture->model->site[index];
  ProbeAccess *access = &request->access[request->n_accesses++];
  access->op = site->op->name;
  memcpy(access->addr, site->addr, sizeof access->addr);
}

void requests_probe(Requests *requests) {
  Session *session = requests->session;
  Request *request = free_request(requests);
  if (!request || !has_gpu(requests)) return;
  *request = (Request){.kind = ASK_PROBE, .key = session->doc.now.picture->key};
  add_access(request, session->doc.now.picture, session->at.site);
  if (session->doc.comparing)
    add_access(request, session->doc.then.picture,
               session_matching_site(session, session->doc.then.picture));
  if (!request->n_accesses) return;
  const ProbeRequest probe = {request->n_accesses, request->access};
  const ClientRequest ask = {.kind = MESSAGE_PROBE, .probe = &probe, .key = request->key};
  request->id = client_submit(requests->client, &ask);
  snprintf(session->background.worker.line, sizeof session->background.worker.line,
           "probing begins");
}

// One value of the sweep; false when it is not legal, timed here already, or nothing can be asked.
static bool ask_point(Requests *requests, const Schedule *schedule) {
  Session *session = requests->session;
  Request *request = free_request(requests);
  if (!request || is_timed_here(session, schedule)) return false;
  arena_reset(requests->scratch);
  const Model *model = model_build(requests->scratch, &session->doc.targets, schedule);
  if (!model->ok) return false;
  ClientRequest ask = {.kind = MESSAGE_BENCH,
                       .plan = plan_from_model(requests->scratch, model, "B"),
                       .state = schedule_record_text(requests->scratch, schedule),
                       .key = schedule_identity(schedule),
                       .share = true};
  *request = (Request){.kind = ASK_BENCH, .key = ask.key, .n_plans = 1, .schedule = *schedule};
  request->id = client_submit(requests->client, &ask);
  return true;
}

void requests_bench_sweep(Requests *requests) {
  Session *session = requests->session;
  const KnobSweep *sweep = session->background.sweep;
  if (!can_bench(requests)) return;
  int n = 0;
  for (int i = 0; i < sweep->n; i++) {
    Schedule schedule = knobsweep_schedule(sweep, i);
    n += ask_point(requests, &schedule);
  }
  if (n)
    session_say(session, SAID_NOTE, "%d values of %s wait for their timing; x stops", n,
                knob_table[sweep->knob].name);
  else
    session_say(session, SAID_NOTE, "nothing left to time: every legal value was timed here");
}

void requests_history(Requests *requests) {
  Request *request = requests->client ? free_request(requests) : NULL;
  if (!request) return;
  *request = (Request){.kind = ASK_HISTORY};
  request->id = client_ask_history(requests->client, PAST_ROWS);
}

void requests_tune(Requests *requests, double seconds) {
  if (has_gpu(requests)) tuning_start(requests->session, &requests->options, seconds);
}

void requests_stop_timing(Requests *requests) {
  int n = 0;
  for (int i = 0; i < REQUESTS_MAX; i++) {
    if (!requests->request[i].id || requests->request[i].kind != ASK_BENCH) continue;
    client_cancel(requests->client, requests->request[i].id);
    n++;
  }
  if (n)
    session_say(requests->session, SAID_NOTE, "%d timing%s taken back", n, plural_s(n));
  else
    session_say(requests->session, SAID_NOTE, "nothing is being timed");
}

// ---- hearing ------------------------------------------------------------------------------------

// A history that cannot be kept is said once, when it is first missed.
static void note_history(Requests *requests) {
  Results *results = &requests->session->background.results;
  char error[sizeof results->past_error];
  client_history_error(requests->client, error, sizeof error);
  if (error[0] && !str_equal(error, results->past_error))
    session_say(requests->session, SAID_WARNING, "%s", error);
  snprintf(results->past_error, sizeof results->past_error, "%s", error);
}

static void take_bench(Requests *requests, const Request *request, const BenchResult *bench) {
  Results *results = &requests->session->background.results;
  for (int i = 0; i < bench->n_entries && i < request->n_plans; i++)
    results_add_bench(results, i ? &request->schedule_b : &request->schedule, &bench->entries[i],
                      bench);
  note_history(requests);
  if (bench->error) session_say(requests->session, SAID_ERROR, "%s", bench->error);
}

// "you, 40 s ago" for the user's own, of another session.
static void take_shared(Requests *requests, const Request *request, const HistoryRow *row) {
  Session *session = requests->session;
  arena_reset(requests->scratch);
  const HistoryRow said = history_said(requests->scratch, row);
  results_add_shared(&session->background.results, &request->schedule, &said);
  session_say(session, SAID_NOTE, "shared: %.60s; %s repeats",
              history_age(requests->scratch, &said, (int64_t)time(NULL)),
              view_key_name(session, "bench"));
}

static void take_probe(Requests *requests, const Request *request, const ProbeResults *probe) {
  Session *session = requests->session;
  for (int i = 0; i < probe->n && i < request->n_accesses; i++) {
    const ProbeResult *result = &probe->result[i];
    if (result->ok && result->clocks > 0)
      results_add_probe(&session->background.results, &request->access[i], result);
    else
      session_say(session, SAID_ERROR, "%.300s", result->error ? result->error : "not measured");
  }
}

static void take_trace(Requests *requests, const Request *request, const TraceResult *trace) {
  if (trace->ok)
    results_add_trace(&requests->session->background.results, request->key, trace);
  else
    session_say(requests->session, SAID_ERROR, "%.300s",
                trace->error ? trace->error : "not traced");
}

static void take_place(Requests *requests, const Request *request, const CompileResult *result,
                       const char *error) {
  placed_loads_take(requests->session->background.placed, request->key, request->copy,
                    request->place, result, error);
}

// A text that does not compile has no number, and neither has a kernel that cannot be played.
static void take_clock(Requests *requests, const Request *request, const ClientEvent *event) {
  const ClockNumber *number = event->clock;
  results_add_clock(&requests->session->background.results, request->key,
                    number && !number->why_not ? &number->speed : NULL);
}

static void take_result(Requests *requests, const Request *request, const ClientEvent *event) {
  Results *results = &requests->session->background.results;
  if (request->kind == ASK_CLOCK) {
    take_clock(requests, request, event);
    return;
  }
  if (request->kind == ASK_PLACE) {
    take_place(requests, request, event->compile, NULL);
    return;
  }
  if (event->compile)
    results_add_compile(results_begin_compile(results, request->key), event->compile);
  if (event->code) results_add_code(results_begin_compile(results, request->key), event->code);
  if (event->sass) results_add_sass(results_begin_compile(results, request->key), event->sass);
  if (event->bench) take_bench(requests, request, event->bench);
  if (event->trace) take_trace(requests, request, event->trace);
  if (event->probe) take_probe(requests, request, event->probe);
  if (request->kind == ASK_KNOWN) {
    at_hand_take_best(requests->session, event->n_rows ? event->row : NULL);
    at_hand_take_fits(requests->session, event->fit, event->n_fits);
  } else if (request->kind == ASK_HISTORY) {
    results_set_past(results, event->row, event->n_rows);
    note_history(requests);
  } else if (event->n_rows) {
    take_shared(requests, request, event->row);
  }
}

static bool is_on_gpu(const Request *request) {
  return request->kind == ASK_BENCH || request->kind == ASK_TRACE || request->kind == ASK_PROBE;
}

static void take_error(Requests *requests, const Request *request, const Message *message) {
  Session *session = requests->session;
  if (message->error == ERROR_SUPERSEDED || !request || request->kind == ASK_HISTORY ||
      request->kind == ASK_KNOWN)
    return;
  if (request->kind == ASK_CLOCK) {
    if (message->error != ERROR_CANCELLED)
      results_add_clock(&session->background.results, request->key, NULL);
    return;
  }
  if (is_on_gpu(request)) {
    session_say(session, SAID_ERROR, "%.300s", message->text);
    return;
  }
  if (request->kind == ASK_PLACE) {
    take_place(requests, request, NULL, message->text);
    return;
  }
  if (message->error == ERROR_NO_TOOL && str_equal(message->what ? message->what : "", "sass"))
    return;
  Compiled *compiled = results_begin_compile(&session->background.results, request->key);
  if (!compiled->ptx) compiled->error = str_sanitise(compiled->arena, message->text);
}

static void take_machine(Session *session, const Message *message) {
  session->background.worker.can_compile = message->can_compile;
  snprintf(session->background.worker.gpu, sizeof session->background.worker.gpu, "%.90s",
           message->gpu ? message->gpu : "");
  const char *why = message->gpu ? "" : message->gpu_error ? message->gpu_error : "no GPU here";
  snprintf(session->background.worker.gpu_error, sizeof session->background.worker.gpu_error,
           "%.150s", why);
  const Device device = client_device(message);
  at_hand_take(session, &device);
}

static void take_progress(Session *session, const Request *request, const Message *message) {
  static const char *const words[] = {
      [ASK_BENCH] = "timing", [ASK_TRACE] = "tracing", [ASK_PROBE] = "probing"};
  if (!request || !is_on_gpu(request)) return;
  if (message->kind == MESSAGE_QUEUED)
    snprintf(session->background.worker.line, sizeof session->background.worker.line,
             "%d requests come first, about %.0f s", (int)message->place, message->seconds);
  else
    snprintf(session->background.worker.line, sizeof session->background.worker.line,
             "%s: %.60s %.0f %%", words[request->kind], message->stage, 100 * message->fraction);
}

static void take_done(Requests *requests, Request *request) {
  if (!request) return;
  if (is_on_gpu(request)) requests->session->background.worker.line[0] = '\0';
  Results *results = &requests->session->background.results;
  if (request->kind == ASK_PLACE) take_place(requests, request, NULL, NULL);
  if (request->kind == ASK_COMPILE) results_begin_compile(results, request->key)->running = false;
  bool is_news = request->kind == ASK_BENCH && results->past_known;
  if (request->kind == ASK_BENCH) requests_known_again(requests);
  *request = (Request){0};
  if (is_news) requests_history(requests);
}

static void take_event(Requests *requests, const ClientEvent *event) {
  Request *request = find_request(requests, event->id);
  const Message *message = &event->message;
  switch (message->kind) {
    case MESSAGE_MACHINE:
      take_machine(requests->session, message);
      break;
    case MESSAGE_QUEUED:
    case MESSAGE_PROGRESS:
      take_progress(requests->session, request, message);
      break;
    case MESSAGE_RESULT:
      if (request) take_result(requests, request, event);
      break;
    case MESSAGE_ERROR:
      take_error(requests, request, message);
      break;
    case MESSAGE_DONE:
      take_done(requests, request);
      break;
    default:
      break;
  }
}

bool requests_poll(Requests *requests) {
  bool any = false;
  if (!requests->client) return false;
  for (ClientEvent *event; (event = client_poll(requests->client)); client_event_free(event)) {
    take_event(requests, event);
    any = true;
  }
  return any;
}
