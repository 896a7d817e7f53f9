// Every pass file defines two functions: whether the schedule wants the pass, and the rewrite
// itself, of the program and for the product that it is given.
#pragma once
#include "base/whole.h"
#include "model/ir/names.h"
#include "model/ir/rewrite.h"
#include "model/ir/ring.h"
#include "model/ir/role.h"
#include "model/words/knob.h"

#define PASS(id, title, knobs, runs, help)           \
  bool pass_##id##_wanted(const Schedule *schedule); \
  void pass_##id(Program *program, Product *product, const Schedule *schedule);
#include "model/passes/pass.def"
#undef PASS

// Whether the program has several kernels: parts to add, parts of fp32, attention that is not
// fused.
bool schedule_has_kernels(const Schedule *schedule);

// The kind of a problem before any pass (pipeline.c).
Program *pipeline_naive_nest(Arena *arena, Problem problem);
// The naive nests of attention: scores, softmax, apply (attention_nest.c).
Program *attention_nest(Arena *arena, Problem problem);
// In the order of the program's kernels until they are fused.
enum { KERNEL_SCORES, KERNEL_SOFTMAX, KERNEL_APPLY };
// Whether a query at row `q` sees the key `t`, but for what lies outside of both: NULL where every
// one does. Scores of others are -infinity: `unseen` is the condition of it.
const Expr *attention_unseen_key(const Program *program, const Expr *q, const Expr *t);
// The matrix element of one of the product's operands in global memory, of the head at hand.
Access operand_element(Program *program, const Product *product, int operand, const Expr *row,
                       const Expr *column);
// A register buffer of `rows` rows and `columns` columns (0: it has none).
Buffer *attention_new_registers(Program *program, const char *name, BufferRole role, int64_t rows,
                                int64_t columns, KnobId knob);

// Rows of an atom's sums that one lane has a part of, and how they are counted: of a value, and the
// first value of a row; the lanes that share a row, as a mask of the bits in which their numbers
// differ. Worked example, m16n8: two rows, value / 2 and row * 2, bits 0 and 1.
const Expr *row_of_value(Program *program, const Product *product, const Expr *value);
int64_t lanes_of_row(const Product *product);
// Loops around an operation on each value of the product's sums, said for (atom along M, atom along
// N, value), or on each row of them that a lane has a part of, for (atom along M, row).
typedef Op ValueOp(Program *program, const Product *product, const Expr *at[3],
                   const void *context);
Stmt *rows_over_values(Program *program, const Product *product, KnobId knob, ValueOp *op,
                       const void *context);
Stmt *rows_over_rows(Program *program, const Product *product, KnobId knob, ValueOp *op,
                     const void *context);

// A register for each row that a lane has a part of.
void rows_shape(const Product *product, Buffer *buffer, KnobId knob);
// Scores of keys become -infinity that do not exist (`beyond_keys`), or are not seen.
Stmt *rows_hide_values(Program *program, const Product *scores, KnobId knob, bool beyond_keys);

// Tells what stands between a product's sums, in fragments, and their store: scores of keys that
// are not seen become -infinity, O is divided by the sum of weights.
Stmt *attention_behind_sum(Program *program, const Product *product);

// "m_b": a digit is called after its axis.
const char *axis_digit_name(Program *program, const Axis *axis, const char *ending);
// The product's matrices become blocks: the loop over them, outermost in its kernel, is one of
// tier BLOCK.
void attention_bind_batch(Program *program, const Product *product);
void attention_bind_batch_of(Program *program, const Product *product, Kernel *kernel);

// The slab of a product's operand (ATOM_A, ATOM_B); NULL: it is not staged.
Buffer *operand_slab(const Program *program, const Product *product, int operand);

// Builds the cooperative copy of an operand's slab: the threads of the block fetch it `width`
// elements at a time, tid after tid along the rows of global memory. `load` goes to staging
// registers, `store` from there to the slab; with `async` there is one list of CP_ASYNC in `load`
// and no `store`.
typedef struct Copy {
  Stmt *load, *store;
} Copy;
Copy slab_build_copy(Program *program, const Product *product, int operand, int width, bool async,
                     KnobId knob);

// The widest access (16 bytes at most), in elements, that every copy of the operand's slab can make
// from global memory.
int copy_width(Program *program, const Product *product, int operand);

// The number of neighbours in a row of the operand's slab that belong to one thread's cells; the
// whole row if none do.
int64_t slab_cell_run(const Product *product, int operand, const Buffer *slab);

// Whether plain loads of 4 bytes read B's slab as it lies, lane / 4 along its rows: an atom of
// 4-byte values, for which no ldmatrix turns B round.
bool slab_is_read_plainly(const Program *program, const Product *product);

