// Documents in, trials over them.
#include "tui/views/own/own_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"

enum { PAD_MAX = 64 };

OwnWork *own_work(const Session *session) { return view_own(session, &own_view); }

bool own_begin(Session *session, const char *const *words, int n, bool watches, Diags *diags) {
  OwnWork *work = own_work(session);
  opened_run_set(work->run, words, n);
  opened_run_watch(work->run, watches);
  work->arrives = true;
  work->pending[0] = '\0';
  work->needs = NULL;
  work->lists_launches = false;
  if (n > 0 && opened_run_start(work->run)) return true;
  diag_add(diags, "command", "FILE --launch … --arg …: the run could not be started");
  return false;
}

void own_work_open(void *state) {
  OwnWork *work = state;
  work->run = opened_run_new();
  work->arena = arena_new("own kernel");
  work->next = arena_new("next own kernel");
  work->scratch = arena_new("own trial");
  work->asking = arena_new("own questions");
  work->before = -1;
  work->calls = true;
}

void own_work_close(void *state) {
  OwnWork *work = state;
  opened_run_free(work->run);
  arena_free(work->arena);
  arena_free(work->next);
  arena_free(work->scratch);
  arena_free(work->asking);
}

bool own_work_ask(OwnWork *work, const char *json, size_t n) {
  enum { HEAD_BYTES = 200 };  // the member stands at the beginning
  work->needs = NULL;
  if (!memmem(json, n < HEAD_BYTES ? n : HEAD_BYTES, "\"needs\"", strlen("\"needs\"")))
    return false;
  arena_reset(work->asking);
  work->needs = opened_needs_read(work->asking, json, n);
  work->choice = 0;
  return work->needs != NULL;
}

const char *own_error(const OwnWork *work) {
  if (*work->error) return work->error;
  return work->needs ? work->needs->sentence : opened_run_error(work->run);
}

// A trial goes on over the array of its name, if the new kernel has it and can bear it.
static void keep_trial(OwnWork *work, const char *name, const char *layout) {
  own_trial_set(work, -1, NULL);
  for (int i = 0; layout && i < work->opened->n_arrays; i++)
    if (str_equal(work->opened->arrays[i].name, name)) own_trial_set(work, i, layout);
}

bool own_work_take(OwnWork *work, const char *json, size_t n) {
  arena_reset(work->next);
  Diags diags = diags_new(work->next);
  const Opened *opened = opened_read(work->next, json, n, &diags);
  if (!opened) {
    snprintf(work->error, sizeof work->error, "%s", diags.first->text);
    return false;
  }
  char name[128] = "", layout[512] = "";
  if (work->trial.layout) {
    snprintf(name, sizeof name, "%s", work->opened->arrays[work->trial.array].name);
    snprintf(layout, sizeof layout, "%s", work->trial.layout);
  }
  Arena *old = work->arena;
  work->before = work->opened ? work->opened->wavefronts : -1;
  work->arena = work->next;
  work->next = old;
  work->opened = opened;
  work->generation++;
  work->layouts = (OwnLayouts){.there = false};
  work->texts = (OwnTexts){.there = false};
  work->clock = (OwnClock){.there = false};
  work->execution = 0;
  work->source = (int)clamp_index(work->source, opened->n_sources);
  work->error[0] = '\0';
  opened_run_files(work->run, opened->made_of, opened->n_made_of);
  keep_trial(work, name, *layout ? layout : NULL);
  return true;
}

// ---- trials -------------------------------------------------------------------------------------

static int64_t cost_then(const OwnWork *work, const OwnTrial *trial, int index) {
  const OpenedSite *site = &work->opened->sites[index];
  if (site->array != trial->array || !site->shared) return site->wavefronts;
  Diags ignored = diags_new(work->scratch);
  const OpenedArray *array = &work->opened->arrays[trial->array];
  return recorded_cost(work->scratch, &array->at, &site->recorded, 1, trial->layout, &ignored)
      .wavefronts;
}

static RecordedSite *sites_of(const OwnWork *work, int array, int *n) {
  RecordedSite *sites = ARENA_ARRAY(work->scratch, RecordedSite, work->opened->n_sites + 1);
  *n = 0;
  for (int i = 0; i < work->opened->n_sites; i++)
    if (work->opened->sites[i].array == array) sites[(*n)++] = work->opened->sites[i].recorded;
  return sites;
}

bool own_trial_set(OwnWork *work, int array, const char *text) {
  OwnTrial trial = {.array = array};
  char *copy = text ? strdup(text) : NULL;  // it may lie in the arena that is emptied now
  work->trial = (OwnTrial){.array = -1};
  arena_reset(work->scratch);
  trial.layout = copy ? arena_strdup(work->scratch, copy) : NULL;
  free(copy);
  if (!trial.layout) return true;
  Diags diags = diags_new(work->scratch);
  const OpenedArray *of = &work->opened->arrays[array];
  LayoutSlab slab;
  int n;
  const RecordedSite *sites = sites_of(work, array, &n);
  trial.cost = recorded_cost(work->scratch, &of->at, sites, n, trial.layout, &diags);
  if (!trial.cost.legal || !recorded_slab(&of->at, &slab, &diags)) {
    snprintf(work->error, sizeof work->error, "%s", diags.first->text);
    return false;
  }
  trial.read = layout_parse(work->scratch, &slab, trial.layout, &diags);
  trial.write = recorded_write(work->scratch, &of->at, of->name, trial.layout);
  trial.then = ARENA_ARRAY(work->scratch, int64_t, work->opened->n_sites + 1);
  for (int i = 0; i < work->opened->n_sites; i++) {
    trial.then[i] = cost_then(work, &trial, i);
    if (work->opened->sites[i].shared && work->opened->sites[i].countable)
      trial.total += trial.then[i];
  }
  work->error[0] = '\0';
  work->trial = trial;
  return true;
}

static int pad_now(const OwnWork *work, int array) {
  int pad = 0;
  if (work->trial.layout && work->trial.array == array) sscanf(work->trial.layout, "pad:%4d", &pad);
  return pad;
}

bool own_trial_step(OwnWork *work, int array, int step) {
  char text[32];
  for (int pad = pad_now(work, array) + step; pad <= PAD_MAX; pad += step) {
    if (pad <= 0) return own_trial_set(work, -1, NULL);
    snprintf(text, sizeof text, "pad:%d", pad);
    if (own_trial_set(work, array, text)) return true;
  }
  return false;
}

void own_layouts_of(OwnWork *work, int array) {
  if (work->layouts.there && work->layouts.array == array) return;
  work->layouts = (OwnLayouts){.there = true, .array = array};
  Diags ignored = diags_new(work->arena);
  LayoutSlab slab;
  if (array < 0 || !recorded_slab(&work->opened->arrays[array].at, &slab, &ignored)) return;
  const char *best = work->opened->arrays[array].best;
  work->layouts.plain = layout_parse(work->arena, &slab, "none", &ignored);
  if (best) work->layouts.best = layout_parse(work->arena, &slab, best, &ignored);
}
