// The layouts of threads and values of one tensor-core instruction, by CuTe's name of it.
//
//   SM80_16x8x16_F32F16F16F32_TN    ThrID 32:1, A ((4,8),(2,2,2)):((32,1),(16,8,128)), …
//   SM90_64x128x16_F32F16F16_RS     C ((4,8,4),(2,2,16)):((128,1,16),(64,8,512))
//   SM70_8x8x4_F32F16F16F32_TN      ThrID (4,2):(1,16)
#pragma once
#include "banks/layouts/cute.h"
#include "base/diag.h"

typedef struct CuteAtom {
  int64_t shape[3];      // M, N, K
  CuteLayout thread_id;  // of those that issue it
  CuteLayout tv[3];      // of A (M x K), B (N x K), C (M x N)
  bool in_memory[3];     // read by a descriptor: tv says nothing
} CuteAtom;

// Whether a name of this kind stands in the text; *begin, *end: where.
bool cute_atom_find(const char *text, const char **begin, const char **end);
// False after a finding of rule "layout".
bool cute_atom_named(Arena *arena, const char *name, CuteAtom *out, Diags *diags);
