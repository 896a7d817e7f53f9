// fp32 products from parts: how elements are cut, what is summed, how far off the sums are.
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "model/interp/breakage.h"
#include "model/schedules/sum_error.h"
#include "model/words/formats.h"
#include "model/words/split.h"
#include "property.h"
#include "stress.h"

Suite *suite_split(void);

#define WGMMA "ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,BK=4,STAGE=11,TMA=1,SWIZZLE=3,"
#define TF32 "ATOM_KIND=wgmma_m64n256k8_tf32,B_COL=1,ATOM_N=64,BK=4,STAGE=11,TMA=1,SWIZZLE=3,"
#define MMA "ATOM_KIND=mma_m16n8k16_bf16,WM=1,WN=2,FM=2,FN=2,BK=2,STAGE=11,"
#define ROLES "BUFFER_COUNT=3,WARP_SPECIALIZE=1,"

// ---- parts --------------------------------------------------------------------------------------

// The products of the documentation, 2 · 0 first.
START_TEST(small_products_come_first) {
  static const int64_t a[] = {2, 1, 0, 1, 0, 0}, b[] = {0, 1, 2, 0, 1, 0};
  ck_assert_mem_eq(split_part_table(SPLIT_6_BF16, 0), a, sizeof a);
  ck_assert_mem_eq(split_part_table(SPLIT_6_BF16, 1), b, sizeof b);
  for (int kind = SPLIT_NONE + 1; kind < SPLIT_KINDS; kind++) {
    const Split32 *split = split_facts((SplitKind)kind);
    int64_t before = INT64_MAX;
    bool seen[3][3] = {{false}};
    for (int p = 0; p < split->products; p++) {
      const int64_t i = split_part_table((SplitKind)kind, 0)[p];
      const int64_t j = split_part_table((SplitKind)kind, 1)[p];
      ck_assert(i < split->parts && j < split->parts && !seen[i][j] && i + j <= before);
      seen[i][j] = true;
      before = i + j;
    }
    ck_assert_int_eq(before, 0);
  }
}
END_TEST

static float cut(float *rest, DType type) {
  const float part = (float)number_convert(type, (double)*rest);
  *rest -= part;
  return part;
}

// Three parts of bf16 are the whole number, two of tf32 all but the last two bits.
START_TEST(parts_are_the_number) {
  uint64_t state = 1;
  for (int i = 0; i < 100000; i++) {
    const uint32_t bits = (uint32_t)(random_next(&state) >> 32);
    float x, rest;
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x) || fabsf(x) < 0x1p-109f || fabsf(x) > 0x1p127f) continue;
    rest = x;
    for (int p = 0; p < 3; p++) cut(&rest, DTYPE_BF16);
    ck_assert_msg(fabsf(rest) <= 0, "%a leaves %a", (double)x, (double)rest);
    rest = x;
    for (int p = 0; p < 2; p++) cut(&rest, DTYPE_TF32);
    ck_assert_msg(fabsf(rest) <= 0x1p-22f * fabsf(x), "%a leaves %a", (double)x, (double)rest);
  }
}
END_TEST

// What the header says of the numbers that are not whole in parts.
START_TEST(what_parts_do_not_keep) {
  float rest = INFINITY;
  ck_assert(isinf(cut(&rest, DTYPE_BF16)) && isnan(cut(&rest, DTYPE_BF16)));
  rest = NAN;
  ck_assert(isnan(cut(&rest, DTYPE_BF16)));
  rest = 0x1.ffp127f;
  ck_assert(isinf(cut(&rest, DTYPE_BF16)));
  rest = 0x1.fep127f;
  ck_assert(isfinite(cut(&rest, DTYPE_BF16)));
  rest = 0x1.000002p-120f;  // whose last bit is 2^-143
  for (int p = 0; p < 3; p++) cut(&rest, DTYPE_BF16);
  ck_assert(fabsf(rest) > 0);
  rest = 0x1.002p0f;  // halfway between two tf32: away from 0
  ck_assert(!islessgreater(cut(&rest, DTYPE_TF32), 0x1.004p0f));
}
END_TEST

// ---- programs -----------------------------------------------------------------------------------

