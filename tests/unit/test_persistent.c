// Persistent blocks: whatever the size of the grid, each tile is computed once and right, by every
// kind of kernel; rings go on from tile to tile; orders are what they say.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/embed.h"
#include "base/random.h"
#include "base/whole.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/interp/breakage.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/readings/place/grid.h"
#include "model/readings/rules/rule.h"
#include "model/schedules/random_schedule.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "stress.h"

Suite *suite_persistent(void);

// ---- shapes -------------------------------------------------------------------------------------

#define FMA "M=50,N=68,BM=8,BN=8,FM=2,FN=2,BK=8,PERSISTENT=1,"
#define HALF "M=70,N=72,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=2,FM=2,FN=2,BK=2,PERSISTENT=1,"
#define TMA "STAGE=11,TMA=1,"
#define ROLES TMA "WARP_SPECIALIZE=1,"

// 20 tiles and 15, none of them a number that grids like to divide; each with 1, 2, 3 and 7 slabs.
static const char *const shapes[] = {
    FMA "STAGE=00",
    FMA "STAGE=11",
    FMA "STAGE=10,BUFFER_COUNT=2",
    FMA "STAGE=11,BUFFER_COUNT=3,TILE_ORDER=hilbert",
    FMA "STAGE=11,BUFFER_COUNT=1,PIPELINE_STAGES=1,ALPHA=1",
    FMA "STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=2,GROUP_M=3",
    FMA "STAGE=11,BUFFER_COUNT=3,PIPELINE_STAGES=1,ASYNC_COPY=1,UNROLL_RING=1",
    FMA "STAGE=11,BUFFER_COUNT=2,ASYNC_COPY=1,FRAG_BUFFER=2,GROUP_M=2,GROUP_N=3",
    FMA "STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=1,SPLITK=2",
    FMA "STAGE=11,BUFFER_COUNT=2,SPLITK=2,ATOMIC_FREE_SPLITK=1,GROUP_M=2,TILE_ORDER=group",
    FMA TMA "BUFFER_COUNT=1",
    FMA TMA "BUFFER_COUNT=2,TILE_ORDER=row,GROUP_M=2",
    FMA TMA "BUFFER_COUNT=3,PIPELINE_STAGES=1,SWIZZLE=1",
    FMA ROLES "BUFFER_COUNT=2",
    FMA ROLES "BUFFER_COUNT=3,SPLITK=2,ATOMIC_FREE_SPLITK=1,GROUP_M=2,GROUP_N=2",
    FMA ROLES "BUFFER_COUNT=4,TILE_ORDER=hilbert,FRAG_BUFFER=2",
    HALF "STAGE=11,BUFFER_COUNT=3,PIPELINE_STAGES=1,ASYNC_COPY=1,LDMATRIX=1,FRAG_BUFFER=2",
    HALF "STAGE=11,BUFFER_COUNT=3,PIPELINE_STAGES=1,ASYNC_COPY=1,COPY_STEPS=2,EPILOGUE=1",
    HALF TMA "BUFFER_COUNT=3,PIPELINE_STAGES=1,LDMATRIX=1,SWIZZLE=1,FRAG_BUFFER=2",
    HALF ROLES "BUFFER_COUNT=3,LDMATRIX=1,SWIZZLE=1,FRAG_BUFFER=2,GROUP_M=2",
    HALF ROLES "BUFFER_COUNT=2,EPILOGUE=1,LDMATRIX=2,TILE_ORDER=hilbert",
    HALF ROLES "BUFFER_COUNT=2,EPILOGUE=1,FRAG_ORDER=1,SERPENTINE=1",
    FMA "STAGE=10,SERPENTINE_K=1",
    FMA "STAGE=11,BUFFER_COUNT=3,PIPELINE_STAGES=1,ASYNC_COPY=1,SERPENTINE_K=1",
    FMA "STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=2,SPLITK=2,ATOMIC_FREE_SPLITK=1,SERPENTINE_K=1",
    FMA TMA "BUFFER_COUNT=3,PIPELINE_STAGES=1,SERPENTINE_K=1",
    HALF ROLES "BUFFER_COUNT=3,LDMATRIX=1,SWIZZLE=1,GROUP_M=2,SERPENTINE_K=1",
    FMA ROLES "BUFFER_COUNT=2,TAIL_SPLIT=2,ALPHA=1",
    FMA ROLES "BUFFER_COUNT=3,TAIL_SPLIT=8,TILE_ORDER=hilbert,SERPENTINE_K=1",
    HALF ROLES "BUFFER_COUNT=3,LDMATRIX=1,SWIZZLE=1,GROUP_M=2,GROUP_N=2,TAIL_SPLIT=3,EPILOGUE=1",
    // The first reads of the next slab, where a part of a tile has none.
    FMA ROLES "BUFFER_COUNT=2,TAIL_SPLIT=2,FRAG_BUFFER=2",
    HALF ROLES "BUFFER_COUNT=2,LDMATRIX=1,TAIL_SPLIT=3,FRAG_BUFFER=2",
    HALF ROLES "BUFFER_COUNT=2,EPILOGUE=1,TMA_STORE=1,TAIL_SPLIT=4",
    HALF ROLES "BUFFER_COUNT=2,TILE_ORDER=gpc,TAIL_SPLIT=4,SERPENTINE_K=1",
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static const int slab_counts[] = {1, 2, 3, 7};
enum { N_COUNTS = sizeof slab_counts / sizeof slab_counts[0] };

// Whether so many slabs give each part of a tile some.
static bool has_parts(const Schedule *schedule, int64_t slabs) {
  int64_t parts = schedule->value[KNOB_TAIL_SPLIT];
  return (parts - 1) * ceil_div(slabs, parts) < slabs;
}

// Of the earlier passes each in one shape of three: all in `make stress`.
START_TEST(every_shape_computes_the_nest_after_every_pass) {
  for (int i = 0; i < N_COUNTS; i++) {
    Schedule schedule = property_of_slabs(shapes[_i], slab_counts[i]);
    if (schedule.value[KNOB_UNROLL_RING] && slab_counts[i] != 3) continue;
    if (!has_parts(&schedule, slab_counts[i])) continue;
    const Pipeline *pipeline = &property_built(&schedule)->pipeline;
    for (int s = pipeline->n_stages - 1; s > 0; s--) {
      bool here =
          s == pipeline->n_stages - 1 || (slab_counts[i] == 3 && stress_has_turn(s + _i, 3));
      ck_assert(!here || property_computes(&schedule, pipeline->stage[s].pass->name,
                                           pipeline->stage[s].program, 2));
    }
  }
}
END_TEST

// Three slabs, or as many as there can be parts of a tile.
static Schedule with_slabs(const char *state) {
  int64_t parts = property_read_state(state).value[KNOB_TAIL_SPLIT];
  return property_of_slabs(state, parts > 3 ? (int)parts : 3);
}

START_TEST(any_grid_will_do) {
  Schedule schedule = with_slabs(shapes[_i]);
  const Program *program = property_built(&schedule)->program;
  int64_t tiles = kernel_launch(program_main(program)).n_blocks;
  for (int64_t grid = 1; grid <= tiles; grid += grid < 4 ? 1 : stress_is_on() ? 5 : 11)
    ck_assert(property_computes_on(program, grid));
  ck_assert(property_computes_on(program, tiles));
}
END_TEST

// ---- rungs and random schedules -----------------------------------------------------------------

// Small problems of several tiles, the last row and column of them cut.
static bool reshape(Schedule *schedule) {
  int64_t m = schedule_tile(schedule, KNOB_M), n = schedule_tile(schedule, KNOB_N);
  bool wide = m * n >= 16384;
  if (schedule->value[KNOB_SPLITK] > 2) schedule_set(schedule, KNOB_SPLITK, 2);
  int64_t k = schedule_tile(schedule, KNOB_K), gm = schedule_grain(schedule, KNOB_M),
          gn = schedule_grain(schedule, KNOB_N);
  schedule_set(schedule, KNOB_M, wide ? 2 * m : (3 * m - 1) / gm * gm);
  schedule_set(schedule, KNOB_N, wide ? 2 * n - gn : (2 * n - 1) / gn * gn);
  schedule_set(schedule, KNOB_K, 3 * k);
  schedule_set(schedule, KNOB_PERSISTENT, 1);
  Diags diags = diags_new(property_arena);
  rules_check_knobs(schedule, target_find(&property_targets, schedule->target, NULL), &diags);
  return diags.count == 0;
}

START_TEST(every_rung_computes_the_nest) {
  EmbeddedList list = embed_list(property_data, "ladders/");
  int rungs = 0, refused = 0;
  bool ok = true;
  Seen *kinds = NULL;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++) {
      if (ladder->rung[r].not_built || !property_is_new_kind(&kinds, &ladder->rung[r])) continue;
      arena_reset(property_arena);
      Schedule schedule = property_narrow(&ladder->rung[r].schedule);
      if (!stress_has_turn(r + f, 12)) continue;
      rungs++;
      if (!reshape(&schedule))
        refused++;
      else
        ok &= property_computes(&schedule, "all passes", property_built(&schedule)->program, 1);
    }
  }
  ck_assert(ok);
  ck_assert_int_ge(rungs - refused, stress_part(30, 18));
}
END_TEST

