// Attention: each pass leaves a program that computes, on the CPU to the last bit, what the naive
// nests and a float64 loop compute; what its rules refuse; what NVRTC says of its text.
#include <check.h>
#include <math.h>
#include <string.h>

#include "cli/common/cli_model.h"
#include "compile_once.h"
#include "cuda_on_cpu.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/interp/interp_machine.h"
#include "model/ir/find_op.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/schedules/random_schedule.h"
#include "model/words/fragment.h"
#include "stress.h"

Suite *suite_attention(void);

static Arena *arena;
static EmitCases cases;

static void setup(void) {
  arena = arena_new("test attention");
  cases = emit_cases(arena);
}
static void teardown(void) { arena_free(arena); }

#define FUSED \
  "PROGRAM=attention,HEADS=2,ATOM_KIND=mma_m16n8k16_f16,FUSE=1,STAGE=11,SWIZZLE=2,LDMATRIX=2,"

#define GROUP "PROGRAM=attention,ATOM_KIND=wgmma_m64n256k16_f16,FUSE=1,STAGE=11,TARGET=h200,"

// K and V in rings of a producer's.
#define ROLES GROUP "SWIZZLE=3,TMA=1,WARP_SPECIALIZE=1,"

// Edges on every side: queries, keys and blocks that do not come out even, causal or not, one head
// dimension of the articles and smaller ones.
static const char *const states[] = {
    "PROGRAM=attention,M=1,N=5,K=16,BM=6,BN=5",
    "PROGRAM=attention,HEADS=3,M=20,N=37,K=9,BM=4,BN=8",
    "PROGRAM=attention,HEADS=2,M=20,N=37,K=16,BM=8,BN=4,CAUSAL=1",
    "PROGRAM=attention,HEADS=2,M=40,N=71,K=32,ATOM_KIND=mma_m16n8k16_f16,WM=2,FN=4",
    "PROGRAM=attention,HEADS=2,M=40,N=72,K=32,ATOM_KIND=mma_m16n8k8_tf32,WM=2,FN=3,CAUSAL=1",
    "PROGRAM=attention,HEADS=2,M=40,N=71,K=32,ATOM_KIND=mma_m16n8k16_bf16,WM=2,FN=4,FUSE=1",
    "PROGRAM=attention,M=50,N=100,K=32,ATOM_KIND=mma_m16n8k16_f16,WM=3,FM=2,FN=2,FUSE=1,STAGE=11,"
    "PAD_SMEM=8",
    FUSED "M=40,N=71,K=32,WM=2,FN=4",
    FUSED "M=33,N=90,K=32,WM=2,FN=4,ASYNC_COPY=1,FRAG_ORDER=1",
    FUSED "M=40,N=71,K=32,WM=2,FN=4,ASYNC_COPY=1,EAGER_KV=1,FRAG_ORDER=1",
    FUSED "M=40,N=71,K=32,WM=1,FM=2,FN=4,ASYNC_COPY=1,EAGER_KV=1",
    FUSED "M=70,N=130,K=64,WM=2,FN=8,ASYNC_COPY=1,EAGER_KV=1,FRAG_BUFFER=2,CAUSAL=1",
    FUSED
    "M=70,N=70,K=64,WM=4,FN=2,ASYNC_COPY=1,EAGER_KV=1,CAUSAL=1,UNROLL_K=2,L2_HINT=1,"
    "TILE_ORDER=longest",
    FUSED "M=40,N=71,K=64,WM=2,FN=4,TMA=1,TARGET=h200",
    FUSED "M=70,N=130,K=64,WM=2,FM=2,FN=4,TMA=1,EAGER_KV=1,CAUSAL=1,FRAG_BUFFER=2,TARGET=h200",
    FUSED "M=40,N=16,K=32,WM=2,FN=4,ASYNC_COPY=1,EAGER_KV=1,MIN_BLOCKS=2",
    FUSED "M=40,N=71,K=32,WM=2,FN=4,A_REGS=1",
    FUSED "M=70,N=130,K=64,WM=2,FM=2,FN=4,ASYNC_COPY=1,EAGER_KV=1,CAUSAL=1,A_REGS=1",
    "PROGRAM=attention,HEADS=2,M=40,N=71,K=16,ATOM_KIND=mma_m16n8k16_bf16,WM=2,FN=4,FUSE=1,STAGE="
    "11,"
    "LDMATRIX=1,ASYNC_COPY=1,FRAG_ORDER=1,A_REGS=1",
    FUSED "M=70,N=130,K=64,WM=2,FN=4,TMA=1,EAGER_KV=1,FRAG_ORDER=1,A_REGS=1,TARGET=h200",
    GROUP "HEADS=2,M=70,N=130,K=64,ATOM_N=64,SWIZZLE=3",
    GROUP "HEADS=2,M=130,N=100,K=32,ATOM_N=32,FN=2,WM=2,SWIZZLE=2,ASYNC_COPY=1,EAGER_KV=1",
    GROUP "M=70,N=190,K=128,ATOM_N=80,SWIZZLE=3,TMA=1,EAGER_KV=1,CAUSAL=1,TILE_ORDER=longest",
    GROUP "HEADS=2,M=70,N=40,K=16,ATOM_N=8,FN=4,FM=2,SWIZZLE=1,TMA=1",
    ROLES "M=130,N=200,K=64,ATOM_N=64,WM=2,BUFFER_COUNT=2",
    ROLES "M=130,N=200,K=64,ATOM_N=64,WM=2,BUFFER_COUNT=2,ELECT=0",
    ROLES "HEADS=2,M=70,N=190,K=64,ATOM_N=32,BUFFER_COUNT=3,MMA_GROUPS=1,CAUSAL=1",
    ROLES "M=130,N=170,K=128,ATOM_N=80,WM=2,BUFFER_COUNT=2,MMA_GROUPS=1,PRODUCER_REGS=24",
    ROLES
    "HEADS=2,M=190,N=110,K=64,ATOM_N=16,FN=3,WM=3,BUFFER_COUNT=2,MMA_GROUPS=1,ROLE_SCHEDULE="
    "pingpong",
    ROLES
    "HEADS=2,M=70,N=40,K=64,ATOM_N=48,WM=2,BUFFER_COUNT=2,MMA_GROUPS=1,ROLE_SCHEDULE=pingpong",
    ROLES
    "M=140,N=200,K=64,ATOM_N=64,WM=2,BUFFER_COUNT=2,MMA_GROUPS=1,ROLE_SCHEDULE=pingpong,CAUSAL=1",
    ROLES "HEADS=2,M=190,N=110,K=64,ATOM_N=48,WM=3,BUFFER_COUNT=2,ROLE_SCHEDULE=pingpong",
    ROLES "M=140,N=200,K=64,ATOM_N=64,WM=2,BUFFER_COUNT=2,ROLE_SCHEDULE=pingpong,CAUSAL=1",
    FUSED "M=70,N=130,K=64,WM=2,FM=2,FN=4,TMA=1,WARP_SPECIALIZE=1,BUFFER_COUNT=2,TARGET=h200",
};
enum { N_STATES = sizeof states / sizeof *states };

