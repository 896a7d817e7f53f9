// Workers that are lost under way, and come back as they were, as another one, or not at all.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/tune/tune_inside.h"
#include "stress.h"
#include "tune_harness.h"

Suite *suite_tune_workers(void);

#define SIMULATES                              \
  "{\"on\":\"compile\",\"do\":\"simulate\"}\n" \
  "{\"on\":\"bench\",\"do\":\"simulate\"}\n"
#define MATCHED "{\"on\":\"bench\",\"match\":\"\\\"budget_ms\\\":"
#define SHORT MATCHED "200,\\\"reference\\\":false\","
#define FINAL MATCHED "1500\","
#define BRIEF "{\"on\":\"bench\",\"match\":\"\\\"brief\\\":true\","
#define TAKES(ms)                                                               \
  "\"delay_ms\":" ms                                                            \
  ",\"do\":\"reply\",\"line\":{\"type\":\"progress\",\"id\":0,\"stage\":\"time" \
  "\"}}\n"
#define EXITS "\"do\":\"exit\",\"code\":3,\"text\":\"link down\"}\n"
#define NTH(n) "{\"on\":\"bench\",\"nth\":" #n ","

// ---- workers of several kinds -------------------------------------------------------------------

enum { WORKERS_MAX = 4 };

static char folder[80];
static int n_workers;
static const char *command[WORKERS_MAX][4];

static const char *script_file(const char *text) {
  static int n;
  const char *path = arena_printf(arena, "%s/%d", folder, n++);
  FILE *file = fopen(path, "we");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
  return path;
}

// At its first start a fake worker of that script, and later a shell's command: another fake of the
// script `later`, or what is no script; NULL: always the first.
static void add_worker(const char *script, const char *later) {
  const char *fake = arena_printf(arena, "exec %s worker --fake", getenv("GEMMVIEW"));
  const char *first = arena_printf(arena, "%s %s", fake, script_file(script));
  const char *then = !later            ? first
                     : later[0] == '{' ? arena_printf(arena, "%s %s", fake, script_file(later))
                                       : later;
  const char *was = arena_printf(arena, "%s/was%d", folder, n_workers);
  const char **words = command[n_workers++];
  words[0] = "/bin/sh";
  words[1] = "-c";
  words[2] = arena_printf(arena, "if [ -e %s ]; then %s; fi; touch %s; %s", was, then, was, first);
}

static void setup_workers(void) {
  setup_tune();
  n_workers = 0;
  snprintf(folder, sizeof folder, "%s.d", script_path);
  ck_assert_int_eq(system(arena_printf(arena, "mkdir -p %s", folder)), 0);
}

static void teardown_workers(void) {
  char text[128];
  snprintf(text, sizeof text, "rm -r %s", folder);
  ck_assert_int_eq(system(text), 0);
  teardown_tune();
}

static const Tune *search_with(int points, double seconds) {
  const char *const *commands[WORKERS_MAX];
  for (int i = 0; i < n_workers; i++) commands[i] = command[i];
  client = client_start(&(ClientOptions){
      .version = "test", .workers = commands, .n_workers = n_workers, .hello_ms = 600000});
  const Asked asked = {"256,256,256", n_workers, points, seconds, NULL, 0, NULL};
  return search(&asked);
}

static int n_of(const TuneField *field, TuneRound round) {
  int n = 0;
  for (int i = 0; i < field->n_points; i++)
    n += field->point[i].round >= round && field->point[i].state == TUNE_TIMED;
  return n;
}

static const char works[] = HELLO MACHINE("NVIDIA H200") BRIEF TAKES("20") SIMULATES;

// ---- tests --------------------------------------------------------------------------------------

// A GPU that no context can be made on fails faster than any other times.
START_TEST(a_gpu_without_a_context_takes_no_part) {
  add_worker(works, NULL);
  add_worker(HELLO MACHINE("NVIDIA H200") "{\"on\":\"compile\",\"do\":\"simulate\"}\n"
                                          "{\"on\":\"bench\",\"do\":\"reply\",\"line\":{\"type\":"
                                          "\"error\",\"id\":0,\"error\":\"no_gpu\",\"text\":"
                                          "\"the device is busy\"}}\n",
             NULL);
  const Tune *tune = search_with(30, 30);
  const TuneField *field = tune_field(tune, 0);
  ck_assert_int_eq(field->n_by_state[TUNE_FAILED], 0);
  ck_assert_int_eq(field->n_workers, 1);
  ck_assert_str_eq(tune_worker_error(tune, 1), "the device is busy");
  ck_assert_int_eq(n_of(field, TUNE_FINAL), 4);
}
END_TEST

