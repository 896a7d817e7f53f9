// The part of CUDA that emitted kernels use, on one CPU thread, so that a text can be run and its
// result compared where there is no GPU.
//
// Each CUDA thread is a fiber with a stack of its own. __syncthreads() gives control back; a round
// ends when every fiber has arrived or returned, and some of each is an error. A cp.async lands at
// the last moment it may: when its thread waits for its group. Shared memory starts as NaN, the
// operands end where an unreadable page begins, C and the workspace start as NaN and have NaN
// around them that nobody may touch. Threads run in rising and in falling order.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define constexpr static const

typedef struct Index {
  int x;
} Index;
static Index threadIdx, blockIdx;

enum { SMEM_FLOATS = 58 * 1024, THREADS_MAX = 1024, STACK_BYTES = 48 * 1024, COPIES_MAX = 1024 };
static float smem[SMEM_FLOATS] __attribute__((aligned(128)));

typedef struct Copy {
  float *to;
  const float *from;
  int n;
  bool inside;
} Copy;

typedef struct Fiber {
  ucontext_t context;
  bool done;
  int n_copies, n_landed;  // of the ring `copy`
  int n_groups, n_waited;
  int group_end[COPIES_MAX];
  Copy copy[COPIES_MAX];
} Fiber;

static Fiber *fibers;
static char *stacks;
static Fiber *running;
static ucontext_t scheduler;
static const char *case_name = "";

static void fail(const char *what) {
  printf("%s: %s (block %d, thread %d)\n", case_name, what, blockIdx.x, threadIdx.x);
  exit(1);
}

// ---- what kernels call --------------------------------------------------------------------------

static void __syncthreads(void) {
  int thread = threadIdx.x;
  swapcontext(&running->context, &scheduler);
  threadIdx.x = thread;
}

static float atomicAdd(float *to, float value) {
  float before = *to;
  *to += value;
  return before;
}

static long long min(long long a, long long b) { return a < b ? a : b; }

static void aligned(const void *pointer, int width) {
  if ((uintptr_t)pointer % (4 * (unsigned)width)) fail("a wide access is not aligned");
}

static void load(float *to, const float *from, int width, bool inside) {
  aligned(from, width);
  for (int i = 0; i < width; i++) to[i] = inside ? from[i] : 0;
}
static void load2(float *to, const float *from) { load(to, from, 2, true); }
static void load4(float *to, const float *from) { load(to, from, 4, true); }
static void load2_or_zero(float *to, const float *from, bool inside) { load(to, from, 2, inside); }
static void load4_or_zero(float *to, const float *from, bool inside) { load(to, from, 4, inside); }

static void store(float *to, const float *from, int width) {
  aligned(to, width);
  memcpy(to, from, sizeof *to * (unsigned)width);
}
static void store2(float *to, const float *from) { store(to, from, 2); }
static void store4(float *to, const float *from) { store(to, from, 4); }

static void fill2(float *to, float value) { to[0] = to[1] = value; }
static void fill4(float *to, float value) { to[0] = to[1] = to[2] = to[3] = value; }

static void start_copy(float *to, const float *from, int width, bool inside) {
  aligned(to, width);
  if (inside) aligned(from, width);
  if (running->n_copies - running->n_landed == COPIES_MAX) fail("too many copies in flight");
  running->copy[running->n_copies++ % COPIES_MAX] = (Copy){to, from, width, inside};
}
static void cp_async1(float *to, const float *from) { start_copy(to, from, 1, true); }
static void cp_async2(float *to, const float *from) { start_copy(to, from, 2, true); }
static void cp_async4(float *to, const float *from) { start_copy(to, from, 4, true); }
static void cp_async1_or_zero(float *to, const float *from, bool in) {
  start_copy(to, from, 1, in);
}
static void cp_async2_or_zero(float *to, const float *from, bool in) {
  start_copy(to, from, 2, in);
}
static void cp_async4_or_zero(float *to, const float *from, bool in) {
  start_copy(to, from, 4, in);
}

static void cp_async_commit(void) {
  running->group_end[running->n_groups++ % COPIES_MAX] = running->n_copies;
}

static void cp_async_wait(int n_in_flight) {
  for (; running->n_waited < running->n_groups - n_in_flight; running->n_waited++) {
    int end = running->group_end[running->n_waited % COPIES_MAX];
    for (; running->n_landed < end; running->n_landed++) {
      const Copy *copy = &running->copy[running->n_landed % COPIES_MAX];
      for (int i = 0; i < copy->n; i++) copy->to[i] = copy->inside ? copy->from[i] : 0;
    }
  }
}

