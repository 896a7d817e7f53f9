// The GPU at hand: what the explorer and the commands do when it is another than the default's, or
// when its driver says otherwise than the table.
#include "tui/frame/explorer.h"
#include "tui/session/at_hand.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli_harness.h"
#include "golden.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/view.h"

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static const Device h100 = {.name = "NVIDIA H100 80GB HBM3", .arch = "sm_90", .l2_bytes = 52428800};
static const Device h200 = {.name = "NVIDIA H200", .arch = "sm_90", .l2_bytes = 41943040};
static const Device none = {0};

static void open_session(const SessionOptions *options) {
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(options, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  canvas = canvas_new(arena, 30, 100, false);
  drive_frame(session, canvas);
}
static void setup(void) { open_session(&(SessionOptions){.rung = "padded"}); }

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
}

static bool shows(const char *text) {
  drive_frame(session, canvas);
  return strstr(export_text(arena, canvas), text) != NULL;
}

// A fit by which shared memory takes twice as long as the data sheet says.
static HistoryCalibration slow_shared(const char *gpu) {
  HistoryCalibration row = {
      .gpu = gpu, .family = CALIBRATION_FAMILY_FMA, .fit = calibration_none()};
  row.fit.factor[CALIBRATION_SHARED] = 2;
  row.fit.n = 212;
  row.fit.error = 0.157;
  return row;
}

// Of a GPU that was searched on, estimates go by its own roofline and say how good it has been; of
// another target, and of a family that nothing was fitted for, they stay what they were.
START_TEST(estimates_go_by_what_was_fitted_here) {
  at_hand_take(session, &h200);
  ck_assert(session_set_text(session, "M=2048,N=1024", &diags));
  const Model *model = session_model(session);
  const Estimate before = session_estimate(session, model);
  ck_assert_ptr_null(before.fit);
  ck_assert(shows("TFLOP/s stand-in ±63 %"));
  const HistoryCalibration rows[] = {slow_shared("NVIDIA H100 80GB HBM3"),
                                     slow_shared("NVIDIA H200")};
  at_hand_take_fits(session, rows, 1);
  ck_assert_ptr_null(session_estimate(session, model).fit);
  at_hand_take_fits(session, rows, 2);
  const Estimate after = session_estimate(session, model);
  ck_assert_ptr_nonnull(after.fit);
  ck_assert(after.tflops < 0.8 * before.tflops);
  drive_frame(session, canvas);
  ck_assert(shows("TFLOP/s stand-in ±17 %"));
  canvas_resize(canvas, 40, 120);
  ck_assert(shows("TFLOP/s stand-in ±17 % on 212 points"));
  while (session_idle(session)) {
  }
  const Trial *up = advice_find(session->background.advice, KNOB_BM, 1);
  ck_assert_ptr_eq(up->stand_in.fit, after.fit);
  view_show(session, view_find("measure"));
  ck_assert(shows("┊ clock ~stand-in ±17 % on 212 points"));
  canvas_resize(canvas, 24, 80);
  ck_assert(shows("┊ ~stand-in ±17 %"));
  ck_assert(drive_keys(session, canvas, "w", &diags));
  while (session_idle(session)) {
  }
  ck_assert(shows("stand-in ±17 % on 212 points"));
  ck_assert(session_set_text(session, "TARGET=h100", &diags));
  ck_assert_ptr_null(session_estimate(session, session_model(session)).fit);
  ck_assert(session_set_text(session, "TARGET=h200,ATOM_KIND=mma_m16n8k8_tf32", &diags));
  ck_assert_ptr_null(session_estimate(session, session_model(session)).fit);
}
END_TEST

static const struct {
  const char *name;
  int rows, cols;
} tuned_sizes[] = {{"explore_tuned_80x24", 24, 80}, {"explore_tuned_120x40", 40, 120}};

static HistoryRow tuned_row(const char *state, double time_ns) {
  return (HistoryRow){.when_unix = 1795000000,
                      .user = "ana",
                      .host = "box",
                      .gpu = "NVIDIA H200",
                      .gpu_uuid = "GPU-1",
                      .driver = "580",
                      .text_hash = "0",
                      .state = state,
                      .problem = "4096x4096x4096 f32*f32+f32->f32 NN",
                      .time_ns = time_ns,
                      .cublas_time_ns = 2.7e6,
                      .tflops = 137.4e9 / time_ns * 1e-3,
                      .status = "ok",
                      .method = "short turns"};
}

#define TUNED_STATE                                                                            \
  "AUTO=0,M=4096,N=4096,K=4096,DTYPE=f32,BM=16,BN=16,FM=16,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1," \
  "VECTORIZE=1,PAD_SMEM=4,BUFFER_COUNT=2,PIPELINE_STAGES=1,CELL_GROUP=4"

