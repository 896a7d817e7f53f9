// The life of the workers: start, hello, work, death, again.
//
//   RESTARTING ──start_at──► STARTING ──hello──► READY ◄──► BUSY
//       ▲                        │ no hello         │ end of stdout, garbage, silence, a deadline
//       missed └────────── reap ◄───────┴──────────────────┘
//
// A worker that dies takes its requests with it: each gets an error that says how the worker ended
// and a done; nothing is repeated behind the user's back, because the request may be what killed
// it. It is started again after 20 ms, later where it ends soon after each start with nothing done;
// a command that never says hello and tells of its machine (an unreachable box) is tried at growing
// distances up to 10 s, and requests that no worker is there to take fail after its third attempt,
// or the first that was silent for the whole of its time, with the last words of its stderr.
//
// Worked example, kill −9 of a busy worker: stdout ends → "worker: ended by signal 9 (Killed) while
// it had 1 request" → 20 ms later fork and exec → hello → READY, all within 100 ms.
#include "kernels/worker/client_inside.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/unicode.h"

enum {
  REAP_MS = 100,
  RESTART_MS = 20,
  QUICK_MS = 2000,  // an end so soon is no rare one
  BACKOFF_MS = 100,
  BACKOFF_MAX_MS = 10000,
  ATTEMPTS = 3,       // without a hello, before waiting requests are refused
  BENCHES_EACH = 3,   // sent to one worker at a time; the rest can go to another
  COMPILES_EACH = 8,  // at least; else two for each that it runs at once
  BANNER_LINES = 1000,
  TICK_MS = 250,
  WORDS_BYTES = 250
};

// ---- saying -------------------------------------------------------------------------------------

static int index_of(const Client *client, const Worker *worker) {
  return (int)(worker - client->workers);
}

static void publish_status(Client *client, const Worker *worker) {
  pthread_mutex_lock(&client->mutex);
  client->status[index_of(client, worker)] = worker->status;
  pthread_mutex_unlock(&client->mutex);
  const uint64_t one = 1;
  ssize_t ignored = write(client->wake_fd, &one, sizeof one);
  (void)ignored;
}

static void set_state(Client *client, Worker *worker, ClientState state) {
  ClientStatus *status = &worker->status;
  if (status->state != state) status->since_ms = client->now_ms;
  status->state = state;
  status->n_requests = worker->flights.n;
  status->pid = (int)worker->process.pid;
  if (state != CLIENT_BUSY) {
    status->id = 0;
    status->place = 0;
    status->seconds = 0;
    status->stage[0] = '\0';
  }
  publish_status(client, worker);
}

static void rest_or_work(Client *client, Worker *worker) {
  set_state(client, worker, worker->flights.n > 0 ? CLIENT_BUSY : CLIENT_READY);
}

static void say_done(Client *client, Flight *flight, int worker) {
  Message done = message_new(MESSAGE_DONE);
  MESSAGE_SET(done, id, flight->id);
  client_publish(client, flight->id, flight->key, worker, &done);
  flight_free(flight);
}

// The flight is in no list any more and ends here.
static void fail_flight(Client *client, Flight *flight, int worker, ErrorKind kind,
                        const char *text) {
  Message error = message_new(MESSAGE_ERROR);
  MESSAGE_SET(error, id, flight->id);
  MESSAGE_SET(error, error, kind);
  MESSAGE_SET(error, text, text);
  client_publish(client, flight->id, flight->key, worker, &error);
  say_done(client, flight, worker);
}

static void fail_list(Client *client, FlightList *list, int worker, ErrorKind kind,
                      const char *text) {
  while (list->first) {
    Flight *flight = list->first;
    flight_list_remove(list, flight);
    fail_flight(client, flight, worker, kind, text);
  }
}

// ---- birth and death ----------------------------------------------------------------------------

