// Rows and relayouts as data: the same keys wherever they are written, members of an object that is
// open.
//
//   "row":{"row":3,"lanes":[12,13,14,15],"values":[0,1],"steps":[…]}
//   "relayout":{"atoms":2,"elements":256,"kept":256,"in_place":true,"text":…,"places":[…]}
#pragma once
#include "base/form.h"
#include "model/words/fragment.h"

// Sums of `sums` as operand A of `next`.
typedef struct FragmentPair {
  const Atom *sums, *next;
} FragmentPair;

extern const Form fragment_row_form;       // of a FragmentRow
extern const Form fragment_relayout_form;  // of a FragmentPair
