// C[512, 512] = A[512, 512] * B[512, 512], s8 summed in s32, C in s32, row-major
// AUTO=0,M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_s8
// for sm_90a (H200 SXM)
//
//   matmul<<<2048, 32>>>(A, B, C)

constexpr int N = 512, K = 512;

__device__ __forceinline__ void load4(unsigned *to, const signed char *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(int *to, const int *from) {
  *reinterpret_cast<int2 *>(to) = int2{from[0], from[1]};
}

__device__ __forceinline__ void fill4(int *to, int value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.9 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_s32_s8(int *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

// Value i of a register that holds 4; the others stay.
__device__ __forceinline__ void insert_s8(unsigned *to, int i, signed char value) {
  const unsigned bits = static_cast<unsigned char>(value);
  *to = (*to & ~(0xffu << 8 * i)) | bits << 8 * i;
}

extern "C" __global__ void __launch_bounds__(32)
matmul(const signed char *__restrict__ A, const signed char *__restrict__ B, int *__restrict__ C) {
  const int m_b = blockIdx.x / 64;  // BLOCK 0..32, WM=1
  const int n_b = blockIdx.x % 64;  // BLOCK 0..64, WN=1
  const int lane = threadIdx.x;     // THREAD 0..32, ATOM_KIND=mma_m16n8k16_s8

  int acc[4];     // ATOM_KIND=mma_m16n8k16_s8: this thread's cells of C
  unsigned a[2];  // ATOM_KIND=mma_m16n8k16_s8: its values of A for one k-step, four to a register
  unsigned b;     // ATOM_KIND=mma_m16n8k16_s8: its values of B for one k-step, four to a register

  fill4(&acc[0], 0);

  for (int k = 0; k < 32; ++k) {  // ATOM_KIND=mma_m16n8k16_s8
    // ATOM_KIND=mma_m16n8k16_s8: this thread's values of A
    #pragma unroll
    for (int v_a = 0; v_a < 2; ++v_a)
      load4(&a[v_a], &A[(m_b * 16 + lane / 4 + v_a * 8) * K + k * 16 + lane % 4 * 4]);

    // ATOM_KIND=mma_m16n8k16_s8: this thread's values of B
    #pragma unroll
    for (int v_b = 0; v_b < 4; ++v_b)
      insert_s8(&b, v_b, B[(k * 16 + lane % 4 * 4 + v_b) * N + n_b * 8 + lane / 4]);

    // ATOM_KIND=mma_m16n8k16_s8: multiply each fragment of A by each of B
    mma_m16n8k16_s32_s8(&acc[0], &a[0], &b);
  }

  // ATOM_KIND=mma_m16n8k16_s8: write the cells of C
  #pragma unroll
  for (int v_c = 0; v_c < 2; ++v_c)
    store2(&C[(m_b * 16 + lane / 4 + v_c * 8) * N + n_b * 8 + lane % 4 * 2], &acc[v_c * 2]);
}
