// ldmatrix: who addresses which row, and who receives it.
//
// It hands out matrices of 8 rows × 16 bytes so that a receiver's 32 bits are just one register of
// the rule of fragment.c; so register r of a fragment is matrix r, whose corner is where the value
// bits above the packed ones put it.
#include "model/words/fragment.h"

int ldmatrix_addressing_lane(int matrix, int row) { return matrix * LDMATRIX_ROWS + row; }

LdMatrixReceiver ldmatrix_receiver(bool trans, int row, int col) {
  int spread = trans ? col : row, packed = trans ? row : col;
  return (LdMatrixReceiver){.lane = spread * 4 + packed / 2, .half = packed % 2};
}

FragmentElement ldmatrix_element(bool trans, int lane, int half) {
  int spread = lane / 4, packed = lane % 4 * 2 + half;
  return trans ? (FragmentElement){packed, spread} : (FragmentElement){spread, packed};
}

int ldmatrix_receivers(bool trans, int row, int lanes[8]) {
  int n = trans ? 8 : 4;
  for (int i = 0; i < n; i++) lanes[i] = ldmatrix_receiver(trans, row, i * 8 / n).lane;
  return n;
}

// Register bits are the value bits above those that count inside a register.
static int add_matrix_bits(LdMatrix *load, const FragmentMap *map, int per_register) {
  int n_registers = 1;
  for (int b = 0; b < map->n_value_bits; b++) {
    if (1 << b < per_register) continue;
    if (load->n_lane_bits == 5) return 2 * LDMATRIX_MATRICES_MAX;
    load->row_of_lane_bit[load->n_lane_bits] = map->row_of_value_bit[b];
    load->col_of_lane_bit[load->n_lane_bits++] = map->col_of_value_bit[b];
    n_registers *= 2;
  }
  return n_registers;
}

bool fragment_ldmatrix(const Atom *atom, AtomOperand operand, bool k_contiguous, int n_fragments,
                       LdMatrix *out) {
  if (operand >= ATOM_C || !atom_in_registers(atom, operand) || atom->bits > 32) return false;
  if (atom->products > 1 || (!k_contiguous && atom->bits != 16)) return false;
  if (n_fragments < 1 || (n_fragments & (n_fragments - 1))) return false;
  FragmentMap map = fragment_map(atom, operand);
  LdMatrix load = {.trans = !k_contiguous, .n_lane_bits = 3};
  bool rows_along_row = (operand == ATOM_A) == k_contiguous;
  for (int b = 0; b < 3; b++)
    *(rows_along_row ? &load.row_of_lane_bit[b] : &load.col_of_lane_bit[b]) = 1 << b;
  load.n_matrices = add_matrix_bits(&load, &map, fragment_packing(atom, operand).per_register);
  int m = operand == ATOM_A ? map.rows : 0, n = operand == ATOM_A ? 0 : map.cols;
  for (int joined = 1; joined < n_fragments; joined *= 2, m *= 2, n *= 2) {
    if (load.n_lane_bits == 5 || atom_warps(atom) > 1) return false;
    load.row_of_lane_bit[load.n_lane_bits] = m;
    load.col_of_lane_bit[load.n_lane_bits++] = n;
    load.n_matrices *= 2;
  }
  if (load.n_matrices > LDMATRIX_MATRICES_MAX) return false;
  load.n_address_lanes = load.n_matrices * LDMATRIX_ROWS;
  for (int b = 5; b < map.n_lane_bits; b++) load.row_of_lane_bit[b] = map.row_of_lane_bit[b];
  load.n_lane_bits = map.n_lane_bits;
  *out = load;
  return true;
}

FragmentElement ldmatrix_address(const LdMatrix *load, int lane) {
  FragmentElement at = {0, 0};
  for (int b = 0; b < load->n_lane_bits; b++)
    if (lane >> b & 1) at.row += load->row_of_lane_bit[b], at.col += load->col_of_lane_bit[b];
  return at;
}

const char *ldmatrix_ptx(Arena *arena, const LdMatrix *load) {
  return arena_printf(arena, "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16", load->n_matrices,
                      load->trans ? ".trans" : "");
}
