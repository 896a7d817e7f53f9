// What the 32 threads of a warp do together: ldmatrix, stmatrix, mma; see cuda_on_cpu.h.
#pragma once
#include "cuda_on_cpu_fiber.h"

// ---- what a warp does together ------------------------------------------------------------------

static void do_together(WarpOp op) {
  warp_ops[running - fibers] = op;
  give_up_control(AT_WARP);
}

// PTX ISA, ldmatrix: lane l gives the address of row l % 8 of matrix l / 8. Register r of a lane
// gets word l % 4 of row l / 4 of matrix r; transposed, halves l / 4 of rows 2 · (l % 4) and the
// next.
template <int n, bool trans>
void run_ldmatrix(WarpOp *lanes) {
  for (int lane = 0; lane < 32; lane++)
    for (int r = 0; r < n; r++)
      for (int half = 0; half < 2; half++) {
        int row = trans ? lane % 4 * 2 + half : lane / 4;
        int col = trans ? lane / 4 : lane % 4 * 2 + half;
        const void *from = lanes[r * 8 + row].from[0];
        aligned(from, 16);
        insert((char *)lanes[lane].to + 4 * r, half, extract<f16>(from, col));
      }
}

// One arrival for 32 lanes.
static void run_arrive(WarpOp *lanes) {
  Mbarrier *bar = (Mbarrier *)lanes[0].to;
  bar->pending--;
  end_phase(bar);
}
static void mbarrier_arrive(unsigned long long *bars, int i) {
  do_together(WarpOp{run_arrive, mbarrier(bars, i), {nullptr, nullptr}});
}

// One at the mbarrier of each block in the mask.
static void run_arrive_at(WarpOp *lanes) {
  for (int rank = 0; lanes[0].mask >> rank; rank++) {
    Mbarrier *bar = (Mbarrier *)in_block(rank, lanes[0].to);
    if (!(lanes[0].mask >> rank & 1)) continue;
    bar->pending--;
    end_phase(bar);
  }
}
static void mbarrier_arrive_at(unsigned long long *bars, int i, int mask) {
  do_together(WarpOp{run_arrive_at, mbarrier(bars, i), {nullptr, nullptr}, mask});
}

static void put_value(f16 *to, const float *from, int i) { *to = to_f16(from[i]); }
static void put_value(bf16 *to, const float *from, int i) { *to = to_bf16(from[i]); }
template <class T>
void put_value(T *to, const unsigned *from, int i) {
  *to = extract<T>(from, i);
}

// The way back; what is stored is rounded to the slab's type.
template <int n, bool trans, class T, class R>
void run_stmatrix(WarpOp *lanes) {
  for (int lane = 0; lane < 32; lane++)
    for (int r = 0; r < n; r++)
      for (int half = 0; half < 2; half++) {
        int row = trans ? lane % 4 * 2 + half : lane / 4;
        int col = trans ? lane / 4 : lane % 4 * 2 + half;
        T *to = (T *)lanes[r * 8 + row].to;
        aligned(to, 16);
        put_value(&to[col], (const R *)lanes[lane].from[0], 2 * r + half);
      }
}
static void run_nothing(WarpOp *) {}
static void __syncwarp() { do_together(WarpOp{run_nothing, nullptr, {nullptr, nullptr}}); }

// Any lane will do, each time the same one.
static void run_elect(WarpOp *lanes) {
  enum { ELECTED = 13 };
  for (int lane = 0; lane < 32; lane++) *(bool *)lanes[lane].to = lane == ELECTED;
}
static bool elect_one() {
  bool is_elected;
  do_together(WarpOp{run_elect, &is_elected, {nullptr, nullptr}});
  return is_elected;
}

static void run_shfl(WarpOp *lanes) {
  for (int lane = 0; lane < 32; lane++)
    *(unsigned *)lanes[lane].to = *(const unsigned *)lanes[lanes[lane].mask].from[0];
}
static unsigned __shfl_sync(unsigned, unsigned value, int lane) {
  unsigned got;
  do_together(WarpOp{run_shfl, &got, {&value, nullptr}, lane});
  return got;
}