static int64_t growing(int64_t first_ms, int times) {
  const int64_t delay = first_ms << (times < 10 ? times : 10);
  return delay < BACKOFF_MAX_MS ? delay : BACKOFF_MAX_MS;
}

// A request may be what killed it; a worker that ends by itself would be started for ever, over ssh
// with a login each time.
static int64_t restart_delay(const Client *client, Worker *worker) {
  const bool worked = worker->said_hello && (worker->flights.n > 0 || worker->has_done);
  if (!worked && !worker->told_machine) return growing(BACKOFF_MS, worker->n_failures++);
  const bool quick = !worked && client->now_ms - worker->born_at < QUICK_MS;
  worker->n_failures = 0;
  worker->n_quick = quick ? worker->n_quick + 1 : 0;
  return growing(RESTART_MS, quick ? worker->n_quick - 1 : 0);
}

static bool is_hopeless(const Worker *worker) {
  return worker->n_failures >= ATTEMPTS || worker->status.state == CLIENT_FAILED;
}

// The last of the workers that the flight may go to, when none of them is to be waited for.
static const Worker *hopeless_for(const Client *client, const Flight *flight) {
  const Worker *last = NULL;
  for (int i = 0; i < client->n_workers; i++) {
    if (flight->worker && flight->worker != i + 1) continue;
    last = &client->workers[i];
    if (!is_hopeless(last)) return NULL;
  }
  return last;
}

static void refuse_pending(Client *client) {
  for (Flight *at = client->pending.first, *next; at; at = next) {
    next = at->next;
    const Worker *last = hopeless_for(client, at);
    if (!last) continue;
    flight_list_remove(&client->pending, at);
    fail_flight(client, at, -1, ERROR_WORKER, last->status.reason);
  }
}

// The words come from outside, and their end says more than their beginning.
static void set_reason(Worker *worker, const char *how) {
  ClientStatus *status = &worker->status;
  Arena *arena = arena_new("reason");
  char *words = str_sanitise(arena, worker->process.words);
  size_t n = strlen(words);
  while (n > 0 && words[n - 1] == '\n') words[--n] = '\0';
  const char *tail = n > WORDS_BYTES ? words + (n - WORDS_BYTES) : words;
  while (utf8_continues(*tail)) tail++;
  const char *text =
      arena_printf(arena, "the worker \"%s\" %s%s%s", status->name, how, *tail ? ": " : "", tail);
  client_copy_text(status->reason, sizeof status->reason, text);
  arena_free(arena);
}

static void end_process(Client *client, Worker *worker) {
  if (client->leave_ms > 0)
    process_dismiss(&worker->process, &client->reaper, client->leave_ms);
  else
    process_kill(&worker->process, &client->reaper);
}

// `how` continues "the worker "ssh box gemmview worker" …". Its process is ended if it is not yet.
static void worker_died(Client *client, Worker *worker, ErrorKind kind, const char *how) {
  process_read_words(&worker->process);
  end_process(client, worker);
  set_reason(worker, how);
  worker->start_at = client->now_ms + restart_delay(client, worker);
  worker->status.unreachable = is_hopeless(worker);
  FlightList lost = worker->flights;
  worker->flights = (FlightList){0};
  set_state(client, worker, CLIENT_RESTARTING);
  fail_list(client, &lost, index_of(client, worker), kind, worker->status.reason);
  refuse_pending(client);
}

static void start_worker(Client *client, Worker *worker) {
  const ProcessOptions options = {
      .leaves = client->leave_ms > 0, .new_session = true, .line_limit = PROTOCOL_LINE_MAX};
  worker->said_hello = worker->told_machine = worker->has_done = false;
  worker->born_at = client->now_ms;
  worker->n_banner_lines = 0;
  worker->heard_at = client->now_ms;
  worker->status.n_starts++;
  if (!process_start(&worker->process, worker->argv, &options)) {
    worker_died(client, worker, ERROR_WORKER, strerror(errno));
    return;
  }
  out_queue_add(&worker->process.queue, client->hello.text, client->hello.length);
  set_state(client, worker, CLIENT_STARTING);
}

