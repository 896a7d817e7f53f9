// One row per number; what is not known is NaN, never 0.
//
// Worked example, the occupancy paradox: A has one cell per thread, B a tile of 26 × 4. Sorted by
// change the table begins with what moved most, loads per multiply-add from 2 to 0.29, blocks from
// 16384 to 160, and occupancy stands far below with 67 % against 17 %: the lower one wins.
#include "tui/session/picture_numbers.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"

static void add(SideNumbers *all, const char *name, const char *unit, const char *key, double value,
                Origin origin) {
  if (all->n < SIDE_NUMBERS_MAX)
    all->number[all->n++] = (SideNumber){name, unit, key, value, origin};
}

static double known(double value) { return value >= 0 ? value : NAN; }
static double positive(double value) { return value > 0 ? value : NAN; }

static void add_timing(SideNumbers *all, Arena *arena, const Session *session, const Side *side) {
  const Timed *timed = results_find(&session->results, &side->pictured);
  Timed none = {.registers = -1, .spill_bytes = -1};
  const Timed *t = timed && timed->ok ? timed : &none;
  add(all, "time", "ns", "time_ns", positive(t->time_ns), t->origin);
  add(all, "speed", "TFLOP/s", "tflops", positive(t->tflops), t->origin);
  add(all, schedule_of_reference(arena, &side->pictured), "", "ratio", positive(t->ratio),
      t->origin);
}

static void add_compiled(SideNumbers *all, const Session *session, const Side *side) {
  const Resources *fit = &side->picture->model->resources;
  Counted counted = results_counted(&session->results, &side->pictured);
  Origin origin = fit->counted ? counted.origin : ORIGIN_ESTIMATED;
  add(all, "registers", "", "registers", fit->n_registers, origin);
  add(all, "spilled", "B", "spill_bytes", fit->counted ? known(counted.spill_bytes) : (double)NAN,
      origin);
  // Numbers that follow from a count are computed all the same.
  add(all, "blocks per SM", "", "blocks_per_sm", fit->blocks_per_sm, ORIGIN_ESTIMATED);
  add(all, "occupancy", "%", "occupancy_percent", 100 * fit->occupancy, ORIGIN_ESTIMATED);
  add(all, "waves", "", "waves", fit->waves, ORIGIN_ESTIMATED);
  const Compiled *compiled = results_compiled(&session->results, side->picture->key);
  double instructions = NAN;
  if (compiled && compiled->sass && compiled->sass->ok) {
    instructions = 0;
    for (int i = 0; i < compiled->sass->n_counts; i++)
      instructions += compiled->sass->counts[i].count;
  }
  add(all, "SASS instructions", "", "sass_instructions", instructions, ORIGIN_COMPILED);
}

