// Reading and writing the configuration, driven by config.def and the views' own tables of actions.
//
// Reading goes on after a mistake. Worked example: {"theem": "light", "keys": {"explore": {"x":
// "fixx"}}} gives two findings, "config.json:1:11: there is no "theem" here; nearest: theme" and
// "config.json:1:46: keys.explore.x: nothing is called "fixx" in explore; nearest: fix"; the
// explorer opens with the right parts.
#include "tui/frame/config.h"

#include <stddef.h>
#include <string.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/str.h"
#include "tui/canvas/theme.h"
#include "tui/frame/view.h"

typedef enum SettingKind { SETTING_TEXT, SETTING_FLAG, SETTING_LIST } SettingKind;

typedef struct Setting {
  const char *name;
  SettingKind kind;
  size_t offset;
} Setting;

static const Setting settings[] = {
#define SETTING(name, kind, field, default, help) {name, SETTING_##kind, offsetof(Config, field)},
#include "tui/frame/config.def"
#undef SETTING
};
enum { SETTINGS = sizeof settings / sizeof *settings, NAMES_MAX = 256 };

Config config_default(void) {
  return (Config){
#define SETTING(name, kind, field, default, help) .field = default,
#include "tui/frame/config.def"
#undef SETTING
  };
}

static void *field_of(Config *config, const Setting *setting) {
  return (char *)config + setting->offset;
}

// ---- reading ------------------------------------------------------------------------------------

static bool read_list(const JsonValue *value, ConfigList *list, Diags *diags) {
  bool ok = true;
  if (json_kind(value) != JSON_ARRAY || json_count(value) > CONFIG_WORKERS_MAX) {
    json_diag(diags, value, "expected a list of at most %d texts", CONFIG_WORKERS_MAX);
    return false;
  }
  list->n = 0;
  for (int i = 0; i < json_count(value); i++)
    ok = json_read_string(json_at(value, i), &list->item[list->n++], diags) && ok;
  return ok;
}

static void read_setting(const JsonValue *value, const Setting *setting, Config *config,
                         Diags *diags) {
  void *field = field_of(config, setting);
  if (setting->kind == SETTING_TEXT) json_read_string(value, (const char **)field, diags);
  if (setting->kind == SETTING_FLAG) json_read_bool(value, (bool *)field, diags);
  if (setting->kind != SETTING_LIST) return;
  ConfigList list = {0};
  if (read_list(value, &list, diags)) *(ConfigList *)field = list;
}

// Names that may stand for an action in that context: the view's, the global ones, "view banks".
typedef struct Names {
  const char *name[NAMES_MAX];
  int n;
} Names;

static void add_names(Names *names, const Action *action, int n) {
  for (int i = 0; i < n && names->n < NAMES_MAX; i++) names->name[names->n++] = action[i].name;
}

static Names action_names(Arena *arena, int view) {
  Names names = {.n = 0};
  if (view >= 0)
    add_names(&names, view_table[view].body->actions, view_table[view].body->n_actions);
  add_names(&names, global_actions, global_action_count);
  for (int i = 0; i < view_count && names.n < NAMES_MAX; i++)
    names.name[names.n++] = arena_printf(arena, "view %s", view_table[i].name);
  return names;
}

static bool is_among(const Names *names, const char *name) {
  for (int i = 0; i < names->n; i++)
    if (str_equal(names->name[i], name)) return true;
  return false;
}

static void add_binding(Config *config, const ConfigBinding *binding) {
  for (int i = 0; i < config->n_bindings; i++) {
    ConfigBinding *old = &config->binding[i];
    if (!str_equal(old->context, binding->context) || !str_equal(old->key, binding->key)) continue;
    *old = *binding;
    return;
  }
  if (config->n_bindings < CONFIG_BINDINGS_MAX) config->binding[config->n_bindings++] = *binding;
}

static void read_binding(Arena *arena, const JsonValue *value, const char *context, const char *key,
                         const Names *names, Config *config, Diags *diags) {
  const char *action;
  Diags wrong = diags_new(arena);
  char name[KEY_PRINT_MAX];
  Key code = key_parse(key, &wrong);
  if (code == KEY_NONE)
    json_diag(diags, value, "%s", wrong.first->text)->nearest = wrong.first->nearest;
  if (!json_read_string(value, &action, diags) || code == KEY_NONE) return;
  if (*action && !is_among(names, action)) {
    json_diag(diags, value, "no action \"%s\" exists in %s", str_sanitise(arena, action), context)
        ->nearest = nearest_name(action, names->name, names->n);
    return;
  }
  if (config->n_bindings == CONFIG_BINDINGS_MAX)
    json_diag(diags, value, "there are more than %d keys", CONFIG_BINDINGS_MAX);
  const char *printed = arena_strdup(arena, key_print(code, name));
  add_binding(config, &(ConfigBinding){context, printed, action});
}

