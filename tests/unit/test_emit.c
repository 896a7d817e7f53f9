// The emitted text: golden files for every rung, the line map, the launch facts, index widths, and
// each statement in the form it is meant to have.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "emit_cases.h"
#include "golden.h"
#include "golden_cuda.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/words/schedule_atom.h"

static Arena *arena;
static EmitCases cases;

static void setup(void) {
  arena = arena_new("test emit");
  cases = emit_cases(arena);
}
static void teardown(void) { arena_free(arena); }

static const Emission *emit(const Model *model) {
  return emit_cuda(arena, model->program,
                   &(EmitOptions){.schedule = &model->schedule,
                                  .target = plan_target_text(arena, model->target)});
}

static const Emission *emit_program(const Program *program) {
  return emit_cuda(arena, program, &(EmitOptions){.no_prelude = true});
}

static bool contains(const Emission *emission, const char *part) {
  return strstr(emission->text, part) != NULL;
}

#define assert_contains(emission, part) \
  ck_assert_msg(contains(emission, part), "no \"%s\" in\n%s", part, (emission)->text)

// ---- the rungs ----------------------------------------------------------------------------------

static bool is_of_one_ladder(const EmitCase *a, const EmitCase *b) {
  const size_t n = strlen(a->name) - strlen(a->rung->name);
  return strncmp(a->name, b->name, n) == 0 && str_equal(b->name + n, b->rung->name);
}

// The first rung of a ladder whole, the others by what is new in them; helpers apart.
START_TEST(every_rung_is_written_as_reviewed) {
  static GoldenText before[EMIT_CASES_MAX];
  GoldenHelpers *helpers = golden_helpers_new(arena);
  const EmitCase *last = NULL;
  int n = 0;
  for (int i = 0; i < cases.n; i++) {
    const EmitCase *rung = &cases.rung[i];
    const Model *model = emit_case(&cases, i);
    if (!model) continue;
    const char *text = golden_without_helpers(helpers, emit(model)->text);
    if (!last || !is_of_one_ladder(last, rung)) n = 0;
    if (n)
      golden_check_change(arena_printf(arena, "cuda/%s.diff", rung->name), before, n, text);
    else
      golden_check(arena_printf(arena, "cuda/%s.cu", rung->name), text);
    before[n++] = (GoldenText){rung->name, text};
    last = rung;
  }
  golden_check_helpers("cuda/helpers.cu", helpers);
}
END_TEST

START_TEST(guards_are_written_as_reviewed) {
  static const struct {
    const char *name, *knobs;
  } states[] = {
      {"tiers", "BM=16,BN=16"},
      {"padded", "FM=8,FN=8,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_SMEM=4"},
      {"cp_async", "FM=8,FN=8,STAGE=11,VECTORIZE=1,BUFFER_COUNT=3,PIPELINE_STAGES=1,ASYNC_COPY=1"},
      {"spread",
       "FM=8,FN=8,STAGE=11,VECTORIZE=1,BUFFER_COUNT=3,PIPELINE_STAGES=1,ASYNC_COPY=1,"
       "COPY_STEPS=3,UNROLL_RING=1"},
      {"patches", "FM=4,FN=4,STAGE=11,GROUP_M=3,GROUP_N=4"},
      {"splitk", "FM=2,FN=2,STAGE=11,SPLITK=8"},
      {"splitk_partials", "FM=2,FN=2,STAGE=11,SPLITK=8,ATOMIC_FREE_SPLITK=1"},
  };
  GoldenText first = {0};
  GoldenHelpers *helpers = golden_helpers_new(arena);
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    const char *state = arena_printf(arena, "M=1000,N=600,K=203,%s", states[i].knobs);
    const char *text = golden_without_helpers(helpers, emit(emit_state(&cases, state))->text);
    if (i == 0)
      golden_check("cuda/edges_tiers.cu", text);
    else
      golden_check_change(arena_printf(arena, "cuda/edges_%s.diff", states[i].name), &first, 1,
                          text);
    if (i == 0) first = (GoldenText){"edges_tiers", text};
  }
  golden_check_helpers("cuda/helpers_edges.cu", helpers);
}
END_TEST

