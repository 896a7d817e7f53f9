// The program (IR): an ordered list of kernels over a few buffers. Everything on the screen, the
// CUDA text and the interpreter are readings of this structure; see DESIGN notes in
// ARCHITECTURE.md.
//
// A kernel's body is a small tree of statements. Loops of a hardware tier (BLOCK, WARP, THREAD)
// stand outermost, with nothing but LETs between them, and are digits of blockIdx/threadIdx: the
// outermost is the most significant. Everything below the last of them is run by each thread.
//
// A persistent kernel has no BLOCK loop but a loop of tier TILE below the thread loops, or one in
// each role: block bid of a grid of G runs its iterations bid, bid + G, bid + 2·G, … one after the
// other. G is the launch's to choose; a program is right with any. Where a cluster claims its list
// (CLAIM), the loop begins with the number of that, and G is the number of lists.
//
// Worked example (BM=BN=16, no staging):
//   for m_b in 0..4 BLOCK, n_b in 0..4 BLOCK           block index = m_b·4 + n_b
//     for m_t in 0..16 THREAD, n_t in 0..16 THREAD     thread index = m_t·16 + n_t
//       acc[0, 0] = 0
//       for k in 0..32
//         a[0] = load A[m_b·16 + m_t, k]
//         b[0] = load B[k, n_b·16 + n_t]
//         acc[0, 0] += a[0] * b[0]
//       store C[m_b·16 + m_t, n_b·16 + n_t] = acc[0, 0]
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/whole.h"
#include "model/ir/expr.h"
#include "model/ir/op.h"
#include "model/words/dtype.h"
#include "model/words/fragment.h"
#include "model/words/knob.h"

// Barriers of a block (PTX ISA, bar): numbers 0 to 15, 0 being that of __syncthreads().
enum { BLOCK_BARRIERS = 16 };

// Blocks of a cluster, as many as a mask of the copies by TMA has bits. More than 8 are not
// portable (CUDA programming guide, Thread Block Clusters).
enum { CLUSTER_MAX = 16, CLUSTER_PORTABLE = 8 };

enum {
  RANK_MAX = 4,
  KERNELS_MAX = 4,
  DIGITS_MAX = 16,
  BUFFERS_MAX = 24,
  ROLES_MAX = 8,
  PRODUCTS_MAX = 2,
  XOR_TERMS_MAX = 16
};

// What a program computes:
//   MATMUL     C[M, N] = A[M, K] · B[K, N]; of a block-scaled type with S elements to a factor,
//              A[m, k] · SFA[m, k / S] and B[k, n] · SFB[n, k / S] are what is multiplied
//   ATTENTION  of each head, S = alpha · Q[M, K] · K[N, K]ᵀ, P[q, t] = exp2(S[q, t] - max S[q]),
//              O[M, K] = P · V[N, K] / row sums of P; causal: query q sees keys 0 … q + N - M alone
typedef enum ProblemKind { PROBLEM_MATMUL, PROBLEM_ATTENTION } ProblemKind;

typedef struct Problem {
  int64_t m, n, k;    // MATMUL: extents, C row-major; ATTENTION: queries, keys, head dimension; k
                      // in elements (problem_depth: in units)
  bool a_col, b_col;  // A, B column-major: element (i, j) lies at i + j·rows
  DType dtype;        // of A and B
  DType acc;          // of the accumulators and of split-K's partial sums
  DType out;  // of C: a STORE from accumulators of another type converts, round to nearest even
  ProblemKind kind;
  int64_t heads;  // ATTENTION: batch × heads, each with queries, keys and values of its own
  bool causal;
  bool factor_tiles;  // SFA and SFB lie in tiles, as tcgen05 takes them: problem_factor_place()
} Problem;

