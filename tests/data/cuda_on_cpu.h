// The part of CUDA that emitted kernels use, on one CPU thread, so that a text can be run and its
// result compared where there is no GPU.
//
// Each CUDA thread is a fiber with a stack of its own. Warps run one after the other, each up to
// where it waits: at __syncthreads() for all, at barrier_of<n>() for n, at an mbarrier for a phase.
// A round ends when every fiber waits or has returned; that nobody can go on then is an error. What
// a warp does together (ldmatrix, mma) is done when its 32 fibers have come to it. Copies land at
// the last moment they may: a cp.async when its thread waits for its group, a box of TMA when
// nobody can go on without it, one bound for C when its thread waits until it is read.
// Shared memory starts as NaN, the operands end where an unreadable page begins, C and the
// workspace start as NaN and have NaN around them that nobody may touch. Warps and lanes run in
// rising and in falling order.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "cuda_on_cpu_types.h"

#pragma GCC push_options
#pragma GCC optimize("O2")

struct Index {
  int x;
};
static Index threadIdx, blockIdx, gridDim;

enum { SMEM_BYTES = 232 * 1024, THREADS_MAX = 1024, STACK_BYTES = 64 * 1024, COPIES_MAX = 1024 };
static unsigned char pool[SMEM_BYTES] __attribute__((aligned(1024)));

struct Copy {
  void *to;
  const void *from;
  int bytes;
  bool inside;
};

struct tensor_map;
enum { SENT_MAX = 256 };

enum State { RUNS, AT_WARP, AT_BARRIER, AT_BARRIER_OF_SOME, AT_MBARRIER, DONE };

