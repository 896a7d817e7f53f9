// Operations as text, by the templates of op.def.
#pragma once
#include "model/ir/notation/op_text.h"
#include "model/ir/notation/print_span.h"

void spans_add_expr(Spans *out, const Expr *expr);
// The statement: "acc[0, 0] += a[0] * b[0]"; `full`: with what only the complete text says.
void op_print(Spans *out, const Program *program, const Op *op, bool full);

// A row of the screen: buffers without indices, and for registers the part that `count` executions
// reach, "acc[8×8] += a*b". `roomy`: with the parts that need room.
void op_print_brief(Spans *out, const Program *program, const Op *op, int64_t count, bool roomy);
