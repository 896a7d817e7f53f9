// What the client records of timings, and when somebody's row is taken for a timing of one's own.
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client_harness.h"
#include "kernels/device/history/history.h"
#include "kernels/worker/result_json.h"

Suite *suite_client_history(void);

static char *db_path;

static void setup_history(void) {
  setup();
  db_path = arena_printf(arena, "%s.db", script_path);
}

static void teardown_history(void) {
  char *command = strdup(arena_printf(arena, "rm -f '%s'*", db_path));
  teardown();
  ck_assert_int_eq(system(command), 0);
  free(command);
}

static const char *bench_json(void) {
  Str text = str_new(arena);
  BenchResult result = {.ok = true,
                        .n_entries = 2,
                        .m = 64,
                        .n = 64,
                        .k = 64,
                        .gpu = "FAKE GPU",
                        .gpu_uuid = "GPU-fake",
                        .driver = "1",
                        .cuda = "13.0",
                        .date = "2025-01-31T12:00:00Z",
                        .method = "made up"};
  result.before.throttle_text = result.after.throttle_text = "none";
  for (int i = 0; i < 2; i++)
    result.entries[i] = (BenchEntry){.label = i ? "B" : "A",
                                     .ok = true,
                                     .time = {.median_ns = 1000 * (i + 1),
                                              .min_ns = 900,
                                              .p10_ns = 950,
                                              .p25_ns = 990,
                                              .p75_ns = 1010,
                                              .p90_ns = 1100,
                                              .n_samples = 10,
                                              .launches_per_sample = 1},
                                     .tflops = 0.5};
  result.reference.name = "cublasGemmEx";
  result.reference.library = "cuBLAS";
  bench_result_write_json(&text, &result);
  return text.text;
}

// A worker with a GPU that answers every timing with the same result.
static void start_timing(const char *path) {
  start_with(arena_printf(arena,
                          "{\"on\":\"start\",\"do\":\"hello\"}\n"
                          "{\"on\":\"start\",\"do\":\"machine\"}\n"
                          "{\"on\":\"bench\",\"do\":\"reply\",\"line\":{\"type\":\"result\","
                          "\"id\":0,\"what\":\"bench\",\"data\":%s}}\n",
                          bench_json()),
             (ClientOptions){.history_path = path});
}

// ---- recording ----------------------------------------------------------------------------------

START_TEST(both_sides_are_recorded) {
  Plan other = plan;
  other.cuda = "extern \"C\" __global__ void gemm(float *C) {}\n";
  start_timing(db_path);
  int64_t id = client_submit(client, &(ClientRequest){.kind = MESSAGE_BENCH,
                                                      .plan = &plan,
                                                      .plan_b = &other,
                                                      .state = "BM=1",
                                                      .state_b = "BM=2"});
  Outcome outcome = outcome_of(id);
  char error[256];
  client_history_error(client, error, sizeof error);
  ck_assert_msg(outcome.n_errors == 0, "%s", outcome.text);
  ck_assert_int_eq(outcome.n_results, 1);
  ck_assert_str_eq(error, "");
  Diags diags = diags_new(arena);
  HistoryRow row;
  History *history = history_open(arena, db_path, &diags);
  ck_assert(history_latest(history, arena, history_hash(arena, other.cuda),
                           history_problem(arena, &other), "GPU-fake", &row));
  ck_assert_str_eq(row.state, "BM=2");
  ck_assert(row.time_ns == 2000);
  ck_assert(row.spread > 0.009 && row.spread < 0.011);
  ck_assert(history_latest(history, arena, history_hash(arena, plan.cuda),
                           history_problem(arena, &plan), "GPU-fake", &row));
  ck_assert_str_eq(row.state, "BM=1");
  history_close(history);
}
END_TEST

START_TEST(no_history_is_no_trouble) {
  start_timing("/dev/null/none/history.db");
  int64_t id =
      client_submit(client, &(ClientRequest){.kind = MESSAGE_BENCH, .plan = &plan, .share = true});
  ck_assert_int_eq(outcome_of(id).n_results, 1);
  char error[256];
  client_history_error(client, error, sizeof error);
  ck_assert_ptr_nonnull(strstr(error, "going on without"));
}
END_TEST

