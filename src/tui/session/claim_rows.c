// From data/claims/LADDER.json to rows for a screen.
//
// Requires: nothing of the session but its ladders, targets and records. Models are built in the
// session's trial arena, one after the other; the few texts that are shown move to the session's.
// A row that asks for a run that is not made yet is found again when the thread has made it.
#include "tui/session/claim_rows.h"

#include "base/embed.h"
#include "base/str.h"
#include "tui/session/claim_runs.h"

static void keep(Arena *app, ClaimFound *found) {
  found->says = arena_strdup(app, found->says);
  found->model = arena_strdup(app, found->model);
  found->why = arena_strdup(app, found->why);
}

// The text of a row with a run under way: the parts that need no run.
static ClaimFound without_run(const ClaimRow *row, const ClaimFound *found) {
  return (ClaimFound){.says = found->says,
                      .model = row->fact ? "a run is under way" : "",
                      .why =
                          "The interpreter runs this program with values. Its findings come in a "
                          "moment."};
}

static bool asks_for_run(const Diags *diags) {
  for (const Diag *diag = diags->first; diag; diag = diag->next)
    if (!str_equal(diag->rule, "run")) return false;
  return diags->count > 0;
}

static void find_row(Session *session, Published *out, int i) {
  arena_reset(session->trial);
  Diags diags = diags_new(session->trial);
  ClaimFound *found = &out->found[i];
  const bool ok =
      claims_find(session->trial, session_facts(session), &out->list->row[i], found, &diags);
  out->waits[i] = !ok && asks_for_run(&diags);
  if (out->waits[i]) *found = without_run(&out->list->row[i], found);
  if (!ok && !out->waits[i]) {
    *found = (ClaimFound){.says = "", .model = "", .why = diags.first->text};
    if (!out->trouble) out->trouble = arena_strdup(session->app, diags.first->text);
  }
  keep(session->app, found);
}

// All rows, or only the rows with a run under way.
static void find_rows(Session *session, Published *out, bool all) {
  FactRuns *runs = session_facts(session)->runs;
  if (!session->background.claim_runs)
    session->background.claim_runs = claim_runs_new(session->app, runs);
  runs->later = true;
  for (int i = 0; i < out->list->n; i++)
    if (all || out->waits[i]) find_row(session, out, i);
  runs->later = false;
  claim_runs_begin(session->background.claim_runs, &session->doc.targets);
}

static Published *work_out(Session *session, const Ladder *ladder) {
  static const ClaimList none;
  Published *out = ARENA_NEW(session->app, Published);
  const char *path = arena_printf(session->app, "claims/%s.json", ladder->name);
  const EmbeddedFile *file = embed_find(session->app, path);
  Diags diags = diags_new(session->app);
  out->list = file ? claims_read(session->app, file->text, file->size, file->path,
                                 session_facts(session), &diags)
                   : NULL;
  if (diags.first) out->trouble = diags.first->text;
  if (!out->list) out->list = &none;
  out->found = ARENA_ARRAY(session->app, ClaimFound, out->list->n);
  out->waits = ARENA_ARRAY(session->app, bool, out->list->n);
  find_rows(session, out, true);
  return out;
}

bool published_is_under_way(const Session *session) {
  return claim_runs_are_under_way(session->background.claim_runs);
}

bool published_poll(Session *session) {
  if (!claim_runs_poll(session->background.claim_runs)) return false;
  for (int i = 0; i < session->doc.n_ladders; i++)
    if (session->background.published[i])
      find_rows(session, session->background.published[i], false);
  return true;
}

const Published *published_of(Session *session, const Ladder *ladder) {
  const Published *said = published_so_far(session, ladder);
  for (; published_is_under_way(session); published_poll(session))
    claim_runs_wait(session->background.claim_runs);
  return said;
}

const Published *published_so_far(Session *session, const Ladder *ladder) {
  if (!session->background.published)
    session->background.published = ARENA_ARRAY(session->app, Published *, session->doc.n_ladders);
  int at = 0;
  while (session->doc.ladders[at] != ladder) at++;
  if (!session->background.published[at])
    session->background.published[at] = work_out(session, ladder);
  return session->background.published[at];
}
