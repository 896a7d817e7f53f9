// Order: which event comes before which when threads, copies and tensor cores work side by side: a
// state of plain numbers that events move on. The runner of a program drives it; it knows of no
// statement, no instruction and no address.
//
// A party is whatever does things one after the other: a warp, its share of the tensor core, an
// mbarrier's copies. The driver numbers parties, and counts their ticks, as it likes: a party's
// ticks only grow, and no party has done anything before tick 1. A clock says, for each party and
// each fact, in front of which tick of the party that fact holds for everything:
//
//   seen[v] = 7     what v did in ticks 1 to 6 has come before; what it did in tick 7 may not
//
//   warp 0   writes in tick 3, tells a barrier of it (order_tell: its tick is 4 now)
//   warp 1   joins what the barrier was told: seen[0] = 4, so the write of tick 3 is over
//
// All that belongs to a state lies in its pieces, which hold no pointers. A search over orders
// copies, compares and hashes states that were made alike; a run needs one and never looks.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

// The facts that a clock keeps of each party; a driver that needs the first few alone keeps those.
typedef enum OrderFact {
  ORDER_SEEN,    // its accesses have come before
  ORDER_FENCED,  // a proxy fence has made them known to the async proxy
  ORDER_PASSED,  // its waits are over
  ORDER_READ,    // its reads have their values: machine code has waited for them
  ORDER_BEFORE,  // its accesses to tensor memory stand behind a fence that one has been told of
  ORDER_AFTER,   // … and the clock's owner has passed a fence since; never passed on
  ORDER_FACTS
} OrderFact;

typedef struct OrderPiece {
  void *at;
  size_t bytes;
} OrderPiece;

typedef struct Order {
  Arena *arena;
  int parties;  // that there are so far
  int most;     // room for this many parties in each clock
  int facts;    // that are kept
  OrderPiece *piece;
  int n_pieces, capacity;
} Order;

Order *order_new(Arena *arena, int parties, int most, int facts);

// ---- states -------------------------------------------------------------------------------------

// Zeroed bytes that belong to the state, from now on.
void *order_piece(Order *order, size_t bytes);
// As it was when it was made.
void order_reset(Order *order, int parties);
// Both must have been made by the same calls.
void order_copy(Order *into, const Order *from);
bool order_same(const Order *a, const Order *b);
uint64_t order_hash(const Order *order);

// ---- clocks -------------------------------------------------------------------------------------

static inline int order_clock_words(const Order *o) { return o->facts * o->most; }
static inline size_t order_clock_bytes(const Order *o) {
  return sizeof(uint32_t) * (size_t)order_clock_words(o);
}
// Knows nothing.
uint32_t *order_clock(Order *order);

static inline uint32_t *order_fact(const Order *o, uint32_t *clock, OrderFact fact) {
  return clock + (int)fact * o->most;
}
static inline uint32_t order_known(const Order *o, const uint32_t *clock, OrderFact fact,
                                   int party) {
  return clock[(int)fact * o->most + party];
}
// Whether what the party did in that tick is over for the holder of the clock.
static inline bool order_is_over(const Order *o, const uint32_t *clock, int party, uint32_t tick) {
  return tick < order_known(o, clock, ORDER_SEEN, party);
}

// The same, and the async proxy knows: a thread may read its own write, and may write where it read
// (PTX ISA, "Proxy-preserved base causality order": a proxy fence stands between accesses through
// different proxies, whichever of them reads). An arrival or a barrier is no such fence: it says
// that a read was issued. A read without its value yet may get the bytes that the copy wrote. H200:
// 27 % of the reads that a thread arrived behind did, and none with a fence between
// (kernels/device/late_reads.h).
static inline bool order_is_fenced(const Order *o, const uint32_t *clock, int party,
                                   uint32_t tick) {
  return tick < order_known(o, clock, ORDER_FENCED, party);
}

void order_clear(const Order *order, uint32_t *clock);
// Nothing of one party any more.
void order_forget(const Order *order, uint32_t *clock, int party);
// Knows everything in front of that tick, of all parties.
void order_fill(const Order *order, uint32_t *clock, uint32_t tick);
void order_assign(const Order *order, uint32_t *into, const uint32_t *from);
// Into one clock what the other has been told.
void order_join(const Order *order, uint32_t *into, const uint32_t *from);
// Into one clock what the other knows as one fact alone.
void order_join_fact(const Order *order, uint32_t *into, const uint32_t *from, OrderFact fact);
// The same, without the fact that is never passed on (ORDER_AFTER).
void order_adopt(const Order *order, uint32_t *into, const uint32_t *from);

// A party tells what it knows, and of all that it did in front of `tick`, its next one.
void order_tell(const Order *order, uint32_t *into, uint32_t *own, int party, uint32_t tick);
// All that a party did in front of `tick` is over, and its end is a fence behind it: a commit of
// the tensor core, a phase.
void order_tell_done(const Order *order, uint32_t *into, int party, uint32_t tick);
// fence.proxy.async: the async proxy learns every access of these parties that the clock knows,
// whichever thread did it (PTX ISA, Memory Consistency Model, "Proxy-preserved base causality
// order").
void order_fence(const Order *order, uint32_t *clock, int first, int n);
// tcgen05.fence::after_thread_sync: later accesses to tensor memory come behind the accesses that
// the clock has been told of.
void order_come_after(const Order *order, uint32_t *clock);
