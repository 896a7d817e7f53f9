// Every atom of mma.sync, from its row to CUDA: golden texts, the product on a CPU, and what NVRTC
// makes of it for each generation.
#include <check.h>
#include <string.h>

#include "compile_once.h"
#include "cuda_batch.h"
#include "cuda_on_cpu.h"
#include "emit_cases.h"
#include "golden.h"
#include "golden_cuda.h"
#include "kernels/device/problem_kernels.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/text/prelude.h"
#include "model/words/fragment.h"
#include "stress.h"

static Arena *arena;
static EmitCases cases;
static bool has_nvrtc;

static void setup(void) {
  arena = arena_new("test emit atoms");
  cases = emit_cases(arena);
  nvrtc_describe(arena, &has_nvrtc);
}
static void teardown(void) { arena_free(arena); }

// The ways an atom's fragments come to it; those that break a rule are left out.
static const struct {
  const char *name, *knobs;
} ways[] = {
    {"direct", ""},
    {"staged", ",WM=2,FN=2,BK=2,STAGE=11"},
    {"ldmatrix", ",WN=2,FM=2,FN=2,BK=4,STAGE=11,LDMATRIX=1,SWIZZLE=1,ASYNC_COPY=1"},
    {"ldmatrix_pairs", ",FM=2,FN=4,BK=4,STAGE=11,LDMATRIX=2,BUFFER_COUNT=2,PIPELINE_STAGES=1"},
    {"transposed", ",FM=2,FN=2,BK=2,STAGE=11,TRANSPOSE_B=1,LDMATRIX=1,SWIZZLE=1"},
    {"by_columns", ",A_COL=1,B_COL=1,FM=2,FN=2,BK=2,STAGE=11,LDMATRIX=1"},
    {"fragment_buffer",
     ",FM=2,FN=2,BK=4,STAGE=11,LDMATRIX=1,BUFFER_COUNT=3,PIPELINE_STAGES=1,"
     "ASYNC_COPY=1,FRAG_BUFFER=2"},
    {"epilogue", ",WM=2,WN=2,FM=2,FN=2,BK=2,STAGE=11,EPILOGUE=1"},
    {"tma_store",
     ",WM=2,WN=2,FM=2,FN=4,BK=2,STAGE=11,EPILOGUE=1,TMA_STORE=1,EPI_N=16,EPI_BUFFERS=2"},
    {"stmatrix", ",WM=2,FM=2,FN=3,BK=2,STAGE=11,EPILOGUE=1,STMATRIX=1"},
    {"stmatrix_store", ",WM=2,FM=2,FN=8,BK=2,STAGE=11,TMA=1,EPILOGUE=1,STMATRIX=1,TMA_STORE=1"},
    {"splitk_store", ",FM=2,FN=2,BK=1,STAGE=11,SPLITK=2,EPILOGUE=1,TMA_STORE=1"},
    {"splitk", ",FM=2,FN=2,BK=1,STAGE=11,SPLITK=2"},
    {"splitk_partials", ",FM=2,FN=2,BK=1,STAGE=11,SPLITK=2,ATOMIC_FREE_SPLITK=1"},
    {"alpha", ",FN=2,ALPHA=1"},
    {"f16_sums", ",ACC=f16,FM=2,FN=2,BK=2,STAGE=11,LDMATRIX=1"},
    {"f16_sums_alpha", ",ACC=f16,FN=2,ALPHA=1"},
    {"f16_sums_epilogue", ",ACC=f16,WM=2,FM=2,FN=4,BK=2,STAGE=11,EPILOGUE=1"},
    {"f16_sums_stmatrix",
     ",ACC=f16,WM=2,FM=2,FN=4,BK=2,STAGE=11,EPILOGUE=1,STMATRIX=1,TMA_STORE=1,EPI_N=8"},
    {"f16_sums_partials", ",ACC=f16,FN=2,BK=1,STAGE=11,SPLITK=2,ATOMIC_FREE_SPLITK=1"},
};
enum { N_WAYS = sizeof ways / sizeof *ways };

static const Model *model_of(const Atom *atom, int way, const char *problem) {
  const char *state =
      arena_printf(arena, "%s,ATOM_KIND=%s%s", problem, atom->knob, ways[way].knobs);
  return emit_state_if_legal(&cases, state);
}

static bool is_tested(const Atom *atom) { return atom->knob && atom_is_of_warp(atom); }

// ---- texts --------------------------------------------------------------------------------------

