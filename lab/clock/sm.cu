// All that every SM since sm_80 has: arithmetic, mma.sync, shared and global memory, barriers, blocks.

// ---- arithmetic: a chain, and eight values that do not wait for each other ----------------------

#define ARITHMETIC(name, type, constraint, first, text)                               \
  KERNEL(name##_chain)(ARGUMENTS) {                                                   \
    type x = (type)(first + threadIdx.x), y = (type)first;                            \
    const long long begin = begin_clock();                                            \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                            \
      _Pragma("unroll") for (int i = 0; i < UNROLL; i++) asm volatile(text            \
                                                                      : "+" constraint(x) \
                                                                      : constraint(y));   \
    }                                                                                 \
    end_clock(clocks, begin);                                                         \
    if (rounds < 0) sink[threadIdx.x] = (unsigned)x;                                  \
  }                                                                                   \
  KERNEL(name##_rate)(ARGUMENTS) {                                                    \
    type x[8], y = (type)first;                                                       \
    for (int i = 0; i < 8; i++) x[i] = (type)(first + threadIdx.x + i);               \
    const long long begin = begin_clock();                                            \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                            \
      _Pragma("unroll") for (int i = 0; i < UNROLL; i++) asm volatile(text            \
                                                                      : "+" constraint(x[i % 8]) \
                                                                      : constraint(y));   \
    }                                                                                 \
    end_clock(clocks, begin);                                                         \
    unsigned all = 0;                                                                 \
    for (int i = 0; i < 8; i++) all += (unsigned)x[i];                                \
    if (rounds < 0) sink[threadIdx.x] = all;                                          \
  }

ARITHMETIC(fma, float, "f", 1, "fma.rn.f32 %0, %0, %1, %1;")
ARITHMETIC(imad, unsigned, "r", 3, "mad.lo.u32 %0, %0, %1, %1;")
ARITHMETIC(shift, unsigned, "r", 1, "shf.l.wrap.b32 %0, %0, %0, %1;")
ARITHMETIC(permute, unsigned, "r", 3, "prmt.b32 %0, %0, %1, 0x5410;")
ARITHMETIC(maximum, float, "f", 1, "max.f32 %0, %0, %1;")
ARITHMETIC(half, unsigned, "r", 1, "fma.rn.f16x2 %0, %0, %1, %1;")
ARITHMETIC(convert, unsigned, "r", 1, "cvt.rn.bf16x2.f32 %0, %0, %1;")
ARITHMETIC(exp2, float, "f", 1, "ex2.approx.ftz.f32 %0, %0; // %1")
ARITHMETIC(shuffle, unsigned, "r", 1, "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff; // %1")
ARITHMETIC(fp64, double, "d", 1, "fma.rn.f64 %0, %0, %1, %1;")

// Four MUFU in a row, then 28 FFMA that wait for none of them: do they hold up what comes after?
KERNEL(exp2_burst)(ARGUMENTS) {
  float x[4], y[28], z = (float)rounds;
  for (int i = 0; i < 4; i++) x[i] = (float)(threadIdx.x + i);
  for (int i = 0; i < 28; i++) y[i] = (float)(threadIdx.x + i);
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < 4; i++) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i]));
    _Pragma("unroll") for (int i = 0; i < 28; i++)
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(y[i]) : "f"(z));
  }
  end_clock(clocks, begin);
  float all = 0;
  for (int i = 0; i < 4; i++) all += x[i];
  for (int i = 0; i < 28; i++) all += y[i];
  if (rounds < 0) sink[threadIdx.x] = (unsigned)all;
}

// ---- mma.sync -----------------------------------------------------------------------------------

#define MMA_F32(name, shape, a, b)                                                          \
  __device__ __forceinline__ void name(float *d, const unsigned *x) {                       \
    asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, " a ", {%0, %1, %2, %3};"    \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                           \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]));       \
  }
#define A4_B2 "{%4, %5, %6, %7}, {%8, %9}"
#define A4_B1 "{%4, %5, %6, %7}, {%8}"
#define A2_B1 "{%4, %5}, {%6}"
MMA_F32(mma_f16, "m16n8k16.row.col.f32.f16.f16.f32", A4_B2, 0)
MMA_F32(mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", A4_B2, 0)
MMA_F32(mma_f16k8, "m16n8k8.row.col.f32.f16.f16.f32", A2_B1, 0)
MMA_F32(mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", A4_B2, 0)
MMA_F32(mma_tf32k4, "m16n8k4.row.col.f32.tf32.tf32.f32", A2_B1, 0)
__device__ __forceinline__ void mma_half(float *d, const unsigned *x) {
  unsigned *h = (unsigned *)d;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%0, %1};"
      : "+r"(h[0]), "+r"(h[1])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]));
}

