// The words of machine code (SASS): the table of instructions and the table of modifiers.
//
// mc_op.def is read by the reader (which row does "IMAD.WIDE.U32" belong to, which operands does it
// have), the runner (as which PTX, or by which function), the help (`gemmview open --opcodes`) and
// the tests.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "ptx/module/ptx_isa.h"

enum { MC_WORDS_MAX = 8, MC_OPERANDS_MAX = 10 };

// A modifier: ".FTZ" is of the class FTZ and is ".ftz" in PTX.
typedef struct McWord {
  const char *name, *class, *ptx;
} McWord;

typedef enum McWordId {
#define WORD(id, name, class, ptx) MC_W_##id,
#include "machine/mc_word.def"
#undef WORD
  MC_WORDS
} McWordId;

extern const McWord mc_words[MC_WORDS];

typedef struct McOp {
  const char *name;      // without modifiers: "IMAD"
  const char *needs;     // modifiers that must be there: "WIDE"
  const char *operands;  // see mc_op.def
  const char *as;        // the PTX that does the same, see mc_op.def; NULL: `run` does it
  PtxRun *run;
  PtxFlow flow;
  const char *takes;  // classes of the other modifiers that may be there
  const char *help;
} McOp;

extern const McOp mc_ops[];
extern const int mc_op_count;

// The word of that spelling, without the dot; NULL: there is none.
const McWord *mc_word_find(const char *text, int length);
// Whether a list with blanks between has this word.
bool mc_listed(const char *list, const char *word, int length);

#define OP(name, needs, operands, as, run, flow, takes, help) extern PtxRun mc_run_##run;
#define mc_run_AS mc_run_as
#include "machine/mc_op.def"
#undef mc_run_AS