// The first one whole, the others by what is different; helpers apart.
START_TEST(every_atom_is_written_as_reviewed) {
  static GoldenText before[64];
  GoldenHelpers *helpers = golden_helpers_new(arena);
  int n = 0;
  for (int i = 0; i < atom_count; i++) {
    if (!is_tested(&atom_table[i])) continue;
    const bool scaled = atom_scales(&atom_table[i]) > 0;  // no other generation has those
    const Model *model =
        model_of(&atom_table[i], 0,
                 scaled ? "M=512,N=512,K=512,TARGET=rtx5090,B_COL=1" : "M=512,N=512,K=512");
    ck_assert(model != NULL);
    const Emission *emission =
        emit_cuda(arena, model->program,
                  &(EmitOptions){.schedule = &model->schedule,
                                 .target = plan_target_text(arena, model->target)});
    const char *name = arena_printf(arena, "atom_%s", atom_table[i].knob);
    const char *text = golden_without_helpers(helpers, emission->text);
    if (n)
      golden_check_change(arena_printf(arena, "cuda/%s.diff", name), before, n, text);
    else
      golden_check(arena_printf(arena, "cuda/%s.cu", name), text);
    before[n++] = (GoldenText){name, text};
  }
  golden_check_helpers("cuda/helpers_atoms.cu", helpers);
}
END_TEST

START_TEST(a_plan_names_the_types) {
  static const struct {
    const char *knobs;
    PlanType operand, sum, output;
  } types[] = {
      {"", PLAN_F32, PLAN_F32, PLAN_F32},
      {",ATOM_KIND=mma_m16n8k16_f16", PLAN_F16, PLAN_F32, PLAN_F16},
      {",ATOM_KIND=mma_m16n8k16_f16,ACC=f16", PLAN_F16, PLAN_F16, PLAN_F16},
      {",ATOM_KIND=mma_m16n8k16_bf16", PLAN_BF16, PLAN_F32, PLAN_BF16},
      {",ATOM_KIND=mma_m16n8k8_tf32", PLAN_TF32, PLAN_F32, PLAN_F32},
      {",ATOM_KIND=mma_m8n8k4_f64", PLAN_F64, PLAN_F64, PLAN_F64},
      {",ATOM_KIND=mma_m16n8k32_s8", PLAN_S8, PLAN_S32, PLAN_S32},
      {",ATOM_KIND=mma_m16n8k32_e4m3", PLAN_E4M3, PLAN_F32, PLAN_F32},
      {",ATOM_KIND=mma_m16n8k32_e5m2", PLAN_E5M2, PLAN_F32, PLAN_F32},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const char *state = arena_printf(arena, "M=512,N=512,K=512%s", types[i].knobs);
    Diags diags = diags_new(arena);
    const Plan *plan = plan_from_model(arena, emit_state(&cases, state), "");
    ck_assert_msg(plan_check(plan, &diags), "%s", diags_text(arena, &diags));
    ck_assert_int_eq(plan->operand_type, types[i].operand);
    ck_assert_int_eq(plan->accumulate_type, types[i].sum);
    ck_assert_int_eq(plan->output_type, types[i].output);
  }
  const Plan *columns = plan_from_model(arena, emit_state(&cases, "M=64,N=64,K=64,A_COL=1"), "");
  ck_assert(columns->a_col_major && !columns->b_col_major);
}
END_TEST

// A sum of differences: the xor binds less than the +, so it must stand in parentheses.
START_TEST(xors_in_sums_are_enclosed) {
  const Model *model =
      emit_state(&cases,
                 "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16,FM=2,FN=8,BK=4,STAGE=11,LDMATRIX=1,"
                 "SWIZZLE=3,BUFFER_COUNT=2,PIPELINE_STAGES=1");
  const Emission *emission = emit_cuda(arena, model->program, &(EmitOptions){.no_prelude = true});
  int n_xors = 0;
  for (const char *at = emission->text; (at = strstr(at, " ^ ")); at += 3) {
    const char *begin = at;
    int depth = 0;
    while (depth >= 0 && begin > emission->text && *begin != '\n') {
      begin--;
      depth += (*begin == ')') - (*begin == '(' || *begin == '[');
    }
    for (const char *c = begin + 1; c < at; c++) {
      depth += (*c == '(') - (*c == ')');
      ck_assert_msg(!(depth == -1 && strncmp(c, " + ", 3) == 0), "%.*s", (int)(at - begin + 20),
                    begin);
    }
    n_xors++;
  }
  ck_assert_int_gt(n_xors, 4);
  ck_assert_ptr_nonnull(strstr(emission->text, "__align__(1024)"));
}
END_TEST

// ---- on the CPU ---------------------------------------------------------------------------------

