// An encoding counts bits along dimensions: what registers, lanes, warps and blocks do, each after
// the other, fastest first.
//
// Every encoding is so: a tile of one block is counted; where the tensor is larger registers go on
// counting, where it is smaller the highest bits repeat; then blocks count. The order in which
// registers go on is the order of the encoding. (Triton's TritonGPUAttrDefs.td describes each;
// tests/data/triton_layouts.tsv has what Triton 3.9 makes of some hundred.)
//
// Worked example, the sums of nvidia_mma version 2 with instrShape [16, 8]: two registers along a
// row, four lanes along it, eight lanes down, two registers down; and warps.
#include "banks/registers/register_triton.h"

#include <string.h>

#include "base/whole.h"

enum { TMEM_LANES = 128, SCALE_ROWS = 32, SCALE_COLS = 4, MMA_LANES_ALONG = 4, MMA_ROWS = 8 };

typedef struct Ints {
  int n;
  int at[TENSOR_DIMS_MAX];
} Ints;

// A reading: the question, and the findings so far.
typedef struct Reading {
  Arena *arena;
  Diags *diags;
  const char *text;
  RegisterBits bits;
  Ints order;  // in which registers go on beyond the tile, fastest first
} Reading;

typedef bool Build(Reading *reading, const Attr *attr, const Ints *shape);

static bool refuse(Reading *reading, const char *sentence) {
  diag_add(reading->diags, "layout", "%s: %s", str_sanitise(reading->arena, reading->text),
           sentence);
  return false;
}

// ---- members ------------------------------------------------------------------------------------

static bool missing(Reading *reading, const Attr *attr, const char *key) {
  return refuse(reading, arena_printf(reading->arena, "%s has no %s", attr->name, key));
}

static bool get_int(Reading *reading, const Attr *attr, const char *key, const char *other,
                    int place, int *out) {
  const Attr *item = attr_find(attr, key, other, place);
  if (!item) return missing(reading, attr, key);
  if (item->kind != ATTR_NUMBER || item->number < 0 || item->number > 1 << 20)
    return refuse(reading, arena_printf(reading->arena, "%s is not a number up to 2^20", key));
  *out = (int)item->number;
  return true;
}

static bool list_ints(Reading *reading, const Attr *list, const char *key, Ints *out) {
  *out = (Ints){0};
  if (list->kind != ATTR_LIST || list->n > TENSOR_DIMS_MAX)
    return refuse(reading, arena_printf(reading->arena,
                                        "%s is not a list of up to 5 "
                                        "numbers",
                                        key));
  for (int i = 0; i < list->n; i++) {
    const Attr *item = &list->item[i];
    if (item->kind != ATTR_NUMBER || item->number < 0 || item->number > 1 << 20)
      return refuse(reading, arena_printf(reading->arena, "%s is not a list of numbers", key));
    out->at[out->n++] = (int)item->number;
  }
  return true;
}

static bool get_ints(Reading *reading, const Attr *attr, const char *key, const char *other,
                     int place, Ints *out) {
  const Attr *item = attr_find(attr, key, other, place);
  return item ? list_ints(reading, item, key, out) : missing(reading, attr, key);
}

static bool has_rank(Reading *reading, const Ints *list, const char *key, int rank) {
  return list->n == rank ||
         refuse(reading,
                arena_printf(reading->arena, "%s has %d numbers and the tensor %d dimensions", key,
                             list->n, rank));
}

// Counts of threads and the like: a power of two for each dimension.
static bool get_powers(Reading *reading, const Attr *attr, const char *key, const char *other,
                       int place, int rank, Ints *out) {
  if (!get_ints(reading, attr, key, other, place, out) || !has_rank(reading, out, key, rank))
    return false;
  for (int i = 0; i < rank; i++)
    if (!is_power_of_two(out->at[i]))
      return refuse(reading,
                    arena_printf(reading->arena, "%s: %d is not a power of two", key, out->at[i]));
  return true;
}

