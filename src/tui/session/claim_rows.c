// From data/claims/LADDER.json to rows for a screen.
//
// Requires: nothing of the session but its ladders, targets and records. Models are built in the
// session's trial arena, one after the other; the few texts that are shown move to the session's.
#include "tui/session/claim_rows.h"

#include "base/embed.h"

static void keep(Arena *app, ClaimFound *found) {
  found->says = arena_strdup(app, found->says);
  found->model = arena_strdup(app, found->model);
  found->why = arena_strdup(app, found->why);
}

static void find_all(Session *session, Published *out, Diags *diags) {
  const ClaimList *list = out->list;
  ClaimFound *found = ARENA_ARRAY(session->app, ClaimFound, list->n);
  for (int i = 0; i < list->n; i++) {
    arena_reset(session->trial);
    if (!claims_find(session->trial, session_facts(session), &list->row[i], &found[i], diags)) {
      found[i] = (ClaimFound){.says = "", .model = "", .why = diags->first->text};
      if (!out->trouble) out->trouble = arena_strdup(session->app, diags->first->text);
    }
    keep(session->app, &found[i]);
  }
  out->found = found;
}

static const Published *work_out(Session *session, const Ladder *ladder) {
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
  find_all(session, out, &diags);
  return out;
}

const Published *published_of(Session *session, const Ladder *ladder) {
  if (!session->published)
    session->published = ARENA_ARRAY(session->app, const Published *, session->n_ladders);
  int at = 0;
  while (session->ladders[at] != ladder) at++;
  if (!session->published[at]) session->published[at] = work_out(session, ladder);
  return session->published[at];
}
