// cp.async for bank.c: what comes through L1, and what bypasses it.
#pragma once
#include "banks/engine/bank.h"

// The bounds of a copy past L1 without a given source: `profiled` and `profiled_most`.
void banks_bound_copy(const int64_t addr[BANK_LANES], BankCount *count);
// A copy past L1: its bounds and its ideal.
void banks_copy_past_l1(const BankOp *op, const int64_t addr[BANK_LANES],
                        const int64_t source[BANK_LANES], BankCount *count);
BankCount banks_copy_through_l1(const BankOp *op, const int64_t addr[BANK_LANES],
                                const int64_t source[BANK_LANES]);
