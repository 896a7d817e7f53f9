// The timeline of a block, or of all blocks of a cluster, as its stamps tell it, to stand beside
// the estimated one.
//
//   const Timeline *measured = timeline_measured(arena, program, emission, warp, n_warps, &diags);
//   TimelineTotals totals = timeline_totals(arena, measured, 3);
//
// Its events are what was stamped (emit_parts.h): operations that order, and work of one kind. A
// stamp says when a warp came by, so of what goes on in the background, copies and wgmmas, an event
// is the asking; a wait says when it was over.
#pragma once
#include "model/readings/time/timeline.h"
#include "model/text/emit.h"
#include "model/text/stamp_page.h"

// NULL after a finding of rule "stamps": another number of warps than the block has, a mark that no
// place has, an end without its begin, a clock that goes back or lies outside its warp's.
const Timeline *timeline_measured(Arena *arena, const Program *program, const Emission *emission,
                                  const StampedWarp *warp, int n_warps, Diags *diags);

// Holds what a warp waited for at one statement, all of its turns together.
typedef struct TimelineWait {
  const TimelineEvent *first;
  int64_t count;
  double clocks;
} TimelineWait;

typedef struct TimelineTotals {
  double clocks;  // from its first event to the end of its last one
  double kind[TIMELINE_KINDS];
  double busy, waiting, other;  // the kinds that do not wait; those that do; no event at all
  int n_waits;
  const TimelineWait *wait;  // in the order in which they came first
} TimelineTotals;

TimelineTotals timeline_totals(Arena *arena, const Timeline *timeline, int warp);

// Holds what must hold of the clocks of one SM, whatever the program: at a barrier of the whole
// block no warp goes on before the last one came; a wait at an mbarrier is over only when enough
// signals to it have begun. `checked` counts the ends that were held against begins. Each block is
// held against itself: the clocks of two SMs are known to a step of %globaltimer alone.
typedef struct TimelineOrder {
  int64_t checked, broken;
  const TimelineEvent *first;  // that is broken; NULL: none
} TimelineOrder;

TimelineOrder timeline_check_order(Arena *arena, const Timeline *timeline);
