// Tensor memory and tcgen05: three programs written by hand compute, are read back, and compile for
// sm_100a; with one line changed, each of them is told what is wrong with it, in numbers.
#include <check.h>
#include <string.h>

#include "banks/layouts/smem_descriptor.h"
#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/interp/breakage.h"
#include "model/ir/matrix_tile.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/random_schedule.h"
#include "model/text/emit.h"
#include "property.h"
#include "stress.h"
#include "tensor_programs.h"

Suite *suite_tcgen05(void);

static const char *const programs[] = {tensor_program_plain, tensor_program_roles,
                                       tensor_program_stores};
enum { N_PROGRAMS = sizeof programs / sizeof programs[0], N_SEEDS = 4 };

static const Program *read_text(const char *text) {
  Diags diags = diags_new(property_arena);
  const Program *program = program_parse(property_arena, text, strlen(text), "by_hand", &diags);
  ck_assert_msg(program != NULL, "%s\n%s", diags_text(property_arena, &diags), text);
  return program;
}

// The text with the first `from` as `to`; it must be there.
static const char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  ck_assert_msg(at != NULL, "nowhere: %s", from);
  return arena_printf(property_arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

// ---- they compute -------------------------------------------------------------------------------

START_TEST(by_hand_they_compute) {
  const Program *program = read_text(programs[_i]);
  for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
    InterpCheck check = interpret_check(property_arena, program, &(InterpOptions){.seed = seed});
    ck_assert_msg(check.ok, "%s", check.n_findings ? check.finding[0].text : "cells are wrong");
  }
}
END_TEST

// Whatever was written is what is printed and read again.
START_TEST(they_are_read_back) {
  const char *text = program_text_full(property_arena, read_text(programs[_i]));
  ck_assert_str_eq(program_text_full(property_arena, read_text(text)), text);
}
END_TEST

// ---- by passes ----------------------------------------------------------------------------------

#define BF16 "ATOM_KIND=tcgen05_m128n256k16_bf16,STAGE=11,TARGET=b200,"
#define BY_K "B_COL=1,"

// Every type, both ways that 16-bit tiles run, every swizzle, several atoms and warpgroups, slabs
// by threads, by TMA, and by a producer; edges in all three directions.
static const char *const states[] = {
    BF16 BY_K "ATOM_N=64,BK=4,SWIZZLE=3,M=270,N=72,K=200,TMA=1",
    BF16 "ATOM_N=64,BK=4,SWIZZLE=3,M=128,N=136,K=200,TMA=1,BUFFER_COUNT=3",
    BF16 BY_K "ATOM_N=64,BK=4,SWIZZLE=3,M=264,N=64,K=128,A_COL=1,BUFFER_COUNT=2",
    BF16
    "ATOM_N=32,BK=4,SWIZZLE=2,M=128,N=128,K=256,FN=2,WN=2,EPI_N=16,TMA=1,BUFFER_COUNT=2,"
    "WARP_SPECIALIZE=1",
    BF16 BY_K "ATOM_N=40,BK=2,SWIZZLE=0,M=256,N=80,K=96,FM=2,TMA=1",
    BF16 BY_K
    "ATOM_N=64,BK=4,SWIZZLE=3,M=256,N=64,K=256,WM=2,TMA=1,BUFFER_COUNT=3,"
    "WARP_SPECIALIZE=1",
    BF16 BY_K
    "ATOM_N=32,BK=2,SWIZZLE=2,M=300,N=72,K=72,WM=2,WN=2,TMA=1,BUFFER_COUNT=2,"
    "WARP_SPECIALIZE=1,PRODUCER_WARPS=2",
    BF16 BY_K "ATOM_N=32,BK=3,SWIZZLE=1,M=400,N=64,K=80,TMA=1,BUFFER_COUNT=2,PERSISTENT=1,WM=2",
    BF16 BY_K
    "ATOM_N=64,BK=2,SWIZZLE=2,M=384,N=128,K=160,TMA=1,BUFFER_COUNT=3,PERSISTENT=1,GROUP_M=2,"
    "PIPELINE_STAGES=1",
    BF16 BY_K
    "ATOM_N=32,BK=2,SWIZZLE=2,M=600,N=96,K=104,TMA=1,BUFFER_COUNT=3,PERSISTENT=1,"
    "TILE_ORDER=hilbert,WM=2,WARP_SPECIALIZE=1,ACC_BUFFERS=2",
    BF16 BY_K
    "ATOM_N=64,BK=2,SWIZZLE=2,M=136,N=136,K=104,TMA=1,BUFFER_COUNT=2,FN=2,EPILOGUE=1,TMA_STORE=1,"
    "EPI_N=16",
    BF16 BY_K
    "ATOM_N=64,BK=2,SWIZZLE=2,M=520,N=72,K=104,TMA=1,BUFFER_COUNT=3,PERSISTENT=1,WM=2,"
    "WARP_SPECIALIZE=1,ACC_BUFFERS=2,EPILOGUE=1,TMA_STORE=1,EPI_BUFFERS=2",
    BF16 BY_K
    "ATOM_N=48,BK=2,SWIZZLE=2,M=300,N=56,K=104,TMA=1,BUFFER_COUNT=3,WARP_SPECIALIZE=1,CLUSTER_M=2,"
    "CTA_GROUP=2",
    BF16
    "ATOM_N=64,BK=2,SWIZZLE=2,M=540,N=64,K=72,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,CLUSTER_M=2,"
    "CTA_GROUP=2,WM=2,PERSISTENT=1,EPILOGUE=1,TMA_STORE=1",
    "ATOM_KIND=tcgen05_m128n256k32_e4m3,STAGE=11,TARGET=b200," BY_K
    "ATOM_N=32,BK=4,SWIZZLE=3,M=256,N=32,K=272,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,CLUSTER_M=2,"
    "CTA_GROUP=2,FM=2",
    "ATOM_KIND=tcgen05_m128n256k16_f16,STAGE=11,TARGET=b200,ATOM_N=256,BK=4,SWIZZLE=3,M=128,N=256,"
    "K=64,TMA=1",
    "ATOM_KIND=tcgen05_m128n256k8_tf32,STAGE=11,TARGET=b200," BY_K
    "ATOM_N=64,BK=4,SWIZZLE=3,M=256,N=64,K=64,TMA=1,FM=2",
    "ATOM_KIND=tcgen05_m128n256k32_e4m3,STAGE=11,TARGET=b200," BY_K
    "ATOM_N=64,BK=4,SWIZZLE=3,M=128,N=64,K=512,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1",
    "ATOM_KIND=tcgen05_m128n256k32_e5m2,STAGE=11,TARGET=b200," BY_K
    "ATOM_N=128,BK=1,SWIZZLE=1,M=128,N=128,K=96",
    BF16 BY_K
    "ATOM_N=64,BK=2,SWIZZLE=2,M=392,N=72,K=104,TMA=1,BUFFER_COUNT=2,PERSISTENT=1,"
    "WARP_SPECIALIZE=1,EPILOGUE=1,TMA_STORE=1",
};
enum { N_STATES = sizeof states / sizeof states[0] };
// By roles: of one tile, of a list of them, of a pair with such a list; and of a list whose sums
// leave through a slab.
enum { BY_ROLES = 5, OF_TILES = 9, OF_PAIR = 13, OF_PIECES = N_STATES - 1 };