static void give_up(Client *client, Worker *worker, const char *how) {
  worker_died(client, worker, ERROR_WORKER, how);
  worker->status.unreachable = true;
  set_state(client, worker, CLIENT_FAILED);
  refuse_pending(client);
}

// ---- what a worker says -------------------------------------------------------------------------

static Flight *find_flight(const FlightList *list, int64_t id) {
  for (Flight *at = list->first; at; at = at->next)
    if (at->id == id) return at;
  return NULL;
}

#define COPY_FIELD(to, message, field) \
  client_copy_text((to), sizeof(to), MESSAGE_HAS(message, field) ? (message).field : "")

Device client_device(const Message *machine) {
  Device device = {0};
  COPY_FIELD(device.name, *machine, gpu);
  COPY_FIELD(device.arch, *machine, arch);
#define X(field) \
  if (MESSAGE_HAS(*machine, field)) device.field = machine->field;
  DEVICE_FIELD_TABLE(X)
#undef X
  return device;
}

static void on_machine(Client *client, Worker *worker, const Message *said) {
  ClientStatus *status = &worker->status;
  COPY_FIELD(status->host, *said, host);
  COPY_FIELD(status->gpu_error, *said, gpu_error);
  COPY_FIELD(worker->gpu_uuid, *said, gpu_uuid);
  status->device = client_device(said);
  COPY_FIELD(status->driver, *said, driver);
  COPY_FIELD(status->nvrtc, *said, nvrtc);
  status->can_compile = said->can_compile;
  status->n_compiles = (int)said->compiles;
  status->n_gpus = (int)said->gpus;
  status->machine_known = true;
  status->unreachable = false;
  worker->told_machine = true;
  worker->n_failures = 0;
  publish_status(client, worker);  // a reader that hears of it may ask
  client_publish(client, 0, 0, index_of(client, worker), said);
}

static void note_progress(Client *client, Worker *worker, const Message *said) {
  ClientStatus *status = &worker->status;
  if (status->id != said->id) status->id_since_ms = client->now_ms;
  status->id = said->id;
  status->place = said->kind == MESSAGE_QUEUED ? (int)said->place : 0;
  status->seconds = said->seconds;
  if (said->kind == MESSAGE_PROGRESS)
    client_copy_text(status->stage, sizeof status->stage, said->stage);
  publish_status(client, worker);
}

// Passes an answer on, unless its request is over (cancelled, timed out).
static void on_answer(Client *client, Worker *worker, const Message *said) {
  Flight *flight = find_flight(&worker->flights, said->id);
  if (!flight) return;
  flight->heard_at = client->now_ms;
  if (said->kind == MESSAGE_DONE) {
    flight_list_remove(&worker->flights, flight);
    worker->has_done = true;
    rest_or_work(client, worker);
    say_done(client, flight, index_of(client, worker));
    return;
  }
  if (said->kind == MESSAGE_QUEUED || said->kind == MESSAGE_PROGRESS)
    note_progress(client, worker, said);
  ClientEvent *event = client_event_new(flight->id, flight->key, index_of(client, worker), said);
  if (event->bench) client_record(client, worker, flight, event->bench);
  client_hand_over(client, event);
}

static bool on_hello(Client *client, Worker *worker, const Message *said) {
  if (said->protocol != PROTOCOL_VERSION) {
    char how[128];
    snprintf(how, sizeof how,
             "speaks protocol %lld, this program %d: use the same version on both sides",
             (long long)said->protocol, PROTOCOL_VERSION);
    give_up(client, worker, how);
    return false;
  }
  worker->said_hello = true;
  worker->hello_at = client->now_ms;
  COPY_FIELD(worker->status.host, *said, host);
  rest_or_work(client, worker);
  return true;
}

