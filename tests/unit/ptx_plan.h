// A plan's kernels run by the machine for PTX: buffers, tensor maps and lists as a launch makes
// them.
#pragma once
#include "kernels/toolchain/plan.h"
#include "ptx/run/machine.h"
#include "ptx/tally/tally.h"

#define PTX_PLAN_ALPHA 2.0f  // that a kernel with a factor is given

// Called with the tally of the main kernel before it runs.
typedef void PtxPlanPrepare(void *context, const PtxModule *module, const PtxFunction *kernel,
                            PtxTally *tally);

// The module that a kernel is run from, in place of the text.
typedef const PtxModule *PtxPlanModule(void *context, const char *kernel);

typedef struct PtxPlanGiven {
  const char *ptx;   // the plan's text compiled
  int main_kernel;   // the one that is tallied
  int64_t clusters;  // that a persistent kernel is launched with, at most
  bool is_wrong;     // findings are handed back, and fail no test
  const float *a, *b,
      *v;  // as they are stored: numbers that the operands' type has; V is attention's
  const float *scale[2];     // factors of a block-scaled A and B, as they are stored
  PtxPlanPrepare *prepare;   // NULL: nothing
  PtxPlanModule *module_of;  // NULL: the text is run
  void *context;
} PtxPlanGiven;

typedef struct PtxPlanRun {
  const PtxModule *module;
  const PtxFunction *kernel;  // the main one
  PtxTally *tally;            // of all its blocks
  const double *c;            // all cells of C, or of O
  const PtxFinding *finding;  // the first one; NULL: none
} PtxPlanRun;

// Runs all kernels of the plan over all blocks. Fails the test when a kernel does not end well or
// has a finding.
PtxPlanRun ptx_plan_run(Arena *arena, const Plan *plan, const PtxPlanGiven *given);
// Whole numbers from -2 to 2, whose sums are exact in every type that a rung adds up in.
const float *ptx_plan_numbers(Arena *arena, int64_t n, uint32_t seed);
