// Machine code, launch and addresses → the blocks of the SM that has most of them.
//
// Blocks are alike but for their number; of causal attention, whose blocks have more or fewer keys,
// the walk takes all that the SM runs. The first times that a warp comes by an access, its
// addresses are costed (access_costs.h).
//
// Worked example, 4,096 tiles on 132 SMs, two blocks at once: the SM with most runs 32, in 16
// generations, of which three are played.
#include "kernels/toolchain/machine/kernel_play.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "kernels/toolchain/machine/access_costs.h"
#include "kernels/toolchain/machine/play_parts.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/place/grid.h"
#include "model/readings/place/l2_sharing.h"

enum {
  PLAYED = 700000,  // instructions of an SM, from which on turns of the main loop are left out
  KEPT_MIN = 12,    // turns
};
// From Blackwell on parameters stand elsewhere, and uniform loads fetch them.
enum { FIRST_UNKNOWN = 100 };
enum { GRID_MAX = 4096 };  // blocks that are measured
enum { KINDS_MAX = 24, LINE = 128, PARAMETERS = 0x210 };

// ---- the launch ---------------------------------------------------------------------------------

static void put_word(SassLaunch *launch, int at, uint32_t value) {
  if (at + (int)sizeof value <= SASS_CONSTANTS) memcpy(launch->constant + at, &value, sizeof value);
}

// Where a parameter of the launch stands, behind pointers and maps; 0: the kernel takes none.
static int place_of(const EmitKernel *kernel, LaunchArg wanted) {
  enum { POINTER = 8, MAP = 128, MAP_ALIGNED = 64, WORD = 4 };
  int at = PARAMETERS;
  for (int i = 0; i < kernel->n_args; i++)
    at = kernel->arg[i].copy ? (int)round_up(at, MAP_ALIGNED) + MAP
                             : (int)round_up(at, POINTER) + POINTER;
  for (int arg = 0; arg < LAUNCH_ARGS; arg++) {
    const int bytes = launch_arg_facts(arg)->holds == HOLDS_POINTER ? POINTER : WORD;
    if (!kernel->takes[arg]) continue;
    at = (int)round_up(at, bytes);
    if (arg == (int)wanted) return at;
    at += bytes;
  }
  return 0;
}

// The number that a kernel takes for its operations of an action.
static LaunchArg number_for(OpAction action) {
  int arg = 0;
  while (arg + 1 < LAUNCH_ARGS && (launch_arg_facts(arg)->holds != HOLDS_NUMBER ||
                                   !(launch_arg_facts(arg)->taken >> action & 1)))
    arg++;
  return (LaunchArg)arg;
}

// The grid of a persistent kernel: the blocks that are resident at once, tiles at most.
static int64_t grid_of(const Model *model, const EmitKernel *kernel) {
  const int64_t at_once = model->target->sm_count * max_int(1, model->resources.blocks_per_sm);
  return kernel->persistent ? min64(kernel->n_blocks, at_once) : kernel->n_blocks;
}

// Lists of tiles that clusters claim, and where a block keeps its own. The first has most tiles.
typedef struct Lists {
  int n;  // 0: no block claims any
  uint32_t at;
} Lists;

static Lists lists_of(Arena *arena, const Model *model, int which) {
  const Program *program = model->program;
  const Stmt *claim = stmt_find_action(program->kernel[which].body, ACTION_CLAIM, ROLE_COUNT);
  if (!claim) return (Lists){0};
  const Grid *grid = grid_outline(arena, model);
  const int64_t clusters =
      grid->chip ? grid->chip->lists : grid_blocks(grid) / max64(1, grid->launch.cluster);
  return (Lists){(int)max64(1, clusters), (uint32_t)claim->op.dst.buffer->offset_bytes};
}

static SassLaunch launch_of(const Model *model, const EmitKernel *kernel, const Lists *lists,
                            int64_t block) {
  enum { APART = 40, NTID = 0, NCTAID = 12, STACK = 0x28, STACK_TOP = 0x10000 };
  SassLaunch out = {.threads = (int)kernel->n_threads, .block = block};
  out.blocks = grid_of(model, kernel);
  for (int i = 0; i < SASS_CONSTANTS / 8; i++) {
    const uint64_t pointer = (uint64_t)(i + 1) << APART;
    memcpy(out.constant + 8 * i, &pointer, sizeof pointer);
  }
  for (int i = 0; i < 3; i++) {
    put_word(&out, NTID + 4 * i, i ? 1 : (uint32_t)out.threads);
    put_word(&out, NCTAID + 4 * i, i ? 1 : (uint32_t)out.blocks);
  }
  put_word(&out, STACK, STACK_TOP);
  const uint32_t clusters = (uint32_t)(out.blocks / max64(1, kernel->cluster));
  if (kernel->takes[LAUNCH_GRID]) put_word(&out, place_of(kernel, LAUNCH_GRID), clusters);
  if (!lists->n) return out;
  out.claims = true;
  out.claimed_at = lists->at;
  put_word(&out, place_of(kernel, number_for(ACTION_CLAIM)), (uint32_t)lists->n);
  return out;
}

