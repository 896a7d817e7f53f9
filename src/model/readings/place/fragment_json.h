// Rows and relayouts as data: the same keys wherever they are written, members of an object that is
// open.
//
//   "row":{"row":3,"lanes":[12,13,14,15],"values":[0,1],"steps":[…]}
//   "relayout":{"atoms":2,"elements":256,"kept":256,"in_place":true,"text":…,"places":[…]}
#pragma once
#include "base/json.h"
#include "model/words/fragment.h"

void fragment_put_row(JsonWriter *writer, Arena *arena, const FragmentMap *map, int row);
// Sums of `sums` as operand A of `next`. A place is row, column, atom, lane and value of the sum,
// lane and value of the operand.
void fragment_put_relayout(JsonWriter *writer, Arena *arena, const Atom *sums, const Atom *next);
