// The session's side of the worker: the work to compile and time, and filing the results.
//
//   Requests *requests = requests_start(arena, &options, session);
//   for (;;) { …; requests_poll(requests); requests_tick(requests, now_ms); }
//
// A state is compiled when the knobs have rested for REQUESTS_REST_MS; a state that is compiled
// already, or under way, is not asked for again. Nothing here waits.
#pragma once
#include "base/arena.h"
#include "kernels/worker/client.h"
#include "tui/session/session.h"

enum { REQUESTS_REST_MS = 300 };

typedef struct Requests Requests;

// `options` NULL: no worker is wanted.
Requests *requests_start(Arena *arena, const ClientOptions *options, Session *session);
void requests_stop(Requests *requests);
int requests_fd(
    const Requests *requests);  // readable when requests_poll has something to do; -1: never

// Files what has come; true when the screen has to be drawn again.
bool requests_poll(Requests *requests);
// Submits the requests whose time has come. The milliseconds until the next one's, -1: none waits.
int requests_tick(Requests *requests, int64_t now_ms);
// Verify and time the present schedule (and A beside it, while A|B is on).
void requests_bench(Requests *requests);
// Time the selected shared-memory access (and A's beside it, while A|B is on).
void requests_probe(Requests *requests);
// Trace block 0 of the present schedule.
void requests_trace(Requests *requests);
// Verify and time every legal value of session->background.sweep that was not timed here yet.
void requests_bench_sweep(Requests *requests);
// Asks for the newest rows of the history.
void requests_history(Requests *requests);
// Asks the history again; its answer for the present problem may have changed.
void requests_known_again(Requests *requests);
// Searches for the best kernel of the present problem, with workers of its own (tuning.h).
void requests_tune(Requests *requests, double seconds);
// Takes back every timing that was asked for.
void requests_stop_timing(Requests *requests);