// An error of writing stands until something was written, whatever is read meanwhile.
START_TEST(a_failure_to_write_is_not_forgotten) {
  char error[256];
  Diags diags = diags_new(arena);
  History *history = history_open(arena, db_path, &diags);
  history_close(history);
  sqlite3 *db = NULL;
  ck_assert_int_eq(sqlite3_open(db_path, &db), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  start_timing(db_path);
  outcome_of(client_submit(client, &(ClientRequest){.kind = MESSAGE_BENCH, .plan = &plan}));
  client_history_error(client, error, sizeof error);
  ck_assert_ptr_nonnull(strstr(error, "going on without"));
  outcome_of(client_ask_history(client, 10));
  client_history_error(client, error, sizeof error);
  ck_assert_ptr_nonnull(strstr(error, "going on without"));
  sqlite3_close(db);
}
END_TEST

// ---- sharing ------------------------------------------------------------------------------------

// The row of another user, as it must be to be shared.
static HistoryRow row_of_ana(void) {
  return (HistoryRow){.when_unix = (int64_t)time(NULL) - 180,
                      .user = "ana",
                      .host = "box",
                      .gpu = "FAKE GPU",
                      .gpu_uuid = "GPU-fake",
                      .state = "BM=1",
                      .text_hash = history_hash(arena, plan.cuda),
                      .problem = history_problem(arena, &plan),
                      .time_ns = 4000,
                      .cublas_time_ns = 3000,
                      .tflops = 0.125,
                      .status = "ok",
                      .method = "median of batches, L2 warm"};
}

static void add(HistoryRow row) {
  Diags diags = diags_new(arena);
  History *history = history_open(arena, db_path, &diags);
  ck_assert_msg(history_add(history, &row, &diags), "%s", diags_text(arena, &diags));
  history_close(history);
}

typedef struct Answer {
  bool shared, measured;
  int n_done, n_rows;
  char user[32];
  double time_ns;
} Answer;

static Answer answer_of(int64_t id) {
  Answer answer = {0};
  for (const double until = (double)now_us() + 1e3 * SOON_MS;
       !answer.n_done && (double)now_us() < until;) {
    ClientEvent *event = client_next(client, 100);
    if (event && event->id == id) {
      answer.n_done += event->message.kind == MESSAGE_DONE;
      answer.measured |= event->bench != NULL;
      if (event->row) {
        answer.shared = true;
        answer.n_rows = event->n_rows;
        if (event->n_rows) snprintf(answer.user, sizeof answer.user, "%s", event->row[0].user);
        if (event->n_rows) answer.time_ns = event->row[0].time_ns;
      }
    }
    client_event_free(event);
  }
  ck_assert_int_eq(answer.n_done, 1);
  return answer;
}

static Answer timed(ClientRequest request) {
  request.kind = MESSAGE_BENCH;
  request.plan = &plan;
  return answer_of(client_submit(client, &request));
}

// Until the worker has told of its GPU, nothing is known to be measured on it.
static void wait_for_gpu(void) {
  const int64_t until = now_us() + 1000 * SOON_MS;
  while (!status_of(0).machine_known && now_us() < until) usleep(2000);
  ck_assert(status_of(0).machine_known);
}

START_TEST(a_young_row_is_shared) {
  add(row_of_ana());
  start_timing(db_path);
  wait_for_gpu();
  const Answer answer = timed((ClientRequest){.share = true});
  ck_assert(answer.shared && !answer.measured);
  ck_assert_str_eq(answer.user, "ana");
  ck_assert_double_eq(answer.time_ns, 4000);
  ck_assert_int_eq(status_of(0).n_requests, 0);
  // Who asks again without sharing measures, and the row of that is the newest.
  const Answer again = timed((ClientRequest){.state = "BM=1"});
  ck_assert(again.measured && !again.shared);
}
END_TEST

typedef HistoryRow ChangeRow(HistoryRow row);
static HistoryRow older(HistoryRow row) {
  row.when_unix -= HISTORY_SHARED_SECONDS;
  return row;
}
static HistoryRow elsewhere(HistoryRow row) { return row.gpu_uuid = "GPU-other", row; }
static HistoryRow of_another_text(HistoryRow row) { return row.text_hash = "0", row; }
static HistoryRow of_another_problem(HistoryRow row) { return row.problem = "64x64x65", row; }
static HistoryRow wrong(HistoryRow row) { return row.status = "wrong", row; }
static HistoryRow flushed(HistoryRow row) {
  row.method = "median of batches, L2 flushed before each product";
  return row;
}
static HistoryRow hot(HistoryRow row) {
  row.method = "hot: batches of 300 ms, L2 warm";
  return row;
}
static HistoryRow alone(HistoryRow row) { return row.cublas_time_ns = 0, row; }
static ChangeRow *const changes[] = {
    older, elsewhere, of_another_text, of_another_problem, wrong, flushed, hot, alone};

START_TEST(other_rows_are_not) {
  add(changes[_i](row_of_ana()));
  start_timing(db_path);
  wait_for_gpu();
  const Answer answer = timed((ClientRequest){.share = true});
  ck_assert(answer.measured && !answer.shared);
}
END_TEST

static const ClientRequest particular[] = {{.share = true, .flush_l2 = true},
                                           {.share = true, .hot = true},
                                           {.share = true, .no_reference = true},
                                           {.share = true, .verify_only = true},
                                           {.share = true, .seed = 7},
                                           {.share = true, .plan_b = &plan},
                                           {.share = false}};

START_TEST(what_is_asked_for_in_particular_is_measured) {
  add(row_of_ana());
  start_timing(db_path);
  wait_for_gpu();
  const Answer answer = timed(particular[_i]);
  ck_assert(answer.measured && !answer.shared);
}
END_TEST

// ---- asking -------------------------------------------------------------------------------------

START_TEST(the_newest_rows_come_first) {
  HistoryRow ben = row_of_ana();
  ben.user = "ben";
  ben.when_unix++;
  add(row_of_ana());
  add(ben);
  start_timing(db_path);
  Answer answer = answer_of(client_ask_history(client, 10));
  ck_assert_int_eq(answer.n_rows, 2);
  ck_assert_str_eq(answer.user, "ben");
  answer = answer_of(client_ask_history(client, 1));
  ck_assert_int_eq(answer.n_rows, 1);
  ck_assert_int_eq(answer_of(client_ask_history(client, -5)).n_rows, 1);
}
END_TEST

// The best kernel of the problem on GPUs of that name, and what their rooflines were fitted to be.
START_TEST(what_is_known_of_a_problem_is_told) {
  HistoryRow slow = row_of_ana();
  slow.time_ns = 9000;
  add(slow);
  add(row_of_ana());
  Diags diags = diags_new(arena);
  History *history = history_open(arena, db_path, &diags);
  HistoryCalibration fit = {.gpu = "FAKE GPU", .fit = calibration_none()};
  fit.fit.n = 212;
  ck_assert(history_keep_calibration(history, &fit, &diags));
  history_close(history);
  start_timing(db_path);
  for (int other = 0; other < 2; other++) {
    const int64_t id =
        client_ask_known(client, other ? "ANOTHER" : "FAKE GPU", row_of_ana().problem);
    ClientEvent *event = client_next(client, SOON_MS);
    while (event && event->id != id) {
      client_event_free(event);
      event = client_next(client, SOON_MS);
    }
    ck_assert_ptr_nonnull(event);
    ck_assert_int_eq(event->n_rows, !other);
    ck_assert_int_eq(event->n_fits, !other);
    if (!other) ck_assert(event->row->time_ns == 4000 && event->fit->fit.n == 212);
    client_event_free(event);
  }
}
END_TEST

// No worker is needed for it, and no history is an answer too.
START_TEST(nothing_is_known_of_nothing) {
  start_with("{\"on\":\"start\",\"do\":\"hang\"}\n", (ClientOptions){0});
  const Answer answer = answer_of(client_ask_history(client, 10));
  ck_assert(answer.shared);
  ck_assert_int_eq(answer.n_rows, 0);
}
END_TEST

Suite *suite_client_history(void) {
  Suite *suite = suite_create("client_history");
  TCase *tests = tcase_create("client history");
  tcase_add_checked_fixture(tests, setup_history, teardown_history);
  tcase_set_timeout(tests, 30);
  tcase_add_test(tests, both_sides_are_recorded);
  tcase_add_test(tests, no_history_is_no_trouble);
  tcase_add_test(tests, a_failure_to_write_is_not_forgotten);
  tcase_add_test(tests, a_young_row_is_shared);
  tcase_add_loop_test(tests, other_rows_are_not, 0, (int)(sizeof changes / sizeof *changes));
  tcase_add_loop_test(tests, what_is_asked_for_in_particular_is_measured, 0,
                      (int)(sizeof particular / sizeof *particular));
  tcase_add_test(tests, the_newest_rows_come_first);
  tcase_add_test(tests, what_is_known_of_a_problem_is_told);
  tcase_add_test(tests, nothing_is_known_of_nothing);
  suite_add_tcase(suite, tests);
  return suite;
}
