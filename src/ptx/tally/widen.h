// Predicts which scalar accesses to shared memory the assembler makes one wide access of.
//
// Measured with ptxas 13.0 (sm_90a), about sixty small kernels. Take loads and stores of one basic
// block at addresses of one register and constants, where the register's low bits are known well
// enough. They become one access of twice or four times the width. For four times, three of the
// four loads are enough (the fourth is loaded for nothing); stores must be all there. An
// instruction that may write the same array between two loads keeps them apart, as does any barrier
// or atomic of shared memory; volatile accesses stay as they are.
#pragma once
#include "ptx/module/ptx_module.h"

enum { PTX_WIDE_NONE = -1, PTX_WIDE_GONE = -2 };

typedef struct PtxWide {
  // The instruction that the access is counted at: the first load, the last store. PTX_WIDE_GONE:
  // the machine code has no such access.
  int leader;
  int bytes;       // of one lane
  int64_t offset;  // from the leader's address to the access's
  int n;           // accesses of the text in it
} PtxWide;

// For each instruction of the function, from its first: the access that it became part of. A lone
// access has itself as leader; an instruction that is no plain load or store of shared memory has
// leader −1.
const PtxWide *ptx_widen(Arena *arena, const PtxModule *module, const PtxFunction *function);

// ---- address.c: facts about addresses that are known without running anything -------------------
//
// Which register and constant they are made of, their low bits, and which variable of shared memory
// they lie in.

// value ≡ residue modulo 2^bits. 64 bits: the value itself is known.
typedef struct PtxKnown {
  uint8_t bits;
  uint64_t residue;
} PtxKnown;

enum { PTX_SYMBOL_NONE = -1, PTX_SYMBOL_ANY = -2 };

typedef struct PtxAddressing {
  const PtxModule *module;
  const PtxFunction *function;
  int *n_defs, *def;  // by register: the number of instructions that write it, the last of them
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
