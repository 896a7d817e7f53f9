// The clock of machine code: each rule on a loop of a few instructions, register banks as an H200
// timed them, and the loops of recorded kernels.
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "clock/clock_assign.h"
#include "clock/clock_machine.h"
#include "clock/clock_window.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/device/probe/register_probe.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/kernel_play.h"
#include "kernels/toolchain/machine/kernel_text.h"
#include "model/ir/program.h"
#include "quick_check.h"

Suite *suite_clock(void);

enum { NONE = SASS_NO_REGISTER, NO_SCOREBOARD = 7, CODE_MAX = 512 };

static Arena *arena;
static void setup(void) { arena = arena_new("test clock"); }
static void teardown(void) { arena_free(arena); }

// ---- decoding -----------------------------------------------------------------------------------

// Words and texts as nvdisasm 13.0 prints them for sm_90a.
static const struct {
  uint64_t low, high;
  const char *name;
  int read[SASS_SLOTS];
  unsigned reuse;
  int bytes;
} words[] = {
    {0x00000045549e7223, 0x083fe200000000ad, "FFMA", {84, 69, 173}, 2, 0},
    {0x0000004555a07223, 0x080fe200000000b0, "FFMA", {85, 69, 176}, 2, 0},
    {0x0000000002497fae, 0x0003e2000b901c48, "LDGSTS", {2, NONE, NONE}, 0, 16},
    {0x000080000000791a, 0x000fc80000000000, "DEPBAR", {NONE, NONE, NONE}, 0, 0},
};

START_TEST(words_are_decoded) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    unsigned char text[SASS_BYTES];
    memcpy(text, &words[i].low, 8);
    memcpy(text + 8, &words[i].high, 8);
    const SassCode code = sass_decode(arena, text, sizeof text, 90);
    ck_assert_int_eq(code.n, 1);
    ck_assert_str_eq(code.inst->opcode->name, words[i].name);
    for (int slot = 0; slot < SASS_SLOTS; slot++)
      if (!str_equal(words[i].name, "LDGSTS"))
        ck_assert_int_eq(code.inst->read[slot], words[i].read[slot]);
    ck_assert_int_eq((int)code.inst->reuse, (int)words[i].reuse);
    ck_assert_int_eq(code.inst->bytes, words[i].bytes);
  }
  ck_assert_int_eq(sass_decode(arena, (const unsigned char *)"short", 5, 90).n, 0);
}
END_TEST

// ---- loops by hand ------------------------------------------------------------------------------

static ClockMachine machine_of(const char *path) {
  ClockMachine machine = {.far_bytes = 31.75};  // 8.3 TB/s over 132 SMs at 1980 MHz
  Diags diags = diags_new(arena);
  const EmbeddedFile *file = embed_find(arena, path);
  const JsonValue *root = json_parse(arena, file->text, file->size, &diags, path);
  ck_assert_msg(root && clock_machine_read(root, &machine, &diags), "%s",
                diags_text(arena, &diags));
  return machine;
}

static const SassOpcode *opcode(SassPipe pipe, SassKind kind) {
  SassOpcode *row = ARENA_NEW(arena, SassOpcode);
  *row = (SassOpcode){0, "", pipe, kind, 7};
  return row;
}

static SassInst plain(const SassOpcode *row) {
  return (SassInst){.opcode = row,
                    .written = NONE,
                    .read = {NONE, NONE, NONE},
                    .stall = 1,
                    .writes_scoreboard = NO_SCOREBOARD,
                    .reads_scoreboard = NO_SCOREBOARD,
                    .guard = 7,
                    .target = SASS_NO_TARGET};
}

static ClockTurn play(const ClockMachine *machine, const SassInst *inst, int n,
                      const double *wavefronts, int warps, int blocks) {
  static const double nothing[CODE_MAX];
  const SassCode code = {n, inst};
  const ClockLoop in = {.machine = machine,
                        .code = &code,
                        .loop = {0, n - 1},
                        .wavefronts = wavefronts ? wavefronts : nothing,
                        .far_bytes = nothing,
                        .warps = warps,
                        .blocks = blocks};
  return clock_play(arena, &in);
}

