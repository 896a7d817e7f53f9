// A cubin → how long one warp alone takes for a turn of the loop that multiplies.
//
// The section .text.KERNEL is walked as the SM issues it: an instruction waits for the scoreboards
// that it names, is issued, and the next one follows after its stall. What takes a time of its own
// (loads, mma.sync) opens a scoreboard until it is there. Walked once as if every load of global
// memory were as near as L1 and once as if it were as far as L2, it shows how many of them the
// compiler put together: two FFMA that wait for a load each, one after the other, take twice L2.
//
// Worked example, the loop of fp32 with B straight from global memory, 16 k-steps as they are
// unrolled: with 32 registers the compiler loads one value after the other, 16 · 300 clocks a turn;
// with a few more it loads all 16 at once, 300 clocks and some.
//
// The loop is the innermost one that has most multiplies; the one around it, without what is in
// loops inside of it, is the other part. Trips are not in the code: who knows the problem knows how
// many multiplies there are in all (calibration_terms.c).
#include "kernels/toolchain/kernel_code.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/elf_file.h"

enum {
  INSTRUCTION_BYTES = 16,
  SCOREBOARDS = 6,
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

// ---- instructions -------------------------------------------------------------------------------

typedef struct Words {
  uint64_t low, high;
} Words;

typedef struct Code {
  const unsigned char *bytes;
  int n;   // instructions
  int sm;  // compute capability, 90 of sm_90a; 0 = unknown, read as those from sm_90 on
} Code;

static Words words_at(const Code *code, int i) {
  Words words;
  memcpy(&words, code->bytes + (size_t)i * INSTRUCTION_BYTES, sizeof words);
  return words;
}

static int field(Words words, int from, int n) {
  const uint64_t value = from >= 64  ? words.high >> (from - 64)
                         : from == 0 ? words.low
                                     : words.low >> from | words.high << (64 - from);
  return (int)(value & ((1u << n) - 1));
}

static const Opcode *opcode_at(const Code *code, int i) {
  return opcode_of(field(words_at(code, i), 0, 9));
}

// Where a branch goes, an instruction's index; -1: it is none. The distance is counted in words of
// four bytes from the instruction behind it. Up to sm_89 all of its bits lie from 34 on; since
// sm_90 eight more lie in front of those, at 16 (nvdisasm -hex of tests/data/cubins).
static int64_t branch_target(const Code *code, int i) {
  enum { BRA = 0x147, UPPER_BITS = 48 };
  const Words words = words_at(code, i);
  if (field(words, 0, 9) != BRA) return -1;
  uint64_t upper = words.low >> 34 | words.high << 30;
  upper &= (UINT64_C(1) << UPPER_BITS) - 1;
  if (upper >> (UPPER_BITS - 1)) upper |= ~UINT64_C(0) << UPPER_BITS;
  const bool is_short = code->sm > 0 && code->sm < 90;
  const uint64_t distance = is_short ? upper : upper << 8 | (uint64_t)field(words, 16, 8);
  return i + 1 + (int64_t)distance * 4 / INSTRUCTION_BYTES;
}

// ---- loops --------------------------------------------------------------------------------------

typedef struct Loop {
  int first, last;
} Loop;

typedef struct Loops {
  int n;
  Loop loop[LOOPS_MAX];
} Loops;

static Loops find_loops(const Code *code) {
  Loops out = {0};
  for (int i = 0; i < code->n && out.n < LOOPS_MAX; i++) {
    const int64_t to = branch_target(code, i);
    if (to >= 0 && to < i) out.loop[out.n++] = (Loop){(int)to, i};
  }
  return out;
}

static bool is_inside(const Loop *inner, const Loop *outer) {
  return inner->first >= outer->first && inner->last <= outer->last &&
         (inner->first > outer->first || inner->last < outer->last);
}

// Whether the loop has the instruction for itself, and no loop inside of it.
static bool is_own(const Loops *loops, const Loop *loop, int i) {
  for (int k = 0; k < loops->n; k++) {
    const Loop *other = &loops->loop[k];
    if (is_inside(other, loop) && i >= other->first && i <= other->last) return false;
  }
  return true;
}

// A kernel that has mma.sync multiplies by nothing else.
static int multiplies_at(const Code *code, int i, bool of_warp) {
  const Opcode *opcode = opcode_at(code, i);
  return opcode->of_warp == of_warp ? opcode->multiplies : 0;
}

static bool has_mma(const Code *code) {
  for (int i = 0; i < code->n; i++)
    if (opcode_at(code, i)->of_warp) return true;
  return false;
}

// ---- a turn -------------------------------------------------------------------------------------

typedef struct Walk {
  const Code *code;
  const Loops *loops;
  bool of_warp;
  double far_clocks;  // of a load of global memory
} Walk;

typedef struct Clock {
  double now, ready[SCOREBOARDS];
} Clock;

static void open_scoreboard(Clock *clock, int scoreboard, double clocks) {
  if (scoreboard >= SCOREBOARDS) return;
  if (clock->now + clocks > clock->ready[scoreboard])
    clock->ready[scoreboard] = clock->now + clocks;
}

static void issue(Clock *clock, Words words, double clocks) {
  const int wait = field(words, 116, 6), stall = field(words, 105, 4);
  for (int i = 0; i < SCOREBOARDS; i++)
    if (wait >> i & 1 && clock->ready[i] > clock->now) clock->now = clock->ready[i];
  open_scoreboard(clock, field(words, 110, 3), clocks);
  open_scoreboard(clock, field(words, 113, 3), SOURCE_CLOCKS);
  clock->now += stall > 0 ? stall : 1;
}

static double turn_clocks(const Walk *walk, const Loop *loop) {
  Clock clock = {0};
  double began = 0;
  for (int turn = 0; turn < TURNS; turn++) {
    began = clock.now;
    for (int i = loop->first; i <= loop->last; i++) {
      const Opcode *opcode = opcode_at(walk->code, i);
      if (is_own(walk->loops, loop, i))
        issue(&clock, words_at(walk->code, i), opcode->far ? walk->far_clocks : opcode->clocks);
    }
  }
  return clock.now - began;
}

static int own_multiplies(const Walk *walk, const Loop *loop) {
  int n = 0;
  for (int i = loop->first; i <= loop->last; i++)
    if (is_own(walk->loops, loop, i)) n += multiplies_at(walk->code, i, walk->of_warp);
  return n;
}

static CompiledLoop read_loop(Walk *walk, const Loop *loop) {
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

static const Loop *loop_that_multiplies(const Walk *walk) {
  const Loop *best = NULL;
  int most = 0;
  for (int i = 0; i < walk->loops->n; i++) {
    const int n = own_multiplies(walk, &walk->loops->loop[i]);
    if (n <= most) continue;
    most = n;
    best = &walk->loops->loop[i];
  }
  return best;
}

// The smallest one around it; NULL: none.
static const Loop *loop_around(const Loops *loops, const Loop *inner) {
  const Loop *best = NULL;
  for (int i = 0; i < loops->n; i++) {
    const Loop *loop = &loops->loop[i];
    if (is_inside(inner, loop) && (!best || is_inside(loop, best))) best = loop;
  }
  return best;
}

static CompiledCode read_code(const Code *code) {
  const Loops loops = find_loops(code);
  Walk walk = {.code = code, .loops = &loops, .of_warp = has_mma(code)};
  const Loop whole = {0, code->n - 1}, *inner = loop_that_multiplies(&walk);
  const Loops none = {0};
  if (!inner) {  // all of it is unrolled
    walk.loops = &none;
    const CompiledCode out = {.inner = read_loop(&walk, &whole)};
    return out.inner.multiplies > 0 ? out : (CompiledCode){0};
  }
  CompiledCode out = {.inner = read_loop(&walk, inner)};
  const Loop *outer = loop_around(&loops, inner);
  if (outer) out.outer = read_loop(&walk, outer);
  return out;
}

// ---- spills -------------------------------------------------------------------------------------

static Loop outermost(const Code *code) {
  const Loops loops = find_loops(code);
  const Walk walk = {.code = code, .loops = &loops, .of_warp = has_mma(code)};
  const Loop *loop = loop_that_multiplies(&walk);
  for (const Loop *around = loop; around; around = loop_around(&loops, around)) loop = around;
  return loop ? *loop : (Loop){0, code->n - 1};
}

static CompiledSpills read_spills(const Code *code) {
  CompiledSpills out = {0};
  const Loop loop = outermost(code);
  for (int i = 0; i < code->n; i++) {
    const Opcode *opcode = opcode_at(code, i);
    SpillCount *at = i < loop.first ? &out.before : i > loop.last ? &out.behind : &out.loop;
    if (opcode->spills) *(opcode->stores ? &at->stores : &at->loads) += 1;
  }
  return out;
}

// ---- the cubin ----------------------------------------------------------------------------------

static Code find_code(const unsigned char *cubin, size_t n, const char *kernel) {
  char name[256];  // longer than those of our kernels
  snprintf(name, sizeof name, ".text.%s", kernel);
  const ElfBytes text = elf_section(cubin, n, name);
  return (Code){.bytes = text.at,
                .n = text.at ? (int)((text.end - text.at) / INSTRUCTION_BYTES) : 0,
                .sm = elf_cuda_sm(cubin, n)};
}

CompiledCode kernel_code_read(const unsigned char *cubin, size_t n, const char *kernel) {
  const Code code = find_code(cubin, n, kernel);
  return code.n ? read_code(&code) : (CompiledCode){0};
}

CompiledSpills kernel_spills_read(const unsigned char *cubin, size_t n, const char *kernel) {
  const Code code = find_code(cubin, n, kernel);
  return code.n ? read_spills(&code) : (CompiledSpills){0};
}