// The result as a matrix: C, or O of all heads one below the other.
int64_t problem_rows(const Problem *problem);
int64_t problem_columns(const Problem *problem);
// "matmul", "attention": what a program of one kernel calls it.
const char *problem_kernel_name(const Problem *problem);
// K as axes and buffers count it: in units of the type, bytes of two elements where those have 4
// bits.
int64_t problem_depth(const Problem *problem);
// Scale factors along K: 0 where the type has none.
int64_t problem_scales(const Problem *problem);
// Tiles of factors: those of 128 rows, four along K, are 512 bytes, as 32 rows of 16: row r, factor
// j is byte r % 32 * 16 + r / 32 * 4 + j (cuBLAS, 128x4 scaling factor layout; what tcgen05.cp
// .32x128b takes). Tiles along K follow each other, then those of the next rows; what is beyond the
// matrix is there and never multiplied. As a buffer, in rows of 256 bytes, the longest that a box
// of TMA has: [M / 128][K / S / 4 * 2][256]. Worked example, row 37 and factor 6: tile 1 along K,
// byte 5 * 16 + 1 * 4 + 2 of it, so [0][2][86].
enum { FACTOR_ROWS = 128, FACTORS_ALONG = 4, FACTOR_TILE_BYTES = 512, FACTOR_COLUMNS = 256 };
enum { FACTOR_LANES = 32, FACTOR_LANE_BYTES = 16 };
// Of a tile: its columns of tensor memory, and its rows in such a buffer.
enum {
  FACTOR_TILE_COLUMNS = FACTOR_ROWS / FACTOR_LANES,
  FACTOR_TILE_ROWS = FACTOR_TILE_BYTES / FACTOR_COLUMNS
};
// Where the factor of a row of A, or a column of B, is in SFA or SFB, in factors.
int64_t problem_factor_place(const Problem *problem, int64_t row, int64_t factor);
// Units of an input: A and B, then SFA and SFB if there are any; or Q, K and V.
enum { PROBLEM_INPUTS_MAX = 4 };
int problem_inputs(const Problem *problem);
int64_t problem_input_elements(const Problem *problem, int input);

// BARRIER: mbarriers, 8 bytes each, which lie in shared memory behind everything else. TENSOR:
// tensor memory, 128 lanes of columns of 32 bits, of which a block has what it has allocated.
typedef enum Space {
  SPACE_GLOBAL,
  SPACE_SHARED,
  SPACE_REGISTER,
  SPACE_BARRIER,
  SPACE_TENSOR,
  SPACE_COUNT
} Space;

// Tensor memory of an SM (PTX ISA, Tensor Memory): lanes and columns, of which an allocation has a
// power of two, from 32 on; a warp reaches the lanes of its quarter, 32 * (warp % 4) and up.
enum { TENSOR_LANES = 128, TENSOR_COLUMNS = 512, TENSOR_COLUMNS_LEAST = 32, TENSOR_QUARTERS = 4 };
// Columns are had by powers of two: whether so many can be, and the least that has room for them.
static inline bool tensor_can_allocate(int64_t columns) {
  return columns >= TENSOR_COLUMNS_LEAST && columns <= TENSOR_COLUMNS && is_power_of_two(columns);
}
static inline int64_t tensor_allocation(int64_t columns) {
  int64_t n = TENSOR_COLUMNS_LEAST;
  while (n < columns) n *= 2;
  return n;
}

// What a buffer is for. The passes find buffers by role, never by name.
typedef enum BufferRole {
  ROLE_A,
  ROLE_B,
  ROLE_C,       // the problem's operands in global memory; of attention Q, K and O,
  ROLE_V,       // and V
  ROLE_SCORES,  // S, its weights P and their row sums, where kernels hand them on
  ROLE_WEIGHTS,
  ROLE_ROW_SUMS,
  ROLE_PARTIAL,  // split-K workspace [splits][M][N]
  ROLE_SLAB_A,
  ROLE_SLAB_B,  // staged tiles in shared memory
  ROLE_ACC,     // accumulators [FM][FN]
  ROLE_FRAG_A,
  ROLE_FRAG_B,  // one k-step's values of a thread
  ROLE_STAGE_A,
  ROLE_STAGE_B,  // registers on the way from global to shared
  ROLE_SLAB_C,
  ROLE_STAGE_C,  // the epilogue's staged tile, and registers on its way to C
  ROLE_FULL,
  ROLE_EMPTY,  // mbarriers, one per slot of the ring: it is filled; it is read to the end
  ROLE_ORDER,  // mbarriers, one per consumer that takes tiles by turns: it has multiplied its tile
  ROLE_SLAB_V,
  ROLE_STAGE_V,
  ROLE_FRAG_V,
  ROLE_FRAG_P,   // the weights as operand A of the second product
  ROLE_SCORE,    // sums of the first product
  ROLE_ROW_MAX,  // of each of a thread's rows: the largest score, the sum of weights,
  ROLE_ROW_SUM,
  ROLE_ROW_BASE,     // alpha times the largest score,
  ROLE_ROW_DIVISOR,  // the sum of weights that another kernel has found,
  ROLE_RESCALE,      // and what older sums are worth below a new maximum
  ROLE_LIST,         // a word behind them: the list of tiles that the cluster has claimed
  ROLE_ACC_FULL,
  ROLE_ACC_EMPTY,    // mbarriers, one per set of sums: they are whole; they have been read
  ROLE_SUMS,         // accumulators in tensor memory, which registers take on their way out
  ROLE_TENSOR_BASE,  // a word behind the mbarriers: where the block's tensor memory begins
  ROLE_TEMP,
  ROLE_SFA,
  ROLE_SFB,  // scale factors in global memory, [M][K / S] and [N][K / S],
  ROLE_FRAG_SFA,
  ROLE_FRAG_SFB,  // and those that a lane gives to its warp's atoms, a register for each
  ROLE_SLAB_SFA,
  ROLE_SLAB_SFB,    // of a slab, in shared memory, in tiles
  ROLE_TENSOR_SFA,  // and in tensor memory, [lanes][columns][4]
  ROLE_TENSOR_SFB,
  ROLE_COUNT
} BufferRole;

