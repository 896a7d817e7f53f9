// Clusters: blocks that run together compute the nest whoever fetches what for whom, at both ends
// of what the hardware may do; every way to get their arrivals, masks and barriers wrong is told;
// and what somebody writes by hand may reach into another block's shared memory.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "base/whole.h"
#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/interp/breakage.h"
#include "model/ir/buffer.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/place/grid.h"
#include "model/readings/place/trace.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "stress.h"

Suite *suite_cluster(void);

// The text with its first `from`, which must be there, as `to`.
static const char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  ck_assert_msg(at != NULL, "%s", from);
  return arena_printf(property_arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

// ---- rungs --------------------------------------------------------------------------------------

static const struct {
  int m, n;
  bool multicast;
} clusters[] = {{2, 1, true}, {1, 2, true}, {2, 2, true}, {4, 1, true}, {2, 2, false}};
enum { N_CLUSTERS = sizeof clusters / sizeof clusters[0] };

// Narrow, and three tiles each way but for an edge: no whole number of clusters.
static Schedule scaled_down(const Schedule *rung) {
  Schedule schedule = property_narrow(rung);
  int64_t slots = schedule.value[KNOB_BUFFER_COUNT];
  const struct {
    KnobId axis;
    int64_t tiles;
  } axes[] = {{KNOB_M, 3}, {KNOB_N, 3}, {KNOB_K, slots + 2}};
  for (int i = 0; i < 3; i++) {
    int64_t tile = schedule_tile(&schedule, axes[i].axis);
    const int64_t extent = axes[i].tiles * tile - tile / 2;
    const int64_t grain = schedule_grain(&schedule, axes[i].axis);
    schedule_set(&schedule, axes[i].axis, max64(extent / grain, 1) * grain);
  }
  return schedule;
}

static void must_compute(Schedule schedule, int cluster) {
  schedule_set(&schedule, KNOB_CLUSTER_M, clusters[cluster].m);
  schedule_set(&schedule, KNOB_CLUSTER_N, clusters[cluster].n);
  schedule_set(&schedule, KNOB_MULTICAST, clusters[cluster].multicast);
  if (!clusters[cluster].multicast && schedule.value[KNOB_TILE_ORDER] == ORDER_GPC)
    schedule_set(&schedule, KNOB_TILE_ORDER, ORDER_GROUP);  // lists are claimed by blocks that meet
  ck_assert(property_computes(&schedule, "all passes", property_built(&schedule)->program, 1));
}

// Five rungs of ten, each in another of the clusters; under stress all, in all of them.
START_TEST(rungs_with_roles_compute_the_nest) {
  EmbeddedList list = embed_list(property_data, "ladders/");
  Seen *kinds = NULL;
  int rungs = 0;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++) {
      const Rung *rung = &ladder->rung[r];
      const int64_t *v = rung->schedule.value;
      if (rung->not_built || !v[KNOB_WARP_SPECIALIZE] || v[KNOB_PROGRAM]) continue;
      if (v[KNOB_CTA_GROUP] > 1) continue;  // a pair is a cluster of one shape
      if (!property_is_new_kind(&kinds, rung)) continue;
      if (rungs++ % N_CLUSTERS != _i && !stress_is_on()) continue;
      if (!stress_has_turn(rungs / N_CLUSTERS, 2)) continue;
      Schedule small = scaled_down(&rung->schedule);
      must_compute(small, _i);
      arena_reset(property_arena);
    }
  }
  ck_assert_int_ge(rungs, 3);
}
END_TEST

// ---- shapes -------------------------------------------------------------------------------------

#define HALF                                                                              \
  "M=100,N=136,K=224,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=2,FM=2,FN=4,BK=2,STAGE=11,TMA=1," \
  "LDMATRIX=1,MULTICAST=1,"
#define FMA "M=52,N=100,K=100,BM=8,BN=8,FM=2,FN=4,BK=16,TMA=1,MULTICAST=1,"
#define ROLES "WARP_SPECIALIZE=1,"

