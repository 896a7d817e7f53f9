// The operands, the float64 answer, and the comparison of every cell of C with it.
//
// The data is made on the GPU and kept until another problem is asked for, since the answer costs
// more than most kernels (8192³: some 0.1 s). A is drawn from `seed`, B from another stream of it.
//
//   prepare    A, B ← normal;  expected, magnitude ← float64 product;  C allocated
//   poison     C, its guards and the workspace ← 0xFF: NaN, so a cell that is never written is
//              wrong, and so is a sum that starts from the old contents
//   compare    counters and map ← cells outside their bound;  guards ← words that changed
//
// The counters come back first; the map and the first wrong cell are fetched only when needed.
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "kernels/device/gpu.h"
#include "kernels/device/problem_kernels.h"

enum { FILL_BLOCKS = 2048, THREADS = 256, MAP_BYTES = VERIFY_MAP_MAX * VERIFY_MAP_MAX * 4 };

// How far apart neighbours along K and across it lie in an operand.
typedef struct Shape {
  int data, is_b;
  unsigned long long along, k, across, rows;
} Shape;

static Shape shape_of(const Plan *plan, bool is_b) {
  const bool k_fast = is_b ? plan->b_col_major : !plan->a_col_major;
  const unsigned long long k = (unsigned long long)plan->k,
                           rows = (unsigned long long)(is_b ? plan->n : plan->m);
  return (Shape){(int)plan->data, is_b, k_fast ? 1 : rows, k, k_fast ? k : 1, rows};
}

static bool fill_shaped(Gpu *gpu, const GpuBuffer *buffer, PlanType type, uint64_t seed,
                        Shape shape) {
  CuDevicePtr data = buffer->data;
  int kind = (int)type;
  unsigned long long n = (unsigned long long)(buffer->bytes / plan_type_bytes(type)), s = seed;
  void *parameters[] = {&data,         &kind,       &n,           &s,
                        &shape.data,   &shape.is_b, &shape.along, &shape.k,
                        &shape.across, &shape.rows};
  return gpu_fill_bytes(gpu, buffer, 0xFF, true) &&
         gpu_launch_helper(gpu, GPU_FILL_NORMAL, FILL_BLOCKS, THREADS, parameters);
}

static bool fill_normal(Gpu *gpu, const GpuBuffer *buffer, PlanType type, uint64_t seed) {
  return fill_shaped(gpu, buffer, type, seed, (Shape){0, 0, 1, 1, 1, 1});
}

static bool multiply_f64(Gpu *gpu, const Plan *plan) {
  GpuProblem *problem = &gpu->problem;
  CuDevicePtr a = problem->a.data, b = problem->b.data;
  CuDevicePtr expected = problem->expected.data, magnitude = problem->magnitude.data;
  int type = (int)plan->operand_type, a_col = plan->a_col_major, b_col = plan->b_col_major;
  unsigned long long m = (unsigned long long)plan->m, n = (unsigned long long)plan->n,
                     k = (unsigned long long)plan->k;
  int64_t blocks = ((plan->m + 63) / 64) * ((plan->n + 63) / 64);
  if (blocks > INT32_MAX)
    return gpu_refuse(gpu, "C of %lld × %lld is too large for a check", (long long)plan->m,
                      (long long)plan->n);
  CuDevicePtr sfa = problem->sfa.data, sfb = problem->sfb.data;
  int scale_type = (int)plan_scale_type(plan->operand_type);
  unsigned long long block = (unsigned long long)plan_scale_elements(plan->operand_type);
  unsigned long long tiles = (unsigned long long)plan_scale_tiles(plan);
  void *parameters[] = {&a,     &b,     &expected, &magnitude, &type,       &m,     &n,    &k,
                        &a_col, &b_col, &sfa,      &sfb,       &scale_type, &block, &tiles};
  return gpu_launch_helper(gpu, GPU_PRODUCT_F64, blocks, THREADS, parameters);
}