static const char *const states[] = {
    "SPLIT_F32=6xbf16," WGMMA "M=64,N=64,K=128",
    "SPLIT_F32=6xbf16,A_COL=1," WGMMA "M=72,N=64,K=64",
    "SPLIT_F32=9xbf16,B_COL=1," WGMMA "M=64,N=72,K=128",
    "SPLIT_F32=6xbf16,PROMOTE=2," WGMMA ROLES "M=128,N=64,K=256",
    "SPLIT_F32=3xbf16,PROMOTE=1,PERSISTENT=1," WGMMA ROLES "M=128,N=64,K=128",
    "SPLIT_F32=3xtf32,PROMOTE=3," TF32 ROLES "M=64,N=64,K=96",
    "SPLIT_F32=6xbf16," MMA "M=40,N=40,K=64",
    "SPLIT_F32=3xbf16,LDMATRIX=1,BUFFER_COUNT=3,ASYNC_COPY=1,PIPELINE_STAGES=1," MMA
    "M=32,N=32,K=96",
    "PROMOTE=2," WGMMA ROLES "M=64,N=64,K=256",
};
enum { N_STATES = sizeof states / sizeof *states };

START_TEST(every_pass_computes) {
  const Schedule schedule = property_read_state(states[_i]);
  const Model *model = property_built(&schedule);
  for (int s = 0; s < model->pipeline.n_stages; s++) {
    const PipelineStage *stage = &model->pipeline.stage[s];
    ck_assert(
        property_computes(&schedule, stage->pass ? stage->pass->name : "naive", stage->program, 2));
  }
  ck_assert_ptr_nonnull(property_read_back(model->program));
}
END_TEST

static const struct {
  int state;
  BreakageId id;
} broken[] = {{0, BREAK_PART_AGAIN},  {5, BREAK_PART_AGAIN}, {0, BREAK_PARTS_ALIKE},
              {6, BREAK_PARTS_ALIKE}, {3, BREAK_RUN_KEPT},   {8, BREAK_RUN_KEPT},
              {3, BREAK_RUN_LOST},    {5, BREAK_RUN_LOST}};
enum { N_BROKEN = sizeof broken / sizeof *broken };

START_TEST(every_breakage_shows) {
  const Schedule schedule = property_read_state(states[broken[_i].state]);
  const Program *program =
      program_break(property_arena, property_built(&schedule)->program, broken[_i].id);
  ck_assert_ptr_nonnull(program);
  const InterpCheck check = interpret_check(property_arena, program, &(InterpOptions){.seed = 1});
  ck_assert(!check.ok && check.n_wrong > 0);
}
END_TEST

START_TEST(what_cannot_be_is_refused) {
  static const char *const refused[][3] = {
      {"SPLIT_F32=6xbf16,DTYPE=f32", "atom_multiplies", "ATOM_KIND=mma_m16n8k16_bf16"},
      {"SPLIT_F32=6xbf16," WGMMA "K=96", "split_f32", "K=64"},
      {"SPLIT_F32=6xbf16,SPLITK=2," WGMMA "K=128", "split_f32", "SPLIT_F32=none"},
      {"SPLIT_F32=3xtf32," WGMMA "K=64", "atom_multiplies", "ATOM_KIND=wgmma_m64n256k8_tf32"},
      {"PROMOTE=2," MMA "DTYPE=bf16,K=64", "promotion", "PROMOTE=0"},
      {"PROMOTE=3," WGMMA "K=128", "promotion", "PROMOTE=2"},
      {"PROMOTE=1,MMA_GROUPS=1," WGMMA ROLES "K=128", "promotion", "PROMOTE=0"},
  };
  ck_assert_int_gt(property_refusals(refused[_i][0], refused[_i][1], refused[_i][2]), 0);
}
END_TEST

// ---- sums ---------------------------------------------------------------------------------------

