// Parameters → every allocation that can be reached from them: each word of eight bytes, at a
// multiple of eight, that is an address of the device, and so on from there. Tensor maps are found
// by their bytes. A number that happens to be an address keeps too much, which does no harm.
#include <string.h>
#include <sys/mman.h>

#include "base/str.h"
#include "driver/keep.h"
#include "ptx/run/run.h"

// Larger memory is not searched for pointers, and not copied whole.
#define WHOLE_MAX ((size_t)256 << 20)
#define ALL_MAX ((size_t)4 << 30)
enum { WORD = 8, SLACK = 16 };

void *kept_map(size_t bytes) {
  void *at = mmap(NULL, bytes + SLACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

bool kept_read_page(KeptMemory *m, int64_t page) {
  if (!m->have || m->have[page]) return true;
  const size_t from = (size_t)page * PTX_PAGE_BYTES;
  m->have[page] =
      reach_read(m->address + from, kept_page_bytes(m, page), m->copy + from, m->state + from);
  return m->have[page];
}

static void insert(Kept *kept, KeptMemory *memory) {
  KeptMemory **at = &kept->memory;
  while (*at && ((*at)->kind < memory->kind ||
                 ((*at)->kind == memory->kind && (*at)->address < memory->address)))
    at = &(*at)->next;
  memory->next = *at;
  *at = memory;
}

static KeptMemory *add_memory(Kept *kept, CapsuleMemoryKind kind, const Reached *reached) {
  KeptMemory *m = ARENA_NEW(kept->arena, KeptMemory);
  *m = (KeptMemory){.kind = kind,
                    .address = reached->address,
                    .bytes = reached->bytes,
                    .name = reached->name,
                    .copy = kept_map(reached->bytes),
                    .state = kept_map(reached->bytes)};
  if (!m->copy || !m->state) {
    kept->fault = "there is no room for what the launch reaches";
    return NULL;
  }
  if (m->bytes > WHOLE_MAX || kept->bytes + m->bytes > ALL_MAX)
    m->have = ARENA_ARRAY(kept->arena, bool, kept_pages(m));
  else if (!reach_read(m->address, m->bytes, m->copy, m->state))
    kept->fault = "memory of the launch cannot be read";
  kept->bytes += m->bytes;
  insert(kept, m);
  return m;
}

static bool is_kept(const Kept *kept, uint64_t address) {
  for (const KeptMemory *m = kept->memory; m; m = m->next)
    if (address - m->address < m->bytes) return true;
  return false;
}

static void look_through(Kept *kept, const unsigned char *bytes, size_t n);

static void follow(Kept *kept, uint64_t address) {
  Reached reached;
  if (kept->fault || is_kept(kept, address) || !reach_range(address, &reached)) return;
  const KeptMemory *m = add_memory(kept, CAPSULE_ALLOCATION, &reached);
  if (m && !m->have) look_through(kept, m->copy, m->bytes);
}

static void look_through(Kept *kept, const unsigned char *bytes, size_t n) {
  for (size_t at = 0; at + WORD <= n; at += WORD) {
    uint64_t word;
    memcpy(&word, bytes + at, sizeof word);
    if (word >= PTX_NULL_BYTES && word < CAPSULE_ADDRESS_MAX) follow(kept, word);
  }
}

// ---- tensor maps --------------------------------------------------------------------------------

static bool has_map(const unsigned char *bytes, size_t n, const DriverMap *map) {
  for (size_t at = 0; at + CAPSULE_MAP_BYTES <= n; at += WORD)
    if (memcmp(bytes + at, map->bytes, WORD) == 0 &&
        memcmp(bytes + at, map->bytes, CAPSULE_MAP_BYTES) == 0)
      return true;
  return false;
}

static bool is_used(const Kept *kept, const DriverRun *run, const DriverMap *map) {
  if (has_map(run->params, run->param_bytes, map)) return true;
  for (const KeptMemory *m = kept->memory; m; m = m->next)
    if (!m->have && has_map(m->copy, m->bytes, map)) return true;
  return false;
}

static bool add_map(Kept *kept, const DriverMap *map) {
  for (int i = 0; i < kept->n_maps; i++)
    if (memcmp(kept->maps[i].bytes, map->bytes, CAPSULE_MAP_BYTES) == 0) return false;
  CapsuleMap *to = &kept->maps[kept->n_maps++];
  memcpy(to->bytes, map->bytes, sizeof to->bytes);
  to->address = map->address;
  to->text = map->text;
  to->box = map->box;
  follow(kept, map->address);
  return true;
}

// Memory that a map leads to may hold maps.
static void find_maps(Kept *kept, const DriverRun *run) {
  for (const DriverMap *map = driver_maps(); map; map = map->next) kept->cap_maps++;
  kept->maps = ARENA_ARRAY(kept->arena, CapsuleMap, kept->cap_maps + 1);
  for (bool more = true; more && !kept->fault;) {
    more = false;
    for (const DriverMap *map = driver_maps(); map; map = map->next)
      if (is_used(kept, run, map)) more |= add_map(kept, map);
  }
}

// ---- variables ----------------------------------------------------------------------------------

static void add_variable(Kept *kept, PtxSpace space, const Reached *reached) {
  const KeptMemory *m =
      add_memory(kept, space == PTX_SPACE_CONST ? CAPSULE_CONSTANT : CAPSULE_GLOBAL, reached);
  if (m && !m->have) look_through(kept, m->copy, m->bytes);
}

static void add_variables(Kept *kept, const DriverRun *run) {
  const PtxModule *ptx = run->function->module->ptx;
  for (int i = 0; ptx && i < ptx->n_variables; i++) {
    const PtxVariable *v = &ptx->variables[i];
    if ((v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) || v->bytes == 0) continue;
    Reached reached = {.bytes = (size_t)v->bytes, .name = v->name};
    if (reach_variable(run, v->name, &reached.address)) add_variable(kept, v->space, &reached);
  }
  for (const DriverVariable *v = run->function->module->variables; v && !ptx; v = v->next)
    add_variable(kept, v->space, &(Reached){v->address, (size_t)v->bytes, v->name});
}

void kept_reach(Kept *kept, const DriverRun *run) {
  add_variables(kept, run);
  look_through(kept, run->params, run->param_bytes);
  find_maps(kept, run);
}
