// cuBLAS as the measure: the fastest of several rows with the right answer.
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
// Kernels that sum 8-bit floats in the tensor core, as ours do, keep fewer bits than f32 has;
// cublasLt does so only when asked (CUBLASLT_MATMUL_DESC_FAST_ACCUM). Its rows with and without it
// are tried: the comparison is with the same accumulation.
//
// If the library has no kernel for a product (8-bit types in layouts it does not support), the
// reference says so and the plan is timed alone. Every row is run once to load it and then timed in
// at most three launches; one that takes 1.3 times the best so far is dropped after the first. The
// winner must pass the same check as a plan, so that a library talked into tf32 by an environment
// variable is no reference for f32.
//
// The order is the one of a cool card. On an H200 at its power cap another row is 3 to 7 % faster
// than cublasGemmEx at bf16 8192³ (2026-11-22). Hot, the rows that a cool launch does not rule out
// (of cublasGemmEx and the first eight heuristics) follow a second of load: two turns of 100 ms
// each, in which a row more than 6 % behind the best drops out, then seven of 300 ms among the best
// three. Worked example, ten rows: 1 s + 2 s + 6.3 s.
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
#include "kernels/device/timing.h"
#include "kernels/toolchain/dl.h"

// How cublasLt adds up 8-bit floats; other types know only the first.
enum { ACCUMULATE_F32, ACCUMULATE_FAST, N_ACCUMULATIONS };
enum { LT_ROWS = 12, LT_ROWS_HOT = 8, ROWS_MAX = 2 + N_ACCUMULATIONS * LT_ROWS };
enum { WORKSPACE_BYTES = 64 << 20, TRIES = 3, HEATS = 2, HOT_ROUNDS = 7, FINALISTS = 3 };
static const double search_limit_ms = 2500;
static const double hopeless = 1.3, hopeless_hot = 1.06;
static const double heat_ms = 100;  // of a batch in the turns before the final

typedef struct Row {
  const char *name;
  bool lt;
  int compute;
  CublasLtAlgo algo;
  int accumulation;  // of an Lt row
  // How far it came: 0 = cool launches, 1 = the hot turns before the final, 2 = the final. Times of
  // different stages are not compared.
  int stage;
  double ms;  // of one product, in its last stage; < 0 = refused
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
  void *description[N_ACCUMULATIONS];                 // cublasLt's; NULL = not asked for
  void *a_layout, *b_layout, *c_layout, *preference;  // the same
  GpuBuffer workspace;
  void *start, *stop;
  bool hot;  // chosen under load
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

static bool is_float8(PlanType type) { return type == PLAN_E4M3 || type == PLAN_E5M2; }

static bool describe_product(ReferenceState *state, const Plan *plan, int accumulation) {
  const CublasLtApi *lt = state->lt;
  void **description = &state->description[accumulation];
  const int8_t fast = accumulation == ACCUMULATE_FAST;
  const int32_t transpose_b = plan->b_col_major ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int32_t transpose_a = plan->a_col_major ? CUBLAS_OP_T : CUBLAS_OP_N;
  return lt->cublasLtMatmulDescCreate(description, state->compute, state->scale_type) == 0 &&
         lt->cublasLtMatmulDescSetAttribute(*description, CUBLASLT_DESC_TRANSA, &transpose_b,
                                            sizeof transpose_b) == 0 &&
         lt->cublasLtMatmulDescSetAttribute(*description, CUBLASLT_DESC_TRANSB, &transpose_a,
                                            sizeof transpose_a) == 0 &&
         (!fast || lt->cublasLtMatmulDescSetAttribute(*description, CUBLASLT_DESC_FAST_ACCUM, &fast,
                                                      sizeof fast) == 0);
}

static bool describe_operands(ReferenceState *state, const Plan *plan) {
  const CublasLtApi *lt = state->lt;
  const uint64_t m = (uint64_t)plan->m, n = (uint64_t)plan->n, k = (uint64_t)plan->k;
  const uint64_t b_rows = plan->b_col_major ? k : n, a_rows = plan->a_col_major ? m : k;
  const size_t bytes = WORKSPACE_BYTES;
  return lt->cublasLtMatrixLayoutCreate(&state->b_layout, state->operand_type, b_rows,
                                        n * k / b_rows, (int64_t)b_rows) == 0 &&
         lt->cublasLtMatrixLayoutCreate(&state->a_layout, state->operand_type, a_rows,
                                        m * k / a_rows, (int64_t)a_rows) == 0 &&
         lt->cublasLtMatrixLayoutCreate(&state->c_layout, state->output_type, n, m, (int64_t)n) ==
             0 &&
         lt->cublasLtMatmulPreferenceCreate(&state->preference) == 0 &&
         lt->cublasLtMatmulPreferenceSetAttribute(
             state->preference, CUBLASLT_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes) == 0;
}

static void add_heuristics(ReferenceState *state, const Plan *plan, int accumulation) {
  static const char *const names[N_ACCUMULATIONS] = {"", "fast accumulation, "};
  CublasLtHeuristic found[LT_ROWS];
  int n = 0;
  memset(found, 0, sizeof found);
  if (!describe_product(state, plan, accumulation) ||
      state->lt->cublasLtMatmulAlgoGetHeuristic(
          state->lt_handle, state->description[accumulation], state->b_layout, state->a_layout,
          state->c_layout, state->c_layout, state->preference, state->hot ? LT_ROWS_HOT : LT_ROWS,
          found, &n) != CUBLAS_SUCCESS)
    return;
  for (int i = 0; i < n; i++)
    if (found[i].state == CUBLAS_SUCCESS && found[i].workspace_bytes <= WORKSPACE_BYTES)
      add_row(state, (Row){.name = arena_printf(state->arena, "cublasLt, %sheuristic %d",
                                                names[accumulation], i + 1),
                           .lt = true,
                           .compute = state->compute,
                           .algo = found[i].algo,
                           .accumulation = accumulation});
}

static void add_lt_rows(ReferenceState *state, const Plan *plan) {
  if (!state->lt || !describe_operands(state, plan)) return;
  if (is_float8(plan->operand_type)) add_heuristics(state, plan, ACCUMULATE_FAST);
  add_heuristics(state, plan, ACCUMULATE_F32);
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
      state->lt_handle, state->description[row->accumulation], &state->one,
      (const void *)(uintptr_t)problem->b.data, state->b_layout,
      (const void *)(uintptr_t)problem->a.data, state->a_layout, &state->zero, c, state->c_layout,
      c, state->c_layout, &row->algo, (void *)(uintptr_t)state->workspace.data, WORKSPACE_BYTES,
      gpu->stream);
}

