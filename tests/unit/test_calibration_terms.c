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
  suite_add_tcase(suite, cases);
  return suite;
}
