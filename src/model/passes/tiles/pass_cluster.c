// Blocks on their own → clusters of CLUSTER_M × CLUSTER_N blocks.
//
// Requires: tile or atomize. Ensures: m_b and n_b count clusters; below them stand m_c and n_c, of
// the tier CLUSTER, the least significant digits of blockIdx. So the blocks of a cluster are
// neighbours in the grid and blockIdx % size is a block's rank, %cluster_ctarank. What reorders the
// grid afterwards moves whole clusters.
//
// Worked example, 5 × 4 tiles, CLUSTER_M = 2, CLUSTER_N = 1:
//   m = m_b·128 + m_r        m_b in 0..5         20 blocks
//   m = m_b·256 + m_c·128 + m_r    m_b in 0..3, m_c in 0..2     24 blocks, 4 of them outside of C
// The grid is made of whole clusters, so at a ragged edge there are blocks that have no tile. They
// run along: their loads find zeros, their stores nothing, as the guards follow from the ranges,
// and those that share a cluster with them get what they are owed.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"
#include "model/words/fragment.h"

bool pass_cluster_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_CLUSTER_M] * schedule->value[KNOB_CLUSTER_N] > 1;
}

// A step along an axis of a product.
typedef struct Step {
  Arena *arena;
  const Product *product;
  int axis;
  const Expr *by;
} Step;

// Rows of factors are rows of A, or columns of B. In tiles the first index counts 128 of them; a
// block has multiples of 128.
static void move_factors(Access *access, const Step *step) {
  const int axis = access->buffer->role == ROLE_SFA ? AXIS_M : AXIS_N;
  const bool tiles = access->buffer->rank > 2;
  if (axis != step->axis) return;
  const Expr *by = tiles ? ex_div(step->arena, step->by, FACTOR_ROWS) : step->by;
  access->idx[0] = ex_add(step->arena, access->idx[0], by);
}

static void move_access(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const Step *step = context;
  const Buffer *buffer = access->buffer;
  if (buffer->space != SPACE_GLOBAL) return;
  if (buffer->role == ROLE_SFA || buffer->role == ROLE_SFB) {
    move_factors(access, step);
    return;
  }
  int operand = product_operand(step->product, buffer->role);
  if (operand == ATOM_OPERANDS) operand = ATOM_C;  // partial sums: the first index is the split
  int first = buffer->rank - 2;
  for (int d = 0; d < 2; d++)
    if (operand_axis(operand, d) == step->axis)
      access->idx[first + d] = ex_add(step->arena, access->idx[first + d], step->by);
}

// Blocks that were one along an axis are several now. No index names the digit of an only block, so
// the step from one to the next is added to all that are along the axis.
static void step_by_place(Program *program, const Product *product, int axis, const Var *place,
                          int64_t weight) {
  Arena *arena = program->arena;
  Step step = {arena, product, axis, ex_mul_const(arena, ex_var(arena, place), weight)};
  stmt_each_access(program_main_kernel(program)->body, move_access, &step);
}

// The loop over an axis' tiles runs over clusters of `blocks`; returns the digit for a block's
// place in its cluster, NULL where there is one place alone.
static Var *divide(Program *program, Product *product, int which, const char *name,
                   int64_t blocks) {
  if (blocks == 1) return NULL;
  Arena *arena = program->arena;
  Kernel *kernel = program_main_kernel(program);
  Axis *axis = product->axis[which];
  const Digit old = axis->digit[0];
  Stmt *loop = stmt_find_loop(kernel->body, old.var);
  loop->var =
      program_var(program, old.var->name, VAR_LOOP, TIER_BLOCK, ceil_div(old.var->extent, blocks));
  Var *place = program_var(program, name, VAR_LOOP, TIER_CLUSTER, blocks);
  const Expr *tile =
      ex_add(arena, ex_mul_const(arena, ex_var(arena, loop->var), blocks), ex_var(arena, place));
  stmt_substitute(program, kernel->body, old.var, tile);
  if (old.var->extent == 1) step_by_place(program, product, which, place, old.weight);
  for (int i = axis->n_digits++; i > 1; i--) axis->digit[i] = axis->digit[i - 1];
  axis->digit[0] = (Digit){loop->var, old.weight * blocks};
  axis->digit[1] = (Digit){place, old.weight};
  return place;
}

// The link of what stands below the last loop over blocks.
static Stmt **below_blocks(Kernel *kernel) {
  Stmt **link = &kernel->body;
  while ((*link)->kind == STMT_LOOP && (*link)->var->tier == TIER_BLOCK) link = &(*link)->body;
  return link;
}

void pass_cluster(Program *program, Product *product, const Schedule *schedule) {
  Var *place[] = {divide(program, product, AXIS_M, "m_c", schedule->value[KNOB_CLUSTER_M]),
                  divide(program, product, AXIS_N, "n_c", schedule->value[KNOB_CLUSTER_N])};
  static const KnobId knobs[] = {KNOB_CLUSTER_M, KNOB_CLUSTER_N};
  for (int i = 1; i >= 0; i--) {
    Stmt **link = below_blocks(program_main_kernel(program));
    if (place[i]) *link = stmt_loop(program, knobs[i], place[i], *link);
  }
}
