// Sites → phases → distinct patterns.
//
// Worked example: 128 rows of 64 bytes, chunks of 16. "4*lane, col 0" as sts32 is one phase of 32
// requests for chunks 0, 16, 32, … 496, all at position 0 of their chunk. There are 8 columns, so
// at least 32 / 8 = 4 wavefronts, whatever the layout: the floor. The same store for col 1 has
// position 1 and col 4 has chunks 1, 17, …: relative to the first chunk both are one of two
// patterns.
#include "banks/solver/slab_pattern.h"

#include <string.h>

#include "base/whole.h"

static int chunk_bytes(const LayoutSlab *slab, const SlabSite *sites, int n_sites) {
  int whole = slab->elem_bytes > 4 ? slab->elem_bytes : 4;
  for (int s = 0; s < n_sites; s++)
    if (sites[s].op->bytes > whole) whole = sites[s].op->bytes;
  return whole;
}

static bool has_request(const SlabPattern *p, int chunk, int position) {
  for (int r = 0; r < p->n; r++)
    if (p->chunk[r] == chunk && p->position[r] == position) return true;
  return false;
}

// The requests of lanes first … first + n - 1, chunks still absolute.
static SlabPattern collect(const SlabSite *site, const int32_t *logical, int n_lanes, int whole) {
  SlabPattern p = {.weight = site->weight};
  int unit = site->op->bytes > 4 ? site->op->bytes : 4;
  for (int lane = 0; lane < n_lanes; lane++) {
    if (logical[lane] < 0) continue;
    int chunk = logical[lane] / whole, position = logical[lane] % whole / unit;
    if (site->op->shares_words && has_request(&p, chunk, position)) continue;
    p.chunk[p.n] = chunk;
    p.position[p.n] = (uint8_t)position;
    p.at_position[position] |= 1u << p.n++;
  }
  return p;
}

// Positions hold for every layout only where rows are whole chunks: a pad that makes them so shifts
// each row by its own amount.
static void find_floor(SlabPattern *p, int n_columns, bool whole_rows) {
  p->floor = 1;
  for (int position = 0; whole_rows && position < 4; position++) {
    int floor = (int)ceil_div(__builtin_popcount(p->at_position[position]), n_columns);
    if (floor > p->floor) p->floor = floor;
  }
  for (int r = 0; r < p->n; r++) {
    int together = 0;
    for (int other = 0; other < p->n; other++)
      together += p->chunk[other] == p->chunk[r] && p->position[other] == p->position[r];
    if (together > p->most_together) p->most_together = together;
  }
  if (p->most_together > p->floor) p->floor = p->most_together;
}

static int most_chunks(const SlabPattern *p) {
  int most = 0;
  for (int position = 0; position < 4; position++) {
    int n = __builtin_popcount(p->at_position[position]);
    if (n > most) most = n;
  }
  return most;
}

static bool same_pattern(const SlabPattern *a, const SlabPattern *b) {
  return a->n == b->n && memcmp(a->chunk, b->chunk, sizeof a->chunk) == 0 &&
         memcmp(a->position, b->position, sizeof a->position) == 0;
}

static void add_pattern(SlabPattern *all, int *n, const SlabPattern *pattern) {
  for (int i = 0; i < *n; i++) {
    if (!same_pattern(&all[i], pattern)) continue;
    all[i].weight += pattern->weight;
    return;
  }
  all[(*n)++] = *pattern;
}

typedef struct Builder {
  SlabPatterns *out;
  bool whole_rows;  // every row is whole chunks
  SlabPattern *all;
  int64_t *site_floor;
  int *site_chunks;
} Builder;

static void add_site(Builder *b, const SlabSite *site, int index) {
  for (int i = 0; i < site->repeat && site->op->counted; i++) {
    int n_lanes, n_phases = slab_site_phases(site, i, &n_lanes);
    for (int phase = 0; phase < n_phases; phase++) {
      SlabPattern p =
          collect(site, &site->logical[i][phase * n_lanes], n_lanes, b->out->whole_bytes);
      if (p.n == 0) continue;
      find_floor(&p, 1 << b->out->column_bits, b->whole_rows);
      int first = p.chunk[0];
      for (int r = 0; r < p.n; r++) p.chunk[r] ^= first;
      b->site_floor[index] += p.floor;
      int chunks = b->whole_rows ? most_chunks(&p) : 0;
      if (chunks > b->site_chunks[index]) b->site_chunks[index] = chunks;
      if (site->weight > 0) add_pattern(b->all, &b->out->n, &p);
    }
  }
}

SlabPatterns slab_patterns_build(Arena *arena, const LayoutSlab *slab, const SlabSite *sites,
                                 int n_sites) {
  SlabPatterns out = {.whole_bytes = chunk_bytes(slab, sites, n_sites)};
  out.column_bits = log2_up(BANK_LINE_BYTES / out.whole_bytes);
  out.chunk_bits = log2_up(ceil_div(slab->rows * slab->row_bytes, out.whole_bytes));
  int room = 0;
  for (int s = 0; s < n_sites; s++) room += sites[s].repeat * BANK_PHASES_MAX;
  Builder b = {.out = &out, .all = ARENA_ARRAY(arena, SlabPattern, room)};
  b.whole_rows = slab->row_bytes % out.whole_bytes == 0;
  b.site_floor = ARENA_ARRAY(arena, int64_t, n_sites);
  b.site_chunks = ARENA_ARRAY(arena, int, n_sites);
  for (int s = 0; s < n_sites; s++) {
    add_site(&b, &sites[s], s);
    out.floor += b.site_floor[s] * sites[s].weight;
  }
  out.patterns = b.all;
  out.site_floor = b.site_floor;
  out.site_chunks = b.site_chunks;
  return out;
}
