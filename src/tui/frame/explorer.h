// A session with its views: what the explorer, `gemmview show`, bench-ui and the tests open.
//
//   Session *session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
//   view_prepare(session, 40, 120);
//   view_draw(canvas, session);
//   explorer_close(session);
#pragma once
#include "tui/session/session.h"

// session_open() with every view's own state and the keys of the tables. NULL after findings.
Session *explorer_open(const SessionOptions *options, Diags *diags);
void explorer_close(Session *session);
