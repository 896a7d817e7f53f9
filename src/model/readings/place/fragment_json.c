// A step of a row's reduction names, for each of its lanes, the lanes whose values it has combined
// by then. Worked example, row 3 of m16n8k16: after the step of distance 1 lane 13 has those of 12
// and 13, after that of distance 2 those of all four.
#include "model/readings/place/fragment_json.h"

#include <string.h>

#include "model/readings/place/fragment_text.h"

// ---- rows ---------------------------------------------------------------------------------------

typedef struct RowStep {
  const FragmentRow *row;
  int step;  // 0: within each lane
} RowStep;

static const RowStep *row_steps(Arena *arena, const FragmentRow *row) {
  RowStep *step = ARENA_ARRAY(arena, RowStep, row->n_steps + 1);
  for (int i = 0; i <= row->n_steps; i++) step[i] = (RowStep){row, i};
  return step;
}

static void write_combined(JsonWriter *w, const void *it, const void *in, Arena *arena) {
  (void)in;
  (void)arena;
  const RowStep *at = it;
  json_begin_array(w);
  for (int i = 0; i < at->row->n_lanes; i++) {
    const uint32_t mask = fragment_row_combined(at->row, i, at->step);
    json_begin_array(w);
    for (int j = 0; j < at->row->n_lanes; j++)
      if (mask >> j & 1) json_put_int(w, at->row->lane[j]);
    json_end_array(w);
  }
  json_end_array(w);
}

// ---- relayouts ----------------------------------------------------------------------------------

enum { RELAYOUT_NUMBERS = 7 };

RelayoutSaid fragment_relayout_said(const Atom *sums, const Atom *next) {
  RelayoutSaid said = {.sums = sums, .next = next};
  said.in_place = fragment_relayout(sums, next, &said.map);
  return said;
}

static int relayout_count(const RelayoutSaid *said) {
  const FragmentMap a = fragment_map(said->next, ATOM_A);
  return a.rows * a.cols;
}

static const int *relayout_places(Arena *arena, const RelayoutSaid *said) {
  const FragmentMap sums = fragment_map(said->sums, ATOM_C), a = fragment_map(said->next, ATOM_A);
  int *place = ARENA_ARRAY(arena, int, a.rows *a.cols *RELAYOUT_NUMBERS), *at = place;
  for (int row = 0; row < a.rows; row++)
    for (int col = 0; col < a.cols; col++, at += RELAYOUT_NUMBERS) {
      const RelayoutElement e = fragment_relayout_element(&sums, &a, row, col);
      const int numbers[RELAYOUT_NUMBERS] = {
          row, col, e.atom, e.sum.lane, e.sum.value, e.operand.lane, e.operand.value};
      memcpy(at, numbers, sizeof numbers);
    }
  return place;
}

#define FORM_FILE "model/readings/place/fragment_json.form"
#include "base/form_make.h"

void fragment_put_row(JsonWriter *w, Arena *arena, const FragmentMap *map, int index) {
  const FragmentRow row = fragment_row(map, index);
  form_members(w, arena, &fragment_row_of_form, &row, NULL);
}

void fragment_put_relayout(JsonWriter *w, Arena *arena, const Atom *from, const Atom *next) {
  const RelayoutSaid said = fragment_relayout_said(from, next);
  form_members(w, arena, &relayout_of_form, &said, NULL);
}
