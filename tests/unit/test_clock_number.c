// The one number by the clock: what it is made of, when it is kept, and in which order the explorer
// asks for it.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/embed.h"
#include "base/str.h"
#include "cli_harness.h"
#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/worker/compile_cached.h"
#include "kernels/worker/result_json.h"
#include "property.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"
#include "tui/session/clock_ahead.h"
#include "tui/session/knob_gain.h"

Suite *suite_clock_number(void);

// ---- the number ---------------------------------------------------------------------------------

static const Plan *plan_of(const Model *model) {
  return plan_from_model(property_arena, model, "");
}

static ClockSubject subject_of(const Model *model) {
  return (ClockSubject){.state = schedule_record_text(property_arena, &model->schedule)};
}

// NULL: there is no NVRTC here.
static const CompileResult *compiled(const Plan *plan) {
  const CompileResult *result = compile_once(property_arena, plan, COMPILE_CUBIN);
  return result->ok ? result : NULL;
}

// For an architecture that nobody measured here the facts are published ones: the number says so,
// is wide, and never above what the data sheet promises.
START_TEST(published_facts_are_marked) {
  static const struct {
    const char *ladder, *rung, *target;
    double tflops;  // of the data sheet
  } rows[] = {
      {"fp32", "padded", "TARGET=a100", 19.5},     {"fp32", "padded", "TARGET=rtx3090", 35.6},
      {"fp32", "padded", "TARGET=rtx4090", 82.6},  {"hgemm", "swizzle", "TARGET=a100", 312},
      {"hgemm", "swizzle", "TARGET=rtx3090", 142}, {"hgemm", "swizzle", "TARGET=rtx4090", 330.3}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Model *model = property_rung(rows[i].ladder, rows[i].rung, rows[i].target);
    const ClockSubject subject = subject_of(model);
    const Plan *plan = plan_of(model);
    const CompileResult *result = compiled(plan);
    if (!result) return;
    const ClockNumber *number = clock_number(property_arena, &subject, plan, result);
    ck_assert_msg(!number->why_not, "%s", number->why_not);
    const ClockedSpeed *speed = &number->speed;
    ck_assert_msg(speed->unchecked, "%s", rows[i].target);
    ck_assert_double_eq_tol(speed->tflops / speed->low, 1.3, 0.01);
    ck_assert_msg(speed->tflops < rows[i].tflops && speed->tflops > 0.4 * rows[i].tflops,
                  "%s/%s,%s: %g", rows[i].ladder, rows[i].rung, rows[i].target, speed->tflops);
  }
}
END_TEST

// 36.7 TFLOP/s are recorded.
START_TEST(a_compiled_schedule_has_a_number) {
  const Model *model = property_rung("fp32", "padded", "");
  const ClockSubject subject = subject_of(model);
  const Plan *plan = plan_of(model);
  const CompileResult *result = compiled(plan);
  if (!result) return;
  const ClockNumber *number = clock_number(property_arena, &subject, plan, result);
  ck_assert_msg(!number->why_not, "%s", number->why_not);
  ck_assert_double_eq_tol(number->speed.tflops, 36.7, 0.1 * 36.7);
  ck_assert(number->speed.low < number->speed.tflops && number->speed.tflops < number->speed.high);
  Str json = str_new(property_arena);
  Diags diags = diags_new(property_arena);
  clock_number_write_json(&json, number);
  const ClockNumber *back = clock_number_read_json(property_arena, json.text, &diags);
  ck_assert_ptr_nonnull(back);
  ck_assert_double_eq(back->speed.tflops, number->speed.tflops);
  ck_assert_double_eq(back->mhz, number->mhz);
}
END_TEST

// Products of a whole GPU take more power than the board is held to: the clock goes down, and what
// was recorded lies in the range.
// One thread's own numbers in uniform registers make the assembler write a loop over lanes, and
// lanes that part a branch to where they meet (BRA.DIV): the way of a warp goes through both.
START_TEST(a_warp_whose_lanes_part_comes_to_its_end) {
  static const char *const knobs[] = {"PERSISTENT=1,TILE_ORDER=gpc,TMA_STORE=1,ELECT=0",
                                      "PRODUCER_WARPS=1"};
  static const char *const rungs[] = {"gpc", "pingpong"};
  for (size_t i = 0; i < 2; i++) {
    const Model *model = property_rung("hopper", rungs[i], knobs[i]);
    const ClockSubject subject = subject_of(model);
    const Plan *plan = plan_of(model);
    const CompileResult *result = compiled(plan);
    if (!result) return;
    const ClockNumber *number = clock_number(property_arena, &subject, plan, result);
    ck_assert_msg(!number->why_not, "%s: %s", rungs[i], number->why_not);
  }
}
END_TEST

