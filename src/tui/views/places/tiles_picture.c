// A, B and C of one level, to scale: B above C, A to its left, so that a row of A and a column of B
// meet in their cell of C.
//
//                 ░░▒▒░░      B   the columns that stand out; full: the part of K at hand
//     ▒▒█▒▒▒      001122      C   who has a cell: '0' … the warp, the atom, the lane
//     ░░░░░░      001122
//         A
//
// In the picture of C whole every tile says when it is computed: 1 to 9 and a to z are the CTAs
// that are launched after the one at hand, dark shade was before, light shade comes later. So the
// order has a shape.
//
// Where a character stands for several tiles it is marked by the first of them to come, and only
// where the nearest of them was not before: so the marks go on as the order does.
//
// At levels 0 to 2 a character stands for a piece of the matrix and shows the element in its
// middle; K is squeezed where it would take more than its share. At level 3 every element has
// a cell of its own with the lane that holds it, and what does not fit is scrolled to the cursor.
#include <stdio.h>
#include <string.h>

#include "base/whole.h"
#include "model/ir/program.h"
#include "model/ir/role.h"
#include "tui/views/places/grid_view.h"
#include "tui/views/places/tiles.h"

enum { GAP = 1 };

// ---- scales -------------------------------------------------------------------------------------

// `each` elements for `per` characters; one of the two is 1.
typedef struct Scale {
  int64_t each;
  int per, length;  // length in characters
} Scale;

static Scale scale_of(double elements_per_character, int64_t extent, int most) {
  Scale scale = {1, 1, 0};
  if (elements_per_character >= 1)
    scale.each = (int64_t)(elements_per_character + 0.999999);
  else
    scale.per = (int)(1 / elements_per_character);
  int64_t length = ceil_div(extent, scale.each) * scale.per;
  scale.length = (int)min64(length, most);
  return scale;
}

// The element that a character shows: the cursor's where that is one of them, else the middle one.
static int64_t element_of(const Scale *scale, int character, int64_t cursor, int64_t extent) {
  int64_t first = character / scale->per * scale->each;
  if (cursor >= first && cursor < first + scale->each) return cursor;
  return min64(first + scale->each / 2, extent - 1);
}

static int character_of(const Scale *scale, int64_t element) {
  int64_t at = element / scale->each * scale->per;
  return (int)min64(at, scale->length - 1);
}

typedef struct Scales {
  Scale m, n, k_cols, k_rows;
} Scales;

// At least `each` elements, so that a tile is a whole number of characters or a character a whole
// number of tiles: a board of tiles that are cut anywhere is noise. 96 of a tile of 128 become 128,
// 40 become 64, 200 become 256.
static double whole_tiles(double each, int64_t tile) {
  if (each > (double)tile) return (double)(tile * ((int64_t)(each / (double)tile + 0.999999)));
  int64_t per = each > 1 ? (int64_t)((double)tile / each) : tile;
  while (per > 1 && tile % per != 0) per--;
  return each > 1 ? (double)(tile / per) : each;
}

// The same of a tile's warps, where that costs a fourth of the picture at most: 14.2 of 128 are 16.
static double even_parts(double each, int64_t extent) {
  const double whole = whole_tiles(each, extent);
  return each > 1 && whole <= each * 4 / 3 ? whole : each;
}

// C takes what K leaves: three fifths of the columns and two thirds of the rows at least.
static Scales lay_out(const TilesRegion *region, const TilesRegion *tile, Rect in) {
  double cols = (double)region->cols / (in.cols * 0.6),
         rows = (double)region->rows / (in.rows * 1.3);
  double each = cols > rows ? cols : rows;
  if (each < 0.25) each = 0.25;
  double each_row = 2 * each;
  if (tile) {
    each = whole_tiles(each, tile->cols);
    each_row = whole_tiles(2 * each, tile->rows);
  } else {
    each = even_parts(each, region->cols);
    each_row = even_parts(2 * each, region->rows);
  }
  Scales l;
  l.m = scale_of(each_row, region->rows, in.rows - GAP - 1);
  l.n = scale_of(each, region->cols, in.cols - GAP - 1);
  int k_cols = in.cols - GAP - l.n.length, k_rows = in.rows - GAP - l.m.length;
  if (k_cols > in.cols / 2) k_cols = in.cols / 2;
  double by_cols = (double)region->ks / k_cols, by_rows = (double)region->ks / (2.0 * k_rows);
  l.k_cols = scale_of(by_cols > each ? by_cols : each, region->ks, k_cols);
  l.k_rows = scale_of(by_rows > each ? 2 * by_rows : 2 * each, region->ks, k_rows);
  return l;
}

