// All that tensor cores and the board's power leave of a kernel's clock.
//
//   power_share(model, 1000)      0.62: of 1000 TFLOP/s at the boost clock 617 are left, at 1222
//   MHz
#pragma once
#include "model/readings/model.h"

// The share of the boost clock at which a kernel runs that would reach `tflops` at that
// clock. Where the power of its products was not measured, tensor cores alone hold it down.
double power_share(const Model *model, double tflops);
// Whether anybody measured what its products take; without tensor cores they are never held down.
bool power_is_known(const Model *model);
