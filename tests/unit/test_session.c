// The session without a screen: edits, undo, rungs, comparison, results, advice.
//
// tests/data/explorer stands in for data/, so that a new rung changes nothing here.
#include "tui/session/knob_gain.h"
#include "tui/session/session.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette.h"
#include "tui/frame/view.h"

static Arena *arena;
static Diags diags;
static Session *session;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  view_prepare(session, 24, 80);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static int64_t now(KnobId knob) { return session->doc.now.schedule.value[knob]; }

START_TEST(opens_on_the_worst_site) {
  const Site *site = session_site(session);
  ck_assert_ptr_nonnull(site);
  for (int i = 0; i < session_model(session)->n_sites; i++) {
    const Site *other = &session_model(session)->site[i];
    ck_assert(site->count.conflicts * site->executions >=
              other->count.conflicts * other->executions);
  }
  ck_assert_int_eq(site->count.wavefronts, 8);
  ck_assert_int_eq(site->count.ideal, 4);
}
END_TEST

// Edits, pictures and trials, with no view and no key bound.
START_TEST(a_session_needs_no_view) {
  Session *alone = session_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_ptr_nonnull(alone);
  session_prepare(alone, 24, 80, false);
  session_set_knob(alone, KNOB_FM, 4);
  session_prepare(alone, 24, 80, true);
  ck_assert_int_eq(session_model(alone)->schedule.value[KNOB_FM], 4);
  ck_assert(session_idle(alone));
  for (int i = 0; i < SESSION_VIEWS_MAX; i++) ck_assert_ptr_null(alone->at.own[i]);
  session_close(alone);
}
END_TEST

START_TEST(undo_and_redo_walk_the_edits) {
  uint64_t key = session->doc.now.picture->key;
  session_set_knob(session, KNOB_FM, 4);
  session_set_knob(session, KNOB_FN, 4);
  ck_assert_int_eq(session_edits(session), 2);
  ck_assert(session_undo(session));
  ck_assert_int_eq(now(KNOB_FN), 8);
  ck_assert_int_eq(now(KNOB_FM), 4);
  ck_assert(session_undo(session));
  ck_assert_uint_eq(session->doc.now.picture->key, key);
  ck_assert(!session_undo(session));
  ck_assert(session_redo(session) && session_redo(session));
  ck_assert_int_eq(now(KNOB_FN), 4);
  ck_assert(!session_redo(session));
  session_undo(session);
  session_set_knob(session, KNOB_FM, 2);
  ck_assert(!session_redo(session));
}
END_TEST

START_TEST(undo_ring_forgets_the_oldest) {
  for (int i = 0; i < 2 * SESSION_UNDO; i++)
    session_set_knob(session, KNOB_PAD_SMEM, 4 + 4 * (i % 3));
  int steps = 0;
  while (session_undo(session)) steps++;
  ck_assert_int_eq(steps, SESSION_UNDO - 1);
}
END_TEST

START_TEST(an_illegal_knob_leaves_the_picture) {
  const Picture *picture = session->doc.now.picture;
  session_set_knob(session, KNOB_BM, 1024);
  ck_assert_ptr_nonnull(session->doc.now.reasons);
  ck_assert_int_gt(session->doc.now.reasons->count, 0);
  ck_assert_ptr_eq(session->doc.now.picture, picture);
  ck_assert_int_eq(now(KNOB_BM), 1024);
  session_set_knob(session, KNOB_BM, 512);
  ck_assert_ptr_eq(session->doc.now.picture, picture);
  ck_assert(session_fix(session));
  ck_assert_ptr_null(session->doc.now.reasons);
  ck_assert_ptr_ne(session->doc.now.picture, picture);
  ck_assert_int_lt(now(KNOB_BM), 512);
  ck_assert_int_gt(now(KNOB_BM), 16);
  ck_assert_int_eq(session_edits(session), 1);
}
END_TEST

