// Element types from the plan to the verdict: the whole benchmark on the fake driver for each, and
// the bounds of verify.h against sums made the way the hardware makes them.
#include <check.h>
#include <math.h>
#include <string.h>

#include "fake_cuda.h"
#include "kernels/device/bench.h"
#include "kernels/device/driver.h"
#include "kernels/device/gpu_selftest_text.h"
#include "numbers.h"
#include "stress.h"

static Arena *arena;
static void setup(void) {
  arena = arena_new("test bench types");
  fake_cuda_install();
}
static void teardown(void) {
  fake_cuda_remove();
  arena_free(arena);
}

typedef struct Types {
  PlanType operand, sum, output;
} Types;

static const Types types[] = {
    {PLAN_F32, PLAN_F32, PLAN_F32},   {PLAN_F16, PLAN_F32, PLAN_F16},
    {PLAN_F16, PLAN_F16, PLAN_F16},   {PLAN_F16, PLAN_F32, PLAN_F32},
    {PLAN_BF16, PLAN_F32, PLAN_BF16}, {PLAN_TF32, PLAN_F32, PLAN_F32},
    {PLAN_F64, PLAN_F64, PLAN_F64},   {PLAN_S8, PLAN_S32, PLAN_S32},
    {PLAN_E4M3, PLAN_F32, PLAN_F32},  {PLAN_E5M2, PLAN_F32, PLAN_F32},
};
enum { N_TYPES = sizeof types / sizeof *types };

static Plan plan_of(Types t, const char *kernel) {
  return (Plan){.cuda = "text",
                .arch = "sm_90a",
                .label = kernel,
                .operand_type = t.operand,
                .accumulate_type = t.sum,
                .output_type = t.output,
                .m = 20,
                .n = 24,
                .k = 12,
                .tile_m = 8,
                .tile_n = 8,
                .n_kernels = 1,
                .kernels = {{.name = kernel,
                             .grid = {3, 3, 1},
                             .block = {64, 1, 1},
                             .n_args = 3,
                             .args = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_C}}}};
}

static const BenchResult *run(Types t, const char *kernel) {
  static const unsigned char cubin[] = "\177ELF";
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = plan_of(t, kernel);
  const BenchInput input = {plan, cubin, sizeof cubin, NULL};
  const BenchOptions options = {.budget_s = 0.001};
  const char *error = NULL;
  fake_cuda_set_types(t.sum, t.output);
  Gpu *gpu = gpu_open(arena, 0, &error);
  ck_assert_msg(gpu != NULL, "%s", error);
  const BenchResult *result = bench_run(arena, gpu, &input, 1, &options);
  gpu_close(gpu);
  ck_assert_int_eq(fake_cuda_live(), 0);
  return result;
}

START_TEST(test_right_kernels_and_their_reference) {
  const BenchResult *result = run(types[_i], "gemm");
  const BenchEntry *entry = &result->entries[0];
  ck_assert_msg(result->ok, "%s %s", result->error, entry->error);
  ck_assert(entry->verify.ok && entry->verify.worst < 1);
  ck_assert_msg(result->reference.ok, "%s", result->reference.error);
  bool pedantic = types[_i].operand != PLAN_TF32 && types[_i].sum == PLAN_F32;
  // 8-bit floats have both heuristics twice: summed as the tensor core does, and in f32.
  bool float8 = types[_i].operand == PLAN_E4M3 || types[_i].operand == PLAN_E5M2;
  ck_assert_int_eq(result->reference.n_candidates, (pedantic ? 4 : 3) + (float8 ? 2 : 0));
  ck_assert_str_eq(result->reference.name,
                   float8 ? "cublasLt, fast accumulation, heuristic 3" : "cublasLt, heuristic 3");
}
END_TEST

