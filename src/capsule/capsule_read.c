// Bytes → Capsule. Whatever a number of the file says is held against what is left of the bytes
// before anything is taken; the first thing that is wrong ends the reading with its sentence.
#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "capsule/capsule.h"

// LAUNCH_BYTES: of a launch in the list, with empty texts.
enum { HEADER_BYTES = 32, ROW_BYTES = 24, EXTENT_BYTES = 16, LAUNCH_BYTES = 84 };

// The rest of a part. A number that is not there is 0, and `short_of` says so at the end.
typedef struct Cursor {
  const unsigned char *at, *end;
  bool short_of;
} Cursor;

typedef struct Reader {
  Arena *arena;
  const char *what;
  Diags *diags;
  Capsule *capsule;
} Reader;

static const unsigned char *take(Cursor *c, uint64_t n) {
  if (c->short_of || n > (uint64_t)(c->end - c->at)) {
    c->short_of = true;
    return NULL;
  }
  const unsigned char *at = c->at;
  c->at += n;
  return at;
}

static uint64_t take_number(Cursor *c, int bytes) {
  const unsigned char *at = take(c, (uint64_t)bytes);
  uint64_t value = 0;
  for (int i = bytes - 1; at && i >= 0; i--) value = value << 8 | at[i];
  return value;
}
static uint32_t take_u32(Cursor *c) { return (uint32_t)take_number(c, 4); }
static uint64_t take_u64(Cursor *c) { return take_number(c, 8); }

static const char *take_text(Arena *arena, Cursor *c) {
  const uint32_t n = take_u32(c);
  const unsigned char *at = take(c, n);
  return at ? arena_strndup(arena, (const char *)at, n) : "";
}

static bool refuse(const Reader *r, const char *why) {
  diag_add(r->diags, "capsule", "%s: %s", r->what, why);
  return false;
}

// ---- parts --------------------------------------------------------------------------------------

static bool take_extents(Cursor *c, int out[3], int least) {
  bool ok = true;
  for (int d = 0; d < 3; d++) {
    const uint32_t value = take_u32(c);
    ok &= value >= (uint32_t)least && value <= INT_MAX;
    out[d] = ok ? (int)value : least;
  }
  return ok;
}

static bool read_params(Reader *r, Cursor *c) {
  const uint32_t n = take_u32(c);
  if (n > CAPSULE_PARAM_BYTES_MAX) return refuse(r, "the launch has too many parameters");
  CapsuleParam *param = ARENA_ARRAY(r->arena, CapsuleParam, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    param[i].offset = take_u64(c);
    param[i].bytes = take_u64(c);
    if (param[i].offset > CAPSULE_PARAM_BYTES_MAX || param[i].bytes > CAPSULE_PARAM_BYTES_MAX)
      return refuse(r, "a parameter lies outside of the space for parameters");
  }
  r->capsule->param = param;
  r->capsule->n_params = (int)n;
  return true;
}

static bool read_launch(Reader *r, Cursor *c) {
  Capsule *to = r->capsule;
  if (to->kernel) return refuse(r, "it has two launches");
  to->kernel = take_text(r->arena, c);
  to->program = take_text(r->arena, c);
  to->device = take_text(r->arena, c);
  to->blocks = take_text(r->arena, c);
  const bool extents = take_extents(c, to->grid, 1) && take_extents(c, to->block, 1) &&
                       take_extents(c, to->cluster, 0);
  to->smem = take_u64(c);
  to->number = take_u64(c);
  to->ended = take_u32(c) != 0;
  to->by_gpu = take_u32(c) != 0;
  if (!c->short_of && !extents) return refuse(r, "grid, block or cluster is not legal");
  if (to->smem > INT_MAX) return refuse(r, "the kernel has too much shared memory");
  return read_params(r, c);
}

// Runs in rising order within `bytes`; `whole`: one behind the other, from the first byte to the
// last.
static const CapsuleRun *read_runs(Reader *r, Cursor *c, uint64_t bytes, bool whole, int *n) {
  const uint32_t count = take_u32(c);
  if (count > (uint64_t)(c->end - c->at) / CAPSULE_RUN_BYTES) c->short_of = true;
  *n = c->short_of ? 0 : (int)count;
  CapsuleRun *runs = ARENA_ARRAY(r->arena, CapsuleRun, *n + 1);
  uint64_t next = 0;
  for (int i = 0; i < *n; i++) {
    CapsuleRun *run = &runs[i];
    const uint32_t content = take_u32(c);
    run->from = take_u64(c);
    run->n = take_u64(c);
    const bool fits = content < CAPSULE_CONTENTS && run->from >= next && run->from <= bytes &&
                      run->n > 0 && run->n <= bytes - run->from && (!whole || run->from == next);
    if (!fits) c->short_of = true;
    run->content = fits ? (CapsuleContent)content : CAPSULE_ZEROS;
    run->bytes = run->content == CAPSULE_BYTES ? take(c, run->n) : NULL;
    if (c->short_of) break;
    next = run->from + run->n;
  }
  if (whole && next != bytes) c->short_of = true;
  return runs;
}