// The first to come is lost before the second is there.
START_TEST(who_comes_late_is_waited_for_when_the_first_is_lost) {
  add_worker(HELLO MACHINE("NVIDIA H200") NTH(3) EXITS SIMULATES, "false");
  add_worker("{\"on\":\"start\",\"delay_ms\":4000,\"do\":\"hello\"}\n" MACHINE("NVIDIA H200")
                 SIMULATES,
             NULL);
  const Tune *tune = search_with(12, 60);
  ck_assert_int_eq(tune_n_fields(tune), 1);
  ck_assert_int_ge(settled(tune_field(tune, 0)), 12);
}
END_TEST

// The end of a brief request comes when its point is already asked for in the next round.
START_TEST(a_late_end_of_a_request_ends_no_other) {
  for (int i = 0; i < 2; i++)
    add_worker(HELLO MACHINE("NVIDIA H200") SHORT TAKES("100") SIMULATES BRIEF
               "\"do\":\"done\",\"delay_ms\":60}\n",
               NULL);
  const TuneField *field = tune_field(search_with(8, 60), 0);
  ck_assert_int_eq(field->n_by_state[TUNE_FAILED], 0);
  ck_assert_int_ge(n_of(field, TUNE_SHORT), 8);
  ck_assert_int_eq(n_of(field, TUNE_FINAL), 4);
}
END_TEST

// It dies in a later round, and its command then says nothing for minutes, or fails at once.
START_TEST(a_worker_lost_in_a_later_round_loses_no_point) {
  static const struct {
    const char *dies, *later;
  } cases[] = {{HELLO MACHINE("NVIDIA H200") BRIEF TAKES("20") SHORT EXITS SIMULATES, "sleep 300"},
               {HELLO MACHINE("NVIDIA H200") BRIEF TAKES("20") FINAL EXITS SIMULATES, "sleep 300"},
               {HELLO MACHINE("NVIDIA H200") BRIEF TAKES("20") FINAL EXITS SIMULATES, "false"},
               {HELLO MACHINE("NVIDIA H200") BRIEF TAKES("20") FINAL EXITS SIMULATES, NULL}};
  add_worker(HELLO MACHINE("NVIDIA H200") BRIEF TAKES("20") SHORT TAKES("50") SIMULATES, NULL);
  add_worker(cases[_i].dies, cases[_i].later);
  const Tune *tune = search_with(16, 60);
  const TuneField *field = tune_field(tune, 0);
  ck_assert_int_eq(field->n_by_state[TUNE_FAILED], 0);
  ck_assert_int_eq(n_of(field, TUNE_FINAL), 4);
  ck_assert_double_lt(tune_elapsed_s(tune), stress_wall(30));
}
END_TEST

START_TEST(a_kind_of_gpu_without_workers_is_not_waited_for) {
  add_worker(works, NULL);
  add_worker(HELLO MACHINE("NVIDIA A100-SXM4-80GB") NTH(4) EXITS SIMULATES, "false");
  const Tune *tune = search_with(12, 12);
  ck_assert_double_lt(tune_elapsed_s(tune), stress_wall(40));
  ck_assert_int_eq(tune_n_fields(tune), 2);
  for (int i = 0; i < 2; i++) {
    const TuneField *field = tune_field(tune, i);
    const bool hopper = strstr(field->device.name, "H200") != NULL;
    if (hopper) ck_assert_int_eq(n_of(field, TUNE_FINAL), 4);
  }
}
END_TEST

