// How long a block holds tensor memory, and how much: what a launch and a picture must know of it.
#include <check.h>
#include <string.h>

#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/ir/notation/print.h"
#include "model/ir/rewrite.h"

static Arena *arena;
static EmitCases cases;

static void setup(void) {
  arena = arena_new("test tensor use");
  cases = emit_cases(arena);
}
static void teardown(void) { arena_free(arena); }

static const char roles[] =
    "AUTO=0,ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,B_COL=1,ATOM_N=64,BK=2,STAGE=11,"
    "SWIZZLE=1,TMA=1,BUFFER_COUNT=2,PERSISTENT=1,WARP_SPECIALIZE=1,M=256,N=256,K=96";

static const Model *roles_with(const char *more) {
  return emit_state(&cases, arena_printf(arena, "%s,%s", roles, more));
}

// What the driver does not count the plan says, and the model counts the same.
START_TEST(tensor_memory_limits_the_blocks_of_an_sm) {
  static const struct {
    const char *more;
    int columns, blocks;
  } rows[] = {{"TENSOR_COLUMNS=0", 64, 8},
              {"ACC_BUFFERS=3", 256, 2},
              {"TENSOR_COLUMNS=512", 512, 1},
              {"TENSOR_COLUMNS=128,ACC_BUFFERS=2", 128, 4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Model *model = roles_with(rows[i].more);
    const PlanKernel *kernel = &plan_from_model(arena, model, rows[i].more)->kernels[0];
    ck_assert_int_eq(model->resources.tensor_columns, rows[i].columns);
    ck_assert_int_eq(kernel->blocks_per_sm, rows[i].blocks);
    ck_assert_int_le(model->resources.blocks_per_sm, rows[i].blocks);
  }
  const Model *hopper = emit_state(&cases, "BM=16,BN=16,TARGET=b200,M=64,N=64,K=64");
  ck_assert_int_eq(plan_from_model(arena, hopper, "fma")->kernels[0].blocks_per_sm, 0);
}
END_TEST

START_TEST(columns_that_do_not_do_are_refused) {
  static const char *const more[] = {"TENSOR_COLUMNS=16", "TENSOR_COLUMNS=128,ACC_BUFFERS=3"};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    ck_assert_ptr_null(emit_state_if_legal(&cases, arena_printf(arena, "%s,%s", roles, more[i])));
  ck_assert_ptr_null(emit_state_if_legal(&cases, "BM=16,BN=16,TENSOR_COLUMNS=512,TARGET=b200"));
}
END_TEST

// The statement behind the wait for the last piece tells that the sums are read: no store stands
// in front of it, with a slab for pieces and without.
START_TEST(sums_are_released_before_they_are_stored) {
  static const char *const more[] = {"EPI_N=32", "EPI_N=64", "EPI_N=32,EPILOGUE=1,TMA_STORE=1"};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    const Model *model = roles_with(more[i]);
    const char *text = program_text_full(arena, model->program);
    const char *wait = strstr(text, "tcgen05.wait::ld"), *arrive = strstr(text, "arrive acc_empty");
    ck_assert_msg(wait && arrive && wait < arrive, "%s", text);
    const char *between = arena_strndup(arena, wait, (size_t)(arrive - wait));
    ck_assert_ptr_null(strstr(between, "16 B"));
    ck_assert_ptr_nonnull(strstr(between, "tcgen05.fence::before_thread_sync"));
    const InterpOptions options = {.seed = 1};
    ck_assert(interpret_check(arena, model->program, &options).ok);
    const Program *early = program_break(arena, model->program, BREAK_TENSOR_RELEASE_EARLY);
    ck_assert_ptr_nonnull(early);
    const InterpCheck check = interpret_check(arena, early, &options);
    ck_assert(!check.ok);
    ck_assert_ptr_nonnull(strstr(check.finding[0].text, "sums["));
  }
}
END_TEST

Suite *suite_tensor_use(void);
Suite *suite_tensor_use(void) {
  Suite *suite = suite_create("tensor_use");
  TCase *tcase = tcase_create("tensor_use");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, tensor_memory_limits_the_blocks_of_an_sm);
  tcase_add_test(tcase, columns_that_do_not_do_are_refused);
  tcase_add_test(tcase, sums_are_released_before_they_are_stored);
  suite_add_tcase(suite, tcase);
  return suite;
}
