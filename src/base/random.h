// Random numbers from a seed that can be printed and typed again: the same on every machine.
#pragma once
#include <stdint.h>

// splitmix64: every seed, 0 included, starts a good sequence of 64-bit numbers.
static inline uint64_t random_next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// A whole number from lo to hi, both included.
static inline int64_t random_between(uint64_t *state, int64_t lo, int64_t hi) {
  return lo + (int64_t)(random_next(state) % (uint64_t)(hi - lo + 1));
}
