// Launches a kernel while the one in front of it still runs; it waits by griddepcontrol.wait.
template <class... Parameters, class... Arguments>
static void launch_early(void (*kernel)(Parameters...), int blocks, int threads,
                         size_t smem_bytes, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = smem_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  must(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "launch");
}