START_TEST(random_schedules_compute_the_nest) {
  const RandomLimits limits = {.extent_max = 200, .fma_max = 400000};
  uint64_t state = property_seed() + 7;
  int wanted = stress_count(stress_part(30, 3), 600), got = 0, roles = 0, tails = 0;
  // As many as are wanted, and on until some have roles and one a split tail.
  while (got < wanted || ((roles < 3 || tails < 1) && got < 10 * wanted)) {
    arena_reset(property_arena);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    const bool adds =
        schedule.value[KNOB_WARP_SPECIALIZE] != 0 || schedule.value[KNOB_TAIL_SPLIT] > 1;
    if (!schedule.value[KNOB_PERSISTENT] || (got >= wanted && !adds)) continue;
    got++;
    roles += schedule.value[KNOB_WARP_SPECIALIZE] != 0;
    tails += schedule.value[KNOB_TAIL_SPLIT] > 1;
    ck_assert(property_computes(&schedule, "all passes", property_built(&schedule)->program, 2));
  }
  ck_assert_int_ge(roles, 3);
  ck_assert_int_ge(tails, 1);
}
END_TEST

// ---- faults -------------------------------------------------------------------------------------

// Wherever a ring counts on, beginning anew is noticed; elsewhere there is nothing to break.
START_TEST(a_ring_that_restarts_is_found) {
  for (int i = 0; i < N_COUNTS; i++) {
    Schedule schedule = property_of_slabs(shapes[_i], slab_counts[i]);
    if (schedule.value[KNOB_UNROLL_RING] && slab_counts[i] != 3) continue;
    if (!has_parts(&schedule, slab_counts[i])) continue;
    const Program *program = property_built(&schedule)->program;
    const Program *broken = program_break(property_arena, program, BREAK_RING_RESTARTS_PER_TILE);
    int64_t slots = schedule.value[KNOB_BUFFER_COUNT];
    bool counts_on = schedule.value[KNOB_TMA] && slab_counts[i] % (2 * slots) != 0;
    ck_assert_msg(counts_on == (broken != NULL), "%s", schedule_text(property_arena, &schedule));
    if (!broken) continue;
    InterpOptions options = {.seed = 1, .stop_at_first = true};
    ck_assert_msg(!interpret_check(property_arena, broken, &options).ok, "%s",
                  schedule_text(property_arena, &schedule));
  }
}
END_TEST

