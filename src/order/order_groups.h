// Groups of background work: cp.async and bulk copies of a thread, products and moves of a warp.
//
// Work belongs to the group that the next commit closes. A wait with operand N ends all groups but
// the last N (PTX ISA, cp.async.wait_group, cp.async.bulk.wait_group, wgmma.wait_group). Work
// without a commit is in flight for ever. Numbers may go round: no more than 2^31 groups are ever
// in flight.
//
//   copy, copy, commit, copy, commit     the copies are of groups 0, 0 and 1; two are closed
//   wait, all but 1                      group 0 is over
#pragma once
#include "order/order.h"

typedef struct OrderGroups {
  uint32_t closed, done;  // so far; of them, waited for
} OrderGroups;

// When each of the last groups was waited for, in ticks of the party that did.
enum { ORDER_GROUPS_KEPT = 64 };
typedef struct OrderGroupTicks {
  uint32_t tick[ORDER_GROUPS_KEPT];
} OrderGroupTicks;

static inline bool order_group_is_over(const OrderGroups *groups, uint32_t group) {
  return (int32_t)(groups->done - group) > 0;
}
static inline bool order_groups_are_over(const OrderGroups *groups) {
  return groups->done == groups->closed;
}
// Ends all groups but the last `left`; returns the number of groups that this wait ended.
uint32_t order_groups_wait(OrderGroups *groups, uint32_t left);
// The same, and keeps the tick of the wait.
void order_groups_wait_at(OrderGroups *groups, OrderGroupTicks *ticks, uint32_t left, uint32_t now);
// When a group that is over was waited for; false: too many have come since.
bool order_group_when(const OrderGroups *groups, const OrderGroupTicks *ticks, uint32_t group,
                      uint32_t *tick);
