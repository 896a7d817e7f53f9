// The terms of the calibrated roofline, each of a kernel small enough to reckon by hand.
//
// One warp with one atom, 16 × 8 cells of bf16 4096^3: 131,072 blocks, 993 for an SM of an H200 at
// 1.98 GHz, 32 of them resident.
#include <check.h>

#include "base/str.h"
#include "model/readings/cost/calibration.h"
#include "property.h"

Suite *suite_calibration_terms(void);

static const double ns = 1 / 1.98, rounds = 993;

static const Model *model_of_columns(int n, const char *knobs) {
  const Schedule schedule = property_read_state(arena_printf(
      property_arena, "AUTO=0,TARGET=h200,M=4096,N=%d,K=4096,DTYPE=bf16,%s", n, knobs));
  return property_built(&schedule);
}

static const Model *model_of(const char *knobs) { return model_of_columns(4096, knobs); }

static void ck_assert_near(double is, double expected) {
  ck_assert_msg(is > 0.999999 * expected && is < 1.000001 * expected, "%.9g, not %.9g", is,
                expected);
}

#define K16 "ATOM_KIND=mma_m16n8k16_bf16"
#define K8 "ATOM_KIND=mma_m16n8k8_bf16"

// A: 4 loads of 8 lines a step, B: 4 of 4; 256 steps. L2 has the 16 rows of A in whole sectors,
// 4,096 of them, and of each of 4,096 rows of B a sector, half of it for nothing.
START_TEST(loads_wait_in_l1_for_what_is_on_its_way) {
  const CalibrationBasis basis = calibration_basis(model_of(K16 ",STAGE=00"));
  const double lines = 256 * (4 * 8 + 4 * 4), sectors = 4096 + 4096;
  const double l1_lines = (262144 - 32 * 1024) / 128;
  ck_assert_near(basis.loaded_lines, lines);
  ck_assert_near(basis.wasted_bytes, 4096 * 16);
  const CalibrationTerms terms = calibration_terms_of(&basis);
  ck_assert_near(terms.term[CALIBRATION_L2],
                 ns * (sectors * 131072 / 132 + rounds * lines * 260 / l1_lines));
}
END_TEST

// Beside full shared memory 28 KB are left: 224 lines. Blocks of 20 KB fit 10 times and leave 46.
START_TEST(slabs_take_their_room_from_l1) {
  const Model *model =
      model_of(K16 ",STAGE=01,BK=16,BUFFER_COUNT=5,PIPELINE_STAGES=2,ASYNC_COPY=1");
  const CalibrationBasis basis = calibration_basis(model);
  const double resident = model->resources.blocks_per_sm,
               slabs = (double)(model->resources.smem_bytes + 1024);
  const double lines = 256 * 4 * 8, l1_lines = (262144 - resident * slabs) / 128;
  ck_assert_int_eq(model->resources.smem_bytes, 5 * 16 * 16 * 8 * 2);
  ck_assert_int_eq((int)resident, 10);
  ck_assert_near(basis.loaded_lines, lines);
  const double waits = rounds * lines * 260 / l1_lines,
               fetched = (model->traffic.l2_bytes + basis.wasted_bytes) / 32 / 132;
  ck_assert_near(calibration_terms_of(&basis).term[CALIBRATION_L2], ns * (fetched + waits));
}
END_TEST

// Of 320 rows an atom of 8 along K takes half of a sector each, and 16 a whole one. The lines of a
// step are 40 KB of each block; L1 keeps what half of it has room for.
START_TEST(half_a_sector_comes_again_if_the_step_is_larger_than_l1) {
  const Model *model = model_of(K8 ",STAGE=00,FM=20");
  const CalibrationBasis basis = calibration_basis(model),
                         whole = calibration_basis(model_of(K16 ",STAGE=00,FM=20"));
  ck_assert_near(basis.step_lines, 320);
  ck_assert_near(basis.again_bytes, 320 * 4096 * 2);
  ck_assert(whole.again_bytes == 0);
  CalibrationBasis kept = basis;
  kept.again_bytes = 0;
  const double resident = model->resources.blocks_per_sm, l1 = 262144 - 1024 * resident;
  const double lost = 1 - l1 / 2 / (320 * 128 * resident);
  const double blocks = (double)model->resources.n_blocks;
  ck_assert(lost > 0.5 && lost < 1);
  ck_assert_near(calibration_terms_of(&basis).term[CALIBRATION_L2] -
                     calibration_terms_of(&kept).term[CALIBRATION_L2],
                 ns * basis.again_bytes * lost * blocks / 32 / 132);
}
END_TEST