static bool check_order(Reading *reading, const Ints *order, const char *key) {
  unsigned seen = 0;
  for (int i = 0; i < order->n; i++)
    if (order->at[i] < order->n) seen |= 1u << order->at[i];
  return seen == (1u << order->n) - 1 ||
         refuse(reading, arena_printf(reading->arena, "%s does not name each dimension once", key));
}

static bool get_bool(const Attr *attr, const char *key, const char *other, int place) {
  const Attr *item = attr_find(attr, key, other, place);
  return item && item->kind == ATTR_WORD && str_equal_fold(item->name, "true");
}

// ---- counting -----------------------------------------------------------------------------------

static void count_all(RegisterBits *bits, Holder holder, const Ints *sizes, const Ints *order) {
  for (int i = 0; i < order->n; i++)
    register_bits_count(bits, holder, log2_up(sizes->at[order->at[i]]), order->at[i]);
}

// The same where threads along `dim` hold the same elements.
static void count_but(RegisterBits *bits, Holder holder, const Ints *sizes, const Ints *order,
                      int dim) {
  for (int i = 0; i < order->n; i++) {
    const int at = order->at[i], n = log2_up(sizes->at[at]);
    at == dim ? register_bits_repeat(bits, holder, n) : register_bits_count(bits, holder, n, at);
  }
}

// The last dimension first, or the last two changed round.
static Ints matrix_order(int rank, bool row_major) {
  Ints out = {.n = rank};
  for (int i = 0; i < rank; i++) out.at[i] = rank - 1 - i;
  if (!row_major && rank > 1) {
    out.at[0] = rank - 2;
    out.at[1] = rank - 1;
  }
  return out;
}

// ---- blocks of a cluster ------------------------------------------------------------------------

// Blocks as bits of their own, over tiles.
static bool read_bases(Reading *reading, const Attr *list, const char *key, Holder holder,
                       RegisterBits *out) {
  if (list->kind != ATTR_LIST || list->n > HOLDER_BITS_MAX)
    return refuse(reading, arena_printf(reading->arena, "%s is not a list of bases", key));
  for (int i = 0; i < list->n; i++) {
    Ints basis;
    if (!list_ints(reading, &list->item[i], key, &basis) ||
        !has_rank(reading, &basis, "a basis", out->rank))
      return false;
    register_bits_add(out, holder, basis.at);
  }
  return true;
}

// CTAsPerCGA, CTASplitNum and CTAOrder, as Triton wrote it until 3.5.
static bool read_split(Reading *reading, const Attr *attr, const Attr *per, RegisterBits *out) {
  Ints ctas, split, order;
  const int rank = out->rank;
  if (!list_ints(reading, per, "CTAsPerCGA", &ctas) ||
      !get_powers(reading, attr, "CTAsPerCGA", "ctas_per_cga", -1, rank, &ctas) ||
      !get_powers(reading, attr, "CTASplitNum", "cta_split_num", -1, rank, &split) ||
      !get_ints(reading, attr, "CTAOrder", "cta_order", -1, &order) ||
      !has_rank(reading, &order, "CTAOrder", rank) || !check_order(reading, &order, "CTAOrder"))
    return false;
  for (int i = 0; i < rank; i++) {
    const int dim = order.at[i];
    if (split.at[dim] > ctas.at[dim]) return refuse(reading, "CTASplitNum is above CTAsPerCGA");
    register_bits_count(out, HOLDER_BLOCK, log2_up(split.at[dim]), dim);
    register_bits_repeat(out, HOLDER_BLOCK, log2_up(ctas.at[dim] / split.at[dim]));
  }
  return true;
}

static bool read_blocks(Reading *reading, const Attr *attr, int place, RegisterBits *out) {
  const Attr *bases = attr_find(attr, "CGALayout", "cga_layout", place);
  const Attr *per = attr_find(attr, "CTAsPerCGA", "ctas_per_cga", -1);
  if (bases && bases->kind == ATTR_WORD) bases = NULL;  // None
  if (per && per->kind == ATTR_WORD) per = NULL;
  if (bases) return read_bases(reading, bases, "CGALayout", HOLDER_BLOCK, out);
  return !per || read_split(reading, attr, per, out);
}