// The rows of FFMA that `probe --registers` timed on an H200 (2026-11-22), within 0.05 clocks of
// the rule there.
START_TEST(register_banks_cost_what_was_timed) {
  const ClockMachine machine = machine_of("clock/sm_90.json");
  for (int row = 0; row < register_probe_count(); row++) {
    const RegisterProbeCase *from = register_probe_case(row);
    const char *text;
    SassInst inst[256];
    for (int i = 0; i < 256; i++) {
      const FfmaForm *form = &from->form[i % from->n_forms];
      inst[i] = plain(opcode(SASS_PIPE_FMA, SASS_KIND_PLAIN));
      for (int slot = 0; slot < SASS_SLOTS; slot++)
        inst[i].read[slot] = form->source[slot] == 255 ? NONE : form->source[slot];
      inst[i].reuse = form->reuse;
    }
    const double clocks = play(&machine, inst, 256, NULL, 1, 1).clocks / 256;
    const double timed = register_probe_predict(arena, from, 90, &text);
    ck_assert_msg(fabs(clocks - timed) < 0.06, "%s: %.3f clocks, timed %.3f", from->name, clocks,
                  timed);
  }
}
END_TEST

static const SassOpcode ffma_row = {0, "FFMA", SASS_PIPE_FMA, SASS_KIND_PLAIN, 7};

static SassInst multiply(int to, int a, int b) {
  SassInst out = plain(&ffma_row);
  out.written = out.read[2] = to;
  out.read[0] = a;
  out.read[1] = b;
  return out;
}

// The example of clock_assign.h; and a register that a wide load writes keeps its number.
START_TEST(accumulators_are_exchanged) {
  const ClockMachine machine = machine_of("clock/sm_90.json");
  SassInst inst[16];
  for (int i = 0; i < 16; i++) inst[i] = i < 8 ? multiply(13, 5, NONE) : multiply(10, 4, NONE);
  const SassCode code = {16, inst};
  const SassLoop loop = {0, 15};
  const ClockAssignment better = clock_assign(arena, &code, &loop, 1);
  ck_assert_int_eq(better.n, 1);
  ck_assert_int_eq(better.before, 16);
  ck_assert_int_eq(better.after, 0);
  ck_assert_int_eq(better.moves, 0);
  const int one = better.exchange[0].one, other = better.exchange[0].other;
  ck_assert_int_ne(one % 2, other % 2);
  ck_assert_int_eq(clock_assigned(&better, one), other);
  ck_assert_int_eq(clock_assigned(&better, other), one);
  ck_assert_double_lt(play(&machine, better.code.inst, 16, NULL, 4, 1).clocks,
                      play(&machine, inst, 16, NULL, 4, 1).clocks);
  SassInst *load = &inst[15];
  *load = plain(opcode(SASS_PIPE_SHARED, SASS_KIND_LOAD));
  load->bytes = 16;
  load->read[0] = 4;  // and with it 5, of an address
  load->written = 8;  // and with it 9, 10 and 11
  ck_assert_int_eq(clock_assign(arena, &code, &loop, 1).n, 0);
}
END_TEST