START_TEST(power_holds_the_clock_down) {
  static const struct {
    const char *ladder, *rung;
    double recorded;  // TFLOP/s, data/results
  } rows[] = {
      {"hopper", "persistent", 601}, {"hgemm", "register_buffer", 390}, {"tf32", "roles", 220}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Model *model = property_rung(rows[i].ladder, rows[i].rung, "");
    const ClockSubject subject = subject_of(model);
    const Plan *plan = plan_of(model);
    const CompileResult *result = compiled(plan);
    if (!result) return;
    const ClockNumber *number = clock_number(property_arena, &subject, plan, result);
    ck_assert_msg(!number->why_not, "%s", number->why_not);
    ck_assert_double_lt(number->mhz, 0.8 * model->target->boost_mhz);
    ck_assert_msg(number->speed.low < rows[i].recorded && rows[i].recorded < number->speed.high,
                  "%s: %.0f to %.0f, recorded %.0f", rows[i].rung, number->speed.low,
                  number->speed.high, rows[i].recorded);
  }
}
END_TEST

// A text that is not the state's, a GPU without facts, a state that is none: no number, and why.
START_TEST(what_cannot_be_played_says_why) {
  const Model *model = property_rung("fp32", "padded", ""),
              *other = property_rung("fp32", "padded", "BK=8"),
              *elsewhere = property_rung("fp32", "padded", "TARGET=t4");
  const CompileResult *result = compiled(plan_of(model)), *there = compiled(plan_of(elsewhere));
  if (!result || !there) return;
  const struct {
    ClockSubject subject;
    const Plan *plan;
    const CompileResult *result;
    const char *why;
  } rows[] = {
      {subject_of(other), plan_of(model), result, "differs from that of its state"},
      {subject_of(elsewhere), plan_of(elsewhere), there, "no clock facts"},
      {{.state = "NO_KNOB=1"}, plan_of(model), result, "cannot be read"},
      {{.state = ""}, plan_of(model), result, "differs from that of its state"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const ClockNumber *number =
        clock_number(property_arena, &rows[i].subject, rows[i].plan, rows[i].result);
    ck_assert_ptr_nonnull(number->why_not);
    ck_assert_msg(strstr(number->why_not, rows[i].why), "%s", number->why_not);
    ck_assert(!(number->speed.tflops > 0));
  }
}
END_TEST

// ---- the cache ----------------------------------------------------------------------------------

// All that is kept holds for that state, that GPU and those facts.
START_TEST(a_kept_number_holds_as_long_as_what_made_it) {
  const Model *model = property_rung("fp32", "padded", "M=512,N=512,K=512");
  const Plan *plan = plan_of(model);
  const CompileResult *result = compiled(plan);
  if (!result) return;
  const char *folder = cli_own_folder(property_arena);
  const Compiler compiler = compiler_find(property_arena, folder);
  ClockSubject subject = subject_of(model);
  bool cached = true;
  const ClockNumber *first =
      clock_cached(property_arena, &compiler, plan, &subject, result, &cached);
  ck_assert(!cached);
  const ClockNumber *again =
      clock_cached(property_arena, &compiler, plan, &subject, result, &cached);
  ck_assert(cached);
  ck_assert_double_eq(again->speed.tflops, first->speed.tflops);
  subject.device = (Device){.name = "NVIDIA H200", .arch = "sm_90", .boost_mhz = 990};
  const ClockNumber *slower =
      clock_cached(property_arena, &compiler, plan, &subject, result, &cached);
  ck_assert(!cached);
  ck_assert_double_eq_tol(slower->speed.tflops, first->speed.tflops / 2, 1e-6);
}
END_TEST

// Facts that a user puts in the place of the program's make other numbers.
START_TEST(other_facts_are_another_key) {
  const ClockSubject subject = {.state = "BM=16"};
  const char *own = clock_number_key(property_arena, &subject);
  ck_assert_ptr_nonnull(own);
  ck_assert_str_eq(own, clock_number_key(property_arena, &subject));
  const char *folder = cli_own_folder(property_arena),
             *path = arena_printf(property_arena, "%s/clock", folder);
  ck_assert_int_eq(mkdir(path, 0700), 0);
  const EmbeddedFile *file = embed_find(property_arena, "clock/sm_90.json");
  FILE *out = fopen(arena_printf(property_arena, "%s/sm_90.json", path), "w");
  ck_assert_ptr_nonnull(out);
  fprintf(out, "%s\n\n", file->text);
  fclose(out);
  setenv("GEMMVIEW_DATA", folder, 1);
  const char *other = clock_number_key(property_arena, &subject);
  unsetenv("GEMMVIEW_DATA");
  ck_assert_str_ne(own, other);
}
END_TEST

// ---- what is asked ahead ------------------------------------------------------------------------

static bool is_not_asked(const void *context, uint64_t key) {
  (void)context;
  (void)key;
  return false;
}

static Session *open_idle(Diags *diags) {
  const SessionOptions options = {.ladder = "fp32", .rung = "padded"};
  Session *session = explorer_open(&options, diags);
  ck_assert_ptr_nonnull(session);
  session_prepare(session, 40, 120, false);
  while (session_idle(session)) {
  }
  return session;
}

// Answers with a number that is the stand-in's, less some; how many were asked for.
static int answer_all(Session *session, ClockWanted *asked, int max) {
  int n = 0;
  while (n < max && clock_ahead_next(session, is_not_asked, NULL, &asked[n])) {
    results_add_clock(&session->background.results, asked[n].key,
                      &(ClockedSpeed){30 - n * 0.1, 27, 33, false});
    n++;
  }
  return n;
}

START_TEST(the_state_comes_first_then_its_neighbours_then_what_is_worth_trying) {
  enum { MOST = 40 };
  static ClockWanted asked[MOST];
  Diags diags = diags_new(property_arena);
  Session *session = open_idle(&diags);
  session->at.knob = KNOB_BM;
  const Trial *down = advice_find(session->background.advice, KNOB_BM, -1),
              *up = advice_find(session->background.advice, KNOB_BM, +1);
  const Estimate own = session_stand_in(session, session->doc.now.picture->estimate);
  const Trial *best = promise_best(&session->background.results, session->background.advice, &own);
  const int n = answer_all(session, asked, MOST);
  ck_assert_int_ge(n, 5);
  ck_assert_int_lt(n, MOST);
  ck_assert(asked[0].key == session->doc.now.picture->key);
  ck_assert(asked[1].key == down->key && asked[2].key == up->key);
  ck_assert(asked[3].key == best->key);
  for (int i = 0; i < n; i++) ck_assert(schedule_identity(&asked[i].schedule) == asked[i].key);
  ClockWanted none;
  ck_assert(!clock_ahead_next(session, is_not_asked, NULL, &none));
  explorer_close(session);
}
END_TEST

START_TEST(rungs_and_points_are_asked_where_they_are_shown) {
  enum { MOST = 200 };
  static ClockWanted asked[MOST];
  Diags diags = diags_new(property_arena);
  Session *session = open_idle(&diags);
  const int before = answer_all(session, asked, MOST);
  Canvas *canvas = canvas_new(property_arena, 40, 120, false);
  view_show(session, view_find("measure"));
  drive_frame(session, canvas);
  const int rungs = answer_all(session, asked, MOST);
  ck_assert_int_ge(rungs, session->doc.ladder->n_rungs - before);
  ck_assert(drive_keys(session, canvas, "w", &diags));
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  ck_assert_int_ge(answer_all(session, asked, MOST), 2);
  explorer_close(session);
}
END_TEST

Suite *suite_clock_number(void) {
  Suite *suite = suite_create("clock_number");
  TCase *tests = tcase_create("clock_number");
  tcase_set_timeout(tests, 300);
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_add_test(tests, a_compiled_schedule_has_a_number);
  tcase_add_test(tests, published_facts_are_marked);
  tcase_add_test(tests, a_warp_whose_lanes_part_comes_to_its_end);
  tcase_add_test(tests, power_holds_the_clock_down);
  tcase_add_test(tests, what_cannot_be_played_says_why);
  tcase_add_test(tests, a_kept_number_holds_as_long_as_what_made_it);
  tcase_add_test(tests, other_facts_are_another_key);
  tcase_add_test(tests, the_state_comes_first_then_its_neighbours_then_what_is_worth_trying);
  tcase_add_test(tests, rungs_and_points_are_asked_where_they_are_shown);
  suite_add_tcase(suite, tests);
  return suite;
}
