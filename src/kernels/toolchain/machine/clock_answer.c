// Machine code → the clocks of each of its loops, and what of them every instruction costs.
//
// A loop is played alone, all resident blocks in it. What the code does not say is taken at its
// cheapest and told: an access to shared memory has the wavefronts that its bytes need, loops
// inside turn once, a block has the threads that the code declares. Loads of global memory answer
// as L2 does when nothing else is asked for; the upper end of a span has them as far away as under
// load.
//
// Worked example, the loop of fp32/block_order at 4096^3: 1,122 instructions of a warp, two warps a
// scheduler, 2,244 clocks of issue and 2,663 in all.
#include "kernels/toolchain/machine/clock_answer.h"

#include <math.h>
#include <string.h>

#include "base/elf_file.h"
#include "base/str.h"
#include "base/whole.h"
#include "kernels/toolchain/machine/clock_facts.h"
#include "kernels/toolchain/machine/launch_play.h"
#include "kernels/toolchain/machine/register_banks.h"
#include "model/ir/program.h"
#include "model/readings/cost/power.h"
#include "sass/sass_registers.h"
#include "sass/sass_text.h"

enum {
  THREADS_UNKNOWN = 128,
  CODE_MAX = 1 << 16,  // instructions; ptxas makes some thousand of a kernel
};

static const double model_error = 0.03;     // of the recorded loops that suite clock plays
static const double kernel_error = 0.1;     // of most of the counted kernels that it plays
static const double run_error = 0.25;       // of anybody's kernels: an H200 counted 22, all within
static const double unchecked_error = 0.3;  // of a GPU that was never measured: a guess

// ---- one loop -----------------------------------------------------------------------------------

static const char no_room[] = "does not fit on an SM", no_exchange[] = "none possible";

static double play_if(Arena *arena, ClockLoop in, ClockIfName which) {
  in.banks_are_free = which == CLOCK_IF_BANKS;
  in.loads_are_near = which == CLOCK_IF_NEAR;
  const double work = in.blocks;
  in.blocks += which == CLOCK_IF_BLOCK;
  return clock_play(arena, &in).clocks * work / in.blocks;
}

static ClockAssignment assign(Arena *arena, const SassCode *code, const SassLoop *loop,
                              const Target *target) {
  return clock_assign(arena, code, loop, register_bank_rule(target->cc)->clocks);
}

static void ask_ifs(Arena *arena, const ClockLoop *in, const Target *target, ClockedLoop *out) {
  const ClockAssignment assignment = assign(arena, in->code, &in->loop, target);
  for (int i = 0; i < CLOCK_IFS; i++) {
    ClockLoop what = *in;
    ClockIf *to = &out->what_if[i];
    if (i == CLOCK_IF_REGISTERS) what.code = &assignment.code;
    if (i == CLOCK_IF_BLOCK && (in->blocks + 1) * in->warps > CLOCK_WARPS_MAX)
      to->why_not = no_room;
    else if (i == CLOCK_IF_REGISTERS && !assignment.n)
      to->why_not = no_exchange;
    else
      to->clocks = play_if(arena, what, (ClockIfName)i);
  }
}

static double error_of(const ClockMachine *machine, double error) {
  return machine->checked ? error : unchecked_error;
}

static ClockSpan span_around(const ClockMachine *machine, double value) {
  const double error = error_of(machine, kernel_error);
  return (ClockSpan){value, value * (1 - error), value * (1 + error)};
}

// The span from near to far loads, widened by what the model is off by.
static ClockSpan span_of(Arena *arena, const ClockLoop *in, double value) {
  ClockMachine loaded = *in->machine;
  ClockLoop far = *in;
  loaded.far_clocks = loaded.far_load_clocks;
  far.machine = &loaded;
  far.only_clocks = true;
  const double high = clock_play(arena, &far).clocks, error = error_of(in->machine, model_error);
  return (ClockSpan){value, value * (1 - error), (high > value ? high : value) * (1 + error)};
}

static void play_loop(Arena *arena, const ClockLoop *in, const Target *target, bool what_if,
                      ClockedLoop *out) {
  out->turn = clock_play(arena, in);
  if (!(out->turn.clocks > 0)) return;
  out->clocks = span_of(arena, in, out->turn.clocks);
  if (what_if) ask_ifs(arena, in, target, out);
}

