// The event under the cursor: its statement, its clocks, the mbarrier behind it, and why
// the warp was idle before it.
//
//   wait  full[1] phase 0   warp 0 of consumer                       82 to 1301 clk (est.)
//   wait full[k_n % 4] phase k_n / 4 % 2
//   full[1] behind it: phase 1 under way, 0 of 1 arrivals, 0 of 0 B
#include <inttypes.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/notation/print.h"
#include "tui/canvas/fmt.h"
#include "tui/views/program/pipeline.h"

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

PipelineCard pipeline_card(Arena *arena, const PipelineOwn *own) {
  const TimelineEvent *e = pipeline_event(own);
  if (!e) return (PipelineCard){0};
  return (PipelineCard){.event = e,
                        .before = event_before(own->now.timeline, e),
                        .line = line_of(arena, own->now.timeline->program, e->stmt),
                        .waits_for = timeline_waits_for(arena, e)};
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
  int col =
      canvas_printf(canvas, in, 0, 1, STYLE_ESTIMATED, "clock %.0f to %.0f (est.)", begin, end);
  col = canvas_printf(canvas, in, 0, col, STYLE_TEXT, ": %.0f clk", e->end - e->begin);
  if (e->busy > 0)
    canvas_printf(canvas, in, 0, col, STYLE_TEXT, "; its unit begins at %.0f and works %.0f",
                  begin + (e->work - e->begin), e->busy);
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
  int col = canvas_printf(canvas, in, 0, 1, STYLE_DIM, "before it: %s, %.0f clk earlier",
                          timeline_kind_name(before->kind), e->begin - before->begin);
  if (e->kind == TIMELINE_MULTIPLY && before->kind == TIMELINE_READ)
    canvas_text(canvas, in, 0, col, STYLE_DIM, "; it needs what that reads");
}

static void draw_verdict(Canvas *canvas, Rect *in, const PipelineVerdict *verdict) {
  Rect row = rect_take_top(in, 1);
  char seen[SYMPTOMS_BYTES];
  int col = canvas_printf(canvas, row, 0, 1, STYLE_BAD, "broken: %s", verdict->name);
  col = canvas_printf(canvas, row, 0, col, STYLE_WARN, " (on a GPU: %s)",
                      breakage_symptoms(seen, verdict->id));
  canvas_fit(canvas, row, 0, col + 1, row.cols - col - 1, ALIGN_LEFT, STYLE_TEXT, verdict->help);
  Rect told = rect_take_top(in, 3);
  rect_take_left(&told, 1);
  const Style style = verdict->kind == FINDING_COUNT ? STYLE_TEXT : STYLE_WARN;
  if (verdict->problem)
    canvas_printf(canvas, rect_take_top(&told, 1), 0, 0, STYLE_DIM,
                  "a run with values of %s:", verdict->problem);
  canvas_wrap(canvas, told, style, verdict->text);
}

enum { HEAD_COLS = 78 };

// A block of a cluster is drawn alone: who waits for the others waits for what is not there to see.
int pipeline_draw_which(Canvas *canvas, Rect in, int col, int64_t cluster) {
  const bool wide = in.cols >= HEAD_COLS;
  if (cluster < 2)
    return canvas_text(canvas, in, 0, col, STYLE_TEXT,
                       wide ? "block 0, alone on its SM:" : "block 0:");
  const char *others = !wide          ? ":"
                       : cluster == 2 ? "; CTA 1 is not drawn:"
                                      : "; the others are not drawn:";
  return canvas_printf(canvas, in, 0, col, STYLE_TEXT, "CTA 0 of %" PRId64 "%s", cluster, others);
}

void pipeline_draw_card(Canvas *canvas, Rect in, const PipelineOwn *own, const PipelineCard *card) {
  const Timeline *timeline = own->now.timeline;
  if (own->verdict.name) draw_verdict(canvas, &in, &own->verdict);
  if (!card->event) return;
  draw_what(canvas, rect_take_top(&in, 1), timeline, card);
  draw_clocks(canvas, rect_take_top(&in, 1), timeline, card->event);
  Rect row = rect_take_top(&in, 1);
  canvas_fit(canvas, row, 0, 1, row.cols - 1, ALIGN_LEFT, STYLE_SITE, card->line);
  if (card->event->bar.buffer) draw_bar(canvas, rect_take_top(&in, 1), &card->event->bar);
  if (own->verdict.name) return;  // which says more, and needs the room
  draw_before(canvas, rect_take_top(&in, 1), card);
  rect_take_left(&in, 1);
  canvas_wrap(canvas, in, STYLE_DIM, timeline->origin);
}
