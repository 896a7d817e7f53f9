// Tools that want too much, and a gemmview that ends before its tool does.
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "cli_harness.h"
#include "kernels/toolchain/tool.h"
#include "kernels/toolchain/tool_keeper.h"
#include "stress.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test tool"); }
static void teardown(void) { arena_free(arena); }

START_TEST(every_argument_arrives) {
  enum { WORDS = 300 };
  const char *argv[WORDS + 2] = {"/bin/echo"};
  Str expected = str_new(arena);
  for (int i = 1; i <= WORDS; i++) {
    argv[i] = arena_printf(arena, "-D%d", i);
    str_printf(&expected, "%s%s", argv[i], i < WORDS ? " " : "\n");
  }
  const ToolResult run = tool_run(arena, argv, "", 0, NULL, 20);
  ck_assert_str_eq(run.output, expected.text);
}
END_TEST

// dd asks for its block before it reads, and reads nothing here.
START_TEST(memory_has_a_limit_that_is_told) {
  const char *const argv[] = {"/bin/dd", "if=/dev/null", "bs=64G", "count=1", NULL};
  const ToolResult run = tool_run(arena, argv, "", 0, NULL, 20);
  ck_assert(!run.ok && run.limited);
  ck_assert_str_eq(run.error,
                   arena_printf(arena, "/bin/dd needs more memory than its limit of %.1f GiB",
                                (double)tool_memory_bytes() / (1 << 30)));
}
END_TEST

START_TEST(its_temporary_files_lie_in_its_folder) {
  const char *folder = tool_folder(arena);
  const char *const argv[] = {"/bin/sh", "-c", "mktemp && mktemp", NULL};
  const ToolResult run = tool_run(arena, argv, "", 0, folder, 20);
  ck_assert(run.ok && str_starts(run.output, folder));
  tool_folder_remove(folder);
  ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

static bool comes_true(bool (*holds)(const void *), const void *of) {
  const int64_t until = clock_ms() + (int64_t)stress_wall(20000);
  while (!holds(of) && clock_ms() < until) poll(NULL, 0, 5);
  return holds(of);
}
static bool is_there(const void *path) { return access(path, F_OK) == 0; }
static bool is_gone(const void *path) { return access(path, F_OK) != 0; }
static bool group_is_gone(const void *leader) { return kill(-*(const pid_t *)leader, 0) != 0; }

static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGSEGV};
enum { N_SIGNALS = sizeof signals / sizeof *signals };

// A process that runs a tool which ignores signals, starts another one and never ends.
static pid_t start_user(const char *folder) {
  const pid_t user = fork();
  if (user != 0) return user;
  for (int i = 0; i < N_SIGNALS; i++) signal(signals[i], SIG_DFL);  // the framework has handlers
  const char *const argv[] = {"/bin/sh", "-c",
                              "trap '' TERM INT HUP; sleep 600 & echo $$ > $TMPDIR/a; mv $TMPDIR/a "
                              "$TMPDIR/leader; sleep 600",
                              NULL};
  tool_run(arena, argv, "", 0, folder, 600);
  _exit(0);
}

START_TEST(a_tool_ends_with_whoever_runs_it) {
  const char *folder = tool_folder(arena);
  const char *leader = arena_printf(arena, "%s/leader", folder);
  const pid_t user = start_user(folder);
  ck_assert(comes_true(is_there, leader));
  FILE *file = fopen(leader, "r");
  int group = 0;
  ck_assert(file && fscanf(file, "%d", &group) == 1);
  fclose(file);
  ck_assert_int_gt(user, 0);
  ck_assert_int_gt(group, 1);
  const pid_t pid = group;
  ck_assert(!group_is_gone(&pid));
  kill(user, signals[_i]);
  waitpid(user, NULL, 0);
  ck_assert_msg(comes_true(group_is_gone, &pid), "the tool lives on");
  ck_assert_msg(comes_true(is_gone, folder), "%s stays", folder);
}
END_TEST

// ---- through the program ------------------------------------------------------------------------

static const char *with_nvcc(const char *script) {
  const char *path =
      cli_write_file(arena, "gemmview-fake-nvcc", arena_printf(arena, "#!/bin/sh\n%s\n", script));
  cli_shell(arena, arena_printf(arena, "chmod +x %s", path));
  return arena_printf(arena, "GEMMVIEW_NVCC=%s $GEMMVIEW open %s --launch grid=1,block=32 --text",
                      path, cli_write_file(arena, "gemmview-tool.cu", "__global__ void k() {}\n"));
}

START_TEST(all_flags_of_open_reach_nvcc) {
  Str flags = str_new(arena);
  if (!cli_has_program()) return;
  for (int i = 1; i <= 100; i++) str_printf(&flags, " -DX%d", i);
  const CliRun run = cli_shell(
      arena, arena_printf(arena, "%s --%s", with_nvcc("echo \"$@\"; exit 1"), flags.text));
  ck_assert_int_eq(run.status, 4);
  ck_assert_msg(strstr(run.err, flags.text) != NULL, "%s", run.err);
}
END_TEST

Suite *suite_tool(void);
Suite *suite_tool(void) {
  Suite *suite = suite_create("tool");
  TCase *tests = tcase_create("tool");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, every_argument_arrives);
  tcase_add_test(tests, memory_has_a_limit_that_is_told);
  tcase_add_test(tests, its_temporary_files_lie_in_its_folder);
  tcase_add_loop_test(tests, a_tool_ends_with_whoever_runs_it, 0, N_SIGNALS);
  tcase_add_test(tests, all_flags_of_open_reach_nvcc);
  suite_add_tcase(suite, tests);
  return suite;
}
