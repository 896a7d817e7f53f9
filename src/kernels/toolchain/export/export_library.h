// Kernels of many problems as a library: a .cu for each, a C header, and a .cu with the function
// that finds the kernel of a problem and launches it.
//
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -lib -o libgemm_tuned.a *.cu
//   cc -I. main.c libgemm_tuned.a -lcudart -lstdc++
//
// A problem is M, N, K, the types of operands, sums and result, and the layout of A and B. A
// problem that no kernel is of is told the nearest one of the same types and layout: the one with
// the smallest |log2 of the ratio| of M, of N and of K, added up.
#pragma once
#include "model/readings/model.h"

typedef struct LibraryKernel {
  const Model *model;         // of a matmul, all of one target
  double time_ns, cublas_ns;  // as measured; 0 = not known
  const char *when;           // of the measurement
} LibraryKernel;

typedef struct LibraryFile {
  const char *name, *text;
} LibraryFile;

// gemm_tuned.h, gemm_tuned.cu, then one for each kernel: n + 2 files.
const LibraryFile *export_library(Arena *arena, const char *gpu, const LibraryKernel *kernels,
                                  int n);