// Root of the mean square over |A| |B| of all cells at 4096^3: NVIDIA H100 80GB HBM3, driver
// 580.159.04, CUDA 13.0, 2026-11-28, gemmview bench --data.
static const struct {
  const char *state;
  SumData data;
  double measured;
} sums[] = {
    {"SPLIT_F32=6xbf16," WGMMA, SUMS_OF_NORMAL, 1.08e-7},
    {"SPLIT_F32=6xbf16," WGMMA, SUMS_OF_POSITIVE, 1.44e-5},
    {"SPLIT_F32=6xbf16,PROMOTE=1," WGMMA, SUMS_OF_NORMAL, 3.99e-9},
    {"SPLIT_F32=6xbf16,PROMOTE=1," WGMMA, SUMS_OF_POSITIVE, 1.47e-7},
    {"SPLIT_F32=6xbf16,PROMOTE=2," WGMMA, SUMS_OF_NORMAL, 3.92e-9},
    {"SPLIT_F32=6xbf16,PROMOTE=2," WGMMA, SUMS_OF_POSITIVE, 1.89e-7},
    {"SPLIT_F32=6xbf16,PROMOTE=4," WGMMA, SUMS_OF_NORMAL, 5.94e-9},
    {"SPLIT_F32=6xbf16,PROMOTE=4," WGMMA, SUMS_OF_POSITIVE, 3.83e-7},
    {"SPLIT_F32=3xbf16,PROMOTE=2," WGMMA, SUMS_OF_NORMAL, 1.09e-7},
    {"SPLIT_F32=3xtf32," TF32, SUMS_OF_NORMAL, 2.36e-7},
    {"SPLIT_F32=3xtf32,PROMOTE=2," TF32, SUMS_OF_NORMAL, 5.99e-9},
    {"SPLIT_F32=3xtf32,PROMOTE=2," TF32, SUMS_OF_POSITIVE, 3.15e-7},
};
enum { N_SUMS = sizeof sums / sizeof *sums, CELLS = 100 };

START_TEST(sums_are_off_as_a_gpu_s) {
  const Schedule schedule = property_read_state(sums[_i].state);
  const SumError error = sum_error(property_arena, &schedule, sums[_i].data, CELLS);
  ck_assert(error.known);
  ck_assert_msg(fabs(error.rms / sums[_i].measured - 1) < 0.2, "%.3g, measured %.3g", error.rms,
                sums[_i].measured);
  ck_assert(error.largest >= error.rms);
}
END_TEST

START_TEST(promoted_sums_are_more_exact_than_fp32_s) {
  const Schedule schedule = property_read_state("SPLIT_F32=6xbf16,PROMOTE=2," WGMMA);
  for (int data = SUMS_OF_NORMAL; data <= SUMS_OF_POSITIVE; data++) {
    const SumError ours = sum_error(property_arena, &schedule, (SumData)data, CELLS);
    const SumError fma = sum_error_of_fma(property_arena, &schedule, (SumData)data, CELLS);
    ck_assert(ours.rms < fma.rms / 4);
  }
  const Schedule other = property_read_state("DTYPE=s8,ATOM_KIND=mma_m16n8k32_s8");
  ck_assert(!sum_error(property_arena, &other, SUMS_OF_NORMAL, 1).known);
}
END_TEST

START_TEST(a_tally_of_pieces_is_that_of_one_call) {
  const Schedule schedule = property_read_state("SPLIT_F32=6xbf16,PROMOTE=2," WGMMA);
  SumTally tally = {0};
  ck_assert(!sum_tally_error(&tally).known);
  for (int n = 1; n <= 4; n++)
    sum_tally_add(property_arena, &tally, &schedule, SUMS_OF_POSITIVE, n);
  const SumError whole = sum_error(property_arena, &schedule, SUMS_OF_POSITIVE, 10);
  const SumError pieces = sum_tally_error(&tally);
  ck_assert_int_eq(pieces.cells, 10);
  ck_assert(fabs(pieces.rms - whole.rms) <= 1e-12 * whole.rms);
  ck_assert(fabs(pieces.largest - whole.largest) <= 1e-12 * whole.largest);
}
END_TEST

Suite *suite_split(void) {
  Suite *suite = suite_create("split");
  TCase *tc = tcase_create("split");
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, small_products_come_first);
  tcase_add_test(tc, parts_are_the_number);
  tcase_add_test(tc, what_parts_do_not_keep);
  stress_add_turns(tc, every_pass_computes, N_STATES, 3);
  stress_add_turns(tc, every_breakage_shows, N_BROKEN, 3);
  tcase_add_loop_test(tc, what_cannot_be_is_refused, 0, 7);
  stress_add_turns(tc, sums_are_off_as_a_gpu_s, N_SUMS, 4);
  tcase_add_test(tc, promoted_sums_are_more_exact_than_fp32_s);
  tcase_add_test(tc, a_tally_of_pieces_is_that_of_one_call);
  suite_add_tcase(suite, tc);
  return suite;
}
