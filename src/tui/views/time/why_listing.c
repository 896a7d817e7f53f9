// The instructions of the loop, each with its control word and what it costs a turn:
//
//     pc  stall wait w r reuse  lost   instruction                    why
//   ┌ 14f0    1   .  2 1   .     0.0   LDS.128 R16, [R23+0x40]
//   │ …
//   └▸1900    1   0  - -   a    95.9 ▇ FFMA R192, R17.reuse, R20 …    waits for LDS at 14f0
//
// The margin leads from the instruction that waits to the one that it waits for.
#include <stdio.h>

#include "base/str.h"
#include "base/whole.h"
#include "kernels/toolchain/machine/register_banks.h"
#include "tui/canvas/utf8.h"
#include "tui/views/program/source.h"
#include "tui/views/time/why_frame.h"

enum { MARGIN = 1, WIDE = 104, BAR_COLS = 6, TEXT_COLS = 40 };

// Columns of a row, from the left.
typedef struct Columns {
  int pc, stall, wait, board, reuse, lost, bar, text, why;  // bar, why: 0 where there is no room
} Columns;

static Columns columns_of(int cols) {
  Columns out = {.pc = MARGIN + 1};
  out.stall = out.pc + 6;
  out.wait = out.stall + 6;
  out.board = out.wait + 5;
  out.reuse = out.board + 4;
  out.lost = out.reuse + 6;
  out.text = out.lost + 9;
  if (cols < WIDE) return out;
  out.bar = out.text;
  out.text += BAR_COLS + 1;
  out.why = out.text + TEXT_COLS + 1;
  return out;
}

static void draw_names(Canvas *canvas, Rect row, const Columns *at) {
  canvas_text(canvas, row, 0, at->pc, STYLE_HEADER, "  pc");
  canvas_text(canvas, row, 0, at->stall, STYLE_HEADER, "stall");
  canvas_text(canvas, row, 0, at->wait, STYLE_HEADER, "wait");
  canvas_text(canvas, row, 0, at->board, STYLE_HEADER, "w r");
  canvas_text(canvas, row, 0, at->reuse, STYLE_HEADER, "reuse");
  canvas_text(canvas, row, 0, at->lost, STYLE_HEADER, "lost clk");
  const int col = canvas_text(canvas, row, 0, at->text + 1, STYLE_HEADER, "instruction");
  canvas_printf(canvas, row, 0, col + 2, STYLE_DIM, "%s bank conflict",
                register_bank_sign(BANK_MARK_CONFLICT));
  if (at->why) canvas_text(canvas, row, 0, at->why, STYLE_HEADER, "why");
}

static void draw_control(Canvas *canvas, Rect row, const Columns *at, const SassInst *inst) {
  const SassControl control = sass_control(inst);
  canvas_printf(canvas, row, 0, at->stall, inst->stall > 4 ? STYLE_TEXT : STYLE_DIM, "%3s %c",
                control.stall, control.yield);
  canvas_printf(canvas, row, 0, at->wait, inst->wait ? STYLE_ACCENT : STYLE_DIM, "%4s",
                control.wait);
  canvas_printf(canvas, row, 0, at->board, STYLE_DIM, "%c %c", control.writes, control.reads);
  canvas_printf(canvas, row, 0, at->reuse, STYLE_DIM, "%5s", control.reuse);
}

static void draw_lost(Canvas *canvas, Rect row, const Columns *at, const WhyFrame *frame, int i) {
  const double lost = frame->loop->turn.lost[i];
  if (!(lost >= 0.05)) return;
  const Style style = why_style(frame->loop->turn.cause[i]);
  canvas_printf(canvas, row, 0, at->lost, style, "%8.1f", lost);
  if (at->bar) canvas_bar(canvas, row, 0, at->bar, BAR_COLS, lost / frame->most, style);
}

static void draw_inst(Canvas *canvas, Rect row, const Columns *at, const WhyFrame *frame, int i,
                      const char *reason) {
  const ClockAnswer *answer = frame->answer;
  const SassInst *inst = &answer->code.inst[i];
  const ClockBankMark mark = answer->marks.mark[i];
  const char letter = source_class_of(inst->opcode->name);
  const char *text = answer->text[i] ? answer->text[i] : "";
  canvas_printf(canvas, row, 0, at->pc, STYLE_DIM, "%5x", i * SASS_BYTES);
  draw_control(canvas, row, at, inst);
  draw_lost(canvas, row, at, frame, i);
  if (mark == BANK_MARK_CONFLICT)
    canvas_text(canvas, row, 0, at->text, STYLE_BAD, register_bank_sign(mark));
  const Style style =
      letter == '.' || letter == 'J' ? (Style)STYLE_TEXT : source_class_style(letter);
  const int cols = at->why ? TEXT_COLS - 1 : row.cols - at->text - 1;
  canvas_fit(canvas, row, 0, at->text + 1, cols, ALIGN_LEFT, style, text);
  if (at->why && reason)
    canvas_fit(canvas, row, 0, at->why, row.cols - at->why, ALIGN_LEFT, STYLE_TEXT, reason);
}

