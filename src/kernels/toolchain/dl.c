// Finds CUDA's libraries, and words the error when they are not there.
//
// Toolkit libraries (NVRTC, cuBLAS) live in many places, so folders are tried one by one, then the
// system's own search, then Python packages:
//
//   $GEMMVIEW_CUDA $CUDA_HOME $CUDA_PATH   each: itself, lib64, lib, targets/x86_64-linux/lib
//   /usr/local/cuda, /usr/local/cuda-13.0 … (newest first), /opt/cuda      likewise
//   the system's search path
//   site-packages/nvidia/{cu13,cuda_nvrtc,cublas}/lib of $VIRTUAL_ENV, $CONDA_PREFIX, ~/.local, …
//
// In every folder the sonames are tried newest first: libnvrtc.so.13, libnvrtc.so.12, libnvrtc.so.
// The driver's two (libcuda, NVML) come with the kernel module, not with a toolkit: their place is
// the system's path, or the folders that containers and WSL mount. A library that opens but lacks a
// function is refused as a whole, with that function's name: half a table of pointers would crash.
#include "kernels/toolchain/dl.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MAX = 96 };

typedef struct Symbol {
  const char *name;
  size_t offset;  // of its pointer in the API table
  bool optional;
} Symbol;

#define ROW(API, NAME, OPTIONAL) {#NAME, offsetof(API, NAME), OPTIONAL},
#define CUDA_ROW(R, NAME, P) ROW(CudaApi, NAME, false)
#define CUDA_OPTIONAL_ROW(R, NAME, P) ROW(CudaApi, NAME, true)
#define NVRTC_ROW(R, NAME, P) ROW(NvrtcApi, NAME, false)
#define CUBLAS_ROW(R, NAME, P) ROW(CublasApi, NAME, false)
#define CUBLASLT_ROW(R, NAME, P) ROW(CublasLtApi, NAME, false)
#define NVML_ROW(R, NAME, P) ROW(NvmlApi, NAME, false)

static const Symbol cuda_symbols[] = {CUDA_FUNCTIONS(CUDA_ROW)
                                          CUDA_OPTIONAL_FUNCTIONS(CUDA_OPTIONAL_ROW){0}};
static const Symbol nvrtc_symbols[] = {NVRTC_FUNCTIONS(NVRTC_ROW){0}};
static const Symbol cublas_symbols[] = {CUBLAS_FUNCTIONS(CUBLAS_ROW){0}};
static const Symbol cublaslt_symbols[] = {CUBLASLT_FUNCTIONS(CUBLASLT_ROW){0}};
static const Symbol nvml_symbols[] = {NVML_FUNCTIONS(NVML_ROW){0}};

static CudaApi cuda_api;
static NvrtcApi nvrtc_api;
static CublasApi cublas_api;
static CublasLtApi cublaslt_api;
static NvmlApi nvml_api;

typedef struct LibraryRow {
  const char *name, *purpose, *remedy;
  const char *sonames[4];
  bool of_driver;
  const Symbol *symbols;
  void *api;
} LibraryRow;

