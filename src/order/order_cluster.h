// The life of a cluster's blocks, as the other blocks see it.
//
// A block's shared memory is there from when it begins until its last thread has ended (PTX ISA,
// mapa; CUDA programming guide, Distributed Shared Memory). Neither shows in a run where all blocks
// begin at once and their memory stays. So it is asked of the clocks:
//
//   begun    a thread that reaches another block must have heard of it, by a barrier of the cluster
//            or an arrival
//   ended    some warp of the block must have known of the access before that warp ended
//
// Worked example, the barrier at the end left out: block 0 arrives at an mbarrier of block 1. The
// threads of block 1 have finished all their waits and end. No clock of block 1 knows of the
// arrival: it may have come after block 1 gave its memory back.
#pragma once
#include "order/order.h"

// A warp's last access to what a block has of its own, and the driver's name for it.
typedef struct OrderReach {
  uint32_t tick, tag, lane;
} OrderReach;

typedef struct OrderCluster {
  int ranks, warps;   // warps of all of them: the first parties
  OrderReach *reach;  // [ranks][warps]
  uint32_t **ended;   // by rank: what its warps knew when they ended
} OrderCluster;

OrderCluster *order_cluster(Order *order, int ranks, int warps);

// Whether the owner of the clock has heard of one of these parties since that tick, or that it has
// begun. After order_hear_of_all() all parties have begun.
bool order_has_heard(const uint32_t *clock, int first, int n, uint32_t since);
void order_hear_of_all(uint32_t *clock, int n);

void order_reach(OrderCluster *cluster, int rank, int warp, OrderReach reach);
void order_end(const Order *order, OrderCluster *cluster, int rank, const uint32_t *clock);
// The first warp from `from` on that reached the block in that tick or later, and that no warp of
// the block knew of when it ended; -1: none.
int order_outlived(const Order *order, const OrderCluster *cluster, int rank, int from,
                   uint32_t since);
static inline const OrderReach *order_reach_of(const OrderCluster *cluster, int rank, int warp) {
  return &cluster->reach[rank * cluster->warps + warp];
}
