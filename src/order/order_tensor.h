// Tensor memory: the order between two accesses to one place.
//
// A place is a column of a quarter of the lanes; no access reaches less. Warps read and write it in
// the background, and wait for that. The tensor core runs the products of one warp one after the
// other. This queue is the warp's share, a party of its own. Two accesses by different warps, or by
// a warp and the tensor core, have an order when (PTX ISA, tcgen05, Memory Consistency Model,
// "Canonical synchronization patterns")
//   the first one is over     its warp has waited for it, or a commit behind it has arrived
//   a fence stands behind     tcgen05.fence::before_thread_sync; a commit is one by itself
//   the other has been told   by a barrier or an mbarrier
//   and has a fence behind    tcgen05.fence::after_thread_sync
// Each of them that is missing is a gap of its own. Worked example, ticks in front:
//    5  warp 3 asks: mma sums       write = {5, share of warp 3}
//    6  warp 3 asks: commit full    full is told of the share's ticks in front of 6, fence included
//       warp 0: wait full           warp 0 knows that: 5 < 6
//       warp 0: ld sums             5 < after? It is 0: a fence behind is missing
#pragma once
#include "order/order_groups.h"

enum { ORDER_READERS = 8 };  // warps of a block that reach one quarter of the lanes

// `group`: for the access of a warp, the group of its loads or stores. `tag`: the driver's name for
// it.
typedef struct OrderTouch {
  uint32_t tick, group, tag;
  uint16_t party, lane;
} OrderTouch;

typedef struct OrderPlace {
  OrderTouch write, read[ORDER_READERS];
  OrderTouch multiplied;  // the latest product that has scale factors here
} OrderPlace;

// tcgen05.ld and .st of a warp. A wait closes their group and ends it.
typedef struct OrderMoves {
  OrderGroups loads, stores;
  OrderGroupTicks loaded, stored;
} OrderMoves;
static inline void order_wait_for_moves(OrderGroups *moves, OrderGroupTicks *ticks, uint32_t now) {
  moves->closed++;
  order_groups_wait_at(moves, ticks, 0, now);
}

// The order that is missing between two accesses.
typedef enum OrderGap {
  ORDER_NO_GAP,
  ORDER_GAP_WAIT,    // the first is a move that its warp has not waited for
  ORDER_GAP_SYNC,    // no barrier and no mbarrier has told of it
  ORDER_GAP_BEFORE,  // a fence behind the first
  ORDER_GAP_AFTER    // a fence in front of the second
} OrderGap;

typedef struct OrderConflict {
  OrderGap gap;
  OrderTouch then;
  bool read, by_share;  // then: it reads; the tensor core did it
} OrderConflict;

typedef enum OrderFault { ORDER_RACE, ORDER_MISSING_WAIT, ORDER_MISSING_FENCE } OrderFault;
OrderFault order_fault(const OrderConflict *conflict);
// "with no barrier between", "and has waited for no commit behind that", …
const char *order_gap_text(const OrderConflict *conflict);
const char *order_gap_cure(const OrderConflict *conflict);  // NULL: none is proposed
// Why two accesses with a fence missing between them may still be in order, where what signals is
// not relaxed; NULL: they are not.
const char *order_gap_open(const OrderConflict *conflict);

// The party at a place.
typedef struct OrderVisit {
  const Order *order;
  const OrderMoves *moves;  // by warp, which are the first parties
  int shares;               // the first party that is a share of the tensor core
  uint32_t since;           // accesses of this tick and before are of an allocation that is over
  const uint32_t *clock;    // of the thread that asks,
  int asker;                // and its warp
  OrderTouch now;           // its party does it: the warp itself, or its share
  int reader;               // of a warp: which of those that reach the quarter
  bool apart;               // nothing keeps it behind what was asked of the same share
} OrderVisit;

static inline bool order_place_is_written(const OrderPlace *place, const OrderVisit *visit) {
  return place->write.tick > visit->since;
}
// The obstacle, if there is one; the place remembers the visit.
OrderConflict order_place_read(OrderPlace *place, const OrderVisit *visit);
OrderConflict order_place_write(OrderPlace *place, const OrderVisit *visit);
// The place is given back: no access may be under way. An allocation knows nothing of fences.
OrderConflict order_place_free(const OrderPlace *place, const OrderVisit *visit);