// Nobody has what it had compiled; another one compiles it again.
START_TEST(a_worker_that_comes_back_without_a_gpu_keeps_nothing) {
  add_worker(works, NULL);
  add_worker(HELLO MACHINE("NVIDIA H200") BRIEF TAKES("50") NTH(6) EXITS SIMULATES, HELLO
             "{\"on\":\"start\",\"do\":\"reply\",\"line\":{\"type\":\"machine\","
             "\"can_compile\":true,\"nvrtc\":\"fake\",\"compiles\":4,"
             "\"gpu_error\":\"the GPU is lost\"}}\n");
  const Tune *tune = search_with(60, 60);
  const TuneField *field = tune_field(tune, 0);
  ck_assert_int_ge(settled(field), 60);
  ck_assert_int_le(field->n_by_state[TUNE_FAILED], 1);
  ck_assert_int_le(field->n_compiled, field->n_points);
  ck_assert_int_eq(field->n_workers, 1);
  ck_assert_str_eq(tune_worker_error(tune, 1), "the GPU is lost");
}
END_TEST

START_TEST(a_worker_may_come_back_with_another_gpu) {
  add_worker(works, NULL);
  add_worker(HELLO MACHINE("NVIDIA H200") BRIEF TAKES("50") NTH(4) EXITS SIMULATES,
             HELLO MACHINE("NVIDIA A100-SXM4-80GB") BRIEF TAKES("20") SIMULATES);
  const Tune *tune = search_with(30, 60);
  ck_assert_int_eq(tune_n_fields(tune), 2);
  for (int f = 0; f < 2; f++) {
    const TuneField *field = tune_field(tune, f);
    const bool hopper = strstr(field->device.name, "H200") != NULL;
    int n_of_second = 0;
    for (int i = 0; i < field->n_points; i++)
      n_of_second += field->point[i].worker == 1 && field->point[i].state == TUNE_TIMED;
    ck_assert_int_eq(field->n_workers, 1);
    if (hopper)
      ck_assert_int_le(n_of_second, 3);
    else
      ck_assert_int_ge(n_of_second, 25);
  }
}
END_TEST

// It takes longer than brief turns have; there is nothing for another round before it.
START_TEST(the_first_time_is_waited_for) {
  add_worker(HELLO MACHINE("NVIDIA H200") NTH(1) TAKES("6000") SIMULATES, NULL);
  ck_assert_ptr_nonnull(tune_best(tune_field(search_with(0, 8), 0)));
}
END_TEST

// With few points those that stood beside cuBLAS in the first round may all be timed again in the
// last one: here are some more.
START_TEST(what_fails_beside_cublas_leaves_it_to_others) {
  add_worker(HELLO MACHINE("NVIDIA H200") NTH(1) "\"do\":\"done\"}\n" NTH(
                 2) "\"do\":\"done\"}\n" NTH(3) "\"do\":\"done\"}\n" SIMULATES,
             NULL);
  const TuneField *field = tune_field(search_with(24, 60), 0);
  ck_assert(field->cublas_ns > 0);
  int n_before_finals = 0;
  for (int i = 0; i < field->n_points; i++)
    n_before_finals += field->point[i].round < TUNE_FINAL && field->point[i].cublas_ns > 0;
  ck_assert_int_ge(n_before_finals, 1);
}
END_TEST

Suite *suite_tune_workers(void) {
  Suite *suite = suite_create("tune_workers");
  TCase *tests = tcase_create("tune_workers");
  tcase_add_checked_fixture(tests, setup_workers, teardown_workers);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, a_gpu_without_a_context_takes_no_part);
  tcase_add_test(tests, who_comes_late_is_waited_for_when_the_first_is_lost);
  tcase_add_test(tests, a_late_end_of_a_request_ends_no_other);
  tcase_add_loop_test(tests, a_worker_lost_in_a_later_round_loses_no_point, 0, 4);
  tcase_add_test(tests, a_kind_of_gpu_without_workers_is_not_waited_for);
  tcase_add_test(tests, a_worker_that_comes_back_without_a_gpu_keeps_nothing);
  tcase_add_test(tests, a_worker_may_come_back_with_another_gpu);
  tcase_add_test(tests, the_first_time_is_waited_for);
  tcase_add_test(tests, what_fails_beside_cublas_leaves_it_to_others);
  suite_add_tcase(suite, tests);
  return suite;
}
