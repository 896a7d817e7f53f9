// What a search chooses next, islands and what takes long to compile, and until when.
#include <check.h>
#include <math.h>
#include <string.h>

#include "kernels/tune/tune_inside.h"
#include "tune_harness.h"

Suite *suite_tune_choice(void);

// ---- compile times ------------------------------------------------------------------------------

enum { NEAR_POINTS = 4 };

static Near near_of(const double ms[NEAR_POINTS]) {
  Near near = {.n = NEAR_POINTS};
  for (int i = 0; i < NEAR_POINTS; i++) {
    near.point[i] = i;
    near.compile_ln[i] = ms[i] > 0 ? log(ms[i]) : NAN;
  }
  return near;
}

// A child of the kernel of eight seconds takes long, one of the others does not; of a stranger, or
// where no compiler has said anything, nothing is known.
START_TEST(a_child_compiles_as_its_parents_do) {
  static const double ms[NEAR_POINTS] = {125, 125, 0, 8000}, none[NEAR_POINTS] = {0};
  float of_long[NEAR_POINTS] = {0.001F, 0.001F, 0.001F, 0.5F},
        of_short[] = {0.5F, 0.25F, 0, 0.001F}, of_nobody[NEAR_POINTS] = {0};
  const Near near = near_of(ms), silent = near_of(none);
  Pooled pooled = {.weight = of_long, .n_weights = NEAR_POINTS};
  const double typical = 500;  // the geometric mean of the three
  ck_assert_double_eq_tol(tune_compile_ratio(&near, &pooled), 8000 / typical, 1);
  ck_assert_double_eq(tune_compile_ratio(&silent, &pooled), 1);
  pooled.weight = of_short;
  ck_assert_double_eq_tol(tune_compile_ratio(&near, &pooled), 125 / typical, 0.01);
  pooled.weight = of_nobody;
  ck_assert_double_eq_tol(tune_compile_ratio(&near, &pooled), 1, 1e-9);
}
END_TEST

// ---- islands ------------------------------------------------------------------------------------

static int islands_between(const TuneField *field, int from, int to) {
  int n = 0;
  bool seen[TUNE_ISLANDS] = {false};
  for (int i = from; i < to; i++) {
    ck_assert_int_lt(field->point[i].island, TUNE_ISLANDS);
    n += !seen[field->point[i].island];
    seen[field->point[i].island] = true;
  }
  return n;
}

START_TEST(four_beginnings_are_halved_twice) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, 1);
  const Asked asked = {"512,512,512", 1, 100, 60, NULL, 0, NULL};
  const TuneField *field = tune_field(search_in_turn(&asked), 0);
  ck_assert_int_ge(field->n_points, 100);
  ck_assert_int_eq(islands_between(field, 0, 18), 4);
  // A blind one of an island that is over may still come out of the pool.
  ck_assert_int_le(islands_between(field, 80, 100), 2);
  int n_of_last = 0;
  for (int i = 60; i < 100; i++) n_of_last += field->point[i].island == field->point[99].island;
  ck_assert_int_ge(n_of_last, 32);
}
END_TEST

START_TEST(who_is_given_seeds_has_one_beginning) {
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, 1);
  const Schedule seed = problem("512,512,512");
  const Asked asked = {"512,512,512", 1, 20, 60, &seed, 1, NULL};
  const TuneField *field = tune_field(search_in_turn(&asked), 0);
  ck_assert_int_eq(islands_between(field, 0, 20), 1);
}
END_TEST

// ---- rounds -------------------------------------------------------------------------------------

// By hand: 12 of 0.35 s, 9.3 s for cuBLAS's row and a pair, 9.3 s for a second pair of the same
// GPU.
START_TEST(all_rounds_end_with_the_time) {
  static const struct {
    double seconds;
    int workers;
    double brief_s;
  } rows[] = {{120, 1, 120 - 4.2 - 27.9},
              {120, 2, 120 - 2.1 - 18.6},
              {120, 8, 120 - 0.7 - 18.6},
              {60, 1, 60 - 4.2 - 18.6},
              {60, 4, 60 - 1.05 - 18.6},
              {10, 1, 7},
              {10, 4, 7}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Tune tune = {.options = {.seconds = rows[i].seconds}};
    const Field field = {.told = {.n_workers = rows[i].workers, .cublas_ns = 1}},
                without = {.told = {.n_workers = rows[i].workers}};
    const double row_s = rows[i].seconds > 10 ? 9.3 : 0;
    ck_assert_double_eq_tol(tune_search_ends(&tune, &field), rows[i].brief_s, 1e-6);
    ck_assert_double_eq_tol(tune_search_ends(&tune, &without), rows[i].brief_s + row_s, 1e-6);
  }
}
END_TEST

static int in_final(const TuneField *field) {
  int n = 0;
  for (int i = 0; i < field->n_points; i++) n += field->point[i].round == TUNE_FINAL;
  return n;
}

// Every GPU has a pair; one alone has two where there is time for hot turns of both.
START_TEST(every_gpu_has_a_pair_in_the_finals) {
  static const struct {
    int workers;
    double seconds;
    int n;
  } rows[] = {{1, 10, 4}, {1, 60, 2}, {1, 100, 4}, {2, 60, 4}, {4, 60, 8}};
  const int workers = rows[_i].workers;
  start_workers(HELLO MACHINE("NVIDIA H200") SIMULATED("0"), (ClientOptions){0}, workers);
  const Asked asked = {"512,512,512", workers, 40, rows[_i].seconds, NULL, 0, NULL};
  ck_assert_int_eq(in_final(tune_field(search(&asked), 0)), rows[_i].n);
}
END_TEST

Suite *suite_tune_choice(void) {
  Suite *suite = suite_create("tune_choice");
  TCase *tests = tcase_create("tune_choice");
  tcase_add_checked_fixture(tests, setup_tune, teardown_tune);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, a_child_compiles_as_its_parents_do);
  tcase_add_test(tests, four_beginnings_are_halved_twice);
  tcase_add_test(tests, who_is_given_seeds_has_one_beginning);
  tcase_add_loop_test(tests, every_gpu_has_a_pair_in_the_finals, 0, 5);
  tcase_add_test(tests, all_rounds_end_with_the_time);
  suite_add_tcase(suite, tests);
  return suite;
}
