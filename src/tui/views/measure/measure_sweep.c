// One knob through all its values: the clock's number, or its stand-in (~) until a value is
// compiled, and what was timed beside it.
//
//   SPLITK  blocks that share one tile of C, each with a part of K
//   clock    ▁▂▄▆█▇▇      best 16: 41.2 TFLOP/s
//   timed    ▁▂·▆█··      best 16: 38.0 TFLOP/s, recorded
//     value   clock     timed    of cuBLAS  shared  registers  spilled  blocks/SM
//
// Registers are the compiler's where it has spoken, of a state that was compiled or timed, and so
// are the bytes it spilled; else they are estimated. The knob is the one under the cursor of the
// explorer: < and > move it without leaving. A value that breaks a rule keeps its row, with the
// reason instead of numbers, whole for that under the cursor.
#include <math.h>
#include <stdio.h>

#include "model/readings/derive.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/at_hand.h"
#include "tui/views/measure/measure.h"

enum { VALUE_COL = 3, BAR_COL = 67, HEAD_ROWS = 4 };

typedef struct SweepLine {
  const char *value;
  Estimate estimate;  // the one number; unknown: none
  double timed;       // TFLOP/s, NaN: none
  const Timed *result;
  Counted counted;
  Resources fit;  // by that count where there is one
} SweepLine;

typedef struct SweepLines {
  int n, best_estimate, best_timed;  // -1: none
  SweepLine *line;
  double *estimates, *timings, top;
} SweepLines;

static void take_point(Session *session, SweepLines *lines, int i) {
  const KnobSweep *sweep = session->background.sweep;
  const SweepPoint *point = &sweep->point[i];
  Schedule schedule = knobsweep_schedule(sweep, i);
  const Timed *timed = results_find(&session->background.results, &schedule);
  SweepLine *line = &lines->line[i];
  line->value = knob_value_said(session->frame, &schedule, sweep->knob);
  line->estimate = (Estimate){.tflops = NAN};
  if (point->done && point->legal)
    line->estimate = results_estimate(&session->background.results, point->key, &point->stand_in);
  line->result = timed;
  line->timed = timed && timed->ok ? timed->tflops : NAN;
  line->counted = results_counted(&session->background.results, &schedule);
  line->fit = point->resources;
  if (line->counted.registers >= 0 && point->done && point->legal)
    line->fit = resources_with_registers(&point->resources, session_model(session)->target,
                                         line->counted.registers, line->counted.spill_bytes);
  lines->estimates[i] = line->estimate.tflops;
  // A time of another GPU stands in its row, but in no picture beside what this one did.
  lines->timings[i] = timed && at_hand_is_other(session, timed) ? NAN : line->timed;
  lines->top = fmax(lines->top, fmax(lines->estimates[i], lines->timings[i]));
  bool better =
      lines->best_estimate < 0 || lines->estimates[i] > lines->estimates[lines->best_estimate];
  if (lines->estimates[i] > 0 && better) lines->best_estimate = i;
  better = lines->best_timed < 0 || lines->timings[i] > lines->timings[lines->best_timed];
  if (lines->timings[i] > 0 && better) lines->best_timed = i;
}

static const void *prepare(Session *session) {
  KnobSweep *sweep = session->background.sweep;
  session->background.clocks_shown = CLOCKS_OF_SWEEP;
  if (!session->doc.now.reasons) session_start_sweep(session);
  SweepLines *lines = ARENA_NEW(session->frame, SweepLines);
  lines->best_estimate = lines->best_timed = -1;
  lines->n = sweep->n;
  lines->line = ARENA_ARRAY(session->frame, SweepLine, sweep->n + 1);
  lines->estimates = ARENA_ARRAY(session->frame, double, sweep->n + 1);
  lines->timings = ARENA_ARRAY(session->frame, double, sweep->n + 1);
  for (int i = 0; i < sweep->n; i++) take_point(session, lines, i);
  return lines;
}

// ---- drawing ------------------------------------------------------------------------------------