// A ring that is unrolled has the bounds of its copies in registers of its own, one of two slots as
// one of more; a loop that is not has none.
START_TEST(unrolled_rings_have_bounds_of_their_own) {
  static const char *const rings[] = {"BUFFER_COUNT=2,UNROLL_RING=1",
                                      "BUFFER_COUNT=3,UNROLL_RING=1", "BUFFER_COUNT=2"};
  for (int i = 0; i < 3; i++) {
    const char *state = arena_printf(arena,
                                     "M=1000,N=600,K=203,FM=8,FN=8,STAGE=11,VECTORIZE=1,"
                                     "PIPELINE_STAGES=1,ASYNC_COPY=1,%s",
                                     rings[i]);
    ck_assert_msg(contains(emit(emit_state(&cases, state)), " = opaque(M);") == (i < 2), "%s",
                  rings[i]);
  }
}
END_TEST

// ---- the line map -------------------------------------------------------------------------------

static void check_lines_cover_text(const Emission *emission) {
  size_t at = 0;
  for (int i = 0; i < emission->n_lines; i++) {
    const EmitLine *line = &emission->lines[i];
    ck_assert_uint_eq(line->begin, at);
    at += line->length;
    ck_assert_int_eq(emission->text[at], '\n');
    at++;
  }
  ck_assert_uint_eq(at, emission->length);
  ck_assert_uint_eq(at, strlen(emission->text));
}

typedef struct Mapped {
  const Emission *emission;
  int kernel, n_ops;
} Mapped;

static void op_has_a_line(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Mapped *mapped = context;
  if (stmt->kind != STMT_OP) return;
  mapped->n_ops++;
  bool found = false;
  for (int i = 0; i < mapped->emission->n_lines && !found; i++) {
    const EmitLine *line = &mapped->emission->lines[i];
    found = line->stmt == stmt && line->kernel == mapped->kernel && line->knob == stmt->knob;
  }
  ck_assert_msg(found, "statement %d has no line in\n%s", stmt->id, mapped->emission->text);
}

START_TEST(every_operation_has_a_line_of_its_kernel) {
  for (int i = 0; i < cases.n; i++) {
    const Model *model = emit_case(&cases, i);
    if (!model) continue;
    const Emission *emission = emit(model);
    check_lines_cover_text(emission);
    for (int k = 0; k < model->program->n_kernels; k++) {
      Mapped mapped = {emission, k, 0};
      stmt_walk(model->program->kernel[k].body, op_has_a_line, &mapped);
      ck_assert_int_gt(mapped.n_ops, 0);
    }
  }
}
END_TEST

START_TEST(lines_keep_to_their_columns) {
  for (int i = 0; i < cases.n; i++) {
    const Model *model = emit_case(&cases, i);
    const Emission *emission = model ? emit(model) : NULL;
    for (int l = 0; emission && l < emission->n_lines; l++) {
      const EmitLine *line = &emission->lines[l];
      bool is_state = strncmp(emission->text + line->begin, "// ", 3) == 0;
      ck_assert_msg(is_state || line->length <= 100, "%.*s", (int)line->length,
                    emission->text + line->begin);
    }
  }
}
END_TEST

// ---- launches and plans -------------------------------------------------------------------------

START_TEST(launch_facts_are_the_programs) {
  for (int i = 0; i < cases.n; i++) {
    const Model *model = emit_case(&cases, i);
    if (!model) continue;
    const Emission *emission = emit(model);
    ck_assert_int_eq(emission->n_kernels, model->program->n_kernels);
    for (int k = 0; k < emission->n_kernels; k++) {
      const EmitKernel *kernel = &emission->kernel[k];
      Launch launch = kernel_launch(&model->program->kernel[k]);
      ck_assert_int_eq(kernel->n_blocks, launch.n_blocks);
      ck_assert_int_eq(kernel->n_threads, launch.block_threads);
      int64_t bytes = k == model->program->main_kernel ? program_smem_bytes(model->program) : 0;
      ck_assert_int_eq(kernel->smem_bytes, bytes);
      ck_assert_int_eq(kernel->dynamic_smem_bytes, bytes > 48 * 1024 ? bytes : 0);
      const EmitLine *first = &emission->lines[kernel->first_line];
      const EmitLine *last = &emission->lines[kernel->first_line + kernel->n_lines - 1];
      ck_assert_int_eq(first->kernel, k);
      ck_assert_int_eq(emission->text[last->begin], '}');
    }
  }
}
END_TEST