// C = alpha · sum, of every state whose sums leave in another way; the factor stands behind
// tcgen05.wait::ld to the end.
START_TEST(pieces_are_scaled) {
  static const int of[] = {0, 3, 6, OF_TILES, 10, 11, OF_PAIR};
  const char *state = arena_printf(property_arena, "%s,ALPHA=1", states[of[_i]]);
  Schedule schedule = property_read_state(state);
  const Model *model = property_built(&schedule);
  for (int i = 1; i < model->pipeline.n_stages; i++)
    ck_assert(property_computes(&schedule, model->pipeline.stage[i].pass->name,
                                model->pipeline.stage[i].program, 1));
  ck_assert_ptr_nonnull(strstr(program_text(property_arena, model->program), "*= alpha"));
  property_read_back(model->program);
}
END_TEST

// After the last pass, and after each of the others in one state of three: all in `make stress`.
START_TEST(every_pass_of_it_computes) {
  Schedule schedule = property_read_state(states[_i]);
  const Model *model = property_built(&schedule);
  for (int i = 1; i < model->pipeline.n_stages; i++) {
    if (i < model->pipeline.n_stages - 1 && !stress_has_turn(i + _i, 15)) continue;
    const char *after = model->pipeline.stage[i].pass->name;
    ck_assert_msg(property_computes(&schedule, after, model->pipeline.stage[i].program, 1), "%s",
                  states[_i]);
    property_read_back(model->pipeline.stage[i].program);
  }
}
END_TEST

START_TEST(random_schedules_compute) {
  const int n_legal = stress_part(20, 8);
  const RandomLimits limits = {.extent_max = 700, .fma_max = 5000000, .family = RANDOM_BLACKWELL};
  uint64_t state = property_seed();
  for (int i = 0; i < n_legal; i++) {
    const Schedule schedule =
        schedule_random(property_arena, &property_targets, "b200", &limits, &state, NULL);
    const Model *model = property_built(&schedule);
    ck_assert(property_computes(&schedule, "all passes", model->program, 1));
    property_read_back(model->program);
    arena_reset(property_arena);
  }
}
END_TEST

