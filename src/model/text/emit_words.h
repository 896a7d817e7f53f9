// What a buffer is for, in the words of its remark.
#pragma once
#include "model/text/emitter.h"

// "the slab of A"; NULL: nothing is said.
const char *emit_role_words(Emitter *emitter, BufferRole role);
