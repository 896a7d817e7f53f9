// The ways of warps through the machine code of a run, and what the clock says of them: what
// `gemmview open --why` prints.
#pragma once
#include "cli/open/open_run.h"

typedef struct OpenFollowed OpenFollowed;

// Follows what the machine runs from now on; the accesses are told to the tally, too.
OpenFollowed *open_follow(const OpenResult *result, PtxMachine *machine, PtxTally *tally);
// A block has ended.
void open_follow_block(OpenFollowed *followed);

typedef struct OpenWhy {
  bool json, what_if, cold;
  int mhz;  // of the SM clock; 0: the GPU's boost clock
} OpenWhy;

// Prints the clock's answer about a run that was followed; what the command ends with.
int open_why(const OpenResult *result, const OpenWhy *ask, Diags *diags);
