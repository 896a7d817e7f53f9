// Operands passed as tensor maps: what the driver is told of them, how often, and what is said when
// it makes none.
#include <check.h>
#include <string.h>

#include "fake_cuda.h"
#include "fake_tensor_map.h"
#include "kernels/device/bench.h"
#include "kernels/device/gpu.h"
#include "kernels/toolchain/dl.h"

static Arena *arena;
static void setup(void) {
  arena = arena_new("test tensor map");
  fake_cuda_install();
}
static void teardown(void) {
  fake_cuda_remove();
  arena_free(arena);
}

// A[48 × 32] in boxes of 16 rows of 64 bytes, permuted, B[32 × 16] in boxes of 8 rows of 32 bytes.
static Plan *plan_of(PlanType operand) {
  const int bytes = plan_type_bytes(operand);
  const PlanType sum = operand == PLAN_S8 ? PLAN_S32 : operand == PLAN_F64 ? PLAN_F64 : PLAN_F32;
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){.cuda = "text",
                 .arch = "sm_90a",
                 .label = "maps",
                 .operand_type = operand,
                 .accumulate_type = sum,
                 .output_type = sum,
                 .m = 48,
                 .n = 16,
                 .k = 32,
                 .n_maps = 2,
                 .maps = {{PLAN_ARG_A, operand, 32, 48, 0, 64 / bytes, 16, 2},
                          {PLAN_ARG_B, operand, 16, 32, 0, 32 / bytes, 8, 0}},
                 .tile_m = 16,
                 .tile_n = 16,
                 .n_kernels = 1,
                 .kernels = {{.name = "gemm",
                              .grid = {3, 1, 1},
                              .block = {64, 1, 1},
                              .n_args = 3,
                              .args = {PLAN_ARG_MAP, PLAN_ARG_MAP + 1, PLAN_ARG_C}}}};
  fake_cuda_set_types(sum, sum);
  Diags diags = diags_new(arena);
  ck_assert_msg(plan_check(plan, &diags), "%s", diags_text(arena, &diags));
  return plan;
}

static const unsigned char cubin[] = "\177ELF";
static BenchInput input_of(const Plan *plan) {
  return (BenchInput){plan, cubin, sizeof cubin, NULL};
}

static Gpu *open_gpu(void) {
  const char *error = NULL;
  Gpu *gpu = gpu_open(arena, 0, &error);
  ck_assert_msg(gpu != NULL, "%s", error);
  return gpu;
}

// A whole job launches many times and encodes each map once.
START_TEST(a_job_encodes_each_map_once) {
  const BenchOptions quick = {.budget_s = 0.001};
  const BenchInput input = input_of(plan_of(PLAN_F16));
  Gpu *gpu = open_gpu();
  const BenchResult *result = bench_run(arena, gpu, &input, 1, &quick);
  gpu_close(gpu);
  ck_assert_msg(result->ok, "%s %s", result->error, result->entries[0].error);
  ck_assert_int_gt(result->entries[0].time.n_samples, 1);
  ck_assert_int_eq(fake_tensor_map_count(), 2);
  ck_assert_int_eq(fake_cuda_live(), 0);
}
END_TEST

static void launch(Gpu *gpu, const Plan *plan, GpuProgram *program) {
  const BenchInput input = input_of(plan);
  ck_assert_msg(
      problem_prepare(gpu, plan, 1) && gpu_load(gpu, &input, program) && gpu_launch(gpu, program),
      "%s", gpu_error(gpu));
}

static void assert_map(const FakeTensorMap *map, CuDevicePtr data, const PlanMap *plan) {
  ck_assert(map->data == data);
  ck_assert_uint_eq(map->extents[0], (uint64_t)plan->columns);
  ck_assert_uint_eq(map->extents[1], (uint64_t)plan->rows);
  ck_assert_uint_eq(map->row_bytes, (uint64_t)(plan->columns * plan_type_bytes(plan->type)));
  ck_assert_uint_eq(map->extents[2], (uint64_t)plan->matrices);
  ck_assert_uint_eq(map->matrix_bytes, plan->matrices ? map->row_bytes * map->extents[1] : 0);
  ck_assert_int_eq((int)map->box[0], plan->box_columns);
  ck_assert_int_eq((int)map->box[1], plan->box_rows);
  ck_assert_int_eq(map->swizzle, plan->swizzle_bits);
  ck_assert_int_eq(map->l2_promotion, CU_TENSOR_MAP_L2_256B);
}

// Of any buffer, and of one buffer more than one: here C, in f32, and the second workspace.
START_TEST(a_plan_has_a_table_of_maps) {
  Plan *plan = plan_of(PLAN_F16);
  plan->workspace_bytes[1] = 4096;
  plan->maps[2] = (PlanMap){PLAN_ARG_C, PLAN_F32, 16, 16, 3, 16, 8, 2};
  plan->maps[3] = (PlanMap){PLAN_ARG_C, PLAN_F32, 16, 48, 0, 8, 48, 0};
  plan->maps[4] = (PlanMap){(PlanArg)(PLAN_ARG_WORKSPACE + 1), PLAN_S32, 32, 32, 0, 16, 16, 0};
  plan->n_maps = 5;
  Diags diags = diags_new(arena);
  ck_assert_msg(plan_check(plan, &diags), "%s", diags_text(arena, &diags));
  Gpu *gpu = open_gpu();
  GpuProgram program;
  ck_assert(problem_prepare(gpu, plan, 1) && problem_reserve_workspaces(gpu, plan));
  launch(gpu, plan, &program);
  ck_assert_int_eq(fake_tensor_map_count(), 5);
  for (int i = 0; i < plan->n_maps; i++)
    assert_map(fake_tensor_map(i), problem_buffer(&gpu->problem, plan->maps[i].buffer)->data,
               &plan->maps[i]);
  ck_assert_int_eq(fake_tensor_map(3)->type, CU_TENSOR_MAP_FLOAT32);
  ck_assert_int_eq(fake_tensor_map(4)->type, CU_TENSOR_MAP_INT32);
  gpu_unload(gpu, &program);
  gpu_close(gpu);
}
END_TEST

