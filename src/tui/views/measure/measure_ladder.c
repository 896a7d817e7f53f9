// The ladder: every rung with its number, where the number comes from, and a bar; below, the rung
// under the cursor and what limits the present kernel.
//
//   #  rung · side branch TFLOP/s    × prev cuBLAS TFLOP/s
//   6  padding               31.2 r  ×1.05    0.61    32.0 e ██████▓     ┊
//
// The shaded end of a bar is the gain over the rung it builds on, the light shade behind it the
// loss: all of them together are a waterfall of what paid. A ~ in front of the clock's number says
// that it is a stand-in: the rung was not compiled. Estimates never stand in the column of
// measurements, and an article's only where the rung was not timed: in another colour, with the
// letter c, and set against the article's own numbers alone. Below, the claim is quoted whole. The
// rows are the ladder's own states, whatever the present one is.
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/session/at_hand.h"
#include "tui/views/measure/measure.h"
#include "tui/views/program/explore.h"

enum {
  TALL_ROWS = 22,
  TITLE_COL = 5,
  TITLE_COLS = 22,
  FIGURE_COL = 28,
  MARK_COL = 36,
  BEFORE_COL = 38,
  RATIO_COL = 45,
  MODEL_COL = 52,
  ESTIMATE_MARK_COL = 60,
  FIGURE_COLS = 61,
  BAR_COL = 62
};

// ---- lines --------------------------------------------------------------------------------------

// Stand-ins need a model of every rung; they change with the ladder only.
static Estimate stand_in_of(Session *session, const Rung *rung) {
  arena_reset(session->trial);
  const Model *model = model_build(session->trial, &session->doc.targets, &rung->schedule);
  return model->ok ? session_stand_in(session, model) : (Estimate){.tflops = NAN};
}

static void find_stand_ins(Session *session) {
  if (session->background.estimated == session->doc.ladder) return;
  for (int i = 0; i < session->doc.ladder->n_rungs && i < SESSION_RUNGS_MAX; i++) {
    const Rung *rung = &session->doc.ladder->rung[i];
    session->background.stand_ins[i] =
        (StandIn){schedule_identity(&rung->schedule), stand_in_of(session, rung)};
  }
  session->background.estimated = session->doc.ladder;
}

static bool same_problem(const Schedule *a, const Schedule *b) {
  static const KnobId of_problem[] = {KNOB_M, KNOB_N, KNOB_K, KNOB_DTYPE, KNOB_TARGET};
  bool same = true;
  for (int i = 0; i < 5; i++) same = same && !schedule_differs(a, b, of_problem[i]);
  return same;
}

// Only numbers of one origin and one problem are set against each other.
static double find_before(const Session *session, const LadderLines *lines, int rung) {
  const int before = ladder_rung_before(session->doc.ladder, rung);
  if (before < 0) return 0;
  const Timed *now = lines->line[rung].timed, *then = lines->line[before].timed;
  const Rung *all = session->doc.ladder->rung;
  bool known = now && then && now->ok && then->ok && now->origin == then->origin;
  return known && same_problem(&all[rung].schedule, &all[before].schedule) ? then->tflops : 0;
}

static bool same_claimant(const Claim *a, const Claim *b) {
  return a && b && a->gpu && b->gpu && a->source && b->source && str_equal(a->gpu, b->gpu) &&
         str_equal(a->source, b->source);
}

// The article's claims for the rungs of the main line, against the rungs that it has a time for.
static void find_claims(const Session *session, LadderLines *lines) {
  const Rung *all = session->doc.ladder->rung, *first = NULL, *before = NULL;
  for (int i = 0; i < lines->n; i++) {
    RungLine *line = &lines->line[i];
    const double tflops = all[i].claim ? claim_tflops(all[i].claim) : (double)NAN;
    if (line->timed || !(tflops > 0)) continue;
    line->claimed = tflops;
    lines->top = fmax(lines->top, tflops);
    if (all[i].aside) continue;
    if (before && same_claimant(before->claim, all[i].claim)) {
      line->claimed_before = tflops / claim_tflops(before->claim);
      line->claimed_first = tflops / claim_tflops(first->claim);
    }
    before = &all[i];
    if (!first || !same_claimant(first->claim, before->claim)) first = before;
  }
}

