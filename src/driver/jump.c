// Every symbol of a driver is a jump through a slot. Behind a slot stands the real driver's
// function, one of entry.def, or, where there is neither, a refusal that says the name.
//
// The jump leaves the number of its slot in a register that no call passes anything in, so that one
// refusal can serve them all.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/entry.h"

#define NAME(symbol) #symbol,
static const char *const names[] = {
#include "driver/name.def"
};
#undef NAME
enum { N_NAMES = sizeof names / sizeof names[0] };

__attribute__((visibility("hidden"))) void *driver_slots[N_NAMES];
__attribute__((visibility("hidden"))) void driver_refuse_jump(void);
__attribute__((visibility("hidden"))) int driver_refuse(int slot);

#if defined __x86_64__
#define JUMP(symbol)                                          \
  ".globl " #symbol "\n.type " #symbol ",@function\n" #symbol \
  ":\n"                                                       \
  "movl $gv_slot,%r11d\njmp *driver_slots+8*gv_slot(%rip)\n.set gv_slot,gv_slot+1\n"
#define REFUSE "driver_refuse_jump:\nmovl %r11d,%edi\njmp driver_refuse\n"
#elif defined __aarch64__
#define JUMP(symbol)                                          \
  ".globl " #symbol "\n.type " #symbol ",%function\n" #symbol \
  ":\n"                                                       \
  "mov w16,#gv_slot\nadrp x17,driver_slots+8*gv_slot\n"       \
  "ldr x17,[x17,:lo12:driver_slots+8*gv_slot]\nbr x17\n.set gv_slot,gv_slot+1\n"
#define REFUSE "driver_refuse_jump:\nmov w0,w16\nb driver_refuse\n"
#else
#error "no jumps are written for this machine"
#endif
#define NAME(symbol) JUMP(symbol)
__asm__(
    ".text\n.balign 16\n.set gv_slot,0\n"
#include "driver/name.def"
    ".hidden driver_refuse_jump\n.globl driver_refuse_jump\n" REFUSE);
#undef NAME

typedef enum Where { CPU, BOTH, GPU } Where;
typedef struct Entry {
  const char *name;
  void *function;
  Where where;
} Entry;
static const Entry entries[] = {
#define ENTRY(where, name, parameters) {#name, (void *)drv_##name, where},
#define ALIAS(where, name, same) {#name, (void *)drv_##same, where},
#define REAL(name, parameters) {#name, (void *)real_##name, GPU},
#include "driver/entry.def"
#undef ENTRY
#undef ALIAS
#undef REAL
};

int driver_refuse(int slot) {
  static bool said[N_NAMES];
  if (!said[slot])
    driver_say("%s does not work without a GPU: CUDA_ERROR_NOT_SUPPORTED", names[slot]);
  said[slot] = true;
  return DRIVER_NOT_SUPPORTED;
}

static void *real_library;
bool driver_forwards(void) { return real_library != NULL; }
void *driver_real(const char *name) { return real_library ? dlsym(real_library, name) : NULL; }

static int slot_of(const char *name) {
  for (int i = 0; i < N_NAMES; i++)
    if (str_equal(names[i], name)) return i;
  return -1;
}

static const Entry *entry_of(const char *name) {
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
    if (str_equal(entries[i].name, name) &&
        (entries[i].where == BOTH || entries[i].where == (real_library ? GPU : CPU)))
      return &entries[i];
  return NULL;
}

__attribute__((constructor(101))) static void fill_slots(void) {
  const char *real = driver_settings()->real;
  if (real) real_library = dlopen(real, RTLD_NOW | RTLD_LOCAL);
  if (real && !real_library) driver_say("%s cannot be loaded: %s", real, dlerror());
  for (int i = 0; i < N_NAMES; i++) {
    const Entry *entry = entry_of(names[i]);
    void *there = driver_real(names[i]);
    driver_slots[i] = entry ? entry->function : there ? there : (void *)driver_refuse_jump;
  }
  if (!real_library) hook_program();
}

// ---- cuGetProcAddress ---------------------------------------------------------------------------

