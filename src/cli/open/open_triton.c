// Files that Triton leaves in its cache: NAME.ptx, NAME.json, NAME.cubin, one beside the other; and
// the assembler that its wheel brings, newer than many a toolkit's.
//
//   {"shared": 49152, "num_warps": 4, "cluster_dims": [1, 1, 1], …}    smem=49152, block=128
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/open/open_parts.h"

enum { WARP = 32, SMEM_MAX = 1 << 20, WARPS_MAX = 32, CLUSTER_MAX = 16 };

// "x/matmul.json" of "x/matmul.ptx"; NULL: the path is not that of a PTX text.
static const char *beside(Arena *arena, const char *path, const char *ending) {
  const size_t n = strlen(path), cut = strlen(".ptx");
  if (n <= cut || !str_equal(path + n - cut, ".ptx")) return NULL;
  return arena_printf(arena, "%.*s%s", (int)(n - cut), path, ending);
}

bool open_triton_launch(Arena *arena, const char *path, PtxLaunch *launch) {
  Diags ignored = diags_new(arena);
  size_t bytes = 0;
  const char *file = beside(arena, path, ".json");
  const char *text =
      file && access(file, R_OK) == 0 ? open_read_file(arena, file, &bytes, &ignored) : NULL;
  const JsonValue *root = text ? json_parse(arena, text, bytes, &ignored, "Triton's file") : NULL;
  int shared = 0, warps = 0, cluster[3] = {1, 1, 1};
  if (!root || !json_optional_int(root, "shared", 0, SMEM_MAX, &shared, &ignored) ||
      !json_optional_int(root, "num_warps", 1, WARPS_MAX, &warps, &ignored) || warps == 0)
    return false;
  const JsonValue *dims = json_object_get(root, "cluster_dims");
  for (int d = 0; d < 3 && d < json_count(dims); d++)
    json_read_int(json_at(dims, d), 1, CLUSTER_MAX, &cluster[d], &ignored);
  *launch = (PtxLaunch){.block = {warps * WARP, 1, 1}, .dynamic_smem = shared};
  if (cluster[0] * cluster[1] * cluster[2] > 1) memcpy(launch->cluster, cluster, sizeof cluster);
  return true;
}

const char *open_triton_cubin(Arena *arena, const char *path, size_t *bytes) {
  Diags ignored = diags_new(arena);
  const char *file = beside(arena, path, ".cubin");
  return file && access(file, R_OK) == 0 ? open_read_file(arena, file, bytes, &ignored) : NULL;
}

// ---- its assembler ------------------------------------------------------------------------------

static const char *first_match(Arena *arena, const char *pattern) {
  glob_t found;
  const char *out = NULL;
  if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0)
    out = arena_strdup(arena, found.gl_pathv[found.gl_pathc - 1]);
  globfree(&found);
  return out && access(out, X_OK) == 0 ? out : NULL;
}

// Below the folder that has bin/python3.
static const char *below(Arena *arena, const char *root) {
  static const char *const folders[] = {"site-packages", "dist-packages"}, *const names[] = {
                                                                               "ptxas-blackwell",
                                                                               "ptxas"};
  for (int n = 0; root && n < 2; n++)
    for (int f = 0; f < 2; f++) {
      const char *found =
          first_match(arena, arena_printf(arena, "%s/lib/python3*/%s/triton/backends/nvidia/bin/%s",
                                          root, folders[f], names[n]));
      if (found) return found;
    }
  return NULL;
}

static const char *python_root(Arena *arena) {
  const char *python = open_find_tool(arena, "python3");
  const char *end = python ? strstr(python, "/bin/python3") : NULL;
  return end ? arena_strndup(arena, python, (size_t)(end - python)) : NULL;
}

const char *open_triton_ptxas(Arena *arena) {
  static const char *const named[] = {"TRITON_PTXAS_BLACKWELL_PATH", "TRITON_PTXAS_PATH"};
  for (int i = 0; i < 2; i++) {
    const char *path = getenv(named[i]);
    if (path && access(path, X_OK) == 0) return path;
  }
  const char *found = below(arena, getenv("VIRTUAL_ENV"));
  if (!found) found = below(arena, python_root(arena));
  return found ? found : below(arena, "/usr/local");
}
