// Block-scaled types and mma.sync on a CPU: elements of 8 bits, or two of 4 in a byte, and factors
// that the lanes of a warp supply; see cuda_on_cpu.h.
#pragma once
#include "cuda_on_cpu_types.h"
#include "cuda_on_cpu_warp.h"

// ---- types --------------------------------------------------------------------------------------

#define BYTE_TYPE(T)                                                                 \
  struct T {                                                                         \
    unsigned char bits;                                                              \
  };                                                                                 \
  static inline T extract_##T(unsigned from, int i) { return extract<T>(&from, i); } \
  static inline void insert_##T(unsigned *to, int i, T value) { insert(to, i, value); }
BYTE_TYPE(mxf8)
BYTE_TYPE(mxf8e5m2)
BYTE_TYPE(mxf4)
BYTE_TYPE(nvfp4)
BYTE_TYPE(ue8m0)
BYTE_TYPE(ue4m3)

static inline float to_float(mxf8 x) { return (float)decode(x.bits, 8, 3); }
static inline float to_float(mxf8e5m2 x) { return (float)decode(x.bits, 8, 2); }
static inline float to_float(ue8m0 x) { return (float)power_of_two(x.bits - 127); }
static inline float to_float(ue4m3 x) { return (float)decode(x.bits, 8, 3); }

// What a type is made of: elements in a byte, how one is read, elements that share a factor.
static double e2m1(unsigned code) {
  static const double size[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -size[code & 7] : size[code & 7];
}
template <class T>
struct Scaled {
  typedef ue8m0 Factor;
  enum { each = 1, block = 32 };
  static double element(T byte, int) { return (double)to_float(byte); }
};
template <>
struct Scaled<mxf4> {
  typedef ue8m0 Factor;
  enum { each = 2, block = 32 };
  static double element(mxf4 byte, int i) { return e2m1(byte.bits >> 4 * i & 15u); }
};
template <>
struct Scaled<nvfp4> {
  typedef ue4m3 Factor;
  enum { each = 2, block = 16 };
  static double element(nvfp4 byte, int i) { return e2m1(byte.bits >> 4 * i & 15u); }
};

template <class T>
float dot(T a, T b) {
  return (float)(Scaled<T>::element(a, 0) * Scaled<T>::element(b, 0) +
                 Scaled<T>::element(a, 1) * Scaled<T>::element(b, 1));
}

// ---- mma ----------------------------------------------------------------------------------------

// The factors of a lane: its registers, and from which byte on.
struct ScaleRegisters {
  unsigned value[2];
  int byte[2];
};

// PTX ISA, Block Scaling for mma.sync, with thread-id 0: row r of A has its factors in lane 4 * (r
// % 8) + r / 8, column c of B in lane 4 * c, in bytes from byte-id on.
template <class T>
void run_scaled_mma(WarpOp *lanes) {
  typedef typename Scaled<T>::Factor Factor;
  enum { BYTES = 32, SCALES = BYTES * Scaled<T>::each / Scaled<T>::block };
  T a[16][BYTES], b[BYTES][8];
  const ScaleRegisters *scale[32];
  for (int lane = 0; lane < 32; lane++) {
    const int g = lane / 4, t = lane % 4;
    scale[lane] = (const ScaleRegisters *)lanes[lane].more;
    for (int i = 0; i < 16; i++)
      a[g + 8 * (i / 4 % 2)][4 * t + i % 4 + 16 * (i / 8)] = extract<T>(lanes[lane].from[0], i);
    for (int i = 0; i < 8; i++)
      b[4 * t + i % 4 + 16 * (i / 4)][g] = extract<T>(lanes[lane].from[1], i);
  }
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < 4; i++) {
      const int row = lane / 4 + 8 * (i / 2), col = lane % 4 * 2 + i % 2;
      const ScaleRegisters *of_a = scale[row % 8 * 4 + row / 8], *of_b = scale[4 * col];
      double sum = (double)extract<float>(lanes[lane].to, i);
      for (int s = 0; s < SCALES; s++) {
        const Factor fa = extract<Factor>(&of_a->value[0], of_a->byte[0] + s);
        const Factor fb = extract<Factor>(&of_b->value[1], of_b->byte[1] + s);
        for (int k = s * BYTES / SCALES; k < (s + 1) * BYTES / SCALES; k++)
          for (int e = 0; e < Scaled<T>::each; e++)
            sum += Scaled<T>::element(a[row][k], e) * Scaled<T>::element(b[k][col], e) *
                   (double)to_float(fa) * (double)to_float(fb);
      }
      insert(lanes[lane].to, i, (float)sum);
    }
}

#define SCALED_MMA(K, T)                                                                   \
  static void mma_m16n8k##K##_f32_##T(void *c, const void *a, const void *b, unsigned sfa, \
                                      int byte_a, unsigned sfb, int byte_b) {              \
    const ScaleRegisters scale = {{sfa, sfb}, {byte_a, byte_b}};                           \
    do_together(WarpOp{run_scaled_mma<T>, c, {a, b}, 0, &scale});                          \
  }
SCALED_MMA(32, mxf8)
SCALED_MMA(32, mxf8e5m2)
SCALED_MMA(64, mxf4)
SCALED_MMA(64, nvfp4)

// ---- operands and verdict -----------------------------------------------------------------------

// Numbers of few bits: elements of e4m3 and e5m2 from 1 to 7.5 with a sign, any two of e2m1,
// factors from 1/2 to 2, all in the steps that their type has there. Sums are exact in f32.
template <class T>
void fill_bytes(T *x, long long n, uint32_t seed, unsigned least, unsigned count, unsigned sign) {
  for (long long i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i].bits =
        (unsigned char)(least + (seed >> 16) % count) | (unsigned char)(seed >> 31 ? sign : 0);
  }
}
static void fill_elements(mxf8 *x, long long n, uint32_t seed) {
  fill_bytes(x, n, seed, 0x38, 24, 0x80);
}
static void fill_elements(mxf8e5m2 *x, long long n, uint32_t seed) {
  fill_bytes(x, n, seed, 0x3c, 12, 0x80);
}
static void fill_elements(mxf4 *x, long long n, uint32_t seed) {
  fill_bytes(x, n, seed, 0, 256, 0);
}
static void fill_elements(nvfp4 *x, long long n, uint32_t seed) {
  fill_bytes(x, n, seed, 0, 256, 0);
}
static void fill_factors(ue8m0 *x, long long n, uint32_t seed) {
  fill_bytes(x, n, seed, 126, 3, 0);
}
static void fill_factors(ue4m3 *x, long long n, uint32_t seed) {
  fill_bytes(x, n, seed, 0x30, 17, 0);
}
