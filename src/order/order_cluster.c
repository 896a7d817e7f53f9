// The last access of each warp to each block stands for all before it: a warp that knows of one
// knows of those.
#include "order/order_cluster.h"

OrderCluster *order_cluster(Order *o, int ranks, int warps) {
  OrderCluster *cluster = ARENA_NEW(o->arena, OrderCluster);
  *cluster = (OrderCluster){.ranks = ranks, .warps = warps};
  cluster->reach = order_piece(o, sizeof *cluster->reach * (size_t)ranks * (size_t)warps);
  cluster->ended = ARENA_ARRAY(o->arena, uint32_t *, ranks);
  for (int rank = 0; rank < ranks; rank++) cluster->ended[rank] = order_clock(o);
  return cluster;
}

bool order_has_heard(const uint32_t *clock, int first, int n, uint32_t since) {
  for (int party = first; party < first + n; party++)
    if (clock[party] > since) return true;
  return false;
}

// Everything in front of tick 1 is nothing at all: that it has begun.
void order_hear_of_all(uint32_t *clock, int n) {
  for (int party = 0; party < n; party++)
    if (clock[party] == 0) clock[party] = 1;
}

void order_reach(OrderCluster *cluster, int rank, int warp, OrderReach reach) {
  cluster->reach[rank * cluster->warps + warp] = reach;
}

void order_end(const Order *o, OrderCluster *cluster, int rank, const uint32_t *clock) {
  order_join(o, cluster->ended[rank], clock);
}

int order_outlived(const Order *o, const OrderCluster *cluster, int rank, int from,
                   uint32_t since) {
  for (int warp = from; warp < cluster->warps; warp++) {
    const OrderReach *reach = order_reach_of(cluster, rank, warp);
    if (reach->tick >= since && !order_is_over(o, cluster->ended[rank], warp, reach->tick))
      return warp;
  }
  return -1;
}