// What a lane brings to an operation of its warp: pointers to its registers, or an address.
struct WarpOp {
  void (*run)(WarpOp *lanes);
  void *to;
  const void *from[2];
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

static void give_up_control(State state) {
  int thread = threadIdx.x;
  running->state = state;
  if (_setjmp(running->where) == 0) _longjmp(scheduler, 1);
  threadIdx.x = thread;
}

// ---- what a thread does alone -------------------------------------------------------------------

static void __syncthreads() { give_up_control(AT_BARRIER); }

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

// ---- mbarriers and TMA --------------------------------------------------------------------------

#define __grid_constant__
#define __constant__ static
#define __cluster_dims__(...)

// A matrix, columns running fastest, and the box that is copied of it at a time.
struct tensor_map {
  const void *base;
  long long columns, rows;
  int box_columns, box_rows;
  int swizzle;  // chunk bits that are xored with the line's: 0 … 3
};

struct Box {
  char *to;
  const tensor_map *map;
  int column, row, element_bytes;
  Mbarrier *bar;
};
enum { BOXES_MAX = 4096 };
static Box boxes[BOXES_MAX];
static int n_boxes;

static Mbarrier *mbarrier(unsigned long long *bars, int i) { return (Mbarrier *)(bars + i); }

static void end_phase(Mbarrier *bar) {
  if (bar->pending < 0) fail("one arrival too many");
  if (bar->pending > 0 || bar->bytes != 0) return;
  bar->phase = ~bar->phase;
  bar->pending = bar->expected;
}

static bool has_ended(const Mbarrier *bar, int phase) { return (bar->phase & 1) != phase; }

static void mbarrier_init(unsigned long long *bars, int i, int arrivals) {
  *mbarrier(bars, i) = Mbarrier{(short)arrivals, (short)arrivals, 0, 0};
}

static void mbarrier_expect(unsigned long long *bars, int i, int bytes) {
  Mbarrier *bar = mbarrier(bars, i);
  bar->bytes += bytes;
  bar->pending--;
  end_phase(bar);
}

static void mbarrier_wait(unsigned long long *bars, int i, int phase) {
  while (!has_ended(mbarrier(bars, i), phase)) {
    running->bar = mbarrier(bars, i);
    running->phase = phase;
    give_up_control(AT_MBARRIER);
  }
}

template <class T>
void tma_load(T *slab, int at, const tensor_map *map, int column, int row, unsigned long long *bars,
              int i) {
  aligned(slab + at, 128);
  if (n_boxes == BOXES_MAX) fail("too many boxes in flight");
  boxes[n_boxes++] = Box{(char *)(slab + at), map, column, row, (int)sizeof(T), mbarrier(bars, i)};
}

// PTX ISA, tensors: bits [4, 4 + swizzle) of the address are xored with bits [7, 7 + swizzle).
static void land(const Box *box) {
  const tensor_map *map = box->map;
  int bytes = box->element_bytes, at = 0;
  for (int r = 0; r < map->box_rows; r++)
    for (int c = 0; c < map->box_columns; c++, at += bytes) {
      long long row = box->row + r, column = box->column + c;
      bool inside = row >= 0 && row < map->rows && column >= 0 && column < map->columns;
      uintptr_t to = (uintptr_t)box->to + (uintptr_t)at;
      to ^= (to >> 7 & ((1u << map->swizzle) - 1)) << 4;
      move((void *)to, (const char *)map->base + (row * map->columns + column) * bytes, bytes,
           inside);
    }
  box->bar->bytes -= at;
  end_phase(box->bar);
}

static bool land_one(bool falling) {
  if (n_boxes == 0) return false;
  int which = falling ? 0 : n_boxes - 1;
  Box box = boxes[which];
  boxes[which] = boxes[--n_boxes];
  land(&box);
  return true;
}

static void fence_async() {}

// ---- boxes bound for C --------------------------------------------------------------------------

template <class T>
void put_cell(void *to, const void *from) {
  *(T *)to = *(const T *)from;
}
template <class T>
void add_cell(void *to, const void *from) {
  *(T *)to = from_number<T>((int)(to_float(*(T *)to) + to_float(*(const T *)from)));
}

template <class T>
void send(const tensor_map *map, int column, int row, T *slab, int at,
          void (*put)(void *, const void *)) {
  aligned(slab + at, 128);
  if (running->n_sent == SENT_MAX) fail("too many boxes on their way to C");
  running->sent[running->n_sent++] = Sent{
      (const char *)(slab + at), map, column, row, (int)sizeof(T), running->n_bulk_groups, put};
}
template <class T>
void tma_store(const tensor_map *map, int column, int row, T *slab, int at) {
  send(map, column, row, slab, at, put_cell<T>);
}
template <class T>
void tma_add(const tensor_map *map, int column, int row, T *slab, int at) {
  send(map, column, row, slab, at, add_cell<T>);
}
static void bulk_commit() { running->n_bulk_groups++; }

// The rows' chunks lie as land() puts them.
static void leave(const Sent *box) {
  const tensor_map *map = box->map;
  int bytes = box->element_bytes, at = 0;
  for (int r = 0; r < map->box_rows; r++)
    for (int c = 0; c < map->box_columns; c++, at += bytes) {
      long long row = box->row + r, column = box->column + c;
      if (row < 0 || row >= map->rows || column < 0 || column >= map->columns) continue;
      uintptr_t from = (uintptr_t)box->from + (uintptr_t)at;
      from ^= (from >> 7 & ((1u << map->swizzle) - 1)) << 4;
      box->put((char *)map->base + (row * map->columns + column) * bytes, (const void *)from);
    }
}

static void bulk_leave(int left) {
  int kept = 0;
  for (int i = 0; i < running->n_sent; i++) {
    const Sent box = running->sent[i];
    if (box.group < running->n_bulk_groups - left)
      leave(&box);
    else
      running->sent[kept++] = box;
  }
  running->n_sent = kept;
}
template <int n>
void bulk_read() {
  bulk_leave(n);
}
template <int n>
void bulk_wait() {
  bulk_leave(n);
}

enum { BLOCK_BARRIERS = 16 };

template <int n>
void barrier_of(int id) {
  if (id < 0 || id >= BLOCK_BARRIERS) fail("a block has barriers 0 to 15");
  running->n_meet = n;
  running->barrier = id;
  give_up_control(AT_BARRIER_OF_SOME);
}

template <int n>
void registers_give() {}
template <int n>
void registers_take() {}

// ---- what a warp does together ------------------------------------------------------------------

static void do_together(WarpOp op) {
  warp_ops[threadIdx.x] = op;
  give_up_control(AT_WARP);
}

// PTX ISA, ldmatrix: lane l gives the address of row l % 8 of matrix l / 8. Register r of a lane
// gets word l % 4 of row l / 4 of matrix r; transposed, halves l / 4 of rows 2 · (l % 4) and the
// next.
template <int n, bool trans>
void run_ldmatrix(WarpOp *lanes) {
  for (int lane = 0; lane < 32; lane++)
    for (int r = 0; r < n; r++)
      for (int half = 0; half < 2; half++) {
        int row = trans ? lane % 4 * 2 + half : lane / 4;
        int col = trans ? lane / 4 : lane % 4 * 2 + half;
        const void *from = lanes[r * 8 + row].from[0];
        aligned(from, 16);
        insert((char *)lanes[lane].to + 4 * r, half, extract<f16>(from, col));
      }
}

// One arrival for 32 lanes.
static void run_arrive(WarpOp *lanes) {
  Mbarrier *bar = (Mbarrier *)lanes[0].to;
  bar->pending--;
  end_phase(bar);
}
static void mbarrier_arrive(unsigned long long *bars, int i) {
  do_together(WarpOp{run_arrive, mbarrier(bars, i), {nullptr, nullptr}});
}

static void put_value(f16 *to, const float *from, int i) { *to = to_f16(from[i]); }
static void put_value(bf16 *to, const float *from, int i) { *to = to_bf16(from[i]); }
template <class T>
void put_value(T *to, const unsigned *from, int i) {
  *to = extract<T>(from, i);
}

// The way back; what is stored is rounded to the slab's type.
template <int n, bool trans, class T, class R>
void run_stmatrix(WarpOp *lanes) {
  for (int lane = 0; lane < 32; lane++)
    for (int r = 0; r < n; r++)
      for (int half = 0; half < 2; half++) {
        int row = trans ? lane % 4 * 2 + half : lane / 4;
        int col = trans ? lane / 4 : lane % 4 * 2 + half;
        T *to = (T *)lanes[r * 8 + row].to;
        aligned(to, 16);
        put_value(&to[col], (const R *)lanes[lane].from[0], 2 * r + half);
      }
}
static void run_nothing(WarpOp *) {}
static void __syncwarp() { do_together(WarpOp{run_nothing, nullptr, {nullptr, nullptr}}); }

#define STMATRIX(N)                                                                          \
  template <class T, class R>                                                                \
  void stmatrix_x##N(T *slab, int at, const R *from) {                                       \
    do_together(WarpOp{run_stmatrix<N, false, T, R>, (void *)(slab + at), {from, nullptr}}); \
  }
