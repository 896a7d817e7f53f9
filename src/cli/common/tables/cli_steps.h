// How a schedule reads fragments: what one iteration of k_o issues, and the orders in which a
// slab's fragments could be read instead, with the computations that each makes of one transfer.
#pragma once
#include "base/form.h"
#include "model/readings/time/steps.h"
#include "model/schedules/strategies.h"

void cli_print_steps(Arena *arena, const Model *model);

// Its forms: "fragments", "steps" and "strategies".
typedef struct CliSteps {
  Steps steps;
  int n_strategies;
  Strategy *strategy;
} CliSteps;

CliSteps cli_steps(Arena *arena, const Model *model);
extern const Form cli_steps_form;
