// Worked example, a100, 92 registers, 224 threads, 16384 bytes: a warp takes 92 * 32 = 2944,
// rounded up to 3072 registers; each of four parts has 16384, so room for 5 warps, 20 in all; a
// block has 7 warps: 2 blocks. Shared memory takes 16384 + 1024: 9 blocks; warps allow 64 / 7 = 9.
#include "model/readings/cost/occupancy.h"

#include "base/whole.h"

enum { LANES_OF_WARP = 32 };

static const char *const STEP_NAMES[OCCUPANCY_STEPS] = {"registers", "shared memory", "threads",
                                                        "blocks"};

const char *occupancy_step_name(OccupancyStep step) { return STEP_NAMES[step]; }

static int64_t warps_of(int threads) { return ceil_div(threads, LANES_OF_WARP); }

int64_t occupancy_warp_registers(const Target *target, int registers) {
  return round_up((int64_t)registers * LANES_OF_WARP, target->reg_alloc_unit);
}

int64_t occupancy_by_registers(const Target *target, int64_t warp_registers, int threads) {
  const int64_t parts = target->warp_alloc_unit;
  if (warp_registers == 0) return target->max_blocks_per_sm;
  return target->regs_per_sm / parts / warp_registers * parts / warps_of(threads);
}

int64_t occupancy_by_smem(const Target *target, int64_t smem_bytes) {
  const int64_t taken =
      round_up(smem_bytes + target->smem_reserved_per_block, target->smem_alloc_unit);
  return taken ? target->smem_per_sm / taken : target->max_blocks_per_sm;
}

int64_t occupancy_by_warps(const Target *target, int threads) {
  return target->max_warps_per_sm / warps_of(threads);
}

// A block has to fit as if its warps filled every part of the SM.
static const char *illegality(const Target *target, const BlockNeeds *needs) {
  const int64_t warps = round_up(warps_of(needs->threads), target->warp_alloc_unit);
  if (needs->threads > target->max_threads_per_block) return "more threads than a block may have";
  if (needs->registers > target->max_regs_per_thread)
    return "more registers than a thread may have";
  if (needs->smem_bytes > target->smem_per_block)
    return "more shared memory than a block may ask for";
  if (occupancy_warp_registers(target, needs->registers) * warps > target->regs_per_sm)
    return "more registers than an SM has";
  return NULL;
}

Occupancy occupancy_of(const Target *target, const BlockNeeds *needs) {
  const int64_t warp_registers = occupancy_warp_registers(target, needs->registers);
  Occupancy out = {.step = {[OCCUPANCY_REGISTERS] =
                                occupancy_by_registers(target, warp_registers, needs->threads),
                            [OCCUPANCY_SMEM] = occupancy_by_smem(target, needs->smem_bytes),
                            [OCCUPANCY_WARPS] = occupancy_by_warps(target, needs->threads),
                            [OCCUPANCY_BLOCKS] = target->max_blocks_per_sm},
                   .illegal = illegality(target, needs)};
  out.blocks = out.step[0];
  for (int i = 1; i < OCCUPANCY_STEPS; i++) out.blocks = min64(out.blocks, out.step[i]);
  if (out.illegal) out.blocks = 0;
  out.warps = out.blocks * warps_of(needs->threads);
  out.share = (double)out.warps / target->max_warps_per_sm;
  return out;
}

bool occupancy_limits(const Occupancy *occupancy, OccupancyStep step) {
  int64_t least = occupancy->step[0];
  for (int i = 1; i < OCCUPANCY_STEPS; i++) least = min64(least, occupancy->step[i]);
  return occupancy->step[step] == least;
}

static int64_t need_of(const BlockNeeds *needs, OccupancyStep step) {
  return step == OCCUPANCY_REGISTERS ? needs->registers
         : step == OCCUPANCY_SMEM    ? needs->smem_bytes
         : step == OCCUPANCY_WARPS   ? needs->threads
                                     : 0;
}

static BlockNeeds with_need(const BlockNeeds *needs, OccupancyStep step, int64_t value) {
  BlockNeeds out = *needs;
  if (step == OCCUPANCY_REGISTERS) out.registers = (int)value;
  if (step == OCCUPANCY_SMEM) out.smem_bytes = value;
  if (step == OCCUPANCY_WARPS) out.threads = (int)value;
  return out;
}

// More of a need never lets more blocks in, so halving finds the largest value that lets in one
// more.
int64_t occupancy_next(const Target *target, const BlockNeeds *needs, OccupancyStep step,
                       Occupancy *then) {
  const int64_t now = occupancy_of(target, needs).blocks;
  int64_t good = step == OCCUPANCY_SMEM ? 0 : 1, bad = need_of(needs, step);
  BlockNeeds trial = with_need(needs, step, good);
  if (good >= bad || occupancy_of(target, &trial).blocks <= now) return -1;
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    trial = with_need(needs, step, middle);
    if (occupancy_of(target, &trial).blocks > now)
      good = middle;
    else
      bad = middle;
  }
  trial = with_need(needs, step, good);
  *then = occupancy_of(target, &trial);
  return good;
}
