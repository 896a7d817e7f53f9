// Whose turn it is: lines of code that a scheduler does not keep, and instructions that yield.
#include <check.h>
#include <math.h>

#include "clock/clock_machine.h"
#include "clock_hand.h"

Suite *suite_clock_turns(void);

enum { WARPS = 4, LINE = 128 / SASS_BYTES, MOST = 8192 };

static Arena *arena;
static void setup(void) { arena = arena_new("test clock turns"); }
static void teardown(void) { arena_free(arena); }

// A loop of these instructions, of so many warps a scheduler.
static ClockTurn play(SassInst *inst, int n, int warps) {
  static const double nothing[MOST];
  SassCode *code = ARENA_NEW(arena, SassCode);
  *code = (SassCode){n, inst};
  const ClockLoop loop = {.machine = clock_hand_machine(arena),
                          .code = code,
                          .loop = {0, n - 1},
                          .wavefronts = nothing,
                          .far_bytes = nothing,
                          .warps = WARPS * warps,
                          .blocks = 1};
  return clock_play(arena, &loop);
}

static SassInst *plain(SassPipe pipe, int n, int stall) {
  SassInst *inst = ARENA_ARRAY(arena, SassInst, n);
  for (int i = 0; i < n; i++) inst[i] = clock_hand_inst(arena, "", pipe, SASS_KIND_PLAIN, stall);
  return inst;
}

// A line is asked for with the last instruction in front of the line before it: two fetches go on
// at once, and one line takes half of a fetch and of its own clocks.
static double line_clocks(void) {
  return (clock_hand_machine(arena)->code_fetch_clocks + LINE) / 2;
}

// As lab/clock/code.cu on an H200: up to 32 KB cost nothing, 64 KB 18.3 clocks a line, which a
// second warp hides.
START_TEST(code_that_is_not_kept_is_waited_for) {
  enum { KEPT = 1024, LONG = 4096 };
  const ClockMachine *machine = clock_hand_machine(arena);
  const ClockTurn kept = play(plain(SASS_PIPE_FMA, KEPT, 1), KEPT, 1),
                  one = play(plain(SASS_PIPE_FMA, LONG, 1), LONG, 1),
                  two = play(plain(SASS_PIPE_FMA, LONG, 1), LONG, 2);
  ck_assert_double_eq_tol(kept.clocks, KEPT + machine->branch_clocks, 2);
  ck_assert_double_eq_tol(line_clocks(), 18.3, 0.05);
  ck_assert_double_eq_tol(one.clocks / LONG * LINE, line_clocks(), 0.5);
  ck_assert_double_gt(one.lost_to[CLOCK_NO_INSTRUCTION], 0.9 * (one.clocks - LONG));
  ck_assert_double_le(two.clocks, 1.2 * 2 * LONG);
  ck_assert_double_eq(kept.lost_to[CLOCK_NO_INSTRUCTION], 0);
}
END_TEST

// Half as many ways again: each line of its set is lost before it is asked for again.
START_TEST(a_set_that_overflows_keeps_nothing) {
  const ClockMachine *machine = clock_hand_machine(arena);
  const int n = machine->code_lines * LINE, more = n / machine->code_ways / 2;
  const double full = play(plain(SASS_PIPE_FMA, n - LINE, 1), n - LINE, 1).clocks,
               half = play(plain(SASS_PIPE_FMA, n + more, 1), n + more, 1).clocks,
               over = play(plain(SASS_PIPE_FMA, n + 2 * more, 1), n + 2 * more, 1).clocks;
  const double miss = line_clocks() - LINE;
  ck_assert_double_eq_tol(full, n - LINE + machine->branch_clocks, 2 * miss);
  // Half of the sets have a line too many: ways + 1 misses each.
  const double sets = (double)machine->code_lines / machine->code_ways;
  ck_assert_double_eq_tol(half - (n + more), sets / 2 * (machine->code_ways + 1) * miss,
                          0.1 * half);
  ck_assert_double_eq_tol(over, (n + 2 * more) * (line_clocks() / LINE), 0.05 * over);
}
END_TEST

// Two warps of a scheduler keep the tensor core busy. Each goes on until an instruction yields; it
// then waits for what the other one has issued by its own.
START_TEST(a_warp_goes_on_until_it_yields) {
  enum { N = 64, AT = 31 };
  SassInst *inst = plain(SASS_PIPE_TENSOR, N, 5);
  inst[AT].yields = true;
  const ClockTurn turn = play(inst, N, 2);
  const double tensor = clock_hand_machine(arena)->pipe_clocks[SASS_PIPE_TENSOR];
  ck_assert_double_eq_tol(turn.clocks, 2 * N * tensor, 4 * tensor);
  for (int i = 4; i < N - 4; i++)
    if (i != AT + 1) ck_assert_double_lt(turn.stood[i], turn.stood[AT + 1] / 4);
}
END_TEST

// One that yields leaves the next clock to others: alone it takes two clocks for what stalls for
// one; a second warp takes the other clock, and four take as long as four that do not yield.
START_TEST(who_yields_leaves_a_clock) {
  enum { N = 512 };
  SassInst *inst = plain(SASS_PIPE_FMA, N, 1);
  for (int i = 0; i < N; i++) inst[i].yields = true;
  for (int warps = 1; warps <= 4; warps++) {
    const double clocks = play(inst, N, warps).clocks;
    ck_assert_double_eq_tol(clocks, fmax(2, warps) * N, 0.05 * clocks);
  }
}
END_TEST

Suite *suite_clock_turns(void) {
  Suite *suite = suite_create("clock_turns");
  TCase *tcase = tcase_create("clock_turns");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, code_that_is_not_kept_is_waited_for);
  tcase_add_test(tcase, a_set_that_overflows_keeps_nothing);
  tcase_add_test(tcase, a_warp_goes_on_until_it_yields);
  tcase_add_test(tcase, who_yields_leaves_a_clock);
  suite_add_tcase(suite, tcase);
  return suite;
}
