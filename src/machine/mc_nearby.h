// Whether machine code is right with a word that differs in one bit from an instruction's: another
// opcode, modifier, number or register.
//
//   McNearby *words = mc_nearby(arena, kernel, pcs, n_pcs, MC_NEARBY_BITS, &n);     as bytes; the
//   caller has their texts
//   mc_nearby_right(&code, words, n, &judge)     a run with each of them
//
//   P2R.B2 R0, PR, R13, 0xc2fc0000      bit 3 turned round: FSETP.GEU.AND P0, PT, R13, -126, PT
#pragma once
#include "machine/mc_like.h"
#include "machine/mc_module.h"
#include "machine/mc_repair.h"

// The opcode stands in the first bits; those behind all of these say when an instruction is issued.
enum { MC_OPCODE_BITS = 12, MC_NEARBY_BITS = 105 };

typedef struct McNearby {
  int pc, bit;
  unsigned char bytes[MC_BYTES];
  const char *text;  // NULL: it is no instruction, or not known
  // Set where it is right: how much liker to others the instruction is, with what else tells for
  // it, and whether it is the instruction's own operation.
  int gain, looks;  // looks: without what else tells
  bool is_same_op;
  // Other registers that it reads or writes, n 0: none; and the instruction that wrote them, or
  // reads them next: with the first registers there code means the same. -1: none.
  McSwap swap;
  int or_pc;
  // Its word where memory is right with that as well, and nothing tells which of the two is wrong;
  // NULL.
  const struct McNearby *as_likely;
} McNearby;

// The words of the instruction `or_pc` with which it has the other register, as bytes: few.
McNearby *mc_nearby_counterparts(Arena *arena, const McKernel *kernel, const McNearby *word,
                                 int *n);

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
// Several words may be right: the first one is given, the first that makes its instruction liker to
// others (mc_like.h), else the one of the likeliest instruction, or this one of all.
typedef enum McNearbyWhich { MC_NEARBY_FIRST, MC_NEARBY_GAINS, MC_NEARBY_LIKELIEST } McNearbyWhich;

// Says, in operands, what else tells for a change that makes memory right; NULL: nothing.
typedef int McWorth(void *self, const PtxModule *module);

typedef struct McNearbyJudge {
  McLeaves *leaves;
  McWorth *worth;
  void *self;
  McNearbyWhich which;
  int64_t lanes;  // lane instructions that all trials together may take
  // MC_NEARBY_BITS for each instruction: words that are not right, which are not tried again; NULL.
  bool *failed;
  bool remembers;  // adds to them
} McNearbyJudge;

// The first of these words, those of an instruction behind each other, with which `leaves` is true
// of the code; NULL: none. Words that mean what the instruction means, that are not run here, or
// leave results without a reader that had one, are not tried.
McNearby *mc_nearby_right(const McNearbyCode *code, McNearby *words, int n,
                          const McNearbyJudge *judge);
