// Machine code drawn at random (base/random.h: the same each time), played on the clock as a loop
// and as the blocks of an SM, with other warps, blocks, caches and places of operands:
// tests/golden/told/plays.txt has the clocks, what they are lost to, and a sum over what is said of
// each instruction.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "base/str.h"
#include "clock/clock_kernel.h"
#include "clock_hand.h"
#include "golden.h"

Suite *suite_told_plays(void);

enum { CODES = 14, LEAST = 12, MOST = 40, WARPS_MAX = 16, STRETCHES_MAX = 64, KINDS = 2 };

static const char *const names[] = {"FFMA", "FFMA",  "FFMA", "FMUL",   "IMAD",     "IADD3", "LOP3",
                                    "MOV",  "HFMA2", "DFMA", "MUFU",   "S2R",      "HMMA",  "DMMA",
                                    "IMMA", "LDS",   "LDS",  "LDSM",   "STS",      "LDG",   "LDG",
                                    "LDL",  "STG",   "BAR",  "LDGSTS", "LDGDEPBAR"};

// A code with the accesses of each instruction, and its loop, whose last instruction is the branch
// back. A loop inside has its second third.
typedef struct Drawn {
  SassCode code;
  SassLoop loop;
  double wavefronts[MOST], lines[MOST], bytes[MOST], share[MOST], first[MOST], cold[MOST];
} Drawn;

static Arena *arena;
static void setup(void) { arena = arena_new("plays"); }
static void teardown(void) { arena_free(arena); }

static int draw(uint64_t *seed, int lo, int hi) { return (int)random_between(seed, lo, hi); }

static SassInst draw_inst(uint64_t *seed) {
  const char *name = names[draw(seed, 0, sizeof names / sizeof *names - 1)];
  SassInst inst = clock_hand_inst(arena, name, SASS_PIPE_ALU, SASS_KIND_PLAIN, draw(seed, 0, 7));
  const SassOpcode *row = sass_opcode_find(name);
  if (row) inst.opcode = row;
  const SassPipe pipe = inst.opcode->pipe;
  if (inst.opcode->kind != SASS_KIND_STORE) inst.written = draw(seed, 0, 40);
  for (int i = 0; i < SASS_SLOTS; i++)
    if (draw(seed, 0, 3)) inst.read[i] = draw(seed, 0, 40);
  inst.reuse = (unsigned)(draw(seed, 0, 3) ? 0 : draw(seed, 0, 7));
  inst.yields = !draw(seed, 0, 7);
  const bool asks = pipe == SASS_PIPE_SHARED || pipe == SASS_PIPE_FAR || pipe == SASS_PIPE_XU ||
                    inst.opcode->kind == SASS_KIND_LOAD;
  if (asks && inst.opcode->kind != SASS_KIND_STORE) inst.writes_scoreboard = draw(seed, 0, 3);
  if (asks && !draw(seed, 0, 2)) inst.reads_scoreboard = draw(seed, 3, 5);
  if (!draw(seed, 0, 3)) inst.wait = (unsigned)draw(seed, 0, 63);
  if (!draw(seed, 0, 9)) inst.guard = draw(seed, 0, 6);
  if (asks) inst.bytes = 4 << draw(seed, 0, 2);
  return inst;
}

static const Drawn *draw_code(uint64_t *seed) {
  Drawn *d = ARENA_NEW(arena, Drawn);
  const int n = draw(seed, LEAST, MOST);
  SassInst *inst = ARENA_ARRAY(arena, SassInst, n);
  for (int i = 0; i + 1 < n; i++) {
    inst[i] = draw_inst(seed);
    const SassPipe pipe = inst[i].opcode->pipe;
    if (pipe == SASS_PIPE_SHARED) d->wavefronts[i] = draw(seed, 1, 8);
    if (pipe != SASS_PIPE_FAR) continue;
    d->lines[i] = draw(seed, 1, 8);
    d->bytes[i] = 32 * draw(seed, 0, 16);
    d->share[i] = draw(seed, 0, 4) / 4.0;
    d->first[i] = draw(seed, 0, 4) / 4.0;
    d->cold[i] = draw(seed, 0, 4) / 4.0;
  }
  for (int i = 0; i < 2; i++) {
    SassInst *back = &inst[i ? n - 1 : n / 3 * 2];
    *back = clock_hand_inst(arena, "BRA", SASS_PIPE_CONTROL, SASS_KIND_BRANCH, 5);
    back->target = i ? 0 : n / 3;
    back->guard = i;
    back->goes_on = true;
  }
  d->code = (SassCode){n, inst};
  d->loop = (SassLoop){0, n - 1};
  return d;
}

static uint64_t sum_real(uint64_t sum, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.5g", value);
  return hash_text(sum, text);
}

static void tell_turn(Str *out, const ClockTurn *turn, int n) {
  uint64_t sum = HASH_START;
  for (int i = 0; turn->executed && i < n; i++) {
    sum = sum_real(sum_real(sum_real(sum, turn->executed[i]), turn->lost[i]), turn->stood[i]);
    const int said[] = {(int)turn->cause[i], turn->blame[i]};
    sum = hash_bytes(sum, said, sizeof said);
  }
  for (int c = 0; c < CLOCK_CAUSE_COUNT; c++) sum = sum_real(sum, turn->stalls[c]);
  str_printf(out, "%.6g clocks, %.6g issued, lost", turn->clocks, turn->issued);
  for (int c = 0; c < CLOCK_CAUSE_COUNT; c++)
    if (turn->lost_to[c] > 0)
      str_printf(out, " %s %.4g", clock_cause_name((ClockCause)c), turn->lost_to[c]);
  str_printf(out, "; %08x", (unsigned)sum);
}

