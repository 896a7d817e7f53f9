// Where the configuration lies, and how it is read and replaced (the declarations are in config.h).
//
// Replacing goes through a file of another name in the same folder and rename(), so whoever reads
// meanwhile sees the old file or the new one, and a full disk leaves the old one.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "tui/config.h"

const char *config_path(Arena *arena) {
  const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  if (xdg && xdg[0] == '/') return arena_printf(arena, "%s/gemmview/config.json", xdg);
  if (home && home[0] == '/') return arena_printf(arena, "%s/.config/gemmview/config.json", home);
  return NULL;
}

static bool fail(const char *path, Diags *diags) {
  diag_add(diags, "config", "%s: %s", str_sanitise(diags->arena, path), strerror(errno));
  return false;
}

bool config_load(Arena *arena, const char *path, Config *config, Diags *diags) {
  *config = config_default();
  FILE *file = path ? fopen(path, "rb") : NULL;
  if (!file) return !path || errno == ENOENT || errno == ENOTDIR || fail(path, diags);
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

static void make_folders(Arena *arena, const char *path) {
  char *copy = arena_strdup(arena, path);
  for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(copy, 0700);  // what cannot be made shows when the file is opened
    *slash = '/';
  }
}

static bool write_all(int fd, const char *text) {
  for (size_t n = strlen(text); n;) {
    ssize_t put = write(fd, text, n);
    if (put < 0 && errno != EINTR) return false;
    if (put <= 0) continue;
    text += put;
    n -= (size_t)put;
  }
  return fsync(fd) == 0;
}

bool config_save(Arena *arena, const char *path, const Config *config, Diags *diags) {
  make_folders(arena, path);
  char *scratch = arena_printf(arena, "%s.XXXXXX", path);
  int fd = mkostemp(scratch, O_CLOEXEC);
  if (fd < 0) return fail(path, diags);
  bool ok = write_all(fd, config_text(arena, config, false));
  ok = close(fd) == 0 && ok;
  ok = ok && rename(scratch, path) == 0;
  if (ok) return true;
  fail(path, diags);
  unlink(scratch);
  return false;
}