static bool on_message(Client *client, Worker *worker, const Message *said) {
  if (said->kind == MESSAGE_HELLO) return on_hello(client, worker, said);
  if (said->kind == MESSAGE_MACHINE) on_machine(client, worker, said);
  if (said->id > 0 && said->kind != MESSAGE_HEARTBEAT) on_answer(client, worker, said);
  return true;
}

// A login banner stands before the hello and is skipped; after it, a line that is no message means
// that the stream cannot be trusted any more. False when the worker is gone.
static bool on_line(Client *client, Worker *worker, const char *line, size_t n) {
  Message said;
  Diags diags = diags_new(client->arena);
  const bool ok = message_read(client->arena, line, n, FROM_WORKER, &said, &diags);
  if (ok && (worker->said_hello || said.kind == MESSAGE_HELLO))
    return on_message(client, worker, &said);
  if (!worker->said_hello && worker->n_banner_lines++ < BANNER_LINES) return true;
  const char *what = ok ? "sent more than a banner before its hello" : diags.first->text;
  worker_died(client, worker, ERROR_PROTOCOL,
              arena_printf(client->arena, "sent a line that is not a message: %.160s", what));
  return false;
}

static void worker_ended(Client *client, Worker *worker) {
  char how[128];
  const int n = worker->flights.n;
  process_describe_end(&worker->process, &client->reaper, 50, how, sizeof how);
  const char *during =
      n > 0 ? arena_printf(client->arena, "%s while it had %d request%s", how, n, n > 1 ? "s" : "")
            : how;
  worker_died(client, worker, ERROR_WORKER, during);
}

static void read_worker(Client *client, Worker *worker) {
  Process *process = &worker->process;
  char *line = NULL;
  size_t n = 0;
  const long got = line_reader_fill(&process->lines, process->out);
  if (got > 0) worker->heard_at = client->now_ms;
  LineStatus status = LINE_NONE;
  while ((status = line_reader_next(&process->lines, &line, &n)) == LINE_READY) {
    const bool there = on_line(client, worker, line, n);
    arena_reset(client->arena);
    if (!there) return;
  }
  if (status == LINE_TOO_LONG)
    worker_died(client, worker, ERROR_PROTOCOL, "sent a line of more than 64 MiB");
  else if (got == 0)
    worker_ended(client, worker);
}

// ---- requests -----------------------------------------------------------------------------------

static bool is_up(const Worker *worker) {
  return worker->said_hello && process_is_running(&worker->process);
}

static int count_of(const FlightList *list, bool on_gpu) {
  int n = 0;
  for (const Flight *at = list->first; at; at = at->next)
    n += (at->kind != MESSAGE_COMPILE) == on_gpu;
  return n;
}

// Lower is better; −1 = it cannot take one now. A worker that is known to lack the GPU or the
// compiler is asked last, so that its own sentence about that is what the user sees.
static int load(const Worker *worker, MessageKind kind) {
  const ClientStatus *status = &worker->status;
  const bool on_gpu = kind != MESSAGE_COMPILE;
  const int n = count_of(&worker->flights, on_gpu);
  const int compiles =
      2 * status->n_compiles > COMPILES_EACH ? 2 * status->n_compiles : COMPILES_EACH;
  if (!is_up(worker) || n >= (on_gpu ? BENCHES_EACH : compiles)) return -1;
  const bool able = on_gpu ? status->device.name[0] != '\0' : status->can_compile;
  return worker->flights.n + (status->machine_known && !able ? 1000 : 0);
}

static Worker *choose_worker(Client *client, const Flight *flight) {
  Worker *best = NULL;
  int best_load = 0;
  for (int i = 0; i < client->n_workers; i++) {
    const int its = load(&client->workers[i], flight->kind);
    if (its < 0 || (flight->worker && flight->worker != i + 1) || (best && its >= best_load))
      continue;
    best = &client->workers[i];
    best_load = its;
  }
  return best;
}

