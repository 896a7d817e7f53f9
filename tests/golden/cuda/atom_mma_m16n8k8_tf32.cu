// C[512, 512] = A[512, 512] * B[512, 512], tf32 summed in f32, C in f32, row-major
// AUTO=0,M=512,N=512,K=512,ATOM_KIND=mma_m16n8k8_tf32
// for sm_90a (H200 SXM)
//
//   matmul<<<2048, 32>>>(A, B, C)

constexpr int N = 512, K = 512;

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// c += a * b, 16 x 8 x 8, by a warp; PTX ISA, section 9.7.14.5.7 says which lane holds what.
// The unit reads the upper 19 bits of a and b: fractions are cut to 10 bits.
__device__ __forceinline__ void mma_m16n8k8_f32_tf32(float *c, const float *a,
    const float *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])),
                 "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
                 "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

extern "C" __global__ void __launch_bounds__(32)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  const int m_b = blockIdx.x / 64;  // BLOCK 0..32, WM=1
  const int n_b = blockIdx.x % 64;  // BLOCK 0..64, WN=1
  const int lane = threadIdx.x;     // THREAD 0..32, ATOM_KIND=mma_m16n8k8_tf32

  float acc[4];  // ATOM_KIND=mma_m16n8k8_tf32: this thread's cells of C
  float a[4];    // ATOM_KIND=mma_m16n8k8_tf32: its values of A for one k-step
  float b[2];    // ATOM_KIND=mma_m16n8k8_tf32: its values of B for one k-step

  fill4(&acc[0], 0.0f);

  for (int k = 0; k < 64; ++k) {  // ATOM_KIND=mma_m16n8k8_tf32
    // ATOM_KIND=mma_m16n8k8_tf32: this thread's values of A
    #pragma unroll
    for (int v_a = 0; v_a < 4; ++v_a)
      a[v_a] = A[(m_b * 16 + lane / 4 + v_a % 2 * 8) * K + k * 8 + lane % 4 + v_a / 2 * 4];

    // ATOM_KIND=mma_m16n8k8_tf32: this thread's values of B
    #pragma unroll
    for (int v_b = 0; v_b < 2; ++v_b)
      b[v_b] = B[(k * 8 + lane % 4 + v_b * 4) * N + n_b * 8 + lane / 4];

    // ATOM_KIND=mma_m16n8k8_tf32: multiply each fragment of A by each of B
    mma_m16n8k8_f32_tf32(&acc[0], &a[0], &b[0]);
  }

  // ATOM_KIND=mma_m16n8k8_tf32: write the cells of C
  #pragma unroll
  for (int v_c = 0; v_c < 2; ++v_c)
    store2(&C[(m_b * 16 + lane / 4 + v_c * 8) * N + n_b * 8 + lane % 4 * 2], &acc[v_c * 2]);
}
