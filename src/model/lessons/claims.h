// The numbers that articles claim, each beside what is found here.
//
//   const ClaimList *list = claims_read(arena, text, size, "claims/fp32.json", &world, &diags);
//   ClaimFound found;
//   if (claims_find(arena, &world, &list->claim[3], &found, &diags)) …
//   found.says "255 registers"   found.model "162 registers"   found.verdict CLAIM_DIFFERS
//
// A rung's own claim (ladder.h) is the time it was published for; here stands everything else that
// an article counts: registers, occupancy, conflicts, bytes. The file is one object; what is marked
// * must be there:
//   {"ladder": "fp32"*, "source": "…"*, "gpu": "RTX 5090, 2048^3"*, "claims": [*
//     {"what": "registers of a thread"*,       of what, in a few words
//      "rung": "fp32/tma", "state": "M=2048",  the knobs over the rung, or the defaults
//      "value": 255, "unit": "registers",      what the article says,
//      "says": "opaque",                       or, where that is no number, its words
//      "fact": "registers",                    what answers it here; without one only `why` does
//      "why": "…"*,                            one or two sentences; {FACT} is a computed value
//      "kernel": "s1688gemm_64x256",           of which kernel of cuBLAS: a part of its name
//      "beside": [{"what": "stack"*,           other figures of the same line of its table
//        "value": 304*, "unit": "B", "fact": "compiled_stack"*}],
//      "gpu": "…"}]}                           where it differs from the file's
// FACT is a text for fact_compute() (fact.def lists them): no number of ours is written in a file.
#pragma once
#include "model/lessons/fact.h"

typedef struct ClaimBeside {
  const char *what, *unit, *fact;
  double value;
} ClaimBeside;

typedef struct ClaimRow {
  const char *what, *says, *unit, *gpu, *fact, *why, *kernel;
  bool has_value;
  double value;
  Schedule schedule;
  int n_beside;
  const ClaimBeside *beside;
} ClaimRow;

typedef struct ClaimList {
  const char *ladder, *source;
  int n;
  const ClaimRow *row;
} ClaimList;

typedef enum ClaimVerdict {
  CLAIM_TOLD,     // nothing to compare: the sentence says what is known here
  CLAIM_AGREES,   // within 2 %, or the same word
  CLAIM_DIFFERS,  // it does not; the sentence says why, as far as that is known
  CLAIM_ABOVE,    // the figure is above what the fact says that it can be at most
} ClaimVerdict;

typedef struct ClaimFound {
  const char *says;   // with its unit
  const char *model;  // the same; "" when there is no fact
  FactValue value;    // of the fact
  ClaimVerdict verdict;
  double above;     // ABOVE: by which share of the limit
  const char *why;  // filled in; behind it the figures beside, each with ours
} ClaimFound;

const char *claim_verdict_name(ClaimVerdict verdict);  // "agrees"
// "agrees", "above the limit by 1.9 %", "above the estimated limit by 1.6 %".
const char *claim_verdict_text(Arena *arena, const ClaimFound *found);

// NULL when anything is wrong; the findings say what and where.
const ClaimList *claims_read(Arena *arena, const char *text, size_t n, const char *what,
                             const FactWorld *world, Diags *diags);

// False after findings: a state that is not legal, a fact that cannot be computed.
bool claims_find(Arena *arena, const FactWorld *world, const ClaimRow *row, ClaimFound *out,
                 Diags *diags);
