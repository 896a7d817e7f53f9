// tcgen05: what one thread asks the tensor core for, and tensor memory; see cuda_on_cpu.h.
//
// Products and the commits behind them are done first come, first served, when nobody can go on
// without them: sums that are read too early are old, and slabs that were given away are others. A
// tcgen05.ld reads when its thread waits for it. An allocation ends where tensor memory does, so
// that a column beyond it is not there.
#pragma once
#include "cuda_on_cpu_scaled.h"
#include "cuda_on_cpu_wgmma.h"

enum { TENSOR_LANES = 128, TENSOR_COLUMNS = 512, WORK_MAX = 1 << 14, LOADS_MAX = 64 };

struct TensorMemory {
  int columns;  // allocated; 0: none
  unsigned bits[TENSOR_LANES][TENSOR_COLUMNS];
};
static TensorMemory tensor_memory[CLUSTER_MAX];

static int own_rank() { return (int)((pool - pools[0]) / SMEM_BYTES); }

static void check_columns(int rank, int first, int n) {
  const int columns = tensor_memory[rank].columns;
  if (first < TENSOR_COLUMNS - columns || first + n > TENSOR_COLUMNS)
    fail("columns of tensor memory that nobody has allocated");
}

// Each lane of the warp does the same.
template <int n>
void tensor_alloc(unsigned long long *base) {
  TensorMemory *own = &tensor_memory[own_rank()];
  if (own->columns == 0) memset(own->bits, 0xff, sizeof own->bits);
  own->columns = n;
  *base = TENSOR_COLUMNS - n;
}
template <int n>
void tensor_free(unsigned begin) {
  if (begin != TENSOR_COLUMNS - n) fail("other columns are given back than were allocated");
  tensor_memory[own_rank()].columns = 0;
}
template <int n>
void tensor_alloc_pair(unsigned long long *base) {
  tensor_alloc<n>(base);
}
template <int n>
void tensor_free_pair(unsigned begin) {
  tensor_free<n>(begin);
}

static unsigned tensor_at(unsigned begin, int lane, int column) {
  return begin + ((unsigned)lane / 32 << 21) + (unsigned)column;
}

// ---- moving -------------------------------------------------------------------------------------

struct TensorLoad {
  float *to;
  unsigned at;
  int n;
};
struct TensorLoads {
  int n;
  TensorLoad load[LOADS_MAX];
};
static TensorLoads *tensor_loads;  // of each fiber

static void load_columns(float *to, unsigned at, int n) {
  TensorLoads *own = &tensor_loads[running - fibers];
  if ((int)(at >> 16) != threadIdx.x / 32 % 4 * 32) fail("a warp reads another's quarter");
  if (own->n == LOADS_MAX) fail("too many tcgen05.ld in flight");
  own->load[own->n++] = TensorLoad{to, at, n};
}
#define TCGEN05_LD(N) \
  static void tcgen05_ld_x##N(float *to, unsigned at) { load_columns(to, at, N); }
TCGEN05_LD(1)
TCGEN05_LD(2)
TCGEN05_LD(4)
TCGEN05_LD(8)
TCGEN05_LD(16)
TCGEN05_LD(32)
TCGEN05_LD(64)
TCGEN05_LD(128)

static void tcgen05_wait_ld() {
  TensorLoads *own = &tensor_loads[running - fibers];
  const int rank = own_rank();
  for (int i = 0; i < own->n; i++) {
    const TensorLoad *load = &own->load[i];
    const int lane = (int)(load->at >> 16) + threadIdx.x % 32, first = (int)(load->at & 0xffff);
    check_columns(rank, first, load->n);
    memcpy(load->to, &tensor_memory[rank].bits[lane][first], (size_t)load->n * sizeof(float));
  }
  own->n = 0;
}
static void tcgen05_before() {}
static void tcgen05_after() {}

// ---- products -----------------------------------------------------------------------------------

struct TensorWork {
  void (*product)(const TensorWork *work);  // NULL: a commit
  int rank, group;                          // whose it is, and CTAs that do it
  unsigned d, idesc;
  unsigned long long a, b;
  bool keep;
  Mbarrier *bar;  // of the first block
  int mask;
  unsigned sfa, sfb;  // where factors begin
};
static TensorWork work_queue[WORK_MAX];
static int first_work, n_work;  // a ring

