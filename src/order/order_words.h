// Faults of an order, in the words of every driver. A sentence begins with who does it.
#pragma once
#include "order/order_mbar.h"

// The meaning of each kind of finding.
#define ORDER_HELP_RACE "two accesses without an order between them, at least one of them a write"
#define ORDER_HELP_WAIT "a copy or product that nobody waited for is read or written over"
#define ORDER_HELP_FENCE \
  "wgmma, tcgen05 or the async proxy has what threads wrote or read with no fence between"
#define ORDER_HELP_UNWRITTEN "a value is read that nothing wrote"
#define ORDER_HELP_DEADLOCK "warps wait for what will never come"
#define ORDER_HELP_ENDED "a block of the cluster is reached that may not have begun, or has ended"

#define ORDER_UNINITIALISED "uses an mbarrier that nobody initialised"
#define ORDER_TOO_MANY "arrives once too often for the phase under way"
#define ORDER_LOADING \
  "writes registers that a tcgen05.ld still brings, with no tcgen05.wait::ld between"
#define ORDER_NOT_BEGUN "reaches for rank %d of its cluster, which may not have begun"
#define ORDER_HAS_ENDED "reaches for rank %d of its cluster, which may have ended"

// "phase 2 is under way, with 1 of 4 arrivals missing and 0 bytes to come"
const char *order_phases_text(Arena *arena, const OrderPhases *phases);
