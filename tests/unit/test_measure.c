// The pictures of the measure view: what is sorted how, which points a sweep has, where the error
// map says the wrong cells are, and that no number is shown without its origin.
#include "model/readings/place/grid.h"
#include "tui/frame/explorer.h"
#include "tui/views/measure/measure.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "golden.h"
#include "model/words/split.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/view.h"

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  canvas = canvas_new(arena, 24, 80, false);
  view_show(session, view_find("measure"));
  drive_frame(session, canvas);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

static void keys(const char *text) { ck_assert(drive_keys(session, canvas, text, &diags)); }

static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

static void settle(void) {
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
}

// ---- A|B ----------------------------------------------------------------------------------------

START_TEST(the_largest_change_comes_first) {
  ck_assert(session_compare(session, NULL, NULL));
  SideNumbers a = side_numbers(session->frame, session, &session->doc.then);
  SideNumbers b = side_numbers(session->frame, session, &session->doc.now);
  ck_assert_int_eq(a.n, b.n);
  const NumberPair *pair = side_number_pairs(arena, &a, &b);
  int n_changed = 0, n_unknown = 0;
  for (int i = 0; i < a.n; i++) {
    ck_assert_str_eq(pair[i].a.key, pair[i].b.key);
    n_changed += pair[i].change > 0;
    n_unknown += isnan(pair[i].change);
    if (i == 0 || isnan(pair[i].change)) continue;
    ck_assert(!isnan(pair[i - 1].change) && pair[i - 1].change >= pair[i].change);
  }
  ck_assert_int_ge(n_changed, 3);
  ck_assert_int_ge(n_unknown, 1);  // nothing was compiled here
}
END_TEST

// The picture A|B compares by itself and ends that with itself; c stays. The first rung has nothing
// before it.
START_TEST(passing_the_pair_leaves_no_comparison) {
  keys("Right");
  ck_assert(session->doc.comparing);
  ck_assert_msg(shows("A = rung "), "%.300s", export_text(arena, canvas));
  keys("Right");
  ck_assert(!session->doc.comparing);
  keys("c Left Right");
  ck_assert(session->doc.comparing);
  keys("c");
  ck_assert(session_go_rung(session, 0));
  keys("Left");
  ck_assert(!session->doc.comparing && shows("Nothing is compared yet"));
  keys("c");
  ck_assert(!session->doc.comparing && shows("the first rung without edits has nothing before it"));
}
END_TEST

START_TEST(a_pair_knows_its_change) {
  SideNumbers a = {.n = 4}, b = {.n = 4};
  double values[4][2] = {{2, 1}, {NAN, 3}, {5, 5}, {0, 8}};
  for (int i = 0; i < 4; i++) {
    a.number[i] = (SideNumber){"n", "", "n", values[i][0], ORIGIN_NONE};
    b.number[i] = (SideNumber){"n", "", "n", values[i][1], ORIGIN_NONE};
  }
  const NumberPair *pair = side_number_pairs(arena, &a, &b);
  ck_assert(isinf(pair[0].change));
  ck_assert(fabs(pair[1].change - 1) < 1e-12);
  ck_assert(!(pair[2].change > 0) && !isnan(pair[2].change));
  ck_assert(isnan(pair[3].change));
}
END_TEST

// ---- the sweep ----------------------------------------------------------------------------------

START_TEST(a_sweep_has_every_value_once) {
  KnobSweep sweep;
  knobsweep_init(&sweep);
  for (int knob = 0; knob < KNOB_COUNT; knob++) {
    knobsweep_start(&sweep, &session->doc.now.schedule, NULL, (KnobId)knob);
    KnobType type = knob_table[knob].type;
    if (type == KNOB_TYPE_TARGET || type == KNOB_TYPE_LAYOUT) {
      ck_assert_int_eq(sweep.n, 0);
      continue;
    }
    ck_assert_int_ge(sweep.n, 2);
    ck_assert_int_ge(knobsweep_find(&sweep, session->doc.now.schedule.value[knob]), 0);
    for (int i = 1; i < sweep.n; i++)
      ck_assert_int_lt(sweep.point[i - 1].value, sweep.point[i].value);
    ck_assert_int_eq(sweep.point[0].value, knob_table[knob].lo);
  }
  knobsweep_free(&sweep);
}
END_TEST

