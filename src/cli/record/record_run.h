// Runs a program with our driver in front of it, and says which launches it had.
#pragma once
#include "base/diag.h"
#include "capsule/capsule.h"
#include "driver/seen.h"
#include "model/words/target.h"

enum { RECORD_SECONDS = 15 };

typedef struct RecordRequest {
  const char *kernel;   // glob; NULL: any
  const char *capsule;  // the file to write, absolute, with "%p"; NULL: launches are only listed
  const char *blocks;   // "all", "x,y,z"; whose memory is kept where all would be much
  int launch;           // which of the kernel's launches, from 0
  int limit;            // MB of a capsule
  int budget;           // millions of lane instructions of a launch on the CPU
  int seconds;          // on the CPU, of launches in front of it, in it, behind it; 0: no limit
  bool cpu, no_data, skips;
  bool times;            // the GPU is timed at each launch
  bool aside;            // what the program prints goes to stderr
  const Target *target;  // what the device without a GPU says of itself
  char *const *argv;     // the program and its words
} RecordRequest;

typedef struct RecordOutcome {
  int status;  // as a shell says it: 128 and the signal
  bool by_gpu;
  const SeenTable *seen;  // in the arena
  const char *capsule;    // the file that was written, or the first of them; NULL
  const char **capsules;  // all: one of each process, where their path has "%p"
  int n_capsules;
} RecordOutcome;

// False after a finding: the program was not started.
bool record_run(Arena *arena, const RecordRequest *request, RecordOutcome *out, Diags *diags);
// The real driver's file, where it has a GPU; NULL. Asked in a process of its own.
const char *record_real_driver(Arena *arena);

// ---- the words for the launches ----------------------------------------------------------------

// A table on stderr: kernels, how they were launched, how often.
void record_print_launches(Arena *arena, const RecordOutcome *outcome);
// The same as rows, and as a capsule keeps them.
const struct OpenLaunch *record_launches(Arena *arena, const RecordOutcome *outcome, int *n);
const CapsuleLaunch *record_seen_launches(Arena *arena, const SeenTable *seen, int *n);
// The contents of a capsule, told before the user shares it.
void record_print_capsule(Arena *arena, const char *path);

// ---- record_trim.c: out of a capsule goes what the asked block does not touch -------------------

// The pages that a run of a block came by, in a process of its own.
typedef struct RecordTouched {
  const bool *const *pages;  // by memory of the capsule, and page
  bool any;                  // one of them is
  const char *why;           // why the block was not run to its end; NULL: it was
} RecordTouched;

// `limit`: bytes of the file that has these pages; the run ends where it would have more. The file
// at `path` has the capsule.
RecordTouched record_touched(Arena *arena, const char *path, const char *blocks,
                             const Capsule *capsule, uint64_t limit);
// Cuts a capsule, as it was read from `path`, to those pages; the file stays as it is. One that is
// small, or whose contents are hidden, is left alone. Says on stderr what takes time, and which
// memory is kept where the block was not run to its end.
void record_trim(Arena *arena, const char *path, const char *blocks, uint64_t limit,
                 Capsule *capsule);
