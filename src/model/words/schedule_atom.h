// The atom that a schedule asks for.
#pragma once
#include "model/words/fragment.h"
#include "model/words/knob.h"

// The schedule's atom, with its type of sums; NULL: it multiplies by plain FMA.
const Atom *schedule_atom(Arena *arena, const Schedule *schedule);
