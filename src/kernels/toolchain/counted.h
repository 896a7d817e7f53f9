// A GPU's counters over whole kernels: data/facts/h200_kernels.jsonl.
//
//   CountedKernels *counted = counted_read(arena, file->text, file->size, file->path, &diags);
//   const CountedKernel *kernel = counted_find(counted, &schedule);     NULL: never counted
//
// A line is an object; everything must be there:
//   {"state":"M=2048,…","gpu":"NVIDIA H200","driver":"580.159.04","date":"2026-11-22",
//    "method":"one launch under the profiler",
//    "wavefronts_lds":78643200,"wavefronts_ldgsts":3440640,"time_us":1010}
// The state is read as those of rungs are, over AUTO=0; wavefronts are of all blocks and slabs, by
// the per-instruction counters; the time is the profiler's, which is no benchmark.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "model/words/knob.h"

typedef struct CountedKernel {
  Schedule schedule;
  const char *gpu, *driver, *date, *method;
  double wavefronts_lds, wavefronts_ldgsts, time_us;
} CountedKernel;

typedef struct CountedKernels {
  int n;
  const CountedKernel *kernel;
} CountedKernels;

// NULL when anything is wrong; the findings say what and where. `what` names the file.
const CountedKernels *counted_read(Arena *arena, const char *text, size_t n, const char *what,
                                   Diags *diags);
// Finds the schedule, whatever GPU it is for: the kernel says where it was counted. `counted` may
// be NULL.
const CountedKernel *counted_find(const CountedKernels *counted, const Schedule *schedule);
