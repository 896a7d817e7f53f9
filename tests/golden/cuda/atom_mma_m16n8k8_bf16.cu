// C[512, 512] = A[512, 512] * B[512, 512], bf16 summed in f32, row-major
// AUTO=0,M=512,N=512,K=512,ATOM_KIND=mma_m16n8k8_bf16
// for sm_90a (H200 SXM)
//
//   matmul<<<2048, 32>>>(A, B, C)

constexpr int N = 512, K = 512;

// A bfloat16 (1 sign, 8 exponent, 7 fraction bits) as it lies in memory.
struct bf16 {
  unsigned short bits;
};

__device__ __forceinline__ void load2(unsigned *to, const bf16 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(bf16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// c += a * b, 16 x 8 x 8, by a warp; PTX ISA, section 9.7.14.5.7 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k8_f32_bf16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

// Value i of a register that holds 2; the others stay.
__device__ __forceinline__ void insert_bf16(unsigned *to, int i, bf16 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffffu << 16 * i)) | bits << 16 * i;
}

extern "C" __global__ void __launch_bounds__(32)
matmul(const bf16 *__restrict__ A, const bf16 *__restrict__ B, bf16 *__restrict__ C) {
  const int m_b = blockIdx.x / 64;  // BLOCK 0..32, WM=1
  const int n_b = blockIdx.x % 64;  // BLOCK 0..64, WN=1
  const int lane = threadIdx.x;     // THREAD 0..32, ATOM_KIND=mma_m16n8k8_bf16

  float acc[4];   // ATOM_KIND=mma_m16n8k8_bf16: this thread's cells of C
  unsigned a[2];  // ATOM_KIND=mma_m16n8k8_bf16: its values of A for one k-step, two to a register
  unsigned b;     // ATOM_KIND=mma_m16n8k8_bf16: its values of B for one k-step, two to a register

  fill4(&acc[0], 0.0f);

  for (int k = 0; k < 64; ++k) {  // ATOM_KIND=mma_m16n8k8_bf16
    // ATOM_KIND=mma_m16n8k8_bf16: this thread's values of A
    #pragma unroll
    for (int v_a = 0; v_a < 2; ++v_a)
      load2(&a[v_a], &A[(m_b * 16 + lane / 4 + v_a * 8) * K + k * 8 + lane % 4 * 2]);

    // ATOM_KIND=mma_m16n8k8_bf16: this thread's values of B
    #pragma unroll
    for (int v_b = 0; v_b < 2; ++v_b)
      insert_bf16(&b, v_b, B[(k * 8 + lane % 4 * 2 + v_b) * N + n_b * 8 + lane / 4]);

    // ATOM_KIND=mma_m16n8k8_bf16: multiply each fragment of A by each of B
    mma_m16n8k8_f32_bf16(&acc[0], &a[0], &b);
  }

  // ATOM_KIND=mma_m16n8k8_bf16: write the cells of C
  #pragma unroll
  for (int v_c = 0; v_c < 2; ++v_c)
    store2(&C[(m_b * 16 + lane / 4 + v_c * 8) * N + n_b * 8 + lane % 4 * 2], &acc[v_c * 2]);
}