const char *buffer_role_name(BufferRole role);  // "slab_a"
// The words in SPACE_BARRIER: "mbarrier", or beside them the "address" of the block's tensor memory
// and the "number" of the cluster's list.
const char *buffer_barrier_word(BufferRole role);

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
  bool transposed;  // a slab whose rows and columns are stored the other way round
  int64_t panel;  // a slab cut into panels of so many columns, [panels][rows][panel]; 0 = one piece
  int64_t run, run_pad;  // rows of a slab in runs of so many columns, each with a pad; 0 = no runs
  int64_t offset_bytes;  // SHARED: where it starts in the block's shared memory
  int column;            // TENSOR: its first column, counted from where the allocation begins
} Buffer;

int64_t buffer_elements(const Buffer *buffer);  // pads included
// The strides of rows that follow each other, each with so many elements behind it; of tensor
// memory its lanes are 512 columns apart.
void buffer_plain_strides(const Buffer *buffer, int64_t row_pad, int64_t stride[RANK_MAX]);
// Elements of one of its columns: 1, or as many as lie in 32 bits.
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

// One element of a buffer, or the first of `width` neighbours (consecutive offsets).
typedef struct Access {
  Buffer *buffer;  // NULL: no operand
  const Expr *idx[RANK_MAX];
  const Expr *rank;  // SHARED: the block of the cluster in whose memory it lies; NULL: the own one
} Access;

// How the tensor core finds a tile of an operand in shared memory: the fields of its matrix
// descriptor but for the address (PTX ISA, wgmma: Matrix Descriptor Format). They follow from the
// buffer (ir/matrix_tile.h); in a program that somebody edited they are what stands there.
typedef struct MatrixTile {
  bool is_described;  // false: not in shared memory, or laid out as no descriptor can say
  bool trans;         // M or N runs fastest, not K
  int swizzle;        // 0 none, 1 32B, 2 64B, 3 128B
  int64_t lbo, sbo;   // leading and stride dimension byte offset
} MatrixTile;

// How the attributes of attribute.def lie in an operation.
#define ATTRIBUTE_NUMBER int64_t
#define ATTRIBUTE_MAYBE int64_t
#define ATTRIBUTE_FLAG bool
#define ATTRIBUTE_EXPR const Expr *
#define ATTRIBUTE_MAYBE_EXPR const Expr *

typedef struct Op {
  OpKind kind;
  Access dst, src, src2;
  Access scale[2];  // of a multiplication: the factors of A and B, where the type has any. Of an
                    // atom the first of those that a lane gives; it is a byte of a register, or
                    // of a word of tensor memory, and its place there is what PTX calls the
                    // byte-id, or the ID of the scale factors
  int width;        // elements moved by LOAD, STORE, ATOMIC_ADD, CP_ASYNC, INIT; 1 otherwise
#define ATTRIBUTE(name, kind, ...) ATTRIBUTE_##kind name;
#include "model/ir/attribute.def"
  double value;         // INIT
  int64_t box[2];       // of TMA: rows and columns that one copy moves
  const Atom *atom;     // of a multiplication by the tensor core
  MatrixTile tile[2];   // of A and B, where the operation reads tiles
  int cta_group;        // of tcgen05: 2 where a pair of CTAs does it together; 0 and 1: one alone
  uint32_t idesc;       // T_MMA: its instruction descriptor; 0: none yet (ir/matrix_tile.h)
  int64_t factor_tile;  // T_CP: the number of its tile; passes make its place of it
} Op;

typedef enum StmtKind { STMT_LOOP, STMT_IF, STMT_LET, STMT_OP } StmtKind;

