// The algebra of CuTe's layouts over trees of leaves.
//
// Everything is reduced to leaves. Composition with a leaf s:d walks the coalesced leaves of `a`
// from the fastest: it steps over d elements of them, which must divide evenly, and then takes s.
// All else is composition by mode, the complement, and the order in which results are put together.
//
// Worked example, (6,2):(8,2) o (4,3):(3,1). Leaf 4:3 of the second: of 6 elements every third is
// taken, so 2 of them at stride 3 * 8 = 24; 4 / 2 = 2 are left, from the next leaf, 2:2. Leaf 3:1
// takes 3 of 6 at stride 8. Together ((2,2),3):((24,2),8).
#include "banks/layouts/cute.h"

#include <stdlib.h>

#include "base/whole.h"

static const char TOO_MANY[] = "a layout has 64 leaves or more";

// ---- numbers ------------------------------------------------------------------------------------

static void set_fault(CuteAlgebra *algebra, const char *fault) {
  if (!algebra->fault) algebra->fault = fault;
}

// Whole numbers that stop at CUTE_NUMBER_MAX, which is far above all that shared memory can hold.
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  bool over = __builtin_mul_overflow(a, b, &product);
  return over || product > CUTE_NUMBER_MAX ? CUTE_NUMBER_MAX : product;
}
static int64_t plus(int64_t a, int64_t b) { return min64(a + b, CUTE_NUMBER_MAX); }

static int64_t product_of(CuteAlgebra *algebra, int64_t a, int64_t b) {
  int64_t product = times(a, b);
  if (product == CUTE_NUMBER_MAX) set_fault(algebra, "a number is 2^40 or more");
  return product;
}

// ---- trees --------------------------------------------------------------------------------------

CuteLayout cute_leaf(int64_t shape, int64_t stride) {
  return (CuteLayout){.shape = shape, .stride = stride};
}

CuteLayout cute_tuple(CuteAlgebra *algebra, int rank, const CuteLayout *mode) {
  if (rank > CUTE_LEAVES_MAX) {
    set_fault(algebra, TOO_MANY);
    rank = CUTE_LEAVES_MAX;
  }
  CuteLayout *kept = ARENA_ARRAY(algebra->arena, CuteLayout, rank);
  for (int i = 0; i < rank; i++) kept[i] = mode[i];
  return (CuteLayout){.rank = rank, .mode = kept};
}

static CuteLayout pair_of(CuteAlgebra *algebra, CuteLayout a, CuteLayout b) {
  return cute_tuple(algebra, 2, (const CuteLayout[]){a, b});
}

static CuteLayout compact_from(CuteAlgebra *algebra, CuteLayout shape, bool right, int64_t *next) {
  if (shape.rank == 0) {
    const CuteLayout leaf = cute_leaf(shape.shape, *next);
    *next = product_of(algebra, *next, shape.shape);
    return leaf;
  }
  CuteLayout mode[CUTE_LEAVES_MAX];
  for (int i = 0; i < shape.rank; i++) {
    const int at = right ? shape.rank - 1 - i : i;
    mode[at] = compact_from(algebra, shape.mode[at], right, next);
  }
  return cute_tuple(algebra, shape.rank, mode);
}

CuteLayout cute_compact(CuteAlgebra *algebra, CuteLayout shape, bool right) {
  int64_t next = 1;
  return compact_from(algebra, shape, right, &next);
}

int cute_rank(const CuteLayout *layout) { return layout->rank ? layout->rank : 1; }

CuteLayout cute_mode(const CuteLayout *layout, int index) {
  return layout->rank ? layout->mode[index] : *layout;
}

int64_t cute_size(const CuteLayout *layout) {
  if (layout->rank == 0) return layout->shape;
  int64_t size = 1;
  for (int i = 0; i < layout->rank; i++) size = times(size, cute_size(&layout->mode[i]));
  return size;
}

int64_t cute_cosize(const CuteLayout *layout) {
  CuteLayout leaf[CUTE_LEAVES_MAX];
  int n = cute_leaves(layout, leaf);
  int64_t last = 0;
  for (int i = 0; i < n; i++) last = plus(last, times(leaf[i].shape - 1, leaf[i].stride));
  return plus(last, 1);
}

