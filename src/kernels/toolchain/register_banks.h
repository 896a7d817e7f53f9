// Bank conflicts of FFMA in the register file, predicted from the machine code.
//
// The rule, for sm_70 to sm_90: a thread's registers lie in two banks, even and odd numbers, each
// of which gives 64 bits of two registers a clock (Jia et al., Dissecting the NVIDIA Volta GPU
// Architecture via Microbenchmarking, 2018, section 3.3.1). Three different registers of one bank
// take a clock more. An operand marked .reuse stays in the cache of its operand slot and needs no
// bank where the next instruction that reads a register in that slot reads the same one.
#pragma once
#include "kernels/toolchain/sass.h"

typedef enum RegisterBankMark {
  BANK_MARK_NONE,      // no FFMA, or its registers are of both banks, or fewer than three
  BANK_MARK_SPARED,    // three registers of one bank, but for one or more that are reused
  BANK_MARK_CONFLICT,  // one clock more
} RegisterBankMark;

typedef struct RegisterBanks {
  const RegisterBankMark *mark;  // of each line of the listing
  int n_ffma, n_conflicts, n_spared;
  int n_reused;  // operands of FFMA that come from the cache of their slot
} RegisterBanks;

// All kernels of the listing together.
RegisterBanks register_banks_read(Arena *arena, const SassResult *sass);

// "2048 FFMA: 96 wait a clock for a register bank (!), 512 spared it by .reuse (r)"; "" where
// there is no FFMA.
const char *register_banks_sentence(Arena *arena, const RegisterBanks *banks);
// "!" of a conflict, "r" of one that reuse spares, "" else.
const char *register_bank_sign(RegisterBankMark mark);
