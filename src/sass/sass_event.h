// The executions of instructions that order or copy, as the clock plays them: which mbarrier or
// barrier, by how many lanes, with which value. Whoever follows a warp through machine code says
// what its registers hold: sass_run.h, which computes them, or a run on the CPU.
#pragma once
#include "sass/sass_code.h"

// One execution of an instruction that orders or copies.
typedef struct SassEvent {
  int at;            // the instruction
  int lanes;         // that carry it out
  uint32_t address;  // of the mbarrier; of BAR: the barrier's number
  uint32_t value;    // a wait: the parity; an expectation: bytes; BAR: threads, 0 = all
} SassEvent;

// The value of a register in the first of `lanes`.
typedef uint32_t SassRegisterValue(void *context, bool uniform, int number, uint32_t lanes);

// False: the instruction neither orders nor copies.
bool sass_event_of(const SassInst *inst, int at, uint32_t lanes, SassRegisterValue *value,
                   void *context, SassEvent *out);
// Whether it is BAR.ARV, which counts at a barrier and goes on at once.
bool sass_only_arrives(const SassInst *inst);
// Whether it asks if a phase of an mbarrier is over.
bool sass_asks_mbarrier(const SassInst *inst);
