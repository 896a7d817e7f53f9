// Lanes as rows: time to the right, a column for equal clocks, slabs in their colours.
//
//   TMA        0011░░22░░33░░           digits: served; ░: asked for and on its way
//   tensor           ▆▆▆▆▇▇▇▇           the share of the multipliers that work
//   slot 0     ░░░░▒▒0000····░░         on its way, there, read, free
//   consumer   ┄full[0]┄00001111        a gap: what is waited for; digits: multiplies of that slab
//
// A column shows what takes most of it. Where turns of a loop were left out stands a dotted
// line; the clocks of the axis go on as if they had been there.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "tui/canvas/utf8.h"
#include "tui/views/time/pipeline.h"

enum { COLS = CANVAS_COLS_MAX, LEVELS = 8, TICK_COLS = 10, SLABS_AT_FIRST = 5 };

static int column_of(PipelineSpan span, double clock) {
  double col = floor((clock - span.from) / span.scale);
  return col < -1 ? -1 : col > span.cols ? span.cols : (int)col;
}

// The columns that a time touches, at least one; false: none of those on the screen.
static bool columns_of(PipelineSpan span, double begin, double end, int *first, int *last) {
  *first = max_int(column_of(span, begin), 0);
  *last = min_int(column_of(span, fmax(begin, end - 1e-6)), span.cols - 1);
  return column_of(span, begin) < span.cols && column_of(span, end) >= 0 && *last >= *first;
}

// Clocks of a column that lie in a time.
static double overlap(PipelineSpan span, int col, double begin, double end) {
  double from = span.from + col * span.scale;
  return fmax(0, fmin(end, from + span.scale) - fmax(begin, from));
}

static Style slab_style(int64_t slab) {
  return slab < 0 ? STYLE_TEXT : style_address((int)(slab % STYLE_ADDRESSES));
}

// The slab that a time is about, in a column: one that began before turns were left out and goes on
// behind them is there about a later one.
static int64_t slab_in(const Lane *lane, int64_t slab, double begin, PipelineSpan span, int col) {
  if (slab < 0 || lane->timeline->n_cuts != 1) return slab;
  const TimelineCut *cut = &lane->timeline->cut[0];
  bool goes_on = begin < cut->at && span.from + col * span.scale >= cut->at;
  return goes_on ? slab + cut->turns : slab;
}

static void put_slab(Canvas *canvas, Rect in, PipelineSpan span, int col, int64_t slab) {
  char mark[2] = {slab < 0 ? '=' : pipeline_mark(slab), 0};
  canvas_text(canvas, in, 0, col, slab_style(slab), mark);
  pipeline_use_sign(span, slab < 0 ? SIGN_NO_SLAB : SIGN_SLAB);
}

// A shade in the colour of its slab.
static void put_shade(Canvas *canvas, Rect in, PipelineSpan span, int col, int64_t slab,
                      PipelineSign sign) {
  canvas_glyph(canvas, in, 0, col, style_over(slab_style(slab), STYLE_SHADOW),
               sign == SIGN_COMING ? GLYPH_SHADE_LIGHT : GLYPH_SHADE_MEDIUM);
  pipeline_use_sign(span, sign);
}

// A column of a row of slabs shows the last that was said of it.
typedef struct SlabCells {
  PipelineSign sign[COLS];  // PIPELINE_SIGNS: nothing
  int64_t slab[COLS];
} SlabCells;

static void clear_cells(SlabCells *cells, PipelineSpan span, PipelineSign sign) {
  for (int col = 0; col < span.cols; col++) cells->sign[col] = sign;
}

static void say_cells(SlabCells *cells, const Lane *lane, PipelineSpan span, int64_t slab,
                      double begin, double from, double to, PipelineSign sign) {
  int first, last;
  if (!columns_of(span, from, to, &first, &last)) return;
  for (int col = first; col <= last; col++) {
    cells->sign[col] = sign;
    cells->slab[col] = slab_in(lane, slab, begin, span, col);
  }
}

