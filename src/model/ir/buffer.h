// Matrices, slabs, registers, mbarriers and tensor memory: how elements lie in them.
#pragma once
#include "model/ir/names.h"
#include "model/ir/role.h"

// Bits [from, from + bits) of the byte offset are xored onto bits [to, to + bits). All terms of a
// layout read the offset as it was before any of them.
typedef struct XorTerm {
  int from, to, bits;
} XorTerm;

// Dimensions from slowest to fastest. A stride is in elements: rows of a padded slab have
// stride = columns + pad. The element at idx lies at offset sum(idx[d] · stride[d]), behind the
// pads of the runs that stand before it in its row.
typedef struct Buffer {
  int id;
  const char *name;
  Space space;
  BufferRole role;
  DType type;
  int rank;
  int64_t dim[RANK_MAX], stride[RANK_MAX];
  KnobId knob;                      // the knob that made it
  int swizzle_bits;                 // a slab's Swizzle<B, M, S> over byte offsets: B; 0 = none
  int swizzle_base, swizzle_shift;  // M, S: bits [M, M+B) ^= bits [M+S, M+S+B)
  int n_xor;                        // a slab's typed layout, as terms of a linear map over bits
  XorTerm xor_term[XOR_TERMS_MAX];
  bool transposed;       // a slab stored with its rows and columns the other way round
  int64_t panel;         // columns of a panel of a slab, [panels][rows][panel]; 0 = one piece
  int64_t run, run_pad;  // columns of a run of a slab's rows, each run with a pad; 0 = no runs
  int64_t offset_bytes;  // SHARED: where it starts in the block's shared memory
  int column;            // TENSOR: its first column, counted from where the allocation begins
} Buffer;

int64_t buffer_elements(const Buffer *buffer);  // pads included
// The strides of rows that follow each other, each with `row_pad` elements behind it; in tensor
// memory the lanes are 512 columns apart.
void buffer_plain_strides(const Buffer *buffer, int64_t row_pad, int64_t stride[RANK_MAX]);
// Elements of one of its columns: 1, or the number that fits into 32 bits.
int64_t buffer_column_elements(const Buffer *tensor);
bool buffer_is_factors(const Buffer *buffer);  // of SFA or SFB, wherever they are
int64_t buffer_bytes(const Buffer *buffer);
enum { MBARRIER_BYTES = 8 };
int buffer_align(const Buffer *buffer);          // in shared memory, in bytes
bool buffer_is_operand(const Buffer *buffer);    // A, B or C of the problem, V, SFA or SFB
bool buffer_is_input(const Buffer *buffer);      // those but for C
bool buffer_is_workspace(const Buffer *buffer);  // in global memory, and none of them
bool buffer_is_in_shared(const Buffer *buffer);  // a slab, or mbarriers
bool buffer_is_permuted(const Buffer *buffer);   // by a swizzle or a typed layout
bool buffer_is_ring(const Buffer *slab);         // its first index is the slot of a ring
bool buffer_is_staging(const Buffer *buffer);    // registers on the way from global to shared
bool buffer_is_fragment(const Buffer *buffer);   // values of A or B on their way into a multiply

// The dimension along which neighbours are neighbours in memory: the last one, but for a
// column-major operand.
int buffer_fast_dimension(const Buffer *buffer);
// For a matrix, or of several one behind the other, the other dimension that counts in each.
int buffer_slow_dimension(const Buffer *buffer);
// For matrices one behind the other in a buffer of three dimensions, one of each head: their number
// (0: it is one matrix), and the first element of the matrix that has these indices.
int64_t buffer_matrices(const Buffer *buffer);
int64_t buffer_matrix_begin(const Buffer *buffer, const int64_t index[]);