static const struct {
  PlanType operand;
  int map;
} types[] = {{PLAN_F32, CU_TENSOR_MAP_FLOAT32}, {PLAN_TF32, CU_TENSOR_MAP_FLOAT32},
             {PLAN_F16, CU_TENSOR_MAP_FLOAT16}, {PLAN_BF16, CU_TENSOR_MAP_BFLOAT16},
             {PLAN_F64, CU_TENSOR_MAP_FLOAT64}, {PLAN_S8, CU_TENSOR_MAP_UINT8},
             {PLAN_E4M3, CU_TENSOR_MAP_UINT8},  {PLAN_E5M2, CU_TENSOR_MAP_UINT8}};
enum { N_TYPES = sizeof types / sizeof *types };

START_TEST(every_operand_has_a_type_of_maps) {
  const Plan *plan = plan_of(types[_i].operand);
  Gpu *gpu = open_gpu();
  GpuProgram program;
  launch(gpu, plan, &program);
  ck_assert_int_eq(fake_tensor_map_count(), 2);
  ck_assert_int_eq(fake_tensor_map(0)->type, types[_i].map);
  assert_map(fake_tensor_map(0), gpu->problem.a.data, &plan->maps[0]);
  gpu_unload(gpu, &program);
  gpu_close(gpu);
}
END_TEST

START_TEST(an_operand_that_moved_is_encoded_again) {
  Gpu *gpu = open_gpu();
  GpuProgram program;
  launch(gpu, plan_of(PLAN_F32), &program);
  ck_assert(gpu_launch(gpu, &program));
  ck_assert_int_eq(fake_tensor_map_count(), 2);
  gpu->problem.b.data += 64;
  ck_assert(gpu_launch(gpu, &program) && gpu_launch(gpu, &program));
  ck_assert_int_eq(fake_tensor_map_count(), 3);
  ck_assert(fake_tensor_map(2)->data == gpu->problem.b.data);
  gpu_unload(gpu, &program);
  gpu_close(gpu);
}
END_TEST

START_TEST(one_operand_may_be_a_pointer) {
  Plan *plan = plan_of(PLAN_F32);
  plan->kernels[0].args[0] = PLAN_ARG_A;
  plan->kernels[0].args[1] = PLAN_ARG_MAP;
  plan->maps[0] = plan->maps[1];
  plan->n_maps = 1;
  Gpu *gpu = open_gpu();
  GpuProgram program;
  launch(gpu, plan, &program);
  ck_assert_int_eq(fake_tensor_map_count(), 1);
  ck_assert(fake_tensor_map(0)->data == gpu->problem.b.data);
  gpu_unload(gpu, &program);
  gpu_close(gpu);
}
END_TEST

START_TEST(an_old_driver_makes_no_maps) {
  CudaApi old = *dl_cuda(NULL);
  old.cuTensorMapEncodeTiled = NULL;
  dl_replace(DL_CUDA, &old);
  Plan *plan = plan_of(PLAN_F32);
  BenchInput input = input_of(plan);
  Gpu *gpu = open_gpu();
  GpuProgram program;
  ck_assert(!gpu_load(gpu, &input, &program));
  ck_assert_str_eq(gpu_error(gpu),
                   "this driver makes no tensor maps: CUDA 12.0 or later is needed");
  plan->n_maps = 0;
  ck_assert(gpu_load(gpu, &input, &program));
  gpu_unload(gpu, &program);
  gpu_close(gpu);
  ck_assert_int_eq(fake_cuda_live(), 0);
}
END_TEST

START_TEST(a_map_that_is_refused_launches_nothing) {
  const Plan *plan = plan_of(PLAN_F32);
  const BenchInput input = input_of(plan);
  Gpu *gpu = open_gpu();
  GpuProgram program;
  ck_assert(problem_prepare(gpu, plan, 1) && gpu_load(gpu, &input, &program));
  const int calls = fake_cuda_calls();
  fake_cuda_fail(2, 1);
  ck_assert(!gpu_launch(gpu, &program));
  ck_assert_ptr_nonnull(strstr(gpu_error(gpu), "cuTensorMapEncodeTiled"));
  ck_assert_int_eq(fake_cuda_calls() - calls, 2);
  ck_assert(gpu_launch(gpu, &program));
  ck_assert_int_eq(fake_tensor_map_count(), 2);
  gpu_unload(gpu, &program);
  gpu_close(gpu);
}
END_TEST

Suite *suite_tensor_map(void);
Suite *suite_tensor_map(void) {
  Suite *suite = suite_create("tensor_map");
  TCase *tests = tcase_create("tensor map");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_job_encodes_each_map_once);
  tcase_add_test(tests, a_plan_has_a_table_of_maps);
  tcase_add_loop_test(tests, every_operand_has_a_type_of_maps, 0, N_TYPES);
  tcase_add_test(tests, an_operand_that_moved_is_encoded_again);
  tcase_add_test(tests, one_operand_may_be_a_pointer);
  tcase_add_test(tests, an_old_driver_makes_no_maps);
  tcase_add_test(tests, a_map_that_is_refused_launches_nothing);
  suite_add_tcase(suite, tests);
  return suite;
}
