// The tiles view's data: the matrices cut down the tiers around one product A[i][k] · B[k][j], and
// where its three elements are.
//
// For attention there are two products, S = Q·K and O = P·V, and the cursor is in one of them: rows
// are queries of the first head, columns of S and depth of O are its keys. Scores that a query must
// not see are drawn as hidden.
//
// Maps and traces outlive frames: they are made again when the schedule or the element changes.
#pragma once
#include "model/readings/place/grid.h"
#include "model/readings/place/tile_map.h"
#include "model/readings/place/trace.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/view.h"

// The levels, from the outside in: C whole, a CTA's tile, a warp's, an atom's or a thread's.
enum { TILES_LEVELS = 4 };

// Rows of A and C, columns of B and C, and the part of K.
typedef struct TilesRegion {
  int64_t row, col, k;
  int64_t rows, cols, ks;
} TilesRegion;

// One schedule's answer for the element.
typedef struct TilesSide {
  Arena *arena;
  const Model *model;
  const Product *product;         // that the element is one of
  char name[ATOM_OPERANDS][8];    // "A", "B", "C"; "P", "V", "O"
  int64_t tile_cols, board_cols;  // columns of a tile of C; tiles side by side
  int serial;                     // of the picture it was made for; 0: none yet
  TraceAt at;
  const TileMap *map;
  const Grid *grid;
  GridCta cta;
  TileOwner owner;
  Trace trace[ATOM_OPERANDS];
  // region[l] is shown at level l, region[l + 1] stands out in it; the last one is the element.
  TilesRegion region[TILES_LEVELS + 1];
} TilesSide;

typedef struct Tiles {
  TraceAt at;   // the element; within the problem after tiles_follow()
  bool placed;  // the user chose it; before, tiles_follow() puts it into the middle of things
  TilesSide side[2];
} Tiles;

typedef struct TilesChosen {
  int level;  // that is shown, below TILES_LEVELS
} TilesChosen;

// It is what the tiles view keeps between frames.
static inline Tiles *tiles_of(const Session *session) { return view_own(session, &tiles_view); }
static inline TilesChosen *tiles_chosen(const Session *session) {
  return view_chosen(session, &tiles_view);
}
void tiles_init(void *state);
void tiles_done(void *state);
// Brings side `index` up to the picture, whose grid is given, and the element.
void tiles_follow(Tiles *tiles, int index, const Picture *picture, const Grid *grid);

// ---- one frame ----------------------------------------------------------------------------------

// The sentences about one operand's element.
typedef struct TilesText {
  const char *name;   // "A[130][21]"
  const char *where;  // who has it, in which register
  const char *line;   // both
  const char *how;    // how it came, or goes, there
} TilesText;

typedef struct TilesHalf {
  const TilesSide *side;
  const char *title;  // "A rung 6"; NULL: not comparing
  int level;
  AtomOperand operand;         // under the cursor
  int spots;                   // places to click that it may take
  const uint8_t *rows, *cols;  // of the region: whether what stands out has cells there
  // Level 3: the rows and columns of the region that are shown, those of the thread or the atom.
  int n_rows, n_cols;
  const int *row, *col;
  TilesText text[ATOM_OPERANDS];
} TilesHalf;

// Clicks: on C an element of the region (row · cols + col; at level 0 the tile), on A or B a k.
enum { TILES_SPOT_CELL = SPOT_VIEW, TILES_SPOT_K, TILES_SPOT_LEVEL };

// Whether the program computes a matrix S that is no output, whose columns it comes to in turns.
bool tiles_of_scores(const TilesSide *side);
// Whether query `row` must not see key `key`; no query and no key where nothing is hidden.
bool tiles_is_hidden(const TilesSide *side, int64_t row, int64_t key);
// Whether a cell of C is a score that is hidden.
bool tiles_cell_is_hidden(const TilesSide *side, int64_t row, int64_t col);
// Whether a cell of C belongs to what stands out at this level, and the character it wears.
bool tiles_stands_out(const TilesSide *side, int level, int64_t row, int64_t col);
const char *tiles_level_name(const TilesHalf *half, int level, char out[48]);
Style tiles_level_style(const TilesHalf *half, int level);  // of what stands out at the level

TilesText tiles_text(Arena *arena, const TilesSide *side, AtomOperand operand);
// Returns what it left empty: the room to its right, and the corner above A and left of B.
// A character of C is `rows` x `cols` of its tiles where C is whole, else of its elements.
typedef struct TilesRoom {
  Rect beside, corner;
  int64_t rows, cols;
} TilesRoom;
TilesRoom tiles_picture_draw(Canvas *canvas, Rect in, const TilesHalf *half);
// Explains the characters of the picture, and the CTA's place in the order of launch.
void tiles_legend_draw(Canvas *canvas, Rect in, const TilesHalf *half, const TilesRoom *room);
