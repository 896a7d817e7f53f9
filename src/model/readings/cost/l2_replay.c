// Grid → hits in L2, wave by wave.
//
// The blocks of a wave walk along K side by side, so of a panel that several of them read each slab
// comes once and is a hit for the others. Panels of waves gone by are there as long as all that was
// read since fits: L2 is taken to keep what was used last, a wave at a time. A wave larger than L2
// leaves nothing, for its own last slabs drive out its first ones before anybody comes back.
//
// Each panel is booked under the wave that read it last; going back from the newest wave, what fits
// is what is there. Worked example, 4096³ tf32 in tiles of 128 × 128, 52 blocks at once, 32 MiB: in
// rows a wave reads 2 or 3 panels of A and 32 of B, 2 MiB each, 68 MiB; it leaves nothing, and of
// 104 panels asked for 34 are fetched: 67 % hits. In groups of eight it reads 15, 30 MiB, and the
// next wave finds the 8 of B: 7 of 104 are fetched.
//
// All that CTAs of a cluster fetch together is asked for once, and booked under the first of them.
//
// The work is bounded: of many waves the first are replayed, and those after the first, which
// alone starts with nothing, stand for the rest.
#include "model/readings/cost/l2_replay.h"

#include "base/whole.h"

typedef struct Panel {
  int64_t key;   // panel + 1; 0: free
  int64_t wave;  // that read it last
} Panel;

typedef struct Replay {
  const Grid *grid;
  Panel *slot;  // open addressing
  uint64_t mask;
  double *booked;                  // [waves] bytes of panels that this wave was the last to read
  int64_t wave;                    // being replayed
  int64_t oldest;                  // the first wave whose panels are still there
  double asked, missed, distinct;  // of this wave; each panel once
} Replay;

static Panel *find(Replay *replay, int64_t panel) {
  uint64_t at = (uint64_t)panel * UINT64_C(0x9e3779b97f4a7c15) >> 20;
  while (replay->slot[at & replay->mask].key && replay->slot[at & replay->mask].key != panel + 1)
    at++;
  return &replay->slot[at & replay->mask];
}

static void touch(Replay *replay, int64_t number, double bytes) {
  Panel *panel = find(replay, number);
  bool seen = panel->key != 0;
  replay->asked += bytes;
  if (!seen || panel->wave < replay->oldest) replay->missed += bytes;
  if (!seen || panel->wave < replay->wave) replay->distinct += bytes;
  if (seen) replay->booked[panel->wave] -= bytes;
  *panel = (Panel){number + 1, replay->wave};
  replay->booked[replay->wave] += bytes;
}

static int64_t oldest_wave(const Replay *replay) {
  double bytes = 0;
  int64_t wave = replay->wave;
  while (wave > 0 && bytes + replay->booked[wave - 1] <= (double)replay->grid->l2_bytes)
    bytes += replay->booked[--wave];
  return wave;
}

static void replay_wave(Replay *replay) {
  const Grid *grid = replay->grid;
  int64_t first = replay->wave * grid->wave_ctas, n = grid_wave_size(grid, replay->wave);
  replay->oldest = oldest_wave(replay);
  replay->asked = replay->missed = replay->distinct = 0;
  for (int64_t i = 0; i < n; i += GRID_BATCH) {
    GridCta cta[GRID_BATCH];
    int got = grid_ctas(grid, first + i, cta);
    for (int b = 0; b < got && i + b < n; b++) {
      const GridCta *at = &cta[b];
      if (at->col % grid->sharers_a == 0)
        touch(replay, grid_a_panel(grid, at->row, at->col, at->split),
              (double)grid_panel_bytes(grid, AXIS_M, at->row, at->split));
      if (at->row % grid->sharers_b == 0)
        touch(replay, grid_b_panel(grid, at->col, at->split),
              (double)grid_panel_bytes(grid, AXIS_N, at->col, at->split));
    }
  }
}

static Replay new_replay(Arena *scratch, const Grid *grid, int64_t n_waves) {
  const uint64_t panels = (uint64_t)min64(2 * n_waves * grid->wave_ctas, grid_panels(grid));
  uint64_t size = 16;
  while (size < 2 * panels) size *= 2;
  return (Replay){.grid = grid,
                  .slot = ARENA_ARRAY(scratch, Panel, size),
                  .mask = size - 1,
                  .booked = ARENA_ARRAY(scratch, double, n_waves)};
}

L2Replay l2_replay(Arena *scratch, const Grid *grid) {
  L2Replay all = {0};
  int64_t n_waves = min64(grid->n_waves, max64(2, L2_REPLAY_CTAS / grid->wave_ctas));
  Replay replay = new_replay(scratch, grid, n_waves);
  double later_asked = 0, later_missed = 0, later_distinct = 0;
  for (; replay.wave < n_waves; replay.wave++) {
    replay_wave(&replay);
    all.asked_bytes += replay.asked;
    all.missed_bytes += replay.missed;
    if (replay.wave == 0) continue;
    later_asked += replay.asked;
    later_missed += replay.missed;
    later_distinct += replay.distinct;
  }
  if (n_waves < grid->n_waves) {
    double rest = (double)(grid->n_ctas - n_waves * grid->wave_ctas) /
                  (double)((n_waves - 1) * grid->wave_ctas);
    all.asked_bytes += rest * later_asked;
    all.missed_bytes += rest * later_missed;
  }
  all.missed_share = later_distinct > 0 ? later_missed / later_distinct : 0;
  all.hit = all.asked_bytes > 0 ? 1 - all.missed_bytes / all.asked_bytes : 0;
  return all;
}