// Sums that one warp adds to in turn: one is a chain.
#define MMA_LOOP(name, which, sums)                                                            \
  KERNEL(name)(ARGUMENTS) {                                                                    \
    float d[sums][4] = {};                                                                     \
    unsigned x[6];                                                                             \
    for (int i = 0; i < 6; i++) x[i] = sink[threadIdx.x + i];                                  \
    const long long begin = begin_clock();                                                     \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                                     \
      _Pragma("unroll") for (int i = 0; i < UNROLL; i++) which(d[i % sums], x);                \
    }                                                                                          \
    end_clock(clocks, begin);                                                                  \
    float all = 0;                                                                             \
    for (int i = 0; i < sums; i++) all += d[i][0] + d[i][1] + d[i][2] + d[i][3];               \
    if (rounds < 0) sink[threadIdx.x] = (unsigned)all;                                         \
  }
#define MMA(which) MMA_LOOP(which##_chain, which, 1) MMA_LOOP(which##_two, which, 2) MMA_LOOP(which##_rate, which, 8)
MMA(mma_f16)
MMA(mma_bf16)
MMA(mma_f16k8)
MMA(mma_tf32)
MMA(mma_tf32k4)
MMA(mma_half)

// Operands that differ from one product to the next, as they do in a kernel.
KERNEL(mma_bf16_operands)(ARGUMENTS) {
  float d[8][4] = {};
  unsigned a[2][4], b[4][2];
  for (int i = 0; i < 8; i++) a[i / 4][i % 4] = sink[threadIdx.x + i], b[i / 2][i % 2] = sink[threadIdx.x + 8 + i];
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++) {
      const int m = i / 4 % 2, n = i % 4, at = i % 8;
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                   "{%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(d[at][0]), "+f"(d[at][1]), "+f"(d[at][2]), "+f"(d[at][3])
                   : "r"(a[m][0]), "r"(a[m][1]), "r"(a[m][2]), "r"(a[m][3]), "r"(b[n][0]), "r"(b[n][1]));
    }
  }
  end_clock(clocks, begin);
  float all = 0;
  for (int i = 0; i < 8; i++) all += d[i][0] + d[i][1] + d[i][2] + d[i][3];
  if (rounds < 0) sink[threadIdx.x] = (unsigned)all;
}

