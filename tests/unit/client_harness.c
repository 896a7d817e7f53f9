// The script lies in a file of its own below /tmp; the workers are this program as worker --fake.
#include "client_harness.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "stress.h"

Arena *arena;
char script_path[64];
Client *client;

static const char *program(void) {
  const char *path = getenv("GEMMVIEW");
  return path ? path : "build/plain/gemmview";
}

void setup(void) {
  arena = arena_new("test client");
  strcpy(script_path, "/tmp/gemmview-script-XXXXXX");
  int fd = mkstemp(script_path);
  ck_assert_int_ge(fd, 0);
  close(fd);
  client = NULL;
}

void teardown(void) {
  client_stop(client);
  unlink(script_path);
  arena_free(arena);
}

const Plan plan = {
    .cuda = "extern \"C\" __global__ void gemm(const float *A, const float *B, float *C) {}\n",
    .arch = "sm_90a",
    .label = "test",
    .m = 64,
    .n = 64,
    .k = 64,
    .n_kernels = 1,
    .kernels = {{.name = "gemm",
                 .grid = {1, 1, 1},
                 .block = {32, 1, 1},
                 .n_args = 3,
                 .args = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_C}}},
};

Plan plan_named(const char *label) {
  Plan copy = plan;
  copy.label = label;
  return copy;
}

void start_workers(const char *script, ClientOptions options, int n) {
  static const char *argv[5], *const *commands[4];
  FILE *file = fopen(script_path, "we");
  ck_assert_ptr_nonnull(file);
  fputs(script, file);
  fclose(file);
  argv[0] = program();
  argv[1] = "worker";
  argv[2] = "--fake";
  argv[3] = script_path;
  argv[4] = NULL;
  for (int i = 0; i < n; i++) commands[i] = argv;
  options.version = "test";
  options.workers = commands;
  options.n_workers = n;
  client = client_start(&options);
  ck_assert_ptr_nonnull(client);
}

void start_with(const char *script, ClientOptions options) { start_workers(script, options, 1); }

void start(const char *script) { start_with(script, (ClientOptions){0}); }

int64_t slowest_us;
int64_t now_us(void) { return (int64_t)(1e6 * clock_seconds()); }
void note(int64_t since_us) {
  const int64_t took = now_us() - since_us;
  if (took > slowest_us) slowest_us = took;
}

int64_t submit_compile(const char *label, bool keep) {
  Plan copy = plan_named(label);
  const int64_t since = now_us();
  int64_t id = client_submit(
      client, &(ClientRequest){.kind = MESSAGE_COMPILE, .plan = &copy, .keep = keep, .key = 77});
  note(since);
  ck_assert_int_gt(id, 0);
  return id;
}

ClientStatus status_of(int worker) {
  ClientStatus status;
  const int64_t since = now_us();
  client_status(client, worker, &status);
  note(since);
  return status;
}

static void take(Outcome *outcome, const ClientEvent *event) {
  const Message *message = &event->message;
  outcome->n_results += message->kind == MESSAGE_RESULT;
  outcome->n_errors += message->kind == MESSAGE_ERROR;
  outcome->n_done += message->kind == MESSAGE_DONE;
  outcome->n_progress += message->kind == MESSAGE_PROGRESS;
  outcome->n_queued += message->kind == MESSAGE_QUEUED;
  outcome->worker = event->worker;
  if (message->kind != MESSAGE_ERROR) return;
  outcome->error = message->error;
  snprintf(outcome->text, sizeof outcome->text, "%s", message->text);
}

Outcome outcome_of(int64_t id) {
  Outcome outcome = {0};
  const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
  while (outcome.n_done == 0 && clock_ms() < until) {
    ClientEvent *event = client_next(client, 100);
    if (event && event->id == id) take(&outcome, event);
    client_event_free(event);
  }
  ck_assert_msg(outcome.n_done == 1, "request %lld never ended", (long long)id);
  return outcome;
}

void wait_for_state(int worker, ClientState state) {
  const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
  while (status_of(worker).state != state && clock_ms() < until) poll(NULL, 0, 2);
  ClientStatus status = status_of(worker);
  ck_assert_msg(status.state == state, "worker is %s, not %s (%s)", client_state_name(status.state),
                client_state_name(state), status.reason);
}

void wait_for_start(int worker, int n_starts) {
  const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
  while (status_of(worker).n_starts < n_starts && clock_ms() < until) poll(NULL, 0, 2);
  ck_assert_int_ge(status_of(worker).n_starts, n_starts);
}

bool is_alive(int pid) { return kill(pid, 0) == 0; }

void wait_until_gone(int pid) {
  const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
  while (is_alive(pid) && clock_ms() < until) poll(NULL, 0, 2);
  ck_assert_msg(!is_alive(pid), "process %d is still there", pid);
}

void check_it_is_back(void) {
  Outcome outcome = outcome_of(submit_compile("fine", true));
  ck_assert_msg(outcome.n_errors == 0, "%s", outcome.text);
}
