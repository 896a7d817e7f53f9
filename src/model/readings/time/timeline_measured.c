// Stamps → events: a begin and the end that follows it in the same warp are one.
//
//   stamps of warp 4     clock 980 mark 8, 1778 mark 9, 2310 mark 11     number 3
//   places 4 and 5       wait full, turn of k_o; wgmma, turn of k_o, which follows it
//   events               wait full 980 to 1778, slab 3; multiply 1778 to 2310, slab 3
//
// Places do not lie in each other, so a begin is followed by its end, or by nothing where the page
// was full. A place that follows another has no begin: it begins where the other ends. The number
// of a place in a loop of slabs is the slab; in the loop of tiles it is none.
#include "model/readings/time/timeline_measured.h"

#include <math.h>
#include <stdlib.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

// ---- events -------------------------------------------------------------------------------------

typedef struct Reader {
  Arena *arena;
  const Emission *emission;
  Diags *diags;
  TimelineEvent *event;
  int n;
} Reader;

static bool refuse(Reader *r, int warp, int at, const char *what) {
  diag_add(r->diags, "stamps", "stamp %d of warp %d %s", at, warp, what);
  return false;
}

static const Buffer *mbarrier_of(TimelineKind kind, const Op *op) {
  const Buffer *buffer = op->dst.buffer;
  bool orders = kind == TIMELINE_WAIT || kind == TIMELINE_SIGNAL;
  return orders && buffer && buffer->space == SPACE_BARRIER ? buffer : NULL;
}

static void add_event(Reader *r, int warp, const EmitStamp *place, const Stamp *begin,
                      const Stamp *end) {
  const TimelineKind kind = timeline_kind_of(&place->stmt->op);
  r->event[r->n] =
      (TimelineEvent){.kind = kind,
                      .stmt = place->stmt,
                      .warp = warp,
                      .order = r->n,
                      .begin = (double)begin->clock,
                      .work = (double)begin->clock,
                      .end = (double)end->clock,
                      .count = 1,
                      .slot = -1,
                      .slab = place->turn ? end->number : -1,
                      .phase = -1,
                      .bar = {.buffer = mbarrier_of(kind, &place->stmt->op), .at = -1}};
  r->n++;
}

static bool is_end(const Stamp *stamp) { return stamp->mark % 2; }

// A begin comes first or behind an end; an end behind its begin, or behind the end that it follows.
static bool is_in_order(const Reader *r, const Stamp *stamp, const Stamp *before) {
  if (!is_end(stamp))
    return (!before || is_end(before)) && !r->emission->stamp[stamp->mark / 2].follows;
  if (!before) return false;
  return is_end(before) ? r->emission->stamp[stamp->mark / 2].follows
                        : stamp->mark == before->mark + 1;
}

static bool check_stamp(Reader *r, const StampedWarp *from, int warp, int i) {
  const Stamp *stamp = &from->stamp[i], *last = i ? stamp - 1 : NULL;
  const int64_t before = last ? last->clock : from->clock_begin;
  if (stamp->mark < 0 || stamp->mark >= 2 * r->emission->n_stamps)
    return refuse(r, warp, i, "names no statement");
  if (stamp->clock < before) return refuse(r, warp, i, "goes back in time");
  if (stamp->clock > from->clock_end) return refuse(r, warp, i, "lies behind the warp's end");
  if (!is_in_order(r, stamp, last))
    return refuse(r, warp, i,
                  "does not end the event that began "
                  "before it");
  return true;
}

static bool read_warp(Reader *r, const StampedWarp *from, int warp) {
  if (from->clock_begin < 0 || from->clock_end < from->clock_begin)
    return refuse(r, warp, 0, "belongs to a warp that ends before it begins");
  for (int i = 0; i < from->n; i++) {
    const Stamp *stamp = &from->stamp[i];
    if (!check_stamp(r, from, warp, i)) return false;
    if (is_end(stamp)) add_event(r, warp, &r->emission->stamp[stamp->mark / 2], stamp - 1, stamp);
  }
  return true;
}

// ---- the timeline -------------------------------------------------------------------------------