// Each warpgroup has a warp that asks for its products, whose mbarriers count what they should.
START_TEST(roles_meet_at_four_mbarriers) {
  Schedule schedule = property_read_state(states[BY_ROLES]);
  const Program *program = property_built(&schedule)->program;
  const Kernel *kernel = program_main(program);
  static const struct {
    const char *name;
    int64_t first, n;
  } roles[] = {{"producer", 320, 32}, {"consumer", 256, 64}, {"writeback", 0, 256}};
  ck_assert_int_eq(kernel->n_roles, 3);
  for (int i = 0; i < 3; i++) {
    ck_assert_str_eq(kernel->role[i]->name, roles[i].name);
    ck_assert_int_eq(kernel->role[i]->first_thread, roles[i].first);
    ck_assert_int_eq(kernel->role[i]->n_threads, roles[i].n);
  }
  static const char *const lines[] = {"init full[i] 1 arrival",     "init empty[i] 2 arrivals",
                                      "init acc_full[i] 1 arrival", "init acc_empty[i] 4 arrivals",
                                      "wait acc_empty[w] phase 1",  "wait acc_full[m_w] phase 0"};
  const char *text = program_text(property_arena, program);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    ck_assert_msg(strstr(text, lines[i]) != NULL, "%s\n%s", lines[i], text);
}
END_TEST

// What stands between two threads is a step of the article's: whichever is taken away is missed.
static const struct {
  const char *line, *says;
  const char *behind;  // the first that stands behind this; NULL: the first of all
} gone[] = {
    {"tcgen05.fence::after_thread_sync", "tcgen05.fence::after_thread_sync after",
     "role writeback"},
    {"tcgen05.wait::ld", "with no tcgen05.wait::ld after that", NULL},
    {"tcgen05.commit empty", "arrivals missing", NULL},
    {"tcgen05.commit acc_full", "arrivals missing", NULL},
    {"wait acc_full", "has not waited for a commit", NULL},
    {"wait full", "A_s", NULL},
    {"wait acc_empty", "overwrites what warp", NULL},
    {"wait empty", "A_s", NULL},
    {"tcgen05.fence::after_thread_sync", "overwrites what warp", "role consumer"},
    {"tcgen05.fence::before_thread_sync", "tcgen05.fence::before_thread_sync after", NULL},
    {"tensor_base[0] = tcgen05.alloc", "none allocated", NULL},
    {"tcgen05.dealloc", "columns of tensor memory allocated", NULL},
};
enum { N_GONE = sizeof gone / sizeof gone[0] };

// The text without the first line that has the words.
static const char *without(const char *text, const char *words, const char *behind) {
  const char *from = behind ? strstr(text, behind) : text, *at = strstr(from, words), *begin = at;
  ck_assert_msg(at != NULL, "nowhere: %s", words);
  while (begin > text && begin[-1] != '\n') begin--;
  return arena_printf(property_arena, "%.*s%*sfence.async%s", (int)(begin - text), text,
                      (int)strspn(begin, " "), "", strchr(at, '\n'));
}

START_TEST(nothing_of_it_can_be_left_out) {
  Schedule schedule = property_read_state(states[OF_TILES]);
  const char *text = program_text_full(property_arena, property_built(&schedule)->program);
  const Program *program = read_text(without(text, gone[_i].line, gone[_i].behind));
  InterpCheck check =
      interpret_check(property_arena, program, &(InterpOptions){.seed = 1, .max_findings = 64});
  bool told = false;
  for (int i = 0; i < check.n_findings; i++)
    told = told || strstr(check.finding[i].text, gone[_i].says);
  ck_assert_msg(told, "%s: %s", gone[_i].line,
                check.n_findings ? check.finding[0].text : "nothing is found");
}
END_TEST

static bool says(const InterpCheck *check, FindingKind kind, const char *words) {
  for (int i = 0; i < check->n_findings; i++)
    if (check->finding[i].kind == kind && strstr(check->finding[i].text, words)) return true;
  return false;
}

// ---- breakages ----------------------------------------------------------------------------------