START_TEST(a_sweep_agrees_with_the_model) {
  KnobSweep sweep;
  knobsweep_init(&sweep);
  knobsweep_start(&sweep, &session->doc.now.schedule, NULL, KNOB_PAD_SMEM);
  while (knobsweep_step(&sweep, &session->doc.targets)) {
  }
  ck_assert_int_eq(sweep.n_done, sweep.n);
  Arena *trial = arena_new("trial");
  for (int i = 0; i < sweep.n; i++) {
    Schedule schedule = knobsweep_schedule(&sweep, i);
    arena_reset(trial);
    const Model *model = model_build(trial, &session->doc.targets, &schedule);
    ck_assert_int_eq(sweep.point[i].legal, model->ok);
    if (model->ok)
      ck_assert(
          !(fabs(sweep.point[i].traffic.roofline_tflops - model->traffic.roofline_tflops) > 0));
    else
      ck_assert_str_eq(sweep.point[i].reason, model->diags.first->text);
  }
  arena_free(trial);
  knobsweep_free(&sweep);
}
END_TEST

static void compile_here(int registers) {
  const CompileResult result = {
      .ok = true, .n_kernels = 1, .kernels = {{.name = "matmul", .registers = registers}}};
  results_add_compile(
      results_begin_compile(&session->background.results, session->doc.now.picture->key), &result);
  drive_frame(session, canvas);
}

static const SideNumber *number(const SideNumbers *all, const char *key) {
  for (int i = 0; i < all->n; i++)
    if (!strcmp(all->number[i].key, key)) return &all->number[i];
  return NULL;
}

// 256 threads of 200 registers fit once where 108 were guessed to fit twice: blocks per SM, waves
// and what they fetch are those of the count in every view, but a lesson goes by the guess.
START_TEST(what_the_compiler_counted_holds_everywhere) {
  session_set_text(session, "PAD_SMEM=8", &diags);  // nobody timed that
  drive_frame(session, canvas);
  const Model *guess = session_model(session);
  ck_assert(!guess->resources.counted);
  ck_assert_int_eq(guess->resources.blocks_per_sm, 2);
  compile_here(200);
  const Model *now = session_model(session);
  ck_assert(now->resources.counted && session->doc.now.picture->estimate == guess);
  ck_assert_int_eq(now->resources.blocks_per_sm, 1);
  ck_assert_double_eq(now->resources.waves, 2 * guess->resources.waves);
  ck_assert_double_gt(now->traffic.dram_bytes, guess->traffic.dram_bytes);
  ck_assert_int_eq(side_grid(&session->doc.now)->blocks_per_sm, 1);
  SideNumbers all = side_numbers(session->frame, session, &session->doc.now);
  ck_assert_int_eq(number(&all, "registers")->origin, ORIGIN_COMPILED);
  ck_assert_int_eq(number(&all, "waves")->origin, ORIGIN_ESTIMATED);
  ck_assert_double_eq(number(&all, "waves")->value, now->resources.waves);
  view_show(session, view_find("explore"));
  drive_frame(session, canvas);
  ck_assert_msg(shows("2→1 block/SM = 12 %: 118→200 regs"), "%s", export_text(arena, canvas));
  view_show(session, view_find("lesson"));
  drive_frame(session, canvas);
  ck_assert_int_eq(session_model(session)->resources.blocks_per_sm, 2);
}
END_TEST

// A lesson goes by the estimate and the other views by the count: going to and fro makes nothing
// new.
START_TEST(views_that_differ_about_registers_cost_nothing) {
  size_t settled = 0;
  compile_here(200);
  for (int i = 0; i < 50; i++) {
    view_show(session, view_find(i % 2 ? "grid" : "lesson"));
    drive_frame(session, canvas);
    if (i == 4) settled = arena_used(session->doc.now.arena[session->doc.now.at]);
    if (i > 4) ck_assert_uint_eq(arena_used(session->doc.now.arena[session->doc.now.at]), settled);
  }
}
END_TEST

