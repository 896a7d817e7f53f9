// Inside of the worker: the state that worker.c, worker_compile.c and worker_bench.c share.
//
// A request moves WAITING_COMPILE → COMPILING → (a bench only) WAITING_BENCH → BENCHING and leaves
// by request_finish(), which says done; a probe begins at WAITING_BENCH. It owns its line, which
// children are given as it came.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "kernels/device/device_lock.h"
#include "kernels/worker/process.h"
#include "kernels/worker/protocol.h"
#include "kernels/worker/worker.h"

enum {
  WORKER_REQUESTS_MAX = 256,
  WORKER_SLOTS_MAX = 160,  // with half as many waiting they are fewer than requests
  WORKER_POLLS_MAX = 3 * (WORKER_SLOTS_MAX + 1) + 2,
  WORKER_COMPILE_MS = 30000,  // default deadlines
  WORKER_BENCH_MS = 60000,
  WORKER_MACHINE_MS = 20000,
  WORKER_IDLE_MS =
      20000,  // a bench child without work gives its GPU context back, a compiler its memory
  WORKER_COMPILED_MAX = 1024,
  WORKER_CANCEL_MS = 1000  // a bench child that does not heed a cancel is ended
};

typedef enum Phase {
  PHASE_WAITING_COMPILE,
  PHASE_COMPILING,
  PHASE_WAITING_BENCH,
  PHASE_BENCHING
} Phase;

typedef struct Request {
  struct Request *next;
  int64_t id;
  MessageKind kind;
  Phase phase;
  bool keep;
  bool failed;  // an error was said: nothing more but done
  bool heard;   // its child has said something in this phase
  bool cancelled;
  int64_t deadline_ms;
  int64_t ends_at;  // of the phase that runs
  int64_t told_at;
  int told_place;  // −1: not told yet
  uint64_t plans;  // the hash of its plan or plans
  char *line;
  size_t n_line;
} Request;

// A child and what it works on. `request` is NULL for one that stands by.
typedef struct Slot {
  Process process;
  Request *request;
  bool has_served;     // a request, in good order
  int64_t idle_since;  // on the server's clock
} Slot;

typedef struct Server {
  const WorkerOptions *options;
  Arena *app, *arena;  // `arena` is reset after every message
  LineReader in;
  OutQueue out;
  int64_t now_ms, said_at;
  Request *first;
  int n_requests, n_slots;
  Slot compile[WORKER_SLOTS_MAX];
  Slot bench;  // until the machine is known it looks for that
  Reaper reaper;
  int64_t bench_idle_since, bench_turn_ms, bench_started_at;
  // Hashes of plans with cubins that were made here lately, in a ring: their timings go straight to
  // the GPU.
  uint64_t compiled[WORKER_COMPILED_MAX];
  int n_compiled;
  bool bench_served;  // its child has ended a request in good order, or found the GPU
  int64_t machine_ends_at;
  int64_t spare_not_before;
  bool machine_known, has_gpu, can_compile;
  const char *gpu_uuid, *gpu_error;
  DeviceLock *lock;
  bool lock_held;
  int lock_ahead;
  int n_bad_lines;
} Server;

// worker.c
// Starts the program as a child for that job, with the limits of `limits`.
bool server_start_job(Server *server, Slot *slot, const char *job, ProcessOptions limits);
void request_finish(Server *server, Request *request);
void request_fail(Server *server, Request *request, ErrorKind kind, const char *text);
// Says the request's place in its queue when that changed or was last said five seconds ago.
void request_tell_place(Server *server, Request *request, int place, double seconds);
// Passes on what the child of `slot` has said about its request. Gives LINE_READY at its done;
// LINE_TOO_LONG when it said something it must not.
LineStatus slot_read(Server *server, Slot *slot);
// "the compiler ended by signal 11 (Segmentation fault): its last words"; the child is gone then.
const char *slot_describe_end(Server *server, Slot *slot, const char *who);
void slot_feed(Slot *slot, const Request *request);

// worker_compile.c: children that compile, at least one of them standing by.
void compile_step(Server *server);
// Whether the cubin of a plan was made here lately.
bool compile_knows(const Server *server, uint64_t plans);
void compile_read(Server *server, Slot *slot);
void compile_supersede(Server *server, const Request *newer);
// worker_bench.c: one child with one GPU context for all timings, and the device's lock.
void bench_step(Server *server);
void bench_read(Server *server);
void bench_cancel(Server *server, Request *request);
// The latest time of the next step.
int64_t bench_next_ms(const Server *server);
