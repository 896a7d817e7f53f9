// The factors of a fitted roofline (model/readings/cost/calibration.h), for people.
#pragma once
#include "model/readings/cost/calibration.h"

// A line for each factor that the fit moved, with what it is of, to stdout; the others say nothing
// of the GPU, for they are as they are by default.
//
//   l2       0.42  L2, 32 bytes a clock for each SM, and loads that wait in L1
void cli_print_factors(const Calibration *fit);
