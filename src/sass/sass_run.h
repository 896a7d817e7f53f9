// The way of a warp through machine code: its whole numbers are computed, lane by lane, so that it
// is known which branches it takes, how often it goes round a loop, and which addresses it asks
// for.
//
// The contents of memory are not known, nor what is computed from them. A branch that nothing
// is known of goes on; a wait for an mbarrier succeeds; registers can be had. Lanes that part are
// run from the lowest address on, so that they meet again.
//
//   0420 first of the slab         way of a warp: 0000-0410, 16 times 0420-07e0, 07f0-0840
//   07e0 @P0 BRA 0420
//   0840 EXIT
#pragma once
#include "base/arena.h"
#include "sass/sass_code.h"
#include "sass/sass_plan.h"

// One execution of an instruction that orders or copies, as the clock plays it: its mbarrier or
// barrier, its number of lanes, its value. The caller that follows a warp through machine
// code says what its registers hold: sass_run.c, which computes them, or a run on the CPU.
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

enum { SASS_LANES = 32, SASS_CONSTANTS = 4096 };

// The launch, as a thread sees it. Dimensions y and z are 1.
typedef struct SassLaunch {
  int threads;            // of a block
  int64_t block, blocks;  // blockIdx.x, gridDim.x
  int rank;               // of the block in its cluster
  // The list of tiles that its cluster has claimed, and where it stands in shared memory, behind
  // what the system takes; `claims` false: it claims none.
  bool claims;
  uint32_t claimed, claimed_at;
  // Constant bank 0; of a parameter that is no number any value does, as long as no two pointers
  // are near each other.
  unsigned char constant[SASS_CONSTANTS];
} SassLaunch;

// Instructions first to last, one after the other.
typedef struct SassStretch {
  int first, last;
} SassStretch;

typedef struct SassWay {
  bool ended;  // the warp came to its end; false: it was given up
  bool told;   // what orders has its events: without one its predicate was false
  int n_stretches, n_events;
  const SassStretch *stretch;
  const SassEvent *event;
  int64_t instructions;
} SassWay;

// Told of executions of instructions that access memory, by a warp of the block: byte addresses of
// the lanes, -1 of those that are not active. `shared`: where a copy writes; NULL of all else, or
// where that is not known. sass_run() tells of the first executions of each instruction.
typedef void SassAccess(void *context, int warp, int at, const int64_t address[SASS_LANES],
                        const int64_t *shared);

typedef struct SassListener {
  SassAccess *access;  // NULL: no listener
  void *context;
} SassListener;

SassWay sass_run(Arena *arena, const SassPlan *plan, const SassLaunch *launch, int warp,
                 const SassListener *listener);