static bool is_range(uint64_t address, uint64_t bytes) {
  return bytes > 0 && bytes <= CAPSULE_ADDRESS_MAX && address <= CAPSULE_ADDRESS_MAX - bytes;
}

static bool read_memory(Reader *r, Cursor *c) {
  Capsule *to = r->capsule;
  CapsuleMemory *m = &to->memory[to->n_memory];
  const CapsuleMemory *last = to->n_memory ? m - 1 : NULL;
  const uint32_t kind = take_u32(c);
  m->name = take_text(r->arena, c);
  m->address = take_u64(c);
  m->bytes = take_u64(c);
  m->kind = kind < CAPSULE_MEMORY_KINDS ? (CapsuleMemoryKind)kind : CAPSULE_ALLOCATION;
  if (kind >= CAPSULE_MEMORY_KINDS || !is_range(m->address, m->bytes))
    return refuse(r, "an allocation has no address");
  if (last && (last->kind > m->kind ||
               (m->kind == CAPSULE_ALLOCATION && last->address + last->bytes > m->address)))
    return refuse(r, "allocations overlap, or are out of order");
  m->before = read_runs(r, c, m->bytes, true, &m->n_before);
  m->after = read_runs(r, c, m->bytes, false, &m->n_after);
  to->n_memory++;
  return true;
}

static bool read_extents(Reader *r, Cursor *c) {
  const uint32_t n = take_u32(c);
  if (n > (uint64_t)(c->end - c->at) / EXTENT_BYTES) c->short_of = true;
  if (c->short_of) return true;
  CapsuleExtent *list = ARENA_ARRAY(r->arena, CapsuleExtent, n + 1);
  uint64_t next = 0;
  for (uint32_t i = 0; i < n; i++) {
    list[i].address = take_u64(c);
    list[i].bytes = take_u64(c);
    if (!is_range(list[i].address, list[i].bytes) || list[i].address < next)
      return refuse(r, "the extents of its allocations overlap, or are out of order");
    next = list[i].address + list[i].bytes;
  }
  r->capsule->extents = list;
  r->capsule->n_extents = (int)n;
  return true;
}

static bool read_map(Reader *r, Cursor *c) {
  CapsuleMap *map = &r->capsule->maps[r->capsule->n_maps];
  Diags faults = diags_new(r->arena);
  const unsigned char *bytes = take(c, CAPSULE_MAP_BYTES);
  if (bytes) memcpy(map->bytes, bytes, CAPSULE_MAP_BYTES);
  map->address = take_u64(c);
  map->text = take_text(r->arena, c);
  if (c->short_of) return true;
  r->capsule->n_maps++;
  return (tma_box_parse(r->arena, map->text, &map->box, &faults) &&
          tma_box_check(&map->box, &faults)) ||
         refuse(r, "a tensor map is not one that a driver encodes");
}

static bool read_launches(Reader *r, Cursor *c) {
  const uint32_t n = take_u32(c);
  if (n > (uint64_t)(c->end - c->at) / LAUNCH_BYTES) c->short_of = true;
  if (c->short_of) return true;
  CapsuleLaunch *list = ARENA_ARRAY(r->arena, CapsuleLaunch, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    CapsuleLaunch *l = &list[i];
    l->kernel = take_text(r->arena, c);
    const char *note = take_text(r->arena, c);
    l->note = *note ? note : NULL;
    const bool extents = take_extents(c, l->grid, 1) && take_extents(c, l->block, 1) &&
                         take_extents(c, l->cluster, 0);
    uint64_t *const numbers[] = {&l->smem, &l->times, &l->first, &l->timed, &l->nano};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
      *numbers[k] = take_u64(c);
      if (*numbers[k] > INT64_MAX) c->short_of = true;
    }
    if (!c->short_of && (!extents || l->smem > INT_MAX || l->times == 0 || l->timed > l->times))
      return refuse(r, "a launch in its list is not legal");
  }
  r->capsule->launches = list;
  r->capsule->n_launches = c->short_of ? 0 : (int)n;
  return true;
}

static bool read_traits(Reader *r, Cursor *c) {
  const uint32_t traits = take_u32(c);
  r->capsule->cooperative = traits & CAPSULE_COOPERATIVE;
  r->capsule->goes_on = traits & CAPSULE_GOES_ON;
  return true;
}

static bool read_text(Cursor *c, CapsuleText *out) {
  *out = (CapsuleText){c->at, (size_t)(c->end - c->at)};
  c->at = c->end;
  return true;
}