// ---- parts common to both kinds of answer -------------------------------------------------------

static void begin_instructions(Arena *arena, ClockAnswer *out) {
  const int n = out->code.n;
  const char **text = ARENA_ARRAY(arena, const char *, n + 1);
  for (int i = 0; i < n; i++) text[i] = sass_text(arena, &out->code.inst[i]);
  out->text = text;
  out->executed = ARENA_ARRAY(arena, double, n + 1);
  out->lost = ARENA_ARRAY(arena, double, n + 1);
  out->cause = ARENA_ARRAY(arena, ClockCause, n + 1);
  out->blame = ARENA_ARRAY(arena, int, n + 1);
  out->loop = ARENA_ARRAY(arena, ClockedLoop, CLOCK_LOOPS_MAX);
  out->marks = clock_marks(arena, &out->code, NULL, register_bank_rule(out->target->cc)->clocks);
  for (int i = 0; i < n; i++) out->blame[i] = -1;
}

static int length(const SassLoop *loop) { return loop->last - loop->first + 1; }

// The instructions of the loop take over the numbers of its turn, times the turns.
static void take_over(ClockAnswer *out, const ClockedLoop *loop, double executed, double lost) {
  for (int i = loop->loop.first; i <= loop->loop.last; i++) {
    out->executed[i] = loop->turn.executed[i] * executed;
    out->lost[i] = loop->turn.lost[i] * lost;
    out->cause[i] = loop->turn.cause[i];
    out->blame[i] = loop->turn.blame[i];
  }
}

static int multiplies(const SassCode *code, const SassLoop *loop) {
  int n = 0;
  for (int i = loop->first; i <= loop->last; i++) {
    const SassPipe pipe = code->inst[i].opcode->pipe;
    n += pipe == SASS_PIPE_TENSOR || pipe == SASS_PIPE_GROUP || pipe == SASS_PIPE_FMA ||
         pipe == SASS_PIPE_DOUBLE;
  }
  return n;
}

// The shortest loop of those that multiply most; of those that do not, the longest.
static int find_main(const ClockAnswer *out) {
  int best = -1, most = -1;
  for (int i = 0; i < out->n_loops; i++) {
    const SassLoop *loop = &out->loop[i].loop;
    const int here = multiplies(&out->code, loop);
    const bool shorter = best >= 0 && length(loop) < length(&out->loop[best].loop);
    if (here > most || (here == most && (here > 0) == shorter)) {
      most = here;
      best = i;
    }
  }
  return best;
}

// ---- what would be if ---------------------------------------------------------------------------

static bool is_wanted(const ClockAsk *ask, const ClockAnswer *so_far) {
  return !ask->heard || ask->heard(ask->context, so_far);
}

// The reason why no block more can be resident; NULL: one can. Without a model all that fit are
// resident.
static const char *no_block_more(Arena *arena, const KernelPlay *play, const Model *compiled) {
  if (!compiled || (play->in.resident + 1) * play->in.warps > CLOCK_WARPS_MAX) return no_room;
  const Resources *resources = &compiled->resources;
  char limiters[LIMITERS_BYTES];
  if (play->in.resident < resources->blocks_per_sm || !resources->limiter) return NULL;
  if (str_equal(resources->limiter, "registers"))
    return arena_printf(arena, "does not fit, %d registers", resources->n_registers);
  if (str_equal(resources->limiter, "grid")) return "the grid has none";
  return arena_printf(arena, "does not fit: %s", resources_limiters(limiters, resources));
}

static void ask_kernel_ifs(Arena *arena, const KernelPlay *play, const ClockMachine *machine,
                           const Model *compiled, const ClockAsk *ask, ClockAnswer *out) {
  if (out->main >= 0)
    out->assignment = assign(arena, &play->code, &out->loop[out->main].loop, out->target);
  for (int i = 0; i < CLOCK_IFS && is_wanted(ask, out); i++) {
    PlayAsk what = {.cold = ask->cold,
                    .banks_are_free = i == CLOCK_IF_BANKS,
                    .loads_are_near = i == CLOCK_IF_NEAR};
    ClockIf *to = &out->what_if[i];
    if (i == CLOCK_IF_REGISTERS) what.code = &out->assignment.code;
    if (i == CLOCK_IF_BLOCK) to->why_not = no_block_more(arena, play, compiled);
    if (i == CLOCK_IF_REGISTERS && !out->assignment.n) to->why_not = no_exchange;
    what.more_blocks = i == CLOCK_IF_BLOCK;
    if (!to->why_not) to->clocks = kernel_play_run(arena, play, machine, &what).turn.clocks;
  }
}