// Makes the tile in reading->bits fit the part of the tensor that one block has, then counts
// blocks. `without`: a dimension along which all blocks have the same; -1.
static bool fit(Reading *reading, const Attr *owner, int place, const Ints *shape, int without) {
  RegisterBits *bits = &reading->bits, blocks = {.rank = shape->n};
  if (!read_blocks(reading, owner, place, &blocks)) return false;
  if (without >= 0) register_bits_clip(&blocks, without, 0);
  for (int i = 0; i < shape->n; i++) {
    const int dim = reading->order.at[i], all = log2_up(shape->at[dim]);
    register_bits_clip(&blocks, dim, all);
    const int own = all - blocks.size[dim];
    register_bits_count(bits, HOLDER_REGISTER, max_int(0, own - bits->size[dim]), dim);
    register_bits_clip(bits, dim, own);
  }
  for (int bit = 0; bit < blocks.n[HOLDER_BLOCK]; bit++) {
    int32_t basis[TENSOR_DIMS_MAX] = {0};
    for (int dim = 0; dim < shape->n; dim++)
      basis[dim] = blocks.basis[HOLDER_BLOCK][bit][dim] << bits->size[dim];
    // Sizes grow when all bits are there: each basis counts from the tile.
    memcpy(bits->basis[HOLDER_BLOCK][bits->n[HOLDER_BLOCK]++], basis, sizeof basis);
  }
  for (int dim = 0; dim < shape->n; dim++) bits->size[dim] += blocks.size[dim];
  return true;
}

// ---- blocked ------------------------------------------------------------------------------------

typedef struct Blocked {
  Ints registers, lanes, warps, order;
} Blocked;

static bool get_blocked(Reading *reading, const Attr *attr, int rank, Blocked *out) {
  return get_powers(reading, attr, "sizePerThread", "size_per_thread", 0, rank, &out->registers) &&
         get_powers(reading, attr, "threadsPerWarp", "threads_per_warp", 1, rank, &out->lanes) &&
         get_powers(reading, attr, "warpsPerCTA", "warps_per_cta", 2, rank, &out->warps) &&
         get_ints(reading, attr, "order", "order", 3, &out->order) &&
         has_rank(reading, &out->order, "order", rank) &&
         check_order(reading, &out->order, "order");
}

static bool build_blocked(Reading *reading, const Attr *attr, const Ints *shape) {
  Blocked blocked;
  if (!get_blocked(reading, attr, shape->n, &blocked)) return false;
  reading->order = blocked.order;
  count_all(&reading->bits, HOLDER_REGISTER, &blocked.registers, &blocked.order);
  count_all(&reading->bits, HOLDER_LANE, &blocked.lanes, &blocked.order);
  count_all(&reading->bits, HOLDER_WARP, &blocked.warps, &blocked.order);
  if (!fit(reading, attr, 4, shape, -1)) return false;
  register_bits_drop(&reading->bits);
  return true;
}

// ---- nvidia_mma and its operands ----------------------------------------------------------------

typedef struct Mma {
  int version;
  Ints warps, instr;
} Mma;

static bool get_mma(Reading *reading, const Attr *attr, int rank, Mma *out) {
  const Attr *both = attr_find(attr, "version", NULL, 0);
  Ints version = {0};
  if (both && both->kind == ATTR_LIST) {
    if (!list_ints(reading, both, "version", &version)) return false;
    out->version = version.n ? version.at[0] : 0;
  } else if (!get_int(reading, attr, "versionMajor", NULL, -1, &out->version)) {
    return false;
  }
  if (out->version != 2 && out->version != 3)
    return refuse(reading, "versions 2 (mma.sync) and 3 (wgmma) have their sums in registers");
  if (!get_powers(reading, attr, "warpsPerCTA", "warps_per_cta", 1, rank, &out->warps))
    return false;
  return get_ints(reading, attr, "instrShape", "instr_shape", 2, &out->instr);
}

