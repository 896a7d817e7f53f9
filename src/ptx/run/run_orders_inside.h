// Inside the lists of events of a run: the record of each warp, and the bytes that it reached.
//
// Included by run_orders*.c only.
#pragma once
#include "order/order_groups.h"
#include "ptx/run/run_orders.h"

enum {
  EVENTS_MAX = 20000,
  PTX_LEFT_OUT = 8,
  PTX_GROUP_WARPS = 4,
  ASKED_BARS = 32,
  TOUCHES_MAX = 1 << 20,
  LOOK_BACK = 16,
  REGIONS_MAX = 512,
  REGISTERS_STEP = 8,
  GRAIN = 16
};

// Bytes that a warp's event reached; of the background with their end.
typedef struct Touch {
  int64_t lo, hi;
  int process, begin, ends, end;
  uint32_t group;
  uint8_t kind;
  bool write, async, open;
} Touch;

typedef struct WarpEvents {
  int process, share;
  uint32_t masks;   // lanes that have signalled another thread
  uint32_t waited;  // lanes for which the last wait is over
  bool waits;
  int64_t offset;
  uint32_t bit;
  int cluster_arrivals, cluster_waits;
  int n_over, over_capacity, *over;  // by group of products: the event that says they are over
  int pc, work;
  int64_t registers;  // of a thread
  bool background, ended, grid_is_over;
  int64_t lands_lo, lands_hi;
  OrderGroups groups[PTX_ORDERS_FAMILIES];
} WarpEvents;

struct PtxOrders {
  Arena *arena;
  Search *s;
  WarpEvents *warp;
  int n_bars, bar_capacity;
  int64_t *bar;
  int n_touches, touch_capacity;
  Touch *touch;
  int n_meets;
  int meet[PTX_BARRIERS * 64][3];  // rank, number, threads
  int cluster_bar;    // barrier.cluster, as an mbarrier that is there from the start; -1: none yet
  int64_t registers;  // of a thread at the start; 0: not known
  bool full, waits_for_grid;
  int n_left_out;
  const char *left_out[PTX_LEFT_OUT];
};

void ptx_orders_leave_out(PtxOrders *o, const char *what);
int ptx_orders_first_of_four(const PtxMachine *m, int warp);
// run_orders_places.c: what was reached → places, and accesses to them.
void ptx_orders_add_accesses(PtxOrders *o, const PtxMachine *m);