// The line says what is better and what it would change, one key takes that, u takes it back. Of
// another problem, another GPU, or a state that is as fast, nothing is said.
START_TEST(what_was_tuned_is_one_key_away) {
  const HistoryRow row = tuned_row(TUNED_STATE, 3e6), slow = tuned_row(TUNED_STATE, 9e6),
                   broken = tuned_row("BM=1024,BN=1024", 1e6);
  at_hand_take(session, &h200);
  canvas_resize(canvas, tuned_sizes[_i].rows, tuned_sizes[_i].cols);
  at_hand_take_best(session, &broken);
  ck_assert(!shows("tuned ("));
  at_hand_take_best(session, &slow);
  ck_assert(!shows("tuned ("));
  ck_assert(drive_keys(session, canvas, "A", &diags));
  ck_assert_int_eq(session_edits(session), 0);
  at_hand_take_best(session, &row);
  session->prompt.message[0] = 0;
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  golden_check(arena_printf(arena, "screens/%s.txt", tuned_sizes[_i].name),
               export_text(arena, canvas));
  ck_assert(drive_keys(session, canvas, "A", &diags));
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_FM], 16);
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_CELL_GROUP], 4);
  ck_assert_str_eq(session->prompt.message, "tuned by ana, 2026-11-18; u takes it back");
  ck_assert(!shows("tuned ("));
  ck_assert(drive_keys(session, canvas, "u", &diags));
  ck_assert_int_eq(session_edits(session), 0);
  ck_assert(session_set_text(session, "M=2048", &diags));
  ck_assert(!shows("tuned ("));
  ck_assert(session_set_text(session, "M=4096,BN=32", &diags));
  canvas_resize(canvas, 40, 120);
  ck_assert(shows("never timed"));
}
END_TEST

START_TEST(the_explorer_stands_on_it) {
  session_step_knob(session, KNOB_FM, 1);
  at_hand_take(session, &h100);
  ck_assert_str_eq(session->prompt.message,
                   "for the GPU at hand, NVIDIA H100 80GB HBM3: TARGET=h100");
  ck_assert_str_eq(session_model(session)->target->id, "h100");
  ck_assert_int_eq(session_edits(session), 1);
  ck_assert(shows("H100 SXM5 80GB"));
  session_go_rung(session, session->doc.rung - 1);
  ck_assert_str_eq(session->doc.now.schedule.target, "h100");
  ck_assert_int_eq(session_edits(session), 0);
  while (session_undo(session)) ck_assert_str_eq(session->doc.now.schedule.target, "h100");
  session_go_ladder(session, "hgemm", &diags);
  ck_assert_str_eq(session->doc.now.schedule.target, "h100");
}
END_TEST

START_TEST(what_was_asked_for_stays) {
  teardown();
  open_session(&(SessionOptions){.state = "BM=16,BN=16,FM=8,FN=8,TARGET=a100"});
  at_hand_take(session, &h100);
  ck_assert_str_eq(session->doc.now.schedule.target, "a100");
  ck_assert_str_eq(session->prompt.message,
                   "this is a100; the GPU at hand is NVIDIA H100 80GB HBM3: TARGET=h100");
}
END_TEST

START_TEST(without_one_it_is_said_what_is_shown) {
  at_hand_take(session, &none);
  ck_assert_str_eq(session->prompt.message, "no GPU at hand: shown for h200");
  session->prompt.message[0] = '\0';
  at_hand_take(session, &none);  // the worker was started again
  ck_assert_str_eq(session->prompt.message, "");
  ck_assert_str_eq(session->doc.now.schedule.target, "h200");
  at_hand_take(session, &h100);  // another worker has one
  ck_assert_str_eq(session->doc.now.schedule.target, "h100");
  at_hand_take(session, &h200);
  ck_assert_str_eq(session->background.device.name, h100.name);
}
END_TEST

START_TEST(views_take_the_word_of_the_driver) {
  at_hand_take(session, &h200);
  ck_assert(strstr(session->prompt.message, "they count") != NULL);
  ck_assert_int_eq(session_model(session)->target->l2_bytes, 41943040);
  view_show(session, view_find("grid"));
  ck_assert_msg(shows("40 MiB") || shows("40.0 MiB"), "%s", export_text(arena, canvas));
}
END_TEST