// One block has no other that could share its last tile; with a block less than tiles one is cut.
START_TEST(parts_that_begin_at_0_are_found) {
  Schedule schedule = property_of_slabs(FMA ROLES "BUFFER_COUNT=2,TAIL_SPLIT=2", 3);
  const Program *broken =
      program_break(property_arena, property_built(&schedule)->program, BREAK_PARTS_FROM_0);
  ck_assert_ptr_nonnull(broken);
  const int64_t tiles = kernel_launch(program_main(broken)).n_blocks, grid = tiles - 1;
  ck_assert(property_computes_on(broken, 1));
  InterpCheck check = interpret_check(property_arena, broken, &(InterpOptions){.grid = grid});
  ck_assert(check.n_wrong > 0 && check.n_findings == 0);
}
END_TEST

START_TEST(a_lost_fence_of_the_next_tile_is_found) {
  Schedule schedule = property_of_slabs(FMA TMA "BUFFER_COUNT=3,PIPELINE_STAGES=1", 2);
  const Program *broken =
      program_break(property_arena, property_built(&schedule)->program, BREAK_FENCE);
  ck_assert_ptr_nonnull(broken);
  InterpCheck check = interpret_check(property_arena, broken, &(InterpOptions){.seed = 1});
  ck_assert(!check.ok && check.finding[0].kind == FINDING_RACE);
}
END_TEST

