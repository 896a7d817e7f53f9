// The order in which tiles are gone through: the number of a tile → its row and column.
//
// In groups C is cut into bands of GROUP_N columns of tiles, one after the other, and a band into
// patches of GROUP_M rows, one below the other; in a patch tiles run down M, then one step along N.
// With GROUP_N = 1 the band is all of C, with GROUP_M = 1 a patch is one row of it:
//
//   4 × 6 tiles   GROUP_M=2            GROUP_N=2            GROUP_M=2,GROUP_N=3
//                  0  2  4  6  8 10     0  1  8  9 16 17     0  2  4 12 14 16
//                  1  3  5  7  9 11     2  3 10 11 18 19     1  3  5 13 15 17
//                 12 14 16 18 20 22     4  5 12 13 20 21     6  8 10 18 20 22
//                 13 15 17 19 21 23     6  7 14 15 22 23     7  9 11 19 21 23
//
// Worked example, 32 × 32 tiles, GROUP_M = 8: g = 0…7 are the first eight tiles of column 0, g =
// 8…15 those of column 1. A wave of 132 blocks then touches 8 panels of A and 17 of B instead of 5
// and 32. The last patch and the last band may be smaller: min(GROUP_M, rows left), and so on.
//
// Along a Hilbert curve any run of tiles, however long, covers a compact patch, so that the order
// suits whatever number of blocks is resident. The curve is that of the smallest square of a power
// of two of tiles around C, without what lies outside, its first half along the longer side of C:
//
//   2 × 4 tiles    0  3  4  5        3 × 4 tiles    0  3  4  5
//                  1  2  7  6                       1  2  7  6
//                                                  11 10  8  9
#include "base/whole.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

Stmt *tile_let_digit(Program *program, KnobId knob, Var *old, const Expr *value) {
  Var *var = program_var(program, old->name, VAR_LET, TIER_BLOCK, old->extent);
  for (int i = 0; i < program->n_kernels; i++)
    stmt_substitute(program, program->kernel[i].body, old, ex_var(program->arena, var));
  for (int a = 0; a < program->n_axes; a++)
    for (int d = 0; d < program->axis[a].n_digits; d++) {
      Digit *digit = &program->axis[a].digit[d];
      if (digit->var == old) digit->var = var;
    }
  return stmt_let(program, knob, var, value);
}

int64_t tiles_along(const Product *product, int axis) {
  return product->axis[axis]->digit[0].var->extent;
}

// ---- groups -------------------------------------------------------------------------------------

// `side`, or the rest of `all` from `first` on. A side that divides `all` is never cut.
static const Expr *cut_side(Arena *arena, int64_t side, int64_t all, const Expr *first) {
  if (all % side == 0) return ex_const(arena, side);
  return ex_min(arena, ex_const(arena, side), ex_sub(arena, ex_const(arena, all), first));
}

// Names the patch of its band that a tile is in, as a LET: where bands differ in width the quotient
// does not show that its range is [0, patches - 1], and the height of the last patch follows from
// that.
static const Expr *name_patch(Program *program, Stmt **let, int64_t patches, const Expr *quotient) {
  Var *p = program_var(program, "m_p", VAR_LET, TIER_BLOCK, patches);
  if (patches > 1) *let = stmt_let(program, KNOB_GROUP_M, p, quotient);
  return ex_var(program->arena, p);
}

