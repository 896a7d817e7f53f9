// Candidates of a search: legal whatever was drawn, with the problem and what was fixed as given.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "model/readings/rules/rule.h"
#include "model/schedules/candidates.h"
#include "property.h"

Suite *suite_candidates(void);

static Schedule state(const char *text) {
  Diags diags = diags_new(property_data);
  Schedule schedule = schedule_default();
  ck_assert_msg(schedule_parse(&schedule, text, &diags), "%s", diags_text(property_data, &diags));
  return schedule;
}

static void assert_legal(const Schedule *base, const Schedule *schedule, const char *how) {
  const Target *target = target_find(&property_targets, schedule->target, NULL);
  ck_assert_msg(rules_allow(property_arena, schedule, target), "%s: %s", how,
                schedule_text(property_arena, schedule));
  for (int i = 0; i < KNOB_COUNT; i++)
    if (knob_is_problem((KnobId)i) || schedule_is_given(base, (KnobId)i))
      ck_assert_msg(!schedule_differs(base, schedule, (KnobId)i), "%s moved %s: %s", how,
                    knob_table[i].name, schedule_text(property_arena, schedule));
}

static const char *const problems[] = {
    "DTYPE=f32,TARGET=h200",
    "DTYPE=f32,TARGET=sm_80,M=300,N=700,K=900",
    "DTYPE=bf16,TARGET=h200,ATOM_KIND=wgmma_m64n256k16_bf16",
    "DTYPE=f16,TARGET=sm_89,M=64,N=8192,K=8192,BK=2",
    "DTYPE=tf32,TARGET=h200,B_COL=1",
    "DTYPE=f16,TARGET=h200,PROGRAM=attention,HEADS=64,M=1024,N=1024,K=128",
};
enum { N_PROBLEMS = sizeof problems / sizeof *problems, DRAWS = 40 };

START_TEST(candidates_are_legal) {
  const Schedule base = state(problems[_i]);
  const SearchSpace *space = search_space(property_data, &property_targets, &base);
  uint64_t random = property_seed();
  Schedule last, drawn, other;
  for (int i = 0; i < DRAWS; i++) {
    ck_assert(candidate_draw(space, &random, &drawn));
    assert_legal(&base, &drawn, "draw");
    if (candidate_change(space, &random, &drawn, &other)) assert_legal(&base, &other, "change");
    if (i && candidate_cross(space, &random, &last, &drawn, &other))
      assert_legal(&base, &other, "cross");
    last = drawn;
    arena_reset(property_arena);
  }
}
END_TEST

START_TEST(the_same_state_draws_the_same) {
  const Schedule base = state(problems[0]);
  const SearchSpace *space = search_space(property_data, &property_targets, &base);
  uint64_t a = 7, b = 7;
  for (int i = 0; i < DRAWS; i++) {
    Schedule one, two;
    candidate_draw(space, &a, &one);
    candidate_draw(space, &b, &two);
    ck_assert(schedule_same(&one, &two));
  }
}
END_TEST

// From auto alone, by what rules ask for: nothing names the family.
START_TEST(draws_come_by_what_hopper_has) {
  const Schedule base = state("DTYPE=bf16,TARGET=h200");
  const SearchSpace *space = search_space(property_data, &property_targets, &base);
  static const KnobId wanted[] = {KNOB_TMA, KNOB_WARP_SPECIALIZE, KNOB_PERSISTENT, KNOB_MULTICAST};
  enum { N = sizeof wanted / sizeof *wanted };
  int n_seen[N] = {0}, n_groups = 0;
  uint64_t random = 1;
  for (int i = 0; i < 400; i++) {
    Schedule drawn;
    candidate_draw(space, &random, &drawn);
    n_groups +=
        strncmp(knob_enum_text(KNOB_ATOM_KIND, drawn.value[KNOB_ATOM_KIND]), "wgmma", 5) == 0;
    for (int w = 0; w < N; w++) n_seen[w] += drawn.value[wanted[w]] != 0;
  }
  ck_assert_int_gt(n_groups, 20);
  for (int w = 0; w < N; w++)
    ck_assert_msg(n_seen[w] >= 5, "%s %d times", knob_table[wanted[w]].name, n_seen[w]);
}
END_TEST

// hgemm's last rung at another problem is still itself; of f16 it becomes what multiplies bf16.
START_TEST(a_rung_is_taken_to_another_problem) {
  const Ladder *ladder = property_read_ladder("ladders/hgemm.json");
  const Schedule *rung = &ladder->rung[ladder_find_rung(ladder, "swizzle", NULL)].schedule;
  const Schedule base = state("DTYPE=f16,TARGET=h200,M=1024,N=512,K=4096");
  const SearchSpace *space = search_space(property_data, &property_targets, &base);
  Schedule there;
  ck_assert(candidate_transfer(space, rung, &there));
  assert_legal(&base, &there, "transfer");
  for (int i = 0; i < KNOB_COUNT; i++)
    if (!knob_is_problem((KnobId)i) && i != KNOB_ATOM_KIND)
      ck_assert_msg(!schedule_differs(rung, &there, (KnobId)i), "%s", knob_table[i].name);
}
END_TEST

START_TEST(what_does_not_fit_has_no_model) {
  Schedule schedule = state("DTYPE=f32,TARGET=h200,BM=64,BN=64");
  uint64_t program = 0, other = 0;
  ck_assert_ptr_null(candidate_model(property_arena, &property_targets, &schedule, &program));
  schedule = state("DTYPE=f32,TARGET=h200,STAGE=11");
  ck_assert_ptr_nonnull(candidate_model(property_arena, &property_targets, &schedule, &program));
  schedule_set(&schedule, KNOB_ATOM_N, 64);  // nothing to fma
  ck_assert_ptr_nonnull(candidate_model(property_arena, &property_targets, &schedule, &other));
  ck_assert(program == other);
  schedule_set(&schedule, KNOB_BK, 32);
  ck_assert_ptr_nonnull(candidate_model(property_arena, &property_targets, &schedule, &other));
  ck_assert(program != other);
}
END_TEST

Suite *suite_candidates(void) {
  Suite *suite = suite_create("candidates");
  TCase *tests = tcase_create("candidates");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_add_loop_test(tests, candidates_are_legal, 0, N_PROBLEMS);
  tcase_add_test(tests, the_same_state_draws_the_same);
  tcase_add_test(tests, draws_come_by_what_hopper_has);
  tcase_add_test(tests, a_rung_is_taken_to_another_problem);
  tcase_add_test(tests, what_does_not_fit_has_no_model);
  suite_add_tcase(suite, tests);
  return suite;
}