static bool read_part(Reader *r, uint32_t kind, Cursor *c) {
  switch (kind) {
    case CAPSULE_PART_LAUNCH:
      return read_launch(r, c);
    case CAPSULE_PART_PARAMS:
      return read_text(c, &r->capsule->params);
    case CAPSULE_PART_PTX:
      return read_text(c, &r->capsule->ptx);
    case CAPSULE_PART_CUBIN:
      return read_text(c, &r->capsule->cubin);
    case CAPSULE_PART_MEMORY:
      return read_memory(r, c);
    case CAPSULE_PART_MAP:
      return read_map(r, c);
    case CAPSULE_PART_TRAITS:
      return read_traits(r, c);
    case CAPSULE_PART_EXTENTS:
      return read_extents(r, c);
    case CAPSULE_PART_LAUNCHES:
      return read_launches(r, c);
    default:
      c->at = c->end;
      return true;
  }
}

// ---- the file -----------------------------------------------------------------------------------

// Header and table, without looking into parts.
static bool check_header(const Reader *r, const unsigned char *bytes, size_t n, uint32_t *n_parts) {
  Cursor c = {bytes + 8, bytes + n, false};
  if (!capsule_is(bytes, n)) return refuse(r, "it is not a capsule");
  const uint32_t version = take_u32(&c);
  *n_parts = take_u32(&c);
  const uint64_t file = take_u64(&c);
  const uint32_t table_crc = take_u32(&c), own_crc = take_u32(&c);
  if (c.short_of) return refuse(r, "it was cut: its header is not complete");
  if (version == 0 || version > CAPSULE_VERSION) {
    diag_add(r->diags, "capsule",
             "%s: it has version %u, but this gemmview reads version %d: use a newer gemmview",
             r->what, version, CAPSULE_VERSION);
    return false;
  }
  if (own_crc != capsule_crc(0, bytes, HEADER_BYTES - 4))
    return refuse(r, "its header was changed: the check sum differs");
  if (file != n) return refuse(r, "it was cut, or something was appended");
  if (*n_parts > (n - HEADER_BYTES) / ROW_BYTES) return refuse(r, "its table does not fit into it");
  if (table_crc != capsule_crc(0, bytes + HEADER_BYTES, (size_t)*n_parts * ROW_BYTES))
    return refuse(r, "its table was changed: the check sum differs");
  return true;
}

static bool read_parts(Reader *r, const unsigned char *bytes, size_t n, uint32_t n_parts) {
  Cursor row = {bytes + HEADER_BYTES, bytes + HEADER_BYTES + (size_t)n_parts * ROW_BYTES, false};
  uint64_t next = HEADER_BYTES + (uint64_t)n_parts * ROW_BYTES;
  for (uint32_t i = 0; i < n_parts; i++) {
    const uint32_t kind = take_u32(&row), crc = take_u32(&row);
    const uint64_t offset = take_u64(&row), size = take_u64(&row);
    if (offset != next || size > n - offset) return refuse(r, "its parts do not follow each other");
    next = offset + size;
    if (crc != capsule_crc(0, bytes + offset, (size_t)size))
      return refuse(r, "one of its parts was changed: the check sum differs");
    Cursor part = {bytes + offset, bytes + next, false};
    if (!read_part(r, kind, &part)) return false;
    if (part.short_of || part.at != part.end)
      return refuse(r, "one of its parts is not consistent");
  }
  return next == n || refuse(r, "bytes follow its last part");
}

static bool check_whole(const Reader *r) {
  const Capsule *c = r->capsule;
  if (!c->kernel) return refuse(r, "it has no launch");
  if (c->params.n > CAPSULE_PARAM_BYTES_MAX) return refuse(r, "its parameters are too large");
  for (int i = 0; i < c->n_params; i++)
    if (c->param[i].bytes > c->params.n || c->param[i].offset > c->params.n - c->param[i].bytes)
      return refuse(r, "a parameter lies outside of the parameters");
  return true;
}

bool capsule_is(const void *bytes, size_t n) {
  const size_t magic = sizeof CAPSULE_MAGIC - 1;
  return n >= magic && memcmp(bytes, CAPSULE_MAGIC, magic) == 0;
}

Capsule *capsule_read(Arena *arena, const void *bytes, size_t n, const char *what, Diags *diags) {
  Capsule *capsule = ARENA_NEW(arena, Capsule);
  Reader r = {.arena = arena, .what = what, .diags = diags, .capsule = capsule};
  uint32_t n_parts = 0;
  if (!check_header(&r, bytes, n, &n_parts)) return NULL;
  capsule->memory = ARENA_ARRAY(arena, CapsuleMemory, n_parts + 1);
  capsule->maps = ARENA_ARRAY(arena, CapsuleMap, n_parts + 1);
  capsule->program = capsule->device = capsule->blocks = "";
  return read_parts(&r, bytes, n, n_parts) && check_whole(&r) ? capsule : NULL;
}

uint64_t capsule_memory_bytes(const Capsule *capsule) {
  uint64_t bytes = 0;
  for (int i = 0; i < capsule->n_memory; i++) bytes += capsule->memory[i].bytes;
  return bytes;
}
