// Every operation, in a program: it computes, is read back as it was printed, and becomes the PTX
// of its row for every generation that has it. A new row of op.def needs a state here, nothing
// else.
#include <check.h>
#include <string.h>

#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/interp/interp.h"
#include "model/ir/notation/op_text.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/reduce.h"
#include "stress.h"
#include "tensor_programs.h"

Suite *suite_ops(void);

static const struct {
  const char *state;
  int cc;    // the first generation that has all of it, 90: sm_90
  int last;  // the last one; 0: all that came after
} rows[] = {
    {"FM=8,FN=8,BK=16,STAGE=11,ALPHA=1,SPLITK=8,M=128,N=128,K=16384", 80, 0},
    {"FM=8,FN=8,BK=16,STAGE=11,SPLITK=8,ATOMIC_FREE_SPLITK=1,M=128,N=128,K=16384", 80, 0},
    {"FM=8,FN=8,BK=16,STAGE=11,SPLITK=8,ATOMIC_FREE_SPLITK=1,DEPENDENT_LAUNCH=1,M=128,N=128,"
     "K=16384",
     90, 0},
    {"ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=4,BK=2,STAGE=11,ASYNC_COPY=1,LDMATRIX=2,"
     "L2_HINT=1",
     80, 0},
    {"ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=4,FM=4,FN=4,BK=4,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=3,"
     "BUFFER_COUNT=2,WARP_SPECIALIZE=1",
     90, 0},
    {"ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=3,"
     "BUFFER_COUNT=2,WARP_SPECIALIZE=1,CLUSTER_M=2,CLUSTER_N=2,MULTICAST=1",
     90, 0},
    {"ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=4,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=3,"
     "BUFFER_COUNT=2,WARP_SPECIALIZE=1,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,EPI_BUFFERS=2",
     90, 110},
    {"ATOM_KIND=tcgen05_m128n256k32_mxf8,ATOM_N=128,BK=4,STAGE=11,TMA=1,SWIZZLE=3,B_COL=1", 100,
     110},
    {"ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=2,FM=2,FN=4,BK=4,STAGE=11,SPLITK=4,EPILOGUE=1,TMA_STORE=1",
     90, 0},
    {"ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,WM=2,BK=4,STAGE=11,TMA=1,SWIZZLE=3,BUFFER_COUNT=2,"
     "WARP_SPECIALIZE=1,MMA_GROUPS=1,PERSISTENT=1,TILE_ORDER=gpc,"
     "EPILOGUE=1,TMA_STORE=1",
     90, 90},
    {"PROGRAM=attention,HEADS=2,M=70,N=130,K=64,ATOM_KIND=mma_m16n8k16_bf16,WM=2,FN=8,FUSE=1,"
     "STAGE=11,ASYNC_COPY=1,LDMATRIX=2",
     80, 0},
    {"PROGRAM=attention,HEADS=2,M=70,N=90,K=64,ATOM_KIND=wgmma_m64n256k16_f16,ATOM_N=48,WM=2,FUSE="
     "1,"
     "STAGE=11,TMA=1,SWIZZLE=3,WARP_SPECIALIZE=1,BUFFER_COUNT=2,MMA_GROUPS=1,ROLE_SCHEDULE="
     "pingpong",
     90, 90},
    {"ATOM_KIND=mma_m16n8k32_mxf8,B_COL=1,WM=2,FM=2,FN=4,BK=4,STAGE=11,LDMATRIX=1,SCALE_WORDS=1",
     120, 0},
    {"SPLIT_F32=6xbf16,PROMOTE=2,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,BK=4,STAGE=11,TMA=1,"
     "SWIZZLE=3",
     90, 90},
    {"ATOM_KIND=mma_m16n8k64_nvfp4,B_COL=1,WM=2,FM=2,FN=4,BK=2,STAGE=11,LDMATRIX=1", 120, 0},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static const struct {
  const char *name;
  int cc;
} archs[] = {{"sm_80", 80}, {"sm_90a", 90}, {"sm_100a", 100}, {"sm_120a", 120}};
enum { N_ARCHS = sizeof archs / sizeof archs[0] };

static Arena *arena;
static EmitCases cases;

static void setup(void) {
  arena = arena_new("test ops");
  cases = emit_cases(arena);
}
static void teardown(void) { arena_free(arena); }

static const Model *model_of(const char *state, const char *arch) {
  return emit_state(&cases, arena_printf(arena, "%s,TARGET=%s", state, arch));
}

static bool has_row(int arch, int row) {
  return archs[arch].cc >= rows[row].cc &&
         (rows[row].last == 0 || archs[arch].cc <= rows[row].last);
}

static const Model *newest(int row) {
  int arch = N_ARCHS - 1;
  while (!has_row(arch, row)) arch--;
  return model_of(rows[row].state, archs[arch].name);
}

static void note_op(Stmt *stmt, int depth, void *context) {
  bool *used = context;
  (void)depth;
  if (stmt->kind == STMT_OP) used[stmt->op.kind] = true;
}

static void note_ops(const Program *program, bool used[OP_COUNT]) {
  for (int k = 0; k < program->n_kernels; k++) stmt_walk(program->kernel[k].body, note_op, used);
}

static const Program *written(const char *text) {
  Diags diags = diags_new(arena);
  const Program *program = program_parse(arena, text, strlen(text), "by_hand", &diags);
  ck_assert_msg(program != NULL, "%s", diags_text(arena, &diags));
  return program;
}

START_TEST(every_operation_is_in_a_program) {
  bool used[OP_COUNT] = {false};
  for (int i = 0; i < N_ROWS; i++) note_ops(newest(i)->program, used);
  note_ops(written(tensor_program_plain), used);  // test_tcgen05.c runs them and compiles them
  note_ops(written(tensor_program_stores), used);
  for (int op = 0; op < OP_COUNT; op++)
    ck_assert_msg(used[op], "no program here has %s", op_name((OpKind)op));
}
END_TEST

START_TEST(its_program_computes) {
  enum { WORK_MAX = 1 << 19 };
  Schedule small = schedule_reduce(arena, &cases.targets, &newest(_i)->schedule, WORK_MAX);
  const Model *model = model_build(arena, &cases.targets, &small);
  InterpCheck check = interpret_check_naive(arena, model->pipeline.stage[0].program, model->program,
                                            &(InterpOptions){.seed = 1, .runs = 1});
  ck_assert_msg(check.ok, "%s: %s", rows[_i].state,
                check.n_findings ? check.finding[0].text : "cells are wrong");
}
END_TEST

START_TEST(its_program_is_read_back) {
  const char *text = program_text_full(arena, newest(_i)->program);
  Diags diags = diags_new(arena);
  const Program *again = program_parse(arena, text, strlen(text), "text", &diags);
  ck_assert_msg(again != NULL, "%s", diags_text(arena, &diags));
  ck_assert(strcmp(text, program_text_full(arena, again)) == 0);
}
END_TEST

static bool names_attribute(const Op *op, int attribute) {
  const char *at = op_text(op->kind);
  for (OpPart part = {0}; op_text_next(&at, &part);)
    if (part.is_field && (int)part.field == FIELD_ATTRIBUTES + attribute) return true;
  return false;
}

static bool is_set(const Op *op, int attribute) {
  const int64_t *number = attribute_number(op, attribute);
  const bool *flag = attribute_flag(op, attribute);
  return number ? *number != 0 : flag ? *flag : *attribute_expr(op, attribute) != NULL;
}

static void check_attributes(Stmt *stmt, int depth, void *context) {
  bool *seen = context;
  (void)depth;
  for (int i = 0; stmt->kind == STMT_OP && i < ATTRIBUTE_COUNT; i++) {
    if (!is_set(&stmt->op, i)) continue;
    ck_assert_msg(names_attribute(&stmt->op, i), "the row of %s names no %s",
                  op_name(stmt->op.kind), op_attributes[i].name);
    seen[i] = true;
  }
}

// An attribute that a template does not name would be lost where a program is written down.
START_TEST(every_attribute_is_one_of_its_row) {
  bool seen[ATTRIBUTE_COUNT] = {false};
  for (int i = 0; i < N_ROWS; i++)
    for (int k = 0; k < newest(i)->program->n_kernels; k++)
      stmt_walk(newest(i)->program->kernel[k].body, check_attributes, seen);
  for (int i = 0; i < ATTRIBUTE_COUNT; i++)
    ck_assert_msg(seen[i] || i == ATTRIBUTE_ID_in_steps, "no program here has %s",
                  op_attributes[i].name);  // in_steps is a fault that is put in
}
END_TEST

static void becomes_its_ptx(const Model *model, const char *what) {
  const CompileResult *result =
      compile_once(arena, plan_from_model(arena, model, what), COMPILE_PTX);
  ck_assert_msg(result->ok, "%s: %s\n%.2000s", what, result->error, result->log);
  ck_assert_msg(!strstr(result->log, "warning"), "%s: %s", what, result->log);
  bool used[OP_COUNT] = {false};
  note_ops(model->program, used);
  for (int op = 0; op < OP_COUNT; op++)
    ck_assert_msg(!used[op] || strstr(result->ptx, op_ptx((OpKind)op)),
                  "%s: no %s in the PTX of %s", op_name((OpKind)op), op_ptx((OpKind)op), what);
}

// Passed over where there is no NVRTC, or one that is older than the generation.
START_TEST(it_becomes_the_ptx_of_its_row) {
  bool has_nvrtc;
  nvrtc_describe(arena, &has_nvrtc);
  for (int a = 0; has_nvrtc && a < N_ARCHS; a++) {
    const char *known = NULL;
    if (!has_row(a, _i) || !nvrtc_supports(arena, archs[a].name, &known)) continue;
    becomes_its_ptx(model_of(rows[_i].state, archs[a].name), rows[_i].state);
  }
}
END_TEST

Suite *suite_ops(void) {
  Suite *suite = suite_create("ops");
  TCase *tc = tcase_create("rows");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, every_operation_is_in_a_program);
  tcase_add_test(tc, every_attribute_is_one_of_its_row);
  stress_add_turns(tc, its_program_computes, N_ROWS, 6);
  stress_add_turns(tc, its_program_is_read_back, N_ROWS, 6);
  stress_add_turns(tc, it_becomes_the_ptx_of_its_row, N_ROWS, 9);
  suite_add_tcase(suite, tc);
  return suite;
}
