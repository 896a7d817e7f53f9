// Five kernels as Triton writes them for sm_90, with wgmma and cp.async, run to the end: their
// results against sums formed here. Whole numbers stay exact; the others have the errors of f16 or
// of ex2.approx.
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "open_case.h"
#include "ptx/module/float_format.h"

Suite *suite_open_triton(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

typedef struct Run {
  PtxMachine *machine;
  int n_params;
} Run;

static Run load_text(const char *ptx, const char *name, int grid_x, int grid_y, int smem) {
  Diags diags = diags_new(arena);
  PtxModule *module = ptx_module_read(arena, ptx, strlen(ptx), name, &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const PtxLaunch launch = {
      .grid = {grid_x, grid_y, 1}, .block = {128, 1, 1}, .dynamic_smem = smem, .budget = 0};
  const PtxFunction *kernel = ptx_module_kernel(module, NULL, &diags);
  return (Run){ptx_machine_new(arena, module, kernel, &launch, &diags), 0};
}

static Run load(const char *name, int grid_x, int grid_y, int smem) {
  return load_text(open_case_text(arena, arena_printf(arena, "triton_%s.ptx", name)), name, grid_x,
                   grid_y, smem);
}

static uint64_t give(Run *run, const void *bytes, int64_t n) {
  const uint64_t at = ptx_machine_buffer(run->machine, "b", n, bytes,
                                         bytes ? PTX_CONTENT_GIVEN : PTX_CONTENT_UNWRITTEN);
  ptx_machine_param(run->machine, run->n_params++, &at, sizeof at);
  return at;
}
static void give_word(Run *run, const void *word) {
  ptx_machine_param(run->machine, run->n_params++, word, 4);
}

static void run_grid(const Run *run, int grid_x, int grid_y) {
  for (int y = 0; y < grid_y; y++)
    for (int x = 0; x < grid_x; x++)
      ck_assert_int_eq(ptx_machine_run(run->machine, x, y, 0), PTX_DONE);
  ck_assert_msg(ptx_machine_findings(run->machine) == 0, "%s",
                ptx_finding_names[ptx_machine_finding(run->machine, 0)->kind]);
}

// ---- products -----------------------------------------------------------------------------------

enum { M = 128, N = 128, K = 128 };

static const struct {
  const char *name;
  PtxFormatId format;
  int bytes, smem;
} products[] = {{"matmul", PTX_FORMAT_F16, 2, 24576}, {"fp8", PTX_FORMAT_E4M3, 1, 16384}};

static int element_a(int row, int k) { return (row * K + k) * 7 % 5 - 2; }
static int element_b(int k, int col) { return (k * N + col) * 5 % 7 - 3; }

START_TEST(test_products_are_exact) {
  const PtxFormat *format = &ptx_formats[products[_i].format];
  const int bytes = products[_i].bytes;
  unsigned char a[M * K * 2], b[K * N * 2];
  for (int i = 0; i < M * K; i++) {
    const uint64_t x = ptx_float_round(format, element_a(i / K, i % K), PTX_ROUND_NEAREST, false);
    const uint64_t y = ptx_float_round(format, element_b(i / N, i % N), PTX_ROUND_NEAREST, false);
    memcpy(a + i * bytes, &x, (size_t)bytes);
    memcpy(b + i * bytes, &y, (size_t)bytes);
  }
  Run run = load(products[_i].name, M / 64, N / 64, products[_i].smem);
  give(&run, a, M * K * bytes);
  give(&run, b, K * N * bytes);
  const uint64_t c = give(&run, NULL, M * N * 2);
  give_word(&run, &(int){M});
  give_word(&run, &(int){N});
  give_word(&run, &(int){K});
  run_grid(&run, M / 64, N / 64);
  const uint16_t *out = ptx_machine_bytes(run.machine, c, M * N * 2);
  for (int row = 0; row < M; row++)
    for (int col = 0; col < N; col++) {
      int sum = 0;
      for (int k = 0; k < K; k++) sum += element_a(row, k) * element_b(k, col);
      ck_assert_int_eq((int)ptx_f16_value(out[row * N + col]), sum);
    }
}
END_TEST

// ---- attention ----------------------------------------------------------------------------------

enum { ROWS = 128, DEPTH = 64 };

static double attention(float q[][DEPTH], float k[][DEPTH], float v[][DEPTH], float scale, int row,
                        int d) {
  double weight[ROWS], most = -INFINITY, sum = 0, out = 0;
  for (int j = 0; j < ROWS; j++) {
    weight[j] = 0;
    for (int e = 0; e < DEPTH; e++) weight[j] += (double)q[row][e] * (double)k[j][e];
    weight[j] *= (double)scale;
    most = fmax(most, weight[j]);
  }
  for (int j = 0; j < ROWS; j++) sum += weight[j] = exp2(weight[j] - most);
  for (int j = 0; j < ROWS; j++) out += weight[j] / sum * (double)v[j][d];
  return out;
}

START_TEST(test_attention) {
  static const int step[3] = {7, 5, 3}, cycle[3] = {13, 11, 17};
  float number[3][ROWS][DEPTH];
  uint16_t bits[3][ROWS * DEPTH];
  for (int t = 0; t < 3; t++)
    for (int i = 0; i < ROWS * DEPTH; i++) {
      const float value = (float)(i * step[t] % cycle[t] - cycle[t] / 2) / 8.0F;
      number[t][i / DEPTH][i % DEPTH] = value;
      bits[t][i] = ptx_f16_of(value);
    }
  Run run = load("attention", ROWS / 64, 1, 57344);
  for (int t = 0; t < 3; t++) give(&run, bits[t], sizeof bits[t]);
  const uint64_t o = give(&run, NULL, sizeof bits[0]);
  give_word(&run, &(int){ROWS});
  const float scale = 0.18F;
  give_word(&run, &scale);
  run_grid(&run, ROWS / 64, 1);
  const uint16_t *out = ptx_machine_bytes(run.machine, o, sizeof bits[0]);
  for (int row = 0; row < ROWS; row += 3)
    for (int d = 0; d < DEPTH; d++)
      ck_assert_double_eq_tol((double)ptx_f16_value(out[row * DEPTH + d]),
                              attention(number[0], number[1], number[2], scale, row, d), 2e-3);
}
END_TEST

// ---- rows ---------------------------------------------------------------------------------------

enum { LENGTH = 784, LINES = 3 };

static void softmax(const float *x, double *y) {
  float most = -INFINITY;
  double sum = 0;
  for (int i = 0; i < LENGTH; i++) most = fmaxf(most, x[i]);
  for (int i = 0; i < LENGTH; i++) sum += y[i] = exp((double)(x[i] - most));
  for (int i = 0; i < LENGTH; i++) y[i] /= sum;
}

static void layernorm(const float *x, double *y) {
  double mean = 0, square = 0;
  for (int i = 0; i < LENGTH; i++) mean += (double)x[i] / LENGTH;
  for (int i = 0; i < LENGTH; i++) square += pow((double)x[i] - mean, 2) / LENGTH;
  for (int i = 0; i < LENGTH; i++)
    y[i] = ((double)x[i] - mean) / sqrt(square + 1e-5) * (i % 5) + i % 3;
}

START_TEST(test_rows) {
  const bool is_norm = _i == 1;
  float x[LINES * LENGTH], weight[LENGTH], bias[LENGTH];
  for (int i = 0; i < LINES * LENGTH; i++) x[i] = (float)(i * 37 % 101) / 10.0F;
  for (int i = 0; i < LENGTH; i++) {
    weight[i] = (float)(i % 5);
    bias[i] = (float)(i % 3);
  }
  Run run = load(is_norm ? "layernorm" : "softmax", LINES, 1, 16);
  give(&run, x, sizeof x);
  const uint64_t y = give(&run, NULL, sizeof x);
  if (is_norm) {
    give(&run, weight, sizeof weight);
    give(&run, bias, sizeof bias);
  }
  give_word(&run, &(int){LENGTH});
  const float epsilon = 1e-5F;
  if (is_norm) give_word(&run, &epsilon);
  run_grid(&run, LINES, 1);
  const float *out = ptx_machine_bytes(run.machine, y, sizeof x);
  for (int line = 0; line < LINES * LENGTH; line += LENGTH) {
    double want[LENGTH];
    (is_norm ? layernorm : softmax)(x + line, want);
    for (int i = 0; i < LENGTH; i++)
      ck_assert_double_eq_tol((double)out[line + i], want[i], 1e-6 + 1e-5 * fabs(want[i]));
  }
}
END_TEST

// ---- a wait or a fence taken away ---------------------------------------------------------------

static const struct {
  const char *instruction;
  PtxFindingKind kind;
} waits[] = {{"wgmma.wait_group", PTX_FINDING_MISSING_WAIT},
             {"cp.async.wait_group", PTX_FINDING_MISSING_WAIT},
             {"bar.sync", PTX_FINDING_RACE},
             {"wgmma.fence", PTX_FINDING_MISSING_FENCE},
             {"fence.proxy.async", PTX_FINDING_MISSING_FENCE}};

// All of one sort, as a kernel that forgot them has it.
START_TEST(test_a_missing_wait_is_found) {
  char *text = arena_strdup(arena, open_case_text(arena, "triton_matmul.ptx"));
  const char *what = waits[_i].instruction;
  for (char *at = strstr(text, what); at; at = strstr(at, what)) memset(at, ' ', strcspn(at, ";"));
  Run run = load_text(text, "matmul", 1, 1, 24576);
  unsigned char zeros[64 * K * 2] = {0};
  give(&run, zeros, sizeof zeros);
  give(&run, zeros, sizeof zeros);
  give(&run, NULL, 64 * 64 * 2);
  give_word(&run, &(int){64});
  give_word(&run, &(int){64});
  give_word(&run, &(int){K});
  ptx_machine_run(run.machine, 0, 0, 0);
  bool found = false;
  for (int i = 0; i < ptx_machine_findings(run.machine); i++) {
    const PtxFinding *f = ptx_machine_finding(run.machine, i);
    found |= f->kind == waits[_i].kind && f->other_pc >= 0;
  }
  ck_assert_msg(found, "%s", what);
}
END_TEST

Suite *suite_open_triton(void) {
  Suite *suite = suite_create("open_triton");
  TCase *tcase = tcase_create("triton");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_products_are_exact, 0, 2);
  tcase_add_test(tcase, test_attention);
  tcase_add_loop_test(tcase, test_rows, 0, 2);
  tcase_add_loop_test(tcase, test_a_missing_wait_is_found, 0, sizeof waits / sizeof waits[0]);
  suite_add_tcase(suite, tcase);
  return suite;
}
