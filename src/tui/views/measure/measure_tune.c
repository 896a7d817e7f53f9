// A search for the best kernel of the problem on the screen, while it goes on; before it, and where
// there is no GPU, states ranked by the model alone.
//
//   4096³ f32 on NVIDIA H200, 1 worker: brief round, 23 s of 60 s, 37 s left
//   tried 412  compiled 398  verified 371  timed 365  wrong 0  failed 6
//   best 2.81 ms  48.9 TFLOP/s  0.95 of cuBLAS   brief round, predicted 2.9 ms
//   from here: CELL_GROUP 0 → 4, FM 8 → 16
//   best so far, TFLOP/s by time         predicted → measured, 365 kernels
//
// Among several kinds of GPU it shows the one at hand, "1 of 3 workers"; what the others find goes
// into the history. Everything here was measured on this GPU a moment ago but the columns that say
// "predicted". On the left, columns of the speed of the best one by time, and cuBLAS as a line; on
// the right a point for each kernel, on the diagonal where it took what was predicted. Scales of
// the right are logarithms, equal ways.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/canvas/fmt.h"
#include "tui/canvas/glyph.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/better_kernel.h"
#include "tui/session/tuning.h"
#include "tui/views/measure/measure.h"

enum { HEAD_ROWS = 4, EIGHTHS = 8, CHART_ROWS_MIN = 4, SCATTER_COLS_MIN = 20 };

static const void *prepare(Session *session) { return session->background.tuning; }

// ---- figures ------------------------------------------------------------------------------------

static const char *round_of(const TuneSeen *seen) {
  return seen->round < TUNE_ROUNDS ? tune_round_name((TuneRound)seen->round) : "last";
}

static void draw_progress(Canvas *canvas, Rect in, const Session *session, const Tuning *tuning) {
  const TuneSeen *seen = &tuning->seen;
  char problem[64];
  view_problem(session, &tuning->base, problem, sizeof problem);
  int col = canvas_printf(canvas, in, 0, 1, STYLE_TITLE, "%s", problem);
  if (!seen->gpu[0]) {
    canvas_text(canvas, in, 0, col, STYLE_DIM, ": a worker of its own is starting");
    return;
  }
  const bool mixed = seen->n_workers < seen->n_all;
  col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, " on %.40s, %d %s", seen->gpu,
                      seen->n_workers, mixed ? "of " : "");
  if (mixed) col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, "%d ", seen->n_all);
  const bool one = !mixed && seen->n_workers == 1;
  col = canvas_text(canvas, in, 0, col, STYLE_TEXT, one ? "worker: " : "workers: ");
  const double left = fmax(0, seen->seconds - seen->elapsed_s);
  if (tuning->run)
    canvas_printf(canvas, in, 0, col, STYLE_ACCENT, "%s round, %.0f s left of %.0f", round_of(seen),
                  left, seen->seconds);
  else
    canvas_printf(canvas, in, 0, col, STYLE_TEXT, "ended after %.0f s", seen->elapsed_s);
}

static void draw_counts(Canvas *canvas, Rect in, const TuneSeen *seen) {
  const struct {
    const char *what;
    int n;
    Style style;
  } counts[] = {{"tried", seen->n_tried, STYLE_TEXT},
                {"compiled", seen->n_compiled, STYLE_TEXT},
                {"verified", seen->n_verified, STYLE_TEXT},
                {"timed", seen->n_timed, STYLE_MEASURED},
                {"wrong", seen->n_wrong, seen->n_wrong ? STYLE_BAD : STYLE_DIM},
                {"failed", seen->n_failed, seen->n_failed ? STYLE_WARN : STYLE_DIM}};
  int col = 1;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    col = canvas_text(canvas, in, 1, col, STYLE_DIM, counts[i].what) + 1;
    col = canvas_printf(canvas, in, 1, col, counts[i].style, "%d", counts[i].n) + 2;
  }
}