// A block for each query of each head.
static bool attend_f64(Gpu *gpu, const Plan *plan) {
  GpuProblem *problem = &gpu->problem;
  CuDevicePtr q = problem->a.data, k = problem->b.data, v = problem->v.data;
  CuDevicePtr expected = problem->expected.data, magnitude = problem->magnitude.data;
  int type = (int)plan->operand_type, causal = plan->causal;
  unsigned long long queries = (unsigned long long)plan->m, keys = (unsigned long long)plan->n,
                     dim = (unsigned long long)plan->k;
  double alpha = (double)plan_alpha(plan);
  if (plan_rows(plan) > INT32_MAX || plan->k > THREADS)
    return gpu_refuse(gpu, "%lld queries of a head dimension of %lld are too many for a check",
                      (long long)plan_rows(plan), (long long)plan->k);
  void *parameters[] = {&q,       &k,    &v,   &expected, &magnitude, &type,
                        &queries, &keys, &dim, &causal,   &alpha};
  return gpu_launch_helper(gpu, GPU_ATTENTION_F64, plan_rows(plan), THREADS, parameters);
}

// Factors of the operands, where their type has any.
static bool build_factors(Gpu *gpu, const Plan *plan, uint64_t seed) {
  GpuBuffer *const factors[] = {&gpu->problem.sfa, &gpu->problem.sfb};
  for (int i = 0; i < 2 && plan_scale_elements(plan->operand_type); i++) {
    const PlanArg arg = (PlanArg)(PLAN_ARG_SFA + i);
    if (!gpu_alloc(gpu, factors[i], plan_scale_bytes(plan, arg), i ? "SFB" : "SFA") ||
        !fill_normal(gpu, factors[i], plan_scale_type(plan->operand_type),
                     ~(2 * seed + (uint64_t)i)))
      return false;
  }
  return true;
}

static bool build_values(Gpu *gpu, const Plan *plan, uint64_t seed) {
  GpuBuffer *v = &gpu->problem.v;
  if (!plan_is_attention(plan)) return multiply_f64(gpu, plan);
  return gpu_alloc(gpu, v, plan_v_bytes(plan), "V") &&
         fill_normal(gpu, v, plan->operand_type, ~seed) && attend_f64(gpu, plan);
}

static bool build(Gpu *gpu, const Plan *plan, uint64_t seed) {
  GpuProblem *problem = &gpu->problem;
  const int64_t cells = plan_rows(plan) * plan_columns(plan);
  return gpu_alloc(gpu, &problem->a, plan_a_bytes(plan), "A") &&
         gpu_alloc(gpu, &problem->b, plan_b_bytes(plan), "B") &&
         gpu_alloc(gpu, &problem->c, plan_c_bytes(plan), "C") &&
         gpu_alloc(gpu, &problem->expected, cells * 8, "the float64 product") &&
         gpu_alloc(gpu, &problem->magnitude, cells * 4, "the error bounds") &&
         gpu_alloc(gpu, &problem->counters, (int64_t)sizeof(HelperCounters) + MAP_BYTES,
                   "the error map") &&
         fill_shaped(gpu, &problem->a, plan->operand_type, 2 * seed, shape_of(plan, false)) &&
         fill_shaped(gpu, &problem->b, plan->operand_type, 2 * seed + 1, shape_of(plan, true)) &&
         build_factors(gpu, plan, seed) && build_values(gpu, plan, seed) && gpu_wait(gpu);
}

bool problem_is_ready(const Gpu *gpu, const Plan *plan, uint64_t seed) {
  const GpuProblem *problem = &gpu->problem;
  return problem->ready && problem->seed == seed && plan_same_problem(&problem->shape, plan);
}

bool problem_prepare(Gpu *gpu, const Plan *plan, uint64_t seed) {
  GpuProblem *problem = &gpu->problem;
  if (problem_is_ready(gpu, plan, seed)) return true;
  problem_release(gpu);
  if (!build(gpu, plan, seed)) {
    if (!gpu->poisoned) problem_release(gpu);
    return false;
  }
  problem->shape = *plan;
  problem->shape.cuda = problem->shape.arch = problem->shape.label = NULL;
  problem->seed = seed;
  problem->ready = true;
  return true;
}

