// Every pass file defines two functions: whether the schedule wants the pass, and the rewrite
// itself.
#pragma once
#include "base/whole.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/ring.h"
#include "model/words/knob.h"

#define PASS(id, title, knobs, help)                 \
  bool pass_##id##_wanted(const Schedule *schedule); \
  void pass_##id(Program *program, const Schedule *schedule);
#include "model/passes/pass.def"
#undef PASS

// Builds the cooperative copy of one slab: the threads of the block fetch it `width` elements at a
// time, tid after tid along the rows of global memory. `load` goes to staging registers, `store`
// from there to the slab; with `async` there is one list of CP_ASYNC in `load` and no `store`.
typedef struct Copy {
  Stmt *load, *store;
} Copy;
Copy build_copy(Program *program, BufferRole slab, int width, bool async, KnobId knob);

// The widest access (16 bytes at most), in elements, that every copy of this slab can make from
// global memory.
int copy_width(Program *program, BufferRole slab);

// Do neighbours along k lie together in the slab (NULL: there is none yet)? A row-major, B
// column-major, or turned round.
bool slab_runs_along_k(const Program *program, int operand, const Buffer *slab);

// The number of neighbours in a row of the slab that belong to one thread's cells; the whole row if
// none do.
int64_t slab_cell_run(const Program *program, const Buffer *slab);

// Whether B's slab, as it lies, is read by plain loads of 4 bytes, lane / 4 along its rows: an atom
// of 4-byte values whose B no ldmatrix turns round.
bool slab_is_read_plainly(const Program *program);

// Builds it anew, through registers, in the place of the copy that k_o's body has.
void replace_copy(Program *program, BufferRole slab, int width, KnobId knob);

// The same by the tensor memory accelerator: TMA_LOADs of boxes, one or one per panel, whose bytes
// count at the mbarrier `full`.
Stmt *build_boxes(Program *program, BufferRole slab, Access full, KnobId knob);

// A loop that initialises all mbarriers of a buffer for so many arrivals.
Stmt *build_inits(Program *program, Buffer *mbarriers, int64_t arrivals, KnobId knob);

// The number of threads that only fetch for so many that multiply: PRODUCER_WARPS if it says one,
// else a warpgroup, or a warp if those that multiply are no whole warpgroups.
int64_t pass_producers(const Schedule *schedule, int64_t consumers);

// Columns of a piece that a warp sends to C at a time: EPI_N, or the widest panel of at most 128
// bytes that its columns are a multiple of. `of_atom`: columns of the atom.
int64_t pass_piece_columns(const Schedule *schedule, int64_t of_atom, int element_bytes);
// Whether pieces of so many columns make up a warp's, and are whole atoms or parts of one.
bool pass_piece_fits(int64_t columns, int64_t of_warp, int64_t of_atom);

// Takes the staging registers, which asynchronous copies do without, off the list of buffers.
void drop_staging(Program *program);

// The slab's element at (row, column) as they lie in the global operand, in the ring slot of k_o.
Access slab_access(Program *program, Buffer *slab, const Expr *row, const Expr *column);