// 8 wavefronts for each of 4 loads of A a step. They are counted once: with shared memory, or apart
// from it.
START_TEST(what_is_loaded_goes_through_one_pipe) {
  const Model *model =
      model_of(K16 ",STAGE=01,BK=2,LDMATRIX=1,ASYNC_COPY=1,BUFFER_COUNT=2,PIPELINE_STAGES=1");
  const CalibrationBasis basis = calibration_basis(model);
  const CalibrationTerms terms = calibration_terms_of(&basis);
  const double loaded = 2 * 4 * 8;
  ck_assert_near(model->traffic.loaded_clocks, loaded);
  ck_assert_near(terms.term[CALIBRATION_GLOBAL], ns * rounds * (128 * loaded + basis.other_clocks));
  ck_assert_near(terms.term[CALIBRATION_SHARED],
                 ns * rounds * 128 * (model->traffic.shared_clocks - loaded));
  ck_assert(terms.term[CALIBRATION_SHARED] > 0);
}
END_TEST

// What a warp issues, and its own wavefronts one after the other.
START_TEST(a_warp_alone_waits_for_its_wavefronts) {
  const Model *model = model_of(K16 ",STAGE=00");
  CalibrationBasis basis = calibration_basis(model);
  const CompiledLoop inner = {.multiplies = 2, .instructions = 30, .near_clocks = 90};
  calibration_count(&basis, &(CompiledKernel){.registers = 32, .code.inner = inner});
  const CalibrationTerms terms = calibration_terms_of(&basis);
  const double wavefronts = 256 * (4 * 8 + 4 * 4) + basis.other_clocks;
  ck_assert_near(terms.term[CALIBRATION_WARP], ns * 32 * (128 * 90 + wavefronts));
  ck_assert_near(terms.term[CALIBRATION_GLOBAL], ns * rounds * wavefronts);
}
END_TEST

// With code a warp waits for what loads take beyond those that are near: of the 260 clocks between
// far and near as many as the loads of L2, and of what is not there three times as many more, have
// it.
START_TEST(a_warp_alone_waits_for_what_is_far) {
  CalibrationBasis basis = calibration_basis(model_of(K16 ",STAGE=00"));
  const CompiledLoop inner = {
      .multiplies = 2, .instructions = 30, .near_clocks = 90, .far_clocks = 350};
  CompiledLoop near = inner;
  near.far_clocks = near.near_clocks;
  calibration_count(&basis, &(CompiledKernel){.registers = 32, .code.inner = near});
  const double none = calibration_terms_of(&basis).term[CALIBRATION_FETCH];
  calibration_count(&basis, &(CompiledKernel){.registers = 32, .code.inner = inner});
  const double far = calibration_terms_of(&basis).term[CALIBRATION_FETCH];
  const BlockWaits *waits = &basis.waits;
  const double l2 = 300 * (1 + 3 * (1 - basis.traffic.l2_hit)),
               more = waits->loads * (l2 - 40) / (waits->loads + waits->near_loads);
  ck_assert(waits->loads > 0);
  ck_assert_near(far - none, ns * 32 * 128 * more);
}
END_TEST

// 8 steps a slab, 32 slabs. Loops of one turn are none: one of 8 atoms is that of the slabs, and
// what is around it that of the tiles; of one of 2 atoms it is that of the slabs.
START_TEST(a_loop_around_is_of_slabs_or_of_tiles) {
  static const struct {
    int multiplies, outer;
    double instructions;
  } cases[] = {
      {8, 0, 32 * 50}, {16, 7, 16 * 50 + 7}, {8, 7, 32 * 50 + 7}, {2, 7, 32 * (4 * 50 + 7)}};
  const Model *model = model_of(K16 ",STAGE=11,BK=8,LDMATRIX=1");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CalibrationBasis basis = calibration_basis(model);
    const CompiledCode code = {{.multiplies = cases[i].multiplies, .instructions = 50},
                               {.instructions = cases[i].outer}};
    calibration_count(&basis, &(CompiledKernel){.registers = 32, .code = code});
    ck_assert_near(calibration_terms_of(&basis).term[CALIBRATION_ISSUE],
                   ns * rounds * cases[i].instructions / 4);
  }
}
END_TEST

// 171 columns of tiles of 24, the last one whole or a part: its blocks do as much.
START_TEST(a_block_of_the_edge_takes_as_long_as_any) {
  static const char knobs[] = K16 ",STAGE=11,WN=3,LDMATRIX=1";
  const CalibrationTerms part = calibration_terms(model_of_columns(4096, knobs)),
                         whole = calibration_terms(model_of_columns(4104, knobs));
  ck_assert_near(part.term[CALIBRATION_MMA], whole.term[CALIBRATION_MMA]);
  ck_assert_near(part.term[CALIBRATION_SHARED], whole.term[CALIBRATION_SHARED]);
}
END_TEST