START_TEST(rungs_keep_their_edits) {
  int rung = session->doc.rung;
  session_set_knob(session, KNOB_FM, 4);
  ck_assert(session_go_rung(session, rung + 1));
  ck_assert_int_eq(session_edits(session), 0);
  ck_assert_int_eq(now(KNOB_FM), 8);
  ck_assert(strstr(session->prompt.message, "1 edit stays at rung") != NULL);
  ck_assert(session_go_rung(session, rung));
  ck_assert_int_eq(now(KNOB_FM), 4);
  session_reset_rung(session);
  ck_assert_int_eq(session_edits(session), 0);
  ck_assert(session_undo(session));
  ck_assert_int_eq(now(KNOB_FM), 4);
  ck_assert(!session_go_rung(session, -1));
  ck_assert(!session_go_rung(session, session->doc.ladder->n_rungs));
  ck_assert_int_eq(session->doc.rung, rung);
}
END_TEST

START_TEST(the_problem_goes_along) {
  ck_assert(session_set_text(session, "M=2048,N=2048,K=2048,TARGET=h100", &diags));
  session_go_rung(session, session->doc.rung + 1);
  ck_assert_int_eq(now(KNOB_M), 2048);
  ck_assert_str_eq(session->doc.now.schedule.target, "h100");
  ck_assert_int_eq(now(KNOB_CELL_GROUP), 4);
  session_go_rung(session, ladder_find_rung(session->doc.ladder, "splitk", NULL));
  ck_assert_int_eq(now(KNOB_M), 128);
  ck_assert_str_eq(session->doc.now.schedule.target, "h100");
}
END_TEST

START_TEST(state_text_comes_back) {
  session_set_knob(session, KNOB_BK, 8);
  char *text = arena_strdup(arena, session_state_text(arena, session));
  Session *other = explorer_open(&(SessionOptions){.state = text}, &diags);
  ck_assert_msg(other != NULL, "%s", diags_text(arena, &diags));
  ck_assert(schedule_same(&other->doc.now.schedule, &session->doc.now.schedule));
  ck_assert_int_eq(other->doc.rung, session->doc.rung);
  ck_assert_int_eq(session_edits(other), 1);
  explorer_close(other);
}
END_TEST

static const char *ladder_of(const SessionOptions *options, int *rung) {
  Session *other = explorer_open(options, &diags);
  ck_assert_msg(other != NULL, "%s", diags_text(arena, &diags));
  const char *name = arena_strdup(arena, other->doc.ladder->name);
  *rung = other->doc.rung;
  explorer_close(other);
  return name;
}

// A state line does not say where it comes from; of the real ladders, the one it is nearest to.
START_TEST(a_state_finds_its_ladder) {
  static const char *const ladders[] = {"fp32", "hgemm", "tf32"};
  int asked, found;
  unsetenv("GEMMVIEW_DATA");
  Session *other = explorer_open(&(SessionOptions){.ladder = ladders[_i], .rung = "5"}, &diags);
  session_set_knob(other, KNOB_K, 1024);
  const char *state = arena_strdup(arena, session_state_text(arena, other));
  asked = other->doc.rung;
  explorer_close(other);
  ck_assert_str_eq(ladder_of(&(SessionOptions){.state = state}, &found), ladders[_i]);
  ck_assert_int_eq(found, asked);
  ck_assert_str_eq(ladder_of(&(SessionOptions){.state = state, .ladder = "fp32"}, &found), "fp32");
}
END_TEST

static const SessionOptions wrong[] = {
    {.state = "BM="}, {.state = "XX=1"},  {.state = "BM=100000"},   {.state = "BM=1024,BN=1024"},
    {.rung = "99"},   {.ladder = "fp33"}, {.state = "TARGET=h2000"}};

START_TEST(refuses_to_open) {
  ck_assert_ptr_null(explorer_open(&wrong[_i], &diags));
  ck_assert_int_gt(diags.count, 0);
}
END_TEST

START_TEST(compare_takes_the_rung_before_or_the_unedited) {
  ck_assert(session_compare(session, NULL, NULL));
  ck_assert(schedule_same(&session->doc.then.schedule,
                          &session->doc.ladder->rung[session->doc.rung - 1].schedule));
  session_compare_off(session);
  session_set_knob(session, KNOB_FM, 4);
  ck_assert(session_compare(session, NULL, NULL));
  ck_assert(schedule_same(&session->doc.then.schedule, &session_rung(session)->schedule));
  session_swap(session);
  ck_assert_int_eq(now(KNOB_FM), 8);
  ck_assert_int_eq(session->doc.then.schedule.value[KNOB_FM], 4);
}
END_TEST

