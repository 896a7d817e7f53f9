// The user's configuration: a theme, colours, workers, and keys of their own.
//
//   {"theme": "colour-blind",
//    "keys": {"global": {"Alt-u": "undo", "u": ""}, "explore": {"x": "fix"}}}
//
// The file is $XDG_CONFIG_HOME/gemmview/config.json, else ~/.config/gemmview/config.json. The
// explorer reads it; nothing else does, so that what `gemmview show` prints depends on its
// arguments alone. It is written only when `gemmview config set` asks for it. What a command line
// says counts more than what the file says.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "tui/canvas/keymap.h"

enum { CONFIG_BINDINGS_MAX = 256, CONFIG_WORKERS_MAX = 16, CONFIG_BYTES_MAX = 1 << 20 };

typedef struct ConfigBinding {
  const char *context, *key, *action;  // "explore", "x", "fix"; action "": the key does nothing
} ConfigBinding;

typedef struct ConfigList {
  const char *item[CONFIG_WORKERS_MAX];
  int n;
} ConfigList;

typedef struct Config {
  const char *theme, *color;
  bool ascii, mouse;
  ConfigList worker;
  int n_bindings;
  ConfigBinding binding[CONFIG_BINDINGS_MAX];
} Config;

Config config_default(void);

// A text of that form, over `config`. Every mistake is a finding with its line and the nearest
// name; a wrong member keeps its value, and the rest counts. `what` names the text in findings.
bool config_read(Arena *arena, const char *text, size_t n, const char *what, Config *config,
                 Diags *diags);
// The text of a file that says all of it, a setting a line. With `all_keys` the keys of the program
// are listed too, as they are without a configuration.
char *config_text(Arena *arena, const Config *config, bool all_keys);
// "theme=light" or "keys.explore.x=fix" over `config`; false after a finding.
bool config_set(Arena *arena, Config *config, const char *assignment, Diags *diags);

// Binds the keys. Where nothing would be left that quits, q does, and a finding says so.
void config_bind(const Config *config, Keymap *keymap, Diags *diags);

// ---- the file -----------------------------------------------------------------------------------

const char *config_path(Arena *arena);  // NULL: XDG_CONFIG_HOME and HOME both name no folder
// Reads it over the defaults; that there is none is no finding. False after findings.
bool config_load(Arena *arena, const char *path, Config *config, Diags *diags);
// Writes it whole or not at all: under another name first, then renamed.
bool config_save(Arena *arena, const char *path, const Config *config, Diags *diags);
