// What --fail-above asks for: limits of the whole or of a line.
#pragma once
#include "cli/open/open_report.h"

// "20000", or "k.cu-39:1750" for one line. Sets *above when a limit is exceeded, or when what it is
// about cannot be counted. False after a finding: no limit, or a line that accessed nothing.
bool open_above_limits(const OpenResult *result, const char *const *limits, int n, bool *above,
                       Diags *diags);