STMATRIX(2)
STMATRIX(4)

#define LDMATRIX(N)                                                        \
  template <class T>                                                       \
  void ldmatrix_x##N(void *to, const T *slab, int at) {                    \
    do_together(WarpOp{run_ldmatrix<N, false>, to, {slab + at, nullptr}}); \
  }                                                                        \
  template <class T>                                                       \
  void ldmatrix_x##N##_trans(void *to, const T *slab, int at) {            \
    do_together(WarpOp{run_ldmatrix<N, true>, to, {slab + at, nullptr}});  \
  }
LDMATRIX(1)
LDMATRIX(2)
LDMATRIX(4)

// Fragments as the PTX ISA writes them, with g = lane / 4 and t = lane % 4 and p values in a
// register (f64: one): register r of A has row g + 8 · (r % 2), columns t · p … + 4p · (r / 2); of
// B column g, rows t · p … + 4p · r; value i of C has row g + 8 · (i / 2) and column 2t + i % 2.
template <int M, int N, int K, class Sum, class T>
void run_mma(WarpOp *lanes) {
  const int p = sizeof(T) < 4 ? 4 / (int)sizeof(T) : 1;
  double a[M][K], b[K][N];
  for (int lane = 0; lane < 32; lane++) {
    int g = lane / 4, t = lane % 4;
    for (int i = 0; i < M * K / 32; i++) {
      int r = i / p, row = g + 8 * (r % (M / 8)), col = t * p + i % p + 4 * p * (r / (M / 8));
      a[row][col] = (double)to_float(extract<T>(lanes[lane].from[0], i));
    }
    for (int i = 0; i < K * N / 32; i++)
      b[t * p + i % p + 4 * p * (i / p)][g] = (double)to_float(extract<T>(lanes[lane].from[1], i));
  }
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < M * N / 32; i++) {
      int row = lane / 4 + 8 * (i / 2), col = lane % 4 * 2 + i % 2;
      double sum = (double)to_float(extract<Sum>(lanes[lane].to, i));
      for (int k = 0; k < K; k++) sum += a[row][k] * b[k][col];
      insert(lanes[lane].to, i, from_number<Sum>((int)sum));  // the tests' numbers are whole
      if (sum != (int)sum) insert(lanes[lane].to, i, from_number<Sum>(30000));
    }
}

#define MMA(M, N, K, SUM, TYPE, Sum, T)                                                      \
  static void mma_m##M##n##N##k##K##_##SUM##_##TYPE(void *c, const void *a, const void *b) { \
    do_together(WarpOp{run_mma<M, N, K, Sum, T>, c, {a, b}});                                \
  }
