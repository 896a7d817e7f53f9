// The command line (`:`) and the search (`/`) at the bottom of the screen.
//
// A command is a row of the table below, the name of any action, the name of a view, or knobs as on
// the command line: ":FM=4,FN=8". Tab completes names, rungs and knobs.
#pragma once
#include "base/diag.h"
#include "tui/canvas/canvas.h"
#include "tui/session/session.h"

void palette_open(Session *session, Prompt prompt);
// Opens the view's own field with the key in it.
void palette_filter(Session *session, Key key);
void palette_key(Session *session, Key key);
// Finds the names that may be typed, for the frame that is to be drawn.
void palette_prepare(Session *session);
void palette_draw(Canvas *canvas, Rect screen, const Session *session);

// Runs one line without its ':'. False after findings: unknown, or wrong arguments.
bool palette_run(Session *session, const char *line, Diags *diags);
// Moves the cursor of the view to the next line that has session->prompt.search in it, any case.
bool palette_search(Session *session, int direction);