// Products beside other work of the same warp: so many instructions after each.
#define MMA_BESIDE(name, n, text)                                                              \
  KERNEL(name)(ARGUMENTS) {                                                                    \
    float d[4][4] = {}, y[8];                                                                  \
    unsigned a[4], b[2];                                                                       \
    for (int i = 0; i < 4; i++) a[i] = sink[threadIdx.x + i], b[i % 2] = sink[threadIdx.x + 8 + i]; \
    for (int i = 0; i < 8; i++) y[i] = (float)(threadIdx.x + i);                               \
    const unsigned at = shared_address(tile) + threadIdx.x % 32 * 16;                          \
    const float z = (float)rounds;                                                             \
    const long long begin = begin_clock();                                                     \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                                     \
      _Pragma("unroll") for (int i = 0; i < 8; i++) {                                          \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "  \
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                           \
                     : "+f"(d[i % 4][0]), "+f"(d[i % 4][1]), "+f"(d[i % 4][2]), "+f"(d[i % 4][3]) \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));      \
        _Pragma("unroll") for (int k = 0; k < n; k++)                                          \
            asm volatile(text : "+f"(y[(i * n + k) % 8]) : "f"(z), "r"(at + i * 512) : "memory"); \
      }                                                                                        \
    }                                                                                          \
    end_clock(clocks, begin);                                                                  \
    float all = 0;                                                                             \
    for (int i = 0; i < 4; i++) all += d[i][0] + d[i][1] + d[i][2] + d[i][3];                  \
    for (int i = 0; i < 8; i++) all += y[i];                                                   \
    if (rounds < 0) sink[threadIdx.x] = (unsigned)all;                                         \
  }
MMA_BESIDE(mma_add1, 1, "add.f32 %0, %0, %1; // %2")
MMA_BESIDE(mma_add2, 2, "add.f32 %0, %0, %1; // %2")
MMA_BESIDE(mma_add4, 4, "add.f32 %0, %0, %1; // %2")
MMA_BESIDE(mma_fma4, 4, "fma.rn.f32 %0, %0, %1, %1; // %2")
MMA_BESIDE(mma_max1, 1, "max.f32 %0, %0, %1; // %2")
MMA_BESIDE(mma_max2, 2, "max.f32 %0, %0, %1; // %2")
MMA_BESIDE(mma_ldsm1, 1, "{ .reg .b32 p, q, r; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {p, q, r, %0}, [%2]; } // %1")
MMA_BESIDE(mma_lds1, 1, "ld.volatile.shared.f32 %0, [%2]; // %1")

// ---- shared memory ------------------------------------------------------------------------------

// Every word of the tile holds the address of its begin.
__device__ __forceinline__ unsigned fill_tile() {
  const unsigned base = shared_address(tile);
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) ((unsigned *)tile)[i] = base;
  __syncthreads();
  return base;
}

#define SHARED_CHAIN(name, text)                                                   \
  KERNEL(name)(ARGUMENTS) {                                                        \
    unsigned x = fill_tile(), u, v, w;                                             \
    const long long begin = begin_clock();                                         \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                         \
      _Pragma("unroll") for (int i = 0; i < UNROLL; i++)                           \
          asm volatile(text : "+r"(x), "=r"(u), "=r"(v), "=r"(w));                 \
    }                                                                              \
    end_clock(clocks, begin);                                                      \
    if (rounds < 0) sink[threadIdx.x] = x + u + v + w;                             \
  }
SHARED_CHAIN(lds32_chain, "ld.shared.u32 %0, [%0];")
SHARED_CHAIN(lds64_chain, "ld.shared.v2.u32 {%0, %1}, [%0];")
SHARED_CHAIN(lds128_chain, "ld.shared.v4.u32 {%0, %1, %2, %3}, [%0];")
SHARED_CHAIN(ldsm1_chain, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%0];")
SHARED_CHAIN(ldsm4_chain, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%0];")
SHARED_CHAIN(sts_lds_chain, "st.shared.u32 [%0], %0; ld.shared.u32 %0, [%0];")

// Lanes side by side, so that a wavefront is full; the address steps by whole wavefronts.
// `sink[0]` words of one bank are asked for: the address that a lane finds is its own.
KERNEL(lds32_ways_chain)(ARGUMENTS) {
  const unsigned base = shared_address(tile), x0 = base + threadIdx.x % 32 % sink[0] * 128;
  *(unsigned *)(tile + (x0 - base)) = x0;
  __syncthreads();
  unsigned x = x0;
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(x));
  }
  end_clock(clocks, begin);
  if (rounds < 0) sink[threadIdx.x] = x;
}
// A full row of 512 bytes, each lane its own 16.
KERNEL(lds128_row_chain)(ARGUMENTS) {
  const unsigned base = shared_address(tile), x0 = base + threadIdx.x % 32 * 16;
  *(unsigned *)(tile + (x0 - base)) = x0;
  __syncthreads();
  unsigned x = x0, u, v, w;
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++)
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%0];" : "+r"(x), "=r"(u), "=r"(v), "=r"(w));
  }
  end_clock(clocks, begin);
  if (rounds < 0) sink[threadIdx.x] = x + u + v + w;
}

