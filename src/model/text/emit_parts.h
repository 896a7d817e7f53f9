// Parts of a text that emit_cuda.c and emit_stmt.c put together.
#pragma once
#include "model/ir/buffer.h"
#include "model/ir/names.h"
#include "model/ir/role.h"
#include "model/text/emitter.h"

// ---- emit_base.c --------------------------------------------------------------------------------
// Where a thread begins in each slab: the part of an address that no loop changes.
//
// A_s[k_o % 2 * 1056 + k_i * 132 + m_w * 16 + m_l * 4] is written A_s_at[k_o % 2 * 1056 + k_i *
// 132] with  float *const A_s_at = A_s + m_w * 16 + m_l * 4;  declared once. It reads better, and
// the compiler need not find out: NVRTC (13.0) computes shared addresses in 64 bits and does not
// pull the thread's part out of the unrolled loops by itself (1198 instructions per slab of the
// fp32 ladder's last rung instead of 1123).

// Finds the bases of a kernel; they stay valid until the next kernel is begun.
void emit_bases_collect(Emitter *emitter, const Kernel *kernel);

// The base of an access and, in *rest, the rest of its offset; NULL when it has none.
const EmitBase *emit_base_of(const Emitter *emitter, const Access *access, const Expr **rest);

void emit_bases_declare(Emitter *emitter);

// ---- emit_bounds.c ------------------------------------------------------------------------------
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

// In front of a loop: whether bounds are compared in it that its copies should have of their own.
// If so guards are written by them until emit_bounds_end.
bool emit_bounds_begin(Emitter *emitter, const Stmt *loop);
// Inside of the loop, in front of its first statement: declares them.
void emit_bounds_declare(Emitter *emitter);
void emit_bounds_end(Emitter *emitter);

// ---- emit_elect.c -------------------------------------------------------------------------------
// Conditions of a kernel that elects (ir/elect.h), as CUDA.

// Notes whether the kernel elects; declares `warp` where it does.
void emit_elect_begin(Emitter *emitter, const Kernel *kernel);
void emit_elect_declare(Emitter *emitter);
// The parts of a condition (`expr`: the IF's) of such a kernel that `warp` does not say.
typedef void EmitReads(const Expr *expr, void *context);
void emit_condition_reads(const Stmt *stmt, const Expr *expr, EmitReads *reads, void *context);
// The condition of an IF: "warp == 5 && elect_one()" where it elects.
const char *emit_if_condition(Emitter *emitter, const Stmt *stmt);
// The helper that is true in one lane of a warp.
const char *emit_elect_one(Emitter *emitter);

// ---- emit_names.c -------------------------------------------------------------------------------
// Tells what the variables of a kernel are called in its text.

// By variable id: the name of the nest wherever it is free, otherwise the name and a number.
const char **emit_names(Arena *arena, const Program *program, const Kernel *kernel);

// ---- emit_ring.c --------------------------------------------------------------------------------
// Slots and phases of a ring that run along with its loop instead of being divided out anew.
//
//   int slot = turn * 256 % 3, full_phase = turn * 256 / 3 % 2;
//   for (int k_o = 0; k_o < 256; ++k_o) {
//     mbarrier_wait(full, slot, full_phase);        not  (turn * 256 + k_o) % 3, … / 3 % 2
//     …
//     if (++slot == 3) {
//       slot = 0;
//       full_phase ^= 1;
//     }
//   }
//
// The program says a slot as a digit of what a ring counts (model/ir/ring.h), and so do the
// interpreter and all readings. Of a power of two that is a mask and a shift; of another number it
// is a multiplication by a reciprocal between a slot's release and the copy into it, and with three
// slots nothing hides it: the rung `wide` of the hopper ladder with B column-major went from 687 to
// 712 TFLOP/s at 16384³ by this alone (H200, 2026-11-23, one chip, medians of nine batches of 300
// ms).

// In front of a loop: if the phases of a ring stand in it, declares what runs along, and numbers
// are written by it until emit_ring_end. NULL: the loop has no such ring, and there is nothing to
// end.
const EmitRing *emit_ring_begin(Emitter *emitter, const Stmt *loop);
// Behind the loop's last statement, inside of it: on to the next slab.
void emit_ring_end(Emitter *emitter, const EmitRing *ring);

// ---- emit_stamp.c -------------------------------------------------------------------------------
// Stamps: where a traced kernel writes the SM's clock, and what its stamps mean.
//
// The stamps follow from op.def alone. Operations that wait, meet, tell or take registers
// have a begin and an end of their own; work between them that is of one kind has one begin and one
// end together, because a stamp inside a loop of multiplications would be all that is measured.
// Fences and the closing of groups belong to the work that they stand at.

// Before the statements of the traced kernel are printed. Does nothing where no stamps are wanted.
void emit_stamps_collect(Emitter *emitter, const Stmt *body);
// Whether a stamp stands before or behind the statement, or inside it.
bool emit_has_stamps(const Emitter *emitter, const Stmt *stmt);
// `before` stands in front of the statement in its list; NULL: nothing does.
void emit_stamp_before(Emitter *emitter, const Stmt *before, const Stmt *stmt);
void emit_stamp_behind(Emitter *emitter, const Stmt *stmt);

// The lines above the function NAME_traced, which is the kernel's body as a template; those at its
// begin and end; and the statement of the kernel itself, which calls it with the arguments ("A, B,
// C, ") and the block's pages.
void emit_trace_template(Emitter *emitter);
void emit_trace_begin(Emitter *emitter);
void emit_trace_end(Emitter *emitter);
void emit_trace_choice(Emitter *emitter, const EmitKernel *facts, const char *arguments);

// ---- emit_uses.c --------------------------------------------------------------------------------
// The variables and buffers that a list of statements uses: what a kernel declares.

typedef struct EmitUses {
  const Program *program;
  const EmitRing *ring;  // the numbers that run along read nothing
  bool elects;           // conditions may be said by `warp` (emit_parts.h)
  bool *var;             // by id
  bool more;             // have been found since it was put back
  bool read[BUFFERS_MAX], written[BUFFERS_MAX];
} EmitUses;

EmitUses emit_list_uses(Emitter *emitter, const Stmt *list);
bool emit_uses_buffer(const EmitUses *uses, const Buffer *buffer);

// ---- emit_delay.c -------------------------------------------------------------------------------
// Delays: where warps of a kernel sleep, so that an order which does harm comes about on a GPU.

// Whether a warp sleeps in front of a statement.
bool emit_has_delay(const Emitter *emitter, const Stmt *stmt);
// The counts of how often a warp has come to each such place; where there is one.
void emit_delays_declare(Emitter *emitter);
void emit_delay_before(Emitter *emitter, const Stmt *stmt);

// ---- emit_words.c -------------------------------------------------------------------------------
// Words of remarks, in which matrices are called by their names.

// "the slab of A"; NULL: nothing is said.
const char *emit_role_words(const Emitter *emitter, BufferRole role);
// `words` with names: %s is the matrix that the role belongs to, %a, %b and %c are the operands of
// its product. "write the cells of %s", ROLE_C: "write the cells of O" in attention. NULL for NULL.
const char *emit_words_of(const Emitter *emitter, const char *words, BufferRole role);