// ---- orders -------------------------------------------------------------------------------------

static const Grid *grid_of(const char *state) {
  Schedule schedule = property_read_state(state);
  return grid_build(property_arena, property_built(&schedule));
}

// Tile t of a persistent kernel is what CTA t computes in one that is not.
START_TEST(groups_are_those_of_blocks) {
  static const char *const groups[] = {"", "GROUP_M=3,", "GROUP_N=2,", "GROUP_M=2,GROUP_N=3,",
                                       "SPLITK=2,GROUP_M=2,"};
  const char *state = "M=50,N=98,K=64,BM=8,BN=8,BK=8,STAGE=11";
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    const Grid *plain = grid_of(arena_printf(property_arena, "%s%s", groups[i], state));
    const Grid *tiles =
        grid_of(arena_printf(property_arena, "PERSISTENT=1,%s%s", groups[i], state));
    ck_assert_int_eq(plain->n_ctas, tiles->n_ctas);
    for (int64_t t = 0; t < plain->n_ctas; t++) {
      GridCta a = grid_cta(plain, t), b = grid_cta(tiles, t);
      ck_assert(a.row == b.row && a.col == b.col && a.split == b.split);
    }
  }
}
END_TEST

// On a square of a power of two each tile of the curve touches the one before; on any other every
// tile comes once.
START_TEST(the_curve_goes_through_every_tile) {
  static const struct {
    int rows, cols;
    bool connected;
  } sides[] = {{8, 8, true}, {16, 16, true},   {4, 8, true},     {8, 4, true},    {5, 7, false},
               {1, 9, true}, {4, 4096, false}, {8192, 2, false}, {3, 5000, false}};
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
    const Grid *grid = grid_of(
        arena_printf(property_arena, "M=%d,N=%d,K=8,BM=8,BN=8,PERSISTENT=1,TILE_ORDER=hilbert",
                     8 * sides[i].rows, 8 * sides[i].cols));
    for (int64_t row = 0; row < grid->rows; row++)
      for (int64_t col = 0; col < grid->cols; col++)
        ck_assert_int_ge(grid_owner(grid, row, col, 0), 0);
    for (int64_t t = 1; t < grid->n_ctas && sides[i].connected; t++) {
      GridCta a = grid_cta(grid, t - 1), b = grid_cta(grid, t);
      ck_assert_int_eq(llabs(a.row - b.row) + llabs(a.col - b.col), 1);
    }
  }
}
END_TEST