static void draw_cells(Canvas *canvas, Rect in, const SlabCells *cells, PipelineSpan span) {
  for (int col = 0; col < span.cols; col++) {
    const PipelineSign sign = cells->sign[col];
    if (sign == SIGN_SLAB) put_slab(canvas, in, span, col, cells->slab[col]);
    if (sign == SIGN_COMING || sign == SIGN_THERE)
      put_shade(canvas, in, span, col, cells->slab[col], sign);
    if (sign != SIGN_FREE) continue;
    canvas_glyph(canvas, in, 0, col, STYLE_DIM, GLYPH_MIDDLE_DOT);
    pipeline_use_sign(span, SIGN_FREE);
  }
}

// ---- units --------------------------------------------------------------------------------------

// Copies: on their way from when they are asked for until they have landed; served in between.
static void draw_copies(Canvas *canvas, Rect in, const Lane *lane, PipelineSpan span) {
  SlabCells cells;
  clear_cells(&cells, span, PIPELINE_SIGNS);
  for (int i = 0; i < lane->n; i++) {
    const TimelineEvent *e = lane->event[i];
    say_cells(&cells, lane, span, e->slab, e->begin, e->begin, e->end, SIGN_COMING);
  }
  for (int i = 0; i < lane->n; i++) {
    const TimelineEvent *e = lane->event[i];
    say_cells(&cells, lane, span, e->slab, e->begin, e->work, e->work + e->busy, SIGN_SLAB);
  }
  draw_cells(canvas, in, &cells, span);
}

// The share of the unit that works, in eighths, in the colour of the slab that it works for most.
static void draw_shares(Canvas *canvas, Rect in, const Lane *lane, PipelineSpan span) {
  double busy[COLS] = {0}, most[COLS] = {0};
  int64_t slab[COLS];
  int first, last;
  for (int i = 0; i < lane->n; i++) {
    const TimelineEvent *e = lane->event[i];
    const double takes = timeline_unit_clocks(e);
    if (takes <= 0 || !columns_of(span, e->work, e->end, &first, &last)) continue;
    for (int col = first; col <= last; col++) {
      double share = takes * overlap(span, col, e->work, e->end) / fmax(e->end - e->work, 1);
      busy[col] += share;
      if (share <= most[col]) continue;
      most[col] = share;
      slab[col] = slab_in(lane, e->slab, e->begin, span, col);
    }
  }
  for (int col = 0; col < span.cols; col++) {
    double share = busy[col] / span.scale;
    if (share < 0.02) continue;
    int level = min_int((int)ceil(share * LEVELS), LEVELS);
    canvas_glyph(canvas, in, 0, col, style_over(slab_style(slab[col]), STYLE_SHADOW),
                 (Glyph)(GLYPH_BAR_1 + level - 1));
    pipeline_use_sign(span, SIGN_SHARE);
  }
}

// ---- slots --------------------------------------------------------------------------------------

static bool is_of(const Lane *lane, const TimelineHold *hold) {
  return hold->ring == lane->ring && hold->slot == lane->slot && hold->rank == lane->rank;
}

// A time of the hold; one that has no end goes on to the right edge.
static void say_hold(SlabCells *cells, const Lane *lane, PipelineSpan span,
                     const TimelineHold *hold, double from, double to, PipelineSign sign) {
  to = fmin(to, span.from + span.cols * span.scale);
  if (to > from) say_cells(cells, lane, span, hold->slab, hold->asked, from, to, sign);
}