// ---- launching ----------------------------------------------------------------------------------

static void (*kernel)(void);

static void run_fiber(void) {
  kernel();
  running->done = true;
  swapcontext(&running->context, &scheduler);
}

static void start_fiber(int thread) {
  Fiber *fiber = &fibers[thread];
  fiber->done = false;
  fiber->n_copies = fiber->n_landed = fiber->n_groups = fiber->n_waited = 0;
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = stacks + (size_t)thread * STACK_BYTES;
  fiber->context.uc_stack.ss_size = STACK_BYTES;
  fiber->context.uc_link = NULL;
  makecontext(&fiber->context, run_fiber, 0);
}

static int run_round(int n_threads, bool falling) {
  int n_done = 0;
  for (int i = 0; i < n_threads; i++) {
    threadIdx.x = falling ? n_threads - 1 - i : i;
    running = &fibers[threadIdx.x];
    if (!running->done) swapcontext(&scheduler, &running->context);
    n_done += running->done;
  }
  return n_done;
}

static void launch(void (*body)(void), long long n_blocks, int n_threads, bool falling) {
  if (n_threads > THREADS_MAX) fail("too many threads");
  if (!fibers) fibers = calloc(THREADS_MAX, sizeof *fibers);
  if (!stacks) stacks = malloc((size_t)THREADS_MAX * STACK_BYTES);
  kernel = body;
  for (long long block = 0; block < n_blocks; block++) {
    blockIdx.x = (int)block;
    for (int i = 0; i < SMEM_FLOATS; i++) smem[i] = NAN;
    for (int i = 0; i < n_threads; i++) start_fiber(i);
    for (int n_done = 0; n_done != n_threads;) {
      n_done = run_round(n_threads, falling);
      if (n_done != 0 && n_done != n_threads) fail("some threads miss a barrier");
    }
  }
}

// ---- operands and verdict -----------------------------------------------------------------------

enum { FENCE_FLOATS = 64 };

// `n` floats that end where an unreadable page begins, FENCE_FLOATS before them; all NaN.
static float *operand(long long n) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t bytes = sizeof(float) * (size_t)(n + FENCE_FLOATS),
         room = (bytes + page - 1) / page * page;
  char *base = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED || mprotect(base + room, page, PROT_NONE)) fail("no memory");
  memset(base, 0xff, room);
  // Rounded down to 16 bytes, as a device allocation is; at most 12 bytes can be read past the end.
  return (float *)(base + (room - sizeof(float) * (size_t)n) / 16 * 16);
}

static void release(float *x, long long n) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = (uintptr_t)(x - FENCE_FLOATS) / page * page;
  uintptr_t end = ((uintptr_t)(x + n) + page - 1) / page * page + page;
  munmap((void *)first, end - first);
}

// Small whole numbers: every sum is exact in f32, whatever the order.
static void fill_operand(float *x, long long n, uint32_t seed) {
  for (long long i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)((int)(seed >> 28) - 7);
  }
}

static void check_product(const float *A, const float *B, const float *C, int m, int n, int k) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += (double)A[(size_t)i * k + l] * B[(size_t)l * n + j];
      if (C[(size_t)i * n + j] == sum) continue;
      printf("%s: C[%d, %d] = %g, expected %g\n", case_name, i, j, C[(size_t)i * n + j], sum);
      exit(1);
    }
  for (int i = 1; i <= FENCE_FLOATS; i++)
    if (!isnan(C[-i])) fail("something was written before C");
}

typedef struct Case {
  const char *name;
  int m, n, k;
  long long workspace;  // floats
  void (*multiply)(float *A, float *B, float *C, float *P, bool falling);
} Case;

static void run_case(const Case *c, bool falling) {
  case_name = c->name;
  long long na = (long long)c->m * c->k, nb = (long long)c->k * c->n, nc = (long long)c->m * c->n;
  float *A = operand(na), *B = operand(nb), *C = operand(nc), *P = operand(c->workspace);
  fill_operand(A, na, 1);
  fill_operand(B, nb, 2);
  c->multiply(A, B, C, P, falling);
  check_product(A, B, C, c->m, c->n, c->k);
  release(A, na);
  release(B, nb);
  release(C, nc);
  release(P, c->workspace);
}

static int run_cases(const Case *cases, int n) {
  for (int i = 0; i < n; i++) {
    run_case(&cases[i], false);
    run_case(&cases[i], true);
  }
  printf("%d texts compute C = A * B\n", n);
  return 0;
}
