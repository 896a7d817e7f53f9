// Fragments in words: the formulas of a map, as the PTX ISA would write them.
//
//   A of m16n8k16.f16   row = lane / 4 + v / 2 % 2 * 8    col = lane % 4 * 2 + v % 2 + v / 4 * 8
//                       lane = row % 8 * 4 + col / 2 % 4  v = row / 8 * 2 + col % 2 + col / 8 * 4
//
// They are C expressions of `lane` and `v` (the value), and of `row` and `col`.
#pragma once
#include "model/words/fragment.h"

typedef struct FragmentFormulas {
  const char *row, *col;     // of lane and v
  const char *lane, *value;  // of row and col
} FragmentFormulas;

FragmentFormulas fragment_formulas(Arena *arena, const FragmentMap *map);

// "[0][0] [0][1] [8][0] …": the elements of a lane in register order.
const char *fragment_lane_text(Arena *arena, const FragmentMap *map, int lane);

// Says what else is to be known of the lanes: that they make four products, or how rows of sums lie
// in tensor memory. NULL: nothing.
const char *fragment_lanes_text(Arena *arena, const Atom *atom, AtomOperand operand);
// "lane 5 is of product 1", "lane 16 holds nothing"; NULL: it is the first that holds its elements,
// or has a copy.
const char *fragment_lane_note(Arena *arena, const FragmentMap *map, int lane);

// "lanes 0-7: [0][0] to [7][0]": where the rows of a matrix begin that those lanes address.
const char *ldmatrix_matrix_text(Arena *arena, const LdMatrix *load, int matrix);

// "row 3 lies in lanes 12 13 14 15: bits 0 1 of their numbers have no weight in the row; each has
// values 0 1 of it".
const char *fragment_row_text(Arena *arena, const FragmentRow *row);
// Tells what a step of the row's reduction does, 0 being that within each lane: "in each lane,
// values 0 1: 2 of 8 columns", "shfl ^ 1: 4 of 8 columns".
const char *fragment_step_text(Arena *arena, const FragmentRow *row, int step);

// Whether sums are operand A of the next product where they lie: "256 of 256 elements keep their
// lane: sums are operand A where they lie", "32 of 128 elements keep their lane: [0][1] would go
// from lane 0 to lane 1".
const char *fragment_relayout_text(Arena *arena, const Atom *sums, const Atom *next);
// The values of sums that register `reg` of fragment `step` of A is made of, in the same lane:
// "atom 1 v 0,1"; "" where they are not that lane's.
const char *fragment_relayout_register(Arena *arena, const Atom *sums, const Atom *next, int lane,
                                       int step, int reg);

// One qualifier of an instruction's name and what it says.
typedef struct PtxWord {
  const char *text;     // ".row"
  const char *meaning;  // "A is row-major: neighbours along k share a register"
} PtxWord;

enum { PTX_WORDS_MAX = 16 };

// The name of an atom's instruction, or of an ldmatrix, piece by piece; their number. Shapes
// and types are read off the atom; `load` is NULL for the atom itself.
int ptx_words(Arena *arena, const Atom *atom, const LdMatrix *load, PtxWord out[PTX_WORDS_MAX]);

// Says how WMMA's one shape, 16 x 16 x 16, is made in this atom: "2 of m16n8k16: …"; NULL where
// WMMA has no such type.
const char *wmma_text(Arena *arena, const Atom *atom);
