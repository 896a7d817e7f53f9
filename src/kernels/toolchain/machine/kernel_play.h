// A schedule's kernel as it was compiled, played on one SM from launch to end: what its blocks do
// is computed from the machine code (sass/sass_run.h), what its accesses cost from their addresses.
#pragma once
#include "base/elf_file.h"
#include "clock/clock_kernel.h"
#include "clock/clock_window.h"
#include "kernels/toolchain/machine/play_parts.h"
#include "model/readings/model.h"
#include "model/text/emit.h"

typedef struct PlayAsk {
  bool cold;  // L2 is empty at first
  bool banks_are_free, loads_are_near;
  int more_blocks;       // resident, than there are
  const SassCode *code;  // other instructions in place of the kernel's; NULL: those
} PlayAsk;

// `compiled`: the model with the compiler's registers; `kernel`: its place among the emission's.
KernelPlay kernel_play(Arena *arena, const Model *compiled, const Emission *emission, int kernel,
                       ElfBytes text, int stack_bytes);
// Counts the executions of each instruction by the ways of `in` in a grid of `blocks` blocks, and
// takes the middle turns out of ways that are too long.
void kernel_play_finish(Arena *arena, KernelPlay *play, ClockBlock *kind, double blocks);
ClockStay kernel_play_run(Arena *arena, const KernelPlay *play, const ClockMachine *machine,
                          const PlayAsk *ask);
// A turn of one of its loops, clock by clock; `mean`: clocks of its turns.
ClockWindow kernel_play_watch(Arena *arena, const KernelPlay *play, const ClockMachine *machine,
                              const PlayAsk *ask, const SassLoop *loop, double mean);
