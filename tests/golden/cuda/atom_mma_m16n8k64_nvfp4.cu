// C[512, 512] = A[512, 512] * B[512, 512], nvfp4 summed in f32, C in f32, B column-major, A and C row-major
// AUTO=0,M=512,N=512,K=512,TARGET=rtx5090,B_COL=1,ATOM_KIND=mma_m16n8k64_nvfp4
// for sm_120a (GeForce RTX 5090)
//
//   matmul<<<2048, 32>>>(A, B, C, SFA, SFB)

constexpr int N = 512, K = 256;

// Two e2m1, neighbours along K, the first in the low half; each 16 share a factor.
struct nvfp4 {
  unsigned char bits;
};

// A factor: an e4m3 without a sign.
struct ue4m3 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const nvfp4 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void load4(unsigned *to, const ue4m3 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// c += a * b, 16 x 8 x 64, by a warp; PTX ISA, section 9.7.14.5.11 says which lane holds what.
// Each 16 elements along K are scaled by a ue4m3: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 4 bytes of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k64_f32_nvfp4(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X"
               ".m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

extern "C" __global__ void __launch_bounds__(32)
matmul(const nvfp4 *__restrict__ A, const nvfp4 *__restrict__ B, float *__restrict__ C,
    const ue4m3 *__restrict__ SFA, const ue4m3 *__restrict__ SFB) {

  const int m_b = blockIdx.x / 64;  // BLOCK 0..32, WM=1
  const int n_b = blockIdx.x % 64;  // BLOCK 0..64, WN=1
  const int lane = threadIdx.x;     // THREAD 0..32, ATOM_KIND=mma_m16n8k64_nvfp4

  float acc[4];  // ATOM_KIND=mma_m16n8k64_nvfp4: this thread's cells of C
  // ATOM_KIND=mma_m16n8k64_nvfp4: its values of A for one k-step, four to a register
  unsigned a[4];
  // ATOM_KIND=mma_m16n8k64_nvfp4: its values of B for one k-step, four to a register
  unsigned b[2];
  unsigned sfa;  // ATOM_KIND=mma_m16n8k64_nvfp4
  unsigned sfb;  // ATOM_KIND=mma_m16n8k64_nvfp4

  fill4(&acc[0], 0.0f);

  for (int k = 0; k < 8; ++k) {  // ATOM_KIND=mma_m16n8k64_nvfp4
    // ATOM_KIND=mma_m16n8k64_nvfp4: this thread's values of A
    #pragma unroll
    for (int v_a = 0; v_a < 4; ++v_a)
      load4(&a[v_a],
          &A[(m_b * 16 + lane / 4 + v_a % 2 * 8) * K + k * 32 + lane % 4 * 4 + v_a / 2 * 16]);

    // ATOM_KIND=mma_m16n8k64_nvfp4: this thread's values of B
    #pragma unroll
    for (int v_b = 0; v_b < 2; ++v_b)
      load4(&b[v_b], &B[(n_b * 8 + lane / 4) * K + k * 32 + lane % 4 * 4 + v_b * 16]);

    load4(&sfa, &SFA[(m_b * 16 + lane % 2 * 8 + lane / 4) * 32 + k * 4]);
    load4(&sfb, &SFB[(n_b * 8 + lane / 4) * 32 + k * 4]);

    // ATOM_KIND=mma_m16n8k64_nvfp4: multiply each fragment of A by each of B
    mma_m16n8k64_f32_nvfp4(&acc[0], &a[0], &b[0], sfa, 0, sfb, 0);
  }

  // ATOM_KIND=mma_m16n8k64_nvfp4: write the cells of C
  #pragma unroll
  for (int v_c = 0; v_c < 2; ++v_c)
    store2(&C[(m_b * 16 + lane / 4 + v_c * 8) * N + n_b * 8 + lane % 4 * 2], &acc[v_c * 2]);
}
