// The chart of who issues when: a column for each clock of a turn, a row for each warp of a
// scheduler.
//
//   scheduler 0, clock 812 of 2742                                  ▼
//   warp 0  FFFFFFFFFFFFFFFFFFFFFFFF--------FFFFFFFFssssssssssssssssssss
//   warp 4  ------------------------FFFFFFFF--------FFFFrFFFFrFFFFLFFFFF
//
// A capital letter issues an instruction of that class; what a warp waits for is a small one.
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/utf8.h"
#include "tui/views/program/source.h"
#include "tui/views/time/why_frame.h"

enum { LABEL_COLS = 9, TICK = 10 };

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

int why_chart_rows(const WhyFrame *frame, int rows) {
  enum { AROUND = 3, WARPS_MIN = 1 };  // title, axis, legend
  const ClockWindow *window = &frame->answer->window;
  if (!frame->charted || rows < AROUND + WARPS_MIN) return 0;
  return min_int(rows, window->n + AROUND);
}

static void draw_axis(Canvas *canvas, Rect row, int from, int end) {
  for (int at = (int)round_up(from, TICK); at < end; at += TICK)
    canvas_printf(canvas, row, 0, LABEL_COLS + at - from, STYLE_DIM, "%d", at);
}

static void draw_warp(Canvas *canvas, Rect row, const WhyFrame *frame, int warp, int from, int end,
                      bool *seen) {
  const ClockWindow *window = &frame->answer->window;
  canvas_printf(canvas, row, 0, 1, warp == window->leader ? STYLE_TITLE : STYLE_DIM, "warp %-2d",
                window->warp[warp]);
  for (int at = from; at < end; at++) {
    const ClockCell cell = clock_window_at(window, warp, at);
    char text[2] = {letter_of(frame, cell), 0};
    seen[(int)text[0]] = true;
    canvas_text(canvas, row, 0, LABEL_COLS + at - from, style_of(cell, text[0]), text);
    canvas_spot(canvas, (Rect){row.row, row.col + LABEL_COLS + at - from, 1, 1}, WHY_SPOT_CLOCK,
                at);
  }
}

// Whole entries; the column behind this one.
static int draw_sign(Canvas *canvas, Rect row, int col, char letter, Style style,
                     const char *says) {
  const char text[2] = {letter, 0};
  if (col + 2 + utf8_columns(says) > row.cols) return row.cols;
  canvas_text(canvas, row, 0, col, style, text);
  return canvas_text(canvas, row, 0, col + 2, STYLE_DIM, says) + 2;
}

// The letters that are on the screen.
static void draw_legend(Canvas *canvas, Rect row, const bool *seen) {
  static const struct {
    char letter;
    const char *says;
  } classes[] = {{'F', "fma"},           {'M', "mma"},          {'L', "reads shared"},
                 {'S', "writes shared"}, {'G', "reads global"}, {'W', "writes global"},
                 {'A', "copies"},        {'B', "waits"},        {'J', "jumps"},
                 {'i', "other"}};
  int col = 1;
  for (int cause = CLOCK_NOT_SELECTED; cause < CLOCK_CAUSE_COUNT; cause++) {
    const char mark = why_mark((ClockCause)cause);
    if (mark != 'x' && seen[(int)mark])
      col = draw_sign(canvas, row, col, mark, why_style((ClockCause)cause),
                      clock_cause_word((ClockCause)cause));
  }
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    const char letter = classes[i].letter;
    const bool plain = letter == 'i' || letter == 'J';
    if (seen[(int)letter])
      col = draw_sign(canvas, row, col, letter,
                      plain ? (Style)STYLE_TEXT : source_class_style(letter), classes[i].says);
  }
}

void why_draw_chart(Canvas *canvas, Rect in, const WhyFrame *frame) {
  const ClockWindow *window = &frame->answer->window;
  const int cols = in.cols - LABEL_COLS - 1;
  if (!in.rows || cols < 1) return;
  const int from = view_scroll(frame->clock, window->clocks, cols),
            end = min_int(window->clocks, from + cols);
  bool seen[128] = {0};
  Rect title = rect_take_top(&in, 1), legend = rect_take_bottom(&in, 1),
       axis = rect_take_top(&in, 1);
  int col = canvas_printf(canvas, title, 0, 1, STYLE_HEADER, "SCHEDULER %d", window->scheduler);
  col = canvas_printf(canvas, title, 0, col + 2, STYLE_TEXT, "clock %d of %d", frame->clock,
                      window->clocks);
  canvas_printf(canvas, title, 0, col + 2, STYLE_DIM, "one column a clock; a turn of warp %d%s",
                window->warp[window->leader], window->is_cut ? ", cut" : "");
  draw_axis(canvas, axis, from, end);
  const int first = view_scroll(window->leader, window->n, in.rows);
  for (int i = 0; i < in.rows && first + i < window->n; i++)
    draw_warp(canvas, (Rect){in.row + i, in.col, 1, in.cols}, frame, first + i, from, end, seen);
  if (frame->clock >= from && frame->clock < end)
    canvas_over(
        canvas,
        (Rect){in.row, in.col + LABEL_COLS + frame->clock - from, min_int(in.rows, window->n), 1},
        STYLE_CURSOR);
  draw_legend(canvas, legend, seen);
}
