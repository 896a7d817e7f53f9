// Which blocks the SM that ends last has, and what a load costs that another warp has asked for:
// small kernels by hand, and what an H200 was seen to do (tests/data/h200_blocks.tsv).
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "clock/clock_kernel.h"
#include "clock_hand.h"
#include "kernels/toolchain/machine/access_costs.h"

Suite *suite_clock_blocks(void);

enum { SMS = 132, KINDS_MAX = 4 };

static Arena *arena;
static void setup(void) { arena = arena_new("test clock blocks"); }
static void teardown(void) { arena_free(arena); }

static SassInst inst_of(const char *name, SassPipe pipe, SassKind kind) {
  SassInst out = clock_hand_inst(arena, name, pipe, kind, 2);
  out.bytes = 4;
  return out;
}

// ---- the blocks of a grid -----------------------------------------------------------------------

START_TEST(blocks_are_dealt_out_evenly_while_sms_fill) {
  FILE *file = fopen("tests/data/h200_blocks.tsv", "r");
  char line[256];
  int n = 0;
  ck_assert_ptr_nonnull(file);
  while (fgets(line, sizeof line, file)) {
    int threads, fit, grid, most, so_many, fewest;
    if (sscanf(line, "%d %d %d %d %d %d", &threads, &fit, &grid, &most, &so_many, &fewest) != 6)
      continue;
    ClockKernel kernel = {.resident = fit, .grid = grid, .sms = SMS};
    clock_kernel_blocks(&kernel, 0);
    ck_assert_msg(kernel.blocks == most && kernel.sure == 0, "%d of %d: %d, seen %d", fit, grid,
                  kernel.blocks, most);
    ck_assert_int_ge(fewest, most - 1);
    n++;
  }
  fclose(file);
  ck_assert_int_ge(n, 500);
}
END_TEST

START_TEST(a_last_wave_may_give_an_sm_as_many_as_fit) {
  static const struct {
    int64_t grid;
    int resident, known, sure, left, blocks;
  } rows[] = {
      {512, 3, 0, 3, 116, 6},                           // one wave of 396, and 116
      {1024, 3, 0, 6, 232, 9},                          // two
      {1056, 8, 0, 0, 0, 8},                            // no more than one
      {1024, 8, 0, 0, 0, 8},   {4096, 3, 0, 0, 0, 32},  // many: ends are spread by then
      {384, 1, 0, 0, 0, 3},                             // one place: it is free or not
      {512, 3, 5, 0, 0, 5},                             // known
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ClockKernel kernel = {.resident = rows[i].resident, .grid = rows[i].grid, .sms = SMS};
    clock_kernel_blocks(&kernel, rows[i].known);
    ck_assert_int_eq(kernel.sure, rows[i].sure);
    ck_assert_double_eq_tol(kernel.left * SMS, rows[i].left, 1e-9);
    ck_assert_int_eq(kernel.blocks, rows[i].blocks);
    const double each = (double)rows[i].grid / SMS,
                 most = rows[i].known ? rows[i].known : ceil(each);
    ck_assert_double_eq_tol(kernel.alone, most / each, 1e-9);
  }
}
END_TEST

// ---- the blocks that are left -------------------------------------------------------------------

// A block of one warp that issues `clocks` / 2 instructions.
static ClockBlock block_of(int clocks) {
  const int n = clocks / 2;
  SassStretch *stretch = ARENA_ARRAY(arena, SassStretch, n);
  for (int i = 0; i < n; i++) stretch[i] = (SassStretch){0, 0};
  SassWay *way = ARENA_NEW(arena, SassWay);
  *way = (SassWay){.ended = true, .n_stretches = n, .stretch = stretch};
  return (ClockBlock){way};
}

// Blocks that the played SM ran; blocks of these lengths lie side by side on it.
static ClockStay play(int64_t grid, int resident, const int *clocks, int n) {
  static const double nothing[2];
  SassInst *inst = ARENA_ARRAY(arena, SassInst, 1);
  inst[0] = inst_of("", SASS_PIPE_ALU, SASS_KIND_PLAIN);
  SassCode *code = ARENA_NEW(arena, SassCode);
  *code = (SassCode){1, inst};
  ClockBlock *kind = ARENA_ARRAY(arena, ClockBlock, KINDS_MAX);
  for (int i = 0; i < n; i++) kind[i] = block_of(clocks[i]);
  ClockKernel kernel = {.machine = clock_hand_machine(arena),
                        .code = code,
                        .wavefronts = nothing,
                        .lines = nothing,
                        .far_bytes = nothing,
                        .far_share = nothing,
                        .warps = 1,
                        .n_kinds = n,
                        .kind = kind,
                        .resident = resident,
                        .grid = grid,
                        .sms = SMS,
                        .cut_loop = -1};
  clock_kernel_blocks(&kernel, 0);
  const ClockStay stay = clock_play_kernel(arena, &kernel);
  ck_assert(!stay.gave_up);
  return stay;
}

