// A tensor map of TMA as its fields: checked as cuTensorMapEncodeTiled checks them, and the box as
// it lies in shared memory.
//
//   shape=4096x512,box=64x64,swizzle=128B,type=f16
//
// Extents are innermost first, as the driver takes them: rows of 4096 halves, boxes of 64 rows
// of 64. strides=8192 are the bytes from row to row (and so on outwards), without them rows follow
// each other; step=1x2 takes every other row. Source of the rules: CUDA Driver API, "Tensor Map
// Object Management"; of what is aligned to what: CUDA C++ Programming Guide, "TMA Swizzle", which
// asks for 128 bytes and gives the shift of a pattern that begins elsewhere, (address / 128) % 8
// rows of 128B ("Swizzle Pattern Pointer Offset Computation").
#pragma once
#include "banks/layouts/cute_text.h"
#include "banks/layouts/layout.h"

enum { TMA_RANK_MAX = 5 };

typedef struct TmaSwizzle {
  const char *name;  // as in CU_TENSOR_MAP_SWIZZLE_128B
  int span_bytes;    // rows of the box are at most so wide; 0: any
  CuteSwizzle swizzle;
  bool drawn;  // its pattern is documented to the byte
} TmaSwizzle;

extern const TmaSwizzle tma_swizzle_table[];
extern const int tma_swizzle_count;

// Elements of 4 or 6 bits, which are copied a unit at a time. A unit may have a gap behind it in
// shared memory: 16 numbers of 4 bits are 8 bytes, and stand in 16 there.
typedef struct TmaUnit {
  int elements, global_bytes, shared_bytes;
} TmaUnit;
typedef struct TmaPacked {
  const char *name;  // as PTX has it, where cuda.h says 16U4_ALIGN8B, 16U4_ALIGN16B, 16U6_ALIGN16B
  TmaUnit unit;
  bool is_stored;  // from shared memory, too
} TmaPacked;
const TmaPacked *tma_packed_find(const char *name);  // NULL: none of them

typedef struct TmaBox {
  int rank, elem_bytes;
  const char *type;
  const TmaPacked *packed;  // NULL: elements of whole bytes; else elem_bytes is 1
  long long shape[TMA_RANK_MAX], box[TMA_RANK_MAX], step[TMA_RANK_MAX];
  long long stride[TMA_RANK_MAX];  // [i]: bytes from one index of dimension i to the next, i > 0
  const TmaSwizzle *swizzle;
} TmaBox;

// False after a finding of rule "tma" with the column, or of rule "unit".
bool tma_box_parse(Arena *arena, const char *text, TmaBox *out, Diags *diags);
// A finding of rule "tma" for each thing that the driver would refuse.
bool tma_box_check(const TmaBox *box, Diags *diags);

// Requires tma_box_check. Rows of the box: the product of its outer dimensions; NULL
// after a finding where the pattern is not documented (rule "tma_pattern").
const Layout *tma_box_layout(Arena *arena, const TmaBox *box, const char *text, Diags *diags);

// The unit that is copied as a whole: an element, or some packed ones.
TmaUnit tma_box_unit(const TmaBox *box);
// Bytes of so many elements of a row in global memory.
int64_t tma_box_global_bytes(const TmaBox *box, int64_t elements);
// Bytes that a copy of the box moves, as an mbarrier counts them: without gaps. (CUTLASS awaits as
// many: sm100_mma_warpspecialized.hpp, TmaTransactionBytes.)
int64_t tma_box_moved_bytes(const TmaBox *box);

// The alignment in shared memory that the box asks for, in bytes: 128, whatever its swizzle.
int tma_box_alignment(const TmaBox *box);
// The bytes after which its pattern repeats. A corner at a multiple of them sees the pattern as the
// layout has it; any other one sees it shifted, for the pattern goes by the bits of the address.
int tma_box_repeat(const TmaBox *box);
// Where byte `byte` of row `row` lies in shared memory, when the box's corner lies at `corner`.
int64_t tma_box_address(const TmaBox *box, int64_t corner, int64_t row, int64_t byte);
int64_t tma_box_bytes(const TmaBox *box);
