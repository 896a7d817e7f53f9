// Beside the picture of the tiles: where the CTA stands in the order of launch, and what the
// characters of this level mean.
//
//   CTA 396 of 1024, launched in wave 2 of 4
//   tile 12, 12 of 32 × 32; k 2048 to 2063
//
//   █   its tile; its slabs at hand
//   ▒   its panels of A and B
//   1 a the next CTAs: 1-9, a-z
//   ▓ ░ CTAs before it; later ones
//   A character of C: 2 × 2 tiles.
#include <stdio.h>

#include "model/ir/program.h"
#include "tui/views/places/tiles.h"

enum { MARK_COLS = 5 };

// The look of a mark in the picture: as what stands out, as a number, as all the rest, as a
// score that is hidden.
typedef enum LegendLook { LOOK_OUT, LOOK_NUMBER, LOOK_REST, LOOK_HIDDEN } LegendLook;

typedef struct LegendRow {
  const char *mark;
  LegendLook look;
  const char *text;
} LegendRow;

enum { LEGEND_ROWS = 5 };

static const LegendRow of_atoms[TILES_LEVELS][LEGEND_ROWS] = {
    {{"█", LOOK_OUT, "its tile; its slabs at hand"},
     {"▒", LOOK_OUT, "its panels"},
     {"1 a", LOOK_NUMBER, "the next CTAs: 1-9, a-z"},
     {"▓ ░", LOOK_REST, "earlier CTAs; later CTAs"}},
    {{"0 1", LOOK_NUMBER, "the warp that computes a cell"},
     {"█", LOOK_OUT, "beside, above: multiplied now"},
     {"▒", LOOK_OUT, "and in this slab"}},
    {{"0 1", LOOK_NUMBER, "the atoms of this warp"},
     {"█", LOOK_OUT, "beside, above: of this atom"},
     {"░", LOOK_REST, "all other cells"}},
    {{"n:v", LOOK_NUMBER, "lane n holds value v of it"}},
};

static const LegendRow of_threads[TILES_LEVELS][LEGEND_ROWS] = {
    [2] = {{"0 a", LOOK_NUMBER, "the lane that computes a cell"},
           {"█", LOOK_OUT, "beside, above: of this lane"},
           {"░", LOOK_REST, "all other cells"}},
    [3] = {{"n", LOOK_NUMBER, "this thread keeps it in acc[n]"}},
};

// S of attention; what is hidden is told where something is.
static const LegendRow of_scores[LEGEND_ROWS] = {{"█", LOOK_OUT, "the block of keys at hand"},
                                                 {"▒", LOOK_OUT, "its queries; its keys"},
                                                 {"1 a", LOOK_NUMBER, "the next blocks of keys"},
                                                 {"▓ ░", LOOK_REST, "done before; done later"},
                                                 {"·", LOOK_HIDDEN, "hidden from its queries"}};

static const LegendRow *rows_of(const TilesHalf *half) {
  if (half->level == 0 && tiles_of_scores(half->side)) return of_scores;
  bool atom = half->side->product->atom != NULL;
  return !atom && of_threads[half->level][0].mark ? of_threads[half->level] : of_atoms[half->level];
}

// "CTA 396 of 1024, launched in wave 2 of 4"; "tile 396 of 1024: turn 4 of 8, CTA 0"
static void print_place(char *out, size_t size, const Grid *grid, int64_t index) {
  long long wave = (long long)grid_wave(grid, index) + 1, waves = (long long)grid->n_waves;
  long long all = (long long)grid->n_ctas;
  if (grid->persistent)
    snprintf(out, size, "tile %lld of %lld: turn %lld of %lld, CTA %lld", (long long)index, all,
             wave, waves, (long long)grid_block(grid, index));
  else
    snprintf(out, size, "CTA %lld of %lld, launched in wave %lld of %lld", (long long)index, all,
             wave, waves);
}

static int draw_place(Canvas *canvas, Rect in, const TilesSide *side) {
  const Grid *grid = side->grid;
  if (side->cta.index < 0) return 0;
  char text[96];
  int rows = 0;
  print_place(text, sizeof text, grid, side->cta.index);
  rows += canvas_wrap(canvas, in, STYLE_TEXT, text);
  rect_take_top(&in, rows);
  const TilesRegion *tile = &side->region[1];
  int n = snprintf(text, sizeof text, "tile %lld, %lld of %lld × %lld; k %lld",
                   (long long)side->cta.row, (long long)(tile->col / side->tile_cols),
                   (long long)grid->rows, (long long)side->board_cols, (long long)tile->k);
  if (tile->ks > 1)
    snprintf(text + n, sizeof text - (size_t)n, " to %lld", (long long)(tile->k + tile->ks - 1));
  return rows + canvas_wrap(canvas, in, STYLE_TEXT, text);
}

// How much of C a character stands for, where that is more than one.
static void draw_scale(Canvas *canvas, Rect in, const TilesHalf *half, const TilesRoom *room) {
  char text[96];
  if (in.rows < 1 || room->rows * room->cols <= 1) return;
  snprintf(text, sizeof text, "A character of %s: %lld%s%lld %s", half->side->name[ATOM_C],
           (long long)room->rows, canvas->ascii ? "x" : " × ", (long long)room->cols,
           half->level == 0 ? "tiles" : "elements");
  canvas_wrap(canvas, in, STYLE_TEXT, text);
}

void tiles_legend_draw(Canvas *canvas, Rect in, const TilesHalf *half, const TilesRoom *room) {
  rect_take_top(&in, half->level < 2 ? draw_place(canvas, in, half->side) + 1 : 0);
  const LegendRow *row = rows_of(half);
  const Style styles[] = {[LOOK_OUT] = tiles_level_style(half, half->level),
                          [LOOK_NUMBER] = STYLE_ACCENT,
                          [LOOK_REST] = STYLE_DIM,
                          [LOOK_HIDDEN] = STYLE_DIM};
  const bool hides = half->side->model->program->problem.causal;
  for (int i = 0; i < LEGEND_ROWS && row[i].mark && in.rows > 0; i++) {
    if (row[i].look == LOOK_HIDDEN && !hides) continue;
    canvas_text(canvas, in, 0, 0, styles[row[i].look], row[i].mark);
    Rect text = in;
    rect_take_left(&text, MARK_COLS);
    rect_take_top(&in, canvas_wrap(canvas, text, STYLE_DIM, row[i].text));
  }
  draw_scale(canvas, in, half, room);
}
