// --every-order at every command that has it: the first line, the exit status, the JSON.
#include <check.h>
#include <string.h>

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
  for (int n = 0; n < json_count(witness); n++) {
    for (int i = 0; i < 4; i++) ck_assert(json_object_get(json_at(witness, n), step[i]));
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
  tcase_add_loop_test(tests, a_door_gives_all_members, 0, sizeof doors / sizeof *doors);
  suite_add_tcase(suite, tests);
  return suite;
}
