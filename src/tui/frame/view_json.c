// The frame of every view's data: the state, why it is not legal, its numbers and A's. What stands
// in "data" is the view's (ViewBody.json).
//
// Worked example: -1, NaN and missing results all become null, so {"time_ns":null} says that nobody
// timed this state and never that it took no time.
#include "tui/frame/view_json.h"

#include "tui/frame/view.h"
#include "tui/session/picture_numbers.h"

void view_json_knob(JsonWriter *w, const char *key, KnobId knob) {
  json_member_string(w, key, knob == KNOB_NONE ? NULL : knob_table[knob].name);
}

void view_json_kind(JsonWriter *w, DiffKind kind) {
  static const char *const kinds[] = {[DIFF_SAME] = "=", [DIFF_REMOVED] = "-", [DIFF_ADDED] = "+"};
  json_member_string(w, "kind", kinds[kind]);
}

static void put_numbers(JsonWriter *w, const char *key, const Session *session, const Side *side) {
  SideNumbers numbers = side_numbers(session->frame, session, side);
  json_key(w, key);
  json_begin_object(w);
  side_numbers_json(w, &numbers);
  json_end_object(w);
}

static void put_reasons(JsonWriter *w, const Session *session) {
  const Diags *reasons = session->now.reasons;
  json_member_bool(w, "legal", reasons == NULL);
  json_key(w, "reasons");
  json_begin_array(w);
  for (const Diag *d = reasons ? reasons->first : NULL; d; d = d->next) {
    json_begin_object(w);
    json_member_string(w, "rule", d->rule);
    json_member_string(w, "text", d->text);
    json_end_object(w);
  }
  json_end_array(w);
  json_member_string(w, "nearest", reasons && session->has_fix ? session->fix_text : NULL);
}

void view_json(JsonWriter *w, Session *session) {
  const View *view = &view_table[session->view];
  json_member_string(w, "view", view->name);
  json_member_string(w, "state", session_state_text(session->frame, session));
  json_member_string(w, "ladder", session->ladder->name);
  json_member_string(w, "rung", session_rung(session)->name);
  json_member_int(w, "edits", session_edits(session));
  put_reasons(w, session);
  put_numbers(w, "numbers", session, &session->now);
  json_member_string(w, "compared_with", session->comparing ? session->then_name : NULL);
  if (session->comparing) put_numbers(w, "numbers_a", session, &session->then);
  json_key(w, "data");
  if (!view->body->json) {
    json_put_null(w);
    return;
  }
  json_begin_object(w);
  view->body->json(w, session);
  json_end_object(w);
}
