// One client, a list of answers that its events are filed into, and a line on stderr that says what
// is being waited for.
//
// Worked example, a ladder of three rungs on a machine without a compiler:
//
//   submit 1 2 3   →  answers 1 2 3, none done
//   result cubin 1 →  answer 1: cubin, ok = false, failed = "library"
//   done 1         →  answer 1: status 3, "NVRTC was not found …"
//
// Ctrl-C ends the worker and with it whatever runs on the GPU; the answers that are missing get
// status 130.
#include "cli/common/cli_worker.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "kernels/worker/protocol.h"

enum { TICK_MS = 100, MACHINE_TICKS = 400, LEAVE_MS = 5000, QUEUE_MS = 600000 };

struct CliWorker {
  bool queued;  // cli_worker_open_queued()
  Arena *arena;
  Client *client;
  WorkerAnswer *first;
  ClientEvent *kept;  // events that answers point into
  bool shows_progress, progress_shown;
  struct sigaction before;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

bool cli_worker_interrupted(const CliWorker *worker) {
  (void)worker;
  return interrupted != 0;
}

bool cli_client_options(Arena *arena, const OptionList *commands, ClientOptions *out,
                        Diags *diags) {
  const char *const **workers = ARENA_ARRAY(arena, const char *const *, commands->count + 1);
  const int before = diags->count;
  if (commands->count > CLIENT_WORKERS_MAX)
    diag_add(diags, "usage", "--worker was given %d times, at most %d workers are kept",
             commands->count, (int)CLIENT_WORKERS_MAX);
  for (int i = 0; i < commands->count; i++)
    workers[i] = client_split_command(arena, commands->items[i], diags);
  *out = (ClientOptions){.version = cli_version,
                         .user = getenv("USER"),
                         .workers = workers,
                         .n_workers = commands->count,
                         .leave_ms = commands->count ? LEAVE_MS : 0};
  return diags->count == before;
}

static CliWorker *open_worker(Arena *arena, const OptionList *commands, bool history, int hello_ms,
                              Diags *diags) {
  CliWorker *worker = ARENA_NEW(arena, CliWorker);
  ClientOptions options;
  worker->arena = arena;
  worker->shows_progress = isatty(STDERR_FILENO) != 0;
  if (!cli_client_options(arena, commands, &options, diags)) return NULL;
  options.history = history;
  options.hello_ms = hello_ms;
  worker->queued = hello_ms > 0;
  worker->client = client_start(&options);
  if (!worker->client) {
    diag_add(diags, "worker", "no thread could be started for the worker");
    return NULL;
  }
  struct sigaction action = {.sa_handler = on_interrupt};
  interrupted = 0;
  sigaction(SIGINT, &action, &worker->before);
  return worker;
}

CliWorker *cli_worker_open(Arena *arena, const OptionList *commands, bool history, Diags *diags) {
  return open_worker(arena, commands, history, 0, diags);
}

CliWorker *cli_worker_open_queued(Arena *arena, const OptionList *commands, Diags *diags) {
  return open_worker(arena, commands, true, QUEUE_MS, diags);
}

// ---- the progress line --------------------------------------------------------------------------

static void clear_progress(CliWorker *worker) {
  if (worker->progress_shown) fputs("\r\x1b[K", stderr);
  worker->progress_shown = false;
}

static void show_progress(CliWorker *worker, const WorkerAnswer *answer, const Message *message) {
  if (!worker->shows_progress) return;
  clear_progress(worker);
  fprintf(stderr, "%s: ", answer->label);
  if (message->kind == MESSAGE_QUEUED)
    fprintf(stderr, "%lld first, some %.0f s", (long long)message->place, message->seconds);
  else
    fprintf(stderr, "%s", message->stage);
  if (MESSAGE_HAS(*message, fraction)) fprintf(stderr, " %3.0f %%", 100 * message->fraction);
  fflush(stderr);
  worker->progress_shown = true;
}

// ---- answers ------------------------------------------------------------------------------------

static void fail(WorkerAnswer *answer, int status, const char *error) {
  if (answer->error) return;
  answer->status = status;
  answer->error = error;
}

static void take_compile(WorkerAnswer *answer, const CompileResult *result, bool is_ptx) {
  *(is_ptx ? &answer->ptx : &answer->cubin) = result;
  bool no_library = result->failed && str_equal(result->failed, "library");
  if (!result->ok) fail(answer, no_library ? CLI_MISSING : CLI_COMPILE, result->error);
}

static void take_sass(WorkerAnswer *answer, const SassResult *result) {
  answer->sass = result;
  if (!result->ok) fail(answer, CLI_MISSING, result->error);
}

// The sentence of the first thing that went wrong in a timing.
static const char *bench_error(const BenchResult *result) {
  if (result->error) return result->error;
  for (int i = 0; i < result->n_entries; i++)
    if (result->entries[i].error) return result->entries[i].error;
  return "the timing did not finish";
}

void cli_answer_bench(WorkerAnswer *answer, const BenchResult *result) {
  answer->bench = result;
  if (!result->ok) fail(answer, CLI_BENCH, bench_error(result));
}

static void take_trace(WorkerAnswer *answer, const TraceResult *result) {
  answer->trace = result;
  if (!result->ok) fail(answer, CLI_BENCH, result->error);
}

static void take_result(WorkerAnswer *answer, const ClientEvent *event) {
  if (event->compile) take_compile(answer, event->compile, str_equal(event->message.what, "ptx"));
  if (event->sass) take_sass(answer, event->sass);
  if (event->code) answer->code = event->code;
  if (event->clock) answer->clock = event->clock;
  if (event->bench) cli_answer_bench(answer, event->bench);
  if (event->trace) take_trace(answer, event->trace);
  if (event->probe) answer->probe = event->probe;
}

static WorkerAnswer *find_answer(const CliWorker *worker, int64_t id) {
  for (WorkerAnswer *at = worker->first; at; at = at->next)
    if (at->id == id) return at;
  return NULL;
}

static void take_event(CliWorker *worker, ClientEvent *event) {
  WorkerAnswer *answer = find_answer(worker, event->id);
  const Message *message = &event->message;
  if (answer && (message->kind == MESSAGE_QUEUED || message->kind == MESSAGE_PROGRESS))
    show_progress(worker, answer, message);
  if (answer && message->kind == MESSAGE_RESULT) take_result(answer, event);
  if (answer && message->kind == MESSAGE_ERROR)
    fail(answer, error_kind_exit_status(message->error), message->text);
  if (answer && message->kind == MESSAGE_DONE) answer->done = true;
  event->next = worker->kept;
  worker->kept = event;
}

WorkerAnswer *cli_worker_submit(CliWorker *worker, const ClientRequest *request,
                                const char *label) {
  WorkerAnswer *answer = ARENA_NEW(worker->arena, WorkerAnswer);
  answer->label = label;
  answer->id = client_submit(worker->client, request);
  answer->next = worker->first;
  worker->first = answer;
  return answer;
}

bool cli_worker_wait(CliWorker *worker, WorkerAnswer *answer) {
  while (!answer->done && !interrupted) {
    ClientEvent *event = client_next(worker->client, TICK_MS);
    if (event) take_event(worker, event);
  }
  clear_progress(worker);
  if (!answer->done) {
    answer->status = CLI_INTERRUPTED;
    answer->error = "interrupted";
  }
  return answer->status == CLI_OK;
}

Client *cli_worker_client(CliWorker *worker) { return worker->client; }

void cli_worker_forget(CliWorker *worker) {
  worker->first = NULL;
  while (worker->kept) {
    ClientEvent *next = worker->kept->next;
    client_event_free(worker->kept);
    worker->kept = next;
  }
}

// A search says it at once, by itself.
static void tell_history(CliWorker *worker) {
  char error[256];
  client_history_error(worker->client, error, sizeof error);
  if (*error && !worker->queued) cli_error(0, "%s", error);
}

void cli_worker_close(CliWorker *worker) {
  clear_progress(worker);
  tell_history(worker);
  client_stop(worker->client);
  cli_worker_forget(worker);
  sigaction(SIGINT, &worker->before, NULL);
}

// ---- the machine --------------------------------------------------------------------------------

static bool is_settled(const ClientStatus *status) {
  return status->machine_known || status->state == CLIENT_FAILED || *status->reason;
}

WorkerMachine cli_worker_machine(CliWorker *worker) {
  ClientStatus status;
  client_status(worker->client, 0, &status);
  for (int i = 0; i < MACHINE_TICKS && !is_settled(&status) && !interrupted; i++) {
    ClientEvent *event = client_next(worker->client, TICK_MS);
    if (event) take_event(worker, event);
    client_status(worker->client, 0, &status);
  }
  const char *why = *status.gpu_error ? status.gpu_error : status.reason;
  Arena *arena = worker->arena;
  return (WorkerMachine){.known = status.machine_known,
                         .can_compile = status.can_compile,
                         .n_gpus = status.n_gpus,
                         .n_compiles = status.n_compiles,
                         .gpu = arena_strdup(arena, status.device.name),
                         .device = status.device,
                         .gpu_error = arena_strdup(arena, why),
                         .nvrtc = arena_strdup(arena, status.nvrtc)};
}

int cli_worker_need_gpu(CliWorker *worker) {
  WorkerMachine machine = cli_worker_machine(worker);
  if (interrupted) return CLI_INTERRUPTED;
  if (*machine.gpu) return CLI_OK;
  const char *what = machine.known ? "there is no GPU to time on" : "the worker does not answer";
  return cli_error(CLI_MISSING, "%s%s%s", what, *machine.gpu_error ? ": " : "", machine.gpu_error);
}

DeviceWord cli_take_device(Arena *arena, const Device *device, TargetTable *targets) {
  DeviceWord word = device_apply(arena, device, targets);
  if (word.n)
    cli_error(0, "the driver of %s gives other limits than its row, and they count: %s",
              device->name, device_word_text(arena, &word));
  return word;
}

DeviceWord cli_worker_take_device(CliWorker *worker, TargetTable *targets) {
  WorkerMachine machine = cli_worker_machine(worker);
  return cli_take_device(worker->arena, &machine.device, targets);
}

void cli_set_target(const TargetTable *targets, const Device *device, Schedule *schedule) {
  const Target *target = device_target(targets, device);
  if (target) device_take_target(targets, target, schedule);
}

void cli_worker_set_target(CliWorker *worker, const TargetTable *targets, Schedule *schedule) {
  WorkerMachine machine = cli_worker_machine(worker);
  cli_set_target(targets, &machine.device, schedule);
}
