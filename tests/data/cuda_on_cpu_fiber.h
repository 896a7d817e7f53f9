// A CUDA thread as a fiber: what it has, where it waits, and what it does alone; see cuda_on_cpu.h.
#pragma once
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "cuda_on_cpu_types.h"

struct Index {
  int x;
};
static Index threadIdx, blockIdx, gridDim;

enum {
  SMEM_BYTES = 232 * 1024,
  THREADS_MAX = 1024,  // of a block
  CLUSTER_MAX = 8,
  FIBERS_MAX = CLUSTER_MAX * THREADS_MAX,
  STACK_BYTES = 64 * 1024,
  COPIES_MAX = 1024
};
// Shared memory of each block of a cluster, and that of the block whose thread runs.
static unsigned char pools[CLUSTER_MAX][SMEM_BYTES] __attribute__((aligned(1024)));
static unsigned char *pool = pools[0];

// What lies at the same place in the shared memory of another block of the cluster.
static void *in_block(int rank, void *here) { return pools[rank] + ((unsigned char *)here - pool); }

struct Copy {
  void *to;
  const void *from;
  int bytes;
  bool inside;
};

struct tensor_map;
enum { SENT_MAX = 256 };

enum State { RUNS, AT_WARP, AT_BARRIER, AT_BARRIER_OF_SOME, AT_CLUSTER, AT_MBARRIER, DONE };

// What a lane brings to an operation of its warp: pointers to its registers, or an address.
struct WarpOp {
  void (*run)(WarpOp *lanes);
  void *to;
  const void *from[2];
  int mask;
  const void *more;  // of each lane: what one kind of operation has besides
};

// In the eight bytes of an mbarrier.
struct Mbarrier {
  short pending, expected;
  int phase : 1;
  int bytes : 31;
};

// A box on its way to C, of the bulk group that was open when it was sent.
struct Sent {
  const char *from;
  const tensor_map *map;
  int column, row, element_bytes, group;
  void (*put)(void *to, const void *from);
};

struct Fiber {
  ucontext_t context;  // how it starts
  jmp_buf where;       // where it waits
  State state;
  bool started;
  int n_copies, n_landed;  // of the ring `copy`
  int n_groups, n_waited;
  int group_end[COPIES_MAX];
  Copy copy[COPIES_MAX];
  int n_sent, n_bulk_groups;
  Sent sent[SENT_MAX];
  int n_meet, barrier;  // AT_BARRIER_OF_SOME: how many there must be, at which barrier
  const Mbarrier *bar;  // AT_MBARRIER
  int phase;
};

static Fiber *fibers;
static WarpOp *warp_ops;
static char *stacks;
static Fiber *running;
static jmp_buf scheduler;
static const char *case_name = "";

static void fail(const char *what) {
  printf("%s: %s (block %d, thread %d)\n", case_name, what, blockIdx.x, threadIdx.x);
  exit(1);
}

// The scheduler sets threadIdx, blockIdx and the pool anew before the fiber goes on.
static void give_up_control(State state) {
  running->state = state;
  if (_setjmp(running->where) == 0) _longjmp(scheduler, 1);
}

// ---- what a thread does alone -------------------------------------------------------------------

static void __syncthreads() { give_up_control(AT_BARRIER); }
static void wait_for_kernel_before() {}  // kernels run one after the other
static void cluster_barrier() { give_up_control(AT_CLUSTER); }

template <class T>
T atomicAdd(T *to, T value) {
  T before = *to;
  *to += value;
  return before;
}
static void atomic_add(f16 *to, f16 value) { *to = to_f16(to_float(*to) + to_float(value)); }
static void atomic_add(bf16 *to, bf16 value) { *to = to_bf16(to_float(*to) + to_float(value)); }

static long long min(long long a, long long b) { return a < b ? a : b; }

static void aligned(const void *pointer, int bytes) {
  if ((uintptr_t)pointer % (unsigned)bytes) fail("a wide access is not aligned");
}

