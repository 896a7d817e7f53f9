// The order of a tile's products, row by row → every other row, or column, backwards.
//
// Requires: register, atomize. Ensures: of atoms, the REGISTER loop over N is outside, and odd
// columns run over M backwards; of multiply-adds, odd rows run over N backwards. Preserves: each
// cell's products and their order.
//
// Why, atoms: neighbours in the order share a fragment, B within a column and A at the turn, which
// the tensor core's operand caches keep. And a column needs one fragment of B only, so the atoms
// begin while the others are still being read. H200, f16 at 4096³: 395 TFLOP/s row by row, 404 by
// columns, 410 with the turns.
//
// Why, multiply-adds: along a row a[m] stays in the operand cache, and two registers are read. At
// the turn b[n] stays there. Row by row, the first multiply-add of a row reads three registers,
// and takes a clock more where all three lie in one of the two banks: by the clock 9 % of rung
// block_order and 3 % of rung banks. H200, f32 at 4096³: 50.1 and 50.6 TFLOP/s.
//
// Worked example, atoms of FM = 4, FN = 2: (0,0) (1,0) (2,0) (3,0) (3,1) (2,1) (1,1) (0,1); cells
// of FM = 2, FN = 4: (0,0) (0,1) (0,2) (0,3) (1,3) (1,2) (1,1) (1,0).
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

enum { LOOPS_MAX = 16 };

bool pass_serpentine_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_SERPENTINE] != 0;
}

// ---- atoms --------------------------------------------------------------------------------------

static bool is_loop_of_one(const Stmt *stmt) {
  return stmt->kind == STMT_LOOP && stmt->var->tier == TIER_REGISTER && !stmt->body->next;
}

static bool is_tile_of_atoms(const Stmt *rows) {
  return is_loop_of_one(rows) && is_loop_of_one(rows->body) && rows->body->body->kind == STMT_OP &&
         rows->body->body->op.kind == OP_MMA;
}

static void turn(Stmt *rows, int depth, void *context) {
  (void)depth;
  if (!is_tile_of_atoms(rows)) return;
  Program *program = context;
  Arena *arena = program->arena;
  Stmt *columns = rows->body;
  Var *m = rows->var, *n = columns->var;
  const Expr *down = ex_var(arena, m);
  const Expr *up = ex_sub(arena, ex_const(arena, m->extent - 1), down);
  const Expr *is_odd = ex_mod(arena, ex_var(arena, n), 2);
  stmt_substitute(program, columns->body, m, ex_select(arena, is_odd, up, down));
  rows->var = n;
  columns->var = m;
  rows->knob = columns->knob = KNOB_SERPENTINE;
}

// ---- multiply-adds ------------------------------------------------------------------------------

// The REGISTER loops around a statement, the outermost first.
typedef struct Nest {
  Program *program;
  Stmt *loop[LOOPS_MAX];
  int n;
} Nest;

static bool reads(const Access *access, const Var *var) {
  for (int i = 0; i < access->buffer->rank; i++)
    if (expr_uses(access->idx[i], var)) return true;
  return false;
}

// 0, 1, 2 … for the rows in the order of the loops; NULL: there is one row.
static const Expr *number_of_row(const Nest *nest, const Op *op) {
  Arena *arena = nest->program->arena;
  const Expr *row = NULL;
  for (int i = 0; i < nest->n; i++) {
    const Var *var = nest->loop[i]->var;
    if (!reads(&op->src, var)) continue;
    const Expr *digit = ex_var(arena, var), *size = ex_const(arena, var->extent);
    row = row ? ex_add(arena, ex_mul(arena, row, size), digit) : digit;
  }
  return row;
}

// Whether nothing but the multiply-add stands in the loops over its columns.
static bool has_columns_of_its_own(const Nest *nest, const Op *op) {
  bool alone = true, found = false;
  for (int i = nest->n - 1; i >= 0; i--) {
    const Stmt *loop = nest->loop[i];
    const bool column = reads(&op->src2, loop->var);
    alone &= !loop->body->next;
    if (column && (reads(&op->src, loop->var) || !alone)) return false;
    found |= column;
  }
  return found;
}

static void turn_cells(const Nest *nest, Stmt *stmt) {
  Arena *arena = nest->program->arena;
  const Expr *row = number_of_row(nest, &stmt->op);
  if (!row || !has_columns_of_its_own(nest, &stmt->op)) return;
  const Expr *is_odd = ex_mod(arena, row, 2);
  const Op op = stmt->op;
  for (int i = 0; i < nest->n; i++) {
    const Var *var = nest->loop[i]->var;
    if (!reads(&op.src2, var)) continue;
    const Expr *up = ex_var(arena, var),
               *down = ex_sub(arena, ex_const(arena, var->extent - 1), up);
    stmt_substitute(nest->program, stmt, var, ex_select(arena, is_odd, down, up));
    nest->loop[i]->knob = KNOB_SERPENTINE;
  }
}

static void turn_in(Nest *nest, Stmt *list) {
  for (Stmt *stmt = list; stmt; stmt = stmt->next) {
    const bool is_loop = stmt->kind == STMT_LOOP && stmt->var->tier == TIER_REGISTER;
    if (stmt->kind == STMT_OP && stmt->op.kind == OP_FMA) turn_cells(nest, stmt);
    if (is_loop && nest->n < LOOPS_MAX) nest->loop[nest->n++] = stmt;
    const int n = nest->n;
    turn_in(nest, stmt->body);
    nest->n = n - is_loop;
  }
}

void pass_serpentine(Program *program, Product *product, const Schedule *schedule) {
  (void)product;
  (void)schedule;
  Stmt *body = program_main_kernel(program)->body;
  stmt_walk(body, turn, program);
  turn_in(&(Nest){.program = program}, body);
}
