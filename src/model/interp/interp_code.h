// How a kernel looks once it is compiled: a flat list of Code rows (loops and ifs are jumps), so a
// warp can stop at a barrier and go on later with nothing but its program counter. Everything that
// depends on the lane but not on a serial loop is computed once per block.
//
// Included by interp*.c and the families' files in model/ops, through interp_machine.h.
#pragma once
#include "model/interp/interp.h"
#include "model/ir/launch.h"
#include "model/ir/names.h"
#include "model/ir/tile.h"
#include "model/words/fragment.h"
#include "order/order_cluster.h"
#include "order/order_mbar.h"
#include "order/order_tensor.h"

// ---- compiled expressions -----------------------------------------------------------------------

// The things that an expression depends on.
enum { DEP_LANE = 1, DEP_LOOP = 2, DEP_BLOCK = 4 };

// coef · variable, or coef · expr where var < 0.
typedef struct Term {
  int64_t coef;
  const Expr *expr;
  int var;
} Term;

// constant + Σ uniform + slot + Σ mixed: the uniform terms are equal in all lanes of a warp, the
// slot holds what differs by lane but not by serial loop (computed at the start of a block), the
// mixed terms are evaluated for 32 lanes each time.
//   (k_i·132 + m_t·8) with k_i a serial loop and m_t a digit of the thread:
//   uniform {132 · k_i}, slot {8 · m_t}, no mixed term
typedef struct Value {
  int64_t constant;
  int n_uniform, n_mixed;
  const Term *uniform, *mixed;
  int slot;  // -1: none, so that the value is uniform when n_mixed is 0 too
} Value;

typedef struct Slot {
  int n;
  const Term *term;
  bool per_block;  // else once per kernel
} Slot;

// Holds where the value is negative (a < b becomes a - b), or where it is not zero.
typedef struct Condition {
  Value value;
  bool negative;
} Condition;

typedef struct DimCheck {
  int64_t limit;  // holds where 0 <= value < limit
  Value value;
} DimCheck;

typedef struct Operand {
  const Buffer *buffer;  // NULL: the operation has no such operand
  int width;             // elements of one access: of a register operand, of all it takes
  Value offset;          // in elements
  bool has_rank;         // it lies in the shared memory of …
  Value rank;            // … that block of the cluster
  int n_guards, n_checks;
  const Condition *guard;  // all must hold
  const DimCheck *check;   // dimensions that the ranges leave open
  bool offset_proven;      // the ranges prove the whole access inside the buffer
} Operand;

// The element of its operand that a lane's value is, tabulated: row · columns + column.
typedef struct FragmentTable {
  int n_values, columns;
  const uint16_t (*at)[LANES];  // [value][lane]
} FragmentTable;

// A matrix that an operation reads where it lies, of an atom: element (row, k) of A, (k, row) of B,
// so that row counts M or N.
typedef struct TileCode {
  bool in_memory;  // else it is a fragment, or there is none
  int rows, depth;
  Value index[RANK_MAX];  // where it begins, by dimension of its buffer
  Value corner;           // the same as an element of shared memory, before any swizzle
  const int32_t *at;      // bytes from there to element row · depth + k
  MatrixTile swizzle;     // what permutes the bytes
  const char *wrong;      // how the descriptor and the buffer differ; NULL: they do not
} TileCode;

typedef enum CodeKind {
  CODE_OP,
  CODE_LET,
  CODE_LOOP,
  CODE_NEXT,
  CODE_IF,
  CODE_FI,
  CODE_EXIT
} CodeKind;

enum { BOX_RANK_MAX = 3 };  // column, row, and which matrix

typedef struct Code {
  CodeKind kind;
  const Stmt *stmt;
  int jump;           // LOOP: after its NEXT; NEXT: first of the body; IF: its FI
  const char *fault;  // OP: why it cannot run at all; NULL when it can
  const char *wrong;  // OP: how its instruction descriptor and itself differ; NULL: they do not
  int n_conditions;   // IF
  const Condition *condition;
  Value value;  // LET; OP: the phase bit that is waited for, the number of a barrier, or the mask
                // of the ranks that take part; LOOP over tiles: its first
  Value end;    // LOOP, NEXT that say one
  int early;    // LET: index of the early let; -1: evaluated when reached
  Operand dst, src, src2;
  Operand scale[2];            // of a multiplication; no buffer: it has none
  Value corner[BOX_RANK_MAX];  // of a box: where the box begins in global memory
  const int32_t *box_at;  // element r · columns + c of it lies so far behind the first, in shared
  const FragmentTable *fragment;  // [ATOM_MATRICES] of an atom
  TileCode *tile;                 // [2] of an operation that reads tiles
} Code;