static void draw_best(Canvas *canvas, Rect in, const Session *session, const TuneSeen *seen) {
  char time[FMT_MAX], speed[FMT_MAX], text[FMT_MAX];
  if (!seen->has_best) return;
  int col = canvas_printf(canvas, in, 2, 1, STYLE_MEASURED, "best %s, %s TFLOP/s",
                          fmt_time(time, seen->best_ns), fmt_figure(speed, seen->best_tflops));
  if (seen->best_ratio > 0)
    col = canvas_printf(canvas, in, 2, col, STYLE_TEXT, ", %s of %s",
                        fmt_ratio(text, seen->best_ratio), schedule_reference(&seen->best));
  col = canvas_printf(canvas, in, 2, col, STYLE_DIM, " (%s)", tune_round_name(seen->best_round));
  if (seen->best_predicted_ns > 0)
    col = canvas_printf(canvas, in, 2, col, STYLE_ESTIMATED, "  predicted %s",
                        fmt_time(text, seen->best_predicted_ns));
  if (seen->calibration.n && col + 30 < in.cols)
    canvas_printf(canvas, in, 2, col, STYLE_DIM, ", stand-in %s%.0f %% on %d points",
                  canvas->ascii ? "+-" : "±", 100 * (exp(seen->calibration.error) - 1),
                  seen->calibration.n);
  const char *changes = better_kernel_changes(session->frame, session, &seen->best);
  col = canvas_text(canvas, in, 3, 1, STYLE_DIM, "from here: ");
  canvas_fit(canvas, in, 3, col, in.cols - col - 1, ALIGN_LEFT, STYLE_TEXT, changes);
}

// ---- the best over time -------------------------------------------------------------------------

static double best_at(const TuneSeen *seen, double second) {
  double ns = 0;
  for (int i = 0; i < seen->n_steps && seen->step[i].at_s <= second; i++)
    ns = seen->step[i].time_ns;
  return ns;
}

static void draw_column(Canvas *canvas, Rect in, int col, double share) {
  int left = (int)lround(share * in.rows * EIGHTHS);
  for (int row = in.rows - 1; row >= 0 && left > 0; row--, left -= EIGHTHS)
    canvas_text(canvas, in, row, col, STYLE_MEASURED,
                glyph_bar(left < EIGHTHS ? left : EIGHTHS, canvas->ascii));
}

// Up to now; beyond, the time that is left is empty.
static void draw_best_over_time(Canvas *canvas, Rect in, const TuneSeen *seen) {
  char a[FMT_MAX], b[FMT_MAX];
  const double end = fmax(seen->seconds, seen->elapsed_s);
  const double best = best_at(seen, end), cublas = seen->cublas_ns;
  Rect head = rect_take_top(&in, 1);
  int col = canvas_text(canvas, head, 0, 1, STYLE_HEADER, "best so far");
  if (!(best > 0)) return;
  const double fastest = cublas > 0 ? fmin(best, cublas) : best;
  col = canvas_printf(canvas, head, 0, col, STYLE_DIM, ", to %s TFLOP/s in %s s",
                      fmt_figure(a, seen->flop_per_ns / fastest), fmt_figure(b, end));
  Rect plot = {in.row, in.col + 1, in.rows, in.cols - 2};
  for (int i = 0; i < plot.cols; i++) {
    const double second = end * (i + 1) / plot.cols, ns = best_at(seen, second);
    if (ns > 0 && second <= seen->elapsed_s + end / plot.cols)
      draw_column(canvas, plot, i, fastest / ns);
  }
  if (!(cublas > 0)) return;
  int row = plot.rows - (int)lround(plot.rows * fastest / cublas);
  if (row >= plot.rows) row = plot.rows - 1;
  canvas_text(canvas, plot, row, 0, STYLE_TEXT, schedule_reference(&seen->best));
}

// ---- predicted and measured ---------------------------------------------------------------------

typedef struct Scale {
  double lo, hi;  // logarithms
} Scale;

static int place(const Scale *scale, double value, int n) {
  const double share =
      scale->hi > scale->lo ? (log(value) - scale->lo) / (scale->hi - scale->lo) : 0;
  const int at = (int)(share * n);
  return at < 0 ? 0 : at >= n ? n - 1 : at;
}