LadderLines *measure_ladder_lines(Session *session) {
  LadderLines *lines = ARENA_NEW(session->frame, LadderLines);
  find_stand_ins(session);
  int n = session->doc.ladder->n_rungs;
  lines->reasons = estimate_roofline_reasons(session->frame, session_model(session));
  lines->n = n < SESSION_RUNGS_MAX ? n : SESSION_RUNGS_MAX;
  lines->line = ARENA_ARRAY(session->frame, RungLine, lines->n);
  for (int i = 0; i < lines->n; i++) {
    RungLine *line = &lines->line[i];
    const Schedule *schedule = &session->doc.ladder->rung[i].schedule;
    line->timed = results_find(&session->background.results, schedule);
    if (!line->timed) line->timed = results_find_elsewhere(&session->background.results, schedule);
    line->elsewhere = line->timed && (!str_equal(line->timed->schedule.target, schedule->target) ||
                                      at_hand_is_other(session, line->timed));
    const StandIn *stand_in = &session->background.stand_ins[i];
    line->estimate =
        results_estimate(&session->background.results, stand_in->key, &stand_in->estimate);
    line->before = find_before(session, lines, i);
    if (line->estimate.tflops > 0) lines->top = fmax(lines->top, line->estimate.tflops);
    if (!line->timed || line->elsewhere) continue;
    if (line->timed->ok) lines->top = fmax(lines->top, line->timed->tflops);
    if (i == session->doc.rung) {
      lines->reference = line->timed->reference_tflops;
      lines->referred = line->timed;
    }
    lines->top = fmax(lines->top, line->timed->reference_tflops);
  }
  find_claims(session, lines);
  return lines;
}

static const void *prepare(Session *session) {
  session->background.clocks_shown = CLOCKS_OF_LADDER;
  return measure_ladder_lines(session);
}

// ---- the table ----------------------------------------------------------------------------------

static void draw_before(Canvas *canvas, Rect row, double step, Style style) {
  char figure[FMT_MAX], text[FMT_MAX + 4];
  snprintf(text, sizeof text, "×%s",
           step < 10 ? fmt_ratio(figure, step) : fmt_figure(figure, step));
  canvas_fit(canvas, row, 0, BEFORE_COL, 6, ALIGN_RIGHT, style, text);
}

static void draw_claimed(Canvas *canvas, Rect row, const RungLine *line) {
  char figure[FMT_MAX];
  canvas_fit(canvas, row, 0, FIGURE_COL, 7, ALIGN_RIGHT, STYLE_CLAIM,
             fmt_figure(figure, line->claimed));
  canvas_text(canvas, row, 0, MARK_COL, STYLE_CLAIM, "c");
  if (line->claimed_before > 0) draw_before(canvas, row, line->claimed_before, STYLE_CLAIM);
}

static void draw_figures(Canvas *canvas, Rect row, const Rung *rung, const RungLine *line) {
  char a[FMT_MAX], b[FMT_MAX], c[FMT_MAX];
  const Timed *timed = line->timed;
  if (line->claimed > 0) {
    draw_claimed(canvas, row, line);
  } else if (timed && timed->ok) {
    char mark[2] = {measure_origin_mark(timed->origin), 0};
    Style style = measure_origin_style(timed->origin);
    canvas_fit(canvas, row, 0, FIGURE_COL, 7, ALIGN_RIGHT, style, fmt_figure(a, timed->tflops));
    canvas_text(canvas, row, 0, MARK_COL, style, mark);
    canvas_fit(canvas, row, 0, RATIO_COL, 6, ALIGN_RIGHT, STYLE_TEXT, fmt_ratio(b, timed->ratio));
  } else {
    const char *why = rung->not_built ? "not built" : timed ? "failed" : "–";
    canvas_fit(canvas, row, 0, FIGURE_COL, 9, ALIGN_RIGHT, timed ? STYLE_BAD : STYLE_UNKNOWN, why);
  }
  if (line->before > 0) {
    static const double shown_as_less = 0.995;  // ×1.00 is neither better nor worse
    const double ratio = timed->tflops / line->before;
    draw_before(canvas, row, ratio, ratio < shown_as_less ? STYLE_BAD : STYLE_TEXT);
  }
  canvas_fit(canvas, row, 0, MODEL_COL, 7, ALIGN_RIGHT, STYLE_ESTIMATED,
             measure_estimate_text(c, &line->estimate));
  if (line->estimate.tflops > 0)
    canvas_text(canvas, row, 0, ESTIMATE_MARK_COL, STYLE_ESTIMATED, "e");
}

