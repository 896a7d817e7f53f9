// A cubin → how long one warp alone takes for a turn of the loop that multiplies.
//
// The section .text.KERNEL is walked as the SM issues it: an instruction waits for the scoreboards
// that it names, is issued, and the next one follows after its stall. What takes a time of its own
// (loads, mma.sync) opens a scoreboard until it is there. Walked once as if every load of global
// memory were as near as L1 and once as if it were as far as L2, it shows the number of them that
// the compiler put together: two FFMA that wait for a load each, one after the other, take twice
// L2.
//
// Worked example, the loop of fp32 with B straight from global memory, 16 k-steps as they are
// unrolled: with 32 registers the compiler loads one value after the other, 16 · 300 clocks a turn;
// with a few more it loads all 16 at once, 300 clocks and some.
//
// The loop is the innermost one that has most multiplies; the one around it, without what is in
// loops inside of it, is the other part. Trips are not in the code: who knows the problem knows how
// many multiplies there are in all (calibration_terms.c).
#include "kernels/toolchain/machine/kernel_code.h"

#include <stdbool.h>
#include <string.h>

#include "base/elf_file.h"
#include "base/str.h"
#include "sass/sass_loops.h"

enum {
  LOOPS_MAX = 64,
  TURNS = 3,          // until the scoreboards of one turn reach into the next
  SOURCE_CLOCKS = 12  // until the registers of an address may be written again
};

// ---- opcodes ------------------------------------------------------------------------------------

// The low nine bits of an opcode: three more say where operands come from.
typedef struct Opcode {
  int bits;
  const char *name;
  int multiplies;  // of a lane, or of a warp's mma.sync
  bool of_warp;
  bool far;     // a load of global memory
  bool spills;  // local memory
  bool stores;
  int clocks;  // behind its scoreboard: rounded guesses, which a fit corrects as a whole; of the
               // others VARIABLE
} Opcode;

enum { VARIABLE = 20, NEAR = COMPILED_NEAR_CLOCKS };

static const Opcode OPCODES[] = {
    {0x023, "FFMA", .multiplies = 1},
    {0x031, "HFMA2", .multiplies = 2},
    {0x02b, "DFMA", .multiplies = 1},
    {0x03c, "HMMA", .multiplies = 1, .of_warp = true, .clocks = 33},
    {0x037, "IMMA", .multiplies = 1, .of_warp = true, .clocks = 33},
    {0x03f, "DMMA", .multiplies = 1, .of_warp = true, .clocks = 33},
    {0x07a, "QMMA", .multiplies = 1, .of_warp = true, .clocks = 33},
    {0x181, "LDG", .far = true, .clocks = NEAR},
    {0x184, "LDS", .clocks = 29},
    {0x03b, "LDSM", .clocks = 33},
    {0x183, "LDL", .spills = true, .clocks = 33},
    {0x187, "STL", .spills = true, .stores = true, .clocks = VARIABLE},
};

static const Opcode OTHER = {.name = "", .clocks = VARIABLE};

static const Opcode *opcode_of(int bits) {
  for (size_t i = 0; i < sizeof OPCODES / sizeof *OPCODES; i++)
    if (OPCODES[i].bits == bits) return &OPCODES[i];
  return &OTHER;
}

static const Opcode *opcode_at(const SassCode *code, int i) {
  return opcode_of(code->inst[i].opcode->bits);
}

// ---- loops --------------------------------------------------------------------------------------

typedef struct Loops {
  int n;
  SassLoop loop[LOOPS_MAX];
} Loops;

static Loops find_loops(Arena *arena, const SassCode *code) {
  Loops out = {0};
  out.n = sass_loops(arena, code, out.loop, LOOPS_MAX);
  return out;
}

static bool is_inside(const SassLoop *inner, const SassLoop *outer) {
  return inner->first >= outer->first && inner->last <= outer->last &&
         (inner->first > outer->first || inner->last < outer->last);
}

// Whether the loop has the instruction for itself, and no loop inside of it.
static bool is_own(const Loops *loops, const SassLoop *loop, int i) {
  for (int k = 0; k < loops->n; k++) {
    const SassLoop *other = &loops->loop[k];
    if (is_inside(other, loop) && i >= other->first && i <= other->last) return false;
  }
  return true;
}

// A kernel that has mma.sync multiplies by nothing else.
static int multiplies_at(const SassCode *code, int i, bool of_warp) {
  const Opcode *opcode = opcode_at(code, i);
  return opcode->of_warp == of_warp ? opcode->multiplies : 0;
}

static bool has_mma(const SassCode *code) {
  for (int i = 0; i < code->n; i++)
    if (opcode_at(code, i)->of_warp) return true;
  return false;
}

// ---- a turn -------------------------------------------------------------------------------------

typedef struct Walk {
  const SassCode *code;
  const Loops *loops;
  bool of_warp;
  double far_clocks;  // of a load of global memory
} Walk;

typedef struct Clock {
  double now, ready[SASS_SCOREBOARDS];
} Clock;

static void open_scoreboard(Clock *clock, int scoreboard, double clocks) {
  if (scoreboard >= SASS_SCOREBOARDS) return;
  if (clock->now + clocks > clock->ready[scoreboard])
    clock->ready[scoreboard] = clock->now + clocks;
}

