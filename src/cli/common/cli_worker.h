// A command's worker: requests in, answers out, with the waiting, the progress line and Ctrl-C in
// one place.
//
//   CliWorker *worker = cli_worker_open(arena, &given.worker, true, &diags);
//   if (!worker) return cli_fail(&diags);
//   WorkerAnswer *answer = cli_worker_submit(worker, &request, "rung 7");
//   if (!cli_worker_wait(worker, answer)) …      answer->status, answer->error
//   cli_worker_close(worker);
//
// Any number of requests may be under way. What an answer points to lives until the worker is
// closed.
#pragma once
#include "cli/common/options.h"
#include "kernels/worker/client.h"
#include "model/readings/model.h"

#define OPTION_WORKER(T) \
  { .name = "worker", .kind = OPTION_KIND_LIST, .offset = offsetof(T, worker) }

typedef struct CliWorker CliWorker;

typedef struct WorkerAnswer {
  int64_t id;
  const char *label;  // for the progress line
  bool done;
  const CompileResult *ptx, *cubin;  // what did not come is NULL
  const SassResult *sass;
  const KernelTexts *code;
  const ClockNumber *clock;
  const BenchResult *bench;
  const TraceResult *trace;
  const ProbeResults *probe;
  int status;         // an exit status; CLI_OK: all that was asked for came
  const char *error;  // a sentence, NULL exactly when the status is CLI_OK
  struct WorkerAnswer *next;
} WorkerAnswer;

// The machine as the worker describes it; texts are "" where there is none.
typedef struct WorkerMachine {
  bool known, can_compile;
  int n_gpus, n_compiles;               // of its host, and at once; 0: it does not say
  const char *gpu, *gpu_error, *nvrtc;  // the device's name again
  Device device;
} WorkerMachine;

// The options of a client for these --worker commands, history aside; none: this program.
bool cli_client_options(Arena *arena, const OptionList *commands, ClientOptions *out, Diags *diags);

// NULL after findings.
CliWorker *cli_worker_open(Arena *arena, const OptionList *commands, bool history, Diags *diags);
// With a history, for a command that others work for meanwhile: a worker may wait ten minutes for
// its turn, in Slurm's queue for example, until it says hello.
CliWorker *cli_worker_open_queued(Arena *arena, const OptionList *commands, Diags *diags);
void cli_worker_close(CliWorker *worker);

WorkerAnswer *cli_worker_submit(CliWorker *worker, const ClientRequest *request, const char *label);
// Waits for the answer; whether its status is CLI_OK. After Ctrl-C the status is CLI_INTERRUPTED.
bool cli_worker_wait(CliWorker *worker, WorkerAnswer *answer);
// Files a timing that was made without a worker.
void cli_answer_bench(WorkerAnswer *answer, const BenchResult *result);
// Frees the answers so far; all of them are done and nothing points to them any more.
void cli_worker_forget(CliWorker *worker);
bool cli_worker_interrupted(const CliWorker *worker);

// For commands that speak to the workers themselves; Ctrl-C, history and end are still this one's.
Client *cli_worker_client(CliWorker *worker);

// Waits until the machine of the first worker is known, or the worker turned out not to work.
WorkerMachine cli_worker_machine(CliWorker *worker);
// CLI_OK when a GPU is there to time on; otherwise says why on stderr and returns the status.
int cli_worker_need_gpu(CliWorker *worker);

// The driver's word for the row of the GPU at hand stands in the table, as in the explorer; where
// it differs stderr says so. Every command that measures calls it once, before it builds a model:
// rules hold by what the GPU has.
DeviceWord cli_worker_take_device(CliWorker *worker, TargetTable *targets);
// The same for a GPU that is known.
DeviceWord cli_take_device(Arena *arena, const Device *device, TargetTable *targets);

// Sets TARGET to the GPU at hand, unless the user gave one or it is the default anyway.
void cli_worker_set_target(CliWorker *worker, const TargetTable *targets, Schedule *schedule);
// The same for a GPU that is known; nothing happens where no row stands for it.
void cli_set_target(const TargetTable *targets, const Device *device, Schedule *schedule);
