// A persistent kernel has as many blocks as the device holds at once: `most` of them have any
// tile. The driver does not count tensor memory: `most_per_sm` is what that has room for.
template <class Kernel>
static int blocks_that_fit(Kernel kernel, int most, int threads, size_t smem_bytes,
                           int most_per_sm) {
  int device, n_sms, per_sm;
  must(cudaGetDevice(&device), "cudaGetDevice");
  must(cudaDeviceGetAttribute(&n_sms, cudaDevAttrMultiProcessorCount, device), "SMs");
  must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, smem_bytes),
       "occupancy");
  return std::min(most, n_sms * std::min(per_sm, most_per_sm));
}

