// The bindings of keys to actions: built from the views' tables, changed by the user's
// configuration.
//
// A binding belongs to a context: "global", or the name of a view or of a pop-up. A key is looked
// up in the context first and in "global" after it. Actions are words; the session knows what they
// do.
//
//   keymap_bind(map, "banks", "p", "probe", NULL, &diags);       a view's table
//   keymap_bind(map, "global", "F2", "save", "config.json", &diags);
//   const char *action = keymap_action(map, "banks", key);       NULL: nothing
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "tui/canvas/key.h"

typedef struct Keymap Keymap;

#define KEYMAP_GLOBAL "global"

Keymap *keymap_new(Arena *arena);
// Adds a binding; the last one for a key counts. `action` NULL or "" frees the key there. `where`
// names the configuration in messages; NULL for the program's own tables. False when `key` is no
// key. Strings are copied.
bool keymap_bind(Keymap *map, const char *context, const char *key, const char *action,
                 const char *where, Diags *diags);
const char *keymap_action(const Keymap *map, const char *context, Key key);
// The key to name in footers and help for an action: the one bound last; KEY_NONE when there is
// none.
Key keymap_key(const Keymap *map, const char *context, const char *action);
// All keys of an action, "k Up" with a blank between; "" when there is none.
const char *keymap_keys(Arena *arena, const Keymap *map, const char *context, const char *action);
