// The clock against the clock: kernels of lab/clock, of a few instructions each, as GPUs timed
// them (tests/data/h200_lab.tsv) and as they are played.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "compile_once.h"
#include "kernels/device/probe/clock_probe.h"
#include "kernels/toolchain/machine/clock_answer.h"
#include "property.h"

Suite *suite_clock_lab(void);

enum { ROWS_MAX = 256, LINE_BYTES = 256 };
static const double most_off = 0.13, median_off = 0.02;

// Clocks of one of `per` in a round; 0: the kernel was not played.
static double play(const CompileResult *lab, const char *kernel, int warps, int per) {
  const ClockAsk ask = {.kernel = kernel, .launch = {.threads = 32 * warps}};
  const ClockAnswer answer =
      clock_answer_cubin(property_arena, lab->cubin, lab->cubin_bytes, &property_targets, &ask);
  ck_assert_msg(!answer.why_not, "%s: %s", kernel, answer.why_not);
  return answer.loop[answer.main].clocks.value / per;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

START_TEST(microbenchmarks_take_what_a_gpu_took) {
  static char line[LINE_BYTES];
  double off[ROWS_MAX];
  int n = 0;
  const CompileResult *lab =
      compile_once(property_arena, clock_probe_plan(property_arena, "sm_90a"), COMPILE_BOTH);
  if (lab->failed && str_equal(lab->failed, "library")) return;
  ck_assert_msg(lab->ok, "%s\n%s", lab->error, lab->log);
  FILE *file = fopen("tests/data/h200_lab.tsv", "r");
  ck_assert_ptr_nonnull(file);
  while (fgets(line, sizeof line, file)) {
    char kernel[64];
    int warps, per;
    double clocks;
    if (sscanf(line, "%63s %d %d %lf", kernel, &warps, &per, &clocks) != 4) continue;
    const double played = play(lab, kernel, warps, per);
    ck_assert_int_lt(n, ROWS_MAX);
    off[n] = fabs(played / clocks - 1);
    ck_assert_msg(off[n] <= most_off, "%s, %d warps: played %.2f, measured %.2f", kernel, warps,
                  played, clocks);
    n++;
  }
  fclose(file);
  ck_assert_int_gt(n, 150);
  qsort(off, (size_t)n, sizeof *off, ascending);
  ck_assert_msg(off[n / 2] <= median_off, "the median is %.3f off", off[n / 2]);
}
END_TEST

Suite *suite_clock_lab(void) {
  Suite *suite = suite_create("clock_lab");
  TCase *tests = tcase_create("clock_lab");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_set_timeout(tests, 300);
  tcase_add_test(tests, microbenchmarks_take_what_a_gpu_took);
  suite_add_tcase(suite, tests);
  return suite;
}
