// An IEEE half (1 sign, 5 exponent, 10 fraction bits) as it lies in memory.
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ void load2(unsigned *to, const f16 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

__device__ __forceinline__ void store2(f16 *to, const float *from) {
  unsigned v[1];
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[0]) : "f"(from[1]), "f"(from[0]));
  *reinterpret_cast<unsigned *>(to) = v[0];
}

__device__ __forceinline__ void fill4(float *to, float value) {
  to[0] = value, to[1] = value, to[2] = value, to[3] = value;
}

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.8 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_f32_f16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 2; the others stay.
__device__ __forceinline__ void insert_f16(unsigned *to, int i, f16 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffffu << 16 * i)) | bits << 16 * i;
}

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

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.8 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_f32_bf16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 2; the others stay.
__device__ __forceinline__ void insert_bf16(unsigned *to, int i, bf16 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffffu << 16 * i)) | bits << 16 * i;
}

// c += a * b, 16 x 8 x 8, by a warp; PTX ISA, section 9.7.14.5.7 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k8_f32_f16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

// c += a * b, 16 x 8 x 8, by a warp; PTX ISA, section 9.7.14.5.7 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k8_f32_bf16(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

__device__ __forceinline__ void store2(float *to, const float *from) {
  *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
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

// c += a * b, 16 x 8 x 4, by a warp; PTX ISA, section 9.7.14.5.6 says which lane holds what.
// The unit reads the upper 19 bits of a and b: fractions are cut to 10 bits.
__device__ __forceinline__ void mma_m16n8k4_f32_tf32(float *c, const float *a,
    const float *b) {
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])),
                 "r"(__float_as_uint(b[0])));
}

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

// c += a * b, 16 x 8 x 32, by a warp; PTX ISA, section 9.7.14.5.10 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k32_s32_s8(int *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 4; the others stay.
__device__ __forceinline__ void insert_s8(unsigned *to, int i, signed char value) {
  const unsigned bits = static_cast<unsigned char>(value);
  *to = (*to & ~(0xffu << 8 * i)) | bits << 8 * i;
}

// c += a * b, 16 x 8 x 16, by a warp; PTX ISA, section 9.7.14.5.9 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k16_s32_s8(int *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

// An 8-bit float (1 sign, 4 exponent, 3 fraction bits) as it lies in memory.
struct e4m3 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const e4m3 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

// c += a * b, 16 x 8 x 32, by a warp; PTX ISA, section 9.7.14.5.10 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k32_f32_e4m3(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 4; the others stay.
__device__ __forceinline__ void insert_e4m3(unsigned *to, int i, e4m3 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffu << 8 * i)) | bits << 8 * i;
}

// An 8-bit float (1 sign, 5 exponent, 2 fraction bits) as it lies in memory.
struct e5m2 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const e5m2 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

// c += a * b, 16 x 8 x 32, by a warp; PTX ISA, section 9.7.14.5.10 says which lane holds what.
__device__ __forceinline__ void mma_m16n8k32_f32_e5m2(float *c, const unsigned *a,
    const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]));
}

// Value i of a register that holds 4; the others stay.
__device__ __forceinline__ void insert_e5m2(unsigned *to, int i, e5m2 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffu << 8 * i)) | bits << 8 * i;
}

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

// An e4m3 as it lies in memory; each 32 along K share a factor.
struct mxf8 {
  unsigned char bits;
};

// A factor: 2 to the power of bits - 127.
struct ue8m0 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const mxf8 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

// c += a * b, 16 x 8 x 32, by a warp; PTX ISA, section 9.7.14.5.10 says which lane holds what.
// Each 32 elements along K are scaled by a ue8m0: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 1 byte of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k32_f32_mxf8(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X"
               ".m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

// Value i of a register that holds 4; the others stay.
__device__ __forceinline__ void insert_ue8m0(unsigned *to, int i, ue8m0 value) {
  const unsigned bits = value.bits;
  *to = (*to & ~(0xffu << 8 * i)) | bits << 8 * i;
}

// An e5m2 as it lies in memory; each 32 along K share a factor.
struct mxf8e5m2 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const mxf8e5m2 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

// c += a * b, 16 x 8 x 32, by a warp; PTX ISA, section 9.7.14.5.10 says which lane holds what.
// Each 32 elements along K are scaled by a ue8m0: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 1 byte of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k32_f32_mxf8e5m2(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X"
               ".m16n8k32.row.col.f32.e5m2.e5m2.f32.ue8m0 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

// Two e2m1, neighbours along K, the first in the low half; each 32 share a factor.
struct mxf4 {
  unsigned char bits;
};

__device__ __forceinline__ void load4(unsigned *to, const mxf4 *from) {
  const unsigned v = *reinterpret_cast<const unsigned *>(from);
  to[0] = v;
}

// c += a * b, 16 x 8 x 64, by a warp; PTX ISA, section 9.7.14.5.11 says which lane holds what.
// Each 32 elements along K are scaled by a ue8m0: of a row of A by one of lane 4 * (row % 8) +
// row / 8, of a column of B by one of lane 4 * column, in 2 bytes of sfa and sfb from byte_a and
// byte_b on (thread-id 0: the first lanes of each four).
__device__ __forceinline__ void mma_m16n8k64_f32_mxf4(float *c, const unsigned *a,
    const unsigned *b,
    unsigned sfa, unsigned short byte_a, unsigned sfb, unsigned short byte_b) {
  asm volatile("mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X"
               ".m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"
               " {%10}, {%11, 0}, {%12}, {%13, 0};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                 "r"(b[0]), "r"(b[1]),
                 "r"(sfa), "h"(byte_a), "r"(sfb), "h"(byte_b));
}

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