// Wavefronts of cp.async alone are those of copies: without it there are none.
START_TEST(what_goes_through_registers_is_no_copy) {
  static const char both[] = K16 ",STAGE=11,BK=2,LDMATRIX=1,BUFFER_COUNT=2,PIPELINE_STAGES=1";
  ck_assert(calibration_basis(model_of(both)).copied == 0);
  const char *copies = arena_printf(property_arena, "%s,ASYNC_COPY=1", both);
  ck_assert(calibration_basis(model_of(copies)).copied > 0);
}
END_TEST

// ---- every term by hand -------------------------------------------------------------------------

// 95 blocks on 10 SMs of 1 GHz, so that a clock is a ns: 10 blocks for an SM, 3 resident, 4 turns.
// Beside 3 slabs of 10,000 bytes L1 has 226,000.
static const Target small_gpu = {.sm_count = 10,
                                 .boost_mhz = 1000,
                                 .unified_per_sm = 256000,
                                 .smem_per_sm = 200000,
                                 .smem_reserved_per_block = 1000,
                                 .l2_bytes = 1200000,
                                 .dram_gbps = 160};

static CalibrationBasis by_hand(void) {
  return (CalibrationBasis){.target = &small_gpu,
                            .resources = {.n_blocks = 95,
                                          .blocks_per_sm = 3,
                                          .smem_bytes = 9000,
                                          .n_warps = 6,
                                          .n_consumers = 4,
                                          .n_registers = 100,
                                          .n_accumulators = 40,
                                          .n_spilled = 100},
                            .traffic = {.slabs = 5,
                                        .flop = 8000,
                                        .fma_clocks = 7,
                                        .fp32_clocks = 2,
                                        .sfu_clocks = 1,
                                        .dram_clocks = 3,
                                        .shared_clocks = 11,
                                        .loaded_clocks = 4,
                                        .l2_bytes = 64000,
                                        .l2_hit = 0.75,
                                        .power_tflops = 2,
                                        .between_us = 3,
                                        .slab_fma = 640},
                            .waits = {.fetches = 2,
                                      .depth = 4,
                                      .phases = 2,
                                      .steps = 12,
                                      .turns = 6,
                                      .reads = 3,
                                      .near_reads = 1,
                                      .instructions = 500,
                                      .loads = 200,
                                      .near_loads = 50,
                                      .box_rows = 8},
                            .family = CALIBRATION_FAMILY_MMA,
                            .pipe = CALIBRATION_MMA,
                            .atom_warps = 2,
                            .atom_loads = 4,
                            .staged = true,
                            .warp_accesses = 9,
                            .copied = 6,
                            .requests = 17,
                            .stored_sectors = 21,
                            .wasted_bytes = 200,
                            .step_lines = 1000,
                            .again_bytes = 1000,
                            .loaded_lines = 50,
                            .other_clocks = 13};
}

static double term(const CalibrationBasis *basis, CalibrationFactor factor) {
  return calibration_terms_of(basis).term[factor];
}

