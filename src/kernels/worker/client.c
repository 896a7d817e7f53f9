// The half of the client that the user's thread calls: every function takes the mutex for a few
// list operations, never for work.
//
// An event is built completely (its strings copied into an arena of its own, its result read into
// structures) before it is handed over, and belongs to the receiver from then on: the two threads
// never look at the same event. Two eventfds wake the sleepers: control_fd the thread, wake_fd the
// user. Worked example: submit → inbox, control_fd; the thread sends the line; a result comes in;
// event → list, wake_fd; the user's poll() returns, client_poll takes the event off the list.
#include "kernels/worker/client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/die.h"
#include "base/team.h"
#include "base/unicode.h"
#include "kernels/worker/client_inside.h"
#include "kernels/worker/result_json.h"

enum { SILENCE_MS = 15000, HELLO_MS = 20000, MACHINE_MS = 60000, GRACE_MS = 5000, STOP_S = 2 };
enum { COMPILE_MS = 30000, BENCH_MS = 60000, ROWS_MAX = 1000 };

static void *or_die(void *memory) {
  if (!memory) die("out of memory: a request to the worker");
  return memory;
}

static void fd_signal(int fd) {
  const uint64_t one = 1;
  ssize_t ignored = write(fd, &one, sizeof one);
  (void)ignored;  // full means signalled already
}

static void fd_clear(int fd) {
  uint64_t count = 0;
  ssize_t ignored = read(fd, &count, sizeof count);
  (void)ignored;
}

void client_copy_text(char *to, size_t size, const char *from) {
  size_t n = utf8_cut(from, size - 1);
  memcpy(to, from, n);
  to[n] = '\0';
}

// ---- lists --------------------------------------------------------------------------------------

void flight_list_add(FlightList *list, Flight *flight) {
  flight->next = NULL;
  if (list->last)
    list->last->next = flight;
  else
    list->first = flight;
  list->last = flight;
  list->n++;
}

void flight_list_remove(FlightList *list, Flight *flight) {
  Flight **at = &list->first, *before = NULL;
  while (*at != flight) {
    before = *at;
    at = &(*at)->next;
  }
  *at = flight->next;
  if (list->last == flight) list->last = before;
  list->n--;
}

void flight_free(Flight *flight) {
  if (!flight) return;
  free(flight->line);
  arena_free(flight->arena);
  free(flight);
}

static void list_free(FlightList *list) {
  while (list->first) {
    Flight *flight = list->first;
    flight_list_remove(list, flight);
    flight_free(flight);
  }
}

// ---- events -------------------------------------------------------------------------------------

void client_event_free(ClientEvent *event) {
  if (event) arena_free(event->arena);
}

// The message's strings may be in a line buffer; writing and reading it again is the one deep copy
// that knows every field.
static void copy_message(ClientEvent *event, const Message *message) {
  Str line = str_new(event->arena);
  Diags diags = diags_new(event->arena);
  message_write(&line, message);
  if (!message_read(event->arena, line.text, line.length - 1, FROM_WORKER, &event->message, &diags))
    die("a message of the worker could not be copied: %s", diags_text(event->arena, &diags));
}

// Checks what the result holds, off the user's thread. A result that is not as it should be leaves
// the pointer NULL and becomes an error event.
static void read_result(ClientEvent *event) {
  const char *what = event->message.what, *data = event->message.data;
  Diags diags = diags_new(event->arena);
  if (str_equal(what, "ptx") || str_equal(what, "cubin"))
    event->compile = compile_result_read_json(event->arena, data, &diags);
  else if (str_equal(what, "sass"))
    event->sass = sass_result_read_json(event->arena, data, &diags);
  else if (str_equal(what, "code"))
    event->code = kernel_texts_read_json(event->arena, data, &diags);
  else if (str_equal(what, "clock"))
    event->clock = clock_number_read_json(event->arena, data, &diags);
  else if (str_equal(what, "bench"))
    event->bench = bench_result_read_json(event->arena, data, &diags);
  else if (str_equal(what, "trace"))
    event->trace = trace_result_read_json(event->arena, data, &diags);
  else if (str_equal(what, "probe"))
    event->probe = probe_results_read_json(event->arena, data, &diags);
  if (event->compile || event->sass || event->code || event->clock || event->bench ||
      event->trace || event->probe)
    return;
  const char *text = arena_printf(event->arena, "the worker's result \"%s\" cannot be read: %s",
                                  what, diags_text(event->arena, &diags));
  event->message = message_new(MESSAGE_ERROR);
  MESSAGE_SET(event->message, id, event->id);
  MESSAGE_SET(event->message, error, ERROR_PROTOCOL);
  MESSAGE_SET(event->message, text, text);
}

