// The cost of a program, derived from its own statements: sites, resources, traffic.
#pragma once
#include "model/ir/names.h"
#include "model/readings/model.h"

// The shared-memory access statements of the main kernel, in program order. The prologue's copies
// are left out where the loop has the same ones.
typedef struct Sites {
  int n;
  const Site *site;
  // 128-byte lines per slab: what tensor cores read of tiles and factors, through the same pipe as
  // the sites; and what boxes of TMA and copies of 16 bytes write, which come past it.
  double lines, copies;
} Sites;
// Derives the sites as written: each has the cost of every width that its accesses could be merged
// to, as if all of them were; the written width comes first.
Sites derive_sites(Arena *arena, const Program *program);
// Derives the sites as executed, by `machine`'s word; sites that it does not name are taken over as
// `word` has them.
Sites sites_executed(Arena *arena, const Sites *written, const MachineAccesses *machine,
                     AccessWord word);
// Gives a site these forms, the one with the most clocks first, and what follows from them.
void site_take_forms(Arena *arena, Site *site, const SiteForm *form, int n);
SiteTotals derive_totals(const Sites *sites);

// The accesses to global memory of the main kernel in program order, numbered from `number` on.
Globals derive_globals(Arena *arena, const Program *program, int number);

// Holds what a warp (a warpgroup, by its atoms) of fused attention works on: queries, keys of a
// block, and the head dimension. Read off the program by resources, off the knobs by rules.
typedef struct AttentionPart {
  const Atom *atom;
  int64_t rows, keys, dim;
  bool keeps_queries;  // all fragments of Q, from the first block of keys to the last
} AttentionPart;
// Registers of a thread: O and S, in which P comes to lie where an atom is a warpgroup's; and
// fragments, of which those of one step are there at a time, of Q and K or of P and V, in whatever
// order the text reads them: the compiler moves reads to where they are wanted. A warpgroup's atom
// has none.
int64_t attention_sums(const AttentionPart *part);
int64_t attention_fragments(const AttentionPart *part);

Resources derive_resources(const Program *program, const Target *target);

// The same once the compiler has spoken: `registers` per thread instead of the estimate, and the
// blocks per SM, limiter, occupancy and waves that follow from it; and what a thread spills, of
// `spill_bytes` that its code stores, and loads again (-1: not known, the estimate stays).
Resources resources_with_registers(const Resources *estimate, const Target *target, int registers,
                                   int spill_bytes);

// One SM's share of a bandwidth in GB/s, in bytes per clock; NaN stays NaN.
double traffic_bytes_per_clock(const Target *target, double gbps);

Traffic derive_traffic(Arena *arena, const Model *model);
