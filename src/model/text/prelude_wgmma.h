// The part of the prelude that a warpgroup's atoms need; prelude_text.c holds the table. Others use
// prelude.h.
#pragma once
#include "base/str.h"
#include "model/text/prelude.h"

const char *prelude_wgmma_name(Arena *arena, const Prelude *prelude);
void prelude_write_wgmma(Str *out, const Prelude *prelude);
void prelude_write_tile(Str *out, const Prelude *prelude);
