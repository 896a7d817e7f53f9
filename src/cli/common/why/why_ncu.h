// The profiler's samples beside the clocks that an instruction loses.
//
//   ncu --page source --csv --print-source sass,  or cuda: by machine instruction, or by CUDA line
//
// A sample is a warp that the profiler found standing there. Those of clocks in which its scheduler
// issued nothing are compared with the clocks lost there, where the table has them; else all but
// those of warps that were selected, or could have been, with all clocks that warps stood there.
#pragma once
#include "base/form.h"
#include "kernels/toolchain/machine/clock_answer.h"

// Shares are of all samples, and of all clocks that they are compared with.
typedef struct NcuPlace {
  int pc, line;  // -1, 0: it is not known
  const char *text;
  int64_t samples;
  double sampled, lost;
} NcuPlace;

typedef struct NcuBeside {
  const char *file, *of;  // of: which samples they are
  bool by_line;
  int64_t samples;
  int n;
  const NcuPlace *place;  // the one first where both disagree most
} NcuBeside;

// NULL after a finding: no such table, or one of another kernel.
const NcuBeside *why_ncu_read(Arena *arena, const ClockAnswer *answer, const char *file,
                              const char *text, Diags *diags);
void why_ncu_print(Arena *arena, const NcuBeside *beside);
extern const Form ncu_beside_form;  // of NcuBeside