// Reads are said last: at no scale does a slot that is read look as if it were free.
static void draw_slot(Canvas *canvas, Rect in, const Lane *lane, PipelineSpan span) {
  const Timeline *timeline = lane->timeline;
  SlabCells cells;
  clear_cells(&cells, span, SIGN_FREE);
  for (int i = 0; i < timeline->n_holds; i++) {
    const TimelineHold *hold = &timeline->hold[i];
    if (!is_of(lane, hold)) continue;
    say_hold(&cells, lane, span, hold, hold->landed, hold->read, SIGN_THERE);
    say_hold(&cells, lane, span, hold, hold->asked, hold->landed, SIGN_COMING);
  }
  for (int i = 0; i < timeline->n_holds; i++) {
    const TimelineHold *hold = &timeline->hold[i];
    if (is_of(lane, hold)) say_hold(&cells, lane, span, hold, hold->read, hold->over, SIGN_SLAB);
  }
  draw_cells(canvas, in, &cells, span);
}

// ---- warps --------------------------------------------------------------------------------------

static bool waits(const TimelineEvent *e) { return timeline_kind_waits(e->kind); }

static void draw_warp_cell(Canvas *canvas, Rect in, PipelineSpan span, int col,
                           const TimelineEvent *e) {
  if (e->kind == TIMELINE_MULTIPLY) {
    put_slab(canvas, in, span, col, e->slab);
  } else if (waits(e)) {
    canvas_glyph(canvas, in, 0, col, e->stuck ? STYLE_BAD : STYLE_BARRIER, GLYPH_HLINE_DOTTED);
    pipeline_use_sign(span, SIGN_WAITS);
  } else {
    Style style = e->slab < 0 ? STYLE_DIM : style_over(slab_style(e->slab), STYLE_SHADOW);
    canvas_text(canvas, in, 0, col, style, timeline_kind_letter(e->kind));
    pipeline_use_letter(span, e->kind);
  }
}

// A warp that waits for ever does so beyond the end of all else, to the right edge.
static double seen_end(const TimelineEvent *e, PipelineSpan span) {
  return e->stuck ? fmax(e->end, span.from + span.cols * span.scale) : e->end;
}

// The time of the warp itself: of a copy that goes on in the background its asking alone, which is
// what a stamp measures anyway.
static double own_end(const Lane *lane, const TimelineEvent *e, PipelineSpan span) {
  bool background = e->kind == TIMELINE_COPY || e->kind == TIMELINE_STORE;
  return background && !lane->timeline->measured ? fmin(e->end, e->begin + (double)e->count)
                                                 : seen_end(e, span);
}

// The cause of a wait: a meeting, products of the own warpgroup, or copies.
static const char *waited_for(const TimelineEvent *e) {
  if (e->kind == TIMELINE_MEET) return "barrier";
  return op_facts(e->stmt->op.kind)->scope == SCOPE_WARPGROUP ? "products" : "copies";
}

enum { GAP_NAME_MAX = 64 };

// "full[2]", "barrier"; in full "full[2] phase 1", "barrier of all threads".
static void name_gap(const TimelineEvent *e, bool in_full, char out[GAP_NAME_MAX]) {
  const long long count = (long long)e->stmt->op.threads;
  if (e->bar.buffer && e->bar.at < 0)
    snprintf(out, GAP_NAME_MAX, "%.32s", e->bar.buffer->name);
  else if (e->bar.buffer && in_full)
    snprintf(out, GAP_NAME_MAX, "%.32s[%d] phase %lld", e->bar.buffer->name, e->bar.at,
             (long long)e->phase);
  else if (e->bar.buffer)
    snprintf(out, GAP_NAME_MAX, "%.32s[%d]", e->bar.buffer->name, e->bar.at);
  else if (e->kind == TIMELINE_MEET && in_full && count)
    snprintf(out, GAP_NAME_MAX, "barrier of %lld threads", count);
  else if (e->kind == TIMELINE_MEET && in_full)
    snprintf(out, GAP_NAME_MAX, "barrier of all threads");
  else
    snprintf(out, GAP_NAME_MAX, "%s", waited_for(e));
}