static int run_row(Gpu *gpu, const Row *row) {
  return row->lt ? run_lt(gpu, row) : run_gemm_ex(gpu, row);
}

// Times a batch of products, in ms of one; < 0 when the row is refused. False when the GPU failed.
static bool time_batch(Gpu *gpu, const Row *row, int batch, double *ms) {
  const ReferenceState *state = gpu->reference;
  float elapsed = -1;
  int status = CUBLAS_SUCCESS;
  *ms = -1;
  if (!gpu_spin(gpu, timing_spin_us(batch)) ||
      !gpu_check(gpu, gpu->cuda->cuEventRecord(state->start, gpu->stream), "cuEventRecord"))
    return false;
  for (int i = 0; i < batch && status == CUBLAS_SUCCESS; i++) status = run_row(gpu, row);
  if (!gpu_check(gpu, gpu->cuda->cuEventRecord(state->stop, gpu->stream), "cuEventRecord") ||
      !gpu_wait(gpu))
    return false;
  if (status != CUBLAS_SUCCESS) return true;
  if (!gpu_check(gpu, gpu->cuda->cuEventElapsedTime(&elapsed, state->start, state->stop),
                 "cuEventElapsedTime"))
    return false;
  *ms = (double)elapsed / batch;
  return true;
}

static bool time_row(Gpu *gpu, Row *row, double best_ms, double *spent_ms) {
  double ms = 0;
  row->ms = -1;
  // The first launch loads the kernel.
  if (!time_batch(gpu, row, 1, &ms)) return false;
  for (int i = 0; i < TRIES && ms >= 0; i++) {
    if (!time_batch(gpu, row, 1, &ms)) return false;
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

static bool is_before(const Row *row, const Row *other) {
  return row->stage != other->stage ? row->stage > other->stage : row->ms < other->ms;
}

static int fastest(const ReferenceState *state) {
  int best = -1;
  for (int i = 0; i < state->n_rows; i++)
    if (state->rows[i].ms >= 0 && (best < 0 || is_before(&state->rows[i], &state->rows[best])))
      best = i;
  return best;
}

// ---- hot ----------------------------------------------------------------------------------------

// Products of a batch that takes so long. A row counts for two launches, as in bench.c.
static int batch_of(const Row *row, double batch_ms) {
  TimingTurns turns = timing_hot;
  turns.batch_ns = batch_ms * 1e6;
  return timing_batch(&turns, row->ms * 1e6, 2);
}

static bool heat(Gpu *gpu, const Row *row) {
  double spent_ms = 0, ms = 0;
  const int batch = batch_of(row, heat_ms);
  while (spent_ms < timing_hot.warm_up_ns * 1e-6 && ms >= 0) {
    if (!time_batch(gpu, row, batch, &ms)) return false;
    spent_ms += ms * batch > 0.001 ? ms * batch : 0.001;
  }
  return true;
}

// The n rows at and after `rows`, in turns. Afterwards they are of the next stage.
static bool time_turns(Gpu *gpu, Row **rows, int n, int rounds, double batch_ms) {
  double samples[ROWS_MAX][HOT_ROUNDS];
  int batch[ROWS_MAX];
  for (int i = 0; i < n; i++) batch[i] = batch_of(rows[i], batch_ms);
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < n; i++) {
      const int at = timing_turn(round, i, n);
      if (!time_batch(gpu, rows[at], batch[at], &samples[at][round])) return false;
    }
  for (int i = 0; i < n; i++) {
    const double median = timing_median(samples[i], rounds);
    const bool refused = samples[i][0] < 0;  // sorted: any of them
    rows[i]->ms = refused ? -1 : median;
    rows[i]->stage++;
  }
  return true;
}

// The rows that have come as far as the best and are within `factor` of its time, the best first.
static int contenders(ReferenceState *state, double factor, Row **rows) {
  const int at_best = fastest(state);
  int n = 0;
  if (at_best < 0) return 0;
  const Row *best = &state->rows[at_best];
  for (int i = 0; i < state->n_rows; i++) {
    Row *row = &state->rows[i];
    if (row->ms < 0 || row->stage != best->stage || row->ms > factor * best->ms) continue;
    int at = n++;
    for (; at > 0 && is_before(row, rows[at - 1]); at--) rows[at] = rows[at - 1];
    rows[at] = row;
  }
  return n;
}

static bool time_rows_hot(Gpu *gpu, ReferenceState *state) {
  Row *rows[ROWS_MAX];
  int n = contenders(state, hopeless, rows);
  if (n == 0) return true;
  if (!heat(gpu, rows[0]) || !time_turns(gpu, rows, n, HEATS, heat_ms)) return false;
  n = contenders(state, hopeless_hot, rows);
  if (n > FINALISTS) n = FINALISTS;
  return n < 2 || time_turns(gpu, rows, n, HOT_ROUNDS, timing_hot.batch_ns * 1e-6);
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

static bool search(Arena *arena, Gpu *gpu, const Plan *plan, bool hot) {
  Arena *own = arena_new("reference");
  ReferenceState *state = ARENA_NEW(own, ReferenceState);
  state->arena = own;
  state->chosen = -1;
  state->hot = hot;
  gpu->reference = state;
  set_types(state, plan);
  if (!open_handles(gpu, state)) return false;
  state->told.library = library_version(state);
  add_row(state, (Row){.name = "cublasGemmEx", .compute = state->compute});
  if (state->compute == CUBLAS_COMPUTE_32F)
    add_row(state, (Row){.name = "cublasGemmEx, pedantic", .compute = CUBLAS_COMPUTE_32F_PEDANTIC});
  add_lt_rows(state, plan);
  return time_rows(gpu, state) && (!hot || time_rows_hot(gpu, state)) &&
         pick(arena, gpu, state, plan);
}

static void tell(Arena *arena, const ReferenceState *state, BenchReference *out) {
  *out = state->told;
  if (out->name) out->name = arena_strdup(arena, out->name);
  if (out->library) out->library = arena_strdup(arena, out->library);
  if (out->error) out->error = arena_strdup(arena, out->error);
}

bool reference_choose(Arena *arena, Gpu *gpu, const Plan *plan, bool hot, BenchReference *out) {
  *out = (BenchReference){0};
  if (plan_is_attention(plan)) {
    out->error = "cuBLAS has no attention";
    return false;
  }
  if (plan_scale_elements(plan->operand_type)) {
    out->error = "cuBLAS needs factors in tiles of 128 x 4, and these are not";
    return false;
  }
  if (gpu->reference && gpu->reference->hot != hot) reference_release(gpu);
  if (!gpu->reference && !search(arena, gpu, plan, hot)) {
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
  for (int i = 0; i < N_ACCUMULATIONS; i++)
    if (state->description[i]) lt->cublasLtMatmulDescDestroy(state->description[i]);
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