static int by_begin(const void *a, const void *b) {
  const TimelineEvent *x = a, *y = b;
  if (x->begin < y->begin || x->begin > y->begin) return x->begin < y->begin ? -1 : 1;
  return x->order - y->order;
}

const Timeline *timeline_measured(Arena *arena, const Program *program, const Emission *emission,
                                  const StampedWarp *warp, int n_warps, Diags *diags) {
  const Launch launch = kernel_launch(program_main(program));
  int64_t most = 0;
  const int expected = (int)launch.cluster * launch_block_warps(&launch);
  if (n_warps != expected) {
    diag_add(diags, "stamps", "%d warps came back; the %s has %d", n_warps,
             launch.cluster > 1 ? "cluster" : "block", expected);
    return NULL;
  }
  for (int i = 0; i < n_warps; i++) most += warp[i].n;
  Reader r = {.arena = arena, .emission = emission, .diags = diags};
  r.event = ARENA_ARRAY(arena, TimelineEvent, most);
  Timeline *timeline = ARENA_NEW(arena, Timeline);
  *timeline = (Timeline){.program = program,
                         .n_blocks = (int)launch.cluster,
                         .n_warps = n_warps,
                         .measured = true,
                         .origin = launch.cluster > 1 ? "stamps of one cluster, its SMs' clocks "
                                                        "set by %globaltimer"
                                                      : "stamps of one block"};
  for (int i = 0; i < n_warps; i++) {
    if (!read_warp(&r, &warp[i], i)) return NULL;
    timeline->full = timeline->full || warp[i].lost > 0;
    timeline->clocks = fmax(timeline->clocks, (double)warp[i].clock_end);
  }
  qsort(r.event, (size_t)r.n, sizeof *r.event, by_begin);
  timeline->event = r.event;
  timeline->n_events = r.n;
  timeline->all_clocks = timeline->clocks;
  timeline->turn_clocks = timeline_slab_clocks(timeline);
  return timeline;
}

// ---- totals -------------------------------------------------------------------------------------

static void add_wait(TimelineTotals *totals, TimelineWait *wait, const TimelineEvent *e) {
  int i = 0;
  while (i < totals->n_waits && wait[i].first->stmt != e->stmt) i++;
  if (i == totals->n_waits) wait[totals->n_waits++] = (TimelineWait){.first = e};
  wait[i].count++;
  wait[i].clocks += e->end - e->begin;
}

TimelineTotals timeline_totals(Arena *arena, const Timeline *timeline, int warp) {
  TimelineTotals totals = {0};
  TimelineWait *wait = ARENA_ARRAY(arena, TimelineWait, timeline->program->n_stmt_ids);
  double begin = -1, end = 0;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    if (e->warp != warp) continue;
    if (begin < 0) begin = e->begin;
    end = fmax(end, e->end);
    totals.kind[e->kind] += e->end - e->begin;
    if (timeline_kind_waits(e->kind)) add_wait(&totals, wait, e);
  }
  for (int kind = 0; kind < TIMELINE_KINDS; kind++)
    *(timeline_kind_waits((TimelineKind)kind) ? &totals.waiting : &totals.busy) +=
        totals.kind[kind];
  totals.clocks = begin < 0 ? 0 : end - begin;
  totals.other = totals.clocks - totals.busy - totals.waiting;
  totals.wait = wait;
  return totals;
}

// ---- order --------------------------------------------------------------------------------------

// The events of one block.
typedef struct Block {
  Arena *arena;
  const Timeline *timeline;
  int first, n_warps;
  const TimelineEvent *const *event;
  int n_events;
  TimelineOrder *order;
} Block;

static Block block_of(Arena *arena, const Timeline *timeline, int rank, TimelineOrder *order) {
  const TimelineEvent **event = ARENA_ARRAY(arena, const TimelineEvent *, timeline->n_events);
  const int n_warps = timeline->n_warps / timeline->n_blocks;
  Block block = {.arena = arena,
                 .timeline = timeline,
                 .first = rank * n_warps,
                 .n_warps = n_warps,
                 .event = event,
                 .order = order};
  for (int i = 0; i < timeline->n_events; i++)
    if (timeline_rank(timeline, timeline->event[i].warp) == rank)
      event[block.n_events++] = &timeline->event[i];
  return block;
}

