// Whether machine code is right with a word that differs in one bit from an instruction's: another
// opcode, modifier, number or register.
//
//   McNearby *words = mc_nearby(arena, kernel, pcs, n_pcs, MC_NEARBY_BITS, &n);     as bytes; the
//   caller has their texts mc_nearby_try(&code, &words[i], leaves, self, &lanes)    a run with this
//   one
//
//   P2R.B2 R0, PR, R13, 0xc2fc0000      bit 3 turned round: FSETP.GEU.AND P0, PT, R13, -126, PT
#pragma once
#include "machine/mc_module.h"
#include "machine/mc_repair.h"

// The opcode stands in the first bits; those behind all of these say when an instruction is issued.
enum { MC_OPCODE_BITS = 12, MC_NEARBY_BITS = 105 };

typedef struct McNearby {
  int pc, bit;
  unsigned char bytes[MC_BYTES];
  const char *text;  // NULL: it is no instruction, or not known
} McNearby;

// Machine code as it was opened.
typedef struct McNearbyCode {
  const McCubin *cubin;
  const McKernel *kernel;
  const McListing *listing;
  int n;
  const PtxModule *module;
} McNearbyCode;

// The words of these instructions with one of their first bits turned round.
McNearby *mc_nearby(Arena *arena, const McKernel *kernel, const int *pcs, int n_pcs, int bits,
                    int *n);
// Whether `leaves` is true of the code with this word. Words that mean what the instruction means,
// that are not run here, or leave results without a reader that had one, are not tried. *lanes gets
// those of the run, and what setting it up takes.
bool mc_nearby_try(const McNearbyCode *code, const McNearby *word, McLeaves *leaves, void *self,
                   int64_t *lanes);
