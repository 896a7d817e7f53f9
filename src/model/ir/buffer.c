// Buffers: their use, their bytes, and the place of an access in them.
//
// The offset of an access is said here and nowhere else: index times stride, pads behind runs, and
// the swizzle over all of it. Worked example, A_s[m, k] of 128 x 64 f16 under Swizzle<3, 4, 3>:
// m * 64 + k, xored with m % 8 * 8.
#include "model/ir/buffer.h"

#include "model/ir/stmt.h"

const char *buffer_role_name(BufferRole role) {
  static const char *const names[ROLE_COUNT] = {[ROLE_A] = "a",
                                                [ROLE_B] = "b",
                                                [ROLE_C] = "c",
                                                [ROLE_PARTIAL] = "partial",
                                                [ROLE_PARTS_A] = "parts_a",
                                                [ROLE_PARTS_B] = "parts_b",
                                                [ROLE_PART] = "part",
                                                [ROLE_RUN] = "run",
                                                [ROLE_SLAB_A] = "slab_a",
                                                [ROLE_SLAB_B] = "slab_b",
                                                [ROLE_ACC] = "acc",
                                                [ROLE_FRAG_A] = "frag_a",
                                                [ROLE_FRAG_B] = "frag_b",
                                                [ROLE_STAGE_A] = "stage_a",
                                                [ROLE_STAGE_B] = "stage_b",
                                                [ROLE_SLAB_C] = "slab_c",
                                                [ROLE_STAGE_C] = "stage_c",
                                                [ROLE_FULL] = "full",
                                                [ROLE_EMPTY] = "empty",
                                                [ROLE_ORDER] = "order",
                                                [ROLE_LIST] = "list",
                                                [ROLE_ACC_FULL] = "acc_full",
                                                [ROLE_ACC_EMPTY] = "acc_empty",
                                                [ROLE_SUMS] = "sums",
                                                [ROLE_TENSOR_BASE] = "tensor_base",
                                                [ROLE_V] = "v",
                                                [ROLE_SCORES] = "scores",
                                                [ROLE_WEIGHTS] = "weights",
                                                [ROLE_ROW_SUMS] = "row_sums",
                                                [ROLE_SLAB_V] = "slab_v",
                                                [ROLE_STAGE_V] = "stage_v",
                                                [ROLE_FRAG_V] = "frag_v",
                                                [ROLE_FRAG_P] = "frag_p",
                                                [ROLE_SCORE] = "score",
                                                [ROLE_ROW_MAX] = "row_max",
                                                [ROLE_ROW_SUM] = "row_sum",
                                                [ROLE_ROW_BASE] = "row_base",
                                                [ROLE_RESCALE] = "rescale",
                                                [ROLE_ROW_DIVISOR] = "row_divisor",
                                                [ROLE_TEMP] = "temp",
                                                [ROLE_SFA] = "sfa",
                                                [ROLE_SFB] = "sfb",
                                                [ROLE_FRAG_SFA] = "frag_sfa",
                                                [ROLE_FRAG_SFB] = "frag_sfb",
                                                [ROLE_SLAB_SFA] = "slab_sfa",
                                                [ROLE_SLAB_SFB] = "slab_sfb",
                                                [ROLE_TENSOR_SFA] = "tensor_sfa",
                                                [ROLE_TENSOR_SFB] = "tensor_sfb"};
  return names[role];
}

const char *buffer_barrier_word(BufferRole role) {
  if (role == ROLE_TENSOR_BASE) return "address";
  return role == ROLE_LIST ? "number" : "mbarrier";
}

// ---- extents ------------------------------------------------------------------------------------

// The slowest dimension decides: the first, or the last one of a column-major operand.
int64_t buffer_elements(const Buffer *buffer) {
  int64_t n = buffer->stride[0] * buffer->dim[0];
  if (buffer->space != SPACE_GLOBAL) return n;
  int last = buffer->rank - 1;  // the slowest dimension of a column-major operand
  int64_t columns = buffer->stride[last] * buffer->dim[last];
  return columns > n ? columns : n;
}

void buffer_plain_strides(const Buffer *buffer, int64_t row_pad, int64_t stride[RANK_MAX]) {
  enum { COLUMNS = 1 };  // of tensor memory
  int64_t at = 1;
  for (int d = buffer->rank - 1; d >= 0; d--) {
    stride[d] = at;
    at *= buffer->space == SPACE_TENSOR && d == COLUMNS ? TENSOR_COLUMNS : buffer->dim[d];
    if (d == buffer->rank - 1) at += row_pad;
  }
}

int64_t buffer_column_elements(const Buffer *tensor) {
  return tensor->rank > 2 ? tensor->dim[2] : 1;
}

bool buffer_is_factors(const Buffer *buffer) {
  static const bool factors[ROLE_COUNT] = {
      [ROLE_SFA] = true,        [ROLE_SFB] = true,       [ROLE_FRAG_SFA] = true,
      [ROLE_FRAG_SFB] = true,   [ROLE_SLAB_SFA] = true,  [ROLE_SLAB_SFB] = true,
      [ROLE_TENSOR_SFA] = true, [ROLE_TENSOR_SFB] = true};
  return factors[buffer->role];
}