// What some warps of a block do apart from the others: threads first … first + n - 1. A kernel has
// a table of them, or none; passes share them, as they never change.
typedef enum RoleWork { WORK_FETCHES, WORK_MULTIPLIES, WORK_WRITES, WORK_COUNT } RoleWork;

typedef struct WarpRole {
  const char *name;  // "producer"
  RoleWork work;
  int64_t first_thread, n_threads;
  int64_t registers;  // left to each of its threads by setmaxnreg; 0: as the launch gives them out
} WarpRole;

const char *role_work_name(RoleWork work);  // "fetches"

typedef struct Stmt Stmt;
struct Stmt {
  StmtKind kind;
  int id;            // unique in its program; stable from one pass to the next
  KnobId knob;       // the knob that put it here; KNOB_NONE: the naive nest
  const char *note;  // why it is here, for the CUDA comment and the screen; may be NULL
  Stmt *next;        // the following statement of the same body
  Var *var;          // LOOP, LET
  int unroll;        // LOOP: 0 = the compiler decides, 1 = never, n = by n, UNROLL_FULL
  const Expr *expr;  // LET: value; IF: condition; LOOP over tiles: its first, NULL: the block's own
  const Expr *end;   // LOOP over tiles or slabs: the first that it leaves out; NULL: its extent
  Stmt *body;        // LOOP, IF
  bool predicated;   // IF around copies: each carries the condition itself, nothing branches
  const WarpRole *role;  // IF: whose body it is, and its condition says so too; NULL: every warp's
  bool elects;           // IF: elect.sync says which lane of a warp it is for (ir/elect.h)
  Op op;                 // OP
};

enum { UNROLL_FULL = -1 };

// A problem axis is rebuilt from loop variables as a mixed-radix sum:
//   m = m_b·128 + m_t·8 + m_r   is   {m_b, 128} {m_t, 8} {m_r, 1}
typedef struct Digit {
  Var *var;
  int64_t weight;
} Digit;

typedef struct Axis {
  const char *name;  // "m", "n", "k"
  int64_t extent;    // M, N or K
  int n_digits;
  Digit digit[DIGITS_MAX];
} Axis;

enum { AXIS_M, AXIS_N, AXIS_K, AXIS_COUNT };
enum { AXES_MAX = 6 };

typedef struct Kernel {
  const char *name;  // "matmul", "zero", "reduce"
  Stmt *body;
  KnobId knob;
  int min_blocks;  // blocks an SM shall have room for; 0: not said
  int n_roles;     // 0: all warps do the same
  const WarpRole *role[ROLES_MAX];
} Kernel;

// One matrix of a product: in which buffers it lies on its way, and what a lane holds of it.
typedef struct ProductOperand {
  BufferRole global, slab, stage, registers;  // registers: fragments of A and B, the sums of C
  bool column_major;                          // as it lies in global memory
  Var *value;                                 // with an atom: runs over a lane's values …
  int value_width;  // … in steps of so many, which are neighbours in memory
} ProductOperand;

// C[m, n] += A[m, k] · B[k, n]: what a pass acts on. Axes and buffers are the program's; products
// that share rows share an axis. Worked example, attention: S[q, t] = Q[q, e] · K[t, e] has the
// axes q, t, e as its m, n, k, and O[q, d] = P[q, u] · V[u, d] has q, d, u; t and u count the same
// keys, in steps of an atom's columns and of its depth, as e and d count the head dimension.
typedef struct Product {
  Axis *axis[AXIS_COUNT];
  Axis *batch;                            // of as many products of matrices; NULL: of one
  int kernel;                             // that computes it
  ProductOperand operand[ATOM_MATRICES];  // A, B, C, and where the type is scaled SFA and SFB
  const Atom *atom;                       // NULL: plain FMA, one element per thread and register
  Var *lane;                              // with an atom: the THREAD digit inside a warp
} Product;

// Which tiles the blocks of the main kernel go through (pass_persistent.c, pass_tail_split.c, a
// feature whose clusters claim them). grid, list and epoch are variables of every program; the LETs
// are NULL where no pass has put them there.
typedef struct Persistent {
  Var *grid;   // VAR_GRID: the clusters of the grid, or its blocks where it has none; where they
               // claim lists, how many of those have tiles
  Var *list;   // VAR_LIST: what the cluster has claimed
  Var *epoch;  // VAR_EPOCH: from 1 on
  Var *tile;  // LET: the tile that an iteration of a loop over tiles is about, where some are parts
              // of tiles; NULL: the loop's own variable
  Var *before;  // LET: the slabs that the block has gone through in front of that; NULL: as many
                // for each turn
  Var *from;    // LET: the slab of K that it begins with; NULL: the first
} Persistent;

