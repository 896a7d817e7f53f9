#include "model/passes/flat_kernel.h"

#include "model/ir/program.h"

enum { FLAT_THREADS = 256 };

Flat flat_cells(Program *program, int64_t slow, int64_t fast, int64_t width) {
  Arena *arena = program->arena;
  const int64_t each = fast / width;
  Var *block =
      program_var(program, "f_b", VAR_LOOP, TIER_BLOCK, ceil_div(slow * each, FLAT_THREADS));
  Var *thread = program_var(program, "f_t", VAR_LOOP, TIER_THREAD, FLAT_THREADS);
  const Expr *flat =
      ex_add(arena, ex_mul_const(arena, ex_var(arena, block), FLAT_THREADS), ex_var(arena, thread));
  return (Flat){block, thread, ex_div(arena, flat, each),
                ex_mul_const(arena, ex_mod(arena, flat, each), width)};
}

Stmt *flat_bind(Program *program, KnobId knob, Flat flat, Stmt *body) {
  return stmt_loop(program, knob, flat.block, stmt_loop(program, knob, flat.thread, body));
}

Buffer *flat_registers(Program *program, const char *name, BufferRole role, int64_t n,
                       KnobId knob) {
  return program_new_buffer(program, name, SPACE_REGISTER, role, 1, &n, knob);
}
