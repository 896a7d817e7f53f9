// The kernels of tests/data/open: read, launched as index.json says, their lines as an H200 counted
// them.
#pragma once
#include "base/json.h"
#include "ptx/run/machine.h"
#include "ptx/tally/tally.h"

typedef struct OpenCase {
  const char *id;  // "k01"
  const PtxModule *module;
  const PtxFunction *kernel;
  PtxMachine *machine;
  PtxTally *tally;
  PtxLaunch launch;
  int n_args;
  uint64_t buffers[8];  // address of each argument that is a pointer
  int64_t bytes[8];
} OpenCase;

int open_case_count(void);
const char *open_case_id(int index);
char *open_case_bytes(Arena *arena, const char *path, size_t *n);  // of any file
const char *open_case_text(Arena *arena, const char *name);        // a file of that folder
// The kernel out of `ptx`, or out of its own file where that is NULL; fails the test when it cannot
// be read.
OpenCase open_case_load(Arena *arena, int index, const char *ptx);
// The same, run from a module that somebody made, machine code's: its kernel has the same name.
OpenCase open_case_load_module(Arena *arena, int index, const PtxModule *module);
// All blocks, until one does not end well.
PtxOutcome open_case_run(const OpenCase *given);

typedef struct OpenCount {
  const char *kernel, *file;
  int line, wavefronts, ideal, executed;
} OpenCount;
int open_case_counts(Arena *arena, const char *id, OpenCount *out, int most);
