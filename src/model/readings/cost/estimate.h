// The speed that a model promises: by the roofline as one GPU was found to be, where that is known,
// and how good such promises have been there.
//
//   Estimate estimate = estimate_of(fits, model);
//   estimate_said(text, &estimate)               "±17 % on 212 points"
//   estimate_reasons(arena, &estimate, model)    "512 tiles on 148 SMs are 3.46 for each, and …"
#pragma once
#include "model/readings/cost/calibration.h"

typedef struct Estimate {
  double tflops;           // of a roofline that is not known as negative as there
  const Calibration *fit;  // NULL: the data sheet's roofline, of which nothing is known here
} Estimate;

// `fits`: one for each family, n = 0 where there is none; NULL: of no family. `model` is legal.
Estimate estimate_of(const Calibration *fits, const Model *model);

enum { ESTIMATE_SAID_BYTES = 48 };
// The median of what the fit was off by on points that it had not seen; gives `out` back.
char *estimate_said(char out[ESTIMATE_SAID_BYTES], const Estimate *estimate);

// Why a roofline stands where it does, beside the units of Traffic: tiles of the last round, a rate
// that no source states, waits that other blocks cover or that it knows nothing of. Sentences, each
// where it matters; "" where none does, and of an estimate by a fit, which has terms for them.
const char *estimate_reasons(Arena *arena, const Estimate *estimate, const Model *model);
