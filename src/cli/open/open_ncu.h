// The counts of Nsight Compute's source page, from its CSV.
#pragma once
#include "cli/open/open_report.h"

// ncu --page source --csv --print-source cuda: a table with a line number and "L1 Wavefronts
// Shared".
bool open_read_ncu(Arena *arena, const char *path, const OpenCounted **rows, int *n, Diags *diags);
