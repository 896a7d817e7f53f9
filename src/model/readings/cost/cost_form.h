// Data: a slab's time and a block's share of an SM.
//
//   "traffic":{"estimated":true,"limit":"shared",…} "model":{"estimated":true,"registers":108,…}
#pragma once
#include "base/form.h"
#include "model/readings/model.h"

extern const Form traffic_form;          // of Traffic
extern const Form resources_model_form;  // of Resources