// ---- characters ---------------------------------------------------------------------------------

// Rows, columns and parts of K of the level that the characters of a picture show.
typedef struct Looks {
  const TilesHalf *half;
  const Scales *l;
  TilesRegion region, at;  // at: the cursor within the region
} Looks;

// Characters that a tile takes; 0: a character stands for several.
static int tile_chars(const Scale *scale, int64_t tile) {
  return (int)(tile * scale->per / scale->each);
}

// The last character of a tile is left out if it has room, so that tiles stand apart.
static bool between(const Scale *scale, int64_t tile, int character) {
  const int chars = tile_chars(scale, tile);
  return chars >= 3 && character % chars == chars - 1;
}

// The character that speaks for the tile: the one in its middle.
static int speaker(const Scale *scale, int64_t tile, int64_t index) {
  const int chars = tile_chars(scale, tile), seen = chars >= 3 ? chars - 1 : chars;
  return character_of(scale, index * tile) + seen / 2;
}

// When the characters of C are come to by the CTAs after the one at hand: 1, 2, …; 0: not soon, or
// farther out than anybody looks.
enum { ORDER_ROWS = 128, ORDER_COLS = 256, UNMARKED = UINT8_MAX };
typedef struct Order {
  uint8_t rank[ORDER_ROWS][ORDER_COLS];
} Order;

static uint8_t *place_of(Order *order, const Scales *l, const TilesSide *side, int64_t tile_row,
                         int64_t tile_col) {
  int row = speaker(&l->m, side->grid->tile_m, tile_row);
  int col = speaker(&l->n, side->tile_cols, tile_col);
  return row < ORDER_ROWS && col < ORDER_COLS ? &order->rank[row][col] : NULL;
}

// A tile of S is computed before the one at hand by an earlier CTA, or for an earlier block of
// keys.
static bool is_before(const TilesSide *side, int64_t row, int64_t col) {
  const int64_t tile_row = row / side->grid->tile_m, tile_col = col / side->tile_cols;
  const bool scores = tiles_of_scores(side);
  int64_t cta = grid_owner(side->grid, tile_row, scores ? 0 : tile_col, side->cta.split);
  if (scores && cta == side->cta.index) return col < side->region[1].col;
  return cta >= 0 && cta < side->cta.index;
}

// The element of the character that holds `element` which is nearest to `here`.
static int64_t nearest(const Scale *scale, int64_t element, int64_t here, int64_t extent) {
  const int64_t first = element / scale->each * scale->each;
  const int64_t last = min64(first + scale->each, extent) - 1;
  return here < first ? first : here > last ? last : here;
}

// Whether the tile nearest to the one at hand, of those that a character stands for, was before.
static bool was_before(const Scales *l, const TilesSide *side, int64_t tile_row, int64_t tile_col) {
  const TilesRegion *all = &side->region[0];
  const int64_t tile_m = side->grid->tile_m, tile_n = side->tile_cols;
  return is_before(side, nearest(&l->m, tile_row * tile_m, side->cta.row * tile_m, all->rows),
                   nearest(&l->n, tile_col * tile_n, side->cta.col * tile_n, all->cols));
}

// A CTA goes through the blocks of keys from the first on.
static void rank_blocks(Order *order, const TilesSide *side, const Scales *l) {
  int64_t block = side->region[1].col / side->tile_cols;
  for (int next = 1; next < GRID_MARKS && block + next < side->board_cols; next++) {
    uint8_t *place = place_of(order, l, side, side->cta.row, block + next);
    if (place && !*place) *place = (uint8_t)next;
  }
}

