// The counts of Nsight Compute's source page, from its CSV.
#pragma once
#include "cli/open/open_result.h"

// ncu --page source --csv --print-source cuda: a table with a line number and "L1 Wavefronts
// Shared".
bool open_read_ncu(Arena *arena, const char *path, const OpenCounted **rows, int *n, Diags *diags);
// The row of a line; NULL: there is none, or no file was given.
const OpenCounted *open_counted_of(const OpenResult *r, const PtxLine *line);
// False after a finding: not one of its lines is a line that accessed shared memory.
bool open_ncu_is_of(const OpenResult *r, const char *path, Diags *diags);
