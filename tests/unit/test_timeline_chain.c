// Who waits for whom on a time line: who ends a wait does so before it ends, and a wait for ever
// has a root.
#include <check.h>
#include <math.h>

#include "base/str.h"
#include "model/interp/breakage.h"
#include "model/ir/buffer.h"
#include "model/ir/stmt.h"
#include "model/readings/time/timeline_chain.h"
#include "property.h"

Suite *suite_timeline_chain(void);

static const char *const rungs[][2] = {{"hopper", "consumers"},
                                       {"attention", "three_groups"},
                                       {"blackwell", "pair"},
                                       {"hgemm", "roles"}};
enum { N_RUNGS = sizeof rungs / sizeof *rungs };

static const Model *model_of(const char *const name[2]) {
  return property_rung(name[0], name[1], "");
}

START_TEST(whoever_ends_a_wait_does_so_before_it_ends) {
  const Model *model = model_of(rungs[_i]);
  Arena *arena = arena_new("test");
  const Timeline *timeline = timeline_run(arena, model, NULL, &(TimelineOptions){.whole = false});
  int found = 0;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->kind != TIMELINE_WAIT || e->end - e->begin < 100) continue;
    const TimelineChain chain = timeline_chain(timeline, e->warp, (e->begin + e->end) / 2);
    ck_assert_int_ge(chain.n, 1);
    ck_assert_msg(!chain.circle, "%s", timeline_chain_text(arena, timeline, &chain));
    const TimelineEvent *ender = chain.link[0].ender;
    if (!ender) continue;
    found++;
    ck_assert(ender->begin <= chain.link[0].wait->end + 1e-6);
    ck_assert(*timeline_chain_text(arena, timeline, &chain));
  }
  ck_assert_int_gt(found, 3);
  ck_assert_int_eq(timeline_stuck_chain(timeline).n, 0);
  arena_free(arena);
}
END_TEST

// Warpgroup w of attention in turns waits for the arrivals of the one before it, and for no warp of
// its own.
START_TEST(a_turn_is_given_by_the_warpgroup_before) {
  const Model *model = property_rung("attention", "in_turns", "");
  Arena *arena = arena_new("test");
  const Timeline *timeline = timeline_run(arena, model, NULL, &(TimelineOptions){.whole = false});
  enum { GROUPS = 3, WARPS = 4 };
  int found = 0;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->kind != TIMELINE_MEET || e->warp >= GROUPS * WARPS || e->end - e->begin < 1) continue;
    if (e->stmt->knob != KNOB_ROLE_SCHEDULE) continue;
    const TimelineChain chain = timeline_chain(timeline, e->warp, (e->begin + e->end) / 2);
    const TimelineEvent *ender = chain.link[0].ender;
    ck_assert_ptr_nonnull(ender);
    ck_assert_int_eq(ender->warp / WARPS, (e->warp / WARPS + GROUPS - 1) % GROUPS);
    found++;
  }
  ck_assert_int_gt(found, 3);
  arena_free(arena);
}
END_TEST

// A chain's last link is one that nobody ends, and each of them waits for ever.
START_TEST(a_wait_for_ever_has_a_root) {
  const Model *model = model_of(rungs[_i]);
  Arena *arena = arena_new("test");
  int stuck = 0;
  for (int id = 0; id < BREAK_COUNT; id++) {
    const Program *broken = program_break(arena, model->program, (BreakageId)id);
    if (!broken) continue;
    const Timeline *timeline =
        timeline_run(arena, model, broken, &(TimelineOptions){.whole = false});
    const TimelineChain chain = timeline_stuck_chain(timeline);
    ck_assert_int_eq(chain.n > 0, timeline->n_stuck > 0);
    for (int i = 0; i < chain.n; i++) ck_assert(chain.link[i].wait->stuck);
    stuck += chain.n > 0;
  }
  ck_assert_int_gt(stuck, 0);
  arena_free(arena);
}
END_TEST

// Both fetch alike, the even one alone multiplies, and it takes as long as with one block run for
// both.
START_TEST(both_ctas_of_a_pair_are_run) {
  static const char *const pairs[] = {"pair", "consumers"};
  const Model *model = property_rung("blackwell", pairs[_i], "");
  const Timeline *both =
      timeline_run(property_arena, model, NULL, &(TimelineOptions){.pair = true});
  const Timeline *one = timeline_run(property_arena, model, NULL, &(TimelineOptions){0});
  int copies[2] = {0}, products[2] = {0}, holds[2] = {0};
  ck_assert_int_eq(both->n_blocks, 2);
  ck_assert_int_eq(both->n_warps, 2 * one->n_warps);
  ck_assert_int_eq(both->n_stuck, 0);
  for (int i = 0; i < both->n_events; i++) {
    const int rank = timeline_rank(both, both->event[i].warp);
    copies[rank] += both->event[i].kind == TIMELINE_COPY;
    products[rank] += both->event[i].kind == TIMELINE_MULTIPLY;
  }
  for (int i = 0; i < both->n_holds; i++) holds[both->hold[i].rank]++;
  ck_assert(copies[0] > 0 && copies[0] == copies[1]);
  ck_assert(products[0] > 0 && products[1] == 0);
  ck_assert(holds[0] > 0 && holds[0] == holds[1] && holds[0] == one->n_holds);
  ck_assert(fabs(both->all_clocks - one->all_clocks) < 0.01 * one->all_clocks);
}
END_TEST

Suite *suite_timeline_chain(void) {
  Suite *suite = suite_create("timeline_chain");
  TCase *tests = tcase_create("timeline_chain");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_loop_test(tests, whoever_ends_a_wait_does_so_before_it_ends, 0, N_RUNGS);
  tcase_add_test(tests, a_turn_is_given_by_the_warpgroup_before);
  tcase_add_loop_test(tests, a_wait_for_ever_has_a_root, 0, N_RUNGS);
  tcase_add_loop_test(tests, both_ctas_of_a_pair_are_run, 0, 2);
  suite_add_tcase(suite, tests);
  return suite;
}
