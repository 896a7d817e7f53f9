// Breakages of scale factors, which no address and no barrier gives away: every factor is a number.
//
// Worked example, m16n8k32.mxf8 with SCALE_WORDS=1: byte 1 of sfa where byte 0 is meant scales the
// first 32 elements along K by the factor of the next 32, and all cells of C are wrong.
#include "model/interp/breakage_parts.h"
#include "model/ir/rewrite.h"

enum { REGISTER_BYTES = 4 };

// The byte-id of the next step, where a register holds the factors of more than one.
static bool next_byte(Program *program, Stmt *stmt) {
  Arena *arena = program->arena;
  const int factors = stmt->op.atom && stmt->kind == STMT_OP ? atom_scales(stmt->op.atom) : 0;
  if (!factors || factors == REGISTER_BYTES) return false;
  Access *scale = &stmt->op.scale[ATOM_A];
  scale->idx[1] = ex_mod(arena, ex_add_const(arena, scale->idx[1], factors), REGISTER_BYTES);
  return true;
}

bool break_scale_byte(Program *program) { return change_each(program, next_byte); }

// The factors of A of the slab before, or where there are no slabs of the step before.
static bool of_before(Program *program, Stmt *stmt) {
  Arena *arena = program->arena;
  const Access *to = &stmt->op.dst;
  if (!is_op(stmt, OP_LOAD) || to->buffer->role != ROLE_FRAG_SFA) return false;
  const Axis *k = &program->axis[AXIS_K];
  const int64_t units = problem_depth(&program->problem) / problem_scales(&program->problem);
  const int64_t step = slab_loop(program) ? axis_tile(k) : k->digit[k->n_digits - 1].weight;
  const int64_t each = step / units, all = stmt->op.src.buffer->dim[1];
  if (each % all == 0) return false;
  const Expr *at = stmt->op.src.idx[1];
  stmt->op.src.idx[1] = ex_mod(arena, ex_add_const(arena, at, all - each % all), all);
  return true;
}

bool break_scale_stale(Program *program) { return change_each(program, of_before); }