// A compilation here says more than a row of data/results, which says more than a guess.
START_TEST(a_count_is_taken_from_where_it_is_best_known) {
  const Timed *timed = results_find(&session->background.results, &session->doc.now.schedule);
  ck_assert(timed && timed->registers > 0);
  ck_assert_int_eq(session_model(session)->resources.n_registers, timed->registers);
  ck_assert_int_eq(results_counted(&session->background.results, &session->doc.now.schedule).origin,
                   ORIGIN_RECORDED);
  compile_here(timed->registers + 8);
  Counted counted = results_counted(&session->background.results, &session->doc.now.schedule);
  ck_assert_int_eq(counted.origin, ORIGIN_COMPILED);
  ck_assert_int_eq(counted.registers, timed->registers + 8);
  Schedule other = session->doc.now.schedule;
  schedule_set(&other, KNOB_PAD_SMEM, 8);
  ck_assert_int_eq(results_counted(&session->background.results, &other).registers, -1);
}
END_TEST

// A state that was compiled has its own registers and spills, its neighbours an estimate.
START_TEST(a_sweep_shows_what_the_compiler_spilled) {
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  results_add_compile(
      compiled,
      &(CompileResult){.ok = true,
                       .n_kernels = 1,
                       .kernels = {{.name = "matmul", .registers = 255, .spill_store_bytes = 88}}});
  keys("w");
  settle();
  ck_assert(shows("regs spilled blk/SM"));
  ck_assert(shows("  255 p  88 B"));
  session_set_knob(session, session->background.sweep->knob,
                   session->background.sweep->point[0].value);
  settle();
  ck_assert(shows("  255 p  88 B"));
}
END_TEST

// Where spills stand; the reason, with them, above the source.
START_TEST(what_became_of_wgmmas_is_shown) {
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  results_add_compile(
      compiled, &(CompileResult){.ok = true,
                                 .n_kernels = 1,
                                 .kernels = {{.name = "matmul",
                                              .registers = 90,
                                              .note = "wgmma serialized: ill formed stage"}}});
  canvas = canvas_new(arena, 40, 150, false);
  keys("1");
  settle();
  ck_assert_msg(shows(", wgmma serialized"), "%s", export_text(arena, canvas));
  keys("4 p");
  settle();
  ck_assert_msg(shows("0 B spilled  wgmma serialized: ill formed stage"), "%s",
                export_text(arena, canvas));
}
END_TEST

START_TEST(taking_a_value_keeps_the_points) {
  keys("w");
  settle();
  int n_done = session->background.sweep->n_done;
  ck_assert_int_eq(n_done, session->background.sweep->n);
  keys("k Enter");
  ck_assert_int_eq(session_edits(session), 1);
  ck_assert_int_eq(session->background.sweep->n_done, n_done);
  keys("u");
  ck_assert_int_eq(session->background.sweep->n_done, n_done);
  keys(">");
  ck_assert_int_eq(session->background.sweep->n_done, 0);
}
END_TEST

START_TEST(sweep_command_takes_a_knob) {
  keys("1 : s w e e p Space p a d Enter");
  ck_assert_int_eq(session->at.knob, KNOB_PAD_SMEM);
  settle();
  ck_assert(shows("PAD_SMEM"));
  ck_assert(shows("clock"));
  keys(": s w e e p Space x x Enter");
  ck_assert(shows("there is no knob \"xx\""));
}
END_TEST

// ---- errors -------------------------------------------------------------------------------------

