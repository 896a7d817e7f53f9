// The loops view's fifth picture: the tiles of a block, line by line, and below them what the sets
// of fragment registers do: which one is loaded while which one is multiplied.
//
//    tile      a block    a warp     fragments held at once   sets  regs KiB shared
//    Q A of S  64 × 128   16 × 128   2 × 16    2 × 2, 1 of 8     2     8         16
//
//    set 0   ←0 ×0   ←2      ×2 …       row 3 loads set 0 with step 2 while set 1 is multiplied
//    set 1   ←1      ×1      ←3
#pragma once
#include "model/readings/place/block_tiles.h"
#include "model/readings/time/steps.h"
#include "tui/canvas/canvas.h"

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
