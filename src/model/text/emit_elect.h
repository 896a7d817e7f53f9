// Conditions of a kernel that elects (ir/elect.h), as CUDA.
#pragma once
#include "model/text/emitter.h"

// Notes whether the kernel elects; declares `warp` where it does.
void emit_elect_begin(Emitter *emitter, const Kernel *kernel);
void emit_elect_declare(Emitter *emitter);
// The parts of a condition (`expr`: that of the IF) of such a kernel that are not said by `warp`.
typedef void EmitReads(const Expr *expr, void *context);
void emit_condition_reads(const Stmt *stmt, const Expr *expr, EmitReads *reads, void *context);
// The condition of an IF: "warp == 5 && elect_one()" where it elects.
const char *emit_if_condition(Emitter *emitter, const Stmt *stmt);
// The helper that is true in one lane of a warp.
const char *emit_elect_one(Emitter *emitter);