ClientEvent *client_event_of(int64_t id, uint64_t key, int worker, MessageKind kind) {
  Arena *arena = arena_new("event");
  ClientEvent *event = ARENA_NEW(arena, ClientEvent);
  event->arena = arena;
  event->id = id;
  event->key = key;
  event->worker = worker;
  event->message = message_new(kind);
  return event;
}

ClientEvent *client_event_new(int64_t id, uint64_t key, int worker, const Message *message) {
  ClientEvent *event = client_event_of(id, key, worker, message->kind);
  copy_message(event, message);
  if (event->message.kind == MESSAGE_RESULT) read_result(event);
  return event;
}

void client_hand_over(Client *client, ClientEvent *event) {
  pthread_mutex_lock(&client->mutex);
  if (client->last)
    client->last->next = event;
  else
    client->first = event;
  client->last = event;
  if (event->message.kind == MESSAGE_DONE) client->n_open--;
  pthread_mutex_unlock(&client->mutex);
  fd_signal(client->wake_fd);
}

void client_publish(Client *client, int64_t id, uint64_t key, int worker, const Message *message) {
  client_hand_over(client, client_event_new(id, key, worker, message));
}

ClientEvent *client_poll(Client *client) {
  pthread_mutex_lock(&client->mutex);
  ClientEvent *event = client->first;
  if (event) {
    client->first = event->next;
    if (!client->first) client->last = NULL;
    event->next = NULL;
  }
  if (!client->first) fd_clear(client->wake_fd);
  pthread_mutex_unlock(&client->mutex);
  return event;
}

ClientEvent *client_next(Client *client, int timeout_ms) {
  const int64_t until = clock_ms() + timeout_ms;
  for (;;) {
    ClientEvent *event = client_poll(client);
    const int64_t left = until - clock_ms();
    if (event || left <= 0) return event;
    struct pollfd wake = {.fd = client->wake_fd, .events = POLLIN};
    if (poll(&wake, 1, (int)left) < 0 && errno == EINTR) return NULL;
  }
}

int client_wake_fd(const Client *client) { return client->wake_fd; }

void client_status(Client *client, int worker, ClientStatus *out) {
  pthread_mutex_lock(&client->mutex);
  *out = client->status[worker];
  if (!client->first) fd_clear(client->wake_fd);
  pthread_mutex_unlock(&client->mutex);
}

bool client_is_up(Client *client, int worker) {
  pthread_mutex_lock(&client->mutex);
  const ClientState state = client->status[worker].state;
  pthread_mutex_unlock(&client->mutex);
  return state == CLIENT_READY || state == CLIENT_BUSY;
}

void client_history_error(Client *client, char *text, size_t size) {
  pthread_mutex_lock(&client->mutex);
  client_copy_text(text, size, client->history_error);
  pthread_mutex_unlock(&client->mutex);
}

const char *client_state_name(ClientState state) {
  static const char *const names[] = {"starting", "ready", "busy", "restarting", "failed"};
  return names[state];
}

// ---- requests -----------------------------------------------------------------------------------

static const char *plan_text(Arena *arena, const Plan *plan) {
  Str text = str_new(arena);
  plan_write_json(&text, plan);
  return text.text;
}

