// load to registers, store to shared → cp.async.
//
// Requires: stage, an arch with cp.async. Ensures: the copies of a slab are CP_ASYNC operations,
// closed by a commit and a wait in front of the barrier; their staging registers are gone. An
// operand that ASYNC_OPERANDS leaves out still comes through registers: its store stands behind the
// request for the other one, and the wait behind both.
//
// Worked example: a 16-byte piece goes from L2 to shared memory without touching a register (.cg);
// pieces that a transposed slab scatters go 4 bytes at a time (.ca). A thread waits for its own
// groups; the barrier that follows makes everybody's copies visible to everybody.
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_async_copy_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_ASYNC_COPY] && schedule->value[KNOB_STAGE] != 0 &&
         !pass_tma_wanted(schedule);
}

// Bytes that L2 is asked to fetch around each piece, a hint.
enum { L2_LINE_BYTES = 128 };

// Where a copy stands: in the loop over slabs, or in front of it.
static Stmt **find_copy(Program *program, OpKind kind, BufferRole role) {
  Stmt **link = stmt_find_link(&kernel_inner(program_main_kernel(program))->body, kind, role);
  while ((*link)->kind == STMT_LOOP && (*link)->var->tier == TIER_SERIAL_OUTER)
    link = stmt_find_link(&(*link)->body, kind, role);
  return link;
}

// Returns where the copies stand now: where the operand's loads stood. NULL: there are none.
static Stmt **to_async(Program *program, const Product *product, int operand,
                       const Schedule *schedule) {
  if (!operand_slab(program, product, operand)) return NULL;
  if (!operand_chosen(schedule, KNOB_ASYNC_OPERANDS, operand)) return NULL;
  const ProductOperand *at = &product->operand[operand];
  bool wide = schedule->value[KNOB_VECTORIZE] != 0 || product->atom;
  int width = wide ? copy_width(program, product, operand) : 1;
  Stmt **load = find_copy(program, OP_LOAD, at->stage);
  stmt_cut(load);
  stmt_cut(find_copy(program, OP_STORE, at->slab));
  Stmt *copies = slab_build_copy(program, product, operand, width, true, KNOB_ASYNC_COPY).load;
  stmt_find_op(copies, OP_CP_ASYNC, at->slab)->op.l2_bytes =
      schedule->value[KNOB_L2_HINT] ? L2_LINE_BYTES : 0;
  stmt_insert(load, copies);
  slab_drop_buffers(program, at->stage, at->stage);
  return load;
}

void pass_async_copy(Program *program, Product *product, const Schedule *schedule) {
  Stmt **a = to_async(program, product, ATOM_A, schedule);
  Stmt **b = to_async(program, product, ATOM_B, schedule), **copies = b ? b : a;
  Stmt *commit = stmt_op(program, KNOB_ASYNC_COPY, (Op){.kind = OP_CP_COMMIT});
  Stmt *wait = stmt_op(program, KNOB_ASYNC_COPY, (Op){.kind = OP_CP_WAIT, .groups = 0});
  Stmt **filled = stmt_find_link(copies, OP_FENCE_ASYNC, ROLE_COUNT);
  if (!filled) filled = stmt_find_link(copies, OP_BARRIER, ROLE_COUNT);
  stmt_insert(filled, stmt_list(commit, wait, NULL));
}