int64_t cute_offset(const CuteLayout *layout, int64_t coordinate) {
  if (layout->rank == 0) return times(coordinate, layout->stride);
  int64_t offset = 0;
  for (int i = 0; i < layout->rank; i++) {
    int64_t size = cute_size(&layout->mode[i]);
    bool last = i + 1 == layout->rank;
    offset = plus(offset, cute_offset(&layout->mode[i], last ? coordinate : coordinate % size));
    coordinate /= size;
  }
  return offset;
}

static void add_leaves(const CuteLayout *layout, CuteLayout *out, int *n) {
  if (layout->rank == 0 && *n < CUTE_LEAVES_MAX) out[(*n)++] = *layout;
  for (int i = 0; i < layout->rank; i++) add_leaves(&layout->mode[i], out, n);
}

int cute_leaves(const CuteLayout *layout, CuteLayout *out) {
  int n = 0;
  add_leaves(layout, out, &n);
  return n;
}

// ---- lists of leaves ----------------------------------------------------------------------------

typedef struct Leaves {
  int n;
  CuteLayout leaf[CUTE_LEAVES_MAX];
} Leaves;

static Leaves leaves_of(CuteAlgebra *algebra, const CuteLayout *layout) {
  Leaves out;
  out.n = cute_leaves(layout, out.leaf);
  if (out.n == CUTE_LEAVES_MAX) set_fault(algebra, TOO_MANY);
  return out;
}

static void push(CuteAlgebra *algebra, Leaves *leaves, int64_t shape, int64_t stride) {
  if (leaves->n == CUTE_LEAVES_MAX) {
    set_fault(algebra, TOO_MANY);
    return;
  }
  leaves->leaf[leaves->n++] = cute_leaf(shape, stride);
}

// A list of one is that leaf, as CuTe unwraps it.
static CuteLayout layout_of(CuteAlgebra *algebra, const Leaves *leaves) {
  return leaves->n == 1 ? leaves->leaf[0] : cute_tuple(algebra, leaves->n, leaves->leaf);
}

static Leaves coalesced(CuteAlgebra *algebra, const CuteLayout *layout) {
  Leaves in = leaves_of(algebra, layout), out = {.n = 1, .leaf = {cute_leaf(1, 0)}};
  for (int i = 0; i < in.n; i++) {
    CuteLayout *last = &out.leaf[out.n - 1], leaf = in.leaf[i];
    if (leaf.shape == 1) continue;
    if (last->shape == 1)
      *last = leaf;
    else if (times(last->shape, last->stride) == leaf.stride)
      last->shape = product_of(algebra, last->shape, leaf.shape);
    else
      push(algebra, &out, leaf.shape, leaf.stride);
  }
  return out;
}

CuteLayout cute_coalesce(CuteAlgebra *algebra, CuteLayout layout) {
  Leaves leaves = coalesced(algebra, &layout);
  return layout_of(algebra, &leaves);
}

// ---- composition --------------------------------------------------------------------------------

static CuteLayout compose_leaf(CuteAlgebra *algebra, const Leaves *a, CuteLayout b) {
  if (b.stride == 0) return b;
  Leaves out = {.n = 0};
  int64_t shape = b.shape, step = b.stride;
  for (int i = 0; i + 1 < a->n; i++) {
    CuteLayout leaf = a->leaf[i];
    if (leaf.shape % step != 0 && step % leaf.shape != 0)
      set_fault(algebra, arena_printf(algebra->arena,
                                      "a stride of %lld and a mode of %lld: neither divides the "
                                      "other",
                                      (long long)step, (long long)leaf.shape));
    int64_t taken = min64(max64(1, leaf.shape / step), shape);
    if (shape % taken != 0)
      set_fault(algebra,
                arena_printf(algebra->arena, "a shape of %lld is not a multiple of its mode's %lld",
                             (long long)shape, (long long)taken));
    if (taken != 1) push(algebra, &out, taken, product_of(algebra, step, leaf.stride));
    shape /= taken;
    step = ceil_div(step, leaf.shape);
  }
  if (shape != 1 || out.n == 0)
    push(algebra, &out, shape, product_of(algebra, step, a->leaf[a->n - 1].stride));
  return layout_of(algebra, &out);
}

