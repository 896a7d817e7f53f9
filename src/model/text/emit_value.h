// Elements of buffers, as C text.
//
// A register of 32 bits holds several values of a 16- or 8-bit type where a program moves them
// together; such a buffer is "packed". The program counts values, the text registers:
//   value 2·q + v of f16     b[q], half v     insert_f16(&b[q], v, B_s[…])
#pragma once
#include "model/text/emitter.h"

// Finds out which register buffers are packed.
void emit_values_collect(Emitter *emitter);
// Values that share a register of the buffer: 1, 2 or 4.
int emit_values_per_register(const Emitter *emitter, const Buffer *buffer);
// The length of a dimension as it is declared; the last one counts registers.
int64_t emit_dim(const Emitter *emitter, const Buffer *buffer, int d);
const char *emit_register_type(Emitter *emitter, const Buffer *buffer);  // "unsigned"

// Where an expression is written, under the names of this text.
ExprText emit_expr_text(Emitter *emitter, Str *out);

// "acc[m_r][n_r]", "A_s[k_i * 132 + m_t * 8]"; of a packed buffer the register.
const char *emit_element(Emitter *emitter, const Access *access);
// The same in shared memory as base and offset: "A_s_at, k_i * 132 + m_r".
const char *emit_place(Emitter *emitter, const Access *access);
// The element `j` places further on.
Access emit_neighbour(Arena *arena, const Access *access, int j);

// One element, as it lies in memory and as a number.
// Which of the values in its register an access means: 0 where each has one of its own.
const char *emit_part(Emitter *emitter, const Access *access);
const char *emit_number(Emitter *emitter, const Access *access);
// A number as an element of `type`.
const char *emit_rounded(Emitter *emitter, DType type, const char *number);
// Tells what `src` holds, as an element of `type`.
const char *emit_converted(Emitter *emitter, DType type, const Access *src);
// "acc = value;", "insert_f16(&b[q], v, value);"
const char *emit_assignment(Emitter *emitter, const Access *access, const char *value);

// A constant as an element: "1.5f", "0", "f16{0x3e00}"; for a whole register: "0x3e003e00u".
const char *emit_constant(Emitter *emitter, DType type, double value);
const char *emit_packed_constant(Emitter *emitter, DType type, double value);