// ---- boxes --------------------------------------------------------------------------------------

// Bytes of a row of the boxes that are fetched, the mean over their maps.
static double row_bytes(const EmitKernel *kernel) {
  double bytes = 0, rows = 0;
  for (int i = 0; i < kernel->n_args; i++) {
    const EmitArg *arg = &kernel->arg[i];
    if (!arg->copy || arg->copy->dst.buffer->space != SPACE_SHARED) continue;
    const EmitMap map = emit_arg_map(arg);
    bytes += (double)map.box_columns * map.box_rows * dtype_bytes(arg->buffer->type);
    rows += map.box_rows;
  }
  return rows > 0 ? bytes / rows : LINE;
}

// ---- counts -------------------------------------------------------------------------------------

// How often warps of the whole grid come by each instruction; blocks that differ stand for others.
static const double *count_executed(Arena *arena, const SassCode *code, const ClockKernel *in,
                                    double blocks) {
  double *out = ARENA_ARRAY(arena, double, code->n + 1);
  for (int k = 0; k < in->n_kinds; k++)
    for (int w = 0; w < in->warps; w++)
      for (int i = 0; i < in->kind[k].way[w].n_stretches; i++) {
        const SassStretch *here = &in->kind[k].way[w].stretch[i];
        for (int at = here->first; at <= here->last; at++) out[at] += blocks / in->n_kinds;
      }
  return out;
}

// ---- all of it ----------------------------------------------------------------------------------

// The compiler's registers are known of the main kernel; of others threads alone count.
static int resident_of(const Model *model, const EmitKernel *kernel, int which) {
  const int warps = (int)ceil_div(kernel->n_threads, SASS_LANES);
  if (which != model->program->main_kernel) return max_int(1, CLOCK_WARPS_MAX / warps);
  return max_int(1, model->resources.blocks_per_sm);
}

// The walker: the launch of a kernel, and its findings on the way.
typedef struct Walker {
  Arena *arena;
  const Model *model;
  const EmitKernel *kernel;
  const SassPlan *plan;
  Lists lists;
  int warps, which;
  AccessCosts costs;
} Walker;

static SassWay *walk_block(Walker *walker, int64_t block) {
  SassWay *way = ARENA_ARRAY(walker->arena, SassWay, walker->warps);
  const SassListener listener = {access_costs_note, &walker->costs};
  const SassLaunch launch = launch_of(walker->model, walker->kernel, &walker->lists, block);
  for (int w = 0; w < walker->warps; w++) {
    way[w] = sass_run(walker->arena, walker->plan, &launch, w, &listener);
  }
  return way;
}

static int64_t instructions_of(const SassWay *way, int warps) {
  int64_t n = 0;
  for (int w = 0; w < warps; w++) n += way[w].instructions;
  return n;
}

static bool all_end(const SassWay *way, int warps) {
  for (int w = 0; w < warps; w++)
    if (!way[w].ended) return false;
  return true;
}

// Instructions of the first warp of a block.
static int64_t measure_block(const Walker *walker, int64_t block) {
  const SassLaunch launch = launch_of(walker->model, walker->kernel, &walker->lists, block);
  Arena *own = arena_new("measure");
  const int64_t n = sass_run(own, walker->plan, &launch, 0, NULL).instructions;
  arena_free(own);
  return n;
}

// Whether every block has the length of the one `period` in front of it: all of the first blocks,
// and some of those behind, at equal distances.
static bool comes_again(const Walker *walker, const int64_t *length, int64_t n, int64_t grid,
                        int64_t period) {
  enum { ASKED = 61 };
  for (int64_t i = period; i < n; i++)
    if (length[i] != length[i - period]) return false;
  for (int64_t i = 1; i <= ASKED; i++) {
    const int64_t block = n + (grid - 1 - n) * i / ASKED;
    if (block < grid && measure_block(walker, block) != length[block % period]) return false;
  }
  return true;
}

