// The total and its causes:
//
//    2742 clk a turn of the loop, 2468 to 3016       48.2 TFLOP/s at 1980 MHz, ±10 %
//    ██████████████████████████████████████████████████████████▓▓▓▓▓▓▒▒▒▒░░
//    █ 2241 issue 82 %   ▓ 241 register banks 9 %   ▒ 136 shared memory 5 %   ░ 91 fixed latency
//    if  register banks free 52.6 (+9 %)   all loads hit L1 49.1 (+2 %)
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/views/time/why_frame.h"

// ---- how causes look ----------------------------------------------------------------------------

static const struct {
  Style style;
  char mark;
} looks[CLOCK_CAUSE_COUNT] = {
    [CLOCK_SELECTED] = {STYLE_BAR, 'i'},
    [CLOCK_NOT_SELECTED] = {STYLE_DIM, '-'},
    [CLOCK_WAIT] = {STYLE_DIM, '.'},
    [CLOCK_SHORT_SCOREBOARD] = {STYLE_TIER_STAGE, 's'},
    [CLOCK_LONG_SCOREBOARD] = {STYLE_TIER_CLUSTER, 'g'},
    [CLOCK_MATH_PIPE] = {STYLE_ACCENT, 'p'},
    [CLOCK_MIO] = {STYLE_TIER_SERIAL, 'q'},
    [CLOCK_LG] = {STYLE_LITERAL, 'Q'},
    [CLOCK_BARRIER] = {STYLE_BARRIER, 'b'},
    [CLOCK_DISPATCH] = {STYLE_BAD, 'r'},
    [CLOCK_NO_INSTRUCTION] = {STYLE_TIER_REGISTER, 'c'},
};

Style why_style(ClockCause cause) {
  return looks[cause].mark ? looks[cause].style : (Style)STYLE_DIM;
}

char why_mark(ClockCause cause) { return looks[cause].mark ? looks[cause].mark : 'x'; }

static Style style_of(const ClockPart *part) {
  return part->is_rest ? (Style)STYLE_DIM : why_style(part->cause);
}

enum { SHADES = 4 };

// No two parts look alike without colours: behind the shades a part wears its cause's letter of the
// chart.
static void repeat_mark(Canvas *canvas, Rect row, int col, int cols, const ClockPart *part, int i) {
  static const Glyph shades[SHADES] = {GLYPH_BAR_8, GLYPH_SHADE_DARK, GLYPH_SHADE_MEDIUM,
                                       GLYPH_SHADE_LIGHT};
  const Style style = style_of(&part[i]);
  if (i < SHADES) {
    canvas_repeat(canvas, row, 0, col, style, shades[i], cols);
    return;
  }
  const char mark[2] = {part[i].is_rest ? '+' : why_mark(part[i].cause), '\0'};
  for (int at = 0; at < cols; at++) canvas_text(canvas, row, 0, col + at, style, mark);
}

// ---- the rows -----------------------------------------------------------------------------------

static int draw_speed(Canvas *canvas, Rect row, int col, const WhyFrame *frame) {
  const ClockAnswer *answer = frame->answer;
  char figure[FMT_MAX], error[ESTIMATE_SAID_BYTES];
  if (!(frame->estimate.tflops > 0)) return col;
  if (answer->stand_in && answer->main >= 0)
    col = canvas_text(canvas, row, 0, col, STYLE_WARN, "stand-in ");
  col = canvas_printf(canvas, row, 0, col, STYLE_TITLE, "%s TFLOP/s",
                      fmt_figure(figure, frame->estimate.tflops));
  col = canvas_printf(canvas, row, 0, col, STYLE_DIM, " %s",
                      estimate_error_said(error, &frame->estimate, canvas->ascii));
  char clock[32];
  snprintf(clock, sizeof clock, " at %.0f MHz", answer->mhz);
  const bool fits = col + utf8_columns(clock) < row.cols;
  return fits ? canvas_text(canvas, row, 0, col, STYLE_DIM, clock) : col;
}

