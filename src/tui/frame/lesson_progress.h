// The marks of the lessons between runs: $XDG_STATE_HOME/gemmview/lessons.json (~/.local/state).
//
//   progress_load(tutor, path, &diags);      after tutor_load()
//   progress_save(arena, tutor, path);
//
// A missing file is no marks. A file that cannot be read is told and left as it is; marks are then
// kept for this run only. Writing is atomic: a new file is renamed over the old one.
#pragma once
#include "base/diag.h"
#include "tui/frame/tutor.h"

// NULL when XDG_STATE_HOME and HOME both name no folder.
const char *progress_path(Arena *arena);

// False after a finding of rule "json" or "progress".
bool progress_load(Tutor *tutor, const char *path, Diags *diags);
// NULL when it was written; otherwise why not.
const char *progress_save(Arena *arena, const Tutor *tutor, const char *path);
