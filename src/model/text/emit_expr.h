// Index expressions as CUDA text.
//
// The same text as expr_print where 32 bits hold every intermediate value; where they do not, the
// smallest part that overflows is computed as long long.
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "model/ir/names.h"

enum { EMIT_TABLES_MAX = 16, EMIT_RING_MAX = 16 };

// Numbers that run along with a loop, and the text that stands for them; see emit_parts.h.
typedef struct EmitRingTerm {
  const Expr *number;
  const char *text;
} EmitRingTerm;

typedef struct EmitRing {
  int64_t slots;
  int n, n_phases;
  EmitRingTerm term[EMIT_RING_MAX];  // the slot, its phases, slots of other slabs
  const char *phase[2];
} EmitRing;

// The names that a text uses and that must therefore be declared above it: constant tables
// (table_0, table_1, …) and the extents M, N, K.
typedef struct EmitSymbols {
  int n_tables;
  const Expr *table[EMIT_TABLES_MAX];  // the first lookup of each
  bool extent[AXIS_COUNT];
  bool own_end[AXIS_COUNT];  // that guards name m_end, n_end, k_end instead; emit_parts.h
  const EmitRing *ring;      // that goes round where the text stands; NULL: none
} EmitSymbols;

typedef struct ExprText {
  Arena *arena;
  Str *out;
  EmitSymbols *symbols;
  const char **names;  // of variables, by id: emit_names()
  int64_t n_threads;   // of the kernel's block: what bounds threadIdx.x
} ExprText;

const char *emit_extent_name(const Program *program, int axis);  // "M", "N", "K"

const char *emit_end_name(const Program *program, int axis);  // "m_end", "n_end", "k_end"

// Tells what runs along for a number in a loop over slabs; NULL: it is computed.
const char *emit_runs_along(const EmitRing *ring, const Expr *number);

void emit_expr(ExprText *text, const Expr *expr);

// The element offset of access_offset(), with the buffer's strides factored out again so that rows
// and columns can be told apart: m_b * 524288 + m_t * 4096 + k reads (m_b * 128 + m_t) * K + k.
void emit_offset(ExprText *text, const Program *program, const Access *access);

// The same for a part of the offset.
void emit_sum(ExprText *text, const Program *program, const Buffer *buffer, const Expr *offset);

// The same as one term of a sum: in parentheses where it needs them.
void emit_term(ExprText *text, const Program *program, const Buffer *buffer, const Expr *offset);

// The condition of access_guard(), bounds by their names. Prints nothing and says false when the
// access is always inside.
bool emit_guard(ExprText *text, const Program *program, const Access *access);

// Marks the axes with extents that the condition names.
void emit_guard_axes(Arena *arena, const Program *program, const Access *access,
                     bool named[AXIS_COUNT]);
