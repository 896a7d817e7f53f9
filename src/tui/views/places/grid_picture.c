// C to scale, a character for a tile or a tile for many characters, with the panels of A at its
// left and those of B above it.
//
//        B ####................        the window touches 4 panels of B
//     A # 22221111111111111111        and 1 of A; its tiles are in colour, the digit is the wave
//       . 22222222111111111111
//
// A terminal cell is twice as high as it is wide, so a square tile is 2 characters wide and 1 high,
// or 1 wide and two of them in a cell; then a half block says which of the two the window has.
// The parts of K of a split-K grid stand side by side, those that fit around the window.
#include "tui/views/places/grid_view.h"

#include <stdio.h>

#include "base/whole.h"
#include "model/ir/program.h"

enum { MARGIN_COLS = 2, MARGIN_ROWS = 1, GAP_COLS = 1, TILE_COLS_MAX = 14, TILE_ROWS_MAX = 6 };
enum { LAYER_ROWS_MIN = 3, LAYERS_MAX = 96 };

char grid_mark(int64_t number) {
  return "0123456789abcdefghijklmnopqrstuvwxyz"[number % GRID_MARKS];
}

char grid_place_letter(int place) { return (char)('a' + place); }
Style grid_place_style(int place) { return style_address(place); }

// Along one direction: either a cell of the overview is `wide` characters, or a character stands
// for `per` cells.
typedef struct Scale {
  int wide, per, length;  // length in characters
} Scale;

static Scale scale_axis(double characters, int64_t cells, int most) {
  Scale scale = {1, 1, 0};
  if (characters >= 1)
    scale.wide = characters < most ? (int)characters : most;
  else
    scale.per = (int)((1 - 1e-9) / characters) + 1;
  scale.length = (int)ceil_div(cells, scale.per) * scale.wide;
  return scale;
}

typedef struct Shape {
  Scale row, col;
} Shape;

// The largest scale at which C fits: elements for a column, twice as many for a row.
static Shape fit(const Grid *grid, int rows, int cols) {
  const GridOverview *o = &grid->overview;
  double high = (double)(o->row_step * grid->tile_m), wide = (double)(o->col_step * grid->tile_n);
  double by_cols = wide * (double)o->cols / cols, by_rows = high * (double)o->rows / (2.0 * rows);
  double each = by_cols > by_rows ? by_cols : by_rows;
  if (wide / each > TILE_COLS_MAX) each = wide / TILE_COLS_MAX;
  if (high / each > 2 * TILE_ROWS_MAX) each = high / (2 * TILE_ROWS_MAX);
  return (Shape){scale_axis(high / each / 2, o->rows, TILE_ROWS_MAX),
                 scale_axis(wide / each, o->cols, TILE_COLS_MAX)};
}

// ---- one character ------------------------------------------------------------------------------

// The cells of the overview behind a character, and the number of them in the window.
typedef struct Behind {
  int64_t first_row, end_row, first_col, end_col, cell;
  int n, n_inside;
  bool upper, lower;  // of two above each other
} Behind;

static Behind look_behind(const GridHalf *half, const Shape *shape, int64_t split, int row,
                          int col) {
  const GridOverview *o = &half->grid->overview;
  Behind b = {.first_row = row / shape->row.wide * shape->row.per,
              .first_col = col / shape->col.wide * shape->col.per};
  b.end_row = b.first_row + shape->row.per < o->rows ? b.first_row + shape->row.per : o->rows;
  b.end_col = b.first_col + shape->col.per < o->cols ? b.first_col + shape->col.per : o->cols;
  b.cell = (split * o->rows + b.first_row) * o->cols + b.first_col;
  for (int64_t r = b.first_row; r < b.end_row; r++)
    for (int64_t c = b.first_col; c < b.end_col; c++) {
      int64_t cell = (split * o->rows + r) * o->cols + c;
      b.n++;
      if (!half->inside[cell]) continue;
      if (b.n_inside++ == 0) b.cell = cell;
      *(r == b.first_row ? &b.upper : &b.lower) = true;
    }
  return b;
}