static const Model *model_of(const char *state) {
  return emit_state(&cases, arena_printf(arena, "AUTO=0,%s", state));
}

static void check_computes(const Program *program, const char *what) {
  const InterpOptions options = {.seed = 1, .runs = 1};
  const InterpCheck check = interpret_check(arena, program, &options);
  ck_assert_msg(check.ok, "%s: %s; %lld cells wrong, first [%lld, %lld] is %g, not %g\n%.2500s",
                what, check.n_findings ? check.finding[0].text : "", (long long)check.n_wrong,
                (long long)check.wrong_row, (long long)check.wrong_column, check.wrong_got,
                check.wrong_expected, program_text(arena, program));
}

// After the last pass, and after each of the others in one state of three: all in `make stress`.
START_TEST(every_pass_leaves_it_exact) {
  const Model *model = model_of(states[_i]);
  for (int i = 0; i < model->pipeline.n_stages; i++) {
    if (i < model->pipeline.n_stages - 1 && !stress_has_turn(i + _i, 15)) continue;
    const Pass *pass = model->pipeline.stage[i].pass;
    check_computes(model->pipeline.stage[i].program,
                   arena_printf(arena, "%s after %s", states[_i], pass ? pass->name : "nothing"));
  }
}
END_TEST

// For one generation in turn, in `make stress` for all three.
START_TEST(its_text_compiles) {
  static const char *const targets[] = {"sm_80", "sm_90a", "sm_120"};
  const bool has_own = strstr(states[_i], "TARGET=");
  for (int t = 0; t < (has_own ? 1 : 3); t++) {
    if (!has_own && !stress_has_turn(t + _i, 12)) continue;
    const char *target = has_own ? "" : arena_printf(arena, ",TARGET=%s", targets[t]);
    const Model *model = model_of(arena_printf(arena, "%s%s", states[_i], target));
    const CompileResult *result =
        compile_once(arena, plan_from_model(arena, model, "attention"), COMPILE_PTX);
    ck_assert_msg(result->ok, "%s: %s\n%.3000s", states[_i], result->error, result->log);
    ck_assert_msg(!strstr(result->log, "warning"), "%s: %s", states[_i], result->log);
  }
}
END_TEST

// Whatever is drawn and legal: after every pass, and with every family of atoms.
START_TEST(random_schedules_compute) {
  const RandomLimits limits = {.fma_max = 1 << 22, .family = RANDOM_ATTENTION};
  uint64_t state = (uint64_t)_i * 977 + 1;
  for (int i = 0; i < stress_count(2, 1000); i++) {
    Arena *own = arena_new("drawn");
    const Schedule drawn = schedule_random(own, &cases.targets, "h200", &limits, &state, NULL);
    const Model *model = model_build(own, &cases.targets, &drawn);
    for (int stage = 0; stage < model->pipeline.n_stages; stage++)
      check_computes(model->pipeline.stage[stage].program, schedule_text(own, &drawn));
    arena_free(own);
  }
}
END_TEST

