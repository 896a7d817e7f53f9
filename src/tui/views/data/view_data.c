// The data of explore, banks and measure, which are readings of the model and of the results alone.
#include "tui/views/data/view_data.h"

#include <math.h>

#include "banks/engine/bank_batch.h"
#include "model/readings/cost/site_json.h"
#include "tui/frame/view_json.h"
#include "tui/session/better_kernel.h"
#include "tui/session/tuning.h"
#include "tui/views/measure/measure.h"
#include "tui/views/memory/banks_view.h"
#include "tui/views/program/explore.h"

static double positive(double value) { return value > 0 ? value : (double)NAN; }

// ---- for several views --------------------------------------------------------------------------

static const SiteSaid *session_sites(Arena *arena, const Session *session) {
  const Model *model = session_model(session);
  SiteSaid *said = ARENA_ARRAY(arena, SiteSaid, model->n_sites);
  for (int i = 0; i < model->n_sites; i++) {
    const Site *site = &model->site[i];
    const Probed *probed = results_probed(&session->background.results, site->op, site->addr);
    said[i] = (SiteSaid){site, probed ? probed->clocks : (double)NAN};
  }
  return said;
}

#define SELECTED_SITE                                                                        \
  MAYBE_INT(selected_site, "the number of the access that is selected; null: there is none", \
            session->at.site < session_site_count(session), session->at.site + 1)
#define SITES                                                          \
  LIST(sites, "accesses to shared memory in program order", site_form, \
       session_sites(arena, session), session_model(session)->n_sites)

// ---- explore ------------------------------------------------------------------------------------

static const char *trial_value_text(Arena *arena, const Session *session, const Trial *trial) {
  Schedule schedule = session->doc.now.schedule;
  schedule.value[trial->knob] = trial->value;
  return knob_value_text(arena, &schedule, trial->knob);
}

static const Estimate *estimate_of_trial(Arena *arena, const Session *session, const Trial *trial) {
  Estimate *out = ARENA_NEW(arena, Estimate);
  *out = results_estimate(&session->background.results, trial->key, &trial->stand_in);
  return out;
}

static const BetterKernel *tuned_kernel(Arena *arena, const Session *session) {
  BetterKernel *better = ARENA_NEW(arena, BetterKernel);
  *better = better_kernel(arena, session);
  return better->row ? better : NULL;
}

#define FORM_FILE "tui/views/data/explore.form"
#include "base/form_make.h"

// ---- banks --------------------------------------------------------------------------------------

static const Own *own_set(const Session *session) {
  const Own *own = view_own(session, &banks_view);
  return own->set ? own : NULL;
}

const void *banks_data(Session *session) { return session; }

#define FORM_FILE "tui/views/data/banks.form"
#include "base/form_make.h"

// ---- measure ------------------------------------------------------------------------------------

static bool has_timing(const RungLine *line) { return line->timed && line->timed->ok; }

// The rung's timing, else one in which nothing is known.
static const Timed *timing(const RungLine *line) {
  static const Timed none = {.tflops = NAN};
  return has_timing(line) ? line->timed : &none;
}

const void *measure_data(Session *session) { return measure_ladder_lines(session); }

#define FORM_FILE "tui/views/data/measure.form"
#include "base/form_make.h"
