// Workers that come to nothing: how often they are started, and what is said of them.
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "cli_harness.h"
#include "kernels/worker/client.h"
#include "kernels/worker/protocol.h"
#include "stress.h"

#define SAYS_HELLO "echo '{\"type\":\"hello\",\"protocol\":%d,\"version\":\"t\"}'"
#define SAYS_MACHINE \
  "echo '{\"type\":\"machine\",\"can_compile\":true,\"nvrtc\":\"x\",\"gpu\":\"NVIDIA H200\"}'"

static Arena *arena;
static Client *client;
static void setup(void) { arena = arena_new("test restarts"); }
static void teardown(void) {
  if (client) client_stop(client);
  client = NULL;
  arena_free(arena);
}

static ClientStatus after(const char *then, int ms, int machine_ms) {
  const char *const argv[] = {"sh", "-c",
                              arena_printf(arena, SAYS_HELLO "; %s", PROTOCOL_VERSION, then), NULL};
  const char *const *const commands[] = {argv};
  ClientStatus status = {0};
  client = client_start(&(ClientOptions){.version = "t",
                                         .workers = commands,
                                         .n_workers = 1,
                                         .silence_ms = 1500,
                                         .machine_ms = machine_ms});
  const int64_t until = clock_ms() + ms;
  while (clock_ms() < until) {
    client_event_free(client_next(client, 50));
    client_status(client, 0, &status);
  }
  return status;
}

// It was started twelve times a second for ever.
START_TEST(hello_and_an_end_is_given_up) {
  const ClientStatus status = after("exit 7", 3000, 0);
  ck_assert_int_le(status.n_starts, 7);
  ck_assert(status.unreachable);
  ck_assert_ptr_nonnull(strstr(status.reason, "ended with status 7"));
}
END_TEST

START_TEST(a_machine_and_an_end_is_tried_more_and_more_rarely) {
  const ClientStatus status = after(SAYS_MACHINE "; sleep 0.1", 4000, 0);
  ck_assert_int_le(status.n_starts, 10);
  ck_assert_int_ge(status.n_starts, 2);
}
END_TEST

START_TEST(hello_and_silence_is_given_up) {
  const ClientStatus status = after("sleep 1000", 3000, 0);
  ck_assert(status.unreachable);
  ck_assert_ptr_nonnull(strstr(status.reason, "sent nothing for 1.5 s"));
}
END_TEST

START_TEST(hello_and_heartbeats_without_a_machine_are_given_up) {
  const ClientStatus status =
      after("while echo '{\"type\":\"heartbeat\"}'; do sleep 0.2; done", 3000, 1000);
  ck_assert(status.unreachable);
  ck_assert_msg(strstr(status.reason, "nothing about its machine for 1.0 s") != NULL, "%s",
                status.reason);
}
END_TEST

// cat says the hello of this side again, and nothing else ever.
START_TEST(tune_ends_by_itself_and_says_why) {
  if (!cli_has_program()) return;
  const int64_t since = clock_ms();
  const CliRun run = cli_run(arena, "tune 128,128,128 --seconds 3 --json --worker /bin/cat");
  ck_assert_int_eq(run.status, 3);
  ck_assert_msg(strstr(run.err, "the worker \"/bin/cat\" sent nothing for") != NULL, "%s", run.err);
  ck_assert_msg(strstr(run.out, "\"kind\":\"progress\"") != NULL, "%s", run.out);
  ck_assert_double_lt((double)(clock_ms() - since), stress_wall(60000));
}
END_TEST

Suite *suite_restarts(void);
Suite *suite_restarts(void) {
  Suite *suite = suite_create("restarts");
  TCase *tests = tcase_create("restarts");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, hello_and_an_end_is_given_up);
  tcase_add_test(tests, a_machine_and_an_end_is_tried_more_and_more_rarely);
  tcase_add_test(tests, hello_and_silence_is_given_up);
  tcase_add_test(tests, hello_and_heartbeats_without_a_machine_are_given_up);
  tcase_add_test(tests, tune_ends_by_itself_and_says_why);
  suite_add_tcase(suite, tests);
  return suite;
}
