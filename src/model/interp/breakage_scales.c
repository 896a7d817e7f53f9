// Breakages of scale factors, which no address and no barrier gives away: every factor is a number.
//
// Worked example, m16n8k32.mxf8 with SCALE_WORDS=1: byte 1 of sfa where byte 0 is meant scales the
// first 32 elements along K by the factor of the next 32, and all cells of C are wrong.
#include "model/interp/breakage_parts.h"
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

enum { REGISTER_BYTES = 4 };

// The byte-id of the next step, where a register, or a word of tensor memory, holds the factors of
// more than one.
static bool next_byte(Program *program, Stmt *stmt) {
  Arena *arena = program->arena;
  const int factors = stmt->op.atom && stmt->kind == STMT_OP ? atom_scales(stmt->op.atom) : 0;
  if (!factors || factors == REGISTER_BYTES) return false;
  Access *scale = &stmt->op.scale[ATOM_A];
  const Expr **byte = &scale->idx[scale->buffer->rank - 1];
  *byte = ex_mod(arena, ex_add_const(arena, *byte, factors), REGISTER_BYTES);
  return true;
}

bool break_scale_byte(Program *program) { return breakage_change_each(program, next_byte); }

// The factors of A of the slab before, or where there are no slabs of the step before.
static bool of_before(Program *program, Stmt *stmt) {
  Arena *arena = program->arena;
  const Access *to = &stmt->op.dst;
  if (!stmt_is_op(stmt, OP_LOAD) || to->buffer->role != ROLE_FRAG_SFA) return false;
  const Axis *k = &program->axis[AXIS_K];
  const int64_t units = problem_depth(&program->problem) / problem_scales(&program->problem);
  const int64_t step = program_slab_loop(program) ? axis_tile(k) : k->digit[k->n_digits - 1].weight;
  const int64_t each = step / units, all = stmt->op.src.buffer->dim[1];
  if (each % all == 0) return false;
  const Expr *at = stmt->op.src.idx[1];
  stmt->op.src.idx[1] = ex_mod(arena, ex_add_const(arena, at, all - each % all), all);
  return true;
}

bool break_scale_stale(Program *program) { return breakage_change_each(program, of_before); }

// ---- in tensor memory ---------------------------------------------------------------------------

bool break_factor_copy(Program *program) {
  return breakage_drop_all(&program_main_kernel(program)->body, OP_T_CP, ROLE_TENSOR_SFA);
}

// The first copy of a list goes behind the products that it is for.
static bool copy_late(Stmt **list) {
  for (Stmt **link = list; *link; link = &(*link)->next) {
    Stmt **product = stmt_find_link(list, OP_T_MMA, ROLE_COUNT);
    const bool is_copy =
        stmt_find_link(link, OP_T_CP, ROLE_COUNT) == link && (*link)->kind != STMT_IF;
    if (is_copy && product && !stmt_find_op((*link)->body, OP_T_MMA, ROLE_COUNT)) {
      Stmt *behind = *product, *copy = stmt_cut(link);
      stmt_insert(&behind->next, copy);
      return true;
    }
    if (copy_late(&(*link)->body)) return true;
  }
  return false;
}

bool break_factor_late(Program *program) { return copy_late(&program_main_kernel(program)->body); }

// Factors of B from the columns of A's.
static bool other_columns(Program *program, Stmt *stmt) {
  (void)program;
  if (!stmt_is_op(stmt, OP_T_MMA) || !stmt->op.scale[ATOM_B].buffer) return false;
  stmt->op.scale[ATOM_B] = stmt->op.scale[ATOM_A];
  return true;
}

bool break_factor_columns(Program *program) { return breakage_change_each(program, other_columns); }

// Allocates only the columns that the sums take, if the factors ask for more.
static bool room_for_sums(Program *program, Stmt *stmt) {
  const Buffer *sums = program_buffer(program, ROLE_SUMS);
  if (!stmt_is_op(stmt, OP_T_ALLOC) && !stmt_is_op(stmt, OP_T_FREE)) return false;
  const int64_t columns = tensor_allocation(sums->column + sums->dim[1]);
  if (!program_buffer(program, ROLE_TENSOR_SFA) || columns == stmt->op.columns) return false;
  stmt->op.columns = columns;
  return true;
}

bool break_factor_alloc(Program *program) { return breakage_change_each(program, room_for_sums); }

// Puts every slab's words where slot 0 has its words, in a kernel with one warpgroup.
static bool first_words(Program *program, Stmt *stmt) {
  const Buffer *full = program_buffer(program, ROLE_FULL);
  const WarpRole *writes = kernel_role(program_main(program), WORK_WRITES);
  const bool one = writes && writes->n_threads == TENSOR_LANES;
  if (!one || full->dim[0] < 2 || (!stmt_is_op(stmt, OP_T_CP) && !stmt_is_op(stmt, OP_T_MMA)))
    return false;
  Access *at[] = {&stmt->op.dst, &stmt->op.scale[ATOM_A], &stmt->op.scale[ATOM_B]};
  bool any = false;
  for (int i = 0; i < 3; i++) {
    const Buffer *to = at[i]->buffer;
    if (!to || to->space != SPACE_TENSOR || !buffer_is_factors(to)) continue;
    at[i]->idx[1] = ex_mod(program->arena, at[i]->idx[1], to->dim[1] / full->dim[0]);
    any = true;
  }
  return any;
}

bool break_factor_slot(Program *program) { return breakage_change_each(program, first_words); }