static void rank_next(Order *order, const TilesSide *side, const Scales *l) {
  enum { RANKS = GRID_MARKS - 1, LOOKED_AT = 2048 };
  const Grid *grid = side->grid;
  memset(order, 0, sizeof *order);
  if (side->cta.index < 0) return;
  if (tiles_of_scores(side)) {
    rank_blocks(order, side, l);
    return;
  }
  uint8_t *here = place_of(order, l, side, side->cta.row, side->cta.col), next = 1;
  if (here) *here = UNMARKED;
  for (int64_t i = side->cta.index + 1; i <= side->cta.index + LOOKED_AT && next <= RANKS; i++) {
    if (i >= grid->n_ctas) return;
    GridCta cta = grid_cta(grid, i);
    if (cta.split != side->cta.split || cta.col >= side->board_cols) continue;  // or another head's
    uint8_t *place = place_of(order, l, side, cta.row, cta.col);
    if (place && !*place) *place = was_before(l, side, cta.row, cta.col) ? UNMARKED : next++;
  }
}

static int rank_of(const Order *order, int row, int col) {
  const int rank = row < ORDER_ROWS && col < ORDER_COLS ? order->rank[row][col] : 0;
  return rank == UNMARKED ? 0 : rank;
}

// Whether no query of the tile of scores sees any of its keys.
static bool tile_is_hidden(const TilesSide *side, int64_t row, int64_t col) {
  const int64_t tile_m = side->grid->tile_m;
  return tiles_cell_is_hidden(side, row / tile_m * tile_m + tile_m - 1,
                              col / side->tile_cols * side->tile_cols);
}

// A tile of C whole: the one at hand, or when it is computed, as far as anybody knows.
static void draw_tile(Canvas *canvas, Rect at, const TilesHalf *half, int64_t row, int64_t col,
                      int rank) {
  const TilesSide *side = half->side;
  if (tiles_stands_out(side, 0, row, col)) {
    canvas_text(canvas, at, 0, 0, tiles_level_style(half, 0), "█");
    return;
  }
  if (tile_is_hidden(side, row, col)) {
    canvas_glyph(canvas, at, 0, 0, STYLE_DIM, GLYPH_MIDDLE_DOT);
    return;
  }
  if (rank > 0) {
    canvas_text(canvas, at, 0, 0, STYLE_ACCENT, (char[]){grid_mark(rank), '\0'});
    return;
  }
  canvas_glyph(canvas, at, 0, 0, STYLE_DIM,
               is_before(side, row, col) ? GLYPH_SHADE_DARK : GLYPH_SHADE_LIGHT);
}

// The words for a cell of C below the board: the warp, the atom, the lane.
static char cell_mark(const TilesSide *side, int level, int64_t row, int64_t col) {
  const TilesRegion *tile = &side->region[1], *warp = &side->region[2];
  TileOwner owner = tile_map_owner(side->map, row - tile->row, col - tile->col);
  if (level == 1) return grid_mark(owner.thread / 32);
  if (owner.thread / 32 != side->owner.thread / 32) return '.';
  const TilesRegion *atom = &side->region[3];
  if (!side->product->atom) return grid_mark(owner.thread % 32);
  int64_t across = ceil_div(warp->cols, atom->cols);
  return grid_mark((row - warp->row) / atom->rows * across + (col - warp->col) / atom->cols);
}

static void draw_cell(Canvas *canvas, Rect at, const TilesHalf *half, int64_t row, int64_t col) {
  const TilesSide *side = half->side;
  char mark[2] = {cell_mark(side, half->level, row, col), '\0'};
  bool out = tiles_stands_out(side, half->level, row, col);
  Style style = tiles_level_style(half, half->level);
  if (tiles_cell_is_hidden(side, row, col))
    canvas_glyph(canvas, at, 0, 0, out ? style : STYLE_DIM, GLYPH_MIDDLE_DOT);
  else if (mark[0] == '.')
    canvas_glyph(canvas, at, 0, 0, STYLE_DIM, GLYPH_SHADE_LIGHT);
  else
    canvas_text(canvas, at, 0, 0, out ? style_over(style, STYLE_SELECTED) : STYLE_DIM, mark);
}