START_TEST(every_atom_computes_the_product) {
  static const char *const problems[] = {"M=64,N=64,K=64", "M=50,N=88,K=80", "M=21,N=17,K=36",
                                         "M=33,N=30,K=70"};
  CpuProgram cpu = cpu_program_new(arena);
  int n_ways[N_WAYS] = {0};
  for (int i = 0; i < atom_count; i++)
    for (int way = 0; way < N_WAYS && is_tested(&atom_table[i]); way++)
      for (int p = 0; p < (int)(sizeof problems / sizeof *problems); p++) {
        const Model *model = model_of(&atom_table[i], way, problems[p]);
        if (!model) continue;
        n_ways[way]++;
        if (!stress_has_turn(i + way + p, 12)) continue;
        const Emission *emission =
            emit_cuda(arena, model->program, &(EmitOptions){.no_prelude = true});
        cpu_program_add(&cpu, schedule_text(arena, &model->schedule), emission, model->program);
      }
  for (int way = 0; way < N_WAYS; way++)
    ck_assert_msg(n_ways[way] > 0, "%s: no atom can", ways[way].name);
  const char *said = "";
  bool skipped = false, right = cpu_program_run(arena, &cpu, &said, &skipped);
  ck_assert_msg(right, "%s", said);
}
END_TEST

// ---- NVRTC --------------------------------------------------------------------------------------

static void check_compiled(const Model *model, const char *what) {
  const Plan *plan = plan_from_model(arena, model, what);
  const CompileResult *result = compile_once(arena, plan, COMPILE_BOTH);
  ck_assert_msg(result->ok, "%s: %s\n%.2000s", what, result->error, result->log);
  ck_assert_msg(!strstr(result->log, "warning"), "%s: %s", what, result->log);
  ck_assert_msg(!strstr(result->ptx, ".local"), "%s: local memory", what);
  for (int i = 0; i < result->n_kernels; i++) {
    const KernelResources *kernel = &result->kernels[i];
    ck_assert_msg(kernel->stack_bytes == 0 && kernel->spill_store_bytes == 0, "%s: spills", what);
  }
}

// Each atom for one generation in two, in another way for each or as it comes: all of them would
// take minutes.
START_TEST(every_atom_compiles_for_every_generation) {
  static const char *const archs[] = {"sm_80", "sm_90a", "sm_100a", "sm_120a"};
  const char *known = NULL;
  if (!has_nvrtc || !nvrtc_supports(arena, archs[_i], &known)) return;
  const char *problem = arena_printf(arena, "M=1000,N=600,K=208,TARGET=%s", archs[_i]);
  int n = 0;
  for (int i = 0; i < atom_count; i++) {
    if (!is_tested(&atom_table[i]) || !stress_has_turn(i + _i, 5)) continue;
    const Model *models[] = {model_of(&atom_table[i], 0, problem), NULL};
    for (int way = 1 + (3 * i + 5 * _i) % (N_WAYS - 1); !models[1] && way < 2 * N_WAYS; way++)
      models[1] = model_of(&atom_table[i], way % N_WAYS, problem);
    for (int m = stress_is_on() ? 0 : (i / 2 + _i) % 2; m < 2 && models[m]; m++, n++)
      check_compiled(models[m], schedule_text(arena, &models[m]->schedule));
  }
  ck_assert_int_ge(n, stress_part(2, 2));
}
END_TEST

