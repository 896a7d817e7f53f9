// The operations that one thread issues in one iteration of the loop over slabs, in order: copies,
// waits, reads of fragments, multiplies. They are read from the program, iteration 0 with thread 0,
// never from knobs. If a producer fetches, it has a row of its own first: the operations that its
// one thread issues for slab 0.
//
//   Steps steps = derive_steps(arena, program);
//   steps.step[i]                  copies → wait → barrier → reads → multiplies; a row ends where
//                                  the next event belongs further left
//   steps.products / steps.moved   computations per transfer
//
// Computations per transfer: an 8×8 matrix of 16-byte rows is what ldmatrix moves at a time, one
// register in each of 32 lanes. It is the unit of a transfer; a computation is the product of two
// of them, of which an m16n8k16 mma makes 2·1·2 = 4. Plain FMAs count by themselves, loads by
// values.
//
// Worked example, a warp with 16 × 64 sums of m16n8k16.f16: a k-step reads 4 + 8·2 = 20 matrices
// and makes 8·4 = 32 products: 1.6. If B is read once for each of two 8-row halves of A, 4 + 2·16 =
// 36 matrices serve the 32 products: 0.89.
#pragma once
#include "model/readings/model.h"

enum { STEP_NONE = -1, STEPS_MAX = 512 };

// Steps along K inside a slab, counted in depths of the atom; sets count the copies of the fragment
// registers (the two halves of a register buffer). STEP_NONE: does not happen.
typedef struct Step {
  bool produces;  // the producer's row
  int n_copies;   // global → shared by cp.async or TMA, or to the registers on the way
  int n_stores;   // from those registers to the slab
  int copy_slab;  // the number of slabs ahead of this iteration
  bool commit;
  int wait;              // groups that may stay in flight
  bool wait_multiplies;  // groups of wgmma; else of copies
  const char *mbarrier;  // the mbarrier whose phase is waited for, "full" or "empty"; NULL: none
  bool arrive;           // at empty: the slot may be filled again
  bool barrier;
  const char *why;                     // what the barrier is for; NULL: not said
  int n_reads, read_first, read_last;  // instructions; k-steps they read
  int read_slab, read_set;
  int n_multiplies, multiply_first, multiply_last, multiply_set;
} Step;

typedef struct Steps {
  int n;     // at most STEPS_MAX
  bool cut;  // there were more
  const Step *step;
  int n_slots;  // of the ring; 0: nothing is staged
  const char *copy_name, *read_name,
      *multiply_name;         // "cp.async", "TMA"; "LDSM"; "MMA"; NULL: none
  double products, moved;     // of one warp with an atom, of one thread without
  int n_reads, reads_before;  // instructions per iteration; before its first multiply
  int n_registers;            // that hold fragments
} Steps;

Steps derive_steps(Arena *arena, const Program *program);
double steps_intensity(const Steps *steps);  // products / moved; 0 when nothing is read

// Says from where on the copies of `step` are safe: "k_o + 2 lands where k_o - 1 lay: safe behind
// the barrier after its last read"; for a producer once all have arrived at empty. Empty where it
// copies nothing.
const char *steps_say_safe(Arena *arena, const Steps *steps, const Step *step);
