// The why view's data: the clock's answer about the schedule, or about the kernel that a view
// brought, and the place that is looked at.
//
// view_why.c prepares and has the keys, why_total.c draws the total and its causes, why_listing.c
// the instructions, why_chart.c who issues when; why_data.c gives the same as data.
#pragma once
#include "kernels/toolchain/machine/clock_words.h"
#include "sass/sass_text.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/view.h"
#include "tui/session/subject.h"
#include "tui/session/why_answers.h"

// All that the view keeps between frames.
typedef struct WhyOwn {
  WhyAnswers *answers;
  uint64_t key;  // of the schedule that the places below are of
  bool placed;   // the cursor was put on the costliest instruction of an answer
  int loop,
      at;     // of the answer's loops, behind them the whole of an opened kernel; the instruction
  int clock;  // of the window
  int rank;   // of the cursor among the costly ones; -1: it is elsewhere
} WhyOwn;

// An instruction that costs, and its place among those.
typedef struct WhyFrame {
  const ClockAnswer *answer;  // never NULL; a stand-in where nothing was played
  Estimate estimate;          // the one number, as every view has it
  double ns;                  // of the launch at that speed; 0: not known
  const char *missing;        // why it is one; NULL: it is none
  const ClockedLoop *loop;    // NULL: a stand-in's
  const Emission *emission;
  int loop_at, at, clock;
  int n_loops;  // to choose from
  int n_costly;
  const int *costly;       // instructions of the loop, the one that costs most first
  double most;             // clocks lost by that one
  const char *const *why;  // of each instruction of the loop; NULL: it costs nothing
  const char *said;        // about the instruction under the cursor
  const char *line, *fault_line;
  KnobId knob;
  bool charted;        // the loop is the one that was watched
  bool whole;          // the loop stands for the kernel from launch to end
  bool opened;         // the kernel is one that a view brought
  SubjectText source;  // its text
} WhyFrame;

enum { WHY_SPOT_INST = SPOT_VIEW, WHY_SPOT_CLOCK };

// How a cause looks: in the bar, and as a mark in the chart.
Style why_style(ClockCause cause);
char why_mark(ClockCause cause);

// ---- drawing; each gives the rows that it took --------------------------------------------------

int why_draw_total(Canvas *canvas, Rect in, const WhyFrame *frame);
void why_draw_listing(Canvas *canvas, Rect in, const WhyFrame *frame);
void why_draw_worst(Canvas *canvas, Rect in, const WhyFrame *frame);
int why_chart_rows(const WhyFrame *frame, int rows, int cols);
void why_draw_chart(Canvas *canvas, Rect in, const WhyFrame *frame);
void why_draw_said(Canvas *canvas, Rect in, const WhyFrame *frame);

const void *why_data(Session *session);