static CuteLayout compose_tree(CuteAlgebra *algebra, const Leaves *a, const CuteLayout *b) {
  if (b->rank == 0) return compose_leaf(algebra, a, *b);
  CuteLayout mode[CUTE_LEAVES_MAX];
  for (int i = 0; i < b->rank; i++) mode[i] = compose_tree(algebra, a, &b->mode[i]);
  return cute_tuple(algebra, b->rank, mode);
}

CuteLayout cute_composition(CuteAlgebra *algebra, CuteLayout a, CuteLayout b) {
  Leaves leaves = coalesced(algebra, &a);
  return compose_tree(algebra, &leaves, &b);
}

// ---- complement and inverse ---------------------------------------------------------------------

typedef struct Placed {
  CuteLayout leaf;
  int64_t before;  // the product of the shapes to its left
} Placed;

static int by_stride(const void *left, const void *right) {
  const CuteLayout *a = &((const Placed *)left)->leaf, *b = &((const Placed *)right)->leaf;
  if (a->stride != b->stride) return a->stride < b->stride ? -1 : 1;
  return (a->shape > b->shape) - (a->shape < b->shape);
}

// Leaves by rising stride, without the leaves of one element.
static int sort_leaves(CuteAlgebra *algebra, const CuteLayout *layout,
                       Placed out[CUTE_LEAVES_MAX]) {
  Leaves leaves = leaves_of(algebra, layout);
  int64_t before = 1;
  int n = 0;
  for (int i = 0; i < leaves.n; i++) {
    if (leaves.leaf[i].shape != 1) out[n++] = (Placed){leaves.leaf[i], before};
    before = times(before, leaves.leaf[i].shape);
  }
  qsort(out, (size_t)n, sizeof *out, by_stride);
  return n;
}

CuteLayout cute_complement(CuteAlgebra *algebra, CuteLayout layout, int64_t size) {
  Placed sorted[CUTE_LEAVES_MAX];
  int n = sort_leaves(algebra, &layout, sorted);
  Leaves out = {.n = 0};
  int64_t reached = 1;
  for (int i = 0; i < n; i++) {
    CuteLayout leaf = sorted[i].leaf;
    if (leaf.stride == 0) continue;
    if (leaf.stride < reached) {
      set_fault(algebra, "a layout with two coordinates in one place has no complement");
      break;
    }
    push(algebra, &out, leaf.stride / reached, reached);
    reached = product_of(algebra, leaf.shape, leaf.stride);
  }
  push(algebra, &out, ceil_div(size, reached), reached);
  CuteLayout flat = layout_of(algebra, &out);
  return cute_coalesce(algebra, flat);
}

CuteLayout cute_right_inverse(CuteAlgebra *algebra, CuteLayout layout) {
  Placed sorted[CUTE_LEAVES_MAX];
  int n = sort_leaves(algebra, &layout, sorted);
  Leaves out = {.n = 1, .leaf = {cute_leaf(1, 0)}};
  int64_t reached = 1;
  for (int i = 0; i < n && sorted[i].leaf.stride == reached; i++) {
    push(algebra, &out, sorted[i].leaf.shape, sorted[i].before);
    reached = product_of(algebra, sorted[i].leaf.shape, reached);
  }
  CuteLayout flat = layout_of(algebra, &out);
  return cute_coalesce(algebra, flat);
}

// ---- by mode ------------------------------------------------------------------------------------

typedef CuteLayout CuteSplit(CuteAlgebra *algebra, CuteLayout a, CuteLayout b);

static CuteLayout divide(CuteAlgebra *algebra, CuteLayout a, CuteLayout b) {
  CuteLayout rest = cute_complement(algebra, b, cute_size(&a));
  return cute_composition(algebra, a, pair_of(algebra, b, rest));
}

static CuteLayout multiply(CuteAlgebra *algebra, CuteLayout a, CuteLayout b) {
  int64_t size = product_of(algebra, cute_size(&a), cute_cosize(&b));
  CuteLayout rest = cute_complement(algebra, a, size);
  return pair_of(algebra, a, cute_composition(algebra, rest, b));
}

// A tiler with more modes than `a` is a fault; modes of `a` without one stay as they are.
static bool has_modes(CuteAlgebra *algebra, const CuteLayout *a, const CuteTiler *b) {
  if (b->n <= cute_rank(a)) return true;
  set_fault(algebra, arena_printf(algebra->arena, "a tiler of %d modes on a layout of %d", b->n,
                                  cute_rank(a)));
  return false;
}

