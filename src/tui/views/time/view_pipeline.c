// pipeline: time to the right; the copies, reads, products and waits of each warp, and their
// causes.
//
// The picture is a run of the program without values (model/readings/time/timeline.h) of one block
// alone on its SM, with the target's costs: an estimate. Left and Right go from event to event of a
// lane, Up and Down choose the lane; v sets the same schedule without overlap beside it, t what a
// block did on the GPU, x breaks the program and shows who waits for ever, or which statements
// race, B lists the ways to break it; a cursor of time goes through all lanes, by itself after
// Space; i shows what such a kernel must contain, and whether it does.
//
// ViewState is not used: what is kept between frames is PipelineOwn.
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

static PipelineOwn *own_of(const Session *session) { return view_own(session, &pipeline_view); }

const TimelineEvent *pipeline_event(const PipelineOwn *own) {
  const Lane *lane = own->lane < own->now.n ? &own->now.lane[own->lane] : NULL;
  return lane && own->at < lane->n ? lane->event[own->at] : NULL;
}

// ---- preparing ----------------------------------------------------------------------------------

// The event to look at: the fault of a broken program, else a multiplication.
static bool is_worth_it(const PipelineOwn *own, const TimelineEvent *e) {
  const PipelineVerdict *verdict = &own->verdict;
  if (!verdict->name) return e->kind == TIMELINE_MULTIPLY;
  if (own->now.timeline->n_stuck) return e->stuck;
  return stmt_id(e->stmt) == verdict->stmt[0];
}

static void go_first(PipelineOwn *own) {
  pipeline_go_event(own, 0, 0);
  for (int i = 0; i < own->now.n; i++) {
    const Lane *lane = &own->now.lane[i];
    if (lane->kind != LANE_WARPS) continue;
    for (int k = 0; k < lane->n; k++) {
      if (!is_worth_it(own, lane->event[k])) continue;
      pipeline_go_event(own, i, k);
      own->first_lane = i;
      own->first_at = k;
      return;
    }
  }
  own->first_lane = own->first_at = 0;
}

static void choose_first(PipelineOwn *own) {
  go_first(own);
  own->scale = own->from = 0;
  own->all = false;
}

// A large screen has a lane for every warp of a small block, unless it was asked for the other; of
// a pair, whose CTAs stand one above the other, one for each role.
static bool shows_each(const Session *session, const PipelineOwn *own, const Timeline *timeline) {
  enum { ROWS = 36, WARPS = 12 };
  const Resources *resources = &session_model(session)->resources;
  const bool pair = timeline && timeline->n_blocks > 1;
  bool large = session->rows >= ROWS && resources->n_warps <= WARPS && !pair;
  return own->each != (large && own->mode == PIPELINE_ALONE && !session->doc.comparing);
}

// The program as it is, or as it is broken; a breakage that it has nothing for is given up.
static const Timeline *make_timeline(const Session *session, PipelineOwn *own) {
  const Model *model = session_model(session);
  const BreakageId id = (BreakageId)(own->broken - 1);
  const Timeline *broken =
      own->broken ? trial_timeline(own->arena, &session->doc.targets, model, id, &own->problem)
                  : NULL;
  if (broken)
    own->verdict = trial_ask(own->trial, &session->doc.targets, model, id, broken->n_stuck > 0);
  if (!broken) own->broken = 0;
  return broken ? broken : timeline_run(own->arena, model, NULL, &(TimelineOptions){.pair = true});
}

static void make(Session *session, PipelineOwn *own) {
  arena_reset(own->arena);
  own->verdict.name = own->problem = NULL;
  own->beside = (Lanes){0};
  const Timeline *timeline = make_timeline(session, own);
  pipeline_make_beside(session, own);
  own->checklist = (Checklist){0};
  own->each_shown = shows_each(session, own, timeline);
  own->now = pipeline_lanes(own->arena, timeline, own->each_shown, !own->beside.timeline);
  own->root = pipeline_said_root(own->arena, own);
  if (own->beside.timeline) own->now.title = session->doc.comparing ? "B now" : "as it is";
}

