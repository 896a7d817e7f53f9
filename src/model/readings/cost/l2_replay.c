// Grid → hits in L2, wave by wave.
//
// The blocks of a wave walk along K side by side, so of a panel that several of them read each slab
// comes once and is a hit for the others. Panels of waves gone by are there as long as all that was
// read and written since fits: L2 is taken to keep what was used last, a wave at a time. A wave
// larger than L2 leaves nothing, for its own last slabs drive out its first ones before anybody
// comes back. Where L2 has two halves, each keeps what its SMs read: panels are there twice, tiles
// of C once.
//
// Each panel is booked under the wave that read it last; going back from the newest wave, what fits
// is what is there. Worked example, 4096³ tf32 in tiles of 128 × 128, 52 blocks at once, 32 MiB in
// one part: in rows a wave reads 2 or 3 panels of A and 32 of B, 2 MiB each, 68 MiB; it leaves
// nothing, and of 104 panels asked for 34 are fetched: 67 % hits. In groups of eight it reads 15,
// 30 MiB; with 3 MiB of C that is too much as well, and the next wave finds none of them.
//
// A kernel that has just run leaves what its last waves used. Worked example, 2048³ of f32 on an
// H200, 60 MiB: 32 MiB of panels take 64, so that it finds nothing when it runs again; with 1024³
// all is there.
//
// All that CTAs of a cluster fetch together is asked for once, and booked under the first of them.
//
// The work is bounded: of many waves the first are replayed, and those after the first, which
// alone starts with nothing, stand for the rest.
#include "model/readings/cost/l2_replay.h"

#include <math.h>

#include "base/whole.h"

typedef struct Panel {
  int64_t key;   // panel + 1; 0: free
  int64_t wave;  // that read it last
} Panel;

typedef struct Replay {
  const Grid *grid;
  Panel *slot;  // open addressing
  uint64_t mask;
  double *booked;  // [waves] bytes that this wave was the last to use
  double *gone;    // [waves] the share of them that is not there any more
  int64_t wave;    // being replayed, the how-manieth
} Replay;

// Bytes of panels: asked for, not there, and those that differ within a wave.
typedef struct Read {
  double asked, missed, distinct;
} Read;

static Panel *find(Replay *replay, int64_t panel) {
  uint64_t at = (uint64_t)panel * UINT64_C(0x9e3779b97f4a7c15) >> 20;
  while (replay->slot[at & replay->mask].key && replay->slot[at & replay->mask].key != panel + 1)
    at++;
  return &replay->slot[at & replay->mask];
}

static void touch(Replay *replay, int64_t number, double bytes, Read *read) {
  Panel *panel = find(replay, number);
  const bool seen = panel->key != 0;
  const double kept = bytes * replay->grid->l2_copies;
  read->asked += bytes;
  read->missed += bytes * (seen ? replay->gone[panel->wave] : 1);
  if (!seen || panel->wave < replay->wave) read->distinct += bytes;
  if (seen) replay->booked[panel->wave] -= kept;
  *panel = (Panel){number + 1, replay->wave};
  replay->booked[replay->wave] += kept;
}

// L2 keeps all that takes three quarters of it; beyond that a growing part is lost. (lab/clock/
// kept.cu on an H200, beside 16 MiB that are written: of 12 MiB that all SMs read 5 % are lost, of
// 16 17 %, of 20 56 %, of 24 89 %, of 28 all; with nothing written 2 % of 28, 75 % of 32, all of
// 36. Waves of blocks overlap, so that they lose later: of 126 counted kernels the bytes of DRAM
// come out within 2 % in the mean with 1.35 and within 3 % with the 1.15 of that walk.)
static double share_gone(const Replay *replay, double bytes) {
  const double all_there = 0.75, none_there = 1.35;
  const double full = bytes / (double)replay->grid->l2_bytes;
  return fmin(1, fmax(0, (full - all_there) / (none_there - all_there)));
}

static void find_gone(Replay *replay) {
  double bytes = 0;
  for (int64_t wave = replay->wave - 1; wave >= 0; wave--) {
    bytes += replay->booked[wave];
    replay->gone[wave] = share_gone(replay, bytes);
  }
}

// The next wave replayed is wave `number` of the grid.
static Read replay_wave(Replay *replay, int64_t number) {
  const Grid *grid = replay->grid;
  const int64_t first = number * grid->wave_ctas, n = grid_wave_size(grid, number);
  Read read = {0};
  find_gone(replay);
  for (int64_t i = 0; i < n; i += GRID_BATCH) {
    GridCta cta[GRID_BATCH];
    int got = grid_ctas(grid, first + i, cta);
    for (int b = 0; b < got && i + b < n; b++) {
      const GridCta *at = &cta[b];
      if (at->col % grid->sharers_a == 0)
        touch(replay, grid_a_panel(grid, at->row, at->col, at->split),
              (double)grid_panel_bytes(grid, AXIS_M, at->row, at->split), &read);
      if (at->row % grid->sharers_b == 0)
        touch(replay, grid_b_panel(grid, at->col, at->split),
              (double)grid_panel_bytes(grid, AXIS_N, at->col, at->split), &read);
    }
  }
  replay->booked[replay->wave++] += (double)(n * grid_written_bytes(grid));
  return read;
}

static Replay new_replay(Arena *scratch, const Grid *grid, int64_t n_waves) {
  const uint64_t panels = (uint64_t)min64(2 * n_waves * grid->wave_ctas, grid_panels(grid));
  uint64_t size = 16;
  while (size < 2 * panels) size *= 2;
  return (Replay){.grid = grid,
                  .slot = ARENA_ARRAY(scratch, Panel, size),
                  .mask = size - 1,
                  .booked = ARENA_ARRAY(scratch, double, n_waves + 1),
                  .gone = ARENA_ARRAY(scratch, double, n_waves + 1)};
}

static double share(const Read *read) {
  return read->distinct > 0 ? read->missed / read->distinct : 0;
}

// The first `n` waves: the first of them, and the others together.
static L2Missed replay_waves(Replay *replay, int64_t n, Read *first, Read *later) {
  *first = replay_wave(replay, 0);
  *later = (Read){0};
  for (int64_t i = 1; i < n; i++) {
    const Read read = replay_wave(replay, i);
    later->asked += read.asked;
    later->missed += read.missed;
    later->distinct += read.distinct;
  }
  return (L2Missed){share(first), share(later)};
}

L2Replay l2_replay(Arena *scratch, const Grid *grid) {
  const int64_t n = min64(grid->n_waves, max64(2, L2_REPLAY_CTAS / grid->wave_ctas));
  Replay replay = new_replay(scratch, grid, n), warm = new_replay(scratch, grid, 2 * n);
  Read first, later;
  L2Replay all = {.empty = replay_waves(&replay, n, &first, &later)};
  double times = 1;  // that the waves after the first come
  if (n < grid->n_waves)
    times += (double)(grid->n_ctas - n * grid->wave_ctas) / (double)((n - 1) * grid->wave_ctas);
  all.asked_bytes = first.asked + times * later.asked;
  all.missed_bytes = first.missed + times * later.missed;
  all.hit = all.asked_bytes > 0 ? 1 - all.missed_bytes / all.asked_bytes : 0;
  for (int64_t i = grid->n_waves - n; i < grid->n_waves; i++) replay_wave(&warm, i);
  all.again = replay_waves(&warm, n, &first, &later);
  return all;
}
