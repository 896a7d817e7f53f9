// Where the configuration lies, and how it is read and replaced (the declarations are in config.h).
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/disk.h"
#include "base/str.h"
#include "tui/frame/config.h"

const char *config_path(Arena *arena) { return disk_path(arena, DISK_CONFIG, "config.json"); }

static bool fail(const char *path, Diags *diags) {
  diag_add(diags, "config", "%s: %s", str_sanitise(diags->arena, path), strerror(errno));
  return false;
}

bool config_load(Arena *arena, const char *path, Config *config, Diags *diags) {
  *config = config_default();
  const char *why = NULL;
  FILE *file = path ? disk_open(path, false, &why) : NULL;
  if (!file && (!path || errno == ENOENT || errno == ENOTDIR)) return true;
  if (!file) {
    diag_add(diags, "config", "%s: %s", str_sanitise(arena, path), why);
    return false;
  }
  char *text = ARENA_ARRAY(arena, char, CONFIG_BYTES_MAX + 1);
  size_t n = fread(text, 1, CONFIG_BYTES_MAX + 1, file);
  bool failed = ferror(file) != 0;
  if (failed) fail(path, diags);
  fclose(file);
  if (failed) return false;
  if (n <= CONFIG_BYTES_MAX)
    return config_read(arena, text, n, str_sanitise(arena, path), config, diags);
  diag_add(diags, "config", "%s: longer than %d bytes", str_sanitise(arena, path),
           CONFIG_BYTES_MAX);
  return false;
}

bool config_save(Arena *arena, const char *path, const Config *config, Diags *diags) {
  return disk_replace(path, config_text(arena, config, false)) || fail(path, diags);
}
