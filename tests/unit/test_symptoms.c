// What is seen of a breakage on a GPU: said of each in its row, and not against what the
// interpreter finds.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cli_harness.h"
#include "model/interp/breakage.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "stress.h"

Suite *suite_symptoms(void);

// Rungs in which there is something to break, of every kind.
static const char *const rungs[][2] = {
    {"blackwell", "roles"},  {"blackwell", "pair"},    {"tensor_scaled", "nvfp4"},
    {"attention", "slices"}, {"hopper", "persistent"}, {"hopper", "multicast"},
    {"hopper", "gpc"},       {"hopper", "pingpong"},   {"blackwell", "tile"},
    {"scaled", "ring"},      {"fp32", "splitk_8"},     {"hopper", "tail"},
};
enum { N_RUNGS = sizeof rungs / sizeof rungs[0], WORK = 1 << 21 };

static bool has(const InterpCheck *check, FindingKind kind) {
  for (int i = 0; i < check->n_findings; i++)
    if (check->finding[i].kind == kind) return true;
  return false;
}

static bool is_crash(const InterpCheck *c) {
  return has(c, FINDING_ALLOCATION) || has(c, FINDING_EXITED) || has(c, FINDING_OUT_OF_BOUNDS);
}

static bool is_race(const InterpCheck *c) {
  return has(c, FINDING_RACE) || has(c, FINDING_MISSING_WAIT) || has(c, FINDING_ABANDONED_COPY);
}

// A sentence about what the row should have said; NULL: it agrees.
static const char *contradiction(unsigned seen, const InterpCheck *c) {
  const unsigned cells = SEEN_STRIPES | SEEN_ZEROS | SEEN_WRONG | SEEN_SOMETIMES;
  const bool stuck = has(c, FINDING_DEADLOCK) || has(c, FINDING_DIVERGENCE) ||
                     has(c, FINDING_ALLOCATION) || has(c, FINDING_UNWRITTEN_READ);
  if (has(c, FINDING_DEADLOCK) && !(seen & SEEN_HANGS)) return "a deadlock hangs";
  if (has(c, FINDING_DESCRIPTOR) && !(seen & SEEN_ZEROS)) return "a descriptor reads elsewhere";
  if (c->n_wrong && !(seen & cells)) return "cells are wrong";
  if (is_crash(c) && !c->n_wrong && !(seen & (SEEN_FAILS | SEEN_HANGS))) return "it crashes";
  if (seen == SEEN_HANGS && !stuck) return "nothing waits for ever";
  if (seen == SEEN_FAILS && !is_crash(c)) return "nothing is out of place";
  if (seen == SEEN_ZEROS && !has(c, FINDING_DESCRIPTOR)) return "descriptors are right";
  if (seen == SEEN_SOMETIMES && !is_race(c)) return "no order is missing";
  if (seen == SEEN_NOTHING && (c->n_wrong || has(c, FINDING_DEADLOCK))) return "something is seen";
  return NULL;
}

static const Model *built_small(Arena *arena, const char *const name[2]) {
  const Ladder *ladder = property_ladder(name[0]);
  const int rung = ladder_find_rung(ladder, name[1], NULL);
  ck_assert_int_ge(rung, 0);
  const Schedule narrow = property_narrow(&ladder->rung[rung].schedule);
  const Schedule small = schedule_reduce_turns(arena, &property_targets, &narrow, WORK);
  const Model *model = model_build(arena, &property_targets, &small);
  ck_assert_msg(model->ok, "%s/%s", name[0], name[1]);
  return model;
}

// Each is built once for all breakages.
static const Model *small_model(int rung) {
  static const Model *built[N_RUNGS];
  static Arena *arena;
  if (!arena) arena = arena_new("test symptoms");
  if (!built[rung]) built[rung] = built_small(arena, rungs[rung]);
  return built[rung];
}

// The first rung, or in `make stress` all of them, that the breakage has something to break in.
START_TEST(symptoms_are_what_the_interpreter_finds) {
  const BreakageId id = (BreakageId)_i;
  ck_assert_uint_ne(breakage_seen(id), 0);
  if (!stress_has_turn(_i, 5)) return;
  int n = 0;
  for (int r = 0; r < N_RUNGS && n < stress_count(1, N_RUNGS); r++) {
    const Model *model = small_model(r);
    const Program *broken = program_break(property_arena, model->program, id);
    if (!broken) continue;
    const InterpCheck check =
        interpret_check(property_arena, broken, &(InterpOptions){.seed = 1, .runs = 2});
    if (check.ok) continue;  // too small to show it
    n++;
    const char *why = contradiction(breakage_seen(id), &check);
    char seen[SYMPTOMS_BYTES];
    ck_assert_msg(!why, "%s in %s/%s is seen as %s, but %s: %s", breakage_name(id), rungs[r][0],
                  rungs[r][1], breakage_symptoms(seen, id), why,
                  check.n_findings ? check.finding[0].text : "no finding");
  }
}
END_TEST

START_TEST(a_symptom_is_looked_up) {
  static const struct {
    const char *arguments;
    int status;
    const char *says;
  } cases[] = {
      {"interpret --symptom stripes", 0, "\n  tensor_wait "},
      {"interpret --symptom all", 0, "\nnothing: "},
      {"interpret --symptom hangs -k blackwell/roles", 0, "\n  empty_phase "},
      {"interpret --symptom fails -k blackwell/tile --json", 0, "\"tensor_lane\""},
      {"interpret --symptom hang", 2, "nearest: hangs"},
      {"interpret --symptom hangs --break wait", 2, "runs nothing"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const CliRun run = cli_run(property_arena, cases[i].arguments);
    ck_assert_int_eq(run.status, cases[i].status);
    ck_assert_msg(strstr(run.status ? run.err : run.out, cases[i].says), "%s: %s%s",
                  cases[i].arguments, run.out, run.err);
  }
  const CliRun run = cli_run(property_arena, "interpret --symptom hangs -k fp32/padded");
  ck_assert_ptr_null(strstr(run.out, "empty_phase"));
}
END_TEST

Suite *suite_symptoms(void) {
  Suite *suite = suite_create("symptoms");
  TCase *tcase = tcase_create("symptoms");
  tcase_set_timeout(tcase, 300);
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_loop_test(tcase, symptoms_are_what_the_interpreter_finds, 0, BREAK_COUNT);
  tcase_add_test(tcase, a_symptom_is_looked_up);
  suite_add_tcase(suite, tcase);
  return suite;
}