// The complete text says all that the interpreter and the emitter ask for.
START_TEST(it_is_read_back) {
  const Model *model = model_of(states[_i]);
  for (int i = 0; i < model->pipeline.n_stages; i++) {
    const char *text = program_text_full(arena, model->pipeline.stage[i].program);
    Diags diags = diags_new(arena);
    const Program *again = program_parse(arena, text, strlen(text), "text", &diags);
    ck_assert_msg(again != NULL, "%s\n%.2500s", diags_text(arena, &diags), text);
    const char *read = program_text_full(arena, again);
    ck_assert_msg(strcmp(text, read) == 0, "%s: what is read back differs from\n%.2500s",
                  states[_i], text);
    if (i == model->pipeline.n_stages - 1) check_computes(again, "what was read back");
  }
}
END_TEST

// Every text of every pass, threads as fibers: to the last bit.
START_TEST(its_texts_compute) {
  CpuProgram cpu = cpu_program_new(arena);
  for (int s = 0; s < N_STATES; s++) {
    if (!stress_has_turn(s, 12)) continue;
    const Model *model = model_of(states[s]);
    for (int i = 1; i < model->pipeline.n_stages; i++) {
      const Program *program = model->pipeline.stage[i].program;
      if (!cpu_finds_tiles(program)) continue;
      const char *name = arena_printf(arena, "%d %s", s, model->pipeline.stage[i].pass->name);
      cpu_program_add(&cpu, name, emit_cuda(arena, program, &(EmitOptions){.no_prelude = true}),
                      program);
    }
  }
  ck_assert_int_gt(cpu.n_cases, stress_part(50, 15));
  const char *said = "";
  bool skipped = false;
  ck_assert_msg(cpu_program_run(arena, &cpu, &said, &skipped), "%s", said);
}
END_TEST

// What a program of one kernel has left of scores and weights is in registers.
START_TEST(fusing_leaves_nothing_in_global_memory) {
  const Program *program = model_of(states[5])->program;
  ck_assert_int_eq(program->n_kernels, 1);
  ck_assert_ptr_null(program_buffer(program, ROLE_SCORES));
  ck_assert_ptr_null(program_buffer(program, ROLE_WEIGHTS));
  ck_assert_ptr_null(program_buffer(program, ROLE_ROW_SUMS));
}
END_TEST

// ---- breakages ----------------------------------------------------------------------------------

static const struct {
  BreakageId id;
  FindingKind finding;  // FINDING_COUNT: none, but cells are wrong
} breakages[] = {
    {BREAK_K_EARLY, FINDING_RACE},      {BREAK_V_EARLY, FINDING_RACE},
    {BREAK_NO_RESCALE, FINDING_COUNT},  {BREAK_SUM_RESCALE, FINDING_COUNT},
    {BREAK_LANES_MAX, FINDING_COUNT},   {BREAK_UNCONVERTED, FINDING_OPERAND},
    {BREAK_TRANS, FINDING_COUNT},       {BREAK_FIRST_BARRIER, FINDING_RACE},
    {BREAK_LAST_BARRIER, FINDING_RACE}, {BREAK_WAIT, FINDING_MISSING_WAIT},
    {BREAK_MATRIX, FINDING_COUNT},      {BREAK_LAYOUT, FINDING_COUNT},
};
enum { N_BREAKAGES = sizeof breakages / sizeof *breakages };

#define EAGER FUSED "M=70,N=130,K=64,WM=2,FN=4,EAGER_KV=1,"

static void check_breakage(const char *state, BreakageId id, FindingKind finding) {
  const Model *model = model_of(state);
  const Program *broken = program_break(arena, model->program, id);
  ck_assert_msg(broken != NULL, "%s breaks nothing", breakage_name(id));
  const InterpCheck check = interpret_check(arena, broken, &(InterpOptions){.seed = 1});
  ck_assert_msg(!check.ok, "%s is not found", breakage_name(id));
  if (finding == FINDING_COUNT) {
    ck_assert_msg(check.n_wrong > 0, "%s", breakage_name(id));
    return;
  }
  bool found = false;
  for (int i = 0; i < check.n_findings; i++) found |= check.finding[i].kind == finding;
  ck_assert_msg(found, "%s: %s", breakage_name(id),
                check.n_findings ? check.finding[0].text : "nothing but wrong cells");
}

START_TEST(breakages_are_found) {
  check_breakage(EAGER "ASYNC_COPY=1", breakages[_i].id, breakages[_i].finding);
}
END_TEST

// The same by boxes, whose waits are for bytes.
static const struct {
  BreakageId id;
  FindingKind finding;
} box_breakages[] = {
    {BREAK_K_EARLY, FINDING_RACE},
    {BREAK_V_EARLY, FINDING_RACE},
    {BREAK_FULL_WAIT, FINDING_MISSING_WAIT},
    {BREAK_FULL_PHASE, FINDING_MISSING_WAIT},
    {BREAK_FIRST_BARRIER, FINDING_RACE},
    {BREAK_LAST_BARRIER, FINDING_RACE},
    {BREAK_FENCE, FINDING_RACE},
};
enum { N_BOX_BREAKAGES = sizeof box_breakages / sizeof *box_breakages };

START_TEST(breakages_of_boxes_are_found) {
  check_breakage(EAGER "TMA=1,TARGET=h200", box_breakages[_i].id, box_breakages[_i].finding);
}
END_TEST