// PTX ISA, Matrix descriptor of tcgen05: as wgmma's, but for bits 46 to 48, which are 1, and the
// swizzle in bits 61 to 63.
static Descriptor tensor_descriptor(unsigned long long bits) {
  static const int chunk_bits[] = {0, -1, 3, -1, 2, -1, 1, -1};
  const int swizzle = chunk_bits[bits >> 61];
  if ((bits >> 46 & 7) != 1 || swizzle < 0) fail("no descriptor of tcgen05");
  Descriptor out = descriptor_of(bits & 0x3fffffffffffull);
  out.swizzle = swizzle;
  return out;
}

template <class T>
void read_tile(unsigned long long bits, bool turned, int rows, int depth, double *out) {
  const Descriptor tile = tensor_descriptor(bits);
  for (int row = 0; row < rows; row++)
    for (int k = 0; k < depth; k++)
      *out++ = (double)to_float(*(const T *)element_at(&tile, turned, row, k, (int)sizeof(T)));
}

// Of the block at hand, 128 rows; `b` has all columns.
template <int depth>
void add_to_sums(const TensorWork *work, const double *a, const double *b, int n) {
  const int first = (int)(work->d & 0xffff);
  TensorMemory *own = &tensor_memory[own_rank()];
  check_columns(own_rank(), first, n);
  for (int row = 0; row < TENSOR_LANES; row++)
    for (int column = 0; column < n; column++) {
      float sum;
      memcpy(&sum, &own->bits[row][first + column], sizeof sum);
      double all = work->keep ? (double)sum : 0;
      for (int k = 0; k < depth; k++) all += a[row * depth + k] * b[column * depth + k];
      sum = (float)all;
      memcpy(&own->bits[row][first + column], &sum, sizeof sum);
    }
}

// PTX ISA, Instruction descriptor: which operands are turned in bits 15 and 16, N / 8 from bit 17
// on, M / 16 from bit 24 on.
template <class T>
void multiply(const TensorWork *work) {
  enum { DEPTH = 32 / (int)sizeof(T) };
  static double a[TENSOR_LANES * DEPTH], b[256 * DEPTH];
  const int n = (int)(work->idesc >> 17 & 63) * 8, m = (int)(work->idesc >> 24 & 31) * 16;
  const bool a_turned = work->idesc >> 15 & 1, b_turned = work->idesc >> 16 & 1;
  const int part = n / work->group;
  if (m != TENSOR_LANES * work->group) fail("M is another than the rows of so many CTAs");
  unsigned char *const before = pool;
  for (int i = 0; i < work->group; i++) {
    pool = pools[work->rank + i];
    read_tile<T>(work->b, b_turned, part, DEPTH, b + i * part * DEPTH);
  }
  for (int i = 0; i < work->group; i++) {
    pool = pools[work->rank + i];
    read_tile<T>(work->a, a_turned, TENSOR_LANES, DEPTH, a);
    add_to_sums<DEPTH>(work, a, b, n);
  }
  pool = before;
}

static void take_work(TensorWork work) {
  if (n_work == WORK_MAX) fail("too many products in flight");
  if (work.group == 2 && work.rank % 2) fail("the odd CTA of a pair asks");
  work_queue[(first_work + n_work++) % WORK_MAX] = work;
}

// Types of A: f16 and bf16, e4m3 and e5m2 by bits 7 to 9.
static void ask_tensor(unsigned d, unsigned long long a, unsigned long long b, unsigned idesc,
                       int keep, int group, void (*first)(const TensorWork *),
                       void (*second)(const TensorWork *)) {
  const unsigned type = idesc >> 7 & 7;
  if (type != (idesc >> 10 & 7)) fail("A and B are of two types");
  take_work(TensorWork{type == 1 ? second : first, own_rank(), group, d, idesc, a, b, keep != 0,
                       nullptr, 0, 0, 0});
}
#define TCGEN05_MMA(KIND, First, Second)                                                      \
  static void tcgen05_mma_##KIND(unsigned d, unsigned long long a, unsigned long long b,      \
                                 unsigned idesc, int keep) {                                  \
    ask_tensor(d, a, b, idesc, keep, 1, multiply<First>, multiply<Second>);                   \
  }                                                                                           \
  static void tcgen05_mma_pair_##KIND(unsigned d, unsigned long long a, unsigned long long b, \
                                      unsigned idesc, int keep) {                             \
    ask_tensor(d, a, b, idesc, keep, 2, multiply<First>, multiply<Second>);                   \
  }
