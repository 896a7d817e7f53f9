// Each place remembers its last write and, by warp, its last reads; the tensor core's own reads are
// as old as its writes.
//
// A move by ld or st counts from when it was waited for, so that a fence between the two says
// nothing of it. That registers have been read says nothing either: a register dependency implies
// no other form of ordering (PTX ISA, tcgen05, "Register dependencies, same thread").
#include "order/order_tensor.h"

static bool lacks_fence(const OrderConflict *c) {
  return c->gap == ORDER_GAP_BEFORE || c->gap == ORDER_GAP_AFTER;
}

OrderFault order_fault(const OrderConflict *c) {
  if (lacks_fence(c)) return ORDER_MISSING_FENCE;
  return c->gap == ORDER_GAP_WAIT || c->by_share ? ORDER_MISSING_WAIT : ORDER_RACE;
}

const char *order_gap_cure(const OrderConflict *c) {
  if (c->gap == ORDER_GAP_WAIT)
    return c->read ? "put tcgen05.wait::ld there: a read of the registers orders nothing else "
                     "(PTX ISA, tcgen05, register dependencies, same thread)"
                   : "put tcgen05.wait::st there";
  if (!lacks_fence(c)) return NULL;
  return "put the fence there, as the PTX ISA's canonical synchronization patterns of tcgen05 "
         "show. Their mbarriers are relaxed. For other mbarriers the ISA leaves it open: the "
         "standard mechanisms of its memory model apply to tcgen05, too (9.7.16.6.3)";
}

// PTX ISA, tcgen05, "Specialized Inter-thread Synchronization": the fences are a mechanism of their
// own, and the standard ones of the memory consistency model also apply. What is missed here are
// the fences alone: the work itself is over, by a commit or by tcgen05.wait.
const char *order_gap_open(const OrderConflict *c) {
  if (!lacks_fence(c)) return NULL;
  return "fences of tcgen05 that the PTX ISA's patterns show: work on tensor memory is over, and "
         "an mbarrier or a barrier that releases and acquires signals that; by 9.7.16.6.3 the "
         "standard mechanisms of the memory model apply to tcgen05, too";
}

const char *order_gap_text(const OrderConflict *c) {
  switch (c->gap) {
    case ORDER_GAP_WAIT:
      return c->read ? "with no tcgen05.wait::ld after that"
                     : "with no tcgen05.wait::st after that";
    case ORDER_GAP_BEFORE:
      return "with no tcgen05.fence::before_thread_sync after that";
    case ORDER_GAP_AFTER:
      return "with no tcgen05.fence::after_thread_sync after the signal";
    default:
      return c->by_share ? "and has not waited for a commit after that" : "with no barrier between";
  }
}

// ---- an access that was -------------------------------------------------------------------------

// Its tick, or of a move the one in which it was waited for. False: that has not been.
static bool ended(const OrderVisit *visit, const OrderTouch *then, bool read, uint32_t *tick) {
  *tick = then->tick;
  if (then->party >= visit->shares) return true;
  const OrderMoves *moves = &visit->moves[then->party];
  const OrderGroups *groups = read ? &moves->loads : &moves->stores;
  if (!order_group_is_over(groups, then->group)) return false;
  order_group_when(groups, read ? &moves->loaded : &moves->stored, then->group, tick);
  return true;
}

// Requests of one warp to the tensor core come one after the other, but for those that are apart.
static OrderGap gap_behind(const OrderVisit *visit, const OrderTouch *then, uint32_t tick) {
  const Order *o = visit->order;
  const int party = then->party;
  if (party == visit->asker) return ORDER_NO_GAP;
  const bool before = tick < order_known(o, visit->clock, ORDER_BEFORE, party),
             after = tick < order_known(o, visit->clock, ORDER_AFTER, party);
  if (before && after) return ORDER_NO_GAP;  // by the fences, whatever signals between them
  const bool told = order_is_over(o, visit->clock, party, tick);
  if (party == visit->now.party) return visit->apart && !told ? ORDER_GAP_SYNC : ORDER_NO_GAP;
  if (!told) return ORDER_GAP_SYNC;
  return before ? ORDER_GAP_AFTER : ORDER_GAP_BEFORE;
}

static OrderConflict against(const OrderVisit *visit, const OrderTouch *then, bool read) {
  uint32_t tick;
  if (then->tick <= visit->since) return (OrderConflict){.gap = ORDER_NO_GAP};
  const OrderGap gap =
      ended(visit, then, read, &tick) ? gap_behind(visit, then, tick) : ORDER_GAP_WAIT;
  return (OrderConflict){gap, *then, read, then->party >= visit->shares};
}

// ---- visits -------------------------------------------------------------------------------------

OrderConflict order_place_read(OrderPlace *place, const OrderVisit *visit) {
  const OrderConflict c = against(visit, &place->write, false);
  if (visit->now.party < visit->shares) place->read[visit->reader] = visit->now;
  return c;
}

// The reads of a place: first the reads of warps, then the read of a product.
static const OrderTouch *read_of(const OrderPlace *place, int i) {
  return i < ORDER_READERS ? &place->read[i] : &place->multiplied;
}

OrderConflict order_place_write(OrderPlace *place, const OrderVisit *visit) {
  OrderConflict c = against(visit, &place->write, false);
  for (int i = 0; i <= ORDER_READERS && !c.gap; i++) c = against(visit, read_of(place, i), true);
  place->write = visit->now;
  return c;
}

static OrderConflict may_be_there(const OrderVisit *visit, const OrderTouch *then, bool read) {
  uint32_t tick;
  if (then->tick <= visit->since) return (OrderConflict){.gap = ORDER_NO_GAP};
  const bool over = ended(visit, then, read, &tick);
  const bool told =
      then->party == visit->asker || order_is_over(visit->order, visit->clock, then->party, tick);
  const OrderGap gap = !told ? ORDER_GAP_SYNC : over ? ORDER_NO_GAP : ORDER_GAP_WAIT;
  return (OrderConflict){gap, *then, read, then->party >= visit->shares};
}

OrderConflict order_place_free(const OrderPlace *place, const OrderVisit *visit) {
  OrderConflict c = may_be_there(visit, &place->write, false);
  for (int i = 0; i <= ORDER_READERS && !c.gap; i++)
    c = may_be_there(visit, read_of(place, i), true);
  return c;
}