#define SHARED_RATE(name, step, text, ...)                                                   \
  KERNEL(name)(ARGUMENTS) {                                                                  \
    const unsigned at = fill_tile() + threadIdx.x % 32 * step;                               \
    unsigned x[8][4];                                                                    \
    for (int i = 0; i < 8; i++) x[i][0] = x[i][1] = x[i][2] = x[i][3] = at + i;         \
    const long long begin = begin_clock();                                                   \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                                   \
      _Pragma("unroll") for (int i = 0; i < 8; i++)                                     \
          asm volatile(text : "+r"(x[i][0]), "+r"(x[i][1]), "+r"(x[i][2]), "+r"(x[i][3])     \
                       : "r"(at + i * 512));                                                   \
    }                                                                                        \
    end_clock(clocks, begin);                                                                \
    unsigned all = 0;                                                                        \
    for (int i = 0; i < 8; i++) all += x[i][0] + x[i][1] + x[i][2] + x[i][3];           \
    if (rounds < 0) sink[threadIdx.x] = all;                                                 \
  }
SHARED_RATE(lds32_rate, 4, "ld.volatile.shared.u32 %0, [%4];")
SHARED_RATE(lds64_rate, 8, "ld.volatile.shared.v2.u32 {%0, %1}, [%4];")
SHARED_RATE(lds128_rate, 16, "ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];")
SHARED_RATE(ldsm1_rate, 16, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%4];")
SHARED_RATE(ldsm4_rate, 16, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];")

#define STORE_RATE(name, step, text)                                                         \
  KERNEL(name)(ARGUMENTS) {                                                                  \
    const unsigned at = fill_tile() + threadIdx.x % 32 * step;                               \
    const long long begin = begin_clock();                                                   \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                                   \
      _Pragma("unroll") for (int i = 0; i < UNROLL; i++)                                     \
          asm volatile(text ::"r"(at + i * 512), "r"(r) : "memory");                         \
    }                                                                                        \
    end_clock(clocks, begin);                                                                \
  }
STORE_RATE(sts32_rate, 4, "st.shared.u32 [%0], %1;")
STORE_RATE(sts128_rate, 16, "st.shared.v4.u32 [%0], {%1, %1, %1, %1};")

// ---- global memory ------------------------------------------------------------------------------

// A pointer to itself: from L1 after the first time, or from L2 at every one.
#define GLOBAL_CHAIN(name, text)                                            \
  KERNEL(name)(ARGUMENTS) {                                                 \
    u64 x = (u64)(memory + threadIdx.x * 128);                              \
    *(volatile u64 *)x = x;                                                 \
    __threadfence();                                                        \
    const long long begin = begin_clock();                                  \
    _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {                  \
      _Pragma("unroll") for (int i = 0; i < UNROLL; i++) asm volatile(text : "+l"(x)); \
    }                                                                       \
    end_clock(clocks, begin);                                               \
    if (rounds < 0) sink[threadIdx.x] = (unsigned)x;                        \
  }
GLOBAL_CHAIN(ldg_l1_chain, "ld.global.ca.u64 %0, [%0];")
GLOBAL_CHAIN(ldg_l2_chain, "ld.global.cg.u64 %0, [%0];")
GLOBAL_CHAIN(stg_ldg_chain, "st.global.u64 [%0], %0; ld.global.cg.u64 %0, [%0];")

// From L1, and from L2: `sink[0]` places 256 bytes apart, each of which says where the next is. The
// loads are such as compilers make of C, not of assembler text, whose loads are strong.
KERNEL(weak_link)(ARGUMENTS) {
  const unsigned n = sink[0];
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    *(u64 *)(memory + (u64)i * 256) = (u64)(memory + (u64)((i + 1) % n) * 256);
}
KERNEL(weak_chain)(ARGUMENTS) {
  const u64 *x = (const u64 *)memory;
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++)
        asm volatile("ld.global.u64 %0, [%0];" : "+l"(x));
  }
  end_clock(clocks, begin);
  if (rounds < 0 || !x) sink[threadIdx.x] = (unsigned)(u64)x;
}
// One word in each 256 KiB, linked by dram_link; clocks[0] says which, so that none is met twice.
#define DRAM_STEP (256 << 10)
KERNEL(dram_link)(ARGUMENTS) {
  const int n = rounds;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    for (int k = 0; k < 16; k++)
      *(u64 *)(memory + (u64)i * DRAM_STEP + k * 1024) = (u64)(memory + (u64)(i + 1) % n * DRAM_STEP + k * 1024);
}
KERNEL(dram_chain)(ARGUMENTS) {
  u64 x = (u64)(memory + clocks[0]);
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(x));
  }
  end_clock(clocks, begin);
  if (rounds < 0) sink[threadIdx.x] = (unsigned)x;
}

