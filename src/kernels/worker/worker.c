// One loop over poll(): requests in, children fed and read, answers out; nothing in it waits.
//
//   stdin ──► Request list ──► compile slots ──► (bench) the GPU child ──► stdout
//                    │               │                   │
//                    │         deadline: SIGKILL    deadline: SIGKILL
//                    └──────────── (probe) ──────────────┘
//
// The lines of a child are checked (strictly, and for the id of the request it was given) and
// passed on as they are, except its done: that is said here, once, whatever happened. Worked
// example, a compile whose child crashes:
//
//   ← {"type":"compile","id":3,…}
//   → {"type":"progress","id":3,"stage":"ptx"}                                  (the child's line)
//   → {"type":"error","id":3,"error":"compiler","text":"the compiler ended by signal 11 …"}
//   → {"type":"done","id":3}
//
// The first GPU child finds out which GPU this machine has while requests are already served,
// because asking a driver can take seconds or never end. Having begun with the driver it times,
// too.
#include "kernels/worker/worker.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/team.h"
#include "kernels/worker/worker_server.h"

enum { BAD_LINES_MAX = 100, OUT_BYTES_MAX = 512 * 1024 * 1024, JOB_ARGV_MAX = 32 };

// ---- saying -------------------------------------------------------------------------------------

static void server_put(Server *server, const char *bytes, size_t n) {
  out_queue_add(&server->out, bytes, n);
  server->said_at = server->now_ms;
}

static void tell_client(Server *server, const Message *message) {
  Str line = str_new(server->arena);
  message_write(&line, message);
  server_put(server, line.text, line.length);
}

static void say_error(Server *server, int64_t id, ErrorKind kind, const char *text) {
  Message message = message_new(MESSAGE_ERROR);
  if (id > 0) MESSAGE_SET(message, id, id);
  MESSAGE_SET(message, error, kind);
  MESSAGE_SET(message, text, text);
  tell_client(server, &message);
}

static void say_done(Server *server, int64_t id) {
  Message message = message_new(MESSAGE_DONE);
  MESSAGE_SET(message, id, id);
  tell_client(server, &message);
}

static void say_hello(Server *server) {
  char host[256] = "";
  Message message = message_new(MESSAGE_HELLO);
  MESSAGE_SET(message, protocol, PROTOCOL_VERSION);
  MESSAGE_SET(message, version, server->options->version);
  if (gethostname(host, sizeof host - 1) == 0) MESSAGE_SET(message, host, host);
  tell_client(server, &message);
}

static void say_heartbeat(Server *server) {
  Message message = message_new(MESSAGE_HEARTBEAT);
  if (server->bench.request) {
    MESSAGE_SET(message, id, server->bench.request->id);
    MESSAGE_SET(message, stage, "bench");
  }
  tell_client(server, &message);
}

// ---- requests -----------------------------------------------------------------------------------

static Request *find_request(const Server *server, int64_t id) {
  for (Request *at = server->first; at; at = at->next)
    if (at->id == id) return at;
  return NULL;
}

void request_finish(Server *server, Request *request) {
  Request **at = &server->first;
  while (*at != request) at = &(*at)->next;
  *at = request->next;
  server->n_requests--;
  say_done(server, request->id);
  free(request->line);
  free(request);
}

void request_fail(Server *server, Request *request, ErrorKind kind, const char *text) {
  if (!request->failed) say_error(server, request->id, kind, text);
  request_finish(server, request);
}

void request_tell_place(Server *server, Request *request, int place, double seconds) {
  const bool changed = place != request->told_place;
  if (!changed && server->now_ms - request->told_at < PROTOCOL_HEARTBEAT_MS) return;
  Message message = message_new(MESSAGE_QUEUED);
  MESSAGE_SET(message, id, request->id);
  MESSAGE_SET(message, place, place);
  MESSAGE_SET(message, seconds, seconds);
  request->told_place = place;
  request->told_at = server->now_ms;
  tell_client(server, &message);
}

static void *or_die(void *memory) {
  if (!memory) die("out of memory: a request of the worker");
  return memory;
}

// A probe's kernels are ours and small: it needs no compile child before its turn on the GPU, and
// neither does what was compiled already.
static Phase first_phase(const Server *server, const Message *ask, uint64_t plans) {
  const bool ready =
      ask->kind == MESSAGE_PROBE || (ask->kind == MESSAGE_BENCH && compile_knows(server, plans));
  return ready ? PHASE_WAITING_BENCH : PHASE_WAITING_COMPILE;
}