// ---- a cubin ------------------------------------------------------------------------------------

static const char *name_in(const char *section) {
  return str_starts(section, ".text.") ? section + strlen(".text.") : NULL;
}

// The kernels of the file: their number, and the name of the one that is asked for.
static int find_kernel(const unsigned char *cubin, size_t bytes, const char *wanted,
                       const char **found, ElfBytes *text) {
  const char *section;
  ElfBytes contents;
  int n = 0;
  for (int i = 0; elf_section_at(cubin, bytes, i, &section, &contents); i++) {
    const char *name = name_in(section);
    if (!name || !contents.at) continue;
    n++;
    if (*found || (wanted && !str_equal(name, wanted))) continue;
    *found = name;
    *text = contents;
  }
  return n;
}

static const char *say_kernels(Arena *arena, const unsigned char *cubin, size_t bytes) {
  Str out = str_new(arena);
  const char *section;
  ElfBytes contents;
  for (int i = 0; elf_section_at(cubin, bytes, i, &section, &contents); i++)
    if (name_in(section))
      str_printf(&out, "%s%s", out.length ? ", " : "", str_line(arena, name_in(section)));
  return out.text;
}

// The threads of a block that .nv.info.KERNEL declares: an entry is a format, an attribute and the
// size of what follows. 0: it declares none.
static int declared_threads(Arena *arena, const unsigned char *cubin, size_t bytes,
                            const char *kernel) {
  enum { VALUES = 4, MAX_THREADS = 0x05, REQUIRED_THREADS = 0x10, THREADS_MAX = 1024 };
  const ElfBytes info = elf_section(cubin, bytes, arena_printf(arena, ".nv.info.%s", kernel));
  for (const unsigned char *at = info.at; at && info.end - at >= 4;) {
    const int size = at[2] | at[3] << 8;
    const bool has_values = at[0] == VALUES;
    uint32_t count[3];
    if (has_values && (at[1] == MAX_THREADS || at[1] == REQUIRED_THREADS) && size >= 12 &&
        info.end - at >= 4 + 12) {
      memcpy(count, at + 4, sizeof count);
      const uint64_t threads = (uint64_t)count[0] * (count[1] & 0xFFFF) * (count[2] & 0xFFFF);
      return threads <= THREADS_MAX ? (int)threads : 0;
    }
    at += 4 + (has_values ? min_int(size, (int)(info.end - at) - 4) : 0);
  }
  return 0;
}

static const Target *first_of(const TargetTable *targets, int cc) {
  for (int i = 0; i < targets->count; i++)
    if (targets->targets[i].cc == cc) return &targets->targets[i];
  return NULL;
}

static int trips_of(const ClockAsk *ask, const SassLoop *loops, int n, const SassLoop *loop) {
  for (int i = 0; i < ask->n_trips; i++) {
    const int at = ask->trip[i].pc / SASS_BYTES;
    const SassLoop here = {at, at}, *inside = sass_loop_around(loops, n, &here);
    if (at == loop->last || inside == loop) return ask->trip[i].turns;
  }
  return 0;
}

static void play_cubin(Arena *arena, const ClockMachine *machine, const ClockAsk *ask,
                       ClockAnswer *out) {
  SassLoop loops[CLOCK_LOOPS_MAX];
  out->n_loops = sass_loops(arena, &out->code, loops, CLOCK_LOOPS_MAX);
  double *wavefronts = ARENA_ARRAY(arena, double, out->code.n),
         *far_bytes = ARENA_ARRAY(arena, double, out->code.n);
  clock_cost_least(&out->code, wavefronts, far_bytes);
  for (int i = 0; i < out->n_loops; i++) {
    ClockLoop in = {.machine = machine,
                    .code = &out->code,
                    .loop = loops[i],
                    .wavefronts = wavefronts,
                    .far_bytes = far_bytes,
                    .warps = out->warps,
                    .blocks = out->blocks};
    for (int k = 0; k < out->n_loops && in.n_inner < CLOCK_INNER_MAX; k++)
      if (k != i && loops[k].first >= loops[i].first && loops[k].last <= loops[i].last)
        in.inner[in.n_inner++] =
            (ClockInner){loops[k], max_int(1, trips_of(ask, loops, out->n_loops, &loops[k]))};
    out->loop[i].loop = loops[i];
    out->loop[i].turns = trips_of(ask, loops, out->n_loops, &loops[i]);
    play_loop(arena, &in, out->target, ask->what_if, &out->loop[i]);
  }
  // Loops come with the inner ones first: an inner loop says more of its instructions.
  for (int i = out->n_loops - 1; i >= 0; i--)
    if (out->loop[i].clocks.value > 0) take_over(out, &out->loop[i], 1, 1);
  out->main = find_main(out);
}

