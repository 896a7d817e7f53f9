// Modules and libraries, which are the same thing here: an image, its PTX read, its variables in
// memory of the device. With a real driver the handles are its own, and what is kept beside them is
// the image and the name, for a launch that is wanted.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/driver_launch.h"
#include "driver/entry.h"
#include "ptx/run/run.h"

static DriverModule *modules;

// ---- loading ------------------------------------------------------------------------------------

DriverResult driver_place_variable(DriverModule *module, const char *name, PtxSpace space,
                                   int64_t n, const void *init) {
  DriverVariable *kept = ARENA_NEW(module->arena, DriverVariable);
  *kept = (DriverVariable){.name = name, .space = space, .bytes = n};
  const DriverResult result = driver_allocate(&kept->address, (size_t)n, name);
  if (result != DRIVER_OK) return result;
  unsigned char *state = NULL, *bytes = driver_bytes(kept->address, (size_t)n, &state);
  if (init) memcpy(bytes, init, (size_t)n);
  memset(state, PTX_BYTE_WRITTEN, (size_t)n);
  kept->next = module->variables;
  module->variables = kept;
  return DRIVER_OK;
}

// The variables of a text, with what it says they hold.
static DriverResult place_variables(DriverModule *module) {
  DriverResult result = DRIVER_OK;
  for (int i = 0; i < module->ptx->n_variables && result == DRIVER_OK; i++) {
    const PtxVariable *v = &module->ptx->variables[i];
    if ((v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) || v->bytes == 0) continue;
    result = driver_place_variable(module, v->name, v->space, v->bytes, v->init);
  }
  return result;
}

bool driver_read_ptx(DriverModule *module) {
  if (module->ptx || !module->image.ptx) return module->ptx != NULL;
  Diags diags = diags_new(module->arena);
  module->ptx = ptx_module_read(module->arena, module->image.ptx, module->image.ptx_bytes,
                                "the program's PTX", &diags);
  if (module->ptx) return true;
  module->image.why_not = arena_printf(module->arena, "its PTX is not read: %s", diags.first->text);
  module->image.ptx = NULL;
  return false;
}

DriverResult driver_load(DriverModule **module, const void *data) {
  if (!module || !data) return DRIVER_INVALID_VALUE;
  Arena *arena = arena_new("module");
  DriverModule *made = ARENA_NEW(arena, DriverModule);
  *made = (DriverModule){.arena = arena, .image = driver_image(arena, data), .next = modules};
  modules = made;
  *module = made;
  if (driver_forwards()) return DRIVER_OK;
  return driver_read_ptx(made) ? place_variables(made) : driver_place_code(made);
}

void *driver_read_file(Arena *arena, const char *path, size_t *bytes) {
  FILE *file = path ? fopen(path, "rbe") : NULL;
  if (!file) return NULL;
  Str text = str_new(arena);
  char piece[4096];
  for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;) str_add_bytes(&text, piece, n);
  fclose(file);
  *bytes = text.length;
  return text.text;
}

// It stays: images point into it.
static void *read_image(const char *path) {
  size_t bytes = 0;
  return driver_read_file(arena_new("file"), path, &bytes);
}

// ---- what a module has --------------------------------------------------------------------------

static const PtxFunction *kernel_named(const PtxModule *ptx, const char *name) {
  for (int i = 0; i < ptx->n_functions; i++)
    if (ptx->functions[i].is_kernel && ptx->functions[i].has_body &&
        str_equal(ptx->functions[i].name, name))
      return &ptx->functions[i];
  return NULL;
}

void driver_find_kernel(DriverFunction *f) {
  if (f->kernel) return;
  if (!f->module->image.ptx) triton_find_ptx(f->module, f->name);
  if (driver_read_ptx(f->module)) f->kernel = kernel_named(f->module->ptx, f->name);
  f->ptx = f->module->ptx;
  if (!driver_forwards() && !driver_settings()->skips) driver_read_code(f);
}

// Without PTX a function is handed out all the same: the launch names the missing part.
DriverFunction *driver_function(DriverModule *module, const char *name) {
  for (DriverFunction *f = module->functions; f; f = f->next)
    if (str_equal(f->name, name)) return f;
  const PtxFunction *kernel = module->ptx ? kernel_named(module->ptx, name) : NULL;
  if (module->ptx && !kernel) return NULL;
  DriverFunction *made = ARENA_NEW(module->arena, DriverFunction);
  *made = (DriverFunction){.module = module, .name = arena_strdup(module->arena, name)};
  made->ptx = module->ptx;
  made->kernel = kernel;
  made->next = module->functions;
  module->functions = made;
  return made;
}