static ViewWait pipeline_waits(const Session *session) {
  const PipelineOwn *own = own_of(session);
  if (trial_is_under_way(own->trial) || orders_is_under_way(own->orders)) return VIEW_EXPECTS;
  return own->plays ? VIEW_WATCHES : VIEW_WAITS_NOT;
}

// A finding may be about a statement: the cursor goes there unless the user has moved it meanwhile.
static bool pipeline_poll(Session *session) {
  PipelineOwn *own = own_of(session);
  const bool orders = pipeline_proof_poll(own);
  const bool moved = own->plays && own->now.timeline && pipeline_play_on(own);
  if (!trial_poll(own->trial) || !own->verdict.name) return moved || orders;
  own->verdict = trial_verdict(own->trial);
  if (own->lane == own->first_lane && own->at == own->first_at) go_first(own);
  return true;
}

// Its CUDA text takes a moment: it is made where it is shown.
static void make_checklist(const Session *session) {
  PipelineOwn *own = own_of(session);
  if (own->checklist.skeleton) return;
  own->checklist = pipeline_checklist(own->arena, session_model(session),
                                      own->now.timeline->program, own->verdict.name);
  own->line = checklist_first_bad(&own->checklist);
}

// Another picture, or another answer about the same one.
static void refresh(Session *session) {
  PipelineOwn *own = own_of(session);
  const Picture *picture = session->doc.now.picture;
  int other = session->doc.comparing ? session->doc.then.picture->serial : -1;
  bool same = own->made_of == picture->model && own->serial == picture->serial &&
              own->other_serial == other &&
              own->traced_serial == session->background.results.traced->serial &&
              own->each_shown == shows_each(session, own, own->now.timeline);
  if (same && own->now.timeline) return;
  bool keep = own->made_of == picture->model;
  make(session, own);
  own->made_of = picture->model;
  own->serial = picture->serial;
  own->other_serial = other;
  own->traced_serial = session->background.results.traced->serial;
  if (!keep || own->lane >= own->now.n) choose_first(own);
}

static void remake(Session *session) {
  PipelineOwn *own = own_of(session);
  own->now.timeline = NULL;
  refresh(session);
}

static PipelineSpan span_of(PipelineOwn *own, int cols) {
  PipelineSpan span = {.cols = max_int(cols - PIPELINE_LABEL_COLS, 8)};
  const Timeline *timeline = own->now.timeline;
  double longest = timeline->clocks;
  if (own->beside.timeline && own->beside.timeline->clocks > longest)
    longest = own->beside.timeline->clocks;
  if (own->scale <= 0) own->scale = pipeline_clocks_at_first(timeline) / span.cols;
  const double for_ever = timeline->n_stuck ? 1.5 : 1;  // room for those that wait so long
  if (own->all) own->scale = for_ever * longest / span.cols;
  if (own->all) own->from = 0;
  if (own->scale <= 0) own->scale = 1;
  double width = own->scale * span.cols;
  if (own->clock < own->from || own->clock >= own->from + width)
    own->from = own->clock > width / 3 ? own->clock - width / 3 : 0;
  span.from = own->from;
  span.scale = own->scale;
  span.clock = own->clock;
  return span;
}

static void pipeline_prepare(Session *session) {
  refresh(session);
  PipelineOwn *own = own_of(session);
  if (own->over == PIPELINE_EVERY_ORDER) pipeline_proof_ask(session, own);
  if (own->over == PIPELINE_CHECKLIST) make_checklist(session);
  PipelineFrame *frame = ARENA_NEW(session->frame, PipelineFrame);
  frame->span = span_of(own, session->cols);
  frame->card = pipeline_card(session, own);
  session->prepared = frame;
}

static const void *pipeline_data(Session *session) {
  make_checklist(session);
  return own_of(session);
}

// ---- keys ---------------------------------------------------------------------------------------

static const Lane *lane_of(const Session *session) {
  refresh((Session *)(uintptr_t)session);
  const PipelineOwn *own = own_of(session);
  return own->lane < own->now.n ? &own->now.lane[own->lane] : NULL;
}

static void go_event(Session *session, int at) {
  if (lane_of(session)) pipeline_go_event(own_of(session), own_of(session)->lane, at);
}

