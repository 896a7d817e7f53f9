// Turns of loops, or a run → the ways of warps → the blocks of an SM.
#include "kernels/toolchain/machine/launch_play.h"

#include <string.h>

#include "base/whole.h"
#include "kernels/toolchain/machine/clock_facts.h"
#include "kernels/toolchain/machine/play_parts.h"

enum { ALWAYS = 7, STRETCHES_MAX = 1 << 20, LINE = 128 };
static const char no_room[] = "none of its blocks fits an SM",
                  no_end[] = "one of its warps does not end";

// ---- the way of a warp --------------------------------------------------------------------------

typedef struct Walk {
  const KernelPlay *play;
  const int *turns;
  int gone[CLOCK_MARKS_MAX];  // turns of each loop so far
  int pc, first, n;
  SassStretch *stretch;  // NULL: they are counted only
} Walk;

static int loop_at(const KernelPlay *play, int pc) {
  for (int i = 0; i < play->n_loops; i++)
    if (play->loop[i].last == pc) return i;
  return -1;
}

static void end_stretch(Walk *walk, int next) {
  if (walk->stretch) walk->stretch[walk->n] = (SassStretch){walk->first, walk->pc};
  walk->n++;
  walk->pc = walk->first = next;
}

// Where the warp goes from the branch under it; -1: on.
static int next_of(Walk *walk, const SassInst *inst) {
  const int loop = loop_at(walk->play, walk->pc);
  if (loop >= 0) {
    if (++walk->gone[loop] < walk->turns[loop]) return inst->target;
    walk->gone[loop] = 0;
    return -1;
  }
  return inst->target > walk->pc && inst->guard == ALWAYS ? inst->target : -1;
}

static bool ends(const SassInst *inst) {
  return (inst->opcode->kind == SASS_KIND_EXIT && inst->guard == ALWAYS) || !inst->goes_on;
}

// False: it goes on for too long.
static bool walk_kernel(Walk *walk) {
  const SassCode *code = &walk->play->code;
  while (walk->pc < code->n && walk->n < STRETCHES_MAX) {
    const SassInst *inst = &code->inst[walk->pc];
    const int next = inst->target == SASS_NO_TARGET ? -1 : next_of(walk, inst);
    if (next >= 0 && next < code->n) {
      end_stretch(walk, next);
      continue;
    }
    if (ends(inst) || walk->pc == code->n - 1) {
      end_stretch(walk, code->n);
      return true;
    }
    walk->pc++;
  }
  return false;
}

static bool find_way(Arena *arena, const KernelPlay *play, const int *turns, SassWay *out) {
  Walk count = {.play = play, .turns = turns};
  if (!walk_kernel(&count)) return false;
  Walk walk = {
      .play = play, .turns = turns, .stretch = ARENA_ARRAY(arena, SassStretch, count.n + 1)};
  walk_kernel(&walk);
  *out = (SassWay){.ended = true, .n_stretches = walk.n, .stretch = walk.stretch};
  for (int i = 0; i < walk.n; i++)
    out->instructions += walk.stretch[i].last - walk.stretch[i].first + 1;
  return true;
}

// ---- the SM -------------------------------------------------------------------------------------

// Blocks that are resident at once, by threads, registers and shared memory.
static int resident_of(const Target *target, const LaunchGiven *given) {
  enum { REGISTERS_STEP = 8, KIB = 1024 };
  const int64_t warps = ceil_div(given->threads, SASS_LANES),
                registers = round_up(given->registers, REGISTERS_STEP) * SASS_LANES * warps,
                smem = given->smem_bytes + KIB;  // the system's own part
  int64_t blocks = min64(CLOCK_WARPS_MAX / warps, target->max_blocks_per_sm);
  if (registers > 0) blocks = min64(blocks, target->regs_per_sm / registers);
  blocks = min64(blocks, target->smem_per_sm / smem);
  return (int)blocks;
}

static int warps_of(const LaunchGiven *given) { return (int)ceil_div(given->threads, SASS_LANES); }

