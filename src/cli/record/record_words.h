// The words for the launches that a program had.
#pragma once
#include "cli/record/record_run.h"

// A table on stderr: kernels, how they were launched, how often.
void record_print_launches(Arena *arena, const RecordOutcome *outcome);
// For a line of a table: "void reduce<512, Op<…> >" of "void reduce<512, Op<bool, and_kernel>
// >(Op)".
const char *record_short_name(Arena *arena, const char *name);
// The contents of a capsule, told before somebody shares it.
void record_print_capsule(Arena *arena, const char *path);
