// Bank conflicts of FFMA in the register file, predicted from the machine code.
//
// The rule: a thread's registers lie in two banks, even and odd numbers (Jia et al., Dissecting the
// NVIDIA Volta GPU Architecture via Microbenchmarking, 2018, section 3.3.1). A bank gives one
// register of a warp a clock, so FFMA in a row take as many clocks as the fuller bank has registers
// to give: two for three registers of both banks, three for three of one. An operand marked .reuse
// stays in the cache of its operand slot and needs no bank where the next instruction that reads a
// register in that slot reads the same one. Of 14 patterns timed on an H200 (2026-11-22, `gemmview
// probe --registers`) each is within 0.05 clocks of that.
#pragma once
#include "kernels/toolchain/sass.h"

typedef enum RegisterBankMark {
  BANK_MARK_NONE,      // no FFMA, or its registers are of both banks, or fewer than three
  BANK_MARK_SPARED,    // three registers of one bank, but for one or more that are reused
  BANK_MARK_CONFLICT,  // three of one bank: a clock more than three of both
} RegisterBankMark;

typedef struct RegisterBanks {
  const RegisterBankMark *mark;  // of each line of the listing
  int n_ffma, n_conflicts, n_spared;
  int n_reused;   // operands of FFMA that come from the cache of their slot
  int n_read[2];  // registers that the even and the odd bank give to FFMA
} RegisterBanks;

// All kernels of the listing together.
RegisterBanks register_banks_read(Arena *arena, const SassResult *sass);

// Clocks of an FFMA, if nothing but the banks and one issue a clock held them up; 0 without any.
double register_banks_clocks(const RegisterBanks *banks);

// "2048 FFMA: 96 wait a clock for a register bank (!), 512 spared it by .reuse (r)"; "" where
// there is no FFMA.
const char *register_banks_sentence(Arena *arena, const RegisterBanks *banks);
// "!" of a conflict, "r" of one that reuse spares, "" else.
const char *register_bank_sign(RegisterBankMark mark);
