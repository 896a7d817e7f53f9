// Atoms and their fragments: which lane of a tensor-core instruction holds which element.
//
// An Atom is a value: a row of atom.def, with its N and its accumulator type chosen.
//
//   Atom atom;
//   if (!atom_parse("m16n8k16.f16", &atom, &diags)) …
//   FragmentElement e = fragment_element(&atom, ATOM_A, 0, 2);    row 8, col 0
//   FragmentOwner o = fragment_owner(&atom, ATOM_A, 3, 5);        lane 14, value 1
//
// Lanes count from 0 to 31; of a warpgroup's atom from 0 to 127, warp after warp, and so do those
// of tensor memory; those of the second CTA of a pair go on from 128. Values count a lane's
// elements in register order, low half first. A is M × K; B is K × N, so its row is k and its
// column n; C (and D) is M × N.
//
// Every one of these maps is a sum over the bits of lane and value, without carries: bit b of the
// lane adds row_of_lane_bit[b] to the row and col_of_lane_bit[b] to the column, and so do the bits
// of the value. One of the two is 0, and no weight occurs twice in a row or in a column. Weights
// are powers of two, but for columns that tensor memory folds onto further lanes: there N / 2 or N
// / 4 is one. Each is at most twice the next smaller one of its axis; so a map reads both ways.
//
//   FragmentMap map = fragment_map(&atom, ATOM_A);
//   row = (lane >> 2 & 1) * 1 + (lane >> 3 & 1) * 2 + (lane >> 4 & 1) * 4 + (v >> 1 & 1) * 8
//
// ldmatrix is the same kind of map: see LdMatrix at the end.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

// Behind C stand what some atoms take besides: the scale factors of A and B of a block-scaled one,
// scale_A M × S and scale_B S × N, S factors along the K of one instruction; the metadata of a
// sparse one, four bits for each row and chunk of columns of A (sparse.h).
typedef enum AtomOperand {
  ATOM_A,
  ATOM_B,
  ATOM_C,
  ATOM_OPERANDS,
  ATOM_SFA,
  ATOM_SFB,
  ATOM_META,
  ATOM_MATRICES
} AtomOperand;

// Where an operand of an atom lies.
typedef enum AtomPlace {
  ATOM_PLACE_REG = 1,   // in registers, a part in each lane
  ATOM_PLACE_SMEM = 2,  // in shared memory, where a descriptor finds it
  ATOM_PLACE_TMEM = 4   // in tensor memory, row by row in its lanes
} AtomPlace;

typedef struct Atom {
  char name[32];        // "m16n8k16.f16", "wgmma.m64n128k16.bf16"
  const char *pattern;  // the instruction with '@' for the accumulator type and '#' for N
  int m, n, k;
  int n_step;             // 0: N is fixed; else N is a multiple of it
  const char *type;       // of A and B: "f16"
  int bits;               // of one element of A and B
  const char *acc;        // type of C: "f32"
  int acc_bits;           // of one element of C
  bool f16_acc;           // C may be f16 too
  bool sparse;            // A is stored as M × K / 2: metadata say which columns these are
  int ctas;               // that multiply together: 1, or 2 (tcgen05, cta_group::2)
  bool stationary;        // tcgen05.mma.ws
  int products;           // that a warp makes at once: 1, or 4, one in each quad pair
  bool a_col, b_row;      // A is column-major, B row-major: of the four products alone
  int lanes;              // that issue it together: 32, 128 or 1
  unsigned place[3];      // where A, B and C may lie: bits of AtomPlace
  int cc_first, cc_last;  // compute capabilities, 90 for 9.0; cc_last 0: every later one too
  const char *knob;       // value of ATOM_KIND: "mma_m16n8k16_f16"; NULL: none
  const char *section;    // of the PTX ISA
  int unit;  // elements of A and B that k and bits count as one: 1, or as programs have it
} Atom;

// The rows of the table, with the largest N and the usual accumulator.
extern const Atom atom_table[];
extern const int atom_count;

