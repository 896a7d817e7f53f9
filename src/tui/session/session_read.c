// Questions to a session that change nothing: its state as a text, edits, the access that is
// selected and the one that answers to it in another picture.
#include <stdio.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "tui/canvas/fmt.h"
#include "tui/session/subject.h"

char *session_state_text(Arena *arena, const Session *session) {
  return schedule_text(arena, &session->doc.now.schedule);
}

const Rung *session_rung(const Session *session) {
  return &session->doc.ladder->rung[session->doc.rung];
}

int session_edits(const Session *session) {
  return schedule_distance(&session->doc.now.schedule, &session_rung(session)->schedule);
}

int session_departures(const Session *session) {
  static const KnobId of_problem[] = {KNOB_M, KNOB_N, KNOB_K, KNOB_TARGET};
  int n = session_edits(session);
  for (int i = 0; i < 4; i++)
    n -= schedule_differs(&session->doc.now.schedule, &session_rung(session)->schedule,
                          of_problem[i]);
  return n;
}

const Site *session_site(const Session *session) {
  const Accesses all = session_accesses(session);
  const int at = session_at(session);
  return at >= 0 && at < all.n ? &all.site[at] : NULL;
}

const GlobalSite *session_global(const Session *session) {
  const Model *model = session_model(session);
  const int at = session->at.site - model->n_sites;
  return !session->at.subject && at >= 0 && at < model->global.n ? &model->global.site[at] : NULL;
}

const Site *session_slab_site(const Session *session) {
  const Accesses all = session_accesses(session);
  return session_global(session) && all.n ? &all.site[0] : session_site(session);
}

int session_site_count(const Session *session) {
  const int n = session_accesses(session).n;
  return session->at.subject ? n : n + session_model(session)->global.n;
}

int session_matching(const Picture *other, const Site *site) {
  for (int i = 0; i < other->model->n_sites; i++) {
    const Site *at = &other->model->site[i];
    if (str_equal(at->slab->name, site->slab->name) && at->is_store == site->is_store) return i;
  }
  return -1;
}

int session_matching_site(const Session *session, const Picture *other) {
  const Site *site = session_site(session);
  if (!site) return other->model->n_sites ? 0 : -1;
  int match = session_matching(other, site);
  for (int i = 0; i < other->model->n_sites && match < 0; i++)
    if (other->model->site[other->model->n_sites - 1 - i].is_store == site->is_store)
      match = other->model->n_sites - 1 - i;
  return match;
}

ViewState *session_view_state(Session *session) { return &session->at.state[session->at.view]; }
const ViewState *session_view_state_const(const Session *session) {
  return &session->at.state[session->at.view];
}

const Calibration *session_fits(const Session *session, const Schedule *schedule) {
  const bool known =
      session->background.fits && str_equal(session->background.fits_target, schedule->target);
  return known ? session->background.fits : NULL;
}

Estimate session_stand_in(const Session *session, const Model *model) {
  return estimate_of(session_fits(session, &model->schedule), model);
}

char *session_speed_said(const Session *session, const Side *side, char out[SESSION_SPEED_BYTES]) {
  const Estimate estimate = session_estimate(session, side->picture->estimate);
  char figure[FMT_MAX], error[ESTIMATE_SAID_BYTES];
  out[0] = '\0';
  if (estimate.by)
    snprintf(out, SESSION_SPEED_BYTES, "%s %.12s TFLOP/s %.16s", estimate_word(&estimate),
             fmt_figure(figure, estimate.tflops),
             estimate_error_said(error, &estimate, session->ascii));
  return out;
}

Estimate session_estimate(const Session *session, const Model *model) {
  const Clocked *clocked =
      results_clocked(&session->background.results, schedule_identity(&model->schedule));
  if (clocked && clocked->known) return estimate_clocked(&clocked->speed);
  return session_stand_in(session, model);
}
