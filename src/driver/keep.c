// The wanted launch → a capsule: what it reaches is copied out before it runs, and again behind it;
// then the file is written under a name of its own and renamed, so that there is a whole one or
// none.
#include "driver/keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/str.h"
#include "driver/entry.h"

void keep_fails(const char *why) {
  SeenTable *seen = driver_seen();
  if (seen && !seen->failed[0]) snprintf(seen->failed, sizeof seen->failed, "%s", why);
}

static bool keeps_all(const Kept *kept, const DriverRun *run, const char *blocks) {
  return str_equal(blocks, "all") || kept->bytes <= CAPSULE_WHOLE_MAX || !run->function->kernel;
}

Kept *keep_before(const DriverRun *run) {
  if (!reach_wait(run)) {
    keep_fails("a CUDA graph is being captured, and memory cannot be read meanwhile");
    return NULL;
  }
  Arena *arena = arena_new("capsule");
  Kept *kept = ARENA_NEW(arena, Kept);
  kept->arena = arena;
  kept_reach(kept, run);
  const char *blocks = driver_settings()->blocks;
  if (!kept->fault && !keeps_all(kept, run, blocks)) kept_touch(kept, run, blocks);
  if (!kept->fault) return kept;
  keep_fails(kept->fault);
  arena_free(arena);
  return NULL;
}

static void read_later(KeptMemory *m) {
  m->later = kept_map(m->bytes);
  m->later_state = kept_map(m->bytes);
  if (!m->later || !m->later_state) return;
  for (int64_t page = 0; page < kept_pages(m); page++) {
    const size_t from = (size_t)page * PTX_PAGE_BYTES, n = kept_page_bytes(m, page);
    if (m->touched && !m->touched[page]) continue;
    kept_read_page(m, page);
    reach_read(m->address + from, n, m->later + from, m->later_state + from);
  }
}

// ---- the file -----------------------------------------------------------------------------------

static bool put(void *self, const void *bytes, size_t n) {
  return disk_write_all(*(int *)self, bytes, n);
}

// "%p" is the process.
static const char *path_of(Arena *arena, const char *path) {
  const char *at = strstr(path, "%p");
  if (!at) return path;
  return arena_printf(arena, "%.*s%d%s", (int)(at - path), path, (int)getpid(), at + 2);
}

static bool write_file(Arena *arena, const Capsule *capsule, const char *path) {
  const char *unfinished = arena_printf(arena, "%s.%d.part", path, (int)getpid());
  const mode_t mine = 0600;
  unlink(unfinished);
  int fd = disk_create(unfinished, mine);
  bool ok = fd >= 0 && capsule_write(arena, capsule, put, &fd);
  if (fd >= 0 && close(fd) != 0) ok = false;
  if (ok) ok = rename(unfinished, path) == 0;
  const int why = errno;
  if (!ok) unlink(unfinished);
  if (!ok) keep_fails(arena_printf(arena, "%s cannot be written: %s", path, strerror(why)));
  return ok;
}

static const char *device_name(Arena *arena) {
  typedef int GetName(char *, int, int);
  GetName *get = (GetName *)driver_real("cuDeviceGetName");
  char name[256] = "";
  if (get && get(name, sizeof name, 0) == DRIVER_OK) return arena_strdup(arena, name);
  return driver_settings()->device;
}

static void fill_launch(const Kept *kept, const DriverRun *run, bool ended, Capsule *out) {
  const DriverSettings *settings = driver_settings();
  const DriverImage *image = &run->function->module->image;
  CapsuleParam *param = ARENA_ARRAY(kept->arena, CapsuleParam, run->n_params + 1);
  for (int i = 0; i < run->n_params; i++)
    param[i] = (CapsuleParam){run->param[i].offset, run->param[i].bytes};
  bool all = true;
  for (const KeptMemory *m = kept->memory; m; m = m->next) all &= m->touched == NULL;
  *out = (Capsule){.kernel = run->function->name,
                   .program = settings->command,
                   .device = device_name(kept->arena),
                   .blocks = all ? "all" : settings->blocks,
                   .smem = (uint64_t)run->at.dynamic_smem,
                   .number = run->number,
                   .ended = ended && !settings->no_data,
                   .by_gpu = driver_forwards(),
                   .cooperative = run->at.cooperative,
                   .goes_on = kept->goes_on,
                   .params = {run->params, run->param_bytes},
                   .ptx = {(const unsigned char *)image->ptx, image->ptx_bytes},
                   .cubin = {image->cubin, image->cubin_bytes},
                   .param = param,
                   .n_params = run->n_params,
                   .maps = kept->maps,
                   .n_maps = kept->n_maps};
  memcpy(out->grid, run->at.grid, sizeof out->grid);
  memcpy(out->block, run->at.block, sizeof out->block);
  memcpy(out->cluster, run->at.cluster, sizeof out->cluster);
}

static void tell_written(SeenTable *seen) {
  const uint32_t at = __atomic_fetch_add(&seen->written, 1, __ATOMIC_RELAXED);
  if (at < SEEN_WRITERS) seen->writer[at] = (int32_t)getpid();
}

void keep_after(Kept *kept, const DriverRun *run, bool ended) {
  const DriverSettings *settings = driver_settings();
  Capsule capsule;
  if (ended) ended = reach_wait(run) && !settings->skips;
  for (KeptMemory *m = kept->memory; m; m = m->next)
    if (ended) read_later(m);
  fill_launch(kept, run, ended, &capsule);
  kept_runs(kept, settings->no_data, ended, &capsule);
  const char *path = path_of(kept->arena, settings->capsule);
  SeenTable *seen = driver_seen();
  if (write_file(kept->arena, &capsule, path) && seen) tell_written(seen);
  arena_free(kept->arena);
}
