#include "search_bugs.h"

enum { BYTES = 128, TURNS = 4 };

static int does(Search *s, int process, SearchKind kind, int object, int64_t n, int64_t bytes) {
  return search_add(s, process,
                    (SearchEvent){.kind = kind, .object = object, .n = n, .bytes = bytes});
}
static void waits(Search *s, int process, int bar, int turn) {
  search_add(s, process,
             (SearchEvent){.kind = SEARCH_WAIT, .object = bar, .bit = (uint32_t)turn & 1});
}
static void init(Search *s, int bar, int64_t n) {
  search_add(s, 0, (SearchEvent){.kind = SEARCH_INIT, .object = bar, .n = n, .bit = 1});
}
// A box for a place, counted at an mbarrier; it reads another place meanwhile, or none (-1).
static void box(Search *s, int process, int place, int bar, int reads) {
  const int at = does(s, process, SEARCH_WORK, 0, 0, 0), agent = search_agent(s, "the box", 0);
  search_add(s, agent,
             (SearchEvent){.kind = SEARCH_LAND,
                           .object = bar,
                           .bytes = BYTES,
                           .after = process + 1,
                           .after_at = at});
  search_access(s, (SearchAccess){.place = place,
                                  .write = true,
                                  .async = true,
                                  .process = process,
                                  .begin = at,
                                  .ends = agent});
  if (reads >= 0)
    search_access(s,
                  (SearchAccess){.place = reads, .process = process, .begin = at, .ends = agent});
}
static void touches(Search *s, int process, int place, bool write) {
  search_touch(s, process, does(s, process, SEARCH_WORK, 0, 0, 0), place, write);
}

