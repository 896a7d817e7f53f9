// Two counters, and a ring of ticks behind the slower one.
#include "order/order_groups.h"

uint32_t order_groups_wait(OrderGroups *g, uint32_t left) {
  const uint32_t in_flight = g->closed - g->done;
  const uint32_t n = left < in_flight ? in_flight - left : 0;
  g->done += n;
  return n;
}

void order_groups_wait_at(OrderGroups *g, OrderGroupTicks *ticks, uint32_t left, uint32_t now) {
  for (uint32_t n = order_groups_wait(g, left); n > 0; n--)
    ticks->tick[(g->done - n) % ORDER_GROUPS_KEPT] = now;
}

bool order_group_when(const OrderGroups *g, const OrderGroupTicks *ticks, uint32_t group,
                      uint32_t *tick) {
  if (!order_group_is_over(g, group) || g->done - group > ORDER_GROUPS_KEPT) return false;
  *tick = ticks->tick[group % ORDER_GROUPS_KEPT];
  return true;
}