// 0: no cubin comes of it.
static uint64_t hash_plans(const Message *ask) {
  if (ask->kind == MESSAGE_COMPILE && !strstr(ask->want, "cubin") && !strstr(ask->want, "code") &&
      !strstr(ask->want, "clock"))
    return 0;
  uint64_t hash = hash_text(HASH_START, ask->plan ? ask->plan : "");
  return ask->plan_b ? hash_text(hash, ask->plan_b) : hash;
}

static Request *add_request(Server *server, const Message *ask, const char *line, size_t n) {
  const bool on_gpu = ask->kind != MESSAGE_COMPILE;
  Request *request = or_die(calloc(1, sizeof *request));
  request->id = ask->id;
  request->kind = ask->kind;
  request->plans = hash_plans(ask);
  request->phase = first_phase(server, ask, request->plans);
  request->keep = ask->keep || on_gpu;
  request->deadline_ms = on_gpu ? WORKER_BENCH_MS : WORKER_COMPILE_MS;
  if (MESSAGE_HAS(*ask, deadline_ms)) request->deadline_ms = ask->deadline_ms;
  request->told_place = -1;
  request->line = or_die(malloc(n + 1));
  memcpy(request->line, line, n);
  request->line[n] = '\n';
  request->n_line = n + 1;
  Request **last = &server->first;
  while (*last) last = &(*last)->next;
  *last = request;
  server->n_requests++;
  return request;
}

// ---- children -----------------------------------------------------------------------------------

bool server_start_job(Server *server, Slot *slot, const char *job, ProcessOptions limits) {
  static const char *const self[] = {"/proc/self/exe", "worker", NULL};
  const char *const *prefix = server->options->job_argv ? server->options->job_argv : self;
  const char *argv[JOB_ARGV_MAX + 5];
  int n = 0;
  while (n < JOB_ARGV_MAX && prefix[n]) {
    argv[n] = prefix[n];
    n++;
  }
  argv[n++] = "--job";
  argv[n++] = job;
  if (server->options->gpu > 0) {
    argv[n++] = "--gpu";
    argv[n++] = arena_printf(server->arena, "%d", server->options->gpu);
  }
  argv[n] = NULL;
  limits.line_limit = PROTOCOL_LINE_MAX;
  slot->request = NULL;
  return process_start(&slot->process, argv, &limits);
}

void slot_feed(Slot *slot, const Request *request) {
  out_queue_add(&slot->process.queue, request->line, request->n_line);
}

// False when the line is not one that a child may say about this request.
static bool pass_on(Server *server, Slot *slot, char *line, size_t n, bool *done) {
  Message said;
  Diags diags = diags_new(server->arena);
  if (!slot->request || !message_read(server->arena, line, n, FROM_WORKER, &said, &diags))
    return false;
  if (said.id != slot->request->id) return false;
  slot->request->heard = true;
  *done = said.kind == MESSAGE_DONE;
  if (*done) return true;
  if (said.kind == MESSAGE_ERROR) slot->request->failed = true;
  line[n] = '\n';
  server_put(server, line, n + 1);
  return true;
}

LineStatus slot_read(Server *server, Slot *slot) {
  Process *process = &slot->process;
  char *line = NULL;
  size_t n = 0;
  long got = 0;
  while ((got = line_reader_fill(&process->lines, process->out)) > 0) {
  }
  LineStatus status = LINE_NONE;
  while ((status = line_reader_next(&process->lines, &line, &n)) == LINE_READY) {
    bool done = false;
    if (!pass_on(server, slot, line, n, &done)) return LINE_TOO_LONG;
    if (done) return LINE_READY;
  }
  if (got == 0) {
    close(process->out);
    process->out = -1;
  }
  return status;
}

const char *slot_describe_end(Server *server, Slot *slot, const char *who) {
  char how[128];
  process_describe_end(&slot->process, &server->reaper, 200, how, sizeof how);
  const char *words = slot->process.words;
  return arena_printf(server->arena, "%s %s%s%s", who, how, *words ? ": " : "", words);
}

// ---- what the client says -----------------------------------------------------------------------

static void on_request(Server *server, const Message *ask, const char *line, size_t n) {
  if (find_request(server, ask->id)) {
    say_error(server, 0, ERROR_PROTOCOL, "another request uses this id");
    return;
  }
  if (server->n_requests >= WORKER_REQUESTS_MAX) {
    say_error(server, ask->id, ERROR_FULL, "too many requests are waiting here");
    say_done(server, ask->id);
    return;
  }
  Request *request = add_request(server, ask, line, n);
  if (request->kind == MESSAGE_COMPILE && !request->keep) compile_supersede(server, request);
}

