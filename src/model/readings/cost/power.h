// All that the board's power leaves of a kernel's speed.
//
//   power_share(model, 969)       0.65: of 969 TFLOP/s at the boost clock 630 are left, at 1287 MHz
#pragma once
#include "model/readings/model.h"

// The share of the boost clock at which a kernel runs that would reach so many TFLOP/s at that
// clock; 1 where nobody measured what its products take.
double power_share(const Model *model, double tflops);
