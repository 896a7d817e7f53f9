// A list of bindings, later ones first.
//
// A few hundred at most, so lists are scanned. Worked example: the program binds global u to undo,
// and the user's file binds global "u" to "" and "Alt-u" to undo. Looking up 'u' finds the empty
// action first and stops: the key is free. The footer asks for the key of undo, finds Alt-u, and
// before naming a key always checks that it really leads back to the action.
#include "tui/canvas/keymap.h"

#include <string.h>

#include "base/str.h"

typedef struct Binding {
  const char *context, *action;
  Key key;
  struct Binding *next;
} Binding;

struct Keymap {
  Arena *arena;
  Binding *last;  // the newest
};

Keymap *keymap_new(Arena *arena) {
  Keymap *map = ARENA_NEW(arena, Keymap);
  map->arena = arena;
  return map;
}

bool keymap_bind(Keymap *map, const char *context, const char *key, const char *action,
                 const char *where, Diags *diags) {
  Diags found = diags_new(map->arena);
  Key code = key_parse(key, &found);
  if (code == KEY_NONE) {
    Diag *diag =
        diag_add(diags, "key", "%s%s%s", where ? where : "", where ? ": " : "", found.first->text);
    diag->nearest = found.first->nearest;
    return false;
  }
  Binding *binding = ARENA_NEW(map->arena, Binding);
  *binding = (Binding){arena_strdup(map->arena, context),
                       arena_strdup(map->arena, action ? action : ""), code, map->last};
  map->last = binding;
  return true;
}

static const Binding *find(const Keymap *map, const char *context, Key key) {
  for (const Binding *at = map->last; at; at = at->next)
    if (at->key == key && str_equal(at->context, context)) return at;
  return NULL;
}

const char *keymap_action(const Keymap *map, const char *context, Key key) {
  const Binding *binding = find(map, context, key);
  if (!binding) binding = find(map, KEYMAP_GLOBAL, key);
  return binding && *binding->action ? binding->action : NULL;
}

// Whether pressing the binding's key in `context` really runs it.
static bool in_force(const Keymap *map, const char *context, const Binding *binding) {
  const char *action = keymap_action(map, context, binding->key);
  return action && str_equal(action, binding->action) &&
         (str_equal(binding->context, context) || str_equal(binding->context, KEYMAP_GLOBAL));
}

Key keymap_key(const Keymap *map, const char *context, const char *action) {
  for (const Binding *at = map->last; at; at = at->next)
    if (str_equal(at->action, action) && in_force(map, context, at)) return at->key;
  return KEY_NONE;
}

const char *keymap_keys(Arena *arena, const Keymap *map, const char *context, const char *action) {
  Str keys = str_new(arena);
  char name[KEY_PRINT_MAX];
  for (const Binding *at = map->last; at; at = at->next) {
    if (!str_equal(at->action, action) || !in_force(map, context, at)) continue;
    bool twice = false;
    // Another view's binding of the same key to the same action does not leave this one out.
    for (const Binding *newer = map->last; newer != at; newer = newer->next)
      twice |= newer->key == at->key && str_equal(newer->action, action) &&
               in_force(map, context, newer);
    if (!twice) str_printf(&keys, "%s%s", keys.length ? " " : "", key_print(at->key, name));
  }
  return keys.text;
}