static void send_pending(Client *client) {
  for (Flight *at = client->pending.first, *next; at; at = next) {
    next = at->next;
    Worker *worker = choose_worker(client, at);
    if (!worker) continue;
    flight_list_remove(&client->pending, at);
    if (client_share(client, worker, at)) {
      say_done(client, at, index_of(client, worker));
      continue;
    }
    flight_list_add(&worker->flights, at);
    at->heard_at = client->now_ms;
    out_queue_add(&worker->process.queue, at->line, at->n_line);
    rest_or_work(client, worker);
  }
}

static void send_cancel(Client *client, Worker *worker, int64_t id) {
  Message cancel = message_new(MESSAGE_CANCEL);
  Str line = str_new(client->arena);
  MESSAGE_SET(cancel, id, id);
  message_write(&line, &cancel);
  out_queue_add(&worker->process.queue, line.text, line.length);
}

static void on_cancel(Client *client, int64_t id) {
  Flight *flight = find_flight(&client->pending, id);
  if (flight) {
    flight_list_remove(&client->pending, flight);
    fail_flight(client, flight, -1, ERROR_CANCELLED, "cancelled");
  }
  for (int i = 0; i < client->n_workers; i++)
    if (find_flight(&client->workers[i].flights, id)) send_cancel(client, &client->workers[i], id);
}

// The worker that gets the newer compile drops its own stale ones; here go those that wait and
// those that another worker has.
static void supersede(Client *client) {
  for (Flight *at = client->pending.first, *next; at; at = next) {
    next = at->next;
    if (at->keep) continue;
    flight_list_remove(&client->pending, at);
    fail_flight(client, at, -1, ERROR_SUPERSEDED, "a newer compile cancelled this one");
  }
  for (int i = 0; client->n_workers > 1 && i < client->n_workers; i++)
    for (Flight *at = client->workers[i].flights.first; at; at = at->next)
      if (!at->keep) send_cancel(client, &client->workers[i], at->id);
}

// False when the client is to stop.
static bool read_inbox(Client *client) {
  uint64_t count = 0;
  ssize_t ignored = read(client->control_fd, &count, sizeof count);
  (void)ignored;
  pthread_mutex_lock(&client->mutex);
  FlightList inbox = client->inbox;
  client->inbox = (FlightList){0};
  pthread_mutex_unlock(&client->mutex);
  while (inbox.first) {
    Flight *flight = inbox.first;
    flight_list_remove(&inbox, flight);
    if (flight->kind == MESSAGE_CANCEL) {
      on_cancel(client, flight->id);
      flight_free(flight);
      continue;
    }
    if (flight->n_rows || flight->gpu) {
      (flight->gpu ? client_show_known : client_show_history)(client, flight);
      say_done(client, flight, -1);
      continue;
    }
    if (!flight->keep) supersede(client);
    flight_list_add(&client->pending, flight);
  }
  refuse_pending(client);
  return !client->stopping;
}

// ---- time ---------------------------------------------------------------------------------------

static const Flight *overdue(const Client *client, const Worker *worker) {
  for (const Flight *at = worker->flights.first; at; at = at->next)
    if (client->now_ms - at->heard_at > at->deadline_ms + client->grace_ms) return at;
  return NULL;
}

