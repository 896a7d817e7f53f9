// Rounding and bits of every element type, against what the formats say of themselves.
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "model/words/formats.h"

Suite *suite_number(void);

static const DType narrow[] = {DTYPE_F16, DTYPE_BF16, DTYPE_E4M3, DTYPE_E5M2, DTYPE_S8};
enum { N_NARROW = sizeof narrow / sizeof narrow[0] };

static double read_bits(DType type, uint32_t bits) { return number_read(type, &bits); }

static uint32_t write_bits(DType type, double value) {
  uint32_t bits = 0;
  number_write(type, &bits, value);
  return bits;
}

// Every pattern of bits is a number that is written as the same pattern, infinities of e5m2 (which
// cvt never makes) and NaNs aside.
START_TEST(every_number_survives) {
  DType type = narrow[_i];
  uint32_t n = 1u << 8 * dtype_bytes(type), numbers = 0;
  for (uint32_t bits = 0; bits < n; bits++) {
    double value = read_bits(type, bits);
    if (isnan(value)) {
      ck_assert(type == DTYPE_S8 || isnan(read_bits(type, write_bits(type, value))));
      continue;
    }
    if (isinf(value) && type == DTYPE_E5M2) continue;
    bool same = isinf(value) || fabs(number_round(type, value) - value) <= 0;
    if (!same || write_bits(type, value) != bits) ck_abort_msg("%s %x", dtype_name(type), bits);
    numbers++;
  }
  ck_assert_int_ge(numbers, type == DTYPE_E4M3 ? 254 : n - n / 16);
}
END_TEST

// e2m1: exponent bias 1, one fraction bit, no infinity and no NaN (OCP Microscaling Formats 1.0).
START_TEST(bytes_of_two_are_codes) {
  static const double positive[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint32_t code = 0; code < 256; code++) {
    ck_assert_double_eq(read_bits(DTYPE_MXF4, code), code);
    ck_assert_uint_eq(write_bits(DTYPE_NVFP4, code), code);
    for (int i = 0; i < 2; i++) {
      const uint32_t half = code >> 4 * i & 15;
      const double want = half < 8 ? positive[half] : -positive[half & 7];
      ck_assert_double_eq(number_element(DTYPE_MXF4, code, i), want);
    }
  }
  ck_assert_double_eq(number_product(DTYPE_MXF4, 0x1c, 0x73), -2 * 1.5 + 0.5 * 6);
  ck_assert_double_eq(number_product(DTYPE_MXF8, 3, -5), -15);
}
END_TEST

// Factors have no sign: ue8m0 is a power of two, its NaN 0xff; ue4m3 the half of e4m3 from 0 on.
START_TEST(factors_are_positive) {
  for (uint32_t bits = 0; bits < 255; bits++) {
    ck_assert_double_eq(read_bits(DTYPE_UE8M0, bits), ldexp(1, (int)bits - 127));
    ck_assert_uint_eq(write_bits(DTYPE_UE8M0, ldexp(1, (int)bits - 127)), bits);
  }
  ck_assert(isnan(read_bits(DTYPE_UE8M0, 255)));
  ck_assert_uint_eq(write_bits(DTYPE_UE8M0, NAN), 255);
  ck_assert_double_eq(number_round(DTYPE_UE8M0, 3.1), 4);
  ck_assert_double_eq(number_round(DTYPE_UE8M0, 2.9), 2);
  ck_assert_double_eq(number_round(DTYPE_UE8M0, 0), 0x1p-127);
  ck_assert_double_eq(number_round(DTYPE_UE8M0, 1e300), 0x1p127);
  for (uint32_t bits = 0; bits < 127; bits++) {
    ck_assert_double_eq(read_bits(DTYPE_UE4M3, bits), read_bits(DTYPE_E4M3, bits));
    ck_assert_uint_eq(write_bits(DTYPE_UE4M3, read_bits(DTYPE_E4M3, bits)), bits);
  }
  ck_assert_double_eq(number_round(DTYPE_UE4M3, -1), 0);
}
END_TEST

static bool rounds_to(DType type, double from, double to) {
  return fabs(number_round(type, from) - to) <= 0 && fabs(number_round(type, -from) + to) <= 0;
}

// Between each two neighbours: below the middle goes down, above it goes up, the middle to the one
// whose last bit is 0.
START_TEST(rounding_is_to_nearest_even) {
  DType type = narrow[_i];
  uint32_t most = type == DTYPE_E4M3 ? 0x7e : type == DTYPE_S8 ? 0x7f : 0x7fff;
  if (type == DTYPE_E5M2) most = 0x7b;
  for (uint32_t bits = 0; bits < most; bits++) {
    double low = read_bits(type, bits), high = read_bits(type, bits + 1);
    if (isinf(high)) break;
    double middle = low + (high - low) / 2, even = bits % 2 ? high : low;
    bool right = rounds_to(type, middle, even) && rounds_to(type, nextafter(middle, low), low) &&
                 rounds_to(type, nextafter(middle, high), high);
    if (!right) ck_abort_msg("%s %x", dtype_name(type), bits);
  }
}
END_TEST

