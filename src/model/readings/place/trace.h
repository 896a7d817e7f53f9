// The element tracer: the way of one element of A, B or C through a program, move by move.
//
//   TraceAt at = {.i = 130, .j = 7, .k = 21};    A[130][21] · B[21][7] goes into C[130][7]
//   Trace trace = trace_element(arena, program, cta, ATOM_A, at);
//   trace.move[0].stmt, .from, .to, .thread      cp.async, A, A_s byte 8,336, thread 40
//
// A and B: from global memory to the registers of the thread that multiplies them into C[i][j],
// which is the last `to`; where the tensor core reads the slab by descriptor, that slab is. C: from
// the accumulator, the first `from`, to global memory. What no kernel writes to global memory is
// followed within the thread that has it: S from its sums to the registers of P, where the second
// product takes it up, and P back to them. Nothing is assumed about the schedule: every
// statement of the program is evaluated for every lane, layouts, guards and rings included, and the
// moves are those that touch the element.
#pragma once
#include "model/readings/place/trace_move.h"
#include "model/words/fragment.h"

enum { TRACE_MOVES_MAX = 4 };

typedef struct Trace {
  AtomOperand operand;
  int64_t row, col;  // of the element in its matrix
  int64_t cta;  // in whose memory it comes to lie: that of C[i][j], or of B the other of its pair
  int n_moves;  // 0: no statement touches it
  TraceMove move[TRACE_MOVES_MAX];
} Trace;

// `cta`: the one that computes C[i][j] for the split that k belongs to (grid.h). The element must
// lie within its matrix.
Trace trace_element(Arena *arena, const Program *program, int64_t cta, AtomOperand operand,
                    TraceAt at);

// Traces all three elements of a product at once.
void trace_product(Arena *arena, const Program *program, int64_t cta, TraceAt at,
                   Trace out[ATOM_OPERANDS]);

// Byte address in the block's shared memory and its bank; only of a place in shared memory.
int64_t trace_address(const TracePlace *place);
int trace_bank(const TracePlace *place);
