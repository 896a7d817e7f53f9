// Names that lead to no file, files that never end, and files that several change at once.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/str.h"
#include "cli_harness.h"
#include "stress.h"

static Arena *arena;
static const char *fifo, *folder;
static void setup(void) {
  arena = arena_new("test files");
  folder = cli_own_folder(arena);
  fifo = arena_printf(arena, "%s/pipe.ptx", folder);
  unlink(fifo);
  ck_assert_int_eq(mkfifo(fifo, 0600), 0);
}
static void teardown(void) {
  unlink(fifo);
  arena_free(arena);
}

#define LAUNCH " --launch grid=1,block=32 --text "
// FIFO stands for the pipe that nobody writes into and nobody reads.
static const struct {
  const char *command;
  int status;
  const char *says;
} pipes[] = {
    {"open FIFO" LAUNCH, 2, "it is a pipe without a writer"},
    {"open FIFO --watch" LAUNCH, 2, "--watch needs a file"},
    {"open - --watch" LAUNCH, 2, "--watch needs a file"},
    {"open example:sums.ptx" LAUNCH "--arg file:FIFO --arg mem:4096 --arg mem:4096 --arg 1", 2,
     "it is a pipe without a writer"},
    {"open example:sums.ptx" LAUNCH
     "--arg mem:4096 --arg mem:4096 --arg mem:4096 --arg 1 --ncu FIFO",
     2, "it is a pipe without a writer"},
    {"config check FIFO", 2, "it is a pipe, not a file"},
    {"interpret FIFO", 2, "it is a pipe without a writer"},
    {"solve FIFO", 2, "it is a pipe without a writer"},
    {"tune --file FIFO", 2, "it is a pipe without a writer"},
    {"banks --batch FIFO", 2, "it is a pipe without a writer"},
    {"export -k fp32/0 -o FIFO", 2, "cannot be written"},
    {"teach banks --results FIFO", 2, ""},
    {"tune --file /dev/zero", 2, "it is a device, not a file"},
    {"banks --batch /dev/zero", 2, "it is a device, not a file"},
    {"interpret /dev/zero", 2, "it is a device, not a file"},
    {"interpret /", 2, "it is a folder, not a file"},
    {"open /dev/zero" LAUNCH, 2, "it is a device, not a file"},
    {"open - --list </dev/zero", 2, "- has more than 256 MiB"},
    {"tune --file - </dev/zero", 2, "line 1: a line has more than 65536 bytes"},
    {"banks --batch - </dev/zero", 2, "line 1: a line has more than 65536 bytes"},
};

static const char *with_fifo(const char *command) {
  Str out = str_new(arena);
  for (const char *at; (at = strstr(command, "FIFO")); command = at + 4) {
    str_add_bytes(&out, command, (size_t)(at - command));
    str_add(&out, fifo);
  }
  str_add(&out, command);
  return out.text;
}

START_TEST(nothing_waits_for_a_pipe) {
  if (!cli_has_program()) return;
  const int64_t since = clock_ms();
  const CliRun run = cli_shell(
      arena, arena_printf(arena, "sh -c 'timeout 20 $GEMMVIEW %s'", with_fifo(pipes[_i].command)));
  ck_assert_msg(run.status == pipes[_i].status, "%s: %d %s", pipes[_i].command, run.status,
                run.err);
  ck_assert_msg(strstr(run.err, pipes[_i].says) != NULL, "%s", run.err);
  ck_assert_double_lt((double)(clock_ms() - since), stress_wall(20000));
}
END_TEST

START_TEST(a_pipe_that_is_written_late_is_read) {
  if (!cli_has_program()) return;
  const CliRun run = cli_shell(
      arena, arena_printf(arena,
                          "(sleep 1; $GEMMVIEW interpret -k M=64,N=64,K=16 --dump > %s) & "
                          "$GEMMVIEW interpret %s --runs 1",
                          fifo, fifo));
  ck_assert_msg(run.status == 0, "%s%s", run.out, run.err);
}
END_TEST

