// The history: what was timed on this machine before, with its user and state; Enter goes there.
//
//   when (UTC)   who        TFLOP/s  cuBLAS  problem          rung, + edits
//   11-22 03:54  ana           50.1    0.98  4096³ f32        fp32 18 CTA swizzle
//   11-22 03:52  ben          wrong          512³ f32         fp32 11 +2 padding
//
// A class shares one history (kernels/device/history/history.h). A row says its state, and the
// state says at which rung it stands: names of rungs may have changed since.
#include <stdio.h>

#include "base/str.h"
#include "tui/canvas/fmt.h"
#include "tui/frame/view.h"
#include "tui/session/nearest_rung.h"
#include "tui/views/measure/measure.h"

enum { WHO_COL = 14, WHO_COLS = 10, FIGURE_COL = 24, PROBLEM_COL = 41, STANDS_COL = 58 };

static const void *prepare(Session *session) { return session->background.results.past; }

// ---- drawing ------------------------------------------------------------------------------------

static void draw_speed(Canvas *canvas, Rect row, const HistoryRow *past) {
  char figure[FMT_MAX], ratio[FMT_MAX];
  if (!(past->time_ns > 0)) {
    canvas_fit(canvas, row, 0, FIGURE_COL, 7, ALIGN_RIGHT, STYLE_BAD, past->status);
    return;
  }
  canvas_fit(canvas, row, 0, FIGURE_COL, 7, ALIGN_RIGHT, STYLE_MEASURED,
             fmt_figure(figure, past->tflops));
  if (history_ratio(past) > 0)
    canvas_fit(canvas, row, 0, FIGURE_COL + 8, 7, ALIGN_RIGHT, STYLE_TEXT,
               fmt_ratio(ratio, history_ratio(past)));
}

// The knobs of a state; a state that this program cannot read stands there as it is.
static void draw_state(Canvas *canvas, Rect row, const Session *session, const char *state) {
  Schedule schedule = schedule_plain();
  Diags unused = diags_new(session->frame);
  char text[96];
  if (!schedule_parse(&schedule, state, &unused)) {
    canvas_fit(canvas, row, 0, PROBLEM_COL, row.cols - PROBLEM_COL, ALIGN_LEFT, STYLE_DIM, state);
    return;
  }
  Standing at = standing_of(session->doc.ladders, session->doc.n_ladders, &schedule);
  canvas_fit(canvas, row, 0, PROBLEM_COL, STANDS_COL - PROBLEM_COL - 1, ALIGN_LEFT, STYLE_TEXT,
             view_problem(session, &schedule, text, sizeof text));
  snprintf(text, sizeof text, "%s %d%s%.0d %s", at.ladder->name, at.rung, at.edits ? " +" : "",
           at.edits, at.ladder->rung[at.rung].name);
  canvas_fit(canvas, row, 0, STANDS_COL, row.cols - STANDS_COL, ALIGN_LEFT,
             at.edits ? STYLE_DIM : STYLE_TEXT, text);
}

static void draw_line(Canvas *canvas, Rect row, const Session *session, const HistoryRow *past) {
  const char *date = history_date(session->frame, past);  // 2026-11-22T03:54:03Z
  canvas_printf(canvas, row, 0, 1, STYLE_DIM, "%.5s %.5s", date + 5, date + 11);
  canvas_fit(canvas, row, 0, WHO_COL, WHO_COLS, ALIGN_LEFT, STYLE_TEXT, past->user);
  draw_speed(canvas, row, past);
  draw_state(canvas, row, session, past->state);
}

static void draw_head(Canvas *canvas, Rect row) {
  canvas_text(canvas, row, 0, 1, STYLE_HEADER, "when (UTC)");
  canvas_text(canvas, row, 0, WHO_COL, STYLE_HEADER, "who");
  canvas_text(canvas, row, 0, FIGURE_COL, STYLE_HEADER, "TFLOP/s  cuBLAS");
  canvas_text(canvas, row, 0, PROBLEM_COL, STYLE_HEADER, "problem");
  canvas_text(canvas, row, 0, STANDS_COL, STYLE_HEADER, "rung, + edits");
}

static void draw_lines(Canvas *canvas, Rect in, const Session *session, const HistoryRow *rows) {
  draw_head(canvas, rect_take_top(&in, 1));
  ViewList list =
      view_list(in, session_view_state_const(session)->cursor, session->background.results.n_past);
  while (view_list_next(canvas, &list)) {
    draw_line(canvas, list.row, session, &rows[list.at]);
    view_list_mark(canvas, &list, SPOT_MEASURE_LINE, PROBLEM_COL - 1);
  }
}

// Says where and how the row under the cursor was measured, and its state.
static void draw_details(Canvas *canvas, Rect in, const Session *session, const HistoryRow *past) {
  char time[FMT_MAX];
  canvas_hline(canvas, in, 0, 0, in.cols, STYLE_BORDER);
  rect_take_top(&in, 1);
  int col = canvas_text(canvas, in, 0, 1, STYLE_MEASURED, history_gpu(session->frame, past));
  col =
      canvas_printf(canvas, in, 0, col, STYLE_TEXT, " in %s, driver %s", past->host, past->driver);
  if (past->time_ns > 0)
    col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, ": %s", fmt_time(time, past->time_ns));
  if (past->time_ns > 0 && past->spread >= 0)
    col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, ", spread %.1f %%", 100 * past->spread);
  if (past->sm_mhz > 0) canvas_printf(canvas, in, 0, col, STYLE_DIM, ", SM %d MHz", past->sm_mhz);
  rect_take_top(&in, 1);
  canvas_wrap(canvas, rect_inset(in, 0, 1), STYLE_DIM, past->state);
}

static const char *why_empty(const Session *session) {
  const Results *results = &session->background.results;
  if (!session->background.worker.present)
    return "No worker runs here, so the history is not open. `gemmview history` prints it.";
  if (results->past_error[0]) return results->past_error;
  return results->past_known ? "No kernel was timed on this machine yet: b times the present one."
                             : "";
}

static void draw(Canvas *canvas, Rect in, const Session *session, const void *prepared) {
  const HistoryRow *rows = prepared;
  int n = session->background.results.n_past, cursor = session_view_state_const(session)->cursor;
  if (n == 0) {
    canvas_wrap(canvas, rect_inset(in, 1, 2), STYLE_DIM, why_empty(session));
    return;
  }
  Rect details = rect_take_bottom(&in, in.rows > 10 ? 5 : 0);
  draw_lines(canvas, in, session, rows);
  if (details.rows) draw_details(canvas, details, session, &rows[cursor < n ? cursor : n - 1]);
}

// ---- moving -------------------------------------------------------------------------------------

static void enter(Session *session) {
  session_view_state(session)->cursor = 0;
  session->wishes.history = true;
}

static int count(const Session *session) { return session->background.results.n_past; }

static const char *line(const Session *session, int i) {
  return session->background.results.past[i].state;
}

static void take(Session *session, int i) {
  const Results *results = &session->background.results;
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(session->frame);
  if (i < 0 || i >= results->n_past) return;
  if (schedule_parse(&schedule, results->past[i].state, &diags))
    session_go_state(session, &schedule);
  else
    session_say(session, SAID_ERROR, "%.300s", diags.first->text);
}

const MeasurePicture measure_history = {
    .title = "HISTORY",
    .help = "earlier timings on this machine",
    .prepare = prepare,
    .draw = draw,
    .count = count,
    .line = line,
    .enter = enter,
    .take = take,
};
