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

// "lanes 0-7: [0][0] to [7][0]": where the rows of a matrix begin that those lanes address.
const char *ldmatrix_matrix_text(Arena *arena, const LdMatrix *load, int matrix);

// One qualifier of an instruction's name and what it says.
typedef struct PtxWord {
  const char *text;     // ".row"
  const char *meaning;  // "A is row-major: neighbours along k share a register"
} PtxWord;

enum { PTX_WORDS_MAX = 16 };

// The name of an atom's instruction, or of an ldmatrix, piece by piece; how many there are. Shapes
// and types are read off the atom; `load` is NULL for the atom itself.
int ptx_words(Arena *arena, const Atom *atom, const LdMatrix *load, PtxWord out[PTX_WORDS_MAX]);

// Says how WMMA's one shape, 16 x 16 x 16, is made in this atom: "2 of m16n8k16: …"; NULL where
// WMMA has no such type.
const char *wmma_text(Arena *arena, const Atom *atom);
