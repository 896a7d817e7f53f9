// O[8, 1024, 128] = softmax(alpha * Q * K) * V, 1024 keys, f32
// of rows of 128 in Q, K, V and O; alpha holds the log2(e) of exp2
// AUTO=0,PROGRAM=attention,HEADS=8,M=1024,N=1024,K=128,BM=16,BN=16
// for sm_90a (H200 SXM)
//
//   scores<<<32768, 256>>>(Q, K, S)
//   softmax<<<32, 256>>>(S, P, L, alpha)
//   apply<<<4096, 256>>>(V, O, P, L)
//   workspace: 67141632 bytes

constexpr int QUERIES = 1024, KEYS = 1024, HEAD_DIM = 128;

// 2 to the power of x, within 2 units in the last place; exact for whole numbers.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

extern "C" __global__ void __launch_bounds__(256)
scores(const float *__restrict__ Q, const float *__restrict__ K, float *__restrict__ S) {
  const int h = blockIdx.x / 4096;       // BLOCK 0..8, HEADS=8
  const int q_b = blockIdx.x / 64 % 64;  // BLOCK 0..64, BM=16
  const int t_b = blockIdx.x % 64;       // BLOCK 0..64, BN=16
  const int q_t = threadIdx.x / 16;      // THREAD 0..16, BM=16
  const int t_t = threadIdx.x % 16;      // THREAD 0..16, BN=16

  float Q_f;  // its values of Q for one k
  float K_f;  // its values of K for one k
  float S_f;  // this thread's scores, then weights

  S_f = 0.0f;
  for (int e = 0; e < HEAD_DIM; ++e) {
    Q_f = Q[h * 131072 + (q_b * 16 + q_t) * HEAD_DIM + e];
    K_f = K[h * 131072 + (t_b * 16 + t_t) * HEAD_DIM + e];
    S_f += Q_f * K_f;
  }
  S[h * 1048576 + (q_b * 16 + q_t) * KEYS + t_b * 16 + t_t] = S_f;
}

extern "C" __global__ void __launch_bounds__(256)
softmax(const float *__restrict__ S, float *__restrict__ P, float *__restrict__ L, float alpha) {
  const int h = blockIdx.x / 4;    // BLOCK 0..8, HEADS=8
  const int q_b = blockIdx.x % 4;  // BLOCK 0..4, PROGRAM=attention
  const int q_t = threadIdx.x;     // THREAD 0..256, PROGRAM=attention

  float row_max;   // of its rows: the largest score so far
  float row_base;  // alpha times the largest score
  float row_sum;   // the sum of its weights
  float x;

  row_max = __int_as_float(0xff800000);
  for (int t = 0; t < 1024; ++t) {
    x = S[h * 1048576 + (q_b * 256 + q_t) * KEYS + t];
    row_max = fmaxf(row_max, x);
  }
  row_base = row_max;
  row_base *= alpha;
  row_sum = 0.0f;
  for (int t = 0; t < 1024; ++t) {
    x = S[h * 1048576 + (q_b * 256 + q_t) * KEYS + t];
    x = exp2_of(alpha * x - row_base);
    row_sum += x;
    P[h * 1048576 + (q_b * 256 + q_t) * KEYS + t] = x;
  }
  L[h * QUERIES + q_b * 256 + q_t] = row_sum;
}

extern "C" __global__ void __launch_bounds__(256)
apply(const float *__restrict__ V, float *__restrict__ O, const float *__restrict__ P,
    const float *__restrict__ L) {

  const int h = blockIdx.x / 512;       // BLOCK 0..8, HEADS=8
  const int q_b = blockIdx.x / 8 % 64;  // BLOCK 0..64, BM=16
  const int d_b = blockIdx.x % 8;       // BLOCK 0..8, BN=16
  const int q_t = threadIdx.x / 16;     // THREAD 0..16, BM=16
  const int d_t = threadIdx.x % 16;     // THREAD 0..16, BN=16

  float P_f;  // its weights for one k
  float V_f;  // its values of V for one k
  float O_f;  // this thread's cells of O
  float of_row;

  O_f = 0.0f;
  for (int u = 0; u < 1024; ++u) {
    P_f = P[h * 1048576 + (q_b * 16 + q_t) * KEYS + u];
    V_f = V[h * 131072 + u * HEAD_DIM + d_b * 16 + d_t];
    O_f += P_f * V_f;
  }
  of_row = L[h * QUERIES + q_b * 16 + q_t];
  O_f /= of_row;
  O[h * 131072 + (q_b * 16 + q_t) * HEAD_DIM + d_b * 16 + d_t] = O_f;
}