static void take_stay(Arena *arena, const KernelPlay *play, const ClockStay *stay,
                      const ClockMachine *machine, ClockAnswer *out);

// Turns of all loops; NULL after a sentence where the turns of a loop are not known.
static const int *turns_said(Arena *arena, const ClockAsk *ask, ClockAnswer *out) {
  SassLoop loops[CLOCK_MARKS_MAX];
  const int n = sass_loops(arena, &out->code, loops, CLOCK_MARKS_MAX);
  int *turns = ARENA_ARRAY(arena, int, n + 1);
  for (int i = 0; i < n; i++) {
    turns[i] = trips_of(ask, loops, n, &loops[i]);
    if (turns[i]) continue;
    out->no_clocks =
        arena_printf(arena,
                     "the clocks of the kernel are not known: give the number of turns of the "
                     "loop at 0x%x with --trips 0x%x=N",
                     loops[i].first * SASS_BYTES, loops[i].last * SASS_BYTES);
    return NULL;
  }
  return turns;
}

// A kernel cannot end before DRAM has moved its data, where L2 does not hold that. Worked example:
// 128 MiB on an H200, 4,000 GB/s and 1,980 MHz, take 66,000 clocks.
static double memory_clocks(const KernelPlay *play, bool cold, const ClockAnswer *out) {
  const Target *target = out->target;
  const double gbps =
      target_knows(target->dram_read_gbps) ? target->dram_read_gbps : target->dram_gbps;
  if (!cold && play->data_bytes <= target_l2_kept(target)) return 0;
  return target_knows(gbps) ? play->data_bytes * out->mhz / (gbps * 1e3) : 0;
}

static void wait_for_memory(const ClockMachine *machine, double clocks, ClockAnswer *out) {
  const double more = clocks - out->clocks.value;
  for (int i = 0; i < CLOCK_IFS; i++)
    if (out->what_if[i].clocks > 0 && out->what_if[i].clocks < clocks)
      out->what_if[i].clocks = clocks;
  if (!(more > 0)) return;
  out->clocks = span_around(machine, clocks);
  out->lost_to[CLOCK_LONG_SCOREBOARD] += more;
}

// The kernel from launch to end, where its launch was given.
static void play_launch(Arena *arena, const ClockMachine *machine, const ClockAsk *ask,
                        LaunchGiven given, ClockAnswer *out) {
  const int *turns = ask->run ? NULL : turns_said(arena, ask, out);
  if (!turns && !ask->run) return;
  const KernelPlay play = ask->run
                              ? launch_play_run(arena, &out->code, out->target, &given, ask->run)
                              : launch_play(arena, &out->code, out->target, &given, turns);
  out->no_clocks = play.why_not;
  if (play.why_not) return;
  const ClockStay stay = kernel_play_run(arena, &play, machine, &(PlayAsk){.cold = ask->cold});
  if (stay.gave_up) out->no_clocks = "its warps wait for a signal that never comes";
  if (stay.gave_up) return;
  out->blocks = min_int(play.in.resident, play.in.blocks);
  out->n_loops = 0;
  take_stay(arena, &play, &stay, machine, out);
  if (ask->what_if) ask_kernel_ifs(arena, &play, machine, NULL, ask, out);
  wait_for_memory(machine, memory_clocks(&play, ask->cold, out), out);
  if (ask->run)
    out->clocks = (ClockSpan){out->clocks.value, out->clocks.value * (1 - run_error),
                              out->clocks.value * (1 + run_error)};
  if (ask->window && out->main >= 0)
    out->window = kernel_play_watch(arena, &play, machine, &(PlayAsk){.cold = ask->cold},
                                    &out->loop[out->main].loop, out->loop[out->main].clocks.value);
}