// What article 004 calls a hang, a crash and stripes of 128 wrong rows, with what is told of each.
static const struct {
  BreakageId id;
  FindingKind kind;
  const char *says;
  int of;  // states: 0 is that of BY_ROLES
} broken[] = {
    {BREAK_TENSOR_COMMIT, FINDING_DEADLOCK, "with 1 of 1 arrivals missing", 0},
    {BREAK_TENSOR_RELEASE, FINDING_DEADLOCK, "arrivals missing", 0},
    {BREAK_TENSOR_WAIT, FINDING_MISSING_WAIT, "has not waited for a commit after that", 0},
    {BREAK_TENSOR_AFTER, FINDING_MISSING_FENCE, "no tcgen05.fence::after_thread_sync", 0},
    {BREAK_TENSOR_LOADS, FINDING_MISSING_WAIT, "with no tcgen05.wait::ld after that", 0},
    {BREAK_TENSOR_LOADS, FINDING_MISSING_WAIT, "overwrites what warp", OF_TILES},
    {BREAK_TENSOR_LANE, FINDING_DIVERGENCE, "of the whole warp, but lane 1 does not", 0},
    {BREAK_TENSOR_ALL_ASK, FINDING_DIVERGENCE, "is one of 32 lanes", 0},
    {BREAK_TENSOR_ALL_COMMIT, FINDING_DIVERGENCE, "issued no product arrives at once", 0},
    {BREAK_TENSOR_ALL_COMMIT, FINDING_RACE, "_s[", OF_TILES},
    {BREAK_TENSOR_ALL_COMMIT, FINDING_MISSING_WAIT, "for a commit after that", OF_TILES},
    {BREAK_INIT_FENCE, FINDING_MISSING_FENCE, "with no fence.mbarrier_init after the init", 0},
    {BREAK_INIT_FENCE, FINDING_MISSING_FENCE, "(tma, ", OF_PAIR},
    {BREAK_TENSOR_FREE_EARLY, FINDING_RACE, "gives back column", 0},
    {BREAK_TENSOR_FREE_LANE, FINDING_DIVERGENCE, "of the whole warp, but lane 1 does not", 0},
    {BREAK_TENSOR_LEAK, FINDING_ALLOCATION, "of tensor memory allocated", 0},
    {BREAK_SUMS_KEPT, FINDING_UNWRITTEN_READ, "reads a place that was never written", 0},
    {BREAK_MODE_OFF, FINDING_DESCRIPTOR, "as swizzled by none", 0},
    {BREAK_FULL_WAIT, FINDING_MISSING_WAIT, "_s[", 0},
    {BREAK_EMPTY_PHASE, FINDING_DEADLOCK, "arrivals missing", 0},
    {BREAK_TENSOR_BEFORE, FINDING_MISSING_FENCE, "no tcgen05.fence::before_thread_sync", OF_TILES},
    {BREAK_TENSOR_AFTER, FINDING_MISSING_FENCE, "overwrites what warp", OF_TILES},
    {BREAK_TENSOR_REUSE, FINDING_RACE, "overwrites what warp", OF_TILES},
    {BREAK_TENSOR_PHASE, FINDING_DEADLOCK, "acc_empty", OF_TILES},
    {BREAK_TENSOR_INIT, FINDING_UNWRITTEN_READ, "an mbarrier that was never initialised", OF_TILES},
    {BREAK_TILE_KEPT, FINDING_DEADLOCK, "deadlock on acc_full", OF_TILES},
    {BREAK_FETCH_SHORT, FINDING_DEADLOCK, "deadlock on full", OF_TILES},
    {BREAK_LAST_SLAB, FINDING_DEADLOCK, "arrivals missing", OF_TILES},
    {BREAK_POOL_LATE, FINDING_OUT_OF_BOUNDS, "shared memory is laid out up to byte", OF_TILES},
    {BREAK_TENSOR_FREE_EARLY, FINDING_RACE, "gives back column", OF_PIECES},
    {BREAK_TENSOR_FREE_EARLY, FINDING_RACE, "gives back column", OF_PAIR},
    {BREAK_BLOCK_BARRIER, FINDING_DEADLOCK, "0-3 wait for warps 4 and 5, of which 4 is at",
     OF_PIECES},
    {BREAK_BLOCK_BARRIER, FINDING_DEADLOCK, "is at mbarrier.wait", OF_PAIR},
    {BREAK_STORE_FENCE, FINDING_RACE, "with no fence for copies by TMA between", OF_PAIR},
    {BREAK_STORE_WAIT_READ, FINDING_RACE, "until that copy has read it", OF_PAIR},
    {BREAK_TENSOR_COMMIT, FINDING_DEADLOCK, "acc_full", OF_PAIR},
    {BREAK_TENSOR_REUSE, FINDING_RACE, "overwrites what warp", OF_PAIR},
    {BREAK_NO_CLUSTER_START, FINDING_EXITED, "may not have begun", OF_PAIR},
    {BREAK_PAIR_MASK, FINDING_DEADLOCK, "arrivals missing", OF_PAIR},
    {BREAK_PAIR_BYTES, FINDING_MISSING_WAIT, "_s[", OF_PAIR},
    {BREAK_PAIR_END, FINDING_EXITED, "which may have ended", OF_PAIR},
    {BREAK_PAIR_ALLOC, FINDING_OPERAND, "all must be the same in a kernel", OF_PAIR},
};
enum { N_BROKEN = sizeof broken / sizeof broken[0] };

START_TEST(every_breakage_is_told) {
  Schedule schedule = property_read_state(states[broken[_i].of ? broken[_i].of : BY_ROLES]);
  const Program *program =
      program_break(property_arena, property_built(&schedule)->program, broken[_i].id);
  ck_assert_msg(program != NULL, "%s breaks nothing", breakage_name(broken[_i].id));
  InterpCheck check =
      interpret_check(property_arena, program, &(InterpOptions){.seed = 1, .max_findings = 64});
  Str all = str_new(property_arena);
  for (int i = 0; i < check.n_findings; i++) str_printf(&all, "%s\n", check.finding[i].text);
  ck_assert_msg(says(&check, broken[_i].kind, broken[_i].says), "%s\n%.1800s",
                breakage_name(broken[_i].id), all.text);
}
END_TEST

