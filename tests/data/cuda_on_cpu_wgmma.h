// wgmma: what a warpgroup multiplies in the background, found by descriptors; see cuda_on_cpu.h.
//
// Each warp does its quarter, 16 rows of A and all of B, when it waits for the group: not before,
// so that sums which are read too early are old, and slabs that were given away are others.
#pragma once
#include "cuda_on_cpu_warp.h"

// ---- descriptors --------------------------------------------------------------------------------

// PTX ISA, Matrix descriptor: address, leading and stride dimension offsets in units of 16 bytes in
// bits 0, 16 and 32, the base offset in bits 49 to 51, the swizzle in bits 62 and 63.
struct Descriptor {
  unsigned start, leading, stride;
  int swizzle;  // chunk bits that are xored: 0 to 3
};

static Descriptor descriptor_of(unsigned long long bits) {
  static const int chunk_bits[] = {0, 3, 2, 1};  // none, 128, 64, 32 bytes
  if (bits >> 49 & 7) fail("a descriptor has a base offset");
  return Descriptor{(unsigned)(bits & 0x3fff) << 4, (unsigned)(bits >> 16 & 0x3fff) << 4,
                    (unsigned)(bits >> 32 & 0x3fff) << 4, chunk_bits[bits >> 62]};
}

// PTX ISA, Shared memory matrix layout, and Strides. A tile is made of core matrices of 8 rows of
// 16 bytes, 8 rows of a swizzled panel being as many of them side by side. Where K runs fastest,
// rows are those of M or N: stride leads to the next 8 of them, leading to the next 16 bytes of K
// where nothing is swizzled (a swizzled panel has them all). Where M or N runs fastest, rows are
// those of K: leading leads to the next panel of M or N and stride to the next 8 of K, the other
// way round where nothing is swizzled.
static const void *element_at(const Descriptor *tile, bool turned, int across, int k, int bytes) {
  const unsigned panel = 16u << tile->swizzle;
  const unsigned along = (unsigned)((turned ? across : k) * bytes);
  const unsigned row = (unsigned)(turned ? k : across);
  unsigned next_panel = tile->leading, next_rows = tile->stride;
  if (turned && tile->swizzle == 0) next_panel = tile->stride, next_rows = tile->leading;
  if (!turned && tile->swizzle) next_panel = 0;
  unsigned at = tile->start + row / 8 * next_rows + row % 8 * panel;
  if (turned || !tile->swizzle)
    at += along / panel * next_panel + along % panel;
  else
    at += along;
  at ^= (at >> 7 & ((1u << tile->swizzle) - 1)) << 4;
  if (at + (unsigned)bytes > SMEM_BYTES) fail("a descriptor leads out of shared memory");
  return pool + at;
}

template <class T>
unsigned long long tile_of(const T *slab, int at, unsigned long long shape) {
  const long long from = (const unsigned char *)(slab + at) - pool;
  if (from < 0 || from % 16) fail("a tile begins at no 16 bytes of shared memory");
  return shape | (unsigned long long)(from & 0x3ffff) >> 4;
}

// ---- in the background --------------------------------------------------------------------------

struct Product;
struct ProductShape {
  void (*run)(const Product *product);
  unsigned long long a, b;  // descriptors; that of A is 0 where lanes have fragments of it
  bool a_turned, b_turned;  // M or N runs fastest, not K
  bool keep;
};

struct Product {
  ProductShape shape;
  void *sums[32];
  const void *fragment[32];  // of A; NULL: there are none
  int group;
};

// Of a warp.
enum { PRODUCTS_MAX = 256 };
struct ProductQueue {
  int n, committed;
  Product product[PRODUCTS_MAX];
};
static ProductQueue *queues;

static ProductQueue *own_queue() { return &queues[(running - fibers) / 32]; }

