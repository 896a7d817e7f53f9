// The client against a scripted worker: crash, hang, garbage, banner, partial and huge lines, end
// of output, kill −9, and what the user's thread sees of each. Every request gets exactly one done,
// no call is slow, and the worker is back within a second.
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/client.h"
#include "kernels/lines.h"

enum { SOON_MS = 5000 };

static Arena *arena;
static char script_path[64];
static Client *client;

static const char *program(void) {
  const char *path = getenv("GEMMVIEW");
  return path ? path : "build/asan/gemmview";
}

static void setup(void) {
  arena = arena_new("test client");
  strcpy(script_path, "/tmp/gemmview-script-XXXXXX");
  int fd = mkstemp(script_path);
  ck_assert_int_ge(fd, 0);
  close(fd);
  client = NULL;
}

static void teardown(void) {
  client_stop(client);
  unlink(script_path);
  arena_free(arena);
}

static const Plan plan = {
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

static Plan plan_named(const char *label) {
  Plan copy = plan;
  copy.label = label;
  return copy;
}

static void start_workers(const char *script, ClientOptions options, int n) {
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

static void start_with(const char *script, ClientOptions options) {
  start_workers(script, options, 1);
}

static void start(const char *script) { start_with(script, (ClientOptions){0}); }

// Calls are timed: none of them may take as much as a frame.
static int64_t slowest_us;
static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
static void note(int64_t since_us) {
  const int64_t took = now_us() - since_us;
  if (took > slowest_us) slowest_us = took;
}

static int64_t submit_compile(const char *label, bool keep) {
  Plan copy = plan_named(label);
  const int64_t since = now_us();
  int64_t id = client_submit(
      client, &(ClientRequest){.kind = MESSAGE_COMPILE, .plan = &copy, .keep = keep, .key = 77});
  note(since);
  ck_assert_int_gt(id, 0);
  return id;
}

static ClientStatus status_of(int worker) {
  ClientStatus status;
  const int64_t since = now_us();
  client_status(client, worker, &status);
  note(since);
  return status;
}

// What was said about one request until its done.
typedef struct Outcome {
  int n_results, n_errors, n_done, n_progress, n_queued;
  ErrorKind error;
  int worker;
  char text[1024];
} Outcome;

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

static Outcome outcome_of(int64_t id) {
  Outcome outcome = {0};
  const int64_t until = lines_now_ms() + SOON_MS;
  while (outcome.n_done == 0 && lines_now_ms() < until) {
    ClientEvent *event = client_next(client, 100);
    if (event && event->id == id) take(&outcome, event);
    client_event_free(event);
  }
  ck_assert_msg(outcome.n_done == 1, "request %lld never ended", (long long)id);
  return outcome;
}

static void wait_for_state(int worker, ClientState state) {
  const int64_t until = lines_now_ms() + SOON_MS;
  while (status_of(worker).state != state && lines_now_ms() < until) poll(NULL, 0, 2);
  ClientStatus status = status_of(worker);
  ck_assert_msg(status.state == state, "worker is %s, not %s (%s)", client_state_name(status.state),
                client_state_name(state), status.reason);
}

static void wait_for_start(int worker, int n_starts) {
  const int64_t until = lines_now_ms() + SOON_MS;
  while (status_of(worker).n_starts < n_starts && lines_now_ms() < until) poll(NULL, 0, 2);
  ck_assert_int_ge(status_of(worker).n_starts, n_starts);
}

static bool is_alive(int pid) { return kill(pid, 0) == 0; }

static void wait_until_gone(int pid) {
  const int64_t until = lines_now_ms() + SOON_MS;
  while (is_alive(pid) && lines_now_ms() < until) poll(NULL, 0, 2);
  ck_assert_msg(!is_alive(pid), "process %d is still there", pid);
}

// After whatever happened, the worker takes the next request.
static void check_it_is_back(void) {
  Outcome outcome = outcome_of(submit_compile("fine", true));
  ck_assert_msg(outcome.n_errors == 0, "%s", outcome.text);
}

START_TEST(test_answer) {
  start(
      "{\"on\":\"compile\",\"do\":\"reply\",\"line\":{\"type\":\"progress\",\"id\":0,\"stage\":"
      "\"ptx\"}}\n"
      "{\"on\":\"compile\",\"do\":\"reply\",\"line\":{\"type\":\"queued\",\"id\":0,\"place\":2,"
      "\"seconds\":4}}\n");
  Outcome outcome = outcome_of(submit_compile("fine", false));
  ck_assert_int_eq(outcome.n_progress, 1);
  ck_assert_int_eq(outcome.n_queued, 1);
  ck_assert_int_eq(outcome.n_errors, 0);
  ck_assert_int_eq(outcome.worker, 0);
  ClientStatus status = status_of(0);
  ck_assert_int_eq(status.state, CLIENT_READY);
  ck_assert_str_eq(status.gpu, "FAKE GPU");
  ck_assert_int_eq(status.n_starts, 1);
}
END_TEST

START_TEST(test_banner) {
  start(
      "{\"on\":\"start\",\"do\":\"print\",\"text\":\"Welcome to "
      "box\\n{\\\"type\\\":\\\"done\\\",\\\"id\\\":1}\\n\\u001b[2J\"}\n"
      "{\"on\":\"start\",\"do\":\"garbage\"}\n"
      "{\"on\":\"start\",\"do\":\"hello\"}\n");
  check_it_is_back();
  ck_assert_int_eq(status_of(0).n_starts, 1);
}
END_TEST

typedef struct Fault {
  const char *rule;  // for a compile whose label is boom
  const char *says;
  ErrorKind error;
} Fault;

static const Fault faults[] = {
    {"\"do\":\"crash\",\"text\":\"last words\"", "ended by signal 11", ERROR_WORKER},
    {"\"do\":\"crash\",\"code\":9", "ended by signal 9", ERROR_WORKER},
    {"\"do\":\"exit\",\"code\":255,\"text\":\"Connection to box closed\"",
     "ended with status 255 while it had 1 request: Connection to box closed", ERROR_WORKER},
    {"\"do\":\"exit\",\"code\":0", "ended with status 0", ERROR_WORKER},
    {"\"do\":\"hang\"", "said nothing for 0.6 s", ERROR_WORKER},
    {"\"do\":\"close\"", "closed its output", ERROR_WORKER},
    {"\"do\":\"ignore\"", "by its deadline of 0.3 s", ERROR_TIMEOUT},
    {"\"do\":\"partial\"", "by its deadline of 0.3 s", ERROR_TIMEOUT},
    {"\"do\":\"garbage\"", "no message", ERROR_PROTOCOL},
    {"\"do\":\"print\",\"text\":\"[]\"", "no message", ERROR_PROTOCOL},
    {"\"do\":\"print\",\"text\":\"{\\\"type\\\":\\\"ping\\\"}\"", "never sends", ERROR_PROTOCOL},
    {"\"do\":\"print\",\"text\":\"{\\\"type\\\":\\\"done\\\",\\\"id\\\":1e999}\"", "no message",
     ERROR_PROTOCOL},
    {"\"do\":\"huge\",\"bytes\":70000000", "64 MiB", ERROR_PROTOCOL},
};

START_TEST(test_fault) {
  const Fault *fault = &faults[_i];
  const bool silent = strstr(fault->rule, "hang") != NULL;
  start_with(arena_printf(arena, "{\"on\":\"compile\",\"match\":\"boom\",%s}\n", fault->rule),
             (ClientOptions){.silence_ms = silent ? 600 : 20000, .grace_ms = 200});
  wait_for_state(0, CLIENT_READY);
  const int pid = status_of(0).pid;
  const Plan boom = plan_named("boom");
  const int deadline_ms = fault->error == ERROR_TIMEOUT ? 300 : 20000;
  int64_t id = client_submit(
      client,
      &(ClientRequest){
          .kind = MESSAGE_COMPILE, .plan = &boom, .keep = true, .deadline_ms = deadline_ms});
  Outcome outcome = outcome_of(id);
  ck_assert_int_eq(outcome.n_errors, 1);
  ck_assert_msg(strstr(outcome.text, fault->says) != NULL, "%s", outcome.text);
  ck_assert_str_eq(error_kind_name(outcome.error), error_kind_name(fault->error));
  ck_assert_ptr_null(strchr(outcome.text, 0x1b));
  wait_until_gone(pid);
  check_it_is_back();
  ck_assert_int_eq(status_of(0).n_starts, 2);
}
END_TEST

// The innocent requests of a worker that dies are told too, each exactly once.
START_TEST(test_all_are_told) {
  start("{\"on\":\"compile\",\"match\":\"boom\",\"delay_ms\":50,\"do\":\"crash\"}\n");
  wait_for_state(0, CLIENT_READY);
  int64_t ids[6];
  int n_done[6] = {0}, n_errors[6] = {0};
  ids[0] = submit_compile("boom", true);
  for (int i = 1; i < 6; i++) ids[i] = submit_compile("wait", true);
  const int64_t until = lines_now_ms() + 1500;
  while (lines_now_ms() < until) {
    ClientEvent *event = client_next(client, 50);
    for (int i = 0; event && i < 6; i++) {
      if (event->id != ids[i]) continue;
      ck_assert_uint_eq(event->key, 77);
      n_done[i] += event->message.kind == MESSAGE_DONE;
      n_errors[i] += event->message.kind == MESSAGE_ERROR;
    }
    client_event_free(event);
  }
  for (int i = 0; i < 6; i++) ck_assert_int_eq(n_done[i], 1);
  for (int i = 0; i < 6; i++) ck_assert_int_eq(n_errors[i], 1);
}
END_TEST

START_TEST(test_supersede_before_hello) {
  start(
      "{\"on\":\"start\",\"delay_ms\":200,\"do\":\"hello\"}\n"
      "{\"on\":\"compile\",\"do\":\"done\"}\n");
  int64_t stale = submit_compile("stale", false);
  int64_t kept = submit_compile("kept", true);
  int64_t fresh = submit_compile("fresh", false);
  ck_assert_int_eq(outcome_of(stale).error, ERROR_SUPERSEDED);
  ck_assert_int_eq(outcome_of(kept).n_errors, 0);
  ck_assert_int_eq(outcome_of(fresh).n_errors, 0);
}
END_TEST

START_TEST(test_cancel_before_hello) {
  start("{\"on\":\"start\",\"delay_ms\":300,\"do\":\"hello\"}\n");
  int64_t id = submit_compile("x", true);
  client_cancel(client, id);
  client_cancel(client, id + 1000);
  Outcome outcome = outcome_of(id);
  ck_assert_int_eq(outcome.error, ERROR_CANCELLED);
  ck_assert_int_eq(outcome.n_errors, 1);
}
END_TEST

START_TEST(test_wrong_protocol) {
  start("{\"on\":\"start\",\"do\":\"hello\",\"code\":2}\n");
  wait_for_state(0, CLIENT_FAILED);
  Outcome outcome = outcome_of(submit_compile("x", true));
  ck_assert_int_eq(outcome.error, ERROR_WORKER);
  ck_assert_ptr_nonnull(strstr(outcome.text, "protocol 2"));
  poll(NULL, 0, 300);
  ck_assert_int_eq(status_of(0).n_starts, 1);
}
END_TEST

START_TEST(test_no_hello) {
  start_with("{\"on\":\"start\",\"do\":\"ignore\"}\n", (ClientOptions){.hello_ms = 100});
  Outcome outcome = outcome_of(submit_compile("x", true));
  ck_assert_int_eq(outcome.error, ERROR_WORKER);
  ck_assert_ptr_nonnull(strstr(outcome.text, "said nothing for 0.1 s"));
}
END_TEST

// A command that cannot be executed, and one that fails like ssh does.
START_TEST(test_command_fails) {
  static const char *const missing[] = {"/nonexistent/gemmview", "worker", NULL};
  static const char *const refused[] = {"sh", "-c",
                                        "echo \"\033[31mno route\033[0m\" >&2; exit 255", NULL};
  static const char *const *const commands[] = {missing, refused};
  static const char *const says[] = {"cannot execute /nonexistent/gemmview: error 2", "no route"};
  for (int i = 0; i < 2; i++) {
    client =
        client_start(&(ClientOptions){.version = "t", .workers = commands + i, .n_workers = 1});
    Outcome outcome = outcome_of(submit_compile("x", true));
    ck_assert_int_eq(outcome.error, ERROR_WORKER);
    ck_assert_msg(strstr(outcome.text, says[i]) != NULL, "%s", outcome.text);
    ck_assert_ptr_null(strchr(outcome.text, 0x1b));
    ck_assert_int_eq(status_of(0).state, CLIENT_RESTARTING);
    client_stop(client);
    client = NULL;
  }
}
END_TEST

// kill −9 while it is busy: the caller notices nothing but an event, and the worker is back.
START_TEST(test_kills) {
  const int n_kills = getenv("STRESS") ? 1000 : 50;
  int64_t slowest_back_ms = 0;
  start("{\"on\":\"compile\",\"match\":\"boom\",\"do\":\"ignore\"}\n");
  slowest_us = 0;
  for (int i = 0; i < n_kills; i++) {
    wait_for_state(0, CLIENT_READY);
    int64_t id = submit_compile("boom", true);
    wait_for_state(0, CLIENT_BUSY);
    const int64_t since = lines_now_ms();
    const int pid = status_of(0).pid;
    ck_assert_int_gt(pid, 1);
    kill(pid, SIGKILL);
    Outcome outcome = outcome_of(id);
    ck_assert_int_eq(outcome.error, ERROR_WORKER);
    ck_assert_msg(strstr(outcome.text, "ended by signal 9") != NULL, "%s", outcome.text);
    wait_for_start(0, i + 2);
    wait_for_state(0, CLIENT_READY);
    const int64_t took = lines_now_ms() - since;
    if (took > slowest_back_ms) slowest_back_ms = took;
  }
  ck_assert_msg(slowest_back_ms < 1000, "back after %lld ms", (long long)slowest_back_ms);
  ck_assert_msg(slowest_us < 100000, "a call took %lld us", (long long)slowest_us);
}
END_TEST

START_TEST(test_two_workers_share) {
  start_workers("{\"on\":\"bench\",\"delay_ms\":60,\"do\":\"done\"}\n", (ClientOptions){0}, 2);
  wait_for_state(0, CLIENT_READY);
  wait_for_state(1, CLIENT_READY);
  int n[2] = {0}, n_done = 0;
  for (int i = 0; i < 10; i++)
    client_submit(client, &(ClientRequest){.kind = MESSAGE_BENCH, .plan = &plan, .plan_b = &plan});
  for (const int64_t until = lines_now_ms() + SOON_MS; n_done < 10 && lines_now_ms() < until;) {
    ClientEvent *event = client_next(client, 50);
    if (event && event->message.kind == MESSAGE_DONE) {
      n_done++;
      n[event->worker]++;
    }
    client_event_free(event);
  }
  ck_assert_int_eq(n_done, 10);
  ck_assert_int_ge(n[0], 3);
  ck_assert_int_ge(n[1], 3);
}
END_TEST

START_TEST(test_stop_is_quick_and_leaves_nothing) {
  start("{\"on\":\"compile\",\"do\":\"hang\"}\n");
  wait_for_state(0, CLIENT_READY);
  submit_compile("x", true);
  wait_for_state(0, CLIENT_BUSY);
  const int pid = status_of(0).pid;
  const int64_t since = lines_now_ms();
  client_stop(client);
  client = NULL;
  ck_assert_int_lt(lines_now_ms() - since, 500);
  wait_until_gone(pid);
}
END_TEST

// A result that is a message but not a result is an error, not a crash of the screen.
START_TEST(test_result_is_checked) {
  start(
      "{\"on\":\"compile\",\"do\":\"reply\",\"line\":{\"type\":\"result\",\"id\":0,\"what\":"
      "\"ptx\",\"data\":{\"ok\":7}}}\n");
  Outcome outcome = outcome_of(submit_compile("x", true));
  ck_assert_int_eq(outcome.n_results, 0);
  ck_assert_int_eq(outcome.error, ERROR_PROTOCOL);
}
END_TEST

START_TEST(test_too_many) {
  start("{\"on\":\"compile\",\"do\":\"ignore\"}\n");
  int n_full = 0;
  for (int i = 0; i < CLIENT_REQUESTS_MAX + 10; i++) submit_compile("x", true);
  for (const int64_t until = lines_now_ms() + SOON_MS; n_full < 10 && lines_now_ms() < until;) {
    ClientEvent *event = client_next(client, 100);
    if (event && event->message.kind == MESSAGE_ERROR) {
      ck_assert_int_eq(event->message.error, ERROR_FULL);
      n_full++;
    }
    client_event_free(event);
  }
  ck_assert_int_eq(n_full, 10);
}
END_TEST

START_TEST(test_wake_fd) {
  start("");
  wait_for_state(0, CLIENT_READY);
  for (ClientEvent *event; (event = client_next(client, 50));) client_event_free(event);
  (void)status_of(0);
  struct pollfd wake = {.fd = client_wake_fd(client), .events = POLLIN};
  ck_assert_int_eq(poll(&wake, 1, 50), 0);
  submit_compile("x", true);
  ck_assert_int_eq(poll(&wake, 1, SOON_MS), 1);
}
END_TEST

Suite *suite_client(void);
Suite *suite_client(void) {
  Suite *suite = suite_create("client");
  TCase *tests = tcase_create("client");
  tcase_set_timeout(tests, 600);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_answer);
  tcase_add_test(tests, test_banner);
  tcase_add_loop_test(tests, test_fault, 0, (int)(sizeof faults / sizeof *faults));
  tcase_add_test(tests, test_all_are_told);
  tcase_add_test(tests, test_supersede_before_hello);
  tcase_add_test(tests, test_cancel_before_hello);
  tcase_add_test(tests, test_wrong_protocol);
  tcase_add_test(tests, test_no_hello);
  tcase_add_test(tests, test_command_fails);
  tcase_add_test(tests, test_kills);
  tcase_add_test(tests, test_two_workers_share);
  tcase_add_test(tests, test_stop_is_quick_and_leaves_nothing);
  tcase_add_test(tests, test_result_is_checked);
  tcase_add_test(tests, test_too_many);
  tcase_add_test(tests, test_wake_fd);
  suite_add_tcase(suite, tests);
  return suite;
}