// Article 004 says that a missing fence is hardly ever why cells are wrong: the arrival has its
// order already. So it is here, at both ends of what the hardware may do; a wait that is missing
// spoils whole lanes, all 128 rows of a tile.
START_TEST(a_fence_is_a_rule_and_a_wait_is_a_cause) {
  Schedule schedule = property_read_state(states[BY_ROLES]);
  const Program *program = property_built(&schedule)->program;
  const InterpOptions options = {.seed = 1};
  InterpCheck fence = interpret_check(
      property_arena, program_break(property_arena, program, BREAK_TENSOR_AFTER), &options);
  ck_assert_int_eq(fence.n_wrong, 0);
  ck_assert_int_gt(fence.n_findings, 0);
  InterpCheck wait = interpret_check(
      property_arena, program_break(property_arena, program, BREAK_TENSOR_WAIT), &options);
  ck_assert_int_ge(wait.n_wrong, 120 * program->problem.n);  // but for cells right by chance
}
END_TEST

// 256 columns are half of what an SM has: a third block waits, whatever else there is room for.
START_TEST(columns_limit_the_blocks_of_an_sm) {
  Schedule schedule =
      property_read_state(BF16 BY_K "ATOM_N=256,BK=1,SWIZZLE=1,M=4096,N=4096,K=4096");
  const Resources *r = &property_built(&schedule)->resources;
  ck_assert_int_eq(r->tensor_columns, 256);
  ck_assert_int_eq(r->blocks_per_sm, 2);
  ck_assert_str_eq(r->limiter, "tensor memory");
}
END_TEST

// ---- faults -------------------------------------------------------------------------------------

enum { PLAIN, ROLES, STORES };

