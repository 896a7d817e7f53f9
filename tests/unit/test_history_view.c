// The history where users meet it: a picture of the measure view, gemmview history, and the timing
// that is taken from somebody else who has just made it.
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli_harness.h"
#include "golden.h"
#include "kernels/device/history/history.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/worker/result_json.h"
#include "tui/app.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"
#include "tui/session/tuning.h"
#include "tui/views/measure/measure.h"
#include "unclean.h"
#include "vterm_harness.h"

Suite *suite_history_view(void);

static Arena *arena;
static Diags diags;
static char folder[64];

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  strcpy(folder, "/tmp/gemmview-history-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void) {
  char command[128];
  unsetenv("GEMMVIEW_DATA");
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  ck_assert_int_eq(system(command), 0);
  arena_free(arena);
}

static HistoryRow row_of(const char *user, const char *state, double tflops) {
  return (HistoryRow){.when_unix = 1795000000,
                      .user = user,
                      .host = "box",
                      .gpu = "FAKE GPU",
                      .gpu_uuid = "GPU-fake",
                      .driver = "580",
                      .state = state,
                      .text_hash = "0",
                      .problem = "4096x4096x4096 f32*f32+f32->f32 NN",
                      .time_ns = tflops > 0 ? 137.4e6 / tflops : 0,
                      .cublas_time_ns = tflops > 0 ? 2.7e6 : 0,
                      .tflops = tflops,
                      .spread = 0.004,
                      .sm_mhz = 1980,
                      .memory_mhz = 2619,
                      .status = tflops > 0 ? "ok" : "wrong",
                      .method = "made up, L2 warm"};
}

// ---- the picture --------------------------------------------------------------------------------

#define PADDED "BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_SMEM=4"

static Session *session_with_past(void) {
  const HistoryRow rows[] = {
      row_of("ana", PADDED, 36.5),
      row_of("ben", PADDED ",MIN_BLOCKS=2,M=512,N=512,K=512", 31.25),
      row_of("a user with a long name", "BM=16,BN=16,FM=8,FN=8", 0),
      row_of("ana", "OF_A_LATER_PROGRAM=1", 20),
  };
  Session *session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  ck_assert_ptr_nonnull(session);
  session->background.worker.present = true;
  results_set_past(&session->background.results, rows, sizeof rows / sizeof *rows);
  view_show(session, view_find("measure"));
  return session;
}

static const struct {
  const char *name;
  int rows, cols;
  bool ascii;
} sizes[] = {{"measure_history_80x24", 24, 80, false},
             {"measure_history_120x40", 40, 120, false},
             {"measure_history_ascii", 24, 80, true}};

START_TEST(the_picture) {
  Session *session = session_with_past();
  session->ascii = sizes[_i].ascii;
  Canvas *canvas = canvas_new(arena, sizes[_i].rows, sizes[_i].cols, sizes[_i].ascii);
  ck_assert(drive_keys(session, canvas, "Right Right Right Down", &diags));
  ck_assert(session->wishes.history);
  golden_check(arena_printf(arena, "screens/%s.txt", sizes[_i].name), export_text(arena, canvas));
  explorer_close(session);
}
END_TEST

// More rows than fit: the one under the cursor is always among those that are drawn.
START_TEST(the_last_row_is_drawn) {
  enum { ROWS = 60 };
  HistoryRow rows[ROWS];
  Session *session = session_with_past();
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  for (int i = 0; i < ROWS; i++) rows[i] = row_of(arena_printf(arena, "user%d", i), PADDED, 36.5);
  results_set_past(&session->background.results, rows, ROWS);
  ck_assert(drive_keys(session, canvas, "Right Right Right", &diags));
  for (int i = 0; i < ROWS; i++) {
    ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), arena_printf(arena, "  user%d ", i)));
    ck_assert(drive_keys(session, canvas, "Down", &diags));
  }
  explorer_close(session);
}
END_TEST

START_TEST(enter_goes_to_the_state) {
  Session *session = session_with_past();
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  ck_assert(drive_keys(session, canvas, "Right Right Right Down Enter", &diags));
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_M], 512);
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_MIN_BLOCKS], 2);
  ck_assert_int_eq(session_edits(session), 4);
  ck_assert(drive_keys(session, canvas, "u Down Down Enter", &diags));
  ck_assert_ptr_nonnull(strstr(session->prompt.message, "OF_A_LATER_PROGRAM"));
  ck_assert_int_eq(session_edits(session), 0);
  explorer_close(session);
}
END_TEST