static void on_cancel(Server *server, int64_t id) {
  Request *request = find_request(server, id);
  if (!request) return;
  if (request->phase == PHASE_BENCHING) {
    bench_cancel(server, request);
    return;
  }
  for (int i = 0; i < server->n_slots; i++) {
    if (server->compile[i].request != request) continue;
    server->compile[i].request = NULL;
    process_kill(&server->compile[i].process, &server->reaper);
  }
  request_fail(server, request, ERROR_CANCELLED, "cancelled");
}

static void on_hello(Server *server, const Message *hello) {
  if (hello->protocol == PROTOCOL_VERSION) return;
  say_error(server, 0, ERROR_PROTOCOL,
            arena_printf(server->arena, "this worker speaks protocol %d, the client %lld",
                         PROTOCOL_VERSION, (long long)hello->protocol));
}

static void on_line(Server *server, const char *line, size_t n) {
  Message ask;
  Diags diags = diags_new(server->arena);
  if (!message_read(server->arena, line, n, FROM_CLIENT, &ask, &diags)) {
    server->n_bad_lines++;
    say_error(server, 0, ERROR_PROTOCOL, diags_text(server->arena, &diags));
  } else if (ask.kind == MESSAGE_HELLO) {
    on_hello(server, &ask);
  } else if (ask.kind == MESSAGE_CANCEL) {
    on_cancel(server, ask.id);
  } else if (ask.kind == MESSAGE_PING) {
    say_heartbeat(server);
  } else {
    on_request(server, &ask, line, n);
  }
  arena_reset(server->arena);
}

// False at the end of stdin and when what comes is beyond repair.
static bool read_client(Server *server) {
  char *line = NULL;
  size_t n = 0;
  LineStatus status = LINE_NONE;
  if (line_reader_fill(&server->in, STDIN_FILENO) == 0) return false;
  while ((status = line_reader_next(&server->in, &line, &n)) == LINE_READY)
    on_line(server, line, n);
  if (status == LINE_TOO_LONG) fprintf(stderr, "gemmview worker: a line of more than 64 MiB\n");
  return status != LINE_TOO_LONG && server->n_bad_lines < BAD_LINES_MAX;
}

// ---- what machine this is -----------------------------------------------------------------------

static void machine_is_known(Server *server, Message *machine) {
  MESSAGE_SET(*machine, compiles, server->n_slots);
  server->machine_known = true;
  server->can_compile = machine->can_compile;
  server->has_gpu = MESSAGE_HAS(*machine, gpu_uuid);
  if (server->has_gpu) server->gpu_uuid = arena_strdup(server->app, machine->gpu_uuid);
  if (MESSAGE_HAS(*machine, gpu_error))
    server->gpu_error = arena_strdup(server->app, machine->gpu_error);
  tell_client(server, machine);
  server->bench_idle_since = server->now_ms;
  server->bench_served = server->has_gpu;
  if (!server->has_gpu) process_kill(&server->bench.process, &server->reaper);
}

static void machine_failed(Server *server, const char *why) {
  Message machine = message_new(MESSAGE_MACHINE);
  MESSAGE_SET(machine, can_compile, false);
  MESSAGE_SET(machine, nvrtc, why);
  MESSAGE_SET(machine, gpu_error, why);
  machine_is_known(server, &machine);
}

static void machine_read(Server *server) {
  Process *process = &server->bench.process;
  Message said;
  char *line = NULL;
  size_t n = 0;
  long got = line_reader_fill(&process->lines, process->out);
  LineStatus status = line_reader_next(&process->lines, &line, &n);
  Diags diags = diags_new(server->arena);
  if (status == LINE_READY && message_read(server->arena, line, n, FROM_WORKER, &said, &diags) &&
      said.kind == MESSAGE_MACHINE)
    machine_is_known(server, &said);
  else if (status != LINE_NONE || got == 0)
    machine_failed(server, slot_describe_end(server, &server->bench, "looking for a GPU"));
}

static void machine_step(Server *server) {
  if (server->machine_known || server->now_ms < server->machine_ends_at) return;
  machine_failed(server, "looking for a GPU took more than 20 s: the driver does not answer");
}

// ---- the loop -----------------------------------------------------------------------------------

typedef struct Polls {
  struct pollfd fds[WORKER_POLLS_MAX];
  int n;
} Polls;