// 32 × 32 tiles of 128 × 128: tiles 1 to 3 of the rows are wrong altogether, one more in a corner a
// tenth.
static void fail_check(void) {
  static uint32_t map[32 * 32];
  memset(map, 0, sizeof map);
  for (int row = 1; row <= 3; row++)
    for (int col = 0; col < 32; col++) map[row * 32 + col] = 128 * 128;
  BenchEntry entry = {.error = "wrong: 1572864 of 16777216 cells"};
  entry.verify = (VerifyResult){.ran = true,
                                .worst = 900,
                                .n_cells = 4096 * 4096,
                                .n_wrong = 3 * 32 * 128 * 128,
                                .first_row = 128,
                                .first_got = 3.5,
                                .first_expected = 1.25,
                                .first_bound = 2e-4,
                                .map_rows = 32,
                                .map_cols = 32,
                                .map_tile_m = 128,
                                .map_tile_n = 128,
                                .n_map = 32 * 32,
                                .map = map};
  BenchResult bench = {.gpu = "Test GPU", .date = "2026-11-20T12:00:00Z"};
  results_add_bench(&session->background.results, &session->doc.now.schedule, &entry, &bench);
  memset(map, 0, sizeof map);
}

START_TEST(the_error_map_says_which_rows) {
  fail_check();
  keys("h");
  ck_assert(shows("rows 128–511 (384 = 3 × 128)"));
  ck_assert(shows("columns 0–4095 (every tile)"));
  ck_assert(shows("# # # #"));
  golden_check("screens/measure_errors.txt", export_text(arena, canvas));
  keys("l");
  ck_assert(shows("failed"));
  ck_assert(!shows("31.2 r"));  // a wrong kernel has no speed, recorded or not
}
END_TEST

START_TEST(an_edit_takes_the_map_away) {
  fail_check();
  keys("h");
  ck_assert(shows("1 × 128") || shows("128 × 128"));
  session_set_knob(session, KNOB_PAD_SMEM, 8);
  drive_frame(session, canvas);
  ck_assert(shows("No check has failed"));
}
END_TEST

// The rows are those that resources simulates: the row of this schedule has its errors.
START_TEST(while_nothing_fails_sums_are_told) {
  ck_assert(session_go_ladder(session, "split", &diags));
  ck_assert(session_go_rung(session, 2));
  session_set_knob(session, KNOB_K, 1024);
  drive_frame(session, canvas);
  keys("h");
  ck_assert(shows("…"));
  bool news;
  while (view_idle(session, &news)) {
  }
  drive_frame(session, canvas);
  const SumErrors errors = sum_errors(arena, &session->doc.now.schedule);
  const MeasureSums *sums = measure_sums_of(session);
  int here = -1;
  for (int i = 0; i < sums->n; i++)
    if (sums->row[i].is_here) here = i;
  ck_assert_int_ge(here, 0);
  ck_assert_int_eq(session_view_state(session)->cursor, here);
  for (int data = SUMS_OF_NORMAL; data <= SUMS_OF_POSITIVE; data++) {
    const double told = sum_tally_error(&sums->row[here].tally[data]).rms;
    ck_assert(fabs(told - errors.sums[data].rms) <= 1e-12 * told);
  }
  ck_assert(shows("6xbf16, PROMOTE 2"));
  ck_assert(shows("6 of 9 products"));
  golden_check("screens/measure_sums.txt", export_text(arena, canvas));
  keys("Down Enter");  // the same parts, never promoted
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_PROMOTE], 0);
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_SPLIT_F32], SPLIT_6_BF16);
}
END_TEST