// ---- cost ---------------------------------------------------------------------------------------

// Milliseconds of CPU for a model and its grid, the best of five.
static double cost_ms(const char *state, int m, int n, int k) {
  double best = 1e9;
  for (int i = 0; i < 5; i++) {
    arena_reset(property_arena);
    Schedule schedule =
        property_read_state(arena_printf(property_arena, "%s,M=%d,N=%d,K=%d", state, m, n, k));
    clock_t start = clock();
    grid_build(property_arena, property_built(&schedule));
    double ms = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
    best = ms < best ? ms : best;
  }
  return best;
}

// What a knob press costs hardly depends on the problem: 64 times the work, 16 times the tiles. The
// curve's table grows with the tiles, of which there are at most 16,384; it is 6 times as dear.
START_TEST(a_large_problem_costs_no_more) {
  static const char *const states[] = {"PERSISTENT=1,GROUP_M=8", "PERSISTENT=1,TILE_ORDER=hilbert"};
  const char *rest =
      "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=4,FM=4,FN=8,BK=4,STAGE=11,TMA=1,WARP_SPECIALIZE=1,"
      "BUFFER_COUNT=3,LDMATRIX=2,SWIZZLE=3";
  const char *state = arena_printf(property_data, "%s,%s", states[_i], rest);
  double small = cost_ms(state, 4096, 4096, 4096), large = cost_ms(state, 16384, 16384, 16384);
  printf("%s: %.2f ms at 4096, %.2f ms at 16384\n", states[_i], small, large);
  ck_assert_double_lt(large, 8 * small + 2);
}
END_TEST

// Both have 16,384 tiles. The square around the long ones has 16.8 million.
START_TEST(a_long_problem_costs_no_more) {
  static const char state[] = "PERSISTENT=1,TILE_ORDER=hilbert,BM=16,BN=16,STAGE=11,BK=8";
  const double square = cost_ms(state, 2048, 2048, 64), longer = cost_ms(state, 64, 65536, 64);
  printf("%.2f ms in a square, %.2f ms in four rows\n", square, longer);
  ck_assert_double_lt(longer, 3 * square + 5);
}
END_TEST

// ---- texts --------------------------------------------------------------------------------------

START_TEST(it_is_read_back_as_it_was_printed) {
  Schedule schedule = with_slabs(shapes[_i]);
  ck_assert(property_computes_on(property_read_back(property_built(&schedule)->program), 3));
}
END_TEST

// The largest table that a rule lets through, in a line of its own.
START_TEST(the_largest_curve_is_read_back) {
  Schedule schedule = property_read_state(
      "PERSISTENT=1,TILE_ORDER=hilbert,M=16384,N=16384,K=64,BM=16,BN=16,FM=8,FN=8");
  property_read_back(property_built(&schedule)->program);
}
END_TEST

static const char *const archs[] = {"sm_80", "sm_90a", "sm_100a", "sm_120a"};

// Each shape for one generation, in `make stress` for all of them. TMA begins with the second.
START_TEST(it_compiles_without_a_warning) {
  enum { N_ARCHS = sizeof archs / sizeof *archs };
  const int first = strstr(shapes[_i], "TMA=1") != NULL, its = first + _i % (N_ARCHS - first);
  for (int a = stress_is_on() ? first : its; a <= (stress_is_on() ? N_ARCHS - 1 : its); a++) {
    Schedule schedule =
        with_slabs(arena_printf(property_arena, "%s,TARGET=%s", shapes[_i], archs[a]));
    const Plan *plan = plan_from_model(property_arena, property_built(&schedule), NULL);
    const CompileResult *compiled = compile_once(property_arena, plan, COMPILE_BOTH);
    bool silent = compiled->ok && !strstr(compiled->log, "warning");
    ck_assert_msg(silent, "%s on %s: %.200s\n%.1000s", shapes[_i], archs[a],
                  compiled->ok ? "" : compiled->error, compiled->log);
  }
}
END_TEST