TilePlace tile_place_grouped(Program *program, const Product *product, const Schedule *schedule,
                             const Expr *tile) {
  Arena *arena = program->arena;
  int64_t group_m = schedule->value[KNOB_GROUP_M], group_n = schedule->value[KNOB_GROUP_N];
  TilePlace place = {.knob_m = group_m > 1 ? KNOB_GROUP_M : KNOB_GROUP_N,
                     .knob_n = group_n > 1 ? KNOB_GROUP_N : KNOB_GROUP_M};
  int64_t rows = tiles_along(product, AXIS_M), columns = tiles_along(product, AXIS_N);
  int64_t down = min64(group_m, rows), along = group_n > 1 ? min64(group_n, columns) : columns;
  const Expr *left = ex_mul_const(arena, ex_div(arena, tile, along * rows), along);
  const Expr *width = cut_side(arena, along, columns, left);
  const Expr *in_band = ex_mod(arena, tile, along * rows);
  const Expr *patch_size = ex_mul_const(arena, width, down);
  const Expr *patch = ex_div_expr(arena, in_band, patch_size);
  if (along < columns && down > 1)
    patch = name_patch(program, &place.let, ceil_div(rows, down), patch);
  const Expr *top = ex_mul_const(arena, patch, down);
  const Expr *height = cut_side(arena, down, rows, top);
  const Expr *in_patch = ex_mod_expr(arena, in_band, patch_size);
  place.row = ex_add(arena, top, ex_mod_expr(arena, in_patch, height));
  place.column = ex_add(arena, left, ex_div_expr(arena, in_patch, height));
  return place;
}

// ---- the Hilbert curve --------------------------------------------------------------------------

typedef struct Point {
  int64_t along, across;
} Point;

// Point `at` of the curve through side × side, a power of two. It begins at (0, 0), and its first
// half is the one with the smaller `across`. Two bits of `at` are a quadrant; the first and the
// last quadrant hold the curve turned over, so smaller squares are turned before they are moved.
static Point hilbert_point(int64_t side, int64_t at) {
  Point p = {0, 0};
  for (int64_t s = 1; s < side; s *= 2, at /= 4) {
    bool far = at & 2, right = (at ^ at >> 1) & 1;
    if (!right) {
      Point turned = {p.across, p.along};
      p = far ? (Point){s - 1 - turned.along, s - 1 - turned.across} : turned;
    }
    p.across += far ? s : 0;
    p.along += right ? s : 0;
  }
  return p;
}

// Whether the curve, at `at`, enters a square of that side in which there is no tile. Squares of
// one size follow each other on a curve like the one of points in them.
static bool is_empty(int64_t side, int64_t square, int64_t at, int64_t along, int64_t across) {
  if (at % (square * square)) return false;
  const Point p = hilbert_point(side / square, at / (square * square));
  return p.along * square >= along || p.across * square >= across;
}

// The next point behind such squares, the largest first: of 4 x 4096 tiles the curve through
// 4096 x 4096 has 16.8 million points.
static int64_t pass_empty(int64_t side, int64_t at, int64_t along, int64_t across) {
  for (int64_t square = side; square > 0; square /= 2)
    if (is_empty(side, square, at, along, across))
      return pass_empty(side, at + square * square, along, across);
  return at;
}

// [rows · columns]: the place, row · columns + column, of each tile on the curve.
static const int64_t *hilbert_table(Arena *arena, int64_t rows, int64_t columns) {
  const int64_t along = max64(rows, columns), across = min64(rows, columns);
  int64_t *table = ARENA_ARRAY(arena, int64_t, rows * columns), at = 0, side = 1;
  while (side < along) side *= 2;
  for (int64_t n = 0; n < rows * columns; n++) {
    at = pass_empty(side, at, along, across);
    const Point p = hilbert_point(side, at++);
    table[n] = rows > columns ? p.along * columns + p.across : p.across * columns + p.along;
  }
  return table;
}

TilePlace tile_place_hilbert(Program *program, const Product *product, const Expr *tile) {
  Arena *arena = program->arena;
  int64_t rows = tiles_along(product, AXIS_M), columns = tiles_along(product, AXIS_N);
  TilePlace place = {.knob_m = KNOB_TILE_ORDER, .knob_n = KNOB_TILE_ORDER};
  Var *at = program_var(program, "at", VAR_LET, TIER_BLOCK, rows * columns);
  const int64_t *table = hilbert_table(arena, rows, columns);
  place.let =
      stmt_let(program, KNOB_TILE_ORDER, at, ex_table(arena, table, (int)(rows * columns), tile));
  place.row = ex_div(arena, ex_var(arena, at), columns);
  place.column = ex_mod(arena, ex_var(arena, at), columns);
  return place;
}
