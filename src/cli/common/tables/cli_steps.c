// Strategies and steps as text and as JSON.
//
//   fragments, per slab and warp         computations  transfers  per transfer  registers
//   * along K, a k-step at a time                 256         96          2.67         24
//     the whole slab up front                     256         96          2.67         96
//     A row by row, B column by column            256        192          1.33         32
#include "cli/common/tables/cli_steps.h"

#include <stdio.h>

#include "model/readings/time/steps.h"
#include "model/schedules/strategies.h"

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

static void put_steps_of(JsonWriter *w, const Steps *steps) {
  json_member_double(w, "computations_per_slab", steps->products);
  json_member_double(w, "transfers_per_slab", steps->moved);
  if (steps->moved > 0)
    json_member_double(w, "computations_per_transfer", steps_intensity(steps));
  else  // operands that pass through no registers
    json_member_null(w, "computations_per_transfer");
  json_member_int(w, "fragment_registers", steps->n_registers);
  json_member_int(w, "reads_per_slab", steps->n_reads);
  json_member_int(w, "reads_before_first_multiply", steps->reads_before);
}

// A number that is STEP_NONE is null.
static void put(JsonWriter *w, const char *key, int number) {
  if (number == STEP_NONE)
    json_member_null(w, key);
  else
    json_member_int(w, key, number);
}

static void put_step(JsonWriter *w, Arena *arena, const Steps *steps, const Step *step) {
  json_begin_object(w);
  json_member_bool(w, "by_producer", step->produces);
  json_member_int(w, "copies", step->n_copies);
  json_member_int(w, "stores", step->n_stores);
  put(w, "copy_slabs_ahead", step->copy_slab);
  json_member_bool(w, "commit", step->commit);
  put(w, "wait_groups", step->wait);
  json_member_string(w, "wait_mbarrier", step->mbarrier);
  json_member_bool(w, "arrive", step->arrive);
  json_member_bool(w, "barrier", step->barrier);
  json_member_int(w, "reads", step->n_reads);
  put(w, "read_first_step", step->read_first);
  put(w, "read_last_step", step->read_last);
  put(w, "read_slabs_ahead", step->read_slab);
  put(w, "read_set", step->read_set);
  json_member_int(w, "multiplies", step->n_multiplies);
  put(w, "multiply_first_step", step->multiply_first);
  put(w, "multiply_last_step", step->multiply_last);
  put(w, "multiply_set", step->multiply_set);
  const char *safe = steps_say_safe(arena, steps, step);
  json_member_string(w, "safe", *safe ? safe : NULL);
  json_end_object(w);
}

static void put_strategy(JsonWriter *w, const Strategy *strategy) {
  json_begin_object(w);
  json_member_string(w, "name", strategy->name);
  json_member_string(w, "knobs", strategy->knobs);
  json_member_bool(w, "now", strategy->now);
  json_member_string(w, "why_not", strategy->why);
  if (!strategy->why) {
    put_steps_of(w, &strategy->steps);
    json_member_int(w, "registers_estimated", strategy->n_registers);
  }
  json_end_object(w);
}

void cli_put_steps(JsonWriter *w, Arena *arena, const Model *model) {
  Strategy strategy[STRATEGIES_MAX];
  Steps steps = derive_steps(arena, model->program);
  int n = derive_strategies(arena, model, strategy);
  json_key(w, "fragments");
  json_begin_object(w);
  put_steps_of(w, &steps);
  json_end_object(w);
  json_key(w, "steps");
  json_begin_array(w);
  for (int i = 0; i < steps.n; i++) put_step(w, arena, &steps, &steps.step[i]);
  json_end_array(w);
  json_key(w, "strategies");
  json_begin_array(w);
  for (int i = 0; i < n; i++) put_strategy(w, &strategy[i]);
  json_end_array(w);
}
