// Questions that --against asks of its other files.
#pragma once
#include "cli/open/against/against_sides.h"
#include "cli/open/open_cubin.h"
#include "cli/open/open_parts.h"
#include "machine/back/mc_back.h"
#include "machine/mc_nearby.h"
#include "ptx/module/ptx_module.h"

typedef struct Against {
  Arena *arena;
  const OpenRequest *given;
  const OpenResult *r;
  Sides sides;
  const PtxModule *shown;  // the PTX as it was given
  const char *ptx;         // its text as it was run last
  size_t ptx_bytes;
  int n_fused;  // sums that the machine code fuses with products, and that text, too
  const char *cubin;
  size_t cubin_bytes;
  LineTable lines;  // of the machine code: lines of the PTX
  bool is_endless;  // the machine code took far more instructions than the PTX
  Str out;          // the report
} Against;

// ---- open_against.c -----------------------------------------------------------------------------

// An instruction of the machine code, and the line of the PTX that it was made from.
const char *against_machine_text(const Against *a, int pc);
const char *against_origin_text(const Against *a, int pc);
// Runs the sides again (McAgain); self: Against.
bool against_again(void *self, bool machine_code, PtxTrace *trace, PtxAccessSink *sink,
                   void *context);
// Lane instructions of a run beside this one.
int64_t against_budget(const Side *side);

// ---- against_prove.c ----------------------------------------------------------------------------

// Adds to the report which change makes the machine code right. `line`: of the PTX, for each
// instruction.
void against_prove(Against *a, const McFault *fault, const Side *ptx, const SideWord *word,
                   const int *line);

// ---- against_fused.c ----------------------------------------------------------------------------

// Sums that machine code fuses with products, where the PTX leaves that to it.
typedef struct FusedGiven {
  const char *text;  // of the PTX
  size_t bytes;
  const char *kernel;
  const PtxModule *ptx, *code;
  const int *line;  // for each instruction of the machine code that of the PTX
} FusedGiven;

// The text with those sums as fma, each in its line; NULL: there are none.
const char *fused_text(Arena *arena, const FusedGiven *given, int *n);

// ---- against_nearby.c ---------------------------------------------------------------------------

// The instruction of machine code that is right with one bit of its word turned round.
typedef struct NearbyGiven {
  const char *kernel;
  const char *cubin;
  size_t bytes;
  const PtxModule *module;  // of this cubin
  const int *hints;         // instructions, the likely ones first
  int n_hints;
  int bits;  // of each, the first ones
  McNearbyJudge judge;
  OpenListings *known;  // texts of words that were asked for before; those of this call are added
} NearbyGiven;

// NULL: none is found.
const McNearby *against_nearby(Arena *arena, const NearbyGiven *given);