START_TEST(a_result_belongs_to_one_state) {
  const Timed *timed = results_find(&session->background.results, &session->doc.now.schedule);
  ck_assert_ptr_nonnull(timed);
  ck_assert_int_eq(timed->origin, ORIGIN_RECORDED);
  session_set_knob(session, KNOB_PAD_SMEM, 8);
  ck_assert_ptr_null(results_find(&session->background.results, &session->doc.now.schedule));
  int distance = 0;
  ck_assert_ptr_nonnull(
      results_nearest(&session->background.results, &session->doc.now.schedule, &distance));
  ck_assert_int_eq(distance, 1);
  ck_assert(session_set_text(session, "TARGET=b200", &diags));
  ck_assert_ptr_null(
      results_nearest(&session->background.results, &session->doc.now.schedule, &distance));
}
END_TEST

START_TEST(a_measurement_here_comes_first) {
  BenchEntry entry = {.ok = true, .time = {.median_ns = 3e6}, .tflops = 45.8, .ratio = 0.9};
  BenchResult bench = {.gpu = "\033[31mred GPU", .reference = {.tflops = 51, .name = "cublas"}};
  results_add_bench(&session->background.results, &session->doc.now.schedule, &entry, &bench);
  const Timed *timed = results_find(&session->background.results, &session->doc.now.schedule);
  ck_assert_int_eq(timed->origin, ORIGIN_MEASURED);
  ck_assert_ptr_null(strchr(timed->gpu, '\033'));
  int n = session->background.results.n_timed;
  results_add_bench(&session->background.results, &session->doc.now.schedule, &entry, &bench);
  ck_assert_int_eq(session->background.results.n_timed, n);
}
END_TEST

START_TEST(compilations_come_in_parts) {
  Results *results = &session->background.results;
  Compiled *compiled = results_begin_compile(results, 7);
  results_add_compile(
      compiled,
      &(CompileResult){
          .ok = true, .ptx = "a\nb", .ptx_ms = 12, .cubin_ms = -1, .compiler = "NVRTC 13.0"});
  ck_assert_int_eq(compiled->listing->n_lines, 2);
  ck_assert_int_eq(compiled->registers, -1);
  CompileResult cubin = {.ok = true, .ptx_ms = -1, .cubin_ms = 180, .n_kernels = 2};
  cubin.kernels[0].registers = 40;
  cubin.kernels[1].registers = 118;
  results_add_compile(results_begin_compile(results, 7), &cubin);
  ck_assert_int_eq(results_compiled(results, 7)->registers, 118);
  ck_assert_str_eq(results_compiled(results, 7)->listing->lines[1].text, "b");
  for (uint64_t key = 100; key < 100 + RESULTS_COMPILED_MAX; key++)
    results_begin_compile(results, key);
  ck_assert_ptr_null(results_compiled(results, 7));
}
END_TEST

// The trial of a knob at a value: CELL_GROUP 4 is further than one step.
static const Trial *trial_of(KnobId knob, int64_t value) {
  for (int i = 0; i < ADVICE_TRIALS; i++) {
    const Trial *trial = &session->background.advice->trial[i];
    if (trial->exists && trial->knob == knob && trial->value == value) return trial;
  }
  return NULL;
}

