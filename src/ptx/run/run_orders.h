// The synchronising events of one run of a cluster, for the search over all orders
// (order/search.h).
//
// Each warp's events come from this one run, in its own order: control flow that does not depend on
// data is the same in every run. Three things are named as left out: control flow that depends on
// data, lanes of a warp that go different ways, a run that did not come to its end. The verdict is
// then no more than "bounded".
//
// Only memory that copies and the tensor core reach in the background counts here, copy by copy.
// races.c checks the accesses of threads among each other, and needs no other order for them.
#pragma once
#include "order/search.h"
#include "ptx/run/run.h"

// Families of groups that a warp's waits end.
typedef enum PtxOrdersFamily {
  PTX_ORDERS_SENDS,
  PTX_ORDERS_PRODUCTS,
  PTX_ORDERS_FAMILIES
} PtxOrdersFamily;

// `registers`: of a thread when its block begins; 0: not known; -1: setmaxnreg does nothing.
void ptx_orders_init(PtxMachine *m, PtxWarp *w, int64_t offset, int64_t arrivals);
void ptx_orders_arrive(PtxMachine *m, PtxWarp *w, int64_t offset, int64_t n, int64_t bytes);
// Bytes that a copy brings: where it wrote was told by ptx_orders_lands() before.
void ptx_orders_bytes(PtxMachine *m, PtxWarp *w, int64_t offset, int64_t bytes);
void ptx_orders_lands(PtxMachine *m, PtxWarp *w, int64_t at, int64_t bytes);
void ptx_orders_commit(PtxMachine *m, PtxWarp *w, int64_t offset);  // tcgen05.commit
// A warp waits, `over`: no longer.
void ptx_orders_wait(PtxMachine *m, PtxWarp *w, int64_t offset, uint32_t bit, bool over);
void ptx_orders_meet(PtxMachine *m, PtxWarp *w, uint32_t mask, int id, int count, bool waits);
// barrier.cluster: the two halves.
void ptx_orders_cluster_arrive(PtxMachine *m, PtxWarp *w, uint32_t mask, bool relaxed);
void ptx_orders_cluster_wait(PtxMachine *m, PtxWarp *w, uint32_t mask);
// griddepcontrol.wait: the grid before this one is over for the warp. What it reads of global
// memory in front of that, that grid may still write: it is named as left out.
bool ptx_waits_for_grid(const PtxInst *i);
void ptx_orders_grid(PtxMachine *m, PtxWarp *w);
void ptx_orders_reads_global(PtxMachine *m, const PtxWarp *w);
// setmaxnreg: from now on a warp's threads have this many registers, out of the ones given back.
bool ptx_sets_registers(const PtxInst *i);
void ptx_orders_registers(PtxMachine *m, PtxWarp *w, int registers);
void ptx_orders_fence(PtxMachine *m, PtxWarp *w);
// Whether its scope is the cluster, or a wider one.
bool ptx_is_wide(const PtxInst *i);
// A fence of that scope that is not a proxy fence.
void ptx_orders_tell(PtxMachine *m, PtxWarp *w);
void ptx_orders_close(PtxMachine *m, PtxWarp *w, PtxOrdersFamily family);
void ptx_orders_groups(PtxMachine *m, PtxWarp *w, PtxOrdersFamily family, uint32_t left);
void ptx_orders_touch(PtxMachine *m, PtxWarp *w, int64_t at, int64_t bytes, PtxTouchKind kind);
void ptx_orders_end(PtxMachine *m, PtxWarp *w);