// And where a warpgroup multiplies in the background.
#define TILES GROUP "M=70,N=100,K=64,ATOM_N=32,SWIZZLE=3,TMA=1,EAGER_KV=1"
#define TWO_GROUPS GROUP "M=140,N=100,K=64,ATOM_N=32,WM=2,SWIZZLE=3,TMA=1,EAGER_KV=1"
static const struct {
  BreakageId id;
  FindingKind finding;
} tile_breakages[] = {
    {BREAK_WG_WAIT, FINDING_MISSING_WAIT},
    {BREAK_WG_WAIT_LAX, FINDING_MISSING_WAIT},
    {BREAK_WG_FENCE, FINDING_MISSING_FENCE},
    {BREAK_WG_COMMIT, FINDING_MISSING_WAIT},
    {BREAK_LBO_SBO_SWAPPED, FINDING_DESCRIPTOR},
    {BREAK_MODE_OFF, FINDING_DESCRIPTOR},
    {BREAK_TRANS_OFF, FINDING_DESCRIPTOR},
    {BREAK_SUMS_KEPT, FINDING_UNWRITTEN_READ},
    {BREAK_K_EARLY, FINDING_RACE},
    {BREAK_V_EARLY, FINDING_RACE},
    {BREAK_FULL_WAIT, FINDING_MISSING_WAIT},
    {BREAK_FULL_PHASE, FINDING_MISSING_WAIT},
    {BREAK_FIRST_BARRIER, FINDING_RACE},
    {BREAK_LAST_BARRIER, FINDING_RACE},
    {BREAK_UNCONVERTED, FINDING_OPERAND},
    {BREAK_NO_RESCALE, FINDING_COUNT},
    {BREAK_LANES_MAX, FINDING_COUNT},
    {BREAK_SUM_RESCALE, FINDING_COUNT},
};
enum { N_TILE_BREAKAGES = sizeof tile_breakages / sizeof *tile_breakages };

START_TEST(breakages_of_tiles_are_found) {
  check_breakage(TWO_GROUPS, tile_breakages[_i].id, tile_breakages[_i].finding);
}
END_TEST

// What the four warps of one warpgroup multiply they have read when one of them has waited: no
// barrier is missing in front of the next box, and no arrival of one of them.
static void check_harmless(const char *state, BreakageId id) {
  const Program *broken = program_break(arena, model_of(state)->program, id);
  ck_assert_ptr_nonnull(broken);
  const InterpCheck check = interpret_check(arena, broken, &(InterpOptions){.seed = 1});
  ck_assert_msg(check.ok, "%s: %s", breakage_name(id),
                check.n_findings ? check.finding[0].text : "wrong cells");
}

START_TEST(one_warpgroup_needs_no_barrier) {
  static const BreakageId id[] = {BREAK_K_EARLY, BREAK_V_EARLY, BREAK_LAST_BARRIER};
  check_harmless(TILES, id[_i]);
}
END_TEST

START_TEST(a_warp_of_four_may_be_silent) {
  check_harmless(ROLES "M=100,N=500,K=64,ATOM_N=32,BUFFER_COUNT=2", BREAK_SILENT_WARP);
}
END_TEST

// And where a producer fetches, and both products are in flight.
static const struct {
  BreakageId id;
  FindingKind finding;
} role_breakages[] = {
    {BREAK_WG_WAIT, FINDING_MISSING_WAIT},     {BREAK_WG_WAIT_LAX, FINDING_MISSING_WAIT},
    {BREAK_WG_FENCE, FINDING_MISSING_FENCE},   {BREAK_WG_COMMIT, FINDING_MISSING_WAIT},
    {BREAK_FULL_WAIT, FINDING_UNWRITTEN_READ}, {BREAK_FULL_PHASE, FINDING_RACE},
    {BREAK_SLOT_AFTER, FINDING_RACE},          {BREAK_EMPTY_WAIT, FINDING_RACE},
    {BREAK_EMPTY_PHASE, FINDING_DEADLOCK},     {BREAK_ARRIVE, FINDING_DEADLOCK},
    {BREAK_MORE_ARRIVALS, FINDING_DEADLOCK},   {BREAK_MORE_BYTES, FINDING_DEADLOCK},
    {BREAK_RELEASE_EARLY, FINDING_RACE},       {BREAK_SUMS_EARLY, FINDING_MISSING_WAIT},
    {BREAK_MORE_REGISTERS, FINDING_DEADLOCK},  {BREAK_SUMS_KEPT, FINDING_UNWRITTEN_READ},
    {BREAK_NO_RESCALE, FINDING_COUNT},         {BREAK_SUM_RESCALE, FINDING_COUNT},
    {BREAK_LANES_MAX, FINDING_COUNT},          {BREAK_UNCONVERTED, FINDING_OPERAND},
    {BREAK_TURN_ARRIVE, FINDING_DEADLOCK},     {BREAK_TURN_FIRST, FINDING_DEADLOCK},
    {BREAK_TURN_OWN, FINDING_DEADLOCK},
};
enum { N_ROLE_BREAKAGES = sizeof role_breakages / sizeof *role_breakages };