START_TEST(every_rung_makes_a_sound_plan) {
  for (int i = 0; i < cases.n; i++) {
    const Model *model = emit_case(&cases, i);
    if (!model) continue;
    Diags diags = diags_new(arena);
    const Plan *plan = plan_from_model(arena, model, "rung");
    ck_assert_msg(plan_check(plan, &diags), "%s", diags_text(arena, &diags));
    const bool tensor = atom_is_of_thread(schedule_atom_row(&cases.rung[i].rung->schedule));
    const char *own = tensor ? "sm_100a" : "sm_120a";
    ck_assert_str_eq(plan->arch, emit_case_has_own_target(&cases, i) ? own : "sm_90a");
  }
}
END_TEST

START_TEST(a_plan_counts_errors_by_the_blocks_tile) {
  const Plan *plan = plan_from_model(
      arena, emit_state(&cases, "M=512,N=512,K=512,BM=8,BN=32,FM=4,FN=2,STAGE=11,SPLITK=4"), NULL);
  ck_assert_int_eq(plan->tile_m, 32);
  ck_assert_int_eq(plan->tile_n, 64);
  ck_assert_str_eq(plan->label, "");
  ck_assert_int_eq(plan->n_kernels, 2);
  ck_assert_str_eq(plan->kernels[0].name, "zero");
  ck_assert_int_eq(plan->kernels[0].n_args, 1);
  ck_assert_int_eq(plan->kernels[0].args[0], PLAN_ARG_C);
  ck_assert_int_eq(plan->workspace_bytes[0], 0);
}
END_TEST

START_TEST(partial_sums_are_the_workspace) {
  const Plan *plan = plan_from_model(
      arena, emit_state(&cases, "M=256,N=128,K=512,STAGE=11,SPLITK=4,ATOMIC_FREE_SPLITK=1"), "");
  ck_assert_int_eq(plan->workspace_bytes[0], 4 * 256 * 128 * 4);
  ck_assert_str_eq(plan->kernels[1].name, "reduce");
  int n = plan->kernels[0].n_args;
  ck_assert_int_eq(plan->kernels[0].args[n - 1], PLAN_ARG_WORKSPACE);
}
END_TEST

START_TEST(more_than_48_KiB_are_asked_of_the_launch) {
  const Emission *small = emit(emit_state(&cases, "FM=8,FN=8,STAGE=11,BUFFER_COUNT=3"));
  assert_contains(small, "\n  __shared__ __align__(128) float smem[12288];");
  ck_assert_int_eq(small->kernel[0].dynamic_smem_bytes, 0);
  const Emission *large = emit(emit_state(&cases, "FM=8,FN=8,STAGE=11,BUFFER_COUNT=4"));
  assert_contains(large, "\n  extern __shared__ __align__(128) float smem[];");
  ck_assert_int_eq(large->kernel[0].dynamic_smem_bytes, 65536);
}
END_TEST

// ---- single statements --------------------------------------------------------------------------

// A program of one kernel with one block of 32 threads that runs `body`.
static Program *shell(Problem problem, Stmt *(*body)(Program *program, const Expr *lane)) {
  Program *program = program_new(arena, problem);
  Var *lane = program_var(program, "lane", VAR_LOOP, TIER_THREAD, 32);
  Stmt *loop = stmt_loop(program, KNOB_NONE, lane, NULL);
  loop->body = body(program, ex_var(arena, lane));
  program->kernel[program->n_kernels++] =
      (Kernel){.name = "matmul", .body = loop, .knob = KNOB_NONE};
  return program;
}

static Buffer *registers(Program *program, const char *name, int64_t n) {
  return program_new_buffer(program, name, SPACE_REGISTER, ROLE_TEMP, 1, &n, KNOB_NONE);
}

static Stmt *copy_far(Program *program, const Expr *lane) {
  const Expr *zero = ex_const(arena, 0);
  Buffer *x = registers(program, "x", 1);
  Access from = access2(program_buffer(program, ROLE_A), ex_mul_const(arena, lane, 2000), lane);
  Access to = access2(program_buffer(program, ROLE_C), lane, lane);
  return stmt_list(
      stmt_op(program, KNOB_NONE, (Op){.kind = OP_LOAD, .dst = access1(x, zero), .src = from}),
      stmt_op(program, KNOB_NONE, (Op){.kind = OP_STORE, .dst = to, .src = access1(x, zero)}),
      NULL);
}

