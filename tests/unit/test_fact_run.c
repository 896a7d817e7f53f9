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

// Who cannot wait gets no answer, once each run is wanted, and the one that somebody else made says
// what it would have said here.
START_TEST(a_run_that_is_made_elsewhere_says_the_same) {
  Asked asked, other;
  begin(&asked);
  begin(&other);
  FactValue value;
  Diags diags = diags_new(property_arena);
  asked.runs.later = true;
  ck_assert(!fact_compute(&asked.scene, "finding last_barrier", &value, &diags));
  ck_assert(!fact_compute(&asked.scene, "told last_barrier", &value, &diags));
  ck_assert_str_eq(diags.first->rule, "run");
  const FactQuestion *wanted = asked.runs.wanted;
  ck_assert(wanted && !wanted->next && str_equal(wanted->breakage, "last_barrier"));
  ck_assert_ptr_null(asked.runs.first);
  ck_assert(!fact_compute(&asked.scene, "finding intact", &value, &diags));
  ck_assert_ptr_eq(asked.runs.wanted->next, wanted);

  Arena *elsewhere = arena_new("elsewhere");
  fact_run_keep(&asked.runs, fact_run_make(elsewhere, &property_targets, wanted));
  arena_free(elsewhere);
  ck_assert(asked.runs.wanted != wanted && !asked.runs.wanted->next);
  ck_assert_str_eq(word_of(&asked, "told last_barrier"), word_of(&other, "told last_barrier"));
}
END_TEST

// What is no breakage is said at once, and never wanted.
START_TEST(what_cannot_be_run_is_not_wanted) {
  Asked asked;
  begin(&asked);
  FactValue value;
  Diags diags = diags_new(property_arena);
  asked.runs.later = true;
  ck_assert(!fact_compute(&asked.scene, "finding last_barier", &value, &diags));
  ck_assert_str_eq(diags.first->rule, "break");
  ck_assert_ptr_null(asked.runs.wanted);
}
END_TEST

Suite *suite_fact_run(void) {
  Suite *suite = suite_create("fact_run");
  TCase *tcase = tcase_create("fact run");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, a_program_is_run_once);
  tcase_add_test(tcase, what_is_kept_is_what_a_run_says);
  tcase_add_test(tcase, a_run_that_is_made_elsewhere_says_the_same);
  tcase_add_test(tcase, what_cannot_be_run_is_not_wanted);
  suite_add_tcase(suite, tcase);
  return suite;
}
