// Escape sequences that change how a terminal draws, as short as they can be.
//
// Only ECMA-48 "select graphic rendition" and its two colour extensions (38;5;n and 38;2;r;g;b, as
// xterm and everything after it read them). A Look must already be approximated to the terminal's
// depth; where a terminal has 8 colours instead of 16, `eight` turns the bright ones into bold.
#pragma once
#include <stdbool.h>

#include "base/str.h"
#include "tui/canvas/theme.h"

// Appends what turns `from` into `to`; nothing when they look the same.
void sgr_change(Str *out, Look from, Look to, bool eight);
