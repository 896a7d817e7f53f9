// The terminal: events in, canvases out. The only file that knows there is one.
//
//   Terminal *terminal = terminal_open(&options, &diags);        NULL: a diagnostic says why
//   for (;;) {
//     … draw canvas of terminal_rows() x terminal_cols() …
//     terminal_present(terminal, canvas, theme);
//     Event event = terminal_wait(terminal, -1, worker_fd);
//     if (event.kind == EVENT_END) break;
//   }
//   terminal_close(terminal);
//
// One terminal at a time. It is put back as it was by terminal_close, by exit, by die(), and when a
// signal ends the program. SIGINT, SIGTERM and SIGHUP arrive as EVENT_END, so that the program can
// save and say its last words; if it has not closed the terminal two seconds later, or the signal
// comes again, the terminal is restored and the signal has its usual effect. Ctrl-Z suspends
// inside terminal_wait; after "fg" EVENT_RESIZE asks for a new picture.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/event.h"
#include "tui/canvas/theme.h"

typedef struct Terminal Terminal;

typedef struct TerminalOptions {
  const char *color;  // --color; NULL: auto
  bool ascii;         // --ascii
  bool no_mouse;      // --no-mouse
} TerminalOptions;

// Notices that need no stopping for (an unknown TERM) are added to `diags` too, so look at the
// result, not at the count.
Terminal *terminal_open(const TerminalOptions *options, Diags *diags);
void terminal_close(Terminal *terminal);  // NULL is allowed

int terminal_rows(const Terminal *terminal);
int terminal_cols(const Terminal *terminal);
bool terminal_ascii(const Terminal *terminal);

// Shows the canvas; only what changed since the last one is sent.
void terminal_present(Terminal *terminal, const Canvas *canvas, const Theme *theme);
// The next picture is drawn whole (Ctrl-L).
void terminal_redraw(Terminal *terminal);

// The next event, at most `timeout_ms` later (-1: however long it takes). EVENT_WAKE when
// `extra_fd` can be read; -1 for none. Keys waiting go before everything else. Event.text lives
// until the next call.
Event terminal_wait(Terminal *terminal, int timeout_ms, int extra_fd);

void terminal_set_mouse(Terminal *terminal, bool on);
bool terminal_mouse(const Terminal *terminal);
void terminal_suspend(Terminal *terminal);
// Sends bytes as they are (OSC 52); `terminal` is a Terminal *, the type is clipboard_copy's.
void terminal_write(void *terminal, const char *bytes, size_t n);

// Whether pictures should keep to ASCII: not a UTF-8 locale, or a console without the glyphs.
// Sets LC_CTYPE from the environment and no other locale category.
bool terminal_wants_ascii(void);