// Shares of rows and of panels, with and without a swizzle, of one operand and of both; with roles,
// with a pipeline, with neither.
static const char *const shapes[] = {
    HALF ROLES "SWIZZLE=2,BUFFER_COUNT=3,CLUSTER_M=2,CLUSTER_N=2",
    HALF ROLES "SWIZZLE=1,BUFFER_COUNT=2,CLUSTER_M=2,FRAG_BUFFER=2,UNROLL_RING=1",
    HALF ROLES "BUFFER_COUNT=2,CLUSTER_N=4,GROUP_M=2,GROUP_N=2,EPILOGUE=1",
    HALF ROLES "SWIZZLE=2,BUFFER_COUNT=4,CLUSTER_M=4,CLUSTER_N=2,SERPENTINE=1",
    HALF "SWIZZLE=2,BUFFER_COUNT=1,CLUSTER_M=2,CLUSTER_N=2",
    HALF "SWIZZLE=2,BUFFER_COUNT=3,PIPELINE_STAGES=1,CLUSTER_M=2,FRAG_BUFFER=2",
    FMA ROLES "STAGE=11,BUFFER_COUNT=2,CLUSTER_M=2",
    FMA ROLES "STAGE=10,BUFFER_COUNT=3,CLUSTER_N=2",
    FMA ROLES "STAGE=11,BUFFER_COUNT=2,CLUSTER_M=2,SPLITK=2,A_COL=1,B_COL=1,SWIZZLE=1",
    FMA "STAGE=11,BUFFER_COUNT=2,CLUSTER_M=2,PIPELINE_STAGES=1",
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

START_TEST(every_shape_computes_the_nest) {
  Schedule schedule = property_read_state(shapes[_i]);
  const Pipeline *pipeline = &property_built(&schedule)->pipeline;
  for (int s = pipeline->n_stages - 1; s >= pipeline->n_stages - 3; s--)
    ck_assert(
        property_computes(&schedule, pipeline->stage[s].pass->name, pipeline->stage[s].program, 1));
}
END_TEST

// The fence between a warp's sums and the box that takes them away is none of a slab's, though the
// loop over tiles has both.
START_TEST(sums_that_leave_keep_their_fence) {
  Schedule schedule = property_read_state(
      "M=12,N=136,K=96,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=32,WN=2,BK=2,STAGE=11,TMA=1,"
      "SWIZZLE=2,BUFFER_COUNT=3,PIPELINE_STAGES=1,CLUSTER_N=2,MULTICAST=1,PERSISTENT=1,EPILOGUE=1,"
      "TMA_STORE=1");
  ck_assert(property_computes(&schedule, "all passes", property_built(&schedule)->program, 1));
}
END_TEST

START_TEST(every_shape_is_read_back) {
  Schedule schedule = property_read_state(shapes[_i]);
  property_read_back(property_built(&schedule)->program);
}
END_TEST

// ---- what a block fetches -----------------------------------------------------------------------

// Elements that one block asks for of an operand's slab, from one end of the kernel to the other.
static void count_asked(const Stmt *list, BufferRole slab, int64_t times, int64_t *elements) {
  for (; list; list = list->next) {
    bool here =
        list->kind == STMT_OP && op_moves_box(list->op.kind) && list->op.dst.buffer->role == slab;
    if (here) *elements += times * list->op.box[0] * list->op.box[1];
    count_asked(list->body, slab, list->kind == STMT_LOOP ? times * list->var->extent : times,
                elements);
  }
}

static int64_t asked(const char *state, BufferRole slab) {
  Schedule schedule = property_read_state(state);
  int64_t elements = 0;
  const Program *program = property_built(&schedule)->program;
  Launch launch = kernel_launch(program_main(program));
  count_asked(launch.body, slab, 1, &elements);
  return elements;
}

START_TEST(a_block_fetches_its_share) {
  static const char alone[] = HALF ROLES "SWIZZLE=2,BUFFER_COUNT=2,CLUSTER_M=2,CLUSTER_N=4";
  const char *own = replaced(alone, "MULTICAST=1", "MULTICAST=0");
  ck_assert_int_eq(asked(own, ROLE_SLAB_A), 4 * asked(alone, ROLE_SLAB_A));
  ck_assert_int_eq(asked(own, ROLE_SLAB_B), 2 * asked(alone, ROLE_SLAB_B));
}
END_TEST

// What L2 hands out: a panel of A goes to the blocks of a row of the cluster, of B to those of a
// column; DRAM gives each panel as often as before.
START_TEST(l2_gives_a_share) {
  static const char together[] = HALF ROLES "SWIZZLE=2,BUFFER_COUNT=2,CLUSTER_M=2,CLUSTER_N=2";
  Schedule all = property_read_state(together),
           own = property_read_state(replaced(together, "MULTICAST=1", "MULTICAST=0"));
  const Traffic *shared = &property_built(&all)->traffic, *alone = &property_built(&own)->traffic;
  ck_assert_double_eq_tol(alone->l2_bytes, 2 * shared->l2_bytes, 1);
  ck_assert_double_eq_tol(alone->dram_bytes, shared->dram_bytes, 1);
  ck_assert_double_lt(shared->l2_clocks, alone->l2_clocks);
}
END_TEST

// Every element that a block multiplies is traced to the copy that brought it, whoever asked for
// it.
START_TEST(elements_are_traced_to_their_copies) {
  Schedule schedule =
      property_read_state(HALF ROLES "SWIZZLE=2,BUFFER_COUNT=2,CLUSTER_M=2,CLUSTER_N=2");
  const Program *program = property_built(&schedule)->program;
  for (int64_t cta = 0; cta < 4; cta++)
    for (int64_t i = 0; i < 32; i += 5) {
      Trace out[ATOM_OPERANDS];
      int64_t row = cta / 2 * 32 + i, column = cta % 2 * 64 + i;
      trace_product(property_arena, program, cta, (TraceAt){row, column, 3 * i, 0}, out);
      for (int operand = 0; operand < ATOM_OPERANDS; operand++)
        ck_assert_int_ge(out[operand].n_moves, operand == ATOM_C ? 1 : 2);
      arena_reset(property_arena);
      program = property_built(&schedule)->program;
    }
}
END_TEST

// ---- faults -------------------------------------------------------------------------------------

#define BIT(kind) (1u << FINDING_##kind)

static const struct {
  BreakageId id;
  unsigned kinds;
} faults[] = {
    {BREAK_LOCAL_ARRIVE_ONLY, BIT(RACE)},
    {BREAK_MASK_SHORT, BIT(DEADLOCK)},
    {BREAK_NO_CLUSTER_START, BIT(RACE) | BIT(EXITED) | BIT(UNWRITTEN_READ)},
    {BREAK_NO_CLUSTER_END, BIT(EXITED)},
    {BREAK_FENCE, BIT(RACE)},
    {BREAK_ARRIVE, BIT(DEADLOCK)},
    {BREAK_FEWER_ARRIVALS, BIT(RACE) | BIT(DEADLOCK)},
    {BREAK_MORE_ARRIVALS, BIT(DEADLOCK)},
    {BREAK_EMPTY_WAIT, BIT(RACE)},
    {BREAK_MORE_BYTES, BIT(DEADLOCK)},
};
enum { N_FAULTS = sizeof faults / sizeof faults[0], N_SEEDS = 2 };

static unsigned found(const Program *program, uint64_t seed, InterpAsync async) {
  InterpOptions options = {.seed = seed, .async = async};
  const InterpResult *result = interpret(property_arena, program, &options);
  unsigned kinds = 0;
  for (int i = 0; i < result->n_findings; i++) kinds |= 1u << result->finding[i].kind;
  return kinds;
}

START_TEST(every_fault_is_told) {
  Schedule schedule = property_read_state(shapes[_i]);
  const Program *program = property_built(&schedule)->program;
  for (int f = 0; f < N_FAULTS; f++) {
    const Program *broken = program_break(property_arena, program, faults[f].id);
    ck_assert(broken || !schedule.value[KNOB_WARP_SPECIALIZE]);
    for (int run = 0; broken && run < 2 * N_SEEDS; run++) {
      unsigned kinds = found(broken, (uint64_t)run / 2, (InterpAsync)(run % 2));
      ck_assert_msg(kinds & faults[f].kinds, "%s, run %d: %x of %s", breakage_name(faults[f].id),
                    run, kinds, shapes[_i]);
    }
  }
}
END_TEST

static const struct {
  BreakageId id;
  const char *says;
} sentences[] = {
    {BREAK_MASK_SHORT, "deadlock on full[0]: warps 0-1 of rank 0 wait for a phase of bit 0 to end"},
    {BREAK_NO_CLUSTER_START, "which may not have begun (tma"},
    {BREAK_NO_CLUSTER_END, "of its cluster, which may have ended (mbarrier.arrive"},
    {BREAK_LOCAL_ARRIVE_ONLY, "race on "},
};
enum { N_SENTENCES = sizeof sentences / sizeof sentences[0] };

START_TEST(faults_are_told_in_words) {
  Schedule schedule = property_read_state(shapes[0]);
  const Program *broken =
      program_break(property_arena, property_built(&schedule)->program, sentences[_i].id);
  InterpCheck check = interpret_check(property_arena, broken, &(InterpOptions){.seed = 1});
  bool told = false;
  for (int i = 0; i < check.n_findings; i++)
    told = told || strstr(check.finding[i].text, sentences[_i].says);
  if (!told) property_tell(&schedule, sentences[_i].says, &check);
  ck_assert(told);
}
END_TEST

// ---- written by hand ----------------------------------------------------------------------------

// Two blocks, one above the other, need the same slab of B: each stores it for the other one, and
// reads the slab of A that its neighbour keeps for it.
static const char by_hand[] =
    "problem C[32 x 8] f32 = A[32 x 8] f32 * B[8 x 8] f32, sums f32\n"
    "axis m in 0..32: m_b in 0..2 BLOCK by 16, m_c in 0..2 CLUSTER by 8, m_t in 0..8 THREAD by 1\n"
    "axis n in 0..8: n_t in 0..8 THREAD by 1\n"
    "axis k in 0..8: k_o in 0..2 SERIAL_OUTER by 4, k_i in 0..4 STAGE_INNER by 1\n"
    "thread tid in 0..64\n"
    "shared A_s [8 x 4] f32  128 B   as slab_a @STAGE\n"
    "shared B_s [4 x 8] f32  128 B   as slab_b @STAGE\n"
    "registers acc[1 x 1], a[1], b[1]   as acc f32 @FM, frag_a f32 @FM, frag_b f32 @FN\n"
    "for m_b in 0..2 BLOCK   @BM\n"
    "  for m_c in 0..2 CLUSTER   @CLUSTER_M\n"
    "    for m_t in 0..8 THREAD, n_t in 0..8 THREAD   @BM @BN\n"
    "      acc[0, 0] = 0   @-\n"
    "      cluster.barrier   @CLUSTER_M \"both have begun\"\n"
    "      for k_o in 0..2 SERIAL_OUTER   @BK\n"
    "        if tid < 32   @STAGE\n"
    "          a[0] = load A[m_b * 16 + (1 - m_c) * 8 + tid / 4 % 8, k_o * 4 + tid % 4]\n"
    "          A_s[tid / 4 % 8, tid % 4] = a[0]\n"
    "          b[0] = load B[k_o * 4 + tid / 8 % 4, tid % 8]\n"
    "          B_s[tid / 8 % 4, tid % 8] of rank 1 - m_c = b[0]\n"
    "        cluster.barrier   @STAGE \"both slabs are there\"\n"
    "        for k_i in 0..4 STAGE_INNER   @BK\n"
    "          a[0] = load A_s[m_t, k_i] of rank 1 - m_c   @STAGE\n"
    "          b[0] = load B_s[k_i, n_t]   @STAGE\n"
    "          acc[0, 0] += a[0] * b[0]   @-\n"
    "        cluster.barrier   @STAGE \"both slabs are read\"\n"
    "      C[m_b * 16 + m_c * 8 + m_t, n_t] = acc[0, 0]   @-\n";

static const Program *read_text(const char *text) {
  Diags diags = diags_new(property_arena);
  const Program *program = program_parse(property_arena, text, strlen(text), "by_hand", &diags);
  ck_assert_msg(program != NULL, "%s", diags_text(property_arena, &diags));
  return program;
}

START_TEST(blocks_reach_into_each_other) {
  const Program *program = read_text(by_hand);
  InterpCheck check = interpret_check(property_arena, program, &(InterpOptions){.runs = 4});
  ck_assert_msg(check.ok, "%s", check.n_findings ? check.finding[0].text : "cells are wrong");
  ck_assert_str_eq(
      program_text_full(property_arena, program),
      program_text_full(property_arena, read_text(program_text_full(property_arena, program))));
}
END_TEST

static const struct {
  const char *from, *to;
  unsigned kinds;
} edits[] = {
    {"cluster.barrier   @CLUSTER_M", "barrier   @CLUSTER_M", BIT(EXITED)},
    {"cluster.barrier   @STAGE \"both slabs are there\"", "barrier   @STAGE", BIT(RACE)},
    {"cluster.barrier   @STAGE \"both slabs are read\"", "barrier   @STAGE",
     BIT(RACE) | BIT(EXITED)},
    {"B_s[tid / 8 % 4, tid % 8] of rank 1 - m_c", "B_s[tid / 8 % 4, tid % 8] of rank 0",
     BIT(RACE) | BIT(UNWRITTEN_READ)},
};
enum { N_EDITS = sizeof edits / sizeof edits[0] };

START_TEST(a_barrier_of_the_block_is_not_enough) {
  const char *text = replaced(by_hand, edits[_i].from, edits[_i].to);
  const Program *program = read_text(text);
  for (uint64_t seed = 0; seed < N_SEEDS; seed++)
    ck_assert_msg(found(program, seed, INTERP_EARLY) & edits[_i].kinds, "%s", edits[_i].from);
}
END_TEST

static const struct {
  const char *from, *to, *says;
} wrong[] = {
    {"of rank 1 - m_c   @STAGE", "of rank m_c + 1   @STAGE",
     "a rank that its cluster does not have"},
    {"m_b in 0..2 BLOCK   @BM\n  for m_c in 0..2 CLUSTER   @CLUSTER_M",
     "m_c in 0..2 CLUSTER   @CLUSTER_M\n  for m_b in 0..2 BLOCK   @BM",
     "stands outside of a loop over the grid"},
    {"a[0] = load A_s[m_t, k_i] of rank 1 - m_c", "a[0] = load A_s[m_t, k_i] of rank 16",
     "the number of a block in its cluster"},
};
enum { N_WRONG = sizeof wrong / sizeof wrong[0] };

START_TEST(a_text_that_makes_no_sense_is_refused) {
  const char *text = replaced(by_hand, wrong[_i].from, wrong[_i].to);
  Diags diags = diags_new(property_arena);
  ck_assert_ptr_null(program_parse(property_arena, text, strlen(text), "by_hand", &diags));
  ck_assert_msg(strstr(diags_text(property_arena, &diags), wrong[_i].says) != NULL, "%s",
                diags_text(property_arena, &diags));
}
END_TEST

// ---- as CUDA ------------------------------------------------------------------------------------

static void must_compile(const Program *program, const Target *target, const char *has) {
  const Emission *emission = emit_cuda(property_arena, program, &(EmitOptions){.cc = target->cc});
  const Plan *plan = plan_from_emission(property_arena, emission, program, target, "cluster");
  const CompileResult *result = compile_once(property_arena, plan, COMPILE_PTX);
  ck_assert_msg(result->ok && !strstr(result->log, "warning"), "%s\n%.2000s", result->error,
                result->log);
  ck_assert_msg(strstr(result->ptx, has) != NULL, "no %s", has);
  ck_assert_int_eq(plan->kernels[program->main_kernel].cluster[0],
                   kernel_launch(program_main(program)).cluster);
}

// Passed over where there is no NVRTC, or one that is older than the generation.
START_TEST(they_compile) {
  static const char *const archs[] = {"sm_90a", "sm_100a"};
  bool has_nvrtc;
  nvrtc_describe(property_arena, &has_nvrtc);
  for (int a = 0; has_nvrtc && a < 2; a++) {
    const char *known = NULL;
    if (!nvrtc_supports(property_arena, archs[a], &known)) continue;
    const Target *target = target_find(&property_targets, archs[a], NULL);
    Schedule schedule = property_read_state(shapes[_i]);
    must_compile(property_built(&schedule)->program, target, ".multicast::cluster");
    if (_i == 0) must_compile(read_text(by_hand), target, "mapa.u64");
  }
}
END_TEST

// ---- the grid -----------------------------------------------------------------------------------

// Blocks of a cluster are neighbours in the order of launching, and in C.
START_TEST(clusters_are_neighbours) {
  Schedule schedule = property_read_state(shapes[_i]);
  const Model *model = property_built(&schedule);
  const Grid *grid = grid_build(property_arena, model);
  int64_t rows = schedule.value[KNOB_CLUSTER_M], columns = schedule.value[KNOB_CLUSTER_N];
  ck_assert_int_eq(grid->launch.cluster, rows * columns);
  ck_assert_int_eq(grid->n_ctas % (rows * columns), 0);
  for (int64_t i = 0; i < grid->n_ctas; i++) {
    GridCta first = grid_cta(grid, i - i % (rows * columns)), cta = grid_cta(grid, i);
    int64_t rank = i % (rows * columns);
    ck_assert_int_eq(cta.row, first.row + rank / columns);
    ck_assert_int_eq(cta.col, first.col + rank % columns);
    ck_assert_int_eq(grid_owner(grid, cta.row, cta.col, cta.split), i);
  }
}
END_TEST

Suite *suite_cluster(void) {
  Suite *suite = suite_create("cluster");
  TCase *tc = tcase_create("clusters");
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 300);
  stress_add_turns(tc, rungs_with_roles_compute_the_nest, N_CLUSTERS, 9);
  stress_add_turns(tc, every_shape_computes_the_nest, N_SHAPES, 9);
  tcase_add_test(tc, sums_that_leave_keep_their_fence);
  stress_add_turns(tc, every_shape_is_read_back, N_SHAPES, 12);
  tcase_add_test(tc, a_block_fetches_its_share);
  tcase_add_test(tc, l2_gives_a_share);
  tcase_add_test(tc, elements_are_traced_to_their_copies);
  stress_add_turns(tc, every_fault_is_told, N_SHAPES, 9);
  tcase_add_loop_test(tc, faults_are_told_in_words, 0, N_SENTENCES);
  tcase_add_test(tc, blocks_reach_into_each_other);
  tcase_add_loop_test(tc, a_barrier_of_the_block_is_not_enough, 0, N_EDITS);
  tcase_add_loop_test(tc, a_text_that_makes_no_sense_is_refused, 0, N_WRONG);
  stress_add_turns(tc, they_compile, N_SHAPES, 9);
  tcase_add_loop_test(tc, clusters_are_neighbours, 0, N_SHAPES);
  suite_add_tcase(suite, tc);
  return suite;
}
