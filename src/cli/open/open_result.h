// The outcome of a run of gemmview open.
#pragma once
#include "base/form.h"
#include "cli/open/launches/open_launches.h"
#include "cli/open/open_input.h"
#include "kernels/toolchain/machine/sass.h"
#include "ptx/module/line_table.h"
#include "ptx/record/record.h"

typedef struct OpenCounted {
  const char *file;
  int line;
  int64_t wavefronts, ideal;  // −1: not in the file
} OpenCounted;

// Holds what an array costs, and what the solver says of it.
typedef struct OpenCure {
  int64_t now;
  RecordedBest best;
} OpenCure;

typedef struct OpenResult {
  Arena *arena;
  const char *path, *compiler;
  bool made_here;  // as in the request
  OpenText text;
  const PtxModule *module;
  const PtxFunction *kernel;
  const PtxMachine *machine;
  OpenBuffers buffers;  // of its arguments
  const struct OpenDump *dumps;
  int n_dumps;
  const struct OpenCompared *compared;  // NULL: not asked for
  const PtxTally *tally;
  const PtxLines *lines;
  PtxLaunch launch;
  int64_t n_blocks;
  struct Search *orders;  // the events of the cluster that ran; NULL: they were not kept
  int n_left_out;
  const char *const *left_out;
  PtxOutcome outcome;
  bool as_compiled;       // widths and lines are those of the machine code
  const char *why_not;    // a sentence when they are predicted
  const char *assembled;  // the machine code that widths are of; NULL
  size_t assembled_bytes;
  const char *cubin;  // the machine code that is run; NULL: PTX is
  size_t cubin_bytes;
  struct OpenFollowed *followed;    // the ways of its warps; NULL: not asked for
  const struct ClockAnswer *clock;  // of the screen's run of machine code; NULL
  const char *no_clock;             // why the clock cannot play it; NULL
  int registers;                    // of a thread, in the machine code; 0: it was not read
  unsigned allowed;                 // kinds of findings that do not matter, a bit each
  const char *misfit;               // why the kernel's GPU refuses the launch; NULL
  const char *assembler;            // "ptxas, sm_90a"
  const OpenCounted *counted;       // what a profiler's file says; NULL: none was given
  int n_counted;
  double seconds;
  const char *launch_text;  // "--launch … --arg …"
  bool recalled;            // some of it is of the last time
  PtxRecord *record;        // addresses; NULL: they were not kept
  const PtxPitch *slabs;    // that --slab names
  PtxArrays arrays;
  const OpenCure *cures;       // [arrays.n]
  bool detail;                 // wanted in JSON
  const OpenLaunch *launches;  // of the program that a capsule is of
  int n_launches;
  const SassResult *sass;  // NULL: there is none
  LineTable sass_lines;
} OpenResult;

// The calls that inlined a place: the place itself, its call, that one's call; [OPEN_CHAIN_MAX],
// NULL behind the last.
enum { OPEN_CHAIN_MAX = 16 };
const PtxLoc **open_chain(Arena *arena, const OpenResult *result, int loc);
extern const Form open_place_form;  // of PtxLoc, in an OpenResult
// By function of the module; NULL: it is no kernel.
const PtxFunction **open_kernels(Arena *arena, const PtxModule *module);
