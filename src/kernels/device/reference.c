// cuBLAS as the measure: the fastest of several rows whose answer is right.
//
// Rows for plain f32, in the order tried:
//   cublasGemmEx, CUBLAS_COMPUTE_32F and its pedantic form (neither may round operands to tf32)
//   cublasLt, up to 12 heuristic rows for CUBLAS_COMPUTE_32F with 64 MiB of workspace
// Other types take the compute type of their accumulator, in both libraries:
//
//   operands   sums  C          compute type                   scalars
//   f16        f32   f16 (f32)  CUBLAS_COMPUTE_32F             f32
//   f16        f16   f16        CUBLAS_COMPUTE_16F             f16
//   bf16       f32   bf16       CUBLAS_COMPUTE_32F             f32
//   tf32       f32   f32        CUBLAS_COMPUTE_32F_FAST_TF32   f32; A, B and C are f32 in memory
//   f64        f64   f64        CUBLAS_COMPUTE_64F             f64
//   s8         s32   s32        CUBLAS_COMPUTE_32I             s32
//   e4m3 e5m2  f32   f32        CUBLAS_COMPUTE_32F             f32; k-contiguous, cublasLt only
//
// If the library has no kernel for a product (8-bit types in layouts it does not support), the
// reference says so and the plan is timed alone. Every row is run once to load it and then timed in
// at most three launches; one that takes 1.3 times the best so far is dropped after the first. The
// winner must pass the same check as a plan, so that a library talked into tf32 by an environment
// variable is no reference for f32.
//
// cuBLAS thinks in columns. A row-major C (m × n) is a column-major Cᵀ (n × m), and Cᵀ = Bᵀ·Aᵀ:
//
//   stored          read as columns   operation wanted   leading dimension
//   B row-major     Bᵀ, n × k         N                  n
//   B col-major     B,  k × n         T                  k
//   A row-major     Aᵀ, k × m         N                  k
//   A col-major     A,  m × k         T                  m
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kernels/device/gpu.h"
#include "kernels/toolchain/dl.h"

enum { LT_ROWS = 12, ROWS_MAX = 16, WORKSPACE_BYTES = 64 << 20, TRIES = 3 };
static const double search_limit_ms = 2500;
static const double hopeless = 1.3;

typedef struct Row {
  const char *name;
  bool lt;
  int compute;
  CublasLtAlgo algo;
  double ms;  // best so far; < 0 = refused
} Row;

typedef union Scalar {
  float f;
  double d;
  uint16_t h;
  int32_t i;
} Scalar;

struct ReferenceState {
  Arena *arena;
  const CublasApi *blas;
  const CublasLtApi *lt;
  void *handle, *lt_handle;
  void *description, *a_layout, *b_layout, *c_layout, *preference;  // cublasLt's
  GpuBuffer workspace;
  void *start, *stop;
  Scalar one, zero;
  int compute, scale_type, operand_type, output_type;
  int n_rows, chosen;  // chosen < 0 = none yet
  Row rows[ROWS_MAX];
  BenchReference told;  // what reference_choose found, without the timing
};

static int cuda_type(PlanType type) {
  static const int types[PLAN_N_TYPES] = {
      [PLAN_F32] = CUDA_TYPE_32F,      [PLAN_F16] = CUDA_TYPE_16F,
      [PLAN_BF16] = CUDA_TYPE_16BF,    [PLAN_TF32] = CUDA_TYPE_32F,
      [PLAN_F64] = CUDA_TYPE_64F,      [PLAN_S8] = CUDA_TYPE_8I,
      [PLAN_E4M3] = CUDA_TYPE_8F_E4M3, [PLAN_E5M2] = CUDA_TYPE_8F_E5M2,
      [PLAN_S32] = CUDA_TYPE_32I};
  return types[type];
}

static void set_types(ReferenceState *state, const Plan *plan) {
  state->operand_type = cuda_type(plan->operand_type);
  state->output_type = cuda_type(plan->output_type);
  state->scale_type = cuda_type(plan->accumulate_type);
  state->one.f = 1;
  state->compute =
      plan->operand_type == PLAN_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  if (plan->accumulate_type == PLAN_F16) {
    state->compute = CUBLAS_COMPUTE_16F;
    state->one.h = 0x3C00;
  }
  if (plan->accumulate_type == PLAN_F64) {
    state->compute = CUBLAS_COMPUTE_64F;
    state->one.d = 1;
  }
  if (plan->accumulate_type == PLAN_S32) {
    state->compute = CUBLAS_COMPUTE_32I;
    state->one.i = 1;
  }
}

