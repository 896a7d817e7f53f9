// Puts into words what a line of inline PTX asks of the compiler.
//
//   char out[ASM_WORDS_BYTES];
//   asm_words("    : \"=r\"(to[0]) : \"r\"(from) : \"memory\");", out)
//   out    "=r" written: a 32-bit register   "r" read: a 32-bit register   "memory" …
#pragma once
#include <stdbool.h>

enum { ASM_WORDS_BYTES = 320 };

// False, with an empty text, for a line that has none of it.
bool asm_words(const char *line, char out[ASM_WORDS_BYTES]);
