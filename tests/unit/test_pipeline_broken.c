// What the pipeline view says of a broken program: that warps wait for ever only where a run with
// values ends in a deadlock, and of the same problem what that run says.
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/str.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "stress.h"
#include "tui/views/time/pipeline_trial.h"

Suite *suite_pipeline_broken(void);

static PipelineVerdict ask(const Model *model, BreakageId id, bool stuck) {
  PipelineTrial *trial = trial_new();
  trial_ask(trial, &property_targets, model, id, stuck);
  while (trial_is_under_way(trial))
    if (!trial_poll(trial)) usleep(1000);
  PipelineVerdict verdict = trial_verdict(trial);
  verdict.text = arena_strdup(property_arena, verdict.text);
  verdict.problem = verdict.problem ? arena_strdup(property_arena, verdict.problem) : NULL;
  trial_free(trial);
  return verdict;
}

// ---- one tile with all of its slabs -------------------------------------------------------------

// Broken programs whose warps drift apart, or whose roles go through different numbers of slabs.
static const struct {
  const char *ladder, *rung, *knobs;
  BreakageId id;
  bool stuck;
} drifting[] = {
    {"hopper", "roles", "M=128, N=128, K=2048", BREAK_LAST_SLAB, false},
    {"hopper", "roles", "M=128, N=128, K=2048", BREAK_FETCH_SHORT, true},
    {"hopper", "consumers", "M=128, N=256, K=2048", BREAK_LAST_SLAB, false},
    {"fp16", "roles", "M=64, N=64, K=2048", BREAK_LAST_SLAB, false},
    {"fp16", "roles", "M=64, N=64, K=2048", BREAK_FETCH_SHORT, true},
};
enum { DRIFTING = sizeof drifting / sizeof *drifting };

// Word for word what `gemmview interpret` says of the same M, N and K.
START_TEST(says_what_interpret_says) {
  const Model *model = property_rung(drifting[_i].ladder, drifting[_i].rung, drifting[_i].knobs);
  const BreakageId id = drifting[_i].id;
  const char *problem;
  const Timeline *timeline = trial_timeline(property_arena, &property_targets, model, id, &problem);
  ck_assert(timeline && !problem && timeline->n_cuts == 0);
  ck_assert_int_eq(timeline->n_stuck > 0, drifting[_i].stuck);
  const PipelineVerdict verdict = ask(model, id, timeline->n_stuck > 0);
  ck_assert_str_eq(verdict.problem, drifting[_i].knobs);
  const Program *broken = program_break(property_arena, model->program, id);
  const InterpCheck check = interpret_check(property_arena, broken, &(InterpOptions){.seed = 1});
  const Finding *worst = interp_gravest(&check);
  if (worst) ck_assert_str_eq(verdict.text, worst->text);
  ck_assert_int_eq(verdict.deadlock, drifting[_i].stuck);
}
END_TEST

// ---- everything ---------------------------------------------------------------------------------

// Every breakage of every rung with roles, at its own M, N and K. A time line is one order of
// events among many, so a deadlock that it does not show may be found; not the other way round.
static int ask_rung(const Ladder *ladder, const Rung *rung, int *which, int one_in) {
  int n = 0;
  const Model *whole = model_build(property_arena, &property_targets, &rung->schedule);
  const bool has_roles = program_main(whole->program)->n_roles > 0;
  arena_reset(property_arena);
  for (int id = 0; has_roles && id < BREAK_COUNT; id++) {
    if (!stress_has_dear_turn((*which)++, one_in, one_in)) continue;
    arena_reset(property_arena);
    const Model *model = model_build(property_arena, &property_targets, &rung->schedule);
    const char *problem;
    const Timeline *timeline =
        trial_timeline(property_arena, &property_targets, model, (BreakageId)id, &problem);
    if (!timeline) continue;
    n++;
    // The slabs of a split are six times as many: fewer are drawn, and the view says so.
    if (problem && rung->schedule.value[KNOB_SPLIT_F32]) continue;
    ck_assert_msg(!problem && timeline->n_cuts == 0 && !timeline->full, "%s/%s %s", ladder->name,
                  rung->name, breakage_name((BreakageId)id));
    if (!timeline->n_stuck) continue;
    const PipelineVerdict verdict = ask(model, (BreakageId)id, true);
    ck_assert_msg(verdict.deadlock, "%s/%s, %s: %d warps wait for ever, and of %s is said: %s",
                  ladder->name, rung->name, breakage_name((BreakageId)id), timeline->n_stuck,
                  verdict.problem, verdict.text);
  }
  return n;
}

