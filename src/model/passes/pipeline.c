// From the naive nest to the program: the table of contents.
//
// The passes run in this order, each on its own copy, each only when its knobs ask for it. Those
// that change how an axis is factored come first (tile … split_k); from `stage` on, addresses are
// fixed and passes move statements.
#include "model/ir/check.h"
#include "model/ir/stmt.h"
#include "model/passes/pass.h"

#include "base/die.h"
#include "model/ir/buffer.h"
#include "model/ir/matrix_tile.h"
#include "model/ir/notation/print.h"
#include "model/ir/program.h"
#include "model/passes/passes.h"
#include "model/passes/tensor/tensor_factors.h"

const Pass pass_table[] = {
#define PASS(id, title, knobs, runs, help) \
  {#id, title, knobs, help, PASS_##runs, pass_##id##_wanted, pass_##id},
#include "model/passes/pass.def"
#undef PASS
};
enum { N_PASSES = sizeof pass_table / sizeof *pass_table };
const int pass_count = N_PASSES;
_Static_assert((int)N_PASSES < (int)PIPELINE_PROGRAMS_MAX, "every pass and the naive nest");

// The types of a problem: 8-bit integers sum in s32, f64 in f64, all others in f32 or, if asked,
// f16; C has the operands' type where that is a 16-bit one, else the sum's.
static Problem problem_of(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  DType type = (DType)v[KNOB_DTYPE];
  DType acc = v[KNOB_ACC] ? DTYPE_F16 : DTYPE_F32;
  if (type == DTYPE_S8) acc = DTYPE_S32;
  if (type == DTYPE_F64) acc = DTYPE_F64;
  bool half = type == DTYPE_F16 || type == DTYPE_BF16;
  bool attention = v[KNOB_PROGRAM] == COMPUTES_ATTENTION;
  return (Problem){.m = v[KNOB_M],
                   .n = v[KNOB_N],
                   .k = v[KNOB_K],
                   .a_col = v[KNOB_A_COL] != 0,
                   .b_col = v[KNOB_B_COL] != 0,
                   .dtype = type,
                   .acc = acc,
                   .out = half ? type : acc,
                   .kind = attention ? PROBLEM_ATTENTION : PROBLEM_MATMUL,
                   .heads = v[KNOB_HEADS],
                   .causal = v[KNOB_CAUSAL] != 0,
                   .factor_tiles = tensor_wants_factors(schedule)};
}

// A register for the factor of A or B, and the load of the one that the element at hand has.
static Stmt *load_factor(Program *program, int i, Access *factor) {
  static const struct {
    const char *name;
    BufferRole registers, global;
  } of[] = {{"sfa", ROLE_FRAG_SFA, ROLE_SFA}, {"sfb", ROLE_FRAG_SFB, ROLE_SFB}};
  const int64_t one[1] = {1};
  const Expr *zero = ex_const(program->arena, 0);
  *factor = access1(
      program_new_buffer(program, of[i].name, SPACE_REGISTER, of[i].registers, 1, one, KNOB_NONE),
      zero);
  Access from = {.buffer = program_buffer(program, of[i].global)};
  for (int d = 0; d < from.buffer->rank; d++) from.idx[d] = zero;
  return stmt_op(program, KNOB_NONE, (Op){.kind = OP_LOAD, .dst = *factor, .src = from});
}

// for m, for n: acc = 0; for k: acc += A[m, k] · B[k, n]; C[m, n] = acc
Program *pipeline_naive_nest(Arena *arena, Problem problem) {
  if (problem.kind == PROBLEM_ATTENTION) return attention_nest(arena, problem);
  Program *program = program_new(arena, problem);
  const Product *product = program_product(program);
  int64_t one[2] = {1, 1};
  Buffer *acc = program_new_buffer(program, "acc", SPACE_REGISTER, ROLE_ACC, 2, one, KNOB_NONE);
  Buffer *a = program_new_buffer(program, "a", SPACE_REGISTER, ROLE_FRAG_A, 1, one, KNOB_NONE);
  Buffer *b = program_new_buffer(program, "b", SPACE_REGISTER, ROLE_FRAG_B, 1, one, KNOB_NONE);
  for (int i = 0; i < AXIS_COUNT; i++) {
    Axis *axis = product->axis[i];
    Var *var = program_var(program, axis->name, VAR_LOOP, TIER_SERIAL, axis->extent);
    axis->digit[axis->n_digits++] = (Digit){var, 1};
  }
  const Expr *zero = ex_const(arena, 0);
  Access at_acc = access2(acc, zero, zero), at_a = access1(a, zero), at_b = access1(b, zero);
  Access A = access2(program_buffer(program, product->operand[ATOM_A].global), zero, zero);
  Access B = access2(program_buffer(program, product->operand[ATOM_B].global), zero, zero);
  Access C = access2(program_buffer(program, ROLE_C), zero, zero);
  KnobId none = KNOB_NONE;
  Op multiply = {.kind = OP_FMA, .dst = at_acc, .src = at_a, .src2 = at_b};
  Stmt *step =
      stmt_list(stmt_op(program, none, (Op){.kind = OP_LOAD, .dst = at_a, .src = A}),
                stmt_op(program, none, (Op){.kind = OP_LOAD, .dst = at_b, .src = B}), NULL);
  for (int i = 0; i < 2 && product_is_scaled(product); i++)
    stmt_list(step, load_factor(program, i, &multiply.scale[i]), NULL);
  stmt_list(step, stmt_op(program, none, multiply), NULL);
  Stmt *cell =
      stmt_list(stmt_op(program, none, (Op){.kind = OP_INIT, .dst = at_acc}),
                stmt_loop(program, none, product->axis[AXIS_K]->digit[0].var, step),
                stmt_op(program, none, (Op){.kind = OP_STORE, .dst = C, .src = at_acc}), NULL);
  Stmt *row = stmt_loop(program, none, product->axis[AXIS_N]->digit[0].var, cell);
  program->kernel[program->n_kernels++] =
      (Kernel){.name = problem_kernel_name(&program->problem),
               .body = stmt_loop(program, none, product->axis[AXIS_M]->digit[0].var, row),
               .knob = none};
  program_apply_axes(program, product);
  return program;
}

static void add_stage(Pipeline *pipeline, const Pass *pass, const Program *program) {
  pipeline->stage[pipeline->n_stages].pass = pass;
  pipeline->stage[pipeline->n_stages++].program = program;
}

void pass_each_product(PassRun *run, Program *program, const Schedule *schedule) {
  for (int i = 0; i < program->n_products; i++) run(program, &program->product[i], schedule);
}

void pass_run(const Pass *pass, Program *program, const Schedule *schedule) {
  if (pass->runs == PASS_ONCE)
    pass->run(program, &program->product[program->n_products - 1], schedule);
  else
    pass_each_product(pass->run, program, schedule);
}

Pipeline pipeline_run(Arena *arena, const Schedule *schedule) {
  Pipeline pipeline = {0};
  const Program *program = pipeline_naive_nest(arena, problem_of(schedule));
  add_stage(&pipeline, NULL, program);
  for (int i = 0; i < N_PASSES; i++) {
    const Pass *pass = &pass_table[i];
    if (!pass->wanted(schedule)) continue;
    Program *next = program_clone(arena, program);
    pass_run(pass, next, schedule);
    program_place_shared(next);
    program_describe_tiles(next);
    const char *fault = program_check(arena, next);
    if (fault) die("pass %s: %s\n%s", pass->name, fault, program_text(arena, next));
    program = next;
    add_stage(&pipeline, pass, program);
  }
  return pipeline;
}