START_TEST(breakages_of_roles_are_found) {
  check_breakage(ROLES
                 "M=100,N=150,K=64,ATOM_N=32,WM=2,BUFFER_COUNT=2,MMA_GROUPS=1,"
                 "PRODUCER_REGS=24,ROLE_SCHEDULE=pingpong",
                 role_breakages[_i].id, role_breakages[_i].finding);
}
END_TEST

static Program *broken_turns(BreakageId id) {
  const Model *model = model_of(ROLES
                                "M=100,N=300,K=64,ATOM_N=32,WM=2,BUFFER_COUNT=2,MMA_GROUPS=1,"
                                "PRODUCER_REGS=24,ROLE_SCHEDULE=pingpong");
  Program *broken = program_break(arena, model->program, id);
  ck_assert_ptr_nonnull(broken);
  return broken;
}

START_TEST(no_data_depends_on_turns) {
  Program *broken = broken_turns(BREAK_TURN_WAIT);
  check_computes(broken, "without waits for turns");
  ck_assert_ptr_nonnull(stmt_find_op(program_main(broken)->body, OP_BARRIER_ARRIVE, ROLE_COUNT));
}
END_TEST

// The first of two warpgroups waits at barrier 14, where 128 threads of 256 are: its own.
START_TEST(who_waits_for_a_turn_is_told) {
  const InterpCheck check =
      interpret_check(arena, broken_turns(BREAK_TURN_FIRST), &(InterpOptions){.seed = 1});
  bool told = false;
  for (int i = 0; i < check.n_findings; i++)
    told |=
        strstr(check.finding[i].text,
               "warps 0-3 wait at barrier 14 of 256 threads, at which 128 have arrived") != NULL;
  ck_assert(told);
}
END_TEST

// With an arrival too few a phase of empty ends before the turn that it counts only when the ones
// left over make up a whole one.
START_TEST(an_arrival_too_few_is_a_phase_after_some_turns) {
  check_breakage(ROLES
                 "M=100,N=500,K=64,ATOM_N=32,WM=2,BUFFER_COUNT=2,MMA_GROUPS=1,"
                 "PRODUCER_REGS=24,ROLE_SCHEDULE=pingpong",
                 BREAK_FEWER_ARRIVALS, FINDING_RACE);
}
END_TEST

// Without the one fence between weights that are new in their registers and the wgmma that reads
// them there, or the one wait behind which they are written again.
static void check_weights(OpKind cut_kind, FindingKind finding) {
  Program *program = program_clone(arena, model_of(TILES)->program);
  Stmt **link = stmt_find_multiply(&program->product[1], &program_slab_loop(program)->body);
  Stmt **last = &program_slab_loop(program)->body;
  while (*last != *link && (*last)->next != *link) last = &(*last)->next;
  if (cut_kind == OP_WG_WAIT) last = stmt_find_link(link, OP_WG_WAIT, ROLE_COUNT);
  ck_assert_int_eq((*last)->op.kind, cut_kind);
  stmt_cut(last);
  const InterpCheck check = interpret_check(arena, program, &(InterpOptions){.seed = 1});
  bool found = false;
  for (int i = 0; i < check.n_findings; i++) found |= check.finding[i].kind == finding;
  ck_assert(found);
}

START_TEST(weights_are_fenced_and_waited_for) {
  check_weights(OP_WG_FENCE, FINDING_MISSING_FENCE);
  check_weights(OP_WG_WAIT, FINDING_MISSING_WAIT);
}
END_TEST

// Fragments of Q that are read once are read behind the arrival of its slab.
START_TEST(kept_queries_have_come) {
#define KEPT FUSED "M=70,N=130,K=64,WM=2,FN=4,A_REGS=1,"
  check_breakage(KEPT "ASYNC_COPY=1", BREAK_FIRST_BARRIER, FINDING_RACE);
  check_breakage(KEPT "ASYNC_COPY=1", BREAK_WAIT, FINDING_MISSING_WAIT);
  check_breakage(KEPT "TMA=1,EAGER_KV=1,TARGET=h200", BREAK_FULL_WAIT, FINDING_MISSING_WAIT);
}
END_TEST

// Copies that are not asked for ahead cannot come too early, and a matmul has no rows to rescale.
START_TEST(what_is_not_there_is_not_broken) {
  const Program *lazy = model_of(FUSED "M=70,N=130,K=64,WM=2,FN=4,ASYNC_COPY=1")->program;
  ck_assert_ptr_null(program_break(arena, lazy, BREAK_K_EARLY));
  ck_assert_ptr_null(program_break(arena, lazy, BREAK_V_EARLY));
  const Program *matmul = model_of("ATOM_KIND=mma_m16n8k16_f16,WM=2,FN=2,BK=2,STAGE=11")->program;
  for (int id = BREAK_K_EARLY; id <= BREAK_UNCONVERTED; id++)
    ck_assert_ptr_null(program_break(arena, matmul, (BreakageId)id));
}
END_TEST

// ---- a causal mask ------------------------------------------------------------------------------

// Whether some query of 16 from `q` on does not see some key of 32 from `t` on, 24 keys ahead.
static bool some_unseen(int64_t q, int64_t t) {
  for (int i = 0; i < 16 * 32; i++)
    if (q + i / 32 + 24 < t + i % 32) return true;
  return false;
}

