// The cursor of time: one clock through all lanes, stepped by a key, moved on by itself while it
// plays, and what everybody does at it.
//
//   at clock 2926: consumer 0-3 multiply slab 0; consumer 4-7 wait for full[1]; producer 8 waits
//   for empty[0] consumer 4 waits for full[1] phase 0: slab 1 is on its way, asked for by producer
//   8 at clock 34
//
// Code that leads the cursor, such as the steps of a witness, calls pipeline_go_event() or
// pipeline_go_clock(): lane, event and clock then agree.
#include <math.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/whole.h"
#include "model/readings/time/timeline_chain.h"
#include "model/words/target.h"
#include "tui/canvas/fmt.h"
#include "tui/views/time/pipeline.h"

enum { COLUMN_MS = 40 };  // that a column lasts while it plays

// ---- moving -------------------------------------------------------------------------------------

static const Lane *lane_here(const PipelineOwn *own) {
  return own->lane < own->now.n ? &own->now.lane[own->lane] : NULL;
}

// The event of the lane that began last.
static void follow_clock(PipelineOwn *own) {
  const Lane *lane = lane_here(own);
  own->at = 0;
  while (lane && own->at + 1 < lane->n && lane->event[own->at + 1]->begin <= own->clock) own->at++;
}

void pipeline_go_event(PipelineOwn *own, int lane, int at) {
  own->lane = (int)clamp_index(lane, own->now.n);
  const Lane *here = lane_here(own);
  own->at = here ? (int)clamp_index(at, here->n) : 0;
  const TimelineEvent *e = pipeline_event(own);
  if (e) own->clock = e->stuck ? own->now.timeline->clocks : e->begin;
}

void pipeline_go_clock(PipelineOwn *own, int lane, double clock) {
  const double end = own->now.timeline->clocks * (own->now.timeline->n_stuck ? 1.25 : 1);
  own->lane = (int)clamp_index(lane, own->now.n);
  own->clock = fmax(0, fmin(clock, end));
  follow_clock(own);
}

void pipeline_step_clock(PipelineOwn *own, int columns) {
  pipeline_go_clock(own, own->lane, own->clock + columns * own->scale);
}

void pipeline_play(PipelineOwn *own, bool on) {
  own->plays = on;
  own->played_ms = clock_ms();
}

bool pipeline_play_on(PipelineOwn *own) {
  const int columns = (int)((clock_ms() - own->played_ms) / COLUMN_MS);
  const double before = own->clock;
  if (!own->plays || columns <= 0) return false;
  own->played_ms += (int64_t)columns * COLUMN_MS;
  pipeline_step_clock(own, columns);
  if (own->clock <= before) own->plays = false;
  return true;
}

// ---- in words -----------------------------------------------------------------------------------

// A warp's work in an event, of one and of several.
static const char *const verbs[TIMELINE_KINDS][2] = {
    [TIMELINE_COPY] = {"asks for", "ask for"},
    [TIMELINE_WRITE] = {"writes", "write"},
    [TIMELINE_READ] = {"reads", "read"},
    [TIMELINE_MULTIPLY] = {"multiplies", "multiply"},
    [TIMELINE_POWER] = {"takes exp2", "take exp2"},
    [TIMELINE_STORE] = {"stores C", "store C"},
    [TIMELINE_WAIT] = {"waits for", "wait for"},
    [TIMELINE_MEET] = {"waits at a barrier of", "wait at a barrier of"},
    [TIMELINE_SIGNAL] = {"signals", "signal"},
};

static const char *doing(Arena *arena, const Timeline *timeline, const TimelineEvent *e, int warp,
                         double clock, bool many) {
  if (!e) {
    bool later = false;
    for (int i = 0; i < timeline->n_events; i++)
      later |= timeline->event[i].warp == warp && timeline->event[i].begin > clock;
    return later ? many ? "go on" : "goes on" : many ? "have ended" : "has ended";
  }
  const char *verb = verbs[e->kind][many], *what = timeline_waits_for(arena, e);
  if (*what) return arena_printf(arena, "%s %s", verb, what);
  if (e->slab < 0) return verb;
  return arena_printf(arena, "%s slab %lld", verb, (long long)e->slab);
}

static bool same_doing(const TimelineEvent *a, const TimelineEvent *b) {
  if (!a || !b) return a == b;
  return a->kind == b->kind && a->slab == b->slab && a->bar.buffer == b->bar.buffer &&
         a->bar.at == b->bar.at && a->phase == b->phase;
}

// Whether two lanes are of warps of one role of one block.
static bool alike(const PipelineOwn *own, const Lane *a, const Lane *b) {
  const Timeline *timeline = own->now.timeline;
  return b->kind == LANE_WARPS &&
         timeline_role(timeline, a->warp) == timeline_role(timeline, b->warp) &&
         timeline_rank(timeline, a->warp) == timeline_rank(timeline, b->warp);
}

// The event of each lane at the cursor, looked up once, and whether the lane has been told of.
typedef struct Told {
  const PipelineOwn *own;
  const TimelineEvent **event;
  bool *said;
} Told;

static Told look_up(Arena *arena, const PipelineOwn *own) {
  Told told = {own, ARENA_ARRAY(arena, const TimelineEvent *, own->now.n + 1),
               ARENA_ARRAY(arena, bool, own->now.n + 1)};
  for (int i = 0; i < own->now.n; i++)
    if (own->now.lane[i].kind == LANE_WARPS)
      told.event[i] = timeline_at(own->now.timeline, own->now.lane[i].warp, own->clock);
  return told;
}

static bool goes_with(const Told *told, int first, int i) {
  const Lane *lane = told->own->now.lane;
  return !told->said[i] && alike(told->own, &lane[first], &lane[i]) &&
         same_doing(told->event[first], told->event[i]);
}