static bool blas_ok(Gpu *gpu, int status, const char *call) {
  return status == CUBLAS_SUCCESS || gpu_refuse(gpu, "%s gave status %d", call, status);
}

static bool open_handles(Gpu *gpu, ReferenceState *state) {
  const char *error = NULL;
  state->blas = dl_cublas(&error);
  if (!state->blas) return gpu_refuse(gpu, "%s", error);
  state->lt = dl_cublaslt(NULL);
  if (!gpu_alloc(gpu, &state->workspace, WORKSPACE_BYTES, "cuBLAS's workspace") ||
      !gpu_check(gpu, gpu->cuda->cuEventCreate(&state->start, CU_EVENT_DEFAULT), "cuEventCreate") ||
      !gpu_check(gpu, gpu->cuda->cuEventCreate(&state->stop, CU_EVENT_DEFAULT), "cuEventCreate"))
    return false;
  if (!blas_ok(gpu, state->blas->cublasCreate_v2(&state->handle), "cublasCreate") ||
      !blas_ok(gpu, state->blas->cublasSetStream_v2(state->handle, gpu->stream),
               "cublasSetStream") ||
      !blas_ok(gpu,
               state->blas->cublasSetWorkspace_v2(
                   state->handle, (void *)(uintptr_t)state->workspace.data, WORKSPACE_BYTES),
               "cublasSetWorkspace") ||
      !blas_ok(gpu, state->blas->cublasSetMathMode(state->handle, CUBLAS_MATH_DEFAULT),
               "cublasSetMathMode"))
    return false;
  if (state->lt && state->lt->cublasLtCreate(&state->lt_handle) != CUBLAS_SUCCESS) state->lt = NULL;
  return true;
}

static void add_row(ReferenceState *state, Row row) {
  if (state->n_rows < ROWS_MAX) state->rows[state->n_rows++] = row;
}

static bool describe_lt(ReferenceState *state, const Plan *plan) {
  const CublasLtApi *lt = state->lt;
  const int32_t transpose_b = plan->b_col_major ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int32_t transpose_a = plan->a_col_major ? CUBLAS_OP_T : CUBLAS_OP_N;
  const uint64_t m = (uint64_t)plan->m, n = (uint64_t)plan->n, k = (uint64_t)plan->k;
  const uint64_t b_rows = plan->b_col_major ? k : n, a_rows = plan->a_col_major ? m : k;
  const size_t bytes = WORKSPACE_BYTES;
  return lt->cublasLtMatmulDescCreate(&state->description, state->compute, state->scale_type) ==
             0 &&
         lt->cublasLtMatmulDescSetAttribute(state->description, CUBLASLT_DESC_TRANSA, &transpose_b,
                                            sizeof transpose_b) == 0 &&
         lt->cublasLtMatmulDescSetAttribute(state->description, CUBLASLT_DESC_TRANSB, &transpose_a,
                                            sizeof transpose_a) == 0 &&
         lt->cublasLtMatrixLayoutCreate(&state->b_layout, state->operand_type, b_rows,
                                        n * k / b_rows, (int64_t)b_rows) == 0 &&
         lt->cublasLtMatrixLayoutCreate(&state->a_layout, state->operand_type, a_rows,
                                        m * k / a_rows, (int64_t)a_rows) == 0 &&
         lt->cublasLtMatrixLayoutCreate(&state->c_layout, state->output_type, n, m, (int64_t)n) ==
             0 &&
         lt->cublasLtMatmulPreferenceCreate(&state->preference) == 0 &&
         lt->cublasLtMatmulPreferenceSetAttribute(
             state->preference, CUBLASLT_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes) == 0;
}

static void add_lt_rows(ReferenceState *state, const Plan *plan) {
  CublasLtHeuristic found[LT_ROWS];
  int n = 0;
  memset(found, 0, sizeof found);
  if (!state->lt || !describe_lt(state, plan)) return;
  if (state->lt->cublasLtMatmulAlgoGetHeuristic(
          state->lt_handle, state->description, state->b_layout, state->a_layout, state->c_layout,
          state->c_layout, state->preference, LT_ROWS, found, &n) != CUBLAS_SUCCESS)
    return;
  for (int i = 0; i < n; i++)
    if (found[i].state == CUBLAS_SUCCESS && found[i].workspace_bytes <= WORKSPACE_BYTES)
      add_row(state, (Row){arena_printf(state->arena, "cublasLt, heuristic %d", i + 1), true,
                           state->compute, found[i].algo, 0});
}

