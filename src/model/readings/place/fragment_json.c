// A step of a row's reduction names, for each of its lanes, the lanes whose values it has combined
// by then. Worked example, row 3 of m16n8k16: after the step of distance 1 lane 13 has those of 12
// and 13, after that of distance 2 those of all four.
#include "model/readings/place/fragment_json.h"

#include "model/readings/place/fragment_text.h"

static void put_ints(JsonWriter *w, const char *key, const int *number, int n) {
  if (key) json_key(w, key);
  json_begin_array(w);
  for (int i = 0; i < n; i++) json_put_int(w, number[i]);
  json_end_array(w);
}

static void put_combined(JsonWriter *w, const FragmentRow *row, int step) {
  json_key(w, "lanes_combined");
  json_begin_array(w);
  for (int i = 0; i < row->n_lanes; i++) {
    const uint32_t mask = fragment_row_combined(row, i, step);
    json_begin_array(w);
    for (int j = 0; j < row->n_lanes; j++)
      if (mask >> j & 1) json_put_int(w, row->lane[j]);
    json_end_array(w);
  }
  json_end_array(w);
}

static void put_step(JsonWriter *w, Arena *arena, const FragmentRow *row, int step) {
  json_begin_object(w);
  json_member_string(w, "text", fragment_step_text(arena, row, step));
  json_member_int(w, "distance", step ? row->distance[step - 1] : 0);
  put_combined(w, row, step);
  json_end_object(w);
}

void fragment_put_row(JsonWriter *w, Arena *arena, const FragmentMap *map, int index) {
  const FragmentRow row = fragment_row(map, index);
  json_key(w, "row");
  json_begin_object(w);
  json_member_int(w, "row", row.row);
  json_member_string(w, "text", fragment_row_text(arena, &row));
  put_ints(w, "lanes", row.lane, row.n_lanes);
  put_ints(w, "values", row.value, row.n_values);
  json_key(w, "steps");
  json_begin_array(w);
  for (int step = 0; step <= row.n_steps; step++) put_step(w, arena, &row, step);
  json_end_array(w);
  json_end_object(w);
}

static void put_places(JsonWriter *w, const Atom *from, const Atom *next) {
  if (!atom_in_lanes(from, ATOM_C) || !atom_in_lanes(next, ATOM_A)) return;
  const FragmentMap sums = fragment_map(from, ATOM_C), a = fragment_map(next, ATOM_A);
  json_key(w, "places_row_col_atom_lane_value_to_lane_value");
  json_begin_array(w);
  for (int row = 0; row < a.rows; row++)
    for (int col = 0; col < a.cols; col++) {
      const RelayoutElement e = fragment_relayout_element(&sums, &a, row, col);
      const int place[] = {
          row, col, e.atom, e.sum.lane, e.sum.value, e.operand.lane, e.operand.value};
      put_ints(w, NULL, place, 7);
    }
  json_end_array(w);
}

void fragment_put_relayout(JsonWriter *w, Arena *arena, const Atom *from, const Atom *next) {
  Relayout map;
  const bool in_place = fragment_relayout(from, next, &map);
  json_key(w, "relayout");
  json_begin_object(w);
  json_member_int(w, "atoms", map.n_atoms);
  json_member_int(w, "fragments", map.n_steps);
  json_member_int(w, "elements", map.elements);
  json_member_int(w, "kept", map.kept);
  json_member_bool(w, "in_place", in_place);
  json_member_string(w, "text", fragment_relayout_text(arena, from, next));
  put_places(w, from, next);
  json_end_object(w);
}