// `width` registers and four lanes along `inner`, eight lanes along `outer`, and registers for what
// is left of the rows and columns of one instruction.
static void count_tile(RegisterBits *bits, int width, int inner, int n_inner, int outer,
                       int n_outer) {
  register_bits_count(bits, HOLDER_REGISTER, log2_up(width), inner);
  register_bits_count(bits, HOLDER_LANE, log2_up(MMA_LANES_ALONG), inner);
  register_bits_count(bits, HOLDER_LANE, log2_up(MMA_ROWS), outer);
  register_bits_count(bits, HOLDER_REGISTER, log2_up(n_outer / MMA_ROWS), outer);
  register_bits_count(bits, HOLDER_REGISTER, log2_up(n_inner / (MMA_LANES_ALONG * width)), inner);
}

// Rows and columns of the sums of one instruction and warp: instrShape ends with M, N in version 2
// (and may name K behind them), and is M, N, K in version 3.
static bool instr_tile(Reading *reading, const Mma *mma, int rank, int *m, int *n) {
  int at = mma->version == 3 || mma->instr.n == rank + 1 ? mma->instr.n - 3 : mma->instr.n - 2;
  if (at < 0) return refuse(reading, "instrShape is too short");
  *m = mma->instr.at[at];
  *n = mma->instr.at[at + 1];
  if (is_power_of_two(*m) && is_power_of_two(*n) && *m >= MMA_ROWS && *n >= 8) return true;
  return refuse(reading, "instrShape: M and N are powers of two from 8 on in a linear layout");
}

static bool build_mma(Reading *reading, const Attr *attr, const Ints *shape) {
  enum { SUMS_ALONG = 2 };
  const int rank = shape->n;
  Mma mma;
  int m = 0, n = 0;
  if (rank < 2) return refuse(reading, "the sums of an mma have two dimensions at least");
  if (!get_mma(reading, attr, rank, &mma) || !instr_tile(reading, &mma, rank, &m, &n)) return false;
  const Ints warp_order = matrix_order(rank, mma.version == 2);
  reading->order = matrix_order(rank, true);
  count_tile(&reading->bits, SUMS_ALONG, rank - 1, n, rank - 2, m);
  count_all(&reading->bits, HOLDER_WARP, &mma.warps, &warp_order);
  return fit(reading, attr, 3, shape, -1);
}

static bool build_mma_operand(Reading *reading, const Attr *parent, const Ints *shape, int k_dim,
                              int width) {
  const int rank = shape->n, other = k_dim == rank - 1 ? rank - 2 : rank - 1;
  const bool is_a = k_dim == rank - 1;
  Mma mma;
  if (!get_mma(reading, parent, rank, &mma)) return false;
  if (mma.version == 3 && !is_a)
    return refuse(reading, "operand 1 of version 3 (wgmma) is read from shared memory");
  if (!is_power_of_two(width)) return refuse(reading, "kWidth is not a power of two");
  const Ints warp_order = matrix_order(rank, mma.version == 2);
  reading->order = matrix_order(rank, is_a);
  count_tile(&reading->bits, width, k_dim, width * 8, other, is_a ? 16 : 8);
  count_but(&reading->bits, HOLDER_WARP, &mma.warps, &warp_order, k_dim);
  return fit(reading, parent, 3, shape, k_dim);
}

// Operands of a product without tensor cores: each thread has all of K.
static bool build_blocked_operand(Reading *reading, const Attr *parent, const Ints *shape,
                                  int k_dim) {
  Blocked blocked;
  if (!get_blocked(reading, parent, shape->n, &blocked)) return false;
  blocked.registers.at[k_dim] = shape->at[k_dim];
  reading->order = blocked.order;
  count_all(&reading->bits, HOLDER_REGISTER, &blocked.registers, &blocked.order);
  count_but(&reading->bits, HOLDER_LANE, &blocked.lanes, &blocked.order, k_dim);
  count_but(&reading->bits, HOLDER_WARP, &blocked.warps, &blocked.order, k_dim);
  return fit(reading, parent, 4, shape, k_dim);
}

static const Attr *get_parent(Reading *reading, const Attr *attr) {
  const Attr *parent = attr_find(attr, "parent", NULL, 1);
  if (parent && parent->kind == ATTR_OBJECT) return parent;
  missing(reading, attr, "parent");
  return NULL;
}

static Build *build_of(const char *name);