SideNumbers side_numbers(Arena *arena, const Session *session, const Side *side) {
  SideNumbers all = {.n = 0};
  const Model *model = side->picture->model;
  const Resources *r = &model->resources;
  const Traffic *t = &model->traffic;
  const SiteTotals *sites = &side->picture->model->totals;
  bool atom = program_atom(model->program) != NULL;
  add_timing(&all, arena, session, side);
  add(&all, "roofline", "TFLOP/s", "estimate_tflops", known(t->roofline_tflops), ORIGIN_ESTIMATED);
  add_compiled(&all, session, side);
  const char *blocks = kernel_launch(program_main(model->program)).tiles ? "tiles" : "blocks";
  add(&all, blocks, "", blocks, (double)r->n_blocks, ORIGIN_NONE);
  add(&all, "threads", "", "threads", (double)r->n_threads, ORIGIN_NONE);
  add(&all, "shared memory", "B", "smem_bytes", (double)r->smem_bytes, ORIGIN_NONE);
  add(&all, "accumulator registers", "", "accumulator_registers", r->n_accumulators, ORIGIN_NONE);
  add(&all, "wavefronts per slab", "", "wavefronts", sites->profiled, ORIGIN_NONE);
  add(&all, "pipe wavefronts", "", "pipe_wavefronts", sites->wavefronts, ORIGIN_NONE);
  add(&all, "conflicts per slab", "", "conflicts", sites->wavefronts - sites->ideal, ORIGIN_NONE);
  add(&all, atom ? "mma" : "fma", "clk", "multiply_clocks", known(t->fma_clocks), ORIGIN_ESTIMATED);
  add(&all, "copied past the pipe", "lines", "uncounted_clocks", model->copies, ORIGIN_ESTIMATED);
  add(&all, "shared", "clk", "shared_clocks", known(t->shared_clocks), ORIGIN_ESTIMATED);
  add(&all, "global", "clk", "global_clocks", known(t->global_clocks), ORIGIN_ESTIMATED);
  add(&all, "L2", "clk", "l2_clocks", known(t->l2_clocks), ORIGIN_ESTIMATED);
  add(&all, "DRAM", "clk", "dram_clocks", known(t->dram_clocks), ORIGIN_ESTIMATED);
  add(&all, "from L2", "B", "l2_bytes", known(t->l2_bytes), ORIGIN_ESTIMATED);
  add(&all, "from DRAM", "B", "dram_bytes", known(t->dram_bytes), ORIGIN_ESTIMATED);
  add(&all, "L2 hit rate", "%", "l2_hit_percent", 100 * t->l2_hit, ORIGIN_ESTIMATED);
  add(&all, "sectors stored per block", "", "stored_sectors", model->global.store_sectors,
      ORIGIN_NONE);
  add(&all, "sectors fetched in vain", "", "wasted_sectors", model->global.wasted_sectors,
      ORIGIN_NONE);
  add(&all, "L2 working set", "B", "l2_working_set_bytes", known(t->l2_working_set_bytes),
      ORIGIN_ESTIMATED);
  add(&all, "FLOP per L2 byte", "", "flop_per_l2_byte", t->flop_per_l2_byte, ORIGIN_ESTIMATED);
  add(&all, "loads per fma", "", "loads_per_fma", known(t->loads_per_fma), ORIGIN_NONE);
  add(&all, "shared bandwidth per fma", "B", "shared_bytes_per_fma", t->shared_bytes_per_fma,
      ORIGIN_ESTIMATED);
  return all;
}

// ---- pairs --------------------------------------------------------------------------------------

static double change_between(double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  if (!(fabs(a - b) > 0)) return 0;
  return !(a > 0) || !(b > 0) ? INFINITY : fabs(log2(b / a));
}

// Larger first, not known last.
static int compare_pairs(const void *left, const void *right) {
  double a = ((const NumberPair *)left)->change, b = ((const NumberPair *)right)->change;
  if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
  return (a < b) - (a > b);
}

// Stable: equal ones keep the order of the list.
static void sort_pairs(NumberPair *pair, int n) {
  for (int i = 1; i < n; i++)
    for (int at = i; at > 0 && compare_pairs(&pair[at - 1], &pair[at]) > 0; at--) {
      NumberPair swap = pair[at];
      pair[at] = pair[at - 1];
      pair[at - 1] = swap;
    }
}

NumberPair *side_number_pairs(Arena *arena, const SideNumbers *a, const SideNumbers *b) {
  NumberPair *pair = ARENA_ARRAY(arena, NumberPair, a->n);
  for (int i = 0; i < a->n; i++)
    pair[i] = (NumberPair){a->number[i], b->number[i],
                           change_between(a->number[i].value, b->number[i].value)};
  sort_pairs(pair, a->n);
  return pair;
}

void side_numbers_json(JsonWriter *writer, const SideNumbers *numbers) {
  Origin origin = ORIGIN_NONE;
  for (int i = 0; i < numbers->n; i++) {
    const SideNumber *number = &numbers->number[i];
    json_member_double(writer, number->key, number->value);
    if (str_equal(number->key, "time_ns")) origin = number->origin;
  }
  json_member_string(writer, "time_origin", origin ? origin_name(origin) : NULL);
}