// Eight warps, two for each scheduler: one instruction a clock of each scheduler. Behind a branch a
// warp stands still for some clocks, in which another one goes on.
START_TEST(a_scheduler_issues_one_instruction_a_clock) {
  const ClockMachine machine = machine_of("clock/sm_90.json");
  SassInst inst[64];
  for (int i = 0; i < 64; i++) inst[i] = plain(opcode(SASS_PIPE_FMA, SASS_KIND_PLAIN));
  inst[63].stall = 5;
  const ClockTurn one = play(&machine, inst, 64, NULL, 4, 1),
                  two = play(&machine, inst, 64, NULL, 8, 1);
  ck_assert_double_eq_tol(one.clocks, 68 + machine.branch_clocks, 0.5);
  ck_assert_double_eq_tol(two.clocks, 128, 1);
  ck_assert_double_eq_tol(two.issued, 128, 2);
  ck_assert_double_eq_tol((two.stalls[CLOCK_NOT_SELECTED] + two.stalls[CLOCK_WAIT]), 1, 0.15);
  // A stall of 4 clocks is another warp's chance, and a lone warp's loss.
  for (int i = 0; i < 64; i++) inst[i].stall = 4;
  ck_assert_double_eq_tol(play(&machine, inst, 64, NULL, 4, 1).clocks, 256 + machine.branch_clocks,
                          1);
  ck_assert_double_eq_tol(play(&machine, inst, 64, NULL, 16, 1).clocks, 256, 5);
  ck_assert_double_eq_tol(play(&machine, inst, 64, NULL, 4, 1).stalls[CLOCK_WAIT],
                          3 + machine.branch_clocks / 64.0, 0.05);
  // A pipe of 16 lanes takes a warp in two clocks.
  for (int i = 0; i < 64; i++) inst[i] = plain(opcode(SASS_PIPE_ALU, SASS_KIND_PLAIN));
  ck_assert_double_eq_tol(play(&machine, inst, 64, NULL, 8, 1).clocks, 256, 2);
}
END_TEST

// The shared pipe is the SM's: a clock for each wavefront of all warps.
START_TEST(wavefronts_share_one_pipe) {
  const ClockMachine machine = machine_of("clock/sm_90.json");
  SassInst inst[32];
  double wavefronts[32];
  for (int i = 0; i < 32; i++) {
    inst[i] = plain(opcode(SASS_PIPE_SHARED, SASS_KIND_LOAD));
    wavefronts[i] = 4;
  }
  inst[31].writes_scoreboard = 0;
  inst[0].wait = 1;
  const ClockTurn turn = play(&machine, inst, 32, wavefronts, 8, 1);
  ck_assert_double_ge(turn.clocks, 8 * 32 * 4);
  ck_assert_double_le(turn.clocks, 8 * 32 * 4 + 2 * machine.shared_clocks);
  ck_assert_double_gt(turn.stalls[CLOCK_MIO], turn.stalls[CLOCK_WAIT]);
  // A lone load is waited for: its wavefronts, then what shared memory takes.
  const ClockTurn alone = play(&machine, inst + 31, 1, wavefronts, 1, 1);
  ck_assert_double_gt(alone.clocks, 0);
  SassInst pair[2] = {inst[31], plain(opcode(SASS_PIPE_FMA, SASS_KIND_PLAIN))};
  pair[1].wait = 1;
  const ClockTurn waited = play(&machine, pair, 2, wavefronts, 1, 1);
  // A scheduler's own way to the shared pipe takes half a wavefront in a clock.
  ck_assert_double_eq_tol(
      waited.clocks, machine.shared_clocks + 3 * machine.queue_clocks + 1 + machine.branch_clocks,
      1.5);
  ck_assert_int_eq((int)waited.cause[1], (int)CLOCK_SHORT_SCOREBOARD);
  ck_assert_double_gt(waited.lost[1], 20.0 / 4);
}
END_TEST

// A copy of 16 bytes takes two clocks of the pipe from loads of one wavefront and none from loads
// of four, what ends its group two more. (lab/clock/entries.cu on an H200: 64 LDS with one, two and
// four copies take 272.1, 279.9 and 295.6 clocks; lab/clock/copies.cu.)
START_TEST(copies_are_taken_in_beside_loads) {
  enum { LOADS = 64, WARPS = 16, MOST = LOADS + 5 };
  static const struct {
    int copies;
    double wavefronts, clocks;
  } rows[] = {{0, 1, 256.1}, {1, 1, 272.1}, {2, 1, 279.9}, {4, 1, 295.6}, {4, 4, 1024}};
  const ClockMachine machine = machine_of("clock/sm_90.json");
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    SassInst inst[MOST];
    double wavefronts[MOST];
    int n = 0;
    for (int i = 0; i < LOADS; i++) {
      wavefronts[n] = rows[r].wavefronts;
      inst[n++] = plain(opcode(SASS_PIPE_SHARED, SASS_KIND_LOAD));
      if (i % 16 || i / 16 >= rows[r].copies) continue;
      wavefronts[n] = 0;
      inst[n] = plain(opcode(SASS_PIPE_FAR, SASS_KIND_COPY));
      inst[n++].bytes = 16;
    }
    wavefronts[n] = 0;
    if (rows[r].copies) inst[n++] = plain(opcode(SASS_PIPE_CONTROL, SASS_KIND_COMMIT));
    const double clocks = play(&machine, inst, n, wavefronts, WARPS, 1).clocks / WARPS * 4;
    ck_assert_double_eq_tol(clocks, rows[r].clocks, 0.02 * rows[r].clocks);
  }
}
END_TEST