int buffer_fast_dimension(const Buffer *buffer) {
  int last = buffer->rank - 1;
  return last == 0 || buffer->stride[last] == 1 ? last : last - 1;
}

int buffer_slow_dimension(const Buffer *buffer) {
  return 2 * buffer->rank - 3 - buffer_fast_dimension(buffer);
}

int64_t buffer_matrices(const Buffer *buffer) { return buffer->rank > 2 ? buffer->dim[0] : 0; }

int64_t buffer_matrix_begin(const Buffer *buffer, const int64_t index[]) {
  return buffer->rank > 2 ? index[0] * buffer->stride[0] : 0;
}

static int element_bytes(const Buffer *buffer) {
  return buffer->space == SPACE_BARRIER ? MBARRIER_BYTES : dtype_bytes(buffer->type);
}

int64_t buffer_bytes(const Buffer *buffer) {
  return buffer_elements(buffer) * element_bytes(buffer);
}

// One term, over element offsets: in elements of E bytes the same bits sit log2(E) lower. Worked
// example, f16, Swizzle<3, 4, 3>, which is {from 7, to 4, 3 bits}: offset / 64 % 8 * 8.
static const Expr *xor_term(Arena *arena, const Buffer *buffer, const Expr *offset, XorTerm term) {
  int64_t bytes = dtype_bytes(buffer->type);
  const Expr *bits = ex_div(arena, offset, ((int64_t)1 << term.from) / bytes);
  bits = ex_mod(arena, bits, (int64_t)1 << term.bits);
  return ex_mul_const(arena, bits, ((int64_t)1 << term.to) / bytes);
}

// Swizzle<B, M, S>: bits [M, M+B) of the byte offset are xored with bits [M+S, M+S+B).
static const Expr *swizzled(Arena *arena, const Buffer *buffer, const Expr *offset) {
  const Expr *out = offset;
  XorTerm swizzle = {buffer->swizzle_base + buffer->swizzle_shift, buffer->swizzle_base,
                     buffer->swizzle_bits};
  if (buffer->swizzle_bits)
    out = ex_binary(arena, EXPR_XOR, out, xor_term(arena, buffer, offset, swizzle));
  for (int i = 0; i < buffer->n_xor; i++)
    out = ex_binary(arena, EXPR_XOR, out, xor_term(arena, buffer, offset, buffer->xor_term[i]));
  return out;
}

bool buffer_is_operand(const Buffer *buffer) {
  return buffer_is_input(buffer) || buffer->role == ROLE_C;
}
bool buffer_is_input(const Buffer *buffer) {
  return buffer->role == ROLE_A || buffer->role == ROLE_B || buffer->role == ROLE_V ||
         buffer->role == ROLE_SFA || buffer->role == ROLE_SFB;
}
bool buffer_is_workspace(const Buffer *buffer) {
  return buffer->space == SPACE_GLOBAL && !buffer_is_operand(buffer);
}
bool buffer_is_in_shared(const Buffer *buffer) {
  return buffer->space == SPACE_SHARED || buffer->space == SPACE_BARRIER;
}

bool buffer_is_permuted(const Buffer *buffer) { return buffer->swizzle_bits || buffer->n_xor; }

bool buffer_is_ring(const Buffer *slab) { return slab->rank > (slab->panel ? 3 : 2); }

bool buffer_is_staging(const Buffer *buffer) {
  return buffer->role == ROLE_STAGE_A || buffer->role == ROLE_STAGE_B ||
         buffer->role == ROLE_STAGE_V;
}

bool buffer_is_fragment(const Buffer *buffer) {
  return buffer->role == ROLE_FRAG_A || buffer->role == ROLE_FRAG_B ||
         buffer->role == ROLE_FRAG_V || buffer->role == ROLE_FRAG_P;
}

// Elements of the pads behind the runs that come before the column in its row.
static const Expr *pads_before(Arena *arena, const Access *access) {
  const Buffer *slab = access->buffer;
  const Expr *runs = ex_div(arena, access->idx[slab->rank - 1], slab->run);
  return ex_mul_const(arena, runs, slab->run_pad);
}

const Expr *access_offset(Arena *arena, const Access *access) {
  const Expr *offset = ex_const(arena, 0);
  for (int d = 0; d < access->buffer->rank; d++) {
    const Expr *term = ex_mul_const(arena, access->idx[d], access->buffer->stride[d]);
    offset = ex_add(arena, offset, term);
  }
  if (access->buffer->run_pad) offset = ex_add(arena, offset, pads_before(arena, access));
  return swizzled(arena, access->buffer, offset);
}

const Expr *access_guard(Arena *arena, const Access *access) {
  if (!access->buffer || access->buffer->space != SPACE_GLOBAL) return NULL;
  const Expr *guard = NULL;
  for (int d = 0; d < access->buffer->rank; d++) {
    const Expr *bound = ex_const(arena, access->buffer->dim[d]);
    guard = ex_land(arena, guard, ex_lt(arena, access->idx[d], bound));
  }
  return guard && expr_is_const(guard, 1) ? NULL : guard;
}
