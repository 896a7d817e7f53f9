// Arithmetic beside tensor cores: what an H200 timed (tests/data/h200_beside.tsv) and what is
// played of warps that do the same.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "clock/clock_kernel.h"
#include "clock_hand.h"

Suite *suite_clock_beside(void);

enum { LOOP = 128, TURNS = 8, WARPS = 4 };

static Arena *arena;
static void setup(void) { arena = arena_new("test clock beside"); }
static void teardown(void) { arena_free(arena); }

static SassInst plain(SassPipe pipe, int stall) {
  return clock_hand_inst(arena, "", pipe, SASS_KIND_PLAIN, stall);
}

// wgmma m64n128k16, asked for more often than it is done, in 64 clocks.
static SassInst product(bool f32_sums) {
  enum { COLUMNS_AT = 53, OFTEN = 40 };
  SassInst out = plain(SASS_PIPE_GROUP, OFTEN);
  out.low = UINT64_C(15) << COLUMNS_AT;
  out.high = (f32_sums ? 1 << 12 : 0) | UINT64_C(7) << 20;
  return out;
}

static SassWay rounds_of(const SassLoop *loop, int turns) {
  SassStretch *stretch = ARENA_ARRAY(arena, SassStretch, turns);
  for (int i = 0; i < turns; i++) stretch[i] = (SassStretch){loop->first, loop->last};
  return (SassWay){.ended = true, .n_stretches = turns, .stretch = stretch};
}

// Clocks of one of the instructions where a warp of each scheduler goes round a loop of them;
// `products` are asked for meanwhile.
static double play(const SassInst *one, const SassInst *products) {
  enum { PRODUCTS = 4000 };
  static const double nothing[LOOP + 1];
  SassInst inst[LOOP + 1];
  for (int i = 0; i < LOOP; i++) inst[i] = *one;
  if (products) inst[LOOP] = *products;
  const SassCode code = {LOOP + 1, inst};
  static const SassLoop loops[] = {{0, LOOP - 1}, {LOOP, LOOP}};
  const int first = products ? WARPS : 0, n = first + WARPS;
  SassWay *way = ARENA_ARRAY(arena, SassWay, n);
  for (int w = 0; w < n; w++)
    way[w] = w < first ? rounds_of(&loops[1], PRODUCTS) : rounds_of(&loops[0], TURNS);
  const ClockBlock block = {way};
  const ClockKernel kernel = {.machine = clock_hand_machine(arena),
                              .code = &code,
                              .wavefronts = nothing,
                              .lines = nothing,
                              .far_bytes = nothing,
                              .far_share = nothing,
                              .warps = n,
                              .n_kinds = 1,
                              .kind = &block,
                              .blocks = 1,
                              .resident = 1,
                              .n_loops = 2,
                              .loop = loops,
                              .cut_loop = -1};
  const ClockStay stay = clock_play_kernel(arena, &kernel);
  ck_assert(!stay.gave_up);
  return stay.rounds[0].clocks / LOOP;
}

static const struct {
  const char *name;
  SassPipe pipe;
} kinds[] = {{"fmnmx", SASS_PIPE_ALU},
             {"imad", SASS_PIPE_FMA_HEAVY},
             {"f2fp", SASS_PIPE_ALU},
             {"hfma2", SASS_PIPE_HALF},
             {"ex2", SASS_PIPE_XU}};

static SassInst kind_of(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (str_equal(kinds[i].name, name)) return plain(kinds[i].pipe, 1);
  ck_abort_msg("%s", name);
}

START_TEST(arithmetic_beside_wgmma_takes_what_was_timed) {
  enum { LINE_BYTES = 256 };
  static char line[LINE_BYTES];
  const double most_off = 0.06;
  FILE *file = fopen("tests/data/h200_beside.tsv", "r");
  ck_assert_ptr_nonnull(file);
  int n = 0;
  while (fgets(line, sizeof line, file)) {
    char name[16], sums[16];
    double clocks, each;
    if (sscanf(line, "%15s %15s %lf %lf", name, sums, &clocks, &each) != 4) continue;
    const SassInst one = kind_of(name), products = product(str_equal(sums, "f32"));
    const double played = play(&one, str_equal(sums, "none") ? NULL : &products);
    ck_assert_msg(fabs(played / clocks - 1) <= most_off, "%s, sums %s: %.2f, timed %.2f", name,
                  sums, played, clocks);
    n++;
  }
  fclose(file);
  ck_assert_int_ge(n, 10);
}
END_TEST

// Each product with f32 sums takes 32 clocks from FADD, 48 where an operand is marked.
START_TEST(marked_operands_of_ffma_wait_longer) {
  const SassInst sums = product(true);
  SassInst one = plain(SASS_PIPE_FMA, 1);
  ck_assert_double_eq_tol(play(&one, NULL), 1, 0.1);
  ck_assert_double_eq_tol(play(&one, &sums), 64.0 / (64 - 32), 0.1);
  one.reuse = 1;
  ck_assert_double_eq_tol(play(&one, &sums), 64.0 / (64 - 48), 0.1);
}
END_TEST

Suite *suite_clock_beside(void) {
  Suite *suite = suite_create("clock_beside");
  TCase *tests = tcase_create("clock_beside");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, arithmetic_beside_wgmma_takes_what_was_timed);
  tcase_add_test(tests, marked_operands_of_ffma_wait_longer);
  suite_add_tcase(suite, tests);
  return suite;
}
