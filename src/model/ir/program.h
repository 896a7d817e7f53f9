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
#include "model/ir/names.h"
#include "model/ir/problem.h"
#include "model/ir/role.h"

// Tells what some warps of a block do apart from the others: threads first … first + n - 1. A
// kernel has a table of them, or none; passes share them, as they never change.
typedef enum RoleWork { WORK_FETCHES, WORK_MULTIPLIES, WORK_WRITES, WORK_COUNT } RoleWork;

typedef struct WarpRole {
  const char *name;  // "producer"
  RoleWork work;
  int64_t first_thread, n_threads;
  int64_t registers;  // left to each of its threads by setmaxnreg; 0: as the launch gives them out
} WarpRole;

const char *role_work_name(RoleWork work);  // "fetches"

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

enum { AXES_MAX = 6 };

typedef struct Kernel {
  const char *name;  // "matmul", "zero", "reduce"
  Stmt *body;
  KnobId knob;
  int min_blocks;  // blocks an SM shall have room for; 0: not said
  bool dependent;  // launched while the kernel in front still runs; it waits for that one's end
  int n_roles;     // 0: all warps do the same
  const WarpRole *role[ROLES_MAX];
} Kernel;

// One matrix of a product: in which buffers it lies on its way, and what a lane holds of it.
typedef struct ProductOperand {
  BufferRole global, slab, stage, registers;  // registers: fragments of A and B, the sums of C
  bool column_major;                          // as it lies in global memory
  Var *value;                                 // with an atom: runs over a lane's values …
  int value_width;   // … in steps of this many, which are neighbours in memory
  BufferRole given;  // of a split product, the matrix that `global` has the parts of
} ProductOperand;

// C[m, n] += A[m, k] · B[k, n]: what a pass acts on. Axes and buffers are the program's; products
// that share rows share an axis. Worked example, attention: S[q, t] = Q[q, e] · K[t, e] has the
// axes q, t, e as its m, n, k, and O[q, d] = P[q, u] · V[u, d] has q, d, u; t and u count the same
// keys, in steps of an atom's columns and of its depth, as e and d count the head dimension.
typedef struct Product {
  Axis *axis[AXIS_COUNT];
  Axis *batch;                            // counts the products of matrices; NULL: one product
  int kernel;                             // that computes it
  ProductOperand operand[ATOM_MATRICES];  // A, B, C, and where the type is scaled SFA and SFB
  const Atom *atom;                       // NULL: plain FMA, one element per thread and register
  Var *lane;                              // with an atom: the THREAD digit inside a warp
} Product;

// The tiles that the blocks of the main kernel go through (pass_persistent.c, pass_tail_split.c, a
// feature with clusters that claim them). grid, list and epoch are variables of every program; the
// LETs are NULL where no pass has put them there.
typedef struct Persistent {
  Var *grid;   // VAR_GRID: the clusters of the grid, or its blocks where it has none; where they
               // claim lists, the number of those that have tiles
  Var *list;   // VAR_LIST: what the cluster has claimed
  Var *epoch;  // VAR_EPOCH: from 1 on
  Var *tile;  // LET: the tile that an iteration of a loop over tiles is about, where some are parts
              // of tiles; NULL: the loop's own variable
  Var *before;  // LET: the slabs that the block has gone through in front of that; NULL: the same
                // number for each turn
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

// The role of a kernel that does this work; NULL: none does.
const WarpRole *kernel_role(const Kernel *kernel, RoleWork work);
// Whether a statement is the body of a role that does this work.
bool stmt_is_role(const Stmt *stmt, RoleWork work);

// The number of a block in its cluster, as an expression over the digits of the tier CLUSTER.
const Expr *cluster_rank(Arena *arena, const Kernel *kernel);
// Registers that each thread starts with where setmaxnreg moves them: launch bounds of `threads`
// and `min_blocks` (0: 1) leave this number, in steps of 8, as the assembler gives them out. Worked
// example, 384 threads: 12 warps, 3 in each quarter of the SM with its 16,384 registers: 170, so
// 168.
int64_t program_start_registers(int64_t threads, int min_blocks);

const Kernel *program_main(const Program *program);  // the kernel that multiplies
// Whether the product has scale factors.
bool product_is_scaled(const Product *product);
// The last product, which stores C: for readings that speak of one. Passes are given theirs.
const Product *program_product(const Program *program);
// The product that has an operand with this role; the last where none has.
const Product *program_product_of(const Program *program, BufferRole role);
// The operand of a product that a role carries; ATOM_OPERANDS: none of them.
int product_operand(const Product *product, BufferRole role);
// Whether any copy or product of a kernel completes later than it is issued.
bool program_works_in_background(const Program *program);
// The first copy of a kernel by the tensor memory accelerator from or to a buffer; NULL: none.
const Op *kernel_box_copy(const Kernel *kernel, const Buffer *global);
// The same of the kernel that multiplies: what fills the slab of A or B, or what stores C.
const Op *program_tma(const Program *program, BufferRole operand);

// The number of blocks that one fetch of an operand serves: the blocks of a cluster that multicast
// hands it to, or 1.
int64_t program_sharers(Arena *scratch, const Program *program, BufferRole operand);

Buffer *program_buffer(const Program *program, BufferRole role);  // NULL when there is none
// 32-bit registers of a thread for a buffer in registers, 0 where there is none: two 16-bit values
// share one.
int program_registers(const Program *program, BufferRole role);
int64_t program_smem_bytes(const Program *program);  // of the main kernel, as it is laid out
int64_t program_smem_asked(const Program *program);  // and as the launch asks for it
int program_shared_align(const Program *program);    // where its shared memory must begin, in bytes
// The axis as an expression over its digits.
const Expr *axis_expr(Arena *arena, const Axis *axis);

// ---- building (the naive nest and the passes) ---------------------------------------------------

Program *program_new(Arena *arena, Problem problem);
// A deep copy in `arena`: statements, buffers and axes are new, expressions and variables shared.
// A pass works on the copy, so the program before it stays as it was.
Program *program_clone(Arena *arena, const Program *program);
// The program is all that the other one was, which is not used any more.
void program_become(Program *program, const Program *other);

Var *program_var(Program *program, const char *name, VarKind kind, Tier tier, int64_t extent);
// Strides follow the dense row-major layout.
Buffer *program_new_buffer(Program *program, const char *name, Space space, BufferRole role,
                           int rank, const int64_t *dim, KnobId knob);
// Lays the shared buffers out one after the other, 128-byte aligned; called after every pass.
void program_place_shared(Program *program);
