// A product of f32 matrices → one kernel for each of A and B that cuts elements into parts, and a
// product of the parts, whose axis k goes through K once for each product of two parts.
//
// Requires: the naive nest of f32. Ensures: kernels split_a and split_b write A_parts [M][parts ·
// K] and B_parts [parts · K][N], in the order in which A and B lie; the main kernel reads those
// alone, k = p · K + k' being column part · K + k' of A_parts, by the table of parts
// (words/split.h); C, sums and alpha are as before. Later passes see a product of the parts' type.
//
// Worked example, x = 1 + 2^-9 of 6xbf16: part = 1, x becomes 2^-9; part = 2^-9, x becomes 0;
// part = 0. The products run from 2 · 0 (2^-16 of the whole) to 0 · 0, so that the small ones are
// summed first.
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/flat_kernel.h"
#include "model/passes/passes.h"

static const KnobId knob = KNOB_SPLIT_F32;

// Elements that a thread cuts: the elements of one 16-byte load.
enum { ELEMENTS = 4 };

bool pass_split_f32_wanted(const Schedule *schedule) { return schedule->value[knob] != 0; }

static Stmt *op2(Program *program, OpKind kind, Access dst, Access src, int width) {
  return stmt_op(program, knob, (Op){.kind = kind, .dst = dst, .src = src, .width = width});
}

// part = x rounded, for each element; store them; x -= part.
static Stmt *one_part(Program *program, Buffer *x, Buffer *part, Access to, bool last) {
  Arena *arena = program->arena;
  const Expr *zero = ex_const(arena, 0);
  Var *e = program_var(program, "e", VAR_LOOP, TIER_REGISTER, ELEMENTS);
  const Access x_e = access1(x, ex_var(arena, e)), part_e = access1(part, ex_var(arena, e));
  Stmt *cut = stmt_wrap_register(program, knob, e, op2(program, OP_CONVERT, part_e, x_e, 1));
  Stmt *store = op2(program, OP_STORE, to, access1(part, zero), ELEMENTS);
  if (last) return stmt_list(cut, store, NULL);
  Var *r = program_var(program, "r", VAR_LOOP, TIER_REGISTER, ELEMENTS);
  const Access x_r = access1(x, ex_var(arena, r)), part_r = access1(part, ex_var(arena, r));
  Stmt *rest = stmt_wrap_register(program, knob, r, op2(program, OP_SUB, x_r, part_r, 1));
  return stmt_list(cut, store, rest, NULL);
}

static Kernel split_kernel(Program *program, const Product *product, int operand,
                           const char *name) {
  static const char *const names[][2] = {{"x_a", "part_a"}, {"x_b", "part_b"}};
  Arena *arena = program->arena;
  const Problem *problem = &program->problem;
  Buffer *given = program_buffer(program, product->operand[operand].given);
  Buffer *parts = program_buffer(program, product->operand[operand].global);
  Buffer *part = flat_registers(program, names[operand][1], ROLE_PART, ELEMENTS, knob);
  Buffer *x = flat_registers(program, names[operand][0], ROLE_TEMP, ELEMENTS, knob);
  const int fast = buffer_fast_dimension(given), slow = 1 - fast;
  const Flat flat = flat_cells(program, given->dim[slow], given->dim[fast], ELEMENTS);
  const Expr *idx[2];
  idx[slow] = flat.slow, idx[fast] = flat.fast;
  Stmt *body = op2(program, OP_LOAD, access1(x, ex_const(arena, 0)), access2(given, idx[0], idx[1]),
                   ELEMENTS);
  const int along_k = operand == ATOM_A ? 1 : 0, n = split_facts(problem->split)->parts;
  const Expr *first = idx[along_k];
  for (int p = 0; p < n; p++) {
    idx[along_k] = ex_add_const(arena, first, p * problem_depth(problem));
    stmt_list(body, one_part(program, x, part, access2(parts, idx[0], idx[1]), p == n - 1), NULL);
  }
  // The threads beyond the last row have nothing to cut: their places would belong to other parts.
  const Expr *inside = ex_lt(arena, flat.slow, ex_const(arena, given->dim[slow]));
  if (!expr_is_const(inside, 1)) body = stmt_if(program, knob, inside, body);
  return (Kernel){.name = name, .body = flat_bind(program, knob, flat, body), .knob = knob};
}

void pass_split_f32(Program *program, Product *product, const Schedule *schedule) {
  Problem problem = program->problem;
  problem.split = (SplitKind)schedule->value[knob];
  program_become(program, pipeline_naive_nest(program->arena, problem));
  program->kernel[2] = program->kernel[0];
  program->kernel[0] = split_kernel(program, product, ATOM_A, "split_a");
  program->kernel[1] = split_kernel(program, product, ATOM_B, "split_b");
  program->n_kernels = 3;
  program->main_kernel = 2;
  product->kernel = 2;
}
