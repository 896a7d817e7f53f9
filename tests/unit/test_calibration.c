// The roofline fitted to times of an H200 that a search chose (tests/data/h200_tuned.tsv), judged
// on others than it saw. Random schedules are in test_random_order.c.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/random.h"
#include "base/str.h"
#include "model/ir/program.h"
#include "model/readings/cost/calibration.h"

Suite *suite_calibration(void);

enum { POINTS_MAX = 1024 };

typedef struct Recorded {
  int n;
  CalibrationPoint point[POINTS_MAX];
  double roofline_ns[POINTS_MAX];
  int64_t m[POINTS_MAX], n_[POINTS_MAX];
} Recorded;

static Arena *arena;
static Recorded recorded;
static TargetTable targets;

// `line` has a time, a tab and knobs; `more` stands behind them.
static void read_point(Recorded *to, char *line, const char *more) {
  Arena *scratch = arena_new("line");
  Diags diags = diags_new(scratch);
  Schedule schedule = schedule_plain();
  char *state = strchr(line, '\t');
  ck_assert_ptr_nonnull(state);
  state[strcspn(state, "\n")] = 0;
  const char *text = arena_printf(scratch, "%s,%s", state + 1, more);
  ck_assert_msg(schedule_parse(&schedule, text, &diags), "%s", diags_text(scratch, &diags));
  const Model *model = model_build(scratch, &targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", text, diags_text(scratch, &model->diags));
  ck_assert_int_lt(to->n, POINTS_MAX);
  const int i = to->n++;
  to->point[i] = (CalibrationPoint){calibration_terms(model), strtod(line, NULL)};
  to->roofline_ns[i] = model->traffic.flop / model->traffic.roofline_tflops * 1e-3;
  to->m[i] = model->program->problem.m;
  to->n_[i] = model->program->problem.n;
  arena_free(scratch);
}

static void setup_calibration(void) {
  static char line[8192];
  arena = arena_new("test");
  Diags diags = diags_new(arena);
  const EmbeddedFile *embedded = embed_find(arena, "gpus.json");
  ck_assert(targets_parse(arena, embedded->text, embedded->size, &diags, &targets));
  FILE *file = fopen("tests/data/h200_tuned.tsv", "r");
  ck_assert_ptr_nonnull(file);
  for (recorded.n = 0; fgets(line, sizeof line, file);) read_point(&recorded, line, "TARGET=h200");
  fclose(file);
  ck_assert_int_ge(recorded.n, 600);
}

static void teardown_calibration(void) { arena_free(arena); }

// Of the points at odd places, of one problem (m = 0: of all), by a fit on those at even ones.
typedef struct Order {
  int n;
  double fitted, roofline;
} Order;

static Order order_of(const Calibration *calibration, int64_t m, int64_t n) {
  static double fitted[POINTS_MAX], roofline[POINTS_MAX], measured[POINTS_MAX];
  Order order = {0};
  for (int i = 1; i < recorded.n; i += 2) {
    if (m && (recorded.m[i] != m || recorded.n_[i] != n)) continue;
    fitted[order.n] = calibration_ns(calibration, &recorded.point[i].terms);
    roofline[order.n] = recorded.roofline_ns[i];
    measured[order.n++] = recorded.point[i].time_ns;
  }
  order.fitted = calibration_rank_correlation(arena, fitted, measured, order.n);
  order.roofline = calibration_rank_correlation(arena, roofline, measured, order.n);
  return order;
}

static Calibration fit_even(void) {
  static CalibrationPoint even[POINTS_MAX];
  int n = 0;
  for (int i = 0; i < recorded.n; i += 2) even[n++] = recorded.point[i];
  return calibration_fit(arena, even, n);
}

// Sizes alone give an order to points of all problems, so those of each are looked at by
// themselves: most are near its best, since a search chose them, and far harder to tell apart than
// random ones.
START_TEST(it_orders_points_that_it_has_not_seen_better_than_the_roofline) {
  static const int64_t problems[][2] = {{4096, 4096}, {1024, 1024}, {300, 700},
                                        {64, 8192},   {8192, 64},   {128, 128}};
  enum { PROBLEMS = sizeof problems / sizeof *problems };
  const Calibration calibration = fit_even();
  const Order all = order_of(&calibration, 0, 0);
  double fitted = 0, roofline = 0;
  for (int i = 0; i < PROBLEMS; i++) {
    const Order own = order_of(&calibration, problems[i][0], problems[i][1]);
    ck_assert_int_ge(own.n, 30);
    fitted += own.fitted / PROBLEMS;
    roofline += own.roofline / PROBLEMS;
  }
  ck_assert_msg(all.fitted > 0.94 && all.fitted > all.roofline, "%.3f, roofline %.3f", all.fitted,
                all.roofline);
  ck_assert_msg(fitted > roofline + 0.03, "%.3f, roofline %.3f", fitted, roofline);
  ck_assert_msg(calibration.error < 0.15, "%.3f", calibration.error);
}
END_TEST

// Times that obey the law with factors of our own, 5 % apart at most, and one in ten 8 times too
// long: those factors come back.
START_TEST(it_finds_the_factors_that_made_the_times) {
  static CalibrationPoint made[POINTS_MAX];
  Calibration law = calibration_none();
  uint64_t random = 1;
  law.factor[CALIBRATION_ISSUE] = 2;
  law.factor[CALIBRATION_SHARED] = 1.8;
  law.factor[CALIBRATION_LAUNCH] = 4;
  for (int i = 0; i < recorded.n; i++) {
    const double noise = 1 + (double)random_between(&random, -50, 50) / 1000;
    const double stray = random_between(&random, 1, 10) == 1 ? 8 : 1;
    made[i] = recorded.point[i];
    made[i].time_ns = calibration_ns(&law, &made[i].terms) * noise * stray;
  }
  const Calibration found = calibration_fit(arena, made, recorded.n);
  ck_assert_int_eq(found.n, recorded.n);
  static const CalibrationFactor changed[] = {CALIBRATION_ISSUE, CALIBRATION_SHARED,
                                              CALIBRATION_LAUNCH};
  for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
    const double off = log(found.factor[changed[i]] / law.factor[changed[i]]);
    ck_assert_msg(fabs(off) < 0.2, "%s: %.2f", calibration_name(changed[i]),
                  found.factor[changed[i]]);
  }
  ck_assert(found.error < 0.06);
}
END_TEST