MMA(16, 8, 16, f32, f16, float, f16)
MMA(16, 8, 16, f16, f16, f16, f16)
MMA(16, 8, 8, f32, f16, float, f16)
MMA(16, 8, 8, f16, f16, f16, f16)
MMA(16, 8, 16, f32, bf16, float, bf16)
MMA(16, 8, 8, f32, bf16, float, bf16)
MMA(16, 8, 8, f32, tf32, float, float)
MMA(16, 8, 4, f32, tf32, float, float)
MMA(16, 8, 32, s32, s8, int, signed char)
MMA(16, 8, 16, s32, s8, int, signed char)
MMA(16, 8, 32, f32, e4m3, float, e4m3)
MMA(16, 8, 32, f32, e5m2, float, e5m2)
MMA(16, 8, 32, f16, e4m3, f16, e4m3)
MMA(16, 8, 32, f16, e5m2, f16, e5m2)
MMA(8, 8, 4, f64, f64, double, double)

// ---- launching ----------------------------------------------------------------------------------

static void (*kernel)();

static void run_fiber() {
  kernel();
  if (running->n_sent) fail("a box is on its way to C at the end");
  running->state = DONE;
  _longjmp(scheduler, 1);
}

static void start_fiber(int thread) {
  Fiber *fiber = &fibers[thread];
  fiber->state = RUNS;
  fiber->started = false;
  fiber->n_sent = fiber->n_bulk_groups = 0;
  fiber->n_copies = fiber->n_landed = fiber->n_groups = fiber->n_waited = 0;
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = stacks + (size_t)thread * STACK_BYTES;
  fiber->context.uc_stack.ss_size = STACK_BYTES;
  fiber->context.uc_link = NULL;
  makecontext(&fiber->context, run_fiber, 0);
}

// A jump, unlike swapcontext, asks nothing of the system; only the first start does.
static void resume() {
  if (_setjmp(scheduler) != 0) return;
  if (running->started) _longjmp(running->where, 1);
  running->started = true;
  setcontext(&running->context);
}

// Each lane up to the next place where it waits; how many do so for their warp.
static int run_lanes(int first, int n, bool falling) {
  int n_together = 0;
  for (int i = 0; i < n; i++) {
    threadIdx.x = first + (falling ? n - 1 - i : i);
    running = &fibers[threadIdx.x];
    if (running->state == RUNS) resume();
    n_together += running->state == AT_WARP;
  }
  return n_together;
}

static void run_warp(int first, int n, bool falling) {
  for (int n_together; (n_together = run_lanes(first, n, falling)) > 0;) {
    if (n_together != 32) fail("some lanes miss what their warp does together");
    for (int i = 1; i < 32; i++)
      if (warp_ops[first + i].run != warp_ops[first].run) fail("lanes do different things");
    warp_ops[first].run(&warp_ops[first]);
    for (int i = 0; i < 32; i++) fibers[first + i].state = RUNS;
  }
}

static int count(int n_threads, State state) {
  int n = 0;
  for (int i = 0; i < n_threads; i++) n += fibers[i].state == state;
  return n;
}

static bool may_go_on(const Fiber *fiber, bool all_meet, const int n_at[BLOCK_BARRIERS]) {
  if (fiber->state == AT_BARRIER) return all_meet;
  if (fiber->state == AT_BARRIER_OF_SOME) return n_at[fiber->barrier] == fiber->n_meet;
  return fiber->state == AT_MBARRIER && has_ended(fiber->bar, fiber->phase);
}

// Lets everybody go on who may; how many do.
static int wake(int n_threads) {
  bool all_meet = count(n_threads, AT_BARRIER) == n_threads;
  int n_at[BLOCK_BARRIERS] = {0}, n = 0;
  for (int i = 0; i < n_threads; i++)
    if (fibers[i].state == AT_BARRIER_OF_SOME) n_at[fibers[i].barrier]++;
  for (int i = 0; i < n_threads; i++)
    if (may_go_on(&fibers[i], all_meet, n_at)) {
      fibers[i].state = RUNS;
      n++;
    }
  return n;
}

// False when all threads have returned.
static bool run_round(int n_threads, bool falling) {
  int n_warps = (n_threads + 31) / 32;
  for (int i = 0; i < n_warps; i++) {
    int first = 32 * (falling ? n_warps - 1 - i : i);
    run_warp(first, n_threads - first < 32 ? n_threads - first : 32, falling);
  }
  if (count(n_threads, DONE) == n_threads) return false;
  while (wake(n_threads) == 0)
    if (!land_one(falling)) fail("some threads miss a barrier");
  return true;
}

