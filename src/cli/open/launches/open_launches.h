// The launches of a recorded program, a row for each kernel and way of launching it. A capsule
// lists them, and `gemmview record` tells them when the program has ended.
#pragma once
#include <stdio.h>

#include "base/form.h"
#include "capsule/capsule.h"

typedef struct OpenLaunch {
  const char *kernel;  // in the machine code
  const char *name;    // in CUDA, with its parameters
  const char *title;   // the same, short enough for a line of a table
  const char *note;    // why it was not run; NULL
  int grid[3], block[3], cluster[3], smem;
  int64_t times;
  int64_t first;  // --launch of the first of them
  double us;      // of one of them on the GPU, the mean; NAN: not timed
  bool held;      // by the capsule that lists it
} OpenLaunch;

extern const Form open_launch_form;  // of OpenLaunch

// The list in a capsule: gemmview open K.capsule --list --json.
typedef struct OpenLaunches {
  const char *program;
  const OpenLaunch *launch;
  int n;
} OpenLaunches;

// Launches → rows, the most frequent first.
OpenLaunch *open_launches(Arena *arena, const CapsuleLaunch *launches, int n);
// The rows of a capsule; the one that it holds is marked. *n is 0 where the capsule has no list.
const OpenLaunch *open_capsule_launches(Arena *arena, const Capsule *capsule, int *n);
// A table for people. Times have a column where there are any.
void open_print_launches(Arena *arena, FILE *out, const OpenLaunch *launch, int n);

// "add<float>(float*, int)" of "_Z3addIfEvPT_i"; the symbol itself where nothing here takes it
// apart.
const char *open_demangled(Arena *arena, const char *symbol);
// For a line of a table: "void reduce<512, Op<…> >" of "void reduce<512, Op<bool, and_kernel>
// >(Op)".
const char *open_short_name(Arena *arena, const char *name);
// "8x7"; extents of 1 at the end are left out.
const char *open_extents(Arena *arena, const int at[3]);
