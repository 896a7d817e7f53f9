// Tensor maps of a machine, for run_tensor.c and run_tensormap.c.
#pragma once
#include "ptx/run/run.h"

enum { PTX_MAP_BYTES = 128 };

struct PtxTensor {
  unsigned char map[PTX_MAP_BYTES];
  TmaBox box;
  uint64_t address;
  const Layout *layout;
  struct PtxTensor *next;
};

// The tensor of a map that the launch brought; NULL: these bytes are none.
const PtxTensor *ptx_tensor_of(const PtxMachine *m, const unsigned char *bytes);
// The tensor of a map that the kernel made; NULL: these bytes are none, or *why says what is wrong.
const PtxTensor *ptx_made_tensor(PtxMachine *m, const unsigned char *bytes, const char **why);