// One scale for both, so that the diagonal is where a prediction was right.
static Scale scale_of(const TuneSeen *seen) {
  Scale scale = {INFINITY, -INFINITY};
  for (int i = 0; i < seen->n_points; i++) {
    const double both[] = {seen->point[i].predicted_ns, seen->point[i].time_ns};
    for (int k = 0; k < 2; k++) {
      if (!(both[k] > 0)) continue;
      scale.lo = fmin(scale.lo, log(both[k]));
      scale.hi = fmax(scale.hi, log(both[k]));
    }
  }
  return scale;
}

static void draw_scatter(Canvas *canvas, Rect in, const TuneSeen *seen) {
  char a[FMT_MAX], b[FMT_MAX];
  const Scale scale = scale_of(seen);
  Rect head = rect_take_top(&in, 1);
  int col = canvas_text(canvas, head, 0, 1, STYLE_HEADER, "measured");
  col = canvas_text(canvas, head, 0, col, STYLE_DIM, " by ");
  col = canvas_text(canvas, head, 0, col, STYLE_ESTIMATED, "predicted");
  if (!(scale.hi >= scale.lo)) return;
  char range[64];
  snprintf(range, sizeof range, ", %s to %s", fmt_time(a, exp(scale.lo)),
           fmt_time(b, exp(scale.hi)));
  if (col + (int)strlen(range) > in.cols) snprintf(range, sizeof range, ", to %s", b);
  canvas_text(canvas, head, 0, col, STYLE_DIM, range);
  Rect plot = {in.row, in.col + 1, in.rows, in.cols - 2};
  for (int i = 0; i < plot.cols; i++)
    canvas_text(canvas, plot, plot.rows - 1 - i * plot.rows / plot.cols, i, STYLE_BORDER, "·");
  for (int i = 0; i < seen->n_points; i++) {
    if (!(seen->point[i].predicted_ns > 0)) continue;
    canvas_text(canvas, plot, plot.rows - 1 - place(&scale, seen->point[i].time_ns, plot.rows),
                place(&scale, seen->point[i].predicted_ns, plot.cols), STYLE_MEASURED, "•");
  }
}

// ---- all of it ----------------------------------------------------------------------------------

// The head of the ranking: what it is of, by what, and what it is not.
static int draw_ranking_head(Canvas *canvas, Rect in, const Session *session,
                             const Ranking *ranking) {
  char problem[64], error[ESTIMATE_SAID_BYTES];
  view_problem(session, &session->doc.now.schedule, problem, sizeof problem);
  int col = canvas_printf(canvas, in, 0, 1, STYLE_TITLE, "%s", problem);
  if (ranking && ranking->n)
    canvas_printf(canvas, in, 0, col, STYLE_TEXT,
                  ": %d states tried, %d legal, ranked by the %s %s for %s", ranking->n_tried,
                  ranking->n_legal, estimate_word(&ranking->best[0].estimate),
                  estimate_error_said(error, &ranking->best[0].estimate, canvas->ascii),
                  ranking->best[0].schedule.target);
  char text[400];
  const char *key = view_key_name(session, "tune-here");
  if (session->background.worker.gpu[0])
    snprintf(text, sizeof text,
             "%s searches for the best kernel of %s for a minute. It compiles, verifies and "
             "times states in rounds, then the finalists in turns with %s. x ends the search and "
             "keeps its results. Enter takes the knobs of a line. Nothing was timed yet.",
             key, problem, schedule_reference(&session->doc.now.schedule));
  else
    snprintf(text, sizeof text,
             "Nothing here was compiled or timed. With a GPU, %s compiles, verifies and times "
             "these states for a minute. A GPU elsewhere: gemmview --worker \"ssh box gemmview "
             "worker\". Enter takes the knobs of a line.",
             key);
  const Rect said = {in.row + 1, in.col + 1, in.rows - 1, in.cols - 2};
  return 1 + canvas_wrap(canvas, said, STYLE_DIM, text);
}

