// Runs of the interpreter that claims ask for, made on a thread: the screen goes on meanwhile.
//
//   ClaimRuns *made = claim_runs_new(arena, runs);    runs->later while facts are asked for
//   claim_runs_begin(made, &targets);                 what is wanted by now
//   if (claim_runs_poll(made)) …                      runs are known that were not: ask again
//   claim_runs_free(made);
#pragma once
#include "model/lessons/fact.h"

typedef struct ClaimRuns ClaimRuns;

// NULL as `made` means that no run was asked for yet: nothing is under way.
ClaimRuns *claim_runs_new(Arena *arena, FactRuns *runs);
void claim_runs_free(ClaimRuns *made);  // waits for runs under way
// Begins with the runs that are wanted, unless others are under way: they wait for the next call.
void claim_runs_begin(ClaimRuns *made, const TargetTable *targets);
bool claim_runs_are_under_way(const ClaimRuns *made);
bool claim_runs_poll(ClaimRuns *made);  // without waiting; true: all that was begun is known
void claim_runs_wait(ClaimRuns *made);  // until poll has something
