// Predicates that the compiler keeps in bits of a register: each sentence of the rule as a listing
// of a few lines, and kernels of which it has lost some.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/saved_predicates.h"
#include "model/interp/interp_machine.h"
#include "model/ir/program.h"
#include "property.h"
#include "ptx_plan.h"
#include "quick_check.h"
#include "sass_listing.h"
#include "stress.h"

Suite *suite_saved_predicates(void);

static Arena *arena;
static void setup(void) {
  property_setup();
  arena = property_arena;
}

// ---- the rule -----------------------------------------------------------------------------------

#define SAVE "LOP3.LUT R0, R0, 0xfffffffb, RZ, 0xc0, !PT; @P0 LOP3.LUT R0, R0, 0x4, RZ, 0xfc, !PT;"
#define SAVE_OTHER \
  "LOP3.LUT R0, R0, 0xfffffff7, RZ, 0xc0, !PT; @P6 LOP3.LUT R0, R0, 0x8, RZ, 0xfc, !PT;"
#define TEST "LOP3.LUT P2, RZ, R0.reuse, 0x4, RZ, 0xc0, !PT;"
#define WRITE "IMAD.U32 R0, RZ, RZ, UR5;"

static const struct {
  const char *text;
  int n_saved, n, test, overwritten;
} cases[] = {
    // What was saved is what is tested, also behind saves of other bits.
    {SAVE TEST "EXIT", 1, 0, 0, 0},
    {SAVE SAVE_OTHER TEST "EXIT", 1, 0, 0, 0},
    {WRITE SAVE TEST "EXIT", 1, 0, 0, 0},
    // What the register held when the kernel began does not count.
    {TEST SAVE "EXIT", 1, 0, 0, 0},
    // Something else was written in between, whatever was saved on top of it.
    {SAVE WRITE TEST "EXIT", 1, 1, 3, 2},
    {SAVE WRITE SAVE_OTHER TEST "EXIT", 1, 1, 5, 2},
    {SAVE "@P6 IADD3 R0, -R8, 0xd, RZ;" TEST "EXIT", 1, 1, 3, 2},
    // Registers by twos and fours, and results behind a predicate.
    {SAVE "CS2R R2, SRZ; LDC.64 R254, c[0x0][0x210];" TEST "EXIT", 1, 0, 0, 0},
    {SAVE "IADD3 R3, P0, R0, R4, RZ;" TEST "EXIT", 1, 0, 0, 0},
    {SAVE "SHFL.BFLY PT, R0, R6, 0x2, 0x1f;" TEST "EXIT", 1, 1, 3, 2},
    {SAVE "ISETP.NE.AND P0, PT, R0, RZ, PT; STG.E desc[UR4][R2.64], R0;" TEST "EXIT", 1, 0, 0, 0},
    {"LOP3.LUT R3, R3, 0xfffffffb, RZ, 0xc0, !PT; HMMA.16816.F32.BF16 R0, R96, R10, R0;"
     "LOP3.LUT P2, RZ, R3, 0x4, RZ, 0xc0, !PT; EXIT",
     1, 1, 2, 1},
    // By way of a branch, forwards and backwards; not from behind one that is always taken.
    {SAVE "@P1 BRA `(.L_x_1);" WRITE ".L_x_1;" TEST "EXIT", 1, 1, 5, 3},
    {SAVE "BRA `(.L_x_1);" WRITE "EXIT; .L_x_1;" TEST "EXIT", 1, 0, 0, 0},
    {SAVE "BRA.DIV ~URZ, `(.L_x_1);" WRITE ".L_x_1;" TEST "EXIT", 1, 1, 5, 3},
    {SAVE ".L_x_1;" TEST WRITE "@P1 BRA `(.L_x_1); EXIT", 1, 1, 3, 4},
    {SAVE ".L_x_1;" TEST WRITE "@P1 BRA `(.L_x_11); EXIT; .L_x_11; EXIT", 1, 0, 0, 0},
    {SAVE WRITE "EXIT; .L_x_1;" TEST "EXIT", 1, 0, 0, 0},
    // Bits and registers that nobody saves are numbers, and each kernel has its own.
    {WRITE TEST "EXIT", 0, 0, 0, 0},
    {"LOP3.LUT R0, R0, 0xfffffff0, RZ, 0xc0, !PT;" WRITE TEST "EXIT", 0, 0, 0, 0},
    {SAVE "EXIT; |" WRITE TEST "EXIT", 0, 0, 0, 0},
    // ELECT does not ask what was saved.
    {SAVE WRITE TEST "@P6 ELECT P2, URZ, PT; EXIT", 1, 0, 0, 0},
    {SAVE WRITE TEST "@P6 ELECT P3, URZ, PT; EXIT", 1, 1, 3, 2},
    // Texts that no disassembler writes.
    {"LOP3.LUT; LOP3.LUT R0; LOP3.LUT P0; LOP3.LUT R0, R0, 0x; BRA `(; BRA `(.L_x_9)", 0, 0, 0, 0},
};

