// Keys as numbers, and their names as people write them.
//
// A key is a Unicode character ('a', 0x2026) or one of key.def, with modifiers. Names: "a", "?",
// "Space", "Up", "F1", "Ctrl-D", "Alt-x", "S-Tab", "Ctrl-S-Left". Also read: "^D", "C-d", "M-x",
// "Shift-Tab", "PageUp", and any case of the long names.
//
// A modifier a terminal cannot tell apart is not part of a key: Shift with a character ("A" is the
// key) and Ctrl with upper case (Ctrl-D is KEY_CTRL | 'd').
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

typedef uint32_t Key;

enum {
  KEY_NONE = 0,
  KEY_FIRST = 0x110000,  // above every character
#define KEY(code, name, aliases) KEY_CODE_##code,
#include "tui/canvas/key.def"
#undef KEY
  KEY_LIMIT,
  KEY_CTRL = 1 << 24,
  KEY_ALT = 1 << 25,
  KEY_SHIFT = 1 << 26,
  KEY_BASE = (1 << 24) - 1,
};

// Writes the name into `text` and returns it. "Ctrl-S-Left" is among the longest.
enum { KEY_PRINT_MAX = 32 };
const char *key_print(Key key, char text[KEY_PRINT_MAX]);
// KEY_NONE, with a diagnostic of rule "key", when `name` is no key. `diags` may be NULL.
Key key_parse(const char *name, Diags *diags);
// The key that a byte or character from a terminal stands for: 4 is Ctrl-D, 127 Backspace, 13
// Enter, 27 Esc.
Key key_from_character(uint32_t code);
// A key that puts its character into a text field.
bool key_is_printable(Key key);
// Keys that mean the same everywhere (movement, search, help, undo …) and that no view may take.
bool key_is_reserved(Key key);
