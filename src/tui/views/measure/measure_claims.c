// Shows the figures of the ladder's article beside those found here; below, why the two differ.
//
//   of what                         article            here
//   registers of a thread           255 registers c    162 registers e   differs
//
// A claim keeps its place and its letter: it is never a number of this program's. Enter goes to the
// state that a row is about.
#include <stdio.h>

#include "tui/frame/view.h"
#include "tui/session/claim_rows.h"
#include "tui/views/measure/measure.h"

enum { VERDICT_COLS = 8, FIGURE_MIN = 16, FIGURE_MAX = 26 };

typedef struct Columns {
  int figure, says, here, verdict;  // width of a figure; where the columns begin
} Columns;

static const void *prepare(Session *session) {
  return published_so_far(session, session->doc.ladder);
}

static Columns columns_of(int cols) {
  int figure = cols / 5 < FIGURE_MIN ? FIGURE_MIN : cols / 5 > FIGURE_MAX ? FIGURE_MAX : cols / 5;
  int verdict = cols - VERDICT_COLS - 1, here = verdict - figure - 3, says = here - figure - 3;
  return (Columns){figure, says, here, verdict};
}

// The model's letters: what is counted on the program itself has none.
static Origin origin_of(FactOrigin origin) {
  static const Origin origins[] = {
      [FACT_DERIVED] = ORIGIN_NONE,        [FACT_COUNTED] = ORIGIN_NONE,
      [FACT_ESTIMATED] = ORIGIN_ESTIMATED, [FACT_SIMULATED] = ORIGIN_NONE,
      [FACT_CLAIMED] = ORIGIN_CLAIM,       [FACT_RECORDED] = ORIGIN_RECORDED,
      [FACT_COMPILED] = ORIGIN_COMPILED,   [FACT_PLAYED] = ORIGIN_ESTIMATED};
  return origins[origin];
}

static void draw_figure(Canvas *canvas, Rect row, int col, int cols, const char *text,
                        Origin origin) {
  char mark[2] = {measure_origin_mark(origin), 0};
  if (!*text) return;
  Style style = measure_origin_style(origin);
  canvas_fit(canvas, row, 0, col, cols, ALIGN_LEFT, style, text);
  canvas_text(canvas, row, 0, col + cols + 1, style, mark);
}

static void draw_row(Canvas *canvas, Rect row, const ClaimRow *claim, const ClaimFound *found) {
  Columns at = columns_of(row.cols);
  bool differs = found->verdict == CLAIM_DIFFERS || found->verdict == CLAIM_ABOVE;
  canvas_fit(canvas, row, 0, 1, at.says - 2, ALIGN_LEFT, STYLE_TEXT, claim->what);
  draw_figure(canvas, row, at.says, at.figure, found->says, ORIGIN_CLAIM);
  draw_figure(canvas, row, at.here, at.figure, found->model, origin_of(found->value.origin));
  canvas_text(canvas, row, 0, at.verdict, differs ? STYLE_WARN : STYLE_DIM,
              found->verdict == CLAIM_TOLD ? "" : claim_verdict_name(found->verdict));
}

static void draw_head(Canvas *canvas, Rect row) {
  Columns at = columns_of(row.cols);
  canvas_text(canvas, row, 0, 1, STYLE_HEADER, "figure");
  canvas_text(canvas, row, 0, at.says, STYLE_HEADER, "the article");
  canvas_text(canvas, row, 0, at.here, STYLE_HEADER, "here");
}

static void draw_why(Canvas *canvas, Rect in, const Session *session, const Published *said,
                     int cursor) {
  const ClaimRow *claim = &said->list->row[cursor];
  canvas_hline(canvas, in, 0, 0, in.cols, STYLE_BORDER);
  rect_take_top(&in, 1);
  Rect place = rect_take_bottom(&in, 1);
  const ClaimFound *found = &said->found[cursor];
  const Rect head = rect_take_top(&in, 1);
  canvas_fit(
      canvas, head, 0, 1, in.cols - 2, ALIGN_LEFT, STYLE_TITLE,
      arena_printf(session->frame, "%s%s%s", claim->what, *found->says ? ": " : "", found->says));
  if (found->verdict == CLAIM_ABOVE)
    canvas_printf(canvas, rect_take_top(&in, 1), 0, 1, STYLE_WARN, "The article says %s.",
                  claim_verdict_text(session->frame, found));
  canvas_wrap(canvas, rect_inset(in, 0, 1), STYLE_TEXT, found->why);
  char problem[64], text[240];
  snprintf(text, sizeof text, "claim: %s   here: %s on %s   %s", claim->gpu,
           view_problem(session, &claim->schedule, problem, sizeof problem), claim->schedule.target,
           said->list->source);
  canvas_fit(canvas, place, 0, 1, in.cols - 2, ALIGN_LEFT, STYLE_DIM, text);
}

// A line above, the claim whole, the sentence as far as half of the screen goes, and the kernel it
// is claimed of.
static int why_rows(Rect in, const char *why) {
  int rows = 3 + canvas_wrap_rows(why, in.cols - 2);
  return rows < in.rows / 2 ? rows : in.rows / 2;
}

static void draw(Canvas *canvas, Rect in, const Session *session, const void *prepared) {
  const Published *said = prepared;
  int n = said->list->n, cursor = session_view_state_const(session)->cursor;
  if (n == 0) {
    canvas_wrap(canvas, rect_inset(in, 1, 2), STYLE_DIM,
                said->trouble ? said->trouble : "No article says more about this ladder.");
    return;
  }
  if (cursor >= n) cursor = n - 1;
  int rows = why_rows(in, said->found[cursor].why);
  if (in.rows > 10) draw_why(canvas, rect_take_bottom(&in, rows), session, said, cursor);
  draw_head(canvas, rect_take_top(&in, 1));
  ViewList list = view_list(in, cursor, n);
  while (view_list_next(canvas, &list)) {
    draw_row(canvas, list.row, &said->list->row[list.at], &said->found[list.at]);
    view_list_mark(canvas, &list, SPOT_MEASURE_LINE, columns_of(in.cols).says - 1);
  }
}

static const Published *known(const Session *session) {
  for (int i = 0; session->background.published && i < session->doc.n_ladders; i++)
    if (session->doc.ladders[i] == session->doc.ladder) return session->background.published[i];
  return NULL;
}

static int count(const Session *session) { return known(session) ? known(session)->list->n : 0; }

static const char *line(const Session *session, int i) {
  return i < count(session) ? known(session)->list->row[i].what : NULL;
}

static void take(Session *session, int i) {
  if (i < count(session)) session_go_state(session, &known(session)->list->row[i].schedule);
}

const MeasurePicture measure_claims = {
    .title = "CLAIMS",
    .help = "figures of the article, beside those found here",
    .prepare = prepare,
    .draw = draw,
    .count = count,
    .line = line,
    .take = take,
};
