// The 32 bits that tell tcgen05.mma what it multiplies: types, shape, which operands are
// transposed.
//
//   InstructionDescriptor d;
//   instruction_descriptor_parse(arena, "f16", "0x08400490", &d, &diags)
//   instruction_descriptor_parse(arena, "f16", "d=f32,a=bf16,b=bf16,m=128,n=256", &d, &diags)
//
// Which bits mean what depends on the kind (.kind::f16, …). Sources: PTX ISA 9.0, "Instruction
// descriptor" (tables 42 to 44) and "Matrix Shape" (table 39) of tcgen05.
#pragma once
#include <stdint.h>

#include "base/diag.h"

// Kinds of one format have the same fields.
typedef enum InstructionFormat {
  INSTRUCTION_PLAIN,     // tf32, f16, f8f6f4, i8
  INSTRUCTION_SCALED_8,  // mxf8f6f4
  INSTRUCTION_SCALED_4,  // mxf4, mxf4nvf4
  INSTRUCTION_FORMATS,
} InstructionFormat;

// Tells what the codes of a field stand for.
typedef enum InstructionCodes {
  CODES_NUMBER,   // the number itself, times InstructionField.unit
  CODES_SWITCH,   // 0 or 1
  CODES_SUM,      // type of D
  CODES_OPERAND,  // type of A, or of B
  CODES_SCALE,    // type of the scale factors
  CODES_MAJOR,    // k or mn: which runs fastest in shared memory
  CODES_SHIFT,    // 0, 8, 16 or 32
  CODES_ZERO,     // reserved: 0
} InstructionCodes;

typedef struct InstructionField {
  const char *name;  // as it is typed; "" for reserved bits
  int first, bits;
  int unit;  // of a number: what one stands for
  InstructionCodes codes;
  const char *what;
} InstructionField;

enum { INSTRUCTION_FIELDS_MAX = 18 };

typedef struct InstructionKind {
  const char *name;  // "f16", as .kind::f16 has it
  InstructionFormat format;
  int k;  // of one instruction, dense; twice as much where A is sparse
} InstructionKind;

typedef struct InstructionDescriptor {
  const InstructionKind *kind;
  uint32_t word;
} InstructionDescriptor;

// How the instruction is issued, which its descriptor does not say.
typedef struct InstructionUse {
  int cta_group;           // 1, or 2: a pair of CTAs
  bool weight_stationary;  // .ws
} InstructionUse;

const InstructionKind *instruction_kind_find(const char *name);  // NULL: there is none
int instruction_kind_names(const char *const **names);  // how many; in the order of the ISA

int instruction_field_count(const InstructionKind *kind);
const InstructionField *instruction_field_at(const InstructionKind *kind, int index);
// For the field called `name`; -1 where the kind has none. m and n are in rows and columns.
int instruction_value(const InstructionDescriptor *descriptor, const char *name);
// "bf16", "128", "K-major": what a field of it says; "code 6" where that means nothing.
const char *instruction_field_text(Arena *arena, const InstructionDescriptor *descriptor,
                                   const InstructionField *field);

// A number of 32 bits, or fields; what is not named is 0, but for the type of D (f32 or s32) and of
// the scale factors. False after a finding of rule "idesc".
bool instruction_descriptor_parse(Arena *arena, const char *kind, const char *text,
                                  InstructionDescriptor *out, Diags *diags);

// Values of K that one instruction multiplies.
int instruction_k(const InstructionDescriptor *descriptor);
// "D": the ISA's letter for where D lies in tensor memory, with a sentence; NULL where the shape is
// not legal. PTX ISA, "Data Path Layout Organization".
const char *instruction_data_path(const InstructionDescriptor *descriptor, InstructionUse use,
                                  const char **letter);

// A sentence where the ISA's table has the shape and CUTLASS, which asks for more, has not; or
// NULL.
const char *instruction_shape_note(Arena *arena, const InstructionDescriptor *descriptor,
                                   InstructionUse use);

// A finding of rule "idesc" for everything that is illegal.
bool instruction_descriptor_check(Arena *arena, const InstructionDescriptor *descriptor,
                                  InstructionUse use, Diags *diags);
