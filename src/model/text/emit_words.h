// Words of remarks, in which matrices are called by their names.
#pragma once
#include "model/ir/buffer.h"
#include "model/ir/role.h"
#include "model/text/emitter.h"

// "the slab of A"; NULL: nothing is said.
const char *emit_role_words(const Emitter *emitter, BufferRole role);
// `words` with names: %s is the matrix that the role belongs to, %a, %b and %c are the operands of
// its product. "write the cells of %s", ROLE_C: "write the cells of O" in attention. NULL for NULL.
const char *emit_words_of(const Emitter *emitter, const char *words, BufferRole role);