DriverVariable *driver_variable(DriverModule *module, const char *name) {
  for (DriverVariable *v = module->variables; v; v = v->next)
    if (str_equal(v->name, name)) return v;
  return NULL;
}

// ---- handles of a real driver -------------------------------------------------------------------

typedef struct Handle {
  void *handle;
  DriverModule *module;
  DriverFunction *function;
  struct Handle *next;
} Handle;
enum { BUCKETS = 1024 };
static Handle *handles[BUCKETS];

static Handle **bucket_of(const void *handle) {
  return &handles[((uintptr_t)handle >> 4) % BUCKETS];
}

static Handle *handle_of(const void *handle) {
  for (Handle *h = *bucket_of(handle); h; h = h->next)
    if (h->handle == handle) return h;
  return NULL;
}

static void track(void *handle, DriverModule *module, DriverFunction *function) {
  Handle *h = handle_of(handle);
  if (!h) {
    h = calloc(1, sizeof *h);
    if (!h) return;
    h->next = *bucket_of(handle);
    *bucket_of(handle) = h;
  }
  *h = (Handle){handle, module, function, h->next};
}

// A kernel with a handle from elsewhere, which only has its name: the newest image that has it.
static DriverFunction *find_by_name(void *handle) {
  typedef int GetName(const char **, void *);
  GetName *of_function = (GetName *)driver_real("cuFuncGetName"),
          *of_kernel = (GetName *)driver_real("cuKernelGetName");
  const char *name = NULL;
  if ((!of_function || of_function(&name, handle)) && (!of_kernel || of_kernel(&name, handle)))
    return NULL;
  DriverFunction *found = NULL;
  for (DriverModule *m = modules; m && !found; m = m->next)
    if (m->image.ptx && strstr(m->image.ptx, name)) found = driver_function(m, name);
  if (!found) {
    DriverModule *none = calloc(1, sizeof *none);
    if (!none) return NULL;
    none->arena = arena_new("kernel");
    none->image.why_not = "the program loaded it by a call without an image";
    found = driver_function(none, name);
  }
  track(handle, found->module, found);
  return found;
}

DriverFunction *driver_function_of(void *handle) {
  if (!driver_forwards()) return handle;
  const Handle *h = handle_of(handle);
  return h && h->function ? h->function : find_by_name(handle);
}

static void track_module(void *handle, const void *data) {
  DriverModule *module;
  pthread_mutex_lock(&driver_mutex);
  if (data && driver_load(&module, data) == DRIVER_OK) track(handle, module, NULL);
  pthread_mutex_unlock(&driver_mutex);
}

static void track_function(void *handle, const void *module, const char *name) {
  pthread_mutex_lock(&driver_mutex);
  const Handle *h = handle_of(module);
  DriverFunction *function = h ? driver_function(h->module, name) : NULL;
  if (function) track(handle, h->module, function);
  pthread_mutex_unlock(&driver_mutex);
}

static void track_same(void *handle, const void *known) {
  pthread_mutex_lock(&driver_mutex);
  const Handle *h = handle_of(known);
  if (h && handle) track(handle, h->module, h->function);
  pthread_mutex_unlock(&driver_mutex);
}

// ---- entries: loading ---------------------------------------------------------------------------

static int load_locked(void **module, const void *data) {
  pthread_mutex_lock(&driver_mutex);
  const int result = driver_load((DriverModule **)module, data);
  pthread_mutex_unlock(&driver_mutex);
  return result;
}

static int load_path(void **module, const char *path) {
  void *data = read_image(path);
  return data ? load_locked(module, data) : DRIVER_FILE_NOT_FOUND;
}

#define REAL(name, type) ((type *)driver_real(#name))