static int run_gemm_ex(Gpu *gpu, const Row *row) {
  const ReferenceState *state = gpu->reference;
  const GpuProblem *problem = &gpu->problem;
  const Plan *plan = &problem->shape;
  const int m = (int)plan->m, n = (int)plan->n, k = (int)plan->k;
  return state->blas->cublasGemmEx(
      state->handle, plan->b_col_major ? CUBLAS_OP_T : CUBLAS_OP_N,
      plan->a_col_major ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &state->one,
      (const void *)(uintptr_t)problem->b.data, state->operand_type, plan->b_col_major ? k : n,
      (const void *)(uintptr_t)problem->a.data, state->operand_type, plan->a_col_major ? m : k,
      &state->zero, (void *)(uintptr_t)problem->c.data, state->output_type, n, row->compute,
      CUBLAS_ALGO_DEFAULT);
}

static int run_lt(Gpu *gpu, const Row *row) {
  const ReferenceState *state = gpu->reference;
  const GpuProblem *problem = &gpu->problem;
  void *c = (void *)(uintptr_t)problem->c.data;
  return state->lt->cublasLtMatmul(
      state->lt_handle, state->description, &state->one, (const void *)(uintptr_t)problem->b.data,
      state->b_layout, (const void *)(uintptr_t)problem->a.data, state->a_layout, &state->zero, c,
      state->c_layout, c, state->c_layout, &row->algo, (void *)(uintptr_t)state->workspace.data,
      WORKSPACE_BYTES, gpu->stream);
}

static int run_row(Gpu *gpu, const Row *row) {
  return row->lt ? run_lt(gpu, row) : run_gemm_ex(gpu, row);
}

// Times one launch, in ms; < 0 when the row is refused. False when the GPU failed.
static bool time_once(Gpu *gpu, const Row *row, double *ms) {
  const ReferenceState *state = gpu->reference;
  float elapsed = -1;
  *ms = -1;
  if (!gpu_spin(gpu, 5) ||
      !gpu_check(gpu, gpu->cuda->cuEventRecord(state->start, gpu->stream), "cuEventRecord"))
    return false;
  int status = run_row(gpu, row);
  if (!gpu_check(gpu, gpu->cuda->cuEventRecord(state->stop, gpu->stream), "cuEventRecord") ||
      !gpu_wait(gpu))
    return false;
  if (status != CUBLAS_SUCCESS) return true;
  if (!gpu_check(gpu, gpu->cuda->cuEventElapsedTime(&elapsed, state->start, state->stop),
                 "cuEventElapsedTime"))
    return false;
  *ms = (double)elapsed;
  return true;
}

static bool time_row(Gpu *gpu, Row *row, double best_ms, double *spent_ms) {
  double ms = 0;
  row->ms = -1;
  // The first launch loads the kernel.
  if (!time_once(gpu, row, &ms)) return false;
  for (int i = 0; i < TRIES && ms >= 0; i++) {
    if (!time_once(gpu, row, &ms)) return false;
    *spent_ms += ms;
    if (ms >= 0 && (row->ms < 0 || ms < row->ms)) row->ms = ms;
    if (best_ms > 0 && ms > hopeless * best_ms) break;
  }
  return true;
}

static bool time_rows(Gpu *gpu, ReferenceState *state) {
  double best_ms = 0, spent_ms = 0;
  for (int i = 0; i < state->n_rows; i++) {
    Row *row = &state->rows[i];
    row->ms = -1;
    if (i >= 3 && spent_ms > search_limit_ms) continue;
    if (!time_row(gpu, row, best_ms, &spent_ms)) return false;
    state->told.n_candidates += row->ms >= 0;
    if (row->ms >= 0 && (best_ms <= 0 || row->ms < best_ms)) best_ms = row->ms;
  }
  return true;
}

static int fastest(const ReferenceState *state) {
  int best = -1;
  for (int i = 0; i < state->n_rows; i++)
    if (state->rows[i].ms >= 0 && (best < 0 || state->rows[i].ms < state->rows[best].ms)) best = i;
  return best;
}

