// A|B in numbers, what changed most first.
//
//   number               A         B    change
//   shared clk        2752      1728    ×0.63   ◂████│
//   speed TFLOP/s     31.2 r    41.0 r  ×1.31        │███▸
//
// The bar runs from the middle: to the right what grew, to the left what shrank, a whole half for a
// factor of eight. Whether more is better is left to the reader, who knows what the number is.
#include <math.h>
#include <stdio.h>

#include "tui/canvas/fmt.h"
#include "tui/frame/view.h"
#include "tui/views/measure/measure.h"

enum { NAME_COLS = 28, FIGURE_COLS = 11, BAR_COL = 64, BAR_MIN = 9 };

typedef struct Pairs {
  int n;
  const NumberPair *pair;
} Pairs;

// A is the rung before, or this one unedited, unless the user has chosen: nothing to set up first.
static void enter(Session *session) {
  if (!session->doc.comparing && session_has_comparison(session))
    session_compare(session, NULL, NULL);
  session_view_state(session)->cursor = 0;
}

static const void *prepare(Session *session) {
  Pairs *pairs = ARENA_NEW(session->frame, Pairs);
  if (!session->doc.comparing) return pairs;
  SideNumbers a = side_numbers(session->frame, session, &session->doc.then);
  SideNumbers b = side_numbers(session->frame, session, &session->doc.now);
  pairs->pair = side_number_pairs(session->frame, &a, &b);
  pairs->n = a.n;
  return pairs;
}

static void draw_number(Canvas *canvas, Rect row, int col, const SideNumber *number, Style known) {
  char text[FMT_MAX], mark[2] = {measure_origin_mark(number->origin), 0};
  bool is_known = !isnan(number->value);
  if (number->unit[0] == 'B' && number->value >= 10000)
    fmt_bytes(text, number->value);
  else if (number->unit[0] == 'n')
    fmt_time(text, number->value);
  else
    fmt_figure(text, number->value);
  canvas_fit(canvas, row, 0, col, FIGURE_COLS, ALIGN_RIGHT, is_known ? known : STYLE_UNKNOWN,
             is_known ? text : "–");
  if (is_known)
    canvas_text(canvas, row, 0, col + FIGURE_COLS + 1, measure_origin_style(number->origin), mark);
}

static void draw_change(Canvas *canvas, Rect row, const NumberPair *pair) {
  char figure[FMT_MAX];
  if (isnan(pair->change)) return;
  if (!(pair->change > 0)) {
    canvas_text(canvas, row, 0, 56, STYLE_DIM, "same");
    return;
  }
  double factor = pair->b.value / pair->a.value;
  if (pair->a.value > 0)
    canvas_printf(canvas, row, 0, 56, STYLE_CHANGED, "×%s", fmt_figure(figure, factor));
  int half = (row.cols - BAR_COL - 2) / 2;
  if (half < BAR_MIN / 2) return;
  int n = (int)ceil(fmin(pair->change / 3, 1) * half);
  bool grew = pair->b.value > pair->a.value;
  int middle = BAR_COL + half;
  canvas_text(canvas, row, 0, middle, STYLE_BORDER, "│");
  canvas_repeat(canvas, row, 0, grew ? middle + 1 : middle - n, grew ? STYLE_SIDE_B : STYLE_SIDE_A,
                grew ? GLYPH_BAR_8 : GLYPH_SHADE_MEDIUM, n);
}

static void draw_pair(Canvas *canvas, Rect row, const NumberPair *pair) {
  char name[64];
  bool printed_unit = pair->b.unit[0] == 'B' || pair->b.unit[0] == 'n';
  snprintf(name, sizeof name, "%s%s%s", pair->b.name, *pair->b.unit && !printed_unit ? " " : "",
           printed_unit ? "" : pair->b.unit);
  canvas_fit(canvas, row, 0, 1, NAME_COLS, ALIGN_LEFT, pair->change > 0 ? STYLE_TEXT : STYLE_DIM,
             name);
  draw_number(canvas, row, NAME_COLS, &pair->a, STYLE_SIDE_A);
  draw_number(canvas, row, NAME_COLS + FIGURE_COLS + 3, &pair->b, STYLE_SIDE_B);
  draw_change(canvas, row, pair);
}

static void draw(Canvas *canvas, Rect in, const Session *session, const void *prepared) {
  const Pairs *pairs = prepared;
  if (pairs->n == 0) {
    canvas_wrap(canvas, rect_inset(in, 1, 2), STYLE_DIM,
                "Nothing is compared yet. c takes the rung before as A, or this rung without its "
                "edits. :compare 3 or :compare FM=4 takes another one.");
    return;
  }
  Rect head = rect_take_top(&in, 1);
  canvas_text(canvas, head, 0, 1, STYLE_HEADER, "number");
  canvas_fit(canvas, head, 0, NAME_COLS, FIGURE_COLS, ALIGN_RIGHT, STYLE_HEADER, "A");
  canvas_fit(canvas, head, 0, NAME_COLS + FIGURE_COLS + 3, FIGURE_COLS, ALIGN_RIGHT, STYLE_HEADER,
             "B");
  canvas_text(canvas, head, 0, 56, STYLE_HEADER, "change");
  if (in.cols > BAR_COL + BAR_MIN)
    canvas_text(canvas, head, 0, BAR_COL + (in.cols - BAR_COL - 2) / 2 - 5, STYLE_HEADER,
                "less │ more");
  ViewList list = view_list(in, session_view_state_const(session)->cursor, pairs->n);
  while (view_list_next(canvas, &list)) {
    draw_pair(canvas, list.row, &pairs->pair[list.at]);
    view_list_mark(canvas, &list, SPOT_MEASURE_LINE, NAME_COLS);
  }
}

static int count(const Session *session) {
  if (!session->doc.comparing) return 0;
  return side_numbers(session->frame, session, &session->doc.now).n;
}

const MeasurePicture measure_numbers = {
    .title = "A|B",
    .help = "every number of A and of B, the largest change first",
    .prepare = prepare,
    .draw = draw,
    .count = count,
    .enter = enter,
};