static void draw_spark(Canvas *canvas, Rect in, int row, const char *what, Style style,
                       const SweepLines *lines, const double *values, int best) {
  char figure[FMT_MAX];
  canvas_text(canvas, in, row, 1, style, what);
  canvas_spark(canvas, in, row, 11, values, lines->n, lines->top, style);
  int col = 13 + lines->n;
  if (best < 0) {
    if (lines->n < in.cols - 14) canvas_text(canvas, in, row, 11, STYLE_UNKNOWN, "nothing yet");
    return;
  }
  if (col + 30 > in.cols) return;
  col = canvas_printf(canvas, in, row, col, style, "best %s: %s TFLOP/s", lines->line[best].value,
                      fmt_figure(figure, values[best]));
  if (values != lines->estimates) return;
  const Estimate *estimate = &lines->line[best].estimate;
  char error[ESTIMATE_SAID_BYTES], said[ESTIMATE_SAID_BYTES + 16];
  snprintf(said, sizeof said, ", %s %s", estimate_word(estimate),
           estimate_said(error, estimate, canvas->ascii));
  if (col + utf8_columns(said) <= in.cols) canvas_text(canvas, in, row, col, STYLE_DIM, said);
}

static void draw_head(Canvas *canvas, Rect in, const Session *session, const SweepLines *lines) {
  const Knob *knob = &knob_table[session->background.sweep->knob];
  int col = canvas_text(canvas, in, 0, 1, STYLE_KNOB, knob->name) + 2;
  canvas_fit(canvas, in, 0, col, in.cols - col, ALIGN_LEFT, STYLE_TEXT, knob->help);
  draw_spark(canvas, in, 1, "clock", STYLE_ESTIMATED, lines, lines->estimates,
             lines->best_estimate);
  draw_spark(canvas, in, 2, "timed", STYLE_RECORDED, lines, lines->timings, lines->best_timed);
  canvas_printf(canvas, in, 3, VALUE_COL, STYLE_HEADER,
                "value       clock   timed   %-6s  shared   regs spilled blk/SM",
                schedule_reference(&session->doc.now.pictured));
}

static void draw_timed(Canvas *canvas, Rect row, const SweepLine *line) {
  char figure[FMT_MAX], ratio[FMT_MAX];
  if (!(line->timed > 0)) {
    canvas_fit(canvas, row, 0, 21, 7, ALIGN_RIGHT, line->result ? STYLE_BAD : STYLE_UNKNOWN,
               line->result ? "failed" : "–");
    return;
  }
  char mark[2] = {measure_origin_mark(line->result->origin), 0};
  Style style = measure_origin_style(line->result->origin);
  canvas_fit(canvas, row, 0, 21, 7, ALIGN_RIGHT, style, fmt_figure(figure, line->timed));
  canvas_text(canvas, row, 0, 29, style, mark);
  canvas_fit(canvas, row, 0, 31, 6, ALIGN_RIGHT, STYLE_TEXT, fmt_ratio(ratio, line->result->ratio));
}

static void draw_registers(Canvas *canvas, Rect row, const SweepLine *line) {
  const Counted *counted = &line->counted;
  char mark[2] = {measure_origin_mark(counted->origin), 0};
  Style style = measure_origin_style(counted->origin);
  canvas_printf(canvas, row, 0, 46, style, "%5d", line->fit.n_registers);
  canvas_text(canvas, row, 0, 52, style, mark);
  if (counted->spill_bytes >= 0)
    canvas_printf(canvas, row, 0, 53, counted->spill_bytes > 0 ? STYLE_BAD : style, "%4d B",
                  counted->spill_bytes);
  else
    canvas_text(canvas, row, 0, 58, STYLE_UNKNOWN, "–");
  canvas_printf(canvas, row, 0, 61, STYLE_ESTIMATED, "%5d", line->fit.blocks_per_sm);
}

