// Stamps: where a traced kernel writes the SM's clock, and what its stamps mean.
//
// What is stamped follows from op.def alone. Operations that wait, meet, tell or take registers
// have a begin and an end of their own; work between them that is of one kind has one begin and one
// end together, because a stamp inside a loop of multiplications would be all that is measured.
// Fences and the closing of groups belong to the work that they stand at.
#pragma once
#include "model/text/emitter.h"

// Before the statements of the traced kernel are printed. Does nothing where no stamps are wanted.
void emit_stamps_collect(Emitter *emitter, const Stmt *body);
// Whether a stamp stands before or behind the statement, or inside it.
bool emit_has_stamps(const Emitter *emitter, const Stmt *stmt);
void emit_stamp_before(Emitter *emitter, const Stmt *stmt);
void emit_stamp_behind(Emitter *emitter, const Stmt *stmt);

// The parameters behind the others: ", trace_page *stamps, int traced".
const char *emit_trace_parameters(Emitter *emitter);
void emit_trace_begin(Emitter *emitter);
void emit_trace_end(Emitter *emitter);
