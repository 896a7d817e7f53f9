// The part of CUDA that emitted kernels use, on one CPU thread, so that a text can be run and its
// result compared where there is no GPU.
//
// Each CUDA thread is a fiber with a stack of its own. Warps run one after the other, each up to
// where it waits: at __syncthreads() for all, at barrier_of<n>() for n, at an mbarrier for a phase.
// A round ends when every fiber waits or has returned; that nobody can go on then is an error. What
// a warp does together (ldmatrix, mma) is done when its 32 fibers have come to it. Copies land at
// the last moment they may: a cp.async when its thread waits for its group, a box of TMA when
// nobody can go on without it, one bound for C when its thread waits until it is read; so is what
// wgmma and tcgen05 multiply. The blocks of a cluster run at once.
// Shared memory starts as NaN, the operands end where an unreadable page begins, C and the
// workspace start as NaN and have NaN around them that nobody may touch. Warps and lanes run in
// rising and in falling order.
#include <sys/mman.h>
#include <unistd.h>

#include "cuda_on_cpu_attention.h"
#include "cuda_on_cpu_scaled.h"
#include "cuda_on_cpu_tensor.h"
#include "cuda_on_cpu_tma.h"
#include "cuda_on_cpu_warp.h"
#include "cuda_on_cpu_wgmma.h"

// ---- work lists ---------------------------------------------------------------------------------

// Each cluster claims one, the first of them the last one.
template <int cluster, bool indivisible>
void claim_list(unsigned long long *word, int, const int *, unsigned *, unsigned, int lists) {
  *word = (unsigned long long)(lists - 1 - blockIdx.x / cluster);
}
template <int cluster>
int claimed_list(const unsigned long long *word) {
  return (int)*(const unsigned long long *)in_block(0, (void *)word);
}

// ---- launching ----------------------------------------------------------------------------------

// The blocks of a cluster run at once: fiber rank * each + thread, each being whole warps.
struct Cluster {
  int blocks, threads, each, first_block;
};
static Cluster cluster;
static void (*kernel)();

static void run_fiber() {
  kernel();
  if (running->n_sent) fail("a box is on its way to C at the end");
  running->state = DONE;
  _longjmp(scheduler, 1);
}

