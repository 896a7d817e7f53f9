// Parts of the grid view.
#pragma once
#include "model/readings/place/chip_merge.h"
#include "model/readings/place/grid.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/view.h"

// ---- grid_picture.c -----------------------------------------------------------------------------
// The matrix C as a grid of tiles: what the grid view shows of one side, and its picture.

// A side of the grid view in one frame: the grid, the window that was chosen, and where it lies in
// the overview.
typedef struct GridHalf {
  const Grid *grid;
  const char *name;  // "A rung 6 padding"; NULL: not comparing
  GridSpan span;
  int64_t at, n_windows;          // the window under the scrubber
  GridWindow window[GRID_SPANS];  // of every kind, those around the first CTA of the chosen one
  const uint8_t *inside;          // [overview cells] 1 where a CTA of the window works
  const uint8_t *row, *col;  // [splits · rows], [splits · cols]: panels of A and B it touches
  int64_t split;             // cell of the overview's splits in which the window begins
  int spots;                 // places to click that the picture may take
  double l2_hit;             // the part of all panels asked for that L2 has, replayed
  bool counted;              // its waves follow from registers that the compiler counted
  GridWork work;             // of causal attention; no rows: all do the same
  ChipMerge merge;           // of a persistent kernel where the chip's map is known
  ChipMerge merge_anywhere;  // the same without places, where its lists have some
  bool all_waves;            // every tile in the colour of its wave, not the window's alone
  bool places;               // every tile with the letter of its place, in its colour
} GridHalf;

// A click on a tile: the value is the cell of the overview.
enum { GRID_SPOT_SPAN = SPOT_VIEW, GRID_SPOT_CELL };

// Places to click of a whole screen: the canvas keeps 512, tabs and footer included.
enum { GRID_SPOTS = 400, GRID_MARKS = 36 };  // marks: 0-9 and a-z, then from the beginning again

// Letters of places, in their colours: "a" is the first.
char grid_place_letter(int place);
Style grid_place_style(int place);

// '0' … '9', 'a' … 'z', then from the start again: a number in one column.
char grid_mark(int64_t number);

// The look of a tile in the window: in the colour of its wave, or, where all tiles are, white.
Style grid_picture_window(const GridHalf *half, int64_t wave);

void grid_picture_draw(Canvas *canvas, Rect in, const GridHalf *half);

// ---- grid_facts.c -------------------------------------------------------------------------------
// The facts that the grid view tells of one side, in lines and as data.

// The number of CTAs and their tiles. Two rows for many of them: the clusters go to the second one
// where the first is full.
void grid_facts_head(Canvas *canvas, Rect in, const Grid *grid);

// The lines under or beside the picture, the ones that matter most first.
void grid_facts_draw(Canvas *canvas, Rect in, const GridHalf *half);
int grid_facts_lines(const GridHalf *half);

// The members of an object, grid_data.c.
extern const Form grid_half_form;  // of GridHalf

// ---- grid_places.c ------------------------------------------------------------------------------
// The grid view's facts about places on the chip: who shares one, what merges there, whose map it
// is.

// Whether each list of tiles is meant for a place, and the place is known.
bool grid_has_places(const Grid *grid);

// Lines of the facts below: 0 where there is nothing to say.
int grid_merge_lines(const GridHalf *half);
// Fetches of a turn and those that merge before L2, beside clusters that are put anywhere.
void grid_draw_merge(Canvas *canvas, Rect *in, const GridHalf *half);

// Whose map it is, and what every place has; the sentence is cut where there is no room.
void grid_draw_places(Canvas *canvas, Rect in, const GridHalf *half);

// A GridHalf with a kernel that has a map of the chip.
bool grid_half_has_map(const GridHalf *half);
extern const Form grid_places_form;
