// What a run left beside what the recorded launch left: gemmview open K.capsule --compare.
#pragma once
#include "cli/open/open_report.h"
#include "ptx/module/float_format.h"

// How far apart two numbers may be: by at most `most` times the larger of 1 and the recorded one.
typedef struct OpenTolerance {
  double most;              // 0: bits have to be equal
  const PtxFormat *format;  // of the numbers that a word holds
  const char *text;         // as given
} OpenTolerance;

// "1e-5" of f32, or with a type: "0.01:bf16". NULL: no tolerance.
bool open_read_tolerance(const char *text, OpenTolerance *out, Diags *diags);

typedef struct OpenCompared {
  int64_t words, different;  // of four bytes: those that the run or the launch changed
  int64_t close;             // of those that differ: within the tolerance
  const char *name;          // of the first that is wrong, else of the first that differs
  int64_t offset;
  uint32_t here, recorded;
  double largest;  // difference of those that are finite
  const char *type;
  const char *tolerance;  // as given; NULL
} OpenCompared;
// Requires that the capsule has what the launch left (Capsule.ended).
OpenCompared open_compare(const OpenResult *result, const OpenTolerance *tolerance,
                          bool all_blocks);
void open_print_compared(const OpenResult *result);