START_TEST(an_empty_history_says_why) {
  Session *session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  view_show(session, view_find("measure"));
  ck_assert(drive_keys(session, canvas, "Right Right Right", &diags));
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "No worker runs here"));
  session->background.worker.present = true;
  results_set_past(&session->background.results, NULL, 0);
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "No kernel was timed"));
  snprintf(session->background.results.past_error, sizeof session->background.results.past_error,
           "the disk is full");
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "the disk is full"));
  explorer_close(session);
}
END_TEST

// What had been made of the rung comes back when Enter is undone.
START_TEST(undo_brings_edits_back) {
  Session *session = session_with_past();
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  session_set_knob(session, KNOB_K, 1024);
  int rung = session->doc.rung;
  session_go_rung(session, rung + 1);
  ck_assert(drive_keys(session, canvas, "Right Right Right Down Enter", &diags));
  ck_assert_int_eq(session->doc.rung, rung);
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_M], 512);
  ck_assert(session_undo(session));
  ck_assert_int_eq(session->doc.rung, rung + 1);
  session_go_rung(session, rung);
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_M], 4096);
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_K], 1024);
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_MIN_BLOCKS], 0);
  explorer_close(session);
}
END_TEST

// ---- the command --------------------------------------------------------------------------------

static void add(const char *path, HistoryRow row) {
  History *history = history_open(arena, path, &diags);
  ck_assert_msg(history_add(history, &row, &diags), "%s", diags_text(arena, &diags));
  history_close(history);
}

static CliRun history(const char *arguments) {
  return cli_shell(arena, arena_printf(arena, "GEMMVIEW_CLASSROOM=%s %s history %s", folder,
                                       getenv("GEMMVIEW"), arguments));
}

