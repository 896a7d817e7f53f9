// One round at a time goes to the thread: every run that is wanted when it begins. Questions and
// GPUs are copied first, so that nothing the session does meanwhile is any of their business.
//
// Worked example, the claims of ladder blackwell: four rows ask for four runs, 300 ms in all. The
// page is there at once, with four rows whose figures are still to come; they come together.
#include "tui/session/claim_runs.h"

#include "base/team.h"

typedef struct ClaimRun {
  Arena *arena;
  FactQuestion question;
  const FactRun *answer;
} ClaimRun;

struct ClaimRuns {
  Arena *arena;
  FactRuns *runs;
  Team *team;
  TargetTable targets;
  int n;  // of the round that is under way; 0: none is
  ClaimRun *run;
};

// ---- on the thread ------------------------------------------------------------------------------

static void make(void *context, int item) {
  const ClaimRuns *made = context;
  ClaimRun *run = &made->run[item];
  run->answer = fact_run_make(run->arena, &made->targets, &run->question);
}

// ---- beside it ----------------------------------------------------------------------------------

ClaimRuns *claim_runs_new(Arena *arena, FactRuns *runs) {
  ClaimRuns *made = ARENA_NEW(arena, ClaimRuns);
  *made = (ClaimRuns){.arena = arena, .runs = runs, .team = team_new(2)};
  return made;
}

// Texts of a question lie in an arena that only grows while the thread reads them.
static void take_wanted(ClaimRuns *made) {
  const FactQuestion *wanted = made->runs->wanted;
  for (const FactQuestion *question = wanted; question; question = question->next) made->n++;
  made->run = ARENA_ARRAY(made->arena, ClaimRun, made->n);
  for (ClaimRun *run = made->run; wanted; wanted = wanted->next, run++)
    *run = (ClaimRun){.arena = arena_new("run of a claim"), .question = *wanted};
}

void claim_runs_begin(ClaimRuns *made, const TargetTable *targets) {
  if (claim_runs_are_under_way(made) || !made->runs->wanted) return;
  made->targets = *targets;
  take_wanted(made);
  team_begin(made->team, made->n, make, made);
}

bool claim_runs_are_under_way(const ClaimRuns *made) { return made && made->n > 0; }

static void keep_all(ClaimRuns *made) {
  for (int i = 0; i < made->n; i++) {
    fact_run_keep(made->runs, made->run[i].answer);
    arena_free(made->run[i].arena);
  }
  made->n = 0;
}

bool claim_runs_poll(ClaimRuns *made) {
  if (!claim_runs_are_under_way(made)) return false;
  if (team_threads(made->team) && !team_is_done(made->team)) return false;
  team_finish(made->team);
  keep_all(made);
  return true;
}

void claim_runs_wait(ClaimRuns *made) {
  if (claim_runs_are_under_way(made)) team_finish(made->team);
}

void claim_runs_free(ClaimRuns *made) {
  if (!made) return;
  team_finish(made->team);
  keep_all(made);
  team_end(made->team);
}
