// The explorer at the view of the user's own kernel.
#pragma once
#include "base/diag.h"

// `words` are those behind `gemmview open`, --watch left out. The command's exit status.
int open_screen(Arena *arena, const char *const *words, int n, bool watches, Diags *diags);
