// One operation as one or more lines of CUDA.
#pragma once
#include "kernels/emitter.h"

void emit_op(Emitter *emitter, const Op *op);
const char *emit_condition(Emitter *emitter, const Expr *expr);
