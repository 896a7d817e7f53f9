// Places in words: the lines beside the picture in which every tile has the letter of its place.
//
// At 8192³ with tiles of 128 × 256 and clusters of two, on the H200 that was measured:
//
//   192 fetches a turn, at best 88 reach L2
//   clusters put anywhere: 139, by chance
//   a8 b16 c16 d16 e16 f16 g18 h18 i2 j2 k2 l2
#include "tui/views/places/grid_view.h"

#include <stdio.h>
#include <string.h>

#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"

static const ChipMap *map_of(const GridHalf *half) {
  return half->grid->persistent ? half->grid->chip : NULL;
}

bool grid_has_places(const Grid *grid) {
  return grid->persistent && grid->chip && grid->chip->placed;
}

// ---- what merges --------------------------------------------------------------------------------

int grid_merge_lines(const GridHalf *half) {
  const ChipMap *map = map_of(half);
  return map ? 1 + map->placed : 0;
}

// In the widest of its forms that the row has room for.
static void draw_fetches(Canvas *canvas, Rect row, double asked, double sent) {
  static const char *const form[] = {
      "%.0f fetches a turn, at best %.0f reach L2 (neighbours merged)",
      "%.0f fetches a turn, at best %.0f reach L2", "%.0f fetches a turn: L2 gets %.0f at best",
      "%.0f a turn: L2 gets %.0f at best"};
  const int n = sizeof form / sizeof *form;
  char text[96];
  for (int i = 0; i < n; i++) {
    snprintf(text, sizeof text, form[i], asked, sent);
    if (i + 1 == n || utf8_columns(text) <= row.cols) break;
  }
  canvas_text(canvas, row, 0, 0, STYLE_ESTIMATED, text);
}

void grid_draw_merge(Canvas *canvas, Rect *in, const GridHalf *half) {
  const ChipMap *map = map_of(half);
  if (!map) return;
  Rect row = rect_take_top(in, 1);
  draw_fetches(canvas, row, chip_merge_fetches(half->merge.asked),
               chip_merge_fetches(half->merge.sent));
  if (!map->placed) return;
  row = rect_take_top(in, 1);
  canvas_printf(canvas, row, 0, 0, STYLE_DIM, "clusters at random places: %.0f",
                chip_merge_fetches(half->merge_anywhere.sent));
}

// ---- the map ------------------------------------------------------------------------------------

// "a8 b16 …", in the rows that it takes; returns them.
static int draw_chips(Canvas *canvas, Rect in, const ChipMap *map) {
  enum { CHIP_COLS = 4 };
  int row = 0, col = 0;
  for (int place = 0; place < map->n; place++) {
    const char letter[] = {grid_place_letter(place), '\0'};
    if (col + CHIP_COLS > in.cols) row++, col = 0;
    col = canvas_text(canvas, in, row, col, grid_place_style(place), letter);
    col = canvas_printf(canvas, in, row, col, STYLE_DIM, "%d ", map->sms[place]);
  }
  return row + 1;
}

// The row of one place: " c    16 SMs    8  lists 16–23".
static void draw_place(Canvas *canvas, Rect row, const ChipMap *map, int place, bool here) {
  const char letter[] = {' ', grid_place_letter(place), ' ', '\0'};
  if (here) canvas_glyph(canvas, row, 0, 0, STYLE_TITLE, GLYPH_POINTER);
  canvas_text(canvas, row, 0, 1, grid_place_style(place), letter);
  const Style style = here ? STYLE_TEXT : STYLE_DIM;
  int col =
      canvas_printf(canvas, row, 0, 5, style, "%4d SMs%5d  ", map->sms[place], map->room[place]);
  const int first = map->first_list[place], n = map->n_lists[place];
  if (n == 1) canvas_printf(canvas, row, 0, col, style, "list %d", first);
  if (n > 1) canvas_printf(canvas, row, 0, col, style, "lists %d–%d", first, first + n - 1);
}

static void draw_list(Canvas *canvas, Rect in, const GridHalf *half, const ChipMap *map) {
  const int here = grid_place(half->grid, half->window[half->span].first);
  canvas_text(canvas, rect_take_top(&in, 1), 0, 1, STYLE_HEADER, "place      clusters");
  for (int place = 0; place < map->n; place++)
    draw_place(canvas, rect_take_top(&in, 1), map, place, place == here);
}

// Where the numbers are from: with too few rows for all of it, what stands in front of the first
// ";".
static const char *source_text(const ChipMap *map, int rows, int cols, char *out, size_t n) {
  const char *title = map->source->title;
  snprintf(out, n, "SMs, %s. Each launch asks its own GPU.", title);
  if (canvas_wrap_rows(out, cols) > rows)
    snprintf(out, n, "SMs, %.*s.", (int)strcspn(title, ";"), title);
  return out;
}

void grid_draw_places(Canvas *canvas, Rect in, const GridHalf *half) {
  const ChipMap *map = map_of(half);
  char text[512];
  if (!map || in.rows < 1) return;
  const int list_rows = map->n + 1;
  source_text(map, in.rows - list_rows, in.cols, text, sizeof text);
  const bool lists = canvas_wrap_rows(text, in.cols) + list_rows <= in.rows;
  if (!lists) {
    rect_take_top(&in, draw_chips(canvas, in, map));
    source_text(map, in.rows, in.cols, text, sizeof text);
  }
  rect_take_top(&in, canvas_wrap(canvas, in, STYLE_DIM, text));
  if (lists) draw_list(canvas, in, half, map);
}

// ---- as data ------------------------------------------------------------------------------------

bool grid_half_has_map(const GridHalf *half) { return map_of(half) != NULL; }

#define FORM_FILE "tui/views/places/grid_places.form"
#include "base/form_make.h"
