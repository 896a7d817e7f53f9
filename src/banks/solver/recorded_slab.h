// Accesses to an array in shared memory as they were recorded: lane addresses instead of formulas,
// and what they would cost if the array lay otherwise.
//
//   RecordedArray tile = {.base = 0, .bytes = 4096, .row_bytes = 128, .elem_bytes = 4};
//   RecordedCost now = recorded_cost(arena, &tile, sites, n, NULL, &diags);
//   RecordedCost pad = recorded_cost(arena, &tile, sites, n, "pad:1", &diags);
//   RecordedBest best = recorded_solve(arena, scratch, &tile, sites, n);
//
// A layout is a text that layout_parse() reads. Wavefronts are the profiler's (BankCount.profiled).
#pragma once
#include "banks/engine/bank_atomic.h"
#include "banks/layouts/layout.h"
#include "banks/solver/solver.h"

// One set of addresses, and how often it came.
typedef struct RecordedPattern {
  int64_t times;
  int64_t addr[BANK_LANES];  // in shared memory
  // For cp.async: where it reads, from a line of global memory on; unset for others.
  int64_t global[BANK_LANES];
  const struct RecordedPattern *next;
} RecordedPattern;

typedef struct RecordedSite {
  const BankOp *op;  // NULL: an atomic operation, or one that has no count
  BankAtomic atomic;
  int bytes;  // of one lane
  const RecordedPattern *patterns;
  int n_patterns;
  int64_t left_out;  // executions whose addresses were not kept
} RecordedSite;

typedef struct RecordedArray {
  int64_t base, bytes;
  int row_bytes, elem_bytes;
  bool has_rows;  // false: its rows are not known, those of row_bytes are lines of banks
} RecordedArray;

typedef struct RecordedCost {
  bool legal;  // false: an access would be torn apart or misaligned, or the layout is none (diags)
  bool known;  // false: some site has no count; the sum is of the others
  int64_t wavefronts;
  int64_t storage_bytes;
} RecordedCost;

// One execution of the site.
BankCount recorded_count(const RecordedSite *site, const int64_t addr[BANK_LANES],
                         const int64_t global[BANK_LANES]);

// The rows that the array has; false with a finding of rule "slab" where its pitch does not fit.
bool recorded_slab(const RecordedArray *array, LayoutSlab *out, Diags *diags);
// NULL: as they are.
RecordedCost recorded_cost(Arena *arena, const RecordedArray *array, const RecordedSite *sites,
                           int n, const char *layout, Diags *diags);
// The same addresses in a layout, for a punch card. False: it is not legal there.
bool recorded_addresses(const RecordedArray *array, const RecordedSite *site, const Layout *layout,
                        const int64_t from[BANK_LANES], int64_t to[BANK_LANES]);

// The array as a problem of layouts: its sites are the patterns of one operation that came equally
// often, the costliest first, up to SOLVER_SITES_MAX. `of` gets the recorded site that each is of;
// NULL: patterns of different sites are put together. False where recorded_slab() is, and where an
// access reaches beyond the array.
bool recorded_problem(Arena *arena, const RecordedArray *array, const char *name,
                      const RecordedSite *sites, int n, SolverProblem *out,
                      int of[SOLVER_SITES_MAX], Diags *diags);

typedef struct RecordedBest {
  bool found;          // something costs less than now
  const char *layout;  // as layout_parse() reads it
  const char *write;   // "As[row][col ^ ((row & 7) << 2)]"
  RecordedCost cost;
  const char *proof;
} RecordedBest;

// `name` is what the array is called in the text to write. `scratch` is reset along the way.
RecordedBest recorded_solve(Arena *arena, Arena *scratch, const RecordedArray *array,
                            const char *name, const RecordedSite *sites, int n);
// A layout in the words of CUDA: a pad as a declaration, all others as an index; where rows are not
// known, of i, the index of an element.
const char *recorded_write(Arena *arena, const RecordedArray *array, const char *name,
                           const char *layout);
