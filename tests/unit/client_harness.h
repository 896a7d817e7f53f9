// A client with workers that only pretend, by a script (worker_fake.h); and what it said of a
// request. One client at a time: it is `client`, made by start… and stopped by teardown.
#pragma once
#include "kernels/worker/client.h"

enum { SOON_MS = 5000 };

extern Arena *arena;
extern Client *client;
extern char script_path[64];  // the script; a name of one's own for what a test leaves beside it
extern const Plan plan;       // of one empty kernel

void setup(void);
void teardown(void);

Plan plan_named(const char *label);

// `n` workers with the same script.
void start_workers(const char *script, ClientOptions options, int n);
void start_with(const char *script, ClientOptions options);
void start(const char *script);

// Calls are timed: none of them may take as much as a frame.
extern int64_t slowest_us;
int64_t now_us(void);
void note(int64_t since_us);
int64_t submit_compile(const char *label, bool keep);
ClientStatus status_of(int worker);

// What was said about one request until its done.
typedef struct Outcome {
  int n_results, n_errors, n_done, n_progress, n_queued;
  ErrorKind error;
  int worker;
  char text[1024];
} Outcome;

// Waits for the done of a request; what is said of others is dropped.
Outcome outcome_of(int64_t id);

void wait_for_state(int worker, ClientState state);
void wait_for_start(int worker, int n_starts);
bool is_alive(int pid);
void wait_until_gone(int pid);
// After whatever happened, the worker takes the next request.
void check_it_is_back(void);
