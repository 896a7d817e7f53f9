// The terminal program's and the commands' way to a worker: submit, poll, never wait.
//
//   Client *client = client_start(&(ClientOptions){.version = cli_version});
//   int64_t id = client_submit(client, &(ClientRequest){.kind = MESSAGE_COMPILE, .plan = plan,
//                                                       .want = "ptx,cubin", .key = state_hash});
//   … poll() on client_wake_fd(client) beside the keyboard …
//   for (ClientEvent *event; (event = client_poll(client)); client_event_free(event)) …
//
// A thread owns the worker processes. Every request is answered by exactly one event whose message
// is done, whatever happens to the worker: when it dies, hangs or is killed, an error event says so
// before, and the worker is started again. No function here takes longer than a millisecond, but
// client_next (which waits when asked to) and client_stop.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kernels/device/bench.h"
#include "kernels/device/history/history.h"
#include "kernels/device/probe/probe.h"
#include "kernels/device/trace_run.h"
#include "kernels/toolchain/machine/clock_number.h"
#include "kernels/toolchain/machine/kernel_text.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/toolchain/plan.h"
#include "kernels/worker/protocol.h"
#include "model/words/device.h"

typedef struct Client Client;

enum { CLIENT_WORKERS_MAX = 16, CLIENT_REQUESTS_MAX = 4096 };

typedef struct ClientOptions {
  const char *version;  // of the program
  const char *user;     // NULL: not told
  // Commands, each a NULL-terminated argument vector that must outlive the client; 0: one worker,
  // this program.
  const char *const *const *workers;
  int n_workers;
  // The file in which the thread records every timing, before it hands its event over: history.h's
  // default place when `history` is set and the path NULL.
  bool history;
  const char *history_path;
  // Milliseconds, 0 = the default: a worker that is silent longer than silence_ms (15 s) or has not
  // said hello after hello_ms (20 s), or what its machine has machine_ms (60 s) later, is ended; a
  // request may take grace_ms (5 s) more than its deadline.
  int silence_ms, hello_ms, machine_ms, grace_ms;
  // A worker that is ended gets so long between SIGTERM and SIGKILL: commands such as srun have a
  // job elsewhere to end. 0: it is killed at once.
  int leave_ms;
} ClientOptions;

typedef struct ClientRequest {
  MessageKind kind;           // MESSAGE_COMPILE, …_BENCH, …_TRACE or …_PROBE
  const Plan *plan, *plan_b;  // copied; bench: B may be NULL; trace: with stamps, without
  const ProbeRequest *probe;  // probe: copied
  // bench: the one-line states, for the history; compile: what the clock plays by; NULL = ""
  const char *state, *state_b;
  const Device *device;  // compile: the GPU whose driver's word counts for the clock; NULL: none
  // bench: HistoryRow's, for the history; 0 registers: not known.
  CompiledKernel compiled, compiled_b;
  const char *want;  // compile: "ptx,cubin,code,clock,sass", NULL = "ptx,cubin"
  uint64_t key;      // the caller's own, returned with every event
  bool keep;         // compile: newer compiles do not make it stale
  int worker;        // by its number from 1, and no other; 0 = any
  int deadline_ms;   // 0 = the worker's default (30 s to compile, 60 s on the GPU)
  int budget_ms;     // bench, trace: of the timing; 0 = bench.h's default
  bool flush_l2, hot, brief, no_reference, verify_only;
  uint64_t seed;  // 0 = bench.h's default
  // bench of one plan with nothing else asked: what anybody measured of it on the worker's GPU in
  // the last ten minutes is as good; then the event has its row, and no worker is asked.
  bool share;
} ClientRequest;