TCGEN05_MMA(f16, f16, bf16)
TCGEN05_MMA(tf32, float, float)
TCGEN05_MMA(f8f6f4, e4m3, e5m2)

static void commit(unsigned long long *bars, int i, int mask, int group) {
  Mbarrier *first = mbarrier((unsigned long long *)in_block(0, bars), i);
  take_work(TensorWork{nullptr, own_rank(), group, 0, 0, 0, 0, false, first, mask, 0, 0});
}
static void tcgen05_commit(unsigned long long *bars, int i) { commit(bars, i, 1 << own_rank(), 1); }
static void tcgen05_commit_to(unsigned long long *bars, int i, int mask) {
  commit(bars, i, mask, 1);
}
static void tcgen05_commit_pair(unsigned long long *bars, int i, int mask) {
  commit(bars, i, mask, 2);
}

static void arrive_at(const TensorWork *work) {
  for (int rank = 0; work->mask >> rank; rank++)
    if (work->mask >> rank & 1) {
      Mbarrier *bar = (Mbarrier *)((unsigned char *)work->bar + (pools[rank] - pools[0]));
      bar->pending--;
      end_phase(bar);
    }
}

// What was asked for first; false where nothing was.
static bool multiply_one() {
  if (n_work == 0) return false;
  const TensorWork work = work_queue[first_work];
  first_work = (first_work + 1) % WORK_MAX;
  n_work--;
  if (work.product)
    work.product(&work);
  else
    arrive_at(&work);
  return true;
}

// ---- factors ------------------------------------------------------------------------------------

// PTX ISA, tcgen05.cp .32x128b.warpx4: 32 rows of 16 bytes, four columns, four times.
static void copy_tile(const TensorWork *work) {
  const Descriptor tile = tensor_descriptor(work->a);
  const int first = (int)(work->d & 0xffff);
  unsigned char *const before = pool;
  for (int i = 0; i < work->group; i++) {
    pool = pools[work->rank + i];
    check_columns(own_rank(), first, 4);
    for (int lane = 0; lane < TENSOR_LANES; lane++)
      for (int byte = 0; byte < 16; byte++)
        ((unsigned char *)&tensor_memory[own_rank()].bits[lane][first])[byte] =
            *(const unsigned char *)element_at(&tile, false, lane % 32, byte, 1);
  }
  pool = before;
}
static void ask_copy(unsigned to, unsigned long long from, int group) {
  take_work(TensorWork{copy_tile, own_rank(), group, to, 0, from, 0, false, nullptr, 0, 0, 0});
}
static void tcgen05_cp(unsigned to, unsigned long long from) { ask_copy(to, from, 1); }
static void tcgen05_cp_pair(unsigned to, unsigned long long from) { ask_copy(to, from, 2); }

// The s-th factor of row r: in the lanes of a quarter, 32 rows to a column, from byte `id` on.
template <class T>
double factor_of(int quarter, unsigned first, unsigned id, int row, int s) {
  typedef typename Scaled<T>::Factor Factor;
  const int column = (int)(first & 0xffff) + row / 32;
  check_columns(own_rank(), column, 1);
  const unsigned word = tensor_memory[own_rank()].bits[32 * quarter + row % 32][column];
  return (double)to_float(extract<Factor>(&word, (int)id + s));
}

