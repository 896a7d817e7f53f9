// The terminal device: its modes, its signals, and getting it back whatever happens.
//
// Knows nothing of the drawing. The sequences that enter and leave full-screen mode are handed over
// once, in full; leaving is one write and one tcsetattr, which signal handlers may do.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/str.h"

// Input and output must be a terminal; a diagnostic of rule "terminal" otherwise.
bool tty_open(Diags *diags);
void tty_close(void);

// To be called before tty_enter, and again when they change (the mouse).
void tty_set_sequences(const Str *enter, const Str *leave);
// Full-screen mode and our signal handlers; and back. Both may be repeated.
void tty_enter(void);
// Back, stop as Ctrl-Z does, and in again when continued.
void tty_suspend(void);

void tty_size(int *rows, int *cols);  // 24 x 80 when the device does not know
// Whole, unless the terminal takes nothing for a second.
void tty_write(const char *bytes, size_t n);

// The news that signals left behind; tty_news_fd can be polled for it.
typedef struct TtyNews {
  bool resized, stop, continued;
  int end_signal;  // 0: none
} TtyNews;
int tty_news_fd(void);
TtyNews tty_news(void);
// The program goes on after an end_signal it was told of.
void tty_forgive(void);