static void draw_ranked(Canvas *canvas, Rect row, const Session *session, const Ranking *ranking,
                        int i) {
  const Ranked *ranked = &ranking->best[i];
  char speed[FMT_MAX];
  const bool here = i == session_view_state_const(session)->cursor;
  if (here) canvas_glyph(canvas, row, 0, 0, STYLE_SITE, GLYPH_POINTER);
  int col = canvas_printf(canvas, row, 0, 1, STYLE_ESTIMATED, "%2d %7s TFLOP/s", i + 1,
                          fmt_figure(speed, ranked->estimate.tflops));
  const Timed *timed = results_find(&session->background.results, &ranked->schedule);
  if (timed && timed->ok)
    col = canvas_printf(canvas, row, 0, col + 1, STYLE_RECORDED, "%s %s",
                        origin_name(timed->origin), fmt_figure(speed, timed->tflops));
  const char *changes = better_kernel_changes(session->frame, session, &ranked->schedule);
  const int room = row.cols - col - 3;
  if (utf8_columns(changes) > room)
    changes = better_kernel_values(session->frame, session, &ranked->schedule);
  canvas_fit(canvas, row, 0, col + 2, room, ALIGN_LEFT, here ? STYLE_TITLE : STYLE_TEXT, changes);
  canvas_spot(canvas, row, SPOT_MEASURE_LINE, i);
}

// Before a search on a GPU, or without one: the ranking of the model alone.
static void draw_nothing(Canvas *canvas, Rect in, const Session *session) {
  const Ranking *ranking = session->background.tuning ? session->background.tuning->ranking : NULL;
  rect_take_top(&in, draw_ranking_head(canvas, in, session, ranking));
  for (int i = 0; ranking && i < ranking->n && i + 1 < in.rows; i++)
    draw_ranked(canvas, (Rect){in.row + 1 + i, in.col, 1, in.cols}, session, ranking, i);
}

static void draw(Canvas *canvas, Rect in, const Session *session, const void *prepared) {
  const Tuning *tuning = prepared;
  if (!tuning || !tuning->started) {
    draw_nothing(canvas, in, session);
    return;
  }
  Rect head = rect_take_top(&in, HEAD_ROWS);
  draw_progress(canvas, head, session, tuning);
  draw_counts(canvas, head, &tuning->seen);
  if (tuning->seen.error[0])
    canvas_fit(canvas, head, 2, 1, head.cols - 2, ALIGN_LEFT, STYLE_BAD, tuning->seen.error);
  else
    draw_best(canvas, head, session, &tuning->seen);
  if (in.rows <= CHART_ROWS_MIN) return;
  canvas_hline(canvas, in, 0, 0, in.cols, STYLE_BORDER);
  rect_take_top(&in, 1);
  Rect left = in;
  if (in.cols >= 2 * SCATTER_COLS_MIN) left.cols = in.cols / 2;
  Rect right = {in.row, in.col + left.cols, in.rows, in.cols - left.cols};
  draw_best_over_time(canvas, left, &tuning->seen);
  if (right.cols >= SCATTER_COLS_MIN) draw_scatter(canvas, right, &tuning->seen);
}

static const Ranking *ranking_of(const Session *session) {
  const Tuning *tuning = session->background.tuning;
  return tuning && !tuning->started ? tuning->ranking : NULL;
}

static int count(const Session *session) {
  const Ranking *ranking = ranking_of(session);
  return ranking && ranking->n ? ranking->n : 1;
}

static void take_ranked(Session *session, const Ranking *ranking, int i) {
  if (i >= ranking->n) return;
  const Schedule best = ranking->best[i].schedule;
  session_set_schedule(session, &best);
  session_say(session, SAID_NOTE, "number %d of the ranking, not timed yet; %s takes it back",
              i + 1, view_key_name(session, "undo"));
}

// The best one's knobs, in one step of undo.
static void take(Session *session, int i) {
  if (ranking_of(session)) take_ranked(session, ranking_of(session), i);
  if (!session->background.tuning || !session->background.tuning->seen.has_best) return;
  const Schedule best = session->background.tuning->seen.best;
  session_set_schedule(session, &best);
  session_say(session, SAID_NOTE, "the best of %d kernels; %s takes it back",
              session->background.tuning->seen.n_timed, view_key_name(session, "undo"));
}

const MeasurePicture measure_tune = {
    .title = "TUNE",
    .help = "a search for the best kernel, as it runs",
    .prepare = prepare,
    .draw = draw,
    .count = count,
    .take = take,
    .idle = tuning_rank,  // without a search states are ranked by the model, one at a time
};