START_TEST(records_are_said_where_both_are_there) {
  while (session_idle(session)) {
  }
  const Timed *here = results_find(&session->background.results, &session->doc.now.pictured);
  ck_assert(here && here->ok);
  const Trial *groups = trial_of(KNOB_CELL_GROUP, 4);
  ck_assert_ptr_nonnull(groups);
  const Estimate own = session_stand_in(session, session_model(session));
  Promise promise =
      promise_of(&session->background.results, &session->doc.now.pictured, &own, groups);
  ck_assert(promise.comparable);
  ck_assert_double_eq_tol(promise.here->tflops, here->tflops, 1e-9);
  // The gain is the timed one; the expected numbers stand beside it.
  ck_assert_double_eq_tol(promise_gain(&promise), promise.there->tflops / here->tflops, 1e-9);
  ck_assert_double_eq_tol(promise.to.tflops, groups->stand_in.tflops, 1e-9);
  // No run has timed this neighbour.
  const Trial *up = advice_find(session->background.advice, KNOB_BM, 1);
  promise = promise_of(&session->background.results, &session->doc.now.pictured, &own, up);
  ck_assert_ptr_null(promise.there);
  ck_assert_double_eq_tol(promise_gain(&promise),
                          up->stand_in.tflops / fmax(own.tflops, here->tflops), 1e-9);
}
END_TEST

// A neighbour is never set against the state on another scale: until both were compiled both are
// stand-ins. What alone was timed promises no more than it has shown.
START_TEST(promises_are_on_one_scale) {
  while (session_idle(session)) {
  }
  Results *results = &session->background.results;
  const Trial *up = advice_find(session->background.advice, KNOB_BM, 1);
  const Estimate own = session_stand_in(session, session_model(session));
  const ClockedSpeed here = {30, 27, 33, false}, there = {31, 28, 34, false};
  results_add_clock(results, session->doc.now.picture->key, &here);
  ck_assert_int_eq(session_estimate(session, session_model(session)).by, ESTIMATE_CLOCK);
  Promise promise = promise_of(results, &session->doc.now.pictured, &own, up);
  ck_assert_int_eq(promise.from.by, ESTIMATE_STAND_IN);
  ck_assert_int_eq(promise.to.by, ESTIMATE_STAND_IN);
  results_add_clock(results, up->key, &there);
  promise = promise_of(results, &session->doc.now.pictured, &own, up);
  ck_assert_int_eq(promise.from.by, ESTIMATE_CLOCK);
  promise.here = NULL;
  ck_assert_double_eq_tol(promise_gain(&promise), there.tflops / here.tflops, 1e-9);
  const Timed slow = {.ok = true, .tflops = 20};
  promise.here = NULL;
  promise.comparable = false;
  promise.there = &slow;
  ck_assert_double_eq_tol(promise_gain(&promise), slow.tflops / here.tflops, 1e-9);
  results_add_clock(results, up->key, NULL);  // it cannot be played
  ck_assert(!results_clocked(results, up->key)->known);
  promise = promise_of(results, &session->doc.now.pictured, &own, up);
  ck_assert_int_eq(promise.from.by, ESTIMATE_STAND_IN);
}
END_TEST

START_TEST(what_is_advised_is_promised) {
  while (session_idle(session)) {
  }
  const Estimate own = session_stand_in(session, session_model(session));
  const Trial *best = promise_best(&session->background.results, session->background.advice, &own);
  ck_assert_ptr_nonnull(best);
  const Promise promise =
      promise_of(&session->background.results, &session->doc.now.pictured, &own, best);
  ck_assert(promise_gain(&promise) > 1);
  // LANES_M=8 has the same estimate, and no time: what was timed goes first.
  ck_assert_int_eq(best->knob, KNOB_CELL_GROUP);
  ck_assert(promise.comparable);
  const Trial *alike = trial_of(KNOB_LANES_M, 8);
  ck_assert(alike && fabs(alike->stand_in.tflops / promise.to.tflops - 1) < 0.01);
  const Trial *up = advice_find(session->background.advice, KNOB_BM, 1);
  ck_assert(up && up->exists && up->legal && up->value > now(KNOB_BM));
}
END_TEST