// The clock stays.
static void go_lane(Session *session, int to) {
  PipelineOwn *own = own_of(session);
  if (lane_of(session)) pipeline_go_clock(own, to, own->clock);
}

static void go_line(Session *session, int to) {
  PipelineOwn *own = own_of(session);
  make_checklist(session);
  if (own->checklist.skeleton->n) own->line = (int)clamp_index(to, own->checklist.skeleton->n);
}

static void pipeline_move(Session *session, int delta) {
  enum { TO_THE_END = 1000000 };
  PipelineOwn *own = own_of(session);
  const Lane *lane = lane_of(session);
  if (own->over == PIPELINE_EVERY_ORDER && orders_count(own->orders)) {
    pipeline_proof_step(own, delta);
    return;
  }
  if (own->over == PIPELINE_CHECKLIST) {
    go_line(session, own->line + delta);
    return;
  }
  if (own->over == PIPELINE_WAYS) {
    pipeline_go_way(session, own->way_line + delta);
    return;
  }
  if (!lane) return;
  if (delta <= -TO_THE_END)
    go_event(session, 0);
  else if (delta >= TO_THE_END)
    go_event(session, lane->n - 1);
  else
    go_lane(session, own->lane + delta);
}

static void step(Session *session, int by) {
  if (lane_of(session)) go_event(session, own_of(session)->at + by);
}

static void event_before(Session *s, const char *a) { (void)a, step(s, -1); }
static void event_after(Session *s, const char *a) { (void)a, step(s, 1); }

// The nearest event in time of any warp that has a lane, later or earlier than the cursor's.
static void step_any(Session *session, bool later) {
  PipelineOwn *own = own_of(session);
  if (!lane_of(session)) return;
  const TimelineEvent *here = pipeline_event(own), *best = NULL;
  int lane_to = 0, at = 0;
  for (int i = 0; here && i < own->now.n; i++) {
    const Lane *lane = &own->now.lane[i];
    for (int k = 0; lane->kind == LANE_WARPS && k < lane->n; k++) {
      const TimelineEvent *e = lane->event[k];
      bool behind = e->begin > here->begin || (e->begin >= here->begin && e > here);
      if (e == here || behind != later) continue;
      bool nearer = !best || (later ? e < best : e > best);
      if (!nearer) continue;
      best = e;
      lane_to = i;
      at = k;
    }
  }
  if (best) pipeline_go_event(own, lane_to, at);
}

static void any_before(Session *s, const char *a) { (void)a, step_any(s, false); }
static void any_after(Session *s, const char *a) { (void)a, step_any(s, true); }

static void step_time(Session *session, int columns) {
  refresh(session);
  pipeline_step_clock(own_of(session), columns);
}

static void time_before(Session *s, const char *a) { (void)a, step_time(s, -1); }
static void time_after(Session *s, const char *a) { (void)a, step_time(s, 1); }

static void play(Session *session, const char *argument) {
  (void)argument;
  pipeline_play(own_of(session), !own_of(session)->plays);
}

static void zoom(Session *session, double by) {
  PipelineOwn *own = own_of(session);
  own->all = false;
  if (own->scale * by < 0.05 || own->scale * by > 1e7) return;
  own->from = own->clock - (own->clock - own->from) * by;
  if (own->from < 0) own->from = 0;
  own->scale *= by;
}

static void zoom_in(Session *s, const char *a) { (void)a, zoom(s, 0.5); }
static void zoom_out(Session *s, const char *a) { (void)a, zoom(s, 2); }

static void show_all(Session *session, const char *argument) {
  (void)argument;
  PipelineOwn *own = own_of(session);
  own->all = !own->all;
  own->scale = 0;
}

static void show_each(Session *session, const char *argument) {
  (void)argument;
  own_of(session)->each = !own_of(session)->each;
  remake(session);
}

// "sequential on" and "sequential off" say which; alone it is the other of both.
static void show_sequential(Session *session, const char *argument) {
  PipelineOwn *own = own_of(session);
  bool on = argument && *argument ? str_equal(argument, "on") : own->mode != PIPELINE_SEQUENTIAL;
  own->mode = on ? PIPELINE_SEQUENTIAL : PIPELINE_ALONE;
  remake(session);
  if (!own->no_beside) return;
  own->mode = PIPELINE_ALONE;
  session_say(session, SAID_NOTE, "%s", own->no_beside);
}