// The part of K that the CTA of the tile at hand multiplies; keys that its last query does not see
// are none of it.
static bool is_multiplied(const TilesSide *side, int64_t k) {
  if (side->model->program->n_products > 1)
    return tiles_of_scores(side) ||
           !tiles_is_hidden(side, side->region[1].row + side->region[1].rows - 1, k);
  const GridRange part = grid_k_range(side->grid, side->cta.split);
  return k >= part.begin && k < part.end;
}

// A square of A or B: the panel of what stands out, full where it is multiplied now.
static void draw_panel(Canvas *canvas, Rect at, const TilesHalf *half, bool beside, int64_t k) {
  const TilesRegion *out = &half->side->region[half->level + 1];
  bool now = k >= out->k && k < out->k + out->ks;
  bool own = is_multiplied(half->side, k);
  Style style = tiles_level_style(half, half->level);
  if (beside && now)
    canvas_text(canvas, at, 0, 0, style, "█");
  else if (beside && own)
    canvas_glyph(canvas, at, 0, 0, style, GLYPH_SHADE_MEDIUM);
  else
    canvas_glyph(canvas, at, 0, 0, STYLE_DIM, GLYPH_SHADE_LIGHT);
}

// ---- levels 0 to 2 ------------------------------------------------------------------------------

typedef struct Places {
  Rect a, b, c;
} Places;

static Places place(Rect in, const Scales *l) {
  int left = l->k_cols.length + GAP, top = l->k_rows.length + GAP;
  return (Places){.a = {in.row + top, in.col, l->m.length, l->k_cols.length},
                  .b = {in.row, in.col + left, l->k_rows.length, l->n.length},
                  .c = {in.row + top, in.col + left, l->m.length, l->n.length}};
}

static Looks looks_of(const TilesHalf *half, const Scales *l) {
  const TilesRegion *region = &half->side->region[half->level];
  const TraceAt *at = &half->side->at;
  TilesRegion cursor = {at->i - region->row, at->j - region->col, at->k - region->k, 0, 0, 0};
  return (Looks){half, l, *region, cursor};
}

static int64_t row_at(const Looks *x, int r) {
  return element_of(&x->l->m, r, x->at.row, x->region.rows);
}
static int64_t col_at(const Looks *x, int c) {
  return element_of(&x->l->n, c, x->at.col, x->region.cols);
}
static int64_t k_at(const Looks *x, const Scale *scale, int character) {
  return element_of(scale, character, x->at.k, x->region.ks);
}

// Whether what stands out has cells in this row (column) of the region.
static bool has_row(const Looks *x, int64_t row) {
  const TilesRegion *out = &x->half->side->region[x->half->level + 1];
  if (x->half->level > 0) return x->half->rows[row] != 0;
  return row >= out->row && row < out->row + out->rows;
}

static bool has_col(const Looks *x, int64_t col) {
  const TilesRegion *out = &x->half->side->region[x->half->level + 1];
  if (x->half->level > 0) return x->half->cols[col] != 0;
  return col >= out->col && col < out->col + out->cols;
}

static void draw_c(Canvas *canvas, Rect area, const Looks *x) {
  const TilesRegion *all = &x->half->side->region[0], *tile = &x->half->side->region[1];
  const Scale *m = &x->l->m, *n = &x->l->n;
  const bool board = x->half->level == 0;
  Order order;
  if (board) rank_next(&order, x->half->side, x->l);
  for (int r = 0; r < area.rows; r++)
    for (int c = 0; c < area.cols; c++) {
      int64_t row = x->region.row + row_at(x, r), col = x->region.col + col_at(x, c);
      Rect at = {area.row + r, area.col + c, 1, 1};
      if (row >= all->rows || col >= all->cols) continue;
      if (!board)
        draw_cell(canvas, at, x->half, row, col);
      else if (!between(m, tile->rows, r) && !between(n, tile->cols, c))
        draw_tile(canvas, at, x->half, row, col, rank_of(&order, r, c));
    }
}

static void draw_a(Canvas *canvas, Rect area, const Looks *x) {
  const TilesRegion *all = &x->half->side->region[0];
  for (int r = 0; r < area.rows; r++)
    for (int c = 0; c < area.cols; c++) {
      int64_t row = row_at(x, r), k = x->region.k + k_at(x, &x->l->k_cols, c);
      if (x->region.row + row < all->rows && k < all->ks)
        draw_panel(canvas, (Rect){area.row + r, area.col + c, 1, 1}, x->half, has_row(x, row), k);
    }
}

