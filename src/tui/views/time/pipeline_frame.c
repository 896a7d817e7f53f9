// The picture of the pipeline view: its head, the axis, lanes of this program and of the one beside
// it, the card of the event under the cursor, and the legend.
//
// A proof over all orders, or a short witness, stands above the lanes. A long witness takes their
// place, as the list of breakages and the checklist do.
#include "base/whole.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

enum { CARD_ROWS = 7, BROKEN_ROWS = 9 };

// The one number of the whole kernel, which the timeline of one block is not, where there is room.
static void draw_speed(Canvas *canvas, Rect in, int from, const Session *session) {
  char said[SESSION_SPEED_BYTES];
  session_speed_said(session, &session->doc.now, said);
  const int cols = utf8_columns(said);
  if (from + 2 + cols < in.cols)
    canvas_text(canvas, in, 0, in.cols - 1 - cols, STYLE_ESTIMATED, said);
}

// Up to where it has written.
static int draw_head(Canvas *canvas, Rect in, const PipelineOwn *own, int64_t cluster) {
  const Timeline *timeline = own->now.timeline;
  int col = canvas_text(canvas, in, 0, 1, STYLE_HEADER, "PIPELINE");
  col = pipeline_draw_which(canvas, in, col + 2, cluster, timeline->n_blocks);
  col = canvas_printf(canvas, in, 0, col + 1, STYLE_ESTIMATED, "%.0f clk", timeline->all_clocks);
  if (timeline->n_cuts)
    col = canvas_printf(canvas, in, 0, col, STYLE_ESTIMATED, ", %.0f a turn of %s",
                        timeline->turn_clocks, timeline->cut[0].var->name);
  col = canvas_text(canvas, in, 0, col, STYLE_DIM, " (est.)");
  if (own->problem) col = canvas_printf(canvas, in, 0, col + 2, STYLE_NOTE, "%s", own->problem);
  if (timeline->n_stuck)
    col = canvas_printf(canvas, in, 0, col + 2, STYLE_BAD, "%d of %d warps stuck",
                        timeline->n_stuck, timeline->n_warps);
  else if (own->verdict.name && own->verdict.deadlock)
    col =
        canvas_text(canvas, in, 0, col + 2, STYLE_WARN, "in another order of events it deadlocks");
  return col;
}

// The lanes that there is room for, around the cursor's lane.
static void draw_lanes(Canvas *canvas, Rect in, const PipelineOwn *own, const Lanes *lanes,
                       PipelineSpan span) {
  if (lanes->title) {
    Rect row = rect_take_top(&in, 1);
    int col = canvas_text(canvas, row, 0, 1, lanes == &own->now ? STYLE_SIDE_B : STYLE_SIDE_A,
                          lanes->title);
    const bool measured = lanes->timeline->measured;
    const Style style = measured ? STYLE_MEASURED : STYLE_ESTIMATED;
    const double clocks = lanes->timeline->all_clocks;
    const int64_t tiles = lanes->timeline->n_tiles;
    col = canvas_printf(canvas, row, 0, col + 2, style, "%.0f clk", clocks);
    if (tiles > 1)
      col = canvas_printf(canvas, row, 0, col, style, ", %.0f a tile", clocks / (double)tiles);
    if (!measured) canvas_text(canvas, row, 0, col, style, " (est.)");
  }
  ViewList list = view_list(in, lanes == &own->now ? own->lane : 0, lanes->n);
  while (view_list_next(canvas, &list)) {
    pipeline_draw_lane(canvas, list.row, own, lanes, list.at, span);
    if (lanes == &own->now) canvas_spot(canvas, list.row, PIPELINE_SPOT_LANE, list.at);
  }
}

// Rows of the lanes beside: half of all, more or less where one of the two needs less than that.
static int beside_rows(const PipelineOwn *own, int rows) {
  const int here = own->now.n + 1, beside = own->beside.n + 1;  // with their titles
  return min_int(beside, max_int(rows / 2, rows - here));
}

static void draw_over(Canvas *canvas, Rect in, const PipelineOwn *own) {
  if (own->over == PIPELINE_WAYS)
    pipeline_draw_ways(canvas, in, own);
  else if (own->over == PIPELINE_EVERY_ORDER)
    orders_draw(canvas, in, own->orders, own->step);
  else
    checklist_draw(canvas, in, &own->checklist, own->line);
}

// The answer about all orders stands above the lanes if both have room.
static bool is_above_lanes(const PipelineOwn *own, Rect in) {
  enum { LEAST_LANES = 14 };
  if (own->over != PIPELINE_EVERY_ORDER) return false;
  return !orders_count(own->orders) || orders_rows(own->orders, in.cols) + LEAST_LANES <= in.rows;
}

void pipeline_draw(Canvas *canvas, Rect in, const Session *session) {
  const PipelineOwn *own = view_own(session, &pipeline_view);
  const PipelineFrame *frame = session->prepared;
  unsigned signs = 0;
  PipelineSpan span = frame->span;
  span.signs = &signs;
  if (is_above_lanes(own, in)) {
    orders_draw(canvas, rect_take_top(&in, orders_rows(own->orders, in.cols)), own->orders,
                own->step);
    canvas_hline(canvas, rect_take_top(&in, 1), 0, 0, in.cols, STYLE_BORDER);
  } else if (own->over != PIPELINE_LANES) {
    draw_over(canvas, in, own);
    return;
  }
  const Rect head = rect_take_top(&in, 1);
  draw_speed(canvas, head,
             draw_head(canvas, head, own, session_model(session)->resources.n_cluster), session);
  pipeline_draw_axis(canvas, rect_take_top(&in, 1), own->now.timeline, span);
  int wanted = own->now.n + (own->beside.timeline ? own->beside.n + 2 : 0);
  const bool pair = own->now.timeline->n_blocks > 1;  // whose roles take a row more to name
  int card = own->verdict.name ? BROKEN_ROWS : CARD_ROWS + (pair ? 1 : 0);
  int least = own->beside.timeline ? 8 : 4;
  Rect lanes = rect_take_top(&in, max_int(min_int(wanted, in.rows - card - 1), least));
  if (own->beside.timeline) {
    const int rows = beside_rows(own, lanes.rows);
    Rect beside =
        session->doc.comparing ? rect_take_top(&lanes, rows) : rect_take_bottom(&lanes, rows);
    draw_lanes(canvas, beside, own, &own->beside, span);
  }
  draw_lanes(canvas, lanes, own, &own->now, span);
  canvas_hline(canvas, rect_take_top(&in, 1), 0, 0, in.cols, STYLE_BORDER);
  const int legend = pipeline_legend_rows(signs, in.cols);
  if (in.rows >= card) pipeline_draw_legend(canvas, rect_take_bottom(&in, legend), signs);
  pipeline_draw_card(canvas, in, own, &frame->card);
}
