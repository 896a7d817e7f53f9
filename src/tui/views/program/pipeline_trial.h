// What a run with values finds in a broken program: asked for by a key, answered when it is there.
//
// The run takes up to a second where a block is a pair with two consumers, and no key waits for it:
// it is made on a thread.
//
//   PipelineTrial *trial = trial_new();
//   verdict = trial_ask(trial, &targets, model, id);   "a run with values is under way", at first
//   if (trial_poll(trial)) verdict = trial_verdict(trial);
//   trial_free(trial);
#pragma once
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/readings/model.h"

// What a run with values found in a broken program.
typedef struct PipelineVerdict {
  const char *name, *help;  // of the breakage; NULL: nothing is broken
  BreakageId id;
  const char *text;  // the gravest finding; "nothing is found"; that it is under way
  FindingKind kind;  // FINDING_COUNT: nothing
  int stmt[2];       // numbers of the statements that the finding names; -1: none
} PipelineVerdict;

typedef struct PipelineTrial PipelineTrial;

PipelineTrial *trial_new(void);
void trial_free(PipelineTrial *trial);  // waits for a run that is under way

// Asks what is found in the model's program once it is broken so; the last question counts. Returns
// the verdict as far as it is known: that of the same question asked before comes at once. It lasts
// until the next question.
PipelineVerdict trial_ask(PipelineTrial *trial, const TargetTable *targets, const Model *model,
                          BreakageId id);
bool trial_is_under_way(const PipelineTrial *trial);
// Without waiting; true: the verdict is there, and was not when it was asked for last.
bool trial_poll(PipelineTrial *trial);
PipelineVerdict trial_verdict(const PipelineTrial *trial);
