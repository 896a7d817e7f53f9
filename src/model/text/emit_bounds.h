// Bounds that each copy of an unrolled loop over slabs compares with anew.
//
//   #pragma unroll 2
//   for (int k_o = 0; k_o < 16; ++k_o) {
//     const int m_end = opaque(M);                     once in each of two copies
//     …
//     load2_or_zero(&a[v_a], &A[row * K + k], row < m_end);      not  row < M
//
// With M the compiler sees that both copies compare alike, and keeps what it has compared. A thread
// has seven predicates; what more are kept ptxas puts into bits of registers, and where they were
// 38 or 40 ptxas 12.9 to 13.5 has overwritten such a register in a loop that asks for boxes of TMA
// (kernels/toolchain/machine/saved_predicates.h): of 28,000 random kernels one was wrong on an
// H100. By bounds of its own a copy compares where it loads, and keeps nothing.
#pragma once
#include "model/text/emitter.h"

// In front of a loop: whether bounds are compared in it that its copies should have of their own.
// If so guards are written by them until emit_bounds_end.
bool emit_bounds_begin(Emitter *emitter, const Stmt *loop);
// Inside of the loop, in front of its first statement: declares them.
void emit_bounds_declare(Emitter *emitter);
void emit_bounds_end(Emitter *emitter);
