// A ring by hand: one producer that fills slots by TMA, consumers that read them, and all that may
// be wrong with it.
#pragma once
#include "order/search.h"

typedef struct RingFaults {
  int more_arrivals;  // that empty awaits
  int more_bytes;     // that full expects
  bool no_empty_wait, no_full_wait, empty_phase_0, full_phase_0, early_release, silent, no_fence,
      no_init_barrier, fetch_short, generic;
} RingFaults;

typedef struct Ring {
  int stages, turns, consumers;
  RingFaults faults;
} Ring;

enum { RING_BYTES = 64 };

static void ring_init(Search *s, const Ring *r, int full, int empty) {
  for (int i = 0; i < r->stages; i++)
    search_add(s, 0, (SearchEvent){.kind = SEARCH_INIT, .object = full + i, .n = 1});
  for (int i = 0; i < r->stages; i++)
    search_add(
        s, 0,
        (SearchEvent){
            .kind = SEARCH_INIT, .object = empty + i, .n = r->consumers + r->faults.more_arrivals});
  search_add(s, 0, (SearchEvent){.kind = SEARCH_INIT_SAID});
  for (int p = 0; p <= r->consumers && !r->faults.no_init_barrier; p++)
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = r->consumers + 1});
}

static void ring_fill(Search *s, const Ring *r, int turn, int full, int empty, int slot) {
  const int i = turn % r->stages;
  const uint32_t bit = (uint32_t)(turn / r->stages + !r->faults.empty_phase_0) & 1;
  if (!r->faults.no_empty_wait)
    search_add(s, 0, (SearchEvent){.kind = SEARCH_WAIT, .object = empty + i, .bit = bit});
  if (!r->faults.no_fence && r->faults.generic)
    search_add(s, 0, (SearchEvent){.kind = SEARCH_FENCE});
  search_add(s, 0,
             (SearchEvent){.kind = SEARCH_ARRIVE,
                           .object = full + i,
                           .n = 1,
                           .bytes = RING_BYTES + r->faults.more_bytes});
  const int ask = search_add(s, 0, (SearchEvent){.kind = SEARCH_WORK});
  const int box = search_agent(s, "box", 0);
  search_add(s, box,
             (SearchEvent){.kind = SEARCH_LAND,
                           .object = full + i,
                           .bytes = RING_BYTES,
                           .after = 1,
                           .after_at = ask});
  search_access(s, (SearchAccess){.place = slot + i,
                                  .write = true,
                                  .async = true,
                                  .process = 0,
                                  .begin = ask,
                                  .ends = box,
                                  .end = 0});
}

static void ring_use(Search *s, const Ring *r, int p, int turn, int full, int empty, int slot) {
  const int i = turn % r->stages;
  const uint32_t bit = r->faults.full_phase_0 ? 0 : (uint32_t)(turn / r->stages) & 1;
  const SearchEvent arrive = {.kind = SEARCH_ARRIVE, .object = empty + i, .n = 1};
  if (!r->faults.no_full_wait)
    search_add(s, p, (SearchEvent){.kind = SEARCH_WAIT, .object = full + i, .bit = bit});
  if (r->faults.early_release) search_add(s, p, arrive);
  const int read = search_add(s, p, (SearchEvent){.kind = SEARCH_WORK});
  if (r->faults.generic) {
    search_touch(s, p, read, slot + i, false);
  } else {
    const int over = search_add(s, p, (SearchEvent){.kind = SEARCH_WORK});
    search_access(
        s,
        (SearchAccess){
            .place = slot + i, .async = true, .process = p, .begin = read, .ends = p, .end = over});
  }
  if (!r->faults.early_release && !(r->faults.silent && p == r->consumers))
    search_add(s, p, arrive);
}

static Search *ring_make(Arena *arena, const Ring *r) {
  Search *s = search_new(arena);
  search_process(s, "producer", 0, 0);
  for (int i = 0; i < r->consumers; i++) search_process(s, "consumer", 0, 1);
  search_barrier(s, "the block's barrier", 0);
  const int full = s->n_bars;
  for (int i = 0; i < r->stages; i++) search_bar(s, arena_printf(arena, "full[%d]", i), 0);
  const int empty = s->n_bars;
  for (int i = 0; i < r->stages; i++) search_bar(s, arena_printf(arena, "empty[%d]", i), 0);
  const int slot = s->n_places;
  for (int i = 0; i < r->stages; i++) search_place(s, arena_printf(arena, "slot %d", i), 0, i);
  ring_init(s, r, full, empty);
  for (int t = 0; t < r->turns - r->faults.fetch_short; t++) ring_fill(s, r, t, full, empty, slot);
  for (int p = 1; p <= r->consumers; p++)
    for (int t = 0; t < r->turns; t++) ring_use(s, r, p, t, full, empty, slot);
  for (int p = 0; p <= r->consumers; p++) search_add(s, p, (SearchEvent){.kind = SEARCH_EXIT});
  return s;
}