// Blocks whose scores are all seen compare none of them; no lane has a part in that.
START_TEST(a_mask_is_for_blocks_on_the_diagonal) {
  const Program *program = model_of(FUSED "M=72,N=96,K=32,WM=2,FN=4,CAUSAL=1")->program;
  const Product *scores = &program->product[0];
  const Stmt *mask = program_slab_loop(program)->body;
  while (mask->kind != STMT_IF) mask = mask->next;
  ck_assert_ptr_nonnull(stmt_find_op(mask->body, OP_INIT, ROLE_SCORE));
  const Digit *q = scores->axis[AXIS_M]->digit, *t = scores->axis[AXIS_N]->digit;
  int n_masked = 0;
  for (int i = 0; i < 5 * 3; i++) {
    int64_t *env = ARENA_ARRAY(arena, int64_t, program->n_vars);
    env[q[0].var->id] = i / 3 / 2, env[q[1].var->id] = i / 3 % 2, env[t[0].var->id] = i % 3;
    const bool masked = expr_eval(mask->expr, env) != 0;
    ck_assert_int_eq(masked, some_unseen((int64_t)i / 3 * 16, (int64_t)i % 3 * 32));
    n_masked += masked;
  }
  ck_assert_int_eq(n_masked, 9);
}
END_TEST

// ---- the oracle ---------------------------------------------------------------------------------

// One head, two queries, three keys: by hand.
START_TEST(the_reference_is_a_softmax) {
  const Problem problem = {.m = 2,
                           .n = 3,
                           .k = 2,
                           .dtype = DTYPE_F32,
                           .acc = DTYPE_F32,
                           .out = DTYPE_F32,
                           .kind = PROBLEM_ATTENTION,
                           .heads = 1};
  const float q[] = {1, 0, 0, 1}, k[] = {1, 0, 0, 1, 0, 0}, v[] = {4, 0, 0, 8, 2, 2};
  const double *o = interpret_attention(arena, &problem, q, k, v, 1);
  // Query 0: scores 1, 0, 0, weights 1, 1/2, 1/2, sum 2.
  ck_assert_double_eq(o[0], (4 + 1) / 2.0);
  ck_assert_double_eq(o[1], (4 + 1) / 2.0);
  Problem causal = problem;
  causal.causal = true;  // query 0 stands at key 1, query 1 at key 2
  o = interpret_attention(arena, &causal, q, k, v, 1);
  ck_assert_double_eq(o[0], (double)(float)(4 / 1.5));
  ck_assert_double_eq(o[3], (4 + 8 + 2 * 0.5 - 4 + 0.0) / 2.0);
}
END_TEST

// Of two heads' rows of 64 queries those whose largest score is in that block of 16 keys, and in
// none before it.
static int rising_rows(const float *q, const float *k, int block) {
  int rising = 0;
  for (int row = 0; row < 128; row++) {
    float most[2] = {-9, -9};  // before the block, in it
    for (int key = 0; key < 16 * (block + 1); key++) {
      const float *const a = q + row * 64, *const b = k + (row / 64 * 64 + key) * 64;
      float score = 0;
      for (int e = 0; e < 64; e++) score += a[e] * b[e];
      most[key / 16 == block] = fmaxf(most[key / 16 == block], score);
    }
    rising += most[1] > most[0];
  }
  return rising;
}

// Exponents are whole numbers from -8 to 0, and inputs matter everywhere: in each block of keys a
// share of the rows finds its largest score.
START_TEST(inputs_make_exact_weights) {
  const Problem problem = {.m = 64, .n = 64, .k = 64, .kind = PROBLEM_ATTENTION, .heads = 2};
  const float *q = interp_inputs_of(arena, &problem, 1, 0);
  const float *k = interp_inputs_of(arena, &problem, 1, 1);
  int used[64] = {0};
  for (int row = 0; row < 128; row++) {
    int n = 0;
    for (int e = 0; e < 64; e++) {
      n += q[row * 64 + e] != 0;
      used[e] |= q[row * 64 + e] != 0;
    }
    ck_assert(n == 1 || n == 2);
  }
  for (int e = 0; e < 64; e++) ck_assert_int_eq(used[e], 1);
  for (int i = 0; i < 128 * 64; i++) ck_assert(k[i] >= -1 && k[i] <= 1 && k[i] == (float)(int)k[i]);
  for (int block = 1; block < 4; block++) ck_assert_int_ge(rising_rows(q, k, block), 128 / 8);
}
END_TEST

// ---- registers ----------------------------------------------------------------------------------

