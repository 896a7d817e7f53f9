// Instruction after instruction of a warp → stretches, and events at those that order or copy.
#include "machine/mc_ways.h"

#include <string.h>

#include "machine/mc_run.h"
#include "sass/sass_eval.h"

enum { STRETCHES_MAX = 1 << 20, POLL_MAX = 32, FIRST_ROOM = 64 };

// The last question to an mbarrier, and where the way was then.
typedef struct Asked {
  SassEvent event;
  int stretches, events, first, last;
  int64_t instructions;
  bool valid;
} Asked;

typedef struct Walker {
  SassWay way;
  SassStretch *stretch;
  SassEvent *event;
  int stretch_room, event_room;
  int first, last;  // of the stretch under way; −1: none yet
  uint32_t lanes;   // that are together
  bool jumped;
  Asked asked;
} Walker;

struct McWays {
  Arena *arena;
  const SassCode *code;
  const SassListener *listener;
  int warps, rank;  // rank: of the block that is followed, in its cluster
  Walker *walker;
};

McWays *mc_ways_new(Arena *arena, const SassCode *code, int warps, const SassListener *listener) {
  McWays *ways = ARENA_NEW(arena, McWays);
  *ways = (McWays){.arena = arena, .code = code, .listener = listener, .warps = warps};
  mc_ways_take(ways);
  return ways;
}

// ---- stretches ----------------------------------------------------------------------------------

// Room for one more of `n` things.
static void *grown(Arena *arena, void *from, int n, int *room, size_t bytes) {
  if (n < *room) return from;
  *room = *room ? 2 * *room : FIRST_ROOM;
  void *more = arena_alloc(arena, bytes * (size_t)*room);
  if (n) memcpy(more, from, bytes * (size_t)n);
  return more;
}

static void end_stretch(McWays *ways, Walker *walker) {
  SassWay *way = &walker->way;
  if (walker->first < 0 || way->n_stretches == STRETCHES_MAX) return;
  walker->stretch = grown(ways->arena, walker->stretch, way->n_stretches, &walker->stretch_room,
                          sizeof *walker->stretch);
  walker->stretch[way->n_stretches++] = (SassStretch){walker->first, walker->last};
  way->instructions += walker->last - walker->first + 1;
}

// Whether pc follows the last instruction without a jump: those between were passed over, for no
// lane carries them out.
static bool goes_on(const Walker *walker, int pc, uint32_t lanes) {
  if (walker->first < 0) return false;
  if (pc == walker->last + 1) return true;
  return !walker->jumped && pc > walker->last && lanes == walker->lanes;
}

static void take_step(McWays *ways, Walker *walker, int pc, uint32_t lanes, bool jumps) {
  if (!goes_on(walker, pc, lanes)) {
    end_stretch(ways, walker);
    walker->first = pc;
  }
  walker->last = pc;
  walker->lanes = lanes;
  walker->jumped = jumps;
}

// ---- events -------------------------------------------------------------------------------------

static uint32_t register_value(void *context, bool uniform, int number, uint32_t lanes) {
  if (number >= (uniform ? SASS_URZ : SASS_RZ)) return 0;
  const uint64_t *of = mc_lanes(context, (uniform ? MC_FRAME_UR : MC_FRAME_R) + number);
  return (uint32_t)of[lanes ? __builtin_ctz(lanes) : 0];
}

static bool is_same_question(const Asked *asked, const SassEvent *event) {
  return asked->valid && asked->event.at == event->at && asked->event.address == event->address &&
         asked->event.value == event->value;
}

// Takes out what the warp did since it asked the same, if that is no more than a poll is long.
static bool forget_poll(Walker *walker, const SassEvent *event) {
  const Asked *asked = &walker->asked;
  SassWay *way = &walker->way;
  const int64_t now = way->instructions + walker->last - walker->first + 1;
  if (!is_same_question(asked, event) || way->n_events != asked->events + 1 ||
      now - asked->instructions > POLL_MAX)
    return false;
  way->n_stretches = asked->stretches;
  way->instructions = asked->instructions;
  walker->first = asked->first;
  walker->last = asked->last;
  return true;
}

static void note_event(McWays *ways, Walker *walker, PtxWarp *w, int pc, uint32_t lanes) {
  const SassInst *inst = &ways->code->inst[pc];
  SassEvent event;
  if (!sass_event_of(inst, pc, lanes, register_value, w, &event)) return;
  const bool asks = sass_asks_mbarrier(inst);
  if (asks && forget_poll(walker, &event)) return;
  walker->event = grown(ways->arena, walker->event, walker->way.n_events, &walker->event_room,
                        sizeof *walker->event);
  walker->asked = (Asked){.event = event,
                          .stretches = walker->way.n_stretches,
                          .events = walker->way.n_events,
                          .first = walker->first,
                          .last = walker->last,
                          .instructions = walker->way.instructions,
                          .valid = asks};
  walker->event[walker->way.n_events++] = event;
}

// ---- what the machine tells ---------------------------------------------------------------------

void mc_ways_step(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  McWays *ways = self;
  ways->rank = m->watched < 0 ? 0 : m->watched;
  if (w->block->rank != ways->rank || w->in_block >= ways->warps || pc >= ways->code->n) return;
  Walker *walker = &ways->walker[w->in_block];
  take_step(ways, walker, pc, w->mask, w->next != pc + 1);
  note_event(ways, walker, w, pc, mask);
}

static bool is_by_lane(const SassInst *inst) {
  const SassPipe pipe = inst->opcode->pipe;
  return inst->bytes > 0 && (pipe == SASS_PIPE_SHARED || pipe == SASS_PIPE_FAR);
}

void mc_ways_access(void *self, const PtxAccess *access) {
  McWays *ways = self;
  if (!ways->listener || access->pc >= ways->code->n || access->rank != ways->rank) return;
  const SassInst *inst = &ways->code->inst[access->pc];
  if (!is_by_lane(inst)) return;
  const bool copies = inst->opcode->kind == SASS_KIND_COPY;
  int64_t global[PTX_LANES];
  for (int i = 0; copies && i < PTX_LANES; i++)
    global[i] = access->mask >> i & 1 ? access->global[i] : -1;
  ways->listener->access(ways->listener->context, access->warp, access->pc,
                         copies ? global : access->addr, copies ? access->addr : NULL);
}

SassWay *mc_ways_take(McWays *ways) {
  SassWay *out = ARENA_ARRAY(ways->arena, SassWay, ways->warps);
  for (int i = 0; ways->walker && i < ways->warps; i++) {
    Walker *walker = &ways->walker[i];
    end_stretch(ways, walker);
    out[i] = walker->way;
    out[i].ended = walker->first >= 0 && walker->way.n_stretches < STRETCHES_MAX;
    out[i].told = true;
    out[i].stretch = walker->stretch;
    out[i].event = walker->event;
  }
  ways->walker = ARENA_ARRAY(ways->arena, Walker, ways->warps);
  for (int i = 0; i < ways->warps; i++) ways->walker[i].first = -1;
  return out;
}
