// The pipeline view as data: the estimated timeline event by event, what was left out of it, and
// what stands beside.
#include "tui/views/program/pipeline.h"

enum { JSON_EVENTS_MAX = 4096 };

static void put_bar(JsonWriter *w, const TimelineBar *bar) {
  json_begin_object(w);
  json_member_string(w, "name", bar->buffer->name);
  json_member_int(w, "slot", bar->at);
  json_member_int(w, "phase", bar->phase);
  json_member_int(w, "arrivals_expected", bar->expected);
  json_member_int(w, "arrived", bar->arrived);
  json_member_int(w, "expected_bytes", bar->bytes);
  json_member_int(w, "landed_bytes", bar->landed);
  json_end_object(w);
}

static void put_event(JsonWriter *w, Arena *arena, const Timeline *timeline,
                      const TimelineEvent *e) {
  double begin = timeline_clock(timeline, e->begin);
  const char *waits_for = timeline_waits_for(arena, e);
  json_begin_object(w);
  json_member_string(w, "kind", timeline_kind_name(e->kind));
  json_member_int(w, "warp", e->warp);
  json_member_string(w, "role", timeline_role(timeline, e->warp));
  json_member_double(w, "begin_clk_est", begin);
  json_member_double(w, "end_clk_est", begin + (e->end - e->begin));
  json_member_double(w, "busy_clk_est", e->busy);
  json_member_int(w, "executions", e->count);
  json_member_int(w, "statement", e->stmt->id);
  json_member_known(w, "slab", e->slab >= 0, e->slab);
  json_member_known(w, "slot", e->slot >= 0, e->slot);
  json_member_string(w, "waits_for", *waits_for ? waits_for : NULL);
  json_member_bool(w, "for_ever", e->stuck);
  json_key(w, "mbarrier");
  if (e->bar.buffer)
    put_bar(w, &e->bar);
  else
    json_put_null(w);
  json_end_object(w);
}

static void put_cuts(JsonWriter *w, const Timeline *timeline) {
  json_key(w, "left_out");
  json_begin_array(w);
  for (int i = 0; i < timeline->n_cuts; i++) {
    const TimelineCut *cut = &timeline->cut[i];
    json_begin_object(w);
    json_member_string(w, "loop", cut->var->name);
    json_member_int(w, "turns", cut->turns);
    json_member_double(w, "at_clk_est", cut->at);
    json_member_double(w, "clk_est", cut->clocks);
    json_member_bool(w, "repeats", cut->repeats);
    json_end_object(w);
  }
  json_end_array(w);
}

// When a slab comes into a slot, is there, is read and is gone again; null: it never is.
static void put_hold(JsonWriter *w, const Timeline *timeline, const TimelineHold *hold) {
  const TimelineRing *ring = &timeline->ring[hold->ring];
  const double begin = timeline_clock(timeline, hold->asked);
  json_begin_object(w);
  json_member_string(w, "ring", ring->name);
  json_member_int(w, "slot", hold->slot);
  json_member_known(w, "slab", hold->slab >= 0, hold->slab);
  json_member_double(w, "asked_clk_est", begin);
  json_member_double(w, "landed_clk_est", begin + (hold->landed - hold->asked));
  json_member_double(w, "read_clk_est", begin + (hold->read - hold->asked));
  json_member_double(w, "free_clk_est", begin + (hold->over - hold->asked));
  json_end_object(w);
}

static void put_holds(JsonWriter *w, const Timeline *timeline) {
  json_key(w, "slots");
  json_begin_array(w);
  for (int i = 0; i < timeline->n_holds && i < JSON_EVENTS_MAX; i++)
    put_hold(w, timeline, &timeline->hold[i]);
  json_end_array(w);
}

static void put_verdict(JsonWriter *w, const PipelineVerdict *verdict) {
  char seen[SYMPTOMS_BYTES];
  json_member_string(w, "broken", verdict->name);
  json_member_string(w, "seen_on_a_gpu",
                     verdict->name ? breakage_symptoms(seen, verdict->id) : NULL);
  json_member_string(w, "finding", verdict->name ? verdict->text : NULL);
  json_member_string(w, "finding_of", verdict->name ? verdict->problem : NULL);
  json_member_bool(w, "finds_deadlock", verdict->name && verdict->deadlock);
}

static void put_beside_clocks(JsonWriter *w, const char *key, const Lanes *beside, bool measured) {
  json_key(w, key);
  if (beside->timeline && beside->timeline->measured == measured)
    json_put_double(w, beside->timeline->all_clocks);
  else
    json_put_null(w);
}

void pipeline_put(JsonWriter *w, Arena *arena, const PipelineOwn *own) {
  const Timeline *timeline = own->now.timeline;
  json_member_int(w, "warps", timeline->n_warps);
  json_member_double(w, "block_clk_est", timeline->all_clocks);
  json_member_double(w, "turn_clk_est", timeline->turn_clocks);
  json_member_int(w, "warps_stuck", timeline->n_stuck);
  json_member_string(w, "costs_from", timeline->origin);
  put_verdict(w, &own->verdict);
  checklist_put(w, &own->checklist);
  put_cuts(w, timeline);
  json_member_string(w, "broken_of", own->problem);
  put_holds(w, timeline);
  json_member_string(w, "beside", own->beside.title);
  put_beside_clocks(w, "beside_block_clk_est", &own->beside, false);
  put_beside_clocks(w, "beside_block_clk", &own->beside, true);
  json_member_int(w, "events_in_all", timeline->n_events);
  json_key(w, "events");
  json_begin_array(w);
  for (int i = 0; i < timeline->n_events && i < JSON_EVENTS_MAX; i++)
    put_event(w, arena, timeline, &timeline->event[i]);
  json_end_array(w);
}
