// What the fragments view shows, worked out once per frame, and its two pictures.
#pragma once
#include "model/fragment_text.h"
#include "tui/canvas.h"
#include "tui/view.h"

enum { FRAGMENTS_MEMORY_ROWS = 64, FRAGMENTS_CHUNKS = 8 };

// How shared memory holds the operand, as ldmatrix sees it: rows of 16-byte chunks, each of which
// one lane addresses. Rows of memory run along k where k is strided, else along m or n.
typedef struct FragmentMemory {
  bool legal;       // ldmatrix can load the operand this way
  const char *why;  // it cannot
  LdMatrix load;
  const char *ptx;
  const char *matrix_text[LDMATRIX_MATRICES_MAX];
  const char *row_axis, *col_axis;  // "m", "k"
  bool row_is_row;                  // a row of memory is a row of the operand, not a column
  int rows, chunks, chunk_elems;
  int8_t lane_at[FRAGMENTS_MEMORY_ROWS][FRAGMENTS_CHUNKS];
} FragmentMemory;

typedef struct Fragments {
  const Atom *atom;
  AtomOperand operand;
  bool held;  // by registers; otherwise nothing below is set
  FragmentMap map;
  FragmentPacking packing;
  FragmentFormulas formulas;
  const char *ptx;
  int n_words;
  PtxWord word[PTX_WORDS_MAX];  // the instruction, qualifier by qualifier
  const char *wmma;             // NULL: WMMA has no such type
  FragmentMemory memory;

  // The element under the cursor, who holds it, and whose address ldmatrix reads it from (-1).
  int row, col;
  FragmentOwner owner;
  int reg, part;  // of the owner
  int address_lane;

  const struct Fragments *a;  // the same operand of A's atom, where A|B is on and A has another one
  const char *about_a;        // what A has instead; NULL: nothing to say
} Fragments;

// A click on an element: value = row · FRAGMENTS_BASE + column.
enum { FRAGMENTS_SPOT_ELEMENT = SPOT_VIEW, FRAGMENTS_BASE = 1024 };

// "[3][4,5]", "[3][4-7]", "[4-7][3]": the elements of one register.
const char *fragments_register_text(const Fragments *f, int lane, int reg, char out[32]);

void fragments_draw_grid(Canvas *canvas, Rect in, const Fragments *f);
void fragments_draw_lane(Canvas *canvas, Rect in, const Fragments *f);
int fragments_grid_cols(const Fragments *f);  // that the whole grid takes

void fragments_draw_words(Canvas *canvas, Rect in, const Fragments *f);

void fragments_draw_tiles(Canvas *canvas, Rect in, const Fragments *f);
void fragments_draw_shuffle(Canvas *canvas, Rect in, const Fragments *f);
int fragments_tiles_cols(const Fragments *f);