static bool build_operand(Reading *reading, const Attr *attr, const Ints *shape) {
  int operand, width = 0;
  const Attr *parent = get_parent(reading, attr);
  if (!parent || !get_int(reading, attr, "opIdx", "operand_index", 0, &operand)) return false;
  if (operand > 1) return refuse(reading, "opIdx is 0 or 1");
  if (shape->n < 2) return refuse(reading, "an operand has two dimensions at least");
  const int k_dim = operand == 0 ? shape->n - 1 : shape->n - 2;
  Build *const of = build_of(parent->name);
  if (of == build_blocked) return build_blocked_operand(reading, parent, shape, k_dim);
  if (of != build_mma) return refuse(reading, "the parent of dot_op is nvidia_mma or blocked");
  if (!get_int(reading, attr, "kWidth", "k_width", 2, &width)) return false;
  return build_mma_operand(reading, parent, shape, k_dim, width);
}

// ---- slice, linear ------------------------------------------------------------------------------

static void drop_dimension(RegisterBits *bits, int dim) {
  for (int holder = 0; holder < HOLDERS; holder++)
    for (int bit = 0; bit < bits->n[holder]; bit++) {
      int32_t *basis = bits->basis[holder][bit];
      for (int i = dim; i + 1 < bits->rank; i++) basis[i] = basis[i + 1];
      basis[bits->rank - 1] = 0;
    }
  for (int i = dim; i + 1 < bits->rank; i++) bits->size[i] = bits->size[i + 1];
  bits->size[--bits->rank] = 0;
}

static bool build_slice(Reading *reading, const Attr *attr, const Ints *shape) {
  int dim;
  const Attr *parent = get_parent(reading, attr);
  if (!parent || !get_int(reading, attr, "dim", NULL, 0, &dim)) return false;
  Build *build = build_of(parent->name);
  if (!build) return refuse(reading, "the parent of slice is not an encoding of registers");
  if (dim > shape->n || shape->n == TENSOR_DIMS_MAX)
    return refuse(reading, "slice: dim is not a dimension of the parent");
  Ints whole = {.n = shape->n + 1};
  for (int i = 0; i < whole.n; i++) whole.at[i] = i == dim ? 1 : shape->at[i - (i > dim)];
  reading->bits.rank = whole.n;
  if (!build(reading, parent, &whole)) return false;
  drop_dimension(&reading->bits, dim);
  register_bits_drop(&reading->bits);
  return true;
}

// Dimensions as registers come by them, then the others, the last one first.
static Ints order_of_registers(const RegisterBits *bits) {
  Ints out = {0};
  unsigned seen = 0;
  for (int i = 0; i < bits->n[HOLDER_REGISTER] + bits->rank; i++) {
    int dim = bits->rank - 1 - (i - bits->n[HOLDER_REGISTER]);
    if (i < bits->n[HOLDER_REGISTER])
      for (dim = 0; dim < bits->rank && !bits->basis[HOLDER_REGISTER][i][dim];) dim++;
    if (dim == bits->rank || seen >> dim & 1) continue;
    seen |= 1u << dim;
    out.at[out.n++] = dim;
  }
  return out;
}

// Takes out registers with their whole reach beyond the tensor.
static void clip_registers(RegisterBits *bits, int dim, int size) {
  int kept = 0;
  if (bits->size[dim] <= size) return;
  for (int bit = 0; bit < bits->n[HOLDER_REGISTER]; bit++)
    if (!(bits->basis[HOLDER_REGISTER][bit][dim] >> size))
      memmove(bits->basis[HOLDER_REGISTER][kept++], bits->basis[HOLDER_REGISTER][bit],
              sizeof bits->basis[0][0]);
  bits->n[HOLDER_REGISTER] = kept;
  register_bits_clip(bits, dim, size);
}