// The instructions that the text asks for, by count: one k-step of 2 x 2 atoms.
START_TEST(ptx_has_the_instructions) {
  if (!has_nvrtc) return;
  static const struct {
    const char *knobs, *instruction;
    int n, k;
  } expected[] = {
      {"mma_m16n8k16_f16,LDMATRIX=1", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", 2, 16},
      {"mma_m16n8k16_f16,LDMATRIX=1", "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", 2, 16},
      {"mma_m16n8k16_f16,LDMATRIX=2", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 1, 16},
      {"mma_m16n8k16_f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 16},
      {"mma_m16n8k16_f16", "cvt.rn.f16x2.f32", 8, 16},
      {"mma_m16n8k16_f16,ACC=f16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 16},
      {"mma_m16n8k16_f16,ACC=f16", "cvt.rn", 0, 16},
      {"mma_m16n8k8_bf16", "cvt.rn.bf16x2.f32", 8, 8},
      {"mma_m16n8k8_tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 8},
      {"mma_m16n8k32_s8", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 32},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const char *state = arena_printf(arena, "M=512,N=512,K=%d,FM=2,FN=2,BK=1,STAGE=11,ATOM_KIND=%s",
                                     expected[i].k, expected[i].knobs);
    const Plan *plan = plan_from_model(arena, emit_state(&cases, state), "");
    const CompileResult *result = compile_once(arena, plan, COMPILE_PTX);
    ck_assert_msg(result->ok, "%s: %s", state, result->log);
    int n = 0;
    for (const char *at = result->ptx; (at = strstr(at, expected[i].instruction)); at++) n++;
    ck_assert_msg(n == expected[i].n, "%s: %d of %s", state, n, expected[i].instruction);
  }
}
END_TEST

// ---- wrappers that no schedule asks for yet -----------------------------------------------------

static void check_plan(const Plan *plan, const char *what) {
  const CompileResult *result = compile_once(arena, plan, COMPILE_BOTH);
  ck_assert_msg(result->ok, "%s: %s\n%.2000s", what, result->error, result->log);
  ck_assert_msg(!strstr(result->log, "warning"), "%s: %.2000s", what, result->log);
}

static void check_batch(const CudaBatch *batch, const char *arch) {
  check_plan(cuda_batch_plan(arena, batch, arch, "use"), arch);
}

// extern "C" __global__ void use(the wrapper's own parameters) { wrapper(their names); }
static const char *with_a_caller(const Prelude *prelude, const char *names) {
  const char *text = prelude_text(arena, prelude);
  const char *open =
      strstr(text, prelude_name(arena, prelude)) + strlen(prelude_name(arena, prelude));
  const char *types =
      prelude_type_is_struct(prelude->type) && prelude->kind != PRELUDE_MMA
          ? prelude_text(arena, &(Prelude){.kind = PRELUDE_TYPE, .type = prelude->type})
          : "";
  return arena_printf(arena, "%s%sextern \"C\" __global__ void use%.*s) { %s(%s); }\n", types, text,
                      (int)strcspn(open, ")"), open, prelude_name(arena, prelude), names);
}

START_TEST(every_mma_wrapper_compiles) {
  if (!has_nvrtc) return;
  CudaBatch old = cuda_batch_new(arena), new = cuda_batch_new(arena),
            scaled = cuda_batch_new(arena);
  for (int i = 0; i < atom_count; i++) {
    Atom atom = atom_table[i];
    const bool is_written = atom_is_of_warp(&atom) && !atom.sparse;
    for (int f16_sums = 0; f16_sums <= atom.f16_acc && is_written; f16_sums++) {
      if (f16_sums) {
        atom.acc = "f16";
        atom.acc_bits = 16;
      }
      const Prelude mma = {.kind = PRELUDE_MMA, .atom = &atom};
      const bool has_factors = atom_scales(&atom) > 0;
      const char *names = has_factors ? "c, a, b, sfa, byte_a, sfb, byte_b" : "c, a, b";
      cuda_batch_add(has_factors          ? &scaled
                     : atom.cc_first > 80 ? &new
                                          : &old,
                     with_a_caller(&mma, names), "use", prelude_name(arena, &mma));
    }
  }
  check_batch(&old, "sm_80");
  check_batch(&new, "sm_90a");
  check_batch(&scaled, "sm_120a");
}
END_TEST

START_TEST(every_move_compiles) {
  static const DType stored[] = {DTYPE_F32, DTYPE_F64,  DTYPE_S32,  DTYPE_S8,
                                 DTYPE_F16, DTYPE_BF16, DTYPE_E4M3, DTYPE_E5M2};
  if (!has_nvrtc) return;
  CudaBatch batch = cuda_batch_new(arena);
  for (size_t t = 0; t < sizeof stored / sizeof *stored; t++)
    for (int bytes = 4; bytes <= 16; bytes *= 2) {
      DType type = stored[t];
      Prelude move = {.type = type, .registers = type, .width = bytes / dtype_bytes(type)};
      move.packed = dtype_bytes(type) < 4;
      if (move.width < 1) continue;
      move.kind = PRELUDE_LOAD;
      cuda_batch_add(&batch, with_a_caller(&move, "to, from"), "use", "load");
      move.kind = PRELUDE_LOAD_OR_ZERO;
      cuda_batch_add(&batch, with_a_caller(&move, "to, from, inside"), "use", "load or zero");
      move.kind = PRELUDE_STORE;
      cuda_batch_add(&batch, with_a_caller(&move, "to, from"), "use", "store");
      move.kind = PRELUDE_CP_ASYNC_OR_ZERO;
      cuda_batch_add(&batch, with_a_caller(&move, "slab, at, from_global, inside"), "use",
                     "cp.async");
      move.kind = PRELUDE_CP_ASYNC_IF;
      cuda_batch_add(&batch, with_a_caller(&move, "slab, at, from_global, wanted"), "use",
                     "predicate");
      move.kind = PRELUDE_CP_ASYNC_IF_OR_ZERO;
      cuda_batch_add(&batch, with_a_caller(&move, "slab, at, from_global, inside, wanted"), "use",
                     "both");
      if (dtype_bytes(type) != 2) continue;
      move.kind = PRELUDE_STORE;
      move.packed = false;
      move.registers = DTYPE_F32;
      cuda_batch_add(&batch, with_a_caller(&move, "to, from"), "use", "rounding store");
    }
  check_batch(&batch, "sm_80");
}
END_TEST

START_TEST(every_ldmatrix_compiles) {
  if (!has_nvrtc) return;
  CudaBatch batch = cuda_batch_new(arena);
  for (int i = 0; i < 12; i++) {
    const Prelude load = {.kind = PRELUDE_LDMATRIX,
                          .type = i % 2 ? DTYPE_F32 : DTYPE_BF16,
                          .trans = i / 2 % 2,
                          .width = 1 << i / 4};
    cuda_batch_add(&batch, with_a_caller(&load, "to, slab, at"), "use", prelude_name(arena, &load));
  }
  check_batch(&batch, "sm_80");
}
END_TEST

START_TEST(every_conversion_compiles) {
  static const DType types[] = {DTYPE_F16, DTYPE_BF16, DTYPE_E4M3, DTYPE_E5M2};
  if (!has_nvrtc) return;
  CudaBatch old = cuda_batch_new(arena), new = cuda_batch_new(arena);
  for (int t = 0; t < 4; t++) {
    bool rounds = dtype_bytes(types[t]) == 2;
    Str text = str_new(arena);
    Prelude prelude = {.type = types[t]};
    const char *name = prelude_type_name(types[t]);
    for (int kind = 0; kind < PRELUDE_KINDS; kind++) {
      prelude.kind = (PreludeKind)kind;
      bool wanted = kind == PRELUDE_TYPE || kind == PRELUDE_TO_FLOAT || kind == PRELUDE_EXTRACT ||
                    kind == PRELUDE_INSERT ||
                    (rounds && (kind == PRELUDE_FROM_FLOAT || kind == PRELUDE_ATOMIC_ADD));
      if (wanted) str_add(&text, prelude_text(arena, &prelude));
    }
    str_printf(&text,
               "extern \"C\" __global__ void use(%s *x, float *y, unsigned *z, int i) {\n"
               "  y[i] = to_float(x[i]);\n"
               "  x[i + 1] = extract_%s(z[0], i);\n"
               "  insert_%s(&z[1], i, x[i]);\n",
               name, name, name);
    if (rounds) str_printf(&text, "  atomic_add(&x[2], to_%s(y[1]));\n", name);
    str_add(&text, "}\n");
    cuda_batch_add(types[t] == DTYPE_F16 ? &old : &new, text.text, "use", name);
  }
  check_batch(&old, "sm_80");
  check_batch(&new, "sm_90a");
}
END_TEST

START_TEST(the_checking_kernels_compile) {
  static const char *const archs[] = {"sm_80", "sm_90a", "sm_120a"};
  const char *known = NULL;
  for (int i = 0; has_nvrtc && i < 3; i++)
    if (nvrtc_supports(arena, archs[i], &known))
      check_plan(
          &(Plan){.cuda = helper_cuda(arena),
                  .arch = archs[i],
                  .m = 1,
                  .n = 1,
                  .k = 1,
                  .n_kernels = 1,
                  .kernels = {{.name = helper_names[0], .grid = {1, 1, 1}, .block = {32, 1, 1}}}},
          "helpers");
}
END_TEST

Suite *suite_emit_atoms(void);
Suite *suite_emit_atoms(void) {
  Suite *suite = suite_create("emit_atoms");
  TCase *texts = tcase_create("texts");
  tcase_add_checked_fixture(texts, setup, teardown);
  tcase_set_timeout(texts, 300);
  tcase_add_test(texts, every_atom_is_written_as_reviewed);
  tcase_add_test(texts, a_plan_names_the_types);
  tcase_add_test(texts, xors_in_sums_are_enclosed);
  tcase_add_test(texts, every_atom_computes_the_product);
  tcase_add_loop_test(texts, every_atom_compiles_for_every_generation, 0, 4);
  tcase_add_test(texts, ptx_has_the_instructions);
  tcase_add_test(texts, every_mma_wrapper_compiles);
  tcase_add_test(texts, every_move_compiles);
  tcase_add_test(texts, every_ldmatrix_compiles);
  tcase_add_test(texts, every_conversion_compiles);
  tcase_add_test(texts, the_checking_kernels_compile);
  suite_add_tcase(suite, texts);
  return suite;
}
