// A file of keys and commands that stands in for a person at the terminal.
//
// One step a line; blank lines and lines that start with '#' are left out:
//   keys j j Ctrl-D Enter      key names, separated by blanks
//   type /banks                the characters of the rest of the line, as keys
//   paste 0 16 32              the rest of the line, pasted
//   :set BM=64                 a command line
//   resize 100x30              columns x rows
//   mouse click 5 10           press, release, click, drag, wheel-up, wheel-down; row and column,
//                              counted from 0; a last "2" or "3" names another button
//   wait worker                until the named thing is done
//   wait 200ms                 a time, in ms or s
//   expect 2 wavefronts        the screen must show the rest of the line
//   absent error               the screen must not show it
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "tui/canvas/event.h"

typedef struct Script Script;

// NULL after adding a diagnostic of rule "script" ("demo.keys:3: …") for every line that is wrong.
Script *script_read(Arena *arena, const char *text, const char *name, Diags *diags);
// The next event; false at the end. Event.line is the line it comes from.
bool script_next(Script *script, Event *event);
int script_count(const Script *script);