// Fills what the launch says of the SM that has most blocks.
static void put_launch(KernelPlay *play, const Target *target, const LaunchGiven *given,
                       int resident) {
  play->in.warps = warps_of(given);
  play->in.resident = resident;
  play->in.n_loops = play->n_loops;
  play->in.grid = given->blocks;
  play->in.sms = target->sm_count;
  clock_kernel_blocks(&play->in, 0);
}

// ---- a run --------------------------------------------------------------------------------------

static bool all_end(const LaunchRun *run, int warps) {
  for (int k = 0; k < run->n_kinds; k++)
    for (int w = 0; w < warps; w++)
      if (!run->kind[k].way[w].ended) return false;
  return run->n_kinds > 0;
}

// The bytes of L2 that all blocks ask for.
static double asked_bytes(const KernelPlay *play) {
  double bytes = 0;
  for (int i = 0; i < play->code.n; i++)
    bytes += play->executed[i] * (play->in.box[i].bytes + play->in.far_bytes[i]);
  return bytes;
}

KernelPlay launch_play_run(Arena *arena, const SassCode *code, const Target *target,
                           const LaunchGiven *given, const LaunchRun *run) {
  KernelPlay out = {.code = *code};
  AccessCosts *costs = run->costs;
  out.n_loops = sass_loops(arena, code, out.loop, CLOCK_MARKS_MAX);
  const int warps = warps_of(given), resident = resident_of(target, given);
  if (resident < 1) return (KernelPlay){.why_not = no_room};
  if (!all_end(run, warps)) return (KernelPlay){.why_not = no_end};
  costs->local_share = play_spilled_share(
      &out, &(PlayRoom){resident, given->threads, given->smem_bytes, run->stack_bytes});
  access_costs_finish(costs);
  ClockBlock *kind = ARENA_ARRAY(arena, ClockBlock, run->n_kinds);
  memcpy(kind, run->kind, sizeof *kind * (size_t)run->n_kinds);
  out.in = (ClockKernel){.wavefronts = costs->wavefronts,
                         .lines = costs->lines,
                         .far_bytes = costs->far_bytes,
                         .far_share = costs->far_share,
                         .first_share = costs->first_share,
                         .new_share = costs->new_share,
                         .box = play_boxes(arena, code, kind[0].way, warps, LINE),
                         .n_kinds = run->n_kinds,
                         .kind = kind};
  put_launch(&out, target, given, resident);
  kernel_play_finish(arena, &out, kind, (double)given->blocks);
  // Where L2 does not keep the launch's memory, it fetches each byte of it once.
  const double asked = asked_bytes(&out),
               loads = play_new_loads(code, costs->new_share, kind[0].way, warps) *
                       min_int(out.in.blocks, resident);
  out.data_bytes = run->data_bytes < asked ? run->data_bytes : asked;
  const bool kept = out.data_bytes <= target_l2_kept(target);
  const double later = kept ? 0 : out.data_bytes / asked;
  out.empty = (ClockMissed){loads, 1, later};
  out.again = (ClockMissed){loads, !kept, later};
  return out;
}

// ---- words in place of a run --------------------------------------------------------------------

// All warps of the block go one way, and no access is told: each is as cheap as its instruction
// allows.
KernelPlay launch_play(Arena *arena, const SassCode *code, const Target *target,
                       const LaunchGiven *given, const int *turns) {
  KernelPlay walked = {.code = *code};
  SassWay one;
  walked.n_loops = sass_loops(arena, code, walked.loop, CLOCK_MARKS_MAX);
  if (!find_way(arena, &walked, turns, &one)) return (KernelPlay){.why_not = no_end};
  const int warps = warps_of(given);
  SassWay *way = ARENA_ARRAY(arena, SassWay, warps);
  for (int i = 0; i < warps; i++) way[i] = one;
  AccessCosts costs = access_costs_new(arena, code);
  const LaunchRun run = {.n_kinds = 1, .kind = &(ClockBlock){way}, .costs = &costs};
  return launch_play_run(arena, code, target, given, &run);
}
