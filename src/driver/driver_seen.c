// Which launches there were. A row is for a kernel launched in one way; processes share them, each
// takes one by compare and swap.
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/str.h"
#include "driver/driver_launch.h"

SeenTable *driver_seen(void) {
  static SeenTable *table;
  static bool asked;
  if (asked) return table;
  asked = true;
  const char *path = driver_settings()->seen;
  const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return NULL;
  void *at = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return NULL;
  table = at;
  __atomic_add_fetch(&table->loaded, 1, __ATOMIC_RELAXED);
  if (driver_forwards()) table->by_gpu = 1;
  return table;
}

__attribute__((constructor(102))) static void begin(void) { driver_seen(); }

static uint64_t launches_of(const SeenTable *table, const char *name) {
  uint64_t n = 0;
  for (int i = 0; i < SEEN_ROWS; i++)
    if (table->rows[i].taken && strncmp(table->rows[i].name, name, SEEN_NAME - 1) == 0)
      n += table->rows[i].count;
  return n;
}

static void fill_row(const SeenTable *table, SeenRow *row, const DriverRun *run, uint64_t hash) {
  row->first = launches_of(table, run->function->name);
  memcpy(row->grid, run->at.grid, sizeof row->grid);
  memcpy(row->block, run->at.block, sizeof row->block);
  memcpy(row->cluster, run->at.cluster, sizeof row->cluster);
  row->smem = run->at.dynamic_smem;
  row->has_ptx = run->function->module->image.ptx != NULL;
  row->hash = hash;
  snprintf(row->name, sizeof row->name, "%s", run->function->name);
  __atomic_store_n(&row->taken, 1, __ATOMIC_RELEASE);
}

SeenRow *driver_seen_row(const DriverRun *run) {
  SeenTable *table = driver_seen();
  if (!table) return NULL;
  uint64_t hash = hash_text(HASH_START, run->function->name);
  hash = hash_bytes(hash, &run->at, offsetof(PtxLaunch, budget)) | 1;
  for (int i = 0; i < SEEN_ROWS; i++) {
    SeenRow *row = &table->rows[(hash + (uint64_t)i) % SEEN_ROWS];
    uint64_t none = 0;
    if (__atomic_load_n(&row->hash, __ATOMIC_ACQUIRE) == hash) return row;
    if (!__atomic_compare_exchange_n(&row->hash, &none, hash, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
      if (none == hash) return row;
      continue;
    }
    fill_row(table, row, run, hash);
    return row;
  }
  return NULL;
}

// "add<float>(float*, int)" of "_Z3addIfEvPT_i", where the program has a demangler.
static char *demangled(const char *name) {
  typedef char *Demangle(const char *, char *, size_t *, int *);
  Demangle *demangle = (Demangle *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
  int status = 0;
  return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

bool driver_name_matches(const char *glob, const char *name) {
  if (!glob || fnmatch(glob, name, 0) == 0) return true;
  Arena *arena = arena_new("name");
  bool matches = fnmatch(glob, ptx_plain_name(arena, name), 0) == 0;
  arena_free(arena);
  char *whole = matches ? NULL : demangled(name);
  if (whole) matches = fnmatch(glob, whole, 0) == 0;
  free(whole);
  return matches;
}
