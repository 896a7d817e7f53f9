// A row of the sums: the lanes that share it, and how its values become one in each of them.
//
//         lane 12  lane 13  lane 14  lane 15
//         01······ ··23···· ····45·· ······67     v 0 1 in each lane
//            └────────┘        └────────┘
//         0123···· 0123···· ····4567 ····4567     shfl ^ 1
//            └────────┼────────┘        │
//                     └─────────────────┘
//         01234567 01234567 01234567 01234567     shfl ^ 2
//
// A strip is the row's columns, as many as all lanes have one after the other; further columns go
// on alike. A column wears the colour of the lane it came from.
#include "base/whole.h"
#include "tui/frame/view.h"
#include "tui/views/places/fragments.h"

enum { PANEL_COLS = 44, STRIP_COLS = 8, STRIPS_COL = 1, TEXT_ROWS = 2, PROGRAM_ROWS = 5 };

// Which of the row's lanes a column belongs to.
static int place_of_column(const Fragments *f, int col) {
  const int lane = fragment_map_owner(&f->map, f->row, col).lane;
  for (int i = 0; i < f->shared.n_lanes; i++)
    if (f->shared.lane[i] == lane) return i;
  return 0;
}

static int strip_at(int i) { return STRIPS_COL + i * (STRIP_COLS + 2); }

static void draw_strips(Canvas *canvas, Rect row, const Fragments *f, int step) {
  const int cols = min_int(STRIP_COLS, f->map.cols);
  for (int i = 0; i < f->shared.n_lanes; i++) {
    const uint32_t has = fragment_row_combined(&f->shared, i, step);
    for (int col = 0; col < cols; col++) {
      const int of = place_of_column(f, col);
      if (has >> of & 1)
        canvas_printf(canvas, row, 0, strip_at(i) + col, style_address(of), "%d", col);
      else
        canvas_glyph(canvas, row, 0, strip_at(i) + col, STYLE_DIM, GLYPH_MIDDLE_DOT);
    }
  }
}

// A bracket below each two strips that meet: a row of them for each lane in between.
static int draw_exchange(Canvas *canvas, Rect in, const Fragments *f, int step) {
  const FragmentRow *row = &f->shared;
  const int apart = 1 << step;
  for (int i = 0; i < row->n_lanes; i++) {
    if (i & apart) continue;
    const int down = i % apart, from = strip_at(i) + STRIP_COLS / 2;
    const int to = strip_at(i | apart) + STRIP_COLS / 2;
    canvas_hline(canvas, in, down, from, to - from + 1, STYLE_BORDER);
    canvas_vline(canvas, in, -1, from, down + 2, STYLE_BORDER);
    canvas_vline(canvas, in, -1, to, down + 2, STYLE_BORDER);
  }
  return apart;
}

static void draw_lanes(Canvas *canvas, Rect row, const Fragments *f) {
  for (int i = 0; i < f->shared.n_lanes; i++) {
    const bool here = f->shared.lane[i] == f->owner.lane;
    canvas_printf(canvas, row, 0, strip_at(i), here ? STYLE_TITLE : STYLE_HEADER, "lane %d",
                  f->shared.lane[i]);
  }
}

static void draw_step_text(Canvas *canvas, Rect *in, const Fragments *f, int step) {
  const char *text = fragment_step_text(f->arena, &f->shared, step);
  Rect line = *in;
  rect_take_left(&line, STRIPS_COL);
  rect_take_top(in, canvas_wrap(canvas, line, step ? STYLE_ACCENT : STYLE_TEXT, text));
}

static void draw_steps(Canvas *canvas, Rect *in, const Fragments *f) {
  draw_lanes(canvas, rect_take_top(in, 1), f);
  for (int step = 0; step <= f->shared.n_steps; step++) {
    draw_step_text(canvas, in, f, step);
    const Rect strips = rect_take_top(in, 1);
    if (step < f->shared.n_steps) {
      const int apart = 1 << step;
      draw_exchange(canvas, *in, f, step);
      rect_take_top(in, apart);
    }
    draw_strips(canvas, strips, f, step);
  }
}

void fragments_draw_rows(Canvas *canvas, Rect in, const Fragments *f) {
  Rect words = rect_take_bottom(&in, in.rows > FRAGMENTS_ROWS_MIN ? TEXT_ROWS : 0);
  rect_take_left(&words, 1);
  canvas_wrap(canvas, words, STYLE_TEXT, f->row_text);
  rect_take_left(&in, 1);
  const int grid = fragments_grid_cols(f), left = in.cols - PANEL_COLS;
  if (left > 0) fragments_draw_grid(canvas, rect_take_left(&in, min_int(grid, left)), f);
  rect_take_left(&in, left > 0 ? 1 : 0);
  draw_steps(canvas, &in, f);
  rect_take_top(&in, 1);
  if (!f->program_text || in.rows < 2) return;
  canvas_text(canvas, rect_take_top(&in, 1), 0, STRIPS_COL, STYLE_HEADER, "in this program");
  rect_take_left(&in, STRIPS_COL);
  canvas_wrap(canvas, in, STYLE_DIM, f->program_text);
}
