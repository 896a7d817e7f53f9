// One question at a time goes to the thread. It is copied first, so that what the session does
// meanwhile, another rung or another GPU, is none of its business; a later question waits for it
// and then takes its place.
//
// Worked example, x pressed three times on rung blackwell/consumers: the first run begins, the
// second question is replaced by the third before the first run ends, and is never run.
#include "tui/views/program/pipeline_trial.h"

#include <stdlib.h>

#include "base/die.h"
#include "base/team.h"
#include "model/schedules/reduce.h"

enum { TRIAL_WORK = 1 << 21 };

typedef struct Question {
  TargetTable targets;
  Schedule schedule;
  int n_stmt_ids;  // of its program
  BreakageId id;
} Question;

struct PipelineTrial {
  Team *team;      // NULL: nothing was asked yet
  Arena *arena;    // of the run, and what it found
  Question asked;  // last
  bool wanted;     // its answer is still to come
  bool runs;       // `running`, on the thread
  Question running;
  PipelineVerdict found;  // by it, once it no longer runs
};

static PipelineVerdict verdict_saying(BreakageId id, const char *text) {
  return (PipelineVerdict){breakage_name(id), breakage_help(id), id, text, FINDING_COUNT, {-1, -1}};
}

// ---- on the thread ------------------------------------------------------------------------------

// The same schedule on a problem that the interpreter runs in a moment, and whose statements have
// the same numbers. Where that finds nothing, or a single tile has no need of all statements, a
// block has one tile after the other: what is wrong between two of them is seen in no single one.
static bool run_broken(Arena *arena, const Question *asked, InterpCheck *check) {
  const Schedule *whole = &asked->schedule;
  for (int turns = 0; turns < 2; turns++) {
    const Schedule small = turns ? schedule_reduce_turns(arena, &asked->targets, whole, TRIAL_WORK)
                                 : schedule_reduce(arena, &asked->targets, whole, TRIAL_WORK);
    const Model *model = model_build(arena, &asked->targets, &small);
    const bool last = turns || schedule_turns_to_see(whole) == 1;
    if (!last && model->program->n_stmt_ids != asked->n_stmt_ids) continue;
    const Program *broken = program_break(arena, model->program, asked->id);
    if (!broken) return false;
    *check = interpret_check(arena, broken, &(InterpOptions){.seed = 1, .grid = turns});
    if (check->n_findings || check->n_wrong || last) break;
  }
  return true;
}

static void run(void *context, int item) {
  (void)item;
  PipelineTrial *trial = context;
  PipelineVerdict *found = &trial->found;
  *found = verdict_saying(trial->running.id, "nothing is found: C comes out right");
  InterpCheck check;
  if (!run_broken(trial->arena, &trial->running, &check)) return;
  const Finding *worst = interp_gravest(&check);
  if (!worst && check.n_wrong) found->text = "nothing is found, but cells of C come out wrong";
  if (!worst) return;
  found->text = worst->text;
  found->kind = worst->kind;
  if (worst->who.stmt) found->stmt[0] = worst->who.stmt->id;
  if (worst->other.stmt) found->stmt[1] = worst->other.stmt->id;
}

// ---- beside it ----------------------------------------------------------------------------------

PipelineTrial *trial_new(void) {
  PipelineTrial *trial = calloc(1, sizeof *trial);
  if (!trial) die("out of memory for a trial");
  trial->arena = arena_new("pipeline trial");
  return trial;
}

void trial_free(PipelineTrial *trial) {
  team_end(trial->team);
  arena_free(trial->arena);
  free(trial);
}

static bool same_question(const Question *a, const Question *b) {
  return a->id == b->id && a->targets.targets == b->targets.targets &&
         schedule_same(&a->schedule, &b->schedule);
}

static void begin(PipelineTrial *trial) {
  if (!trial->team) trial->team = team_new(2);
  arena_reset(trial->arena);
  trial->running = trial->asked;
  trial->runs = true;
  team_begin(trial->team, 1, run, trial);
}

PipelineVerdict trial_verdict(const PipelineTrial *trial) {
  return trial->wanted ? verdict_saying(trial->asked.id, "a run with values is under way")
                       : trial->found;
}

PipelineVerdict trial_ask(PipelineTrial *trial, const TargetTable *targets, const Model *model,
                          BreakageId id) {
  const Question question = {*targets, model->schedule, model->program->n_stmt_ids, id};
  const bool ran = trial->team && same_question(&trial->running, &question);
  trial->asked = question;
  trial->wanted = trial->runs || !ran;
  if (trial->wanted && !trial->runs) begin(trial);
  return trial_verdict(trial);
}

bool trial_is_under_way(const PipelineTrial *trial) { return trial->wanted || trial->runs; }

bool trial_poll(PipelineTrial *trial) {
  if (!trial->runs) return false;
  if (team_threads(trial->team) && !team_is_done(trial->team)) return false;
  team_finish(trial->team);
  trial->runs = false;
  if (!trial->wanted) return false;
  trial->wanted = !same_question(&trial->running, &trial->asked);
  if (trial->wanted) begin(trial);
  return !trial->wanted;
}
