// A line of a listing → what its words and operands say.
//
//   @!P0 LDG.E.128.CONSTANT R4, desc[UR6][R2.64+0x10]
//
// has the guard !P0, the name "LDG", the modifiers E, 128 and CONSTANT, and two operands: R4, and
// an address of the pair R2 and the number 16.
#pragma once
#include "base/arena.h"
#include "machine/mc_isa.h"

typedef enum McKind {
  MC_NONE,
  MC_REGISTER,  // R4, UR4: `number`
  MC_PREDICATE,
  MC_BARRIER,     // B0
  MC_NUMBER,      // `value`
  MC_CONSTANT,    // c[0x0][0x210]: `bank`, `value`, `number` of a register that is added
  MC_ADDRESS,     // [R2.64+UR4+0x10]: `number`, `uniform`, `value`
  MC_SPECIAL,     // SR_TID.X, SRZ: `text`
  MC_LABEL,       // `(.L_x_0): `text`
  MC_DESCRIPTOR,  // gdesc[UR16].tnspB: `uniform`, `turned`
} McKind;

enum { MC_RZ = 255, MC_URZ = 63, MC_PT = 7, MC_NO_REGISTER = -1 };

typedef struct McRead {
  McKind kind;
  bool is_uniform;                // UR4, UP0
  int number;                     // RZ, URZ, PT are 255, 63, 7; MC_NO_REGISTER: there is none
  int uniform;                    // of an address; MC_NO_REGISTER
  bool uniform_is_wide, is_wide;  // .64
  bool is_narrow;                 // .U32
  bool is_sign;                   // .SIGN: its upper bit as a predicate
  bool is_kept;                   // .reuse: an instruction soon behind it reads it, too
  int scale;                      // of the register of an address: 4 of [R5.X4]
  int bank;
  int64_t value;
  bool is_float;  // a number with a point, or none
  bool negated, absolute, inverted;
  int turned;  // of a descriptor: 1 for A, 2 for B
  int half;    // 1 of .H0_H0, 2 of .H1_H1, 0
  int shift;   // bits below the part that is meant: 8 of .B1, 16 of .H1
  const char *text;
} McRead;

typedef struct McLine {
  bool has_guard, guard_not, guard_is_uniform;
  int guard;
  const char *name;
  int n_words;
  struct {
    const char *text;
    int length;
    const McWord *word;  // NULL: it is not known
  } words[MC_WORDS_MAX];
  int n;
  McRead operands[MC_OPERANDS_MAX];
} McLine;

// NULL, or a sentence that names the part it does not understand.
const char *mc_read(Arena *arena, const char *text, McLine *out);
// The modifier of that class; NULL: it has none.
const McWord *mc_word_of(const McLine *line, const char *class);