START_TEST(few_points_calibrate_nothing) {
  const Calibration none = calibration_none(),
                    few = calibration_fit(arena, recorded.point, CALIBRATION_POINTS_MIN - 1);
  ck_assert_int_eq(few.n, 0);
  for (int i = 0; i < CALIBRATION_FACTORS; i++) ck_assert(few.factor[i] == none.factor[i]);
}
END_TEST

START_TEST(factors_are_written_down_and_read_back) {
  Calibration out, in = calibration_none();
  for (int i = 0; i < CALIBRATION_FACTORS; i++) in.factor[i] = 1 + i / 7.0;
  const char *text = calibration_text(arena, &in);
  ck_assert(calibration_read(text, &out));
  for (int i = 0; i < CALIBRATION_FACTORS; i++) ck_assert(out.factor[i] == in.factor[i]);
  ck_assert(!calibration_read(arena_printf(arena, "%s more=1", text), &out));
  ck_assert(!calibration_read(text + 1, &out));
  ck_assert(!calibration_read("", &out));
  for (int i = 0; i < CALIBRATION_FAMILIES; i++) {
    const CalibrationFamily family = (CalibrationFamily)i;
    ck_assert_int_eq((int)calibration_family_find(calibration_family_name(family)), i);
  }
  ck_assert_int_eq((int)calibration_family_find("abacus"), CALIBRATION_FAMILIES);
}
END_TEST

START_TEST(ranks_of_equal_values_are_shared) {
  const double up[] = {1, 2, 3, 4}, down[] = {9, 7, 5, 1}, tied[] = {1, 2, 2, 3},
               same[] = {5, 5, 5, 5};
  ck_assert_double_eq_tol(calibration_rank_correlation(arena, up, up, 4), 1, 1e-12);
  ck_assert_double_eq_tol(calibration_rank_correlation(arena, up, down, 4), -1, 1e-12);
  // Ranks -1.5 -0.5 0.5 1.5 and -1.5 0 0 1.5: 4.5 / √(5 · 4.5).
  ck_assert_double_eq_tol(calibration_rank_correlation(arena, up, tied, 4), 4.5 / sqrt(22.5),
                          1e-12);
  ck_assert(calibration_rank_correlation(arena, up, same, 4) == 0);
}
END_TEST

Suite *suite_calibration(void) {
  Suite *suite = suite_create("calibration");
  TCase *cases = tcase_create("calibration");
  tcase_set_timeout(cases, 60);
  tcase_add_unchecked_fixture(cases, setup_calibration, teardown_calibration);
  tcase_add_test(cases, it_orders_points_that_it_has_not_seen_better_than_the_roofline);
  tcase_add_test(cases, it_finds_the_factors_that_made_the_times);
  tcase_add_test(cases, few_points_calibrate_nothing);
  tcase_add_test(cases, factors_are_written_down_and_read_back);
  tcase_add_test(cases, ranks_of_equal_values_are_shared);
  suite_add_tcase(suite, cases);
  return suite;
}