static void draw_b(Canvas *canvas, Rect area, const Looks *x) {
  const TilesRegion *all = &x->half->side->region[0];
  for (int r = 0; r < area.rows; r++)
    for (int c = 0; c < area.cols; c++) {
      int64_t col = col_at(x, c), k = x->region.k + k_at(x, &x->l->k_rows, r);
      if (x->region.col + col < all->cols && k < all->ks)
        draw_panel(canvas, (Rect){area.row + r, area.col + c, 1, 1}, x->half, has_col(x, col), k);
    }
}

// The element itself wears its matrix's name.
static void draw_cursor(Canvas *canvas, Rect area, int row, int col, const char *name,
                        bool chosen) {
  Rect at = rect_intersect(area, (Rect){area.row + row, area.col + col, 1, 1});
  canvas_text(canvas, at, 0, 0, STYLE_TITLE, name);
  canvas_over(canvas, at, chosen ? STYLE_CURSOR : STYLE_LINKED);
}

static void draw_cursors(Canvas *canvas, const Places *p, const Looks *x) {
  AtomOperand operand = x->half->operand;
  int row = character_of(&x->l->m, x->at.row), col = character_of(&x->l->n, x->at.col);
  int across = character_of(&x->l->k_cols, x->at.k), down = character_of(&x->l->k_rows, x->at.k);
  const TilesSide *side = x->half->side;
  draw_cursor(canvas, p->c, row, col, side->name[ATOM_C], operand == ATOM_C);
  draw_cursor(canvas, p->a, row, across, side->name[ATOM_A], operand == ATOM_A);
  draw_cursor(canvas, p->b, down, col, side->name[ATOM_B], operand == ATOM_B);
}

// Half of the places to click are C's, a quarter each are A's and B's.
static int spot_step(int rows, int cols, int spots) {
  int step = 1;
  while (ceil_div(rows, step) * ceil_div(cols, 2 * step) > spots) step++;
  return step;
}

static void mark_c(Canvas *canvas, Rect area, const Looks *x) {
  const TilesSide *side = x->half->side;
  int step = spot_step(area.rows, area.cols, x->half->spots / 2);
  for (int r = 0; r < area.rows; r += step)
    for (int c = 0; c < area.cols; c += 2 * step) {
      int64_t row = row_at(x, r), col = col_at(x, c);
      int64_t value = x->half->level == 0
                          ? row / side->grid->tile_m * side->board_cols + col / side->tile_cols
                          : row * x->region.cols + col;
      canvas_spot(canvas, rect_intersect(area, (Rect){area.row + r, area.col + c, step, 2 * step}),
                  TILES_SPOT_CELL, (int)value);
    }
}

static void mark_k(Canvas *canvas, const Places *p, const Looks *x) {
  int most = x->half->spots / 4, step = 1 + p->a.cols / (most + 1),
      rows = 1 + p->b.rows / (most + 1);
  for (int c = 0; c < p->a.cols; c += step)
    canvas_spot(canvas, rect_intersect(p->a, (Rect){p->a.row, p->a.col + c, p->a.rows, step}),
                TILES_SPOT_K, (int)k_at(x, &x->l->k_cols, c));
  for (int r = 0; r < p->b.rows; r += rows)
    canvas_spot(canvas, rect_intersect(p->b, (Rect){p->b.row + r, p->b.col, rows, p->b.cols}),
                TILES_SPOT_K, (int)k_at(x, &x->l->k_rows, r));
}

// The names of the matrices, in the row and the column between them.
static void draw_names(Canvas *canvas, Rect in, int top, int left, const TilesHalf *half) {
  const struct {
    AtomOperand operand;
    int row, col;
  } names[] = {{ATOM_A, top - GAP, 0}, {ATOM_B, 0, left - GAP}, {ATOM_C, top - GAP, left - GAP}};
  for (int i = 0; i < 3; i++)
    canvas_text(
        canvas, in, names[i].row, names[i].col,
        names[i].operand == half->operand ? style_over(STYLE_TITLE, STYLE_SELECTED) : STYLE_TITLE,
        half->side->name[names[i].operand]);
}

