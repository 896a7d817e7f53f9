// The data of explore, banks and measure, which are readings of the model and of the results alone.
#include "tui/views/data/view_data.h"
#include "tui/session/better_kernel.h"

#include <math.h>

#include "banks/engine/bank_batch.h"
#include "base/str.h"
#include "model/readings/cost/site_json.h"
#include "tui/frame/view.h"
#include "tui/frame/view_json.h"
#include "tui/session/tuning.h"
#include "tui/views/measure/measure.h"
#include "tui/views/memory/banks_own.h"
#include "tui/views/program/explore.h"

// ---- for several views --------------------------------------------------------------------------

static void put_ints(JsonWriter *w, const char *key, const int64_t *value, int n) {
  json_key(w, key);
  json_begin_array(w);
  for (int i = 0; i < n; i++) json_put_int(w, value[i]);
  json_end_array(w);
}

static void put_site(JsonWriter *w, const Session *session, const Site *site) {
  const Probed *probed = results_probed(&session->results, site->op, site->addr);
  site_put_json(w, site, probed ? probed->clocks : NAN);
}

static void put_sites(JsonWriter *w, const Session *session, const Picture *picture) {
  json_key(w, "sites");
  json_begin_array(w);
  for (int i = 0; i < picture->model->n_sites; i++) put_site(w, session, &picture->model->site[i]);
  json_end_array(w);
}

static void put_selected(JsonWriter *w, const Session *session) {
  json_member_known(w, "selected_site", session->site < session_site_count(session),
                    session->site + 1);
}

// ---- explore ------------------------------------------------------------------------------------

