// Who issues: elect.sync in the program, in the interpreter, in CUDA and in machine code.
#include <check.h>
#include <string.h>

#include "base/embed.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/counted.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/ir/elect.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/readings/rules/skeleton.h"
#include "stress.h"

// Loops over the lanes of a warp, around one instruction, that a kernel may have.
enum { REPLAYS_MAX = 8 };

static Arena *arena;
static EmitCases cases;
static bool has_nvrtc;

static void setup(void) {
  arena = arena_new("test elect");
  cases = emit_cases(arena);
  nvrtc_describe(arena, &has_nvrtc);
  has_nvrtc &= sass_find_tool(arena) != NULL;
}
static void teardown(void) { arena_free(arena); }

static int count(const char *text, const char *part) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) n++;
  return n;
}

static const char roles[] =
    "AUTO=0,ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,ATOM_N=64,BK=2,STAGE=11,"
    "SWIZZLE=1,TMA=1,BUFFER_COUNT=2,PERSISTENT=1,WARP_SPECIALIZE=1,EPILOGUE=1,TMA_STORE=1,"
    "M=256,N=128,K=96";

static const Model *roles_with(const char *more) {
  return emit_state(&cases, arena_printf(arena, "%s,%s", roles, more));
}

static const char *cuda(const Model *model) { return plan_from_model(arena, model, "test")->cuda; }

START_TEST(conditions_of_one_lane_and_of_whole_warps) {
  const Var thread = {.id = 0, .name = "thread", .kind = VAR_THREAD, .extent = 192};
  const Var odd = {.id = 1, .name = "odd", .kind = VAR_THREAD, .extent = 48};
  const Expr *t = ex_var(arena, &thread), *zero = ex_const(arena, 0);
  const Expr *first = ex_binary(arena, EXPR_EQ, ex_mod(arena, t, 32), zero);
  const Expr *behind = ex_lt(arena, ex_const(arena, 127), t);
  ck_assert_int_eq(elect_period(t), 192);
  ck_assert_int_eq(elect_period(ex_mod(arena, t, 64)), 64);
  ck_assert_int_eq(elect_period(ex_mod(arena, t, 16)), 0);
  ck_assert_ptr_eq(elect_test(ex_land(arena, behind, first)), first);
  ck_assert_ptr_null(elect_test(behind));
  ck_assert_ptr_null(elect_test(ex_binary(arena, EXPR_EQ, ex_var(arena, &odd), zero)));
  ck_assert(elect_is_of_warps(behind));
  ck_assert(!elect_is_of_warps(ex_lt(arena, t, ex_const(arena, 16))));
  ck_assert(!elect_is_of_warps(first));
}
END_TEST

// The condition is the same text as before, and says so; what reads the text has it again.
START_TEST(a_program_says_who_is_elected) {
  const char *text = program_text_full(arena, roles_with("ELECT=1")->program);
  ck_assert_int_eq(count(text, ", elected"), 6);
  ck_assert_int_eq(count(program_text_full(arena, roles_with("ELECT=0")->program), "elected"), 0);
  Diags diags = diags_new(arena);
  const Program *again = program_parse(arena, text, strlen(text), "test", &diags);
  ck_assert_msg(again != NULL, "%s", text);
  ck_assert_str_eq(program_text_full(arena, again), text);
}
END_TEST

START_TEST(text_elects_behind_a_branch_of_whole_warps) {
  const char *text = cuda(roles_with("ELECT=1"));
  ck_assert_ptr_nonnull(strstr(text, "elect.sync"));
  ck_assert_ptr_nonnull(strstr(text, "if (warp == 4) {"));
  ck_assert_ptr_nonnull(strstr(text, "if (warp == 0 && elect_one())"));
  ck_assert_ptr_null(strstr(text, "threadIdx.x =="));
  const char *by_number = cuda(roles_with("ELECT=0"));
  ck_assert_ptr_null(strstr(by_number, "elect"));
  ck_assert_ptr_nonnull(strstr(by_number, "if (threadIdx.x == 160)"));
}
END_TEST

static int count_replays(const SassResult *sass) {
  int n = 0;
  for (int i = 0; i < sass->n_counts; i++)
    if (strstr(sass->counts[i].opcode, "BRA.U.ANY")) n += sass->counts[i].count;
  return n;
}

static int replays(const Model *model, const char *name) {
  const Plan *plan = plan_from_model(arena, model, name);
  const CompileResult *result = compile_once(arena, plan, COMPILE_BOTH);
  ck_assert_msg(result->ok, "%s: %s\n%.2000s", name, result->error, result->log);
  const SassResult *sass = sass_disassemble(arena, result->cubin, result->cubin_bytes, 60);
  ck_assert_msg(sass->ok, "%s: %s", name, sass->error);
  return count_replays(sass);
}

// Whichever lane is elected: each run of the interpreter takes another one.
START_TEST(any_lane_will_do) {
  const InterpOptions options = {.seed = 1, .runs = 4};
  const InterpCheck check = interpret_check(arena, roles_with("ELECT=1")->program, &options);
  ck_assert(check.ok);
}
END_TEST