START_TEST(offsets_beyond_31_bits_are_long_long) {
  // A has 2^32 elements, C has 2^16 · 40 and stays int.
  const Emission *far =
      emit_program(shell((Problem){.m = 1 << 16, .n = 40, .k = 1 << 16}, copy_far));
  assert_contains(far, "x = A[(long long)(lane * 2000) * K + lane];");
  assert_contains(far, "C[lane * N + lane] = x;");
  const Emission *near =
      emit_program(shell((Problem){.m = 1 << 16, .n = 40, .k = 1 << 8}, copy_far));
  assert_contains(near, "x = A[lane * 2000 * K + lane];");
}
END_TEST

static Stmt *every_wide_op(Program *program, const Expr *lane) {
  const int64_t slab_dim[2] = {32, 4};
  Buffer *s = program_new_buffer(program, "S", SPACE_SHARED, ROLE_SLAB_A, 2, slab_dim, KNOB_NONE);
  const Expr *zero = ex_const(arena, 0);
  Access r = access1(registers(program, "r", 4), zero);
  Access a = access2(program_buffer(program, ROLE_A), lane, zero);
  Access c = access2(program_buffer(program, ROLE_C), lane, zero);
  Access slab = access2(s, lane, zero);
  const Op ops[] = {
      {.kind = OP_INIT, .dst = r, .width = 4, .value = 1.5},
      {.kind = OP_CP_ASYNC, .dst = slab, .src = a, .width = 2},
      {.kind = OP_CP_COMMIT},
      {.kind = OP_CP_WAIT, .groups = 1},
      {.kind = OP_BARRIER},
      {.kind = OP_LOAD, .dst = r, .src = slab, .width = 4},
      {.kind = OP_LOAD, .dst = r, .src = a, .width = 2},
      {.kind = OP_ADD, .dst = r, .src = r},
      {.kind = OP_FMA, .dst = r, .src = r, .src2 = r},
      {.kind = OP_STORE, .dst = slab, .src = r, .width = 4},
      {.kind = OP_STORE, .dst = c, .src = r, .width = 2},
      {.kind = OP_ATOMIC_ADD, .dst = c, .src = r},
  };
  Stmt *list = NULL;
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    Stmt *stmt = stmt_op(program, KNOB_NONE, ops[i]);
    list = list ? stmt_list(list, stmt, NULL) : stmt;
  }
  return list;
}

START_TEST(every_operation_has_its_form) {
  const Emission *inside = emit_program(shell((Problem){.m = 32, .n = 4, .k = 4}, every_wide_op));
  static const char *const forms[] = {"fill4(&r[0], 1.5f);",
                                      "cp_async2(S, lane * 4, &A[lane * K]);",
                                      "cp_async_commit();",
                                      "cp_async_wait<1>();",
                                      "__syncthreads();",
                                      "load4(&r[0], &S[lane * 4]);",
                                      "load2(&r[0], &A[lane * K]);",
                                      "r[0] += r[0];",
                                      "r[0] += r[0] * r[0];",
                                      "store4(&S[lane * 4], &r[0]);",
                                      "  store2(&C[lane * N], &r[0]);",
                                      "  atomicAdd(&C[lane * N], r[0]);"};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) assert_contains(inside, forms[i]);
}
END_TEST

START_TEST(every_guard_has_its_form) {
  const Emission *outside = emit_program(shell((Problem){.m = 20, .n = 4, .k = 4}, every_wide_op));
  static const char *const forms[] = {
      "cp_async2_or_zero(S, lane * 4, &A[lane * K], lane < M);",
      "load2_or_zero(&r[0], &A[lane * K], lane < M);", "if (lane < M) store2(&C[lane * N], &r[0]);",
      "if (lane < M) atomicAdd(&C[lane * N], r[0]);", "constexpr int M = 20, N = 4, K = 4;"};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) assert_contains(outside, forms[i]);
}
END_TEST

static const int64_t order[4] = {3, 1, 0, 2};

