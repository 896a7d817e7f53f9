// The element types of emitted texts on a CPU: their bits, as numbers, and several to a register.
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};
struct e4m3 {
  unsigned char bits;
};
struct e5m2 {
  unsigned char bits;
};

// 2^n of a normal double; ldexp() would take most of a product's time.
static inline double power_of_two(int n) {
  const uint64_t bits = (uint64_t)(n + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

// |x| = fraction · 2^(exponent − fraction bits), where subnormal numbers have the smallest
// exponent.
static inline double decode(unsigned bits, int n_bits, int n_fraction) {
  int bias = (1 << (n_bits - 2 - n_fraction)) - 1;
  int exponent = (int)(bits & ((1u << (n_bits - 1)) - 1)) >> n_fraction;
  int whole = (int)(bits & ((1u << n_fraction) - 1));
  if (exponent == 2 * bias + 1) return NAN;  // there are no infinities in the tests
  double size = exponent ? (whole + (1 << n_fraction)) * power_of_two(exponent - bias - n_fraction)
                         : whole * power_of_two(1 - bias - n_fraction);
  return bits >> (n_bits - 1) & 1 ? -size : size;
}

static inline unsigned encode(double value, int n_bits, int n_fraction) {
  int bias = (1 << (n_bits - 2 - n_fraction)) - 1, exponent = value == 0 ? 1 - bias : ilogb(value);
  unsigned sign = signbit(value) ? 1u << (n_bits - 1) : 0, hidden = 1u << n_fraction;
  if (isnan(value)) return (1u << (n_bits - 1)) - 1;
  if (exponent < 1 - bias) exponent = 1 - bias;
  unsigned whole = (unsigned)nearbyint(fabs(value) * power_of_two(n_fraction - exponent));
  if (whole < hidden) return sign | whole;
  return sign | (((unsigned)(exponent + bias) << n_fraction) + whole - hidden);
}

// Halves are looked up: an atom reads hundreds.
struct HalfTable {
  float value[1 << 16];
  HalfTable() {
    for (unsigned i = 0; i < 1 << 16; i++) value[i] = (float)decode(i, 16, 10);
  }
};
static const HalfTable half_table;

static inline float to_float(f16 x) { return half_table.value[x.bits]; }
// The upper half of a float; there are no infinities in the tests.
static inline float to_float(bf16 x) {
  const unsigned bits = (unsigned)x.bits << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (x.bits & 0x7f80) == 0x7f80 ? NAN : value;
}
static inline float to_float(e4m3 x) { return (float)decode(x.bits, 8, 3); }
static inline float to_float(e5m2 x) { return (float)decode(x.bits, 8, 2); }
static inline float to_float(float x) { return x; }
static inline double to_float(double x) { return x; }
static inline int to_float(signed char x) { return x; }
static inline int to_float(int x) { return x; }

static inline f16 to_f16(double x) { return f16{(unsigned short)encode(x, 16, 10)}; }
static inline bf16 to_bf16(double x) { return bf16{(unsigned short)encode(x, 16, 7)}; }

// A whole number as an element, for the operands of a test.
template <class T>
T from_number(int x) {
  return (T)x;
}
template <>
inline f16 from_number<f16>(int x) {
  return to_f16(x);
}
template <>
inline bf16 from_number<bf16>(int x) {
  return to_bf16(x);
}
template <>
inline e4m3 from_number<e4m3>(int x) {
  return e4m3{(unsigned char)encode(x, 8, 3)};
}
template <>
inline e5m2 from_number<e5m2>(int x) {
  return e5m2{(unsigned char)encode(x, 8, 2)};
}

// ---- several values in a register ---------------------------------------------------------------

template <class T>
T extract(const void *registers, int i) {
  T value;
  memcpy(&value, (const char *)registers + i * (int)sizeof(T), sizeof value);
  return value;
}
template <class T>
void insert(void *registers, int i, T value) {
  memcpy((char *)registers + i * (int)sizeof(T), &value, sizeof value);
}

static inline f16 extract_f16(unsigned from, int i) { return extract<f16>(&from, i); }
static inline bf16 extract_bf16(unsigned from, int i) { return extract<bf16>(&from, i); }
static inline e4m3 extract_e4m3(unsigned from, int i) { return extract<e4m3>(&from, i); }
static inline e5m2 extract_e5m2(unsigned from, int i) { return extract<e5m2>(&from, i); }
static inline signed char extract_s8(unsigned from, int i) {
  return extract<signed char>(&from, i);
}
static inline void insert_f16(unsigned *to, int i, f16 value) { insert(to, i, value); }
static inline void insert_bf16(unsigned *to, int i, bf16 value) { insert(to, i, value); }
static inline void insert_e4m3(unsigned *to, int i, e4m3 value) { insert(to, i, value); }
static inline void insert_e5m2(unsigned *to, int i, e5m2 value) { insert(to, i, value); }
static inline void insert_s8(unsigned *to, int i, signed char value) { insert(to, i, value); }
