// Timings run one after the other in one child that keeps its GPU context.
//
// A bench whose cubins are ready waits for two things: its turn here, and the device's lock, which
// orders the workers of all users. The child that found the GPU is the first (worker.c), another is
// started when it is needed. It opens a context at its first request, is told to end (by the end
// of its stdin) after 20 s without work so that the others have the memory, and killed when a
// request outlives its deadline: a kernel that never returns can only be ended with its process.
// A child whose CUDA context is lost (an illegal address) says its result and ends by itself; the
// next request gets a new one.
//
// Worked example of the wait that is told: two benches are ahead in this worker, three users hold
// or want the lock, a turn has taken 2.0 s lately: place 5, 10 s.
#include <stdlib.h>
#include <unistd.h>

#include "kernels/worker/worker_server.h"

enum { LOCK_RETRY_MS = 20 };

static Request *next_waiting(const Server *server) {
  for (Request *at = server->first; at; at = at->next)
    if (at->phase == PHASE_WAITING_BENCH) return at;
  return NULL;
}

static void release_lock(Server *server) {
  if (server->lock) device_lock_release(server->lock);
  server->lock_held = false;
  server->lock_ahead = 0;
}

static void end_turn(Server *server) {
  const int64_t took = server->now_ms - server->bench_started_at;
  server->bench_turn_ms = (3 * server->bench_turn_ms + took) / 4;
  server->bench.request = NULL;
  server->bench_idle_since = server->now_ms;
  release_lock(server);
}

// A child that lost its context ends right after its done, and the next request may have been fed
// to it by then: what ended unheard in a child that had served another gets a new turn. This may
// happen to a request again, when others come before it, but a new child's end is its own fault.
static bool retry(const Server *server, Request *request, ErrorKind kind) {
  if (kind != ERROR_BENCH || request->heard || request->cancelled || !server->bench_served)
    return false;
  request->phase = PHASE_WAITING_BENCH;
  return true;
}

static void end_badly(Server *server, ErrorKind kind, const char *text) {
  Request *request = server->bench.request;
  process_kill(&server->bench.process, &server->reaper);
  if (!request) return;
  end_turn(server);
  if (retry(server, request, kind)) return;
  if (request->cancelled) kind = ERROR_CANCELLED, text = "cancelled";
  request_fail(server, request, kind, text);
}

void bench_read(Server *server) {
  Slot *slot = &server->bench;
  LineStatus status = slot_read(server, slot);
  if (status == LINE_READY) {
    Request *request = slot->request;
    end_turn(server);
    server->bench_served = true;
    request_finish(server, request);
  } else if (status == LINE_TOO_LONG) {
    end_badly(server, ERROR_BENCH, "the process on the GPU broke the protocol");
  }
  if (process_is_running(&slot->process) && slot->process.out < 0)
    end_badly(server, ERROR_BENCH, slot_describe_end(server, slot, "the process on the GPU"));
}

static void check_deadline(Server *server) {
  Request *request = server->bench.request;
  if (!request || server->now_ms < request->ends_at) return;
  if (request->cancelled) {
    end_badly(server, ERROR_CANCELLED, "cancelled");
    return;
  }
  end_badly(server, ERROR_TIMEOUT,
            arena_printf(server->arena, "the run on the GPU was ended at its deadline of %.1f s",
                         (double)request->deadline_ms / 1000));
}

static int idle_limit_ms(const Server *server) {
  return server->options->idle_ms > 0 ? server->options->idle_ms : WORKER_IDLE_MS;
}

// Gives the context back in good order; a child that does not end is killed a second later.
static void end_when_idle(Server *server) {
  Process *process = &server->bench.process;
  if (!server->machine_known || server->bench.request || !process_is_running(process)) return;
  const int64_t idle_ms = server->now_ms - server->bench_idle_since;
  const int limit_ms = idle_limit_ms(server);
  if (idle_ms >= limit_ms && process->in >= 0) {
    close(process->in);
    process->in = -1;
  }
  if (idle_ms >= limit_ms + 1000) process_kill(process, &server->reaper);
}