static const char *library_version(const ReferenceState *state) {
  int version = 0;
  state->blas->cublasGetVersion_v2(state->handle, &version);
  return arena_printf(state->arena, "cuBLAS %d.%d.%d", version / 10000, version / 100 % 100,
                      version % 100);
}

// Takes the fastest row that passes the check; rows that do not are struck out.
static bool pick(Arena *arena, Gpu *gpu, ReferenceState *state, const Plan *plan) {
  VerifyResult verify = {0};
  for (int row = fastest(state); row >= 0; row = fastest(state)) {
    if (!problem_poison(gpu)) return false;
    int status = run_row(gpu, &state->rows[row]);
    if (!gpu_wait(gpu) || !problem_compare(arena, gpu, plan, &verify)) return false;
    state->told.verify = verify;
    state->told.verify.map = NULL;
    state->told.verify.n_map = 0;
    if (status == CUBLAS_SUCCESS && verify.ok) {
      state->chosen = row;
      state->told.ok = true;
      state->told.name = state->rows[row].name;
      return true;
    }
    state->rows[row].ms = -1;
  }
  state->told.error = state->told.verify.ran
                          ? arena_strdup(state->arena, verify_sentence(arena, &state->told.verify))
                          : "cuBLAS has no kernel for this product";
  return true;
}

static bool search(Arena *arena, Gpu *gpu, const Plan *plan) {
  Arena *own = arena_new("reference");
  ReferenceState *state = ARENA_NEW(own, ReferenceState);
  state->arena = own;
  state->chosen = -1;
  gpu->reference = state;
  set_types(state, plan);
  if (!open_handles(gpu, state)) return false;
  state->told.library = library_version(state);
  add_row(state, (Row){"cublasGemmEx", false, state->compute, {{0}}, 0});
  if (state->compute == CUBLAS_COMPUTE_32F)
    add_row(state, (Row){"cublasGemmEx, pedantic", false, CUBLAS_COMPUTE_32F_PEDANTIC, {{0}}, 0});
  add_lt_rows(state, plan);
  return time_rows(gpu, state) && pick(arena, gpu, state, plan);
}

static void tell(Arena *arena, const ReferenceState *state, BenchReference *out) {
  *out = state->told;
  if (out->name) out->name = arena_strdup(arena, out->name);
  if (out->library) out->library = arena_strdup(arena, out->library);
  if (out->error) out->error = arena_strdup(arena, out->error);
}

bool reference_choose(Arena *arena, Gpu *gpu, const Plan *plan, BenchReference *out) {
  *out = (BenchReference){0};
  if (!gpu->reference && !search(arena, gpu, plan)) {
    out->error = str_sanitise(arena, gpu_error(gpu));
    reference_release(gpu);
    return false;
  }
  tell(arena, gpu->reference, out);
  return out->ok;
}

bool reference_launch(Gpu *gpu) {
  const ReferenceState *state = gpu->reference;
  return blas_ok(gpu, run_row(gpu, &state->rows[state->chosen]), state->rows[state->chosen].name);
}

static void release_lt(const ReferenceState *state) {
  const CublasLtApi *lt = state->lt;
  if (!lt) return;
  if (state->preference) lt->cublasLtMatmulPreferenceDestroy(state->preference);
  if (state->a_layout) lt->cublasLtMatrixLayoutDestroy(state->a_layout);
  if (state->b_layout) lt->cublasLtMatrixLayoutDestroy(state->b_layout);
  if (state->c_layout) lt->cublasLtMatrixLayoutDestroy(state->c_layout);
  if (state->description) lt->cublasLtMatmulDescDestroy(state->description);
  if (state->lt_handle) lt->cublasLtDestroy(state->lt_handle);
}

void reference_release(Gpu *gpu) {
  ReferenceState *state = gpu->reference;
  gpu->reference = NULL;
  if (!state) return;
  if (!gpu->poisoned) {
    release_lt(state);
    if (state->handle) state->blas->cublasDestroy_v2(state->handle);
    if (state->start) gpu->cuda->cuEventDestroy_v2(state->start);
    if (state->stop) gpu->cuda->cuEventDestroy_v2(state->stop);
    gpu_release(gpu, &state->workspace);
  }
  arena_free(state->arena);
}
