// The best layout of a slab for the sites that write and read it.
//
// Cost is the weighted total of wavefronts over all sites with known counts. Families tried, all of
// them keeping chunks of `whole_bytes` (the widest access, at least an element) whole:
//   none      row after row
//   swizzle   every Swizzle<B,M,S>
//   xor       every XOR of column bits with bits of the row            (layout "xor:…")
//   xoroff    every bijection linear over the bits of the index        (layout "xoroff:…")
//   pad       every pad up to one bank line; it alone costs memory
// The first in this list wins among equally good ones.
//
//   SolverResult result = solver_solve(arena, scratch, &problem);
//   result.best.layout      "swizzle:3,4,3"; layout_parse() reads it
//   result.total, .bound    meet when result.optimal
#pragma once
#include "banks/solver/slab_site.h"

enum { SOLVER_SITES_MAX = 64 };

typedef struct SolverProblem {
  const char *name;
  LayoutSlab slab;
  const SlabSite *sites;
  int n_sites;
} SolverProblem;

typedef enum SolverFamily {
  SOLVER_NONE,
  SOLVER_SWIZZLE,
  SOLVER_XOR,
  SOLVER_XOROFF,
  SOLVER_PAD,
  SOLVER_FAMILIES,
} SolverFamily;

typedef struct SolverCandidate {
  const char *layout;  // NULL when the family has no layout that is legal for all sites
  int64_t total;       // weighted wavefronts
  int storage_bytes;
  bool exact;  // the whole family was tried or excluded
} SolverCandidate;

typedef struct SolverResult {
  bool found;  // false: no layout is legal for all sites
  SolverFamily family;
  SolverCandidate best, families[SOLVER_FAMILIES];
  const SlabCost *costs;      // [n_sites], in the best layout
  const int64_t *site_floor;  // [n_sites]: no layout needs fewer wavefronts, site by site
  int64_t bound;              // no layout of these families has a lower total
  bool optimal;               // best.total == bound
  int whole_bytes;
  const char *proof;  // one or two sentences: why nothing is lower
} SolverResult;

const char *solver_family_name(SolverFamily family);

// `scratch` is reset along the way.
SolverResult solver_solve(Arena *arena, Arena *scratch, const SolverProblem *problem);
