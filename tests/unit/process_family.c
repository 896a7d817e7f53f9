#include "process_family.h"

#include <check.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

int family_count(pid_t pid) {
  DIR *proc = opendir("/proc");
  int n = 0;
  for (struct dirent *at = readdir(proc); at; at = readdir(proc)) {
    char name[300], line[512] = "";
    int parent = 0, group = 0, session = 0;
    snprintf(name, sizeof name, "/proc/%s/stat", at->d_name);
    FILE *file = at->d_name[0] >= '0' && at->d_name[0] <= '9' ? fopen(name, "re") : NULL;
    if (!file) continue;
    const char *after = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    char state = 0;
    if (!after || sscanf(after + 1, " %c %d %d %d", &state, &parent, &group, &session) != 4)
      continue;
    n += session == pid && state != 'Z';
  }
  closedir(proc);
  return n;
}

void family_check_ends(pid_t pid, int within_ms) {
  const int64_t until = clock_ms() + within_ms;
  while (family_count(pid) > 0 && clock_ms() < until) poll(NULL, 0, 5);
  ck_assert_msg(family_count(pid) == 0, "%d processes live on", family_count(pid));
}
