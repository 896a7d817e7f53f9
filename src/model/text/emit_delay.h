// Delays: where warps of a kernel sleep, so that an order which does harm comes about on a GPU.
#pragma once
#include "model/text/emitter.h"

// Whether a warp sleeps in front of a statement.
bool emit_has_delay(const Emitter *emitter, const Stmt *stmt);
// The counts of how often a warp has come to each such place; where there is one.
void emit_delays_declare(Emitter *emitter);
void emit_delay_before(Emitter *emitter, const Stmt *stmt);