static void run_sql(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

START_TEST(the_command_prints_rows) {
  const char *path = arena_printf(arena, "%s/history.db", folder);
  CliRun run = history("");
  ck_assert_int_eq(run.status, 0);
  ck_assert_ptr_nonnull(strstr(run.out, "no kernel was timed"));
  add(path, row_of("ana", "BM=16,BN=16", 0));
  add(path, row_of("ben", "BM=8,BN=8", 31.25));
  run = history("");
  ck_assert_ptr_nonnull(strstr(run.out, "2026-11-18T"));
  ck_assert_ptr_nonnull(strstr(run.out, "31.25"));
  ck_assert(strstr(run.out, "BM=8,BN=8") < strstr(run.out, "BM=16,BN=16"));
  ck_assert_ptr_nonnull(strstr(run.out, "wrong"));
  add(path, row_of("eve\n2026-01-01 forged", "BM=8,BN=8", 99));
  run = history("");
  ck_assert_ptr_null(strstr(run.out, "\n2026-01-01"));
  add(path, row_of("ben", "BM=8,BN=8", 31.25));
  run = history("--max 1 --csv");
  ck_assert_ptr_nonnull(strstr(run.out, "\"ben\",\"box\",\"FAKE GPU\",\"580\","));
  ck_assert_ptr_null(strstr(run.out, "ana"));
  run = history("--json");
  ck_assert_ptr_nonnull(strstr(run.out, "\"cublas_ratio\":0.614"));
  run_sql(path,
          "UPDATE measurement SET user = 'a\xE2\x80\xAE"
          "b', tflops = 1e999, spread = NULL, sm_mhz = NULL,"
          " cublas_time_ns = -1e999 WHERE id = (SELECT max(id) FROM measurement)");
  run = history("--max 1 --csv");
  ck_assert_ptr_null(unclean(run.out));
  ck_assert_ptr_null(strstr(run.out, "inf"));
  ck_assert_ptr_nonnull(strstr(run.out, ",,,,,"));
  run_sql(path, "DELETE FROM measurement WHERE id = (SELECT max(id) FROM measurement)");
  add(path, row_of("ben", "BM=8,BN=8", 31.25));
  run = history("--json");
  ck_assert_ptr_nonnull(
      strstr(run.out, "\"time_ns\":null,\"cublas_time_ns\":null,\"tflops\":null"));
  ck_assert_int_eq(history("--max 0").status, 2);
  ck_assert_int_eq(history("--json --csv").status, 2);
  ck_assert_int_eq(history("more").status, 2);
}
END_TEST

// ---- sharing ------------------------------------------------------------------------------------

static int run_explorer(void *argument) {
  Diags own = diags_new(arena);
  return (int)app_run(argument, &own);
}

// What ana measured of the opening state a few minutes ago.
static void add_row_of_ana(const char *path) {
  Session *session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  const Plan *plan = plan_from_model(arena, session_model(session), "B");
  HistoryRow row = row_of("ana", session_state_text(arena, session), 36.5);
  row.when_unix = (int64_t)time(NULL) - 200;
  row.text_hash = history_hash(arena, plan->cuda);
  row.problem = history_problem(arena, plan);
  add(path, row);
  explorer_close(session);
}

static void press_until(VtProgram *p, const char *key, const char *shown) {
  for (int i = 0; i < 50 && !vt_shows(p, shown); i++) {
    vt_keys(p, key);
    vt_pump(p, 20);
  }
  vt_expect(p, shown);
}

START_TEST(b_takes_what_was_just_measured) {
  const char *path = arena_printf(arena, "%s/history.db", folder);
  Str bench = str_new(arena);
  const BenchResult result = cli_good_bench();
  bench_result_write_json(&bench, &result);
  const char *rules = arena_printf(arena,
                                   "{\"on\":\"start\",\"do\":\"hello\"}\n"
                                   "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"FAKE GPU\"}\n"
                                   "{\"on\":\"bench\",\"do\":\"reply\",\"line\":{\"type\":"
                                   "\"result\",\"id\":0,\"what\":\"bench\",\"data\":%s}}\n",
                                   bench.text);
  const char *const words[] = {getenv("GEMMVIEW"), "worker", "--fake",
                               cli_write_file(arena, "shared.jsonl", rules), NULL};
  const char *const *const argv = words;
  const ClientOptions client = {
      .version = "test", .workers = &argv, .n_workers = 1, .history_path = path};
  AppOptions options = {
      .session = {.rung = "padded"}, .terminal = {.color = "256"}, .client = &client};
  add_row_of_ana(path);
  VtProgram *p = vt_start(24, 100, (VtEnv){.term = "xterm-256color"}, run_explorer, &options);
  vt_expect(p, "KNOBS");
  // The worker may not have said yet that it has a GPU; after that, one press is enough.
  press_until(p, "b", "shared: ana, 3 min ago; b repeats");
  vt_expect(p, "36.5 TFLOP/s");
  vt_expect(p, "measured here by ana");
  press_until(p, "b", "45.8 TFLOP/s");
  ck_assert(!vt_shows(p, "by ana"));
  vt_keys(p, "5 Right Right Right");
  vt_expect(p, "when (UTC)");
  vt_expect(p, "ana");
  vt_expect(p, "fp32 ");
  vt_keys(p, "q q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
}
END_TEST

// ---- a search from the screen -------------------------------------------------------------------

static const ClientOptions *simulated_workers(const char *path) {
  static const char *words[5];
  static const char *const *argv;
  static ClientOptions client;
  const char *rules =
      "{\"on\":\"start\",\"do\":\"hello\"}\n"
      "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
      "{\"on\":\"compile\",\"do\":\"simulate\"}\n"
      "{\"on\":\"bench\",\"delay_ms\":20,\"do\":\"simulate\"}\n";
  const char *const all[] = {getenv("GEMMVIEW"), "worker", "--fake",
                             cli_write_file(arena, "simulated.jsonl", rules), NULL};
  memcpy(words, all, sizeof all);
  argv = words;
  client =
      (ClientOptions){.version = "test", .workers = &argv, .n_workers = 1, .history_path = path};
  return &client;
}

// Begun, looked at while it goes on, ended early, its best taken and taken back; the explorer, with
// a worker of its own, is told of it afterwards by the history.
START_TEST(a_search_is_begun_watched_and_ended) {
  const char *path = arena_printf(arena, "%s/history.db", folder);
  AppOptions options = {.session = {.state = "M=512,N=512,K=512"},
                        .terminal = {.color = "256"},
                        .client = simulated_workers(path)};
  VtProgram *p = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, run_explorer, &options);
  vt_expect(p, "KNOBS");
  vt_keys(p, "5 t");
  vt_expect(p, "t searches for the best kernel of 512");
  press_until(p, "t", "a search is under way");
  press_until(p, "2 5", "round, ");
  press_until(p, "2 5", "measured by predicted");
  press_until(p, "2 5", "of cuBLAS");
  vt_expect(p, "on NVIDIA H200, simulated, 1 worker");
  vt_expect(p, "•");
  vt_keys(p, "x");
  vt_expect(p, "its results stay");
  press_until(p, "2 5", "ended after");
  vt_keys(p, "Enter");
  vt_expect(p, "kernels; u takes it back");
  vt_keys(p, "u 1");
  vt_expect(p, "tuned (A)");
  vt_keys(p, "q q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
  HistoryRow rows[4];
  HistoryCalibration fits[4];
  History *history = history_open(arena, path, &diags);
  ck_assert_int_eq(history_best(history, arena, rows, 4), 1);
  ck_assert_str_eq(rows[0].gpu, "NVIDIA H200");
  ck_assert_int_le(history_calibrations(history, arena, "NVIDIA H200", fits, 4), 1);
  history_close(history);
}
END_TEST

// The kind of GPU at hand is shown, whoever answers first; a command that cannot be started says
// so.
START_TEST(a_search_on_two_kinds_of_gpu_shows_the_one_at_hand) {
  const char *path = arena_printf(arena, "%s/history.db", folder);
  ClientOptions client = *simulated_workers(path);
  const char *other =
      cli_write_file(arena, "other.jsonl",
                     "{\"on\":\"start\",\"do\":\"hello\"}\n"
                     "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"NVIDIA A100-SXM4-80GB\"}\n"
                     "{\"on\":\"compile\",\"do\":\"simulate\"}\n"
                     "{\"on\":\"bench\",\"delay_ms\":20,\"do\":\"simulate\"}\n");
  const char *late = cli_write_file(
      arena, "late.jsonl",
      "{\"on\":\"start\",\"do\":\"hello\"}\n"
      "{\"on\":\"start\",\"delay_ms\":700,\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
      "{\"on\":\"compile\",\"do\":\"simulate\"}\n"
      "{\"on\":\"bench\",\"delay_ms\":20,\"do\":\"simulate\"}\n");
  const char *const a[] = {getenv("GEMMVIEW"), "worker", "--fake", late, NULL};
  const char *const b[] = {getenv("GEMMVIEW"), "worker", "--fake", other, NULL};
  const char *const *const both[] = {a, b};
  client.workers = both;
  client.n_workers = 2;
  AppOptions options = {
      .session = {.state = "M=512,N=512,K=512"}, .terminal = {.color = "256"}, .client = &client};
  VtProgram *p = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, run_explorer, &options);
  vt_expect(p, "KNOBS");
  vt_keys(p, "5 t");
  press_until(p, "t", "a search is under way");
  press_until(p, "2 5", "on NVIDIA A100-SXM4-80GB, simulated, 1 of 2 workers: ");
  vt_pump(p, 1500);  // the other kind joins in
  press_until(p, "2 5", "on NVIDIA A100-SXM4-80GB, simulated, 1 of 2 workers: ");
  vt_keys(p, "q q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
}
END_TEST

START_TEST(a_worker_that_cannot_be_started_says_so) {
  const char *const words[] = {"no-such-command", NULL};
  const char *const *const argv = words;
  const ClientOptions client = {.version = "test", .workers = &argv, .n_workers = 1};
  AppOptions options = {.terminal = {.color = "256"}, .client = &client};
  VtProgram *p = vt_start(24, 100, (VtEnv){.term = "xterm-256color"}, run_explorer, &options);
  vt_expect(p, "KNOBS");
  vt_keys(p, "5 t");
  press_until(p, "t", "\"no-such-command\" ended with status 127");
  vt_keys(p, "q q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
}
END_TEST

// Quitting in the middle of it waits for no more than what is under way.
START_TEST(quitting_ends_a_search) {
  const char *path = arena_printf(arena, "%s/history.db", folder);
  AppOptions options = {.session = {.state = "M=512,N=512,K=512"},
                        .terminal = {.color = "256"},
                        .client = simulated_workers(path)};
  VtProgram *p = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, run_explorer, &options);
  vt_expect(p, "KNOBS");
  vt_keys(p, "5 t");
  press_until(p, "t", "round, ");
  vt_keys(p, "q q");
  ck_assert(vt_wait_end(p));
  ck_assert(vt_restored(p));
  vt_finish(p);
}
END_TEST

// What is seen of a search of a minute, after 23 s.
static void see_a_search(Session *session) {
  Tuning *tuning = ARENA_NEW(arena, Tuning);
  TuneSeen *seen = &tuning->seen;
  *tuning = (Tuning){.started = true, .base = session->doc.now.schedule};
  *seen = (TuneSeen){.has_best = true,
                     .elapsed_s = 23,
                     .seconds = 60,
                     .gpu = "NVIDIA H200",
                     .n_workers = 1,
                     .n_tried = 240,
                     .n_compiled = 221,
                     .n_verified = 204,
                     .n_timed = 203,
                     .n_wrong = 1,
                     .n_failed = 3,
                     .cublas_ns = 2.7e6,
                     .best = session->doc.now.schedule,
                     .best_ns = 3e6,
                     .best_tflops = 45.8,
                     .best_ratio = 0.9,
                     .best_predicted_ns = 2.8e6,
                     .flop_per_ns = 137.4e6,
                     .n_steps = 5,
                     .n_points = 200,
                     .calibration = {.n = 160, .error = 0.11, .order = 0.9}};
  for (int i = 0; i < 5; i++) seen->step[i] = (TuneStep){1 + 3 * i, 9e6 / (i + 1) + 1.2e6};
  for (int i = 0; i < 200; i++) {
    seen->point[i].predicted_ns = 2.8e6 * (1 + 0.02 * i);
    seen->point[i].time_ns = 3e6 * (1 + 0.02 * i) * (1 + 0.3 * ((i * 7) % 10) / 10.0);
  }
  seen->best.value[KNOB_FM] = 4;  // the rung has 8
  session->background.tuning = tuning;
}

static const struct {
  const char *name;
  int rows, cols;
  bool ascii;
} tune_sizes[] = {{"measure_tune_80x24", 24, 80, false},
                  {"measure_tune_120x40", 40, 120, false},
                  {"measure_tune_ascii", 24, 80, true}};

START_TEST(the_picture_of_a_search) {
  Session *session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  session->ascii = tune_sizes[_i].ascii;
  Canvas *canvas =
      canvas_new(arena, tune_sizes[_i].rows, tune_sizes[_i].cols, tune_sizes[_i].ascii);
  see_a_search(session);
  view_show(session, view_find("measure"));
  ck_assert(drive_keys(session, canvas, "t", &diags));
  ck_assert(session->wishes.tune_seconds == 0);
  golden_check(arena_printf(arena, "screens/%s.txt", tune_sizes[_i].name),
               export_text(arena, canvas));
  ck_assert(drive_keys(session, canvas, "t", &diags));
  ck_assert(session->wishes.tune_seconds == 60);
  explorer_close(session);
}
END_TEST

Suite *suite_history_view(void) {
  Suite *suite = suite_create("history_view");
  TCase *tc = tcase_create("history");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, the_picture, 0, (int)(sizeof sizes / sizeof *sizes));
  tcase_add_test(tc, the_last_row_is_drawn);
  tcase_add_test(tc, enter_goes_to_the_state);
  tcase_add_test(tc, undo_brings_edits_back);
  tcase_add_test(tc, an_empty_history_says_why);
  tcase_add_test(tc, a_search_on_two_kinds_of_gpu_shows_the_one_at_hand);
  tcase_add_test(tc, a_worker_that_cannot_be_started_says_so);
  tcase_add_loop_test(tc, the_picture_of_a_search, 0,
                      (int)(sizeof tune_sizes / sizeof *tune_sizes));
  suite_add_tcase(suite, tc);
  if (!cli_has_program()) return suite;
  tcase_add_test(tc, the_command_prints_rows);
  tcase_add_test(tc, a_search_is_begun_watched_and_ended);
  tcase_add_test(tc, quitting_ends_a_search);
  tcase_add_test(tc, b_takes_what_was_just_measured);
  return suite;
}
