// One operation as CUDA: how its family writes it, and what families share for that.
#pragma once
#include "model/ir/op_kind.h"
#include "model/text/emit_value.h"

typedef struct OpEmission {
  void (*write)(Emitter *emitter, const Op *op);
  const PreludeText *call;  // a call without arguments is all there is to write; NULL: `write` does
  // Whether a wide one becomes several statements, one for each element; NULL: never.
  bool (*is_split)(const Emitter *emitter, const Op *op);
  // Tells its use, by the role of the buffer that it writes, or reads where it writes nothing
  // (ROLE_COUNT places): the remark above a group without a note of its pass; NULL: nothing is
  // said.
  const char *const *purposes;
  // For one that claims: what it calls the variables that are known behind it; else NULL.
  void (*name_known)(Arena *arena, const Program *program, const char **name);
} OpEmission;

const OpEmission *op_emission(OpKind kind);  // model/ops/table.c

void emit_op(Emitter *emitter, const Op *op);
bool emit_op_is_split(const Emitter *emitter, const Op *op);

const char *emit_condition(Emitter *emitter, const Expr *expr);
// "column, row" that a box begins at, of the matrix as it lies in memory; behind them which matrix
// it is, where several lie one behind the other.
const char *emit_corner(Emitter *emitter, const Access *global);
// The guard of an access; NULL where the ranges leave nothing open.
const char *emit_guard_text(Emitter *emitter, const Access *access);
// A statement under a guard (NULL: none), on one line where it fits.
void emit_guarded_line(Emitter *emitter, const char *guard, const char *statement);

// tf32 lies in memory and in registers as f32.
DType emit_stored_type(DType type);
bool emit_is_same_type(const Buffer *a, const Buffer *b);
// Whether one instruction moves `width` elements: 4, 8 or 16 bytes, whole registers, and more than
// one.
bool emit_is_one_move(const Buffer *buffer, int width);
Prelude emit_move_of(const Emitter *emitter, PreludeKind kind, const Buffer *memory,
                     const Buffer *registers, int width);
// The name of a definition that the family brings along.
const char *emit_given(Emitter *emitter, const PreludeText *given);
// helper(&to, &from); or helper_or_zero(&to, &from, guard);
void emit_move(Emitter *emitter, const Op *op, PreludeKind kind, const Buffer *registers);