static bool open_lock(Server *server, Request *request) {
  const char *why = NULL;
  if (server->lock) return true;
  server->lock = device_lock_open(server->app, server->gpu_uuid, &why);
  if (!server->lock) request_fail(server, request, ERROR_LOCK, why);
  return server->lock != NULL;
}

static bool take_lock(Server *server, Request *request) {
  if (server->lock_held) return true;
  if (!open_lock(server, request)) return false;
  DeviceLockStatus status = device_lock_try(server->lock, &server->lock_ahead);
  server->lock_held = status == DEVICE_LOCK_HELD;
  if (status == DEVICE_LOCK_FAILED)
    request_fail(server, request, ERROR_LOCK, "the GPU's lock cannot be taken");
  return server->lock_held;
}

static bool have_child(Server *server) {
  Slot *slot = &server->bench;
  if (slot->process.in < 0) process_kill(&slot->process, &server->reaper);
  if (process_is_running(&slot->process)) return true;
  server->bench_served = false;
  return server_start_job(server, slot, "bench", (ProcessOptions){0});
}

static void begin(Server *server, Request *request) {
  Slot *slot = &server->bench;
  if (!have_child(server)) {
    release_lock(server);
    request_fail(server, request, ERROR_BENCH, "no process could be started for the GPU");
    return;
  }
  slot->request = request;
  request->phase = PHASE_BENCHING;
  request->heard = false;
  server->bench_started_at = server->now_ms;
  request->ends_at = server->now_ms + request->deadline_ms;
  slot_feed(slot, request);
}

static void tell_places(Server *server) {
  int place = (server->bench.request ? 1 : 0) + server->lock_ahead;
  for (Request *at = server->first; at; at = at->next) {
    if (at->phase != PHASE_WAITING_BENCH) continue;
    if (place > 0)
      request_tell_place(server, at, place, (double)place * (double)server->bench_turn_ms / 1000);
    place++;
  }
}

static void fail_without_gpu(Server *server) {
  for (Request *at; (at = next_waiting(server));) {
    const char *why = server->gpu_error ? server->gpu_error : "no GPU was found";
    request_fail(server, at, ERROR_NO_GPU, why);
  }
}

void bench_step(Server *server) {
  check_deadline(server);
  end_when_idle(server);
  if (server->machine_known && !server->has_gpu) fail_without_gpu(server);
  Request *request = next_waiting(server);
  if (!request) {
    if (!server->bench.request && server->lock) release_lock(server);
    return;
  }
  if (server->machine_known && !server->bench.request && take_lock(server, request))
    begin(server, request);
  tell_places(server);
}

void bench_cancel(Server *server, Request *request) {
  Message cancel = message_new(MESSAGE_CANCEL);
  Str line = str_new(server->arena);
  MESSAGE_SET(cancel, id, request->id);
  message_write(&line, &cancel);
  out_queue_add(&server->bench.process.queue, line.text, line.length);
  request->cancelled = true;
  if (request->ends_at > server->now_ms + WORKER_CANCEL_MS)
    request->ends_at = server->now_ms + WORKER_CANCEL_MS;
}

int64_t bench_next_ms(const Server *server) {
  int64_t next = server->now_ms + 1000;
  const bool waits_for_lock = next_waiting(server) && !server->bench.request;
  if (waits_for_lock && server->machine_known) next = server->now_ms + LOCK_RETRY_MS;
  const int64_t idle_at = server->bench_idle_since + idle_limit_ms(server);
  const bool idles = process_is_running(&server->bench.process) && !server->bench.request;
  if (idles && idle_at > server->now_ms && idle_at < next) next = idle_at;
  if (server->bench.request && server->bench.request->ends_at < next)
    next = server->bench.request->ends_at;
  return next;
}
