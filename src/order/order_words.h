// Faults of an order, in the words of every driver. A sentence begins with the party that acts.
#pragma once
#include "order/order_mbar.h"

// The meaning of each kind of finding.
#define ORDER_HELP_RACE "two accesses without an order between them, at least one a write"
#define ORDER_HELP_WAIT "data of an unfinished copy or product is read or overwritten"
#define ORDER_HELP_FENCE \
  "no fence stands between accesses of threads and those of wgmma, tcgen05 or the async proxy"
#define ORDER_HELP_UNWRITTEN "a value is read that was never written"
#define ORDER_HELP_DEADLOCK "warps wait for ever"
#define ORDER_HELP_ENDED \
  "a block of the cluster is accessed that may not have begun, or may have ended"

#define ORDER_UNINITIALISED "uses an mbarrier that was never initialised"
#define ORDER_TOO_MANY "arrives once too often for the phase under way"
#define ORDER_LOADING \
  "writes registers that a tcgen05.ld still fills, with no tcgen05.wait::ld between"
#define ORDER_NOT_BEGUN "accesses rank %d of its cluster, which may not have begun"
#define ORDER_HAS_ENDED "accesses rank %d of its cluster, which may have ended"

// "phase 2 is under way, with 1 of 4 arrivals missing and 0 bytes to come"
const char *order_phases_text(Arena *arena, const OrderPhases *phases);