typedef struct ClientEvent ClientEvent;
struct ClientEvent {
  int64_t id;  // of the request; 0 for a worker's description of its machine
  uint64_t key;
  int worker;              // index; −1 when none was involved
  Message message;         // queued, progress, result, error, done or machine
  CompileResult *compile;  // of a result "ptx" or "cubin"
  SassResult *sass;        // of a result "sass"
  KernelTexts *code;       // of a result "code"
  ClockNumber *clock;      // of a result "clock"
  BenchResult *bench;      // of a result "bench"
  TraceResult *trace;      // of a result "trace"
  ProbeResults *probe;     // of a result "probe"
  HistoryRow *row;         // of a result "history": a shared timing, or the newest rows; "known"
  int n_rows;
  HistoryCalibration *fit;  // of a result "known"
  int n_fits;
  Arena *arena;       // everything above lives here
  ClientEvent *next;  // the client's own
};

typedef enum ClientState {
  CLIENT_STARTING,    // no hello yet
  CLIENT_READY,       // waits for work
  CLIENT_BUSY,        // has requests
  CLIENT_RESTARTING,  // died or was ended; `reason` says how, it comes back by itself
  CLIENT_FAILED       // speaks another protocol; it does not come back
} ClientState;

// The device that a worker's description of its machine tells of.
Device client_device(const Message *machine);

typedef struct ClientStatus {
  ClientState state;
  int64_t since_ms;  // of the state, on clock_ms()'s clock
  int n_requests;    // that it has
  int64_t id;        // of the request it last spoke of; 0 = none
  int64_t id_since_ms;
  int place;         // of that request in its queue; 0 = it is served
  double seconds;    // expected wait
  int n_starts;      // processes so far
  int pid;           // 0 = none
  char stage[64];    // "ptx", "verify", "time"
  char name[128];    // the command
  char reason[768];  // why it last died; "" = it never did
  // Tells what it said about its machine; "" = not known yet, or there is none.
  char host[64], gpu_error[256], driver[32], nvrtc[256];
  Device device;
  int n_compiles, n_gpus;  // compiles that it runs at once; GPUs of its host
  bool machine_known, can_compile;
  // It has failed so often without a hello that requests of its own are refused; `reason` says how.
  // It is still tried now and then.
  bool unreachable;
} ClientStatus;

// NULL when no thread or descriptor could be had.
Client *client_start(const ClientOptions *options);
// Ends the workers at once and frees everything but the events that were handed out. Requests to
// the history are given up. If one cannot be, because a disk hangs, the thread is left behind with
// what it works on.
void client_stop(Client *client);

int64_t client_submit(Client *client, const ClientRequest *request);
void client_cancel(Client *client, int64_t id);
// The newest rows of the history, at most `max` (1 to 1,000): a result "history", whatever the
// workers do.
int64_t client_ask_history(Client *client, int max);

// Tells what the history knows of a kind of GPU, by its name: a result "known" with the best kernel
// of the problem, history_problem(), where there is one, and the fits of its rooflines.
int64_t client_ask_known(Client *client, const char *gpu, const char *problem);

// Readable while there are events or changes of status; client_poll and client_status clear it.
int client_wake_fd(const Client *client);
// The next event, to be given to client_event_free; NULL when there is none now.
ClientEvent *client_poll(Client *client);
// The same, waiting up to `timeout_ms` for one (for commands, not for the screen).
ClientEvent *client_next(Client *client, int timeout_ms);
void client_event_free(ClientEvent *event);

// Why timings are not recorded; "" when they are. At most `size` bytes.
void client_history_error(Client *client, char *text, size_t size);

// "ssh box 'gemmview' worker" as an argument vector, in `arena`: words are parted by blanks, quotes
// and backslashes keep them together; nothing else is special. NULL with a diagnostic of rule
// "usage" when there is no word or a quote is not closed.
const char *const *client_split_command(Arena *arena, const char *text, Diags *diags);

void client_status(Client *client, int worker, ClientStatus *out);
// Whether the worker hears what it is asked: it is ready or busy, not starting.
bool client_is_up(Client *client, int worker);
const char *client_state_name(ClientState state);  // "starting", …
