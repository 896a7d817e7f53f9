// The register file of one scheduler: when its two banks can give an instruction its operands.
//
// A bank has one port and gives one register of a warp a clock. An operand marked .reuse stays in
// the cache of its slot and bank until another operand of that slot and bank is read; the warp that
// set it finds it there. A register that is named twice is read once.
//
//   FFMA R84, R8, R35, R84    the even bank gives R8 and R84, the odd one R35: two clocks of the
//   even port
//
// A product of mma.sync reads each operand in two clocks of both ports, A and B in one where it is
// half as deep, C in one where its sums are f16. It takes the first clocks that are free; those
// have to be over before the next product could be issued, or the scheduler stands still. The next
// product of the warp finds an operand that is marked .reuse, and need not read it; arithmetic of
// the warp in between drives B out, that of another warp A and C, too.
//
//   HMMA … R136.reuse, R4     A and C: four clocks of six
//   IADD3 R165, R238, R96     one, and B is gone
//   HMMA … R136, R8           all three: six, and one more to wait
//
// (Profiler's samples of edited machine code, lab/clock/edited.py, on an H200: clocks that a gap
// between two products takes beyond six, by what was issued in the gap before. hgemm/serpentine,
// B.reuse, f32 sums: nothing 0.0, arithmetic 1.1, IMAD 2.0 to 2.4, IMAD.WIDE 5.5. The same with f16
// sums: 0.1, 0.5, 0.6 to 2.0, 4.1. tf32/constant_slots, A.reuse: 0.1, 0 between products alone,
// 0.3, 5.8. The clock: 0.2, 0.9, 1.4 to 2.2, 6; 0.1, 0.6, 1.5, 5.5; 0, 0, 0.1, 5.
// lab/clock/frozen.cu: a warp of FFMA each of which waits for the one before takes 4.2 clocks for
// one alone, and 6.0 beside a warp of products.)
//
// An access reads its registers when it leaves the queue for memory; what is issued behind it waits
// for the ports. (lab/clock/ports.cu on an H200: beside FFMA that keep the ports busy an LDS costs
// 0.8 clocks, however wide it is, an STS 1.1, an STS.128 4; so says the clock.)
#pragma once
#include <stdint.h>

#include "sass/sass_code.h"

enum { CLOCK_BANKS = 2 };

typedef struct ClockBanks {
  uint64_t taken[CLOCK_BANKS];  // bit i: the port is taken i clocks from now
  uint64_t heavy;               // bit i: no product reads i clocks from now
  uint64_t product;             // bit i: a product does
  int warp[SASS_SLOTS][CLOCK_BANKS], number[SASS_SLOTS][CLOCK_BANKS];  // the cache; warp -1: empty
  int kept_for, kept[SASS_SLOTS];  // operands of products: the warp, -1: of none; their registers
  int product_reads;               // clocks for which the last product takes a port
  double product_weight;  // what an access beside it costs of what it costs beside f32 sums
} ClockBanks;

void clock_banks_begin(ClockBanks *banks);
// Registers that each bank has to give the instruction of this warp.
void clock_banks_needs(const ClockBanks *banks, int warp, const SassInst *inst,
                       int need[CLOCK_BANKS]);
// Takes the ports within `window` clocks, or longer where an operand count asks for it, and fills
// the cache; false, and nothing is taken, where they are not free. A product's window is the clocks
// of its pipe.
bool clock_banks_give(ClockBanks *banks, int warp, const SassInst *inst, int window);
// Registers that an access reads of each bank: its address, of global memory in two, the data of a
// store, and of LDGSTS the address that it copies to.
void clock_banks_access(const SassInst *inst, int need[CLOCK_BANKS]);
// Takes the first free clocks of the ports for it, as if so many clocks ago.
void clock_banks_read(ClockBanks *banks, const int need[CLOCK_BANKS], int64_t ago);
// So many clocks go by.
void clock_banks_tick(ClockBanks *banks, int64_t clocks);
// Fills the cache without a port; an instruction that waits for none, such as a load.
void clock_banks_keep(ClockBanks *banks, int warp, const SassInst *inst);
// A register that is written is read anew.
void clock_banks_forget(ClockBanks *banks, int number);
// Operands that the cache gives.
int clock_banks_cached(const ClockBanks *banks, int warp, const SassInst *inst);
// The first two registers that one bank has to give; false where no bank gives two.
bool clock_banks_pair(const ClockBanks *banks, int warp, const SassInst *inst, int *one,
                      int *other);
