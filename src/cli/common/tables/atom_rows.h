// The atoms of tensor cores as lines, as CSV and as data.
#pragma once
#include "base/form.h"
#include "model/words/fragment.h"

// Name, PTX and its words, extents, types, the threads it is for.
extern const Form atom_form;

// The whole table, to stdout.
void atom_list_text(Arena *arena);
void atom_list_csv(Arena *arena);
void atom_list_json(Arena *arena);
