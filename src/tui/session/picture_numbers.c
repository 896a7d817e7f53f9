// One row per number; a number that is not known is NaN, never 0.
//
// Worked example, the occupancy paradox: A has one cell per thread, B a tile of 26 × 4. Sorted by
// change the table begins with the largest moves, loads per multiply-add from 2 to 0.29, blocks
// from 16384 to 160, and occupancy stands far below with 67 % against 17 %: the lower one wins.
#include "tui/session/picture_numbers.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"

static void add(SideNumbers *all, const char *name, const char *unit, const char *key, double value,
                Origin origin) {
  if (all->n < SIDE_NUMBERS_MAX)
    all->number[all->n++] = (SideNumber){name, unit, key, value, origin};
}

static double known(double value) { return value >= 0 ? value : NAN; }
static double positive(double value) { return value > 0 ? value : NAN; }

static double instructions(const Session *session, const Side *side) {
  const Compiled *compiled = results_compiled(&session->background.results, side->picture->key);
  if (!compiled || !compiled->sass || !compiled->sass->ok) return NAN;
  double n = 0;
  for (int i = 0; i < compiled->sass->n_counts; i++) n += compiled->sass->counts[i].count;
  return n;
}

// The timing that is shown, else one in which nothing is known.
static const Timed *timing(const Session *session, const Side *side) {
  static const Timed none = {.registers = -1, .spill_bytes = -1};
  const Timed *timed = results_find(&session->background.results, &side->pictured);
  return timed && timed->ok ? timed : &none;
}

SideNumbers side_numbers(Arena *arena, const Session *session, const Side *side) {
  SideNumbers all = {.n = 0};
  const Model *model = side->picture->model;
  const Resources *r = &model->resources;
  const Traffic *traffic = &model->traffic;
  const SiteTotals *sites = &side->picture->model->totals;
  const Timed *timed = timing(session, side);
  const Estimate estimate = session_estimate(session, side->picture->estimate);
  const Counted counted = results_counted(&session->background.results, &side->pictured);
  // Numbers that follow from a count are computed all the same.
  const Origin count_origin = r->counted ? counted.origin : ORIGIN_ESTIMATED;
  const bool atom = program_atom(model->program) != NULL,
             of_tiles = kernel_launch(program_main(model->program)).tiles;
#define NUMBER(key, name, unit, says, origin, ...) add(&all, name, unit, #key, __VA_ARGS__, origin);
#define NUMBER_WHEN(key, name, unit, says, origin, when, ...) \
  if (when) add(&all, name, unit, #key, __VA_ARGS__, origin);
#include "tui/session/side_numbers.def"
#undef NUMBER
#undef NUMBER_WHEN
  all.by = estimate.by;
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

// ---- JSON ---------------------------------------------------------------------------------------

static const SideNumber *find_number(const SideNumbers *all, const char *key) {
  for (int i = 0; i < all->n; i++)
    if (str_equal(all->number[i].key, key)) return &all->number[i];
  return NULL;
}

static double value_of(const SideNumbers *all, const char *key) {
  const SideNumber *number = find_number(all, key);
  return number ? number->value : (double)NAN;
}

static const char *time_origin(const SideNumbers *all) {
  const Origin origin = find_number(all, "time_ns")->origin;
  return origin ? origin_name(origin) : NULL;
}

#define FORM_FILE "tui/session/picture_numbers.form"
#include "base/form_make.h"
