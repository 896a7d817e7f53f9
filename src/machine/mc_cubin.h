// The facts of a cubin about its kernels beside their code: parameters, shared memory, constant
// banks.
//
//   .nv.info.KERNEL   attribute 0x17: number, offset and size of a parameter; 0x0a: the place where
//                     parameters begin in bank 0; 0x05, 0x10: threads; 0x3d: blocks of a cluster
//   .nv.info          0x12: stack of a thread, by the kernel's symbol
//
// The attributes were read off cubins of ptxas 13.0 for kernels with known parameters.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/elf_file.h"

enum { MC_PARAMETERS_MAX = 1024, MC_RESERVED_SHARED = 1024 };

typedef struct McParameter {
  int offset, bytes;
} McParameter;

typedef struct McKernel {
  const char *name;
  ElfBytes text;
  int n_parameters;
  McParameter *parameters;
  int parameter_bytes, parameters_at;  // at: in bank 0
  int shared_bytes;                    // with what the system has of it since sm_90
  int stack_bytes;
  int registers;
  int maximum[3], required[3], cluster[3];  // 0: not said
} McKernel;

// A variable as the program that loaded the cubin had it: where it lies, and of a constant what it
// held at the launch.
typedef struct McVariable {
  const char *symbol;
  uint64_t address;            // 0: not known
  const unsigned char *bytes;  // NULL: not a constant
  uint64_t n;
} McVariable;

typedef struct McCubin {
  const void *bytes;
  size_t n;
  int sm;
  int n_kernels;
  McKernel *kernels;
  int n_variables;
  const McVariable *variables;  // those that are known; mc_cubin_read() finds none
} McCubin;

// False: this is no cubin.
bool mc_cubin_read(Arena *arena, const void *bytes, size_t n, McCubin *out);
const McKernel *mc_cubin_kernel(const McCubin *cubin, const char *name);

// A symbol: the section that it lies in, and where.
typedef struct McSymbol {
  const char *name, *section;  // section NULL: outside
  uint64_t at, bytes;
  bool is_variable;
} McSymbol;
bool mc_cubin_symbol(const McCubin *cubin, const char *name, McSymbol *out);
// By its place in the table of symbols; false: the table ends before.
bool mc_cubin_symbol_at(const McCubin *cubin, int index, McSymbol *out);
// Its place in the table of symbols; -1: there is none.
int mc_cubin_symbol_index(const McCubin *cubin, const char *name);
