// Tells what --fail-above asks for: limits of the whole or of a line.
#pragma once
#include "cli/open/open_report.h"

typedef struct OpenLimit {
  const char *file;  // NULL: of all lines together
  int line;
  int64_t wavefronts;
} OpenLimit;

// "20000", or "k.cu-39:1750" for one line: [n]; NULL after a finding.
const OpenLimit *open_read_limits(Arena *arena, const char *const *texts, int n, Diags *diags);
// Sets *above, and says so on stderr, when a limit is exceeded, or when what it is about cannot be
// counted. False after a finding: a line that accessed nothing.
bool open_above_limits(const OpenResult *result, const OpenLimit *limits, int n, bool *above,
                       Diags *diags);
