// XDG's folders, and files that are replaced by rename().
//
// Worked example: disk_replace("/home/ana/.config/gemmview/config.json", …) makes .config and
// gemmview where they are missing, writes config.json.k3Xw9Q beside the old file, and renames it
// once it is on the disk.
#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
  const char *variable, *below_home;
} folders[] = {
    [DISK_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
    [DISK_STATE] = {"XDG_STATE_HOME", ".local/state"},
    [DISK_CACHE] = {"XDG_CACHE_HOME", ".cache"},
};

char *disk_path(Arena *arena, DiskFolder folder, const char *name) {
  const char *xdg = getenv(folders[folder].variable), *home = getenv("HOME");
  const char *slash = name ? "/" : "", *file = name ? name : "";
  if (xdg && xdg[0] == '/') return arena_printf(arena, "%s/gemmview%s%s", xdg, slash, file);
  if (!home || home[0] != '/') return NULL;
  return arena_printf(arena, "%s/%s/gemmview%s%s", home, folders[folder].below_home, slash, file);
}

bool disk_make_folders(const char *path) {
  Arena *arena = arena_new("folders");
  char *folder = arena_strdup(arena, path);
  bool ok = true;
  for (char *slash = folder; ok && (slash = strchr(slash + 1, '/'));) {
    *slash = '\0';
    ok = mkdir(folder, 0700) == 0 || errno == EEXIST;
    *slash = '/';
  }
  int error = errno;
  arena_free(arena);
  errno = error;
  return ok;
}

bool write_all(int fd, const void *bytes, size_t n) {
  for (size_t at = 0; at < n;) {
    ssize_t put = write(fd, (const char *)bytes + at, n - at);
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) at += (size_t)put;
  }
  return true;
}

static bool replace(const char *path, char *scratch, const char *text) {
  int fd = mkostemp(scratch, O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = write_all(fd, text, strlen(text)) && fsync(fd) == 0;
  ok = close(fd) == 0 && ok;
  if (ok && rename(scratch, path) == 0) return true;
  int error = errno;
  unlink(scratch);
  errno = error;
  return false;
}

bool disk_replace(const char *path, const char *text) {
  if (!disk_make_folders(path)) return false;
  Arena *arena = arena_new("replace");
  bool ok = replace(path, arena_printf(arena, "%s.XXXXXX", path), text);
  int error = errno;
  arena_free(arena);
  errno = error;
  return ok;
}
