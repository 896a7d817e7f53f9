// Emitted texts, compiled for the CPU and run (tests/data/cuda_on_cpu.h says how).
#pragma once
#include <stdbool.h>

#include "base/str.h"
#include "model/text/emit.h"

enum { CPU_CASES_MAX = 1024 };

typedef struct CpuProgram {
  Str text;
  int n_cases;
  const char *name[CPU_CASES_MAX];
  const char *seen[CPU_CASES_MAX];  // the texts, as emitted
} CpuProgram;

CpuProgram cpu_program_new(Arena *arena);
// Whether descriptors find what wgmma multiplies: until slabs are laid out none do, and such a text
// says nothing.
bool cpu_finds_tiles(const Program *program);
// A text that is there already is not added again.
void cpu_program_add(CpuProgram *cpu, const char *name, const Emission *emission,
                     const Program *program);

// Compiles and runs all cases; true when each computes its product. `said` gets what the compiler
// or the program printed. `skipped`: there is no C compiler.
bool cpu_program_run(Arena *arena, const CpuProgram *cpu, const char **said, bool *skipped);
// Compiles all cases once and runs each apart from the others; how many do not compute their
// product. All of them where there is no C compiler.
int cpu_program_count_wrong(Arena *arena, const CpuProgram *cpu);
