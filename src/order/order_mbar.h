// An mbarrier: its phases, and the knowledge that each phase passes on at its end.
//
// A phase is over when the expected number of arrivals has come and no bytes are outstanding; the
// next one begins at once. A wait for phase bit p goes on when the phase under way has another bit
// (PTX ISA, mbarrier: "Phase of the mbarrier object", "Phase Completion of the mbarrier object").
// So a wait for bit 1 on a new mbarrier, in phase 0, is free: that is how a producer finds all
// slots empty at the start.
//
//   init 2 arrivals     phase 0, 2 pending
//   expect 64 bytes     phase 0, 2 pending, 64 bytes to come
//   arrive, arrive      phase 0, 0 pending, 64 bytes to come
//   the box lands       phase 1, 2 pending: a wait for bit 0 goes on
//
// A phase bit comes back: a thread that waits for phase 0, and comes when phase 1 is over too,
// finds its bit under way again, and waits for ever. order_mbar_is_missed() says whether this has
// happened. order_mbar_late() says whether it may happen in some order: when a phase ends, the
// event that ends it must know that every wait for the phase before is over.
#pragma once
#include "order/order.h"

typedef struct OrderPhases {
  int64_t expected, pending;  // arrivals: of each phase; still missing
  int64_t bytes;              // expected and not yet come
  uint32_t phase;             // under way, since it was initialised; its bit is the lowest one
  uint32_t first;             // phases that were over before it was initialised again
} OrderPhases;

void order_phases_init(OrderPhases *phases, int64_t arrivals);
// False where fewer arrivals are awaited, which then have all come.
bool order_phases_arrive(OrderPhases *phases, int64_t n);
static inline bool order_phases_are_complete(const OrderPhases *phases) {
  return phases->pending <= 0 && phases->bytes == 0;
}
void order_phases_next(OrderPhases *phases);
// Whether a wait for that phase bit goes on. A number other than 0 and 1 matches no phase.
static inline bool order_phases_passes(const OrderPhases *phases, uint32_t bit) {
  return (phases->phase & 1) != bit;
}

// A party's last wait that went on, and the driver's name for it.
typedef struct OrderWait {
  uint32_t tick, tag;
} OrderWait;

typedef struct OrderMbar {
  OrderPhases phases;
  // The party with the phases as its ticks; its bytes have landed when the phase is over; -1: none.
  int32_t party;
  int32_t waiters;  // parties 0 to waiters - 1; their waits are kept
  uint32_t word[];  // clocks: of the arrivals, of phases that are over; waits by phase bit
} OrderMbar;

OrderMbar *order_mbar(Order *order, int party, int waiters);
static inline uint32_t *order_mbar_gathered(OrderMbar *bar) { return bar->word; }
static inline uint32_t *order_mbar_ended(const Order *o, OrderMbar *bar) {
  return bar->word + order_clock_words(o);
}
OrderWait *order_mbar_waits(const Order *order, OrderMbar *bar, uint32_t bit);

void order_mbar_init(const Order *order, OrderMbar *bar, int64_t arrivals);
// Ends a phase that is complete: a thread that sees the end knows all that its arrivals knew.
void order_mbar_next(const Order *order, OrderMbar *bar);
// The phase before the one under way is over for a party, in its tick.
void order_mbar_wait(const Order *order, OrderMbar *bar, int party, OrderWait wait);
// The first waiter from `from` on that waited in tick `since` or later for the phase before the one
// under way, and is not known to have gone on, were that to end now; -1: none.
int order_mbar_late(const Order *order, OrderMbar *bar, int from, uint32_t since);
// Whether the owner of the clock, which waits for that bit, has missed the phase that it means.
bool order_mbar_is_missed(const OrderMbar *bar, const uint32_t *clock, uint32_t bit);