// The step from the rung before: dark shade on what it gained, light on what it lost.
static void draw_step(Canvas *canvas, Rect row, int cols, const RungLine *line, double top) {
  const double now = line->timed->tflops;
  int from = (int)(cols * line->before / top), to = (int)(cols * now / top);
  for (int col = from; col < to; col++)
    canvas_glyph(canvas, row, 0, BAR_COL + col, STYLE_OK, GLYPH_SHADE_DARK);
  for (int col = to + 1; col < from; col++)
    canvas_glyph(canvas, row, 0, BAR_COL + col, STYLE_BAD, GLYPH_SHADE_LIGHT);
}

// The article's bar, and its factor over the article's first time.
static void draw_claimed_bar(Canvas *canvas, Rect row, int cols, const RungLine *line, double top) {
  char figure[FMT_MAX], text[FMT_MAX + 4];
  canvas_bar(canvas, row, 0, BAR_COL, cols, line->claimed / top, STYLE_CLAIM);
  if (!(line->claimed_first > 0)) return;
  snprintf(text, sizeof text, " ×%s", fmt_figure(figure, line->claimed_first));
  canvas_fit(canvas, row, 0, BAR_COL + cols - utf8_columns(text), utf8_columns(text), ALIGN_LEFT,
             STYLE_CLAIM, text);
}

// The bar of the measurement, and a mark where the estimate stands. What was timed on another GPU
// than this one has that GPU's name in the place of a bar.
static void draw_bar(Canvas *canvas, Rect row, const RungLine *line, double top, bool here) {
  int cols = row.cols - BAR_COL - 1;
  if (cols < 6 || !(top > 0)) return;
  const Timed *timed = line->timed;
  if (line->claimed > 0) draw_claimed_bar(canvas, row, cols, line, top);
  if (timed && timed->ok && line->elsewhere)
    canvas_fit(canvas, row, 0, BAR_COL, cols, ALIGN_LEFT, STYLE_DIM,
               timed->gpu ? timed->gpu : timed->schedule.target);
  else if (timed && timed->ok)
    canvas_bar(canvas, row, 0, BAR_COL, cols, timed->tflops / top,
               here ? STYLE_BAR_BEST : STYLE_BAR);
  if (line->before > 0 && !line->elsewhere) draw_step(canvas, row, cols, line, top);
  if (line->estimate.tflops > 0 && !line->elsewhere) {
    int at = (int)((cols - 1) * line->estimate.tflops / top);
    canvas_text(canvas, row, 0, BAR_COL + at, STYLE_ESTIMATED, "┊");
  }
}

static void draw_rung(Canvas *canvas, Rect row, const Session *session, const LadderLines *lines,
                      int index) {
  const Rung *rung = &session->doc.ladder->rung[index];
  const RungLine *line = &lines->line[index];
  bool here = index == session->doc.rung;
  canvas_printf(canvas, row, 0, 1, here ? STYLE_ACCENT : STYLE_DIM, "%2d%s", index,
                here          ? "▸"
                : rung->aside ? "·"
                              : " ");
  canvas_fit(canvas, row, 0, TITLE_COL, TITLE_COLS, ALIGN_LEFT, here ? STYLE_TITLE : STYLE_TEXT,
             rung->name);
  draw_figures(canvas, row, rung, line);
  draw_bar(canvas, row, line, lines->top, here);
}

