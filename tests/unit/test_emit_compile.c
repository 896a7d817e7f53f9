// What NVRTC makes of the emitted texts: no warning, no local memory, no spill, and wide accesses
// that are wide. Passed over where there is no NVRTC.
#include <check.h>
#include <string.h>

#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "stress.h"

static Arena *arena;
static EmitCases cases;
static bool has_nvrtc;

static void setup(void) {
  arena = arena_new("test emit compile");
  cases = emit_cases(arena);
  nvrtc_describe(arena, &has_nvrtc);
}
static void teardown(void) { arena_free(arena); }

static const CompileResult *compile(const Model *model, CompileStage stage, const char *what) {
  const Plan *plan = plan_from_model(arena, model, what);
  const CompileResult *result = compile_once(arena, plan, stage);
  ck_assert_msg(result->ok, "%s: %s\n%.2000s", what, result->error, result->log);
  ck_assert_msg(!strstr(result->log, "warning"), "%s: %s", what, result->log);
  return result;
}

static int count(const char *text, const char *part) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) n++;
  return n;
}

static void check_registers_stay_registers(const CompileResult *result, const char *what) {
  ck_assert_msg(!strstr(result->ptx, ".local"), "%s: local memory", what);
  for (int i = 0; i < result->n_kernels; i++) {
    const KernelResources *kernel = &result->kernels[i];
    ck_assert_msg(kernel->stack_bytes == 0, "%s: %d bytes of stack", what, kernel->stack_bytes);
    ck_assert_msg(kernel->spill_store_bytes == 0 && kernel->spill_load_bytes == 0,
                  "%s: %d bytes spilled", what, kernel->spill_store_bytes);
  }
}

// wgmmas of one group stand in a row, however many atoms and steps there are and whatever UNROLL_K
// says: in a loop the assembler mends or serializes them.
START_TEST(no_group_of_wgmma_is_mended) {
  static const char *const states[] = {
      "ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,FN=2,BK=2,UNROLL_K=1",
      "ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=64,FM=2,BK=2,UNROLL_K=1,BUFFER_COUNT=2,"
      "WARP_SPECIALIZE=1",
      "ATOM_KIND=wgmma_m64n256k32_e5m2,B_COL=1,ACC=f16,ATOM_N=32,FM=2,FN=3,BK=4,UNROLL_K=2,"
      "BUFFER_COUNT=3,WARP_SPECIALIZE=1,MMA_GROUPS=1",
      "ATOM_KIND=wgmma_m64n256k16_f16,ATOM_N=64,BK=8,UNROLL_K=1,A_REGS=1,LDMATRIX=1",
      "ATOM_KIND=wgmma_m64n256k8_tf32,B_COL=1,ATOM_N=64,FN=2,BK=16,UNROLL_K=4,UNROLL_RING=1,"
      "BUFFER_COUNT=2,WARP_SPECIALIZE=1,PERSISTENT=1",
  };
  for (size_t i = 0; has_nvrtc && i < sizeof states / sizeof *states; i++) {
    const char *state =
        arena_printf(arena, "AUTO=0,STAGE=11,TMA=1,M=512,N=768,K=1024,%s", states[i]);
    const CompileResult *result = compile(emit_state(&cases, state), COMPILE_BOTH, state);
    for (int k = 0; k < result->n_kernels; k++)
      ck_assert_msg(!result->kernels[k].note, "%s: %s", state, result->kernels[k].note);
  }
}
END_TEST

// A rung that asks for room for several blocks may have to spill; what it asked for it must get.
// One whose line speaks of what spills has it. One rung in 45, in `make stress` and CI all of
// them.
START_TEST(every_rung_compiles_without_local_memory) {
  for (int i = 0; has_nvrtc && i < cases.n; i++) {
    if (!stress_has_turn(i, 135)) continue;
    const Model *model = emit_case(&cases, i);
    const char *name = cases.rung[i].name;
    if (!model) continue;
    const CompileResult *result = compile(model, COMPILE_BOTH, name);
    const KernelResources *main_one = &result->kernels[model->program->main_kernel];
    int64_t bytes = program_smem_bytes(model->program);
    if (bytes <= EMIT_STATIC_SMEM_BYTES) ck_assert_int_ge(main_one->smem_bytes, bytes);
    int64_t min_blocks = model->schedule.value[KNOB_MIN_BLOCKS];
    int64_t threads = kernel_launch(&model->program->kernel[model->program->main_kernel]).n_threads;
    ck_assert_int_le(main_one->registers * threads * min_blocks, model->target->regs_per_sm);
    if (strstr(cases.rung[i].rung->line, "few spills"))
      ck_assert_msg(main_one->spill_store_bytes > 0, "%s: nothing spills", name);
    else if (min_blocks < 2)
      check_registers_stay_registers(result, name);
  }
}
END_TEST

