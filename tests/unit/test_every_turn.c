// Every order of the rungs: those with roles, rings or clusters are proved, and each fault that can
// be put in is found, or what a run with values says of it is nothing that an order could change.
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/embed.h"
#include "model/interp/interp.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/every_turn.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "stress.h"

Suite *suite_every_turn(void);

static const char *const ladders[] = {"hopper", "blackwell", "attention",
                                      "fp16",   "scaled",    "tensor_scaled"};
enum { LADDERS = sizeof ladders / sizeof *ladders, RUNGS_ONE_IN = 5, FAULTS_ONE_IN = 41 };

static double own_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

START_TEST(every_rung_is_proved) {
  const Ladder *ladder = property_ladder(ladders[_i]);
  for (int r = 0; r < ladder->n_rungs; r++) {
    if (ladder->rung[r].not_built || !stress_has_dear_turn(r, RUNGS_ONE_IN, RUNGS_ONE_IN)) continue;
    const double began = own_seconds();
    EveryTurn every = every_turn_search(&property_targets, &ladder->rung[r].schedule, BREAK_COUNT,
                                        &(SearchOptions){0});
    const double seconds = own_seconds() - began;
    ck_assert_msg(!every.fault && every.result.verdict == SEARCH_PROVED && !every.n_left_out,
                  "%s/%s: %s: %s", ladder->name, ladder->rung[r].name,
                  search_verdict_name(every.result.verdict),
                  every.fault         ? every.fault
                  : every.result.root ? every.result.root
                                      : every.left_out[0]);
    ck_assert_int_ge(every.turns, 2 * every.slots + 2);
    ck_assert_msg(seconds < 20, "%s/%s: %g s", ladder->name, ladder->rung[r].name, seconds);
    every_turn_free(&every);
  }
}
END_TEST

// The search must find, too, each deadlock and each race between copies that a run with values of a
// broken program finds. Where the run refuses an operation, what waits for it is no matter of
// order.
static bool is_about_order(const InterpCheck *check) {
  for (int i = 0; i < check->n_findings; i++)
    if (check->finding[i].kind == FINDING_OPERAND) return false;
  const Finding *worst = interp_gravest(check);
  const Stmt *stmt = worst ? worst->who.stmt : NULL;
  if (stmt && op_facts(stmt->op.kind)->action == ACTION_CLAIM) return false;  // a matter of values
  return worst && (worst->kind == FINDING_DEADLOCK || worst->kind == FINDING_ABANDONED_COPY);
}

START_TEST(every_fault_that_hangs_is_found) {
  const Ladder *ladder = property_ladder(ladders[_i]);
  int n = 0;
  for (int r = 0; r < ladder->n_rungs; r++)
    for (int id = 0; id < BREAK_COUNT; id++, arena_reset(property_arena)) {
      const Rung *rung = &ladder->rung[r];
      if (rung->not_built ||
          !stress_has_dear_turn(r * BREAK_COUNT + id, FAULTS_ONE_IN, FAULTS_ONE_IN))
        continue;
      if (!(breakage_seen((BreakageId)id) & SEEN_HANGS)) continue;
      EveryTurn every = every_turn_search(&property_targets, &rung->schedule, (BreakageId)id,
                                          &(SearchOptions){0});
      if (!every.fault && every.result.verdict == SEARCH_PROVED) {
        const Schedule small = schedule_reduce_turns(property_arena, &property_targets,
                                                     &rung->schedule, REDUCE_WORK_MAX);
        const Model *model = property_built(&small);
        const Program *broken = program_break(property_arena, model->program, (BreakageId)id);
        const InterpCheck check =
            interpret_check(property_arena, broken, &(InterpOptions){.seed = 1, .runs = 1});
        ck_assert_msg(!is_about_order(&check), "%s/%s, %s is proved: %s", ladder->name, rung->name,
                      breakage_name((BreakageId)id), interp_gravest(&check)->text);
      }
      n += !every.fault;
      every_turn_free(&every);
    }
  printf("%s: %d faults searched\n", ladder->name, n);
}
END_TEST

