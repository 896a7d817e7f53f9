// The register in which one instruction hands a value on to another: which of two it is likelier to
// be, where code does the same with either.
//
//   LOP3.LUT R15, R10, 0x3fc, …        all others of their kind are IMAD.IADD R9, R8, 0x1, R9: it
//   is IMAD.IADD R11, R8, 0x1, R11        the first one that should have R11
#pragma once
#include "ptx/module/ptx_module.h"

// A value that one instruction makes and another one reads, in one of two registers, the first of n
// each; with either of them code does the same.
typedef struct McHanded {
  int writer, reader;
  PtxArg in, or_in;
  int n;
} McHanded;

// How likely it is that the compiler took `in`: logarithm of the odds, times MC_ODDS; below 0:
// `or_in`. Compilers hand values on in registers that hold others before and behind, write a result
// over a source, read registers of both banks, and fill low registers first. Of 4,917 such pairs of
// the ten kernels in tests/data/machine/open, with the writer's register wrong, 96.6 % come out
// right, 1.1 % wrong, and 2.3 % are nearly even.
enum { MC_ODDS = 4, MC_EVEN = 3 };
int mc_handed_in(const PtxModule *module, const McHanded *handed);