// DeepEP, pull request 642: what lanes have read of a stage is not known to the copy that fills it
// again.
static Search *reads_before_a_copy(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int warp = search_process(s, "warp", 0, 0), full = search_bar(s, "full", 0),
            stage = search_place(s, "the stage", 0, 0);
  init(s, full, 1);
  for (int turn = 0; turn < TURNS; turn++) {
    if (cured) does(s, warp, SEARCH_FENCE, 0, 0, 0);
    does(s, warp, SEARCH_ARRIVE, full, 1, BYTES);
    box(s, warp, stage, full, -1);
    waits(s, warp, full, turn);
    touches(s, warp, stage, false);
  }
  does(s, warp, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// DeepGEMM, pull request 343: a tensor map is changed in place while a copy that goes by it is
// under way.
static Search *map_in_flight(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int producer = search_process(s, "producer", 0, 0),
            consumer = search_process(s, "consumer", 0, 1), full = search_bar(s, "full", 0),
            stage = search_place(s, "the stage", 0, 0), map = search_place(s, "the map", 0, 1);
  init(s, full, 1);
  search_barrier(s, "barrier", 0);
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_MEET, 0, 2, 0);
  does(s, producer, SEARCH_ARRIVE, full, 1, BYTES);
  box(s, producer, stage, full, map);
  if (cured) waits(s, producer, full, 0);
  touches(s, producer, map, true);
  waits(s, consumer, full, 0);
  touches(s, consumer, stage, false);
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// DeepEP, issue 657: of two stages the wait lets one group stay in flight, which is the one whose
// stage is filled next.
static Search *store_in_flight(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int warp = search_process(s, "warp", 0, 0), full = search_bar(s, "full", 0),
            stage = search_place(s, "stage 0", 0, 0);
  init(s, full, 1);
  for (int turn = 0; turn < 2; turn++) {
    does(s, warp, SEARCH_ARRIVE, full, 1, BYTES);
    box(s, warp, stage, full, -1);
    waits(s, warp, full, turn);
    const int send = does(s, warp, SEARCH_WORK, 0, 0, 0);
    const int early = does(s, warp, SEARCH_WORK, 0, 0, 0);  // at most one group is in flight
    if (turn == 0) continue;
    const int late = does(s, warp, SEARCH_WORK, 0, 0, 0);  // none is
    (void)early;
    search_access(s, (SearchAccess){.place = stage,
                                    .async = true,
                                    .process = warp,
                                    .begin = send,
                                    .ends = warp,
                                    .end = late});
  }
  const int first = 4;  // the store of turn 0: behind init, arrival, box and wait
  search_access(s, (SearchAccess){.place = stage,
                                  .async = true,
                                  .process = warp,
                                  .begin = first,
                                  .ends = warp,
                                  .end = cured ? first + 1 : first + 5});
  does(s, warp, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// tilelang, pull request 3087: one mbarrier is waited for with the parity of a ring of two.
static Search *parity_of_a_ring(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int warp = search_process(s, "warp", 0, 0), done = search_bar(s, "done", 0),
            core = search_agent(s, "the tensor core", 0);
  init(s, done, 1);
  for (int turn = 0; turn < TURNS; turn++) {
    const int stage = search_place(s, "the stage", 0, turn % 2);
    touches(s, warp, stage, true);
    does(s, warp, SEARCH_FENCE, 0, 1, 0);
    const int ask = does(s, warp, SEARCH_WORK, 0, 0, 0);
    const int end = search_add(
        s, core,
        (SearchEvent){
            .kind = SEARCH_ARRIVE, .object = done, .n = 1, .after = warp + 1, .after_at = ask});
    search_access(s, (SearchAccess){.place = stage,
                                    .async = true,
                                    .process = warp,
                                    .begin = ask,
                                    .ends = core,
                                    .end = end,
                                    .queue = 1});
    waits(s, warp, done, cured ? turn : turn / 2);
  }
  does(s, warp, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// vLLM, pull request 26026: who has no work arrives at a named barrier and comes round again,
// before those have met whom it arrived for.
static Search *arrives_again(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  for (int p = 0; p < 3; p++) search_process(s, p < 2 ? "compute warp" : "load warp", 0, p / 2);
  search_barrier(s, "the named barrier", 0);
  const int slot = search_place(s, "the table", 0, 0);
  for (int turn = 0; turn < 2; turn++) {
    touches(s, 1, slot, false);
    for (int p = 0; p < 3; p++) does(s, p, p == 0 && !cured ? SEARCH_PASS : SEARCH_MEET, 0, 3, 0);
    touches(s, 2, slot, true);
    search_barrier(s, "the block's barrier", 0);
    for (int p = 1; p < 3; p++) does(s, p, SEARCH_MEET, 1 + turn, 2, 0);
  }
  for (int p = 0; p < 3; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// CUTLASS, issue 3643: only the leader's half of the factors is waited for, and a product of the
// pair reads both.
static Search *half_waited_for(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int leader = search_process(s, "leader", 0, 0), peer = search_process(s, "peer", 1, 0);
  int full[2], half[2];
  for (int r = 0; r < 2; r++) full[r] = search_bar(s, r ? "full of the peer" : "full", r);
  const int told = search_bar(s, "both are full", 0);
  for (int r = 0; r < 2; r++) half[r] = search_place(s, r ? "the peer's factors" : "factors", r, 0);
  init(s, full[0], 1), init(s, told, 1);
  search_add(s, peer, (SearchEvent){.kind = SEARCH_INIT, .object = full[1], .n = 1, .bit = 1});
  search_barrier(s, "the cluster's barrier", 0);
  for (int p = 0; p < 2; p++)
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 2, .bit = 1});
  for (int p = 0; p < 2; p++) {
    does(s, p, SEARCH_ARRIVE, full[p], 1, BYTES);
    box(s, p, half[p], full[p], -1);
  }
  waits(s, leader, full[0], 0);
  waits(s, peer, full[1], 0);
  if (cured) does(s, peer, SEARCH_ARRIVE, told, 1, 0);
  if (cured) waits(s, leader, told, 0);
  touches(s, leader, half[0], false);
  touches(s, leader, half[1], false);
  for (int p = 0; p < 2; p++)
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 2, .bit = 1});
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// Triton, pull request 10035: the first warp of a partition arrives for all of it, and another one
// has not seen the phase yet that it waits for.
static Search *leader_arrives(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int producer = search_process(s, "producer", 0, 0), ready = search_bar(s, "ready", 0),
            empty = search_bar(s, "empty", 0);
  for (int i = 0; i < 2; i++) search_process(s, i ? "warp 1" : "the leader", 0, 1);
  init(s, ready, 1), init(s, empty, 1);
  search_barrier(s, "the block's barrier", 0), search_barrier(s, "the partition's", 0);
  for (int p = 0; p < 3; p++) does(s, p, SEARCH_MEET, 0, 3, 0);
  for (int turn = 0; turn < TURNS; turn++) {
    waits(s, producer, empty, turn + 1);
    does(s, producer, SEARCH_ARRIVE, ready, 1, 0);
    for (int p = 1; p < 3; p++) does(s, p, SEARCH_MEET, 1, 2, 0);
    for (int p = 1; p < 3; p++) waits(s, p, ready, turn);
    for (int p = 1; p < 3 && cured; p++) does(s, p, SEARCH_MEET, 1, 2, 0);
    does(s, 1, SEARCH_ARRIVE, empty, 1, 0);
  }
  for (int p = 0; p < 3; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// FlashKDA, issue 24: threads write a state, meet, and one of them has it sent by TMA.
static Search *sent_unfenced(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int state = search_place(s, "the state", 0, 0);
  search_barrier(s, "the block's barrier", 0);
  for (int p = 0; p < 2; p++) {
    search_process(s, p ? "warp 1" : "warp 0", 0, 0);
    touches(s, p,
            search_part(
                s, (SearchPlace){.name = "half of the state", .lo = {p}, .hi = {p + 1, 1, 1, 1}}),
            true);
    if (cured) does(s, p, SEARCH_FENCE, 0, 1, 0);
    does(s, p, SEARCH_MEET, 0, 2, 0);
  }
  s->place[state].hi[0] = 2;
  const int send = does(s, 0, SEARCH_WORK, 0, 0, 0), sent = does(s, 0, SEARCH_WORK, 0, 0, 0);
  search_access(
      s, (SearchAccess){.place = state, .async = true, .process = 0, .begin = send, .end = sent});
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// The same issue: an mbarrier is initialised with no fence.mbarrier_init, and a copy counts there.
static Search *init_unsaid(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int warp = search_process(s, "warp 0", 0, 0), full = search_bar(s, "full", 0),
            slot = search_place(s, "the slot", 0, 0);
  does(s, warp, SEARCH_INIT, full, 1, 0);
  if (cured) does(s, warp, SEARCH_INIT_SAID, 0, 0, 0);
  does(s, warp, SEARCH_ARRIVE, full, 1, BYTES);
  box(s, warp, slot, full, -1);
  waits(s, warp, full, 0);
  does(s, warp, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// Transformer Engine, pull request 2695: a barrier stands between the loads of a stage and the copy
// of the next one, and no proxy fence.
static Search *loads_before_a_copy(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  for (int p = 0; p < 2; p++) search_process(s, p ? "warp 1" : "warp 0", 0, 0);
  const int full = search_bar(s, "full", 0), stage = search_place(s, "the stage", 0, 0);
  search_barrier(s, "the block's barrier", 0);
  init(s, full, 1);
  for (int turn = 0; turn < TURNS; turn++) {
    for (int p = 0; p < 2; p++) does(s, p, SEARCH_MEET, 0, 2, 0);
    if (cured) does(s, 0, SEARCH_FENCE, 0, 0, 0);
    does(s, 0, SEARCH_ARRIVE, full, 1, BYTES);
    box(s, 0, stage, full, -1);
    for (int p = 0; p < 2; p++) waits(s, p, full, turn);
    for (int p = 0; p < 2; p++) touches(s, p, stage, false);
  }
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// CUTLASS, issue 3324: who hands the news of a peer's cp.async on arrives, and who waits for it
// waits, in the scope of its block.
static Search *handed_on(Arena *arena, SearchScope arrival, SearchScope wait) {
  Search *s = search_new(arena);
  s->scopes = true;
  const int leader = search_process(s, "leader", 0, 0), loader = search_process(s, "loader", 1, 1),
            relay = search_process(s, "relay", 1, 2), full = search_bar(s, "full", 0),
            loaded = search_bar(s, "loaded", 1), tile = search_place(s, "the peer's tile", 1, 0);
  init(s, full, 1);
  search_add(s, loader, (SearchEvent){.kind = SEARCH_INIT, .object = loaded, .n = 1, .bit = 1});
  search_barrier(s, "the cluster's barrier", 0);
  for (int p = 0; p < 3; p++)
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 3, .bit = SEARCH_MEET_CLUSTER});
  touches(s, loader, tile, true);
  does(s, loader, SEARCH_FENCE, 0, 1, 0);
  search_add(
      s, loader,
      (SearchEvent){.kind = SEARCH_ARRIVE, .object = loaded, .n = 1, .scope = SEARCH_OF_BLOCK});
  search_add(s, relay,
             (SearchEvent){.kind = SEARCH_WAIT, .object = loaded, .scope = SEARCH_OF_BLOCK});
  search_add(s, relay,
             (SearchEvent){.kind = SEARCH_ARRIVE, .object = full, .n = 1, .scope = arrival});
  search_add(s, leader, (SearchEvent){.kind = SEARCH_WAIT, .object = full, .scope = wait});
  const int ask = does(s, leader, SEARCH_WORK, 0, 0, 0),
            done = does(s, leader, SEARCH_WORK, 0, 0, 0);
  search_access(s, (SearchAccess){.place = tile,
                                  .async = true,
                                  .process = leader,
                                  .begin = ask,
                                  .ends = leader,
                                  .end = done});
  for (int p = 0; p < 3; p++)
    search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 3, .bit = SEARCH_MEET_CLUSTER});
  for (int p = 0; p < 3; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

static Search *narrow_arrival(Arena *arena, bool cured) {
  return handed_on(arena, cured ? SEARCH_OF_CLUSTER : SEARCH_OF_BLOCK, SEARCH_OF_CLUSTER);
}
static Search *narrow_wait(Arena *arena, bool cured) {
  return handed_on(arena, SEARCH_OF_CLUSTER, cured ? SEARCH_OF_CLUSTER : SEARCH_OF_BLOCK);
}

// CUTLASS, pull request 3316: one of a pair allocates for both, and its peer may not have begun.
static Search *peer_not_there(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  for (int p = 0; p < 2; p++) search_process(s, p ? "the peer" : "the first", p, 0);
  const int mail = search_bar(s, "the peer's mailbox", 1);
  search_barrier(s, "the cluster's barrier", 0);
  search_add(s, 1, (SearchEvent){.kind = SEARCH_INIT, .object = mail, .n = 1, .bit = 1});
  for (int i = 0; i < 2; i++) {
    for (int p = 0; p < 2 && (cured || i); p++)
      search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 2, .bit = SEARCH_MEET_CLUSTER});
    if (i == 0) does(s, 0, SEARCH_ARRIVE, mail, 1, 0);
    if (i == 0) waits(s, 1, mail, 0);
  }
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// tilelang, issue 2567: the producer's first wait needs a release that the consumers come to only
// behind a barrier that stands behind what the producer fetches.
static Search *release_behind_the_wait(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int producer = search_process(s, "producer", 0, 0), full = search_bar(s, "full", 0),
            empty = search_bar(s, "empty", 0), q = search_place(s, "Q", 0, 0);
  for (int i = 0; i < 2; i++) search_process(s, "consumer", 0, 1);
  init(s, full, 1), init(s, empty, 2);
  search_barrier(s, "the block's barrier", 0), search_barrier(s, "barrier 3", 0);
  for (int p = 0; p < 3; p++) does(s, p, SEARCH_MEET, 0, 3, 0);
  for (int turn = 0; turn < TURNS; turn++) {
    search_add(
        s, producer,
        (SearchEvent){
            .kind = SEARCH_WAIT, .object = empty, .bit = (uint32_t)(turn + cured) & 1, .tag = 1});
    does(s, producer, SEARCH_FENCE, 0, 0, 0);
    does(s, producer, SEARCH_ARRIVE, full, 1, BYTES);
    box(s, producer, q, full, -1);
    for (int p = 1; p < 3; p++) waits(s, p, full, turn);
    for (int p = 1; p < 3; p++) touches(s, p, q, false);
    for (int p = 1; p < 3; p++) does(s, p, SEARCH_MEET, 1, 2, 0);
    for (int p = 1; p < 3; p++) does(s, p, SEARCH_ARRIVE, empty, 1, 0);
  }
  for (int p = 0; p < 3; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// tilelang, issue 2566: the bytes of a copy are expected, and nobody arrives.
static Search *expects_without_arriving(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int producer = search_process(s, "producer", 0, 0),
            consumer = search_process(s, "consumer", 0, 1), full = search_bar(s, "full", 0),
            slot = search_place(s, "the slot", 0, 0);
  init(s, full, 1);
  search_barrier(s, "the block's barrier", 0);
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_MEET, 0, 2, 0);
  does(s, producer, SEARCH_ARRIVE, full, cured, BYTES);
  box(s, producer, slot, full, -1);
  waits(s, consumer, full, 0);
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// FlashAttention, issue 1317: barrier_O is waited for in phase 0 before anybody has arrived there.
static Search *phase_of_a_new_one(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  const int load = search_process(s, "load warp", 0, 0),
            math = search_process(s, "math warp", 0, 1), full = search_bar(s, "barrier_Q", 0),
            stored = search_bar(s, "barrier_O", 0);
  init(s, full, 1), init(s, stored, 1);
  search_barrier(s, "the block's barrier", 0);
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_MEET, 0, 2, 0);
  for (int turn = 0; turn < TURNS; turn++) {
    search_add(
        s, load,
        (SearchEvent){
            .kind = SEARCH_WAIT, .object = stored, .bit = (uint32_t)(turn + cured) & 1, .tag = 1});
    does(s, load, SEARCH_ARRIVE, full, 1, 0);
    waits(s, math, full, turn);
    does(s, math, SEARCH_ARRIVE, stored, 1, 0);
  }
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// SGLang, pull request 32954: a block of a pair ends while its peer may still arrive there.
static Search *ends_before_its_peer(Arena *arena, bool cured) {
  Search *s = search_new(arena);
  for (int p = 0; p < 2; p++) search_process(s, p ? "the peer" : "the leader", p, 0);
  const int full = search_bar(s, "the leader's mbarrier", 0);
  init(s, full, 2);
  search_barrier(s, "the cluster's barrier", 0);
  for (int i = 0; i < 1 + cured; i++) {
    for (int p = 0; p < 2; p++)
      search_add(s, p, (SearchEvent){.kind = SEARCH_MEET, .n = 2, .bit = SEARCH_MEET_CLUSTER});
    for (int p = 0; p < 2 && i == 0; p++) does(s, p, SEARCH_ARRIVE, full, 1, 0);
  }
  for (int p = 0; p < 2; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

// GiMMiK, pull request 23: one warp fetches the slab of B for the tile to come, compute warps read
// that of the tile at hand, a third kind asks for tiles. One mbarrier says that a slab of B is
// there, and nobody tells the fetching warp that it was seen. WORK_RING is what the pull request
// puts there: tiles come through a ring of four, and the fetching warp stays one slab ahead.
typedef enum StealHow { AS_IT_WAS, WORK_RING, BOTH_WAYS } StealHow;
enum { COMPUTE = 2, FETCH = COMPUTE, ASK, STEAL_WARPS, WORK_SLOTS = 4 };

typedef struct Steal {
  Search *s;
  StealHow how;
  int ready, taken, box, tile, used, slots, slab;
} Steal;

static void fetch_slab(const Steal *t, int turn) {
  if (t->how == BOTH_WAYS && turn > 0) waits(t->s, FETCH, t->taken, turn - 1);
  does(t->s, FETCH, SEARCH_FENCE, 0, 0, 0);  // which the kernel has not: a fault of its own
  does(t->s, FETCH, SEARCH_ARRIVE, t->box, 1, BYTES);
  box(t->s, FETCH, t->slab + turn % 2, t->box, -1);
  waits(t->s, FETCH, t->box, turn);
  does(t->s, FETCH, SEARCH_ARRIVE, t->ready, 1, 0);
}

static void take_tile(const Steal *t, int process, int turn) {
  waits(t->s, process, t->tile + turn % t->slots, turn / t->slots);
  does(t->s, process, SEARCH_ARRIVE, t->used + turn % t->slots, 1, 0);
}

static void steal_turn(const Steal *t, int turn) {
  const int slot = turn % t->slots, round = turn / t->slots;
  if (t->how == WORK_RING && round > 0) waits(t->s, ASK, t->used + slot, round - 1);
  does(t->s, ASK, SEARCH_ARRIVE, t->tile + slot, 1, 0);
  if (t->how != WORK_RING) waits(t->s, ASK, t->used + slot, round);
  take_tile(t, FETCH, turn);
  fetch_slab(t, turn + 1);
  if (t->how == WORK_RING) waits(t->s, FETCH, t->used + slot, round);
  for (int p = 0; p < COMPUTE; p++) {
    waits(t->s, p, t->ready, turn);
    if (t->how == BOTH_WAYS) does(t->s, p, SEARCH_ARRIVE, t->taken, 1, 0);
    touches(t->s, p, t->slab + turn % 2, false);
    take_tile(t, p, turn);
  }
}

static Search *steals(Arena *arena, StealHow how) {
  Steal t = {.s = search_new(arena), .how = how, .slots = how == WORK_RING ? WORK_SLOTS : 1};
  Search *s = t.s;
  for (int p = 0; p < STEAL_WARPS; p++)
    search_process(s,
                   p < COMPUTE  ? "compute warp"
                   : p == FETCH ? "data warp"
                                : "control warp",
                   0, p);
  t.ready = search_bar(s, "bready", 0);
  t.taken = search_bar(s, "taken", 0);
  t.box = search_bar(s, "the copy's", 0);
  init(s, t.ready, 1), init(s, t.taken, COMPUTE), init(s, t.box, 1);
  for (int i = 0; i < t.slots; i++) {
    const int tile = search_bar(s, "new tile", 0);
    init(s, tile, 1);
    if (i == 0) t.tile = tile;
  }
  for (int i = 0; i < t.slots; i++) {
    const int used = search_bar(s, "used tile", 0);
    init(s, used, COMPUTE + 1);
    if (i == 0) t.used = used;
  }
  for (int i = 0; i < 2; i++) {
    const int slab = search_place(s, i ? "slab 1" : "slab 0", 0, i);
    if (i == 0) t.slab = slab;
  }
  search_barrier(s, "the block's barrier", 0);
  for (int p = 0; p < STEAL_WARPS; p++) does(s, p, SEARCH_MEET, 0, STEAL_WARPS, 0);
  fetch_slab(&t, 0);
  for (int turn = 0; turn < 2 * TURNS; turn++) steal_turn(&t, turn);
  for (int p = 0; p < STEAL_WARPS; p++) does(s, p, SEARCH_EXIT, 0, 0, 0);
  return s;
}

static Search *nobody_says_it_was_seen(Arena *arena, bool cured) {
  return steals(arena, cured ? BOTH_WAYS : AS_IT_WAS);
}

Search *search_bug_work_ring(Arena *arena) { return steals(arena, WORK_RING); }

const SearchBug search_bugs[] = {
    {reads_before_a_copy, SEARCH_UNFENCED, "warp writes the stage in the background",
     "let warp fence (fence.proxy.async) before its copy, which writes the stage: tried"},
    {map_in_flight, SEARCH_REFILLED, "producer writes the map while producer reads the map", ""},
    {store_in_flight, SEARCH_REFILLED,
     "warp writes stage 0 in the background while warp reads stage 0",
     "let warp wait until it has read stage 0, before it writes there again: tried"},
    {parity_of_a_ring, SEARCH_LAPPED, "the tensor core arrives at done and ends its phase 1", ""},
    {arrives_again, SEARCH_RACE, "the table", ""},
    {half_waited_for, SEARCH_REFILLED, "while leader reads the peer's factors", ""},
    {leader_arrives, SEARCH_LAPPED, "producer arrives at ready and ends its phase 1",
     "let the 2 warps that wait for ready meet after that, before one of them arrives for all: "
     "tried"},
    {sent_unfenced, SEARCH_UNFENCED, "warp 0 reads the state: the async proxy does not see",
     "before its copy, which reads the state: tried"},
    {init_unsaid, SEARCH_UNBEGUN, "counted at full, which may not be initialised yet",
     "fence.mbarrier_init after the initialisation: tried"},
    {loads_before_a_copy, SEARCH_UNFENCED, "warp 0 writes the stage in the background",
     "before its copy, which writes the stage: tried"},
    {narrow_arrival, SEARCH_NARROW, "leader reads the peer's tile: threads of another block",
     ".release.cluster: tried"},
    {narrow_wait, SEARCH_UNLEARNED, "the wait for it has only the scope of one block",
     ".acquire.cluster: tried"},
    {nobody_says_it_was_seen, SEARCH_LAPPED, "data warp arrives at bready and ends its phase", ""},
    {peer_not_there, SEARCH_UNBEGUN, "the first arrives at the peer's mailbox",
     "let the cluster meet after the initialisation: tried"},
    {release_behind_the_wait, SEARCH_DEADLOCK,
     "consumer waits for full phase 0; producer, which would end that, waits for empty phase 0, "
     "at which none of them has arrived",
     "let producer wait for empty with the other phase bit: tried"},
    {expects_without_arriving, SEARCH_DEADLOCK, "consumer waits for full phase 0", ""},
    {phase_of_a_new_one, SEARCH_DEADLOCK, "waits for barrier_O phase 0",
     "let load warp wait for barrier_O with the other phase bit: tried"},
    {ends_before_its_peer, SEARCH_GONE, "block 0 of the cluster may have ended",
     "let the cluster meet before a block ends: tried"},
};
const int search_bugs_count = sizeof search_bugs / sizeof *search_bugs;
