// A kernel's machine code as a module that the machine for PTX runs: one instruction each.
//
// One frame holds the registers of a warp: R0 to R255, UR0 to UR63, barriers, and some of our own:
// T, 64 bits wide, for pairs and for operands with a sign; and K, numbers and words of constant
// banks. An instruction that PTX has too is that instruction, on these registers:
//
//   FFMA R4, R8, -R9, R4          T0 = R9 with its sign turned;  fma.rn.f32 R4, R8, T0, R4
//   LDG.E.64 R6, desc[UR4][R2.64+0x8]     T0 = R3:R2 + 8;  ld.global.v2.b32 {R6, R7}, [T0]
//   BSSY B0, …; BSYNC B0          activemask.b32 B0; bar.warp.sync B0
//
// and all others are run by a function of their own (mc_run.h).
#pragma once
#include "base/diag.h"
#include "machine/mc_read.h"
#include "ptx/module/ptx_module.h"

// The frame.
enum {
  MC_FRAME_R = 0,
  MC_FRAME_UR = 256,
  MC_FRAME_B = MC_FRAME_UR + 64,
  MC_FRAME_BR = MC_FRAME_B + 16,  // what the last BAR.RED gave
  MC_FRAME_T = MC_FRAME_BR + 1,
  MC_TEMPORARIES = 8,
  MC_FRAME_K = MC_FRAME_T + MC_TEMPORARIES,
  MC_FRAME_P = 0,
  MC_FRAME_UP = 8,
  MC_FRAME_BP = 16,  // the predicate that the last BAR.RED gave
  MC_REGISTERS_OF_ONE = 4,
  MC_BYTES = 16,  // of an instruction
};

// An operand, settled: the place of its registers, and the change made to each of them.
typedef struct McOperand {
  char letter;  // of mc_op.def
  bool present;
  int n;                            // registers
  PtxArg arg[MC_REGISTERS_OF_ONE];  // in the frame; of a predicate: its number
  uint32_t keep, flip, add;         // ((x & keep) ^ flip) + add
  bool negated;                     // of a predicate
  bool is_vector;                   // registers one by one, not a number of 64 bits
  const McRead *read;
} McOperand;

typedef enum McGatherKind {
  MC_GATHER_32,
  MC_GATHER_64,
  MC_GATHER_HALVES,   // one half twice, or both
  MC_GATHER_ADDRESS,  // of global memory, or a generic one
  MC_GATHER_SHARED,
  MC_GATHER_CLUSTER,  // shared memory of any block
  MC_GATHER_COUNT,    // the arrivals that an mbarrier awaits, of what it begins with
  MC_GATHER_SIXTEENS,
  MC_GATHER_PARITY,
  MC_GATHER_PART,  // a byte or a half of a register, and what lies above it
} McGatherKind;

// Something that is put into T before the instruction is run as PTX.
typedef struct McGather {
  McGatherKind kind;
  int t;
  PtxArg low, high, uniform, uniform_high;  // ~PTX_SPECIAL_zero: none
  int scale, half;
  int64_t offset;
  uint64_t keep, flip, add;
} McGather;

// A pair that is taken out of T behind it.
typedef struct McScatter {
  int t;
  bool is_token;  // the phase of an mbarrier: its parity stands in bit 63
  PtxArg low, high;
} McScatter;

typedef struct McStep {
  const McOp *op;
  uint64_t words[(MC_WORDS + 63) / 64];
  McOperand operands[MC_OPERANDS_MAX];  // as the row names them
  int n;
  bool is_uniform;  // once for the warp: all lanes of its result
  int n_gathers, n_scatters;
  McGather gathers[MC_TEMPORARIES];
  McScatter scatters[2];
  const PtxInst *as;   // NULL: the row's function
  int64_t reach;       // of a branch, or BSSY: the byte it names, a register aside
  uint64_t low, high;  // as it stands in the code
} McStep;

static inline bool mc_has(const McStep *step, McWordId word) {
  return step->words[word / 64] >> (word % 64) & 1;
}

// The contents of a K: a number, or a word of a constant bank.
typedef struct McFixed {
  bool is_number;
  int bank;
  int64_t value;  // the number, or the place in the bank
} McFixed;

enum { MC_BANKS = 8 };

typedef struct McBank {
  const char *section;
  unsigned char *bytes;  // NULL: the kernel has no such bank
  int64_t n;
} McBank;

typedef struct McCode {
  int n_fixed;
  const McFixed *fixed;
  McBank banks[MC_BANKS];
  int parameters;  // where they begin in bank 0
  int sm;
  int stack_bytes;  // of a thread
} McCode;

// ---- mc_plan.c ----------------------------------------------------------------------------------

typedef struct McPlan {
  Arena *arena;
  int n_fixed, cap_fixed;
  McFixed *fixed;
} McPlan;

// The PTX for a line (without ';'), or "" where the row's function runs it; NULL with a sentence in
// *why.
const char *mc_plan(McPlan *plan, const McLine *line, uint64_t low, uint64_t high, McStep *out,
                    const char **why);
