// A mistake is quoted harmlessly and answered with what was meant.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli_harness.h"
#include "stress.h"
#include "unclean.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test echoes"); }
static void teardown(void) { arena_free(arena); }

#define EVIL "'\033[2J\xe2\x80\xaex\xc2\x9b\x7f'"

// Each command with a bad word as its argument, behind another one, and as the value of options: of
// the six places each command has three, its neighbour in the table the others.
START_TEST(no_command_says_again_what_acts_on_a_terminal) {
  static const char *const places[] = {EVIL,      "x " EVIL,  "banks " EVIL,
                                       "--" EVIL, "-k " EVIL, "--worker " EVIL " -k FM=1"};
  if (!cli_has_program()) return;
  const char *name = cli_commands[_i].name;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (!stress_has_turn((int)i + _i, 2)) continue;
    const CliRun run =
        cli_shell(arena, arena_printf(arena, "timeout 20 $GEMMVIEW %s %s", name, places[i]));
    ck_assert_msg(!unclean(run.out) && !unclean(run.err), "%s %zu: %s", name, i,
                  str_sanitise(arena, run.err));
    if (run.status == 124 || i < 4) continue;
    ck_assert_msg(run.status < 128, "%s %zu: %d", name, i, run.status);
  }
}
END_TEST

static const struct {
  const char *command;
  int status;
  const char *says;
} mistakes[] = {
    {"--versoin", 2, "nearest: --version"},
    {"check -k 'BM=16 BN=16'", 2, "a comma stands between knobs; nearest: BM=16,BN=16"},
    {"export fp32/0", 2, "-k fp32/0"},
    {"export -o", 2, "-o needs a value"},
    {"sweep --knob FOO", 2, "gemmview knobs lists them"},
    {"tune 512x256x128", 2, "nearest: 512,256,128\n"},
    {"tune 512,256", 2, "nearest: 512,256,256\n"},
    {"tune x", 2, "nearest: 4096,4096,4096\n"},
    {"ladder fp32 --size 0", 2, "nearest: 4096,4096,4096"},
    {"bench-ui fp32", 2, "--ladder names one"},  // it pressed all keys of all rungs
    {"descriptor 4000004000010040", 0, "0x4000004000010040  sm_90, wgmma, read as hexadecimal\n"},
    {"descriptor 400000400001004A", 0, "0x400000400001004a  sm_90, wgmma, read as hexadecimal\n"},
    {"descriptor 0x4000004000010040", 0, "0x4000004000010040  sm_90, wgmma\n"},
    {"descriptor 4611686293305360448", 0, "0x4000004000010040  sm_90, wgmma, read as decimal\n"},
};

START_TEST(a_mistake_is_answered_with_what_was_meant) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, mistakes[_i].command);
  const bool said = strstr(run.err, mistakes[_i].says) || strstr(run.out, mistakes[_i].says);
  ck_assert_msg(said && (mistakes[_i].status == 0 || run.status == mistakes[_i].status),
                "%s: %d %s%s", mistakes[_i].command, run.status, run.err, run.out);
}
END_TEST

// A program whose notes turn lines around, printed again.
START_TEST(notes_of_a_program_are_harmless) {
  if (!cli_has_program()) return;
  const CliRun run =
      cli_shell(arena,
                "sh -c '$GEMMVIEW interpret -k M=64,N=64,K=16 --dump | sed \"s/^  for .*/&   "
                "\\\"\xe2\x80\xae\033x\\\"/\" | $GEMMVIEW interpret - --dump'");
  ck_assert_msg(!unclean(run.out) && !unclean(run.err), "%s", str_sanitise(arena, run.out));
}
END_TEST

// A loop of 65536 slabs in a file of two kilobytes took more than six minutes without a word.
START_TEST(a_huge_program_is_refused_by_its_estimate) {
  if (!cli_has_program()) return;
  const char *huge =
      "sh -c '$GEMMVIEW interpret -k BK=16,BM=32,BN=32,FM=2,FN=2,STAGE=11,"
      "M=64,N=64,K=64 --dump | sed s/k_o.in.0..4/k_o\\ in\\ 0..%s/ | timeout 2 "
      "$GEMMVIEW interpret - --runs 1%s'";
  CliRun run = cli_shell(arena, arena_printf(arena, huge, "1048576", ""));
  ck_assert_int_eq(run.status, 2);
  ck_assert_msg(strstr(run.err, "raise --minutes") != NULL, "%s", run.err);
  run = cli_shell(arena, arena_printf(arena, huge, "1048576", " --minutes 100000"));
  ck_assert_int_eq(run.status, 124);
  run = cli_shell(arena, arena_printf(arena, huge, "4", ""));
  ck_assert_msg(run.status == 0, "%s", run.err);
}
END_TEST

// Threads had the stack that the shell allows the program.
START_TEST(small_stacks_and_closed_descriptors_do_no_harm) {
  if (!cli_has_program()) return;
  CliRun run = cli_shell(arena,
                         "sh -c 'ulimit -s 512; timeout 60 $GEMMVIEW tune 64,64,64 --seconds "
                         "1 --worker false'");
  ck_assert_msg(run.status == 3, "%d %s", run.status, run.err);
  run = cli_shell(arena, "sh -c '$GEMMVIEW open example:sums.ptx --list <&- 2>&-'");
  ck_assert_int_eq(run.status, 0);
  ck_assert_ptr_nonnull(strstr(run.out, "sums"));
}
END_TEST

Suite *suite_echoes(void);
Suite *suite_echoes(void) {
  Suite *suite = suite_create("echoes");
  TCase *tests = tcase_create("echoes");
  tcase_set_timeout(tests, 300);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, no_command_says_again_what_acts_on_a_terminal, 0, cli_command_count);
  tcase_add_loop_test(tests, a_mistake_is_answered_with_what_was_meant, 0,
                      sizeof mistakes / sizeof *mistakes);
  tcase_add_test(tests, notes_of_a_program_are_harmless);
  tcase_add_test(tests, a_huge_program_is_refused_by_its_estimate);
  tcase_add_test(tests, small_stacks_and_closed_descriptors_do_no_harm);
  suite_add_tcase(suite, tests);
  return suite;
}