#define STMATRIX(N)                                                                          \
  template <class T, class R>                                                                \
  void stmatrix_x##N(T *slab, int at, const R *from) {                                       \
    do_together(WarpOp{run_stmatrix<N, false, T, R>, (void *)(slab + at), {from, nullptr}}); \
  }
STMATRIX(2)
STMATRIX(4)

#define LDMATRIX(N)                                                        \
  template <class T>                                                       \
  void ldmatrix_x##N(void *to, const T *slab, int at) {                    \
    do_together(WarpOp{run_ldmatrix<N, false>, to, {slab + at, nullptr}}); \
  }                                                                        \
  template <class T>                                                       \
  void ldmatrix_x##N##_trans(void *to, const T *slab, int at) {            \
    do_together(WarpOp{run_ldmatrix<N, true>, to, {slab + at, nullptr}});  \
  }
LDMATRIX(1)
LDMATRIX(2)
LDMATRIX(4)

// The sums of matrix products are whole numbers; those of weights are what an f32 holds.
template <class Sum>
void put_sum(void *sums, int i, double sum) {
  insert(sums, i, from_number<Sum>(sum == (int)sum ? (int)sum : 30000));
}
template <>
void put_sum<float>(void *sums, int i, double sum) {
  insert(sums, i, sum == (float)sum ? (float)sum : 30000.0f);
}

// Fragments as the PTX ISA writes them, with g = lane / 4 and t = lane % 4 and p values in a
// register (f64: one): register r of A has row g + 8 · (r % 2), columns t · p … + 4p · (r / 2); of
// B column g, rows t · p … + 4p · r; value i of C has row g + 8 · (i / 2) and column 2t + i % 2.
template <int M, int N, int K, class Sum, class T>
void run_mma(WarpOp *lanes) {
  const int p = sizeof(T) < 4 ? 4 / (int)sizeof(T) : 1;
  double a[M][K], b[K][N];
  for (int lane = 0; lane < 32; lane++) {
    int g = lane / 4, t = lane % 4;
    for (int i = 0; i < M * K / 32; i++) {
      int r = i / p, row = g + 8 * (r % (M / 8)), col = t * p + i % p + 4 * p * (r / (M / 8));
      a[row][col] = (double)to_float(extract<T>(lanes[lane].from[0], i));
    }
    for (int i = 0; i < K * N / 32; i++)
      b[t * p + i % p + 4 * p * (i / p)][g] = (double)to_float(extract<T>(lanes[lane].from[1], i));
  }
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < M * N / 32; i++) {
      int row = lane / 4 + 8 * (i / 2), col = lane % 4 * 2 + i % 2;
      double sum = (double)to_float(extract<Sum>(lanes[lane].to, i));
      for (int k = 0; k < K; k++) sum += a[row][k] * b[k][col];
      put_sum<Sum>(lanes[lane].to, i, sum);
    }
}

#define MMA(M, N, K, SUM, TYPE, Sum, T)                                                      \
  static void mma_m##M##n##N##k##K##_##SUM##_##TYPE(void *c, const void *a, const void *b) { \
    do_together(WarpOp{run_mma<M, N, K, Sum, T>, c, {a, b}});                                \
  }
MMA(16, 8, 16, f32, f16, float, f16)
MMA(16, 8, 16, f16, f16, f16, f16)
MMA(16, 8, 8, f32, f16, float, f16)
MMA(16, 8, 8, f16, f16, f16, f16)
MMA(16, 8, 16, f32, bf16, float, bf16)
MMA(16, 8, 8, f32, bf16, float, bf16)
MMA(16, 8, 8, f32, tf32, float, float)
MMA(16, 8, 4, f32, tf32, float, float)
MMA(16, 8, 32, s32, s8, int, signed char)
MMA(16, 8, 16, s32, s8, int, signed char)
MMA(16, 8, 32, f32, e4m3, float, e4m3)
MMA(16, 8, 32, f32, e5m2, float, e5m2)
MMA(16, 8, 32, f16, e4m3, f16, e4m3)
MMA(16, 8, 32, f16, e5m2, f16, e5m2)
MMA(8, 8, 4, f64, f64, double, double)