// Reads "m16n8k16.f16", "m16n8k16.f16.f16" (the second type is the accumulator), a knob value
// ("mma_m16n8k16_f16") or a whole instruction
// ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"). False after one diagnostic of rule "atom".
bool atom_parse(const char *text, Atom *out, Diags *diags);
// "m16n8k16.f16.f32" of CuTe's "SM80_16x8x16_F32F16F16F32_TN", which atom_parse reads too; NULL: it
// is no such name.
const char *atom_of_cute(Arena *arena, const char *text);
const Atom *atom_find_knob(const char *value);     // "mma_m16n8k16_f16"; NULL: no row has it
bool atom_has_n(const Atom *row, int n);           // a row with n_step comes with this N
bool atom_same_row(const Atom *a, const Atom *b);  // with any N and any sums
// A name of an atom, by dots or underscores, with n columns: wgmma_m64n128k16_bf16.
void atom_name_with_n(char *out, size_t bytes, const char *name, int m, int n);
void atom_set_n(Atom *atom, int n);  // of a row with n_step, a multiple of it
void atom_set_f16_acc(Atom *atom);   // of a row with f16_acc
// The same atom as programs and their buffers have it, which count bytes where elements are
// smaller: m16n8k64 of 4-bit elements is 16 x 8 x 32 bytes of two.
void atom_in_units(Atom *atom);
void atom_in_elements(Atom *atom);  // the way back
// Scale factors of a row of A, or a column of B, in one instruction: 1, 2 or 4 (scale_vec::1X, 2X,
// 4X); 0: it takes none. They are bytes of one register, or of tcgen05 of one word of tensor
// memory, in the lanes that fragment_map says.
int atom_scales(const Atom *atom);
bool atom_on(const Atom *atom, int cc);  // does a GPU of this compute capability have it?
int64_t atom_flop(const Atom *atom);     // 2 · M · N · K
const char *atom_ptx(Arena *arena, const Atom *atom);
const char *atom_operand_name(AtomOperand operand);  // "A"
bool atom_operand_is_scale(AtomOperand operand);     // SFA or SFB
// Lanes over which the sums lie: 32 or 128, in registers or in tensor memory; 256 of a pair of
// CTAs.
int atom_lanes(const Atom *atom);
int atom_warps(const Atom *atom);  // warps of those lanes: 1, 4 or 8
// Whether the operand may be in registers. B of a warpgroup's atom has none: it is read from shared
// memory through a descriptor; of one in tensor memory lanes have copies of the sums alone.
bool atom_in_registers(const Atom *atom, AtomOperand operand);
bool atom_reads_tiles(const Atom *atom);      // B, by a descriptor, and perhaps A
bool atom_is_of_warp(const Atom *atom);       // 32 lanes issue it: mma.sync
bool atom_is_of_thread(const Atom *atom);     // one does: tcgen05; NULL: no
bool atom_is_of_warpgroup(const Atom *atom);  // 128 do: wgmma
int atom_issuing_warps(const Atom *atom);     // warps that come by it: 1, or 4 of a warpgroup

// ---- fragments ----------------------------------------------------------------------------------

enum { FRAGMENT_LANE_BITS = 8, FRAGMENT_VALUE_BITS = 8 };

typedef struct FragmentMap {
  int rows, cols;  // of the operand
  int n_lanes, n_values;
  int n_lane_bits, n_value_bits;
  int row_of_lane_bit[FRAGMENT_LANE_BITS], col_of_lane_bit[FRAGMENT_LANE_BITS];
  int row_of_value_bit[FRAGMENT_VALUE_BITS], col_of_value_bit[FRAGMENT_VALUE_BITS];
  // Bits of the lane without a weight: those that number a warp's products, whose lanes hold the
  // same elements of each; and those that are set in lanes that hold nothing. What is in neither is
  // set in lanes with copies.
  int product_lanes, idle_lanes;
} FragmentMap;

