// The bytes that a view keeps between frames lie in the session's arena, zeroed; the view begins
// and ends them itself, and this file knows only their size.
#include "tui/frame/explorer.h"

#include "tui/frame/view.h"
#include "tui/session/tuning.h"

Session *explorer_open(const SessionOptions *options, Diags *diags) {
  Session *session = session_open(options, diags);
  if (!session) return NULL;
  for (int i = 0; i < view_count; i++) {
    const ViewBody *body = view_table[i].body;
    if (body->state_bytes) session->at.own[i] = arena_alloc(session->app, body->state_bytes);
    if (body->chosen_bytes) session->at.chosen[i] = arena_alloc(session->app, body->chosen_bytes);
    if (body->open) body->open(session->at.own[i]);
  }
  view_bind_keys(session->keymap);
  return session;
}

void explorer_close(Session *session) {
  for (int i = 0; i < view_count; i++)
    if (view_table[i].body->close) view_table[i].body->close(session->at.own[i]);
  tuning_free(session);
  session_close(session);
}
