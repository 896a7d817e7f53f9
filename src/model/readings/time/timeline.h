// Time on one SM: what the warps of one block issue, where they wait and for which warps, in
// clocks.
//
//   const Timeline *timeline = timeline_run(arena, model, NULL, &(TimelineOptions){0});
//   timeline->event[i]      copy A_s, slab 3, slot 3: asked for at 1,210, landed at 1,744
//                           wait full[3] phase 0, warp 0: 980 to 1,778
//
// A run without values: statements in the order in which each warp executes them, loops,
// conditions, slots and phases as the program says them, but no number is loaded, multiplied or
// stored. So it takes a few milliseconds whatever the size of the problem. The interpreter
// (interp.h) runs the same program with values; both see the same events in the same order, which a
// test compares.
//
// For a pair of CTAs that multiply together both may be run, each on an SM of its own: what one
// sends to the other then arrives when it is sent. Blocks of other clusters are taken to do as
// block 0 does.
//
// All times are estimates, for block 0 alone on its SM: units serve in the order of asking, with
// the rates of the model (traffic.c, site.c) and the latencies of the target. Not known is 0, and
// `origin` says so.
#pragma once
#include "model/ir/timeline_kind.h"
#include "model/readings/model.h"

// An mbarrier as it stands behind an event.
typedef struct TimelineBar {
  const Buffer *buffer;       // NULL: the event is about no mbarrier
  int at;                     // -1: measured, so which of them is not known
  int rank;                   // whose, of a pair
  uint32_t phase;             // under way
  int64_t expected, arrived;  // arrivals of that phase
  int64_t bytes, landed;      // that it was told of, and that have come
} TimelineBar;

// A warp at a statement; executions of one statement that follow each other without anything that
// orders between them are one event.
typedef struct TimelineEvent {
  TimelineKind kind;
  const Stmt *stmt;
  int warp;
  int order;          // among the events as they were run: those of one warp are in its own
  double begin, end;  // clocks; of a copy: asked for, landed
  double work;        // when its unit begins with it
  double busy;        // clocks that it takes of its unit
  int64_t count;      // executions
  int ring, slot;     // that it fills or reads; slot -1: none, or it is not known
  int64_t slab;       // that is moved, read or multiplied; -1: none
  int64_t phase;      // WAIT for an mbarrier: the bit that must have ended; else -1
  TimelineBar bar;
  bool stuck;  // it waits for ever
} TimelineEvent;

// A phase of an mbarrier that has ended.
typedef struct TimelinePhase {
  const Buffer *buffer;
  int at, rank;
  uint32_t phase;
  double end;
  int64_t bytes;
} TimelinePhase;

// Slabs in shared memory that are filled and read one slot after the other: those of A and B
// together, of attention those of each matrix by themselves.
typedef struct TimelineRing {
  const char *name;  // "slot", "K_s"
  int n_slots;       // 1: there is no ring, and the one slot is filled again and again
} TimelineRing;

// A slab in a slot. From `landed` to `read` it is there and no warp reads it; from `over` on the
// slot is free. A product by a descriptor reads from its issue until a wait or a commit proves that
// it is done, however early it was; who reads into registers has read when the values are there.
typedef struct TimelineHold {
  int ring, slot, rank;              // of which CTA of a pair; 0
  int64_t slab;                      // -1: none that is counted (Q of attention)
  double asked, landed, read, over;  // clocks; never read: read = over, infinite
} TimelineHold;

// Turns of a loop that are all alike and were left out, and the clock at which they would be.
typedef struct TimelineCut {
  double at, clocks;
  int64_t turns;
  const Var *var;
  bool repeats;  // the turns before it took equally long
} TimelineCut;

enum { TIMELINE_CUTS_MAX = 32, TIMELINE_RINGS_MAX = 4 };

typedef struct Timeline {
  const Program *program;
  int n_events;
  const TimelineEvent *event;  // by the clock at which they begin
  int n_phases;
  const TimelinePhase *phase;
  int n_blocks;  // 1; 2 CTAs of a pair; measured: those of a cluster
  int n_warps;   // of all blocks, those of the first one first
  int n_rings;
  TimelineRing ring[TIMELINE_RINGS_MAX];
  int n_holds;
  const TimelineHold *hold;  // by the clock at which they were asked for
  int n_cuts;
  TimelineCut cut[TIMELINE_CUTS_MAX];
  double clocks;      // of the events: without what was left out
  double all_clocks;  // with it
  // One turn of the loop that was cut, of slabs before tiles; in a whole run the mean of a slab.
  double turn_clocks;  // 0: not known
  int64_t n_tiles;     // that a persistent block goes through, else 1; measured: 0
  int n_stuck;         // warps that wait for ever
  bool full;           // there were more events than it takes: a whole run ends there
  bool measured;       // by stamps (timeline_measured.h), not estimated
  const char *origin;  // where the costs are from, a sentence
} Timeline;

typedef struct TimelineOptions {
  bool whole;  // no turn is left out
  bool pair;   // both CTAs are run where a pair multiplies together
} TimelineOptions;

// `program`: another one than the model's last, a broken copy of it; NULL: that one.
const Timeline *timeline_run(Arena *arena, const Model *model, const Program *program,
                             const TimelineOptions *options);

// The clock of the block at which an event's clock would be with nothing left out.
double timeline_clock(const Timeline *timeline, double clock);
// The mean from one slab's products to the next one's, in the first tile of the first warp that
// multiplies slab after slab; 0: none does.
double timeline_slab_clocks(const Timeline *timeline);
// For a warp: the rank of its block in the cluster, and its number in that block.
int timeline_rank(const Timeline *timeline, int warp);
int timeline_warp(const Timeline *timeline, int warp);
// Clocks for which an event keeps all of its unit busy. The multipliers and the powers of an SM
// stand in four quarters, and a warp takes the one of its own; a product that one thread asks for
// takes all four, of a pair those of both CTAs.
double timeline_unit_clocks(const TimelineEvent *event);

// The time of the launch if every block took as long as this one does alone on its SM.
typedef struct TimelineWhole {
  double clocks, rounds, mhz;  // of a block; blocks that follow each other on an SM
  double ns;                   // 0: not known
} TimelineWhole;

TimelineWhole timeline_whole(const Timeline *timeline, const Model *model);
// The role of a warp: "producer"; NULL where warps have none.
const char *timeline_role(const Timeline *timeline, int warp);
// "full[3] phase 0", "256 threads", "at most 1 group in flight": what a waiting event waits for; ""
// where it does not wait.
const char *timeline_waits_for(Arena *arena, const TimelineEvent *event);
