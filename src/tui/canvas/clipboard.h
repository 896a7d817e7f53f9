// Copying text out of the program, over ssh too.
//
// Inside tmux the text goes to its paste buffer (and from there to the outer clipboard, if tmux may
// set it); elsewhere the terminal is asked with OSC 52 to put it on the clipboard of the machine in
// front of the person. No answer comes back, so the message says what was asked, not what happened.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum { CLIPBOARD_MAX = 74000 };  // bytes; above it xterm and others drop the whole request

// The escape sequence for `text`; in GNU screen (`screen` true) wrapped so that it passes through.
char *clipboard_sequence(Arena *arena, const char *text, bool screen);
char *clipboard_base64(Arena *arena, const char *bytes, size_t n);

// Copies and returns a sentence for the status line ("copied 131 bytes to the tmux buffer").
// `write_terminal` sends bytes to the terminal (terminal_write); NULL: there is none.
const char *clipboard_copy(Arena *arena, const char *text,
                           void (*write_terminal)(void *context, const char *bytes, size_t n),
                           void *context);
