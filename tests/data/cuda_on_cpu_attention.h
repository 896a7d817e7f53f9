// Attention on a CPU: what lanes of a row do together, inputs whose weights are exact, and the
// answer; see cuda_on_cpu.h.
#pragma once
#include "cuda_on_cpu_tma.h"
#include "cuda_on_cpu_warp.h"

static float __int_as_float(unsigned bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static float exp2_of(float x) { return exp2f(x); }
static float ready(float x) { return x; }
// In the steps of the text; they come to what `/` does.
static float divided(float a, float b) {
  float r = 1 / b;
  r = fmaf(r, fmaf(-b, r, 1), r);
  const float q = a * r;
  return fmaf(r, fmaf(-b, q, a), q);
}
static unsigned round_f16x2(float low, float high) {
  return to_f16(low).bits | (unsigned)to_f16(high).bits << 16;
}
static unsigned round_bf16x2(float low, float high) {
  return to_bf16(low).bits | (unsigned)to_bf16(high).bits << 16;
}

// Lanes exchange what they have with those whose numbers differ in one bit of the mask.
template <class Combine>
void over_lanes(WarpOp *lanes, Combine combine) {
  for (int bit = 1; bit < 32; bit *= 2) {
    float before[32];
    if (!(lanes[0].mask & bit)) continue;
    for (int lane = 0; lane < 32; lane++) before[lane] = *(float *)lanes[lane].to;
    for (int lane = 0; lane < 32; lane++)
      *(float *)lanes[lane].to = combine(before[lane], before[lane ^ bit]);
  }
}
static void run_lanes_max(WarpOp *lanes) {
  over_lanes(lanes, [](float a, float b) { return fmaxf(a, b); });
}
static void run_lanes_sum(WarpOp *lanes) {
  over_lanes(lanes, [](float a, float b) { return a + b; });
}
static float lanes_max(float x, int bits) {
  do_together(WarpOp{run_lanes_max, &x, {nullptr, nullptr}, bits});
  return x;
}
static float lanes_sum(float x, int bits) {
  do_together(WarpOp{run_lanes_sum, &x, {nullptr, nullptr}, bits});
  return x;
}

static void round_to(float *to, float x) { *to = x; }
static void round_to(f16 *to, float x) { *to = to_f16(x); }
static void round_to(bf16 *to, float x) { *to = to_bf16(x); }

struct Heads {
  int heads, queries, keys, dim;
  bool causal;
};

static unsigned drawn(unsigned *state, unsigned n) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % n;
}

// Two numbers of ±1 in each row of Q; rows of K of ±1 and zeros, of which there are fewer the later
// the key, so that the largest score of a row grows on the way.
template <class T>
void fill_attention(const Heads *h, T *Q, T *K, T *V) {
  unsigned state = 7;
  for (long long i = 0; i < (long long)h->heads * h->queries * h->dim; i++)
    Q[i] = from_number<T>(0);
  for (int row = 0; row < h->heads * h->queries; row++)
    for (int i = 0; i < 2; i++) {
      int e = i ? (int)drawn(&state, h->dim) : row % h->dim;
      Q[(long long)row * h->dim + e] = from_number<T>(drawn(&state, 2) ? 1 : -1);
    }
  for (long long i = 0; i < (long long)h->heads * h->keys * h->dim; i++) {
    int key = i / h->dim % h->keys, sign = drawn(&state, 2) ? 1 : -1;
    K[i] = from_number<T>((int)drawn(&state, h->keys) <= key ? sign : 0);
    V[i] = from_number<T>((int)drawn(&state, 9) - 4);
  }
}

// alpha is 2: weights are powers of two from 2^-8 on, their sums exact, and one division rounds.
template <class In, class Out>
void check_attention(const Heads *h, const In *Q, const In *K, const In *V, const Out *O) {
  double *weight = (double *)calloc(h->keys, sizeof *weight);
  for (int row = 0; row < h->heads * h->queries; row++) {
    const long long head = row / h->queries;
    int n = h->causal ? row % h->queries + h->keys - h->queries + 1 : h->keys;
    double most = -INFINITY, sum = 0;
    for (int t = 0; t < n; t++) {
      weight[t] = 0;
      for (int e = 0; e < h->dim; e++)
        weight[t] += (double)to_float(Q[(long long)row * h->dim + e]) *
                     (double)to_float(K[(head * h->keys + t) * h->dim + e]);
      most = fmax(most, weight[t]);
    }
    for (int t = 0; t < n; t++) sum += weight[t] = exp2(2 * (weight[t] - most));
    for (int d = 0; d < h->dim; d++) {
      double out = 0;
      for (int t = 0; t < n; t++)
        out += weight[t] * (double)to_float(V[(head * h->keys + t) * h->dim + d]);
      Out expected, got = O[(long long)row * h->dim + d];
      round_to(&expected, (float)(out / sum));
      if (to_float(got) == to_float(expected)) continue;
      printf("%s: O[%d, %d] = %g, expected %g\n", case_name, row, d, (double)to_float(got),
             (double)to_float(expected));
      exit(1);
    }
  }
  free(weight);
}