// What an article says of a rung can be read at 80 x 24, its figures before where they were taken.
START_TEST(every_claim_is_on_the_small_screen) {
  static const char *const ladders[] = {"fp32", "hgemm", "tf32", "blackwell"};
  unsetenv("GEMMVIEW_DATA");
  int n = 0;
  for (int l = 0; l < 4; l++) {
    Session *own = explorer_open(&(SessionOptions){.ladder = ladders[l]}, &diags);
    ck_assert_ptr_nonnull(own);
    view_show(own, view_find("measure"));
    for (int i = 0; i < own->doc.ladder->n_rungs; i++) {
      const Claim *claim = own->doc.ladder->rung[i].claim;
      if (!claim) continue;
      session_go_rung(own, i);
      session_view_state(own)->cursor = i;
      drive_frame(own, canvas);
      const bool time = !isnan(claim_tflops(claim)) && !str_equal(claim->unit, "TFLOP/s");
      const char *text =
          arena_printf(arena, time ? " TFLOP/s: %.52s" : "claim: %.58s", claim->text);
      ck_assert_msg(strstr(export_text(arena, canvas), text) != NULL, "%s\n%s", text,
                    export_text(arena, canvas));
      n++;
    }
    explorer_close(own);
  }
  ck_assert_int_ge(n, 20);
}
END_TEST

// 2 · 4096³ in 0.104 ms, beside the model's speed and marked as the article's.
START_TEST(a_claimed_time_is_a_speed_too) {
  unsetenv("GEMMVIEW_DATA");
  Session *own = explorer_open(&(SessionOptions){.ladder = "blackwell", .rung = "pair"}, &diags);
  ck_assert_ptr_nonnull(own);
  view_show(own, view_find("measure"));
  session_view_state(own)->cursor = own->doc.rung;
  drive_frame(own, canvas);
  ck_assert_ptr_nonnull(
      strstr(export_text(arena, canvas), "claim of 1322 TFLOP/s: 0.104 ms (B200, 4096^3, article"));
  explorer_close(own);
}
END_TEST

// Nobody has timed ladder blackwell: all of the article's times stand there, marked, each beside
// the one before that it has, and beside the first. A measurement takes the place of a claim.
START_TEST(claims_stand_where_nothing_was_timed) {
  unsetenv("GEMMVIEW_DATA");
  Session *own = explorer_open(&(SessionOptions){.ladder = "blackwell", .rung = "pair"}, &diags);
  ck_assert_ptr_nonnull(own);
  view_show(own, view_find("measure"));
  canvas_resize(canvas, 40, 120);
  drive_frame(own, canvas);
  ck_assert(shows("1.96 c") && shows("2.56 c  ×1.31") && shows("598 c  ×2.13"));
  ck_assert(shows("1322 c  ×2.21") && shows("1462 c  ×1.11") && shows("×673"));
  const LadderLines *lines = measure_ladder_lines(own);
  ck_assert_double_eq_tol(lines->line[6].claimed_first, 70 / 0.23, 0.1);
  ck_assert_double_eq(lines->line[4].claimed, 0);  // the article has no time of step 5
  explorer_close(own);
  lines = measure_ladder_lines(session);
  const int tile = ladder_find_rung(session->doc.ladder, "register_tile", NULL);
  ck_assert(session->doc.ladder->rung[tile].claim && lines->line[tile].timed);
  ck_assert_double_eq(lines->line[tile].claimed, 0);
}
END_TEST

// 17.2 after 5.4 and 31.2 after 30.5 TFLOP/s; what was gained is drawn as such.
START_TEST(a_rung_says_what_it_brought) {
  const LadderLines *lines = measure_ladder_lines(session);
  int tile = ladder_find_rung(session->doc.ladder, "register_tile", NULL);
  ck_assert(lines->line[0].before <= 0);
  ck_assert_double_eq_tol(lines->line[tile].before, 5.4, 1e-9);
  canvas_resize(canvas, 40, 120);
  drive_frame(session, canvas);
  ck_assert(shows("17.2 r  ×3.19"));
  ck_assert(shows("31.2 r  ×1.02"));
  ck_assert(shows("█▓▓▓"));
  ck_assert(shows("▓ won ░ lost"));
}
END_TEST

