// Whole clusters of them: the SMs of a GPC may not come out even, so that there is room for fewer
// than the SMs together would hold, and who waits for one that is not there waits for ever.
template <class Kernel>
static int blocks_in_clusters_that_fit(Kernel kernel, int most, int threads, size_t smem_bytes,
                                       int most_per_sm, int cluster) {
  const int fit = blocks_that_fit(kernel, most, threads, smem_bytes, most_per_sm);
  const int blocks = std::max(fit / cluster, 1) * cluster;
  cudaLaunchAttribute size = {};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim.x = cluster;
  size.val.clusterDim.y = size.val.clusterDim.z = 1;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(blocks);
  launch.blockDim = dim3(threads);
  launch.dynamicSmemBytes = smem_bytes;
  launch.attrs = &size;
  launch.numAttrs = 1;
  int clusters = 0;
  must(cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch), "clusters that fit");
  return std::min(blocks, clusters * cluster);
}

