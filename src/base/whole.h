// Whole-number arithmetic that sizes, tiles and alignments are made of, and whole numbers in bytes
// of files. Nothing here overflows for what it is used on: extents and byte counts far below 2^62.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// For qsort: numbers from the least on.
static inline int by_double(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int min_int(int a, int b) { return a < b ? a : b; }
static inline int max_int(int a, int b) { return a > b ? a : b; }

// Into 0 … n - 1; 0 where n is 0.
static inline int64_t clamp_index(int64_t value, int64_t n) {
  return max64(0, min64(value, n - 1));
}

// The units of `unit` > 0 that hold `value` >= 0: 33 in units of 32 are 2.
static inline int64_t ceil_div(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }
// The least multiple of `unit` that is not below `value`: 33 in units of 32 is 64.
static inline int64_t round_up(int64_t value, int64_t unit) { return ceil_div(value, unit) * unit; }

// The step that takes at most `most` of `n`: 1 takes all of them. A larger step is odd, because an
// even one would meet the same places of a power of two again and again. 9 of 40: every fifth.
static inline int64_t sample_step(int64_t n, int64_t most) {
  return n > most ? ceil_div(n, most) | 1 : 1;
}

// The largest number that divides both, 0 of two zeros: 4 of 8 and -12.
static inline int64_t common_divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}
// The least number above 0 that both divide: 24 for 8 and 12.
static inline int64_t common_multiple(int64_t a, int64_t b) { return a / common_divisor(a, b) * b; }

static inline bool is_power_of_two(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}
// The least n with 2^n >= value: 0 for 1, 5 for 32, 6 for 33.
static inline int log2_up(int64_t value) {
  int bits = 0;
  while ((int64_t)1 << bits < value) bits++;
  return bits;
}

// Numbers on any address, lowest byte first.
static inline uint16_t short_at(const unsigned char *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return value;
}
static inline uint32_t word_at(const unsigned char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}
static inline uint64_t long_at(const unsigned char *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}