GpuBuffer *problem_buffer(GpuProblem *problem, PlanArg buffer) {
  GpuBuffer *const operands[] = {
      [PLAN_ARG_A] = &problem->a, [PLAN_ARG_B] = &problem->b,     [PLAN_ARG_C] = &problem->c,
      [PLAN_ARG_V] = &problem->v, [PLAN_ARG_SFA] = &problem->sfa, [PLAN_ARG_SFB] = &problem->sfb};
  if (buffer < PLAN_ARG_WORKSPACE) return operands[buffer];
  return &problem->workspaces[buffer - PLAN_ARG_WORKSPACE];
}

bool problem_reserve_workspaces(Gpu *gpu, const Plan *plan) {
  for (int i = 0; i < PLAN_MAX_WORKSPACES; i++) {
    GpuBuffer *workspace = &gpu->problem.workspaces[i];
    if (plan->workspace_bytes[i] > workspace->bytes &&
        !gpu_alloc(gpu, workspace, plan->workspace_bytes[i], "the workspace"))
      return false;
  }
  return true;
}

void problem_release(Gpu *gpu) {
  GpuProblem *problem = &gpu->problem;
  GpuBuffer *const others[] = {&problem->expected, &problem->magnitude, &problem->counters};
  // A failed free must not hide why it came to this.
  char error[sizeof gpu->error];
  memcpy(error, gpu->error, sizeof error);
  for (int i = 0; i < PLAN_N_BUFFERS; i++) gpu_release(gpu, problem_buffer(problem, (PlanArg)i));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) gpu_release(gpu, others[i]);
  memcpy(gpu->error, error, sizeof error);
  problem->ready = false;
}

bool problem_poison(Gpu *gpu) {
  GpuProblem *problem = &gpu->problem;
  for (int i = 0; i < PLAN_MAX_WORKSPACES; i++) {
    const GpuBuffer *workspace = &problem->workspaces[i];
    if (workspace->bytes > 0 && !gpu_fill_bytes(gpu, workspace, 0xFF, true)) return false;
  }
  return gpu_fill_bytes(gpu, &problem->c, 0xFF, true);
}

static bool launch_compare(Gpu *gpu, const Plan *plan, const VerifyResult *result) {
  GpuProblem *problem = &gpu->problem;
  CuDevicePtr c = problem->c.data, expected = problem->expected.data,
              magnitude = problem->magnitude.data, counters = problem->counters.data,
              map = counters + sizeof(HelperCounters);
  int type = (int)plan->output_type;
  unsigned long long m = (unsigned long long)plan_rows(plan),
                     n = (unsigned long long)plan_columns(plan),
                     map_m = (unsigned long long)result->map_tile_m,
                     map_n = (unsigned long long)result->map_tile_n;
  double tolerance = result->tolerance, rounding = verify_rounding(plan),
         floor = verify_floor(plan);
  void *parameters[] = {&c,        &type,  &expected, &magnitude, &m,   &n,       &tolerance,
                        &rounding, &floor, &map_m,    &map_n,     &map, &counters};
  return gpu_launch_helper(gpu, GPU_COMPARE, FILL_BLOCKS, THREADS, parameters);
}

static bool count_guard(Gpu *gpu, CuDevicePtr from, CuDevicePtr to) {
  CuDevicePtr counters = gpu->problem.counters.data, words = (from + 3) / 4 * 4;
  unsigned long long n = (to - words) / 4;
  void *parameters[] = {&words, &n, &counters};
  return gpu_launch_helper(gpu, GPU_COUNT_CHANGED, 64, THREADS, parameters);
}

static bool count_guards(Gpu *gpu) {
  const GpuBuffer *c = &gpu->problem.c;
  CuDevicePtr end = c->data + (CuDevicePtr)c->bytes;
  return count_guard(gpu, c->base, c->data) && count_guard(gpu, end, end + GPU_GUARD_BYTES);
}

