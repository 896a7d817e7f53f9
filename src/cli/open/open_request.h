// The request to gemmview open.
#pragma once
#include <stdint.h>

#include "cli/common/options.h"

// The pages of a capsule's memory that blocks come by, by memory and page, until the file that has
// them alone would have more than `most` bytes in them: then the run ends with PTX_BEYOND.
typedef struct OpenTouched {
  bool *const *pages;
  uint64_t most;
} OpenTouched;

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
  bool made_here;                 // the capsule was recorded just now, from the user's own source
  bool compare;                   // with what a capsule's launch left
  bool orders;                    // keep the events of the first cluster, which alone is run
  bool record;                    // keep addresses, for better layouts and the detail
  const OpenTouched *touched;     // NULL: nobody asks
  struct WatchList *watched;  // gets the files that the kernel is made of; NULL: no view watches
  bool detail;                // everything in JSON; says on stderr meanwhile what it is doing
} OpenRequest;