static bool build_linear(Reading *reading, const Attr *attr, const Ints *shape) {
  static const char *const keys[HOLDERS][2] = {{"register", "reg_bases"},
                                               {"lane", "lane_bases"},
                                               {"warp", "warp_bases"},
                                               {"block", "block_bases"}};
  RegisterBits *bits = &reading->bits;
  for (int holder = 0; holder < HOLDERS; holder++) {
    const Attr *bases = attr_find(attr, keys[holder][0], keys[holder][1], holder);
    if (bases && !read_bases(reading, bases, keys[holder][0], (Holder)holder, bits)) return false;
  }
  reading->order = order_of_registers(bits);
  for (int i = 0; i < shape->n; i++) {
    const int dim = reading->order.at[i], all = log2_up(shape->at[dim]);
    register_bits_count(bits, HOLDER_REGISTER, max_int(0, all - bits->size[dim]), dim);
  }
  for (int dim = 0; dim < shape->n; dim++) clip_registers(bits, dim, log2_up(shape->at[dim]));
  return true;
}

// ---- tensor memory ------------------------------------------------------------------------------

// The part of one block, `own` rows and columns: with 64 rows lanes 0 to 15 of each quarter
// have them, and the others what lies beside or below.
static void count_half(RegisterBits *bits, const Ints *own, int columns) {
  enum { HALF = 64, QUARTER_LANES = 16 };
  int32_t beyond[TENSOR_DIMS_MAX] = {0};
  register_bits_count(bits, HOLDER_LANE, log2_up(QUARTER_LANES), 0);
  register_bits_count(bits, HOLDER_REGISTER, log2_up(columns), 1);
  if (own->at[0] > HALF)
    beyond[0] = HALF;
  else if (own->at[1] > columns)
    beyond[1] = columns;
  const int32_t down[2][TENSOR_DIMS_MAX] = {{QUARTER_LANES}, {2 * QUARTER_LANES}};
  register_bits_add(bits, HOLDER_LANE, beyond);
  for (int i = 0; i < 2; i++) register_bits_add(bits, HOLDER_LANE, down[i]);
}

static bool get_tmem_block(Reading *reading, const Attr *attr, int *m, int *n, int *stride) {
  const Attr *block = attr_find(attr, "block", NULL, 0);
  Ints pair = {0};
  *stride = 1;
  if (block && block->kind == ATTR_LIST) {
    if (!list_ints(reading, block, "block", &pair) || !has_rank(reading, &pair, "block", 2))
      return false;
    *m = pair.at[0];
    *n = pair.at[1];
  } else if (!get_int(reading, attr, "blockM", NULL, -1, m) ||
             !get_int(reading, attr, "blockN", NULL, -1, n)) {
    return false;
  }
  if (attr_find(attr, "colStride", "col_stride", 1) &&
      !get_int(reading, attr, "colStride", "col_stride", 1, stride))
    return false;
  bool ok = (*m == 64 || *m == TMEM_LANES) && is_power_of_two(*n) && is_power_of_two(*stride);
  return ok || refuse(reading, "blockM is 64 or 128, blockN and colStride are powers of two");
}

static bool build_tmem(Reading *reading, const Attr *attr, const Ints *shape) {
  RegisterBits *bits = &reading->bits;
  int m, n, stride;
  if (shape->n != 2) return refuse(reading, "tensor memory has two dimensions");
  if (!get_tmem_block(reading, attr, &m, &n, &stride)) return false;
  if (get_bool(attr, "twoCTAs", "two_ctas", 3) || get_bool(attr, "fp4Padded", "fp4_padded", 4))
    return refuse(reading, "tensor memory of pairs of CTAs, or with padded fp4, is not read");
  const Attr *blocks = attr_find(attr, "CGALayout", "cga_layout", 2);
  if (blocks && blocks->kind == ATTR_LIST && blocks->n)
    return refuse(reading, "tensor memory that is spread over blocks is not read");
  n = min_int(n, shape->at[1]);
  if (shape->at[0] < m) return refuse(reading, "the tensor has fewer rows than blockM");
  register_bits_repeat(bits, HOLDER_REGISTER, log2_up(stride));
  if (m == TMEM_LANES) {
    register_bits_count(bits, HOLDER_LANE, log2_up(TMEM_LANES), 0);
    register_bits_count(bits, HOLDER_REGISTER, log2_up(n), 1);
  } else {
    count_half(bits, shape, n);
  }
  for (int dim = 0; dim < 2; dim++)
    register_bits_count(bits, HOLDER_REGISTER,
                        max_int(0, log2_up(shape->at[dim]) - bits->size[dim]), dim);
  return true;
}

