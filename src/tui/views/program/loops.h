// Parts of the loops view.
#pragma once
#include "base/form.h"
#include "base/json.h"
#include "model/interp/load_places.h"
#include "model/ir/names.h"
#include "model/readings/place/block_tiles.h"
#include "model/readings/time/steps.h"
#include "model/schedules/strategies.h"
#include "tui/canvas/canvas.h"
#include "tui/session/placed_loads.h"
#include "tui/session/session.h"

// ---- loops_axes.c -------------------------------------------------------------------------------
// How the indices of a program are rebuilt from the digits that loops count, an axis each.
//
//   m = m_b·128 + m_w·64 + m_r·16 + m_a      32 × 2 × 4 × 16 for 4096      m_a = lane / 4 … in C

typedef struct AxesPicture {
  const Program *program;
  const char *sum[AXIS_COUNT], *factors[AXIS_COUNT];
  const char *atom[AXIS_COUNT], *atom_is[AXIS_COUNT];  // "m_a", "m_a = lane / 4 …"; NULL: no atom
} AxesPicture;

AxesPicture axes_picture(Arena *arena, const Program *program);
// On AXIS_COUNT rows, each digit in the colour of its tier.
void axes_picture_draw(Canvas *canvas, Rect in, const AxesPicture *picture);

// ---- loops_steps.c ------------------------------------------------------------------------------
// The loops view's third picture: what a thread issues in one iteration of k_o, row by row, and the
// orders in which it could read its fragments.

// The texts of one row, by column, on a narrow and on a wide screen.
enum { CELL_COPY, CELL_WAIT, CELL_READ, CELL_MULTIPLY, CELLS };
typedef struct StepText {
  const char *narrow[CELLS], *wide[CELLS];
  const char *line;  // all of them, to be searched and copied
  const char *why;   // what makes its copies or its barrier right
} StepText;

typedef struct StepsPicture {
  Steps steps;
  const StepText *text;  // [steps.n]
  const char *units;     // what a transfer and a computation are; "" without an atom
  int n_strategies;
  Strategy strategy[STRATEGIES_MAX];
} StepsPicture;

StepsPicture *steps_picture(Arena *arena, const Model *model);
// `spot`: what a click on a row means, its value being the row.
void steps_picture_draw(Canvas *canvas, Rect in, const StepsPicture *picture, int cursor, int spot);
// The meaning of the row under the cursor.
void steps_picture_why(Canvas *canvas, Rect in, const StepsPicture *picture, int cursor);

// ---- loops_tiles.c ------------------------------------------------------------------------------
// The loops view's fifth picture: the tiles of a block, line by line, and below them what the sets
// of fragment registers do: which one is loaded while which one is multiplied.
//
//    tile      a block    a warp     fragments held at once   sets  regs KiB shared
//    Q A of S  64 × 128   16 × 128   2 × 16    2 × 2, 1 of 8     2     8         16
//
//    set 0   ←0 ×0   ←2      ×2 …       row 3 loads set 0 with step 2 while set 1 is multiplied
//    set 1   ←1      ×1      ←3

enum { LOOPS_TILES_COLUMNS = 9 };

typedef struct LoopsTiles {
  BlockTiles tiles;
  Steps steps;
  int n_sets;  // of fragment registers, of the operand that has most
  const char *cell[BLOCK_TILES_MAX][LOOPS_TILES_COLUMNS];
  const char *text[BLOCK_TILES_MAX];  // a line of the table, to be searched and copied
} LoopsTiles;

const LoopsTiles *loops_tiles(Arena *arena, const Program *program);
void loops_tiles_draw_head(Canvas *canvas, Rect in, const LoopsTiles *picture);
// `spot`: what a click on a line of the table means, its value being the line.
void loops_tiles_draw(Canvas *canvas, Rect in, const LoopsTiles *picture, int cursor, int spot);

// ---- loops_places.c -----------------------------------------------------------------------------
// The loops view's fourth picture: one turn of the loop over slabs, line by line, and beside it for
// each copy a bar of the places in which it may stand. What the bar says was tried: the program
// with the copy at that place, run by the interpreter on a small problem, one place in each idle
// moment.
//
//    V_s  K_s
//     ·    ·   S_f[0, t_r, 0] = 0
//     ·    ·   wait until no group is in flight
//     ·    ·   barrier: the slab is filled, the other one read
//     ●    ·   the warp's fragments of Q; the warp's fragments of K       202    0 B    3104
//
// Where there is a compiler each safe place is compiled (session/placed_loads.h), and its line says
// what the kernel takes with the chosen copy there.

// Kept between frames.
typedef struct PlacesWork {
  PlacedLoads *placed;  // the session's, of the last schedule that was looked at
  int copy;             // that the cursor's sentence is about
  bool can_compile;     // a compiler is there, or will answer
} PlacesWork;

// Looks at the session's schedule; tries nothing.
void places_look(PlacesWork *work, Session *session);
// Tries what the cursor asks about, then the others; false: nothing is left.
bool places_idle(PlacesWork *work, int cursor);
// Goes to the next copy, or the one before.
void places_turn(PlacesWork *work, int step);
int places_count(const PlacesWork *work);  // places, which are one more than lines
const char *places_text(const PlacesWork *work, int place);

void places_draw_head(Canvas *canvas, Rect in, const PlacesWork *work);
// `spot`: what a click on a row means, its value being the row.
void places_draw(Canvas *canvas, Rect in, Arena *frame, const PlacesWork *work, int cursor,
                 int spot);