typedef struct FragmentElement {
  int row, col;
} FragmentElement;

typedef struct FragmentOwner {
  int lane, value;
} FragmentOwner;

// Whether lanes have a part of the operand each: in registers, or as rows of tensor memory.
bool atom_in_lanes(const Atom *atom, AtomOperand operand);
// The operand must be in lanes, here and below.
FragmentMap fragment_map(const Atom *atom, AtomOperand operand);
// Its two parts with rules of their own (fragment_lanes.c).
FragmentMap fragment_tensor_map(const Atom *atom, AtomOperand operand);  // tcgen05
FragmentMap fragment_quad_map(const Atom *atom, AtomOperand operand);    // four products
FragmentElement fragment_map_element(const FragmentMap *map, int lane, int value);
// Neighbours in a row, or down a column, that a lane holds one after the other.
int fragment_map_run(const FragmentMap *map, bool down);
// The first lane that holds it: of the first product.
FragmentOwner fragment_map_owner(const FragmentMap *map, int row, int col);
// "D": the PTX ISA's letter for how the sums of a tcgen05 atom lie in tensor memory.
char atom_data_path(const Atom *atom);

FragmentElement fragment_element(const Atom *atom, AtomOperand operand, int lane, int value);
FragmentOwner fragment_owner(const Atom *atom, AtomOperand operand, int row, int col);

// The rows of a map as lanes share them, read off its bits: those of the value with a weight in the
// row count the rows that a lane has a part of, those of the lane without one are the bits in which
// the lanes of a row differ. Worked example, C of m16n8k16, row = lane / 4 + value / 2 % 2 * 8: a
// lane has two rows, of values 0 and 1 and of values 2 and 3, and shares each with the lanes that
// differ from it in bits 0 and 1.
typedef struct FragmentRows {
  int n_rows, n_row_bits;                       // of a lane
  int count_of_value_bit[FRAGMENT_VALUE_BITS];  // what it adds to the count of the lane's row
  int value_of_row_bit[FRAGMENT_VALUE_BITS];    // and the way back, to the row's first value
  int lane_mask;                                // of the lanes that share a row
} FragmentRows;

FragmentRows fragment_rows(const FragmentMap *map);

// One row: the lanes that share it in rising order, the values that each of them has of it, and how
// these become one: within each lane, then with the lanes at each distance (shfl.bfly).
enum {
  FRAGMENT_ROW_LANES = 32,
  FRAGMENT_ROW_VALUES = 1 << FRAGMENT_VALUE_BITS,
  FRAGMENT_ROW_STEPS = 5
};
typedef struct FragmentRow {
  int row, n_lanes, n_values, n_steps;
  int lane[FRAGMENT_ROW_LANES], value[FRAGMENT_ROW_VALUES];
  int distance[FRAGMENT_ROW_STEPS];
} FragmentRow;

FragmentRow fragment_row(const FragmentMap *map, int row);
// The lanes that lane[i] has combined after `step` steps, as a mask over FragmentRow.lane.
uint32_t fragment_row_combined(const FragmentRow *row, int i, int step);

// Sums of one atom as operand A of another, in the same lanes: `n_atoms` of them, neighbours along
// N, make a fragment of depth K. Value v of A is value sum(bits of v · value_of_bit) of atom
// sum(bits of v · atom_of_bit); `run` values in a row are so in both. Worked example, m16n8k16.f16:
// values 0 to 3 of A come from the first atom, 4 to 7 from the second.
//
// An atom of a warpgroup is wider than A is deep: its sums make `n_steps` fragments, and the
// fragment of step s begins with value s · step_values. Worked example, wgmma m64n176k16: 88 sums
// of a lane are 11 fragments of 8 values.
typedef struct Relayout {
  int n_atoms, n_steps, step_values, n_values, n_bits, run;
  int atom_of_bit[FRAGMENT_VALUE_BITS], value_of_bit[FRAGMENT_VALUE_BITS];
  int elements, kept;  // of A, and the number of them in the lane that has them as a sum
} Relayout;