static void draw_head(Canvas *canvas, Rect row, const WhyFrame *frame) {
  const ClockAnswer *answer = frame->answer;
  int col = canvas_text(canvas, row, 0, 1, STYLE_HEADER, "WHY");
  if (!frame->loop) {
    canvas_text(
        canvas, row, 0, col + 2, STYLE_WARN,
        frame->opened ? "no machine code was played" : "stand-in: no machine code was played");
    return;
  }
  const SassLoop *loop = &frame->loop->loop;
  col = canvas_printf(canvas, row, 0, col + 2, STYLE_TEXT, "%s %04x-%04x",
                      frame->whole ? "kernel" : "loop", loop->first * SASS_BYTES,
                      loop->last * SASS_BYTES);
  if (answer->n_loops > 1 && !frame->whole)
    col = canvas_printf(canvas, row, 0, col, STYLE_DIM, ", %d of %d", frame->loop_at + 1,
                        answer->n_loops);
  col = canvas_printf(canvas, row, 0, col, STYLE_DIM, "  %d instructions, %.3g warps a scheduler",
                      loop->last - loop->first + 1, clock_warps_a_scheduler(answer));
  if (frame->loop->turns > 0 && !frame->whole)
    col = canvas_printf(canvas, row, 0, col, STYLE_DIM, ", %.0f turns", frame->loop->turns);
  const char *origin = "machine code, played clock by clock";
  if (row.cols - utf8_columns(origin) > col + 3)
    canvas_text(canvas, row, 0, row.cols - utf8_columns(origin) - 1, STYLE_ESTIMATED, origin);
}

static void draw_clocks(Canvas *canvas, Rect row, const WhyFrame *frame) {
  const ClockAnswer *answer = frame->answer;
  const ClockSpan *span = frame->loop ? &frame->loop->clocks : &answer->clocks;
  if (frame->opened && !frame->loop) return;
  const bool turn = frame->loop && !frame->whole;
  int col = canvas_printf(canvas, row, 0, 1, STYLE_TITLE, "%.0f clk", span->value);
  col = canvas_text(canvas, row, 0, col, STYLE_TEXT, turn ? " a turn" : " from launch to end");
  col = canvas_printf(canvas, row, 0, col, STYLE_DIM, ", %.0f to %.0f", span->low, span->high);
  col = draw_speed(canvas, row, col + 4, frame);
  char whole[64];
  if (answer->clocks.value < 0)
    snprintf(whole, sizeof whole, "launch to end: not known");
  else
    snprintf(whole, sizeof whole, "%.0f clk from launch to end", answer->clocks.value);
  if (turn && row.cols - utf8_columns(whole) > col + 4)
    canvas_text(canvas, row, 0, row.cols - utf8_columns(whole) - 1, STYLE_DIM, whole);
}

static void draw_bar(Canvas *canvas, Rect row, const ClockPart *part, int n) {
  const int cols = row.cols - 2;
  double sum = 0;
  for (int i = 0, at = 0; i < n; i++) {
    sum += part[i].share;
    const int end = i == n - 1 ? cols : min_int(cols, (int)lround(sum * cols));
    repeat_mark(canvas, row, 1 + at, max_int(0, end - at), part, i);
    at = max_int(at, end);
  }
}

static const char *entry_text(char text[64], const ClockPart *part) {
  snprintf(text, 64, " %.0f %s", part->clocks, part->word);
  return text;
}

// Columns of all entries, with or without their shares.
static int legend_cols(const ClockPart *part, int n, bool shares) {
  char text[64];
  int cols = 1;
  for (int i = 0; i < n; i++)
    cols += 1 + utf8_columns(entry_text(text, &part[i])) + (shares ? 5 : 0) + 2;
  return cols;
}

// Whole entries, the ones that there is room for; shares where all of them have room.
static void draw_legend(Canvas *canvas, Rect row, const ClockPart *part, int n) {
  const bool shares = legend_cols(part, n, true) <= row.cols;
  for (int i = 0, col = 1; i < n; i++) {
    char text[64];
    const int cols = 1 + utf8_columns(entry_text(text, &part[i])) + (shares ? 5 : 0);
    if (col + cols > row.cols) return;
    repeat_mark(canvas, row, col, 1, part, i);
    const int end = canvas_text(canvas, row, 0, col + 1, STYLE_TEXT, text);
    if (shares) canvas_printf(canvas, row, 0, end, STYLE_DIM, " %.0f %%", 100 * part[i].share);
    col += cols + 2;
  }
}

