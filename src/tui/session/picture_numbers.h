// Every number there is of one side, in one list: for the table of A|B and for JSON.
//
//   SideNumbers b = side_numbers(arena, session, &session->doc.now);
//   NumberPair *pair = side_number_pairs(arena, &a, &b);       the largest change first
#pragma once
#include "base/form.h"
#include "tui/session/session.h"

typedef struct SideNumber {
  const char *name, *unit;  // "shared memory", "B"
  const char *key;          // in JSON, unit included: "smem_bytes"
  double value;             // NaN: not known
  Origin origin;            // NONE: counted on the program itself, exact
} SideNumber;

enum { SIDE_NUMBERS_MAX = 64 };

typedef struct SideNumbers {
  int n;
  SideNumber number[SIDE_NUMBERS_MAX];
  EstimateBy by;  // of clock_tflops
} SideNumbers;

// The same rows in the same order for every side.
SideNumbers side_numbers(Arena *arena, const Session *session, const Side *side);

typedef struct NumberPair {
  SideNumber a, b;
  double change;  // |log2(b / a)|: 1 is twice or half; infinite from or to 0; NaN: one is not known
} NumberPair;

// `a.n` pairs: changed numbers, the largest change first; then equal ones; then unknown ones.
NumberPair *side_number_pairs(Arena *arena, const SideNumbers *a, const SideNumbers *b);

extern const Form side_numbers_form;  // of SideNumbers
