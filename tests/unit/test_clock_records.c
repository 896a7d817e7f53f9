// Recorded times of an H200, data/results, against the number that the clock has for the same rows:
// hot, at whatever clock the board's power left. The rows that were recorded at 1980 MHz are held
// against it by their mean error, those of tensor cores by whether they lie in its range as well.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "compile_once.h"
#include "kernels/device/history/recorded.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/clock_number.h"
#include "model/readings/cost/estimate.h"
#include "property.h"

Suite *suite_clock_records(void);

// Rows of larger problems are left out, and of the others one in so many is played: a sanitiser
// takes seconds for each.
enum { ONE_IN = 4 };
static const double most_work = 4097.0 * 4096 * 4096;

typedef struct Held {
  int n, inside;
  double error, widest;
  Str said;
} Held;

static const char *with_size(const RecordedRow *row) {
  const char *state = row->state;
  if (strstr(state, ",M=") || str_starts(state, "M=")) return state;
  return arena_printf(property_arena, "%s,M=%lld,N=%lld,K=%lld", state, (long long)row->m,
                      (long long)row->n, (long long)row->k);
}

static const Recorded *recorded_of(const char *name) {
  Diags diags = diags_new(property_arena);
  const EmbeddedFile *file = embed_find(property_arena, name);
  ck_assert_ptr_nonnull(file);
  const Recorded *recorded =
      recorded_read_json(property_arena, file->text, file->size, name, &diags);
  ck_assert_msg(recorded, "%s", diags_text(property_arena, &diags));
  return recorded;
}

// False: there is no NVRTC here.
static bool hold_row(const RecordedRow *row, Held *held) {
  TargetTable targets = *property_gpus();
  Diags diags = diags_new(property_arena);
  Schedule schedule = schedule_plain();
  const char *state = with_size(row);
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(property_arena, &diags));

  const Model *model = model_build(property_arena, &targets, &schedule);
  if (!model->ok) return true;  // of a knob that this program reads otherwise
  const ClockSubject subject = {.state = schedule_record_text(property_arena, &model->schedule)};
  const Plan *plan = plan_from_model(property_arena, model, "");
  const CompileResult *result = compile_once(property_arena, plan, COMPILE_CUBIN);
  if (!result->ok) return false;
  const ClockNumber *number = clock_number(property_arena, &subject, plan, result);
  ck_assert_msg(!number->why_not, "%s: %s", row->state, number->why_not);
  const ClockedSpeed *speed = &number->speed;
  const double error = speed->tflops / row->tflops - 1;
  const bool inside = speed->low <= row->tflops && row->tflops <= speed->high;
  held->n++;
  held->inside += inside;
  held->error += fabs(error);
  held->widest = fmax(held->widest, fmax(speed->tflops / speed->low, speed->high / speed->tflops));
  str_printf(&held->said, "%s %s: recorded %.1f, %.1f (%.1f to %.1f) %+.1f %%%s\n", row->rung,
             row->state, row->tflops, speed->tflops, speed->low, speed->high, 100 * error,
             inside ? "" : ", outside");
  return true;
}

static bool is_played(const RecordedRow *row, int at) {
  const double work = (double)row->m * (double)row->n * (double)row->k;
  return at % ONE_IN == 0 && row->tflops > 0 && work <= most_work && !strstr(row->state, "TARGET=");
}

// False: there is no NVRTC here.
static bool hold_file(const char *name, Held *held) {
  const Recorded *recorded = recorded_of(name);
  for (int i = 0; i < recorded->n_rows; i++)
    if (is_played(&recorded->rows[i], i) && !hold_row(&recorded->rows[i], held)) return false;
  return true;
}

// Files, and how wide a range may be; 0: anything, where nobody knows what the products take.
static const struct {
  const char *name;
  double widest;
} held_files[] = {{"results/h200_hgemm.json", 0},      {"results/h200_hopper.json", 0},
                  {"results/h200_fp16.json", 0},       {"results/h200_tf32.json", 1.1501},
                  {"results/h200_tf32_other.json", 0}, {"results/h200_attention.json", 0}};

// What tensor cores and power leave of the clock.
START_TEST(ranges_hold_what_was_recorded_under_the_power_cap) {
  Held held = {.said = str_new(property_arena)};
  for (size_t i = 0; i < sizeof held_files / sizeof *held_files; i++) {
    held.widest = 0;
    if (!hold_file(held_files[i].name, &held)) return;
    if (held_files[i].widest > 0) ck_assert_double_le(held.widest, held_files[i].widest);
  }
  ck_assert_int_ge(held.n, 20);
  ck_assert_msg(held.inside >= 0.85 * held.n, "%d of %d inside\n%s", held.inside, held.n,
                held.said.text);
  ck_assert_msg(held.error / held.n <= 0.08, "mean error %.3f\n%s", held.error / held.n,
                held.said.text);
}
END_TEST