static void set_bench_fields(Message *ask, const ClientRequest *request) {
  if (request->budget_ms > 0) MESSAGE_SET(*ask, budget_ms, request->budget_ms);
  if (request->flush_l2) MESSAGE_SET(*ask, flush_l2, true);
  if (request->hot) MESSAGE_SET(*ask, hot, true);
  if (request->brief) MESSAGE_SET(*ask, brief, true);
  if (request->no_reference) MESSAGE_SET(*ask, reference, false);
  if (request->verify_only) MESSAGE_SET(*ask, verify_only, true);
  if (request->seed > 0)
    MESSAGE_SET(*ask, seed, (int64_t)(request->seed & ((UINT64_C(1) << 53) - 1)));
}

static void set_trace_fields(Message *ask, const ClientRequest *request) {
  if (request->budget_ms > 0) MESSAGE_SET(*ask, budget_ms, request->budget_ms);
}

static void set_device(Message *ask, const Device *device) {
  if (!device || !device->name[0]) return;
  MESSAGE_SET(*ask, gpu, device->name);
  MESSAGE_SET(*ask, arch, device->arch);
#define X(field) MESSAGE_SET(*ask, field, device->field);
  DEVICE_FIELD_TABLE(X)
#undef X
}

static void set_compile_fields(Message *ask, const ClientRequest *request) {
  MESSAGE_SET(*ask, want, request->want ? request->want : "ptx,cubin");
  if (request->keep) MESSAGE_SET(*ask, keep, true);
  if (request->state && *request->state) MESSAGE_SET(*ask, state, request->state);
  set_device(ask, request->device);
}

static const char *probe_text(Arena *arena, const ProbeRequest *probe) {
  Str text = str_new(arena);
  probe_request_write_json(&text, probe);
  return text.text;
}

static void make_line(Flight *flight, const ClientRequest *request) {
  Arena *arena = arena_new("job");
  Str line = str_new(arena);
  Message ask = message_new(request->kind);
  MESSAGE_SET(ask, id, flight->id);
  MESSAGE_SET(ask, deadline_ms, flight->deadline_ms);
  if (request->plan) MESSAGE_SET(ask, plan, plan_text(arena, request->plan));
  if (request->plan_b) MESSAGE_SET(ask, plan_b, plan_text(arena, request->plan_b));
  if (request->probe) MESSAGE_SET(ask, probe, probe_text(arena, request->probe));
  if (request->kind == MESSAGE_BENCH) set_bench_fields(&ask, request);
  if (request->kind == MESSAGE_TRACE) set_trace_fields(&ask, request);
  if (request->kind == MESSAGE_COMPILE) set_compile_fields(&ask, request);
  message_write(&line, &ask);
  flight->n_line = line.length;
  flight->line = or_die(malloc(line.length));
  memcpy(flight->line, line.text, line.length);
  arena_free(arena);
}

static FlightSide make_side(Arena *arena, const Plan *side, const char *state) {
  return (FlightSide){.state = arena_strdup(arena, state ? state : ""),
                      .text_hash = history_hash(arena, side->cuda),
                      .problem = history_problem(arena, side)};
}

static void make_sides(Flight *flight, const ClientRequest *request) {
  flight->arena = arena_new("flight");
  flight->sides[0] = make_side(flight->arena, request->plan, request->state);
  flight->sides[0].compiled = request->compiled;
  if (!request->plan_b) return;
  flight->sides[1] = make_side(flight->arena, request->plan_b, request->state_b);
  flight->sides[1].compiled = request->compiled_b;
}

static void post(Client *client, Flight *flight) {
  pthread_mutex_lock(&client->mutex);
  flight_list_add(&client->inbox, flight);
  pthread_mutex_unlock(&client->mutex);
  fd_signal(client->control_fd);
}

static int64_t next_id(Client *client, bool *full) {
  pthread_mutex_lock(&client->mutex);
  int64_t id = ++client->last_id;
  *full = ++client->n_open > CLIENT_REQUESTS_MAX;
  pthread_mutex_unlock(&client->mutex);
  return id;
}

