// One question at a time goes to the thread. It is copied first, so that what the session does
// meanwhile, another rung or another GPU, does not concern it; a later question waits for it
// and then takes its place.
//
// Worked example, x pressed three times on rung blackwell/consumers: the first run begins, the
// second question is replaced by the third before the first run ends, and is never run.
#include "tui/views/time/pipeline_trial.h"

#include <stdlib.h>

#include "base/die.h"
#include "base/str.h"
#include "base/team.h"
#include "base/whole.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/reduce.h"
#include "model/words/schedule_atom.h"

// Multiply-adds: of one tile that is cut down, of one with all of its slabs (for each product of a
// split), and of tiles that
// follow one another, which may cost REDUCE_FOR_TURNS times as much: two of a pair of CTAs that
// multiply 256 x 256 x 4,608 elements of four bits are 75 million.
enum { TRIAL_WORK = 1 << 21, ALL_SLABS_WORK = 3 << 23, TURNS_WORK = 1 << 24 };

typedef struct Question {
  TargetTable targets;
  Schedule schedule;
  int n_stmt_ids;  // of its program
  BreakageId id;
  bool stuck;  // its time line ends with warps that wait for ever
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
  return (PipelineVerdict){.name = breakage_name(id),
                           .help = breakage_help(id),
                           .id = id,
                           .text = text,
                           .kind = FINDING_COUNT,
                           .stmt = {-1, -1}};
}

static const char *say_problem(Arena *arena, const Schedule *schedule) {
  return arena_printf(arena, "M=%lld, N=%lld, K=%lld", (long long)schedule->value[KNOB_M],
                      (long long)schedule->value[KNOB_N], (long long)schedule->value[KNOB_K]);
}

// ---- the time line ------------------------------------------------------------------------------

// Tiles before slabs: a block that has a handful of tiles has gone from one to the next, and what
// warps do within a tile hangs on its slabs.
static Schedule make_smaller(const Schedule *schedule, int64_t tiles_of_block) {
  enum { TILES = 4 };
  Schedule small = *schedule;
  const KnobId axis = schedule->value[KNOB_M] >= schedule->value[KNOB_N] ? KNOB_M : KNOB_N;
  const int64_t tile = schedule_tile(schedule, axis), extent = schedule->value[axis];
  if (tiles_of_block <= TILES) return schedule_half_the_slabs(schedule);
  schedule_set(&small, axis, extent / tile / 2 * tile + extent % tile);
  return small;
}

const Timeline *trial_timeline(Arena *arena, const TargetTable *targets, const Model *model,
                               BreakageId id, const char **problem) {
  const TimelineOptions whole = {.whole = true, .pair = true};
  *problem = NULL;
  for (;;) {
    const Program *broken = program_break(arena, model->program, id);
    const Timeline *timeline = broken ? timeline_run(arena, model, broken, &whole) : NULL;
    if (!timeline || !timeline->full) return timeline;
    const Schedule small = make_smaller(&model->schedule, timeline->n_tiles);
    if (schedule_same(&small, &model->schedule)) return timeline;
    model = model_build(arena, targets, &small);
    if (!model->ok) return timeline;
    *problem = say_problem(arena, &small);
  }
}

// ---- on the thread ------------------------------------------------------------------------------

// A problem to run the question on; `grid` of its blocks, 0: any number fewer than tiles.
typedef struct TrialProblem {
  Schedule schedule;
  int grid;
} TrialProblem;

// Tiles for one block, one after the other; `turns` of them, though they take long.
static TrialProblem some_tiles(Arena *arena, const Question *asked, int64_t turns) {
  const Schedule few =
      schedule_reduce_to_turns(arena, &asked->targets, &asked->schedule, turns, TRIAL_WORK);
  if (schedule_turns(&few) >= turns) return (TrialProblem){few, 1};
  return (TrialProblem){
      schedule_reduce_to_turns(arena, &asked->targets, &asked->schedule, turns, TURNS_WORK), 1};
}

// All slabs of one tile; where those are too many, enough to show what is wrong; then some tiles
// for one block, for what is wrong between two of them is seen in no single one; and where the time
// line ends in a deadlock that is still not found, one tile more.
static int problems_of(Arena *arena, const Question *asked, TrialProblem out[3]) {
  const Schedule *whole = &asked->schedule, one = schedule_one_tile(whole);
  const bool all = schedule_work(&one) <= ALL_SLABS_WORK * (double)schedule_products(whole);
  const int64_t turns = schedule_turns_to_see(whole);
  int n = 0;
  out[n++] =
      (TrialProblem){all ? one : schedule_reduce(arena, &asked->targets, whole, TRIAL_WORK), 0};
  if (turns > 1) out[n++] = some_tiles(arena, asked, turns);
  if (turns > 1 && asked->stuck) out[n++] = some_tiles(arena, asked, turns + 1);
  return n;
}

static bool has_deadlock(const InterpCheck *check) {
  for (int i = 0; i < check->n_findings; i++)
    if (check->finding[i].kind == FINDING_DEADLOCK) return true;
  return false;
}

// Whether a run says what the time line shows.
static bool tells(const Question *asked, const InterpCheck *check) {
  return asked->stuck ? has_deadlock(check) : check->n_findings || check->n_wrong;
}

static bool run_broken(Arena *arena, const Question *asked, InterpCheck *check,
                       const char **problem) {
  TrialProblem problems[3];
  const int n = problems_of(arena, asked, problems);
  bool ran = false;
  for (int i = 0; i < n; i++) {
    const Model *model = model_build(arena, &asked->targets, &problems[i].schedule);
    if (!i && n > 1 && model->program->n_stmt_ids != asked->n_stmt_ids) continue;
    const Program *broken = program_break(arena, model->program, asked->id);
    if (!broken) continue;
    ran = true;
    *problem = say_problem(arena, &problems[i].schedule);
    *check = interpret_check(arena, broken, &(InterpOptions){.seed = 1, .grid = problems[i].grid});
    if (tells(asked, check)) break;
  }
  return ran;
}

// C is right: and why, where the breakage's own row does not say.
static const char *harmless(Arena *arena, BreakageId id) {
  const char *why = breakage_spared(id);
  return why ? arena_printf(arena, "no finding: C is right, since %s", why)
             : "no finding: C is right";
}

static void run(void *context, int item) {
  (void)item;
  PipelineTrial *trial = context;
  PipelineVerdict *found = &trial->found;
  *found = verdict_saying(trial->running.id, harmless(trial->arena, trial->running.id));
  InterpCheck check;
  if (!run_broken(trial->arena, &trial->running, &check, &found->problem)) return;
  const Finding *worst = interp_gravest(&check);
  found->deadlock = has_deadlock(&check);
  if (!worst && check.n_wrong) found->text = "no finding, but cells of C are wrong";
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
  return a->id == b->id && a->stuck == b->stuck && a->targets.targets == b->targets.targets &&
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
                          BreakageId id, bool stuck) {
  const Question question = {*targets, model->schedule, model->program->n_stmt_ids, id, stuck};
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