START_TEST(rule) {
  const SassResult *sass = sass_listing(arena, cases[_i].text);
  const LostPredicates lost = predicates_lost(arena, sass);
  ck_assert_int_eq(lost.n_saved, cases[_i].n_saved);
  ck_assert_int_eq(lost.n, cases[_i].n);
  if (!lost.n) return;
  ck_assert_int_eq(lost.lost[0].test, cases[_i].test);
  ck_assert_int_eq(lost.lost[0].overwritten, cases[_i].overwritten);
}
END_TEST

static const char *sentence(const char *text) {
  const SassResult *sass = sass_listing(arena, text);
  const LostPredicates lost = predicates_lost(arena, sass);
  return predicates_lost_sentence(arena, sass, &lost);
}

START_TEST(sentences) {
  ck_assert_str_eq(sentence(SAVE TEST "EXIT"), "");
  ck_assert_str_eq(sentence(SAVE WRITE TEST "EXIT"),
                   "ptxas loses predicates: IMAD.U32 at 0020 overwrites bit 2 of R0, and 0030 "
                   "tests it later");
  ck_assert_str_eq(sentence(SAVE WRITE TEST TEST "EXIT"),
                   "ptxas loses predicates: IMAD.U32 at 0020 overwrites bit 2 of R0, and 0030 "
                   "tests it later, and 1 more");
}
END_TEST

// ---- kernels ------------------------------------------------------------------------------------

// Rows of A come straight from global memory under bounds, two to an atom of m16; the last tile of
// rows ends outside of C. All of these were compiled wrong when every copy of the unrolled loop
// compared with M; the first is one of 28,000 random kernels, and had 449,312 wrong cells on an
// H100 (C[0, 0] = -51.75 instead of 3.59).
#define BOUNDS "AUTO=0,TARGET=h100,STAGE=01,UNROLL_RING=1,ASYNC_COPY=0,PAD_SMEM=0,TMA=1,ELECT=0,"
#define BF16 BOUNDS "DTYPE=bf16,ATOM_KIND=mma_m16n8k16_bf16,PIPELINE_STAGES=1,INTERLEAVE_LOADS=1,"
#define DOWN BF16 "FM=20,BUFFER_COUNT=2,SERPENTINE_K=1,PERSISTENT=1,"
#define SMALL DOWN "LDMATRIX=1,BK=16,GROUP_N=8,M=576,N=16,K=1024"

static const char *const states[] = {
    DOWN "LDMATRIX=1,BK=16,GROUP_N=8,COPY_FROM=28,EPI_N=64,M=4096,N=4096,K=4096",
    BF16 "FM=19,PERSISTENT=1,LDMATRIX=0,BK=8,BUFFER_COUNT=4,GROUP_N=8,M=2048,N=4096,K=2048",
    BOUNDS
    "DTYPE=f16,ATOM_KIND=mma_m16n8k16_f16,PIPELINE_STAGES=1,FM=19,GROUP_N=8,BM=32,"
    "LDMATRIX=1,BK=4,BUFFER_COUNT=8,INTERLEAVE_LOADS=0,M=2048,N=8192,K=2048",
    SMALL,
};
enum { N_STATES = sizeof states / sizeof *states };