START_TEST(test_wrong_kernels) {
  static const char *const kernels[] = {"gemm_wrong", "gemm_short", "gemm_outside"};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    const BenchResult *result = run(types[_i], kernels[i]);
    const VerifyResult *verify = &result->entries[0].verify;
    ck_assert(!result->ok && verify->ran && !verify->ok && !result->entries[0].ok);
    // A cell of −1 in s32 looks like one that nobody wrote.
    if (i == 0) ck_assert_int_eq(verify->n_wrong, 1);
    if (i == 0) ck_assert_double_eq_tol(verify->first_got - verify->first_expected, 1, 0.3);
    if (i == 1) ck_assert_int_eq(verify->n_unwritten, 24);
    if (i == 2) ck_assert_int_ge(verify->n_outside, 1);
  }
}
END_TEST

START_TEST(test_plans_of_all_types_travel) {
  Plan plan = plan_of(types[_i], "gemm");
  Diags diags = diags_new(arena);
  Str text = str_new(arena);
  plan_write_json(&text, &plan);
  Plan *read = plan_read_json(arena, text.text, &diags);
  ck_assert_msg(read != NULL, "%s", diags_text(arena, &diags));
  ck_assert(plan_same_problem(read, &plan));
  int64_t operand_bytes = plan_type_bytes(types[_i].operand);
  ck_assert_int_eq(plan_a_bytes(read), 20 * 12 * operand_bytes);
  ck_assert_int_eq(plan_c_bytes(read), 20 * 24 * plan_type_bytes(types[_i].output));
}
END_TEST

