// Bank conflicts of FFMA in the register file, predicted from the machine code.
//
// The rule: a thread's registers lie in two banks, even and odd numbers (Jia et al., Dissecting the
// NVIDIA Volta GPU Architecture via Microbenchmarking, 2018, section 3.3.1). A bank gives one
// register of a warp a clock. Where a scheduler issues an FFMA every clock (sm_86, sm_89, sm_90 and
// later: 32 lanes of FP32 each), two registers of one bank are one too many; where an FFMA takes
// two clocks (sm_70, sm_75, sm_80: 16 lanes), three are. An operand marked .reuse stays in the
// cache of its operand slot and bank, and needs no bank where the next instruction that reads a
// register of that bank in that slot reads the same one.
//
// A neighbour may leave free what one FFMA wants too much: reads may come up to three clocks
// late. So one that reads a bank twice costs a clock at most, and nothing where its neighbours
// leave that bank free. Of 14 patterns timed on an H200 (2026-11-22, `gemmview probe --registers`)
// each is within 0.05 clocks of the fuller bank's reads. Of FFMA of four kernels that the profiler
// sampled on an H200 (2026-11-27, tests/data/h200_dispatch.tsv) those that read a bank more often
// wait longer for their dispatch.
#pragma once
#include "clock/clock_marks.h"
#include "kernels/toolchain/machine/sass.h"

// How an architecture reads the operands of FFMA.
typedef struct RegisterBankRule {
  int first_sm, last_sm;
  int clocks;  // of an FFMA of one warp, and so reads of each bank that cost nothing
  const char *source;
} RegisterBankRule;

// The row of a compute capability, 90 of sm_90a; the newest row for one that is not known.
const RegisterBankRule *register_bank_rule(int sm);

// All kernels of the listing together; a mark for each of its lines.
ClockMarks register_banks_read(Arena *arena, const SassResult *sass, int sm);

// Clocks of an FFMA, if nothing but the banks and its issue held them up; 0 without any.
double register_banks_clocks(const ClockMarks *banks);

// "1024 FFMA: 182 read a bank twice (!), .reuse spares 842 (r); 97 to 182 clocks"; "" where there
// is no FFMA.
const char *register_banks_sentence(Arena *arena, const ClockMarks *banks);
// "!" of a conflict, "r" of one that reuse spares, "" else.
const char *register_bank_sign(ClockBankMark mark);