static const Model *model_of(const char *state) {
  const Schedule schedule = property_read_state(state);
  return property_built(&schedule);
}

static Plan *plan_of(const Model *model) {
  const Emission *emission = emit_model(arena, model, model->program);
  return plan_from_emission(arena, emission, model->program, model->target, "predicates");
}

static bool has_tools(const char *version) {
  bool found = false;
  const char *is = nvrtc_describe(arena, &found);
  return found && sass_find_tool(arena) && str_starts(is, version);
}

static LostPredicates lost_of(const Plan *plan, const char **sentence_of) {
  const CompileResult *result = compile_once(arena, plan, COMPILE_CUBIN);
  ck_assert_msg(result->ok, "%s", result->error);
  const SassResult *sass = sass_disassemble(arena, result->cubin, result->cubin_bytes, 60);
  ck_assert_msg(sass->ok, "%s", sass->error);
  const LostPredicates lost = predicates_lost(arena, sass);
  *sentence_of = predicates_lost_sentence(arena, sass, &lost);
  return lost;
}

START_TEST(copies_with_bounds_of_their_own_lose_none) {
  if (!has_tools("NVRTC ")) return;
  const char *words;
  const LostPredicates lost = lost_of(plan_of(model_of(states[_i])), &words);
  ck_assert_msg(lost.n == 0, "%s: %s", states[_i], words);
}
END_TEST

// The same text with the bound that all copies share.
START_TEST(copies_with_a_bound_in_common_lose_some) {
  if (!has_tools("NVRTC 13.0")) return;
  Plan *plan = plan_of(model_of(states[_i]));
  const char own[] = "const int m_end = opaque(M);";
  const char *at = strstr(plan->cuda, own);
  ck_assert_msg(at, "no \"%s\" in %s", own, plan->cuda);
  plan->cuda = arena_printf(arena, "%.*sconst int m_end = M;%s", (int)(at - plan->cuda), plan->cuda,
                            at + strlen(own));
  const char *words;
  ck_assert_int_gt(lost_of(plan, &words).n, 3);
}
END_TEST

// The text is right, and so is its PTX: in an order of slabs that goes down and up.
START_TEST(its_ptx_is_right) {
  if (!has_tools("NVRTC ")) return;
  const Model *model = model_of(SMALL);
  const Plan *plan = plan_of(model);
  const CompileResult *compiled = compile_once(arena, plan, COMPILE_BOTH);
  ck_assert_msg(compiled->ok, "%s", compiled->error);
  InterpOptions options = {.seed = 1};
  const float *of[2];
  for (int i = 0; i < 2; i++) of[i] = interp_inputs_of(arena, &model->program->problem, 1, i);
  options.a = of[0], options.b = of[1];
  const InterpResult *expected = interpret(arena, model->program, &options);
  ck_assert(expected->finished && expected->n_findings == 0);
  const PtxPlanGiven given = {.ptx = compiled->ptx,
                              .main_kernel = model->program->main_kernel,
                              .clusters = 2,
                              .a = of[0],
                              .b = of[1]};
  const PtxPlanRun run = ptx_plan_run(arena, plan, &given);
  for (int64_t i = 0; i < plan->m * plan->n; i++) ck_assert(run.c[i] == expected->c[i]);
}
END_TEST

Suite *suite_saved_predicates(void) {
  Suite *suite = suite_create("saved_predicates");
  TCase *tc = tcase_create("listings and kernels");
  tcase_set_timeout(tc, 120);
  tcase_add_checked_fixture(tc, setup, property_teardown);
  tcase_add_loop_test(tc, rule, 0, sizeof cases / sizeof *cases);
  tcase_add_test(tc, sentences);
  stress_add_turns(tc, copies_with_bounds_of_their_own_lose_none, N_STATES, N_STATES);
  stress_add_turns(tc, copies_with_a_bound_in_common_lose_some, N_STATES, N_STATES);
  tcase_add_test(tc, its_ptx_is_right);
  suite_add_tcase(suite, tc);
  return suite;
}
