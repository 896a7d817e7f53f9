// A whole capsule → one with only some pages of its allocations. Where the kept pages lie far apart
// an allocation becomes several pieces, so that a file has nearby bytes. The extents say what the
// allocations were: an address of theirs that no piece has is left out, any other is no memory.
//
//   40 MiB, pages 3, 5 and 9000 kept: a piece of pages 3 to 5, of which page 4 is left out, a piece
//   of page 9000, and the extent of 40 MiB
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "capsule/capsule.h"

enum { GAP_PAGES = 256 };

static uint64_t pages_of(uint64_t bytes, uint64_t page_bytes) {
  return (bytes + page_bytes - 1) / page_bytes;
}

bool capsule_next_piece(const bool *kept, uint64_t page_bytes, uint64_t bytes,
                        CapsulePiece *piece) {
  const uint64_t n = pages_of(bytes, page_bytes);
  uint64_t page = pages_of(piece->to, page_bytes);
  while (page < n && kept && !kept[page]) page++;
  if (page >= n) return false;
  uint64_t last = kept ? page : n - 1;
  for (uint64_t p = page; kept && p < n && p - last <= GAP_PAGES; p++)
    if (kept[p]) last = p;
  const uint64_t to = (last + 1) * page_bytes;
  *piece = (CapsulePiece){page * page_bytes, to < bytes ? to : bytes};
  return true;
}

uint64_t capsule_pieces_max(uint64_t page_bytes, uint64_t bytes) {
  return pages_of(bytes, page_bytes) / GAP_PAGES + 1;
}

const char *capsule_piece_name(Arena *arena, const char *of, const CapsulePiece *piece) {
  return piece->from == 0 ? of : arena_printf(arena, "%s + %" PRIu64, of, piece->from);
}

// ---- what a page costs --------------------------------------------------------------------------

// The most that a page adds besides its runs: it begins a piece, with a page left out in front.
enum { PAGE_EXTRA = 160 };

int capsule_run_behind(const CapsuleRun *runs, int n, uint64_t at) {
  int low = 0;
  for (int high = n; low < high;) {
    const int middle = low + (high - low) / 2;
    if (runs[middle].from + runs[middle].n <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool add_cost(const CapsuleRun *runs, int n, uint64_t from, uint64_t to, uint64_t *bytes) {
  for (int i = capsule_run_behind(runs, n, from); i < n && runs[i].from < to; i++) {
    const uint64_t first = runs[i].from > from ? runs[i].from : from,
                   end = runs[i].from + runs[i].n, last = end < to ? end : to;
    if (runs[i].content == CAPSULE_LEFT_OUT) return false;
    *bytes += CAPSULE_RUN_BYTES + (runs[i].content == CAPSULE_BYTES ? last - first : 0);
  }
  return true;
}

bool capsule_page_cost(const CapsuleMemory *m, uint64_t from, uint64_t n, uint64_t *bytes) {
  *bytes = PAGE_EXTRA;
  return add_cost(m->before, m->n_before, from, from + n, bytes) &&
         add_cost(m->after, m->n_after, from, from + n, bytes);
}

// ---- runs ---------------------------------------------------------------------------------------

typedef struct Runs {
  Arena *arena;
  CapsuleRun *items;
  int n, cap;
} Runs;

// Joins the run to the last one where it goes on with it.
static void add_run(Runs *runs, CapsuleRun run) {
  CapsuleRun *last = runs->n ? &runs->items[runs->n - 1] : NULL;
  if (last && last->content == run.content && last->from + last->n == run.from &&
      (!run.bytes || last->bytes + last->n == run.bytes)) {
    last->n += run.n;
    return;
  }
  if (runs->n == runs->cap) {
    CapsuleRun *more = ARENA_ARRAY(runs->arena, CapsuleRun, runs->cap = runs->cap * 2 + 16);
    if (runs->n) memcpy(more, runs->items, sizeof *more * (size_t)runs->n);
    runs->items = more;
  }
  runs->items[runs->n++] = run;
}

// The runs of an allocation, read once from its begin to its end.
typedef struct Source {
  const CapsuleRun *at, *end;
} Source;

// Adds the contents from `from` to `to`, told from `base` on.
static void add_part(Runs *runs, Source *source, uint64_t from, uint64_t to, uint64_t base) {
  while (source->at < source->end && source->at->from + source->at->n <= from) source->at++;
  for (const CapsuleRun *run = source->at; run < source->end && run->from < to; run++) {
    const uint64_t first = run->from > from ? run->from : from, end = run->from + run->n,
                   last = end < to ? end : to;
    add_run(runs, (CapsuleRun){run->content, first - base, last - first,
                               run->bytes ? run->bytes + (first - run->from) : NULL});
  }
}

static CapsuleMemory cut_piece(Arena *arena, const CapsuleMemory *m, const CapsulePiece *piece,
                               const bool *kept, uint64_t page_bytes, Source *of_before,
                               Source *of_after) {
  Runs before = {.arena = arena}, after = {.arena = arena};
  for (uint64_t at = piece->from, end; at < piece->to; at = end) {
    end = piece->to - at < page_bytes ? piece->to : at + page_bytes;
    if (!kept[at / page_bytes]) {
      add_run(&before, (CapsuleRun){CAPSULE_LEFT_OUT, at - piece->from, end - at, NULL});
      continue;
    }
    add_part(&before, of_before, at, end, piece->from);
    add_part(&after, of_after, at, end, piece->from);
  }
  return (CapsuleMemory){.kind = m->kind,
                         .name = capsule_piece_name(arena, m->name, piece),
                         .address = m->address + piece->from,
                         .bytes = piece->to - piece->from,
                         .before = before.items,
                         .after = after.items,
                         .n_before = before.n,
                         .n_after = after.n};
}

// Those of a capsule that was cut before stay: its memory is pieces.
static void keep_extents(Arena *arena, Capsule *capsule) {
  if (capsule->n_extents) return;
  CapsuleExtent *extents = ARENA_ARRAY(arena, CapsuleExtent, capsule->n_memory + 1);
  for (int i = 0; i < capsule->n_memory; i++)
    if (capsule->memory[i].kind == CAPSULE_ALLOCATION)
      extents[capsule->n_extents++] =
          (CapsuleExtent){capsule->memory[i].address, capsule->memory[i].bytes};
  capsule->extents = extents;
}

void capsule_cut(Arena *arena, Capsule *capsule, const bool *const *kept, uint64_t page_bytes) {
  uint64_t room = 0;
  keep_extents(arena, capsule);
  for (int i = 0; i < capsule->n_memory; i++)
    room += capsule_pieces_max(page_bytes, capsule->memory[i].bytes);
  CapsuleMemory *out = ARENA_ARRAY(arena, CapsuleMemory, room + 1);
  int n = 0;
  for (int i = 0; i < capsule->n_memory; i++) {
    const CapsuleMemory *m = &capsule->memory[i];
    Source before = {m->before, m->before + m->n_before}, after = {m->after, m->after + m->n_after};
    if (!kept[i]) out[n++] = *m;
    for (CapsulePiece piece = {0};
         kept[i] && capsule_next_piece(kept[i], page_bytes, m->bytes, &piece);)
      out[n++] = cut_piece(arena, m, &piece, kept[i], page_bytes, &before, &after);
  }
  capsule->memory = out;
  capsule->n_memory = n;
}
