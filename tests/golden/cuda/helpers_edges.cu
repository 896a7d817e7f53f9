__device__ __forceinline__ void load4(float *to, const float *from) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void load4_or_zero(float *to, const float *from, bool inside) {
  float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
  if (inside) v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void store4(float *to, const float *from) {
  *reinterpret_cast<float4 *>(to) = float4{from[0], from[1], from[2], from[3]};
}

__device__ __forceinline__ void cp_async1_or_zero(float *slab, int at,
                                                  const float *from_global, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(to), "l"(from_global), "r"(n_bytes) : "memory");
}

__device__ __forceinline__ void cp_async4_or_zero(float *slab, int at,
                                                  const float *from_global, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(to), "l"(from_global), "r"(n_bytes) : "memory");
}

// The copies this thread has issued since the last commit become one group.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `n` of this thread's groups are still in flight.
template <int n>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

__device__ __forceinline__ void cp_async1_or_zero_if(float *slab, int at,
                                                     const float *from_global, bool inside, bool wanted) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 4 : 0;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0;"
               " @p cp.async.ca.shared.global [%0], [%1], 4, %2; }"
               :: "r"(to), "l"(from_global), "r"(n_bytes), "r"(static_cast<int>(wanted)) : "memory");
}

__device__ __forceinline__ void cp_async4_or_zero_if(float *slab, int at,
                                                     const float *from_global, bool inside, bool wanted) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slab)) + 4 * at;
  const int n_bytes = inside ? 16 : 0;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0;"
               " @p cp.async.cg.shared.global [%0], [%1], 16, %2; }"
               :: "r"(to), "l"(from_global), "r"(n_bytes), "r"(static_cast<int>(wanted)) : "memory");
}

// The same number, hidden from the compiler.
__device__ __forceinline__ int opaque(int number) {
  asm volatile("" : "+r"(number));
  return number;
}
