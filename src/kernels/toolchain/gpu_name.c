// The driver lists what it drives in files: /proc/driver/nvidia/gpus/0000:18:00.0/information has
//   Model:           NVIDIA H200
#include "kernels/toolchain/gpu_name.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const char *model_in(Arena *arena, const char *path) {
  char line[256];
  const char *model = "";
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    if (!str_starts(line, "Model:")) continue;
    char *name = line + strlen("Model:");
    name += strspn(name, " \t");
    name[strcspn(name, "\n")] = '\0';
    model = str_sanitise(arena, name);
  }
  if (file) fclose(file);
  return model;
}

const char *gpu_name_at_hand(Arena *arena) {
  const char *told = getenv("GEMMVIEW_GPU");
  if (told) return str_sanitise(arena, told);
  glob_t found;
  const char *name = "";
  if (glob("/proc/driver/nvidia/gpus/*/information", 0, NULL, &found) != 0) return "";
  if (found.gl_pathc > 0) name = model_in(arena, found.gl_pathv[0]);
  globfree(&found);
  return name;
}
