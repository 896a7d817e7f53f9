// The explorer at the view of one's own kernel, for tests: a state folder of its own, words of the
// palette, keys, and what the screen shows.
#pragma once
#include <stdbool.h>

#include "base/diag.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/drive.h"
#include "tui/session/session.h"

extern Arena *own_arena;
extern Diags own_diags;
extern Session *own_session;
extern Canvas *own_canvas;
extern char own_folder[48];  // where its configuration lies; gone afterwards

// Opens the view with a screen of so many rows and columns; the program that it runs is the one
// under test, where there is one.
void own_enter(int rows, int cols);
void own_leave(void);

// Runs the palette's command own with `words`, and waits for its answer.
void own_open(const char *words);
void own_keys(const char *names);
const char *own_shown(void);
bool own_shows(const char *text);