static void start_fiber(int at) {
  Fiber *fiber = &fibers[at];
  fiber->state = at % cluster.each < cluster.threads ? RUNS : DONE;
  fiber->started = false;
  fiber->n_sent = fiber->n_bulk_groups = 0;
  fiber->n_copies = fiber->n_landed = fiber->n_groups = fiber->n_waited = 0;
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = stacks + (size_t)at * STACK_BYTES;
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
static int run_lanes(int first, bool falling) {
  int n_together = 0;
  for (int i = 0; i < 32; i++) {
    const int at = first + (falling ? 31 - i : i);
    running = &fibers[at];
    threadIdx.x = at % cluster.each;
    if (running->state == RUNS) resume();
    n_together += running->state == AT_WARP;
  }
  return n_together;
}

static void run_warp(int first, bool falling) {
  pool = pools[first / cluster.each];
  blockIdx.x = cluster.first_block + first / cluster.each;
  for (int n_together; (n_together = run_lanes(first, falling)) > 0;) {
    if (n_together != 32) fail("some lanes miss what their warp does together");
    for (int i = 1; i < 32; i++)
      if (warp_ops[first + i].run != warp_ops[first].run) fail("lanes do different things");
    warp_ops[first].run(&warp_ops[first]);
    for (int i = 0; i < 32; i++) fibers[first + i].state = RUNS;
  }
}

static int count(int first, int n, State state) {
  int found = 0;
  for (int i = first; i < first + n; i++) found += fibers[i].state == state;
  return found;
}

static int n_fibers() { return cluster.blocks * cluster.each; }

// Of one block: who waits at which barrier.
struct Waiting {
  bool all_meet, cluster_meets;
  int n_at[BLOCK_BARRIERS];
  int *passed;
};

static bool may_go_on(const Fiber *fiber, const Waiting *waiting) {
  if (fiber->state == AT_BARRIER) return waiting->all_meet;
  if (fiber->state == AT_CLUSTER) return waiting->cluster_meets;
  if (fiber->state == AT_BARRIER_OF_SOME)
    return waiting->n_at[fiber->barrier] + waiting->passed[fiber->barrier] == fiber->n_meet;
  return fiber->state == AT_MBARRIER && has_ended(fiber->bar, fiber->phase);
}

// Lets everybody of a block go on who may; how many do.
static int wake_block(int first, bool cluster_meets) {
  Waiting waiting = {count(first, cluster.each, AT_BARRIER) == cluster.threads,
                     cluster_meets,
                     {},
                     passed[(cluster.first_block + first / cluster.each) % RANKS]};
  bool met[BLOCK_BARRIERS] = {};
  int n = 0;
  for (int i = first; i < first + cluster.each; i++)
    if (fibers[i].state == AT_BARRIER_OF_SOME) waiting.n_at[fibers[i].barrier]++;
  for (int i = first; i < first + cluster.each; i++)
    if (may_go_on(&fibers[i], &waiting)) {
      met[fibers[i].barrier] |= fibers[i].state == AT_BARRIER_OF_SOME;
      fibers[i].state = RUNS;
      n++;
    }
  for (int id = 0; id < BLOCK_BARRIERS; id++)
    if (met[id]) waiting.passed[id] = 0;
  return n;
}

static int wake() {
  const bool meets = count(0, n_fibers(), AT_CLUSTER) == cluster.blocks * cluster.threads;
  int n = 0;
  for (int first = 0; first < n_fibers(); first += cluster.each) n += wake_block(first, meets);
  return n;
}

// What nobody goes on without: a box lands, or the tensor core multiplies, whichever may be later.
static bool end_one(bool falling) {
  return falling ? multiply_one() || land_one(falling) : land_one(falling) || multiply_one();
}

// False when all threads have returned.
static bool run_round(bool falling) {
  const int n_warps = n_fibers() / 32;
  for (int i = 0; i < n_warps; i++) run_warp(32 * (falling ? n_warps - 1 - i : i), falling);
  if (count(0, n_fibers(), DONE) == n_fibers()) return false;
  while (wake() == 0)
    if (!end_one(falling)) fail("some threads miss a barrier");
  return true;
}

static void check_end() {
  if (n_boxes) fail("a box is in flight at the end");
  for (int i = 0; i < n_fibers() / 32; i++)
    if (queues[i].n) fail("a product is in flight at the end");
  check_tensor_end();
}

// Of `smem_bytes` that the kernel says it has; what lies behind them stays as it is at first.
static void launch(void (*body)(), long long n_blocks, int n_threads, int n_together,
                   long long smem_bytes, bool falling) {
  cluster = Cluster{n_together, n_threads, (n_threads + 31) / 32 * 32, 0};
  if (n_threads > THREADS_MAX || n_together > CLUSTER_MAX) fail("too many threads");
  if (!fibers) fibers = (Fiber *)calloc(FIBERS_MAX, sizeof *fibers);
  if (!warp_ops) warp_ops = (WarpOp *)calloc(FIBERS_MAX, sizeof *warp_ops);
  if (!queues) queues = (ProductQueue *)calloc(FIBERS_MAX / 32, sizeof *queues);
  if (!tensor_loads) tensor_loads = (TensorLoads *)calloc(FIBERS_MAX, sizeof *tensor_loads);
  if (!stacks) stacks = (char *)malloc((size_t)FIBERS_MAX * STACK_BYTES);
  kernel = body;
  memset(pools, 0xff, (size_t)n_together * SMEM_BYTES);
  gridDim.x = (int)n_blocks;
  for (long long block = 0; block < n_blocks; block += n_together) {
    cluster.first_block = (int)block;
    for (int i = 0; i < n_together; i++) memset(pools[i], 0xff, (size_t)smem_bytes);
    memset(passed, 0, sizeof passed);
    memset(queues, 0, (size_t)(n_fibers() / 32) * sizeof *queues);
    for (int i = 0; i < n_fibers(); i++) start_fiber(i);
    while (run_round(falling)) continue;
    check_end();
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
  bool a_col, b_col;                                      // column-major
  long long workspace;                                    // bytes
  int most;                                               // of the operands' whole numbers
  void (*multiply)(void *const *operands, bool falling);  // A, B, C, P, or Q, K, V, O, S, P, L
  void (*run)(const Case *c, bool falling);
  int heads;  // 0: a matrix product; else attention, of which m, n, k are queries, keys, dimension
  bool causal;
  bool factor_tiles;  // factors lie in tiles of 128 rows and four along K
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

// The nearest number of 10 fraction bits, of two the one away from 0.
static inline float round_tf32(float x) {
  unsigned bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000u) & ~0x1fffu;
  memcpy(&x, &bits, sizeof x);
  return x;
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
  void *operands[] = {A, B, C, P};
  c->multiply(operands, falling);
  check_product(c, A, B, C);
  release(A, na * (int)sizeof(In));
  release(B, nb * (int)sizeof(In));
  release(C, nc * (int)sizeof(Out));
  release(P, c->workspace);
}

// Factors of so many rows, and where one of them is: cuBLAS, 128x4 scaling factor layout.
static long long factors_of(const Case *c, long long rows, long long blocks) {
  return c->factor_tiles ? (rows + 127) / 128 * ((blocks + 3) / 4) * 512 : rows * blocks;
}
static long long factor_place(const Case *c, long long blocks, long long row, long long at) {
  if (!c->factor_tiles) return row * blocks + at;
  const long long tile = row / 128 * ((blocks + 3) / 4) + at / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + at % 4;
}

// A row of A, and a column of B, element by element with its factors.
template <class In>
void check_scaled(const Case *c, const In *A, const In *B, const typename Scaled<In>::Factor *SFA,
                  const typename Scaled<In>::Factor *SFB, const float *C) {
  const int each = Scaled<In>::each, depth = c->k / each, blocks = c->k / Scaled<In>::block;
  const int a_row = c->a_col ? 1 : depth, a_next = c->a_col ? c->m : 1;
  const int b_column = c->b_col ? depth : 1, b_next = c->b_col ? 1 : c->n;
  for (int i = 0; i < c->m; i++)
    for (int j = 0; j < c->n; j++) {
      double sum = 0;
      for (int k = 0; k < c->k; k++)
        sum += Scaled<In>::element(A[i * a_row + k / each * a_next], k % each) *
               Scaled<In>::element(B[j * b_column + k / each * b_next], k % each) *
               (double)to_float(SFA[factor_place(c, blocks, i, k / Scaled<In>::block)]) *
               (double)to_float(SFB[factor_place(c, blocks, j, k / Scaled<In>::block)]);
      if ((double)C[i * c->n + j] == sum) continue;
      printf("%s: C[%d, %d] = %g, expected %g\n", case_name, i, j, (double)C[i * c->n + j], sum);
      exit(1);
    }
  for (int i = 1; i <= FENCE_BYTES; i++)
    if (((const unsigned char *)C)[-i] != 0xff) fail("something was written before C");
}

template <class In, class Out>
void run_scaled(const Case *c, bool falling) {
  typedef typename Scaled<In>::Factor Factor;
  case_name = c->name;
  const long long depth = c->k / Scaled<In>::each, blocks = c->k / Scaled<In>::block;
  const long long bytes[] = {c->m * depth, c->n * depth, (long long)c->m * c->n * 4,
                             factors_of(c, c->m, blocks), factors_of(c, c->n, blocks)};
  void *operands[5];
  for (int i = 0; i < 5; i++) operands[i] = operand(bytes[i]);
  In *A = (In *)operands[0], *B = (In *)operands[1];
  Factor *SFA = (Factor *)operands[3], *SFB = (Factor *)operands[4];
  fill_elements(A, bytes[0], 1);
  fill_elements(B, bytes[1], 2);
  fill_factors(SFA, bytes[3], 3);
  fill_factors(SFB, bytes[4], 4);
  c->multiply(operands, falling);
  check_scaled(c, A, B, SFA, SFB, (const float *)operands[2]);
  for (int i = 0; i < 5; i++) release(operands[i], bytes[i]);
}

template <class In, class Out>
void run_attention(const Case *c, bool falling) {
  case_name = c->name;
  const Heads h = {c->heads, c->m, c->n, c->k, c->causal};
  const long long queries = (long long)c->heads * c->m, keys = (long long)c->heads * c->n;
  const long long bytes[] = {queries * c->k * (int)sizeof(In),
                             keys * c->k * (int)sizeof(In),
                             keys * c->k * (int)sizeof(In),
                             queries * c->k * (int)sizeof(Out),
                             queries * c->n * 4,
                             queries * c->n * (int)sizeof(In),
                             queries * 4};
  void *operands[7];
  for (int i = 0; i < 7; i++) operands[i] = operand(bytes[i]);
  In *Q = (In *)operands[0], *K = (In *)operands[1], *V = (In *)operands[2];
  fill_attention(&h, Q, K, V);
  c->multiply(operands, falling);
  check_attention(&h, Q, K, V, (const Out *)operands[3]);
  for (int i = 1; i <= FENCE_BYTES; i++)
    if (((const unsigned char *)operands[3])[-i] != 0xff) fail("something was written before O");
  for (int i = 0; i < 7; i++) release(operands[i], bytes[i]);
}

// All of them, or the one that an argument says.
static int run_cases(const Case *cases, int n, int argc, char **argv) {
  int first = argc > 1 ? atoi(argv[1]) : 0, end = argc > 1 ? first + 1 : n;
  for (int i = first; i < end; i++) {
    cases[i].run(&cases[i], false);
    cases[i].run(&cases[i], true);
  }
  printf("%d texts compute C = A * B\n", end - first);
  return 0;
}
