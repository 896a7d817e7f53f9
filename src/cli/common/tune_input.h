// Tells what a search is given: problems, seeds and workers.
#pragma once
#include "cli/common/cli_worker.h"
#include "kernels/device/history/history.h"

// "4096,4096,4096,bf16,B_COL=1": extents, a type (f32 without one), and knobs, which then stay as
// they are. False after findings.
bool tune_read_problem(const char *text, Schedule *out, Diags *diags);

// One problem on each line of the file, - is stdin; empty lines, those behind a # and a heading
// "M,N,K…" in front are passed over. Gives their number; -1 after findings, which name the lines.
int tune_read_file(Arena *arena, const char *path, const Schedule **out, Diags *diags);

// The rungs of all ladders, and in front of them the kernels of the history (may be NULL) whose
// problems are of the same types and nearest in extents. NULL after findings.
const Schedule *tune_seeds(Arena *arena, History *history, const Schedule *problem, int *n,
                           Diags *diags);

// The workers of --worker, and with `all_gpus` one of each for every GPU that its host has: the
// command with --gpu N behind it, and its share of the host's processors for compilers. False after
// findings.
bool tune_workers(Arena *arena, const OptionList *commands, bool all_gpus, OptionList *out,
                  Diags *diags);
