// The phases of a set of sites, reduced to what an XOR layout can change.
//
// A layout that keeps aligned chunks of `whole_bytes` whole decides only in which of the
// 128 / whole_bytes columns of a bank line each chunk lies. So a phase is a list of (chunk,
// position in the chunk), and its wavefronts are the most of them that share a column
// and a position. Phases that differ by an XOR of all chunk numbers cost the same under every map
// that is linear over bits, and are kept once, with their weights added.
#pragma once
#include "banks/solver/slab_site.h"

typedef struct SlabPattern {
  int64_t weight;
  int n;                         // requests: distinct words, or all lanes for cp.async
  int chunk[BANK_LANES];         // relative to the first one (XOR)
  uint8_t position[BANK_LANES];  // in the chunk, in units of the access
  uint32_t at_position[4];       // bit r: request r is at that position
  int most_together;             // requests that no layout can separate
  int floor;                     // wavefronts below which no layout comes
} SlabPattern;

typedef struct SlabPatterns {
  int whole_bytes;
  int column_bits;  // log2 of the columns of a bank line
  int chunk_bits;   // log2, rounded up, of the chunks of the slab
  int n;
  const SlabPattern *patterns;
  int64_t floor;              // weighted total below which no layout comes
  const int64_t *site_floor;  // [n_sites], without the weight
  // For each site the request list that sets its floor: the requests for chunks at one position
  // (for different chunks, where lanes share words); 0 where rows are not whole chunks.
  const int *site_chunks;
} SlabPatterns;

SlabPatterns slab_patterns_build(Arena *arena, const LayoutSlab *slab, const SlabSite *sites,
                                 int n_sites);