// Found from both maps; false where elements would have to change lanes, kept < elements, or where
// N and K are no multiples of each other.
bool fragment_relayout(const Atom *sums, const Atom *next, Relayout *out);

// One element of A, and where it is a sum: in which atom of those side by side, lane and value.
typedef struct RelayoutElement {
  FragmentOwner operand, sum;
  int step, atom;  // the fragment of A that it is of, and the atom of sums
  bool kept;       // both are the same lane's
} RelayoutElement;

// Element (row, col) of sums side by side that make whole fragments of A, from the maps of C of the
// one atom and A of the other: col counts from the first of them.
RelayoutElement fragment_relayout_element(const FragmentMap *sums, const FragmentMap *a, int row,
                                          int col);

// How the values of a lane lie in its registers: value v is part v % per_register of register
// v / per_register. A register has 32 bits, of f64 64.
typedef struct FragmentPacking {
  int n_values, n_registers;
  int register_bits, value_bits, per_register;
} FragmentPacking;

FragmentPacking fragment_packing(const Atom *atom, AtomOperand operand);

// ---- ldmatrix -----------------------------------------------------------------------------------
//
// ldmatrix.x1 .x2 .x4 loads 1, 2 or 4 matrices of 8 rows of 16 bytes. Lane l gives the address of
// row l % 8 of matrix l / 8; addresses of further lanes are not used. Register r of a lane receives
// 32 bits of matrix r: without .trans the word l % 4 of row l / 4, so the row that one lane
// addresses goes to four lanes; with .trans (elements of 16 bits) column l / 4 of rows 2·(l % 4)
// and the next, so it goes to one half of each of eight. (PTX ISA 9.2, 9.7.14.5.15; stmatrix is the
// way back.)

enum { LDMATRIX_ROWS = 8, LDMATRIX_ROW_BYTES = 16, LDMATRIX_MATRICES_MAX = 4 };

// The lane with the address from which row `row` of matrix `matrix` is read.
int ldmatrix_addressing_lane(int matrix, int row);

// Element `col` (of 16 bits) of row `row` of a matrix: register r of the receiver is matrix r.
typedef struct LdMatrixReceiver {
  int lane, half;
} LdMatrixReceiver;

LdMatrixReceiver ldmatrix_receiver(bool trans, int row, int col);
FragmentElement ldmatrix_element(bool trans, int lane, int half);  // its inverse
// The lanes that receive a part of a row, in the order of the row; returns their number: 4 or 8.
int ldmatrix_receivers(bool trans, int row, int lanes[8]);

// How ldmatrix loads an operand: lane l addresses the 16 bytes that begin at the fragment's element
// with row and column the sums over the bits of l, as in FragmentMap. Several fragments that are
// neighbours along M (of A) or N (of B) may be loaded at once; register r then belongs to fragment
// r / (registers of one).
typedef struct LdMatrix {
  int n_matrices;  // .x1 .x2 .x4
  bool trans;
  int n_address_lanes;  // 8 · n_matrices: lanes from here on give no address
  int n_lane_bits;      // 5; 7 where each of a warpgroup's warps loads its own rows
  int row_of_lane_bit[FRAGMENT_LANE_BITS], col_of_lane_bit[FRAGMENT_LANE_BITS];
} LdMatrix;

// `k_contiguous`: neighbours along K are neighbours in shared memory (A row-major, B column-major).
// Otherwise .trans is needed, which 16-bit elements alone can have. False when ldmatrix cannot: C,
// f64, .trans of other elements, more than four matrices.
bool fragment_ldmatrix(const Atom *atom, AtomOperand operand, bool k_contiguous, int n_fragments,
                       LdMatrix *out);
FragmentElement ldmatrix_address(const LdMatrix *load, int lane);
const char *ldmatrix_ptx(Arena *arena, const LdMatrix *load);
