// The atom that a schedule asks for; NULL: it multiplies by plain FMA.
#pragma once
#include "model/words/fragment.h"
#include "model/words/knob.h"

// Its row of the table.
const Atom *schedule_atom_row(const Schedule *schedule);
// The same with the schedule's type of sums.
const Atom *schedule_atom(Arena *arena, const Schedule *schedule);