// "consumer 0-1, 3": the warps of a role that do the same as lane `first`; returns whether they are
// several. They are told of then.
static bool say_who(Str *out, const Told *told, int first) {
  const PipelineOwn *own = told->own;
  const Timeline *timeline = own->now.timeline;
  const char *role = timeline_role(timeline, own->now.lane[first].warp);
  const int rank = timeline_rank(timeline, own->now.lane[first].warp);
  int n = 0;
  if (timeline->n_blocks > 1) str_printf(out, "%d:", rank);
  str_printf(out, "%s", role ? role : "warp");
  for (int i = first; i < own->now.n; i++) {
    if (!goes_with(told, first, i)) continue;
    const int from = timeline_warp(timeline, own->now.lane[i].warp);
    int to = from - 1;
    for (; i < own->now.n && goes_with(told, first, i); i++) {
      to += own->now.lane[i].n_warps;
      told->said[i] = true;
    }
    str_printf(out, to > from ? "%s %d-%d" : "%s %d", n ? "," : "", from, to);
    n += to - from + 1;
  }
  return n > 1;
}

const char *pipeline_said_at(Arena *arena, const PipelineOwn *own) {
  const Timeline *timeline = own->now.timeline;
  const Told told = look_up(arena, own);
  bool first = true;
  Str out = str_new(arena);
  str_printf(&out, "at clock %.0f:", timeline_clock(timeline, own->clock));
  for (int i = 0; i < own->now.n; i++) {
    const Lane *lane = &own->now.lane[i];
    if (lane->kind != LANE_WARPS || told.said[i]) continue;
    str_add(&out, first ? " " : "; ");
    first = false;
    const bool many = say_who(&out, &told, i);
    str_printf(&out, " %s", doing(arena, timeline, told.event[i], lane->warp, own->clock, many));
  }
  return out.text;
}

// The chain from the lane of the cursor, else of the first warp that waits. A wait for ever is left
// to pipeline_said_root().
const char *pipeline_said_chain(Arena *arena, const PipelineOwn *own) {
  const Timeline *timeline = own->now.timeline;
  const Lane *here = lane_here(own);
  TimelineChain chain = {0};
  if (here && here->kind == LANE_WARPS) chain = timeline_chain(timeline, here->warp, own->clock);
  for (int i = 0; i < own->now.n && !chain.n; i++)
    if (own->now.lane[i].kind == LANE_WARPS)
      chain = timeline_chain(timeline, own->now.lane[i].warp, own->clock);
  if (chain.n && chain.link[0].wait->stuck) return "";
  return timeline_chain_text(arena, timeline, &chain);
}

const char *pipeline_said_root(Arena *arena, const PipelineOwn *own) {
  const TimelineChain chain = timeline_stuck_chain(own->now.timeline);
  if (!chain.n) return "";
  return arena_printf(arena, "deadlock: %s", timeline_chain_text(arena, own->now.timeline, &chain));
}

// " The stand-in lets latency (93.3 µs), L2 (80.8 µs) and products (73.4 µs) overlap in part."
static void say_limits(Str *out, const Estimate *estimate, const Model *model) {
  CalibrationLimit limit[ESTIMATE_LIMITS_MAX];
  const int n = estimate_limits(estimate, model, limit);
  char time[FMT_MAX];
  if (n < 2) return;
  str_add(out, " The stand-in lets ");
  for (int i = 0; i < n; i++)
    str_printf(out, "%s%s (%s)",
               !i           ? ""
               : i == n - 1 ? " and "
                            : ", ",
               limit[i].title, fmt_time(time, limit[i].ns));
  str_add(out, " overlap in part.");
}

// " The block alone counts no L2." No source states the rate of that unit.
static void say_unknown(Str *out, const Model *model) {
  TrafficUnit unit[TRAFFIC_UNITS];
  const int units = traffic_units(&model->traffic, program_atom(model->program) != NULL, unit);
  int n = 0;
  for (int i = 0; i < units; i++)
    if (unit[i].clocks < 0)
      str_printf(out, "%s%s", n++ ? ", " : " The block alone counts no ", unit[i].title);
  if (n) str_add(out, ".");
}

// "one block 132895 clk × 1 round at 1965 MHz: 67.6 µs (est.); recorded: 130 µs; stand-in: 141
// µs.": the clocks of one block, the time that they come to, and the one number of the whole
// kernel.
const char *pipeline_said_whole(Arena *arena, const Session *session, const PipelineOwn *own) {
  const Model *model = session_model(session), *plain = session->doc.now.picture->estimate;
  const Timed *timed = results_find(&session->background.results, &session->doc.now.schedule);
  const Estimate estimate = session_estimate(session, plain);
  const TimelineWhole whole = timeline_whole(own->now.timeline, model);
  if (own->broken || !(whole.ns > 0)) return "";
  char time[FMT_MAX];
  const char *share =
      model->resources.blocks_per_sm > 1 ? ", blocks that share an SM not counted" : "";
  Str out = str_new(arena);
  str_printf(&out, "one block %.0f clk × %.0f round%s at %.0f MHz: %s (est.%s)", whole.clocks,
             whole.rounds, whole.rounds > 1 ? "s" : "", whole.mhz, fmt_time(time, whole.ns), share);
  if (timed && timed->ok)
    str_printf(&out, "; %s: %s", origin_name(timed->origin), fmt_time(time, timed->time_ns));
  if (estimate.by)
    str_printf(&out, "; %s: %s", estimate_word(&estimate),
               fmt_time(time, estimate_ns(&estimate, plain)));
  str_add(&out, ".");
  say_limits(&out, &estimate, plain);
  if (estimate.by == ESTIMATE_STAND_IN) say_unknown(&out, model);
  return out.text;
}
