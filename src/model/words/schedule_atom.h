// The atom that a schedule asks for; none: it multiplies by plain FMA.
#pragma once
#include "model/words/dtype.h"
#include "model/words/fragment.h"
#include "model/words/knob.h"

// Its row of the table: the largest N, the usual sums. NULL: none.
const Atom *schedule_atom_row(const Schedule *schedule);
// The same with the schedule's N and its type of sums, in units of its buffers; false: none.
bool schedule_atom_is(const Schedule *schedule, Atom *atom);
const Atom *schedule_atom(Arena *arena, const Schedule *schedule);

// The element type of a product: DTYPE, or the type of the parts that SPLIT_F32 cuts f32 into.
DType schedule_operand_type(const Schedule *schedule);
// Products of parts for each product of two elements: 1 where nothing is split.
int schedule_products(const Schedule *schedule);
