// Tells what an exported kernel of attention has of its own: sizes, and the check. The rest is in
// export_cu.c.
#pragma once
#include "base/str.h"
#include "kernels/toolchain/plan.h"

// Sizes, the rows that are checked, the factor of the scores, operations of one launch.
void export_attention_sizes(Str *out, const Plan *plan);
// The kernel that compares rows with float64: whole lines.
extern const char export_attention_check[];
