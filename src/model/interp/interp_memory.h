// Inside the interpreter: what it remembers of accesses to memory, and of who comes before whom.
//
// Included by interp_machine.h. What is done with it: interp_order.c and interp_shadow.c.
#pragma once
#include "model/interp/interp_code.h"
#include "order/order_cluster.h"
#include "order/order_mbar.h"
#include "order/order_tensor.h"

// One access. `block` counts clusters where blocks run together, `thread` the threads of all of its
// blocks. Epochs count barriers, arrivals at mbarriers and landings: they grow through the
// whole life of a machine, over blocks, kernels and runs, so nothing is ever cleared.
typedef struct Touch {
  uint32_t epoch, block;
  uint16_t thread, code;
} Touch;

// The accesses that are remembered of one element: here the last one that wrote it, and in Memory
// those that read it or added to it atomically. If barriers alone make the order, the latest of
// them is enough with one more that is unordered with it: an access that conflicts with any earlier
// one conflicts with one of these. Mbarriers order some readers and not others, so each warp's
// latest read of a slab is kept instead.
typedef struct Shadow {
  Touch write;
  uint32_t in_flight;  // `write` is a copy that its thread has not waited for
} Shadow;

typedef struct Recent {
  Touch latest, other;
} Recent;

// Each warp's latest reads of the shared memory of a block, by granule: what a warp reads one after
// the other lies side by side. Of so many granules together the newest epoch in which a warp read
// any says in one look, nearly always, that all of them are over; of reads through the async proxy
// no fence need know.
enum { READS_TOGETHER = 64 };
typedef struct NewestRead {
  uint32_t any, to_fence;
} NewestRead;
typedef struct Reads {
  Touch *read;         // [n_readers][apart]
  NewestRead *newest;  // [apart / READS_TOGETHER + 1][n_readers]
  int64_t apart;
} Reads;

// An mbarrier of the block at hand; see interp_mbarrier.c.
typedef struct Mbar {
  OrderMbar *order;
  Touch init;
  bool released;  // a fence of the thread that initialised it stands behind that
} Mbar;

// Elements are bytes, as their type has them. Shared buffers are windows of one memory whose shadow
// is kept by granule, the smallest element of any of them, so that two that overlap are seen to.
typedef struct Memory {
  const Buffer *buffer;
  DType type;
  int bytes;              // of an element
  uint8_t *data;          // NULL: registers
  Shadow *shadow;         // NULL: read-only, or registers
  Recent *read;           // [shadow], unless there are `reads`
  Recent *add;            // [shadow] of global memory; else NULL
  const Reads *reads;     // of a slab in a program with clocks; else NULL
  int64_t first_granule;  // of the block's shared memory
  Touch *stored;  // [shadow] of a slab: the latest box read out of it in the background, likewise
  int n_shadows;  // of an element
  int64_t elements;
  int first_row, rows;  // registers: where the buffer starts in the warp's rows; rows of an element
  Mbar *mbar;           // mbarriers, which have no data
} Memory;

static inline uint8_t *memory_at(const Memory *memory, int64_t at) {
  return memory->data + at * memory->bytes;
}
