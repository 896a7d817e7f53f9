// CUDA's libraries, opened when first asked for: one binary runs everywhere and says what is
// missing.
//
//   const char *error = NULL;
//   const NvrtcApi *nvrtc = dl_nvrtc(&error);   // NULL: error is a sentence
//
// A library stays open for the life of the process. Not for threads: the worker has one.
#pragma once
#include "base/arena.h"
#include "kernels/toolchain/cuda_api.h"

typedef enum DlLibrary { DL_CUDA, DL_NVRTC, DL_CUBLAS, DL_CUBLASLT, DL_NVML, DL_N } DlLibrary;

const CudaApi *dl_cuda(const char **error);
const NvrtcApi *dl_nvrtc(const char **error);
const CublasApi *dl_cublas(const char **error);
const CublasLtApi *dl_cublaslt(const char **error);
const NvmlApi *dl_nvml(const char **error);

// The library as the doctor prints it; dl_status opens it if that was not tried yet.
typedef struct DlStatus {
  const char *name;     // "NVRTC"
  const char *path;     // where it was found; NULL when it was not
  const char *error;    // the sentence; NULL when found
  const char *purpose;  // "compiles CUDA text"
} DlStatus;
DlStatus dl_status(DlLibrary library);

// `name` ("nvdisasm") in the bin folders of the toolkits found; NULL when there is none.
const char *dl_find_tool(Arena *arena, const char *name);

// Answers with this table of functions instead of a library's, for tests; NULL searches again.
void dl_replace(DlLibrary library, const void *api);
