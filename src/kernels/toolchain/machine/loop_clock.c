// Machine code + the program that it was made from → clocks of its main loop.
//
// The code says what is issued when; the program says what an access costs: an instruction belongs
// to the statement of its line, and the statement's site has the wavefronts of that width. How
// often a loop inside turns follows from what has to be multiplied in a slab. The grid is rounds of
// as many blocks as are resident at once; the last one is played with what is left for an SM.
//
// Worked example, fp32/padded at 4096^3 on an H200: a slab is 1,024 FFMA of a warp, the inner loop
// has 64, so it turns 16 times; two blocks of 8 warps take 6,700 clocks a slab; 1,024 tiles on 132
// SMs are 3.88 rounds of two blocks.
#include "kernels/toolchain/machine/loop_clock.h"

#include <math.h>

#include "base/str.h"
#include "clock/clock_machine.h"
#include "kernels/toolchain/machine/clock_facts.h"
#include "model/readings/cost/calibration.h"

enum { LOOPS_MAX = 64 };

// ---- loops --------------------------------------------------------------------------------------

static int multiplies(const SassCode *code, const SassLoop *loop) {
  int n = 0;
  for (int i = loop->first; i <= loop->last; i++)
    n += str_equal(code->inst[i].opcode->name, "FFMA");
  return n;
}

static int length(const SassLoop *loop) { return loop->last - loop->first + 1; }

// The shortest loop of those with most multiplies; -1: none multiplies.
static int loop_that_multiplies(const SassCode *code, const SassLoop *loops, int n) {
  int best = -1, most = 0;
  for (int i = 0; i < n; i++) {
    const int here = multiplies(code, &loops[i]);
    if (here > most || (best >= 0 && here == most && length(&loops[i]) < length(&loops[best]))) {
      most = here;
      best = i;
    }
  }
  return best;
}

// Which loop is played, how often the one inside turns, and how many slabs a turn is; false: the
// code has another form.
static bool choose_loop(Arena *arena, const SassCode *code, double of_slab, LoopClock *out) {
  SassLoop loops[LOOPS_MAX];
  const int n = sass_loops(arena, code, loops, LOOPS_MAX),
            best = loop_that_multiplies(code, loops, n);
  if (best < 0) return false;
  out->loop = loops[best];
  out->slabs = multiplies(code, &loops[best]) / of_slab;
  if (out->slabs > 0.999) return true;
  const SassLoop *around = sass_loop_around(loops, n, &loops[best]);
  if (!around) return false;
  const int inside = multiplies(code, &loops[best]), others = multiplies(code, around) - inside;
  out->loop = *around;
  out->inner = (ClockInner){loops[best], (int)lround((of_slab - others) / inside)};
  out->slabs = (others + (double)inside * out->inner.trips) / of_slab;
  return out->inner.trips >= 1;
}

// ---- accesses -----------------------------------------------------------------------------------

typedef struct Costs {
  const Model *model;
  const Emission *emission;
  const int *line;  // of the text, for each instruction; 0: not known
  double *wavefronts, *far_bytes;
} Costs;

static const Stmt *stmt_of(const Costs *costs, int i) {
  const int line = costs->line[i] - 1;
  return line >= 0 && line < costs->emission->n_lines ? costs->emission->lines[line].stmt : NULL;
}

// Wavefronts of one execution by one warp, the mean over its warps and iterations.
static double mean_wavefronts(const SiteForm *form, double warps) {
  return form->executions > 0 ? form->clocks / form->executions / warps : 0;
}

static double wavefronts_of(const Costs *costs, const Stmt *stmt, const SassInst *inst) {
  const double warps = (double)costs->model->resources.n_consumers;
  for (int i = 0; stmt && i < costs->model->n_sites; i++) {
    const Site *site = costs->model->site[i].written;
    if (site->stmt->id != stmt->id || site->is_store != (inst->opcode->kind == SASS_KIND_STORE))
      continue;
    for (int k = 0; k < site->n_widths; k++)
      if (site->width[k].op->bytes == inst->bytes) return mean_wavefronts(&site->width[k], warps);
    return mean_wavefronts(site->as_written, warps);
  }
  return 0;
}