static ClockAnswer no_answer(const char *why_not) {
  return (ClockAnswer){.why_not = why_not, .main = -1, .clocks = {-1, -1, -1}, .power_share = 1};
}

static LaunchGiven given_of(Arena *arena, const unsigned char *cubin, size_t bytes,
                            const char *kernel, const ClockLaunch *launch) {
  ElfSection shared = {0};
  elf_section_header(cubin, bytes, arena_printf(arena, ".nv.shared.%s", kernel), &shared);
  const uint64_t smem_max = 1 << 20;
  return (LaunchGiven){
      .blocks = launch->blocks,
      .threads = launch->threads,
      .registers = sass_registers(arena, cubin, bytes, kernel),
      .smem_bytes = launch->smem_bytes + (int64_t)(shared.bytes < smem_max ? shared.bytes : 0)};
}

ClockAnswer clock_answer_cubin(Arena *arena, const unsigned char *cubin, size_t bytes,
                               const TargetTable *targets, const ClockAsk *ask) {
  ClockAnswer out = no_answer(NULL);
  ClockMachine machine = {0};
  ElfBytes text = {0};
  const int sm = elf_cuda_sm(cubin, bytes),
            n = find_kernel(cubin, bytes, ask->kernel, &out.kernel, &text);
  if (!sm) return no_answer("the file is not a cubin");
  if (!n) return no_answer("the cubin has no kernel");
  if (!out.kernel || (n > 1 && !ask->kernel))
    return no_answer(arena_printf(arena, "choose a kernel of the cubin with --kernel: %s",
                                  say_kernels(arena, cubin, bytes)));
  out.target = first_of(targets, sm);
  if (!out.target || !clock_facts_read(arena, out.target, &machine))
    return no_answer(arena_printf(arena, "there are no clock facts for sm_%d", sm));
  out.unchecked = !machine.checked;
  out.mhz = ask->mhz > 0 ? ask->mhz : out.target->boost_mhz;
  out.kernel = str_line(arena, out.kernel);
  out.code = sass_decode(arena, text.at, (size_t)(text.end - text.at), sm);
  if (out.code.n > CODE_MAX) return no_answer("the machine code is too long to be played");
  const int declared = declared_threads(arena, cubin, bytes, out.kernel),
            threads = ask->launch.threads ? ask->launch.threads : declared;
  out.assumes_threads = !threads;
  out.warps = (int)ceil_div(threads ? threads : THREADS_UNKNOWN, 32);
  out.blocks = 1;
  begin_instructions(arena, &out);
  play_cubin(arena, &machine, ask, &out);
  const LaunchGiven given = given_of(arena, cubin, bytes, out.kernel, &ask->launch);
  if (given.blocks > 0) play_launch(arena, &machine, ask, given, &out);
  if (!(out.clocks.value > 0) && (out.main < 0 || !(out.loop[out.main].clocks.value > 0)))
    return no_answer(out.no_clocks ? out.no_clocks
                                   : arena_printf(arena, "kernel %s has no loop", out.kernel));
  return out;
}

// ---- a schedule ---------------------------------------------------------------------------------

// The texts of the disassembler where it is there; the program's own else.
static void take_texts(Arena *arena, const SassResult *sass, ClockAnswer *out) {
  if (!sass || !sass->ok) return;
  const char **text = ARENA_ARRAY(arena, const char *, out->code.n + 1);
  int *line = ARENA_ARRAY(arena, int, out->code.n + 1), n = 0;
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *from = &sass->lines[i];
    const int at = from->address / SASS_BYTES;
    if (from->address < 0 || at >= out->code.n || !str_equal(from->kernel, out->kernel)) continue;
    text[at] = from->text;
    line[at] = from->cuda_line;
    n = max_int(n, at + 1);
  }
  out->code.n = n;  // the padding is left out
  out->text = text;
  out->line = line;
}