static void refuse(Client *client, int64_t id, uint64_t key) {
  Message error = message_new(MESSAGE_ERROR), done = message_new(MESSAGE_DONE);
  MESSAGE_SET(error, id, id);
  MESSAGE_SET(error, error, ERROR_FULL);
  MESSAGE_SET(error, text, "too many requests are waiting: 4096 at most");
  MESSAGE_SET(done, id, id);
  client_publish(client, id, key, -1, &error);
  client_publish(client, id, key, -1, &done);
}

// NULL, and the answer is on its way, when there are too many.
static Flight *new_flight(Client *client, uint64_t key, MessageKind kind, int64_t *id) {
  bool full = false;
  *id = next_id(client, &full);
  if (full) {
    refuse(client, *id, key);
    return NULL;
  }
  Flight *flight = or_die(calloc(1, sizeof *flight));
  flight->id = *id;
  flight->key = key;
  flight->kind = kind;
  return flight;
}

static bool can_share(const ClientRequest *request) {
  bool is_plain = !request->plan_b && !request->flush_l2 && !request->hot && !request->brief &&
                  !request->no_reference && !request->verify_only && request->seed == 0;
  return request->share && request->kind == MESSAGE_BENCH && is_plain;
}

int64_t client_submit(Client *client, const ClientRequest *request) {
  int64_t id = 0;
  Flight *flight = new_flight(client, request->key, request->kind, &id);
  if (!flight) return id;
  flight->worker = request->worker;
  flight->keep = request->keep || request->kind != MESSAGE_COMPILE;
  flight->deadline_ms = request->kind == MESSAGE_COMPILE ? COMPILE_MS : BENCH_MS;
  if (request->deadline_ms > 0) flight->deadline_ms = request->deadline_ms;
  make_line(flight, request);
  if (client->records && request->kind == MESSAGE_BENCH) make_sides(flight, request);
  flight->share = client->records && can_share(request);
  post(client, flight);
  return id;
}

int64_t client_ask_history(Client *client, int max) {
  int64_t id = 0;
  Flight *flight = new_flight(client, 0, MESSAGE_RESULT, &id);
  if (!flight) return id;
  flight->n_rows = max < 1 ? 1 : max > ROWS_MAX ? ROWS_MAX : max;
  flight->keep = true;
  post(client, flight);
  return id;
}

int64_t client_ask_known(Client *client, const char *gpu, const char *problem) {
  int64_t id = 0;
  Flight *flight = new_flight(client, 0, MESSAGE_RESULT, &id);
  if (!flight) return id;
  flight->arena = arena_new("flight");
  flight->gpu = arena_strdup(flight->arena, gpu);
  flight->sides[0].problem = arena_strdup(flight->arena, problem);
  flight->keep = true;
  post(client, flight);
  return id;
}

void client_cancel(Client *client, int64_t id) {
  Flight *flight = or_die(calloc(1, sizeof *flight));
  flight->id = id;
  flight->kind = MESSAGE_CANCEL;
  post(client, flight);
}

// ---- commands -----------------------------------------------------------------------------------

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Reads one word at *at, without its quotes. False when a quote is not closed.
static bool read_word(Str *word, const char **at) {
  char quote = '\0';
  for (; **at && (quote || !is_blank(**at)); (*at)++) {
    if (**at == quote) {
      quote = '\0';
    } else if (!quote && (**at == '\'' || **at == '"')) {
      quote = **at;
    } else if (**at == '\\' && quote != '\'' && (*at)[1]) {
      str_add_char(word, *++*at);
    } else {
      str_add_char(word, **at);
    }
  }
  return quote == '\0';
}

const char *const *client_split_command(Arena *arena, const char *text, Diags *diags) {
  const char **words = ARENA_ARRAY(arena, const char *, strlen(text) / 2 + 2);
  int n = 0;
  for (const char *at = text; *at;) {
    if (is_blank(*at)) {
      at++;
      continue;
    }
    Str word = str_new(arena);
    if (!read_word(&word, &at)) {
      diag_add(diags, "usage", "--worker %s: a quote is not closed", str_sanitise(arena, text));
      return NULL;
    }
    words[n++] = word.text;
  }
  if (n > 0) return words;
  diag_add(diags, "usage", "--worker \"\": give a command, such as ssh box gemmview worker");
  return NULL;
}