// What NVRTC 13.0 made of rungs of the ladder for sm_90a, as recorded with their times.
START_TEST(registers_are_estimated) {
#define RUNG                                                                                      \
  "TARGET=h200,PROGRAM=attention,HEADS=64,M=4096,N=4096,ATOM_KIND=mma_m16n8k16_bf16,WM=4,FUSE=1," \
  "STAGE=11,LDMATRIX=2,ASYNC_COPY=1,SWIZZLE=3,"
  static const struct {
    const char *state;
    int estimate, compiled;
  } rows[] = {{RUNG "K=128,FN=8,FRAG_ORDER=1", 160, 166},
              {RUNG "K=128,FN=8,EAGER_KV=1,FRAG_BUFFER=2", 160, 168},
              {RUNG "K=128,FM=2,FN=8,EAGER_KV=1,UNROLL_K=2", 260, 255},
              {RUNG "K=128,FN=4,EAGER_KV=1", 144, 128},
              {RUNG "K=128,FN=16,EAGER_KV=1", 192, 222},
              {RUNG "K=128,FM=2,FN=4,EAGER_KV=1", 228, 249},
              {RUNG "K=64,FM=2,FN=16,EAGER_KV=1,FRAG_BUFFER=2", 260, 255},
              {RUNG "K=128,FN=8,EAGER_KV=1,A_REGS=1", 192, 202}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Model *model = model_of(rows[i].state);
    const double off = (double)model->resources.n_needed / rows[i].compiled - 1;
    ck_assert_int_eq(model->resources.n_needed, rows[i].estimate);
    ck_assert_msg(off > -0.14 && off < 0.14, "%s: %.2f", rows[i].state, off);
  }
  // Of a warpgroup: 128 x 64 of S and 64 x 64 of O over 128 lanes; NVRTC has 122.
  const Model *group = model_of(GROUP "M=128,N=256,K=64,ATOM_N=128,SWIZZLE=3,TMA=1,WM=2");
  ck_assert_int_eq(group->resources.n_accumulators, 64 + 32);
  ck_assert_int_eq(group->resources.n_needed, 124);
}
END_TEST

// ---- relayout -----------------------------------------------------------------------------------

static void check_relayout(const Atom *atom, const Relayout *map, int step) {
  for (int lane = 0; lane < atom_lanes(atom); lane++)
    for (int v = 0; v < map->n_values; v++) {
      int of = 0, value = step * map->step_values;
      for (int bit = 0; bit < map->n_bits; bit++)
        if (v >> bit & 1) of += map->atom_of_bit[bit], value += map->value_of_bit[bit];
      FragmentElement a = fragment_element(atom, ATOM_A, lane, v);
      FragmentElement c = fragment_element(atom, ATOM_C, lane, value);
      ck_assert_int_eq(a.row, c.row);
      ck_assert_int_eq(a.col + step * atom->k, c.col + of * atom->n);
    }
}

// From both maps alone, element by element.
START_TEST(sums_are_operand_a_in_their_lanes) {
  static const struct {
    const char *atom;
    int kept, elements;
  } rows[] = {{"m16n8k16.f16", 256, 256},
              {"m16n8k16.bf16", 256, 256},
              {"m16n8k8.f16", 128, 128},
              {"m16n8k8.tf32", 32, 128},
              {"m16n8k32.e4m3", 128, 512},
              {"wgmma.m64n8k16.bf16", 1024, 1024},
              {"wgmma.m64n176k16.bf16", 1024, 1024},
              {"wgmma.m64n64k8.tf32", 128, 512}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Atom atom;
    Diags diags = diags_new(arena);
    ck_assert(atom_parse(rows[i].atom, &atom, &diags));
    Relayout map;
    const bool in_place = fragment_relayout(&atom, &atom, &map);
    ck_assert_int_eq(map.kept, rows[i].kept);
    ck_assert_int_eq(map.elements, rows[i].elements);
    ck_assert_int_eq(in_place, rows[i].kept == rows[i].elements);
    for (int step = 0; in_place && step < map.n_steps; step++) check_relayout(&atom, &map, step);
  }
}
END_TEST

// Neither side is a multiple of the other: the third fragment would begin in the middle of an atom.
START_TEST(atoms_of_sums_are_whole_fragments) {
  Atom atom;
  Diags diags = diags_new(arena);
  Relayout map;
  ck_assert(atom_parse("wgmma.m64n24k16.bf16", &atom, &diags));
  ck_assert(!fragment_relayout(&atom, &atom, &map));
}
END_TEST

// ---- what is refused ----------------------------------------------------------------------------

