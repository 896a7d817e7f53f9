// Capsule → bytes. A part is a list of slices, of which the large ones are the memory itself: the
// check sums and the table are made from them first, then everything goes out once, in order.
#include <string.h>

#include "base/str.h"
#include "capsule/capsule.h"

enum { HEADER_BYTES = 32, ROW_BYTES = 24 };

typedef struct Slice {
  const void *bytes;  // NULL: `at` of the small fields, which may still move
  size_t at, n;
  struct Slice *next;
} Slice;

typedef struct Part {
  uint32_t kind, crc;
  uint64_t bytes;
  Slice *first, **last;
  struct Part *next;
} Part;

typedef struct Writer {
  Arena *arena;
  Str fields;  // all small fields of all parts, one behind the other
  Part *first, **last, *now;
  uint32_t n_parts;
  uint32_t version;
} Writer;

static void add_slice(Writer *w, const void *bytes, size_t at, size_t n) {
  Slice *slice = ARENA_NEW(w->arena, Slice);
  *slice = (Slice){bytes, at, n, NULL};
  *w->now->last = slice;
  w->now->last = &slice->next;
  w->now->bytes += n;
}

static void put_small(Writer *w, const void *bytes, size_t n) {
  if (n == 0) return;
  add_slice(w, NULL, w->fields.length, n);
  str_add_bytes(&w->fields, bytes, n);
}

static void put_number(Writer *w, uint64_t value, int bytes) {
  unsigned char out[8];
  for (int i = 0; i < bytes; i++) out[i] = (unsigned char)(value >> 8 * i);
  put_small(w, out, (size_t)bytes);
}
static void put_u32(Writer *w, uint32_t value) { put_number(w, value, 4); }
static void put_u64(Writer *w, uint64_t value) { put_number(w, value, 8); }

static void put_text(Writer *w, const char *text) {
  const size_t n = text ? strlen(text) : 0;
  put_u32(w, (uint32_t)n);
  put_small(w, text, n);
}

static void begin(Writer *w, uint32_t kind) {
  Part *part = ARENA_NEW(w->arena, Part);
  *part = (Part){.kind = kind, .last = &part->first};
  part->last = &part->first;
  *w->last = part;
  w->last = &part->next;
  w->now = part;
  w->n_parts++;
}

// ---- parts --------------------------------------------------------------------------------------

static void put_extents(Writer *w, const int grid[3], const int block[3], const int cluster[3]) {
  const int *const extents[] = {grid, block, cluster};
  for (int i = 0; i < 3; i++)
    for (int d = 0; d < 3; d++) put_u32(w, (uint32_t)extents[i][d]);
}

static void put_launch(Writer *w, const Capsule *c) {
  begin(w, CAPSULE_PART_LAUNCH);
  put_text(w, c->kernel);
  put_text(w, c->program);
  put_text(w, c->device);
  put_text(w, c->blocks);
  put_extents(w, c->grid, c->block, c->cluster);
  put_u64(w, c->smem);
  put_u64(w, c->number);
  put_u32(w, c->ended);
  put_u32(w, c->by_gpu);
  put_u32(w, (uint32_t)c->n_params);
  for (int i = 0; i < c->n_params; i++) {
    put_u64(w, c->param[i].offset);
    put_u64(w, c->param[i].bytes);
  }
}

static void put_runs(Writer *w, const CapsuleRun *runs, int n) {
  put_u32(w, (uint32_t)n);
  for (int i = 0; i < n; i++) {
    put_u32(w, runs[i].content);
    put_u64(w, runs[i].from);
    put_u64(w, runs[i].n);
    if (runs[i].content == CAPSULE_BYTES) add_slice(w, runs[i].bytes, 0, (size_t)runs[i].n);
  }
}

static void put_memory(Writer *w, const CapsuleMemory *m) {
  begin(w, CAPSULE_PART_MEMORY);
  put_u32(w, m->kind);
  put_text(w, m->name);
  put_u64(w, m->address);
  put_u64(w, m->bytes);
  put_runs(w, m->before, m->n_before);
  put_runs(w, m->after, m->n_after);
}

static void put_extents_of(Writer *w, const Capsule *c) {
  if (c->n_extents == 0) return;
  begin(w, CAPSULE_PART_EXTENTS);
  put_u32(w, (uint32_t)c->n_extents);
  for (const CapsuleExtent *e = c->extents; e < c->extents + c->n_extents; e++) {
    put_u64(w, e->address);
    put_u64(w, e->bytes);
  }
}

