// Machine code of sm_70 to sm_120 → decoded instructions: what an instruction is, which registers
// it reads in which operand slot, and what its control word says.
//
// An instruction has 16 bytes. Bits 0-8 name the operation, 9-11 the form of its operands, 12-15
// the guard; the registers lie at 16 (destination), 24, 32 and 64 (operands A, B, C). From bit 105
// on stands the control word: clocks to the warp's next issue (4 bits), yield, the scoreboards that
// the result and the read of the operands release (3 bits each, 7 = none), the scoreboards that are
// waited for (6 bits), and a reuse flag for each operand slot (4 bits). Source: Jia et al.,
// Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018, chapter 2; compared
// with nvdisasm 13.0 for sm_80, 86, 89, 90a, 100a and 120a.
//
//   FFMA R84, R8, R35, R84   stall 1, waits for scoreboard 0   ->  .opcode FFMA, .reads {8, 35,
//   84}, .stall 1, .wait 1
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum {
  SASS_BYTES = 16,       // of an instruction
  SASS_SCOREBOARDS = 6,  // of a warp
  SASS_SLOTS = 3,        // operands A, B and C that may be registers
  SASS_ALWAYS = 7,       // the predicate that always holds
  SASS_NO_REGISTER = -1,
  SASS_NO_TARGET = -1,
};

// The unit that carries an instruction out.
typedef enum SassPipe {
  SASS_PIPE_FMA,        // FFMA, FMUL, FADD: both halves of the FMA pipe
  SASS_PIPE_FMA_HEAVY,  // IMAD: one half
  SASS_PIPE_ALU,
  SASS_PIPE_HALF,  // HFMA2
  SASS_PIPE_DOUBLE,
  SASS_PIPE_XU,      // MUFU, conversions
  SASS_PIPE_TENSOR,  // mma.sync
  SASS_PIPE_GROUP,   // wgmma: asked for by a warp, carried out beside it
  SASS_PIPE_SHARED,  // LDS, STS, LDSM: the shared pipe of an SM
  SASS_PIPE_FAR,     // LDG, STG, LDL: L1 and what lies behind
  SASS_PIPE_UNIFORM,
  SASS_PIPE_CONTROL,  // branches, barriers, NOP
  SASS_PIPE_COUNT
} SassPipe;

typedef enum SassKind {
  SASS_KIND_PLAIN,
  SASS_KIND_LOAD,  // its result comes behind a scoreboard
  SASS_KIND_STORE,
  SASS_KIND_COPY,  // global to shared memory: LDGSTS, UTMALDG
  SASS_KIND_BRANCH,
  SASS_KIND_BARRIER,   // BAR
  SASS_KIND_DEPBAR,    // waits until a scoreboard has at most this number open
  SASS_KIND_COMMIT,    // LDGDEPBAR: what was copied so far is one group
  SASS_KIND_MBARRIER,  // SYNCS
  SASS_KIND_EXIT,
  SASS_KIND_RETURN,
} SassKind;

// One row of sass_opcode.def.
typedef struct SassOpcode {
  int bits;          // 0 to 8 of the instruction
  const char *name;  // as nvdisasm prints it, without modifiers
  SassPipe pipe;
  SassKind kind;
  unsigned slots;  // which operands may be registers: bits of sass_opcode.def
} SassOpcode;

typedef struct SassInst {
  uint64_t low, high;        // as it stands in the code
  const SassOpcode *opcode;  // never NULL: a row of its own stands for what is not known
  int form;                  // bits 9 to 11: where B and C come from
  int written;               // first register of the result; SASS_NO_REGISTER
  int read[SASS_SLOTS];      // register in each slot; SASS_NO_REGISTER
  unsigned reuse;            // a bit for each slot
  int stall;                 // clocks to the warp's next issue; 0 counts as 1
  bool yields;
  int writes_scoreboard, reads_scoreboard;  // SASS_SCOREBOARDS and more: none
  unsigned wait;                            // a bit for each scoreboard
  int guard;                                // predicate that guards it; SASS_ALWAYS: none
  bool guard_is_not;                        // it is carried out where the predicate is false
  int target;               // of a branch: the index of an instruction; SASS_NO_TARGET
  bool goes_on;             // the next instruction may follow it
  int bytes;                // that a lane moves, of a load or store; 0
  int scoreboard, at_most;  // of DEPBAR: the scoreboard, and the number that may stay open
} SassInst;

typedef struct SassCode {
  int n;
  const SassInst *inst;
} SassCode;

// `bytes` of a section .text.KERNEL; what is left over behind the last whole instruction is not
// looked at. `sm`: compute capability, 90 of sm_90a; 0 = unknown, read as those from sm_90 on.
SassCode sass_decode(Arena *arena, const unsigned char *text, size_t bytes, int sm);
// The row of that name; NULL: there is none.
const SassOpcode *sass_opcode_find(const char *name);
