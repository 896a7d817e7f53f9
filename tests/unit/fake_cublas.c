// cuBLAS and cublasLt of the fake driver: the column-major definition, written down.
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "fake_cuda_parts.h"
#include "numbers.h"

static bool rounds_operands;
static const FakeCublasTimes own_times = {{0.08, 0.2, 0.07}, {0.08, 0.2, 0.07}};
static FakeCublasTimes cublas_times;

void fake_cublas_set_times(FakeCublasTimes times) { cublas_times = times; }
void fake_cublas_round(bool rounds) { rounds_operands = rounds; }
void fake_cublas_start(void) {
  rounds_operands = false;
  cublas_times = own_times;
}

typedef struct Operand {
  const void *data;
  int64_t leading;
  bool transposed;
} Operand;

static double element(Operand o, int64_t row, int64_t col) {
  int64_t at = o.transposed ? row * o.leading + col : col * o.leading + row;
  double x = number_load(fake_types.operand, o.data, (unsigned long long)at);
  return rounds_operands ? number_cut_to_tf32(x) : fake_operand(x);
}

static int multiply(int64_t m, int64_t n, int64_t k, Operand a, Operand b, void *c, int64_t ldc) {
  int status = fake_cuda_answer();
  if (status) return 13;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) {
      double sum = 0;
      for (int64_t p = 0; p < k; p++)
        sum = number_rounded(fake_types.sum, sum + element(a, i, p) * element(b, p, j));
      number_store(fake_types.output, c, (unsigned long long)(j * ldc + i), sum);
    }
  return 0;
}

// The types as cublasGemmEx and cublasLt are told them (library_types.h).
static const int library_types[PLAN_N_TYPES] = {0, 2, 14, 0, 1, 3, 28, 29, 10};

static bool computes(int compute) {
  bool plain = compute == CUBLAS_COMPUTE_32F || compute == CUBLAS_COMPUTE_32F_PEDANTIC;
  if (fake_types.operand == PLAN_TF32) return compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  if (fake_types.sum == PLAN_F16) return compute == CUBLAS_COMPUTE_16F;
  if (fake_types.sum == PLAN_F64) return compute == CUBLAS_COMPUTE_64F;
  if (fake_types.sum == PLAN_S32) return compute == CUBLAS_COMPUTE_32I;
  return plain;
}

static bool is_one(const void *alpha, const void *beta) {
  return number_load(fake_types.sum, alpha, 0) == 1 && number_load(fake_types.sum, beta, 0) == 0;
}

static void spend_row(int row, double factor) {
  fake_spend_ms(factor * (fake_clock_ms < 500 ? cublas_times.cool[row] : cublas_times.hot[row]));
}

static int fake_cublas_version(void *handle, int *version) { return *version = 130100, !handle; }
static int fake_set_stream(void *handle, void *stream) { return !handle || !stream; }
static int fake_set_workspace(void *handle, void *workspace, size_t bytes) {
  return !handle || !workspace || bytes == 0;
}
static int fake_math_mode(void *handle, int mode) { return !handle || mode != 0; }
static int fake_gemm_ex(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                        const void *alpha, const void *a, int a_type, int lda, const void *b,
                        int b_type, int ldb, const void *beta, void *c, int c_type, int ldc,
                        int compute_type, int algo) {
  const int type = library_types[fake_types.operand];
  if (!handle || a_type != type || b_type != type || c_type != library_types[fake_types.output] ||
      algo != -1 || !computes(compute_type) || !is_one(alpha, beta))
    return 7;
  if (lda < (transpose_a ? k : m) || ldb < (transpose_b ? n : k) || ldc < m) return 7;
  spend_row(0, compute_type == CUBLAS_COMPUTE_32F_PEDANTIC ? 9.0 / 8 : 1);
  return multiply(m, n, k, (Operand){a, lda, transpose_a != 0}, (Operand){b, ldb, transpose_b != 0},
                  c, ldc);
}

const CublasApi fake_cublas = {
    .cublasCreate_v2 = fake_create,
    .cublasDestroy_v2 = fake_destroy,
    .cublasGetVersion_v2 = fake_cublas_version,
    .cublasSetStream_v2 = fake_set_stream,
    .cublasSetWorkspace_v2 = fake_set_workspace,
    .cublasSetMathMode = fake_math_mode,
    .cublasGemmEx = fake_gemm_ex,
};