// A block that was traced already comes back at once; pressed beside it, the block is traced again.
static void show_measured(Session *session, const char *argument) {
  PipelineOwn *own = own_of(session);
  const bool shown = own->beside.timeline && own->beside.timeline->measured;
  const bool off = argument && str_equal(argument, "off");
  own->mode = off ? PIPELINE_ALONE : PIPELINE_MEASURED;
  session->wishes.trace = !off && (shown || !results_traced(&session->background.results,
                                                            session->doc.now.picture->key));
  remake(session);
  if (own->no_beside) session_say(session, SAID_ERROR, "%s", own->no_beside);
}

// "checklist on" and "checklist off" say which; alone it is the other of both.
static void show_checklist(Session *session, const char *argument) {
  PipelineOwn *own = own_of(session);
  const bool is_open = own->over == PIPELINE_CHECKLIST;
  const bool open = argument && *argument ? str_equal(argument, "on") : !is_open;
  own->over = open ? PIPELINE_CHECKLIST : PIPELINE_LANES;
}

static bool leave_list(Session *session) {
  PipelineOwn *own = own_of(session);
  const bool open = own->over != PIPELINE_LANES;
  if (own->over == PIPELINE_EVERY_ORDER) pipeline_proof_show(session, "off");
  own->over = PIPELINE_LANES;
  return open;
}

void pipeline_break(Session *session, int broken) {
  PipelineOwn *own = own_of(session);
  own->broken = broken;
  remake(session);
  choose_first(own);
}

// ---- to other views -----------------------------------------------------------------------------

// The statement under the cursor: of a line of the checklist, or of an event; NULL: neither is at a
// statement.
static const Stmt *stmt_here(Session *session) {
  const Lane *lane = lane_of(session);
  const PipelineOwn *own = own_of(session);
  if (own->over == PIPELINE_CHECKLIST) {
    make_checklist(session);
    return own->checklist.skeleton->n ? own->checklist.skeleton->line[own->line].at : NULL;
  }
  const TimelineEvent *e = lane ? pipeline_event(own) : NULL;
  return e ? e->stmt : NULL;
}

static void open_loops(Session *session, const char *argument) {
  (void)argument;
  if (own_of(session)->over == PIPELINE_WAYS) {
    pipeline_take_way(session);
    return;
  }
  const Stmt *here = stmt_here(session);
  if (!here) return;
  const ProgramText *text = &session_model(session)->text;
  view_show(session, view_find("loops"));
  ViewState *state = session_view_state(session);
  *state = (ViewState){0};
  for (int i = 0; i < text->n_lines; i++)
    if (text->line[i].stmt && stmt_id(text->line[i].stmt) == stmt_id(here)) state->cursor = i;
}

static void open_barrier(Session *session, const char *argument) {
  (void)argument;
  view_show(session, view_find("memory"));
  view_run(session, "picture", "barriers");
}

static void open_source(Session *session, const char *argument) {
  (void)argument;
  const Stmt *here = stmt_here(session);
  if (!here) return;
  const Emission *emission = side_emission(&session->doc.now);
  int line = -1;
  for (int i = 0; i < emission->n_lines && line < 0; i++)
    if (emission->lines[i].stmt && stmt_id(emission->lines[i].stmt) == stmt_id(here)) line = i + 1;
  view_show(session, view_find("source"));
  view_prepare(session, session->rows, session->cols);
  if (line > 0) view_run(session, "line", arena_printf(session->frame, "%d", line));
}

static void pipeline_click(Session *session, int what, int value) {
  if (what == PIPELINE_SPOT_LANE) go_lane(session, value);
  if (what == PIPELINE_SPOT_LINE) go_line(session, value);
  if (what == PIPELINE_SPOT_WAY) pipeline_go_way(session, value);
}