START_TEST(rules_say_why_not) {
  static const struct {
    const char *state, *rule, *number;
  } rows[] = {
      {"PROGRAM=attention,K=64,ATOM_KIND=mma_m16n8k8_tf32,FUSE=1,FN=8", "relayout_in_place",
       "32 of 128 elements"},
      {"PROGRAM=attention,K=64,ATOM_KIND=mma_m16n8k32_e4m3,FUSE=1,FN=8", "relayout_in_place",
       "128 of 512 elements"},
      {"PROGRAM=attention,K=100,ATOM_KIND=mma_m16n8k16_f16", "attention_steps", "100"},
      {"PROGRAM=attention,K=64,ATOM_KIND=mma_m16n8k16_f16,FUSE=1,FN=3", "attention_steps", "24"},
      {"PROGRAM=attention,K=64,M=100,N=60,CAUSAL=1", "causal_keys", "the first 40"},
      {"PROGRAM=attention,K=64,SPLITK=2", "knob_of_program", "SPLITK"},
      {"CAUSAL=1", "knob_of_program", "CAUSAL"},
      {FUSED "M=64,N=64,K=64,FN=4,TILE_ORDER=longest", "order_longest", "CAUSAL=0"},
      {FUSED "M=64,N=64,K=64,FN=4,CAUSAL=1,TILE_ORDER=hilbert", "order_persistent", "hilbert"},
      {"PROGRAM=attention,K=64,FUSE=1", "attention_fuse", "ATOM_KIND=fma"},
      {"PROGRAM=attention,K=64,ATOM_KIND=mma_m16n8k16_f16,FUSE=1,STAGE=11,EAGER_KV=1",
       "attention_fuse", "EAGER_KV=1"},
      {"PROGRAM=attention,K=64,FM=2", "attention_atom", "FM=1"},
      {"PROGRAM=attention,K=256,ATOM_KIND=mma_m16n8k16_f16,FM=4", "attention_registers", "255"},
      {"PROGRAM=attention,K=64,ATOM_KIND=tcgen05_m128n256k16_f16,FUSE=1,TARGET=b200",
       "attention_atom", "tensor memory"},
      {"PROGRAM=attention,K=64,ATOM_KIND=wgmma_m64n256k8_tf32,ATOM_N=64", "attention_atom",
       "tiles of 32 bits"},
      {GROUP "K=64,ATOM_N=24", "attention_steps", "24"},
      {GROUP "K=64,ATOM_N=32,BUFFER_COUNT=2,TMA=1", "attention_roles", "BUFFER_COUNT over 1"},
      {ROLES "K=64,ATOM_N=32,BUFFER_COUNT=2,EAGER_KV=1", "attention_roles", "EAGER_KV=1"},
      {ROLES "K=64,ATOM_N=32,BUFFER_COUNT=2,MMA_GROUPS=1,ROLE_SCHEDULE=pingpong", "attention_roles",
       "WM=1"},
      {GROUP "K=64,ATOM_N=32,A_REGS=1", "queries_kept", "reads Q"},
      {FUSED "K=64,FN=4,FRAG_BUFFER=2,A_REGS=1", "queries_kept", "FRAG_BUFFER=2"},
      {FUSED "K=256,FM=2,FN=8,A_REGS=1", "attention_registers", "520 registers of Q"},
      {GROUP "K=72,ATOM_N=32", "attention_steps", "72"},
      {GROUP "K=256,ATOM_N=256,WM=2", "wgmma_sums", "256 registers"},
      {GROUP "K=256,ATOM_N=16,WM=4", "wgmma_registers", "128 registers"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Diags diags = diags_new(arena);
    const Model *model = cli_model(arena, arena_printf(arena, "AUTO=0,%s", rows[i].state), &diags);
    const char *said = diags_text(arena, &diags);
    ck_assert_msg(model == NULL, "%s is allowed", rows[i].state);
    ck_assert_msg(strstr(said, rows[i].rule) && strstr(said, rows[i].number), "%s: %s",
                  rows[i].state, said);
  }
}
END_TEST

Suite *suite_attention(void) {
  Suite *suite = suite_create("attention");
  TCase *tc = tcase_create("attention");
  tcase_set_timeout(tc, 120);
  tcase_add_checked_fixture(tc, setup, teardown);
  stress_add_turns(tc, every_pass_leaves_it_exact, N_STATES, 9);
  stress_add_turns(tc, its_text_compiles, N_STATES, 9);
  stress_add_turns(tc, random_schedules_compute, 4, 4);
  stress_add_turns(tc, it_is_read_back, N_STATES, 12);
  stress_add_turns(tc, breakages_are_found, N_BREAKAGES, 6);
  stress_add_turns(tc, breakages_of_boxes_are_found, N_BOX_BREAKAGES, 6);
  stress_add_turns(tc, breakages_of_tiles_are_found, N_TILE_BREAKAGES, 6);
  stress_add_turns(tc, breakages_of_roles_are_found, N_ROLE_BREAKAGES, 6);
  tcase_add_loop_test(tc, one_warpgroup_needs_no_barrier, 0, 3);
  tcase_add_test(tc, a_warp_of_four_may_be_silent);
  tcase_add_test(tc, no_data_depends_on_turns);
  tcase_add_test(tc, who_waits_for_a_turn_is_told);
  tcase_add_test(tc, an_arrival_too_few_is_a_phase_after_some_turns);
  tcase_add_test(tc, weights_are_fenced_and_waited_for);
  tcase_add_test(tc, kept_queries_have_come);
  tcase_add_test(tc, what_is_not_there_is_not_broken);
  tcase_add_test(tc, its_texts_compute);
  tcase_add_test(tc, fusing_leaves_nothing_in_global_memory);
  tcase_add_test(tc, a_mask_is_for_blocks_on_the_diagonal);
  tcase_add_test(tc, the_reference_is_a_softmax);
  tcase_add_test(tc, inputs_make_exact_weights);
  tcase_add_test(tc, registers_are_estimated);
  tcase_add_test(tc, sums_are_operand_a_in_their_lanes);
  tcase_add_test(tc, atoms_of_sums_are_whole_fragments);
  tcase_add_test(tc, rules_say_why_not);
  suite_add_tcase(suite, tc);
  return suite;
}