static void launch(void (*body)(), long long n_blocks, int n_threads, bool falling) {
  if (n_threads > THREADS_MAX) fail("too many threads");
  if (!fibers) fibers = (Fiber *)calloc(THREADS_MAX, sizeof *fibers);
  if (!warp_ops) warp_ops = (WarpOp *)calloc(THREADS_MAX, sizeof *warp_ops);
  if (!stacks) stacks = (char *)malloc((size_t)THREADS_MAX * STACK_BYTES);
  kernel = body;
  gridDim.x = (int)n_blocks;
  for (long long block = 0; block < n_blocks; block++) {
    blockIdx.x = (int)block;
    memset(pool, 0xff, sizeof pool);
    for (int i = 0; i < n_threads; i++) start_fiber(i);
    while (run_round(n_threads, falling)) continue;
    if (n_boxes) fail("a box is in flight at the end");
  }
}

// ---- operands and verdict -----------------------------------------------------------------------

enum { FENCE_BYTES = 256 };

// Bytes that end where an unreadable page begins, FENCE_BYTES before them; all NaN.
static void *operand(long long bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t room = ((size_t)bytes + FENCE_BYTES + 16 + page - 1) / page * page;
  char *base =
      (char *)mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED || mprotect(base + room, page, PROT_NONE)) fail("no memory");
  memset(base, 0xff, room);
  // Rounded down to 16 bytes, as a device allocation is; at most 15 bytes can be read past the end.
  return base + (room - (size_t)bytes) / 16 * 16;
}

static void release(void *x, long long bytes) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = ((uintptr_t)x - FENCE_BYTES) / page * page;
  uintptr_t end = ((uintptr_t)x + (uintptr_t)bytes + page - 1) / page * page + page;
  munmap((void *)first, end - first);
}

// Small whole numbers: every sum is exact, whatever the order; up to 2048 of them in f16.
template <class T>
void fill_operand(T *x, long long n, uint32_t seed, int most) {
  for (long long i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = from_number<T>((int)((seed >> 20) % (unsigned)(2 * most + 1)) - most);
  }
}

struct Case {
  const char *name;
  int m, n, k;
  bool a_col, b_col;    // column-major
  long long workspace;  // bytes
  int most;             // of the operands' whole numbers
  void (*multiply)(void *A, void *B, void *C, void *P, bool falling);
  void (*run)(const Case *c, bool falling);
};

template <class In, class Out>
void check_product(const Case *c, const In *A, const In *B, const Out *C) {
  const int m = c->m, n = c->n, k = c->k;
  const int a_row = c->a_col ? 1 : k, a_next = c->a_col ? m : 1;
  const int b_row = c->b_col ? 1 : n, b_next = c->b_col ? k : 1;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++)
        sum += (double)to_float(A[i * a_row + l * a_next]) *
               (double)to_float(B[l * b_row + j * b_next]);
      double got = (double)to_float(C[i * n + j]);
      if (got == sum) continue;
      printf("%s: C[%d, %d] = %g, expected %g\n", case_name, i, j, got, sum);
      exit(1);
    }
  for (int i = 1; i <= FENCE_BYTES; i++)
    if (((const unsigned char *)C)[-i] != 0xff) fail("something was written before C");
}

template <class In, class Out>
void run_case(const Case *c, bool falling) {
  case_name = c->name;
  long long na = (long long)c->m * c->k, nb = (long long)c->k * c->n, nc = (long long)c->m * c->n;
  In *A = (In *)operand(na * (int)sizeof(In)), *B = (In *)operand(nb * (int)sizeof(In));
  Out *C = (Out *)operand(nc * (int)sizeof(Out));
  void *P = operand(c->workspace);
  fill_operand(A, na, 1, c->most);
  fill_operand(B, nb, 2, c->most);
  c->multiply(A, B, C, P, falling);
  check_product(c, A, B, C);
  release(A, na * (int)sizeof(In));
  release(B, nb * (int)sizeof(In));
  release(C, nc * (int)sizeof(Out));
  release(P, c->workspace);
}

static int run_cases(const Case *cases, int n) {
  for (int i = 0; i < n; i++) {
    cases[i].run(&cases[i], false);
    cases[i].run(&cases[i], true);
  }
  printf("%d texts compute C = A * B\n", n);
  return 0;
}

#pragma GCC pop_options
