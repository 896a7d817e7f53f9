// Grid and map of places → fetches that are left when each place sends for a panel once a turn.
//
// Where lists have places the panels of each are counted. Where they have none, of C clusters on
// the chip n ask for a panel: a place with room for r of them has none of the n with the
// probability (C-n choose r) / (C choose r), and the panel is fetched once by each place that has
// one. Worked example, 66 clusters, 8 of which share a panel, 12 places with room for 1 to 9: they
// expect to fetch it 5.7 times, not 8 and not once.
//
// The work is bounded: the first turns stand for all.
#include "model/readings/place/chip_merge.h"

#include <string.h>

#include "base/whole.h"

enum { TURNS_LOOKED_AT = 16, FETCHES_MAX = 1 << 14 };

typedef struct Seen {
  int64_t key, unit;  // key 0: free; the cluster that asked last
  int n;              // clusters that did
} Seen;

typedef struct Merging {
  const Grid *grid;
  const ChipMap *map;
  Seen *slot;  // open addressing
  uint64_t mask;
  const double *reached;  // [n] places that n clusters of a turn are in
  int n_reached;
  ChipMerge sum;
} Merging;

static double *expect_places(Arena *scratch, const ChipMap *map, int n_clusters) {
  double *reached = ARENA_ARRAY(scratch, double, n_clusters + 1);
  int all = 0;
  for (int place = 0; place < map->n; place++) all += map->room[place];
  for (int place = 0; place < map->n; place++) {
    double none = 1;
    for (int n = 1; n <= n_clusters; n++) {
      none *= (double)max64(0, all - map->room[place] - n + 1) / (double)max64(1, all - n + 1);
      reached[n] += 1 - none;
    }
  }
  for (int n = 1; n <= n_clusters && map->placed; n++) reached[n] = 1;
  return reached;
}

static Seen *find(Merging *m, int64_t key) {
  uint64_t at = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
  while (m->slot[at & m->mask].key && m->slot[at & m->mask].key != key) at++;
  return &m->slot[at & m->mask];
}

// The CTAs of a cluster are in one place, so that a panel which two of them want is sent for once.
static void ask(Merging *m, int operand, int64_t panel, int64_t unit, double bytes) {
  const int place = m->map->placed ? m->map->of_list[unit % m->map->lists] : 0;
  const int64_t key = panel * m->map->n + place + 1;
  Seen *seen = find(m, key);
  const bool again = seen->key && seen->unit == unit;
  double sent = 0;
  if (!again && seen->n < m->n_reached) {
    sent = m->reached[seen->n + 1] - m->reached[seen->n];
    seen->n++;
  }
  seen->key = key;
  seen->unit = unit;
  m->sum.asked[operand]++;
  m->sum.sent[operand] += sent;
  m->sum.asked_bytes += bytes;
  m->sum.sent_bytes += sent * bytes;
}

static void ask_of(Merging *m, const GridCta *cta) {
  const Grid *grid = m->grid;
  const int64_t unit = cta->index / grid->launch.cluster;
  if (cta->col % grid->sharers_a == 0)
    ask(m, ATOM_A, grid_a_panel(grid, cta->row, cta->col, cta->split), unit,
        (double)grid_panel_bytes(grid, AXIS_M, cta->row, cta->split));
  if (cta->row % grid->sharers_b == 0)
    ask(m, ATOM_B, grid_b_panel(grid, cta->col, cta->split), unit,
        (double)grid_panel_bytes(grid, AXIS_N, cta->col, cta->split));
}

static void look_at_turn(Merging *m, int64_t first, int64_t n) {
  memset(m->slot, 0, (m->mask + 1) * sizeof *m->slot);
  for (int64_t i = 0; i < n; i += GRID_BATCH) {
    GridCta cta[GRID_BATCH];
    const int got = grid_ctas(m->grid, first + i, cta);
    for (int b = 0; b < got && i + b < n; b++) ask_of(m, &cta[b]);
  }
}

static void divide(ChipMerge *sum, double turns) {
  for (int operand = 0; operand < 2; operand++) {
    sum->asked[operand] /= turns;
    sum->sent[operand] /= turns;
  }
  sum->asked_bytes /= turns;
  sum->sent_bytes /= turns;
}

double chip_merge_fetches(const double of_operand[2]) {
  return of_operand[ATOM_A] + of_operand[ATOM_B];
}

ChipMerge chip_merge(Arena *scratch, const Grid *grid, const ChipMap *map) {
  const int64_t turn = map->lists * grid->launch.cluster, fetches = 2 * turn;
  const int64_t most = min64(TURNS_LOOKED_AT, max64(1, FETCHES_MAX / fetches));
  const int64_t turns = min64(ceil_div(grid->n_ctas, turn), most);
  uint64_t size = 16;
  while (size < 2 * (uint64_t)fetches) size *= 2;
  Merging m = {.grid = grid,
               .map = map,
               .slot = ARENA_ARRAY(scratch, Seen, size),
               .mask = size - 1,
               .reached = expect_places(scratch, map, map->lists),
               .n_reached = map->lists};
  for (int64_t i = 0; i < turns; i++)
    look_at_turn(&m, i * turn, min64(turn, grid->n_ctas - i * turn));
  divide(&m.sum, (double)turns);
  return m.sum;
}