// The sentence that is told, and the cure that is tried.
static const struct {
  const char *ladder, *rung;
  BreakageId id;
  SearchFault fault;
  const char *root, *cure;
} told[] = {
    {"hopper", "roles", BREAK_MORE_ARRIVALS, SEARCH_DEADLOCK,
     "consumer warp 0 waits for full[0] phase 1; producer warp 4, which would end that, waits "
     "for empty[0] phase 0, which expects 5 arrivals and gets 4",
     "initialise empty[0] for 4 arrivals"},
    {"hopper", "roles", BREAK_EMPTY_PHASE, SEARCH_DEADLOCK, "at which none of them has arrived",
     "let producer warp 4 wait for empty[0] with the other phase bit: tried, and then proved"},
    {"hopper", "roles", BREAK_MORE_BYTES, SEARCH_DEADLOCK,
     "waits for full[0] phase 0, which expects 8192 bytes more than come",
     "expect 8192 bytes fewer at full[0]: tried, and then proved"},
    {"fp16", "roles", BREAK_FENCE, SEARCH_UNFENCED, "no fence.proxy.async stands between",
     "fence.proxy.async"},
    {"blackwell", "pair", BREAK_PAIR_END, SEARCH_GONE, "may have ended",
     "let the cluster meet before a block ends: tried"},
    {"hopper", "consumers", BREAK_RELEASE_EARLY, SEARCH_REFILLED, "in the background",
     "let consumer warp 0 arrive only when it has read A_s[0]: tried, and then proved"},
    {"hopper", "consumers", BREAK_FEWER_ARRIVALS, SEARCH_REFILLED, "while consumer warp 3 reads",
     "initialise empty[0] for 8 arrivals: tried, and then proved"},
    {"hopper", "roles", BREAK_INIT_FENCE, SEARCH_UNBEGUN, "may not be initialised yet",
     "fence.mbarrier_init after the initialisation: tried"},
    {"fp16", "tma", BREAK_OTHER_FENCE, SEARCH_UNFENCED, "no fence.proxy.async stands between",
     "let warp 0 fence (fence.proxy.async) before its copy"},
    {"attention", "causal", BREAK_LAST_SLAB, SEARCH_IN_FLIGHT, "block 0 ends while", ""},
    {"hopper", "roles", BREAK_EMPTY_WAIT, SEARCH_TOO_MANY, "once too often",
     "let producer warp 4 wait for empty[0] before it arrives at full[0] again"},
};

START_TEST(causes_are_told_from_their_root) {
  const Model *model = property_rung(told[_i].ladder, told[_i].rung, "");
  EveryTurn every =
      every_turn_search(&property_targets, &model->schedule, told[_i].id, &(SearchOptions){0});
  ck_assert_int_eq(every.result.verdict, SEARCH_FOUND);
  ck_assert_msg(every.result.fault == told[_i].fault, "%s: %s",
                search_fault_name(every.result.fault), every.result.root);
  ck_assert_msg(strstr(every.result.root, told[_i].root), "%s", every.result.root);
  ck_assert_msg(strstr(every.result.cure, told[_i].cure), "%s", every.result.cure);
  ck_assert_int_gt(every.result.n_steps, 0);
  ck_assert_msg(every.result.shortest, "%d steps, and there may be fewer", every.result.n_steps);
  every_turn_free(&every);
}
END_TEST

// What does no harm says what it changed, and why that is none.
static const struct {
  const char *ladder, *rung;
  BreakageId id;
  const char *says;
} harmless[] = {
    {"fp16", "tma", BREAK_PHASE,
     "no event more or fewer than in the sound program: all warps meet"},
    {"hopper", "registers", BREAK_WAIT_AGAIN, "waits at mbarriers more than in the sound program"},
    {"hopper", "roles", BREAK_SILENT_WARP, "the four warps of a warpgroup multiply together"},
    {"hopper", "wgmma", BREAK_LAST_BARRIER, "the four warps of a warpgroup multiply together"},
};

START_TEST(what_is_harmless_says_why) {
  const Model *model = property_rung(harmless[_i].ladder, harmless[_i].rung, "");
  EveryTurn every =
      every_turn_search(&property_targets, &model->schedule, harmless[_i].id, &(SearchOptions){0});
  ck_assert_int_eq(every.result.verdict, SEARCH_PROVED);
  ck_assert_msg(every.spared && strstr(every.spared, harmless[_i].says), "%s", every.spared);
  every_turn_free(&every);
}
END_TEST

Suite *suite_every_turn(void) {
  Suite *suite = suite_create("every_turn");
  TCase *tests = tcase_create("every_turn");
  tcase_set_timeout(tests, 400);
  tcase_add_unchecked_fixture(tests, property_setup, property_teardown);
  tcase_add_loop_test(tests, every_rung_is_proved, 0, LADDERS);
  tcase_add_loop_test(tests, every_fault_that_hangs_is_found, 0, LADDERS);
  tcase_add_loop_test(tests, causes_are_told_from_their_root, 0, sizeof told / sizeof *told);
  tcase_add_loop_test(tests, what_is_harmless_says_why, 0, sizeof harmless / sizeof *harmless);
  suite_add_tcase(suite, tests);
  return suite;
}