// The warps of a block meet; those of another block do not wait for them.
START_TEST(a_barrier_holds_a_block) {
  const ClockMachine machine = machine_of("clock/sm_90.json");
  SassInst inst[9];
  for (int i = 1; i < 8; i++) inst[i] = plain(opcode(SASS_PIPE_FMA, SASS_KIND_PLAIN));
  inst[0] = plain(opcode(SASS_PIPE_CONTROL, SASS_KIND_PLAIN));
  inst[8] = plain(opcode(SASS_PIPE_CONTROL, SASS_KIND_BARRIER));
  const ClockTurn one = play(&machine, inst, 9, NULL, 8, 1),
                  two = play(&machine, inst, 9, NULL, 8, 2);
  const double meeting = 2 * machine.arrival_clocks + machine.barrier_clocks;
  ck_assert_double_eq_tol(one.clocks, 2 * 9 + meeting, 4);
  ck_assert_double_lt(two.clocks, 1.5 * one.clocks);
  ck_assert_double_gt(one.stalls[CLOCK_BARRIER], 0.3);
}
END_TEST

// Behind a barrier arithmetic goes on, and the warp stops at the first instruction of another kind.
START_TEST(arithmetic_goes_on_behind_a_barrier) {
  const ClockMachine machine = machine_of("clock/sm_90.json");
  SassInst inst[9];
  inst[0] = plain(opcode(SASS_PIPE_CONTROL, SASS_KIND_BARRIER));
  for (int i = 1; i < 9; i++) inst[i] = plain(opcode(SASS_PIPE_FMA, SASS_KIND_PLAIN));
  inst[6] = plain(opcode(SASS_PIPE_CONTROL, SASS_KIND_PLAIN));
  const ClockTurn late = play(&machine, inst, 9, NULL, 8, 1);
  ck_assert_int_eq((int)late.cause[6], (int)CLOCK_BARRIER);
  for (int i = 1; i < 6; i++) ck_assert_int_ne((int)late.cause[i], (int)CLOCK_BARRIER);
  inst[6] = inst[1];
  inst[1] = plain(opcode(SASS_PIPE_CONTROL, SASS_KIND_PLAIN));
  const ClockTurn at_once = play(&machine, inst, 9, NULL, 8, 1);
  ck_assert_int_eq((int)at_once.cause[1], (int)CLOCK_BARRIER);
  ck_assert_double_lt(late.clocks, at_once.clocks - 5);
}
END_TEST

START_TEST(loops_inside_turn_as_often_as_is_said) {
  const ClockMachine machine = machine_of("clock/sm_90.json");
  SassInst inst[20];
  static const double nothing[20];
  for (int i = 0; i < 20; i++) inst[i] = plain(opcode(SASS_PIPE_FMA, SASS_KIND_PLAIN));
  inst[14].target = 5;
  const SassCode code = {20, inst};
  ClockLoop in = {.machine = &machine,
                  .code = &code,
                  .loop = {0, 19},
                  .n_inner = 1,
                  .inner = {{{5, 14}, 7}},
                  .wavefronts = nothing,
                  .far_bytes = nothing,
                  .warps = 4,
                  .blocks = 1};
  ck_assert_double_eq_tol(clock_play(arena, &in).clocks, 10 + 7 * (10 + machine.branch_clocks), 1);
  in.inner[0].trips = 1;
  ck_assert_double_eq_tol(clock_play(arena, &in).clocks, 20 + machine.branch_clocks, 1);
  in.warps = 0;
  ck_assert_double_eq(clock_play(arena, &in).clocks, 0);
}
END_TEST

