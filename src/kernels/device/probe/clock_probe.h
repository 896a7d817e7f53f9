// The facts of data/clock/ARCH.json asked of the GPU itself: the microbenchmarks of lab/clock,
// timed by the SM's own clock, beside what src/clock plays of their machine code.
//
//   ClockProbe *probe = clock_probe_open(arena, gpu, targets)   compiles them; NULL: gpu_error
//   for (int i = 0; i < clock_probe_count(); i++) clock_probe_run(probe, i)
//   clock_probe_facts(probe, results)                           what of data/clock follows from
//   them
#pragma once
#include "kernels/device/driver.h"
#include "kernels/toolchain/plan.h"
#include "model/words/target.h"

typedef struct ClockProbe ClockProbe;

typedef struct ClockProbeResult {
  const char *kernel, *what;  // of lab/clock; what is timed
  const char *unit;           // "clocks" or "bytes a clock"
  const char *error;          // NULL: it was measured
  bool skipped;               // the architecture does not have it
  int warps, blocks;          // of a block; of the grid
  double value, low, high;    // the median of nine, and their first and last decile
  double played;              // the same by src/clock; below 0: it is not played
  bool fits;                  // played and measured agree to an eighth, or it is not played
} ClockProbeResult;

// A number of data/clock/ARCH.json.
typedef struct ClockProbeFact {
  const char *key;
  double value,
      kept;  // as measured; as the file of this architecture has it, below 0: there is none
} ClockProbeFact;

enum { CLOCK_PROBE_FACTS_MAX = 32 };

int clock_probe_count(void);
ClockProbe *clock_probe_open(Arena *arena, Gpu *gpu, const TargetTable *targets);
void clock_probe_close(ClockProbe *probe);
ClockProbeResult clock_probe_run(ClockProbe *probe, int index);
// `results` are all of them, in order. Those that follow from one that failed are left out.
int clock_probe_facts(const ClockProbe *probe, const ClockProbeResult *results,
                      ClockProbeFact out[CLOCK_PROBE_FACTS_MAX]);
// The microbenchmarks, which compile for sm_80 and later; the ones of sm_90a have the part that
// only it has.
Plan *clock_probe_plan(Arena *arena, const char *arch);