// In the list of breakages the keys of time have no meaning: Enter takes one.
static const char *pipeline_hint(const Session *session, const Action *action) {
  const PipelineOwn *own = own_of(session);
  if (own->over == PIPELINE_WAYS) {
    if (str_equal(action->name, "loops-here")) return "break it";
    return str_equal(action->name, "breakages") ? "close" : NULL;
  }
  if (own->plays && str_equal(action->name, "play")) return "pause";
  return action->label;
}

static int pipeline_count(const Session *session) {
  const Lane *lane = lane_of(session);
  return lane ? lane->n : 0;
}

static const char *pipeline_line(const Session *session, int i) {
  const TimelineEvent *e = lane_of(session)->event[i];
  Str text = str_new(session->frame);
  str_printf(&text, "%s %s", timeline_kind_name(e->kind), timeline_waits_for(session->frame, e));
  if (e->slab >= 0) str_printf(&text, " slab %lld", (long long)e->slab);
  return text.text;
}

static int pipeline_at(const Session *session) { return own_of(session)->at; }

static void pipeline_open(void *state) {
  PipelineOwn *own = state;
  own->arena = arena_new("pipeline");
  own->trial = trial_new();
  own->orders = orders_new();
}

static void pipeline_close(void *state) {
  PipelineOwn *own = state;
  trial_free(own->trial);
  orders_free(own->orders);
  arena_free(own->arena);
}

static const Action actions[] = {
    {"event-before", "Left h", "event", "event-after", "the event before in this lane",
     event_before},
    {"event-after", "Right l", NULL, NULL, "the next event of this lane", event_after},
    {"any-before", ",", NULL, NULL, "the event before, of any warp", any_before},
    {"any-after", ".", NULL, NULL, "the next event, of any warp", any_after},
    {"play", "Space", "play", NULL, "play time, or stop it", play},
    {"time-before", "<", NULL, NULL, "move the time cursor a column back", time_before},
    {"time-after", ">", NULL, NULL, "move the time cursor a column on", time_after},
    {"zoom-in", "+ =", NULL, "zoom-out", "zoom in: half the clocks in a column", zoom_in},
    {"zoom-out", "-", NULL, NULL, "zoom out: twice the clocks in a column", zoom_out},
    {"all", "a", "all", NULL,
     "fit all of the block on the screen, or show its "
     "beginning",
     show_all},
    {"every-order", "o", "orders", NULL,
     "prove that every order is right, or step through the shortest harmful order; every-order off",
     pipeline_proof_show},
    {"break", "x", "break", "break-before",
     "break the program the next way, or by name or symptom: break more_bytes, break hangs, "
     "break off",
     pipeline_break_next},
    {"break-before", "X", NULL, NULL, "break the program the way before", pipeline_break_before},
    {"breakages", "B", "list", NULL,
     "list all ways to break this program, by symptom; Enter takes one", pipeline_open_ways},
    {"each-warp", "w", NULL, NULL, "draw a lane for every warp, or one for each role", show_each},
    {"measured", "t", "trace", NULL, "trace block 0 on the GPU, beside the estimate; trace off",
     show_measured},
    {"checklist", "i", "checklist", NULL,
     "check what a kernel with roles must contain, and what is missing; checklist off",
     show_checklist},
    {"sequential", "v", "sequential", NULL,
     "compare with the same schedule without ring, pipelining and roles", show_sequential},
    {"loops-here", "Enter", "statement", NULL, "show the statement in the loops view", open_loops},
    {"barrier-here", "r", NULL, NULL,
     "show the mbarriers in the memory view: arrivals, waits, phases", open_barrier},
    {"source-here", "e", "source", NULL, "show the statement in the source view", open_source},
};

const ViewBody pipeline_view = {
    .state_bytes = sizeof(PipelineOwn),
    .open = pipeline_open,
    .close = pipeline_close,
    .prepare = pipeline_prepare,
    .draw = pipeline_draw,
    .data = pipeline_data,
    .move = pipeline_move,
    .move_label = "lane",
    .count = pipeline_count,
    .line = pipeline_line,
    .at = pipeline_at,
    .go = go_event,
    .click = pipeline_click,
    .takes = pipeline_takes,
    .command = pipeline_command,
    .poll = pipeline_poll,
    .waits = pipeline_waits,
    .back = leave_list,
    .hint = pipeline_hint,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
    .estimates = false,
};
