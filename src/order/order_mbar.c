// Phases count up; clocks are handed on where one ends.
//
// The clock of the arrivals is never emptied: what was told before one phase ended is known behind
// all later ones.
#include "order/order_mbar.h"

#include <string.h>

void order_phases_init(OrderPhases *p, int64_t arrivals) {
  *p = (OrderPhases){.expected = arrivals, .pending = arrivals, .first = p->first + p->phase};
}

bool order_phases_arrive(OrderPhases *p, int64_t n) {
  const bool awaited = n <= p->pending;
  p->pending = awaited ? p->pending - n : 0;
  return awaited;
}

void order_phases_next(OrderPhases *p) {
  p->phase++;
  p->pending = p->expected;
}

// ---- with clocks --------------------------------------------------------------------------------

static size_t wait_words(const OrderMbar *bar) {
  return sizeof(OrderWait) / sizeof(uint32_t) * (size_t)bar->waiters;
}

OrderMbar *order_mbar(Order *o, int party, int waiters) {
  const OrderMbar made = {.party = party, .waiters = waiters};
  const size_t words = 2 * (size_t)order_clock_words(o) + 2 * wait_words(&made);
  OrderMbar *bar = order_piece(o, sizeof *bar + sizeof(uint32_t) * words);
  *bar = made;
  return bar;
}

OrderWait *order_mbar_waits(const Order *o, OrderMbar *bar, uint32_t bit) {
  uint32_t *first = bar->word + 2 * (size_t)order_clock_words(o);
  return (OrderWait *)(first + (bit & 1) * wait_words(bar));
}

void order_mbar_init(const Order *o, OrderMbar *bar, int64_t arrivals) {
  order_phases_init(&bar->phases, arrivals);
  order_clear(o, order_mbar_gathered(bar));
  order_clear(o, order_mbar_ended(o, bar));
  memset(order_mbar_waits(o, bar, 0), 0, 2 * sizeof(uint32_t) * wait_words(bar));
}

void order_mbar_next(const Order *o, OrderMbar *bar) {
  uint32_t *gathered = order_mbar_gathered(bar);
  order_phases_next(&bar->phases);
  if (bar->party >= 0)
    order_tell_done(o, gathered, bar->party, bar->phases.first + bar->phases.phase);
  order_assign(o, order_mbar_ended(o, bar), gathered);
}

void order_mbar_wait(const Order *o, OrderMbar *bar, int party, OrderWait wait) {
  order_mbar_waits(o, bar, ~bar->phases.phase)[party] = wait;
}

int order_mbar_late(const Order *o, OrderMbar *bar, int from, uint32_t since) {
  const OrderWait *wait = order_mbar_waits(o, bar, ~bar->phases.phase);
  const uint32_t *passed = order_fact(o, order_mbar_gathered(bar), ORDER_PASSED);
  for (int party = from; party < bar->waiters; party++)
    if (wait[party].tick >= since && wait[party].tick >= passed[party]) return party;
  return -1;
}

bool order_mbar_is_missed(const OrderMbar *bar, const uint32_t *clock, uint32_t bit) {
  const uint32_t first = bar->phases.first, over = first + bar->phases.phase;
  uint32_t known = clock[bar->party];
  if ((int32_t)(known - first) < 0) known = first;
  return over - known >= 2 && ((known - first) & 1) == (bit & 1);
}