// The line in the margin between row `from`, which waits, and row `to`; rows outside are cut.
static void draw_arrow(Canvas *canvas, Rect in, int from, int to) {
  const int top = min_int(from, to), end = max_int(from, to);
  for (int i = max_int(top, 0); i <= end && i < in.rows; i++) {
    const bool leaves_up = i == 0 && top < 0, leaves_down = i == in.rows - 1 && end > i;
    const Glyph glyph = i == to       ? GLYPH_POINTER
                        : leaves_up   ? GLYPH_ARROW_UP
                        : leaves_down ? GLYPH_ARROW_DOWN
                        : i == top    ? GLYPH_CORNER_TL
                        : i == end    ? GLYPH_CORNER_BL
                                      : GLYPH_VLINE_DOTTED;
    canvas_glyph(canvas, in, i, 0, STYLE_WARN, glyph);
  }
}

// Over a row, but for its margin and its bar.
static void draw_over(Canvas *canvas, Rect row, const Columns *at, StyleRole over) {
  Rect left = rect_take_left(&row, at->text);
  rect_take_left(&left, MARGIN);
  if (at->bar) rect_take_right(&left, BAR_COLS + 1);
  if (over == STYLE_CURSOR) canvas_restyle(canvas, left, STYLE_TEXT);
  if (over == STYLE_CURSOR) canvas_restyle(canvas, row, STYLE_TEXT);
  canvas_over(canvas, left, over);
  canvas_over(canvas, row, over);
}

void why_draw_listing(Canvas *canvas, Rect in, const WhyFrame *frame) {
  const SassLoop *loop = &frame->loop->loop;
  const int n = loop->last - loop->first + 1, cursor = frame->at - loop->first;
  const Columns at = columns_of(in.cols);
  draw_names(canvas, rect_take_top(&in, 1), &at);
  const int first = view_scroll(cursor, n, in.rows), by = frame->loop->turn.blame[frame->at];
  for (int i = 0; i < in.rows && first + i < n; i++) {
    const int inst = loop->first + first + i;
    Rect row = {in.row + i, in.col, 1, in.cols};
    draw_inst(canvas, row, &at, frame, inst, frame->why ? frame->why[first + i] : NULL);
    canvas_spot(canvas, row, WHY_SPOT_INST, inst);
    if (inst == by && by != frame->at) draw_over(canvas, row, &at, STYLE_LINKED);
    if (first + i == cursor) draw_over(canvas, row, &at, STYLE_CURSOR);
  }
  if (frame->loop->turn.lost[frame->at] >= 0.05 && by >= loop->first && by <= loop->last &&
      by != frame->at)
    draw_arrow(canvas, in, cursor - first, by - loop->first - first);
}

// ---- the costliest ------------------------------------------------------------------------------

void why_draw_worst(Canvas *canvas, Rect in, const WhyFrame *frame) {
  int sum = 0;
  canvas_vline(canvas, in, 0, 0, in.rows, STYLE_BORDER);
  rect_take_left(&in, 2);
  canvas_text(canvas, in, 0, 0, STYLE_HEADER, "COSTLIEST FIRST");
  canvas_text(canvas, in, 0, 17, STYLE_DIM, "clk a turn, of the loop");
  for (int i = 0; i < frame->n_costly && i + 1 < in.rows; i++) {
    const int inst = frame->costly[i];
    Rect row = {in.row + 1 + i, in.col, 1, in.cols};
    const double lost = frame->loop->turn.lost[inst];
    const ClockCause cause = frame->loop->turn.cause[inst];
    canvas_printf(canvas, row, 0, 0, STYLE_DIM, "%5x", inst * SASS_BYTES);
    canvas_printf(canvas, row, 0, 6, why_style(cause), "%7.1f", lost);
    canvas_printf(canvas, row, 0, 13, STYLE_DIM, " %4.1f %%",
                  100 * lost / frame->loop->clocks.value);
    canvas_fit(canvas, row, 0, 22, 10, ALIGN_LEFT, STYLE_TEXT,
               frame->answer->code.inst[inst].opcode->name);
    canvas_fit(canvas, row, 0, 33, in.cols - 33, ALIGN_LEFT, why_style(cause),
               clock_cause_word(cause));
    canvas_spot(canvas, row, WHY_SPOT_INST, inst);
    if (inst == frame->at) canvas_over(canvas, row, STYLE_SELECTED);
    sum++;
  }
  if (!sum) canvas_text(canvas, in, 1, 0, STYLE_DIM, "no clock is lost in this loop");
}

// ---- the instruction under the cursor -----------------------------------------------------------

static void draw_line(Canvas *canvas, Rect row, const char *label, const char *line) {
  const int col = canvas_text(canvas, row, 0, 1, STYLE_DIM, label) + 1;
  canvas_fit(canvas, row, 0, col, row.cols - col - 1, ALIGN_LEFT, STYLE_TEXT, line);
}

// A sentence, then the line of CUDA that it is from, and the line of the one that it waits for.
void why_draw_said(Canvas *canvas, Rect in, const WhyFrame *frame) {
  Rect row = rect_take_top(&in, 1);
  canvas_fit(canvas, row, 0, 1, row.cols - 2, ALIGN_LEFT, STYLE_TEXT, frame->said);
  if (frame->fault_line && in.rows) {
    row = rect_take_top(&in, 1);
    draw_line(canvas, row, "at fault", frame->fault_line);
  }
  if (frame->line && in.rows) draw_line(canvas, rect_take_top(&in, 1), "its line", frame->line);
}
