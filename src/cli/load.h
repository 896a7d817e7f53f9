// The program's data files as the subcommands need them: read, parsed, complaints collected.
#pragma once
#include "model/target.h"

// data/gpus.json, or the one of $GEMMVIEW_DATA; false after diagnostics.
bool cli_load_targets(Arena *arena, Diags *diags, TargetTable *table);