static const struct {
  int program;
  const char *from, *to;
  FindingKind kind;
  const char *says;
} edits[] = {
    {PLAIN, "alloc 64 columns", "alloc 48 columns", FINDING_OPERAND,
     "48 columns of tensor memory: allocate a power of two from 32 to 512, such as 64"},
    {PLAIN, "alloc 64 columns", "alloc 1024 columns", FINDING_OPERAND, "such as 512"},
    {PLAIN, "      tensor_base[0] = tcgen05.alloc 64 columns\n", "      fence.async   @STAGE\n",
     FINDING_ALLOCATION, "uses columns 0 to 63 of tensor memory: none allocated"},
    {PLAIN, "alloc 64 columns", "alloc 32 columns", FINDING_ALLOCATION,
     "uses columns 0 to 63 of tensor memory: only 32 allocated"},
    {PLAIN, "      tcgen05.dealloc tensor_base[0] 64 columns\n", "      fence.async   @STAGE\n",
     FINDING_ALLOCATION, "the block ends with 64 columns of tensor memory allocated"},
    {PLAIN, "      tcgen05.dealloc tensor_base[0] 64 columns\n",
     "      tcgen05.dealloc tensor_base[0] 64 columns\n"
     "      tcgen05.dealloc tensor_base[0] 64 columns\n",
     FINDING_ALLOCATION, "frees 64 columns, but none are allocated"},
    {PLAIN, "dealloc tensor_base[0] 64 columns", "dealloc tensor_base[0] 32 columns",
     FINDING_ALLOCATION, "frees 32 columns, but 64 are allocated"},
    {PLAIN, "      tensor_base[0] = tcgen05.alloc 64 columns\n",
     "      tensor_base[0] = tcgen05.alloc 64 columns\n"
     "      tensor_base[0] = tcgen05.alloc 64 columns\n",
     FINDING_ALLOCATION, "has given up its right to more than 64"},
    {PLAIN, "if tid < 32\n      tensor_base", "if tid < 16\n      tensor_base", FINDING_DIVERGENCE,
     "reaches an instruction of the whole warp, but lane 16 does not"},
    {PLAIN, "if tid < 32\n      tcgen05.dealloc", "if tid < 1\n      tcgen05.dealloc",
     FINDING_DIVERGENCE, "reaches an instruction of the whole warp, but lane 1 does not"},
    {STORES, "    barrier\n    if tid < 128", "    if tid < 128", FINDING_RACE,
     "uses tensor memory with no barrier after its allocation"},
    {PLAIN, "    barrier   @ATOM_KIND \"the sums are read\"\n", "", FINDING_RACE,
     "gives back column 0, which warp 1 reads"},
    {PLAIN, "sums[lane, c * 32]", "sums[lane % 32, c * 32]", FINDING_OUT_OF_BOUNDS,
     "uses lane 0 of tensor memory, but warp"},
    {PLAIN, "sums[lane, c * 32]", "sums[127 - lane, c * 32]", FINDING_OUT_OF_BOUNDS,
     "one for each of its lanes"},
    {PLAIN, "      wait acc_full[0] phase k_o % 2\n", "", FINDING_MISSING_WAIT,
     "reads what the tensor core writes"},
    {PLAIN, "    tcgen05.fence::after_thread_sync\n", "", FINDING_MISSING_FENCE,
     "with no tcgen05.fence::after_thread_sync after the signal"},
    {PLAIN, "      tcgen05.wait::ld\n", "", FINDING_MISSING_WAIT,
     "gives back column 0, which warp 0 reads"},
    {PLAIN, "      tcgen05.wait::ld\n", "      acc[0] = 0\n", FINDING_MISSING_WAIT,
     "writes registers that a tcgen05.ld still fills"},
    {ROLES, "        tcgen05.wait::ld\n", "", FINDING_MISSING_WAIT,
     "with no tcgen05.wait::ld after that"},
    {PLAIN, "        tcgen05.commit acc_full[0]\n",
     "      if tid < 32\n        tcgen05.commit acc_full[0]\n", FINDING_DIVERGENCE,
     "is one of 32 lanes that execute this, but one thread must: a lane that issued no product "
     "arrives"},
    {PLAIN, "        tcgen05.commit acc_full[0]\n",
     "      if tid < 32\n        tcgen05.commit acc_full[0]\n", FINDING_MISSING_WAIT,
     "reads what the tensor core writes"},
    {PLAIN, "      fence.mbarrier_init\n", "", FINDING_MISSING_FENCE,
     "asks for an arrival in the background, with no fence.mbarrier_init after the init"},
    {PLAIN, "      init acc_full[0] 1 arrival\n      fence.mbarrier_init\n",
     "      fence.mbarrier_init\n      init acc_full[0] 1 arrival\n", FINDING_MISSING_FENCE,
     "with no fence.mbarrier_init after the init"},
    {PLAIN, "      fence.mbarrier_init\n", "    if tid == 1\n      fence.mbarrier_init\n",
     FINDING_MISSING_FENCE, "with no fence.mbarrier_init after the init"},
    {PLAIN, "      fence.mbarrier_init\n", "    if tid < 32\n      fence.mbarrier_init\n",
     FINDING_DIVERGENCE, "does this together with other threads; one thread must do it alone"},
    {PLAIN, "      if tid == 0\n        for k_i", "      if tid < 2\n        for k_i",
     FINDING_DIVERGENCE,
     "is one of 2 lanes that execute this, but one thread must: each lane adds the product"},
    {PLAIN, "idesc 0x08100490", "idesc 0x08200490", FINDING_DESCRIPTOR,
     "has n = 128 in its instruction descriptor 0x08200490, but needs 64"},
    {PLAIN, "idesc 0x08100490", "idesc 0x08100010", FINDING_DESCRIPTOR,
     "has a = f16 in its instruction descriptor 0x08100010, but needs bf16"},
    {PLAIN, "idesc 0x08100490", "idesc 0x08110490", FINDING_DESCRIPTOR, "has tb = mn"},
    {PLAIN, "A by 128B lbo 16 sbo 1024", "A by 128B lbo 16 sbo 512", FINDING_DESCRIPTOR,
     "finds m 8, k 0 of A 512 bytes after the first element, but it lies 1024 after"},
    {PLAIN, "tcgen05.commit acc_full[0]", "tcgen05.commit acc_full[0]   cta_group 2",
     FINDING_OPERAND, "all must be the same in a kernel"},
    {PLAIN, "      fence.async   @STAGE\n", "", FINDING_RACE, "with no fence for copies by TMA"},
    {PLAIN, "enable-input-d 0 < k_o + k_i", "enable-input-d 1", FINDING_UNWRITTEN_READ,
     "reads a place that was never written"},
    {PLAIN, "tcgen05.commit acc_full[0]", "fence.async   @STAGE", FINDING_DEADLOCK,
     "with 1 of 1 arrivals missing"},
    {ROLES, "        tcgen05.fence::before_thread_sync\n", "", FINDING_MISSING_FENCE,
     "overwrites what warp"},
    {ROLES, "        tcgen05.fence::before_thread_sync\n        arrive", "        arrive",
     FINDING_MISSING_FENCE, "tcgen05.fence::before_thread_sync after that"},
    {ROLES, "          tcgen05.fence::after_thread_sync\n", "", FINDING_MISSING_FENCE,
     "tcgen05.fence::after_thread_sync after the signal"},
    {ROLES, "        tcgen05.wait::ld\n        tcgen05.fence::before_thread_sync\n        arrive",
     "        tcgen05.fence::before_thread_sync\n        tcgen05.wait::ld\n        arrive",
     FINDING_MISSING_FENCE, "with no tcgen05.fence::before_thread_sync after that"},
    {ROLES, "          wait acc_empty[0] phase (t + 1) % 2\n", "", FINDING_RACE, "overwrites what"},
    {ROLES, "            wait empty[k_o] phase (t + 1) % 2\n",
     "            wait empty[k_o] phase t\n", FINDING_DEADLOCK,
     "waits for a phase of bit 0 to end; phase 0 is under way"},
    {ROLES, "            wait empty[k_o] phase (t + 1) % 2\n", "", FINDING_RACE,
     "with no wait for its mbarrier between"},
    {ROLES, "init acc_empty[0] 4 arrivals", "init acc_empty[0] 128 arrivals", FINDING_DEADLOCK,
     "with 124 of 128 arrivals missing"},
    {ROLES, "            wait full[k_o] phase t\n", "", FINDING_MISSING_WAIT, "A_s[0, 0, 0]"},
    {ROLES, "        wait acc_full[0] phase t\n", "", FINDING_MISSING_WAIT,
     "and has not waited for a commit after that"},
    {STORES, "      tcgen05.wait::st\n", "", FINDING_MISSING_WAIT,
     "with no tcgen05.wait::st after that"},
    {STORES, "      tcgen05.fence::before_thread_sync\n", "", FINDING_MISSING_FENCE,
     "with no tcgen05.fence::before_thread_sync after that"},
    {STORES, "      tcgen05.fence::after_thread_sync\n", "", FINDING_MISSING_FENCE,
     "with no tcgen05.fence::after_thread_sync after the signal"},
    {STORES, "    barrier   @WM \"it is stored\"\n", "", FINDING_RACE, ""},
};
enum { N_EDITS = sizeof edits / sizeof edits[0] };