static const struct {
  const char *line;
  bool ok;
} commands[] = {
    {"FM=4", true},
    {"set FM=4,FN=4", true},
    {"rung naive", true},
    {"rung 99", false},
    {"view banks", true},
    {"banks", true},
    {"view nothing", false},
    {"compare 3", true},
    {"compare CELL_GROUP=4", true},
    {"bnaks", false},
    {"", true},
    {"FM=", false},
    {"undo", true},
    {"set", false},
    {"state", false},
    {"save-display", false},
    {"export", false},
    {"export /dev/null/none/folder/x.cu", false},
    {"export -o x.cu", false},  // with options it is the command line's; there is none here
    {"save-display -o x.svg", false},
    {"state BM=16,BN=16,FM=4,FN=4", true},
    {"ladder fp32", true},
    {"ladder x", false},
    {"DEPLODOCK_KNOBS=\"FM=4,FN=4\" \\", true},
    {"export DEPLODOCK_KNOBS=\"FM=4,FN=4\"", true},
    {"DEPLODOCK_KNOBS=\"$BASE,STAGE=00\"", false},
};

START_TEST(commands_run_or_say_why) {
  ck_assert_int_eq(palette_run(session, commands[_i].line, &diags), commands[_i].ok);
  ck_assert_int_eq(diags.count > 0, !commands[_i].ok);
}
END_TEST

// The whole state, as after -k, and not an edit of the one that is there.
START_TEST(a_pasted_line_of_a_listing_is_the_state) {
  session_set_knob(session, KNOB_CELL_GROUP, 4);
  ck_assert(palette_run(session, ":export DEPLODOCK_KNOBS=\"BM=8,BN=32,FM=26\" \\", &diags));
  ck_assert_str_eq(schedule_text(arena, &session->doc.now.schedule), "BM=8,BN=32,FM=26");
}
END_TEST

START_TEST(export_writes_the_kernel_that_is_shown) {
  const char *path = arena_printf(arena, "%s/gemmview-test-%d.cu",
                                  getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
  session_set_knob(session, KNOB_CELL_GROUP, 4);
  ck_assert(palette_run(session, arena_printf(arena, "export %s", path), &diags));
  char *text = ARENA_ARRAY(arena, char, 1 << 18);
  FILE *file = fopen(path, "rb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_gt(fread(text, 1, (1 << 18) - 1, file), 1000);
  fclose(file);
  unlink(path);
  ck_assert_ptr_nonnull(strstr(text, "CELL_GROUP=4"));
  ck_assert_ptr_nonnull(strstr(text, "int main("));
}
END_TEST

START_TEST(state_command_replaces_everything) {
  ck_assert(palette_run(session, "state BM=8,BN=32,FM=4,FN=4", &diags));
  ck_assert_int_eq(now(KNOB_STAGE), 0);
  ck_assert_int_eq(now(KNOB_BM), 8);
}
END_TEST

Suite *suite_session(void);
Suite *suite_session(void) {
  Suite *suite = suite_create("session");
  TCase *tcase = tcase_create("session");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, opens_on_the_worst_site);
  tcase_add_test(tcase, a_session_needs_no_view);
  tcase_add_test(tcase, undo_and_redo_walk_the_edits);
  tcase_add_test(tcase, undo_ring_forgets_the_oldest);
  tcase_add_test(tcase, an_illegal_knob_leaves_the_picture);
  tcase_add_test(tcase, rungs_keep_their_edits);
  tcase_add_test(tcase, the_problem_goes_along);
  tcase_add_test(tcase, state_text_comes_back);
  tcase_add_loop_test(tcase, a_state_finds_its_ladder, 0, 3);
  tcase_add_loop_test(tcase, refuses_to_open, 0, sizeof wrong / sizeof *wrong);
  tcase_add_test(tcase, compare_takes_the_rung_before_or_the_unedited);
  tcase_add_test(tcase, a_result_belongs_to_one_state);
  tcase_add_test(tcase, a_measurement_here_comes_first);
  tcase_add_test(tcase, compilations_come_in_parts);
  tcase_add_test(tcase, what_is_advised_is_promised);
  tcase_add_test(tcase, records_are_said_where_both_are_there);
  tcase_add_test(tcase, promises_are_on_one_scale);
  tcase_add_loop_test(tcase, commands_run_or_say_why, 0, sizeof commands / sizeof *commands);
  tcase_add_test(tcase, export_writes_the_kernel_that_is_shown);
  tcase_add_test(tcase, a_pasted_line_of_a_listing_is_the_state);
  tcase_add_test(tcase, state_command_replaces_everything);
  suite_add_tcase(suite, tcase);
  return suite;
}
