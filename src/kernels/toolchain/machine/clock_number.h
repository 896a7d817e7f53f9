// The one number of a compiled schedule, by the clock: small enough to be kept beside its cubin and
// to travel from the worker.
//
//   const ClockSubject subject = {.state = "AUTO=0,BM=16,…", .device = device};
//   ClockNumber *number = clock_number(arena, &subject, plan, cubin);
//   number->why_not, or number->speed.tflops
#pragma once
#include "kernels/toolchain/machine/clock_answer.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/toolchain/plan.h"
#include "model/readings/cost/estimate.h"
#include "model/words/device.h"

// The schedule that a plan's text was written from, and the GPU whose driver's word counts for its
// row (name "": no GPU's).
typedef struct ClockSubject {
  const char *state;
  Device device;
} ClockSubject;

typedef struct ClockNumber {
  const char *why_not;  // a sentence where there is no number; NULL: there is one
  ClockedSpeed speed;   // 0: there is none
  double clocks;        // of the main kernel, SM clocks from launch to end
  double mhz;           // of the SM clock at which that is the speed
} ClockNumber;

// The speed that an answer's clocks come to, and how far off it may be.
ClockedSpeed clock_speed(const Model *model, const ClockAnswer *answer);

// Plays the machine code of a result that is ok; never NULL.
ClockNumber *clock_number(Arena *arena, const ClockSubject *subject, const Plan *plan,
                          const CompileResult *result);

// All that a number depends on beside the text and its compiler: the subject, the facts of its GPU,
// and the program that plays. NULL: it cannot be told, so the number must not be kept.
const char *clock_number_key(Arena *arena, const ClockSubject *subject);
