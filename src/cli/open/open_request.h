// The request to gemmview open.
#pragma once
#include <stdint.h>

#include "cli/common/options.h"

// A way in which a recorded program launched a kernel.
typedef struct OpenLaunch {
  const char *kernel;  // in the machine code
  const char *title;   // in CUDA, without parameters
  const char *note;    // why it was not run; NULL
  int grid[3], block[3], cluster[3], smem;
  int64_t times;
  int64_t first;  // --launch of the first of them
} OpenLaunch;

typedef struct OpenRequest {
  const char *path;
  char **flags;  // of nvcc
  int n_flags;
  const char *kernel, *launch, *blocks, *ncu, *tolerance;  // NULL: not given
  OptionList args, slabs, dumps;
  int budget;        // millions of lane instructions
  unsigned allowed;  // kinds of findings that end with no status of their own, a bit each
  bool predict;
  bool machine;                   // run the machine code, not the PTX
  bool follow;                    // keep the ways of warps through it, for the clock
  const char *against;            // "machine", or a cubin; NULL
  bool reduce;                    // a small PTX that still differs from its machine code
  struct OpenListings *listings;  // texts of instructions that are known; NULL: none are
  bool compare;                   // with what a capsule's launch left
  bool orders;                    // keep the events of the first cluster, which alone is run
  bool record;                    // keep addresses, for better layouts and the detail
  struct WatchList *watched;   // gets the files that the kernel is made of; NULL: no view watches
  const OpenLaunch *launches;  // of the program that the file is a launch of
  int n_launches;
  bool detail;  // everything in JSON; says on stderr meanwhile what it is doing
} OpenRequest;
