// A timeline → lanes: one for each unit that works, one for each slot of the ring, one for each
// role, and of each block where there are those of a cluster: "1:producer".
//
// A role's lane shows its first warp, that of a warpgroup's atom the first of each four; the others
// do the same a little earlier or later. A slot's lane has what fills it and what reads it, by a
// descriptor too.
#include "base/str.h"
#include "base/whole.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/words/fragment.h"
#include "tui/views/time/pipeline.h"

enum { LANES_ALLOWED = 96 };

typedef bool LaneHolds(const Lane *lane, const TimelineEvent *event);

// A pair's product is one warp's, and both CTAs' units and slots have to do with it.
static bool is_of_rank(const Lane *lane, const TimelineEvent *event) {
  return timeline_rank(lane->timeline, event->warp) == lane->rank ||
         (event->kind == TIMELINE_MULTIPLY && event->stmt->op.cta_group > 1);
}

static bool unit_holds(const Lane *lane, const TimelineEvent *event) {
  return (lane->kinds >> event->kind & 1) && is_of_rank(lane, event);
}

static bool slot_holds(const Lane *lane, const TimelineEvent *event) {
  return event->slot == lane->slot && event->ring == lane->ring && is_of_rank(lane, event);
}

static bool warp_holds(const Lane *lane, const TimelineEvent *event) {
  return event->warp == lane->warp;
}

static void fill(Arena *arena, const Timeline *timeline, Lane *lane) {
  static LaneHolds *const holds[] = {
      [LANE_UNIT] = unit_holds, [LANE_SLOT] = slot_holds, [LANE_WARPS] = warp_holds};
  const TimelineEvent **event = ARENA_ARRAY(arena, const TimelineEvent *, timeline->n_events);
  lane->timeline = timeline;
  for (int i = 0; i < timeline->n_events; i++)
    if (holds[lane->kind](lane, &timeline->event[i])) event[lane->n++] = &timeline->event[i];
  lane->event = event;
}

// ---- names --------------------------------------------------------------------------------------

// The carrier of copies.
static const char *copies_name(const Timeline *timeline) {
  for (int i = 0; i < timeline->n_events; i++) {
    const char *carrier = op_carrier(timeline->event[i].stmt->op.kind);
    if (timeline->event[i].kind == TIMELINE_COPY && carrier) return carrier;
  }
  return "load";
}

// "1:" of a lane of block 1, where there are several.
static const char *block_name(Arena *arena, const Timeline *timeline, int rank) {
  return timeline->n_blocks > 1 ? arena_printf(arena, "%d:", rank) : "";
}

static const char *warps_name(Arena *arena, const Timeline *timeline, int first, int n) {
  const char *role = timeline_role(timeline, first);
  const char *block = block_name(arena, timeline, timeline_rank(timeline, first));
  if (n == 1)
    return arena_printf(arena, "%s%s %d", block, role ? role : "warp",
                        timeline_warp(timeline, first));
  const int from = timeline_warp(timeline, first);
  return arena_printf(arena, "%s%s %d-%d", block, role ? role : "warps", from, from + n - 1);
}

// ---- lanes --------------------------------------------------------------------------------------

static Lane *add(Lanes *lanes, Lane *list, Lane lane) {
  if (lanes->n == LANES_ALLOWED) return NULL;
  list[lanes->n] = lane;
  return &list[lanes->n++];
}

// Shared memory has one pipe for reads and writes.
static void add_units(Arena *arena, Lanes *lanes, Lane *list, int rank) {
  const struct {
    const char *name;
    unsigned kinds;
  } units[] = {
      {copies_name(lanes->timeline), 1u << TIMELINE_COPY},
      {"shared", 1u << TIMELINE_READ | 1u << TIMELINE_WRITE},
      {program_atom(lanes->timeline->program) ? "tensor" : "FMA", 1u << TIMELINE_MULTIPLY},
      {"exp2", 1u << TIMELINE_POWER},
      {"store C", 1u << TIMELINE_STORE},
  };
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    Lane lane = {.kind = LANE_UNIT, .rank = rank, .kinds = units[i].kinds};
    lane.name =
        arena_printf(arena, "%s%s", block_name(arena, lanes->timeline, rank), units[i].name);
    fill(arena, lanes->timeline, &lane);
    if (lane.n) add(lanes, list, lane);
  }
}

static void add_ring(Arena *arena, Lanes *lanes, Lane *list, int index, int rank) {
  const TimelineRing *ring = &lanes->timeline->ring[index];
  for (int i = 0; i < ring->n_slots; i++) {
    Lane lane = {.kind = LANE_SLOT, .rank = rank, .ring = index, .slot = i};
    lane.name =
        arena_printf(arena, "%s%s %d", block_name(arena, lanes->timeline, rank), ring->name, i);
    fill(arena, lanes->timeline, &lane);
    if (lane.n) add(lanes, list, lane);
  }
}

// Warps from `first` on that are shown as one.
static int group_of(const Timeline *timeline, int first, bool each) {
  const Atom *atom = program_atom(timeline->program);
  const char *role = timeline_role(timeline, first);
  int n = 1, most = each                                 ? 1
                    : atom && atom_is_of_warpgroup(atom) ? atom_warps(atom)
                                                         : timeline->n_warps;
  while (n < most && first + n < timeline->n_warps &&
         timeline_rank(timeline, first + n) == timeline_rank(timeline, first) &&
         timeline_role(timeline, first + n) == role)
    n++;
  return n;
}

static void add_warps(Arena *arena, Lanes *lanes, Lane *list, int rank, bool each) {
  const Timeline *timeline = lanes->timeline;
  const int n_warps = timeline->n_warps / timeline->n_blocks;
  for (int first = rank * n_warps; first < (rank + 1) * n_warps;) {
    int n = group_of(timeline, first, each);
    Lane lane = {.kind = LANE_WARPS, .warp = first, .n_warps = n};
    fill(arena, timeline, &lane);
    lane.name = warps_name(arena, timeline, first, n);
    if (lane.n) add(lanes, list, lane);
    first += n;
  }
}

Lanes pipeline_lanes(Arena *arena, const Timeline *timeline, bool each, bool slots) {
  Lanes lanes = {.timeline = timeline};
  Lane *list = ARENA_ARRAY(arena, Lane, LANES_ALLOWED);
  for (int rank = 0; rank < timeline->n_blocks; rank++) {
    if (!timeline->measured) add_units(arena, &lanes, list, rank);
    for (int i = 0; slots && i < timeline->n_rings; i++) add_ring(arena, &lanes, list, i, rank);
    add_warps(arena, &lanes, list, rank, each);
  }
  lanes.lane = list;
  return lanes;
}

char pipeline_mark(int64_t slab) { return "0123456789abcdefghijklmnopqrstuvwxyz"[slab % 36]; }