static void draw_part(Canvas *canvas, Rect at, const Behind *b) {
  bool two = b->end_row - b->first_row == 2 && b->end_col - b->first_col == 1;
  Glyph glyph = !two ? GLYPH_SHADE_MEDIUM : b->upper ? GLYPH_HALF_UPPER : GLYPH_BAR_4;
  canvas_glyph(canvas, at, 0, 0, STYLE_TITLE, glyph);
}

// Whether a character is the last one of a cell, and the cell the last one of a cluster.
static bool ends_cluster(const Scale *scale, int at, int64_t step, int64_t cluster) {
  int64_t cell = at / scale->wide;
  bool whole = step > 1 || (cell + 1) % cluster == 0;
  return scale->wide >= 3 && at % scale->wide == scale->wide - 1 && whole;
}

// Tiles of many characters stand a little apart, but for those of one cluster.
static bool between(const Grid *grid, const Shape *shape, int row, int col) {
  const GridOverview *o = &grid->overview;
  return ends_cluster(&shape->col, col, o->col_step, grid->cluster_cols) ||
         ends_cluster(&shape->row, row, o->row_step, grid->cluster_rows);
}

Style grid_picture_window(const GridHalf *half, int64_t wave) {
  if (half->all_waves || half->places) return style_over(STYLE_TITLE, STYLE_CURSOR);
  return style_over(style_address((int)(wave % STYLE_ADDRESSES)), STYLE_LINKED);
}

// The sign for a tile: its turn or wave, or the letter of its place and then the turn.
typedef struct Mark {
  char text[2];
  Style style;
} Mark;

static Mark mark_of(const GridHalf *half, int64_t cta, int across) {
  const int64_t wave = cta < 0 ? 0 : grid_wave(half->grid, cta);
  const int place = cta < 0 || !half->places ? -1 : grid_place(half->grid, cta);
  Mark mark = {{cta < 0 ? ' ' : grid_mark(wave + 1)},  // people count from 1
               style_address((int)(wave % STYLE_ADDRESSES))};
  if (place >= 0) mark.style = grid_place_style(place);
  if (place >= 0 && across % 2 == 0) mark.text[0] = grid_place_letter(place);
  return mark;
}

// The cell whose place is shown: of several behind a character those one below the other take turns
// along the row, so that none is hidden.
static int64_t cell_of_place(const GridHalf *half, const Behind *b, int col) {
  const int64_t rows = b->end_row - b->first_row, step = half->grid->cluster_rows;
  if (b->n_inside || rows == 1) return b->cell;
  return b->cell + col * step % rows * half->grid->overview.cols;
}

static void draw_character(Canvas *canvas, Rect at, const GridHalf *half, const Behind *b, int col,
                           int wide) {
  const Grid *grid = half->grid;
  const int64_t cell = half->places ? cell_of_place(half, b, col) : b->cell;
  int64_t cta = grid->overview.first[cell];
  int64_t wave = cta < 0 ? 0 : grid_wave(grid, cta), first = half->window[half->span].first;
  const Mark mark = mark_of(half, cta, col % wide);
  if (b->n_inside == b->n)
    canvas_text(canvas, at, 0, 0, grid_picture_window(half, wave), mark.text);
  else if (b->n_inside)
    draw_part(canvas, at, b);
  else if (half->all_waves || half->places)
    canvas_text(canvas, at, 0, 0, mark.style, mark.text);
  else
    canvas_text(canvas, at, 0, 0, cta < first ? STYLE_DIM : STYLE_TEXT, mark.text);
}