// ---- a turn, clock by clock ---------------------------------------------------------------------

enum { TURNS = 10, LENGTH = 9, RESIDENT = 2 };

// A block of `warps` that go round a loop of LENGTH instructions, TURNS times.
static ClockKernel rounds(const ClockMachine *machine, const SassCode *code, const SassLoop *loop,
                          int warps) {
  static const double nothing[CODE_MAX];
  SassStretch *stretch = ARENA_ARRAY(arena, SassStretch, TURNS);
  SassWay *way = ARENA_ARRAY(arena, SassWay, warps);
  ClockBlock *block = ARENA_NEW(arena, ClockBlock);
  for (int i = 0; i < TURNS; i++) stretch[i] = (SassStretch){loop->first, loop->last};
  for (int i = 0; i < warps; i++) way[i] = (SassWay){.n_stretches = TURNS, .stretch = stretch};
  block->way = way;
  return (ClockKernel){.machine = machine,
                       .code = code,
                       .wavefronts = nothing,
                       .lines = nothing,
                       .far_bytes = nothing,
                       .far_share = nothing,
                       .warps = warps,
                       .n_kinds = 1,
                       .kind = block,
                       .blocks = RESIDENT,
                       .resident = RESIDENT,
                       .n_loops = 1,
                       .loop = loop,
                       .cut_loop = -1};
}

// In a clock at most one warp of the scheduler issues; the leader issues its turn from the first
// instruction to the last; a clock in which nobody issues has a cause at each warp.
START_TEST(a_turn_is_watched_clock_by_clock) {
  const ClockMachine machine = machine_of("clock/sm_90.json");
  SassInst inst[LENGTH];
  for (int i = 0; i < LENGTH; i++) inst[i] = plain(opcode(SASS_PIPE_FMA, SASS_KIND_PLAIN));
  inst[4].read[0] = 2, inst[4].read[1] = 4, inst[4].read[2] = 6;  // three reads of one bank
  inst[LENGTH - 1].stall = 12;
  const SassCode code = {LENGTH, inst};
  const SassLoop loop = {0, LENGTH - 1};
  const ClockKernel kernel = rounds(&machine, &code, &loop, 4);
  const ClockWindow window = clock_watch(arena, &kernel, 0, 30);
  const ClockStay stay = clock_play_kernel(arena, &kernel);
  ck_assert_int_eq(window.n, RESIDENT);
  ck_assert_int_eq(window.leader, window.warp[1] == window.scheduler + 4 * window.leader);
  ck_assert_double_eq_tol(window.clocks, stay.rounds[0].clocks, 4);
  ck_assert(!window.is_cut);
  int issued = 0, next = 0;
  for (int at = 0; at < window.clocks; at++) {
    int here = 0;
    for (int w = 0; w < window.n; w++) {
      const ClockCell cell = clock_window_at(&window, w, at);
      here += cell.cause == CLOCK_SELECTED;
      if (w == window.leader && cell.cause == CLOCK_SELECTED)
        ck_assert_int_eq(cell.pc, next++ % LENGTH);
    }
    ck_assert_int_le(here, 1);
    issued += here;
  }
  ck_assert_int_eq(next, LENGTH);
  ck_assert_int_ge(issued, LENGTH);
  ck_assert_int_eq(clock_watch(arena, &kernel, 1, 30).clocks, 0);  // there is no such loop
}
END_TEST

