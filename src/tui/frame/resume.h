// Keeps the place of a session that lost its terminal: a dropped ssh, a closed window, a shutdown.
//
// It is kept as a script (script.h) in $XDG_STATE_HOME/gemmview/lost.keys, else in
// ~/.local/state/gemmview; the next plain `gemmview` runs it and removes it. Leaving by q keeps
// nothing: the state line is printed then.
#pragma once
#include "tui/session/session.h"

// False when there is no folder for it or it could not be written.
bool resume_save(const Session *session);
// Runs what was kept, if anything, and removes it; true when there was something. What in it no
// longer holds (a rung that is gone) is left out.
bool resume_take(Session *session);
