// Predicates that the compiler keeps in the bits of a register, and loses there.
//
// A thread has seven predicates. What more ptxas keeps is a bit each of a register: it clears and
// sets the bit where the predicate is computed, and tests it where it is needed:
//   LOP3.LUT R0, R0, 0xfffffffb, RZ, 0xc0, !PT       bit 2 = 0
//   @P0 LOP3.LUT R0, R0, 0x4, RZ, 0xfc, !PT          bit 2 = P0
//   LOP3.LUT P2, RZ, R0, 0x4, RZ, 0xc0, !PT          P2 = bit 2
// ptxas 12.9, 13.0, 13.1, 13.2 and 13.5 (12.8 does not) have written other things to such a
// register in between, as long as it was needed: in a kernel with 40 bounds of rows k_o + 2 came to
// stand in R0, and by the bits of that number loads were left out, 449,312 wrong cells on an H100
// where the PTX is right. It was seen with 38 and with 40 bounds in unrolled loops that ask for
// boxes of TMA; texts are written so that no bits are kept there (model/text/emit_parts.h).
#pragma once
#include "kernels/toolchain/machine/sass.h"

typedef struct LostPredicate {
  int test;         // line of the listing that tests the bit
  int overwritten;  // line that has written something else to the register, and reaches the test
  int reg, bit;
} LostPredicate;

typedef struct LostPredicates {
  int n_saved;  // bits of registers that are predicates: cleared one by one, and tested
  int n;
  const LostPredicate *lost;  // [n], in the order of the tests
} LostPredicates;

// All kernels of the listing. A number whose bit is tested counts where the same bit of the same
// register is a saved predicate elsewhere in the kernel, so this is a strong suspicion and no
// proof.
LostPredicates predicates_lost(Arena *arena, const SassResult *sass);

// "ptxas loses predicates: IMAD.U32 at 1ca0 overwrites bit 0 of R0, which 2110 tests, and 3 more";
// "" where none is lost.
const char *predicates_lost_sentence(Arena *arena, const SassResult *sass,
                                     const LostPredicates *lost);