// The present rung's family, which the whole ladder is nearly always of.
static Estimate estimate_here(const Session *session) {
  return session_estimate(session, session->doc.now.picture->estimate);
}

// "▓ won ░ lost ┊ clock ~stand-in ±17 % on 212 points"; what has no room gives way to how good the
// number is.
static void draw_bar_legend(Canvas *canvas, Rect head, const Session *session) {
  static const struct {
    const char *mark, *text;
    Style style;
  } marks[] = {{"▓", "won", STYLE_OK}, {"░", "lost", STYLE_BAD}, {"┊", "clock", STYLE_ESTIMATED}};
  enum { LEGEND_COLS = 21 };
  const Estimate estimate = estimate_here(session);
  char error[ESTIMATE_SAID_BYTES], said[ESTIMATE_SAID_BYTES + 16];
  const char *mark = estimate.by == ESTIMATE_STAND_IN ? "~" : "", *word = estimate_word(&estimate);
  snprintf(said, sizeof said, "%s%s %s", mark, word,
           estimate_said(error, &estimate, canvas->ascii));
  const int room = head.cols - BAR_COL;
  const bool whole = utf8_columns(said) + 1 < room - LEGEND_COLS, only = !whole;
  if (only && utf8_columns(said) + 2 > room)
    snprintf(said, sizeof said, "%s%s %s", mark, word,
             estimate_error_said(error, &estimate, canvas->ascii));
  if (only && utf8_columns(said) + 2 > room) estimate_error_said(said, &estimate, canvas->ascii);
  int col = BAR_COL;
  for (int i = only ? 2 : 0; i < 3; i++) {
    col = canvas_text(canvas, head, 0, col, marks[i].style, marks[i].mark) + 1;
    col = canvas_text(canvas, head, 0, col, STYLE_DIM, only ? "" : marks[i].text) + !only;
  }
  if (whole) canvas_text(canvas, head, 0, col, STYLE_DIM, said);
  if (only) canvas_fit(canvas, head, 0, col, head.cols - col, ALIGN_LEFT, STYLE_DIM, said);
}

// Over what draw_claimed_bar() ends a row with; takes its columns from the head.
static void draw_first_title(Canvas *canvas, Rect *head, const LadderLines *lines) {
  enum { TITLE_OF_FIRST = 12, ROOM = 110 };
  bool any = false;
  for (int i = 0; i < lines->n; i++) any |= lines->line[i].claimed_first > 0;
  if (any && head->cols >= ROOM)
    canvas_fit(canvas, rect_take_right(head, TITLE_OF_FIRST + 1), 0, 0, TITLE_OF_FIRST, ALIGN_RIGHT,
               STYLE_CLAIM, "c × first");
}

static void draw_table(Canvas *canvas, Rect in, const Session *session, const LadderLines *lines) {
  Rect head = rect_take_top(&in, 1);
  int col = canvas_text(canvas, head, 0, 1, STYLE_HEADER, " #  rung");
  canvas_text(canvas, head, 0, col + 1, STYLE_DIM, "· side branch");
  canvas_text(canvas, head, 0, FIGURE_COL, STYLE_HEADER, "TFLOP/s");
  canvas_text(canvas, head, 0, BEFORE_COL, STYLE_HEADER, "× prev");
  canvas_text(canvas, head, 0, RATIO_COL, STYLE_HEADER,
              schedule_reference(&session->doc.ladder->rung[0].schedule));
  canvas_text(canvas, head, 0, MODEL_COL, STYLE_HEADER, "TFLOP/s");
  draw_first_title(canvas, &head, lines);
  draw_bar_legend(canvas, head, session);
  int cursor = session_view_state_const(session)->cursor;
  ViewList list = view_list(in, cursor, lines->n);
  while (view_list_next(canvas, &list)) {
    draw_rung(canvas, list.row, session, lines, list.at);
    view_list_mark(canvas, &list, SPOT_MEASURE_LINE, FIGURE_COLS);
  }
}