typedef struct Program {
  Arena *arena;
  Problem problem;
  int n_vars;  // environment size: 0 <= var->id < n_vars
  int n_stmt_ids;
  int n_buffers;
  Buffer *buffer[BUFFERS_MAX];
  int n_kernels;
  Kernel kernel[KERNELS_MAX];
  int main_kernel;  // index of the one that multiplies
  int n_axes;
  Axis axis[AXES_MAX];  // of a matmul m, n and k
  int n_products;
  Product product[PRODUCTS_MAX];  // in the order in which they are computed
  Var *thread;                    // VAR_THREAD of the main kernel: tid in 0..threads of a block
  Var *block;                     // VAR_BLOCK of the main kernel: bid in 0..blocks of the grid
  Persistent persistent;          // a block that goes through several tiles: which, and when
  Var *any_thread;     // VAR_THREAD over all threads of a block that has roles; else NULL
  int64_t smem_asked;  // bytes of shared memory that the launch asks for; 0: all that is laid out
} Program;

// ---- reading ------------------------------------------------------------------------------------

// The element offset of an access, swizzle included: the one place where an address is computed.
// Multiply by dtype_bytes for bytes; add buffer->offset_bytes (a multiple of 1024 where a buffer is
// swizzled, so that the xor acts within the buffer) for a shared-memory address.
const Expr *access_offset(Arena *arena, const Access *access);

// The condition under which a global access is inside its buffer, as far as the ranges leave it
// open; NULL when it always is. With width > 1 the last dimension is known to be a multiple of it.
const Expr *access_guard(Arena *arena, const Access *access);

// How a kernel's hardware loops are digits of the hardware indices:
//   var = (index / stride) % extent, index = blockIdx.x or threadIdx.x.
typedef struct HardwareDigit {
  Var *var;
  int64_t stride;
} HardwareDigit;

// Digits of the tier CLUSTER are the least significant ones of a block's, so that the blocks of a
// cluster are neighbours, and index % cluster is a block's rank in it.
typedef struct Launch {
  int n_block_digits, n_thread_digits;
  HardwareDigit block[DIGITS_MAX], thread[DIGITS_MAX];
  int64_t n_blocks;   // grid size; of a persistent kernel its tiles, the most blocks that have work
  int64_t cluster;    // blocks of a cluster; 1: there are none
  int64_t n_threads;  // of the digits: those that multiply
  int64_t block_threads;  // block size: the producers, who stand behind the others, included
  const Stmt *body;  // the first statement below the hardware loops, LETs between them excluded
  int n_lets;        // LETs that stand between the hardware loops, outermost first
  const Stmt *let[DIGITS_MAX];
  const Stmt *tiles;  // the loop over tiles of a persistent kernel, its first; else NULL
} Launch;

// The role of a kernel that does this work; NULL: none does.
const WarpRole *kernel_role(const Kernel *kernel, RoleWork work);
// Whether a statement is the body of a role that does this work.
bool stmt_is_role(const Stmt *stmt, RoleWork work);

Launch kernel_launch(const Kernel *kernel);
// The number of a block in its cluster, as an expression over the digits of the tier CLUSTER.
const Expr *cluster_rank(Arena *arena, const Kernel *kernel);
// The first loop over tiles of a list, or under its conditions; NULL: there is none.
Stmt *tile_loop(Stmt *list);
// The tiles that such a loop goes through if each is one iteration: its extent, or where some are
// cut into parts the extent of the LET at its head that counts turns (ring.h, tile_turn).
int64_t tile_count(const Stmt *tiles);
// The end of a loop as an expression: what it says, or its extent.
const Expr *loop_end(Arena *arena, const Stmt *loop);
// Registers that each thread starts with where setmaxnreg moves them: what launch bounds of so many
// threads and blocks (0: 1) leave, in steps of 8, as the assembler gives them out. Worked example,
// 384 threads: 12 warps, 3 in each quarter of the SM with its 16,384 registers: 170, so 168.
int64_t start_registers(int64_t threads, int min_blocks);

const Kernel *program_main(const Program *program);  // the kernel that multiplies
// Warps of a block, those that multiply and all; the last may have idle lanes.
int launch_warps(const Launch *launch);
int launch_block_warps(const Launch *launch);