// Asides follow each other only where few knobs lie between them, and nothing of the main line.
START_TEST(an_aside_follows_an_aside) {
  unsetenv("GEMMVIEW_DATA");
  Session *own = explorer_open(&(SessionOptions){.ladder = "fp32"}, &diags);
  const Ladder *ladder = own->doc.ladder;
  int pad = ladder_find_rung(ladder, "pad_1", NULL), last = ladder->n_rungs - 1;
  ck_assert_int_eq(ladder_rung_before(ladder, pad), pad - 1);
  ck_assert_int_eq(ladder_rung_before(ladder, pad - 1), -1);
  for (; last > 0; last--) {
    int before = ladder_rung_before(ladder, last);
    ck_assert(before < 0 || ladder->rung[before].aside == ladder->rung[last].aside);
  }
  ck_assert_int_eq(ladder_rung_before(ladder, 0), -1);
  explorer_close(own);
}
END_TEST

// ---- origins ------------------------------------------------------------------------------------

START_TEST(marks_differ_and_stand_on_the_screen) {
  for (int i = ORIGIN_CLAIM; i <= ORIGIN_MEASURED; i++)
    for (int j = ORIGIN_CLAIM; j < i; j++) {
      ck_assert_int_ne(measure_origin_mark((Origin)i), measure_origin_mark((Origin)j));
      ck_assert_int_ne(measure_origin_style((Origin)i), measure_origin_style((Origin)j));
    }
  ck_assert(shows("m here p comp r rec e est c claim"));
  ck_assert(shows("31.2 r"));
  BenchEntry entry = {.ok = true, .time = {.median_ns = 3e6}, .tflops = 45.8, .ratio = 0.9};
  BenchResult bench = {.gpu = "Test GPU",
                       .reference = {.tflops = 51, .name = "cublas"},
                       .after = {.throttled = true, .throttle_text = "power cap"}};
  results_add_bench(&session->background.results, &session->doc.now.schedule, &entry, &bench);
  drive_frame(session, canvas);
  ck_assert(shows("45.8 m"));
  ck_assert(shows("throttled: power cap"));
}
END_TEST

START_TEST(clicks_choose_pictures_and_lines) {
  Event click = {.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .button = 1, .row = 2, .col = 10};
  ck_assert(drive_event(session, canvas, &click, &diags));
  ck_assert(shows("less │ more"));
  click.row = 6;
  ck_assert(drive_event(session, canvas, &click, &diags));
  ck_assert_int_eq(session_view_state(session)->cursor, 2);
}
END_TEST

Suite *suite_measure(void);
Suite *suite_measure(void) {
  Suite *suite = suite_create("measure");
  TCase *tcase = tcase_create("measure");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, the_largest_change_comes_first);
  tcase_add_test(tcase, a_pair_knows_its_change);
  tcase_add_test(tcase, passing_the_pair_leaves_no_comparison);
  tcase_add_test(tcase, a_sweep_has_every_value_once);
  tcase_add_test(tcase, a_sweep_agrees_with_the_model);
  tcase_add_test(tcase, what_the_compiler_counted_holds_everywhere);
  tcase_add_test(tcase, views_that_differ_about_registers_cost_nothing);
  tcase_add_test(tcase, a_count_is_taken_from_where_it_is_best_known);
  tcase_add_test(tcase, a_sweep_shows_what_the_compiler_spilled);
  tcase_add_test(tcase, what_became_of_wgmmas_is_shown);
  tcase_add_test(tcase, taking_a_value_keeps_the_points);
  tcase_add_test(tcase, sweep_command_takes_a_knob);
  tcase_add_test(tcase, the_error_map_says_which_rows);
  tcase_add_test(tcase, an_edit_takes_the_map_away);
  tcase_add_test(tcase, while_nothing_fails_sums_are_told);
  tcase_add_test(tcase, every_claim_is_on_the_small_screen);
  tcase_add_test(tcase, a_claimed_time_is_a_speed_too);
  tcase_add_test(tcase, claims_stand_where_nothing_was_timed);
  tcase_add_test(tcase, a_rung_says_what_it_brought);
  tcase_add_test(tcase, an_aside_follows_an_aside);
  tcase_add_test(tcase, marks_differ_and_stand_on_the_screen);
  tcase_add_test(tcase, clicks_choose_pictures_and_lines);
  suite_add_tcase(suite, tcase);
  return suite;
}