// What no statement of the program makes keeps the cost of its bytes without a conflict.
static void cost_accesses(const SassCode *code, const Costs *costs) {
  clock_cost_least(code, costs->wavefronts, costs->far_bytes);
  for (int i = 0; i < code->n; i++) {
    const SassInst *inst = &code->inst[i];
    if (inst->opcode->pipe != SASS_PIPE_SHARED) continue;
    const double known = wavefronts_of(costs, stmt_of(costs, i), inst);
    if (known > 0) costs->wavefronts[i] = known;
  }
}

static const int *read_lines(Arena *arena, const SassResult *sass, const char *kernel, int n) {
  int *line = ARENA_ARRAY(arena, int, n + 1);
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *from = &sass->lines[i];
    const int at = from->address / SASS_BYTES;
    if (from->address >= 0 && at < n && str_equal(from->kernel, kernel)) line[at] = from->cuda_line;
  }
  return line;
}

// ---- the grid -----------------------------------------------------------------------------------

// Whole rounds of all resident blocks, and one more of those that are left for an SM.
static void play_grid(Arena *arena, const Model *model, ClockLoop *in, LoopClock *out) {
  const int sms = (int)model->target->sm_count, resident = in->blocks;
  const int64_t blocks = model->resources.n_blocks, round = (int64_t)sms * resident,
                whole = blocks / round;
  out->turn = clock_play(arena, in);
  in->blocks = (int)ceil_div(blocks - whole * round, sms);
  if (in->blocks > 0 && in->blocks < resident) out->last = clock_play(arena, in);
  const double last = in->blocks == 0          ? 0
                      : in->blocks == resident ? out->turn.clocks
                                               : out->last.clocks;
  out->clocks = ((double)whole * out->turn.clocks + last) * out->turns;
}

ClockLoop loop_clock_input(const LoopClock *from, const SassCode *code,
                           const ClockMachine *machine) {
  ClockLoop in = from->in;
  in.machine = machine;
  in.code = code;
  return in;
}

LoopClock loop_clock(Arena *arena, const Model *compiled, const Emission *emission, ElfBytes text,
                     const SassResult *sass, const ClockMachine *machine) {
  LoopClock out = {0};
  const CalibrationBasis basis = calibration_basis(compiled);
  const double of_slab =
      basis.traffic.slab_fma / basis.multiply_fma / (double)basis.resources.n_consumers;
  const char *kernel = emission->kernel[compiled->program->main_kernel].name;
  if (text.at)
    out.code = sass_decode(arena, text.at, (size_t)(text.end - text.at), compiled->target->cc);
  if (!choose_loop(arena, &out.code, of_slab, &out))
    return (LoopClock){
        .why_not = "its machine code has no loop that multiplies by FFMA from slab to slab"};
  Costs costs = {compiled, emission, read_lines(arena, sass, kernel, out.code.n),
                 ARENA_ARRAY(arena, double, out.code.n), ARENA_ARRAY(arena, double, out.code.n)};
  cost_accesses(&out.code, &costs);
  out.in = (ClockLoop){.loop = out.loop,
                       .n_inner = out.inner.trips > 0,
                       .inner = {out.inner},
                       .wavefronts = costs.wavefronts,
                       .far_bytes = costs.far_bytes,
                       .warps = (int)compiled->resources.n_warps,
                       .blocks = compiled->resources.blocks_per_sm};
  out.turns = basis.traffic.slabs / out.slabs;
  ClockLoop in = loop_clock_input(&out, &out.code, machine);
  play_grid(arena, compiled, &in, &out);
  if (!(out.clocks > 0))
    out.why_not = "its loop waits for what only TMA brings, which is not played yet";
  return out;
}
