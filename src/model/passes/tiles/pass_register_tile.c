// One cell per thread → FM × FN cells per thread, in registers.
//
// Requires: tile. Ensures: acc is [FM][FN], a is [FM], b is [FN]; every statement of the cell that
// depends on m_r or n_r stands in REGISTER loops of its own (loads of a under m_r alone: that is
// the gain). Preserves: the order of the statements.
//
// Worked example, BM = 16, FM = 8: m = m_b·128 + m_t·8 + m_r. Per k-step a thread loads 8 + 8
// values for 64 multiply-adds, 0.25 loads per multiply-add instead of 2.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_register_tile_wanted(const Schedule *schedule) {
  bool cells = schedule->value[KNOB_FM] > 1 || schedule->value[KNOB_FN] > 1;
  return cells && schedule->value[KNOB_ATOM_KIND] == 0;
}

// {block, T} {thread, 1} becomes {block', T·F} {thread, F} {register, 1} with fewer blocks.
static Var *factor(Program *program, Axis *axis, const char *block, const char *reg,
                   int64_t cells) {
  int64_t threads = axis->digit[0].weight, tile = threads * cells;
  int64_t blocks = ceil_div(axis->extent, tile);
  Var *b = program_var(program, block, VAR_LOOP, TIER_BLOCK, blocks);
  Var *r = program_var(program, reg, VAR_LOOP, TIER_REGISTER, cells);
  axis->digit[0] = (Digit){b, tile};
  axis->digit[1].weight = cells;
  axis->digit[axis->n_digits++] = (Digit){r, 1};
  return r;
}

static void reshape(Buffer *buffer, int64_t rows, int64_t columns, KnobId knob) {
  buffer->dim[0] = rows;
  if (buffer->rank == 2) {
    buffer->dim[1] = columns;
    buffer->stride[0] = columns;
  }
  buffer->knob = knob;
}

typedef struct Cells {
  const ProductOperand *operand;
  const Expr *m, *n;
} Cells;

static void index_registers(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const Cells *cells = context;
  BufferRole role = access->buffer->role;
  const ProductOperand *of = cells->operand;
  if (role == of[ATOM_C].registers) access->idx[1] = cells->n;
  if (role == of[ATOM_A].registers || role == of[ATOM_C].registers) access->idx[0] = cells->m;
  if (role == of[ATOM_B].registers) access->idx[0] = cells->n;
}

static bool touches(const Stmt *stmt, BufferRole role) {
  Access *access[OP_ACCESSES];
  op_accesses((Op *)(uintptr_t)&stmt->op, access);
  for (int i = 0; i < OP_ACCESSES; i++)
    if (access[i]->buffer && access[i]->buffer->role == role) return true;
  return false;
}

// Wraps each operation of the cell in the REGISTER loops it depends on.
static void wrap_ops(Program *program, const ProductOperand *operand, Stmt **list, Var *m, Var *n) {
  for (Stmt **link = list; *link; link = &(*link)->next) {
    Stmt *stmt = *link;
    if (stmt->kind != STMT_OP) {
      wrap_ops(program, operand, &stmt->body, m, n);
      continue;
    }
    bool cell = touches(stmt, operand[ATOM_C].registers);
    bool column = cell || touches(stmt, operand[ATOM_B].registers);
    bool row = cell || touches(stmt, operand[ATOM_A].registers);
    Stmt *alone = stmt_cut(link);
    if (column) alone = stmt_wrap_register(program, KNOB_FN, n, alone);
    if (row) alone = stmt_wrap_register(program, KNOB_FM, m, alone);
    stmt_insert(link, alone);
  }
}

void pass_register_tile(Program *program, Product *product, const Schedule *schedule) {
  int64_t fm = schedule->value[KNOB_FM], fn = schedule->value[KNOB_FN];
  Kernel *kernel = program_main_kernel(program);
  Var *m = factor(program, product->axis[AXIS_M], "m_b", "m_r", fm);
  Var *n = factor(program, product->axis[AXIS_N], "n_b", "n_r", fn);
  kernel->body->var = product->axis[AXIS_M]->digit[0].var;
  kernel->body->body->var = product->axis[AXIS_N]->digit[0].var;
  const ProductOperand *operand = product->operand;
  reshape(program_buffer(program, operand[ATOM_C].registers), fm, fn, KNOB_FM);
  reshape(program_buffer(program, operand[ATOM_A].registers), fm, 1, KNOB_FM);
  reshape(program_buffer(program, operand[ATOM_B].registers), fn, 1, KNOB_FN);
  Cells cells = {product->operand, ex_var(program->arena, m), ex_var(program->arena, n)};
  stmt_each_access(kernel->body, index_registers, &cells);
  wrap_ops(program, product->operand, &kernel->body->body->body->body->body, m, n);
  program_apply_axes(program, product);
}