typedef struct Layout {
  int64_t rows, columns, leading;
  int32_t transpose[2];
  bool is_fast;
} Layout;

static int new_layout(void **out, Layout layout) {
  int status = fake_cuda_answer();
  if (status) return 3;
  *out = fake_keep(malloc(sizeof layout));
  memcpy(*out, &layout, sizeof layout);
  return 0;
}
static int fake_description(void **out, int compute, int scale) {
  bool fits = computes(compute) && scale == library_types[fake_types.sum];
  return fits ? new_layout(out, (Layout){0}) : 7;
}
static int fake_description_set(void *description, int attribute, const void *value, size_t bytes) {
  const bool is_float8 = fake_types.operand == PLAN_E4M3 || fake_types.operand == PLAN_E5M2;
  if (attribute == CUBLASLT_DESC_FAST_ACCUM && bytes == 1 && is_float8) {
    ((Layout *)description)->is_fast = *(const int8_t *)value == 1;
    return 0;
  }
  if ((attribute != 3 && attribute != 4) || bytes != 4) return 7;
  memcpy(&((Layout *)description)->transpose[attribute - 3], value, 4);
  return 0;
}
static int fake_layout(void **out, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  bool known =
      type == library_types[fake_types.operand] || type == library_types[fake_types.output];
  if (!known || leading < (int64_t)rows) return 7;
  return new_layout(out, (Layout){(int64_t)rows, (int64_t)columns, leading, {0, 0}, false});
}
static int fake_preference(void **out) { return new_layout(out, (Layout){0}); }
static int fake_preference_set(void *preference, int attribute, const void *value, size_t bytes) {
  return !preference || attribute != 1 || bytes != 8 || !value;
}
static int fake_heuristic(void *handle, void *description, void *a, void *b, void *c, void *d,
                          void *preference, int n, CublasLtHeuristic *results, int *n_results) {
  if (!handle || !description || !a || !b || !c || !d || !preference || n < 3) return 7;
  for (int i = 0; i < 3; i++) results[i].algo.data[0] = (uint64_t)i;
  results[1].state = 15;
  *n_results = 3;
  return fake_cuda_answer() ? 14 : 0;
}
static int fake_matmul(void *handle, void *description, const void *alpha, const void *a,
                       void *a_layout, const void *b, void *b_layout, const void *beta,
                       const void *c, void *c_layout, void *d, void *d_layout,
                       const CublasLtAlgo *algo, void *workspace, size_t workspace_bytes,
                       void *stream) {
  const Layout *operation = description, *la = a_layout, *lb = b_layout, *lc = c_layout;
  if (!handle || !workspace || workspace_bytes == 0 || !stream || c != d || c_layout != d_layout ||
      !is_one(alpha, beta))
    return 7;
  bool ta = operation->transpose[0] != 0, tb = operation->transpose[1] != 0;
  int64_t k = ta ? la->rows : la->columns;
  if (lc->rows != (ta ? la->columns : la->rows) || lc->columns != (tb ? lb->rows : lb->columns) ||
      k != (tb ? lb->columns : lb->rows))
    return 7;
  spend_row(algo->data[0] == 2 ? 2 : 1, operation->is_fast ? 0.5 : 1);
  return multiply(lc->rows, lc->columns, k, (Operand){a, la->leading, ta},
                  (Operand){b, lb->leading, tb}, d, lc->leading);
}

const CublasLtApi fake_cublaslt = {
    .cublasLtCreate = fake_create,
    .cublasLtDestroy = fake_destroy,
    .cublasLtMatmulDescCreate = fake_description,
    .cublasLtMatmulDescDestroy = fake_destroy,
    .cublasLtMatmulDescSetAttribute = fake_description_set,
    .cublasLtMatrixLayoutCreate = fake_layout,
    .cublasLtMatrixLayoutDestroy = fake_destroy,
    .cublasLtMatmulPreferenceCreate = fake_preference,
    .cublasLtMatmulPreferenceDestroy = fake_destroy,
    .cublasLtMatmulPreferenceSetAttribute = fake_preference_set,
    .cublasLtMatmulAlgoGetHeuristic = fake_heuristic,
    .cublasLtMatmul = fake_matmul,
};