// Executions of a statement by each warp; -1: some warp of the block comes by another number of
// times.
static int turns_of_all(const Block *block, const Stmt *stmt, int *count) {
  for (int i = 0; i < block->n_warps; i++) count[i] = 0;
  for (int i = 0; i < block->n_events; i++)
    if (block->event[i]->stmt == stmt) count[block->event[i]->warp - block->first]++;
  for (int i = 1; i < block->n_warps; i++)
    if (count[i] != count[0]) return -1;
  return count[0];
}

static void note(TimelineOrder *order, const TimelineEvent *e, bool holds) {
  order->checked++;
  order->broken += !holds;
  if (!holds && !order->first) order->first = e;
}

// The turn-th time that each warp comes by, its end against the last begin of that turn.
static void check_meeting(const Block *block, const Stmt *stmt) {
  int *count = ARENA_ARRAY(block->arena, int, block->n_warps);
  const int turns = turns_of_all(block, stmt, count);
  if (turns < 1) return;
  double *last = ARENA_ARRAY(block->arena, double, turns);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < block->n_warps; i++) count[i] = 0;
    for (int i = 0; i < block->n_events; i++) {
      const TimelineEvent *e = block->event[i];
      if (e->stmt != stmt) continue;
      const int turn = count[e->warp - block->first]++;
      if (pass == 0)
        last[turn] = fmax(last[turn], e->begin);
      else
        note(block->order, e, e->end >= last[turn]);
    }
  }
}

static bool is_signal_to(const TimelineEvent *e, const Buffer *bar) {
  return e->kind == TIMELINE_SIGNAL && e->bar.buffer == bar && op_orders(e->stmt->op.kind) &&
         op_facts(e->stmt->op.kind)->action != ACTION_SET;
}

// The phases that have ended when the n-th wait of a warp is over: of a barrier that tells of bytes
// to come at least n, of one that tells of slots that are free n less the slots, which are free at
// first. Each phase takes at least one signal that has begun.
static int64_t free_at_first(const Block *block, const Buffer *bar) {
  for (int i = 0; i < block->n_events; i++) {
    const TimelineEvent *e = block->event[i];
    if (is_signal_to(e, bar) && op_facts(e->stmt->op.kind)->action == ACTION_EXPECT) return 0;
  }
  return bar->dim[0];
}

static void check_mbarrier(const Block *block, const Buffer *bar) {
  const int64_t lag = free_at_first(block, bar);
  int64_t *waits = ARENA_ARRAY(block->arena, int64_t, block->n_warps);
  double *begin = ARENA_ARRAY(block->arena, double, block->n_events);
  int n = 0;
  for (int i = 0; i < block->n_events; i++)
    if (is_signal_to(block->event[i], bar)) begin[n++] = block->event[i]->begin;
  for (int i = 0; i < block->n_events; i++) {
    const TimelineEvent *e = block->event[i];
    if (e->kind != TIMELINE_WAIT || e->bar.buffer != bar) continue;
    const int64_t needed = ++waits[e->warp - block->first] - lag;
    if (needed > 0) note(block->order, e, needed <= n && begin[needed - 1] <= e->end);
  }
}

static void check_block(const Block *block) {
  bool *seen = ARENA_ARRAY(block->arena, bool, block->timeline->program->n_stmt_ids);
  bool seen_bar[BUFFERS_MAX] = {0};
  for (int i = 0; i < block->n_events; i++) {
    const TimelineEvent *e = block->event[i];
    const Buffer *bar = e->kind == TIMELINE_WAIT ? e->bar.buffer : NULL;
    if (e->kind == TIMELINE_MEET && !seen[e->stmt->id]) check_meeting(block, e->stmt);
    seen[e->stmt->id] = true;
    if (bar && !seen_bar[bar->id]) check_mbarrier(block, bar);
    if (bar) seen_bar[bar->id] = true;
  }
}

TimelineOrder timeline_check_order(Arena *arena, const Timeline *timeline) {
  TimelineOrder order = {0};
  if (timeline->full) return order;  // begins that were lost would be missed
  for (int rank = 0; rank < timeline->n_blocks; rank++) {
    const Block block = block_of(arena, timeline, rank, &order);
    check_block(&block);
  }
  return order;
}