static void draw_point(Canvas *canvas, Rect row, const SweepLines *lines, const SweepPoint *point,
                       int i) {
  char figure[FMT_MAX], clocks[FMT_MAX];
  const SweepLine *line = &lines->line[i];
  canvas_fit(canvas, row, 0, VALUE_COL, 9, ALIGN_LEFT, STYLE_NUMBER, line->value);
  if (!point->done) return;
  if (!point->legal) {
    canvas_fit(canvas, row, 0, 14, row.cols - 15, ALIGN_LEFT, STYLE_DIM, point->reason);
    return;
  }
  canvas_fit(canvas, row, 0, 13, 7, ALIGN_RIGHT, STYLE_ESTIMATED,
             measure_estimate_text(figure, &line->estimate));
  draw_timed(canvas, row, line);
  canvas_fit(canvas, row, 0, 38, 7, ALIGN_RIGHT, STYLE_ESTIMATED,
             fmt_figure(clocks, point->traffic.shared_clocks));
  draw_registers(canvas, row, line);
  int cols = row.cols - BAR_COL - 2;
  if (cols < 8) return;
  canvas_bar(canvas, row, 0, BAR_COL + 1, cols, line->estimate.tflops / lines->top,
             i == lines->best_estimate ? STYLE_BAR_BEST : STYLE_BAR);
}

static void draw_points(Canvas *canvas, Rect in, const Session *session, const SweepLines *lines) {
  const KnobSweep *sweep = session->background.sweep;
  const int here = knobsweep_find(sweep, session->doc.now.schedule.value[sweep->knob]);
  ViewList list = view_list(in, session_view_state_const(session)->cursor, lines->n);
  while (view_list_next(canvas, &list)) {
    if (list.at == here) canvas_text(canvas, list.row, 0, 1, STYLE_ACCENT, "▸");
    draw_point(canvas, list.row, lines, &sweep->point[list.at], list.at);
    view_list_mark(canvas, &list, SPOT_MEASURE_LINE, BAR_COL);
  }
}

// Says what Enter would do with the value under the cursor, or why it could not.
static void draw_foot(Canvas *canvas, Rect foot, const SweepPoint *point, const char *worker) {
  if (point && point->done && !point->legal) {
    canvas_wrap(canvas, foot, STYLE_TEXT, point->reason);
    return;
  }
  canvas_fit(canvas, foot, 0, 0, foot.cols, ALIGN_LEFT, STYLE_DIM,
             *worker ? worker : "Enter takes the value under the cursor; B times all legal values");
}

static void draw(Canvas *canvas, Rect in, const Session *session, const void *prepared) {
  const SweepLines *lines = prepared;
  if (session->background.sweep->knob == KNOB_NONE) {
    canvas_wrap(canvas, rect_inset(in, 1, 2), STYLE_DIM,
                "This knob is typed and has no list of values. < and > choose another knob.");
    return;
  }
  draw_head(canvas, rect_take_top(&in, HEAD_ROWS), session, lines);
  int cursor = session_view_state_const(session)->cursor;
  const SweepPoint *point =
      cursor < session->background.sweep->n ? &session->background.sweep->point[cursor] : NULL;
  bool illegal = point && point->done && !point->legal;
  int rows = illegal ? canvas_wrap_rows(point->reason, in.cols - 2) : 1;
  Rect foot = rect_take_bottom(&in, in.rows > 6 + rows ? rows : in.rows > 6);
  draw_points(canvas, in, session, lines);
  foot = (Rect){foot.row, foot.col + 1, foot.rows, foot.cols - 2};
  draw_foot(canvas, foot, point, session->background.worker.line);
}

// ---- moving -------------------------------------------------------------------------------------

static void enter(Session *session) {
  if (!session->doc.now.reasons) session_start_sweep(session);
  int here = session->at.knob < 0 || session->background.sweep->knob < 0
                 ? 0
                 : knobsweep_find(session->background.sweep,
                                  session->doc.now.schedule.value[session->at.knob]);
  session_view_state(session)->cursor = here < 0 ? 0 : here;
}

static int count(const Session *session) { return session->background.sweep->n; }

static void take(Session *session, int i) {
  if (session->background.sweep->knob == KNOB_NONE || i >= session->background.sweep->n) return;
  session_set_knob(session, session->background.sweep->knob,
                   session->background.sweep->point[i].value);
}

const MeasurePicture measure_sweep = {
    .title = "SWEEP",
    .help = "the knob under the cursor at all its values",
    .prepare = prepare,
    .draw = draw,
    .count = count,
    .enter = enter,
    .take = take,
};
