// Tells what a map of lanes and values says about rows, and about sums that become an operand.
//
// A row of an operand lies in several lanes, each with several values of it. Its sum, or its
// largest value, is found in every lane after one exchange for each bit of the lane that has no
// weight in the row: lane l meets l ^ 1, then l ^ 2. Worked example, row 3 of C of m16n8k16:
//
//   lanes 12 13 14 15, values 0 and 1 of each      columns 0,1  2,3  4,5  6,7
//   combined in each lane                          0-1  2-3  4-5  6-7
//   with lane ^ 1                                  0-3  0-3  4-7  4-7
//   with lane ^ 2                                  0-7  0-7  0-7  0-7
//
// The passes that write a row's reduction ask the same function which bits those are.
#include <assert.h>

#include "model/words/fragment.h"

FragmentRows fragment_rows(const FragmentMap *map) {
  FragmentRows rows = {.n_rows = 1};
  for (int bit = 0; bit < map->n_value_bits; bit++) {
    if (!map->row_of_value_bit[bit]) continue;
    rows.count_of_value_bit[bit] = rows.n_rows;
    rows.value_of_row_bit[rows.n_row_bits++] = 1 << bit;
    rows.n_rows *= 2;
  }
  for (int bit = 0; bit < map->n_lane_bits; bit++)
    if (!map->row_of_lane_bit[bit]) rows.lane_mask |= 1 << bit;
  rows.lane_mask &= ~(map->product_lanes | map->idle_lanes);
  return rows;
}

FragmentRow fragment_row(const FragmentMap *map, int row) {
  const FragmentRows rows = fragment_rows(map);
  const FragmentOwner first = fragment_map_owner(map, row, 0);
  FragmentRow out = {.row = row};
  for (int lane = 0; lane < map->n_lanes; lane++) {
    if ((lane & ~rows.lane_mask) != (first.lane & ~rows.lane_mask)) continue;
    assert(out.n_lanes < FRAGMENT_ROW_LANES);
    out.lane[out.n_lanes++] = lane;
  }
  for (int value = 0; value < map->n_values; value++)
    if (fragment_map_element(map, first.lane, value).row == row) out.value[out.n_values++] = value;
  for (int bit = 0; bit < map->n_lane_bits; bit++)
    if (rows.lane_mask >> bit & 1) out.distance[out.n_steps++] = 1 << bit;
  return out;
}

uint32_t fragment_row_combined(const FragmentRow *row, int i, int step) {
  int met = 0;
  for (int s = 0; s < step; s++) met |= row->distance[s];
  uint32_t mask = 0;
  for (int j = 0; j < row->n_lanes; j++)
    if (((row->lane[i] ^ row->lane[j]) & ~met) == 0) mask |= UINT32_C(1) << j;
  return mask;
}

RelayoutElement fragment_relayout_element(const FragmentMap *sums, const FragmentMap *a, int row,
                                          int col) {
  RelayoutElement out = {.step = col / a->cols, .atom = col / sums->cols};
  out.operand = fragment_map_owner(a, row, col % a->cols);
  out.sum = fragment_map_owner(sums, row, col % sums->cols);
  out.kept = out.operand.lane == out.sum.lane;
  return out;
}