START_TEST(a_configuration_that_is_a_pipe_is_refused) {
  static const char *const verbs[] = {"config", "config check", "config set theme=light"};
  if (!cli_has_program()) return;
  cli_shell(arena, arena_printf(arena,
                                "mkdir -p %s/c/gemmview; rm -f %s/c/gemmview/config.json; "
                                "mkfifo %s/c/gemmview/config.json",
                                folder, folder, folder));
  for (int i = 0; i < 3; i++) {
    const CliRun run = cli_shell(arena, arena_printf(arena,
                                                     "XDG_CONFIG_HOME=%s/c timeout 20 "
                                                     "$GEMMVIEW %s",
                                                     folder, verbs[i]));
    ck_assert_int_eq(run.status, 2);
    ck_assert_msg(strstr(run.err, "it is a pipe, not a file") != NULL, "%s", run.err);
  }
}
END_TEST

// A shell's <(…) is a pipe with somebody at its other end.
START_TEST(a_pipe_with_a_writer_is_read) {
  if (!cli_has_program()) return;
  const CliRun run = cli_shell(
      arena,
      "bash -c '$GEMMVIEW interpret <($GEMMVIEW interpret -k M=64,N=64,K=16 --dump) --runs 1'");
  ck_assert_msg(run.status == 0, "%s", run.err);
}
END_TEST

// A kernel's text, an argument's memory: from a pipe as from a file. `Sums` is what the file says.
START_TEST(a_kernel_comes_through_a_pipe_too) {
  static const char *const ways[] = {
      "open <(cat data/examples/sums.ptx)", "open - < data/examples/sums.ptx",
      "open - < <(sleep 1; cat data/examples/sums.ptx)",
      "open <(sleep 1; cat data/examples/sums.ptx)", "open /dev/stdin < data/examples/sums.ptx"};
  static const char *const launch =
      "--launch grid=1,block=128 --arg mem:4096 --arg mem:4096 --arg file:%s --arg 32 --text";
  if (!cli_has_program()) return;
  const char *memory = "<(head -c 65536 /dev/zero)";
  const CliRun file =
      cli_shell(arena, arena_printf(arena, "bash -c '$GEMMVIEW open data/examples/sums.ptx %s'",
                                    arena_printf(arena, launch, memory)));
  ck_assert_msg(strstr(file.out, "sums") && strstr(file.out, "wavefronts"), "%s%s", file.out,
                file.err);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    const CliRun run = cli_shell(arena, arena_printf(arena, "bash -c '$GEMMVIEW %s %s'", ways[i],
                                                     arena_printf(arena, launch, memory)));
    ck_assert_int_eq(run.status, file.status);
    const char *sums = strstr(run.out, "wavefronts"), *same = strstr(file.out, "wavefronts");
    ck_assert_msg(sums && str_equal(sums, same), "%s: %s%s", ways[i], run.out, run.err);
  }
  const CliRun late = cli_shell(
      arena,
      arena_printf(arena, "(sleep 1; cat data/examples/sums.ptx > %s) & $GEMMVIEW open %s --list",
                   fifo, fifo));
  ck_assert_msg(strstr(late.out, "sums(") != NULL, "%s", late.err);
}
END_TEST

// "F5" of "keys.global.F5=up", as in {"F5":"up"}; "theme":"light".
static const char *name_of(const char *setting) {
  const char *dot = strrchr(setting, '.'), *name = dot ? dot + 1 : setting;
  const char *value = strchr(name, '=') + 1;
  const char *quote = str_equal(value, "true") || str_equal(value, "false") ? "" : "\"";
  return arena_printf(arena, "\"%.*s\":%s%s%s", (int)(value - name) - 1, name, quote, value, quote);
}

// Eight at once, all of which ended with 0, kept two of their settings.
START_TEST(settings_made_at_once_are_all_kept) {
  static const char *const settings[] = {
      "theme=light",          "keys.global.F5=up",     "keys.global.F6=down",
      "keys.global.F7=top",   "keys.global.F8=bottom", "keys.global.F9=undo",
      "keys.global.F10=redo", "mouse=false",           "ascii=true",
      "color=never"};
  enum { N = sizeof settings / sizeof *settings };
  Str all = str_new(arena);
  if (!cli_has_program()) return;
  str_printf(&all, "export XDG_CONFIG_HOME=%s/s; ", folder);
  for (int i = 0; i < N; i++) str_printf(&all, "$GEMMVIEW config set %s & ", settings[i]);
  str_add(&all, "wait; $GEMMVIEW config --json");
  const CliRun run = cli_shell(arena, all.text);
  int kept = 0;
  for (int i = 0; i < N; i++) kept += strstr(run.out, name_of(settings[i])) != NULL;
  ck_assert_msg(kept == N, "%d kept: %s%s", kept, run.out, run.err);
}
END_TEST