static void put_map(Writer *w, const CapsuleMap *map) {
  begin(w, CAPSULE_PART_MAP);
  put_small(w, map->bytes, CAPSULE_MAP_BYTES);
  put_u64(w, map->address);
  put_text(w, map->text);
}

static void put_traits(Writer *w, const Capsule *c) {
  const uint32_t traits =
      (c->cooperative ? CAPSULE_COOPERATIVE : 0) | (c->goes_on ? CAPSULE_GOES_ON : 0);
  if (!traits) return;
  begin(w, CAPSULE_PART_TRAITS);
  put_u32(w, traits);
}

static void put_launches(Writer *w, const Capsule *c) {
  if (c->n_launches == 0) return;
  begin(w, CAPSULE_PART_LAUNCHES);
  put_u32(w, (uint32_t)c->n_launches);
  for (const CapsuleLaunch *l = c->launches; l < c->launches + c->n_launches; l++) {
    put_text(w, l->kernel);
    put_text(w, l->note);
    put_extents(w, l->grid, l->block, l->cluster);
    const uint64_t numbers[] = {l->smem, l->times, l->first, l->timed, l->nano};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) put_u64(w, numbers[i]);
  }
}

static void put_whole(Writer *w, uint32_t kind, CapsuleText text) {
  if (!text.at) return;
  begin(w, kind);
  if (text.n) add_slice(w, text.at, 0, text.n);
}

// ---- the file -----------------------------------------------------------------------------------

static const void *bytes_of(const Writer *w, const Slice *slice) {
  return slice->bytes ? slice->bytes : w->fields.text + slice->at;
}

static void sum_parts(const Writer *w) {
  for (Part *part = w->first; part; part = part->next)
    for (const Slice *slice = part->first; slice; slice = slice->next)
      part->crc = capsule_crc(part->crc, bytes_of(w, slice), slice->n);
}

// Header and table, as fields of their own.
static CapsuleText make_head(Writer *w) {
  const size_t table = (size_t)w->n_parts * ROW_BYTES;
  Writer head = {.arena = w->arena, .fields = str_new(w->arena), .last = &head.first};
  begin(&head, 0);
  uint64_t offset = HEADER_BYTES + table;
  for (const Part *part = w->first; part; part = part->next) {
    put_u32(&head, part->kind);
    put_u32(&head, part->crc);
    put_u64(&head, offset);
    put_u64(&head, part->bytes);
    offset += part->bytes;
  }
  const uint32_t table_crc = capsule_crc(0, head.fields.text, table);
  Writer all = {.arena = w->arena, .fields = str_new(w->arena), .last = &all.first};
  begin(&all, 0);
  put_small(&all, CAPSULE_MAGIC, sizeof CAPSULE_MAGIC - 1);
  put_u32(&all, w->version);
  put_u32(&all, w->n_parts);
  put_u64(&all, offset);
  put_u32(&all, table_crc);
  put_u32(&all, capsule_crc(0, all.fields.text, HEADER_BYTES - 4));
  put_small(&all, head.fields.text, table);
  return (CapsuleText){(const unsigned char *)all.fields.text, all.fields.length};
}

bool capsule_write(Arena *arena, const Capsule *c, CapsulePut *put, void *self) {
  Writer w = {
      .arena = arena, .fields = str_new(arena), .version = c->goes_on ? CAPSULE_VERSION : 1};
  w.last = &w.first;
  put_launch(&w, c);
  put_traits(&w, c);
  put_whole(&w, CAPSULE_PART_PARAMS, c->params);
  put_whole(&w, CAPSULE_PART_PTX, c->ptx);
  put_whole(&w, CAPSULE_PART_CUBIN, c->cubin);
  put_extents_of(&w, c);
  for (int i = 0; i < c->n_memory; i++) put_memory(&w, &c->memory[i]);
  for (int i = 0; i < c->n_maps; i++) put_map(&w, &c->maps[i]);
  put_launches(&w, c);
  sum_parts(&w);
  const CapsuleText head = make_head(&w);
  if (!put(self, head.at, head.n)) return false;
  for (const Part *part = w.first; part; part = part->next)
    for (const Slice *slice = part->first; slice; slice = slice->next)
      if (!put(self, bytes_of(&w, slice), slice->n)) return false;
  return true;
}

static bool count(void *self, const void *bytes, size_t n) {
  (void)bytes;
  *(uint64_t *)self += n;
  return true;
}

uint64_t capsule_file_bytes(const Capsule *capsule) {
  Arena *arena = arena_new("count");
  uint64_t bytes = 0;
  capsule_write(arena, capsule, count, &bytes);
  arena_free(arena);
  return bytes;
}
