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

#include "base/clock.h"
#include "base/whole.h"
#include "client_harness.h"
#include "kernels/worker/lines.h"
#include "stress.h"

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
  ck_assert_str_eq(status.device.name, "FAKE GPU");
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
    {"\"do\":\"hang\"", "sent nothing for 0.6 s", ERROR_WORKER},
    {"\"do\":\"close\"", "closed its output", ERROR_WORKER},
    {"\"do\":\"ignore\"", "by its deadline of 0.3 s", ERROR_TIMEOUT},
    {"\"do\":\"partial\"", "by its deadline of 0.3 s", ERROR_TIMEOUT},
    {"\"do\":\"garbage\"", "not a message", ERROR_PROTOCOL},
    {"\"do\":\"print\",\"text\":\"[]\"", "not a message", ERROR_PROTOCOL},
    {"\"do\":\"print\",\"text\":\"{\\\"type\\\":\\\"ping\\\"}\"", "never sends", ERROR_PROTOCOL},
    {"\"do\":\"print\",\"text\":\"{\\\"type\\\":\\\"done\\\",\\\"id\\\":1e999}\"", "not a message",
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
  const int64_t until = clock_ms() + 1500;
  while (clock_ms() < until) {
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
  start("{\"on\":\"start\",\"do\":\"hello\",\"code\":1}\n");
  wait_for_state(0, CLIENT_FAILED);
  Outcome outcome = outcome_of(submit_compile("x", true));
  ck_assert_int_eq(outcome.error, ERROR_WORKER);
  ck_assert_ptr_nonnull(strstr(outcome.text, "protocol 1"));
  poll(NULL, 0, 300);
  ck_assert_int_eq(status_of(0).n_starts, 1);
}
END_TEST

START_TEST(test_no_hello) {
  start_with("{\"on\":\"start\",\"do\":\"ignore\"}\n", (ClientOptions){.hello_ms = 1000});
  int64_t began = clock_ms();
  Outcome outcome = outcome_of(submit_compile("x", true));
  ck_assert_int_eq(outcome.error, ERROR_WORKER);
  ck_assert_ptr_nonnull(strstr(outcome.text, "sent nothing for 1.0 s"));
  ck_assert_double_lt((double)(clock_ms() - began),
                      stress_wall(2000));  // it was three times as long, with the same words
}
END_TEST

// A command that cannot be executed, and one that fails like ssh does.
START_TEST(test_command_fails) {
  static const char *const missing[] = {"/dev/null/none/gemmview", "worker", NULL};
  static const char *const refused[] = {"sh", "-c",
                                        "echo \"\033[31mno route\033[0m\" >&2; exit 255", NULL};
  static const char *const *const commands[] = {missing, refused};
  static const char *const says[] = {"cannot execute /dev/null/none/gemmview: error 20",
                                     "no route"};
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
  const int n_kills = max_int(50, stress_count(50, 1000));
  int64_t slowest_back_ms = 0;
  start("{\"on\":\"compile\",\"match\":\"boom\",\"do\":\"ignore\"}\n");
  slowest_us = 0;
  for (int i = 0; i < n_kills; i++) {
    wait_for_state(0, CLIENT_READY);
    int64_t id = submit_compile("boom", true);
    wait_for_state(0, CLIENT_BUSY);
    const int64_t since = clock_ms();
    const int pid = status_of(0).pid;
    ck_assert_int_gt(pid, 1);
    kill(pid, SIGKILL);
    Outcome outcome = outcome_of(id);
    ck_assert_int_eq(outcome.error, ERROR_WORKER);
    ck_assert_msg(strstr(outcome.text, "ended by signal 9") != NULL, "%s", outcome.text);
    wait_for_start(0, i + 2);
    wait_for_state(0, CLIENT_READY);
    const int64_t took = clock_ms() - since;
    if (took > slowest_back_ms) slowest_back_ms = took;
  }
  ck_assert_msg((double)slowest_back_ms < stress_wall(1000), "back after %lld ms",
                (long long)slowest_back_ms);
  ck_assert_msg((double)slowest_us < stress_wall(100000), "a call took %lld us",
                (long long)slowest_us);
}
END_TEST

START_TEST(test_two_workers_share) {
  start_workers("{\"on\":\"bench\",\"delay_ms\":60,\"do\":\"done\"}\n", (ClientOptions){0}, 2);
  wait_for_state(0, CLIENT_READY);
  wait_for_state(1, CLIENT_READY);
  int n[2] = {0}, n_done = 0;
  for (int i = 0; i < 10; i++)
    client_submit(client, &(ClientRequest){.kind = MESSAGE_BENCH, .plan = &plan, .plan_b = &plan});
  for (const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
       n_done < 10 && clock_ms() < until;) {
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
  const int64_t since = clock_ms();
  client_stop(client);
  client = NULL;
  ck_assert_double_lt((double)(clock_ms() - since), stress_wall(500));
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

START_TEST(test_probe_is_typed) {
  const ProbeResult result = {.ok = true,
                              .op = "lds32",
                              .clocks = 2.25,
                              .p10_clocks = 2.2,
                              .p90_clocks = 2.3,
                              .n_samples = 15,
                              .wavefronts = 2,
                              .gpu = "FAKE GPU",
                              .date = "2025-01-31T12:00:00Z"};
  Str json = str_new(arena);
  probe_results_write_json(&json, &(ProbeResults){.n = 1, .result = &result});
  start(arena_printf(arena,
                     "{\"on\":\"probe\",\"match\":\"\\\"op\\\":\\\"lds32\\\"\",\"do\":\"reply\","
                     "\"line\":{\"type\":\"result\",\"id\":0,\"what\":\"probe\",\"data\":%s}}\n",
                     json.text));
  const ProbeAccess access = {.op = "lds32", .addr = {0, 128}};
  const ProbeRequest probe = {1, &access};
  const int64_t id =
      client_submit(client, &(ClientRequest){.kind = MESSAGE_PROBE, .probe = &probe, .key = 5});
  double clocks = 0;
  bool done = false;
  for (const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
       !done && clock_ms() < until;) {
    ClientEvent *event = client_next(client, 100);
    if (event && event->id == id && event->probe) clocks = event->probe->result[0].clocks;
    if (event && event->id == id) ck_assert_uint_eq(event->key, 5);
    done = event && event->id == id && event->message.kind == MESSAGE_DONE;
    client_event_free(event);
  }
  ck_assert(done);
  ck_assert_double_eq(clocks, 2.25);
}
END_TEST

START_TEST(test_too_many) {
  start("{\"on\":\"compile\",\"do\":\"ignore\"}\n");
  int n_full = 0;
  for (int i = 0; i < CLIENT_REQUESTS_MAX + 10; i++) submit_compile("x", true);
  for (const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
       n_full < 10 && clock_ms() < until;) {
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

// ---- what outside text can do -------------------------------------------------------------------

// Every control character, raw and as UTF-8, in every text a worker can send: none arrives.
static const char *const channels[] = {
    "{\"type\":\"progress\",\"id\":0,\"stage\":\"%s\",\"text\":\"%s\"}",
    "{\"type\":\"error\",\"id\":0,\"error\":\"bench\",\"text\":\"%s\"}",
    "{\"type\":\"machine\",\"can_compile\":true,\"nvrtc\":\"%s\",\"gpu\":\"%s\",\"gpu_uuid\":\"%"
    "s\","
    "\"gpu_error\":\"%s\",\"driver\":\"%s\",\"cuda\":\"%s\",\"arch\":\"%s\",\"nvdisasm\":\"%s\","
    "\"host\":\"%s\"}",
    "{\"type\":\"result\",\"id\":0,\"what\":\"bench\",\"data\":{\"%s\":\"%s\",\"x\":[\"%s\"]}}",
};
enum { N_CHANNELS = sizeof channels / sizeof *channels };

static bool is_clean(const char *text) {
  return text == NULL || strcmp(text, str_sanitise(arena, text)) == 0;
}

static int check_clean(const ClientEvent *event) {
  const Message *message = &event->message;
  int n = 0;
  const char *const texts[] = {
#define MESSAGE(kind, name, side, must, may)
#define ERROR_KIND(kind, name, status)
#define TEXT_INT(name) NULL
#define TEXT_NUMBER(name) NULL
#define TEXT_BOOL(name) NULL
#define TEXT_ERROR(name) NULL
#define TEXT_STRING(name) message->name
#define TEXT_JSON(name) message->name
#define FIELD(name, type, lo, hi, help) TEXT_##type(name),
#include "kernels/worker/protocol.def"
#undef MESSAGE
#undef FIELD
#undef ERROR_KIND
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ck_assert(is_clean(texts[i]));
    n += texts[i] != NULL;
  }
  return n;
}

static char *put_in(const char *format, const char *payload) {
  Str line = str_new(arena);
  for (const char *at = format; *at; at++) {
    const bool here = at[0] == '%' && at[1] == 's';
    if (here) str_printf(&line, "a%s[31mz", payload);
    if (here)
      at++;
    else
      str_add_char(&line, *at);
  }
  return line.text;
}

START_TEST(test_escapes) {
  Str script = str_new(arena);
  int n_texts = 0, n_sent = 0;
  for (int code = 1; code < 0xA0; code++) {
    if (code >= 0x20 && code < 0x7F) continue;
    const char *payload = arena_printf(arena, "\\u%04x", (unsigned)code);
    for (int i = 0; i < N_CHANNELS; i++, n_sent++)
      str_printf(&script, "{\"on\":\"compile\",\"do\":\"reply\",\"line\":%s}\n",
                 put_in(channels[i], payload));
  }
  start(script.text);
  int64_t id = submit_compile("x", true);
  bool done = false;
  for (const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
       !done && clock_ms() < until;) {
    ClientEvent *event = client_next(client, 100);
    if (event) n_texts += check_clean(event);
    done = event && event->id == id && event->message.kind == MESSAGE_DONE;
    client_event_free(event);
  }
  ck_assert(done);
  ck_assert_int_ge(n_sent, 256);
  ck_assert_int_ge(n_texts, 64 * (2 + 1 + 9 + 1));
  ClientStatus status = status_of(0);
  ck_assert(is_clean(status.device.name) && is_clean(status.host) && is_clean(status.nvrtc));
}
END_TEST

static const struct {
  const char *text, *words[5];
} commands[] = {
    {"ssh box gemmview worker", {"ssh", "box", "gemmview", "worker"}},
    {"  a\t b ", {"a", "b"}},
    {"'a b' \"c 'd\" e\\ f", {"a b", "c 'd", "e f"}},
    {"x'' \"\" $HOME;ls", {"x", "", "$HOME;ls"}},
};

START_TEST(test_split_command) {
  Diags diags = diags_new(arena);
  const char *const *words = client_split_command(arena, commands[_i].text, &diags);
  ck_assert_ptr_nonnull(words);
  int n = 0;
  for (; commands[_i].words[n]; n++) ck_assert_str_eq(words[n], commands[_i].words[n]);
  ck_assert_ptr_null(words[n]);
  ck_assert_ptr_null(client_split_command(arena, " ", &diags));
  ck_assert_ptr_null(client_split_command(arena, "a 'b", &diags));
  ck_assert_int_eq(diags.count, 2);
}
END_TEST

Suite *suite_client(void);
// A command that has something elsewhere to end is asked first, and waited for.
START_TEST(a_worker_that_may_leave_is_asked_to) {
  char began[80], left[80];
  snprintf(began, sizeof began, "%s.began", script_path);
  snprintf(left, sizeof left, "%s.left", script_path);
  const char *command = arena_printf(
      arena, "trap 'sleep 0.2; : > %s; exit' TERM; : > %s; while :; do sleep 0.05; done", left,
      began);
  const char *const argv[] = {"/bin/sh", "-c", command, NULL};
  const char *const *const workers[] = {argv};
  client = client_start(
      &(ClientOptions){.version = "test", .workers = workers, .n_workers = 1, .leave_ms = 4000});
  for (int i = 0; i < 200 && access(began, F_OK) != 0; i++) poll(NULL, 0, 20);
  client_stop(client);
  client = NULL;
  const bool was_asked = access(left, F_OK) == 0;
  unlink(began);
  unlink(left);
  ck_assert(was_asked);
}
END_TEST

Suite *suite_client(void) {
  Suite *suite = suite_create("client");
  TCase *tests = tcase_create("client");
  tcase_set_timeout(tests, 600);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_worker_that_may_leave_is_asked_to);
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
  tcase_add_test(tests, test_probe_is_typed);
  tcase_add_test(tests, test_too_many);
  tcase_add_test(tests, test_wake_fd);
  tcase_add_test(tests, test_escapes);
  tcase_add_loop_test(tests, test_split_command, 0, (int)(sizeof commands / sizeof *commands));
  suite_add_tcase(suite, tests);
  return suite;
}