static CuteLayout split_by_mode(CuteAlgebra *algebra, CuteLayout a, CuteTiler b, CuteSplit *split) {
  if (b.n == 0) return split(algebra, a, b.mode[0]);
  if (!has_modes(algebra, &a, &b)) return a;
  CuteLayout mode[CUTE_LEAVES_MAX];
  for (int i = 0; i < cute_rank(&a); i++) {
    mode[i] = cute_mode(&a, i);
    if (i < b.n) mode[i] = split(algebra, mode[i], b.mode[i]);
  }
  return cute_tuple(algebra, cute_rank(&a), mode);
}

// The first parts of all modes together, then the second ones and the modes that were not split.
static CuteLayout zip(CuteAlgebra *algebra, CuteLayout a, CuteTiler b, CuteSplit *split) {
  if (b.n == 0) return split(algebra, a, b.mode[0]);
  if (!has_modes(algebra, &a, &b)) return pair_of(algebra, a, cute_leaf(1, 0));
  CuteLayout tile[CUTE_LEAVES_MAX], rest[CUTE_LEAVES_MAX];
  for (int i = 0; i < cute_rank(&a); i++) {
    rest[i] = cute_mode(&a, i);
    if (i >= b.n) continue;
    CuteLayout both = split(algebra, rest[i], b.mode[i]);
    tile[i] = cute_mode(&both, 0);
    rest[i] = cute_mode(&both, 1);
  }
  return pair_of(algebra, cute_tuple(algebra, b.n, tile), cute_tuple(algebra, cute_rank(&a), rest));
}

// ((tile),(rest…)) with the second mode's own modes beside the first; the first's too, if `flat`.
static CuteLayout unpack(CuteAlgebra *algebra, CuteLayout zipped, bool flat) {
  CuteLayout tile = cute_mode(&zipped, 0), rest = cute_mode(&zipped, 1);
  CuteLayout mode[2 * CUTE_LEAVES_MAX];
  int n = 0;
  for (int i = 0; i < (flat ? cute_rank(&tile) : 1); i++)
    mode[n++] = flat ? cute_mode(&tile, i) : tile;
  for (int i = 0; i < cute_rank(&rest); i++) mode[n++] = cute_mode(&rest, i);
  return cute_tuple(algebra, n, mode);
}

CuteLayout cute_compose_by_mode(CuteAlgebra *algebra, CuteLayout a, CuteTiler b) {
  return split_by_mode(algebra, a, b, cute_composition);
}
CuteLayout cute_logical_divide(CuteAlgebra *algebra, CuteLayout a, CuteTiler b) {
  return split_by_mode(algebra, a, b, divide);
}
CuteLayout cute_zipped_divide(CuteAlgebra *algebra, CuteLayout a, CuteTiler b) {
  return zip(algebra, a, b, divide);
}
CuteLayout cute_tiled_divide(CuteAlgebra *algebra, CuteLayout a, CuteTiler b) {
  return unpack(algebra, zip(algebra, a, b, divide), false);
}
CuteLayout cute_flat_divide(CuteAlgebra *algebra, CuteLayout a, CuteTiler b) {
  return unpack(algebra, zip(algebra, a, b, divide), true);
}
CuteLayout cute_logical_product(CuteAlgebra *algebra, CuteLayout a, CuteTiler b) {
  return split_by_mode(algebra, a, b, multiply);
}
CuteLayout cute_zipped_product(CuteAlgebra *algebra, CuteLayout a, CuteTiler b) {
  return zip(algebra, a, b, multiply);
}
CuteLayout cute_tiled_product(CuteAlgebra *algebra, CuteLayout a, CuteTiler b) {
  return unpack(algebra, zip(algebra, a, b, multiply), false);
}

// ---- printing -----------------------------------------------------------------------------------

static void print_half(Str *out, const CuteLayout *layout, bool stride) {
  if (layout->rank == 0) {
    str_printf(out, "_%lld", (long long)(stride ? layout->stride : layout->shape));
    return;
  }
  for (int i = 0; i < layout->rank; i++) {
    str_add_char(out, i == 0 ? '(' : ',');
    print_half(out, &layout->mode[i], stride);
  }
  str_add_char(out, ')');
}

void cute_print(Str *out, const CuteLayout *layout) {
  print_half(out, layout, false);
  str_add_char(out, ':');
  print_half(out, layout, true);
}
