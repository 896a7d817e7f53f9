// The findings of a run with values in a broken program: asked for by a key, answered when it is
// there.
//
// One tile is run with all of its slabs where that takes some seconds at most, and else with so
// many as show what a ring can do wrong; `problem` says what it was. No key waits for it: it is
// made on a thread.
//
//   PipelineTrial *trial = trial_new();
//   verdict = trial_ask(trial, &targets, model, id);   "a run with values is under way", at first
//   if (trial_poll(trial)) verdict = trial_verdict(trial);
//   trial_free(trial);
#pragma once
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/readings/model.h"
#include "model/readings/time/timeline.h"

// The findings of a run with values in a broken program.
typedef struct PipelineVerdict {
  const char *name, *help;  // of the breakage; NULL: nothing is broken
  BreakageId id;
  const char *text;     // the gravest finding; "nothing is found"; that it is under way
  const char *problem;  // "M=128, N=256, K=4096": what was run; NULL: not known yet
  bool deadlock;        // one is among the findings, in some order of warps and copies
  FindingKind kind;     // FINDING_COUNT: nothing
  int stmt[2];          // numbers of the statements that the finding names; -1: none
} PipelineVerdict;

typedef struct PipelineTrial PipelineTrial;

PipelineTrial *trial_new(void);
void trial_free(PipelineTrial *trial);  // waits for a run that is under way

// The time line of the model's program, broken so: warps drift apart turn by turn, so no turn is
// left out of it. A problem that is too long for that is made smaller, and `problem` says what it
// is then (else NULL). NULL: the program has nothing that it could break.
const Timeline *trial_timeline(Arena *arena, const TargetTable *targets, const Model *model,
                               BreakageId id, const char **problem);

// Asks what is found in the model's program once it is broken so; the last question counts.
// `stuck`: warps of its time line wait for ever, which a single tile may have no turns for. Returns
// the verdict as far as it is known: that of the same question asked before comes at once. It lasts
// until the next question.
PipelineVerdict trial_ask(PipelineTrial *trial, const TargetTable *targets, const Model *model,
                          BreakageId id, bool stuck);
bool trial_is_under_way(const PipelineTrial *trial);
// Without waiting; true: the verdict is there, and was not when it was asked for last.
bool trial_poll(PipelineTrial *trial);
PipelineVerdict trial_verdict(const PipelineTrial *trial);