static Stmt *odd_expressions(Program *program, const Expr *lane) {
  Var *far = program_var(program, "far", VAR_LET, TIER_SERIAL, (int64_t)1 << 40);
  Var *near = program_var(program, "near", VAR_LET, TIER_SERIAL, 4);
  const Expr *three = ex_const(arena, 3), *big = ex_const(arena, (int64_t)1 << 33);
  const Expr *looked_up = ex_table(arena, order, 4, ex_binary(arena, EXPR_AND, lane, three));
  Access r = access1(registers(program, "r", 1), ex_const(arena, 0));
  Stmt *note = stmt_op(program, KNOB_NONE, (Op){.kind = OP_INIT, .dst = r, .value = 1});
  note->note = "why";
  return stmt_list(
      stmt_let(program, KNOB_NONE, far,
               ex_min(arena, ex_mul(arena, lane, big), ex_add(arena, lane, big))),
      stmt_let(program, KNOB_NONE, near, looked_up),
      stmt_if(program, KNOB_NONE,
              ex_binary(arena, EXPR_EQ, ex_binary(arena, EXPR_XOR, ex_var(arena, near), three),
                        ex_mod(arena, ex_var(arena, far), 7)),
              note),
      NULL);
}

START_TEST(odd_expressions_are_cuda) {
  const Emission *odd = emit_program(shell((Problem){.m = 32, .n = 4, .k = 4}, odd_expressions));
  assert_contains(odd, "__constant__ const int table_0[] = {3, 1, 0, 2};");
  assert_contains(odd, "const int near = table_0[lane & 3];");
  assert_contains(odd, "const long long far = min(");
  assert_contains(odd, "if ((near ^ 3) == far % 7) {\n    // why\n    r = 1.0f;\n  }\n");
}
END_TEST

// ---- names --------------------------------------------------------------------------------------

typedef struct Scope {
  const Var *var[64];
  int n;
} Scope;

static void check_scope(const Stmt *list, Scope scope) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    Scope inside = scope;
    if (stmt->var) {
      for (int i = 0; i < scope.n; i++)
        ck_assert_msg(strcmp(scope.var[i]->name, stmt->var->name) != 0,
                      "two variables are called %s where both can be seen", stmt->var->name);
      inside.var[inside.n++] = stmt->var;
    }
    if (stmt->kind == STMT_LET) scope = inside;
    check_scope(stmt->body, inside);
  }
}

START_TEST(no_name_hides_another) {
  for (int i = 0; i < cases.n; i++) {
    const Model *model = emit_case(&cases, i);
    for (int k = 0; model && k < model->program->n_kernels; k++)
      check_scope(model->program->kernel[k].body, (Scope){.n = 0});
  }
}
END_TEST

Suite *suite_emit(void);
Suite *suite_emit(void) {
  Suite *suite = suite_create("emit");
  TCase *rungs = tcase_create("rungs");
  tcase_add_checked_fixture(rungs, setup, teardown);
  tcase_set_timeout(rungs, 60);
  tcase_add_test(rungs, every_rung_is_written_as_reviewed);
  tcase_add_test(rungs, guards_are_written_as_reviewed);
  tcase_add_test(rungs, unrolled_rings_have_bounds_of_their_own);
  tcase_add_test(rungs, every_operation_has_a_line_of_its_kernel);
  tcase_add_test(rungs, lines_keep_to_their_columns);
  tcase_add_test(rungs, launch_facts_are_the_programs);
  tcase_add_test(rungs, every_rung_makes_a_sound_plan);
  tcase_add_test(rungs, no_name_hides_another);
  suite_add_tcase(suite, rungs);
  TCase *forms = tcase_create("forms");
  tcase_add_checked_fixture(forms, setup, teardown);
  tcase_add_test(forms, a_plan_counts_errors_by_the_blocks_tile);
  tcase_add_test(forms, partial_sums_are_the_workspace);
  tcase_add_test(forms, more_than_48_KiB_are_asked_of_the_launch);
  tcase_add_test(forms, offsets_beyond_31_bits_are_long_long);
  tcase_add_test(forms, every_operation_has_its_form);
  tcase_add_test(forms, every_guard_has_its_form);
  tcase_add_test(forms, odd_expressions_are_cuda);
  suite_add_tcase(suite, forms);
  return suite;
}