static void check_worker(Client *client, Worker *worker) {
  char how[128];
  if (!process_is_running(&worker->process)) {
    const bool due = client->now_ms >= worker->start_at;
    if (due && worker->status.state != CLIENT_FAILED) start_worker(client, worker);
    return;
  }
  const int limit_ms = worker->said_hello ? client->silence_ms : client->hello_ms;
  const Flight *late = overdue(client, worker);
  if (late) {
    snprintf(how, sizeof how, "did not end request %lld by its deadline of %.1f s and was stopped",
             (long long)late->id, (double)late->deadline_ms / 1000);
    worker_died(client, worker, ERROR_TIMEOUT, how);
  } else if (worker->said_hello && !worker->told_machine &&
             client->now_ms - worker->hello_at > client->machine_ms) {
    snprintf(how, sizeof how,
             "said hello but nothing about its machine for %.1f s, and was "
             "stopped",
             (double)client->machine_ms / 1000);
    worker->n_failures = ATTEMPTS;
    worker_died(client, worker, ERROR_WORKER, how);
  } else if (client->now_ms - worker->heard_at > limit_ms) {
    snprintf(how, sizeof how, "sent nothing for %.1f s and was stopped", (double)limit_ms / 1000);
    // A worker that ran all that time and got no further has had its chance: the client does not
    // wait for it three times.
    if (!worker->told_machine) worker->n_failures = ATTEMPTS;
    worker_died(client, worker, ERROR_WORKER, how);
  }
}

static int64_t earliest(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t next_due(const Client *client) {
  int64_t due = client->now_ms + TICK_MS;
  for (int i = 0; i < client->n_workers; i++) {
    const Worker *worker = &client->workers[i];
    if (!process_is_running(&worker->process)) {
      if (worker->status.state != CLIENT_FAILED) due = earliest(due, worker->start_at);
      continue;
    }
    due = earliest(
        due, worker->heard_at + (worker->said_hello ? client->silence_ms : client->hello_ms) + 1);
    for (const Flight *at = worker->flights.first; at; at = at->next)
      due = earliest(due, at->heard_at + at->deadline_ms + client->grace_ms + 1);
  }
  return due;
}

// ---- the loop -----------------------------------------------------------------------------------

static void serve_worker(Client *client, Worker *worker, const struct pollfd fds[3]) {
  Process *process = &worker->process;
  if (fds[1].revents && process->err == fds[1].fd) process_read_words(process);
  if (fds[2].revents && process->in == fds[2].fd) process_write(process);
  if (fds[0].revents && process->out == fds[0].fd) read_worker(client, worker);
}

static void wait_for_work(Client *client, struct pollfd *fds) {
  fds[0] = (struct pollfd){.fd = client->control_fd, .events = POLLIN};
  for (int i = 0; i < client->n_workers; i++) {
    const Process *process = &client->workers[i].process;
    const bool has_out = !out_queue_is_empty(&process->queue);
    fds[1 + 3 * i] = (struct pollfd){.fd = process->out, .events = POLLIN};
    fds[2 + 3 * i] = (struct pollfd){.fd = process->err, .events = POLLIN};
    fds[3 + 3 * i] = (struct pollfd){.fd = has_out ? process->in : -1, .events = POLLOUT};
  }
  const int64_t wait = next_due(client) - clock_ms();
  poll(fds, (nfds_t)(1 + 3 * client->n_workers), wait < 0 ? 0 : (int)wait);
  client->now_ms = clock_ms();
}

void *client_thread_main(void *context) {
  Client *client = context;
  struct pollfd fds[1 + 3 * CLIENT_WORKERS_MAX];
  bool running = true;
  client->now_ms = clock_ms();
  for (int i = 0; i < client->n_workers; i++) start_worker(client, &client->workers[i]);
  while (running) {
    wait_for_work(client, fds);
    for (int i = 0; i < client->n_workers; i++)
      serve_worker(client, &client->workers[i], fds + 1 + 3 * i);
    if (fds[0].revents) running = read_inbox(client);
    for (int i = 0; i < client->n_workers; i++) check_worker(client, &client->workers[i]);
    send_pending(client);
    reaper_collect(&client->reaper);
    arena_reset(client->arena);
  }
  for (int i = 0; i < client->n_workers; i++) end_process(client, &client->workers[i]);
  const int64_t until = clock_ms() + client->leave_ms + REAP_MS;
  while (reaper_collect(&client->reaper) > 0 && clock_ms() < until) poll(NULL, 0, 2);
  history_close(client->history);
  return NULL;
}
