// Stamps: where a traced kernel writes the SM's clock, and what its stamps mean.
//
// The stamps follow from op.def alone. Operations that wait, meet, tell or take registers
// have a begin and an end of their own; work between them that is of one kind has one begin and one
// end together, because a stamp inside a loop of multiplications would be all that is measured.
// Fences and the closing of groups belong to the work that they stand at.
#pragma once
#include "model/text/emitter.h"

// Before the statements of the traced kernel are printed. Does nothing where no stamps are wanted.
void emit_stamps_collect(Emitter *emitter, const Stmt *body);
// Whether a stamp stands before or behind the statement, or inside it.
bool emit_has_stamps(const Emitter *emitter, const Stmt *stmt);
// `before` stands in front of the statement in its list; NULL: nothing does.
void emit_stamp_before(Emitter *emitter, const Stmt *before, const Stmt *stmt);
void emit_stamp_behind(Emitter *emitter, const Stmt *stmt);

// The lines above the function NAME_traced, which is the kernel's body as a template; those at its
// begin and end; and the statement of the kernel itself, which calls it with the arguments ("A, B,
// C, ") and the block's pages.
void emit_trace_template(Emitter *emitter);
void emit_trace_begin(Emitter *emitter);
void emit_trace_end(Emitter *emitter);
void emit_trace_choice(Emitter *emitter, const EmitKernel *facts, const char *arguments);