// Loads that L2 holds up: blocks in step get what they ask for as one, up to what the port of two
// SMs takes; of later blocks only those that come one at a time are in step. DRAM's rate holds up
// what nobody has fetched.
START_TEST(blocks_in_step_get_more_of_l2) {
  const ClockMachine machine = machine_of("clock/sm_90.json");
  static const double far_bytes[LENGTH] = {512, 512, 512}, all[LENGTH] = {1, 1, 1};
  SassInst inst[LENGTH];
  for (int i = 0; i < LENGTH; i++)
    inst[i] = plain(i < 3 ? opcode(SASS_PIPE_FAR, SASS_KIND_LOAD)
                          : opcode(SASS_PIPE_FMA, SASS_KIND_PLAIN));
  const SassCode code = {LENGTH, inst};
  for (int i = 0; i < 3; i++) inst[i].writes_scoreboard = 0;
  inst[3].wait = 1;
  const SassLoop loop = {0, LENGTH - 1};
  ClockKernel kernel = rounds(&machine, &code, &loop, 8);
  kernel.far_bytes = far_bytes;
  kernel.far_share = kernel.new_share = all;
  const double bytes = RESIDENT * 8.0 * TURNS * 3 * 512;
  const double apart = clock_play_kernel(arena, &kernel).turn.clocks;
  kernel.sent_share = 0.9;
  const double near = clock_play_kernel(arena, &kernel).turn.clocks;
  kernel.sent_share = 0.1;
  const double in_step = clock_play_kernel(arena, &kernel).turn.clocks;
  ck_assert_double_eq_tol(apart - near, bytes / machine.far_bytes * 0.1, 40);
  ck_assert_double_eq_tol(apart - in_step,
                          bytes * (1 / machine.far_bytes - 2 / machine.far_most_bytes), 40);
  kernel.blocks = 3 * RESIDENT;
  const double later = clock_play_kernel(arena, &kernel).turn.clocks - in_step;
  ck_assert_double_ge(later, 2 * bytes / machine.far_bytes);
  kernel.blocks = RESIDENT;
  kernel.cold = true;
  kernel.missed = (ClockMissed){1e9, 1, 0};
  kernel.dram_bytes = 10;
  const double cold = clock_play_kernel(arena, &kernel).turn.clocks;
  ck_assert_double_ge(cold, bytes / 10 + machine.cold_clocks + machine.code_begin_clocks);
  ck_assert_double_le(cold, bytes / 10 + machine.cold_clocks + machine.code_begin_clocks + 200);
}
END_TEST

// The clocks between two stays in a loop are no turn of it.
START_TEST(a_loop_inside_is_left_and_entered_again) {
  enum { N = 20, TWICE = 8 };
  const ClockMachine machine = machine_of("clock/sm_90.json");
  SassInst inst[N];
  for (int i = 0; i < N; i++) inst[i] = plain(opcode(SASS_PIPE_FMA, SASS_KIND_PLAIN));
  static const SassLoop loops[] = {{5, 9}, {0, N - 1}};
  static const SassStretch stretch[TWICE] = {{0, 9}, {5, 9}, {5, 9}, {5, N - 1},
                                             {0, 9}, {5, 9}, {5, 9}, {5, N - 1}};
  const SassCode code = {N, inst};
  ClockKernel kernel = rounds(&machine, &code, loops, 1);
  SassWay *way = ARENA_NEW(arena, SassWay);
  *way = (SassWay){.n_stretches = TWICE, .stretch = stretch};
  ((ClockBlock *)(uintptr_t)kernel.kind)->way = way;
  kernel.n_loops = 2;
  kernel.blocks = kernel.resident = 1;
  const ClockStay stay = clock_play_kernel(arena, &kernel);
  ck_assert_double_eq_tol(stay.rounds[0].clocks, 5 + machine.branch_clocks, 1e-9);
  ck_assert_double_eq(stay.rounds[0].turns, 4);
}
END_TEST

START_TEST(facts_are_read_strictly) {
  static const char *const bad[] = {
      "{}", "{\"sources\":{},\"facts\":{}}",
      "{\"sources\":{},\"facts\":{\"schedulers\":{\"value\":4,\"source\":\"x\"}}}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ClockMachine machine = {0};
    Diags diags = diags_new(arena);
    ck_assert(!clock_machine_read(json_parse(arena, bad[i], strlen(bad[i]), &diags, "x"), &machine,
                                  &diags));
  }
}
END_TEST

// ---- recorded kernels ---------------------------------------------------------------------------