START_TEST(each_term_is_what_is_reckoned) {
  const CalibrationBasis b = by_hand();
  const CalibrationTerms t = calibration_terms_of(&b);
  const double blocks = 10, turns = 4, slabs = 5, l1 = 226000;
  ck_assert_near(t.term[CALIBRATION_MMA], 7 * slabs * blocks);
  ck_assert_near(t.term[CALIBRATION_SOFTMAX], 3 * slabs * blocks);
  // 9 accesses of 6 warps in 5 slabs, 3 instructions for each of 17 requests, 4 in a clock.
  ck_assert_near(t.term[CALIBRATION_ISSUE], (5 * 9 * 6 + 3 * 17) / 4. * blocks);
  ck_assert_near(t.term[CALIBRATION_COPY], 6 * slabs * blocks);
  ck_assert_near(t.term[CALIBRATION_GLOBAL], (13 + 4 * slabs) * blocks);
  ck_assert_near(t.term[CALIBRATION_SHARED], (11 - 4) * slabs * blocks);
  ck_assert_near(t.term[CALIBRATION_DRAM], 3 * slabs * blocks);
  ck_assert_near(t.term[CALIBRATION_TMA], 8 * blocks);
  ck_assert_near(t.term[CALIBRATION_POWER], 8000 / 2 * 1e-3);
  ck_assert_near(t.term[CALIBRATION_LAUNCH], 1000);
  ck_assert_near(t.term[CALIBRATION_BLOCK], 750 * turns);
  ck_assert_near(t.term[CALIBRATION_STORE], 21 * blocks);
  ck_assert_near(t.term[CALIBRATION_BETWEEN], 3000);
  // A step of 384,000 bytes where half of L1 has room for 113,000.
  const double again = 1000 * (1 - 113000. / 384000), loaded = 50 * 260 * 128 / l1;
  ck_assert_near(t.term[CALIBRATION_L2],
                 (64000 + (200 + again) * 95) / (10 * 32) + loaded * blocks);
  // 153,600 bytes, of which L1 has 113,000 and L2 120,000; 128 bytes at 16 a clock from DRAM.
  const double past_l1 = 1 - 113000. / 153600, in_dram = 1 - 120000. / 153600;
  ck_assert_near(t.term[CALIBRATION_SPILL],
                 2 * 100 * 4 * 12 * (1 - past_l1 + (past_l1 - in_dram) * 4 + in_dram * 8) * blocks);
  // Two pairs of warps drift apart.
  ck_assert_near(t.term[CALIBRATION_ALONE], slabs * (7 + 3) / 2 * turns);
  ck_assert_near(t.term[CALIBRATION_WARP], (500 + (33 + 35) / 4.) * turns);
  // 2 fetches and one in four turns, 600 clocks and three times as many for what is not in L2; the
  // boxes, and a block's part of L2. 25 loads together, 8 times: more often than the 3 waits.
  const double fetched = slabs * 2.25 * 600 * 1.75, moved = 2 * 8 + 64000 / 95. / 64;
  ck_assert_near(t.term[CALIBRATION_FETCH], (fetched + moved + 8 * 300 * 1.75 + 2 * 40) * turns);
  ck_assert_near(t.term[CALIBRATION_STEP], 12 * 20 * turns);
  ck_assert_near(t.term[CALIBRATION_PHASE], slabs * 2 * 30 * turns);
}
END_TEST

START_TEST(a_term_follows_what_it_is_made_of) {
  CalibrationBasis b = by_hand();
  b.staged = false;  // no loop over slabs: shared memory is L1's alone, and one fetch is all
  ck_assert(term(&b, CALIBRATION_SHARED) == 0);
  ck_assert_near(term(&b, CALIBRATION_WARP), (500 + 33 / 4.) * 4);
  ck_assert_near(term(&b, CALIBRATION_PHASE), 2 * 30 * 4);
  b = by_hand();
  b.waits.fetches = b.waits.depth = 0;
  ck_assert_near(term(&b, CALIBRATION_FETCH), (8 * 300 * 1.75 + 2 * 40) * 4);
  b.waits.reads = 9, b.waits.near_reads = 5;  // waits that are more than the loads together
  ck_assert_near(term(&b, CALIBRATION_FETCH), (9 * 300 * 1.75 + 5 * 40) * 4);
  b.waits.depth = 2;
  ck_assert_near(term(&b, CALIBRATION_FETCH), (5 * 0.5 * 600 * 1.75 + 9 * 300 * 1.75 + 5 * 40) * 4);
  b = by_hand();
  b.resources.n_consumers = 6;  // all multiply: nothing drifts
  ck_assert_near(term(&b, CALIBRATION_ALONE), 5 * (7 + 3) * 4);
  b.traffic.fp32_clocks = b.traffic.sfu_clocks = 0;
  b.resources.n_consumers = 4;
  ck_assert_near(term(&b, CALIBRATION_ALONE), 5 * 7 * 4);
  b = by_hand();
  for (b.traffic.slabs = 1; b.traffic.slabs > 0; b.traffic.slabs -= 0.5)  // a part of one is one
    ck_assert_near(term(&b, CALIBRATION_COPY), 6 * 10);
  b = by_hand();
  b.resources.spills_counted = true;
  const CalibrationBasis of_steps = by_hand();
  ck_assert_near(2 * term(&b, CALIBRATION_SPILL), term(&of_steps, CALIBRATION_SPILL));
}
END_TEST