// The lengths of all blocks. Heads of attention are alike, so that lengths come again: three turns
// of them are measured, and samples of the others.
static const int64_t *measure_blocks(const Walker *walker, int64_t grid) {
  enum { TURNS = 3 };
  int64_t *length = ARENA_ARRAY(walker->arena, int64_t, grid), n = 0;
  for (int64_t period = 1; TURNS * period < grid; period *= 2) {
    for (; n < TURNS * period; n++) length[n] = measure_block(walker, n);
    if (!comes_again(walker, length, n, grid, period)) continue;
    for (int64_t i = n; i < grid; i++) length[i] = length[i % period];
    return length;
  }
  for (; n < grid; n++) length[n] = measure_block(walker, n);
  return length;
}

// The place that a block takes: the next one until all are taken, then the one that is free first.
static int64_t choose_place(const int64_t *end, int64_t places, int64_t block) {
  if (block < places) return block;
  int64_t best = 0;
  for (int64_t i = 1; i < places; i++)
    if (end[i] < end[best]) best = i;
  return best;
}

// The SM with the block that ends last; of several, the one that has most to do.
static int64_t latest_sm(const Walker *walker, const int64_t *end, const int64_t *load, int64_t sms,
                         int64_t places) {
  int64_t *last = ARENA_ARRAY(walker->arena, int64_t, sms), best = 0;
  for (int64_t i = 0; i < places; i++) last[i % sms] = max64(last[i % sms], end[i]);
  for (int64_t i = 1; i < sms; i++)
    if (last[i] > last[best] || (last[i] == last[best] && load[i] > load[best])) best = i;
  return best;
}

// The blocks of the SM that ends last, in their order; returns their number. A block takes as long
// as it has instructions, whatever the others of its SM do: long blocks wait for their own results.
static int blocks_of_latest(const Walker *walker, int64_t grid, int64_t out[KINDS_MAX]) {
  const int64_t sms = walker->model->target->sm_count,
                places = sms * resident_of(walker->model, walker->kernel, walker->which);
  const int64_t *length = measure_blocks(walker, grid);
  int64_t *end = ARENA_ARRAY(walker->arena, int64_t, places),
          *load = ARENA_ARRAY(walker->arena, int64_t, sms),
          *of = ARENA_ARRAY(walker->arena, int64_t, grid);
  int n = 0;
  for (int64_t i = 0; i < grid; i++) {
    const int64_t place = choose_place(end, places, i);
    of[i] = place % sms;
    end[place] += length[i];
    load[of[i]] += length[i];
  }
  const int64_t latest = latest_sm(walker, end, load, sms, places);
  for (int64_t i = 0; i < grid && n < KINDS_MAX; i++)
    if (of[i] == latest) out[n++] = i;
  return n;
}

// Whether the blocks of a grid go ways of other lengths. What only guards the cells behind an edge
// changes a way by less than one instruction in a hundred.
static bool blocks_differ(const Walker *walker, int64_t grid) {
  enum { ONE_IN = 100 };
  const int64_t first = measure_block(walker, 0), last = measure_block(walker, grid - 1);
  return ONE_IN * (max64(first, last) - min64(first, last)) > max64(first, last);
}

// The ways of the blocks that the SM runs: of one where the first and the last of the grid are
// alike. NULL: a warp does not come to its end.
static ClockBlock *walk_blocks(Walker *walker, int *n) {
  const int64_t grid = grid_of(walker->model, walker->kernel);
  int64_t which[KINDS_MAX] = {0};
  ClockBlock *kind = ARENA_ARRAY(walker->arena, ClockBlock, KINDS_MAX);
  *n = 1;
  if (!walker->kernel->persistent && grid <= GRID_MAX && blocks_differ(walker, grid))
    *n = blocks_of_latest(walker, grid, which);
  for (int i = 0; i < *n; i++) {
    kind[i].way = walk_block(walker, which[i]);
    if (!all_end(kind[i].way, walker->warps)) return NULL;
  }
  return kind;
}

// ---- long loops ---------------------------------------------------------------------------------

static int rounds_of(const SassWay *way, const SassLoop *loop) {
  int n = 0;
  for (int i = 0; i + 1 < way->n_stretches; i++)
    n += way->stretch[i].last == loop->last && way->stretch[i + 1].first == loop->first;
  return n;
}

