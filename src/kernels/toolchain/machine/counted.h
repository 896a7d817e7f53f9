// Tells what was counted of whole kernels, by a GPU's counters or by the compiler:
// data/facts/*_kernels.jsonl.
//
//   const CountedKernels *counted = counted_read(arena, file->text, file->size, file->path,
//   &diags); const CountedKernel *kernel = counted_find(counted, &schedule, "time_us", &number);
//                                                                       NULL: never counted
//
// A line is an object:
//   {"state":"M=2048,…","gpu":"NVIDIA H200","driver":"580.159.04","date":"2026-11-22",
//    "method":"one launch under the profiler","wavefronts_lds":78643200,"time_us":1010}
//   {"state":"…,TARGET=rtx3090","compiler":"NVRTC 13.0","date":"…","method":"…","registers":168}
// It has either a GPU and its driver or a compiler; all that is no text is a number with a name of
// its own, its unit included. The state is read as those of rungs are, over AUTO=0. Wavefronts are
// of all blocks and slabs; a time is the profiler's, which is no benchmark.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "model/words/knob.h"

enum { COUNTED_NUMBERS_MAX = 12 };

typedef struct CountedNumber {
  const char *name;
  double value;
} CountedNumber;

typedef struct CountedKernel {
  Schedule schedule;
  const char *gpu, *driver, *compiler;  // NULL: it was the other
  const char *date, *method;
  int n;
  CountedNumber number[COUNTED_NUMBERS_MAX];
} CountedKernel;

typedef struct CountedKernels {
  int n;
  const CountedKernel *kernel;
} CountedKernels;

// NULL when anything is wrong; the findings say what and where. `what` names the file.
const CountedKernels *counted_read(Arena *arena, const char *text, size_t n, const char *what,
                                   Diags *diags);
// Finds the number of the schedule: on its own target, or else on whatever GPU the kernel says.
// `counted` may be NULL.
const CountedKernel *counted_find(const CountedKernels *counted, const Schedule *schedule,
                                  const char *name, double *number);
