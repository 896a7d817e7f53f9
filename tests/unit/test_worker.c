// The worker itself: the real program with the real compiler (where there is one), and the server
// with children played by a shell, which can crash, hang, babble and hold a GPU that is not there.
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernels/worker/process.h"
#include "kernels/worker/protocol.h"
#include "kernels/worker/result_json.h"
#include "kernels/worker/worker.h"
#include "process_family.h"
#include "stress.h"
#include "worker_messages.h"

enum { SOON_MS = 60000 };

static Arena *arena;
static char folder[64];
static Process worker;
static Reaper reaper;
static Message machine;

typedef struct Outcome {
  Message result[4];
  int n_results, n_errors, n_queued, n_progress;
  Message error;
  bool ended;
} Outcome;

enum { OUTCOMES_MAX = 300 };
static Outcome outcomes[OUTCOMES_MAX];  // by id: requests may end in any order

static const char *program(void) {
  const char *path = getenv("GEMMVIEW");
  return path ? path : "build/plain/gemmview";
}

static void setup(void) {
  arena = arena_new("test worker");
  worker = process_none();
  memset(outcomes, 0, sizeof outcomes);
  strcpy(folder, "/tmp/gemmview-worker-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("XDG_CACHE_HOME", folder, 1);
  setenv("GEMMVIEW_CLASSROOM", folder, 1);
}

static void teardown(void) {
  process_kill(&worker, &reaper);
  for (int i = 0; i < 500 && reaper_collect(&reaper) > 0; i++) poll(NULL, 0, 2);
  unsetenv("XDG_CACHE_HOME");
  unsetenv("GEMMVIEW_CLASSROOM");
  char *command = arena_printf(arena, "rm -rf '%s'", folder);
  ck_assert_int_eq(system(command), 0);
  arena_free(arena);
}

// ---- talking ------------------------------------------------------------------------------------

static void send_text(const char *text) {
  out_queue_add(&worker.queue, text, strlen(text));
  while (!out_queue_is_empty(&worker.queue)) {
    struct pollfd out = {.fd = worker.in, .events = POLLOUT};
    ck_assert_int_eq(poll(&out, 1, SOON_MS), 1);
    ck_assert(out_queue_flush(&worker.queue, worker.in, true));
  }
}

static void send_message(const Message *message) {
  Str line = str_new(arena);
  message_write(&line, message);
  send_text(line.text);
}

// The next message that is no heartbeat; kind MESSAGE_N_KINDS at the end of the stream or time.
static Message next_message(int timeout_ms) {
  const int64_t until = clock_ms() + timeout_ms;
  Message said = {.kind = MESSAGE_N_KINDS};
  char *line = NULL;
  size_t n = 0;
  while (clock_ms() < until) {
    while (line_reader_next(&worker.lines, &line, &n) == LINE_READY) {
      Diags diags = diags_new(arena);
      ck_assert_msg(message_read(arena, line, n, FROM_WORKER, &said, &diags), "%s: %s", line,
                    diags_text(arena, &diags));
      if (said.kind == MESSAGE_MACHINE) machine = said;
      if (said.kind != MESSAGE_HEARTBEAT && said.kind != MESSAGE_MACHINE) return said;
    }
    struct pollfd in = {.fd = worker.out, .events = POLLIN};
    if (poll(&in, 1, 50) > 0 && line_reader_fill(&worker.lines, worker.out) == 0) break;
  }
  return (Message){.kind = MESSAGE_N_KINDS};
}

static void start_program(void) {
  const char *argv[] = {program(), "worker", NULL};
  const ProcessOptions options = {.new_session = true, .line_limit = PROTOCOL_LINE_MAX};
  machine = message_new(MESSAGE_MACHINE);
  ck_assert(process_start(&worker, argv, &options));
  Message hello = next_message(SOON_MS);
  ck_assert_int_eq(hello.kind, MESSAGE_HELLO);
  ck_assert_int_eq(hello.protocol, PROTOCOL_VERSION);
}

static void wait_for_machine(void) {
  const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
  while (machine.has == 0 && clock_ms() < until) next_message(50);
  ck_assert(machine.has != 0);
}

static void note_said(Outcome *outcome, const Message *said) {
  outcome->ended |= said->kind == MESSAGE_DONE;
  outcome->n_queued += said->kind == MESSAGE_QUEUED;
  outcome->n_progress += said->kind == MESSAGE_PROGRESS;
  if (said->kind == MESSAGE_ERROR) {
    outcome->error = *said;
    outcome->n_errors++;
  }
  if (said->kind == MESSAGE_RESULT && outcome->n_results < 4)
    outcome->result[outcome->n_results++] = *said;
}

// All that was said of a request, once it has ended; what is said of others meanwhile is kept.
static Outcome outcome_of(int64_t id) {
  while (!outcomes[id].ended) {
    Message said = next_message(SOON_MS);
    ck_assert_msg(said.kind != MESSAGE_N_KINDS, "request %lld never ended: %s", (long long)id,
                  worker.words);
    if (said.id >= 0 && said.id < OUTCOMES_MAX) note_said(&outcomes[said.id], &said);
  }
  Outcome outcome = outcomes[id];
  outcomes[id] = (Outcome){0};
  return outcome;
}

static void send_compile(int64_t id, const char *cuda, const char *want) {
  Message ask = worker_compile_message(arena, id, cuda, want);
  send_message(&ask);
}

// ---- the real program ---------------------------------------------------------------------------

START_TEST(test_compile_and_cache) {
  start_program();
  wait_for_machine();
  for (int round = 0; round < 2; round++) {
    send_compile(1 + round, worker_good_cuda, "ptx,cubin");
    Outcome outcome = outcome_of(1 + round);
    if (!machine.can_compile) return;
    ck_assert_int_eq(outcome.n_errors, 0);
    ck_assert_int_eq(outcome.n_results, 2);
    ck_assert_str_eq(outcome.result[0].what, "ptx");
    ck_assert_str_eq(outcome.result[1].what, "cubin");
    ck_assert(outcome.result[0].cached == (round == 1));
    ck_assert(outcome.result[1].cached == (round == 1));
    Diags diags = diags_new(arena);
    CompileResult *ptx = compile_result_read_json(arena, outcome.result[0].data, &diags);
    CompileResult *cubin = compile_result_read_json(arena, outcome.result[1].data, &diags);
    ck_assert(ptx && ptx->ok && strstr(ptx->ptx, ".entry gemm"));
    ck_assert(cubin && cubin->ok && cubin->n_kernels == 1 && cubin->kernels[0].registers > 0);
  }
}
END_TEST

// A damaged cache entry is a miss, not a wrong answer.
START_TEST(test_damaged_cache) {
  start_program();
  wait_for_machine();
  if (!machine.can_compile) return;
  send_compile(1, worker_good_cuda, "ptx");
  ck_assert_int_eq(outcome_of(1).n_results, 1);
  ck_assert_int_eq(system(arena_printf(arena,
                                       "cd '%s/gemmview/compile' && for f in *; do "
                                       "truncate -s -5 $f; done",
                                       folder)),
                   0);
  send_compile(2, worker_good_cuda, "ptx");
  Outcome outcome = outcome_of(2);
  ck_assert_int_eq(outcome.n_results, 1);
  ck_assert(!outcome.result[0].cached);
}
END_TEST

START_TEST(test_wrong_text_is_a_result) {
  start_program();
  wait_for_machine();
  if (!machine.can_compile) return;
  send_compile(1, "extern \"C\" __global__ void gemm(float *C) { C = nonsense; }\n", "ptx,cubin");
  Outcome outcome = outcome_of(1);
  ck_assert_int_eq(outcome.n_errors, 0);
  ck_assert_int_eq(outcome.n_results, 1);
  Diags diags = diags_new(arena);
  CompileResult *result = compile_result_read_json(arena, outcome.result[0].data, &diags);
  ck_assert(result && !result->ok && strstr(result->log, "nonsense"));
}
END_TEST

static const struct {
  const char *line, *says;
} bad_lines[] = {
    {"garbage", "value"},
    {"{\"type\":\"done\",\"id\":1}", "never sends"},
    {"{\"type\":\"compile\",\"id\":5,\"plan\":{},\"want\":\"ptx\"}", "cuda"},
    {"{\"type\":\"hello\",\"protocol\":1,\"version\":\"x\"}", "protocol 11"},
};

START_TEST(test_bad_lines_are_answered) {
  start_program();
  for (size_t i = 0; i < sizeof bad_lines / sizeof *bad_lines; i++) {
    send_text(arena_printf(arena, "%s\n", bad_lines[i].line));
    Message said = next_message(SOON_MS);
    if (said.kind == MESSAGE_DONE) said = next_message(SOON_MS);
    ck_assert_int_eq(said.kind, MESSAGE_ERROR);
    ck_assert_msg(strstr(said.text, bad_lines[i].says) != NULL, "%s", said.text);
  }
  send_compile(9, worker_good_cuda, "ptx,odd");
  Outcome outcome = outcome_of(9);
  ck_assert_str_eq(error_kind_name(outcome.error.error), "protocol");
  ck_assert_ptr_nonnull(strstr(outcome.error.text, "odd"));
}
END_TEST

// A text that keeps the compiler busy for minutes is ended at its deadline, and the next one works.
START_TEST(test_hostile_text_meets_its_deadline) {
  static const char slow[] =
      "template <int n, long m> struct F {\n"
      "  static constexpr long v = F<n - 1, 2 * m>::v + F<n - 1, 2 * m + 1>::v;\n"
      "};\n"
      "template <long m> struct F<0, m> { static constexpr long v = m; };\n"
      "extern \"C\" __global__ void gemm(float *C) { C[0] = (float)F<24, 1>::v; }\n";
  start_program();
  wait_for_machine();
  if (!machine.can_compile) return;
  Message ask = worker_compile_message(arena, 1, slow, "ptx");
  MESSAGE_SET(ask, deadline_ms, 400);
  const int64_t since = clock_ms();
  send_message(&ask);
  Outcome outcome = outcome_of(1);
  ck_assert_msg((double)(clock_ms() - since) < stress_wall(2000), "ended after %lld ms",
                (long long)(clock_ms() - since));
  ck_assert_int_eq(outcome.n_errors, 1);
  ck_assert_str_eq(error_kind_name(outcome.error.error), "timeout");
  send_compile(2, worker_good_cuda, "ptx");
  ck_assert_int_eq(outcome_of(2).n_results, 1);
}
END_TEST

// stdin ends, or the worker is killed, while children work and stand by: nothing is left of it.
START_TEST(test_whole_worker_ends) {
  start_program();
  wait_for_machine();
  for (int64_t id = 1; id < 9; id++)
    send_compile(id, arena_printf(arena, "%s// %d\n", worker_good_cuda, (int)id), "ptx,cubin,sass");
  poll(NULL, 0, 100);
  const pid_t pid = worker.pid;
  ck_assert_int_gt(family_count(pid), 1);
  if (_i == 0) {
    close(worker.in);
    worker.in = -1;
  } else {
    kill(pid, SIGKILL);
  }
  family_check_ends(pid, 1000);
}
END_TEST

// ---- the server with children of the test's making ----------------------------------------------

// The fake children: a machine with a GPU, a compiler that is always content, and $bench. Answers
// say whose they are, and the driver's version who found the machine.
static const char children[] =
    "take() { read line || exit 0; id=${line#*\\\"id\\\":}; id=${id%%,*}; }\n"
    "answer() { echo \"{\\\"type\\\":\\\"result\\\",\\\"id\\\":$id,\\\"what\\\":\\\"ptx\\\",\"\\\n"
    "\"\\\"data\\\":{\\\"pid\\\":$$}}\"; echo \"{\\\"type\\\":\\\"done\\\",\\\"id\\\":$id}\"; }\n"
    "serve() { while read line; do id=${line#*\\\"id\\\":}; id=${id%%[,\\}]*}; eval \"$BENCH\"\n"
    "  echo \"{\\\"type\\\":\\\"done\\\",\\\"id\\\":$id}\"; done; }\n"
    "case $1 in\n"
    "machine) echo '{\"type\":\"machine\",\"can_compile\":true,\"nvrtc\":\"fake\",\"gpu\":\"FAKE\","
    "\"gpu_uuid\":\"GPU-fake\",\"driver\":\"'$$'\"}'; eval \"$FOUND\"; serve;;\n"
    "compile) take; eval \"$COMPILE\"\n"
    "  echo \"{\\\"type\\\":\\\"done\\\",\\\"id\\\":$id}\";;\n"
    "bench) serve;;\n"
    "esac\n";

static _Noreturn void child_serve(const int to[2], const int from[2]) {
  static const char *const argv[] = {"/bin/sh", "-c", children, NULL};
  const WorkerOptions options = {.version = "test", .job_argv = argv, .idle_ms = 300};
  setsid();
  dup2(to[0], 0);
  dup2(from[1], 1);
  close(to[1]);
  close(from[0]);
  _exit(worker_run(&options));
}

static void start_server(const char *compile, const char *bench) {
  int to[2], from[2];
  setenv("COMPILE", compile, 1);
  setenv("BENCH", bench, 1);
  ck_assert_int_eq(pipe2(to, O_CLOEXEC), 0);
  ck_assert_int_eq(pipe2(from, O_CLOEXEC), 0);
  worker.pid = fork();
  ck_assert_int_ge(worker.pid, 0);
  if (worker.pid == 0) child_serve(to, from);
  close(to[0]);
  close(from[1]);
  worker.in = to[1];
  worker.out = from[0];
  worker.lines = line_reader_new(PROTOCOL_LINE_MAX);
  ck_assert_int_eq(next_message(SOON_MS).kind, MESSAGE_HELLO);
}

static void send_bench(int64_t id) {
  Message ask = worker_bench_message(arena, id);
  send_message(&ask);
}

START_TEST(test_bench_goes_through_both_children) {
  start_server(
      "", "echo \"{\\\"type\\\":\\\"progress\\\",\\\"id\\\":$id,\\\"stage\\\":\\\"time\\\"}\"");
  for (int64_t id = 1; id <= 3; id++) {
    send_bench(id);
    Outcome outcome = outcome_of(id);
    ck_assert_int_eq(outcome.n_errors, 0);
    ck_assert_int_eq(outcome.n_progress, 1);
  }
}
END_TEST

// What has found the GPU times on it; where it is gone by then another does.
START_TEST(test_who_finds_the_gpu_times) {
  static const char *const found[] = {"", "exit 1"};
  setenv("FOUND", found[_i], 1);
  start_server("", "answer; continue");
  wait_for_machine();
  send_bench(1);
  const Outcome outcome = outcome_of(1);
  ck_assert_msg(outcome.n_errors == 0, "%s", outcome.error.text);
  const char *pid = strstr(outcome.result[0].data, ":") + 1;
  ck_assert_int_eq(strncmp(pid, machine.driver, strlen(machine.driver)) == 0, _i == 0);
  unsetenv("FOUND");
}
END_TEST

// Compilers take every core; what times on the GPU comes before them.
START_TEST(test_compilers_stand_behind) {
  char compile[64], bench[64];
  const int here = getpriority(PRIO_PROCESS, 0);
  snprintf(compile, sizeof compile, "[ $(nice) -ge %d ] || exit 9", here < 9 ? here + 10 : 19);
  snprintf(bench, sizeof bench, "[ $(nice) -eq %d ] || exit 9", here);
  start_server(compile, bench);
  send_bench(1);
  const Outcome outcome = outcome_of(1);
  ck_assert_msg(outcome.n_errors == 0, "%s", outcome.error.text);
}
END_TEST

static const struct {
  const char *compile, *bench, *says, *error;
} bad_children[] = {
    {"kill -9 $$", "", "the compiler ended by signal 9", "compiler"},
    {"echo last words >&2; exit 7", "", "ended with status 7: last words", "compiler"},
    {"echo no message", "", "broke the protocol", "compiler"},
    {"echo '{\"type\":\"done\",\"id\":4711}'", "", "broke the protocol", "compiler"},
    {"", "kill -11 $$", "the process on the GPU ended by signal 11", "bench"},
    {"", "printf half; exit 0", "ended with status 0", "bench"},
    {"", "echo '[]'", "broke the protocol", "bench"},
    {"", "sleep 100", "deadline of 0.3 s", "timeout"},
};

START_TEST(test_bad_child) {
  start_server(bad_children[_i].compile, bad_children[_i].bench);
  Message ask = worker_bench_message(arena, 1);
  MESSAGE_SET(ask, deadline_ms, 300);
  send_message(&ask);
  Outcome outcome = outcome_of(1);
  ck_assert_int_eq(outcome.n_errors, 1);
  ck_assert_msg(strstr(outcome.error.text, bad_children[_i].says) != NULL, "%s",
                outcome.error.text);
  ck_assert_str_eq(error_kind_name(outcome.error.error), bad_children[_i].error);
  // The server is alive and serves on, with a new child.
  ask.id = 2;
  send_message(&ask);
  outcome_of(2);
}
END_TEST

// Compiles one after the other go to one process; one that ends behind its done takes no request
// along.
START_TEST(test_a_compiler_stays) {
  static const char *const ways[] = {"while answer; do take; done", "answer; exit 1"};
  const char *data[3];
  start_server(ways[_i], "");
  for (int64_t id = 1; id <= 3; id++) {
    send_compile(id, worker_good_cuda, "ptx");
    const Outcome outcome = outcome_of(id);
    ck_assert_msg(outcome.n_errors == 0, "%d: %s", (int)id, outcome.error.text);
    ck_assert_int_eq(outcome.n_results, 1);
    data[id - 1] = outcome.result[0].data;
  }
  ck_assert(str_equal(data[0], data[1]) == (_i == 0) && str_equal(data[1], data[2]) == (_i == 0));
}
END_TEST

// A child that ends right after its done (its context is lost) does not take the next request
// along.
START_TEST(test_lost_context) {
  start_server("", "echo \"{\\\"type\\\":\\\"done\\\",\\\"id\\\":$id}\"; exit 1");
  for (int64_t id = 1; id <= 6; id++) send_bench(id);
  for (int64_t id = 1; id <= 6; id++) {
    Outcome outcome = outcome_of(id);
    ck_assert_msg(outcome.n_errors == 0, "%d: %s", (int)id, outcome.error.text);
  }
}
END_TEST

// A probe goes to the GPU's child as it is; no compiler is asked before.
START_TEST(test_probe_goes_to_the_gpu) {
  start_server("kill -9 $$",
               "case $line in *lds32*) echo \"{\\\"type\\\":\\\"progress\\\",\\\"id\\\":$id,"
               "\\\"stage\\\":\\\"probe\\\"}\";; esac");
  Message ask = message_new(MESSAGE_PROBE);
  MESSAGE_SET(ask, id, 1);
  MESSAGE_SET(ask, probe, "{\"accesses\":[{\"op\":\"lds32\",\"addr\":[0]}]}");
  send_message(&ask);
  Outcome outcome = outcome_of(1);
  ck_assert_int_eq(outcome.n_errors, 0);
  ck_assert_int_eq(outcome.n_progress, 1);
  send_bench(2);
  ck_assert_str_eq(error_kind_name(outcome_of(2).error.error), "compiler");
}
END_TEST

// The real children: without a GPU the request is answered, with one a bad request is refused.
START_TEST(test_probe_of_nothing) {
  start_program();
  wait_for_machine();
  Message ask = message_new(MESSAGE_PROBE);
  MESSAGE_SET(ask, id, 1);
  MESSAGE_SET(ask, probe, "{\"accesses\":[]}");
  send_message(&ask);
  Outcome outcome = outcome_of(1);
  ck_assert_int_eq(outcome.n_errors, 1);
  ck_assert_str_eq(error_kind_name(outcome.error.error),
                   MESSAGE_HAS(machine, gpu) ? "plan" : "no_gpu");
}
END_TEST

START_TEST(test_queue_places) {
  start_server("", "sleep 0.15");
  for (int64_t id = 1; id <= 4; id++) send_bench(id);
  Outcome outcome = outcome_of(4);
  ck_assert_int_eq(outcome.n_errors, 0);
  ck_assert_int_ge(outcome.n_queued, 2);
}
END_TEST

static void send_cancel(int64_t id) {
  Message cancel = message_new(MESSAGE_CANCEL);
  MESSAGE_SET(cancel, id, id);
  send_message(&cancel);
}

START_TEST(test_cancel) {
  start_server("sleep 100", "");
  send_bench(1);
  poll(NULL, 0, 300);
  send_cancel(1);
  ck_assert_str_eq(error_kind_name(outcome_of(1).error.error), "cancelled");
  send_cancel(1);  // nobody's id any more
}
END_TEST

// One that does not listen is ended a second later.
START_TEST(test_cancel_of_a_deaf_run) {
  start_server(
      "",
      "echo \"{\\\"type\\\":\\\"progress\\\",\\\"id\\\":$id,\\\"stage\\\":\\\"time\\\"}\"; sleep "
      "100");
  send_bench(1);
  Message said = next_message(SOON_MS);
  ck_assert_int_eq(said.kind, MESSAGE_PROGRESS);
  const int64_t since = clock_ms();
  send_cancel(1);
  ck_assert_str_eq(error_kind_name(outcome_of(1).error.error), "cancelled");
  ck_assert_double_lt((double)(clock_ms() - since), stress_wall(2500));
}
END_TEST

START_TEST(test_supersede) {
  start_server("sleep 100", "");
  Message ask = worker_compile_message(arena, 1, worker_good_cuda, "ptx");
  ask.has &= ~(UINT64_C(1) << FIELD_keep);
  send_message(&ask);
  send_compile(2, worker_good_cuda, "ptx");
  ask.id = 3;
  send_message(&ask);
  ck_assert_str_eq(error_kind_name(outcome_of(1).error.error), "superseded");
  send_cancel(3);
  ck_assert_str_eq(error_kind_name(outcome_of(3).error.error), "cancelled");
  send_cancel(2);
  ck_assert_str_eq(error_kind_name(outcome_of(2).error.error), "cancelled");
}
END_TEST

// The pid of the fake child that took the nth request, from the file in which children sign.
static pid_t pid_that_took(int nth) {
  char *path = arena_printf(arena, "%s/pids", folder);
  FILE *file = fopen(path, "re");
  ck_assert_ptr_nonnull(file);
  int pid = 0;
  for (int i = 0; i <= nth; i++) ck_assert_int_eq(fscanf(file, "%d", &pid), 1);
  fclose(file);
  return (pid_t)pid;
}

static bool lives(pid_t pid) { return kill(pid, 0) == 0; }

// Without work the child on the GPU goes, and another comes with work. The child is asked for by
// its pid: on a loaded machine it may be gone before anybody can count processes.
START_TEST(test_idle_child_goes) {
  start_server("", "echo $$ >> \"$XDG_CACHE_HOME/pids\"");
  send_bench(1);
  outcome_of(1);
  const pid_t first = pid_that_took(0);
  const int64_t until = clock_ms() + (int64_t)stress_wall(SOON_MS);
  while (lives(first) && clock_ms() < until) poll(NULL, 0, 10);
  ck_assert(!lives(first));
  send_bench(2);
  ck_assert_int_eq(outcome_of(2).n_errors, 0);
  ck_assert_int_ne(pid_that_took(1), first);
}
END_TEST

START_TEST(test_same_id_twice) {
  start_server("sleep 100", "");
  send_bench(1);
  send_bench(1);
  Message said = next_message(SOON_MS);
  ck_assert_int_eq(said.kind, MESSAGE_ERROR);
  ck_assert_ptr_nonnull(strstr(said.text, "another request uses this id"));
}
END_TEST

START_TEST(test_too_many) {
  start_server("sleep 100", "");
  for (int64_t id = 1; id <= 257; id++) send_compile(id, worker_good_cuda, "ptx");
  ck_assert_str_eq(error_kind_name(outcome_of(257).error.error), "full");
}
END_TEST

// A hundred lines that are no messages are no client; fewer are answered one by one.
START_TEST(test_babbling_client) {
  start_server("", "");
  for (int i = 0; i < 100; i++) send_text("\x1b[2J{\n");
  int n = 0;
  while (next_message(2000).kind == MESSAGE_ERROR) n++;
  ck_assert_int_le(n, 100);
  family_check_ends(worker.pid, 1000);
}
END_TEST

Suite *suite_worker(void);
Suite *suite_worker(void) {
  Suite *suite = suite_create("worker");
  TCase *tests = tcase_create("worker");
  tcase_set_timeout(tests, 600);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_compile_and_cache);
  tcase_add_test(tests, test_damaged_cache);
  tcase_add_test(tests, test_wrong_text_is_a_result);
  tcase_add_test(tests, test_bad_lines_are_answered);
  tcase_add_test(tests, test_hostile_text_meets_its_deadline);
  tcase_add_loop_test(tests, test_whole_worker_ends, 0, 2);
  tcase_add_test(tests, test_bench_goes_through_both_children);
  tcase_add_loop_test(tests, test_who_finds_the_gpu_times, 0, 2);
  tcase_add_test(tests, test_compilers_stand_behind);
  tcase_add_loop_test(tests, test_a_compiler_stays, 0, 2);
  tcase_add_loop_test(tests, test_bad_child, 0, (int)(sizeof bad_children / sizeof *bad_children));
  tcase_add_loop_test(tests, test_lost_context, 0, 3);
  tcase_add_test(tests, test_probe_goes_to_the_gpu);
  tcase_add_test(tests, test_probe_of_nothing);
  tcase_add_test(tests, test_queue_places);
  tcase_add_test(tests, test_cancel);
  tcase_add_test(tests, test_cancel_of_a_deaf_run);
  tcase_add_test(tests, test_supersede);
  tcase_add_test(tests, test_idle_child_goes);
  tcase_add_test(tests, test_same_id_twice);
  tcase_add_test(tests, test_too_many);
  tcase_add_test(tests, test_babbling_client);
  suite_add_tcase(suite, tests);
  return suite;
}
