// C[512, 512] = A[512, 512] * B[512, 512], f64, row-major
// AUTO=0,M=512,N=512,K=512,ATOM_KIND=mma_m8n8k4_f64
// for sm_90a (H200 SXM)
//
//   matmul<<<4096, 32>>>(A, B, C)

constexpr int N = 512, K = 512;

__device__ __forceinline__ void store2(double *to, const double *from) {
  *reinterpret_cast<double2 *>(to) = double2{from[0], from[1]};
}

__device__ __forceinline__ void fill2(double *to, double value) {
  to[0] = value, to[1] = value;
}

// c += a * b, 8 x 8 x 4, by a warp; PTX ISA, section 9.7.14.5.2 says which lane holds what.
__device__ __forceinline__ void mma_m8n8k4_f64_f64(double *c, const double *a,
    const double *b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a[0]), "d"(b[0]));
}

extern "C" __global__ void __launch_bounds__(32)
matmul(const double *__restrict__ A, const double *__restrict__ B, double *__restrict__ C) {
  const int m_b = blockIdx.x / 64;  // BLOCK 0..64, WM=1
  const int n_b = blockIdx.x % 64;  // BLOCK 0..64, WN=1
  const int lane = threadIdx.x;     // THREAD 0..32, ATOM_KIND=mma_m8n8k4_f64

  double acc[2];  // ATOM_KIND=mma_m8n8k4_f64: this thread's cells of C
  double a;       // ATOM_KIND=mma_m8n8k4_f64: its values of A for one k-step
  double b;       // ATOM_KIND=mma_m8n8k4_f64: its values of B for one k-step

  fill2(&acc[0], 0.0);

  for (int k = 0; k < 128; ++k) {  // ATOM_KIND=mma_m8n8k4_f64
    // ATOM_KIND=mma_m8n8k4_f64: this thread's values of A
    a = A[(m_b * 8 + lane / 4) * K + k * 4 + lane % 4];

    // ATOM_KIND=mma_m8n8k4_f64: this thread's values of B
    b = B[(k * 4 + lane % 4) * N + n_b * 8 + lane / 4];

    // ATOM_KIND=mma_m8n8k4_f64: multiply each fragment of A by each of B
    mma_m8n8k4_f64_f64(&acc[0], &a, &b);
  }

  // ATOM_KIND=mma_m8n8k4_f64: write the cells of C
  store2(&C[(m_b * 8 + lane / 4) * N + n_b * 8 + lane % 4 * 2], &acc[0]);
}