// Microseconds at 4096^3 on an NVIDIA H200 at 1980 MHz, 2026-11-22, as data/results/h200_fp32.json
// has them; the rungs whose loops wait less than a tenth of their time for global memory.
static const struct {
  const char *rung;
  double us;
} recorded[] = {
    {"staging", 4953.5},       {"interleaved", 4962.8}, {"double_buffer", 4840.9},
    {"pipelined", 4647.1},     {"cp_async", 4499.0},    {"transposed", 3724.7},
    {"padded", 3748.8},        {"cell_groups", 3591.0}, {"warp_patch", 3529.0},
    {"wide_tile", 2949.9},     {"alpha", 2793.3},       {"block_order", 2746.7},
    {"launch_bounds", 3206.1}, {"vectorized", 4820.8},
};
enum { N_RECORDED = sizeof recorded / sizeof *recorded };

static double clock_us(const EmitCases *cases, int rung) {
  const Model *model = emit_case_on(cases, rung, 4096, 4096, 4096, "h200");
  const Emission *emission = emit_model(arena, model, model->program);
  const Plan *plan = plan_from_emission(arena, emission, model->program, model->target, "");
  const CompileResult *result = compile_once(arena, plan, COMPILE_CUBIN);
  if (!result->ok) return 0;
  const int which = model->program->main_kernel;
  const KernelResources *kernel = &result->kernels[which];
  model = model_compiled(arena, model, kernel->registers, kernel_spill_bytes(kernel), NULL);
  const ClockMachine machine = machine_of("clock/sm_90.json");
  const ElfBytes text =
      kernel_text_bytes(arena, kernel_texts_of(arena, result), emission->kernel[which].name);
  const KernelPlay play = kernel_play(arena, model, emission, which, text, kernel->stack_bytes);
  ck_assert_msg(!play.why_not, "%s", play.why_not);
  const ClockStay stay = kernel_play_run(arena, &play, &machine, &(PlayAsk){0});
  ck_assert(!stay.gave_up);
  return stay.turn.clocks / 1980;
}

START_TEST(recorded_kernels_come_out) {
  const EmitCases cases = emit_cases(arena);
  int n = 0, close = 0;
  double sum = 0;
  Str said = str_new(arena);
  for (int i = 0; i < cases.n; i++)
    for (int k = 0; k < N_RECORDED; k++) {
      if (!str_equal(cases.rung[i].name, arena_printf(arena, "fp32_%s", recorded[k].rung)))
        continue;
      const double us = clock_us(&cases, i), error = us / recorded[k].us - 1;
      if (us <= 0) return;  // no NVRTC here
      str_printf(&said, "%s %.0f us, recorded %.0f: %+.1f %%\n", recorded[k].rung, us,
                 recorded[k].us, 100 * error);
      close += fabs(error) <= 0.05;
      sum += fabs(error);
      n++;
    }
  ck_assert_int_eq(n, N_RECORDED);
  ck_assert_msg(sum / n <= 0.04 && close >= N_RECORDED * 8 / 10,
                "mean error %.3f, %d of %d within 5 %%\n%s", sum / n, close, n, said.text);
}
END_TEST

Suite *suite_clock(void) {
  Suite *suite = suite_create("clock");
  TCase *tcase = tcase_create("clock");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 600);
  tcase_add_test(tcase, words_are_decoded);
  tcase_add_test(tcase, register_banks_cost_what_was_timed);
  tcase_add_test(tcase, accumulators_are_exchanged);
  tcase_add_test(tcase, a_scheduler_issues_one_instruction_a_clock);
  tcase_add_test(tcase, wavefronts_share_one_pipe);
  tcase_add_test(tcase, copies_are_taken_in_beside_loads);
  tcase_add_test(tcase, a_barrier_holds_a_block);
  tcase_add_test(tcase, arithmetic_goes_on_behind_a_barrier);
  tcase_add_test(tcase, loops_inside_turn_as_often_as_is_said);
  tcase_add_test(tcase, a_turn_is_watched_clock_by_clock);
  tcase_add_test(tcase, blocks_in_step_get_more_of_l2);
  tcase_add_test(tcase, a_loop_inside_is_left_and_entered_again);
  tcase_add_test(tcase, facts_are_read_strictly);
  tcase_add_test(tcase, recorded_kernels_come_out);
  suite_add_tcase(suite, tcase);
  return suite;
}