static const LibraryRow library_rows[DL_N] = {
    [DL_CUDA] = {"CUDA driver",
                 "runs kernels",
                 "is the NVIDIA driver installed?",
                 {"libcuda.so.1"},
                 true,
                 cuda_symbols,
                 &cuda_api},
    [DL_NVRTC] = {"NVRTC",
                  "compiles CUDA text",
                  "install the CUDA toolkit, or point GEMMVIEW_CUDA at one",
                  {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
                  false,
                  nvrtc_symbols,
                  &nvrtc_api},
    [DL_CUBLAS] = {"cuBLAS",
                   "is timed beside the kernels as the reference",
                   "install the CUDA toolkit, or point GEMMVIEW_CUDA at one",
                   {"libcublas.so.13", "libcublas.so.12", "libcublas.so"},
                   false,
                   cublas_symbols,
                   &cublas_api},
    [DL_CUBLASLT] = {"cublasLt",
                     "offers more reference kernels",
                     "install the CUDA toolkit, or point GEMMVIEW_CUDA at one",
                     {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
                     false,
                     cublaslt_symbols,
                     &cublaslt_api},
    [DL_NVML] = {"NVML",
                 "reads clocks and throttle reasons",
                 "is the NVIDIA driver installed?",
                 {"libnvidia-ml.so.1"},
                 true,
                 nvml_symbols,
                 &nvml_api},
};

typedef struct Opened {
  bool tried, found;
  const void *replaced;
} Opened;
static Opened opened[DL_N];
static char paths[DL_N][PATH_MAX];
static char errors[DL_N][PATH_MAX + 128];

typedef struct Folders {
  Arena *arena;
  const char *paths[FOLDER_MAX + 1];
  int n;
} Folders;

static void folder_add(Folders *folders, const char *path) {
  struct stat status;
  if (folders->n == FOLDER_MAX || stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) return;
  for (int i = 0; i < folders->n; i++)
    if (strcmp(folders->paths[i], path) == 0) return;
  folders->paths[folders->n++] = arena_strdup(folders->arena, path);
}

// Newest version first: cuda-13.0 before cuda-12.8, python3.12 before python3.11.
static void folder_add_glob(Folders *folders, const char *pattern) {
  glob_t found;
  if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) return;
  for (size_t i = 1; i < found.gl_pathc; i++)
    for (size_t j = i; j > 0 && strverscmp(found.gl_pathv[j - 1], found.gl_pathv[j]) < 0; j--) {
      char *swap = found.gl_pathv[j];
      found.gl_pathv[j] = found.gl_pathv[j - 1];
      found.gl_pathv[j - 1] = swap;
    }
  for (size_t i = 0; i < found.gl_pathc; i++) folder_add(folders, found.gl_pathv[i]);
  globfree(&found);
}

static void folder_add_toolkit(Folders *folders, const char *root) {
  static const char *const below[] = {"", "/lib64", "/lib", "/targets/x86_64-linux/lib"};
  if (!root || !root[0]) return;
  for (int i = 0; i < 4; i++)
    folder_add_glob(folders, arena_printf(folders->arena, "%s%s", root, below[i]));
}

static void folder_add_packages(Folders *folders, const char *prefix) {
  static const char *const packages[] = {"cu13", "cuda_nvrtc", "cublas"};
  if (!prefix || !prefix[0]) return;
  for (int i = 0; i < 6; i++)
    folder_add_glob(
        folders, arena_printf(folders->arena, "%s/lib/python3*/%s-packages/nvidia/%s/lib", prefix,
                              i < 3 ? "site" : "dist", packages[i % 3]));
}

static void folder_add_toolkits(Folders *folders) {
  folder_add_toolkit(folders, getenv("GEMMVIEW_CUDA"));
  folder_add_toolkit(folders, getenv("CUDA_HOME"));
  folder_add_toolkit(folders, getenv("CUDA_PATH"));
  folder_add_toolkit(folders, "/usr/local/cuda");
  folder_add_toolkit(folders, "/usr/local/cuda-[0-9]*");
  folder_add_toolkit(folders, "/opt/cuda");
}

static void folder_add_python(Folders *folders) {
  const char *home = getenv("HOME");
  folder_add_packages(folders, getenv("VIRTUAL_ENV"));
  const char *conda = getenv("CONDA_PREFIX");
  if (conda && conda[0]) folder_add(folders, arena_printf(folders->arena, "%s/lib", conda));
  folder_add_packages(folders, conda);
  if (home) folder_add_packages(folders, arena_printf(folders->arena, "%s/.local", home));
  folder_add_packages(folders, "/usr/local");
  folder_add_packages(folders, "/usr");
}

static void folder_add_driver(Folders *folders) {
  static const char *const places[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                                       "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64",
                                       "/run/opengl-driver/lib"};
  for (int i = 0; i < 5; i++) folder_add(folders, places[i]);
}

// The folders searched for toolkit libraries, in order, that exist here; the array ends with NULL.
static const char *const *existing_folders(Arena *arena) {
  Folders *folders = ARENA_NEW(arena, Folders);
  folders->arena = arena;
  folder_add_toolkits(folders);
  folder_add_python(folders);
  return folders->paths;
}

const char *dl_find_tool(Arena *arena, const char *name) {
  static const char *const below[] = {"bin", "../bin", "../../../bin"};
  const char *const *folders = existing_folders(arena);
  for (int i = 0; folders[i]; i++)
    for (int j = 0; j < 3; j++) {
      char *path = arena_printf(arena, "%s/%s/%s", folders[i], below[j], name);
      if (access(path, X_OK) == 0) return path;
    }
  return NULL;
}

static void *open_in(const Folders *folders, const LibraryRow *row) {
  for (int i = 0; i < folders->n; i++)
    for (int s = 0; s < 4 && row->sonames[s]; s++) {
      char path[PATH_MAX];
      int length = snprintf(path, sizeof path, "%s/%s", folders->paths[i], row->sonames[s]);
      if (length < 0 || length >= (int)sizeof path || access(path, R_OK) != 0) continue;
      void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
      if (handle) return handle;
    }
  return NULL;
}

static void *open_system(const LibraryRow *row) {
  for (int s = 0; s < 4 && row->sonames[s]; s++) {
    void *handle = dlopen(row->sonames[s], RTLD_LAZY | RTLD_LOCAL);
    if (handle) return handle;
  }
  return NULL;
}

static void *open_anywhere(Arena *arena, const LibraryRow *row) {
  Folders first = {.arena = arena}, last = {.arena = arena};
  if (!row->of_driver) folder_add_toolkits(&first);
  void *handle = open_in(&first, row);
  if (!handle) handle = open_system(row);
  if (handle) return handle;
  if (row->of_driver)
    folder_add_driver(&last);
  else
    folder_add_python(&last);
  return open_in(&last, row);
}

// The first missing symbol, or NULL when the table is full.
static const char *bind(void *handle, const LibraryRow *row) {
  for (const Symbol *symbol = row->symbols; symbol->name; symbol++) {
    void *address = dlsym(handle, symbol->name);
    if (!address && !symbol->optional) return symbol->name;
    memcpy((char *)row->api + symbol->offset, &address, sizeof address);
  }
  return NULL;
}

static void note_path(char path[PATH_MAX], void *handle, const char *fallback) {
  struct link_map *map = NULL;
  bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0];
  snprintf(path, PATH_MAX, "%s", known ? map->l_name : fallback);
}