START_TEST(every_fault_is_told) {
  const char *text = replaced(programs[edits[_i].program], edits[_i].from, edits[_i].to);
  const Program *program = read_text(text);
  InterpOptions options = {.seed = 1, .max_findings = 64, .runs = 4};
  InterpCheck check = interpret_check(property_arena, program, &options);
  Str all = str_new(property_arena);
  for (int i = 0; i < check.n_findings; i++) str_printf(&all, "%s\n", check.finding[i].text);
  ck_assert_msg(says(&check, edits[_i].kind, edits[_i].says), "%s -> %s\n%.1800s", edits[_i].from,
                edits[_i].to, all.text);
}
END_TEST

// PTX ISA, tcgen05, "Register dependencies, same thread": the wait is for what comes over tensor
// memory, so it may stand behind what reads the registers.
START_TEST(a_read_of_what_is_loaded_waits_by_itself) {
  static const char wait[] = "      tcgen05.wait::ld\n",
                    store[] =
                        "      for v in 0..16 REGISTER\n"
                        "        C[m_b * 128 + lane, n_b * 64 + c * 32 + v * 2] = "
                        "acc[v * 2]   4 B\n";
  const char *text = replaced(programs[PLAIN], arena_printf(property_arena, "%s%s", wait, store),
                              arena_printf(property_arena, "%s%s", store, wait));
  const InterpCheck check =
      interpret_check(property_arena, read_text(text), &(InterpOptions){.seed = 1, .runs = 4});
  ck_assert_msg(check.ok, "%s", check.n_findings ? check.finding[0].text : "wrong cells");
}
END_TEST

// ---- as CUDA ------------------------------------------------------------------------------------

static void must_be_in_ptx(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const char *text = context;
  if (stmt->kind != STMT_OP) return;
  ck_assert_msg(strstr(text, op_ptx(stmt->op.kind)) != NULL, "no %s", op_ptx(stmt->op.kind));
}

// By NVRTC and its assembler.
static const char *compiled(const Program *program) {
  const Target *target = target_find(&property_targets, "sm_100a", NULL);
  const Emission *emission = emit_cuda(property_arena, program, &(EmitOptions){.cc = target->cc});
  const Plan *plan = plan_from_emission(property_arena, emission, program, target, "tcgen05");
  const CompileResult *result = compile_once(property_arena, plan, COMPILE_BOTH);
  ck_assert_msg(result->ok && !strstr(result->log, "warning"), "%.300s\n%.1500s\n%.1500s",
                result->error, result->log, emission->text);
  return result->ptx;
}

// Passed over where there is no NVRTC, or one that is older than the generation.
START_TEST(they_compile) {
  bool has_nvrtc;
  const char *known = NULL;
  nvrtc_describe(property_arena, &has_nvrtc);
  if (!has_nvrtc || !nvrtc_supports(property_arena, "sm_100a", &known)) return;
  const Program *program = read_text(programs[_i]);
  const char *text = compiled(program);
  stmt_walk(program->kernel[0].body, must_be_in_ptx, (void *)(uintptr_t)text);
  ck_assert_ptr_nonnull(strstr(text, "tcgen05.relinquish_alloc_permit.cta_group::1"));
  if (_i == STORES) return;
  ck_assert_ptr_nonnull(strstr(text, "tcgen05.mma.cta_group::1.kind::f16"));
  ck_assert_ptr_nonnull(strstr(text, "tcgen05.commit.cta_group::1.mbarrier::arrive::one"));
}
END_TEST

