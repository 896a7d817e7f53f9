// Kernels beside the one that multiplies; their threads go through a matrix one after the other.
#pragma once
#include "model/ir/role.h"
#include "model/ir/stmt.h"

// Thread f = block · 256 + thread has the `width` neighbours along the fast dimension that begin at
// place f · width, counted along rows of that dimension. Worked example, A[4096 x 4096], width 4:
// thread 1025 has A[1, 4 … 7].
typedef struct Flat {
  Var *block, *thread;
  const Expr *slow, *fast;  // indices of the first of them
} Flat;

// `width` divides `fast`.
Flat flat_cells(Program *program, int64_t slow, int64_t fast, int64_t width);
// The body's kernel.
Stmt *flat_bind(Program *program, KnobId knob, Flat flat, Stmt *body);
// A register of the type of sums for each of a thread's cells.
Buffer *flat_registers(Program *program, const char *name, BufferRole role, int64_t n, KnobId knob);
