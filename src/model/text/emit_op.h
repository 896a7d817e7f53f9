// One operation as CUDA.
#pragma once
#include "model/text/emitter.h"

void emit_op(Emitter *emitter, const Op *op);
// Whether it becomes several statements, one for each element.
bool emit_op_is_split(const Emitter *emitter, const Op *op);
const char *emit_condition(Emitter *emitter, const Expr *expr);
