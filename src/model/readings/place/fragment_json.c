// A step of a row's reduction names, for each of its lanes, the lanes whose values it has combined
// by then. Worked example, row 3 of m16n8k16: after the step of distance 1 lane 13 has those of 12
// and 13, after that of distance 2 those of all four.
#include "model/readings/place/fragment_json.h"

#include <string.h>

#include "model/readings/place/fragment_text.h"

// The state of a row after one step of its reduction.
typedef struct RowStep {
  const FragmentRow *row;
  int step;
} RowStep;

static const RowStep *steps_of(Arena *arena, const FragmentRow *row) {
  RowStep *out = ARENA_ARRAY(arena, RowStep, row->n_steps + 1);
  for (int step = 0; step <= row->n_steps; step++) out[step] = (RowStep){row, step};
  return out;
}

// Lanes that a lane's values are combined with: the same number of each.
static int count_combined(const RowStep *at) {
  return __builtin_popcount(fragment_row_combined(at->row, 0, at->step));
}

static const int *combined(Arena *arena, const RowStep *at) {
  const FragmentRow *row = at->row;
  int *out = ARENA_ARRAY(arena, int, row->n_lanes * row->n_lanes), n = 0;
  for (int i = 0; i < row->n_lanes; i++) {
    const uint32_t mask = fragment_row_combined(row, i, at->step);
    for (int j = 0; j < row->n_lanes; j++)
      if (mask >> j & 1) out[n++] = row->lane[j];
  }
  return out;
}

enum { PLACE_NUMBERS = 7 };

static bool has_places(const FragmentPair *pair) {
  return atom_in_lanes(pair->sums, ATOM_C) && atom_in_lanes(pair->next, ATOM_A);
}

// Row by row of A; *n: their number.
static const int *places(Arena *arena, const FragmentPair *pair, int *n) {
  *n = 0;
  if (!has_places(pair)) return NULL;
  const FragmentMap sums = fragment_map(pair->sums, ATOM_C), a = fragment_map(pair->next, ATOM_A);
  int *out = ARENA_ARRAY(arena, int, a.rows *a.cols *PLACE_NUMBERS), *at = out;
  for (*n = 0; *n < a.rows * a.cols; ++*n) {
    const int row = *n / a.cols, col = *n % a.cols;
    const RelayoutElement e = fragment_relayout_element(&sums, &a, row, col);
    const int place[PLACE_NUMBERS] = {
        row, col, e.atom, e.sum.lane, e.sum.value, e.operand.lane, e.operand.value};
    memcpy(at, place, sizeof place);
    at += PLACE_NUMBERS;
  }
  return out;
}

#define FORM_FILE "model/readings/place/fragment.form"
#include "base/form_make.h"