// A LET that depends on no serial loop: evaluated at the start of a block, checked when reached.
typedef struct EarlyLet {
  const Stmt *stmt;
  bool checked_at_start;  // it stands between hardware loops, nothing "reaches" it later
} EarlyLet;

typedef struct KernelCode {
  Launch launch;
  const char *name;
  int cluster;  // blocks that run together: all of a cluster where any reaches another, else 1
  int n_codes, n_slots, n_early;
  Code *code;
  Slot *slot;
  EarlyLet *early;
  uint8_t *dep;        // by variable
  uint8_t *broadcast;  // by variable: its value is needed lane by lane too
} KernelCode;

// NULL when the kernel is larger than a run can name (FINDING_TOO_LARGE).
const KernelCode *interp_compile(Arena *arena, const Program *program, int kernel);

// ---- the record of accesses ---------------------------------------------------------------------

// One access; interp_order.c and interp_shadow.c work on the record of them. `block` counts
// clusters where blocks run together, `thread` the threads of all of its blocks. Epochs count
// barriers, arrivals at mbarriers and landings: they grow through the whole life of a machine, over
// blocks, kernels and runs, so nothing is ever cleared.
typedef struct Touch {
  uint32_t epoch, block;
  uint16_t thread, code;
} Touch;

// The accesses that are remembered of one element: here the last one that wrote it, and in Memory
// those that read it or added to it atomically. If barriers alone make the order, the latest of
// them is enough with one more that is unordered with it: an access that conflicts with any earlier
// one conflicts with one of these. Mbarriers order some readers and not others, so each warp's
// latest read of a slab is kept instead.
typedef struct Shadow {
  Touch write;
  uint32_t in_flight;  // `write` is a copy that its thread has not waited for
} Shadow;

typedef struct Recent {
  Touch latest, other;
} Recent;

// Each warp's latest reads of the shared memory of a block, by granule: reads that a warp makes one
// after the other lie side by side. READS_TOGETHER granules share one number, the newest epoch in
// which a warp read any of them. One look at it says, nearly always, that all these reads are over.
// A fence need not know of reads through the async proxy.
enum { READS_TOGETHER = 64 };
typedef struct NewestRead {
  uint32_t any, to_fence;
} NewestRead;
typedef struct Reads {
  Touch *read;         // [n_readers][apart]
  NewestRead *newest;  // [apart / READS_TOGETHER + 1][n_readers]
  int64_t apart;
} Reads;

// An mbarrier of the block at hand; see interp_mbarrier.c.
typedef struct Mbar {
  OrderMbar *order;
  Touch init;
  bool released;  // a fence of the thread that initialised it stands behind that
} Mbar;

// Elements are bytes, as their type has them. Shared buffers are windows of one memory. Its shadow
// is kept by granule, the smallest element of any of them, so that overlaps of two buffers are
// seen.
typedef struct Memory {
  const Buffer *buffer;
  DType type;
  int bytes;              // of an element
  uint8_t *data;          // NULL: registers
  Shadow *shadow;         // NULL: read-only, or registers
  Recent *read;           // [shadow], unless there are `reads`
  Recent *add;            // [shadow] of global memory; else NULL
  const Reads *reads;     // of a slab in a program with clocks; else NULL
  int64_t first_granule;  // of the block's shared memory
  Touch *stored;  // [shadow] of a slab: the latest box read out of it in the background, in the
                  // same way
  int n_shadows;  // of an element
  int64_t elements;
  int first_row, rows;  // registers: where the buffer starts in the warp's rows; rows of an element
  Mbar *mbar;           // mbarriers, which have no data
} Memory;

static inline uint8_t *memory_at(const Memory *memory, int64_t at) {
  return memory->data + at * memory->bytes;
}