// ---- the history --------------------------------------------------------------------------------

static CliRun with_history(const char *make, const char *command) {
  return cli_shell(
      arena,
      arena_printf(
          arena,
          "export GEMMVIEW=$(realpath $GEMMVIEW) XDG_STATE_HOME=%s/h; cd %s; rm -rf h; mkdir -p "
          "h/gemmview; %s; $GEMMVIEW %s",
          folder, folder, make, command));
}

START_TEST(a_damaged_history_is_told_of) {
  static const char *const commands[] = {"history", "history --json", "tuned --csv",
                                         "tuned --calibrations", "tuned --header h/lib"};
  if (!cli_has_program()) return;
  const char *damage = "head -c 9000 /dev/urandom > h/gemmview/history.db";
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    const CliRun run = with_history(damage, commands[i]);
    ck_assert_msg(
        strstr(run.err, "history.db was damaged: it was put aside as history.db.damaged-"),
        "%s: %s", commands[i], run.err);
  }
  const CliRun run =
      with_history(damage, "history 2>/dev/null >/dev/null; $GEMMVIEW doctor --worker false");
  ck_assert_msg(strstr(run.out, "damaged and put aside beside it: history.db.damaged-") != NULL,
                "%s", run.out);
}
END_TEST

START_TEST(what_is_no_history_is_called_what_it_is) {
  static const struct {
    const char *make, *says;
  } kinds[] = {{"ln -s /none/there h/gemmview/history.db", "it is a link that leads to no file"},
               {"mkfifo h/gemmview/history.db", "it is a pipe, not a file"},
               {"mkdir h/gemmview/history.db", "it is a folder, not a file"},
               {"ln -s /dev/null h/gemmview/history.db", "it is a device or a socket, not a file"}};
  if (!cli_has_program()) return;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const CliRun run = with_history(kinds[i].make, "history");
    ck_assert_int_eq(run.status, 3);
    ck_assert_msg(strstr(run.err, kinds[i].says) != NULL, "%s", run.err);
  }
}
END_TEST

// An option that was not typed was complained of, until --launch was given again.
START_TEST(an_illegal_option_is_not_remembered) {
  if (!cli_has_program()) return;
  const char *args =
      "--launch grid=1,block=32 --arg mem:4096 --arg mem:4096 --arg mem:4096 --arg 9";
  CliRun run = cli_run(arena, arena_printf(arena, "open example:sums.ptx %s --text", args));
  ck_assert_int_le(run.status, 1);
  run = cli_run(arena, arena_printf(arena, "open example:sums.ptx %s --text --slab As:1x1", args));
  ck_assert_int_eq(run.status, 2);
  run = cli_run(arena, "open example:sums.ptx --text");
  ck_assert_msg(run.status <= 1, "%s", run.err);
}
END_TEST

Suite *suite_files(void);
Suite *suite_files(void) {
  Suite *suite = suite_create("files");
  TCase *tests = tcase_create("files");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, nothing_waits_for_a_pipe, 0, sizeof pipes / sizeof *pipes);
  tcase_add_test(tests, a_pipe_that_is_written_late_is_read);
  tcase_add_test(tests, a_configuration_that_is_a_pipe_is_refused);
  tcase_add_test(tests, a_kernel_comes_through_a_pipe_too);
  tcase_add_test(tests, a_pipe_with_a_writer_is_read);
  tcase_add_test(tests, settings_made_at_once_are_all_kept);
  tcase_add_test(tests, a_damaged_history_is_told_of);
  tcase_add_test(tests, what_is_no_history_is_called_what_it_is);
  tcase_add_test(tests, an_illegal_option_is_not_remembered);
  suite_add_tcase(suite, tests);
  return suite;
}
