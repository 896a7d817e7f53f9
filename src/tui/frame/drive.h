// A session driven without a terminal: frames, keys and scripts. `gemmview show`, the tests,
// bench-ui and --script use it; app.c adds the terminal and the worker.
#pragma once
#include "base/diag.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/event.h"
#include "tui/session/session.h"

// Prepares and draws one frame of the canvas's size.
void drive_frame(Session *session, Canvas *canvas);

// Waits until nothing is under way that a view expects.
void drive_wait(Session *session);

// One event, and the frame after it. False with a finding when a script's expectation fails or its
// command cannot be run.
bool drive_event(Session *session, Canvas *canvas, const Event *event, Diags *diags);

// "j j Ctrl-D Enter": key names separated by blanks.
bool drive_keys(Session *session, Canvas *canvas, const char *keys, Diags *diags);
// A whole script (script.h).
bool drive_script(Session *session, Canvas *canvas, const char *text, const char *name,
                  Diags *diags);
bool drive_script_file(Session *session, Canvas *canvas, const char *path, Diags *diags);

// Writes what `save_path` wishes for, if anything; the message says what became of it.
void drive_save(Session *session, Canvas *canvas, const char *path);
