// Strategies and steps as text and as JSON.
//
//   fragments, per slab and warp         computations  transfers  per transfer  registers
//   * along K, a k-step at a time                 256         96          2.67         24
//     the whole slab up front                     256         96          2.67         96
//     A row by row, B column by column            256        192          1.33         32
#include "cli/common/tables/cli_steps.h"

#include <stdio.h>

// ---- text ---------------------------------------------------------------------------------------

static void print_strategy(const Strategy *strategy) {
  const Steps *steps = &strategy->steps;
  printf("%c %-34s ", strategy->now ? '*' : ' ', strategy->name);
  if (strategy->why)
    printf("%s\n", strategy->why);
  else
    printf("%12g %10g %13.3g %10d\n", steps->products, steps->moved, steps_intensity(steps),
           steps->n_registers);
}

void cli_print_steps(Arena *arena, const Model *model) {
  Strategy strategy[STRATEGIES_MAX];
  int n = derive_strategies(arena, model, strategy);
  if (n == 0) return;
  printf(
      "\n%-36s %12s %10s %13s %10s\n",
      program_atom(model->program) ? "fragments, per slab and warp" : "values, per slab and thread",
      "computations", "transfers", "per transfer", "registers");
  for (int i = 0; i < n; i++) print_strategy(&strategy[i]);
}

// ---- JSON ---------------------------------------------------------------------------------------

CliSteps cli_steps(Arena *arena, const Model *model) {
  CliSteps out = {.steps = derive_steps(arena, model->program)};
  out.strategy = ARENA_ARRAY(arena, Strategy, STRATEGIES_MAX);
  out.n_strategies = derive_strategies(arena, model, out.strategy);
  return out;
}

// A step with those that it is one of.
typedef struct CliStep {
  const Steps *steps;
  const Step *step;
} CliStep;

static const CliStep *steps_of(Arena *arena, const Steps *steps) {
  CliStep *out = ARENA_ARRAY(arena, CliStep, steps->n);
  for (int i = 0; i < steps->n; i++) out[i] = (CliStep){steps, &steps->step[i]};
  return out;
}

#define FORM_FILE "cli/common/tables/cli_steps.form"
#include "base/form_make.h"