START_TEST(known_numbers) {
  ck_assert_int_eq(write_bits(DTYPE_F16, 1), 0x3c00);
  ck_assert_int_eq(write_bits(DTYPE_F16, -2), 0xc000);
  ck_assert_int_eq(write_bits(DTYPE_F16, 65504), 0x7bff);
  ck_assert_int_eq(write_bits(DTYPE_F16, 65519), 0x7bff);
  ck_assert_int_eq(write_bits(DTYPE_F16, 65520), 0x7c00);
  ck_assert_int_eq(write_bits(DTYPE_F16, 0x1p-24), 1);
  ck_assert_int_eq(write_bits(DTYPE_F16, 0x1p-25), 0);  // a tie, to even
  ck_assert_int_eq(write_bits(DTYPE_F16, 0x1.8p-25), 1);
  ck_assert_int_eq(write_bits(DTYPE_F16, -0.0), 0x8000);
  ck_assert_int_eq(write_bits(DTYPE_BF16, 1), 0x3f80);
  ck_assert_int_eq(write_bits(DTYPE_BF16, 3.0e38), 0x7f62);
  ck_assert_int_eq(write_bits(DTYPE_E4M3, 448), 0x7e);
  ck_assert_int_eq(write_bits(DTYPE_E4M3, 1.0e9), 0x7e);
  ck_assert_int_eq(write_bits(DTYPE_E4M3, 1), 0x38);
  ck_assert_int_eq(write_bits(DTYPE_E5M2, 57344), 0x7b);
  ck_assert_int_eq(write_bits(DTYPE_E5M2, (double)INFINITY), 0x7b);
  ck_assert_int_eq(write_bits(DTYPE_S8, 127.5), 0x7f);
  ck_assert_int_eq(write_bits(DTYPE_S8, -200), 0x80);
  ck_assert_int_eq(write_bits(DTYPE_S8, (double)NAN), 0);
  ck_assert_int_eq(write_bits(DTYPE_S32, -3e9), 0x80000000);
  ck_assert_int_eq(write_bits(DTYPE_F32, 1), 0x3f800000);
  ck_assert_double_eq(number_round(DTYPE_F32, 16777217), 16777216);
  ck_assert(isnan(number_round(DTYPE_F16, (double)NAN)));
  ck_assert(isnan(read_bits(DTYPE_E4M3, 0x7f)) && isnan(read_bits(DTYPE_E4M3, 0xff)));
}
END_TEST

// The compiler's own halves, where it has them.
START_TEST(the_compiler_agrees_on_f16) {
#ifdef __FLT16_MAX__
  uint64_t state = 5;
  for (int i = 0; i < 200000; i++) {
    uint64_t r = random_next(&state);
    double value = ldexp((double)(int64_t)r, (int)(r % 50) - 90);
    _Float16 half = (_Float16)(float)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    if (write_bits(DTYPE_F16, (double)(float)value) != bits) ck_abort_msg("%a", value);
  }
#endif
}
END_TEST

START_TEST(whole_numbers_up_to_the_limit_are_exact) {
  static const DType types[] = {DTYPE_F32, DTYPE_F16,  DTYPE_BF16, DTYPE_TF32, DTYPE_F64,
                                DTYPE_S8,  DTYPE_E4M3, DTYPE_E5M2, DTYPE_S32};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    double limit = number_exact_limit(types[i]);
    for (double x = 0; x <= limit; x += limit > 4096 ? limit / 4096 : 1) {
      double whole = number_tensor(types[i], floor(x));
      if (!rounds_to(types[i], whole, floor(x))) ck_abort_msg("%s %g", dtype_name(types[i]), x);
    }
    bool tight = fabs(number_tensor(types[i], number_round(types[i], limit + 1)) - limit - 1) > 0;
    ck_assert_msg(tight, "%s", dtype_name(types[i]));
  }
}
END_TEST

Suite *suite_number(void) {
  Suite *suite = suite_create("number");
  TCase *tc = tcase_create("number");
  tcase_add_loop_test(tc, every_number_survives, 0, N_NARROW);
  tcase_add_test(tc, bytes_of_two_are_codes);
  tcase_add_test(tc, factors_are_positive);
  tcase_add_loop_test(tc, rounding_is_to_nearest_even, 0, N_NARROW);
  tcase_add_test(tc, known_numbers);
  tcase_add_test(tc, the_compiler_agrees_on_f16);
  tcase_add_test(tc, whole_numbers_up_to_the_limit_are_exact);
  suite_add_tcase(suite, tc);
  return suite;
}
