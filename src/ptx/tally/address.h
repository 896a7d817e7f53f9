// The facts about addresses that are known without running anything: which register and constant
// they are made of, their low bits, and which variable of shared memory they lie in.
#pragma once
#include "ptx/module/ptx_module.h"

// value ≡ residue modulo 2^bits. 64 bits: the value itself is known.
typedef struct PtxKnown {
  uint8_t bits;
  uint64_t residue;
} PtxKnown;

enum { PTX_SYMBOL_NONE = -1, PTX_SYMBOL_ANY = -2 };

typedef struct PtxAddressing {
  const PtxModule *module;
  const PtxFunction *function;
  int *n_defs, *def;  // by register: how many instructions write it, the last of them
  PtxKnown *known;
  int *symbol;  // variable that the value points into; PTX_SYMBOL_NONE: into none, _ANY: not known
} PtxAddressing;

// base register (or constant) and offset: registers that are another one plus a constant are gone
// through, constants are all offset. Equal roots have equal values where neither was written
// between.
typedef struct PtxRoot {
  PtxArg base;
  int64_t offset;
} PtxRoot;

PtxAddressing *ptx_addressing(Arena *arena, const PtxModule *module, const PtxFunction *function);
PtxRoot ptx_address_root(const PtxAddressing *a, const PtxGroup *address);
// The low bits of the address that a root stands for.
PtxKnown ptx_address_known(const PtxAddressing *a, const PtxRoot *root);
int ptx_address_symbol(const PtxAddressing *a, const PtxGroup *address);
