// The session's side of the worker: what to compile and time, and filing what comes back.
//
//   Work *work = work_start(&options, session);           NULL worker: everything but those numbers
//   for (;;) { …; work_poll(work); work_tick(work, now_ms); }
//
// A state is compiled when the knobs have rested for WORK_REST_MS; what is compiled already, or
// under way, is not asked for again. Nothing here waits.
#pragma once
#include "base/arena.h"
#include "kernels/worker/client.h"
#include "tui/session/session.h"

enum { WORK_REST_MS = 300 };

typedef struct Work Work;

// `options` NULL: no worker is wanted.
Work *work_start(Arena *arena, const ClientOptions *options, Session *session);
void work_stop(Work *work);
int work_fd(const Work *work);  // readable when work_poll has something to do; -1: never

// Files what has come; true when the screen has to be drawn again.
bool work_poll(Work *work);
// Submits what is due. The milliseconds until the next thing is due, -1: nothing is.
int work_tick(Work *work, int64_t now_ms);
// Verify and time the present schedule (and A beside it, while A|B is on).
void work_bench(Work *work);
// Time the selected shared-memory access (and A's beside it, while A|B is on).
void work_probe(Work *work);
// Verify and time every legal value of session->sweep that was not timed here yet.
void work_bench_sweep(Work *work);
// Asks for the newest rows of the history.
void work_history(Work *work);
// Takes back every timing that was asked for.
void work_stop_timing(Work *work);