// A tile that has room says which CTA computes it.
static void draw_number(Canvas *canvas, Rect tile, const GridHalf *half, int64_t cell) {
  char text[24];
  int64_t cta = half->grid->overview.first[cell];
  int width = snprintf(text, sizeof text, "%lld", (long long)cta);
  tile.cols -= tile.cols >= 3;
  tile.rows -= tile.rows >= 3;
  if (cta < 0 || width + 2 > tile.cols || half->grid->stride > 1) return;
  Style style = half->inside[cell] ? STYLE_TITLE : STYLE_DIM;
  canvas_printf(canvas, tile, tile.rows / 2, (tile.cols - width) / 2 - 1, style, " %s ", text);
}

static void draw_numbers(Canvas *canvas, Rect in, const GridHalf *half, const Shape *shape,
                         int64_t split) {
  const GridOverview *o = &half->grid->overview;
  if (o->row_step * o->col_step * o->split_step > 1 || shape->col.wide < 4) return;
  for (int64_t r = 0; r < o->rows; r++)
    for (int64_t c = 0; c < o->cols; c++) {
      Rect tile = {in.row + (int)r * shape->row.wide, in.col + (int)c * shape->col.wide,
                   shape->row.wide, shape->col.wide};
      if (tile.rows > 1)
        draw_number(canvas, rect_intersect(in, tile), half, (split * o->rows + r) * o->cols + c);
    }
}

// ---- one part of K ------------------------------------------------------------------------------

static void draw_mark(Canvas *canvas, Rect in, int row, int col, bool touched, const char *name) {
  if (touched)
    canvas_text(canvas, in, row, col, style_over(STYLE_ACCENT, STYLE_LINKED), name);
  else
    canvas_glyph(canvas, in, row, col, STYLE_DIM, GLYPH_MIDDLE_DOT);
}

static bool any(const uint8_t *flag, int64_t first, int64_t end) {
  for (int64_t i = first; i < end; i++)
    if (flag[i]) return true;
  return false;
}

static void draw_margins(Canvas *canvas, Rect in, const GridHalf *half, const Shape *shape,
                         int64_t split) {
  const GridOverview *o = &half->grid->overview;
  for (int row = 0; row < shape->row.length; row++) {
    Behind b = look_behind(half, shape, split, row, 0);
    const uint8_t *touched = half->row + split * o->rows;
    draw_mark(canvas, in, MARGIN_ROWS + row, 0, any(touched, b.first_row, b.end_row),
              half->grid->heads ? "Q" : "A");
  }
  for (int col = 0; col < shape->col.length; col++) {
    Behind b = look_behind(half, shape, split, 0, col);
    const uint8_t *touched = half->col + split * o->cols;
    draw_mark(canvas, in, 0, MARGIN_COLS + col, any(touched, b.first_col, b.end_col),
              half->grid->heads ? "K" : "B");
  }
}

// A place to click for every tile, or for the tiles that have a place.
static void mark_spots(Canvas *canvas, Rect body, const GridHalf *half, const Shape *shape,
                       int64_t split) {
  int64_t across = ceil_div(body.cols, shape->col.wide);
  int64_t down = ceil_div(body.rows, shape->row.wide);
  int step = 1;
  while (ceil_div(across, step) * ceil_div(down, step) > half->spots) step++;
  int rows = step * shape->row.wide, cols = step * shape->col.wide;
  for (int row = 0; row < body.rows; row += rows)
    for (int col = 0; col < body.cols; col += cols) {
      Behind b = look_behind(half, shape, split, row, col);
      Rect area = {body.row + row, body.col + col, rows, cols};
      canvas_spot(canvas, rect_intersect(body, area), GRID_SPOT_CELL, (int)b.cell);
    }
}

static void draw_layer(Canvas *canvas, Rect in, const GridHalf *half, const Shape *shape,
                       int64_t split) {
  draw_margins(canvas, in, half, shape, split);
  Rect body = rect_intersect(
      in, (Rect){in.row + MARGIN_ROWS, in.col + MARGIN_COLS, shape->row.length, shape->col.length});
  for (int row = 0; row < body.rows; row++)
    for (int col = 0; col < body.cols; col++) {
      if (between(half->grid, shape, row, col)) continue;
      Behind b = look_behind(half, shape, split, row, col);
      draw_character(canvas, (Rect){body.row + row, body.col + col, 1, 1}, half, &b, col,
                     shape->col.wide);
    }
  draw_numbers(canvas, body, half, shape, split);
  mark_spots(canvas, body, half, shape, split);
}

