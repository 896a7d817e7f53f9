// The atoms of tensor cores as lines, as CSV and as data.
#pragma once
#include "base/json.h"
#include "model/words/fragment.h"

// Members of an object: name, PTX and its words, extents, types, whom it is for.
void atom_put_json(JsonWriter *w, Arena *arena, const Atom *atom);

// The whole table, to stdout.
void atom_list_text(Arena *arena);
void atom_list_csv(Arena *arena);
void atom_list_json(Arena *arena);
