// --every-order at every command that has it: the first line, the exit status, the JSON.
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli_harness.h"

Suite *suite_every_doors(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test every doors"); }
static void teardown(void) { arena_free(arena); }

#define RING "--launch grid=1,block=160 --arg mem:8192 --arg mem:8192 --arg 5"

static const struct {
  const char *command, *verdict;
  int status, strict;
} doors[] = {
    {"check -k hopper/roles", "proved", 0, 0},
    {"interpret -k hopper/roles", "proved", 0, 0},
    {"interpret -k fp16/roles --break more_arrivals", "found", 1, 1},
    {"interpret -k fp16/tma --break phase", "proved", 0, 0},
    {"open tests/data/orders/ring_sound.ptx " RING, "proved", 0, 0},
    {"open tests/data/orders/ring_more.ptx " RING, "found", 1, 1},
    {"open tests/data/orders/ring_grid_late.ptx " RING, "bounded", 0, 1},
};

START_TEST(a_door_keeps_to_the_contract) {
  if (!cli_has_program()) return;
  const char *first = arena_printf(arena, "verdict: %s\n", doors[_i].verdict);
  for (int strict = 0; strict < 2; strict++) {
    const CliRun run = cli_run(arena, arena_printf(arena, "%s --every-order %s", doors[_i].command,
                                                   strict ? "--strict" : ""));
    ck_assert_msg(strncmp(run.out, first, strlen(first)) == 0, "%s%s", run.out, run.err);
    ck_assert_int_eq(run.status, strict ? doors[_i].strict : doors[_i].status);
  }
}
END_TEST

// What cannot be searched at all is a mistake: status 2, a sentence, and no verdict.
static const char *const mistakes[][2] = {
    {"check /dev/null/none.txt", "cannot be read"},
    {"check tests/data/orders/ring.cu", "expected"},
    {"check tests/data/orders/ring_sound.ptx", "expected"},
    {"check -k hopper/nosuch", "has no rung"},
    {"check -k BM=64,BN=64,FM=1,FN=1", "threads in a block"},
    {"check -k fp16/roles --csv", "give one of them"},
    {"check -k fp16/roles --failing", "give one of them"},
    {"interpret /dev/null/none.txt", "cannot be read"},
    {"interpret tests/data/orders/ring_sound.ptx", "expected"},
    {"interpret -k fp16/roles --break nosuch", "there is no breakage"},
    {"interpret -k fp16/roles --break tensor_wait", "has nothing that it could break"},
    {"interpret -k fp16/roles --pass tma", "--every-order goes with"},
    {"open /dev/null/none.ptx", "cannot be read"},
    {"open tests/data/orders/none.txt", "cannot be read"},
    {"open tests/data/names.txt", "does not begin"},
    {"open tests/data/orders/ring_sound.ptx --kernel nosuch", "no kernel nosuch"},
    {"open tests/data/orders/ring_sound.ptx --launch grid=0,block=160", "\"0\" is not a block"},
    {"open tests/data/orders/ring_sound.ptx --detail", "--every-order goes without"},
    {"open tests/data/orders/ring_sound.ptx --fail-above 3", "--every-order goes without"},
    {"open tests/data/orders/ring_sound.ptx --blocks all", "--every-order goes without"},
    {"open tests/data/orders/ring_sound.ptx --machine", "--every-order goes without"},
    {"open tests/data/orders/ring_sound.ptx --predict", "--every-order goes without"},
};

START_TEST(a_mistake_is_no_verdict) {
  if (!cli_has_program()) return;
  for (int json = 0; json < 2; json++) {
    const CliRun run = cli_run(
        arena, arena_printf(arena, "%s --every-order%s", mistakes[_i][0], json ? " --json" : ""));
    ck_assert_msg(run.status == 2, "%s: %d, %s%s", mistakes[_i][0], run.status, run.out, run.err);
    ck_assert_msg(strstr(run.err, mistakes[_i][1]), "%s: %s", mistakes[_i][0], run.err);
    ck_assert_msg(!strstr(run.out, "verdict"), "%s", run.out);
  }
}
END_TEST

// A program as it is written down, sound and broken, by both commands that read one.
START_TEST(a_program_of_a_file_is_searched) {
  if (!cli_has_program()) return;
  static const char *const commands[] = {"check", "interpret"};
  for (int broken = 0; broken < 2; broken++) {
    const char *path =
        arena_printf(arena, "%s/gemmview_doors_%d_%d.txt", P_tmpdir, (int)getpid(), broken);
    const CliRun dump = cli_run(arena, arena_printf(arena, "interpret -k fp16/roles%s --dump",
                                                    broken ? " --break more_arrivals" : ""));
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(dump.out, file);
    fclose(file);
    for (int i = 0; i < 2; i++) {
      const CliRun run =
          cli_run(arena, arena_printf(arena, "%s %s --every-order", commands[i], path));
      const char *first = broken ? "verdict: found\n" : "verdict: proved\n";
      ck_assert_msg(strncmp(run.out, first, strlen(first)) == 0, "%s%s", run.out, run.err);
      ck_assert_int_eq(run.status, broken);
    }
    remove(path);
  }
}
END_TEST

START_TEST(a_door_gives_all_members) {
  if (!cli_has_program()) return;
  const CliRun run =
      cli_run(arena, arena_printf(arena, "%s --every-order --json", doors[_i].command));
  static const char *const always[] = {"verdict", "states", "stages", "turns", "left_out"},
                           *const found[] = {"witness", "root", "cure", "fault"},
                           *const step[] = {"step", "warp", "role", "event"};
  const JsonValue *root = cli_json(arena, &run);
  const bool is_found = strcmp(doors[_i].verdict, "found") == 0;
  ck_assert_int_eq(run.status, doors[_i].status);
  for (int i = 0; i < 5; i++)
    ck_assert_msg(json_object_get(root, always[i]), "no \"%s\"", always[i]);
  for (int i = 0; i < 4 && is_found; i++)
    ck_assert_msg(json_object_get(root, found[i]), "no \"%s\"", found[i]);
  if (!is_found) return;
  const JsonValue *witness = json_object_get(root, "witness");
  bool object = false, phase = false;
  Diags diags = diags_new(arena);
  for (int n = 0; n < json_count(witness); n++) {
    for (int i = 0; i < 4; i++) ck_assert(json_object_get(json_at(witness, n), step[i]));
    int number = 0;
    ck_assert(
        json_read_int(json_object_get(json_at(witness, n), "step"), 1, 100000, &number, &diags));
    ck_assert_int_eq(number, n + 1);
    object |= json_object_get(json_at(witness, n), "object") != NULL;
    phase |= json_object_get(json_at(witness, n), "phase") != NULL;
  }
  ck_assert(object && phase);
}
END_TEST

Suite *suite_every_doors(void) {
  Suite *suite = suite_create("every_doors");
  TCase *tests = tcase_create("every_doors");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, a_door_keeps_to_the_contract, 0, sizeof doors / sizeof *doors);
  tcase_add_loop_test(tests, a_mistake_is_no_verdict, 0, sizeof mistakes / sizeof *mistakes);
  tcase_add_test(tests, a_program_of_a_file_is_searched);
  tcase_add_loop_test(tests, a_door_gives_all_members, 0, sizeof doors / sizeof *doors);
  suite_add_tcase(suite, tests);
  return suite;
}