// The number of parts of K side by side, and the number of their rows.
typedef struct Layers {
  int down, across;
  Shape shape;
} Layers;

static int characters(const Layers *plan) {
  return plan->shape.row.length * plan->shape.col.length;
}

// Margin, "k 14336–16383" and a gap; nothing needs a title where K is whole.
static int least_cols(const Grid *grid) {
  if (grid->overview.splits == 1) return 1;
  int digits = 1;
  for (int64_t k = grid->program->problem.k; k >= 10; k /= 10) digits++;
  return MARGIN_COLS + 3 + 2 * digits + GAP_COLS;
}

static Layers plan_layers(const Grid *grid, Rect in, int down, int across) {
  int titles = grid->overview.splits > 1 ? 1 : 0;
  int cols = (in.cols - (across - 1) * GAP_COLS) / across - MARGIN_COLS;
  int rows = in.rows / down - MARGIN_ROWS - titles;
  Layers plan = {down, across, {{0}, {0}}};
  if (cols >= 1 && rows >= 1) plan.shape = fit(grid, rows, cols);
  return plan;
}

// All parts if they can be shown, and then as large as they can be; else the ones that fit.
static Layers best_plan(const Grid *grid, Rect in) {
  int64_t n = grid->overview.splits, most = 1;
  Layers best = plan_layers(grid, in, 1, 1);
  for (int down = 1; down <= in.rows / LAYER_ROWS_MIN && down <= n; down++)
    for (int across = 1; across <= in.cols / least_cols(grid) && across <= n; across++) {
      Layers plan = plan_layers(grid, in, down, across);
      int64_t shown = (int64_t)down * across < n ? (int64_t)down * across : n;
      bool larger = shown == most && characters(&plan) > characters(&best);
      if (characters(&plan) == 0 || down * across > LAYERS_MAX || (shown <= most && !larger))
        continue;
      most = shown;
      best = plan;
    }
  return best;
}

static void draw_split_title(Canvas *canvas, Rect row, const Grid *grid, int64_t split) {
  const GridOverview *o = &grid->overview;
  GridRange from = grid_k_range(grid, split * o->split_step);
  char text[48];
  snprintf(text, sizeof text, "k %lld–%lld", (long long)from.begin,
           (long long)(from.begin + grid->k_part * o->split_step - 1));
  canvas_fit(canvas, row, 0, MARGIN_COLS, row.cols - MARGIN_COLS - GAP_COLS, ALIGN_LEFT,
             STYLE_TIER_BLOCK, text);
}

void grid_picture_draw(Canvas *canvas, Rect in, const GridHalf *half) {
  const Grid *grid = half->grid;
  int n = (int)grid->overview.splits, titles = n > 1 ? 1 : 0;
  Layers plan = best_plan(grid, in);
  if (characters(&plan) == 0) return;
  int width = MARGIN_COLS + plan.shape.col.length, height = MARGIN_ROWS + plan.shape.row.length;
  int step = width + GAP_COLS > least_cols(grid) ? width + GAP_COLS : least_cols(grid);
  int64_t first = view_scroll((int)half->split, n, plan.down * plan.across);
  GridHalf layer_half = *half;
  layer_half.spots = half->spots / (plan.down * plan.across);
  if (layer_half.spots < 1) layer_half.spots = 1;
  for (int i = 0; i < plan.down * plan.across && first + i < n; i++) {
    Rect layer = {in.row + i / plan.across * (height + titles), in.col + i % plan.across * step,
                  height + titles, step};
    layer = rect_intersect(in, layer);
    if (titles) draw_split_title(canvas, rect_take_top(&layer, 1), grid, first + i);
    draw_layer(canvas, layer, &layer_half, &plan.shape, first + i);
  }
}
