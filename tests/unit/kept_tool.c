#include "kept_tool.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT_MIB = 512, PATH_BYTES = 8192 };

// "/usr/local/bin/nvdisasm"; false: PATH has none.
static bool find_real(char file[PATH_BYTES]) {
  for (const char *at = getenv("PATH"); at && *at; at += strspn(at, ":")) {
    const int n = (int)strcspn(at, ":");
    if (n < PATH_BYTES - 16) snprintf(file, PATH_BYTES, "%.*s/nvdisasm", n, at);
    if (n < PATH_BYTES - 16 && access(file, X_OK) == 0) return true;
    at += n;
  }
  return false;
}

// All of it goes when it is too much: what is asked for again comes back.
static void empty_if_full(const char *folder) {
  for (int pass = 0; pass < 2; pass++) {
    DIR *open = opendir(folder);
    long long bytes = 0;
    for (const struct dirent *entry; open && (entry = readdir(open));) {
      char path[PATH_BYTES];
      struct stat info;
      snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
      if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
      bytes += info.st_size;
      if (pass) unlink(path);
    }
    if (open) closedir(open);
    if (bytes >> 20 < KEPT_MIB) return;
  }
}

void kept_tool_begin(void) {
  static char real[PATH_BYTES], here[PATH_BYTES / 2], kept[PATH_BYTES], path[2 * PATH_BYTES];
  if (!find_real(real) || !getcwd(here, sizeof here)) return;
  snprintf(kept, sizeof kept, "%s/build/kept", here);
  snprintf(path, sizeof path, "%s/tests/unit/kept:%s", here, getenv("PATH"));
  mkdir("build", 0777);
  if (mkdir(kept, 0777) != 0 && access(kept, W_OK) != 0) return;
  empty_if_full(kept);
  setenv("GEMMVIEW_REAL_NVDISASM", real, 1);
  setenv("GEMMVIEW_KEPT_LISTINGS", kept, 1);
  setenv("PATH", path, 1);
}
