// The one number for a schedule's speed: what its compiled machine code takes by the clock, or,
// until that is known, a calibrated stand-in. Every surface asks for it here.
//
//   Estimate estimate = estimate_of(fits, model);      the stand-in, before a compiler has answered
//   estimate = estimate_clocked(&speed);               the clock's number, once it has
//   estimate_word(&estimate), estimate_said(text, &estimate, false)     "clock", "±10 %"
//
// A recorded or measured speed stands beside it, never in its place. The data sheet's roofline,
// Traffic.roofline_tflops, is no promise: it is shown under that name alone.
#pragma once
#include "base/form.h"
#include "model/readings/cost/calibration.h"

typedef enum EstimateBy { ESTIMATE_UNKNOWN, ESTIMATE_STAND_IN, ESTIMATE_CLOCK } EstimateBy;

// All that the clock says of a kernel's machine code, in TFLOP/s. `unchecked`: no GPU of that
// architecture has been measured, its facts are published ones.
typedef struct ClockedSpeed {
  double tflops, low, high;
  bool unchecked;
} ClockedSpeed;

typedef struct Estimate {
  EstimateBy by;
  double tflops, low, high;  // TFLOP/s; not above 0: a rate that it needs is not known
  // For a stand-in: the factors fitted on that GPU; NULL: those that the program brings along, and
  // whether they are of another GPU.
  const Calibration *fit;
  bool borrowed;
  bool unchecked;  // the clock's facts are published ones
} Estimate;

// The stand-in. `fits`: one for each family, n = 0 where there is none; NULL: of no family. `model`
// is legal.
Estimate estimate_of(const Calibration *fits, const Model *model);
Estimate estimate_clocked(const ClockedSpeed *speed);

const char *estimate_word(const Estimate *estimate);  // "clock", "stand-in", "unknown"

enum { ESTIMATE_SAID_BYTES = 64 };
// "±10 %", "±17 % on 212 points", "±13 %, borrowed from H200", "±30 %, published, not checked";
// gives `out` back. Of a stand-in with fitted factors the median of what those were off by; with
// those that the program brings along what nine in ten recorded kernels are off by. `ascii`: "+-".
char *estimate_said(char out[ESTIMATE_SAID_BYTES], const Estimate *estimate, bool ascii);
// "±10 %" alone.
char *estimate_error_said(char out[ESTIMATE_SAID_BYTES], const Estimate *estimate, bool ascii);

// Nanoseconds of the launch at that speed; 0: not known.
double estimate_ns(const Estimate *estimate, const Model *model);
// The longest times that a stand-in lets overlap, each with its title; their number. 0: it is
// no stand-in.
enum { ESTIMATE_LIMITS_MAX = 3 };
int estimate_limits(const Estimate *estimate, const Model *model,
                    CalibrationLimit out[ESTIMATE_LIMITS_MAX]);

// {"clock_tflops":36.5,"clock_low":33.2,"clock_high":40.6,"clock_origin":"clock"}
extern const Form estimate_form;

// Why a roofline stands where it does, beside the units of Traffic: tiles of the last round, a rate
// that no source states, waits that other blocks cover or that it knows nothing of. Sentences, each
// where it matters; "" where none does.
const char *estimate_roofline_reasons(Arena *arena, const Model *model);
