// Products of tiles in each way that this machine has, against sums formed here in the order of k;
// elements of every type against the value of their bits; sums that are rounded to f32.
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/module/float_format.h"
#include "ptx/module/multiply.h"
#include "ptx/module/tensor_sum.h"

Suite *suite_multiply(void);

// ---- products -----------------------------------------------------------------------------------

enum { ROWS = 32, COLS = 11, K = 9 };

// Whole numbers, products of which f64 holds, but not all sums of; here and there what is no
// number.
static double number(int i) {
  const uint32_t bits = (uint32_t)i * 2654435761u;
  if (bits % 61 == 0) return bits % 2 ? (double)INFINITY : (double)NAN;
  return ldexp((double)(bits >> 20), (int)(bits % 90) - 45) * (bits & 512 ? 1 : -1);
}

static bool same(double x, double y) { return memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y); }

static void check_products(PtxMultiplyWay way, int rows, bool by_k, bool is_f64) {
  double a[ROWS * K], b[COLS * K], d[COLS * ROWS], wanted[COLS * ROWS];
  for (int i = 0; i < rows * K; i++) a[i] = is_f64 ? number(i) / 3 : number(i);
  for (int i = 0; i < COLS * K; i++) b[i] = is_f64 ? number(-i) / 7 : number(1000 - i);
  for (int i = 0; i < COLS * rows; i++) wanted[i] = d[i] = number(5000 + i);
  const int b_col = by_k ? K : 1, b_k = by_k ? 1 : COLS;
  for (int col = 0; col < COLS; col++)
    for (int row = 0; row < rows; row++)
      for (int k = 0; k < K; k++)
        wanted[col * rows + row] += a[k * rows + row] * b[col * b_col + k * b_k];
  const PtxFactors f = {.rows = rows,
                        .cols = COLS,
                        .k = K,
                        .a = a,
                        .b = b,
                        .b_col = b_col,
                        .b_k = b_k,
                        .is_f64 = is_f64};
  ptx_multiply_by(way, &f, d);
  for (int i = 0; i < COLS * rows; i++)
    ck_assert_msg(same(d[i], wanted[i]), "way %d, %d rows: sum %d is %a, not %a", (int)way, rows, i,
                  d[i], wanted[i]);
}

START_TEST(test_products_are_the_same_in_every_way) {
  for (int way = 0; way <= (int)ptx_multiply_way(); way++)
    for (int by_k = 0; by_k < 2; by_k++) {
      check_products((PtxMultiplyWay)way, ROWS, by_k, false);
      check_products((PtxMultiplyWay)way, 16, by_k, true);
      check_products((PtxMultiplyWay)way, 8, by_k, false);
    }
}
END_TEST

// ---- sums as the tensor core forms them ---------------------------------------------------------

// A number that the type has: by its bits, none of them infinite or a NaN.
static double element(PtxType type, int i) {
  const uint32_t bits = (uint32_t)i * 2654435761u >> 7;
  const PtxFormat *format = ptx_format_of(type);
  const uint64_t kept = bits & ((UINT64_C(1) << format->bits) - 1);
  const uint64_t size = kept & ((UINT64_C(1) << (format->bits - 1)) - 1);
  return ptx_float_value(format, size > format->largest ? kept >> 2 : kept);
}

static void check_sums(const PtxSumRule *rule, PtxType type, int k) {
  enum { DEEPEST = 32 };
  double a[DEEPEST * 16], b[COLS * DEEPEST], d[PTX_MULTIPLY_WAYS][COLS * 16];
  for (int i = 0; i < 16 * k; i++) a[i] = element(type, i);
  for (int i = 0; i < COLS * k; i++) b[i] = element(type, 7777 + i);
  const PtxFactors f = {.rows = 16,
                        .cols = COLS,
                        .k = k,
                        .a = a,
                        .b = b,
                        .b_col = k,
                        .b_k = 1,
                        .rule = rule,
                        .types = {type, type}};
  for (int way = 0; way <= (int)ptx_multiply_way(); way++) {
    for (int i = 0; i < COLS * 16; i++) d[way][i] = (double)(float)number(3 * i) * 0x1p-20;
    ptx_multiply_as((PtxMultiplyWay)way, &f, d[way]);
    for (int i = 0; i < COLS * 16; i++)
      ck_assert_msg(same(d[way][i], d[0][i]), "way %d: sum %d is %a, not %a", way, i, d[way][i],
                    d[0][i]);
  }
}

START_TEST(test_sums_of_tensor_cores_are_the_same_in_every_way) {
  check_sums(ptx_sum_rule(90, false, PTX_F16, PTX_F16, PTX_F32), PTX_F16, 16);
  check_sums(ptx_sum_rule(90, false, PTX_F16, PTX_F16, PTX_F16), PTX_F16, 8);
  check_sums(ptx_sum_rule(90, true, PTX_BF16, PTX_BF16, PTX_F32), PTX_BF16, 16);
  check_sums(ptx_sum_rule(90, false, PTX_TF32, PTX_TF32, PTX_F32), PTX_TF32, 8);
  check_sums(ptx_sum_rule(90, true, PTX_E4M3, PTX_E4M3, PTX_F32), PTX_E4M3, 32);
  check_sums(ptx_sum_rule(90, false, PTX_E5M2, PTX_E5M2, PTX_F32), PTX_E5M2, 32);
}
END_TEST

// What is left of 1 and of a second term that is smaller.
static double left_of(const PtxSumRule *rule, PtxType type, double second) {
  double a[16 * 16] = {0}, b[16] = {0}, d[16] = {0};
  a[0] = 1;
  a[16] = second;
  b[0] = b[1] = 1;
  ptx_multiply_as(PTX_MULTIPLY_PLAIN,
                  &(PtxFactors){.rows = 16,
                                .cols = 1,
                                .k = 16,
                                .a = a,
                                .b = b,
                                .b_col = 16,
                                .b_k = 1,
                                .rule = rule,
                                .types = {type, type}},
                  d);
  return d[0];
}