static double value_of(PlanType type, const unsigned char bytes[8]) {
  float f;
  double d;
  uint16_t h;
  int32_t s;
  memcpy(&f, bytes, sizeof f);
  memcpy(&s, bytes, sizeof s);
  memcpy(&d, bytes, sizeof d);
  memcpy(&h, bytes, sizeof h);
  if (type == PLAN_F64) return d;
  if (type == PLAN_S32) return s;
  if (type == PLAN_F32 || type == PLAN_TF32) return f;
  if (type == PLAN_BF16) {
    uint32_t u = (uint32_t)h << 16;
    memcpy(&f, &u, sizeof f);
    return f;
  }
  int exponent = h >> 10 & 31, fraction = h & 1023;
  double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                : exponent == 0 ? ldexp(fraction, -24)
                                : ldexp(1024 + fraction, exponent - 25);
  return h & 0x8000 ? -size : size;
}

static bool read_first_wrong(Gpu *gpu, const Plan *plan, uint64_t cell, VerifyResult *result) {
  const GpuProblem *problem = &gpu->problem;
  const int bytes = plan_type_bytes(plan->output_type);
  unsigned char got[8] = {0};
  float magnitude = 0;
  if (!gpu_read(gpu, got, problem->c.data + cell * (uint64_t)bytes, (size_t)bytes) ||
      !gpu_read(gpu, &result->first_expected, problem->expected.data + cell * 8, 8) ||
      !gpu_read(gpu, &magnitude, problem->magnitude.data + cell * 4, 4))
    return false;
  result->first_row = (int64_t)(cell / (uint64_t)plan->n);
  result->first_col = (int64_t)(cell % (uint64_t)plan->n);
  result->first_got = value_of(plan->output_type, got);
  result->first_bound = verify_bound(plan, result->first_expected, (double)magnitude);
  return true;
}

static bool read_map(Arena *arena, Gpu *gpu, VerifyResult *result) {
  result->n_map = result->map_rows * result->map_cols;
  uint32_t *map = ARENA_ARRAY(arena, uint32_t, result->n_map);
  result->map = map;
  return gpu_read(gpu, map, gpu->problem.counters.data + sizeof(HelperCounters),
                  (size_t)result->n_map * 4);
}

static bool reset_counters(Gpu *gpu) {
  const CuDevicePtr counters = gpu->problem.counters.data;
  return gpu_fill_bytes(gpu, &gpu->problem.counters, 0, false) &&
         gpu_check(gpu,
                   gpu->cuda->cuMemsetD32Async(counters + offsetof(HelperCounters, first_wrong),
                                               ~0u, 2, gpu->stream),
                   "cuMemsetD32Async");
}

bool problem_compare(Arena *arena, Gpu *gpu, const Plan *plan, VerifyResult *result) {
  HelperCounters counters;
  float worst;
  *result = (VerifyResult){.tolerance = verify_tolerance(plan), .first_row = -1, .first_col = -1};
  verify_size_map(plan, result);
  if (!reset_counters(gpu) || !launch_compare(gpu, plan, result) || !count_guards(gpu) ||
      !gpu_read(gpu, &counters, gpu->problem.counters.data, sizeof counters))
    return false;
  memcpy(&worst, &counters.worst_bits, sizeof worst);
  result->ran = true;
  result->worst = counters.n_nan ? -1 : (double)worst;
  result->n_cells = plan->m * plan->n;
  float error;
  memcpy(&error, &counters.error_bits, sizeof error);
  result->error = counters.n_nan ? -1 : (double)error;
  result->rms = counters.n_nan ? -1 : sqrt(counters.squares / (double)result->n_cells);
  result->n_wrong = (int64_t)counters.n_wrong;
  result->n_unwritten = (int64_t)counters.n_unwritten;
  result->n_outside = (int64_t)counters.n_outside;
  result->ok = counters.n_wrong == 0 && counters.n_outside == 0;
  if (counters.n_wrong == 0) return true;
  return read_first_wrong(gpu, plan, counters.first_wrong, result) && read_map(arena, gpu, result);
}