// The part of `in` that a picture leaves whose C begins at `top`, `left` and ends after `cols`.
static TilesRoom room_of(Rect in, int top, int left, int cols) {
  enum { MARGIN = 2 };
  TilesRoom room = {.beside = in, .corner = {in.row, in.col, top - GAP, left - GAP - MARGIN}};
  rect_take_left(&room.beside, cols + MARGIN);
  return room;
}

static TilesRoom draw_scaled(Canvas *canvas, Rect in, const TilesHalf *half) {
  const TilesRegion *region = &half->side->region[half->level];
  Scales l = lay_out(region, half->level == 0 ? &half->side->region[1] : NULL, in);
  Places p = place(in, &l);
  Looks x = looks_of(half, &l);
  draw_names(canvas, in, l.k_rows.length + GAP, l.k_cols.length + GAP, half);
  draw_b(canvas, p.b, &x);
  draw_a(canvas, p.a, &x);
  draw_c(canvas, p.c, &x);
  draw_cursors(canvas, &p, &x);
  mark_c(canvas, p.c, &x);
  mark_k(canvas, &p, &x);
  TilesRoom room = room_of(in, p.c.row - in.row, p.c.col - in.col, p.c.col + p.c.cols - in.col);
  const TilesRegion *tile = &half->side->region[1];
  room.rows = half->level == 0 ? l.m.each / tile->rows : l.m.each;
  room.cols = half->level == 0 ? l.n.each / tile->cols : l.n.each;
  return room;
}

// ---- level 3: element by element ----------------------------------------------------------------

// A window of `shown` of `all` cells that holds the cursor.
typedef struct Strip {
  int64_t first;
  int shown, cursor;
} Strip;

static Strip strip_of(int64_t all, int64_t cursor, int room) {
  Strip s = {.shown = (int)min64(all, room < 1 ? 1 : room)};
  s.first = view_scroll((int)cursor, (int)all, s.shown);
  s.cursor = (int)(cursor - s.first);
  return s;
}

// Whether lanes hold the operand: a warpgroup's atom may read it from the slab.
static bool is_held(const TilesSide *side, AtomOperand operand) {
  BufferRole role = side->product->operand[operand].registers;
  return !atom_reads_tiles(side->product->atom) || program_buffer(side->model->program, role);
}

// "14:1": lane and value of an atom's operand, "s" where it stays in the slab; the register where
// the thread has them all.
static void element_text(const TilesHalf *half, AtomOperand operand, int row, int col, bool wide,
                         char out[24]) {
  const TilesSide *side = half->side;
  const TilesRegion *box = &side->region[3], *tile = &side->region[1];
  const Atom *atom = side->product->atom;
  if (atom && !is_held(side, operand)) {
    snprintf(out, 24, "s");
  } else if (atom) {
    FragmentOwner owner = fragment_owner(atom, operand, row, col);
    snprintf(out, 24, wide ? "%d:%d" : "%d", owner.lane, owner.value);
  } else if (operand == ATOM_C) {
    TileOwner owner = tile_map_owner(side->map, box->row - tile->row + half->row[row],
                                     box->col - tile->col + half->col[col]);
    snprintf(out, 24, "%d", owner.value);
  } else {
    snprintf(out, 24, operand == ATOM_A ? "a%d" : "b%d", operand == ATOM_A ? row : col);
  }
}

typedef struct Cells {
  Rect in;
  AtomOperand operand;
  Strip rows, cols;
  int width;
} Cells;

// True when the lane that holds the cursor's element of the operand holds this one too.
static bool same_lane(const Cells *cells, const TilesHalf *half, int64_t row, int64_t col) {
  const Atom *atom = half->side->product->atom;
  if (!atom || !is_held(half->side, cells->operand)) return false;
  int at_row = (int)(cells->rows.first + cells->rows.cursor);
  int at_col = (int)(cells->cols.first + cells->cols.cursor);
  return fragment_owner(atom, cells->operand, (int)row, (int)col).lane ==
         fragment_owner(atom, cells->operand, at_row, at_col).lane;
}

