// Compiles run in children that serve one request at a time, each in a fork of its own
// (job_child.c).
//
// A fork and exec of this program, opening NVRTC included, costs 40 ms of one core, as much as many
// a text. So a child stays when it has served, one always stands by with its libraries loaded, and
// those without work for 20 s end. Worked example with two slots:
//
//   slot 0 stands by; compile 7 arrives → slot 0 is fed, slot 1 starts and stands by
//   compile 8 (not keep) arrives       → 7 is superseded: slot 0 is killed; slot 1 is fed
//   8 is done                          → slot 1 stands by
//
// There is one for each core, so they stand behind the process that feeds the GPU: the child that
// times, this worker and the search that asks it.
//
// A deadline counts from the moment a child is fed. Address space and processor time are limited
// too; ptxas can take either.
#include <stdlib.h>

#include "kernels/worker/worker_server.h"

enum { COMPILE_NICE = 10, COMPILE_CPU_SECONDS = 3600, SPARE_PAUSE_MS = 100 };

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif

// The sanitizers reserve terabytes of address space for their shadow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer)
static const size_t compile_memory_bytes = 0;
#else
static const size_t compile_memory_bytes = (size_t)8 << 30;
#endif

static Slot *idle_slot(Server *server, bool running) {
  for (int i = 0; i < server->n_slots; i++) {
    Slot *slot = &server->compile[i];
    if (!slot->request && process_is_running(&slot->process) == running) return slot;
  }
  return NULL;
}

static bool start_slot(Server *server, Slot *slot) {
  slot->has_served = false;
  slot->idle_since = server->now_ms;
  return server_start_job(server, slot, "compile",
                          (ProcessOptions){.cpu_seconds = COMPILE_CPU_SECONDS,
                                           .memory_bytes = compile_memory_bytes,
                                           .nice = COMPILE_NICE});
}

static void begin(Server *server, Slot *slot, Request *request) {
  const int64_t limit = request->kind == MESSAGE_COMPILE ? request->deadline_ms : WORKER_COMPILE_MS;
  slot->request = request;
  request->phase = PHASE_COMPILING;
  request->heard = false;
  request->ends_at = server->now_ms + limit;
  slot_feed(slot, request);
}

bool compile_knows(const Server *server, uint64_t plans) {
  const int n = server->n_compiled < WORKER_COMPILED_MAX ? server->n_compiled : WORKER_COMPILED_MAX;
  for (int i = 0; i < n; i++)
    if (server->compiled[i] == plans) return true;
  return false;
}

static void remember(Server *server, const Request *request) {
  if (!request->plans || request->failed || compile_knows(server, request->plans)) return;
  server->compiled[server->n_compiled++ % WORKER_COMPILED_MAX] = request->plans;
}

// Goes on after a compile child that did what it was asked.
static void end_well(Server *server, Slot *slot) {
  Request *request = slot->request;
  slot->request = NULL;
  slot->has_served = true;
  slot->idle_since = server->now_ms;
  remember(server, request);
  if (request->kind == MESSAGE_COMPILE || request->failed) {
    request_finish(server, request);
    return;
  }
  request->phase = PHASE_WAITING_BENCH;
  request->told_place = -1;
}

static void end_badly(Server *server, Slot *slot, ErrorKind kind, const char *text) {
  Request *request = slot->request;
  slot->request = NULL;
  process_kill(&slot->process, &server->reaper);
  if (request) request_fail(server, request, kind, text);
}

// A child that has served may end as the next request comes to it: that one has another turn.
static bool has_another_turn(Server *server, Slot *slot) {
  Request *request = slot->request;
  if (!request || request->heard || !slot->has_served) return false;
  slot->request = NULL;
  request->phase = PHASE_WAITING_COMPILE;
  process_kill(&slot->process, &server->reaper);
  return true;
}

void compile_read(Server *server, Slot *slot) {
  LineStatus status = slot_read(server, slot);
  if (status == LINE_READY)
    end_well(server, slot);
  else if (status == LINE_TOO_LONG)
    end_badly(server, slot, ERROR_COMPILER, "the compiler's process broke the protocol");
  if (process_is_running(&slot->process) && slot->process.out < 0 &&
      !has_another_turn(server, slot))
    end_badly(server, slot, ERROR_COMPILER, slot_describe_end(server, slot, "the compiler"));
}

static void check_deadlines(Server *server) {
  for (int i = 0; i < server->n_slots; i++) {
    Slot *slot = &server->compile[i];
    if (!slot->request || server->now_ms < slot->request->ends_at) continue;
    const int64_t limit =
        slot->request->kind == MESSAGE_COMPILE ? slot->request->deadline_ms : WORKER_COMPILE_MS;
    end_badly(server, slot, ERROR_TIMEOUT,
              arena_printf(server->arena, "the compile was ended at its deadline of %.1f s",
                           (double)limit / 1000));
  }
}

static Slot *slot_for(Server *server, Request *request) {
  Slot *slot = idle_slot(server, true);
  if (slot) return slot;
  slot = idle_slot(server, false);
  if (!slot || start_slot(server, slot)) return slot;
  request_fail(server, request, ERROR_COMPILER, "no process could be started for the compiler");
  return NULL;
}

// A child that ends while it stands by (a library that crashes when it is opened) is not replaced
// at once: that would be a loop of forks.
static void keep_one_ready(Server *server) {
  if (!server->can_compile || idle_slot(server, true)) return;
  if (server->now_ms < server->spare_not_before) return;
  Slot *spare = idle_slot(server, false);
  if (spare) start_slot(server, spare);
  server->spare_not_before = server->now_ms + SPARE_PAUSE_MS;
}

// Ends the compilers that were not needed lately, all but one.
static void end_idle(Server *server) {
  const Slot *kept = idle_slot(server, true);
  for (int i = 0; i < server->n_slots; i++) {
    Slot *slot = &server->compile[i];
    if (slot == kept || slot->request || !process_is_running(&slot->process)) continue;
    if (server->now_ms - slot->idle_since >= WORKER_IDLE_MS)
      process_kill(&slot->process, &server->reaper);
  }
}

void compile_step(Server *server) {
  int place = 0;
  check_deadlines(server);
  end_idle(server);
  for (Request *at = server->first, *next; at; at = next) {
    next = at->next;
    if (at->phase != PHASE_WAITING_COMPILE) continue;
    const int n_before = server->n_requests;
    Slot *slot = slot_for(server, at);
    if (slot) {
      begin(server, slot, at);
    } else if (server->n_requests == n_before) {
      place++;
      request_tell_place(server, at, place, place * 0.5);
    }
  }
  keep_one_ready(server);
}

static void drop_stale(Server *server, Request *request) {
  for (int i = 0; i < server->n_slots; i++) {
    if (server->compile[i].request != request) continue;
    server->compile[i].request = NULL;
    process_kill(&server->compile[i].process, &server->reaper);
  }
}

void compile_supersede(Server *server, const Request *newer) {
  for (Request *at = server->first, *next; at; at = next) {
    next = at->next;
    if (at == newer || at->kind != MESSAGE_COMPILE || at->keep) continue;
    drop_stale(server, at);
    request_fail(server, at, ERROR_SUPERSEDED, "a newer compile cancelled this one");
  }
}