// In the middle of a gap that has room for it; in full where the wait never ends.
static void draw_gap(Canvas *canvas, Rect in, const TimelineEvent *e, PipelineSpan span) {
  char name[GAP_NAME_MAX];
  int first, last;
  if (!waits(e) || !columns_of(span, e->begin, seen_end(e, span), &first, &last)) return;
  const int room = last - first + 1;
  name_gap(e, e->stuck, name);
  if (utf8_columns(name) + 2 > room) name_gap(e, false, name);
  const int cols = utf8_columns(name);
  if (cols + 2 > room) return;
  canvas_text(canvas, in, 0, first + (room - cols) / 2, e->stuck ? STYLE_BAD : STYLE_BARRIER, name);
}

// Merged events of reads and of multiplications lie beside each other: the multiplication shows.
static double weight_of(TimelineKind kind) { return kind == TIMELINE_MULTIPLY ? 4 : 1; }

static void draw_warps(Canvas *canvas, Rect in, const Lane *lane, PipelineSpan span) {
  const TimelineEvent *shown[COLS] = {0};
  double most[COLS] = {0};
  int first, last;
  for (int i = 0; i < lane->n; i++) {
    const TimelineEvent *e = lane->event[i];
    double end = own_end(lane, e, span);
    if (!columns_of(span, e->begin, end, &first, &last)) continue;
    for (int col = first; col <= last; col++) {
      double takes = weight_of(e->kind) * overlap(span, col, e->begin, end);
      if (takes <= most[col]) continue;
      most[col] = takes;
      shown[col] = e;
    }
  }
  for (int col = 0; col < span.cols; col++)
    if (shown[col]) draw_warp_cell(canvas, in, span, col, shown[col]);
  for (int i = 0; i < lane->n; i++) draw_gap(canvas, in, lane->event[i], span);
}

// ---- a lane -------------------------------------------------------------------------------------

static bool is_found(const PipelineOwn *own, const TimelineEvent *e) {
  const int *stmt = own->verdict.stmt;
  return own->verdict.name && (stmt_id(e->stmt) == stmt[0] || stmt_id(e->stmt) == stmt[1]);
}

static void mark_found(Canvas *canvas, Rect in, const PipelineOwn *own, const Lane *lane,
                       PipelineSpan span) {
  int first, last;
  if (lane->kind != LANE_WARPS) return;
  for (int i = 0; i < lane->n; i++) {
    const TimelineEvent *e = lane->event[i];
    if (!is_found(own, e) || !columns_of(span, e->begin, own_end(lane, e, span), &first, &last))
      continue;
    canvas_restyle(canvas, (Rect){in.row, in.col + first, 1, last - first + 1}, STYLE_BAD);
  }
}

static void draw_cursor(Canvas *canvas, Rect in, const PipelineOwn *own, PipelineSpan span) {
  const TimelineEvent *e = pipeline_event(own);
  int first, last;
  if (!e || !columns_of(span, e->begin, seen_end(e, span), &first, &last)) return;
  canvas_over(canvas, (Rect){in.row, in.col + first, 1, last - first + 1}, STYLE_CURSOR);
}

void pipeline_draw_lane(Canvas *canvas, Rect in, const PipelineOwn *own, const Lanes *lanes,
                        int index, PipelineSpan span) {
  const Lane *lane = &lanes->lane[index];
  bool here = lanes == &own->now && index == own->lane;
  Rect label = rect_take_left(&in, PIPELINE_LABEL_COLS);
  if (here) canvas_glyph(canvas, label, 0, 0, STYLE_TITLE, GLYPH_POINTER);
  canvas_fit(canvas, label, 0, 1, label.cols - 2, ALIGN_LEFT, here ? STYLE_TITLE : STYLE_TEXT,
             lane->name);
  if (lane->kind == LANE_SLOT)
    draw_slot(canvas, in, lane, span);
  else if (lane->kind == LANE_WARPS)
    draw_warps(canvas, in, lane, span);
  else if (lane->kinds >> TIMELINE_COPY & 1)
    draw_copies(canvas, in, lane, span);
  else
    draw_shares(canvas, in, lane, span);
  mark_found(canvas, in, own, lane, span);
  if (here) draw_cursor(canvas, in, own, span);
  const int now = column_of(span, span.clock);
  if (now >= 0 && now < span.cols && !here)
    canvas_over(canvas, (Rect){in.row, in.col + now, 1, 1}, STYLE_CURSOR);
  for (int i = 0; i < lanes->timeline->n_cuts; i++) {
    const int col = column_of(span, lanes->timeline->cut[i].at);
    if (col < 0 || col >= span.cols) continue;
    canvas_glyph(canvas, in, 0, col, STYLE_DIM, GLYPH_VLINE_DOTTED);
    pipeline_use_sign(span, SIGN_CUT);
  }
}