static void draw_elements(Canvas *canvas, const Cells *cells, const TilesHalf *half) {
  const Atom *atom = half->side->product->atom;
  Style style = atom ? STYLE_TIER_ATOM : STYLE_TIER_THREAD;
  for (int r = 0; r < cells->rows.shown; r++)
    for (int c = 0; c < cells->cols.shown; c++) {
      char text[24];
      int row = (int)cells->rows.first + r, col = (int)cells->cols.first + c;
      element_text(half, cells->operand, row, col, cells->width >= 6, text);
      bool here = r == cells->rows.cursor && c == cells->cols.cursor;
      bool line = r == cells->rows.cursor || c == cells->cols.cursor;
      Style look = line ? style : STYLE_DIM;
      if (same_lane(cells, half, row, col)) look = style_over(style, STYLE_LINKED);
      Rect at = {cells->in.row + r, cells->in.col + c * cells->width, 1, cells->width - 1};
      at = rect_intersect(cells->in, at);
      canvas_fit(canvas, at, 0, 0, cells->width - 1, ALIGN_RIGHT, look, text);
      if (here)
        canvas_over(canvas, at, half->operand == cells->operand ? STYLE_CURSOR : STYLE_SELECTED);
    }
}

static void mark_elements(Canvas *canvas, const Cells *cells, const TilesHalf *half) {
  const TilesRegion *region = &half->side->region[3];
  if (cells->operand != ATOM_C || cells->rows.shown * cells->cols.shown > half->spots) return;
  for (int r = 0; r < cells->rows.shown; r++)
    for (int c = 0; c < cells->cols.shown; c++) {
      int64_t row = half->row[cells->rows.first + r], col = half->col[cells->cols.first + c];
      Rect at = {cells->in.row + r, cells->in.col + c * cells->width, 1, cells->width};
      canvas_spot(canvas, at, TILES_SPOT_CELL, (int)(row * region->cols + col));
    }
}

static int place_in(const int *line, int n, int64_t at) {
  int i = 0;
  while (i + 1 < n && line[i] < at) i++;
  return i;
}

static TilesRoom draw_by_element(Canvas *canvas, Rect in, const TilesHalf *half) {
  const TilesSide *side = half->side;
  const TilesRegion *region = &side->region[3];
  int64_t i = place_in(half->row, half->n_rows, side->at.i - region->row);
  int64_t j = place_in(half->col, half->n_cols, side->at.j - region->col);
  int64_t k = side->at.k - region->k;
  int width = (half->n_cols + region->ks) * 6 + GAP <= in.cols ? 6 : 4;
  int b_rows = (int)min64(region->ks, in.rows / 3 > 1 ? in.rows / 3 : 1);
  int a_cols = (int)min64(region->ks, in.cols * 3 / 5 / width);
  if (a_cols < 1) a_cols = 1;
  Strip rows = strip_of(half->n_rows, i, in.rows - b_rows - GAP);
  Strip cols = strip_of(half->n_cols, j, (in.cols - a_cols * width - GAP) / width);
  Strip k_rows = strip_of(region->ks, k, b_rows), k_cols = strip_of(region->ks, k, a_cols);
  int left = a_cols * width + GAP, top = b_rows + GAP;
  const Cells all[] = {
      {{in.row, in.col + left, b_rows, in.cols - left}, ATOM_B, k_rows, cols, width},
      {{in.row + top, in.col, in.rows - top, left}, ATOM_A, rows, k_cols, width},
      {{in.row + top, in.col + left, in.rows - top, in.cols - left}, ATOM_C, rows, cols, width}};
  draw_names(canvas, in, top, left, half);
  for (int o = 0; o < 3; o++) {
    draw_elements(canvas, &all[o], half);
    mark_elements(canvas, &all[o], half);
  }
  return room_of(in, top, left, left + cols.shown * width);
}

TilesRoom tiles_picture_draw(Canvas *canvas, Rect in, const TilesHalf *half) {
  if (in.rows < 5 || in.cols < 12) return room_of(in, 0, 0, in.cols);
  if (half->level == TILES_LEVELS - 1) return draw_by_element(canvas, in, half);
  return draw_scaled(canvas, in, half);
}
