// A kernel whose machine code was run: the instructions of a line with their control words, and
// what the clock says of each.
//
//        executed stall wait w r reuse instruction
//    3d0       32   4 y    1 0 -     . @!P6 LDS R9, [R8]
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kernels/toolchain/machine/clock_read.h"
#include "kernels/toolchain/machine/clock_words.h"
#include "sass/sass_text.h"
#include "tui/views/own/own_work.h"

const ClockAnswer *own_clock(Session *session) {
  OwnWork *work = own_work(session);
  if (!work->opened) return NULL;
  if (work->clock.there) return work->clock.answer;
  work->clock = (OwnClock){.there = true};
  Diags diags = diags_new(work->arena);
  if (!json_is_null(work->opened->clock))
    work->clock.answer =
        clock_read(work->arena, work->opened->clock, &session->doc.targets, &diags);
  return work->clock.answer;
}

// The next instruction of the line under the cursor, from `at` on; -1: none.
static int next_here(const OwnFrame *frame, int at) {
  const Opened *o = frame->opened;
  const int n = frame->clock && frame->clock->code.n < o->n_code ? frame->clock->code.n : o->n_code;
  for (; at < n; at++)
    if (opened_line_of(frame->source, &o->code[at].chain, o->code[at].ptx_line,
                       frame->work->calls) == frame->line)
      return at;
  return -1;
}

static int count_here(const OwnFrame *frame) {
  int n = 0;
  for (int at = next_here(frame, 0); at >= 0; at = next_here(frame, at + 1)) n++;
  return n;
}

static const char none_here[] = "This line has no instructions.";

// The text of an instruction, behind its address.
static const char *text_of(const OpenedText *code) {
  const char *behind = strstr(code->text, "*/ ");
  return behind ? behind + strlen("*/ ") : code->text;
}

static const char *missing_text(const OwnFrame *frame) {
  return frame->opened->no_clock ? frame->opened->no_clock
                                 : "The clock has no result for this run.";
}

// ---- control words ------------------------------------------------------------------------------

enum { PLACE, EXECUTED = 5, STALL = 14, WAIT = 20, BOARDS = 25, REUSE = 29, TEXT = 35 };

static void draw_control_row(Canvas *canvas, Rect row, const OwnFrame *frame, int at) {
  const SassInst *inst = &frame->clock->code.inst[at];
  const SassControl control = sass_control(inst);
  char executed[24];
  snprintf(executed, sizeof executed, "%" PRId64, frame->opened->code[at].executed);
  canvas_printf(canvas, row, 0, PLACE, STYLE_DIM, "%4x", at * SASS_BYTES);
  canvas_fit(canvas, row, 0, EXECUTED, STALL - EXECUTED - 1, ALIGN_RIGHT, STYLE_NUMBER, executed);
  canvas_printf(canvas, row, 0, STALL, inst->stall > 4 ? STYLE_TEXT : STYLE_DIM, "%3s %c",
                control.stall, control.yield);
  canvas_printf(canvas, row, 0, WAIT, inst->wait ? STYLE_ACCENT : STYLE_DIM, "%4s", control.wait);
  canvas_printf(canvas, row, 0, BOARDS, STYLE_DIM, "%c %c", control.writes, control.reads);
  canvas_printf(canvas, row, 0, REUSE, STYLE_DIM, "%5s", control.reuse);
  canvas_fit(canvas, row, 0, TEXT, row.cols - TEXT, ALIGN_LEFT, STYLE_TEXT,
             text_of(&frame->opened->code[at]));
}

void own_draw_control(Canvas *canvas, Rect in, const OwnFrame *frame) {
  static const struct {
    int col;
    const char *name;
  } names[] = {{EXECUTED, "executed"}, {STALL, "stall"}, {WAIT, "wait"},
               {BOARDS, "w r"},        {REUSE, "reuse"}, {TEXT, "instruction"}};
  const int n = count_here(frame);
  int at = next_here(frame, 0);
  if (!frame->clock || at < 0) {
    canvas_wrap(canvas, in, STYLE_NOTE, frame->clock ? none_here : missing_text(frame));
    return;
  }
  Rect head = rect_take_top(&in, 1);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    canvas_text(canvas, head, 0, names[i].col, STYLE_HEADER, names[i].name);
  for (int shown = 0; at >= 0 && in.rows > 0; at = next_here(frame, at + 1), shown++) {
    if (in.rows == 1 && n - shown > 1) {
      canvas_printf(canvas, in, 0, 0, STYLE_DIM, "… %d more", n - shown);
      return;
    }
    draw_control_row(canvas, rect_take_top(&in, 1), frame, at);
  }
}

// ---- clocks -------------------------------------------------------------------------------------

// "03d0 LDS loses 12.3 clk, 4.1 %: waits for LDC at 03c0".
static int draw_cost(Canvas *canvas, Rect in, const OwnFrame *frame, int at) {
  const ClockAnswer *answer = frame->clock;
  const char *name = answer->code.inst[at].opcode->name;
  const double lost = answer->lost[at];
  char said[256];
  if (lost < 0.05) {
    snprintf(said, sizeof said, "%04x %s loses no clock", at * SASS_BYTES, name);
    return canvas_wrap(canvas, in, STYLE_DIM, said);
  }
  snprintf(said, sizeof said, "%04x %s loses %.1f clk, %.1f %%: %s", at * SASS_BYTES, name, lost,
           100 * lost / answer->clocks.value, clock_reason(frame->arena, answer, at));
  return canvas_wrap(canvas, in, STYLE_TEXT, said);
}

void own_draw_clocks(Canvas *canvas, Rect in, const OwnFrame *frame) {
  const ClockAnswer *answer = frame->clock;
  if (!answer) {
    canvas_wrap(canvas, in, STYLE_NOTE, missing_text(frame));
    return;
  }
  double lost = 0;
  const int first = next_here(frame, 0);
  for (int at = first; at >= 0; at = next_here(frame, at + 1)) lost += answer->lost[at];
  int col = canvas_printf(canvas, in, 0, 0, STYLE_TITLE, "%.1f clk", lost);
  col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, " of %.0f are lost in this line",
                      answer->clocks.value);
  canvas_printf(canvas, in, 0, col + 2, STYLE_ESTIMATED, "%.0f MHz", answer->mhz);
  rect_take_top(&in, 1);
  if (first < 0) canvas_wrap(canvas, in, STYLE_NOTE, none_here);
  for (int at = first; at >= 0 && in.rows > 0; at = next_here(frame, at + 1))
    rect_take_top(&in, draw_cost(canvas, in, frame, at));
}
