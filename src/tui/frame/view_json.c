// The frame of every view's data: the state, why it is not legal, its numbers and A's. The view
// fills "data" (ViewBody.form).
//
// Worked example: -1, NaN and missing results all become null, so {"time_ns":null} says that this
// state was never timed and never that it took no time.
#include "tui/frame/view_json.h"

#include "tui/canvas/export.h"
#include "tui/session/picture_numbers.h"

const char *view_knob_name(KnobId knob) { return knob == KNOB_NONE ? NULL : knob_table[knob].name; }

const char *view_diff_sign(DiffKind kind) {
  static const char *const kinds[] = {[DIFF_SAME] = "=", [DIFF_REMOVED] = "-", [DIFF_ADDED] = "+"};
  return kinds[kind];
}

static const SideNumbers *numbers(Arena *arena, const Session *session, const Side *side) {
  SideNumbers *all = ARENA_NEW(arena, SideNumbers);
  *all = side_numbers(arena, session, side);
  return all;
}

static int reason_count(const Session *session) {
  return session->doc.now.reasons ? session->doc.now.reasons->count : 0;
}

static const Diag **reasons(Arena *arena, const Session *session) {
  const Diag **reason = ARENA_ARRAY(arena, const Diag *, reason_count(session) + 1);
  int n = 0;
  for (const Diag *d = session->doc.now.reasons ? session->doc.now.reasons->first : NULL; d;
       d = d->next)
    reason[n++] = d;
  return reason;
}

// The views' documents, and what they are of.
typedef struct ShownView {
  const char *command;  // NULL: it is none that asked
  const Session *session;
  const Canvas *canvas;
  const void *data;
} ShownView;

#define FORM_FILE "tui/frame/view_json.form"
#include "base/form_make.h"

static const Form *const documents[] = {
#define VIEW(id, key, title, beside, help) &show_##id##_form,
#include "tui/frame/views.def"
#undef VIEW
};

void view_document(JsonWriter *w, Session *session, const Canvas *canvas, const char *command) {
  const ViewBody *body = view_table[session->at.view].body;
  const ShownView shown = {command, session, canvas, body->data ? body->data(session) : NULL};
  form_write_document(w, session->frame, documents[session->at.view], &shown, session);
}
