// The register file of one scheduler: when its two banks can give an instruction its operands.
//
// A bank has one port and gives one register of a warp a clock. An operand marked .reuse stays in
// the cache of its slot and bank until another operand of that slot and bank is read; the warp that
// set it finds it there. A register that is named twice is read once.
//
//   FFMA R84, R8, R35, R84    the even bank gives R8 and R84, the odd one R35: two clocks of the
//   even port
#pragma once
#include <stdint.h>

#include "sass/sass_code.h"

enum { CLOCK_BANKS = 2 };

typedef struct ClockBanks {
  uint64_t taken[CLOCK_BANKS];  // bit i: the port is taken i clocks from now
  int warp[SASS_SLOTS][CLOCK_BANKS], number[SASS_SLOTS][CLOCK_BANKS];  // the cache; warp -1: empty
} ClockBanks;

void clock_banks_begin(ClockBanks *banks);
// Registers that each bank has to give the instruction of this warp.
void clock_banks_needs(const ClockBanks *banks, int warp, const SassInst *inst,
                       int need[CLOCK_BANKS]);
// Takes the ports within `window` clocks, or longer where an operand count asks for it, and fills
// the cache; false, and nothing is taken, where they are not free.
bool clock_banks_give(ClockBanks *banks, int warp, const SassInst *inst, int window);
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