static void put_knobs(JsonWriter *w, Session *session, const Explore *explore) {
  json_key(w, "knobs");
  json_begin_array(w);
  for (int i = 0; i < explore->n_cells; i++) {
    const KnobCell *cell = &explore->cell[i];
    const Schedule *own = &session_rung(session)->schedule;
    json_begin_object(w);
    json_member_string(w, "name", knob_table[cell->knob].name);
    json_member_string(w, "tier", knob_table[cell->knob].tier);
    json_member_string(w, "value",
                       knob_value_text(session->frame, &session->now.schedule, cell->knob));
    bool follows = knob_is_auto(&session->now.schedule, cell->knob);
    json_member_string(w, "auto", follows ? knob_auto_text(cell->knob) : NULL);
    json_member_bool(w, "used", !cell->off);
    json_member_bool(w, "edited", schedule_differs(own, &session->now.schedule, cell->knob));
    json_member_bool(w, "selected", cell->knob == session->knob);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_nest(JsonWriter *w, const Nest *nest) {
  json_key(w, "nest");
  json_begin_array(w);
  for (int i = 0; i < nest->n_rows; i++) {
    const NestRow *row = &nest->row[i];
    json_begin_object(w);
    json_member_string(w, "tier", nest_group_name(row->group));
    json_member_int(w, "depth", row->depth);
    json_member_string(w, "text", row->text);
    view_json_knob(w, "knob", row->knob);
    json_member_known(w, "site", row->site > 0, row->site);
    json_member_bool(w, "changed", row->changed);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_advice(JsonWriter *w, Session *session) {
  const Trial *best = explore_best(session);
  json_key(w, "advice");
  if (!best) {
    json_put_null(w);
    return;
  }
  Schedule schedule = session->now.schedule;
  schedule.value[best->knob] = best->value;
  json_begin_object(w);
  json_member_string(w, "knob", knob_table[best->knob].name);
  json_member_string(w, "value", knob_value_text(session->frame, &schedule, best->knob));
  json_member_double(w, "estimate_tflops", best->estimate.tflops);
  json_member_known(w, "estimate_points", best->estimate.fit != NULL,
                    best->estimate.fit ? best->estimate.fit->n : 0);
  json_end_object(w);
}

static void put_tuned(JsonWriter *w, Session *session) {
  const BetterKernel better = better_kernel(session->frame, session);
  json_key(w, "tuned");
  if (!better.row) {
    json_put_null(w);
    return;
  }
  json_begin_object(w);
  json_member_double(w, "time_ns", better.row->time_ns);
  json_member_double(w, "tflops", better.row->tflops);
  json_member_double(w, "times_as_fast", better.gain > 0 ? better.gain : (double)NAN);
  json_member_string(w, "state", better.row->state);
  json_end_object(w);
}

void explore_json(JsonWriter *w, Session *session) {
  const Explore *explore = session->prepared;
  put_knobs(w, session, explore);
  put_nest(w, explore->nest);
  put_selected(w, session);
  put_sites(w, session, session->now.picture);
  global_sites_put_json(w, session->now.picture->model);
  json_member_string(w, "limit", session->now.picture->model->traffic.limit);
  json_member_string(w, "limiter", session->now.picture->model->resources.limiter);
  resources_put_limiters(w, &session->now.picture->model->resources);
  put_advice(w, session);
  put_tuned(w, session);
}

// ---- banks --------------------------------------------------------------------------------------

void banks_json(JsonWriter *w, Session *session) {
  const Site *site = session_site(session);
  put_selected(w, session);
  put_sites(w, session, session->now.picture);
  global_sites_put_json(w, session->now.picture->model);
  json_key(w, "own");
  own_json(w, view_own(session, &banks_view));
  json_key(w, "card");
  if (!site) {
    json_put_null(w);
    return;
  }
  json_begin_object(w);
  json_member_int(w, "warp", site->warp);
  put_ints(w, "addr_bytes", site->addr, BANK_LANES);
  bank_batch_write_map(w, &session->now.picture->map[session->site]);
  json_end_object(w);
}

// ---- measure ------------------------------------------------------------------------------------

static void put_rung(JsonWriter *w, const Rung *rung, const RungLine *line) {
  const Timed *timed = line->timed && line->timed->ok ? line->timed : NULL;
  json_begin_object(w);
  json_member_string(w, "rung", rung->name);
  json_member_string(w, "title", rung->title);
  json_member_bool(w, "aside", rung->aside);
  json_member_string(w, "not_built", rung->not_built);
  json_member_double(w, "time_ns", timed && timed->time_ns > 0 ? timed->time_ns : (double)NAN);
  json_member_double(w, "tflops", timed ? timed->tflops : (double)NAN);
  json_member_double(w, "previous_ratio",
                     timed && line->before > 0 ? timed->tflops / line->before : (double)NAN);
  json_member_double(w, "cublas_ratio", timed && timed->ratio > 0 ? timed->ratio : (double)NAN);
  json_member_string(w, "origin", timed ? results_said(timed) : NULL);
  json_member_string(w, "gpu", timed ? timed->gpu : NULL);
  json_member_string(w, "date", timed ? timed->date : NULL);
  json_member_string(w, "by", timed ? timed->by : NULL);
  json_member_string(w, "note", timed ? timed->note : NULL);
  json_member_string(w, "error", line->timed ? line->timed->error : NULL);
  json_member_double(w, "estimate_tflops", line->estimate);
  json_key(w, "claim");
  claim_put_json(w, rung->claim);
  json_member_double(w, "claim_previous_ratio",
                     line->claimed_before > 0 ? line->claimed_before : (double)NAN);
  json_member_double(w, "claim_speed_up",
                     line->claimed_first > 0 ? line->claimed_first : (double)NAN);
  json_end_object(w);
}

// The search that was started here; null where none was.
static void put_search(JsonWriter *w, Session *session) {
  const TuneSeen *seen = session->tuning ? &session->tuning->seen : NULL;
  json_key(w, "search");
  if (!seen) {
    json_put_null(w);
    return;
  }
  json_begin_object(w);
  json_member_string(w, "gpu", seen->gpu);
  json_member_bool(w, "over", seen->over);
  json_member_double(w, "elapsed_s", seen->elapsed_s);
  json_member_double(w, "seconds", seen->seconds);
  json_member_int(w, "tried", seen->n_tried);
  json_member_int(w, "compiled", seen->n_compiled);
  json_member_int(w, "verified", seen->n_verified);
  json_member_int(w, "timed", seen->n_timed);
  json_member_int(w, "wrong", seen->n_wrong);
  json_member_int(w, "failed", seen->n_failed);
  json_member_double(w, "best_ns", seen->has_best ? seen->best_ns : (double)NAN);
  json_member_double(w, "cublas_ns", seen->cublas_ns > 0 ? seen->cublas_ns : (double)NAN);
  json_end_object(w);
}

void measure_json(JsonWriter *w, Session *session) {
  const LadderLines *lines = measure_ladder_lines(session);
  json_member_string(w, "ladder", session->ladder->name);
  json_member_string(w, "rung", session_rung(session)->name);
  json_key(w, "rungs");
  json_begin_array(w);
  for (int i = 0; i < lines->n; i++) put_rung(w, &session->ladder->rung[i], &lines->line[i]);
  json_end_array(w);
  json_member_string(w, "estimate_reasons", lines->reasons);  // of the state as it is; "" none
  put_search(w, session);
}