static int find_context(Arena *arena, const JsonValue *value, const char *name, Diags *diags) {
  if (str_equal(name, KEYMAP_GLOBAL)) return -1;
  int view = view_find(name);
  if (view >= 0) return view;
  Names names = {.name = {KEYMAP_GLOBAL}, .n = 1};
  for (int i = 0; i < view_count; i++) names.name[names.n++] = view_table[i].name;
  json_diag(diags, value, "there is no view \"%s\"", str_sanitise(arena, name))->nearest =
      nearest_name(name, names.name, names.n);
  return -2;
}

static void read_keys(Arena *arena, const JsonValue *keys, Config *config, Diags *diags) {
  if (json_kind(keys) != JSON_OBJECT) json_diag(diags, keys, "expected an object of views");
  for (int i = 0; i < json_count(keys) && json_kind(keys) == JSON_OBJECT; i++) {
    const JsonValue *list = json_at(keys, i);
    int view = find_context(arena, list, json_key_at(keys, i), diags);
    if (view < -1) continue;
    const char *context = view < 0 ? KEYMAP_GLOBAL : view_table[view].name;
    if (json_kind(list) != JSON_OBJECT) json_diag(diags, list, "expected an object of keys");
    Names names = action_names(arena, view);
    for (int k = 0; k < json_count(list) && json_kind(list) == JSON_OBJECT; k++)
      read_binding(arena, json_at(list, k), context, json_key_at(list, k), &names, config, diags);
  }
}

// JSON takes these texts like any other; the program that uses them does not.
static void check_names(Arena *arena, const JsonValue *root, Config *config, Diags *diags) {
  Diags wrong = diags_new(arena);
  Config defaults = config_default();
  ColorDepth depth;
  if (!theme_find(arena, config->theme, &wrong)) config->theme = defaults.theme;
  if (!color_depth(&(ColorSettings){.option = config->color}, &depth, &wrong))
    config->color = defaults.color;
  for (const Diag *d = wrong.first; d; d = d->next) {
    bool theme = str_equal(d->rule, "theme");
    const JsonValue *value = json_object_get(root, theme ? "theme" : "color");
    json_diag(diags, value ? value : root, "%s", d->text)->nearest = d->nearest;
  }
}

bool config_read(Arena *arena, const char *text, size_t n, const char *what, Config *config,
                 Diags *diags) {
  int before = diags->count;
  const char *known[SETTINGS + 1] = {"keys"};
  const JsonValue *root = json_parse(arena, text, n, diags, what);
  if (!root) return false;
  if (json_kind(root) != JSON_OBJECT) {
    json_diag(diags, root, "expected an object: the configuration");
    return false;
  }
  for (int i = 0; i < SETTINGS; i++) known[i + 1] = settings[i].name;
  json_check_keys(root, known, SETTINGS + 1, diags);
  for (int i = 0; i < SETTINGS; i++) {
    const JsonValue *value = json_object_get(root, settings[i].name);
    if (value) read_setting(value, &settings[i], config, diags);
  }
  check_names(arena, root, config, diags);
  const JsonValue *keys = json_object_get(root, "keys");
  if (keys) read_keys(arena, keys, config, diags);
  return diags->count == before;
}

// ---- writing ------------------------------------------------------------------------------------

static void put_value(JsonWriter *w, const Config *config, const Setting *setting) {
  const void *field = (const char *)config + setting->offset;
  const ConfigList *list = field;
  if (setting->kind == SETTING_TEXT) json_put_string(w, *(const char *const *)field);
  if (setting->kind == SETTING_FLAG) json_put_bool(w, *(const bool *)field);
  if (setting->kind != SETTING_LIST) return;
  json_begin_array(w);
  for (int i = 0; i < list->n; i++) json_put_string(w, list->item[i]);
  json_end_array(w);
}

static void put_text(Str *out, const char *text) {
  JsonWriter w = json_writer(out);
  json_put_string(&w, text);
}

static void put_binding(Str *out, int *n, const char *key, const char *action) {
  str_add(out, (*n)++ ? ",\n      " : "\n      ");
  put_text(out, key);
  str_add(out, ": ");
  put_text(out, action);
}

