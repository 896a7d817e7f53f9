// A loop → the axes with ends that its guards name, and a number for each of them that the compiler
// does not know.
//
// The axes are known before the loop is written: its statements are searched for accesses with a
// guard. Boxes of TMA have none, the copy itself sees where a matrix ends.
//
// Worked example: A[m_b * 320 + …, k] of 4096 rows in tiles of 320 is guarded along M, since 13 ·
// 320 is more, and B[k, n_b * 8 + …] of 4096 columns in tiles of 8 is not: M alone gets an m_end.
#include "model/text/emit_parts.h"

#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "model/text/emit_op.h"

static const PreludeText opaque = {"opaque",
                                   "// The same number, hidden from the compiler.\n"
                                   "__device__ __forceinline__ int opaque(int number) {\n"
                                   "  asm volatile(\"\" : \"+r\"(number));\n"
                                   "  return number;\n"
                                   "}\n"};

static void find_in_stmt(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Emitter *emitter = context;
  if (stmt->kind != STMT_OP || op_moves_box(stmt->op.kind)) return;
  Access *access[OP_ACCESSES];
  op_accesses(&stmt->op, access);
  for (int i = 0; i < OP_ACCESSES; i++)
    if (access[i]->buffer)
      emit_guard_axes(emitter->arena, emitter->program, access[i], emitter->symbols.own_end);
}

static bool is_unrolled_by_slots(const Stmt *loop) {
  return loop->var->tier == TIER_SERIAL_OUTER && loop->unroll > 1;
}

bool emit_bounds_begin(Emitter *emitter, const Stmt *loop) {
  if (!is_unrolled_by_slots(loop)) return false;
  stmt_walk((Stmt *)(uintptr_t)loop->body, find_in_stmt, emitter);
  for (int a = 0; a < AXIS_COUNT; a++)
    if (emitter->symbols.own_end[a]) return true;
  return false;
}

void emit_bounds_declare(Emitter *emitter) {
  for (int a = 0; a < AXIS_COUNT; a++) {
    if (!emitter->symbols.own_end[a]) continue;
    emitter->symbols.extent[a] = true;
    emitter_line(emitter, "const int %s = %s(%s);", emit_end_name(emitter->program, a),
                 emit_given(emitter, &opaque), emit_extent_name(emitter->program, a));
  }
}

void emit_bounds_end(Emitter *emitter) {
  for (int a = 0; a < AXIS_COUNT; a++) emitter->symbols.own_end[a] = false;
}
