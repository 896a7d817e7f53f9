// The error map: which cells of C a kernel got wrong, by tile; while no check has failed, how far
// off its sums are (measure_sums.c).
//
//   384 of 16777216 cells are wrong …
//   rows 128–511 (384 = 3 × 128), columns 0–4095 (all)
//        ··········            one character per 128 × 128 cells
//        ##########            # all of it, 1–9 tenths of it, · none
//
// The shape shows where the fault lies: whole rows of tiles are a lost slab of A or a barrier
// between groups of warps, whole columns one of B, every k-th cell a fragment, the last tiles only
// a guard.
#include <stdio.h>

#include "base/str.h"
#include "tui/frame/view.h"
#include "tui/views/measure/measure.h"

static const VerifyResult *failed_check(const Session *session) {
  const Timed *timed = results_find(&session->background.results, &session->doc.now.pictured);
  return timed && timed->verify && timed->verify->n_map > 0 ? timed->verify : NULL;
}

// The first and the last row or column of the map with a wrong cell, and the number of such.
typedef struct Span {
  int first, last, n;
} Span;

static Span span_of(const VerifyResult *verify, bool rows) {
  Span span = {-1, -1, 0};
  int n = rows ? verify->map_rows : verify->map_cols;
  int m = rows ? verify->map_cols : verify->map_rows;
  for (int i = 0; i < n; i++) {
    bool wrong = false;
    for (int j = 0; j < m; j++)
      wrong |= verify->map[rows ? i * verify->map_cols + j : j * verify->map_cols + i] != 0;
    if (!wrong) continue;
    if (span.first < 0) span.first = i;
    span.last = i;
    span.n++;
  }
  return span;
}

// "rows 128–511 (384 = 3 × 128)"
static void add_span(Str *out, const char *what, Span span, int n, int64_t tile) {
  long long cells = (long long)(span.n * tile);
  str_printf(out, "%s %lld–%lld (", what, (long long)(span.first * tile),
             (long long)((span.last + 1) * tile - 1));
  if (span.n == n)
    str_add(out, "every tile");
  else
    str_printf(out, "%lld = %d × %lld%s", cells, span.n, (long long)tile,
               span.last - span.first + 1 == span.n ? "" : ", with gaps");
  str_add(out, ")");
}

typedef struct ErrorText {
  const VerifyResult *verify;
  const char *sentence, *where;
} ErrorText;

static const void *prepare(Session *session) {
  ErrorText *text = ARENA_NEW(session->frame, ErrorText);
  text->verify = failed_check(session);
  if (!text->verify) {
    measure_sums_prepare(measure_sums_of(session), session);
    return text;
  }
  Str where = str_new(session->frame);
  add_span(&where, "rows", span_of(text->verify, true), text->verify->map_rows,
           text->verify->map_tile_m);
  add_span(&where, ", columns", span_of(text->verify, false), text->verify->map_cols,
           text->verify->map_tile_n);
  text->sentence = verify_sentence(session->frame, text->verify);
  text->where = where.text;
  return text;
}

// ---- drawing ------------------------------------------------------------------------------------

// The share of the cells of one entry that is wrong, 0 … 1; entries at the edge may be smaller.
static double share_wrong(const VerifyResult *verify, int entry) {
  double cells = (double)(verify->map_tile_m * verify->map_tile_n);
  double share = verify->map[entry] / cells;
  return share > 1 ? 1 : share;
}

static void draw_entry(Canvas *canvas, Rect in, int row, int col, const VerifyResult *verify,
                       int entry) {
  double share = share_wrong(verify, entry);
  if (!(share > 0)) {
    canvas_glyph(canvas, in, row, col, STYLE_DIM, GLYPH_MIDDLE_DOT);
    return;
  }
  int tenths = (int)(share * 10);
  char text[2] = {tenths >= 10 ? '#' : (char)('0' + (tenths < 1 ? 1 : tenths)), 0};
  canvas_text(canvas, in, row, col, STYLE_BAD, text);
}

static void draw_map(Canvas *canvas, Rect in, const Session *session, const VerifyResult *verify) {
  enum { LABEL_COLS = 8 };
  int cursor = session_view_state_const(session)->cursor;
  int first = view_scroll(cursor, verify->map_rows, in.rows);
  int wide = in.cols - LABEL_COLS >= 2 * verify->map_cols ? 2 : 1;
  for (int i = 0; i < in.rows && first + i < verify->map_rows; i++) {
    int row = first + i;
    if (row % 4 == 0)
      canvas_printf(canvas, in, i, 1, STYLE_DIM, "%6lld", (long long)(row * verify->map_tile_m));
    for (int col = 0; col < verify->map_cols; col++)
      draw_entry(canvas, in, i, LABEL_COLS + wide * col, verify, row * verify->map_cols + col);
  }
}

static void draw(Canvas *canvas, Rect in, const Session *session, const void *prepared) {
  const ErrorText *text = prepared;
  if (!text->verify) {
    measure_sums_draw(canvas, in, session, measure_sums_of(session));
    return;
  }
  rect_take_top(&in, canvas_wrap(canvas, rect_inset(in, 0, 1), STYLE_BAD, text->sentence));
  rect_take_top(&in, canvas_wrap(canvas, rect_inset(in, 0, 1), STYLE_TEXT, text->where));
  canvas_printf(canvas, in, 0, 1, STYLE_DIM,
                "one character is %lld × %lld cells: · none wrong, 1–9 tenths of them, # all",
                (long long)text->verify->map_tile_m, (long long)text->verify->map_tile_n);
  rect_take_top(&in, 2);
  draw_map(canvas, in, session, text->verify);
}

static int count(const Session *session) {
  const VerifyResult *verify = failed_check(session);
  return verify ? verify->map_rows : measure_sums_of(session)->n;
}

static void enter(Session *session) {
  const MeasureSums *sums = measure_sums_of(session);
  measure_sums_prepare(measure_sums_of(session), session);
  session_view_state(session)->cursor = 0;
  for (int i = 0; !failed_check(session) && i < sums->n; i++)
    if (sums->row[i].is_here) session_view_state(session)->cursor = i;
}

static bool idle(Session *session) {
  return !failed_check(session) && measure_sums_idle(measure_sums_of(session));
}

static void take(Session *session, int i) {
  const MeasureSums *sums = measure_sums_of(session);
  if (!failed_check(session) && i < sums->n) session_go_state(session, &sums->row[i].schedule);
}

const MeasurePicture measure_errors = {
    .title = "ERRORS",
    .help = "how far off the sums are; after a failed check, the cells of C that are wrong",
    .prepare = prepare,
    .draw = draw,
    .count = count,
    .enter = enter,
    .idle = idle,
    .take = take,
};