// Three blocks of an SM end 1.5 % apart at least, SMs are 2 % ahead or behind: when the foremost
// has its second place free, 37 of 100 SMs have their first; when it has its third, 73 have their
// first and 36 their second.
START_TEST(the_foremost_sm_gets_more_of_a_last_wave) {
  static const struct {
    int64_t left;
    int more;
  } rows[] = {{10, 1}, {48, 1}, {50, 2}, {116, 2}, {142, 2}, {146, 3}, {232, 3}, {395, 3}};
  const int alike[] = {20000};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const ClockStay stay = play(3 * SMS + rows[i].left, 3, alike, 1);
    ck_assert_msg(stay.blocks == 3 + rows[i].more, "%d left: %g blocks", (int)rows[i].left,
                  stay.blocks);
  }
  // Blocks that end far apart leave every SM one place before any has two.
  const int apart[] = {16000, 20000, 24000};
  ck_assert_double_eq(play(3 * SMS + 116, 3, apart, 3).blocks, 4);
  ck_assert_double_eq(play(3 * SMS + 140, 3, apart, 3).blocks, 5);
  // What it has more takes its time.
  ck_assert_double_ge(play(3 * SMS + 116, 3, alike, 1).turn.clocks, 40000);
  ck_assert_double_eq(play(3 * SMS, 3, alike, 1).blocks, 3);
}
END_TEST

// ---- loads --------------------------------------------------------------------------------------

// Blocks of one kind, one at a time, of instructions that ask for so many lines of so many bytes.
static ClockKernel kernel_of(const SassCode *code, const ClockBlock *block, const double *lines,
                             const double *bytes, const double *share) {
  static const double nothing[8];
  return (ClockKernel){.machine = clock_hand_machine(arena),
                       .code = code,
                       .wavefronts = nothing,
                       .lines = lines,
                       .far_bytes = bytes,
                       .far_share = share,
                       .warps = 1,
                       .n_kinds = 1,
                       .kind = block,
                       .blocks = 1,
                       .resident = 1,
                       .cut_loop = -1};
}

// A block of one warp that asks L2 for a line, computes for `late` instructions, and has a line
// that nobody waits for when it ends.
static ClockStay play_open_loads(int blocks, int late) {
  enum { ASK, PLAIN, LEFT, WAIT, N };
  static const double lines[N] = {[ASK] = 1, [LEFT] = 1}, share[N] = {[ASK] = 1, [LEFT] = 1},
                      bytes[N] = {[ASK] = 128, [LEFT] = 128};
  SassInst inst[N] = {[ASK] = inst_of("LDG", SASS_PIPE_FAR, SASS_KIND_LOAD),
                      [PLAIN] = inst_of("", SASS_PIPE_ALU, SASS_KIND_PLAIN),
                      [LEFT] = inst_of("LDG", SASS_PIPE_FAR, SASS_KIND_LOAD),
                      [WAIT] = inst_of("", SASS_PIPE_ALU, SASS_KIND_PLAIN)};
  inst[ASK].writes_scoreboard = inst[LEFT].writes_scoreboard = 0;
  inst[WAIT].wait = 1;
  const SassCode code = {N, inst};
  SassStretch *stretch = ARENA_ARRAY(arena, SassStretch, late + 3);
  int n = 0;
  stretch[n++] = (SassStretch){ASK, ASK};
  for (int i = 0; i < late; i++) stretch[n++] = (SassStretch){PLAIN, PLAIN};
  stretch[n++] = (SassStretch){WAIT, WAIT};
  stretch[n++] = (SassStretch){LEFT, LEFT};
  SassWay way = {.ended = true, .n_stretches = n, .stretch = stretch};
  const ClockBlock block = {&way};
  ClockKernel kernel = kernel_of(&code, &block, lines, bytes, share);
  kernel.blocks = blocks;
  return clock_play_kernel(arena, &kernel);
}