// "Up k": two lines, the first key last, because the key that is bound last is the one shown.
static void put_keys(Str *out, int *n, const char *keys, const char *action) {
  size_t length = strcspn(keys, " ");
  if (keys[length]) put_keys(out, n, keys + length + 1, action);
  if (length) put_binding(out, n, arena_strndup(out->arena, keys, length), action);
}

static void put_actions(Str *out, int *n, const Action *action, int n_actions) {
  for (int i = 0; i < n_actions; i++) put_keys(out, n, action[i].keys, action[i].name);
}

static void put_context(Str *out, int *n_contexts, const char *name, int view, const Config *config,
                        bool all) {
  int n = 0;
  Str keys = str_new(out->arena);
  const ViewBody *body = view >= 0 ? view_table[view].body : NULL;
  if (all && body) put_actions(&keys, &n, body->actions, body->n_actions);
  if (all && !body) put_actions(&keys, &n, global_actions, global_action_count);
  for (int i = 0; all && !body && i < view_count; i++)
    put_binding(&keys, &n, view_table[i].key,
                arena_printf(out->arena, "view %s", view_table[i].name));
  for (int i = 0; i < config->n_bindings; i++)
    if (str_equal(config->binding[i].context, name))
      put_binding(&keys, &n, config->binding[i].key, config->binding[i].action);
  if (n == 0) return;
  str_add(out, (*n_contexts)++ ? ",\n    " : "\n    ");
  put_text(out, name);
  str_printf(out, ": {%s\n    }", keys.text);
}

char *config_text(Arena *arena, const Config *config, bool all_keys) {
  Str out = str_new(arena);
  int n = 0;
  str_add(&out, "{\n");
  for (int i = 0; i < SETTINGS; i++) {
    JsonWriter w = json_writer(&out);
    str_printf(&out, "  \"%s\": ", settings[i].name);
    put_value(&w, config, &settings[i]);
    str_add(&out, ",\n");
  }
  str_add(&out, "  \"keys\": {");
  put_context(&out, &n, KEYMAP_GLOBAL, -1, config, all_keys);
  for (int i = 0; i < view_count; i++)
    put_context(&out, &n, view_table[i].name, i, config, all_keys);
  str_add(&out, n ? "\n  }\n}\n" : "}\n}\n");
  return out.text;
}

// ---- one setting --------------------------------------------------------------------------------

// true, false and lists as they are, everything else a text: "theme=light" needs no quotes.
static const char *value_text(Arena *arena, const char *value) {
  if (str_equal(value, "true") || str_equal(value, "false") || *value == '[') return value;
  Str out = str_new(arena);
  put_text(&out, value);
  return out.text;
}

bool config_set(Arena *arena, Config *config, const char *assignment, Diags *diags) {
  // The key may be '=' itself, and a worker's command may hold one.
  bool key = str_starts(assignment, "keys.");
  const char *equals = key ? strrchr(assignment, '=') : strchr(assignment, '=');
  if (!equals || equals == assignment) {
    diag_add(diags, "config", "\"%s\" is not NAME=VALUE", str_sanitise(arena, assignment));
    return false;
  }
  char *path = arena_strndup(arena, assignment, (size_t)(equals - assignment));
  Str text = str_new(arena);
  int depth = 1;
  // "keys.explore.x" is three names, and the key of the third may be a dot itself.
  for (char *part = path, *dot; depth <= 3; part = dot + 1, depth++) {
    dot = depth < 3 && str_starts(path, "keys.") ? strchr(part, '.') : NULL;
    str_add(&text, "{");
    put_text(&text, arena_strndup(arena, part, dot ? (size_t)(dot - part) : strlen(part)));
    str_add(&text, ":");
    if (!dot) break;
  }
  str_add(&text, value_text(arena, equals + 1));
  str_add_repeat(&text, '}', depth);
  return config_read(arena, text.text, text.length, assignment, config, diags);
}

// ---- keys ---------------------------------------------------------------------------------------

void config_bind(const Config *config, Keymap *keymap, Diags *diags) {
  for (int i = 0; i < config->n_bindings; i++)
    keymap_bind(keymap, config->binding[i].context, config->binding[i].key,
                config->binding[i].action, "config.json", diags);
  bool told = false;
  for (int i = 0; i < view_count; i++) {
    const char *view = view_table[i].name;
    if (keymap_key(keymap, view, "quit") != KEY_NONE) continue;
    if (!told) diag_add(diags, "config", "no key quits in %s any more, so q keeps doing it", view);
    told = true;
    keymap_bind(keymap, view, "q", "quit", NULL, diags);
  }
}
