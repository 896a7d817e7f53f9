// Tells which warp waits for which at a clock of a time line, link by link, down to the root.
//
//   TimelineChain chain = timeline_chain(timeline, warp, clock);
//   timeline_chain_text(arena, timeline, &chain)
//     "consumer 0-3 waits for full[1]: slab 1 is on its way, asked for by producer 8 at clock 34"
//     "consumer 0 waits for full[0] phase 1; producer 8, which would end that, waits for empty[0]
//      phase 0, which expects 5 arrivals and gets 4"
//
// Before a wait has ended, the warp that ends it is known from the run. A wait that lasts for ever
// has no such event: the warps that have statements for its mbarrier are followed instead, to the
// one that will never go on, or round to one that is in the chain already.
#pragma once
#include "model/readings/time/timeline.h"

enum { TIMELINE_CHAIN_MAX = 8 };

typedef struct TimelineLink {
  int warp;
  const TimelineEvent *wait;
  const TimelineEvent *ender;  // lets it go on; NULL: nothing does, or it is not known
} TimelineLink;

typedef struct TimelineChain {
  int n;  // 0: the warp does not wait at this clock
  TimelineLink link[TIMELINE_CHAIN_MAX];
  double clock;
  bool circle;  // the last one waits for one that stands in the chain before it
} TimelineChain;

// The event that a warp is in at a clock; NULL: it is in none. A copy that goes on in the
// background is over for its warp when it has been asked for.
const TimelineEvent *timeline_at(const Timeline *timeline, int warp, double clock);
TimelineChain timeline_chain(const Timeline *timeline, int warp, double clock);
// A sentence; "" of an empty chain.
const char *timeline_chain_text(Arena *arena, const Timeline *timeline, const TimelineChain *chain);
// The chain of those that begin at a warp which waits for ever that goes furthest to its root;
// empty: no warp waits for ever.
TimelineChain timeline_stuck_chain(const Timeline *timeline);
