// The fragments view's data, made once per frame, and its two pictures.
#pragma once
#include "model/readings/place/fragment_text.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/view.h"

enum { FRAGMENTS_MEMORY_ROWS = 64, FRAGMENTS_CHUNKS = 8, FRAGMENTS_ROWS_MIN = 12 };

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
  Arena *arena;  // of the frame
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
  const char *pairs;            // how two B are loaded at once
  FragmentMemory memory;

  // The element under the cursor, who holds it, and whose address ldmatrix reads it from (-1).
  int row, col;
  int product;  // lanes of the product that is shown: added to those of the map's owners
  FragmentOwner owner;
  int reg, part;  // of the owner
  int address_lane;

  // The columns that the cursor may take, and the one it is on: of sums that become an operand it
  // goes on over the atoms beside each other, and `col` is that within its atom.
  int n_cols, cursor_col;
  bool of_row;  // the grid shows the row with all lanes that share it, not the lane
  FragmentRow shared;
  bool joined, in_place;  // sums that become an operand are shown; they do where they lie
  const char *row_text, *relayout_text;
  const char *lanes_text;    // how the sums lie in tensor memory; NULL: elsewhere
  const char *program_text;  // what the program has of such rows; NULL: nothing

  bool beside;  // another operand has the cursor: of this one the same lane is shown
  bool by_k;    // a cell is a run down a column, so that B takes as few rows as registers
  bool bare;    // a cell says its lane only

  const struct Fragments *a;  // the same operand of A's atom, where A|B is on and A has another one
  const char *about_a;        // what A has instead; NULL: nothing to say
} Fragments;

// A click on an element: value = (operand · FRAGMENTS_BASE + row) · FRAGMENTS_BASE + column.
enum { FRAGMENTS_SPOT_ELEMENT = SPOT_VIEW, FRAGMENTS_BASE = 1024 };
int fragments_spot(const Fragments *f, int row, int col);

// The lane of the shown product that holds it.
FragmentOwner fragments_owner(const Fragments *f, int row, int col);

// "[3][4,5]", "[3][4-7]", "[4-7][3]": the elements of one register.
const char *fragments_register_text(const Fragments *f, int lane, int reg, char out[32]);

void fragments_draw_grid(Canvas *canvas, Rect in, const Fragments *f);
void fragments_draw_lane(Canvas *canvas, Rect in, const Fragments *f);
int fragments_grid_cols(const Fragments *f);  // that the whole grid takes
int fragments_grid_rows(const Fragments *f);
void fragments_draw_facts(Canvas *canvas, Rect in, const Fragments *f);
// The line of the element under the cursor: its lane, its value and its register.
void fragments_draw_element(Canvas *canvas, Rect row, const Fragments *f);
void fragments_draw_formulas(Canvas *canvas, Rect in, const Fragments *f);
int fragments_formula_rows(const Fragments *f, int cols);

// The whole instruction, A on the left, B above, C where they meet, with one lane in all three.
// Cells shrink until it fits; what is larger than the screen shows the part around the lane.
typedef struct FragmentsWhole {
  Fragments of[ATOM_OPERANDS];
} FragmentsWhole;

enum { FRAGMENTS_WHOLE_ROWS = 34, FRAGMENTS_WHOLE_COLS = 118 };
// Cuts off what the instruction leaves to its right or below it, of that size; else nothing.
Rect fragments_whole_spare(const FragmentsWhole *whole, Rect *in, int rows, int cols);
void fragments_draw_whole(Canvas *canvas, Rect in, FragmentsWhole *whole, AtomOperand cursor);

void fragments_draw_words(Canvas *canvas, Rect in, const Fragments *f);
// C: a row, the lanes that share it, and how its values become one.
void fragments_draw_rows(Canvas *canvas, Rect in, const Fragments *f);
// C of atoms beside each other, and operand A in the same registers.
void fragments_draw_relayout(Canvas *canvas, Rect in, const Fragments *f);

void fragments_draw_tiles(Canvas *canvas, Rect in, const Fragments *f);
void fragments_draw_shuffle(Canvas *canvas, Rect in, const Fragments *f);
int fragments_tiles_cols(const Fragments *f);