// Plain multiply-adds run at 1980 MHz whatever they take.
START_TEST(plain_products_come_out_at_the_boost_clock) {
  Held held = {.said = str_new(property_arena)};
  if (!hold_file("results/h200_fp32.json", &held)) return;
  ck_assert_int_ge(held.n, 10);
  ck_assert_msg(held.error / held.n <= 0.07, "mean error %.3f\n%s", held.error / held.n,
                held.said.text);
}
END_TEST

// ---- before the compiler has answered -----------------------------------------------------------

enum { KINDS = 2 * CALIBRATION_FAMILIES };

typedef struct Off {
  int n;
  double off[RECORDED_ROWS_MAX];
} Off;

static const Model *model_of(const RecordedRow *row) {
  TargetTable targets = *property_gpus();
  Diags diags = diags_new(property_arena);
  Schedule schedule = schedule_plain();
  const char *state = with_size(row);
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(property_arena, &diags));
  return model_build(property_arena, &targets, &schedule);
}

static void note_off(const RecordedRow *row, Off off[KINDS]) {
  const Model *model = model_of(row);
  if (!model->ok || !(row->tflops > 0)) return;
  const Estimate estimate = estimate_of(NULL, model);
  const CalibrationFamily family = calibration_terms(model).family;
  const bool staged = model->resources.smem_bytes > 0;
  const double range = calibration_shipped_range(family, staged);
  ck_assert(!estimate.borrowed);
  ck_assert_double_eq_tol(estimate.high / estimate.tflops, exp(range), 1e-9);
  ck_assert_double_eq_tol(estimate.tflops / estimate.low, exp(range), 1e-9);
  Off *to = &off[2 * (int)family + staged];
  to->off[to->n++] = fabs(log(estimate.tflops / row->tflops));
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static const char *const files[] = {"results/h200_hgemm.json",
                                    "results/h200_hopper.json",
                                    "results/h200_fp16.json",
                                    "results/h200_tf32.json",
                                    "results/h200_tf32_other.json",
                                    "results/h200_attention.json",
                                    "results/h200_attention_queries.json",
                                    "results/h200_decode.json",
                                    "results/h200_fp32.json",
                                    "results/h200_fp32_26x4.json",
                                    "results/h200_fp32_banks.json"};

// The range of a stand-in is what nine in ten rows of its kind are off by: no less, and where there
// are rows enough not much more.
START_TEST(stand_ins_are_off_by_as_much_as_they_say) {
  enum { ENOUGH = 8 };
  static Off off[KINDS];
  memset(off, 0, sizeof off);
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    const Recorded *recorded = recorded_of(files[f]);
    for (int i = 0; i < recorded->n_rows; i++) note_off(&recorded->rows[i], off);
  }
  for (int k = 0; k < KINDS; k++) {
    Off *one = &off[k];
    if (!one->n) continue;
    qsort(one->off, (size_t)one->n, sizeof *one->off, by_size);
    const int tenth = (int)ceil(0.9 * one->n) - 1;
    const double said = calibration_shipped_range((CalibrationFamily)(k / 2), k % 2);
    ck_assert_msg(one->off[tenth] <= said, "%s: %.3f said, nine in ten of %d are off by %.3f",
                  calibration_family_name((CalibrationFamily)(k / 2)), said, one->n,
                  one->off[tenth]);
    ck_assert_msg(one->n < ENOUGH || said <= 1.25 * one->off[tenth], "%s: %.3f said, %.3f",
                  calibration_family_name((CalibrationFamily)(k / 2)), said, one->off[tenth]);
  }
}
END_TEST

// No card but the H200 has lent the factors: elsewhere the range is wider, and says whose they are.
START_TEST(borrowed_stand_ins_are_wider) {
  const Model *here = property_rung("fp32", "padded", ""),
              *there = property_rung("fp32", "padded", "TARGET=b200");
  const Estimate own = estimate_of(NULL, here), borrowed = estimate_of(NULL, there);
  char said[ESTIMATE_SAID_BYTES];
  ck_assert(!own.borrowed && borrowed.borrowed);
  ck_assert_double_ge(borrowed.tflops / borrowed.low, 1.25 * own.tflops / own.low);
  ck_assert_ptr_nonnull(strstr(estimate_said(said, &borrowed, false), "borrowed from H200"));
}
END_TEST

Suite *suite_clock_records(void) {
  Suite *suite = suite_create("clock_records");
  TCase *tests = tcase_create("clock_records");
  tcase_set_timeout(tests, 900);
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_add_test(tests, ranges_hold_what_was_recorded_under_the_power_cap);
  tcase_add_test(tests, stand_ins_are_off_by_as_much_as_they_say);
  tcase_add_test(tests, borrowed_stand_ins_are_wider);
  tcase_add_test(tests, plain_products_come_out_at_the_boost_clock);
  suite_add_tcase(suite, tests);
  return suite;
}