START_TEST(test_types_that_do_not_go_together) {
  static const struct {
    Types types;
    const char *says;
  } bad[] = {
      {{PLAN_F16, PLAN_BF16, PLAN_F16}, "bf16 is not a type of sums"},
      {{PLAN_TF32, PLAN_F32, PLAN_TF32}, "tf32 is not a type of the output"},
      {{PLAN_S32, PLAN_S32, PLAN_S32}, "s32 is not a type of operands"},
      {{PLAN_S8, PLAN_F32, PLAN_F32}, "here s8, f32, f32"},
      {{PLAN_F16, PLAN_S32, PLAN_S32}, "here f16, s32, s32"},
      {{PLAN_E4M3, PLAN_F32, PLAN_E4M3}, "e4m3 is not a type of the output"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Plan plan = plan_of(bad[i].types, "gemm");
    Diags diags = diags_new(arena);
    ck_assert(!plan_check(&plan, &diags));
    const char *text = diags_text(arena, &diags);
    ck_assert_msg(strstr(text, bad[i].says) != NULL, "%s", text);
  }
}
END_TEST

// ---- bounds -------------------------------------------------------------------------------------

static double noise(unsigned *seed) {
  double sum = 0;
  for (int i = 0; i < 6; i++) {
    *seed = *seed * 1664525u + 1013904223u;
    sum += (double)(*seed >> 8) / (1 << 24) - 0.5;
  }
  return sum / sqrt(0.5);
}

// A sum cut to `bits` significant bits, as the tensor core keeps it between two instructions.
static double truncated(double x, int bits) {
  int exponent;
  if (x == 0) return 0;
  frexp(x, &exponent);
  return ldexp(trunc(ldexp(x, bits - exponent)), exponent - bits);
}

// One row of a product: what each type makes of it, beside the exact sum.
typedef struct Cell {
  double sum, exact, magnitude, left_out;
} Cell;

// `depth` products are added at once; then the sum is rounded to `sum`, or cut to 24 bits. What is
// left out is the last `hole` of the exact sum.
static Cell simulate(Types t, int k, int depth, bool cuts, int hole, unsigned *seed) {
  Cell cell = {0};
  double part = 0;
  for (int p = 0; p < k; p++) {
    double a = number_rounded(t.operand, noise(seed)), b = number_rounded(t.operand, noise(seed));
    bool tf32 = t.operand == PLAN_TF32;
    part += tf32 ? number_cut_to_tf32(a) * number_cut_to_tf32(b) : a * b;
    cell.exact += a * b;
    cell.magnitude += fabs(a * b);
    if (p >= k - hole) cell.left_out += a * b;
    if ((p + 1) % depth != 0 && p + 1 < k) continue;
    cell.sum = cuts ? truncated(cell.sum + part, 24) : number_rounded(t.sum, cell.sum + part);
    part = 0;
  }
  cell.sum = number_rounded(t.output, cell.sum);
  return cell;
}

typedef struct Simulation {
  Types types;
  int depth;
  bool cuts;
  int hole;        // products that a broken kernel leaves out
  double noticed;  // share of the cells that see it, at least
} Simulation;

static const Simulation simulations[] = {
    {{PLAN_F16, PLAN_F16, PLAN_F16}, 1, false, 64, 0.1},   // fma in f16
    {{PLAN_F16, PLAN_F16, PLAN_F16}, 16, false, 64, 0.1},  // m16n8k16, rounded once
    {{PLAN_F16, PLAN_F32, PLAN_F32}, 8, true, 1, 0.9},     // sums cut off
    {{PLAN_F16, PLAN_F32, PLAN_F16}, 8, true, 1, 0.8},
    {{PLAN_BF16, PLAN_F32, PLAN_BF16}, 8, true, 1, 0.5},
    {{PLAN_TF32, PLAN_F32, PLAN_F32}, 4, true, 1, 0.5},
    {{PLAN_F64, PLAN_F64, PLAN_F64}, 1, false, 1, 0.9},
};

START_TEST(test_bounds_fit_the_hardware) {
  const Simulation *s = &simulations[_i];
  for (int k = 8; k <= 4096; k *= 8) {
    Plan plan = {.m = 1,
                 .n = 1,
                 .k = k,
                 .operand_type = s->types.operand,
                 .accumulate_type = s->types.sum,
                 .output_type = s->types.output};
    unsigned seed = 11;
    double worst = 0;
    int noticed = 0, cells = 48;
    for (int i = 0; i < cells; i++) {
      Cell cell = simulate(s->types, k, s->depth, s->cuts, s->hole, &seed);
      double bound = verify_bound(&plan, cell.exact, cell.magnitude);
      worst = fmax(worst, fabs(cell.sum - cell.exact) / bound);
      noticed += fabs(cell.sum - cell.left_out - cell.exact) > bound;
    }
    ck_assert_msg(worst < 1, "k = %d: %g of the bound", k, worst);
    ck_assert_msg(noticed >= s->noticed * cells, "k = %d: only %d of %d see %d products missing", k,
                  noticed, cells, s->hole);
  }
}
END_TEST

// One product whose f16 is subnormal: the step is 2^-24 whatever the size, so a right kernel is up
// to 2^-25 off and one that is two steps off is wrong. Exact is every size from zero to the
// smallest normal number, 2^-14, in sixteenths of a step.
static const Types subnormal[] = {{PLAN_F16, PLAN_F32, PLAN_F16}, {PLAN_F16, PLAN_F16, PLAN_F16}};

START_TEST(test_subnormal_cells) {
  Types t = subnormal[_i];
  Plan plan = {.m = 1, .n = 1, .k = 1, .operand_type = t.operand};
  plan.accumulate_type = t.sum;
  plan.output_type = t.output;
  const double step = 0x1p-24;
  double worst = 0;
  for (int i = 0; i <= 1024 * 16; i++) {
    double exact = i * step / 16, bound = verify_bound(&plan, exact, exact);
    double right = number_rounded(t.output, exact);
    worst = fmax(worst, fabs(right - exact) / bound);
    // Where f16 sums may be 8 · 2^-11 off, two steps are no fault from 2^-15 on.
    if (t.sum == PLAN_F16 && i > 256 * 16) continue;
    ck_assert_msg(fabs(right + 2 * step - exact) > bound, "two steps above %g pass", exact);
    ck_assert_msg(fabs(right - 2 * step - exact) > bound, "two steps below %g pass", exact);
  }
  ck_assert_double_le(worst, 1);
  ck_assert_double_gt(worst, t.sum == PLAN_F16 ? 0.1 : 0.9);
}
END_TEST

// 1e-3 times 5.389e-3, both in f16: the store is 2.6e-8 off, nearly half a step of 5.96e-8.
START_TEST(test_a_right_subnormal_cell_is_right) {
  Plan plan = {.m = 1, .n = 1, .k = 1, .operand_type = PLAN_F16};
  plan.accumulate_type = PLAN_F32;
  plan.output_type = PLAN_F16;
  double a = number_rounded(PLAN_F16, 1e-3), b = number_rounded(PLAN_F16, 5.389e-3), exact = a * b;
  double error = fabs(number_rounded(PLAN_F16, exact) - exact);
  ck_assert_double_gt(error, 2.5e-8);
  ck_assert_double_le(error, verify_bound(&plan, exact, exact));
  ck_assert_double_gt(error, verify_bound(&plan, exact, exact) - verify_floor(&plan));
}
END_TEST

START_TEST(test_whole_numbers_have_no_tolerance) {
  Plan plan = {
      .k = 4096, .operand_type = PLAN_S8, .accumulate_type = PLAN_S32, .output_type = PLAN_S32};
  ck_assert_double_eq(verify_tolerance(&plan), 0);
  ck_assert_double_eq(verify_rounding(&plan), 0);
  ck_assert_double_eq(verify_floor(&plan), 0);
}
END_TEST

START_TEST(test_numbers_round_to_even) {
  ck_assert_double_eq(number_rounded(PLAN_E4M3, 0.3), 0.3125);
  ck_assert_double_eq(number_rounded(PLAN_E4M3, 0.001), 0x1p-9 * nearbyint(0.001 * 512));
  ck_assert_double_eq(number_rounded(PLAN_E5M2, 5), 5);
  ck_assert_double_eq(number_rounded(PLAN_E5M2, 4.5), 4);
  ck_assert_double_eq(number_rounded(PLAN_E5M2, 5.5), 6);
  ck_assert_double_eq(number_rounded(PLAN_F16, 2049), 2048);
  ck_assert_double_eq(number_rounded(PLAN_F16, 2051), 2052);
  ck_assert_double_eq(number_rounded(PLAN_F16, 0x1p-24), 0x1p-24);
  ck_assert_double_eq(number_rounded(PLAN_BF16, 257), 256);
  ck_assert_double_eq(number_rounded(PLAN_S8, -300), -128);
  ck_assert_double_eq(number_cut_to_tf32(1 + 0x1p-10 + 0x1p-11), 1 + 0x1p-10);
}
END_TEST

Suite *suite_bench_types(void);
Suite *suite_bench_types(void) {
  Suite *suite = suite_create("bench_types");
  TCase *tests = tcase_create("bench types");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  stress_add_turns(tests, test_right_kernels_and_their_reference, N_TYPES, 2);
  stress_add_turns(tests, test_wrong_kernels, N_TYPES, 2);
  tcase_add_loop_test(tests, test_plans_of_all_types_travel, 0, N_TYPES);
  tcase_add_test(tests, test_types_that_do_not_go_together);
  tcase_add_loop_test(tests, test_bounds_fit_the_hardware, 0,
                      sizeof simulations / sizeof *simulations);
  tcase_add_loop_test(tests, test_subnormal_cells, 0, sizeof subnormal / sizeof *subnormal);
  tcase_add_test(tests, test_a_right_subnormal_cell_is_right);
  tcase_add_test(tests, test_whole_numbers_have_no_tolerance);
  tcase_add_test(tests, test_numbers_round_to_even);
  suite_add_tcase(suite, tests);
  return suite;
}
