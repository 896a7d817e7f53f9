// The few moves all passes are made of: finding, substituting, copying and wrapping statements.
#pragma once
#include "model/ir/names.h"

// The kernel that multiplies, to be changed (program_main reads it).
Kernel *program_main_kernel(Program *program);

// The kernel that computes the product: of a program of one product its main one.
Kernel *product_kernel_of(Program *program, const Product *product);

// k_o, the main kernel's loop over slabs; NULL where nothing is staged.
Stmt *program_slab_loop(const Program *program);
// The same, or the loop over k where nothing is staged: one step of it is a slab of depth 1.
Stmt *program_outer_k_loop(const Program *program);

// The first loop of a tier in a list, outermost first; NULL when there is none.
Stmt *stmt_find_tier(Stmt *list, Tier tier);
// The first loop over the variable; NULL when there is none.
Stmt *stmt_find_loop(Stmt *list, const Var *var);
// Cuts the statement at *link out of its list and returns it alone.
Stmt *stmt_cut(Stmt **link);
// A barrier of the threads that multiply: of the whole block, or where warps have roles of the
// consumers alone.
Stmt *stmt_barrier(Program *program, KnobId knob, const char *why);

// Puts `list` where link points, in front of what stands there.
void stmt_insert(Stmt **link, Stmt *list);

// Calls visit for every operand of every operation in the list.
typedef void AccessVisit(Access *access, Stmt *stmt, void *context);
void stmt_each_access(Stmt *list, AccessVisit *visit, void *context);

// Replaces a variable by an expression in every index, guard and LET of the list, and in the axes
// when `in_axes` (loops over the variable are left to the caller).
void stmt_substitute(Program *program, Stmt *list, const Var *var, const Expr *by);

// Where the body of k_o reads a global operand of the product, `slab` takes the place of k_o.
void stmt_fetch_slab(Program *program, const Product *product, Stmt *k_o, const Expr *slab);

// A copy of the list with statement ids of its own.
Stmt *stmt_copy_list(Program *program, const Stmt *list);
// The same with `by` in the place of a variable: a slab's copies, for another slab.
Stmt *stmt_copy_for(Program *program, const Stmt *list, const Var *var, const Expr *by);

// A REGISTER loop around the list; the list itself when the extent is 1.
Stmt *stmt_wrap_register(Program *program, KnobId knob, Var *var, Stmt *list);

// Splits the REGISTER variable into outer·width + inner everywhere in the main kernel: each loop
// over it becomes two. The axes are left to the caller. `width` divides the extent.
typedef struct Split {
  Var *outer, *inner;
} Split;
Split stmt_split_register(Program *program, const Var *var, int64_t width, const char *outer_name,
                          const char *inner_name, KnobId knob);

// Sets the indices of every access to the product's A, B and C from its axes.
void program_apply_axes(Program *program, const Product *product);

// Where the parts of an operand have place k of the axis; k itself where nothing is split. Worked
// example, 6xbf16 and K = 4096, k = 4100: product 1 multiplies part 1 of A, which begins at 4096:
// place 4100; and part 1 of B.
const Expr *part_place(Program *program, int operand, const Expr *k);

// The axis of dimension 0 (rows) or 1 (columns) of an operand, and the dimension along which it
// runs slowly in memory: 0, or 1 where it is column-major.
int operand_axis(int operand, int dimension);
int product_slow_dimension(const Product *product, int operand);
// Do neighbours along k lie together in the operand's slab (NULL: there is none yet)? A row-major,
// B column-major, or turned round.
bool slab_runs_along_k(const Product *product, int operand, const Buffer *slab);

// The operand's element at (slow, fast) coordinates inside the block's tile: what its slab is
// indexed with. `part` adds what lane and value contribute to a dimension (fragment_part, or an
// address of ldmatrix).
typedef const Expr *PartOf(Program *program, const Product *product, int operand, int dimension,
                           const void *context);
void tile_position(Program *program, const Product *product, int operand, PartOf *part,
                   const void *context, const Expr **slow, const Expr **fast);

// The part of the row (dimension 0) or column (1) of an operand's element that lane and value add:
// the fragment map of the product's atom; 0 without an atom.
const Expr *fragment_part(Program *program, const Product *product, int operand, int dimension);

// The same of any value of an atom's.
const Expr *fragment_part_of(Program *program, const Product *product, int operand, int dimension,
                             const Expr *value);

// sum of bit i of x times coefficient[i], bits whose coefficients double gathered:
//   {2, 4, 0, 0, 0} gives x % 4 * 2,   {0, 0, 1, 2, 4} gives x / 4
const Expr *layout_bits_expr(Arena *arena, const Expr *x, const int *coefficient, int n_bits);

// The index of a factor where factors lie in tiles.
void layout_factor_index(Arena *arena, const Expr *row, const Expr *factor, const Expr *idx[3]);

// The statement that multiplies for the product, the one that reads a fragment of its operand, and
// the loop over its k-steps within a slab: NULL where nothing is staged, or once
// pass_fragment_buffer has taken the last step out of it.
Stmt **stmt_find_multiply(const Product *product, Stmt **list);
Stmt **stmt_find_read(const Product *product, AtomOperand operand, Stmt **list);
Stmt *stmt_find_steps(const Product *product, Stmt *list);

// The digits of an axis on one side of the block boundary, as an expression:
// inside = what varies within one block's tile, outside = where the tile starts.
const Expr *axis_inside(Program *program, const Axis *axis);
const Expr *axis_outside(Program *program, const Axis *axis);
// The first digit of a tier, which must be there.
const Digit *axis_digit(const Axis *axis, Tier tier);
// The elements of the axis that its digit of the tier REGISTER goes through, lane by lane.
int64_t axis_register_part(const Axis *axis);
// Warps, or warpgroups, that share the tile of a block along M and N.
int64_t product_warps(const Product *product);
// The number of elements of the axis that one block's tile covers.
int64_t axis_tile(const Axis *axis);

// The statement with the body that every thread of a block runs: the innermost hardware loop. NULL
// while there is no such loop.
Stmt *kernel_block(Kernel *kernel);
// The statement with the body that each multiplying thread runs for a tile: the same, or the role
// of the consumers inside it, or the loop over tiles inside of either, or the statements of a
// consumer when a tile is its turn.
Stmt *kernel_inner(Kernel *kernel);
// The loop over tiles of the threads that multiply; NULL: there is none.
Stmt *kernel_tiles(Kernel *kernel);
// The same of the threads that write C, which multiply too or have a role of their own.
Stmt *kernel_writer(Kernel *kernel);
Stmt *kernel_writer_tiles(Kernel *kernel);