// The version of CUDA from which on a name stands for one with a suffix, where parameters differ.
static const struct {
  const char *name;
  int since;
} versions[] = {{"cuCtxCreate_v3", 11040},           {"cuCtxCreate_v4", 12050},
                {"cuGetProcAddress_v2", 12000},      {"cuCtxGetDevice_v2", 13000},
                {"cuCtxSynchronize_v2", 13000},      {"cuMemPrefetchAsync_v2", 12020},
                {"cuMemAdvise_v2", 12020},           {"cuStreamGetCaptureInfo_v2", 11030},
                {"cuStreamGetCaptureInfo_v3", 12030}};

static bool is_since(const char *name, int version) {
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
    if (str_equal(versions[i].name, name)) return version >= versions[i].since;
  return true;
}

// The newest function of a name that a program of this version knows; answered ones before others.
static const char *versioned(const char *name, int version, char out[128]) {
  static const char *const suffixes[] = {"_v4", "_v3", "_v2", ""};
  for (int answered = 1; answered >= 0; answered--)
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
      snprintf(out, 128, "%s%s", name, suffixes[i]);
      if (is_since(out, version) && slot_of(out) >= 0 && (!answered || entry_of(out))) return out;
    }
  return NULL;
}

// The exported jump itself, so that a refusal has its name.
static void *jump_of(const char *name) {
  Dl_info here;
  if (!dladdr((void *)driver_refuse_jump, &here)) return NULL;
  void *own = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void *jump = own ? dlsym(own, name) : NULL;
  if (own) dlclose(own);
  return jump;
}

static int find_own(const char *name, void **function, int version, int *status) {
  enum { FOUND, NO_SYMBOL };
  char whole[128];
  const char *known = versioned(name, version, whole);
  *function = known ? jump_of(known) : NULL;
  if (status) *status = *function ? FOUND : NO_SYMBOL;
  return *function ? DRIVER_OK : DRIVER_NOT_FOUND;
}

// Plain names that mean another function since CUDA 12 (cuda.h).
static const struct {
  const char *name, *whole;
} since_12[] = {{"cuGetProcAddress", "cuGetProcAddress_v2"},
                {"cuGraphInstantiate", "cuGraphInstantiateWithFlags"},
                {"cuGraphExecUpdate", "cuGraphExecUpdate_v2"},
                {"cuGraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams_v2"},
                {"cuStreamBeginCapture", "cuStreamBeginCapture_v2"}};

// With a real driver its answer counts, and its function is called by the one that stands here for
// it; "_ptsz" where the flags ask for the default stream of the thread.
static int find_real(const char *name, void **function, int version, uint64_t flags, int *status) {
  enum { PER_THREAD = 2 };
  typedef int Find(const char *, void **, int, uint64_t, int *);
  Find *find = (Find *)driver_real("cuGetProcAddress_v2");
  typedef int FindOld(const char *, void **, int, uint64_t);
  FindOld *find_old = (FindOld *)driver_real("cuGetProcAddress");
  const int result = find       ? find(name, function, version, flags, status)
                     : find_old ? find_old(name, function, version, flags)
                                : DRIVER_NOT_FOUND;
  if (result != DRIVER_OK || !*function) return result;
  char whole[128];
  snprintf(whole, sizeof whole, "%s%s", name, flags & PER_THREAD ? "_ptsz" : "");
  const Entry *entry = entry_of(whole);
  if (!entry) entry = entry_of(name);
  for (size_t i = 0; i < sizeof since_12 / sizeof since_12[0] && version >= 12000; i++)
    if (str_equal(name, since_12[i].name)) entry = entry_of(since_12[i].whole);
  if (entry) *function = entry->function;
  return result;
}

int drv_cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                            int *status) {
  if (!name || !function) return DRIVER_INVALID_VALUE;
  return driver_forwards() ? find_real(name, function, version, flags, status)
                           : find_own(name, function, version, status);
}

int drv_cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
  return drv_cuGetProcAddress_v2(name, function, version, flags, NULL);
}

// NVIDIA's runtime asks this of NVIDIA's driver alone. A program that comes here has the runtime in
// a form that hook.c does not find.
int drv_cuGetExportTable(const void **table, const CuUuid *id) {
  (void)id;
  if (table) *table = NULL;
  hook_missed();
  return DRIVER_NOT_FOUND;
}
