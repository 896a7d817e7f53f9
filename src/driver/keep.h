// Shared by keep.c and its helpers: the memory of a launch as it was before, and behind.
#pragma once
#include "capsule/capsule.h"
#include "driver/driver_launch.h"

typedef struct KeptMemory {
  CapsuleMemoryKind kind;
  uint64_t address;
  size_t bytes;
  const char *name;
  unsigned char *copy, *state;  // as it was before; NORESERVE: what is not read costs nothing
  bool *have;                   // by page: it is in `copy`; NULL: all of it is
  bool *touched;  // by page: the blocks that are kept come by; NULL: all of it is kept
  unsigned char *later, *later_state;
  struct KeptMemory *next;
} KeptMemory;

struct Kept {
  Arena *arena;
  KeptMemory *memory;  // allocations by rising address, then variables
  CapsuleMap *maps;
  int n_maps, cap_maps;
  size_t bytes;       // of all allocations
  bool goes_on;       // the blocks may touch more than is known
  const char *fault;  // why it cannot be kept
};

static inline int64_t kept_pages(const KeptMemory *m) {
  return (int64_t)((m->bytes + PTX_PAGE_BYTES - 1) / PTX_PAGE_BYTES);
}
static inline size_t kept_page_bytes(const KeptMemory *m, int64_t page) {
  const size_t from = (size_t)page * PTX_PAGE_BYTES;
  return m->bytes - from < PTX_PAGE_BYTES ? m->bytes - from : PTX_PAGE_BYTES;
}

// keep_reach.c: everything that the parameters lead to.
void kept_reach(Kept *kept, const DriverRun *run);
bool kept_read_page(KeptMemory *m, int64_t page);
void *kept_map(size_t bytes);
// keep_touch.c: the pages that blocks come by.
void kept_touch(Kept *kept, const DriverRun *run, const char *blocks);
// keep_runs.c: copies → runs of a capsule's memory.
void kept_runs(const Kept *kept, bool no_data, bool ended, Capsule *capsule);
