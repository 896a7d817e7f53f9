// The chart of who issues when: a column for each clock of a turn, a row for each warp of a
// scheduler.
//
//   scheduler 0, clock 812 of 2742                                  ▼
//   warp 0  FFFFFFFFFFFFFFFFFFFFFFFF--------FFFFFFFFssssssssssssssssssss
//   warp 4  ------------------------FFFFFFFF--------FFFFrFFFFrFFFFLFFFFF
//
// A capital letter issues an instruction of that class; a small one names the thing a warp waits
// for.
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/utf8.h"
#include "tui/views/program/source.h"
#include "tui/views/time/why_frame.h"

// AROUND: title, axis and a row of the legend, which takes more where it needs them.
enum { LABEL_COLS = 9, TICK = 10, AROUND = 3 };

static char letter_of(const WhyFrame *frame, ClockCell cell) {
  if (cell.pc < 0) return ' ';
  if (cell.cause != CLOCK_SELECTED) return why_mark(cell.cause);
  const char letter = source_class_of(frame->answer->code.inst[cell.pc].opcode->name);
  return letter == '.' ? 'i' : letter;
}

static Style style_of(ClockCell cell, char letter) {
  if (cell.cause != CLOCK_SELECTED) return why_style(cell.cause);
  return letter == 'i' || letter == 'J' ? (Style)STYLE_TEXT : source_class_style(letter);
}

static void draw_axis(Canvas *canvas, Rect row, int from, int end) {
  for (int at = (int)round_up(from, TICK); at < end; at += TICK)
    canvas_printf(canvas, row, 0, LABEL_COLS + at - from, STYLE_DIM, "%d", at);
}

static void draw_warp(Canvas *canvas, Rect row, const WhyFrame *frame, int warp, int from,
                      int end) {
  const ClockWindow *window = &frame->answer->window;
  canvas_printf(canvas, row, 0, 1, warp == window->leader ? STYLE_TITLE : STYLE_DIM, "warp %-2d",
                window->warp[warp]);
  for (int at = from; at < end; at++) {
    const ClockCell cell = clock_window_at(window, warp, at);
    char text[2] = {letter_of(frame, cell), 0};
    canvas_text(canvas, row, 0, LABEL_COLS + at - from, style_of(cell, text[0]), text);
    canvas_spot(canvas, (Rect){row.row, row.col + LABEL_COLS + at - from, 1, 1}, WHY_SPOT_CLOCK,
                at);
  }
}

static void see_letters(const WhyFrame *frame, bool *seen) {
  const ClockWindow *window = &frame->answer->window;
  for (int warp = 0; warp < window->n; warp++)
    for (int at = 0; at < window->clocks; at++)
      seen[(int)letter_of(frame, clock_window_at(window, warp, at))] = true;
}

// A letter of the chart and its words.
typedef struct Sign {
  char letter;
  Style style;
  const char *says;
} Sign;

enum { SIGNS_MAX = CLOCK_CAUSE_COUNT + 10 };

// The letters of the turn, on the screen or beside it, so that the legend stays as it is while the
// clock moves: causes, then classes of instructions.
static int list_signs(Sign out[SIGNS_MAX], const WhyFrame *frame) {
  static const Sign classes[] = {{'F', 0, "fma"},          {'M', 0, "mma"},
                                 {'L', 0, "reads shared"}, {'S', 0, "writes shared"},
                                 {'G', 0, "reads global"}, {'W', 0, "writes global"},
                                 {'A', 0, "copies"},       {'B', 0, "waits"},
                                 {'J', 0, "jumps"},        {'i', 0, "other"}};
  bool seen[128] = {0};
  int n = 0;
  see_letters(frame, seen);
  for (int i = CLOCK_NOT_SELECTED; i < CLOCK_CAUSE_COUNT; i++) {
    const ClockCause cause = (ClockCause)i;
    if (why_mark(cause) != 'x' && seen[(int)why_mark(cause)])
      out[n++] = (Sign){why_mark(cause), why_style(cause), clock_cause_word(cause)};
  }
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    const char letter = classes[i].letter;
    const bool plain = letter == 'i' || letter == 'J';
    if (!seen[(int)letter]) continue;
    out[n++] =
        (Sign){letter, plain ? (Style)STYLE_TEXT : source_class_style(letter), classes[i].says};
  }
  return n;
}

// Where the next entry stands, whole: behind the last one, or on a new row.
static void place_sign(const Sign *sign, int cols, int *row, int *col) {
  if (*col > 1 && *col + 2 + utf8_columns(sign->says) > cols) {
    *row += 1;
    *col = 1;
  }
}

static int legend_rows(const Sign *sign, int n, int cols) {
  int row = 0, col = 1;
  for (int i = 0; i < n; i++) {
    place_sign(&sign[i], cols, &row, &col);
    col += 4 + utf8_columns(sign[i].says);
  }
  return row + 1;
}

static void draw_legend(Canvas *canvas, Rect in, const Sign *sign, int n) {
  int row = 0, col = 1;
  for (int i = 0; i < n; i++) {
    const char text[2] = {sign[i].letter, '\0'};
    place_sign(&sign[i], in.cols, &row, &col);
    canvas_text(canvas, in, row, col, sign[i].style, text);
    col = canvas_text(canvas, in, row, col + 2, STYLE_DIM, sign[i].says) + 2;
  }
}

int why_chart_rows(const WhyFrame *frame, int rows, int cols) {
  enum { WARPS_MIN = 1 };
  const ClockWindow *window = &frame->answer->window;
  if (!frame->charted || rows < AROUND + WARPS_MIN) return 0;
  Sign sign[SIGNS_MAX];
  const int n = list_signs(sign, frame);
  return min_int(rows, window->n + AROUND - 1 + legend_rows(sign, n, cols));
}

void why_draw_chart(Canvas *canvas, Rect in, const WhyFrame *frame) {
  const ClockWindow *window = &frame->answer->window;
  const int cols = in.cols - LABEL_COLS - 1;
  if (!in.rows || cols < 1) return;
  const int from = view_scroll(frame->clock, window->clocks, cols),
            end = min_int(window->clocks, from + cols);
  Sign sign[SIGNS_MAX];
  const int n = list_signs(sign, frame), spare = max_int(0, in.rows - AROUND - 1);
  Rect title = rect_take_top(&in, 1),
       legend = rect_take_bottom(&in, min_int(legend_rows(sign, n, in.cols), 1 + spare)),
       axis = rect_take_top(&in, 1);
  int col = canvas_printf(canvas, title, 0, 1, STYLE_HEADER, "SCHEDULER %d", window->scheduler);
  col = canvas_printf(canvas, title, 0, col + 2, STYLE_TEXT, "clock %d of %d", frame->clock,
                      window->clocks);
  canvas_printf(canvas, title, 0, col + 2, STYLE_DIM, "one column a clock; a turn of warp %d%s",
                window->warp[window->leader], window->is_cut ? ", cut" : "");
  draw_axis(canvas, axis, from, end);
  const int first = view_scroll(window->leader, window->n, in.rows);
  for (int i = 0; i < in.rows && first + i < window->n; i++)
    draw_warp(canvas, (Rect){in.row + i, in.col, 1, in.cols}, frame, first + i, from, end);
  if (frame->clock >= from && frame->clock < end)
    canvas_over(
        canvas,
        (Rect){in.row, in.col + LABEL_COLS + frame->clock - from, min_int(in.rows, window->n), 1},
        STYLE_CURSOR);
  draw_legend(canvas, legend, sign, n);
}
