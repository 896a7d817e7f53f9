// `make portable` puts terminfo/ beside the program, `make wheel` into share/ beside bin/. A
// machine without terminal descriptions, such as a bare container, then still has the common ones;
// those of the machine come first.
//
//   /opt/gemmview/gemmview  →  TERMINFO_DIRS=/etc/terminfo:…:/opt/gemmview/terminfo
//   venv/bin/gemmview       →  TERMINFO_DIRS=/etc/terminfo:…:venv/bin/../share/gemmview/terminfo
#include "cli/common/portable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_FOLDERS "/etc/terminfo:/lib/terminfo:/usr/lib/terminfo:/usr/share/terminfo"

static const char *const places[] = {"terminfo", "../share/gemmview/terminfo"};

bool portable_program(char path[PATH_MAX]) {
  const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (n > 0) path[n] = '\0';
  return n > 0;
}

void portable_find_terminfo(void) {
  char program[PATH_MAX], folder[PATH_MAX + 32], folders[PATH_MAX + 128];
  if (getenv("TERMINFO_DIRS") || !portable_program(program)) return;
  char *slash = strrchr(program, '/');
  if (!slash) return;
  *slash = '\0';
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    snprintf(folder, sizeof folder, "%s/%s", program, places[i]);
    if (access(folder, R_OK | X_OK) != 0) continue;
    snprintf(folders, sizeof folders, "%s:%s", SYSTEM_FOLDERS, folder);
    setenv("TERMINFO_DIRS", folders, 1);
    return;
  }
}