// A warp makes 640 / 20 / 4 = 8 products a slab, two in a turn of the inner loop: 20 turns of it in
// 5 slabs, each of which is a turn of the outer one.
START_TEST(code_says_what_a_warp_does) {
  CalibrationBasis b = by_hand();
  b.multiply_fma = 20;
  b.code = (CompiledCode){
      {.multiplies = 2, .instructions = 10, .spills = 3, .near_clocks = 30, .far_clocks = 50},
      {.instructions = 7, .spills = 2, .near_clocks = 11, .far_clocks = 13}};
  ck_assert_near(term(&b, CALIBRATION_ISSUE), (20 * 10 + 5 * 7) * 4 / 4. * 10);
  ck_assert_near(term(&b, CALIBRATION_WARP), (20 * 30 + 5 * 11 + (33 + 35) / 4.) * 4);
  // 200 loads of 250 are far: 300 clocks, and three times as many for a quarter, instead of 40.
  const double far = 200 / 250. * (300 * 1.75 - 40) / (300 - 40),
               fetched = 5 * 2.25 * 600 * 1.75 + 2 * 8 + 64000 / 95. / 64;
  ck_assert_near(term(&b, CALIBRATION_FETCH), (fetched + (20 * 20 + 5 * 2) * far) * 4);
  ck_assert(term(&b, CALIBRATION_STEP) == 0);
  const double past_l1 = 1 - 113000. / 153600, in_dram = 1 - 120000. / 153600;
  ck_assert_near(term(&b, CALIBRATION_SPILL),
                 (20 * 3 + 5 * 2) * 4 * (1 - past_l1 + (past_l1 - in_dram) * 4 + in_dram * 8) * 10);
}
END_TEST

// As many loads wait together as registers are left for: 32 at most, 2 and an atom's A at least.
START_TEST(as_many_loads_wait_together_as_have_registers) {
  static const struct {
    int registers, consumer, accumulators;
    double atom_loads, together;
  } cases[] = {{100, 0, 40, 4, 25}, {100, 80, 40, 4, 15}, {200, 0, 40, 4, 32},
               {52, 0, 40, 4, 4},   {52, 0, 40, 1, 2},    {56, 0, 40, 1, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CalibrationBasis b = by_hand();
    b.resources.n_registers = cases[i].registers;
    b.resources.consumer_registers = cases[i].consumer;
    b.resources.n_accumulators = cases[i].accumulators;
    b.atom_loads = cases[i].atom_loads;
    b.waits = (BlockWaits){.loads = 480};
    ck_assert_near(term(&b, CALIBRATION_FETCH), 480 / cases[i].together * 300 * 1.75 * 4);
  }
}
END_TEST

// The last blocks are a round of their own; of fewer blocks than fit all are resident; none fits
// where the compiler took more than there is, and one is reckoned all the same.
START_TEST(rounds_and_turns_are_whole) {
  static const struct {
    int blocks, fit;
    double rounds, turns;
  } cases[] = {{100, 3, 10, 4}, {101, 3, 11, 4}, {90, 3, 9, 3},  {20, 3, 2, 1},
               {10, 3, 1, 1},   {1, 3, 1, 1},    {95, 0, 10, 10}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CalibrationBasis b = by_hand();
    b.resources.n_blocks = cases[i].blocks;
    b.resources.blocks_per_sm = cases[i].fit;
    ck_assert_near(term(&b, CALIBRATION_STORE), 21 * cases[i].rounds);
    ck_assert_near(term(&b, CALIBRATION_BLOCK), 750 * cases[i].turns);
  }
}
END_TEST

Suite *suite_calibration_terms(void) {
  Suite *suite = suite_create("calibration_terms");
  TCase *cases = tcase_create("calibration_terms");
  tcase_add_checked_fixture(cases, property_setup, property_teardown);
  tcase_add_test(cases, loads_wait_in_l1_for_what_is_on_its_way);
  tcase_add_test(cases, slabs_take_their_room_from_l1);
  tcase_add_test(cases, half_a_sector_comes_again_if_the_step_is_larger_than_l1);
  tcase_add_test(cases, what_is_loaded_goes_through_one_pipe);
  tcase_add_test(cases, a_warp_alone_waits_for_its_wavefronts);
  tcase_add_test(cases, a_warp_alone_waits_for_what_is_far);
  tcase_add_test(cases, a_loop_around_is_of_slabs_or_of_tiles);
  tcase_add_test(cases, a_block_of_the_edge_takes_as_long_as_any);
  tcase_add_test(cases, what_goes_through_registers_is_no_copy);
  tcase_add_test(cases, each_term_is_what_is_reckoned);
  tcase_add_test(cases, a_term_follows_what_it_is_made_of);
  tcase_add_test(cases, code_says_what_a_warp_does);
  tcase_add_test(cases, as_many_loads_wait_together_as_have_registers);
  tcase_add_test(cases, rounds_and_turns_are_whole);
  suite_add_tcase(suite, cases);
  return suite;
}