// The load that a block leaves open is not taken for the next block's: that waits for its own.
START_TEST(what_a_block_left_open_is_not_the_next_ones) {
  for (int late = 0; late <= 400; late += 25) {
    const ClockStay one = play_open_loads(1, late), three = play_open_loads(3, late);
    ck_assert(!one.gave_up && !three.gave_up);
    ck_assert_double_ge(three.turn.clocks, 3 * one.turn.clocks);
  }
}
END_TEST

// A warp loads, waits, and computes for a while, `TURNS` times; the second of the two comes later
// by half a latency.
static double clocks_of_loads(double first_share) {
  enum { LOAD, WAIT, LATE, N, TURNS = 40, WARPS = 2 };
  static double lines[N] = {1}, share[N] = {1}, first[N], bytes[N];
  first[LOAD] = first_share;
  bytes[LOAD] = 128 * first_share;
  SassInst inst[N] = {[LOAD] = inst_of("LDG", SASS_PIPE_FAR, SASS_KIND_LOAD),
                      [WAIT] = inst_of("", SASS_PIPE_ALU, SASS_KIND_PLAIN),
                      [LATE] = inst_of("", SASS_PIPE_ALU, SASS_KIND_PLAIN)};
  inst[LOAD].writes_scoreboard = 0;
  inst[WAIT].wait = 1;
  const SassCode code = {N, inst};
  SassWay way[WARPS];
  for (int w = 0; w < WARPS; w++) {
    enum { HALF = 75 };  // times two clocks
    SassStretch *stretch = ARENA_ARRAY(arena, SassStretch, TURNS + HALF);
    int n = 0;
    for (int i = 0; i < HALF * w; i++) stretch[n++] = (SassStretch){LATE, LATE};
    for (int i = 0; i < TURNS; i++) stretch[n++] = (SassStretch){LOAD, WAIT};
    way[w] = (SassWay){.ended = true, .n_stretches = n, .stretch = stretch};
  }
  const ClockBlock block = {way};
  ClockKernel kernel = kernel_of(&code, &block, lines, bytes, share);
  kernel.warps = WARPS;
  kernel.first_share = first;
  return clock_play_kernel(arena, &kernel).turn.clocks / TURNS;
}

// The second warp begins half a latency late, and is no later in the end: what the first has asked
// for comes for both. Where each asks for its own lines it stays behind.
START_TEST(a_line_comes_for_all_warps_that_ask_for_it) {
  const ClockMachine *machine = clock_hand_machine(arena);
  const double alone = clocks_of_loads(1), together = clocks_of_loads(0.5);
  ck_assert_double_ge(together, machine->far_clocks);
  ck_assert_double_le(together, machine->far_clocks + 16);
  ck_assert_double_ge(alone - together, 2);
}
END_TEST

START_TEST(l2_writes_more_than_is_spilled) {
  SassInst inst[] = {inst_of("STL", SASS_PIPE_FAR, SASS_KIND_STORE),
                     inst_of("LDL", SASS_PIPE_FAR, SASS_KIND_LOAD),
                     inst_of("STG", SASS_PIPE_FAR, SASS_KIND_STORE)};
  inst[0].bytes = 16;
  const SassCode code = {3, inst};
  AccessCosts costs = access_costs_new(arena, &code);
  costs.local_share = 0.25;
  access_costs_finish(&costs);
  ck_assert_double_eq_tol(costs.far_bytes[0], 1.5 * 512, 1e-9);
  ck_assert_double_eq_tol(costs.far_bytes[1], 0.25 * 128, 1e-9);
  ck_assert_double_eq_tol(costs.far_bytes[2], 128, 1e-9);
  ck_assert_double_eq_tol(costs.far_share[0], 1, 1e-9);
}
END_TEST

Suite *suite_clock_blocks(void) {
  Suite *suite = suite_create("clock_blocks");
  TCase *tests = tcase_create("clock_blocks");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, blocks_are_dealt_out_evenly_while_sms_fill);
  tcase_add_test(tests, a_last_wave_may_give_an_sm_as_many_as_fit);
  tcase_add_test(tests, the_foremost_sm_gets_more_of_a_last_wave);
  tcase_add_test(tests, a_line_comes_for_all_warps_that_ask_for_it);
  tcase_add_test(tests, what_a_block_left_open_is_not_the_next_ones);
  tcase_add_test(tests, l2_writes_more_than_is_spilled);
  suite_add_tcase(suite, tests);
  return suite;
}