// The loop that all warps go round alike and that has most of the way; -1: there is none.
static int loop_to_cut(const KernelPlay *play, const SassWay *way, int warps) {
  int best = -1, most = 0;
  for (int i = 0; i < play->n_loops; i++) {
    const SassLoop *loop = &play->loop[i];
    const int rounds = rounds_of(&way[0], loop), length = loop->last - loop->first;
    bool alike = rounds > KEPT_MIN;
    for (int w = 1; w < warps && alike; w++) alike = rounds_of(&way[w], loop) == rounds;
    if (!alike || length <= most) continue;
    best = i;
    most = length;
  }
  return best;
}

// The way without `turns` of its rounds: those behind the first `head`.
static SassWay cut_way(Arena *arena, const SassWay *way, const SassLoop *loop, int head,
                       int turns) {
  SassWay out = *way;
  SassStretch *stretch = ARENA_ARRAY(arena, SassStretch, way->n_stretches);
  SassEvent *event = ARENA_ARRAY(arena, SassEvent, way->n_events + 1);
  int rounds = 0, at_event = 0;
  out.n_stretches = out.n_events = 0;
  for (int i = 0; i < way->n_stretches; i++) {
    const SassStretch *here = &way->stretch[i];
    const bool cut = rounds >= head && rounds < head + turns;
    if (!cut) stretch[out.n_stretches++] = *here;
    for (; at_event < way->n_events && way->event[at_event].at >= here->first &&
           way->event[at_event].at <= here->last;) {
      if (!cut) event[out.n_events++] = way->event[at_event];
      at_event++;
      if (at_event < way->n_events && way->event[at_event].at <= way->event[at_event - 1].at) break;
    }
    rounds += i + 1 < way->n_stretches && here->last == loop->last &&
              way->stretch[i + 1].first == loop->first;
  }
  out.stretch = stretch;
  out.event = event;
  return out;
}

static bool has_phases(const SassCode *code) {
  for (int i = 0; i < code->n; i++)
    if (code->inst[i].opcode->kind == SASS_KIND_MBARRIER) return true;
  return false;
}

// Ways that are too long to be played whole lose turns behind the first two thirds of those that
// are kept. A ring of slabs comes round with them: where there are mbarriers, they are a multiple
// of what any ring's slots and phases are. Worked example, fp32/transposed at 4096^3: eight warps
// of 323,679 instructions in six blocks are 15.5 million, so that 12 of 256 turns are kept.
static void cut_ways(Arena *arena, KernelPlay *play, const SassWay *way, ClockBlock *block) {
  enum { RING = 24 };
  ClockKernel *in = &play->in;
  in->cut_loop = -1;
  const double all = (double)instructions_of(way, in->warps) * clock_blocks_played(in);
  const int loop = in->n_kinds == 1 && all > PLAYED ? loop_to_cut(play, way, in->warps) : -1;
  if (loop < 0) return;
  const int rounds = rounds_of(way, &play->loop[loop]),
            kept = max_int(KEPT_MIN, (int)(PLAYED / all * rounds)),
            unit = has_phases(&play->code) ? RING : 1, turns = (rounds - kept) / unit * unit;
  if (turns < unit) return;
  const int head = (rounds - turns) * 2 / 3;
  SassWay *cut = ARENA_ARRAY(arena, SassWay, in->warps);
  for (int w = 0; w < in->warps; w++)
    cut[w] = cut_way(arena, &way[w], &play->loop[loop], head, turns);
  block->way = cut;
  in->cut_loop = loop;
  in->cut_turns = turns;
  in->kept_turns = rounds + 1 - turns;
}

static ClockMissed missed_of(const L2Missed *missed) {
  return (ClockMissed){.first = missed->first, .later = missed->later};
}

// The bytes that blocks ask for together, and the part of DRAM's bytes that each SM has for it.
static void share_l2(Arena *arena, const Model *model, KernelPlay *play) {
  ClockKernel *in = &play->in;
  const Target *target = model->target;
  const L2Sharing sharing = l2_sharing(arena, model, min_int(in->resident, in->blocks));
  play->data_bytes = sharing.read_bytes;
  in->sent_share = sharing.sent;
  play->empty = missed_of(&sharing.replay.empty);
  play->again = missed_of(&sharing.replay.again);
  if (!target_knows(target->dram_read_gbps)) return;
  const double bytes = target->dram_read_gbps * 1e3 / target->boost_mhz;
  in->dram_bytes = bytes / (double)target->sm_count / sharing.distinct * fmax(1, in->alone);
}

void kernel_play_finish(Arena *arena, KernelPlay *play, ClockBlock *kind, double blocks) {
  play->executed = count_executed(arena, &play->code, &play->in, blocks);
  cut_ways(arena, play, kind[0].way, kind);
}