static const void *library_get(DlLibrary library, const char **error) {
  const LibraryRow *row = &library_rows[library];
  Opened *entry = &opened[library];
  if (entry->replaced) {
    if (error) *error = NULL;
    return entry->replaced;
  }
  if (!entry->tried) {
    entry->tried = true;
    Arena *arena = arena_new("library search");
    void *handle = open_anywhere(arena, row);
    arena_free(arena);
    const char *missing = handle ? bind(handle, row) : NULL;
    if (handle) note_path(paths[library], handle, row->sonames[0]);
    if (!handle)
      snprintf(errors[library], sizeof errors[library], "%s (%s) was not found: %s", row->name,
               row->sonames[0], row->remedy);
    else if (missing)
      snprintf(errors[library], sizeof errors[library], "%s is too old: it does not have %s",
               paths[library], missing);
    entry->found = handle && !missing;
  }
  if (error) *error = entry->found ? NULL : errors[library];
  return entry->found ? row->api : NULL;
}

const CudaApi *dl_cuda(const char **error) { return library_get(DL_CUDA, error); }
const NvrtcApi *dl_nvrtc(const char **error) { return library_get(DL_NVRTC, error); }
const CublasApi *dl_cublas(const char **error) { return library_get(DL_CUBLAS, error); }
const CublasLtApi *dl_cublaslt(const char **error) { return library_get(DL_CUBLASLT, error); }
const NvmlApi *dl_nvml(const char **error) { return library_get(DL_NVML, error); }

DlStatus dl_status(DlLibrary library) {
  DlStatus status = {.name = library_rows[library].name, .purpose = library_rows[library].purpose};
  if (library_get(library, &status.error)) status.path = paths[library];
  return status;
}

void dl_replace(DlLibrary library, const void *api) { opened[library] = (Opened){.replaced = api}; }
