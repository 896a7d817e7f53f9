// A capsule opened: the launch as it was recorded, with nothing typed.
#pragma once
#include "capsule/capsule.h"
#include "cli/open/open_report.h"

// The launch, for a machine; false after a finding: the blocks that are asked for were not kept.
bool open_capsule_launch(const Capsule *capsule, const char *blocks, PtxLaunch *launch,
                         Diags *diags);
// The blocks that are run where nobody says which.
const char *open_capsule_blocks(const Capsule *capsule);
// Parameters, memory at the recorded addresses, variables and tensor maps; the memory that each
// parameter points into. NULL after a finding.
const OpenBuffer *open_give_capsule(Arena *arena, PtxMachine *machine, const PtxFunction *kernel,
                                    const Capsule *capsule, Diags *diags);
// "launch 3 of ./program, on NVIDIA H200"
const char *open_capsule_text(Arena *arena, const Capsule *capsule);

// The run's result beside that of the recorded launch.
typedef struct OpenCompared {
  int64_t words, different;  // of four bytes: those that the run or the launch changed
  const char *name;          // of the first that differs: its memory, and where in it
  int64_t offset;
  uint32_t here, recorded;
  double largest;  // difference of those that are finite as f32
} OpenCompared;
// Requires that the capsule has what the launch left (Capsule.ended).
OpenCompared open_compare(const OpenResult *result, bool all_blocks);
void open_print_compared(const OpenResult *result);