// Scale factors: 64 rows of four bytes in two words of a lane, the same in all four quarters of the
// lanes.
static bool build_scales(Reading *reading, const Attr *attr, const Ints *shape) {
  RegisterBits *bits = &reading->bits;
  (void)attr;
  if (shape->n != 2) return refuse(reading, "tensor memory has two dimensions");
  register_bits_count(bits, HOLDER_LANE, log2_up(SCALE_ROWS), 0);
  register_bits_repeat(bits, HOLDER_LANE, 2);
  register_bits_count(bits, HOLDER_REGISTER, log2_up(SCALE_COLS), 1);
  register_bits_count(bits, HOLDER_REGISTER, 1, 0);
  for (int dim = 0; dim < 2; dim++)
    register_bits_count(bits, HOLDER_REGISTER,
                        max_int(0, log2_up(shape->at[dim]) - bits->size[dim]), dim);
  for (int dim = 0; dim < 2; dim++) register_bits_clip(bits, dim, log2_up(shape->at[dim]));
  return true;
}

// ---- the table ----------------------------------------------------------------------------------

static const struct {
  const char *mlir, *gluon;
  Build *build;
  bool tensor_memory;
} ENCODINGS[] = {
    {"blocked", "BlockedLayout", build_blocked, false},
    {"nvidia_mma", "NVMMADistributedLayout", build_mma, false},
    {"dot_op", "DotOperandLayout", build_operand, false},
    {"slice", "SliceLayout", build_slice, false},
    {"linear", "DistributedLinearLayout", build_linear, false},
    {"tensor_memory_encoding", "TensorMemoryLayout", build_tmem, true},
    {"tensor_memory_scales_encoding", "TensorMemoryScalesLayout", build_scales, true},
};
enum { N_ENCODINGS = sizeof ENCODINGS / sizeof ENCODINGS[0] };

static int encoding_of(const char *name) {
  for (int i = 0; name && i < N_ENCODINGS; i++)
    if (str_equal(name, ENCODINGS[i].mlir) || str_equal(name, ENCODINGS[i].gluon)) return i;
  return -1;
}

static Build *build_of(const char *name) {
  const int at = encoding_of(name);
  return at < 0 || ENCODINGS[at].tensor_memory ? NULL : ENCODINGS[at].build;
}

bool register_triton_is(const char *name) { return encoding_of(name) >= 0; }

static bool covers(Reading *reading, const Ints *shape) {
  for (int dim = 0; dim < shape->n; dim++)
    if (reading->bits.full || 1 << reading->bits.size[dim] != shape->at[dim])
      return refuse(reading, "it does not cover the tensor, or has too many bits");
  return true;
}

const RegisterLayout *register_triton_read(Arena *arena, const char *text, const Attr *attr,
                                           const TensorShape *shape, Diags *diags) {
  const int at = attr->kind == ATTR_OBJECT ? encoding_of(attr->name) : -1;
  Reading *reading = ARENA_NEW(arena, Reading);
  *reading = (Reading){.arena = arena, .diags = diags, .text = text, .bits.rank = shape->rank};
  Ints extents = {.n = shape->rank};
  for (int dim = 0; dim < shape->rank; dim++) {
    extents.at[dim] = shape->extent[dim];
    if (!is_power_of_two(shape->extent[dim])) {
      refuse(reading, "Triton's shapes are powers of two");
      return NULL;
    }
  }
  if (at < 0) {
    refuse(reading, "not a known encoding of registers or tensor memory");
    return NULL;
  }
  if (!ENCODINGS[at].build(reading, attr, &extents) || !covers(reading, &extents)) return NULL;
  const RegisterLayout *made =
      register_layout_linear(arena, text, ENCODINGS[at].mlir, shape, &reading->bits, diags);
  if (!made || !ENCODINGS[at].tensor_memory) return made;
  RegisterLayout *out = ARENA_NEW(arena, RegisterLayout);
  *out = *made;
  out->tensor_memory = true;
  return out;
}