START_TEST(test_terms_are_cut_off_and_not_rounded) {
  const PtxSumRule *bf16 = ptx_sum_rule(90, true, PTX_BF16, PTX_BF16, PTX_F32),
                   *e5m2 = ptx_sum_rule(90, true, PTX_E5M2, PTX_E5M2, PTX_F32);
  ck_assert(left_of(bf16, PTX_BF16, 0x1p-23) == 1 + 0x1p-23);
  ck_assert(left_of(bf16, PTX_BF16, 0x1.8p-23) == 1 + 0x1p-23);  // the sum is cut off, too
  ck_assert(left_of(bf16, PTX_BF16, -0x1p-25) == 1 - 0x1p-24);   // 1 - 2^-25, cut off below 1
  ck_assert(left_of(bf16, PTX_BF16, -0x1.fcp-26) == 1);          // nothing is left of the term
  ck_assert(left_of(e5m2, PTX_E5M2, 0x1.8p-13) == 1 + 0x1p-13);
  ck_assert(left_of(e5m2, PTX_E5M2, -0x1p-14) == 1);
  ck_assert(ptx_sum_rule(80, false, PTX_F16, PTX_F16, PTX_F32) == NULL);
  ck_assert(ptx_sum_rule(90, false, PTX_S8, PTX_S8, PTX_S32) == NULL);
  ck_assert(ptx_sum_rule(90, false, PTX_F64, PTX_F64, PTX_F64) == NULL);
}
END_TEST

// ---- elements -----------------------------------------------------------------------------------

static const PtxType types[] = {PTX_F16, PTX_BF16, PTX_E4M3, PTX_E5M2, PTX_S8,
                                PTX_U8,  PTX_TF32, PTX_F32,  PTX_S32,  PTX_F64};

// Of up to 16 bits all there are, of the others 65536 all over.
START_TEST(test_elements_of_every_type) {
  enum { N = 65536 };
  const PtxType type = types[_i];
  const int width = ptx_types[type].bits / 8;
  unsigned char *bytes = malloc(N * sizeof(uint64_t));
  double *out = malloc(N * sizeof *out);
  for (int i = 0; i < N; i++) {
    const uint64_t bits = width <= 2 ? (uint64_t)i : (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    memcpy(bytes + (size_t)i * (size_t)width, &bits, (size_t)width);
  }
  for (int way = 0; way <= (int)ptx_multiply_way(); way++)
    for (int n = N - 3; n <= N; n += 3) {
      ptx_elements_by((PtxMultiplyWay)way, type, bytes, n, out);
      for (int i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, bytes + (size_t)i * (size_t)width, (size_t)width);
        const double wanted = ptx_type_value(type, bits);
        ck_assert_msg(same(out[i], wanted), "%s 0x%llx is %a, not %a", ptx_types[type].name,
                      (unsigned long long)bits, out[i], wanted);
      }
    }
  free(bytes);
  free(out);
}
END_TEST

START_TEST(test_sums_are_rounded_once) {
  enum { N = 4099 };
  static double sums[N];
  static uint32_t out[N];
  for (int i = 0; i < N; i++) sums[i] = i % 2 ? number(i) : number(i) * 0x1p-140;
  for (int way = 0; way <= (int)ptx_multiply_way(); way++) {
    ptx_sums_f32_by((PtxMultiplyWay)way, sums, N, out);
    for (int i = 0; i < N; i++)
      ck_assert_uint_eq(out[i], (uint32_t)ptx_float_round(&ptx_formats[PTX_FORMAT_F32], sums[i],
                                                          PTX_ROUND_NEAREST, false));
  }
}
END_TEST

// F16 and bf16: the short ways against the long one, by way of an f32.
START_TEST(test_halves_are_rounded_as_ever) {
  enum { N = 4099 };
  static double sums[N];
  static uint16_t out[N];
  for (int i = 0; i < N; i++) sums[i] = i % 2 ? number(i) : number(i) * 0x1p-20;
  sums[0] = NAN, sums[1] = INFINITY, sums[2] = 65519.99, sums[3] = -65520, sums[4] = 0x1p-25;
  for (int way = 0; way <= (int)ptx_multiply_way(); way++) {
    ptx_sums_f16_by((PtxMultiplyWay)way, sums, N, out);
    for (int i = 0; i < N; i++) {
      const float value = (float)sums[i];
      ck_assert_uint_eq(out[i],
                        (uint32_t)ptx_float_round(&ptx_formats[PTX_FORMAT_F16], (long double)value,
                                                  PTX_ROUND_NEAREST, false));
      ck_assert_uint_eq(ptx_bf16_of(value),
                        (uint32_t)ptx_float_round(&ptx_formats[PTX_FORMAT_BF16], (long double)value,
                                                  PTX_ROUND_NEAREST, false));
    }
  }
}
END_TEST

Suite *suite_multiply(void) {
  Suite *suite = suite_create("multiply");
  TCase *tcase = tcase_create("multiply");
  tcase_add_test(tcase, test_products_are_the_same_in_every_way);
  tcase_add_test(tcase, test_sums_of_tensor_cores_are_the_same_in_every_way);
  tcase_add_test(tcase, test_terms_are_cut_off_and_not_rounded);
  tcase_add_loop_test(tcase, test_elements_of_every_type, 0, (int)(sizeof types / sizeof *types));
  tcase_add_test(tcase, test_sums_are_rounded_once);
  tcase_add_test(tcase, test_halves_are_rounded_as_ever);
  suite_add_tcase(suite, tcase);
  return suite;
}
