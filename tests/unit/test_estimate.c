// Why an estimate stands where it does: rounds of tiles, a rate that no source states, waits that
// other blocks cover.
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/readings/cost/estimate.h"
#include "property.h"

Suite *suite_estimate(void);

// A problem whose tiles fill all SMs to the last round.
#define EVEN "M=9472,N=1024"

static const Model *rung(const char *name, const char *knobs) {
  return property_rung("blackwell", name, knobs);
}

static const char *reasons(const Model *of) {
  return estimate_roofline_reasons(property_arena, of);
}

// The pair stands below the single CTA by the last round of its larger tiles, and by nothing else.
START_TEST(a_pair_loses_by_rounds_alone) {
  const Model *roles = rung("roles", ""), *pair = rung("pair", "");
  ck_assert(fabs(roles->traffic.rounds - 7) < 1e-9 && fabs(pair->traffic.rounds - 4) < 1e-9);
  const double share = (512.0 / (4 * 148)) / (1024.0 / (7 * 148));
  ck_assert_double_eq_tol(pair->traffic.roofline_tflops / roles->traffic.roofline_tflops, share,
                          1e-6);
  ck_assert_ptr_nonnull(strstr(reasons(pair), "512 tiles on 148 SMs are 3.46 for each"));
  ck_assert_ptr_nonnull(strstr(reasons(pair), "4 rounds, 86 % of the units"));
  ck_assert_ptr_null(strstr(reasons(roles), "round"));
}
END_TEST

// 592 tiles of one and 296 of the other fill all SMs to the last round.
START_TEST(a_pair_is_as_good_where_tiles_come_out_even) {
  const Model *roles = rung("roles", EVEN), *pair = rung("pair", EVEN);
  ck_assert_double_eq_tol(pair->traffic.roofline_tflops, roles->traffic.roofline_tflops, 1e-6);
  ck_assert_ptr_null(strstr(reasons(pair), "round"));
}
END_TEST

// 2224 TFLOP/s by 64 FLOP for each byte.
START_TEST(an_unknown_rate_is_said_with_what_it_would_have_to_be) {
  const char *text = reasons(rung("roles", ""));
  ck_assert_msg(strstr(text, "L2 would have to deliver 34.7 TB/s") != NULL, "%s", text);
  ck_assert_ptr_nonnull(strstr(reasons(rung("pair", "")), "15.2 TB/s for that, 128 FLOP"));
  ck_assert_ptr_null(strstr(reasons(property_rung("hopper", "0", "")), "L2 would"));
}
END_TEST

START_TEST(waits_are_said_with_who_covers_them) {
  const Model *in_turn = rung("tma", "TENSOR_COLUMNS=0");
  ck_assert_int_gt(in_turn->resources.blocks_per_sm, 1);
  ck_assert_ptr_nonnull(strstr(reasons(in_turn), "4 blocks on an SM hide each other's waits"));
  ck_assert_ptr_null(strstr(reasons(rung("ring", "")), "waits"));
  const Model *alone = rung("tma", "FM=2,FN=2");
  ck_assert_int_eq(alone->resources.blocks_per_sm, 1);
  ck_assert_ptr_nonnull(strstr(reasons(alone), "Nothing hides that wait"));
}
END_TEST

// Where nothing was fitted the factors of an H200 stand in, and say so elsewhere; the clock's
// number needs none of them.
START_TEST(a_stand_in_says_whose_factors_it_goes_by) {
  char said[ESTIMATE_SAID_BYTES];
  const Estimate here = estimate_of(NULL, property_rung("fp32", "padded", "")),
                 there = estimate_of(NULL, rung("pair", ""));
  ck_assert_str_eq(estimate_word(&here), "stand-in");
  ck_assert_str_eq(estimate_said(said, &here, false), "±63 %");
  ck_assert_str_eq(estimate_said(said, &there, false), "±72 %, borrowed from H200");
  ck_assert_str_eq(estimate_said(said, &there, true), "+-72 %, borrowed from H200");
  ck_assert(here.low < here.tflops && here.tflops < here.high);
  Calibration fits[CALIBRATION_FAMILIES] = {0};
  fits[CALIBRATION_FAMILY_FMA] = calibration_none();
  fits[CALIBRATION_FAMILY_FMA].n = 212;
  fits[CALIBRATION_FAMILY_FMA].error = 0.157;
  const Estimate fitted = estimate_of(fits, property_rung("fp32", "padded", ""));
  ck_assert_str_eq(estimate_said(said, &fitted, false), "±17 % on 212 points");
  const Estimate clock = estimate_clocked(&(ClockedSpeed){36.5, 33.2, 40.2, false});
  ck_assert_str_eq(estimate_word(&clock), "clock");
  ck_assert_str_eq(estimate_said(said, &clock, false), "±10 %");
  const Estimate unchecked = estimate_clocked(&(ClockedSpeed){50, 38.5, 71, true});
  ck_assert_str_eq(estimate_said(said, &unchecked, false), "±30 %, published, not checked");
  const Estimate far = estimate_clocked(&(ClockedSpeed){0.06, 0.017, 0.21, false});
  ck_assert_str_eq(estimate_said(said, &far, false), "within ×3.5");
  ck_assert_str_eq(estimate_said(said, &far, true), "within x3.5");
}
END_TEST

