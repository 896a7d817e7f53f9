// DEPENDENT_LAUNCH: later kernels are launched early and wait. Text, values, the fault of a missing
// wait, and what the driver is asked for.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/interp/breakage.h"
#include "model/ir/notation/print.h"
#include "model/ir/program.h"
#include "property.h"

Suite *suite_dependent_launch(void);

#define FMA "M=50,N=68,K=96,BM=8,BN=8,FM=2,FN=2,BK=8,STAGE=11,SPLITK=3,"
#define WGMMA                                                                             \
  "ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=32,WM=2,BK=4,TMA=1,STAGE=11,WARP_SPECIALIZE=1," \
  "MMA_GROUPS=1,SWIZZLE=2,BUFFER_COUNT=2,"

// Sums by atomic adds, behind a kernel that clears C; partial sums; the parts of a last turn; parts
// of fp32 that TMA fetches; attention in three kernels.
static const struct {
  const char *state;
  int later;  // kernels that are launched early
} shapes[] = {
    {FMA, 1},
    {FMA "ATOMIC_FREE_SPLITK=1", 1},
    {WGMMA "M=330,N=200,K=136,PERSISTENT=1,MULTICAST=1,CLUSTER_M=2,TAIL_SPLIT=3", 1},
    {WGMMA "M=128,N=128,K=128,DTYPE=f32,SPLIT_F32=3xbf16", 2},
    {"PROGRAM=attention,HEADS=2,M=40,N=48,K=32,FUSE=0", 2},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static const Model *built(int shape, bool early) {
  Schedule schedule = property_read_state(
      arena_printf(property_arena, "%s,DEPENDENT_LAUNCH=%d", shapes[shape].state, early));
  return property_built(&schedule);
}

static int count(const char *text, const char *what) {
  int n = 0;
  for (; (text = strstr(text, what)); text += strlen(what)) n++;
  return n;
}

// The first kernel is launched as ever; the others wait, each once, and the text is read back.
START_TEST(later_kernels_wait) {
  const Program *program = built(_i, true)->program;
  const char *text = program_text_full(property_arena, program);
  ck_assert_msg(count(text, "griddepcontrol.wait") == shapes[_i].later, "%.1500s", text);
  ck_assert_int_eq(count(text, "   dependent"), shapes[_i].later);
  ck_assert(!program->kernel[0].dependent);
  const Emission *emission = emit_model(property_arena, built(_i, true), program);
  ck_assert_int_eq(count(emission->text, "wait_for_kernel_before();"), shapes[_i].later);
  ck_assert_int_eq(count(emission->text, "launched early"), shapes[_i].later);
  ck_assert_ptr_null(
      strstr(program_text_full(property_arena, built(_i, false)->program), "griddep"));
}
END_TEST

START_TEST(values_are_those_of_the_nest) {
  const Model *model = built(_i, true);
  ck_assert(property_computes(&model->schedule, "all passes", model->program, 2));
}
END_TEST

// Whatever the order of the run: what an earlier kernel wrote may not be touched before the wait.
START_TEST(a_missing_wait_is_found) {
  const Program *broken = program_break(property_arena, built(_i, true)->program, BREAK_GRID_WAIT);
  ck_assert(broken != NULL);
  const InterpOptions options = {.seed = 1, .runs = 2};
  const InterpCheck check = interpret_check(property_arena, broken, &options);
  ck_assert(!check.ok);
  const Finding *first = &check.finding[0];
  ck_assert_int_eq(first->kind, FINDING_RACE);
  ck_assert_msg(strstr(first->text, "no griddepcontrol.wait before") != NULL, "%s", first->text);
  ck_assert_ptr_null(program_break(property_arena, built(_i, false)->program, BREAK_GRID_WAIT));
}
END_TEST

// Those kernels alone, and through a pipe, too.
START_TEST(plans_say_so) {
  const Model *model = built(_i, true);
  const Plan *plan = plan_from_model(property_arena, model, "early");
  int early = 0;
  for (int i = 0; i < plan->n_kernels; i++) early += plan->kernels[i].dependent;
  ck_assert_int_eq(early, shapes[_i].later);
  ck_assert(!plan->kernels[0].dependent);
  Diags diags = diags_new(property_arena);
  Str json = str_new(property_arena);
  plan_write_json(&json, plan);
  const Plan *back = plan_read_json(property_arena, json.text, &diags);
  ck_assert_msg(back != NULL, "%s", json.text);
  for (int i = 0; i < plan->n_kernels; i++)
    ck_assert_int_eq(back->kernels[i].dependent, plan->kernels[i].dependent);
}
END_TEST

START_TEST(old_targets_do_not_have_it) {
  const int refusals = property_refusals(FMA "DEPENDENT_LAUNCH=1,TARGET=A100", "dependent_arch",
                                         "DEPENDENT_LAUNCH=0");
  ck_assert_int_eq(refusals, 1);
}
END_TEST

Suite *suite_dependent_launch(void) {
  Suite *suite = suite_create("dependent_launch");
  TCase *tests = tcase_create("dependent_launch");
  tcase_set_timeout(tests, 300);
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_add_loop_test(tests, later_kernels_wait, 0, N_SHAPES);
  tcase_add_loop_test(tests, values_are_those_of_the_nest, 0, N_SHAPES);
  tcase_add_loop_test(tests, a_missing_wait_is_found, 0, N_SHAPES);
  tcase_add_loop_test(tests, plans_say_so, 0, N_SHAPES);
  tcase_add_test(tests, old_targets_do_not_have_it);
  suite_add_tcase(suite, tests);
  return suite;
}
