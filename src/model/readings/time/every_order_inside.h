// Inside the events of a program: what is kept of each warp while it is walked.
//
// Included by every_order*.c only.
#pragma once
#include "model/ir/cluster_walk.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/readings/time/every_order.h"
#include "order/order_groups.h"

enum {
  FAMILIES = FAMILY_ROWS + 1,
  PENDING_MAX = 4096,
  BARRIERS = 16,
  TENSOR_MEMORY = 1 << 10,  // memories: buffers by their id, then these
  REGISTERS = 1 << 11
};

// Accesses of a warp that have no end yet.
typedef struct EveryPending {
  int access;
  OpFamily family;
  uint32_t group;
} EveryPending;

// A commit of products that four warps ask for together, or a wait for one.
typedef struct EveryAsk {
  int at;          // its event
  uint32_t group;  // closed by it, or the last one that is over behind it
  bool waits;
} EveryAsk;

// The places in shared memory that such products read.
typedef struct EveryProduct {
  int access, warp;
  uint32_t group;
} EveryProduct;

typedef struct EveryWarp {
  int process, share;  // share: its agent; -1: none yet
  OrderGroups groups[FAMILIES];
  int n_pending;
  EveryPending pending[PENDING_MAX];
  int work;               // event that work still belongs to; -1: none
  bool background;        // … and has begun some that ends later
  int fence, fence_lane;  // event of a fence by some lanes since the warp met, and the first; -1
  int64_t registers;
  int n_asks, asks_capacity;
  EveryAsk *ask;                     // commits of products, and waits for them
  int n_over, over_capacity, *over;  // by group of products: the event that says they are over
} EveryWarp;

typedef struct EveryMaker {
  Arena *arena;
  const Program *program;
  Launch launch;
  Search *s;
  EveryOrder *out;
  EveryWarp *warp;                          // of rank 0's first one on
  int n_warps;                              // of a block
  int *bar[BUFFERS_MAX];                    // [ranks][mbarriers]: bars, from 1
  int barrier[SEARCH_RANKS][BARRIERS][33];  // by number and warps; from 1
  int cluster_barrier;                      // from 1
  bool in_background[BUFFERS_MAX];          // registers that a product reads or writes so
  int n_products, product_capacity;
  EveryProduct *product;
} EveryMaker;

EveryWarp *every_order_state(EveryMaker *m, const ClusterVisit *v);
int every_order_add(EveryMaker *m, const ClusterVisit *v, SearchEvent event);
// The event that work now belongs to.
int every_order_work(EveryMaker *m, const ClusterVisit *v, bool background);

// every_order_touch.c
void every_order_touch(EveryMaker *m, const ClusterVisit *v);
SearchPlace every_order_place(EveryMaker *m, const ClusterVisit *v, const Access *access,
                              OpUnit unit, int rank);
int every_order_rank(const ClusterVisit *v, const Access *access);
// Ends what is over: of groups that are done, or all of a family.
void every_order_end(EveryMaker *m, EveryWarp *w, OpFamily family, int process, int at, bool all);
void every_order_unify_places(EveryMaker *m);

// every_order_wgmma.c
bool every_order_is_together(const OpFacts *facts);
void every_order_ask(EveryMaker *m, const ClusterVisit *v);
// In front of the event that ends what is over.
void every_order_wait_for_asked(EveryMaker *m, const ClusterVisit *v);
// `at`: that event, behind which `groups` of the family say what is over.
void every_order_products_are_over(EveryMaker *m, const ClusterVisit *v, int at);
void every_order_reads_together(EveryMaker *m, const ClusterVisit *v, int access);
// Behind the walk.
void every_order_join_four(EveryMaker *m);