// ---- a loop -------------------------------------------------------------------------------------

static void tell_loop(Str *out, const Drawn *d, int warps, int blocks, int what_if) {
  const int third = d->code.n / 3;
  ClockLoop loop = {.machine = clock_hand_machine(arena),
                    .code = &d->code,
                    .loop = d->loop,
                    .wavefronts = d->wavefronts,
                    .far_bytes = d->bytes,
                    .warps = warps,
                    .blocks = blocks,
                    .banks_are_free = what_if == 1,
                    .loads_are_near = what_if == 2};
  if (what_if == 3) {
    loop.n_inner = 1;
    loop.inner[0] = (ClockInner){{third, 2 * third}, 3};
  }
  const ClockTurn turn = clock_play(arena, &loop);
  str_printf(out, "  loop, %d warps of %d blocks, what if %d: ", warps, blocks, what_if);
  tell_turn(out, &turn, d->code.n);
  str_add(out, "\n");
}

// ---- blocks -------------------------------------------------------------------------------------

// A warp goes round the loop so often; every second one skips its last third.
static SassWay way_of(const Drawn *d, int turns, bool skips) {
  SassStretch *stretch = ARENA_ARRAY(arena, SassStretch, STRETCHES_MAX);
  int n = 0;
  for (int i = 0; i < turns; i++)
    stretch[n++] = (SassStretch){0, skips ? d->code.n * 2 / 3 : d->code.n - 1};
  return (SassWay){.ended = true, .n_stretches = n, .stretch = stretch};
}

static void tell_blocks(Str *out, const Drawn *d, int warps, uint64_t *seed) {
  SassWay *ways[KINDS];
  ClockBlock kind[KINDS];
  bool has_barrier = false;
  for (int i = 0; i < d->code.n; i++)
    has_barrier |= d->code.inst[i].opcode->kind == SASS_KIND_BARRIER;
  for (int k = 0; k < KINDS; k++) {
    ways[k] = ARENA_ARRAY(arena, SassWay, warps);
    const int turns = draw(seed, 2, 9);
    for (int w = 0; w < warps; w++) ways[k][w] = way_of(d, turns, w % 2 && !has_barrier);
    kind[k] = (ClockBlock){ways[k]};
  }
  ClockKernel kernel = {
      .machine = clock_hand_machine(arena),
      .code = &d->code,
      .wavefronts = d->wavefronts,
      .lines = d->lines,
      .far_bytes = d->bytes,
      .far_share = d->share,
      .first_share = draw(seed, 0, 1) ? d->first : NULL,
      .new_share = d->cold,
      .warps = warps,
      .n_kinds = draw(seed, 1, KINDS),
      .kind = kind,
      .resident = draw(seed, 1, 4),
      .grid = draw(seed, 1, 2000),
      .sms = 132,
      .missed = {draw(seed, 0, 3), draw(seed, 0, 4) / 4.0, draw(seed, 0, 4) / 4.0},
      .cold = draw(seed, 0, 1),
      .sent_share = draw(seed, 0, 1) ? 0.5 : 0,
      .dram_bytes = draw(seed, 0, 1) ? 20 : 0,
      .n_loops = 1,
      .loop = &d->loop,
      .cut_loop = -1};
  clock_kernel_blocks(&kernel, draw(seed, 0, 2) ? 0 : draw(seed, 1, 9));
  if (draw(seed, 0, 1)) {
    kernel.cut_loop = 0;
    kernel.cut_turns = draw(seed, 1, 40);
    kernel.kept_turns = 4;
  }
  const ClockStay stay = clock_play_kernel(arena, &kernel);
  str_printf(out,
             "  %d warps, %d blocks at once of %d, %d played%s%s: %g blocks, %.5g turns of %.5g; ",
             warps, kernel.resident, kernel.blocks, clock_blocks_played(&kernel),
             kernel.cold ? ", cold" : "", stay.gave_up ? ", gives up" : "", stay.blocks,
             stay.rounds[0].turns, stay.rounds[0].clocks);
  tell_turn(out, &stay.turn, d->code.n);
  str_add(out, "\n");
}

START_TEST(plays_are_as_reviewed) {
  static const int warps[] = {1, 4, 7, 16};
  Arena *kept = arena_new("report");
  Str out = str_new(kept);
  uint64_t seed = 20;
  for (int i = 0; i < CODES; i++, arena_reset(arena)) {
    const Drawn *d = draw_code(&seed);
    str_printf(&out, "code %d: %d instructions\n", i, d->code.n);
    for (int w = 0; w < 4; w++) {
      tell_loop(&out, d, warps[w], 1 + (i + w) % 3, (i + w) % 4);
      tell_blocks(&out, d, warps[w], &seed);
    }
  }
  golden_check("told/plays.txt", out.text);
  arena_free(kept);
}
END_TEST

Suite *suite_told_plays(void) {
  Suite *suite = suite_create("told_plays");
  TCase *tcase = tcase_create("plays");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, plays_are_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