// A loop's cost in the kernel: its instructions' clocks, so that they are those of a turn.
static void take_loop(Arena *arena, const ClockStay *stay, const ClockAnswer *answer, int which,
                      const ClockMachine *machine, ClockedLoop *out) {
  const int n = answer->code.n;
  double *lost = ARENA_ARRAY(arena, double, n + 1), sum = 0;
  for (int i = out->loop.first; i <= out->loop.last && i < n; i++)
    sum += stay->turn.lost[i] + stay->turn.executed[i] / machine->schedulers;
  const double turn = stay->rounds[which].clocks, scale = sum > 0 ? turn / sum : 0;
  for (int i = out->loop.first; i <= out->loop.last && i < n; i++) {
    lost[i] = stay->turn.lost[i] * scale;
    out->turn.issued += stay->turn.executed[i] / machine->schedulers * scale;
    out->turn.lost_to[stay->turn.cause[i]] += lost[i];
  }
  out->turn.clocks = turn;
  out->turn.lost = lost;
  out->turn.executed = stay->turn.executed;
  out->turn.cause = stay->turn.cause;
  out->turn.blame = stay->turn.blame;
  out->clocks = span_around(machine, turn);
}

// Turns of a warp: those that were counted, of all warps and blocks of the SM.
static double turns_of(const KernelPlay *play, int which) {
  const double branch = play->executed[play->loop[which].last],
               ways = play->executed[0] > 0 ? play->executed[0] : 1;
  return branch / ways;
}

static void take_loops(Arena *arena, const KernelPlay *play, const ClockStay *stay,
                       const ClockMachine *machine, ClockAnswer *out) {
  out->main = -1;
  for (int i = 0; i < play->n_loops; i++) {
    if (!(stay->rounds[i].clocks > 0)) continue;
    ClockedLoop *loop = &out->loop[out->n_loops];
    *loop = (ClockedLoop){.loop = play->loop[i], .turns = turns_of(play, i)};
    take_loop(arena, stay, out, i, machine, loop);
    const double all = loop->turns * loop->turn.clocks;
    if (out->main < 0 || all > out->loop[out->main].turns * out->loop[out->main].turn.clocks)
      out->main = out->n_loops;
    out->n_loops++;
  }
}

static void take_stay(Arena *arena, const KernelPlay *play, const ClockStay *stay,
                      const ClockMachine *machine, ClockAnswer *out) {
  const double value = stay->turn.clocks;
  out->clocks = span_around(machine, value);
  memcpy(out->stalls, stay->turn.stalls, sizeof out->stalls);
  memcpy(out->lost_to, stay->turn.lost_to, sizeof out->lost_to);
  out->issued = stay->turn.issued;
  out->stood = stay->turn.stood;
  for (int i = 0; i < out->code.n; i++) {
    out->executed[i] = play->executed[i];
    out->lost[i] = stay->turn.lost[i];
    out->cause[i] = stay->turn.cause[i];
    out->blame[i] = stay->turn.blame[i];
  }
  take_loops(arena, play, stay, machine, out);
}

// Plays the kernels beside the main one, and lists all of them; the clocks of the others.
static double play_others(Arena *arena, const Model *compiled, const Emission *emission,
                          const ClockTexts *texts, const ClockMachine *machine, ClockAnswer *out,
                          bool cold) {
  ClockedPart *part = ARENA_ARRAY(arena, ClockedPart, emission->n_kernels);
  double sum = 0;
  for (int i = 0; i < emission->n_kernels; i++) {
    part[i] = (ClockedPart){emission->kernel[i].name, {-1, -1, -1}};
    if (i == compiled->program->main_kernel) continue;
    const KernelPlay play = kernel_play(arena, compiled, emission, i, texts->text[i], 0);
    if (play.why_not) continue;
    part[i].clocks = span_around(
        machine, kernel_play_run(arena, &play, machine, &(PlayAsk){.cold = cold}).turn.clocks);
    sum += part[i].clocks.value;
  }
  out->n_parts = emission->n_kernels;
  out->part = part;
  return sum;
}

// The SM clock that tensor cores and power leave; DRAM goes on at its own, so that a kernel that
// waits for it takes no more power than it moves bytes for.
static void hold_down(const KernelPlay *play, const Model *compiled, const ClockAsk *ask,
                      ClockAnswer *out) {
  if (ask->mhz > 0) return;
  const double clocks = fmax(out->clocks.value, memory_clocks(play, ask->cold, out));
  const double at_boost = compiled->traffic.flop / (clocks + out->others) * 1e-6 * out->mhz;
  out->power_share = power_share(compiled, at_boost);
  out->mhz *= out->power_share;
}

