// Fragments with rules of their own: the lanes of tensor memory, and the four products of a warp.
//
// Tensor memory has 128 lanes. A CTA holds all of M, or half of it in a pair, and its rows take the
// lanes from 0 on. Fewer rows than lanes leave room, in which the columns go on: N is cut into 2 or
// 4 parts, and each lies in the next 64 or 32 lanes. tcgen05.mma with M = 64, without .ws, does not
// fold: a warp's first 16 lanes have its rows, the other 16 have none. (PTX ISA, data path
// layouts.)
//
//   layout  M, CTAs        lane of element (row, col)                        columns
//   A       256, 2         row                                               N
//   B       128, 2         row % 64 + col / (N/2) * 64 + row / 64 * 128      N / 2
//   D       128, 1, .ws    row                                               N
//   E       64, 1, .ws     row + col / (N/2) * 64                            N / 2
//   F       64, 1          row % 16 + row / 16 * 32                          N
//   G       32, 1, .ws     row + col / (N/4) * 32                            N / 4
//
// mma.m8n8k4 with f16 (Volta) multiplies four times: lanes 4q to 4q + 3 and the four that are 16
// further on, a quad pair, have the product q to themselves. Four rows lie in the first quad, four
// in the second. Worked example, A in rows: lane 21 is of product 1, row 21 % 4 + 4 = 5.
#include <assert.h>

#include "base/whole.h"
#include "model/words/fragment.h"

enum { WARP_LANES = 32, TENSOR_LANES = 128, HALF_LANES = 16, QUAD = 4, QUAD_PRODUCTS = 3 << 2 };

// ---- tensor memory ------------------------------------------------------------------------------

// Rows of each CTA, and whether each warp's lanes are half full.
static int rows_of_cta(const Atom *atom) { return atom->m / atom->ctas; }
static bool is_half_full(const Atom *atom) {
  return !atom->stationary && atom->ctas == 1 && rows_of_cta(atom) == TENSOR_LANES / 2;
}

char atom_data_path(const Atom *atom) {
  if (is_half_full(atom)) return 'F';
  if (atom->ctas == 2) return rows_of_cta(atom) == TENSOR_LANES ? 'A' : 'B';
  return rows_of_cta(atom) == TENSOR_LANES ? 'D' : rows_of_cta(atom) == WARP_LANES ? 'G' : 'E';
}

static FragmentMap sums_map(const Atom *atom) {
  const int rows = rows_of_cta(atom), folds = is_half_full(atom) ? 1 : TENSOR_LANES / rows;
  FragmentMap map = {.rows = atom->m,
                     .cols = atom->n,
                     .n_lanes = atom->ctas * TENSOR_LANES,
                     .n_values = atom->n / folds};
  for (int row = 1; row < rows; row *= 2) {
    if (is_half_full(atom) && row == HALF_LANES) map.idle_lanes = 1 << map.n_lane_bits++;
    map.row_of_lane_bit[map.n_lane_bits++] = row;
  }
  for (int part = 1; part < folds; part *= 2)
    map.col_of_lane_bit[map.n_lane_bits++] = part * map.n_values;
  if (atom->ctas == 2) map.row_of_lane_bit[map.n_lane_bits++] = rows;
  for (int col = 1; col < map.n_values; col *= 2) map.col_of_value_bit[map.n_value_bits++] = col;
  return map;
}

// For tcgen05 32 rows of A, or columns of B, have their factors side by side in the lanes of a
// column of tensor memory, the next 32 in the next column; the three other quarters of the lanes
// have copies. A column is a word of four bytes, of which the ID says where an instruction's
// factors begin.
static FragmentMap scale_map(const Atom *atom, AtomOperand operand) {
  const bool a = operand == ATOM_SFA;
  const int n = atom_scales(atom), across = a ? atom->m : atom->n;
  FragmentMap map = {.rows = a ? across : n,
                     .cols = a ? n : across,
                     .n_lanes = TENSOR_LANES,
                     .n_values = n * ((across + WARP_LANES - 1) / WARP_LANES),
                     .n_lane_bits = 7};
  int *spread = a ? map.row_of_lane_bit : map.col_of_lane_bit;
  int *along_k = a ? map.col_of_value_bit : map.row_of_value_bit;
  int *columns = a ? map.row_of_value_bit : map.col_of_value_bit;
  for (int bit = 0; 1 << bit < WARP_LANES; bit++) spread[bit] = 1 << bit;
  for (int weight = 1; weight < n; weight *= 2) along_k[map.n_value_bits++] = weight;
  for (int row = WARP_LANES; row < across; row *= 2) columns[map.n_value_bits++] = row;
  return map;
}

FragmentMap fragment_tensor_map(const Atom *atom, AtomOperand operand) {
  assert(atom_in_lanes(atom, operand));
  return atom_operand_is_scale(operand) ? scale_map(atom, operand) : sums_map(atom);
}

// ---- four products ------------------------------------------------------------------------------

// Sums of f32: two rows and two columns of lanes in a quad, each with two rows and columns.
static void spread_sums(FragmentMap *map) {
  map->row_of_lane_bit[0] = map->col_of_value_bit[0] = 1;
  map->col_of_lane_bit[1] = map->row_of_value_bit[1] = 2;
  map->col_of_value_bit[2] = 4;
}

FragmentMap fragment_quad_map(const Atom *atom, AtomOperand operand) {
  FragmentMap map = {.rows = operand == ATOM_B ? atom->k : atom->m,
                     .cols = operand == ATOM_A ? atom->k : atom->n,
                     .n_lanes = WARP_LANES,
                     .n_lane_bits = 5,
                     .product_lanes = QUAD_PRODUCTS};
  map.n_values = map.rows * map.cols * atom->products / map.n_lanes;
  for (int value = 1; value < map.n_values; value *= 2) map.n_value_bits++;
  int *quads = operand == ATOM_B ? map.col_of_lane_bit : map.row_of_lane_bit;
  quads[4] = QUAD;
  if (operand == ATOM_C && atom->acc_bits == 32) {
    spread_sums(&map);
    return map;
  }
  // A lane has a row: of A in columns, and of B in columns, it has a column.
  const bool rows = operand == ATOM_A ? !atom->a_col : operand == ATOM_B ? atom->b_row : true;
  int *lanes = rows ? map.row_of_lane_bit : map.col_of_lane_bit;
  int *values = rows ? map.col_of_value_bit : map.row_of_value_bit;
  for (int bit = 0; bit < 2; bit++) lanes[bit] = 1 << bit;
  for (int bit = 0; bit < map.n_value_bits; bit++) values[bit] = 1 << bit;
  return map;
}

// ---- neighbours ---------------------------------------------------------------------------------

int fragment_map_run(const FragmentMap *map, bool down) {
  const int *step = down ? map->row_of_value_bit : map->col_of_value_bit;
  int run = 1;
  for (int b = 0; b < map->n_value_bits && step[b] == run; b++) run *= 2;
  return min_int(run, map->n_values);
}
