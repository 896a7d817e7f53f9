// How people write an element: "C[130][7]", "a 130 21", "B 3,4", and "3,5" where the operand is
// known.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "model/words/fragment.h"

// False for anything else, and for a letter that is not one of the names. Without a letter *operand
// stays what it is.
bool element_read(const char *text, const char *const names[ATOM_OPERANDS], AtomOperand *operand,
                  int64_t index[2]);
