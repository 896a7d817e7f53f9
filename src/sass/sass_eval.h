// The result of an instruction of whole numbers, for one lane.
//
//   IADD3 R8, R2, 0x40, -R5        a + b - c
//   LOP3.LUT R5, R3, 7, RZ, 0xc0   the table 0xc0 is a & b
//
// Source of the fields: words and texts of nvdisasm 13.0 for sm_90a.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "sass/sass_code.h"

typedef struct SassIn {
  uint32_t a, b, c, c_high;  // c_high: of the register behind C, where C is a pair
  bool p, q, r;              // predicates at bits 87, 77 and 68
} SassIn;

typedef struct SassOut {
  uint32_t d, d_high;
  bool p;  // the predicate at bit 81
} SassOut;

enum {
  SASS_REGISTERS = 256,
  SASS_UNIFORMS = 64,
  SASS_PREDICATES = 8,
  SASS_RZ = 255,
  SASS_URZ = 63,
  SASS_R2UR = 0x0ca,  // bits 0 to 8: the first lane's register becomes a uniform one
};

typedef enum SassFrom {
  SASS_FROM_REGISTER,
  SASS_FROM_UNIFORM,
  SASS_FROM_IMMEDIATE,
  SASS_FROM_CONSTANT
} SassFrom;

// Where operand B (slot 1) or C (slot 2) of an instruction that computes comes from, and the bit at
// which operand A, B or C stands where it is a register.
SassFrom sass_operand_from(const SassInst *inst, int slot);
int sass_operand_place(const SassInst *inst, int slot);

// Which fields an operation has.
enum {
  SASS_HAS_A = 1,
  SASS_HAS_B = 2,
  SASS_HAS_C = 4,
  SASS_HAS_D = 8,
  SASS_HAS_D_HIGH = 16,
  SASS_HAS_C_HIGH = 32,
  SASS_HAS_P = 64,    // reads the predicate at 87
  SASS_HAS_Q = 128,   // … at 77
  SASS_HAS_R = 256,   // … at 68
  SASS_SETS_P = 512,  // sets the one at 81
};

typedef struct SassEval {
  int bits;  // of the opcode; those of the uniform datapath are 0x80 higher
  unsigned has;
  SassOut (*run)(const SassInst *inst, SassIn in);
} SassEval;

// NULL: what it computes is not known.
const SassEval *sass_eval_find(const SassInst *inst);
bool sass_is_uniform(const SassInst *inst);
// Bits of the whole instruction.
uint32_t sass_field(const SassInst *inst, int from, int n);