// What an operation is for where it stands, by the role of what it writes; NULL: op_help() says it.
const char *op_help_here(const Op *op);  // model/ops/table.c
// Whether the product has scale factors.
bool product_is_scaled(const Product *product);
// Every access of an operation that it may have: dst, src, src2 and the scales.
enum { OP_ACCESSES = 5 };
void op_accesses(Op *op, Access *access[OP_ACCESSES]);
// The product whose C is stored, the last: for readings that speak of one. Passes are given theirs.
const Product *program_product(const Program *program);
// The product one of whose operands a role carries; the last where none does.
const Product *program_product_of(const Program *program, BufferRole role);
// The operand of a product that a role carries; ATOM_OPERANDS: none of them.
int product_operand(const Product *product, BufferRole role);
// The atom by which the program multiplies, all of its products; NULL: plain FMA.
const Atom *program_atom(const Program *program);
// Whether any copy or product of a kernel completes later than it is issued.
bool program_works_in_background(const Program *program);
// The two ends of a copy by the tensor memory accelerator, whichever way it goes.
const Access *op_box_global(const Op *op);
const Access *op_box_shared(const Op *op);
// The first copy of a kernel by the tensor memory accelerator from or to a buffer; NULL: none.
const Op *kernel_box_copy(const Kernel *kernel, const Buffer *global);
// The same of the kernel that multiplies: what fills the slab of A or B, or what stores C.
const Op *program_tma(const Program *program, BufferRole operand);

// The blocks that one fetch of an operand is for: those of a cluster that multicast hands it to,
// or 1.
int64_t program_sharers(Arena *scratch, const Program *program, BufferRole operand);

// The dimension along which neighbours are neighbours in memory: the last one, but for a
// column-major operand.
int buffer_fast_dimension(const Buffer *buffer);
// Of a matrix, or of several one behind the other, the other dimension that counts in each.
int buffer_slow_dimension(const Buffer *buffer);
// Of matrices one behind the other in a buffer of three dimensions, one of each head: how many (0:
// it is one matrix), and the element at which the matrix begins that has these indices.
int64_t buffer_matrices(const Buffer *buffer);
int64_t buffer_matrix_begin(const Buffer *buffer, const int64_t index[]);

Buffer *program_buffer(const Program *program, BufferRole role);  // NULL when there is none
int64_t program_smem_bytes(const Program *program);  // of the main kernel, as it is laid out
int64_t program_smem_asked(const Program *program);  // and as the launch asks for it
int program_shared_align(const Program *program);    // where its shared memory must begin, in bytes
// The axis as an expression over its digits.
const Expr *axis_expr(Arena *arena, const Axis *axis);

// Calls visit for every expression of an operation: indices, ranks and what belongs to no operand.
typedef void ExprVisit(const Expr **expr, void *context);
void op_each_expr(Op *op, ExprVisit *visit, void *context);

// Calls visit(stmt, depth, context) for every statement, outermost and first ones first.
typedef void StmtVisit(Stmt *stmt, int depth, void *context);
void stmt_walk(Stmt *body, StmtVisit *visit, void *context);

// ---- building (the naive nest and the passes) ---------------------------------------------------

Program *program_new(Arena *arena, Problem problem);
// A deep copy in `arena`: statements, buffers and axes are new, expressions and variables shared.
// A pass works on the copy, so the program before it stays as it was.
Program *program_clone(Arena *arena, const Program *program);

Var *program_var(Program *program, const char *name, VarKind kind, Tier tier, int64_t extent);
// Strides are those of the dense row-major layout.
Buffer *program_new_buffer(Program *program, const char *name, Space space, BufferRole role,
                           int rank, const int64_t *dim, KnobId knob);
// Lays the shared buffers out one after the other, 128-byte aligned; called after every pass.
void program_place_shared(Program *program);

Access access1(Buffer *buffer, const Expr *i);
Access access2(Buffer *buffer, const Expr *i, const Expr *j);
Access access3(Buffer *buffer, const Expr *i, const Expr *j, const Expr *k);

Stmt *stmt_loop(Program *program, KnobId knob, Var *var, Stmt *body);
Stmt *stmt_if(Program *program, KnobId knob, const Expr *cond, Stmt *body);
Stmt *stmt_let(Program *program, KnobId knob, Var *var, const Expr *value);
Stmt *stmt_op(Program *program, KnobId knob, Op op);
Stmt *stmt_list(Stmt *first, ...);  // links the arguments up to a final NULL; lists may be given
Stmt *stmt_last(Stmt *list);
