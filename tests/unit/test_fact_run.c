// Facts that are runs of the interpreter: what is kept of a run says what the run said.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "model/lessons/fact.h"
#include "property.h"

Suite *suite_fact_run(void);

static const char state[] = "M=68,N=64,K=44,BM=8,BN=8,FM=4,FN=4,BK=8,STAGE=11";

typedef struct Asked {
  FactRuns runs;
  FactWorld world;
  FactScene scene;
} Asked;

static void begin(Asked *asked) {
  const Schedule schedule = property_read_state(state);
  asked->runs = (FactRuns){.arena = property_data};
  asked->world = (FactWorld){.targets = &property_targets, .runs = &asked->runs};
  asked->scene = (FactScene){
      .arena = property_arena, .world = &asked->world, .model = property_built(&schedule)};
}

static const char *word_of(const Asked *asked, const char *fact) {
  FactValue value;
  Diags diags = diags_new(property_arena);
  ck_assert_msg(fact_compute(&asked->scene, fact, &value, &diags), "%s",
                diags_text(property_arena, &diags));
  return value.word;
}

START_TEST(a_program_is_run_once) {
  Asked asked;
  begin(&asked);
  ck_assert_ptr_null(asked.runs.first);
  const char *found = word_of(&asked, "finding last_barrier");
  const FactRun *first = asked.runs.first;
  ck_assert_ptr_nonnull(first);
  const char *told = word_of(&asked, "told last_barrier");
  ck_assert_ptr_eq(asked.runs.first, first);
  ck_assert(str_starts(told, found));
  ck_assert_str_eq(word_of(&asked, "finding intact"), "nothing");
  ck_assert_ptr_ne(asked.runs.first, first);
  ck_assert_str_eq(word_of(&asked, "told last_barrier"), told);
}
END_TEST

START_TEST(what_is_kept_is_what_a_run_says) {
  static const char *const facts[] = {"finding last_barrier", "told last_barrier", "finding intact",
                                      "told intact"};
  Asked asked;
  begin(&asked);
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    word_of(&asked, facts[i]);
    const char *kept = word_of(&asked, facts[i]);
    asked.world.runs = NULL;
    ck_assert_str_eq(word_of(&asked, facts[i]), kept);
    asked.world.runs = &asked.runs;
  }
}
END_TEST

Suite *suite_fact_run(void) {
  Suite *suite = suite_create("fact_run");
  TCase *tcase = tcase_create("fact run");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, a_program_is_run_once);
  tcase_add_test(tcase, what_is_kept_is_what_a_run_says);
  suite_add_tcase(suite, tcase);
  return suite;
}