static void move(void *to, const void *from, int bytes, bool inside) {
  if (inside)
    memcpy(to, from, (size_t)bytes);
  else
    memset(to, 0, (size_t)bytes);
}

template <class R, class T>
void load(R *to, const T *from, int width, bool inside) {
  if (inside) aligned(from, width * (int)sizeof(T));
  move(to, from, width * (int)sizeof(T), inside);
}

template <class T, class R>
void store(T *to, const R *from, int width) {
  aligned(to, width * (int)sizeof(T));
  move(to, from, width * (int)sizeof(T), true);
}
static void store(f16 *to, const float *from, int width) {
  aligned(to, width * 2);
  for (int i = 0; i < width; i++) to[i] = to_f16(from[i]);
}
static void store(bf16 *to, const float *from, int width) {
  aligned(to, width * 2);
  for (int i = 0; i < width; i++) to[i] = to_bf16(from[i]);
}

template <class T>
void fill(T *to, T value, int width) {
  for (int i = 0; i < width; i++) to[i] = value;
}
// Sums in f16, two to a register.
static void fill(unsigned *to, unsigned value, int width) {
  for (int i = 0; i < width / 2; i++) to[i] = value;
}

static int opaque(int number) { return number; }

static void start_copy(void *to, const void *from, int bytes, bool inside) {
  aligned(to, bytes);
  if (inside) aligned(from, bytes);
  if (bytes != 4 && bytes != 8 && bytes != 16) fail("no cp.async moves so many bytes");
  if (running->n_copies - running->n_landed == COPIES_MAX) fail("too many copies in flight");
  running->copy[running->n_copies++ % COPIES_MAX] = Copy{to, from, bytes, inside};
}

#define OF_WIDTH(N)                                                                         \
  template <class R, class T>                                                               \
  void load##N(R *to, const T *from) {                                                      \
    load(to, from, N, true);                                                                \
  }                                                                                         \
  template <class R, class T>                                                               \
  void load##N##_or_zero(R *to, const T *from, bool inside) {                               \
    load(to, from, N, inside);                                                              \
  }                                                                                         \
  template <class T, class R>                                                               \
  void store##N(T *to, const R *from) {                                                     \
    store(to, from, N);                                                                     \
  }                                                                                         \
  template <class T>                                                                        \
  void fill##N(T *to, T value) {                                                            \
    fill(to, value, N);                                                                     \
  }                                                                                         \
  template <class T>                                                                        \
  void cp_async##N(T *slab, int at, const T *from) {                                        \
    start_copy(slab + at, from, N * (int)sizeof(T), true);                                  \
  }                                                                                         \
  template <class T>                                                                        \
  void cp_async##N##_or_zero(T *slab, int at, const T *from, bool inside) {                 \
    start_copy(slab + at, from, N * (int)sizeof(T), inside);                                \
  }                                                                                         \
  template <class T>                                                                        \
  void cp_async##N##_if(T *slab, int at, const T *from, bool wanted) {                      \
    if (wanted) cp_async##N(slab, at, from);                                                \
  }                                                                                         \
  template <class T>                                                                        \
  void cp_async##N##_or_zero_if(T *slab, int at, const T *from, bool inside, bool wanted) { \
    if (wanted) cp_async##N##_or_zero(slab, at, from, inside);                              \
  }
OF_WIDTH(1)
OF_WIDTH(2)
OF_WIDTH(4)
OF_WIDTH(8)
OF_WIDTH(16)

static float load_shared(const float *slab, int at) { return slab[at]; }

static void cp_async_commit() {
  running->group_end[running->n_groups++ % COPIES_MAX] = running->n_copies;
}

template <int n_in_flight>
void cp_async_wait() {
  for (; running->n_waited < running->n_groups - n_in_flight; running->n_waited++) {
    int end = running->group_end[running->n_waited % COPIES_MAX];
    for (; running->n_landed < end; running->n_landed++) {
      const Copy *copy = &running->copy[running->n_landed % COPIES_MAX];
      move(copy->to, copy->from, copy->bytes, copy->inside);
    }
  }
}