// ---- the axis -----------------------------------------------------------------------------------

double pipeline_clocks_at_first(const Timeline *timeline) {
  double first = 0;
  for (int i = 0; i < timeline->n_events && first <= 0; i++)
    if (timeline->event[i].kind == TIMELINE_MULTIPLY) first = timeline->event[i].begin;
  double slabs = first + SLABS_AT_FIRST * timeline->turn_clocks;
  return timeline->turn_clocks > 0 && slabs < timeline->clocks ? slabs : timeline->clocks;
}

// The least of 1, 2, 5, 10, 20 … that is not below it.
static double round_step(double least) {
  double step = 1;
  for (int i = 0; step < least; i++) step *= i % 3 == 1 ? 2.5 : 2;
  return step;
}

// The clock of the picture for one of the block: those of turns that were left out are at their
// cut.
static double picture_clock(const Timeline *timeline, double clock) {
  double left_out = 0;
  for (int i = 0; i < timeline->n_cuts; i++) {
    const TimelineCut *cut = &timeline->cut[i];
    if (clock - left_out > cut->at) left_out += fmin(cut->clocks, clock - left_out - cut->at);
  }
  return clock - left_out;
}

static void draw_cut(Canvas *canvas, Rect in, const TimelineCut *cut, PipelineSpan span) {
  int col = column_of(span, cut->at);
  if (col >= 0 && col < span.cols)
    canvas_printf(canvas, in, 0, col, STYLE_NOTE, "┊+%lld turns%s ", (long long)cut->turns,
                  cut->repeats ? "" : ", not all alike");
}

void pipeline_draw_axis(Canvas *canvas, Rect in, const Timeline *timeline, PipelineSpan span) {
  canvas_text(canvas, in, 0, 1, STYLE_DIM, timeline->measured ? "clock" : "clock (est.)");
  rect_take_left(&in, PIPELINE_LABEL_COLS);
  double step = round_step(TICK_COLS * span.scale), end = span.from + span.cols * span.scale;
  double at = ceil(timeline_clock(timeline, span.from) / step) * step;
  int free_from = 1;
  char now_text[32];
  const int now = column_of(span, span.clock);
  const int now_cols =
      snprintf(now_text, sizeof now_text, "%.0f", timeline_clock(timeline, span.clock));
  for (int col; picture_clock(timeline, at) < end; at += step) {
    char text[32];
    double before = picture_clock(timeline, at);
    snprintf(text, sizeof text, "%.0f", at);
    col = column_of(span, before);
    if (col > now - (int)strlen(text) && col < now + now_cols + 2) col = -1;
    if (col >= free_from) free_from = canvas_label(canvas, in, 0, col, STYLE_DIM, text) + 1;
    // No clock that was left out has a column.
    for (int i = 0; i < timeline->n_cuts; i++)
      if (before >= timeline->cut[i].at && before <= timeline->cut[i].at)
        at = fmax(at,
                  floor((timeline_clock(timeline, timeline->cut[i].at) + timeline->cut[i].clocks) /
                        step) *
                      step);
  }
  for (int i = 0; i < timeline->n_cuts; i++) draw_cut(canvas, in, &timeline->cut[i], span);
  if (now < 0 || now >= span.cols) return;
  canvas_glyph(canvas, in, 0, now, STYLE_TITLE, GLYPH_POINTER_DOWN);
  canvas_text(canvas, in, 0, now + 1, STYLE_TITLE, now_text);
}