// Where the launch cannot be played: the total is the stand-in's, each loop is played alone.
static ClockAnswer answer_loops(Arena *arena, const Model *compiled, const EmitKernel *kernel,
                                ElfBytes text, const SassResult *sass, const ClockMachine *machine,
                                const ClockAsk *ask) {
  ClockAnswer out = clock_answer_stand_in(compiled, ask);
  out.kernel = kernel->name;
  out.unchecked = !machine->checked;
  out.code = sass_decode(arena, text.at, (size_t)(text.end - text.at), compiled->target->cc);
  if (out.code.n > CODE_MAX) return out;
  out.warps = (int)ceil_div(kernel->n_threads, 32);
  out.blocks = max_int(1, compiled->resources.blocks_per_sm);
  out.registers = compiled->resources.n_registers;
  begin_instructions(arena, &out);
  take_texts(arena, sass, &out);
  play_cubin(arena, machine, ask, &out);
  return out;
}

ClockAnswer clock_answer_state(Arena *arena, const Model *compiled, const Emission *emission,
                               const ClockTexts *texts, const SassResult *sass,
                               const ClockAsk *ask) {
  const int which = compiled->program->main_kernel;
  ClockMachine machine = {0};
  if (!clock_facts_read(arena, compiled->target, &machine))
    return no_answer("no clock facts are known of this GPU");
  const KernelPlay play =
      kernel_play(arena, compiled, emission, which, texts->text[which], texts->stack_bytes);
  if (play.why_not && play.has_loops) {
    ClockAnswer loops = answer_loops(arena, compiled, &emission->kernel[which], texts->text[which],
                                     sass, &machine, ask);
    loops.no_clocks = play.why_not;
    return loops;
  }
  if (play.why_not) return no_answer(play.why_not);
  const ClockStay stay = kernel_play_run(arena, &play, &machine, &(PlayAsk){.cold = ask->cold});
  if (stay.gave_up) return no_answer("its warps wait for a signal that never comes");
  ClockAnswer out = no_answer(NULL);
  out.kernel = emission->kernel[which].name;
  out.unchecked = !machine.checked;
  out.target = compiled->target;
  out.mhz = ask->mhz > 0 ? ask->mhz : out.target->boost_mhz;
  out.code = play.code;
  out.warps = play.in.warps;
  out.blocks = min_int(play.in.resident, play.in.blocks);
  out.registers = compiled->resources.n_registers;
  begin_instructions(arena, &out);
  take_texts(arena, sass, &out);
  take_stay(arena, &play, &stay, &machine, &out);
  if (ask->what_if) ask_kernel_ifs(arena, &play, &machine, compiled, ask, &out);
  out.others = play_others(arena, compiled, emission, texts, &machine, &out, ask->cold);
  hold_down(&play, compiled, ask, &out);
  const double moved = memory_clocks(&play, ask->cold, &out);
  if (moved > 0) wait_for_memory(&machine, moved + machine.launch_clocks, &out);
  out.part[which].clocks = out.clocks;
  out.tflops = compiled->traffic.flop / (out.clocks.value + out.others) * 1e-6 * out.mhz;
  if (ask->window && out.main >= 0)
    out.window = kernel_play_watch(arena, &play, &machine, &(PlayAsk){.cold = ask->cold},
                                   &out.loop[out.main].loop, out.loop[out.main].clocks.value);
  return out;
}

// ---- without a compiler -------------------------------------------------------------------------

void clock_answer_take(ClockAnswer *answer, const Model *model, const Estimate *estimate) {
  if (!(estimate->tflops > 0)) return;
  answer->tflops = estimate->tflops;
  const double all = model->traffic.flop * answer->mhz * 1e-6;
  answer->clocks = (ClockSpan){all / estimate->tflops, all / estimate->high, all / estimate->low};
}

ClockAnswer clock_answer_stand_in(const Model *model, const ClockAsk *ask) {
  ClockAnswer out = no_answer(NULL);
  const Estimate estimate = estimate_of(ask->fits, model);
  out.stand_in = true;
  out.target = model->target;
  out.kernel = "";
  out.mhz = ask->mhz > 0 ? ask->mhz : model->target->boost_mhz;
  clock_answer_take(&out, model, &estimate);
  return out;
}
