// The clock against the clock: kernels of lab/clock, of a few instructions each, as GPUs timed
// them (tests/data/h200_lab.tsv) and as they are played; tests/golden/told/lab.txt holds all that
// is said of the play.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "compile_once.h"
#include "golden.h"
#include "kernels/device/probe/clock_probe.h"
#include "kernels/toolchain/machine/clock_answer.h"
#include "kernels/toolchain/nvrtc.h"
#include "property.h"

Suite *suite_clock_lab(void);

enum { ROWS_MAX = 256, LINE_BYTES = 256, BLOCKS_EVERY = 7 };
// The farthest: DFMA of two warps that yield to each other (23 %), and FMNMX between products (16
// to 20 %), which find their operands sooner than here.
static const double most_off = 0.24, median_off = 0.017;

// The compiler whose code tests/golden/told/lab.txt was played from.
#define COMPILER "NVRTC 13.0"

static uint64_t sum_reals(uint64_t sum, const double *value, int n) {
  char text[32];
  for (int i = 0; value && i < n; i++) {
    snprintf(text, sizeof text, "%.4g ", value[i]);
    sum = hash_text(sum, text);
  }
  return sum;
}

// All that the play says, by sums: of the loop's turn, of each instruction, of its clocks one by
// one.
static void tell(Str *out, const char *kernel, int warps, const ClockAnswer *a) {
  const ClockedLoop *l = &a->loop[a->main];
  const int n = a->code.n;
  uint64_t sum = sum_reals(HASH_START, a->executed, n);
  sum = sum_reals(sum_reals(sum, a->lost, n), a->stood, n);
  for (int i = 0; i < n; i++) {
    const int why[] = {(int)a->cause[i], a->blame[i]};
    sum = hash_bytes(sum, why, sizeof why);
  }
  uint64_t turn = sum_reals(HASH_START, l->turn.stalls, CLOCK_CAUSE_COUNT);
  turn = sum_reals(turn, l->turn.lost_to, CLOCK_CAUSE_COUNT);
  uint64_t cells = HASH_START;
  for (int i = 0; i < a->window.n * a->window.clocks; i++) {
    const ClockCell *c = &a->window.cell[i];
    const int cell[] = {c->pc, (int)c->cause};
    cells = hash_bytes(cells, cell, sizeof cell);
  }
  str_printf(out,
             "%s %d: %.2f, %.2f to %.2f, issued %.2f; turn %08x, code %08x, marks %d %d %d %d; "
             "%d clocks from %d, leader %d of %d, %08x\n",
             kernel, warps, l->clocks.value, l->clocks.low, l->clocks.high, l->turn.issued,
             (unsigned)turn, (unsigned)sum, a->marks.n_ffma, a->marks.n_conflicts,
             a->marks.lost_least, a->marks.lost_most, a->window.clocks, (int)a->window.begin,
             a->window.leader, a->window.n, (unsigned)cells);
}

static ClockAnswer answer_of(const CompileResult *lab, const ClockAsk *ask) {
  const ClockAnswer answer =
      clock_answer_cubin(property_arena, lab->cubin, lab->cubin_bytes, &property_targets, ask);
  ck_assert_msg(!answer.why_not && answer.main >= 0, "%s: %s", ask->kernel, answer.why_not);
  return answer;
}

// Clocks of one of `per` in a round.
static double play(const CompileResult *lab, const char *kernel, int warps, int per, Str *told) {
  const ClockAsk ask = {.kernel = kernel, .launch = {.threads = 32 * warps}};
  const ClockAnswer answer = answer_of(lab, &ask);
  tell(told, kernel, warps, &answer);
  return answer.loop[answer.main].clocks.value / per;
}

// The same kernel in blocks for several rounds, its loops gone round so often: a turn clock by
// clock, and what if.
static void play_blocks(const CompileResult *lab, const char *kernel, int warps, Str *told) {
  enum { BLOCKS = 300, TURNS = 12 };
  ClockAsk ask = {.kernel = kernel, .launch = {.threads = 32 * warps}};
  const ClockAnswer alone = answer_of(lab, &ask);
  for (int i = 0; i < alone.n_loops && i < CLOCK_TRIPS_MAX; i++)
    ask.trip[ask.n_trips++] = (ClockTrip){alone.loop[i].loop.last * SASS_BYTES, TURNS};
  ask.window = ask.what_if = true;
  ask.launch.blocks = BLOCKS;
  const ClockAnswer a = answer_of(lab, &ask);
  str_printf(told, "%s; %d resident: %.0f, %.0f to %.0f clocks, what if",
             a.no_clocks ? a.no_clocks : "in blocks", a.blocks, a.clocks.value, a.clocks.low,
             a.clocks.high);
  for (int i = 0; i < CLOCK_IFS; i++) str_printf(told, " %.1f", a.what_if[i].clocks);
  str_printf(told, ", %08x; ", (unsigned)sum_reals(HASH_START, a.lost_to, CLOCK_CAUSE_COUNT));
  tell(told, kernel, warps, &a);
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
  bool found;
  Str told = str_new(property_arena);
  FILE *file = fopen("tests/data/h200_lab.tsv", "r");
  ck_assert_ptr_nonnull(file);
  while (fgets(line, sizeof line, file)) {
    char kernel[64];
    int warps, per;
    double clocks;
    if (sscanf(line, "%63s %d %d %lf", kernel, &warps, &per, &clocks) != 4) continue;
    const double played = play(lab, kernel, warps, per, &told);
    if (n % BLOCKS_EVERY == 0) play_blocks(lab, kernel, warps, &told);
    ck_assert_int_lt(n, ROWS_MAX);
    off[n] = fabs(played / clocks - 1);
    ck_assert_msg(off[n] <= most_off, "%s, %d warps: played %.2f, measured %.2f", kernel, warps,
                  played, clocks);
    n++;
  }
  fclose(file);
  ck_assert_int_gt(n, 150);
  if (strstr(nvrtc_describe(property_arena, &found), COMPILER))
    golden_check("told/lab.txt", told.text);
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