// Every thread moves 16 bytes, UNROLL of them in flight, through `sink[0]` MiB, a power of two.
#define FAR_AT(r, i) \
  (((((u64)(r) * UNROLL + (i)) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x) * 16 & (span - 1))
KERNEL(far_load_rate)(ARGUMENTS) {
  const u64 span = (u64)sink[0] << 20;
  uint4 sum = {};
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    uint4 x[UNROLL];
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++)
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[i].x), "=r"(x[i].y), "=r"(x[i].z), "=r"(x[i].w)
                     : "l"(memory + FAR_AT(r, i)));
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++) sum.x += x[i].x ^ x[i].y ^ x[i].z ^ x[i].w;
  }
  end_clock(clocks, begin);
  if (rounds < 0) sink[threadIdx.x] = sum.x;
}
KERNEL(far_store_rate)(ARGUMENTS) {
  const u64 span = (u64)sink[0] << 20;
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++)
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(memory + FAR_AT(r, i)), "r"(r));
  }
  end_clock(clocks, begin);
}
KERNEL(near_load_rate)(ARGUMENTS) {
  uint4 x[8] = {};
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    const uint4 *at = (const uint4 *)(memory + (r & 1) * 16384) + threadIdx.x;
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++) {
      const uint4 one = at[i * 64];
      x[i % 8].x += one.x, x[i % 8].y += one.y, x[i % 8].z += one.z, x[i % 8].w += one.w;
    }
  }
  end_clock(clocks, begin);
  unsigned sum = 0;
  for (int i = 0; i < 8; i++) sum += x[i].x ^ x[i].y ^ x[i].z ^ x[i].w;
  if (rounds < 0) sink[threadIdx.x] = sum;
}
KERNEL(cp_async_chain)(ARGUMENTS) {
  const unsigned to = shared_address(tile) + threadIdx.x * 16;
  const unsigned char *from = memory + threadIdx.x * 16;
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n cp.async.commit_group;\n"
                     "cp.async.wait_group 0;" ::"r"(to), "l"(from) : "memory");
  }
  end_clock(clocks, begin);
}

// Spilled words: stored, and loaded again from a place that the value says.
KERNEL(local_chain)(ARGUMENTS) {
  volatile unsigned place[8];
  for (int i = 0; i < 8; i++) place[i] = (unsigned)i * (unsigned)(rounds < 0);
  unsigned x = threadIdx.x & 7;
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++) {
      place[x] = x;
      x = place[x] & 7;
    }
  }
  end_clock(clocks, begin);
  if (rounds < 0) sink[threadIdx.x] = x;
}
// The same without the stores.
KERNEL(local_load_chain)(ARGUMENTS) {
  volatile unsigned place[8];
  for (int i = 0; i < 8; i++) place[i] = (unsigned)i * (unsigned)(rounds < 0);
  unsigned x = threadIdx.x & 7;
  const long long begin = begin_clock();
  _Pragma("unroll 1") for (int r = 0; r < rounds; r++) {
    _Pragma("unroll") for (int i = 0; i < UNROLL; i++) x = place[x & 7];
  }
  end_clock(clocks, begin);
  if (rounds < 0) sink[threadIdx.x] = x;
}

// ---- barriers, fences ---------------------------------------------------------------------------

FENCE(barrier_rate, "bar.sync 0;")
FENCE(syncwarp_rate, "bar.warp.sync 0xffffffff;")
FENCE(membar_cta_rate, "membar.cta;")
FENCE(membar_gl_rate, "membar.gl;")
// ---- blocks -------------------------------------------------------------------------------------

// When each block began and ended, and on which SM.
KERNEL(block_times)(ARGUMENTS) {
  const long long begin = clock64();
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  __syncthreads();
  while (clock64() - begin < rounds) {
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    clocks[3 * blockIdx.x] = sm;
    clocks[3 * blockIdx.x + 1] = begin;
    clocks[3 * blockIdx.x + 2] = clock64();
  }
}