static void issue(Clock *clock, const SassInst *inst, double clocks) {
  for (int i = 0; i < SASS_SCOREBOARDS; i++)
    if (inst->wait >> i & 1 && clock->ready[i] > clock->now) clock->now = clock->ready[i];
  open_scoreboard(clock, inst->writes_scoreboard, clocks);
  open_scoreboard(clock, inst->reads_scoreboard, SOURCE_CLOCKS);
  clock->now += inst->stall > 0 ? inst->stall : 1;
}

static double turn_clocks(const Walk *walk, const SassLoop *loop) {
  Clock clock = {0};
  double began = 0;
  for (int turn = 0; turn < TURNS; turn++) {
    began = clock.now;
    for (int i = loop->first; i <= loop->last; i++) {
      const Opcode *opcode = opcode_at(walk->code, i);
      if (is_own(walk->loops, loop, i))
        issue(&clock, &walk->code->inst[i], opcode->far ? walk->far_clocks : opcode->clocks);
    }
  }
  return clock.now - began;
}

static int own_multiplies(const Walk *walk, const SassLoop *loop) {
  int n = 0;
  for (int i = loop->first; i <= loop->last; i++)
    if (is_own(walk->loops, loop, i)) n += multiplies_at(walk->code, i, walk->of_warp);
  return n;
}

static CompiledLoop read_loop(Walk *walk, const SassLoop *loop) {
  CompiledLoop out = {.multiplies = own_multiplies(walk, loop)};
  for (int i = loop->first; i <= loop->last; i++) {
    if (!is_own(walk->loops, loop, i)) continue;
    out.instructions++;
    out.spills += opcode_at(walk->code, i)->spills;
  }
  walk->far_clocks = COMPILED_NEAR_CLOCKS;
  out.near_clocks = turn_clocks(walk, loop);
  walk->far_clocks = COMPILED_FAR_CLOCKS;
  out.far_clocks = turn_clocks(walk, loop);
  return out;
}

static const SassLoop *loop_that_multiplies(const Walk *walk) {
  const SassLoop *best = NULL;
  int most = 0;
  for (int i = 0; i < walk->loops->n; i++) {
    const int n = own_multiplies(walk, &walk->loops->loop[i]);
    if (n <= most) continue;
    most = n;
    best = &walk->loops->loop[i];
  }
  return best;
}

static CompiledCode read_code(Arena *arena, const SassCode *code) {
  const Loops loops = find_loops(arena, code);
  Walk walk = {.code = code, .loops = &loops, .of_warp = has_mma(code)};
  const SassLoop whole = {0, code->n - 1}, *inner = loop_that_multiplies(&walk);
  const Loops none = {0};
  if (!inner) {  // all of it is unrolled
    walk.loops = &none;
    const CompiledCode out = {.inner = read_loop(&walk, &whole)};
    return out.inner.multiplies > 0 ? out : (CompiledCode){0};
  }
  CompiledCode out = {.inner = read_loop(&walk, inner)};
  const SassLoop *outer = sass_loop_around(loops.loop, loops.n, inner);
  if (outer) out.outer = read_loop(&walk, outer);
  return out;
}

// ---- spills -------------------------------------------------------------------------------------

static SassLoop outermost(Arena *arena, const SassCode *code) {
  const Loops loops = find_loops(arena, code);
  const Walk walk = {.code = code, .loops = &loops, .of_warp = has_mma(code)};
  const SassLoop *loop = loop_that_multiplies(&walk);
  for (const SassLoop *around = loop; around;
       around = sass_loop_around(loops.loop, loops.n, around))
    loop = around;
  return loop ? *loop : (SassLoop){0, code->n - 1};
}

static CompiledSpills read_spills(Arena *arena, const SassCode *code) {
  CompiledSpills out = {0};
  const SassLoop loop = outermost(arena, code);
  for (int i = 0; i < code->n; i++) {
    const Opcode *opcode = opcode_at(code, i);
    SpillCount *at = i < loop.first ? &out.before : i > loop.last ? &out.behind : &out.loop;
    if (opcode->spills) *(opcode->stores ? &at->stores : &at->loads) += 1;
  }
  return out;
}

// ---- length -------------------------------------------------------------------------------------

// The assembler ends a kernel with a branch to itself and fills it up with NOPs.
static bool fills_up(const SassCode *code, int i) {
  const SassInst *inst = &code->inst[i];
  return str_equal(inst->opcode->name, "NOP") ||
         (inst->opcode->kind == SASS_KIND_BRANCH && inst->target == i);
}

static int read_length(const SassCode *code) {
  int n = code->n;
  while (n > 0 && fills_up(code, n - 1)) n--;
  return n;
}

// ---- the cubin ----------------------------------------------------------------------------------

static SassCode find_code(Arena *arena, const unsigned char *cubin, size_t n, const char *kernel) {
  const ElfBytes text = elf_section(cubin, n, arena_printf(arena, ".text.%s", kernel));
  return text.at ? sass_decode(arena, text.at, (size_t)(text.end - text.at), elf_cuda_sm(cubin, n))
                 : (SassCode){0};
}

KernelReading kernel_reading(const unsigned char *cubin, size_t n, const char *kernel) {
  Arena *arena = arena_new("kernel code");
  const SassCode code = find_code(arena, cubin, n, kernel);
  KernelReading out = {.instructions = -1};
  if (code.n)
    out = (KernelReading){read_code(arena, &code), read_spills(arena, &code), read_length(&code)};
  arena_free(arena);
  return out;
}
