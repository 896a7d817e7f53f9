// Decoded instructions as text, for machine code that no disassembler has printed.
//
//   @!P0 BRA 0x150
//   FFMA R84, R8.reuse, R35, R84
//   LDS.128 R44, R60                 operands are registers alone: no modifiers, no constants
#pragma once
#include "base/arena.h"
#include "sass/sass_code.h"

const char *sass_text(Arena *arena, const SassInst *inst);
// Whether the instruction is only padding behind a kernel's end, from `at` on.
bool sass_is_padding(const SassCode *code, int at);
