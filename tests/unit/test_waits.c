// What warps wait for, and which registers do not stay registers, program by program.
#include <check.h>

#include "model/readings/derive.h"
#include "property.h"

Suite *suite_waits(void);

static Arena *arena;

static void setup(void) {
  property_setup();
  arena = arena_new("test waits");
}
static void teardown(void) {
  arena_free(arena);
  property_teardown();
}

static const Model *model_of(const char *state) {
  Diags diags = diags_new(arena);
  Schedule schedule = schedule_plain();
  const char *text = arena_printf(arena, "AUTO=0,TARGET=h100,%s", state);
  ck_assert_msg(schedule_parse(&schedule, text, &diags), "%s", diags_text(arena, &diags));
  const Model *model = model_build(arena, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(arena, &model->diags));
  return model;
}

#define SQUARE "M=512,N=512,K=512"
#define MMA "DTYPE=bf16,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=2,FM=2,FN=4,BK=2,STAGE=11,"
#define FUSED                                                                         \
  "DTYPE=bf16,PROGRAM=attention,HEADS=4,M=512,N=512,K=128,FUSE=1,STAGE=11,ATOM_N=64," \
  "ATOM_KIND=wgmma_m64n256k16_bf16,SWIZZLE=3,"

// A fetch is exposed where its values are waited for before anything is multiplied, whoever carries
// them; a ring has as many slabs on their way as are asked for ahead, or as it has slots where a
// producer fills them.
START_TEST(a_fetch_that_nothing_covers_is_exposed) {
  static const struct {
    const char *state;
    double fetches, depth;
  } rows[] = {
      {SQUARE, 0, 0},
      {SQUARE ",STAGE=11", 1, 0},
      {SQUARE ",STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=1", 0, 2},
      {SQUARE "," MMA "LDMATRIX=1,ASYNC_COPY=1", 1, 0},
      {SQUARE "," MMA "LDMATRIX=1,ASYNC_COPY=1,BUFFER_COUNT=2,PIPELINE_STAGES=1", 0, 2},
      {SQUARE "," MMA "LDMATRIX=1,ASYNC_COPY=1,BUFFER_COUNT=4,PIPELINE_STAGES=1", 0, 4},
      {SQUARE "," MMA "LDMATRIX=1,TMA=1,BUFFER_COUNT=2,PIPELINE_STAGES=1", 0, 2},
      {SQUARE "," MMA "LDMATRIX=1,TMA=1,BUFFER_COUNT=3,WARP_SPECIALIZE=1,PRODUCER_WARPS=1", 0, 3},
      {FUSED "TMA=1", 2, 0},
      {FUSED "TMA=1,ASYNC_COPY=1,EAGER_KV=1", 0, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const BlockWaits *waits = &model_of(rows[i].state)->waits;
    ck_assert_msg(waits->fetches == rows[i].fetches && waits->depth == rows[i].depth,
                  "%s: %g fetches, depth %g", rows[i].state, waits->fetches, waits->depth);
  }
}
END_TEST

// 512 / 16 k-steps; fragments of A and B straight from global memory are waited for by fours unless
// the loop says otherwise.
START_TEST(steps_are_made_one_after_the_other) {
  const char *plain = SQUARE ",DTYPE=bf16,ATOM_KIND=mma_m16n8k16_bf16";
  const BlockWaits four = model_of(plain)->waits;
  const BlockWaits one = model_of(arena_printf(arena, "%s,UNROLL_K=1", plain))->waits;
  const BlockWaits eight = model_of(arena_printf(arena, "%s,UNROLL_K=8", plain))->waits;
  ck_assert_double_eq(four.steps, 32);
  ck_assert_double_eq(four.reads, 8);
  ck_assert_double_eq(one.reads, 32);
  ck_assert_double_eq(eight.reads, 4);
  const BlockWaits staged = model_of(SQUARE "," MMA "LDMATRIX=1")->waits;
  ck_assert_double_eq(staged.steps, 32);
  ck_assert_double_eq(staged.reads, 0);
  ck_assert(staged.instructions > 32 * (2 * 4) && staged.instructions < 32 * 64);
}
END_TEST

// fp32 along a row of A: eight steps share a sector, of four together two waits do. B walks from
// row to row, each step in a sector of its own.
START_TEST(sectors_that_l1_has_are_near) {
  const BlockWaits four = model_of(SQUARE)->waits, one = model_of(SQUARE ",UNROLL_K=1")->waits;
  ck_assert_double_eq(four.reads, 512 / 4);
  ck_assert_double_eq(four.near_reads, 512 / 4 / 2);
  ck_assert_double_eq(one.reads, 512);
  ck_assert_double_eq(one.near_reads, 512 * 7 / 8);
  const BlockWaits wide = model_of(SQUARE ",FM=4,FN=8")->waits;
  ck_assert_double_eq(wide.loads, 512 * 8);
  ck_assert_double_eq(wide.near_loads, 512 * 4 / 2);
}
END_TEST

// What is spilled is spilled in each turn of the loop that makes the products: of a loop over
// k-steps by fours, of slabs of two steps of the one over slabs, four of which stand in one turn
// where a ring is unrolled; of fused attention of the one over blocks of 64 keys.
START_TEST(turns_are_those_of_the_loop_around_all_products) {
  ck_assert_double_eq(model_of(SQUARE)->waits.turns, 512 / 4);
  ck_assert_double_eq(model_of(SQUARE ",UNROLL_K=8")->waits.turns, 512 / 8);
  ck_assert_double_eq(model_of(SQUARE "," MMA "LDMATRIX=1")->waits.turns, 512 / 32);
#define RING "LDMATRIX=1,ASYNC_COPY=1,BUFFER_COUNT=4,PIPELINE_STAGES=1,UNROLL_RING=1"
  ck_assert_double_eq(model_of(SQUARE "," MMA RING)->waits.turns, 512 / 32 / 4);
#undef RING
  ck_assert_double_eq(model_of(FUSED "TMA=1")->waits.turns, 512 / 64);
}
END_TEST

// Eight columns of bf16 are half a sector: B of 512 rows.
START_TEST(narrow_boxes_bring_their_neighbours) {
#define NARROW                                              \
  SQUARE                                                    \
  ",DTYPE=bf16,ATOM_KIND=mma_m16n8k16_bf16,STAGE=01,TMA=1," \
  "LDMATRIX=1,BUFFER_COUNT=2,PIPELINE_STAGES=1"
  ck_assert_double_eq(model_of(NARROW)->waits.box_waste, 512 * (32 - 16));
  ck_assert_double_eq(model_of(NARROW ",FN=2")->waits.box_waste, 0);
#undef NARROW
}
END_TEST

// Panels of 64 columns have a quarter of the rows that panels of 16 have: 64 rows of A, and 64 of K
// for each panel of B, in eight slabs.
START_TEST(narrow_boxes_have_more_rows) {
#define BOXES SQUARE ",DTYPE=bf16,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,BK=4,STAGE=11,TMA=1,"
  ck_assert_double_eq(model_of(BOXES "SWIZZLE=3")->waits.box_rows, 8 * (64 + 64));
  ck_assert_double_eq(model_of(BOXES "SWIZZLE=1")->waits.box_rows, 8 * 4 * (64 + 64));
  ck_assert_double_eq(model_of(SQUARE ",STAGE=11")->waits.box_rows, 0);
#undef BOXES
}
END_TEST

// The registers that a bound leaves are those of whole warps in the four parts of an SM; without
// one the compiler gives up on a block that needs more than its share.
START_TEST(registers_beyond_the_launch_bounds_are_spilled) {
  static const struct {
    const char *knobs;
    int left;  // 0: none is spilled
  } rows[] = {
      {"WM=2,WN=2", 0},
      {"WM=2,WN=2,MIN_BLOCKS=3", 0},     // 12 warps: 168, which is enough
      {"WM=2,WN=2,MIN_BLOCKS=4", 128},   // 16 warps
      {"WM=1,WN=1,MIN_BLOCKS=13", 128},  // 13 warps take the room of 16
      {"WM=5,WN=3,MIN_BLOCKS=1", 128},   // 15 of 16
      {"WM=5,WN=4", 32},                 // 20 warps: 96, fewer than the sums
      {"WM=1,WN=1,FRAG_ORDER=1,BK=8", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Resources *r =
        &model_of(
             arena_printf(arena,
                          "M=2560,N=2560,K=512,DTYPE=bf16,ATOM_KIND=mma_m16n8k16_bf16,FM=3,FN=8,%s",
                          rows[i].knobs))
             ->resources;
    const int expected = rows[i].left ? r->n_needed - 20 - rows[i].left : 0;
    ck_assert_msg(r->n_spilled == expected, "%s: %d of %d", rows[i].knobs, r->n_spilled,
                  r->n_needed);
  }
}
END_TEST

// Words of the code stand for the estimate, but where setmaxnreg moves registers.
START_TEST(what_the_compiler_spills_is_counted) {
  const Model *plain = model_of(SQUARE "," MMA "LDMATRIX=1");
  const Resources said = resources_with_registers(&plain->resources, plain->target, 64, 100),
                  unsaid = resources_with_registers(&plain->resources, plain->target, 64, -1);
  ck_assert_int_eq(said.n_spilled, 25);
  ck_assert(said.spills_counted && !unsaid.spills_counted);
  ck_assert_int_eq(unsaid.n_spilled, plain->resources.n_spilled);
  const Model *roles =
      model_of(FUSED
               "TMA=1,WARP_SPECIALIZE=1,BUFFER_COUNT=2,PRODUCER_WARPS=4,PRODUCER_REGS=24,"
               "WM=2");
  const Resources moved = resources_with_registers(&roles->resources, roles->target, 168, 100);
  ck_assert_int_gt(moved.consumer_registers, 168);
  ck_assert_int_eq(moved.n_spilled, 0);
}
END_TEST

Suite *suite_waits(void) {
  Suite *suite = suite_create("waits");
  TCase *tcase = tcase_create("waits");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, a_fetch_that_nothing_covers_is_exposed);
  tcase_add_test(tcase, steps_are_made_one_after_the_other);
  tcase_add_test(tcase, narrow_boxes_have_more_rows);
  tcase_add_test(tcase, sectors_that_l1_has_are_near);
  tcase_add_test(tcase, turns_are_those_of_the_loop_around_all_products);
  tcase_add_test(tcase, narrow_boxes_bring_their_neighbours);
  tcase_add_test(tcase, what_the_compiler_spills_is_counted);
  tcase_add_test(tcase, registers_beyond_the_launch_bounds_are_spilled);
  suite_add_tcase(suite, tcase);
  return suite;
}
