// The cost of one atomic operation on shared memory by one warp.
//
// The wavefronts are the most lanes that ask for one bank, whether they mean one word or
// several; compare-and-swap takes two for each. An increment by a constant, whose old value no lane
// reads, is done for all lanes of a word at once (ATOMS.POPC.INC). The ideal is one. Measured on an
// H200 with 255 patterns of red, atom, increment, max and compare-and-swap.
#pragma once
#include "banks/engine/bank.h"

typedef enum BankAtomic {
  BANK_NO_ATOMIC,
  BANK_ATOMIC,
  BANK_ATOMIC_INCREMENT,
  BANK_ATOMIC_SWAP,  // compare-and-swap
} BankAtomic;

// `addr` as for banks_count().
BankCount banks_count_atomic(BankAtomic atomic, const int64_t addr[BANK_LANES]);
