// How the operations of tcgen05 are written in CUDA (tcgen05_text.c); tcgen05.c says how they run.
#pragma once
#include "model/ir/stmt.h"
#include "model/ops/ops.h"

// The CTAs that do it together: 1, or 2 of a pair.
static inline int tcgen05_group(const Op *op) { return op->cta_group ? op->cta_group : 1; }

// Behind a meeting: where each thread learns at which address its tensor memory begins, once.
void tcgen05_emit_met(Emitter *emitter);
void tcgen05_emit_alloc(Emitter *emitter, const Op *op);
void tcgen05_emit_free(Emitter *emitter, const Op *op);
void tcgen05_emit_cp(Emitter *emitter, const Op *op);
void tcgen05_emit_mma(Emitter *emitter, const Op *op);
// Calls without arguments.
extern const PreludeText tcgen05_wait_ld, tcgen05_wait_st, tcgen05_before, tcgen05_after;
void tcgen05_emit_commit(Emitter *emitter, const Op *op);
void tcgen05_emit_ld(Emitter *emitter, const Op *op);
void tcgen05_emit_st(Emitter *emitter, const Op *op);