static int polls_add(Polls *polls, int fd, short events) {
  polls->fds[polls->n] = (struct pollfd){.fd = fd, .events = events};
  return polls->n++;
}

// Three entries for each child, in this order: stdout, stderr, stdin. A descriptor of −1 is skipped
// by poll().
static void polls_add_process(Polls *polls, const Process *process) {
  polls_add(polls, process->out, POLLIN);
  polls_add(polls, process->err, POLLIN);
  polls_add(polls, out_queue_is_empty(&process->queue) ? -1 : process->in, POLLOUT);
}

static Slot *slot_at(Server *server, int i) {
  return i < server->n_slots ? &server->compile[i] : &server->bench;
}

static void serve_slot(Server *server, int i, const struct pollfd fds[3]) {
  Slot *slot = slot_at(server, i);
  Process *process = &slot->process;
  if (fds[1].revents && process->err == fds[1].fd) process_read_words(process);
  if (fds[2].revents && process->in == fds[2].fd) process_write(process);
  if (!fds[0].revents || process->out != fds[0].fd) return;
  if (slot != &server->bench)
    compile_read(server, slot);
  else if (server->machine_known)
    bench_read(server);
  else
    machine_read(server);
}

static int64_t next_due(const Server *server) {
  int64_t due = bench_next_ms(server);
  if (server->said_at + PROTOCOL_HEARTBEAT_MS < due) due = server->said_at + PROTOCOL_HEARTBEAT_MS;
  for (int i = 0; i < server->n_slots; i++)
    if (server->compile[i].request && server->compile[i].request->ends_at < due)
      due = server->compile[i].request->ends_at;
  return due;
}

static bool serve_once(Server *server) {
  Polls polls = {.n = 0};
  const int n_children = server->n_slots + 1;
  polls_add(&polls, STDIN_FILENO, POLLIN);
  polls_add(&polls, out_queue_is_empty(&server->out) ? -1 : STDOUT_FILENO, POLLOUT);
  for (int i = 0; i < n_children; i++) polls_add_process(&polls, &slot_at(server, i)->process);
  int64_t wait = next_due(server) - clock_ms();
  poll(polls.fds, (nfds_t)polls.n, wait < 0 ? 0 : (int)wait);
  server->now_ms = clock_ms();
  if (polls.fds[1].revents && !out_queue_flush(&server->out, STDOUT_FILENO, false)) return false;
  if (polls.fds[0].revents && !read_client(server)) return false;
  for (int i = 0; i < n_children; i++) serve_slot(server, i, polls.fds + 2 + 3 * i);
  machine_step(server);
  compile_step(server);
  bench_step(server);
  if (server->now_ms - server->said_at >= PROTOCOL_HEARTBEAT_MS) say_heartbeat(server);
  reaper_collect(&server->reaper);
  arena_reset(server->arena);
  return server->out.end - server->out.start < OUT_BYTES_MAX;
}

static int slots_here(const WorkerOptions *options) {
  const int n = options->compiles > 0 ? options->compiles : team_processors() - 1;
  return n < 2 ? 2 : n > WORKER_SLOTS_MAX ? WORKER_SLOTS_MAX : n;
}

static void end_children(Server *server) {
  for (int i = 0; i < server->n_slots + 1; i++)
    process_kill(&slot_at(server, i)->process, &server->reaper);
  if (server->lock) device_lock_close(server->lock);
}

int worker_run(const WorkerOptions *options) {
  Server *server = or_die(calloc(1, sizeof *server));
  signal(SIGPIPE, SIG_IGN);
  server->options = options;
  server->app = arena_new("app");
  server->arena = arena_new("job");
  server->in = line_reader_new(PROTOCOL_LINE_MAX);
  server->n_slots = slots_here(options);
  server->bench_turn_ms = 2500;
  server->now_ms = clock_ms();
  server->machine_ends_at = server->now_ms + WORKER_MACHINE_MS;
  for (int i = 0; i < server->n_slots + 1; i++) slot_at(server, i)->process = process_none();
  say_hello(server);
  if (!server_start_job(server, &server->bench, "machine", (ProcessOptions){0}))
    machine_failed(server, "no process could be started to look for a GPU");
  while (serve_once(server)) {
  }
  end_children(server);
  while (server->first) {
    Request *next = server->first->next;
    free(server->first->line);
    free(server->first);
    server->first = next;
  }
  line_reader_free(&server->in);
  out_queue_free(&server->out);
  arena_free(server->arena);
  arena_free(server->app);
  free(server);
  return 0;
}
