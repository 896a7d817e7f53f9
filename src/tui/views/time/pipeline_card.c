// The event under the cursor: its statement, its clocks, the mbarrier behind it, and why
// the warp was idle before it.
//
//   wait  full[1] phase 0   warp 0 of consumer                       82 to 1301 clk (est.)
//   wait full[k_n % 4] phase k_n / 4 % 2
//   full[1] behind it: phase 1 under way, 0 of 1 arrivals, 0 of 0 B
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/notation/print.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/views/time/pipeline.h"

static const char *line_of(Arena *arena, const Program *program, const Stmt *stmt) {
  ProgramText text = program_print(arena, program);
  for (int i = 0; i < text.n_lines; i++)
    if (text.line[i].stmt == stmt) return text.line[i].text;
  return "";
}

static const TimelineEvent *event_before(const Timeline *timeline, const TimelineEvent *e) {
  const TimelineEvent *before = NULL;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *other = &timeline->event[i];
    if (other->warp == e->warp && other->order < e->order &&
        (!before || other->order > before->order))
      before = other;
  }
  return before;
}

PipelineCard pipeline_card(Session *session, const PipelineOwn *own) {
  Arena *arena = session->frame;
  const TimelineEvent *e = pipeline_event(own);
  if (!e) return (PipelineCard){0};
  return (PipelineCard){.event = e,
                        .before = event_before(own->now.timeline, e),
                        .line = line_of(arena, own->now.timeline->program, e->stmt),
                        .waits_for = timeline_waits_for(arena, e),
                        .at = pipeline_said_at(arena, own),
                        .chain = pipeline_said_chain(arena, own),
                        .whole = pipeline_said_whole(arena, session, own),
                        .root = own->root,
                        .way = own->broken ? pipeline_way_now(session) : 0};
}

enum { NOW_ROWS = 2 };

static int draw_wrapped(Canvas *canvas, Rect in, Style style, const char *text) {
  in = (Rect){in.row, in.col + 1, min_int(NOW_ROWS, in.rows), in.cols - 1};
  return min_int(canvas_wrap(canvas, in, style, text), NOW_ROWS);
}

// Everybody at the cursor of time, and the chain of waits there.
static void draw_now(Canvas *canvas, Rect *in, const PipelineCard *card) {
  const Rect clock = {in->row, in->col + 1, 1, (int)(strchr(card->at, ':') - card->at) + 1};
  rect_take_top(in, draw_wrapped(canvas, *in, STYLE_TEXT, card->at));
  canvas_restyle(canvas, clock, STYLE_TITLE);
  if (*card->chain) rect_take_top(in, draw_wrapped(canvas, *in, STYLE_BARRIER, card->chain));
}

static void draw_what(Canvas *canvas, Rect in, const Timeline *timeline, const PipelineCard *card) {
  const TimelineEvent *e = card->event;
  const char *role = timeline_role(timeline, e->warp), *for_what = card->waits_for;
  int col = canvas_text(canvas, in, 0, 1, e->stuck ? STYLE_BAD : STYLE_TITLE,
                        e->stuck ? "waits for ever" : timeline_kind_name(e->kind));
  if (*for_what) col = canvas_printf(canvas, in, 0, col + 1, STYLE_BARRIER, "%s", for_what);
  if (e->slab >= 0)
    col = canvas_printf(canvas, in, 0, col + 2, style_address((int)(e->slab % STYLE_ADDRESSES)),
                        " slab %lld ", (long long)e->slab);
  if (e->slot >= 0) col = canvas_printf(canvas, in, 0, col + 1, STYLE_TEXT, "slot %d", e->slot);
  col = canvas_printf(canvas, in, 0, col + 2, STYLE_TEXT, "%s%swarp %d", role ? role : "",
                      role ? ", " : "", e->warp);
  if (e->count > 1)
    canvas_printf(canvas, in, 0, col, STYLE_DIM, ", %lld times", (long long)e->count);
}

static void draw_clocks(Canvas *canvas, Rect in, const Timeline *timeline, const TimelineEvent *e) {
  double begin = timeline_clock(timeline, e->begin), end = begin + (e->end - e->begin);
  if (e->stuck) {
    canvas_printf(canvas, in, 0, 1, STYLE_ESTIMATED, "since clock %.0f (est.)", begin);
    return;
  }
  int col =
      canvas_printf(canvas, in, 0, 1, STYLE_ESTIMATED, "clock %.0f to %.0f (est.)", begin, end);
  col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, ": %.0f clk", e->end - e->begin);
  if (!(e->busy > 0)) return;
  const double unit_begin = begin + (e->work - e->begin);
  char text[2][80];
  snprintf(text[0], sizeof text[0], "; its unit begins at %.0f and is busy for %.0f", unit_begin,
           e->busy);
  snprintf(text[1], sizeof text[1], "; its unit: %.0f from %.0f", e->busy, unit_begin);
  canvas_text(canvas, in, 0, col, STYLE_TEXT, text[col + utf8_columns(text[0]) > in.cols]);
}

static void draw_bar(Canvas *canvas, Rect in, const TimelineBar *bar) {
  char landed[FMT_MAX], bytes[FMT_MAX];
  int col = canvas_printf(canvas, in, 0, 1, STYLE_BARRIER, "%s[%d]", bar->buffer->name, bar->at);
  col = canvas_printf(canvas, in, 0, col, STYLE_TEXT,
                      ": phase %u under way (bit %u), %lld of %lld arrivals", bar->phase,
                      bar->phase & 1, (long long)bar->arrived, (long long)bar->expected);
  if (bar->bytes > 0)
    canvas_printf(canvas, in, 0, col, STYLE_TEXT, ", %s of %s landed",
                  fmt_bytes(landed, (double)bar->landed), fmt_bytes(bytes, (double)bar->bytes));
}