// PTX ISA, Instruction descriptor of the block-scaled kinds: the ID of B's factors in bits 4 and 5,
// N / 8 from bit 17 on, the factors' type in bit 23, M / 128 in bits 27 and 28, the ID of A's in 29
// and 30. 32 bytes of a row along K.
template <class T>
void multiply_scaled(const TensorWork *work) {
  enum { BYTES = 32, EACH = Scaled<T>::each, SCALES = BYTES * EACH / Scaled<T>::block };
  static T a[TENSOR_LANES][BYTES], b[256][BYTES];
  const int n = (int)(work->idesc >> 17 & 63) * 8, part = n / work->group;
  const unsigned id_a = work->idesc >> 29 & 3, id_b = work->idesc >> 4 & 3;
  if ((int)(work->idesc >> 27 & 3) != work->group) fail("M is another than the rows of the CTAs");
  if ((work->idesc >> 23 & 1) != (Scaled<T>::block == 32 ? 1u : 0u))
    fail("factors are of another type");
  if (id_a % SCALES || id_b % SCALES) fail("no ID of so many factors");
  unsigned char *const before = pool;
  for (int i = 0; i < work->group; i++) {
    pool = pools[work->rank + i];
    const Descriptor tile = tensor_descriptor(work->b);
    for (int row = 0; row < part; row++)
      for (int k = 0; k < BYTES; k++)
        b[i * part + row][k] = *(const T *)element_at(&tile, false, row, k, 1);
  }
  for (int i = 0; i < work->group; i++) {
    pool = pools[work->rank + i];
    const Descriptor tile = tensor_descriptor(work->a);
    const int first = (int)(work->d & 0xffff);
    check_columns(own_rank(), first, n);
    for (int row = 0; row < TENSOR_LANES; row++) {
      for (int k = 0; k < BYTES; k++) a[row][k] = *(const T *)element_at(&tile, false, row, k, 1);
      for (int column = 0; column < n; column++) {
        float sum;
        unsigned *at = &tensor_memory[own_rank()].bits[row][first + column];
        memcpy(&sum, at, sizeof sum);
        double all = work->keep ? (double)sum : 0;
        for (int s = 0; s < SCALES; s++) {
          double of_block = 0;
          for (int k = s * BYTES / SCALES; k < (s + 1) * BYTES / SCALES; k++)
            for (int e = 0; e < EACH; e++)
              of_block += Scaled<T>::element(a[row][k], e) * Scaled<T>::element(b[column][k], e);
          all += of_block * factor_of<T>(row / 32, work->sfa, id_a, row, s) *
                 factor_of<T>(row / 32, work->sfb, id_b, column, s);
        }
        sum = (float)all;
        memcpy(at, &sum, sizeof sum);
      }
    }
  }
  pool = before;
}

#define TCGEN05_SCALED(NAME, GROUP, First, Second)                                              \
  static void NAME(unsigned d, unsigned long long a, unsigned long long b, unsigned idesc,      \
                   unsigned sfa, unsigned sfb, int keep) {                                      \
    const bool second = (idesc >> 7 & 7) == 1;                                                  \
    take_work(TensorWork{second ? multiply_scaled<Second> : multiply_scaled<First>, own_rank(), \
                         GROUP, d, idesc, a, b, keep != 0, nullptr, 0, sfa, sfb});              \
  }
TCGEN05_SCALED(tcgen05_mma_mxf8f6f4, 1, mxf8, mxf8e5m2)
TCGEN05_SCALED(tcgen05_mma_pair_mxf8f6f4, 2, mxf8, mxf8e5m2)
TCGEN05_SCALED(tcgen05_mma_mxf4, 1, mxf4, mxf4)
TCGEN05_SCALED(tcgen05_mma_pair_mxf4, 2, mxf4, mxf4)
TCGEN05_SCALED(tcgen05_mma_mxf4nvf4, 1, nvfp4, nvfp4)
TCGEN05_SCALED(tcgen05_mma_pair_mxf4nvf4, 2, nvfp4, nvfp4)

// ---- boxes of a pair ----------------------------------------------------------------------------

// They count at the even CTA.
template <class T>
void tma_pair(T *slab, int at, const tensor_map *map, int column, int row, unsigned long long *bars,
              int i) {
  tma_load(slab, at, map, column, row, (unsigned long long *)in_block(own_rank() & ~1, bars), i);
}
template <class T>
void tma_pair(T *slab, int at, const tensor_map *map, int column, int row, int matrix,
              unsigned long long *bars, int i) {
  tma_load(slab, at, map, column, row, matrix,
           (unsigned long long *)in_block(own_rank() & ~1, bars), i);
}

static void check_tensor_end() {
  if (n_work) fail("a product is in flight at the end");
  for (int rank = 0; rank < CLUSTER_MAX; rank++)
    if (tensor_memory[rank].columns) fail("tensor memory is allocated at the end");
}