START_TEST(who_waits_for_ever_does_so_with_values_too) {
  const EmbeddedList list = embed_list(property_data, "ladders/");
  int n = 0, which = 0;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++)
      if (!ladder->rung[r].not_built) n += ask_rung(ladder, &ladder->rung[r], &which, 193);
  }
  ck_assert_int_gt(n, 4);
}
END_TEST

static void hold_to_a_bit(Stmt *stmt, int depth, void *context) {
  (void)depth;
  if (stmt->kind != STMT_OP || stmt->op.kind != OP_MBAR_WAIT) return;
  ck_assert_msg(stmt->op.phase->lo >= 0 && stmt->op.phase->hi <= 1, "%s: %lld to %lld",
                (const char *)context, (long long)stmt->op.phase->lo,
                (long long)stmt->op.phase->hi);
}

static void break_rung(const Ladder *ladder, const Rung *rung) {
  const Model *model = model_build(property_arena, &property_targets, &rung->schedule);
  for (int id = 0; id < BREAK_COUNT && model->ok; id++) {
    const Program *broken = program_break(property_arena, model->program, (BreakageId)id);
    char name[128];
    snprintf(name, sizeof name, "%s/%s, %s", ladder->name, rung->name,
             breakage_name((BreakageId)id));
    for (int k = 0; broken && k < broken->n_kernels; k++)
      stmt_walk(broken->kernel[k].body, hold_to_a_bit, name);
  }
  arena_reset(property_arena);
}

// mbarrier.try_wait.parity takes 0 or 1 and nothing else: PTX ISA, section of mbarrier.test_wait.
START_TEST(a_phase_stays_one_bit) {
  const EmbeddedList list = embed_list(property_data, "ladders/");
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++)
      if (!ladder->rung[r].not_built) break_rung(ladder, &ladder->rung[r]);
  }
}
END_TEST

// ---- breakages that do no harm -----------------------------------------------------------------

// One slot is enough where all warps meet after each slab: the verdict says so.
START_TEST(a_harmless_breakage_says_why) {
  const Model *sound = property_rung("fp32", "tma_26x4", "M=352,N=128,K=160"),
              *harmed = property_rung("fp32", "tma_pipelined_26x4", "M=352,N=128,K=160");
  const PipelineVerdict verdict = ask(sound, BREAK_PHASE, false);
  ck_assert_int_eq(verdict.kind, FINDING_COUNT);
  ck_assert_msg(str_starts(verdict.text, "no finding: C is right, since all warps meet"), "%s",
                verdict.text);
  ck_assert_int_eq(ask(harmed, BREAK_PHASE, false).kind, FINDING_MISSING_WAIT);
}
END_TEST

// ---- problems that are too long -----------------------------------------------------------------

START_TEST(a_long_problem_is_made_smaller_and_says_so) {
  const Model *model = property_rung("hopper", "stmatrix", "M=65536,N=65536,K=65536");
  const char *problem;
  const Timeline *timeline =
      trial_timeline(property_arena, &property_targets, model, BREAK_MORE_REGISTERS, &problem);
  ck_assert(timeline && !timeline->full);
  timeline = trial_timeline(property_arena, &property_targets, model, BREAK_WG_FENCE, &problem);
  ck_assert(timeline && !timeline->full && timeline->n_cuts == 0 && problem);
}
END_TEST

Suite *suite_pipeline_broken(void) {
  Suite *suite = suite_create("pipeline_broken");
  TCase *tests = tcase_create("pipeline_broken");
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_set_timeout(tests, stress_is_on() ? 36000 : 300);
  tcase_add_loop_test(tests, says_what_interpret_says, 0, DRIFTING);
  tcase_add_test(tests, who_waits_for_ever_does_so_with_values_too);
  tcase_add_test(tests, a_phase_stays_one_bit);
  tcase_add_test(tests, a_harmless_breakage_says_why);
  tcase_add_test(tests, a_long_problem_is_made_smaller_and_says_so);
  suite_add_tcase(suite, tests);
  return suite;
}
