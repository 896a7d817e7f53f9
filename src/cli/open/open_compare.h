// Compares what a run left with what the recorded launch left: gemmview open K.capsule --compare.
#pragma once
#include "cli/open/open_result.h"
#include "ptx/module/float_format.h"

// How far apart two numbers of a type may be: by at most `most` times the larger of 1 and the
// recorded one.
typedef struct OpenLimitOfType {
  double most;
  const PtxFormat *format;
} OpenLimitOfType;

enum { OPEN_LIMITS_MAX = 4 };
typedef struct OpenTolerance {
  OpenLimitOfType limit[OPEN_LIMITS_MAX];
  int n;             // 0: bits have to be equal
  const char *text;  // as given; NULL
} OpenTolerance;

// "1e-5" of f32, with a type "0.01:bf16", or several. NULL: no tolerance.
bool open_read_tolerance(const char *text, OpenTolerance *out, Diags *diags);

typedef struct OpenCompared {
  int64_t words, different;  // of four bytes: those that the run or the launch changed
  int64_t unknown;           // not compared: unknown values here
  int64_t shared;            // not compared: atomic operations of other blocks change them, too
  int64_t close;             // of those that differ: within the tolerance
  const char *name;          // of the first that is wrong, else of the first that differs
  int64_t offset;
  uint32_t here, recorded;
  double largest;         // difference of those that are finite as f32
  const char *tolerance;  // as given; NULL
} OpenCompared;
// Requires that the capsule has what the launch left (Capsule.ended).
OpenCompared open_compare(const OpenResult *result, const OpenTolerance *tolerance,
                          bool all_blocks);
void open_print_compared(const OpenResult *result);