START_TEST(guarded_texts_compile_for_every_generation) {
  static const char *const states[] = {
      "BM=16,BN=16",
      "FM=8,FN=8,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,FRAG_BUFFER=2",
      "FM=8,FN=8,STAGE=11,VECTORIZE=1,BUFFER_COUNT=3,PIPELINE_STAGES=1,ASYNC_COPY=1",
      "FM=2,FN=2,STAGE=11,SPLITK=8",
      "FM=4,FN=4,STAGE=11,GROUP_N=4",
      "FM=4,FN=4,STAGE=11,GROUP_M=3,GROUP_N=4",
  };
  static const char *const archs[] = {"sm_80", "sm_90a", "sm_100a", "sm_120a"};
  for (size_t a = 0; has_nvrtc && a < sizeof archs / sizeof archs[0]; a++) {
    const char *known = NULL;
    if (!nvrtc_supports(arena, archs[a], &known)) continue;
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
      if (!stress_has_turn((int)(i + a), 9)) continue;
      const char *what =
          arena_printf(arena, "M=1000,N=600,K=203,TARGET=%s,%s", archs[a], states[i]);
      const Model *model = emit_state(&cases, what);
      check_registers_stay_registers(compile(model, COMPILE_BOTH, what), what);
    }
  }
}
END_TEST

// Per thread and slab: 8 + 8 elements fetched, 16 k-steps of 8 + 8 elements read.
START_TEST(wide_accesses_are_wide) {
  if (!has_nvrtc) return;
  const Model *model = emit_state(
      &cases, "FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_SMEM=4,UNROLL_K=16");
  const char *ptx = compile(model, COMPILE_PTX, "vectorized")->ptx;
  ck_assert_int_eq(count(ptx, "ld.global.nc.v4"), 4);
  ck_assert_int_eq(count(ptx, "ld.shared.v4"), 16 * 4);
  ck_assert_int_eq(count(ptx, "st.shared.v4"), 2);
  ck_assert_int_eq(count(ptx, "st.shared.f32") + count(ptx, "st.shared.b32"), 8);
  ck_assert_int_eq(count(ptx, "st.global.v4"), 16);
  ck_assert_int_eq(count(ptx, "fma.rn.f32"), 16 * 64);
  // NVRTC is not the same each time in a process that has compiled much: it may read a value twice.
  ck_assert_int_le(count(ptx, "ld.shared.f32") + count(ptx, "ld.shared.b32"), 2);
}
END_TEST

START_TEST(copies_are_asynchronous_and_guarded_by_their_size) {
  if (!has_nvrtc) return;
  const char *const state = "M=1000,N=600,K=204,FM=8,FN=8,STAGE=11,VECTORIZE=1,ASYNC_COPY=1";
  const char *ptx = compile(emit_state(&cases, state), COMPILE_PTX, "cp.async")->ptx;
  ck_assert_int_eq(count(ptx, "cp.async.cg.shared.global"), 4);
  ck_assert_int_eq(count(ptx, "cp.async.commit_group"), 1);
  ck_assert_int_eq(count(ptx, "cp.async.wait_group 0"), 1);
  ck_assert_int_eq(count(ptx, "ld.global"), 0);
}
END_TEST

// One instruction for each cell; ptxas makes it a RED, since nobody reads the result.
START_TEST(splits_add_by_one_instruction) {
  if (!has_nvrtc) return;
  const Model *model = emit_state(&cases, "M=128,N=128,K=16384,FM=2,FN=2,STAGE=11,SPLITK=8");
  const char *ptx = compile(model, COMPILE_PTX, "split-K")->ptx;
  ck_assert_int_eq(count(ptx, "red.global.add.f32") + count(ptx, "atom.global.add.f32"), 4);
  ck_assert_int_eq(count(ptx, ".cas"), 0);
}
END_TEST

Suite *suite_emit_compile(void);
Suite *suite_emit_compile(void) {
  Suite *suite = suite_create("emit_compile");
  TCase *tc = tcase_create("NVRTC");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 180);
  tcase_add_test(tc, every_rung_compiles_without_local_memory);
  tcase_add_test(tc, no_group_of_wgmma_is_mended);
  tcase_add_test(tc, guarded_texts_compile_for_every_generation);
  tcase_add_test(tc, wide_accesses_are_wide);
  tcase_add_test(tc, copies_are_asynchronous_and_guarded_by_their_size);
  tcase_add_test(tc, splits_add_by_one_instruction);
  suite_add_tcase(suite, tc);
  return suite;
}