// ---- beginning and end --------------------------------------------------------------------------

static void name_worker(Client *client, Worker *worker) {
  Str name = str_new(client->app);
  for (int i = 0; worker->argv[i]; i++)
    str_printf(&name, "%s%s", i ? " " : "", str_sanitise(client->app, worker->argv[i]));
  client_copy_text(worker->status.name, sizeof worker->status.name, name.text);
}

static void set_workers(Client *client, const ClientOptions *options) {
  static const char *const self[] = {"/proc/self/exe", "worker", NULL};
  client->n_workers = options->n_workers > 0 ? options->n_workers : 1;
  if (client->n_workers > CLIENT_WORKERS_MAX) client->n_workers = CLIENT_WORKERS_MAX;
  for (int i = 0; i < client->n_workers; i++) {
    Worker *worker = &client->workers[i];
    worker->argv = options->n_workers > 0 ? options->workers[i] : self;
    worker->process = process_none();
    name_worker(client, worker);
    client->status[i] = worker->status;
  }
}

static void set_hello(Client *client, const ClientOptions *options) {
  Message hello = message_new(MESSAGE_HELLO);
  MESSAGE_SET(hello, protocol, PROTOCOL_VERSION);
  MESSAGE_SET(hello, version, options->version);
  if (options->user) MESSAGE_SET(hello, user, options->user);
  client->hello = str_new(client->app);
  message_write(&client->hello, &hello);
}

// The thread inherits a mask that blocks everything: signals are for the thread with the screen.
static bool start_thread(Client *client) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = thread_start(&client->thread, client_thread_main, client);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

static void client_release(Client *client) {
  if (client->wake_fd >= 0) close(client->wake_fd);
  if (client->control_fd >= 0) close(client->control_fd);
  pthread_mutex_destroy(&client->mutex);
  arena_free(client->arena);
  arena_free(client->app);
  free(client);
}

Client *client_start(const ClientOptions *options) {
  Client *client = or_die(calloc(1, sizeof *client));
  pthread_mutex_init(&client->mutex, NULL);
  client->app = arena_new("client");
  client->arena = arena_new("job");
  client->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  client->control_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  client->silence_ms = options->silence_ms > 0 ? options->silence_ms : SILENCE_MS;
  client->machine_ms = options->machine_ms > 0 ? options->machine_ms : MACHINE_MS;
  client->hello_ms = options->hello_ms > 0 ? options->hello_ms : HELLO_MS;
  client->leave_ms = options->leave_ms;
  client->grace_ms = options->grace_ms > 0 ? options->grace_ms : GRACE_MS;
  client->records = options->history || options->history_path;
  if (options->history_path)
    client->history_path = arena_strdup(client->app, options->history_path);
  set_workers(client, options);
  set_hello(client, options);
  if (client->wake_fd >= 0 && client->control_fd >= 0 && start_thread(client)) return client;
  client_release(client);
  return NULL;
}

// Waits for the thread to end. It gives up the work it can, but not a call that hangs in the
// operating system (a disk).
static bool thread_ended(Client *client) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += STOP_S + (client->leave_ms + 999) / 1000;
  if (pthread_timedjoin_np(client->thread, NULL, &until) == 0) return true;
  pthread_detach(client->thread);
  return false;
}

void client_stop(Client *client) {
  if (!client) return;
  atomic_store(&client->stopping, true);
  fd_signal(client->control_fd);
  if (!thread_ended(client)) return;  // it keeps what it works with; the process ends soon
  for (ClientEvent *event; (event = client_poll(client));) client_event_free(event);
  list_free(&client->inbox);
  list_free(&client->pending);
  for (int i = 0; i < client->n_workers; i++) list_free(&client->workers[i].flights);
  client_release(client);
}
