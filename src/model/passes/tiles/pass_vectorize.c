// Runs of neighbouring elements → single accesses of 16 or 8 bytes.
//
// Requires: addresses are final but for the ring (stage, transpose_a, pad before). Ensures: copies
// move as many elements as alignment allows; a REGISTER loop around one load or store whose offsets
// step by 1 on both sides becomes wide accesses. Preserves: which elements move.
//
// Worked example: for m_r in 0..8: a[m_r] = A_s[k_i, m_t·8 + m_r] becomes two 16-byte loads. The
// alignment is proven, not hoped for: m_t·8 + 132·k_i is a multiple of 4 (expr_divisor), with a pad
// of 1 it is not, and the loads stay narrow.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_vectorize_wanted(const Schedule *schedule) {
  // An atom's values come in registers, and its copies are as wide as can be from the start.
  return schedule->value[KNOB_VECTORIZE] != 0 && schedule->value[KNOB_ATOM_KIND] == 0;
}

// ---- the copies ---------------------------------------------------------------------------------

static void widen_copy(Program *program, const Product *product, int operand) {
  if (!operand_slab(program, product, operand)) return;
  int width = copy_width(program, product, operand);
  if (width > 1) slab_replace_copy(program, product, operand, width, KNOB_VECTORIZE);
}

// ---- runs of registers --------------------------------------------------------------------------

static const Access *memory_side(const Op *op) { return op->kind == OP_LOAD ? &op->src : &op->dst; }
static const Access *register_side(const Op *op) {
  return op->kind == OP_LOAD ? &op->dst : &op->src;
}

static bool aligned(Program *program, const Access *access, int width) {
  if (expr_divisor(access_offset(program->arena, access)) % width != 0) return false;
  if (access->buffer->space != SPACE_GLOBAL) return true;
  int last = buffer_fast_dimension(access->buffer);
  return access->buffer->dim[last] % width == 0 && expr_divisor(access->idx[last]) % width == 0;
}

static Op at_zero(Program *program, Op op, const Var *var) {
  const Expr *zero = ex_const(program->arena, 0);
  Access *access[] = {&op.dst, &op.src};
  for (int i = 0; i < 2; i++)
    for (int d = 0; d < access[i]->buffer->rank; d++)
      access[i]->idx[d] = expr_substitute(program->arena, access[i]->idx[d], var, zero);
  return op;
}

static bool steps_by_one(Program *program, const Access *access, const Var *var) {
  int64_t stride;
  return expr_stride(access_offset(program->arena, access), var, &stride) && stride == 1;
}

// A REGISTER loop around a single load or store that walks both sides element by element.
static bool is_run(Program *program, const Stmt *loop) {
  if (loop->kind != STMT_LOOP || loop->var->tier != TIER_REGISTER) return false;
  const Stmt *stmt = loop->body;
  if (stmt->kind != STMT_OP || stmt->next || stmt->op.width != 1) return false;
  if (stmt->op.kind != OP_LOAD && stmt->op.kind != OP_STORE) return false;
  return steps_by_one(program, memory_side(&stmt->op), loop->var) &&
         steps_by_one(program, register_side(&stmt->op), loop->var);
}

// The widest access that divides the run, once every index is a multiple of it at the run's start.
static int run_width(Program *program, const Stmt *loop) {
  Op start = at_zero(program, loop->body->op, loop->var);
  for (int width = 4; width > 1; width /= 2)
    if (loop->var->extent % width == 0 && aligned(program, memory_side(&start), width) &&
        aligned(program, register_side(&start), width))
      return width;
  return 1;
}

static Stmt *find_run(Program *program, Stmt *list, int *width) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (is_run(program, stmt) && (*width = run_width(program, stmt)) > 1) return stmt;
    Stmt *inner = stmt->body ? find_run(program, stmt->body, width) : NULL;
    if (inner) return inner;
  }
  return NULL;
}

// The loop over one access's elements becomes one access.
static void collapse(Program *program, Stmt *loop) {
  Op op = at_zero(program, loop->body->op, loop->var);
  op.width = (int)loop->var->extent;
  Stmt *wide = loop->body;
  wide->op = op;
  wide->knob = KNOB_VECTORIZE;
  Stmt *next = loop->next;
  *loop = *wide;
  loop->next = next;
}

// A run longer than one access is cut in two loops first, everywhere: the loops over a thread's
// cells keep one shape through the whole kernel.
static void widen_run(Program *program, Stmt *loop, int width) {
  if (loop->var->extent > width) {
    const char *name = loop->var->name;
    bool again = str_equal(name + 1, "_v");  // n_v of an earlier split: n_w and n_u
    const char *outer = arena_printf(program->arena, "%.1s_%s", name, again ? "w" : "q");
    const char *inner = arena_printf(program->arena, "%.1s_%s", name, again ? "u" : "v");
    stmt_split_register(program, loop->var, width, outer, inner, KNOB_VECTORIZE);
  } else {
    collapse(program, loop);
  }
}

void pass_vectorize(Program *program, Product *product, const Schedule *schedule) {
  (void)schedule;
  widen_copy(program, product, ATOM_A);
  widen_copy(program, product, ATOM_B);
  Kernel *kernel = program_main_kernel(program);
  int width = 1;
  for (Stmt *run; (run = find_run(program, kernel->body, &width));) widen_run(program, run, width);
}