// The reference is a row of its own, so that its bar can be compared with every other.
static void draw_reference(Canvas *canvas, Rect row, const Session *session,
                           const LadderLines *lines) {
  char figure[FMT_MAX];
  if (!(lines->reference > 0) || row.rows < 1) return;
  char mark[2] = {measure_origin_mark(lines->referred->origin), 0};
  Style style = measure_origin_style(lines->referred->origin);
  canvas_printf(canvas, row, 0, TITLE_COL, STYLE_TITLE, "%s, same run",
                schedule_reference(&session->doc.ladder->rung[0].schedule));
  canvas_fit(canvas, row, 0, FIGURE_COL, 7, ALIGN_RIGHT, style,
             fmt_figure(figure, lines->reference));
  canvas_text(canvas, row, 0, MARK_COL, style, mark);
  canvas_fit(canvas, row, 0, RATIO_COL, 6, ALIGN_RIGHT, STYLE_TEXT, "1.00");
  if (row.cols > BAR_COL + 6)
    canvas_bar(canvas, row, 0, BAR_COL, row.cols - BAR_COL - 1, lines->reference / lines->top,
               STYLE_BAR_BEST);
}

// ---- the rung under the cursor ------------------------------------------------------------------

// "4096³ f16, " and what is known of its time.
static int draw_origin(Canvas *canvas, Rect in, const Session *session, const Rung *rung,
                       const Timed *timed) {
  char problem[64];
  int col = canvas_printf(canvas, in, 0, 1, STYLE_TEXT, "%s, ",
                          view_problem(session, &rung->schedule, problem, sizeof problem));
  if (!timed)
    return canvas_printf(canvas, in, 0, col, STYLE_UNKNOWN, "never timed on %s",
                         rung->schedule.target) > 0;
  Style style = measure_origin_style(timed->origin);
  col = canvas_text(canvas, in, 0, col, style, results_said(timed));
  if (timed->by) col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, " by %s", timed->by);
  if (timed->gpu) col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, " on %s", timed->gpu);
  if (timed->date) col = canvas_printf(canvas, in, 0, col, STYLE_DIM, ", %.10s", timed->date);
  if (timed->turns) col = canvas_printf(canvas, in, 0, col, STYLE_DIM, ", %s", timed->turns);
  char a[FMT_MAX], b[FMT_MAX], c[FMT_MAX], spread[64];
  if (timed->ok) {
    col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, ": %s", fmt_time(a, timed->time_ns));
    snprintf(spread, sizeof spread, " (%s to %s in 8 of 10)", fmt_time(b, timed->p10_ns),
             fmt_time(c, timed->p90_ns));
    bool known = timed->p10_ns > 0 && timed->p90_ns > 0;
    if (known && col + utf8_columns(spread) < in.cols)
      col = canvas_text(canvas, in, 0, col, STYLE_DIM, spread);
    if (timed->note) canvas_printf(canvas, in, 0, col, STYLE_WARN, "  %s", timed->note);
  } else if (timed->error) {
    canvas_printf(canvas, in, 0, col, STYLE_BAD, ": %s", timed->error);
  }
  return 1;
}

enum { CLAIM_BYTES = 400, CLAIM_ROWS = 2 };

// The claim comes first, a time as a speed too: that is what the column of the model has.
static const char *claim_said(char out[CLAIM_BYTES], const Claim *claim) {
  char speed[48] = "", figure[FMT_MAX];
  const double tflops = claim_tflops(claim);
  if (!isnan(tflops) && !str_equal(claim->unit, "TFLOP/s"))
    snprintf(speed, sizeof speed, " of %s TFLOP/s", fmt_figure(figure, tflops));
  snprintf(out, CLAIM_BYTES, "claim%s: %s (%s%s%s)", speed, claim->text,
           claim->gpu ? claim->gpu : "?", claim->source ? ", article " : "",
           claim->source ? claim->source : "");
  return out;
}