// ---- descriptors, from the ISA's tables ---------------------------------------------------------

// Table 42: bits 4-5 type of D (1: f32), 7-9 of A, 10-12 of B, 15 and 16 which way they run, 17-22
// N >> 3, 24-28 M >> 4. Built from shifts alone.
static uint32_t word_of(uint32_t type, bool a_turned, bool b_turned, uint32_t m, uint32_t n) {
  return 1u << 4 | type << 7 | type << 10 | (uint32_t)a_turned << 15 | (uint32_t)b_turned << 16 |
         n >> 3 << 17 | m >> 4 << 24;
}

static const struct {
  const char *atom;
  uint32_t code;  // of its types: table 42
} types[] = {{"tcgen05.m128n256k16.f16", 0},
             {"tcgen05.m128n64k16.bf16", 1},
             {"tcgen05.m128n8k8.tf32", 2},
             {"tcgen05.m128n248k32.e4m3", 0},
             {"tcgen05.m128n128k32.e5m2", 1}};
enum { N_TYPES = sizeof types / sizeof types[0] };

START_TEST(instruction_descriptors_follow_the_tables) {
  Diags diags = diags_new(property_arena);
  Atom atom;
  ck_assert_msg(atom_parse(types[_i].atom, &atom, &diags), "%s",
                diags_text(property_arena, &diags));
  for (int turned = 0; turned < 4; turned++) {
    Op op = {.kind = OP_T_MMA, .atom = &atom};
    op.tile[ATOM_A].trans = turned & 1;
    op.tile[ATOM_B].trans = turned >> 1;
    ck_assert_uint_eq(
        matrix_tile_instruction(property_arena, &op),
        word_of(types[_i].code, turned & 1, turned >> 1, (uint32_t)atom.m, (uint32_t)atom.n));
  }
}
END_TEST

// Bits 0-13 start, 16-29 LBO, 32-45 SBO, each by 16 bytes; 46-48 are 0b001; 61-63 the swizzle: none
// 0, 128B 2, 64B 4, 32B 6.
START_TEST(tile_descriptors_follow_the_tables) {
  static const uint64_t code[] = {0, 6, 4, 2};
  for (int swizzle = 0; swizzle < 4; swizzle++) {
    const MatrixTile tile = {.is_described = true, .swizzle = swizzle, .lbo = 2048, .sbo = 1024};
    ck_assert_uint_eq(matrix_tile_bits(&tile, 100), (uint64_t)(2048 / 16) << 16 |
                                                        (uint64_t)(1024 / 16) << 32 | 1ull << 46 |
                                                        code[swizzle] << 61);
  }
}
END_TEST

START_TEST(passes_compile) {
  bool has_nvrtc;
  const char *known = NULL;
  nvrtc_describe(property_arena, &has_nvrtc);
  if (!has_nvrtc || !nvrtc_supports(property_arena, "sm_100a", &known)) return;
  Schedule schedule = property_read_state(states[_i]);
  compiled(property_built(&schedule)->program);
}
END_TEST

Suite *suite_tcgen05(void) {
  Suite *suite = suite_create("tcgen05");
  TCase *tc = tcase_create("tcgen05");
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, by_hand_they_compute, 0, N_PROGRAMS);
  tcase_add_loop_test(tc, they_are_read_back, 0, N_PROGRAMS);
  stress_add_turns(tc, pieces_are_scaled, 7, 7);
  stress_add_turns(tc, every_pass_of_it_computes, N_STATES, 12);
  stress_add_turns(tc, every_breakage_is_told, N_BROKEN, 18);
  tcase_add_test(tc, roles_meet_at_four_mbarriers);
  tcase_add_test(tc, a_fence_is_a_rule_and_a_wait_is_a_cause);
  tcase_add_test(tc, columns_limit_the_blocks_of_an_sm);
  stress_add_turns(tc, nothing_of_it_can_be_left_out, N_GONE, 9);
  tcase_add_test(tc, random_schedules_compute);
  stress_add_turns(tc, passes_compile, N_STATES, 12);
  tcase_add_test(tc, a_read_of_what_is_loaded_waits_by_itself);
  stress_add_turns(tc, every_fault_is_told, N_EDITS, 12);
  stress_add_turns(tc, they_compile, N_PROGRAMS, 4);
  tcase_add_loop_test(tc, instruction_descriptors_follow_the_tables, 0, N_TYPES);
  tcase_add_test(tc, tile_descriptors_follow_the_tables);
  suite_add_tcase(suite, tc);
  return suite;
}
