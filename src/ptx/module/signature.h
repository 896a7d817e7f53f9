// The parameters of a kernel as CUDA has them: "const half *", read from its mangled name where
// that says it (PTX itself knows 64 bits only), otherwise the type of PTX.
#pragma once
#include "ptx/module/ptx_module.h"

typedef enum PtxElement {
  PTX_ELEMENT_UNKNOWN,
  PTX_ELEMENT_F32,
  PTX_ELEMENT_F64,
  PTX_ELEMENT_F16,
  PTX_ELEMENT_BF16,
  PTX_ELEMENT_INT,  // of `bytes` bytes
} PtxElement;

typedef struct PtxParamType {
  const char *text;    // "const float *", ".u64", ".u64 .ptr"
  bool is_pointer;     // false where it is not known too
  PtxElement element;  // that it points to, or that it is
  int bytes;           // of an element; 0: not known
} PtxParamType;

// One for each parameter.
const PtxParamType *ptx_signature(Arena *arena, const PtxFunction *kernel);
// "hgemm(const half *, float *, int)"
const char *ptx_signature_text(Arena *arena, const PtxFunction *kernel);