KernelPlay kernel_play(Arena *arena, const Model *model, const Emission *emission, int which,
                       ElfBytes text, int stack_bytes) {
  const EmitKernel *kernel = &emission->kernel[which];
  KernelPlay out = {.dependent = kernel->dependent};
  if (!text.at) return (KernelPlay){.why_not = "the worker sent no machine code"};
  if (model->target->cc >= FIRST_UNKNOWN)
    return (KernelPlay){
        .why_not = arena_printf(arena,
                                "the clock does not know where parameters of %s stand: its loops "
                                "are played, one turn of each alone",
                                model->target->arch),
        .has_loops = true};
  out.code = sass_decode(arena, text.at, (size_t)(text.end - text.at), model->target->cc);
  out.n_loops = sass_loops(arena, &out.code, out.loop, CLOCK_MARKS_MAX);
  const int warps = (int)ceil_div(kernel->n_threads, SASS_LANES);
  Walker walker = {arena,
                   model,
                   kernel,
                   sass_plan(arena, &out.code),
                   lists_of(arena, model, which),
                   warps,
                   which,
                   access_costs_new(arena, &out.code)};
  int n = 0;
  ClockBlock *kind = walk_blocks(&walker, &n);
  AccessCosts costs = walker.costs;
  if (!kind) return (KernelPlay){.why_not = "one of its warps does not end"};
  costs.local_share =
      play_spilled_share(&out, &(PlayRoom){.stack_bytes = stack_bytes,
                                           .resident = max_int(1, model->resources.blocks_per_sm),
                                           .threads = kernel->n_threads,
                                           .smem_bytes = kernel->smem_bytes});
  access_costs_finish(&costs);
  const double missed = model->traffic.l2_hit >= 0 ? 1 - model->traffic.l2_hit : 0;
  out.in = (ClockKernel){
      .wavefronts = costs.wavefronts,
      .lines = costs.lines,
      .far_bytes = costs.far_bytes,
      .far_share = costs.far_share,
      .first_share = costs.first_share,
      .new_share = costs.new_share,
      .box = play_boxes(arena, &out.code, kind[0].way, warps, row_bytes(kernel)),
      .warps = warps,
      .n_kinds = n,
      .kind = kind,
      .resident = resident_of(model, kernel, which),
      .grid = grid_of(model, kernel),
      .sms = model->target->sm_count,
      .n_loops = out.n_loops,
  };
  out.differ = n > 1;
  clock_kernel_blocks(&out.in, out.differ ? n : 0);
  out.empty = (ClockMissed){.first = 1, .later = missed};
  out.again = (ClockMissed){.first = missed, .later = missed};
  if (which == model->program->main_kernel) share_l2(arena, model, &out);
  kernel_play_finish(arena, &out, kind, (double)grid_of(model, kernel));
  const double tiles =
      kernel->persistent ? (double)kernel->n_blocks / (double)grid_of(model, kernel) : 1;
  out.empty.loads = out.again.loads =
      play_new_loads(&out.code, costs.new_share, kind[0].way, warps) *
      min_int(out.in.blocks, out.in.resident) / (tiles > 1 ? tiles : 1);
  return out;
}

static ClockKernel kernel_of(const KernelPlay *play, const ClockMachine *machine,
                             const PlayAsk *ask) {
  ClockKernel in = play->in;
  in.machine = machine;
  in.code = ask->code ? ask->code : &play->code;
  in.loop = play->loop;
  in.cold = ask->cold;
  in.missed = ask->cold ? play->empty : play->again;
  in.banks_are_free = ask->banks_are_free;
  in.loads_are_near = ask->loads_are_near;
  in.resident += ask->more_blocks;
  if (ask->more_blocks && !play->differ) clock_kernel_blocks(&in, 0);
  return in;
}

ClockStay kernel_play_run(Arena *arena, const KernelPlay *play, const ClockMachine *machine,
                          const PlayAsk *ask) {
  const ClockKernel in = kernel_of(play, machine, ask);
  ClockStay stay = clock_play_kernel(arena, &in);
  stay.turn.clocks += play->dependent ? machine->early_launch_clocks : machine->launch_clocks;
  return stay;
}

ClockWindow kernel_play_watch(Arena *arena, const KernelPlay *play, const ClockMachine *machine,
                              const PlayAsk *ask, const SassLoop *loop, double mean) {
  const ClockKernel in = kernel_of(play, machine, ask);
  for (int i = 0; i < in.n_loops; i++)
    if (in.loop[i].first == loop->first && in.loop[i].last == loop->last)
      return clock_watch(arena, &in, i, mean);
  return (ClockWindow){0};
}
