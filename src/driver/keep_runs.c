// Copies of memory → the runs of a capsule: zeros, bytes that were never written, and bytes. Where
// only some pages were touched an allocation becomes several pieces (capsule_next_piece).
#include <string.h>

#include "base/str.h"
#include "driver/keep.h"

enum { CHUNK = 512, WORD = 8 };

typedef struct Runs {
  Arena *arena;
  CapsuleRun *items;
  int n, cap;
} Runs;

static void add_run(Runs *runs, CapsuleContent content, uint64_t from, uint64_t n,
                    const unsigned char *bytes) {
  CapsuleRun *last = runs->n ? &runs->items[runs->n - 1] : NULL;
  if (last && last->content == content && last->from + last->n == from) {
    last->n += n;
    return;
  }
  if (runs->n == runs->cap) {
    CapsuleRun *more = ARENA_ARRAY(runs->arena, CapsuleRun, runs->cap = runs->cap * 2 + 16);
    if (runs->n) memcpy(more, runs->items, sizeof *more * (size_t)runs->n);
    runs->items = more;
  }
  runs->items[runs->n++] = (CapsuleRun){content, from, n, content == CAPSULE_BYTES ? bytes : NULL};
}

static bool all_are(const unsigned char *bytes, size_t n, unsigned char value) {
  for (size_t i = 0; i < n; i++)
    if (bytes[i] != value) return false;
  return true;
}

static bool all_written(const unsigned char *state, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!(state[i] & PTX_BYTE_WRITTEN)) return false;
  return true;
}

// Contents that are not to be seen: pointers stay, or nothing would run.
static void add_hidden(const Kept *kept, Runs *runs, uint64_t at, const unsigned char *bytes,
                       size_t n) {
  for (size_t i = 0; i < n; i += WORD) {
    const size_t left = n - i < WORD ? n - i : WORD;
    uint64_t word = 0;
    memcpy(&word, bytes + i, left);
    bool points = false;
    for (const KeptMemory *m = kept->memory; m && word && left == WORD; m = m->next)
      points |= word - m->address < m->bytes;
    add_run(runs, points ? CAPSULE_BYTES : CAPSULE_HIDDEN, at + i, left, bytes + i);
  }
}

static void add_chunk(const Kept *kept, Runs *runs, const KeptMemory *m, size_t from, size_t n,
                      size_t base, bool no_data) {
  const unsigned char *bytes = m->copy + from, *state = m->state + from;
  if (all_are(state, n, 0)) {
    add_run(runs, CAPSULE_UNWRITTEN, from - base, n, NULL);
  } else if (!all_written(state, n)) {
    for (size_t i = 0; i < n; i++)
      add_run(runs,
              !(state[i] & PTX_BYTE_WRITTEN) ? CAPSULE_UNWRITTEN
              : no_data                      ? CAPSULE_HIDDEN
                                             : CAPSULE_BYTES,
              from - base + i, 1, bytes + i);
  } else if (no_data) {
    add_hidden(kept, runs, from - base, bytes, n);
  } else {
    add_run(runs, all_are(bytes, n, 0) ? CAPSULE_ZEROS : CAPSULE_BYTES, from - base, n, bytes);
  }
}

static bool is_in(const KeptMemory *m, size_t at) {
  return !m->touched || m->touched[at / PTX_PAGE_BYTES];
}

static void add_piece(const Kept *kept, const KeptMemory *m, const CapsulePiece *piece,
                      bool no_data, bool ended, Capsule *capsule) {
  const size_t from = (size_t)piece->from, to = (size_t)piece->to;
  Runs before = {.arena = kept->arena}, after = {.arena = kept->arena};
  for (size_t at = from, n; at < to; at += n) {
    n = to - at < CHUNK ? to - at : CHUNK;
    if (!is_in(m, at)) {
      add_run(&before, CAPSULE_LEFT_OUT, at - from, n, NULL);
      continue;
    }
    add_chunk(kept, &before, m, at, n, from, no_data);
    if (ended && !no_data && m->later && memcmp(m->later + at, m->copy + at, n) != 0)
      add_run(&after, CAPSULE_BYTES, at - from, n, m->later + at);
  }
  CapsuleMemory *out = &capsule->memory[capsule->n_memory++];
  *out = (CapsuleMemory){.kind = m->kind,
                         .name = capsule_piece_name(kept->arena, m->name, piece),
                         .address = m->address + from,
                         .bytes = to - from,
                         .before = before.items,
                         .after = after.items,
                         .n_before = before.n,
                         .n_after = after.n};
}

void kept_runs(const Kept *kept, bool no_data, bool ended, Capsule *capsule) {
  uint64_t room = 0;
  int n = 0;
  for (const KeptMemory *m = kept->memory; m; m = m->next, n++)
    room += capsule_pieces_max(PTX_PAGE_BYTES, m->bytes);
  CapsuleExtent *extents = ARENA_ARRAY(kept->arena, CapsuleExtent, n + 1);
  for (const KeptMemory *m = kept->memory; m; m = m->next)
    if (m->touched) extents[capsule->n_extents++] = (CapsuleExtent){m->address, m->bytes};
  capsule->extents = extents;
  capsule->memory = ARENA_ARRAY(kept->arena, CapsuleMemory, room + 1);
  for (const KeptMemory *m = kept->memory; m; m = m->next) {
    CapsulePiece piece = {0};
    while (capsule_next_piece(m->touched, PTX_PAGE_BYTES, m->bytes, &piece))
      add_piece(kept, m, &piece, no_data, ended, capsule);
  }
}