static void draw_before(Canvas *canvas, Rect in, const PipelineCard *card) {
  const TimelineEvent *e = card->event, *before = card->before;
  if (!before || e->begin - before->begin < 1) return;
  int col =
      canvas_printf(canvas, in, 0, 1, STYLE_DIM, "this warp's step before: %s, %.0f clk earlier",
                    timeline_kind_name(before->kind), e->begin - before->begin);
  if (e->kind == TIMELINE_MULTIPLY && before->kind == TIMELINE_READ)
    canvas_text(canvas, in, 0, col, STYLE_DIM, "; it needs those values");
}

// A deadlock of the picture is told from its root, and anything else as the run with values has it.
static void draw_found(Canvas *canvas, Rect *in, const PipelineVerdict *verdict, const char *root) {
  enum { FOUND_ROWS = 3 };
  Rect told = {in->row, in->col + 1, min_int(FOUND_ROWS, in->rows), in->cols - 1};
  const Style style = verdict->kind == FINDING_COUNT ? STYLE_TEXT : STYLE_WARN;
  const bool says = !*root || (verdict->kind != FINDING_DEADLOCK && verdict->kind != FINDING_COUNT);
  if (*root) rect_take_top(&told, canvas_wrap(canvas, told, STYLE_BAD, root));
  if (says && !*root && verdict->problem)
    canvas_printf(canvas, rect_take_top(&told, 1), 0, 0, STYLE_DIM,
                  "a run with values of %s:", verdict->problem);
  if (says) rect_take_top(&told, canvas_wrap(canvas, told, style, verdict->text));
  rect_take_top(in, told.row - in->row);
}

static void draw_verdict(Canvas *canvas, Rect *in, const PipelineOwn *own,
                         const PipelineCard *card) {
  const PipelineVerdict *verdict = &own->verdict;
  Rect row = rect_take_top(in, 1);
  char seen[SYMPTOMS_BYTES];
  int col = canvas_printf(canvas, row, 0, 1, STYLE_BAD, "broken, %d of %d: %s", card->way,
                          own->n_ways, verdict->name);
  col = canvas_printf(canvas, row, 0, col, STYLE_WARN, " (on a GPU: %s)",
                      breakage_symptoms(seen, verdict->id));
  canvas_fit(canvas, row, 0, col + 1, row.cols - col - 1, ALIGN_LEFT, STYLE_TEXT, verdict->help);
  draw_found(canvas, in, verdict, card->root);
}

enum { HEAD_COLS = 78, ORIGIN_ROWS = 3 };

// In a cluster a pair is drawn whole, and else one block alone, to which the others send as much.
int pipeline_draw_which(Canvas *canvas, Rect in, int col, int64_t cluster, int drawn) {
  const bool wide = in.cols >= HEAD_COLS;
  if (cluster < 2)
    return canvas_text(canvas, in, 0, col, STYLE_TEXT,
                       wide ? "block 0, alone on its SM" : "block 0:");
  if (drawn > 1)
    return canvas_printf(canvas, in, 0, col, STYLE_TEXT,
                         wide ? "CTA 0 and 1, a pair:" : "the pair:");
  const char *others = !wide          ? ":"
                       : cluster == 2 ? "; CTA 1 is not drawn:"
                                      : "; the others are not drawn:";
  return canvas_printf(canvas, in, 0, col, STYLE_TEXT, "CTA 0 of %" PRId64 "%s", cluster, others);
}

// Where the card has no room for all of it, the time of the kernel comes before the statement.
static bool takes_last_row(Rect in, const PipelineCard *card) {
  enum { LEAST = 3, ABOVE = 4 };
  const int above = ABOVE + (card->event->bar.buffer ? 1 : 0);
  return *card->whole && in.rows >= LEAST && in.rows <= above;
}

static void draw_last_row(Canvas *canvas, Rect *in, const PipelineCard *card) {
  if (!takes_last_row(*in, card)) return;
  const Rect row = rect_take_bottom(in, 1);
  canvas_fit(canvas, row, 0, 1, row.cols - 1, ALIGN_LEFT, STYLE_TEXT, card->whole);
}

void pipeline_draw_card(Canvas *canvas, Rect in, const PipelineOwn *own, const PipelineCard *card) {
  const Timeline *timeline = own->now.timeline;
  if (own->verdict.name) draw_verdict(canvas, &in, own, card);
  if (!card->event) return;
  draw_now(canvas, &in, card);
  draw_last_row(canvas, &in, card);
  draw_what(canvas, rect_take_top(&in, 1), timeline, card);
  draw_clocks(canvas, rect_take_top(&in, 1), timeline, card->event);
  Rect row = rect_take_top(&in, 1);
  canvas_fit(canvas, row, 0, 1, row.cols - 1, ALIGN_LEFT, STYLE_SITE, card->line);
  if (card->event->bar.buffer) draw_bar(canvas, rect_take_top(&in, 1), &card->event->bar);
  if (own->verdict.name) return;  // which says more, and needs the room
  draw_before(canvas, rect_take_top(&in, 1), card);
  rect_take_left(&in, 1);
  if (*card->whole) rect_take_top(&in, canvas_wrap(canvas, in, STYLE_TEXT, card->whole));
  rect_take_top(&in, 1);
  if (in.rows >= ORIGIN_ROWS) canvas_wrap(canvas, in, STYLE_DIM, timeline->origin);
}