// ---- rules --------------------------------------------------------------------------------------

#define TAIL                                                                       \
  "TAIL_SPLIT=4,PERSISTENT=1,BM=16,BN=16,FM=4,FN=4,STAGE=11,TMA=1,BUFFER_COUNT=2," \
  "WARP_SPECIALIZE=1"

static const struct {
  const char *state, *rule, *nearest;
} refused[] = {
    {"TILE_ORDER=hilbert,BM=16,BN=16,FM=4,FN=4", "order_persistent", "PERSISTENT=1"},
    {"PERSISTENT=1,TILE_ORDER=hilbert,M=4096,N=4096,BM=16,BN=16", "hilbert_fits", "TILE_ORDER=row"},
    {"PERSISTENT=1,TMA=1,BUFFER_COUNT=3,UNROLL_RING=1,K=128,BM=16,BN=16,FM=4,FN=4",
     "ring_persistent", "UNROLL_RING=0"},
    {"SERPENTINE_K=1,STAGE=11,BM=16,BN=16", "serpentine_tiles", "PERSISTENT=1"},
    {"SERPENTINE_K=1,PERSISTENT=1,BM=16,BN=16", "serpentine_slabs", "STAGE=01"},
    {"TAIL_SPLIT=2,BM=16,BN=16,FM=4,FN=4,STAGE=11,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1",
     "tail_persistent", "PERSISTENT=1"},
    {"TAIL_SPLIT=2,PERSISTENT=1,BM=16,BN=16,FM=4,FN=4,STAGE=11,TMA=1,BUFFER_COUNT=2", "tail_roles",
     "WARP_SPECIALIZE=1"},
    {"SPLITK=2," TAIL, "tail_whole", "SPLITK=1"},
    {"K=72,BK=8," TAIL, "tail_slabs", "TAIL_SPLIT=3"},
    {"UNROLL_RING=1," TAIL, "tail_ring", "UNROLL_RING=0"},
};
enum { N_REFUSED = sizeof refused / sizeof refused[0] };

START_TEST(what_is_not_legal_says_why) {
  ck_assert_int_eq(property_refusals(refused[_i].state, refused[_i].rule, refused[_i].nearest), 1);
}
END_TEST

Suite *suite_persistent(void) {
  Suite *suite = suite_create("persistent");
  TCase *tcase = tcase_create("persistent");
  tcase_set_timeout(tcase, 600);
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  stress_add_turns(tcase, every_shape_computes_the_nest_after_every_pass, N_SHAPES, 9);
  stress_add_turns(tcase, any_grid_will_do, N_SHAPES, 12);
  tcase_add_test(tcase, every_rung_computes_the_nest);
  tcase_add_test(tcase, random_schedules_compute_the_nest);
  stress_add_turns(tcase, a_ring_that_restarts_is_found, N_SHAPES, 9);
  tcase_add_test(tcase, parts_that_begin_at_0_are_found);
  tcase_add_test(tcase, a_lost_fence_of_the_next_tile_is_found);
  tcase_add_test(tcase, groups_are_those_of_blocks);
  tcase_add_test(tcase, the_curve_goes_through_every_tile);
  tcase_add_loop_test(tcase, a_large_problem_costs_no_more, 0, 2);
  tcase_add_test(tcase, a_long_problem_costs_no_more);
  stress_add_turns(tcase, it_is_read_back_as_it_was_printed, N_SHAPES, 12);
  tcase_add_test(tcase, the_largest_curve_is_read_back);
  stress_add_turns(tcase, it_compiles_without_a_warning, N_SHAPES, 12);
  tcase_add_loop_test(tcase, what_is_not_legal_says_why, 0, N_REFUSED);
  suite_add_tcase(suite, tcase);
  return suite;
}
