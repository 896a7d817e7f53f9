// A schedule's kernel as it was compiled, played on one SM from launch to end: what its blocks do
// is computed from the machine code (sass/sass_run.h), what its accesses cost from their addresses.
#pragma once
#include "base/elf_file.h"
#include "clock/clock_kernel.h"
#include "clock/clock_window.h"
#include "model/readings/model.h"
#include "model/text/emit.h"

typedef struct PlayAsk {
  bool cold;  // L2 is empty at first
  bool banks_are_free, loads_are_near;
  int more_blocks;       // resident, than there are
  const SassCode *code;  // other instructions in place of the kernel's; NULL: those
} PlayAsk;

// The input of a play, to be played again with another machine or another question.
typedef struct KernelPlay {
  const char *why_not;  // a sentence where it cannot be; NULL: it can
  SassCode code;
  int n_loops;
  SassLoop loop[CLOCK_MARKS_MAX];
  ClockKernel in;
  const double *executed;  // of each instruction: times that warps of the whole grid come by
  double data_bytes;       // of the launch's memory, as far as its blocks ask for it; 0: not known
} KernelPlay;

// `compiled`: the model with the compiler's registers; `kernel`: its place among the emission's.
KernelPlay kernel_play(Arena *arena, const Model *compiled, const Emission *emission, int kernel,
                       ElfBytes text, int stack_bytes);
// Counts how often the ways of `in` come by each instruction in a grid of so many blocks, and takes
// the middle turns out of ways that are too long.
void kernel_play_finish(Arena *arena, KernelPlay *play, ClockBlock *kind, double blocks);
ClockStay kernel_play_run(Arena *arena, const KernelPlay *play, const ClockMachine *machine,
                          const PlayAsk *ask);
// A turn of one of its loops, clock by clock; `mean`: clocks of its turns.
ClockWindow kernel_play_watch(Arena *arena, const KernelPlay *play, const ClockMachine *machine,
                              const PlayAsk *ask, const SassLoop *loop, double mean);