int drv_cuModuleLoad(void **module, const char *path) {
  typedef int Load(void **, const char *);
  if (!driver_forwards()) return load_path(module, path);
  const int result = REAL(cuModuleLoad, Load)(module, path);
  if (result == DRIVER_OK) track_module(*module, read_image(path));
  return result;
}
int drv_cuModuleLoadData(void **module, const void *image) {
  typedef int Load(void **, const void *);
  if (!driver_forwards()) return load_locked(module, image);
  const int result = REAL(cuModuleLoadData, Load)(module, image);
  if (result == DRIVER_OK) track_module(*module, image);
  return result;
}
int drv_cuModuleLoadFatBinary(void **module, const void *image) {
  typedef int Load(void **, const void *);
  if (!driver_forwards()) return load_locked(module, image);
  const int result = REAL(cuModuleLoadFatBinary, Load)(module, image);
  if (result == DRIVER_OK) track_module(*module, image);
  return result;
}
int drv_cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options,
                           void **values) {
  typedef int Load(void **, const void *, unsigned, int *, void **);
  if (!driver_forwards()) return load_locked(module, image);
  const int result = REAL(cuModuleLoadDataEx, Load)(module, image, n, options, values);
  if (result == DRIVER_OK) track_module(*module, image);
  return result;
}
int drv_cuLibraryLoadData(void **library, const void *image, int *options, void **values,
                          unsigned n, int *library_options, void **library_values,
                          unsigned n_library) {
  typedef int Load(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
  if (!driver_forwards()) return load_locked(library, image);
  const int result = REAL(cuLibraryLoadData, Load)(library, image, options, values, n,
                                                   library_options, library_values, n_library);
  if (result == DRIVER_OK) track_module(*library, image);
  return result;
}
int drv_cuLibraryLoadFromFile(void **library, const char *path, int *options, void **values,
                              unsigned n, int *library_options, void **library_values,
                              unsigned n_library) {
  typedef int Load(void **, const char *, int *, void **, unsigned, int *, void **, unsigned);
  if (!driver_forwards()) return load_path(library, path);
  const int result = REAL(cuLibraryLoadFromFile, Load)(library, path, options, values, n,
                                                       library_options, library_values, n_library);
  if (result == DRIVER_OK) track_module(*library, read_image(path));
  return result;
}
// A module stays: pointers into it may be asked for later.
int drv_cuModuleUnload(void *module) { return module ? DRIVER_OK : DRIVER_INVALID_HANDLE; }
int drv_cuLibraryUnload(void *library) { return library ? DRIVER_OK : DRIVER_INVALID_HANDLE; }
int drv_cuModuleGetLoadingMode(int *mode) {
  enum { LAZY = 2 };
  if (!mode) return DRIVER_INVALID_VALUE;
  *mode = LAZY;
  return DRIVER_OK;
}

// ---- entries: functions -------------------------------------------------------------------------

static int own_function(void **function, void *module, const char *name) {
  if (!function || !module || !name) return DRIVER_INVALID_VALUE;
  pthread_mutex_lock(&driver_mutex);
  *function = driver_function(module, name);
  pthread_mutex_unlock(&driver_mutex);
  return *function ? DRIVER_OK : DRIVER_NOT_FOUND;
}

int drv_cuModuleGetFunction(void **function, void *module, const char *name) {
  typedef int Get(void **, void *, const char *);
  if (!driver_forwards()) return own_function(function, module, name);
  const int result = REAL(cuModuleGetFunction, Get)(function, module, name);
  if (result == DRIVER_OK) track_function(*function, module, name);
  return result;
}
int drv_cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  typedef int Get(void **, void *, const char *);
  if (!driver_forwards()) return own_function(kernel, library, name);
  const int result = REAL(cuLibraryGetKernel, Get)(kernel, library, name);
  if (result == DRIVER_OK) track_function(*kernel, library, name);
  return result;
}
int drv_cuLibraryGetModule(void **module, void *library) {
  typedef int Get(void **, void *);
  if (!module) return DRIVER_INVALID_VALUE;
  if (!driver_forwards()) {
    *module = library;
    return DRIVER_OK;
  }
  const int result = REAL(cuLibraryGetModule, Get)(module, library);
  if (result == DRIVER_OK) track_same(*module, library);
  return result;
}
int drv_cuKernelGetFunction(void **function, void *kernel) {
  typedef int Get(void **, void *);
  if (!function) return DRIVER_INVALID_VALUE;
  if (!driver_forwards()) {
    *function = kernel;
    return DRIVER_OK;
  }
  const int result = REAL(cuKernelGetFunction, Get)(function, kernel);
  if (result == DRIVER_OK) track_same(*function, kernel);
  return result;
}
int drv_cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name) {
  if (!module || !name) return DRIVER_INVALID_VALUE;
  pthread_mutex_lock(&driver_mutex);
  const DriverVariable *v = driver_variable(module, name);
  pthread_mutex_unlock(&driver_mutex);
  if (v && address) *address = v->address;
  if (v && bytes) *bytes = (size_t)v->bytes;
  return v ? DRIVER_OK : DRIVER_NOT_FOUND;
}
int drv_cuLibraryGetGlobal(uint64_t *address, size_t *bytes, void *library, const char *name) {
  return drv_cuModuleGetGlobal_v2(address, bytes, library, name);
}