// A narrow screen cuts off where it was seen.
static int claim_rows(Rect in, const Claim *claim) {
  char text[CLAIM_BYTES];
  return claim ? min_int(canvas_wrap_rows(claim_said(text, claim), in.cols - 2), CLAIM_ROWS) : 0;
}

static int draw_claim(Canvas *canvas, Rect in, const Claim *claim) {
  char text[CLAIM_BYTES];
  const int rows = claim_rows(in, claim);
  if (claim)
    canvas_wrap(canvas, (Rect){in.row, in.col + 1, rows, in.cols - 2}, STYLE_CLAIM,
                claim_said(text, claim));
  return rows;
}

static const Rung *rung_under_cursor(const Session *session, const LadderLines *lines, int *at) {
  int cursor = session_view_state_const(session)->cursor;
  *at = cursor < lines->n ? cursor : lines->n - 1;
  return &session->doc.ladder->rung[*at];
}

// "padding: Four more floats at the end of each slab row move …"
enum { STORY_BYTES = 1024 };
static const char *story_of(char out[STORY_BYTES], const Rung *rung) {
  snprintf(out, STORY_BYTES, "%s: %s", rung->title, rung->line);
  return out;
}

// A line above, the time, the claim, and the sentence whole.
static int details_rows(Rect in, const Session *session, const LadderLines *lines) {
  int at;
  const Rung *rung = rung_under_cursor(session, lines, &at);
  char story[STORY_BYTES];
  int rows = 2 + claim_rows(in, rung->claim) + canvas_wrap_rows(story_of(story, rung), in.cols - 2);
  return in.rows > 10 ? rows : 0;
}

static void draw_details(Canvas *canvas, Rect in, const Session *session,
                         const LadderLines *lines) {
  int at;
  const Rung *rung = rung_under_cursor(session, lines, &at);
  rect_take_top(&in, draw_origin(canvas, in, session, rung, lines->line[at].timed));
  rect_take_top(&in, draw_claim(canvas, in, rung->claim));
  char story[STORY_BYTES];
  canvas_wrap(canvas, rect_inset(in, 0, 1), STYLE_TEXT, story_of(story, rung));
}

// ---- what limits this kernel --------------------------------------------------------------------

static void draw_clock(Canvas *canvas, Rect row, const char *name, double clocks, double other,
                       double top, bool limits) {
  char a[FMT_MAX], b[FMT_MAX];
  canvas_text(canvas, row, 0, 1, limits ? STYLE_ACCENT : STYLE_TEXT, name);
  canvas_fit(canvas, row, 0, 9, 7, ALIGN_RIGHT, limits ? STYLE_ACCENT : STYLE_TEXT,
             fmt_figure(a, clocks));
  if (other >= 0)
    canvas_fit(canvas, row, 0, 17, 9, ALIGN_RIGHT, STYLE_SIDE_A, fmt_figure(b, other));
  int cols = row.cols - 28;
  if (cols > 4)
    canvas_bar(canvas, row, 0, 27, cols, clocks / top, limits ? STYLE_BAR_BEST : STYLE_BAR);
}

static int limit_rows(Rect in, const Session *session, const LadderLines *lines) {
  TrafficUnit unit[TRAFFIC_UNITS];
  const int reasons = *lines->reasons ? canvas_wrap_rows(lines->reasons, in.cols - 2) : 0;
  return 1 + traffic_units(&session_model(session)->traffic, false, unit) + reasons;
}

