// Tells what moves columns between tensor memory and registers.
#pragma once
#include "base/str.h"
#include "model/text/prelude.h"

void prelude_write_tensor_ld(Str *out, const Prelude *prelude);
void prelude_write_tensor_st(Str *out, const Prelude *prelude);