// Attention fetches by TMA too: in both forms right, and compiled for what it is written for.
START_TEST(attention_issues_in_both_ways) {
  static const char *const states[] = {
      "AUTO=0,PROGRAM=attention,FUSE=1,TARGET=h200,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=32,FN=1,"
      "STAGE=11,SWIZZLE=2,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,M=64,N=64,K=32",
      "AUTO=0,PROGRAM=attention,FUSE=1,TARGET=h200,ATOM_KIND=mma_m16n8k16_bf16,FN=4,STAGE=11,"
      "LDMATRIX=2,TMA=1,M=32,N=64,K=32",
  };
  const InterpOptions options = {.seed = 1, .runs = 4};
  for (int i = 0; i < 4; i++) {
    const int elects = i % 2;
    const Model *model =
        emit_state(&cases, arena_printf(arena, "%s,ELECT=%d", states[i / 2], elects));
    const InterpCheck check = interpret_check(arena, model->program, &options);
    ck_assert_msg(check.ok, "%s", check.n_findings ? check.finding[0].text : "wrong cells");
    ck_assert_int_eq(strstr(cuda(model), "elect_one()") != NULL, elects);
    if (has_nvrtc) ck_assert_int_ge(replays(model, "attention"), 0);
  }
}
END_TEST

START_TEST(half_a_warp_elects_nobody) {
  const Program *broken =
      program_break(arena, roles_with("ELECT=1")->program, BREAK_ELECT_DIVERGED);
  const InterpOptions options = {.seed = 1};
  ck_assert_ptr_nonnull(broken);
  const InterpResult *result = interpret(arena, broken, &options);
  ck_assert_int_gt(result->n_findings, 0);
  ck_assert_int_eq(result->finding[0].kind, FINDING_DIVERGENCE);
  ck_assert_ptr_nonnull(strstr(result->finding[0].text, "asks elect.sync"));
  ck_assert_ptr_null(program_break(arena, roles_with("ELECT=0")->program, BREAK_ELECT_DIVERGED));
}
END_TEST

static const SkeletonLine *line_about_elect(const Program *program) {
  const Skeleton *skeleton = skeleton_of(arena, program);
  for (int i = 0; i < skeleton->n; i++) {
    const SkeletonLine *line = ARENA_NEW(arena, SkeletonLine);
    memcpy((void *)(uintptr_t)line, &skeleton->line[i], sizeof *line);
    if (strstr(line->asked, "elect.sync")) return line;
  }
  return NULL;
}

START_TEST(checklist_names_the_elect) {
  const Program *elects = roles_with("ELECT=1")->program;
  const SkeletonLine *line = line_about_elect(elects);
  ck_assert(line && line->state == SKELETON_OK);
  line = line_about_elect(program_break(arena, elects, BREAK_ELECT_DIVERGED));
  ck_assert(line && line->state == SKELETON_WRONG);
  ck_assert_ptr_null(line_about_elect(roles_with("ELECT=0")->program));
}
END_TEST

static bool issues(const Model *model) {
  return strstr(program_text_full(arena, model->program), "elected") != NULL;
}

// The lesson tells how many there are without it: of the same text as it is compiled here.
START_TEST(loops_over_lanes_are_as_many_as_is_told) {
  const Rung *rung = NULL;
  for (int i = 0; i < cases.n; i++)
    if (!strcmp(cases.rung[i].name, "blackwell_roles")) rung = cases.rung[i].rung;
  ck_assert_ptr_nonnull(rung);
  Schedule by_number = rung->schedule;
  schedule_set(&by_number, KNOB_ELECT, 0);
  const EmbeddedFile *file = embed_find(arena, "facts/nvrtc_kernels.jsonl");
  Diags diags = diags_new(arena);
  double told = -1;
  const CountedKernels *counted = counted_read(arena, file->text, file->size, file->path, &diags);
  ck_assert_ptr_nonnull(counted_find(counted, &by_number, "lane_loops", &told));
  ck_assert_double_gt(told, REPLAYS_MAX);
  if (!has_nvrtc) return;
  const Model *model = emit_state(&cases, schedule_record_text(arena, &by_number));
  ck_assert_double_eq(replays(model, "by number"), told);
}
END_TEST

// One rung in 16, in `make stress` all of them.
START_TEST(no_rung_issues_in_a_loop_over_lanes) {
  for (int i = 0; has_nvrtc && i < cases.n; i++) {
    const Model *model = stress_has_dear_turn(i, 16, 16) ? emit_case(&cases, i) : NULL;
    if (!model || !issues(model)) continue;
    const int n = replays(model, cases.rung[i].name);
    ck_assert_msg(n <= REPLAYS_MAX, "%s: %d", cases.rung[i].name, n);
  }
  if (has_nvrtc) ck_assert_int_gt(replays(roles_with("ELECT=0"), "by number"), REPLAYS_MAX);
}
END_TEST

Suite *suite_elect(void);
Suite *suite_elect(void) {
  Suite *suite = suite_create("elect");
  TCase *tcase = tcase_create("elect");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 300);
  tcase_add_test(tcase, conditions_of_one_lane_and_of_whole_warps);
  tcase_add_test(tcase, a_program_says_who_is_elected);
  tcase_add_test(tcase, text_elects_behind_a_branch_of_whole_warps);
  tcase_add_test(tcase, any_lane_will_do);
  tcase_add_test(tcase, attention_issues_in_both_ways);
  tcase_add_test(tcase, half_a_warp_elects_nobody);
  tcase_add_test(tcase, checklist_names_the_elect);
  tcase_add_test(tcase, loops_over_lanes_are_as_many_as_is_told);
  tcase_add_test(tcase, no_rung_issues_in_a_loop_over_lanes);
  suite_add_tcase(suite, tcase);
  return suite;
}