static void draw_limits(Canvas *canvas, Rect in, const Session *session, const LadderLines *lines) {
  const Model *model = session_model(session);
  const Traffic *a = session->doc.comparing ? &session->doc.then.picture->model->traffic : NULL;
  TrafficUnit now[TRAFFIC_UNITS], then[TRAFFIC_UNITS];
  const int n = traffic_units(&model->traffic, program_atom(model->program) != NULL, now);
  traffic_units(a ? a : &model->traffic, false, then);
  double top = 0;
  for (int i = 0; i < n; i++) {
    now[i].clocks = traffic_per_kfma(&model->traffic, now[i].clocks);
    then[i].clocks = traffic_per_kfma(a ? a : &model->traffic, then[i].clocks);
    top = fmax(top, now[i].clocks);
  }
  char figure[FMT_MAX];
  const bool power = traffic_power_limits(&model->traffic);
  int at, col = canvas_text(canvas, in, 0, 1, STYLE_HEADER,
                            a ? "LIMIT    B clk        A   of one SM per 1024 FMA (model)"
                              : "LIMIT      clk            of one SM per 1024 FMA (model)");
  rung_under_cursor(session, lines, &at);
  if (at != session->doc.rung)
    col =
        canvas_printf(canvas, in, 0, col, STYLE_DIM, "; at hand, from rung %d", session->doc.rung);
  if (power)
    canvas_printf(canvas, in, 0, col, STYLE_ACCENT, "; power allows less: %s TFLOP/s",
                  fmt_figure(figure, model->traffic.power_tflops));
  else if (model->traffic.roofline_tflops > 0)
    canvas_printf(canvas, in, 0, col, STYLE_DIM, "; roofline %s TFLOP/s",
                  fmt_figure(figure, model->traffic.roofline_tflops));
  for (int i = 0; i < n; i++)
    draw_clock(canvas, (Rect){in.row + 1 + i, in.col, 1, in.cols}, now[i].title, now[i].clocks,
               a ? then[i].clocks : -1, top, !power && !(now[i].clocks < top));
  rect_take_top(&in, 1 + n);
  canvas_wrap(canvas, rect_inset(in, 0, 1), STYLE_NOTE, lines->reasons);
}

// The details above are of the rung under the cursor, limits of what is at hand.
static void say_whose(Canvas *canvas, Rect in, const Session *session, int cursor) {
  canvas_printf(canvas, in, 0, 1, STYLE_DIM,
                "LIMIT is that of your state, edited from rung %d; %s takes rung %d",
                session->doc.rung, view_key_name(session, "take"), cursor);
}

static void draw(Canvas *canvas, Rect in, const Session *session, const void *prepared) {
  const LadderLines *lines = prepared;
  int cursor;
  rung_under_cursor(session, lines, &cursor);
  const bool elsewhere = cursor != session->doc.rung && !session->doc.comparing;
  bool tall = in.rows > TALL_ROWS;
  Rect all = in,
       limits = rect_take_bottom(&in, tall ? limit_rows(in, session, lines) : in.rows > 16);
  Rect details = rect_take_bottom(&in, details_rows(in, session, lines));
  Rect reference = {in.row, in.col, 0, in.cols};
  if (lines->reference > 0 && in.rows > 6) reference = rect_take_bottom(&in, 1);
  Rect table = rect_take_top(&in, lines->n + 1);
  if (!rect_empty(reference)) reference.row = table.row + table.rows;
  if (details.rows) {
    canvas_hline(canvas, all, details.row - all.row, 0, all.cols, STYLE_BORDER);
    rect_take_top(&details, 1);
  }
  draw_table(canvas, table, session, lines);
  draw_reference(canvas, reference, session, lines);
  draw_details(canvas, details, session, lines);
  if (tall)
    draw_limits(canvas, limits, session, lines);
  else if (limits.rows && elsewhere)
    say_whose(canvas, limits, session, cursor);
  else if (limits.rows)
    explore_draw_limit(canvas, limits, session);
}

// ---- moving -------------------------------------------------------------------------------------

static void enter(Session *session) { session_view_state(session)->cursor = session->doc.rung; }
static int count(const Session *session) { return session->doc.ladder->n_rungs; }
static const char *line(const Session *session, int i) { return session->doc.ladder->rung[i].name; }
static void take(Session *session, int i) { session_go_rung(session, i); }

const MeasurePicture measure_ladder = {
    .title = "LADDER",
    .help = "every rung: measured, recorded, expected, claimed",
    .prepare = prepare,
    .draw = draw,
    .count = count,
    .line = line,
    .enter = enter,
    .take = take,
};