// A rate that no source states: nothing is promised.
START_TEST(an_unknown_rate_promises_nothing) {
  const Model *model = property_rung(
      "hgemm", "0",
      "TARGET=rtx5090,DTYPE=f64,ACC=f32,ATOM_KIND=mma_m8n8k4_f64,WM=2,WN=2,FM=2,FN=4,BK=2");
  const Estimate estimate = estimate_of(NULL, model);
  ck_assert(!(model->traffic.roofline_tflops > 0));
  ck_assert_int_eq(estimate.by, ESTIMATE_UNKNOWN);
  ck_assert(!(estimate.tflops > 0));
}
END_TEST

// On a B200 each step of the article is faster than the one before, as the article has it: a
// roofline alone has the pair and the two consumers below three roles.
START_TEST(each_step_of_blackwell_is_expected_to_be_faster) {
  static const char *const steps[] = {"tma", "ring", "roles", "pair", "consumers"};
  double before = 0;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    const double here = estimate_of(NULL, rung(steps[i], "")).tflops;
    ck_assert_msg(here > before, "%s: %g, before %g", steps[i], here, before);
    before = here;
  }
}
END_TEST

// The longest first, each shorter than what all of them come to.
START_TEST(the_limits_of_a_stand_in_come_to_its_time) {
  const Model *pair = rung("pair", "");
  const Estimate estimate = estimate_of(NULL, pair);
  CalibrationLimit all[CALIBRATION_FACTORS], limit[ESTIMATE_LIMITS_MAX];
  const CalibrationTerms terms = calibration_terms(pair);
  const Calibration shipped = calibration_none();
  const int n = calibration_limits(&shipped, &terms, all);
  ck_assert_int_eq(estimate_limits(&estimate, pair, limit), ESTIMATE_LIMITS_MAX);
  double cubes = 0, rest = 0;
  for (int i = 0; i < n; i++) {
    ck_assert(!i || all[i].ns <= all[i - 1].ns);
    cubes += pow(all[i].ns, 3);
  }
  for (int i = CALIBRATION_LAUNCH; i < CALIBRATION_FACTORS; i++)
    rest += shipped.factor[i] * terms.term[i];
  ck_assert_double_eq_tol(cbrt(cubes) + rest, estimate_ns(&estimate, pair), 1);
  ck_assert_str_eq(limit[0].title, "latency");
  ck_assert_str_eq(limit[1].title, "L2");
  const ClockedSpeed speed = {900, 800, 1000, true};
  const Estimate clocked = estimate_clocked(&speed);
  ck_assert_int_eq(estimate_limits(&clocked, pair, limit), 0);
}
END_TEST

Suite *suite_estimate(void) {
  Suite *suite = suite_create("estimate");
  TCase *tcase = tcase_create("estimate");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, a_pair_loses_by_rounds_alone);
  tcase_add_test(tcase, a_pair_is_as_good_where_tiles_come_out_even);
  tcase_add_test(tcase, an_unknown_rate_is_said_with_what_it_would_have_to_be);
  tcase_add_test(tcase, waits_are_said_with_who_covers_them);
  tcase_add_test(tcase, a_stand_in_says_whose_factors_it_goes_by);
  tcase_add_test(tcase, an_unknown_rate_promises_nothing);
  tcase_add_test(tcase, each_step_of_blackwell_is_expected_to_be_faster);
  tcase_add_test(tcase, the_limits_of_a_stand_in_come_to_its_time);
  suite_add_tcase(suite, tcase);
  return suite;
}