static int draw_if(Canvas *canvas, Rect row, int col, const ClockAnswer *answer, int i,
                   bool *has_unit) {
  const ClockIf *what = &answer->what_if[i];
  char text[96], figure[FMT_MAX];
  const bool has_speed = answer->tflops > 0;
  if (what->why_not)
    snprintf(text, sizeof text, "%s: %s", clock_if_title(i), what->why_not);
  else if (what->clocks > 0)
    snprintf(text, sizeof text, "%s %s%s", clock_if_title(i),
             fmt_figure(figure, has_speed ? answer->tflops * answer->clocks.value / what->clocks
                                          : what->clocks),
             *has_unit   ? ""
             : has_speed ? " TFLOP/s"
                         : " clk");
  else
    return col;
  if (col + utf8_columns(text) + 8 > row.cols) return col;
  col = canvas_text(canvas, row, 0, col, what->why_not ? STYLE_DIM : STYLE_TEXT, text);
  if (what->why_not) return col + 3;
  *has_unit = true;
  const double gain = 100 * (answer->clocks.value / what->clocks - 1);
  if (fabs(gain) < 0.5) return canvas_text(canvas, row, 0, col, STYLE_DIM, " (no change)") + 3;
  return canvas_printf(canvas, row, 0, col, gain > 0 ? STYLE_OK : STYLE_DIM, " (%+.0f %%)", gain) +
         3;
}

static bool any_if(const ClockAnswer *answer) {
  for (int i = 0; i < CLOCK_IFS; i++)
    if (answer->what_if[i].clocks > 0) return true;
  return false;
}

// The loops have clocks of their own, and no total comes of them: that is the stand-in's.
static void draw_stand_in(Canvas *canvas, Rect row, const WhyFrame *frame) {
  const ClockAnswer *answer = frame->answer;
  char time[FMT_MAX], whole[64];
  const int col =
      canvas_text(canvas, row, 0, 1, STYLE_DIM,
                  answer->unchecked ? "each loop is played alone, by published facts, not checked"
                                    : "each loop is played alone");
  if (!(frame->ns > 0)) return;
  snprintf(whole, sizeof whole, "; the total is the stand-in, %s", fmt_time(time, frame->ns));
  if (col + utf8_columns(whole) < row.cols) canvas_text(canvas, row, 0, col, STYLE_DIM, whole);
}

static void draw_ifs(Canvas *canvas, Rect row, const WhyFrame *frame) {
  const ClockAnswer *answer = frame->answer;
  if (answer->stand_in) {
    draw_stand_in(canvas, row, frame);
    return;
  }
  int col = canvas_text(canvas, row, 0, 1, STYLE_ACCENT, "if") + 2;
  if (!any_if(answer)) {
    canvas_text(canvas, row, 0, col, STYLE_DIM, "the clock plays it …");
    return;
  }
  enum { UNIT_FROM = 60 };
  bool has_unit = row.cols < UNIT_FROM;
  for (int i = 0; i < CLOCK_IFS; i++) col = draw_if(canvas, row, col, answer, i, &has_unit);
}

// A kernel's clocks that no instruction has, launch and memory, may be the most: they come behind
// the issued ones then.
static void put_rest_ahead(ClockPart *part, int n) {
  if (n < 3 || !part[n - 1].is_rest || part[n - 1].clocks < part[1].clocks) return;
  const ClockPart rest = part[n - 1];
  memmove(part + 2, part + 1, sizeof *part * (size_t)(n - 2));
  part[1] = rest;
}

int why_draw_total(Canvas *canvas, Rect in, const WhyFrame *frame) {
  enum { HEAD, CLOCKS, BAR, LEGEND, IFS, ROWS };
  Rect row[ROWS];
  for (int i = 0; i < ROWS; i++) row[i] = (Rect){in.row + i, in.col, 1, in.cols};
  draw_head(canvas, row[HEAD], frame);
  draw_clocks(canvas, row[CLOCKS], frame);
  if (!frame->loop) return 2;
  ClockPart part[CLOCK_PARTS_MAX];
  const ClockTurn *turn = &frame->loop->turn;
  const int n = clock_parts(frame->loop->clocks.value, turn->issued, turn->lost_to, part);
  if (frame->whole) put_rest_ahead(part, n);
  draw_bar(canvas, row[BAR], part, n);
  draw_legend(canvas, row[LEGEND], part, n);
  draw_ifs(canvas, row[IFS], frame);
  return ROWS;
}
