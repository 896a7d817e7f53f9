// Triton hands the driver machine code alone; the PTX that it was made of lies beside it in
// Triton's cache: CACHE/HASH/NAME.cubin, CACHE/HASH/NAME.ptx. The machine code tells which of them
// it is.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/driver_launch.h"

// Bytes that ptxas may write behind the last section of a file.
enum { TAIL_MAX = 1 << 16 };

static const char *cache_folder(Arena *arena) {
  const char *named = getenv("TRITON_CACHE_DIR"), *home = getenv("HOME");
  if (named && *named) return named;
  return home ? arena_printf(arena, "%s/.triton/cache", home) : NULL;
}

static bool is_same_code(Arena *arena, const char *path, const DriverImage *image) {
  size_t n = 0;
  const void *bytes = driver_read_file(arena, path, &n);
  return bytes && image->cubin_bytes > 0 && n >= image->cubin_bytes &&
         n - image->cubin_bytes < TAIL_MAX && memcmp(bytes, image->cubin, image->cubin_bytes) == 0;
}

void triton_find_ptx(DriverModule *module, const char *name) {
  Arena *scratch = arena_new("triton");
  const char *cache = module->image.cubin ? cache_folder(scratch) : NULL;
  DIR *folder = cache ? opendir(cache) : NULL;
  for (const struct dirent *entry; folder && !module->image.ptx && (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    const char *beside = arena_printf(scratch, "%s/%s/%s", cache, entry->d_name, name);
    if (!is_same_code(scratch, arena_printf(scratch, "%s.cubin", beside), &module->image)) continue;
    module->image.ptx = driver_read_file(module->arena, arena_printf(scratch, "%s.ptx", beside),
                                         &module->image.ptx_bytes);
  }
  if (folder) closedir(folder);
  arena_free(scratch);
}