// The records are of an H200: beside what is timed on an H100 they have its name and no bar.
START_TEST(a_record_of_another_gpu_has_its_name) {
  view_show(session, view_find("measure"));
  ck_assert(shows("██"));
  ck_assert(!at_hand_is_other(session, &(Timed){.gpu = "NVIDIA H200"}));
  at_hand_take(session, &h100);
  ck_assert(at_hand_is_other(session, &(Timed){.gpu = "NVIDIA H200"}));
  ck_assert(!at_hand_is_other(session, &(Timed){.gpu = "NVIDIA H100 80GB HBM3"}));
  drive_frame(session, canvas);
  for (int row = 0; row < canvas->rows; row++) {
    const char *text = export_row(arena, canvas, row);
    if (!strstr(text, " r ") || !strstr(text, "0.")) continue;
    ck_assert_msg(strstr(text, "NVIDIA H200") && !strstr(text, "█"), "%s",
                  export_text(arena, canvas));
  }
  ck_assert(shows(" r "));
}
END_TEST

// ---- the command line ---------------------------------------------------------------------------

static const char script[] =
    "{\"on\":\"start\",\"do\":\"hello\"}\n"
    "{\"on\":\"start\",\"do\":\"reply\",\"line\":{\"type\":\"machine\",\"can_compile\":false,"
    "\"nvrtc\":\"none\",\"gpu\":\"NVIDIA H100 PCIe\",\"gpu_uuid\":\"GPU-1\",\"arch\":\"sm_90\","
    "\"sm_count\":114,\"l2_bytes\":52428800,\"boost_mhz\":1755}}\n";

START_TEST(the_doctor_names_it_and_what_differs) {
  if (!cli_has_program()) return;
  char path[] = "/tmp/gemmview-fake-XXXXXX";
  int fd = mkstemp(path);
  ck_assert(fd >= 0 && write(fd, script, sizeof script - 1) == (ssize_t)sizeof script - 1);
  close(fd);
  const char *call =
      arena_printf(arena, "doctor --worker '%s worker --fake %s'", getenv("GEMMVIEW"), path);
  CliRun run = cli_run(arena, call);
  unlink(path);
  ck_assert_int_eq(run.status, 0);
  ck_assert_msg(strstr(run.out, "GPU            ok       NVIDIA H100 PCIe\n"), "%s", run.out);
  ck_assert_msg(strstr(run.out, "its row        ok       h100, H100 SXM5 80GB"), "%s", run.out);
  ck_assert_msg(strstr(run.out, "sm_count: 114 SMs by the driver, 132 in the row h100"), "%s",
                run.out);
  ck_assert_msg(strstr(run.out, "boost_mhz: 1755 MHz by the driver"), "%s", run.out);
  ck_assert_ptr_null(strstr(run.out, "l2_bytes"));
}
END_TEST

START_TEST(a_reading_says_that_another_is_at_hand) {
  if (!cli_has_program()) return;
  static const char says[] =
      "this is for h200; the GPU at hand is NVIDIA H100 80GB HBM3: TARGET=h100";
  setenv("GEMMVIEW_GPU", "NVIDIA H100 80GB HBM3", 1);
  static const char *const readings[] = {"loops", "check", "cuda", "show grid", "interpret"};
  for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
    CliRun run = cli_run(arena, arena_printf(arena, "%s -k M=64,N=64,K=64", readings[i]));
    ck_assert_msg(strstr(run.err, says) != NULL, "%s: %s", readings[i], run.err);
    ck_assert_ptr_null(strstr(run.out, "at hand"));
    run = cli_run(arena, arena_printf(arena, "%s -k M=64,N=64,K=64,TARGET=h200", readings[i]));
    ck_assert_msg(strstr(run.err, "at hand") == NULL, "%s: %s", readings[i], run.err);
  }
  setenv("GEMMVIEW_GPU", "NVIDIA H200", 1);
  ck_assert_str_eq(cli_run(arena, "check -k M=64,N=64,K=64").err, "");
  setenv("GEMMVIEW_GPU", "", 1);
}
END_TEST

Suite *suite_at_hand(void);
Suite *suite_at_hand(void) {
  Suite *suite = suite_create("at_hand");
  TCase *tests = tcase_create("the GPU at hand");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 60);
  tcase_add_loop_test(tests, what_was_tuned_is_one_key_away, 0, 2);
  tcase_add_test(tests, estimates_go_by_what_was_fitted_here);
  tcase_add_test(tests, the_explorer_stands_on_it);
  tcase_add_test(tests, what_was_asked_for_stays);
  tcase_add_test(tests, without_one_it_is_said_what_is_shown);
  tcase_add_test(tests, views_take_the_word_of_the_driver);
  tcase_add_test(tests, a_record_of_another_gpu_has_its_name);
  tcase_add_test(tests, the_doctor_names_it_and_what_differs);
  tcase_add_test(tests, a_reading_says_that_another_is_at_hand);
  suite_add_tcase(suite, tests);
  return suite;
}