// Builds it anew, through registers, in the place of the copy that k_o's body has.
void slab_replace_copy(Program *program, const Product *product, int operand, int width,
                       KnobId knob);

// The same by the tensor memory accelerator: TMA_LOADs of boxes, one or one per panel; their bytes
// count at the mbarrier `full`.
Stmt *slab_build_boxes(Program *program, const Product *product, int operand, Access full,
                       KnobId knob);

// A loop that initialises all mbarriers of a buffer for `arrivals` arrivals.
Stmt *tma_build_inits(Program *program, Buffer *mbarriers, int64_t arrivals, KnobId knob);
// Puts more inits behind the inits of the one thread that initialises; the fence stands behind all.
void tma_add_inits(Stmt *of_one_thread, Stmt *inits);
Stmt *tma_fence_inits(Program *program, KnobId knob);

// For a slab of fused products, each of which has mbarriers of its own: "full_k".
const char *tma_mbarriers_name(Program *program, const char *what, const Buffer *slab);

// The number of threads that only fetch for `consumers` threads that multiply: PRODUCER_WARPS if it
// says one, else a warpgroup, or a warp if the consumers are no whole warpgroups.
int64_t pass_producers(const Schedule *schedule, int64_t consumers);
// Threads beside the tile's threads that multiply for them; the tile's threads then only write. 0:
// the tile's threads multiply.
int64_t pass_askers(const Schedule *schedule, int64_t writers);
// The registers that setmaxnreg shall leave a consumer; 0 when none need be moved.
int64_t pass_consumer_registers(const Schedule *schedule, int64_t consumers, int64_t producers);

// ROLE_SCHEDULE: whether consumers take tiles by turns, and the number of tiles that a block's
// consumers are at work on at once.
bool pass_pingpong_wanted(const Schedule *schedule);
int64_t pass_tiles_at_once(const Schedule *schedule);

// MMA_GROUPS=1 of fused products: the scores of the next block of keys are under way, and O of this
// one, while rows are weighed; with ROLE_SCHEDULE=pingpong warpgroups ask for them by turns.
// The arrival that releases a slot, of the slab before the one that k_o is at.
Stmt *groups_release_before(Program *program, Stmt *arrive, const Stmt *k_o);
void overlap_products(Program *program, const Schedule *schedule);

// Whether pieces of `columns` columns make up a warp's, and are whole atoms or parts of one.
bool pass_piece_fits(int64_t columns, int64_t of_warp, int64_t of_atom);

// A LET of the same range takes the place of a block digit's variable, also in its axis. The loop
// over the digit is left to the caller.
Stmt *tile_let_digit(Program *program, KnobId knob, Var *old, const Expr *value);
// Tiles of the grid along an axis, of which the block digit is the first.
int64_t tiles_along(const Product *product, int axis);

// The place of a tile by its number, in patches of GROUP_M × GROUP_N or along a Hilbert curve.
typedef struct TilePlace {
  Stmt *let;  // that the place is said over; NULL: none
  const Expr *row, *column;
  KnobId knob_m, knob_n;  // that say the row, the column
} TilePlace;
TilePlace tile_place_grouped(Program *program, const Product *product, const Schedule *schedule,
                             const Expr *tile);
TilePlace tile_place_hilbert(Program *program, const Product *product, const Expr *tile);

// Whether `blocks` of a cluster can fetch a slab together, a share each: whole panels, or runs of
// rows in which the pattern of a swizzle is whole.
bool pass_multicast_divides(int64_t rows, int64_t panels, int64_t blocks);

// Registers of a fragment become n sets of them, [n][…]; the list then accesses one set.
void fragment_add_sets(Buffer *fragment, int64_t n);
void fragment_index_sets(Stmt *list, const Buffer *fragment, const Expr *set);

// Takes the buffers of two roles off the list.
void slab_drop_buffers(Program *program, BufferRole first, BufferRole second);
// Whether a knob of two bits, A's and B's (STAGE, ASYNC_OPERANDS, PAD_OPERANDS), has the operand's.
bool operand_chosen(const Schedule *schedule, KnobId knob, int operand);
// Takes the product's staging registers, which asynchronous copies do without, off the list of
// buffers.
void slab_drop_staging(Program *program, const Product *product);

// Whether slabs are read by descriptors, through the async proxy, and by no lane.
bool slabs_are_tiles(const Product *product);
// All writes of threads to a slab come before the reads of wgmma: it stands in front of the barrier
// that says so. NULL where lanes read, which need only the barrier.
Stmt *slab_fence(Program *program, const Product *product, KnobId knob);

// The slab's element at (row, column) as they lie in the global operand, in the ring slot of k_o.
Access slab_access(Program *program, Buffer *slab, const Expr *row, const Expr *column);