// Rows 16 w … 16 w + 15 of the sums are those of warp w of four; a fragment of A is that of mma.
template <class T, int K>
void read_a(const Product *product, double a[16][K]) {
  const int warp = threadIdx.x / 32 % 4, p = sizeof(T) < 4 ? 4 / (int)sizeof(T) : 1;
  const Descriptor tile = descriptor_of(product->shape.a);
  const bool turned = product->shape.a_turned;
  for (int row = 0; row < 16 && !product->fragment[0]; row++)
    for (int k = 0; k < K; k++)
      a[row][k] = (double)to_float(
          *(const T *)element_at(&tile, turned, 16 * warp + row, k, (int)sizeof(T)));
  for (int lane = 0; lane < 32 && product->fragment[0]; lane++)
    for (int i = 0; i < 16 * K / 32; i++) {
      const int r = i / p, row = lane / 4 + 8 * (r % 2);
      a[row][lane % 4 * p + i % p + 4 * p * (r / 2)] =
          (double)to_float(extract<T>(product->fragment[lane], i));
    }
}

template <int N, int K, class Sum, class T>
void run_product(const Product *product) {
  static double a[16][K], b[N][K];
  const Descriptor tile = descriptor_of(product->shape.b);
  const bool turned = product->shape.b_turned;
  read_a<T, K>(product, a);
  for (int n = 0; n < N; n++)
    for (int k = 0; k < K; k++)
      b[n][k] = (double)to_float(*(const T *)element_at(&tile, turned, n, k, (int)sizeof(T)));
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < N / 2; i++) {
      const int row = lane / 4 + 8 * (i / 2 % 2), col = i / 4 * 8 + lane % 4 * 2 + i % 2;
      double sum = product->shape.keep ? (double)to_float(extract<Sum>(product->sums[lane], i)) : 0;
      for (int k = 0; k < K; k++) sum += a[row][k] * b[col][k];
      put_sum<Sum>(product->sums[lane], i, sum);
    }
}

struct ProductOp {
  ProductShape shape;
  void *sums;
  const void *fragment;
};

static void take(WarpOp *lanes) {
  ProductQueue *queue = own_queue();
  const ProductShape *first = &((const ProductOp *)lanes[0].from[0])->shape;
  if (queue->n == PRODUCTS_MAX) fail("too many products in flight");
  Product *product = &queue->product[queue->n++];
  product->shape = *first;
  product->group = queue->committed;
  for (int lane = 0; lane < 32; lane++) {
    const ProductOp *own = (const ProductOp *)lanes[lane].from[0];
    if (own->shape.a != first->a || own->shape.b != first->b || own->shape.keep != first->keep)
      fail("lanes have different descriptors");
    product->sums[lane] = own->sums;
    product->fragment[lane] = own->fragment;
  }
}

static void ask(ProductOp op) { do_together(WarpOp{take, nullptr, {&op, nullptr}}); }

#define WGMMA(NAME, N, K, Sum, T)                                                                 \
  template <int a_turned = 0, int b_turned = 0>                                                   \
  void NAME(void *c, unsigned long long a, unsigned long long b, int keep) {                      \
    ask(ProductOp{{run_product<N, K, Sum, T>, a, b, a_turned, b_turned, keep != 0}, c, nullptr}); \
  }                                                                                               \
  template <int b_turned = 0>                                                                     \
  void NAME##_rs(void *c, const void *a, unsigned long long b, int keep) {                        \
    ask(ProductOp{{run_product<N, K, Sum, T>, 0, b, false, b_turned, keep != 0}, c, a});          \
  }

static void run_commit(WarpOp *) { own_queue()->committed++; }

template <int n>
void run_wait(WarpOp *) {
  ProductQueue *queue = own_queue();
  int kept = 0;
  for (int i = 0; i < queue->n; i++) {
    const Product product = queue->product[i];
    if (product.group < queue->committed - n)
      product.shape.run(&product);
    else
      queue->product[kept++] = product;
  }
  queue->n = kept;
}

static void wgmma_fence() { __syncwarp(); }
static void wgmma_commit() { do_together(WarpOp{run_commit, nullptr, {nullptr, nullptr}}); }
template <int n>
void wgmma_wait() {
  do_together(WarpOp{run_wait<n>, nullptr, {nullptr, nullptr}});
}
