// What an iteration of k_o issues, and the orders in which a slab's fragments are read: counted
// from programs, computed by the interpreter, compiled for three generations.
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "cli_harness.h"
#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/time/steps.h"
#include "model/schedules/random_schedule.h"
#include "model/schedules/strategies.h"
#include "property.h"
#include "stress.h"

Suite *suite_steps(void);

// The second text is read over the first.
static const Model *model_with(const char *base, const char *more) {
  Diags diags = diags_new(property_arena);
  Schedule schedule = schedule_plain();
  bool ok = schedule_parse(&schedule, base, &diags) && schedule_parse(&schedule, more, &diags);
  ck_assert_msg(ok, "%s %s: %s", base, more, diags_text(property_arena, &diags));
  return model_build(property_arena, &property_targets, &schedule);
}

static const Model *model_of(const char *state, const char *more) {
  const Model *model = model_with(state, more);
  ck_assert_msg(model->ok, "%s,%s: %s", state, more,
                diags_text(property_arena, (Diags *)&model->diags));
  return model;
}

static Steps steps_of(const char *state, const char *more) {
  return derive_steps(property_arena, model_of(state, more)->program);
}

#define HGEMM                                                                                     \
  "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16,ACC=f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_" \
  "COPY=1,"                                                                                       \
  "LDMATRIX=1,SWIZZLE=3,BUFFER_COUNT=3,PIPELINE_STAGES=1"

// ---- computations per transfer ------------------------------------------------------------------

// Article 003 gives a warp 16 rows and 64 columns and prints 1.62 against 0.891. In 8×8 matrices
// that is 2 × 8: along K 16 products for 2 + 8 matrices; row by row 16 for 2 + 2 · 8. An atom of 8
// rows has such rows, so both numbers come out of programs.
START_TEST(the_articles_two_intensities) {
  static const char TILE[] =
      "M=64,N=64,K=64,ATOM_KIND=mma_m8n8k4_f64,WM=1,WN=1,FM=2,FN=8,BK=4,STAGE=11";
  Steps along = steps_of(TILE, "");
  Steps rows = steps_of(TILE, "FRAG_ORDER=2");
  ck_assert_double_eq(steps_intensity(&along), 16 / 10.0);
  ck_assert_double_eq(steps_intensity(&rows), 16 / 18.0);
  ck_assert_double_eq_tol(steps_intensity(&along), 1.62, 0.021);
  ck_assert_double_eq_tol(steps_intensity(&rows), 0.891, 0.003);
  ck_assert_double_eq_tol(steps_intensity(&along) / steps_intensity(&rows), 1.8, 1e-12);
}
END_TEST

// Q · K reads 4 + 16 matrices for 32 computations in each of 8 k-steps, P · V 32 for 64 in each of
// 4: P is there already, and its conversion is no transfer. Both products begin with their step 0.
START_TEST(attention_has_steps_of_both_products) {
  const Steps steps = steps_of(
      "PROGRAM=attention,HEADS=2,M=256,N=256,K=128,ATOM_KIND=mma_m16n8k16_bf16,WM=4,FN=8,FUSE=1,"
      "STAGE=11,LDMATRIX=2,SWIZZLE=3,ASYNC_COPY=1,EAGER_KV=1",
      "FRAG_BUFFER=2");
  ck_assert_double_eq(steps.products, 8 * 32 + 4 * 64);
  ck_assert_double_eq(steps.moved, 8 * 20 + 4 * 32);
  ck_assert_str_eq(steps.read_name, "LDSM");
  int begins = 0;
  for (int i = 0; i < steps.n; i++)
    begins += steps.step[i].n_multiplies && steps.step[i].multiply_first == 0;
  ck_assert_int_eq(begins, 2);
}
END_TEST

// The article's own shape with its own atom: one row of atoms, which has nothing to read twice.
START_TEST(the_articles_warp) {
  static const char TILE[] =
      "M=64,N=64,K=128,ATOM_KIND=mma_m16n8k16_f16,WM=4,WN=1,FM=1,FN=8,BK=4,STAGE=11,LDMATRIX=1";
  for (int order = 0; order <= 2; order++) {
    Steps steps = steps_of(TILE, arena_printf(property_arena, "FRAG_ORDER=%d", order));
    ck_assert_double_eq(steps_intensity(&steps), 1.6);
    ck_assert_double_eq(steps.moved, 4 * (4 + 8 * 2));
  }
}
END_TEST

static const struct {
  const char *knobs;
  double products, moved;
  int registers, up_front;
} counted[] = {
    {"FRAG_ORDER=0", 512, 128, 32, 12},
    {"INTERLEAVE_LOADS=1", 512, 128, 20, 9},
    {"FRAG_BUFFER=2", 512, 128, 64, 12},
    {"FRAG_ORDER=1", 512, 128, 128, 48},
    {"FRAG_ORDER=2", 512, 320, 24, 8},
    {"FRAG_ORDER=2,LDMATRIX=2", 512, 320, 32, 8},
    {"INTERLEAVE_LOADS=1,LDMATRIX=2", 512, 128, 20, 5},
    {"FRAG_BUFFER=2,COPY_STEPS=3,SERPENTINE=1,UNROLL_RING=1", 512, 128, 64, 12},
    {"FRAG_ORDER=1,SERPENTINE=1", 512, 128, 128, 48},
    {"FRAG_ORDER=2,SERPENTINE=1", 512, 320, 24, 8},
};

START_TEST(counts_of_every_strategy) {
  Steps steps = steps_of(HGEMM, counted[_i].knobs);
  ck_assert_double_eq(steps.products, counted[_i].products);
  ck_assert_double_eq(steps.moved, counted[_i].moved);
  ck_assert_int_eq(steps.n_registers, counted[_i].registers);
  ck_assert_int_eq(steps.reads_before, counted[_i].up_front);
}
END_TEST

// Whatever the order, the products are those of the tile: M_tile · N_tile · K_tile / (8 · 8 · 8).
START_TEST(fma_counts_values) {
  Steps steps = steps_of("M=256,N=256,K=256,FM=26,FN=4,BM=8,BN=32,BK=8,STAGE=11", "");
  ck_assert_double_eq(steps.products, 26 * 4 * 8);
  ck_assert_double_eq(steps.moved, (26 + 4) * 8);
  ck_assert_double_eq_tol(1 / steps_intensity(&steps), 0.29, 0.002);
  Steps small = steps_of("M=256,N=256,K=256,FM=1,FN=1,BK=8,STAGE=11", "");
  ck_assert_double_eq(1 / steps_intensity(&small), 2);
}
END_TEST

START_TEST(strategies_of_a_schedule) {
  Strategy strategy[STRATEGIES_MAX];
  const Model *model = model_of(HGEMM, "FRAG_BUFFER=2");
  ck_assert_int_eq(derive_strategies(property_arena, model, strategy), 5);
  for (int i = 0; i < 5; i++) {
    ck_assert_ptr_null(strategy[i].why);
    ck_assert_int_eq(strategy[i].now, i == 2);
    ck_assert_double_eq(strategy[i].steps.moved, counted[i].moved);
    ck_assert_int_eq(strategy[i].steps.n_registers, counted[i].registers);
    // What a row says of a strategy is what its knobs make.
    Steps made = steps_of(HGEMM, strategy[i].knobs);
    ck_assert_double_eq(made.moved, strategy[i].steps.moved);
  }
  model = model_of("M=256,N=256,K=256,FM=8,FN=8,STAGE=11", "");
  ck_assert_int_eq(derive_strategies(property_arena, model, strategy), 3);
  model = model_of("M=256,N=256,K=256,FM=8,FN=8", "");
  ck_assert_int_eq(derive_strategies(property_arena, model, strategy), 0);
}
END_TEST

START_TEST(a_strategy_that_does_not_fit_says_why) {
  Strategy strategy[STRATEGIES_MAX];
  const Model *model = model_of(
      "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,LDMATRIX=1",
      "");
  derive_strategies(property_arena, model, strategy);
  ck_assert_ptr_nonnull(strategy[3].why);
  ck_assert_ptr_nonnull(
      strstr(strategy[3].why, "128 registers hold the fragments of BK=4 k-steps"));
  ck_assert_ptr_nonnull(strstr(strategy[3].why, "at most 255"));
}
END_TEST

// ---- rows ---------------------------------------------------------------------------------------

START_TEST(the_register_double_buffer) {
  Steps steps = steps_of(HGEMM, "FRAG_BUFFER=2");
  ck_assert_int_eq(steps.n_slots, 3);
  ck_assert_str_eq(steps.copy_name, "cp.async");
  ck_assert_str_eq(steps.read_name, "LDSM");
  ck_assert_str_eq(steps.multiply_name, "MMA");
  int copies = 0, read_ahead = 0, multiplies = 0, at = 0;
  for (int i = 0; i < steps.n; i++) {
    const Step *step = &steps.step[i];
    copies += step->n_copies;
    if (step->n_copies) ck_assert_int_eq(step->copy_slab, 2);
    if (step->n_reads) {
      // A k-step ahead of what is multiplied, into the other half; the last reads the next slab.
      bool next = step->read_slab == 1;
      ck_assert_int_eq(step->read_first, next ? 0 : at + 1);
      ck_assert_int_eq(step->read_set, (at + 1) % 2);
      ck_assert_int_eq(next, at == 3);
      read_ahead++;
    }
    if (!step->n_multiplies) continue;
    ck_assert_int_eq(step->multiply_first, at);
    ck_assert_int_eq(step->multiply_last, at);
    ck_assert_int_eq(step->multiply_set, at % 2);
    multiplies += step->n_multiplies;
    at++;
  }
  ck_assert_int_eq(copies, 16);
  ck_assert_int_eq(read_ahead, 4);
  ck_assert_int_eq(multiplies, 4 * 32);
}
END_TEST

// One slab: a barrier behind the copy, and one behind the reads (article 003's two).
START_TEST(the_two_barriers_of_one_slab) {
  Steps steps = steps_of(
      "M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=4,BK=2,"
      "STAGE=11,ASYNC_COPY=1,LDMATRIX=1",
      "");
  ck_assert_int_eq(steps.n, 3);
  ck_assert(steps.step[0].barrier && steps.step[0].wait == 0 && steps.step[0].copy_slab == 0);
  ck_assert(!steps.step[1].barrier && steps.step[1].multiply_first == 1);
  ck_assert(steps.step[2].barrier && steps.step[2].n_multiplies == 0);
  const char *safe = steps_say_safe(property_arena, &steps, &steps.step[0]);
  ck_assert_ptr_nonnull(strstr(safe, "k_o lands in the slot of k_o - 1"));
  ck_assert_str_eq(steps_say_safe(property_arena, &steps, &steps.step[1]), "");
}
END_TEST

// A ring of two and a producer: its row, then the consumer's, which reads a k-step ahead and has
// left the slot before it waits for the next slab. Six boxes: A's slab is two panels, B's four.
START_TEST(the_rows_of_two_roles) {
  static const char ROLES[] =
      "ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=4,FM=2,FN=8,BK=8,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=3,"
      "BUFFER_COUNT=2";
  Steps steps = steps_of(ROLES, "FRAG_BUFFER=2,WARP_SPECIALIZE=1");
  const Step *producer = &steps.step[0], *last = &steps.step[steps.n - 1];
  ck_assert_int_eq(steps.n_slots, 2);
  ck_assert_str_eq(steps.copy_name, "TMA");
  ck_assert(producer->produces && producer->n_copies == 2 + 4 && producer->copy_slab == 0);
  ck_assert_str_eq(producer->mbarrier, "empty");
  ck_assert_str_eq(steps_say_safe(property_arena, &steps, producer),
                   "k_o lands in the slot of k_o - 2: safe once every consumer warp has arrived "
                   "at empty");
  ck_assert(last[-1].arrive);
  ck_assert_str_eq(last->mbarrier, "full");
  ck_assert_int_eq(last->read_slab, 1);
  ck_assert_int_eq(last->multiply_first, 7);
  for (int i = 1; i < steps.n; i++) ck_assert(!steps.step[i].produces && !steps.step[i].n_copies);

  steps = steps_of(ROLES, "");
  ck_assert_int_eq(steps.step[0].n_copies, 2 + 4);
  ck_assert_str_eq(steps.step[0].mbarrier, "full");
  ck_assert(steps.step[steps.n - 1].barrier);
}
END_TEST

START_TEST(safe_load_points) {
  static const struct {
    const char *state, *more, *says;
  } rows[] = {
      {HGEMM, "", "k_o + 2 lands in the slot of k_o - 1"},
      {HGEMM, "BUFFER_COUNT=2", "k_o + 1 lands in the slot of k_o - 1"},
      {HGEMM, "BUFFER_COUNT=4,FM=2", "k_o + 3 lands in the slot of k_o - 1"},
      {"M=256,N=256,K=256,FM=8,FN=8,STAGE=11,PIPELINE_STAGES=1", "",
       "k_o + 1 goes to registers first"},
      {"M=256,N=256,K=256,FM=8,FN=8,STAGE=11,PIPELINE_STAGES=2,BUFFER_COUNT=2", "",
       "k_o + 1 lands in the slot of k_o - 1"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Steps steps = steps_of(rows[i].state, rows[i].more);
    bool said = false;
    for (int s = 0; s < steps.n; s++)
      said |= strstr(steps_say_safe(property_arena, &steps, &steps.step[s]), rows[i].says) != NULL;
    ck_assert_msg(said, "%s: nothing says \"%s\"", rows[i].state, rows[i].says);
  }
}
END_TEST

static bool all_at_least(const int count[3], int least) {
  return count[0] >= least && count[1] >= least && count[2] >= least;
}

// The rows add up to what the sites count: both walk the same program. As many are drawn as it
// takes to see each order.
START_TEST(rows_add_up) {
  uint64_t state = property_seed();
  int orders[3] = {0}, interleaved = 0, n = 0;
  const RandomLimits limits = {.extent_max = 200, .fma_max = 400000};
  while (n < 160 || !all_at_least(orders, 3) || interleaved < 5) {
    arena_reset(property_arena);
    ck_assert_int_lt(n++, 10000);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    const Model *model = model_build(property_arena, &property_targets, &schedule);
    const int64_t *v = schedule.value;
    if (v[KNOB_ATOM_KIND] && v[KNOB_STAGE]) orders[v[KNOB_FRAG_ORDER]]++;
    interleaved += v[KNOB_ATOM_KIND] && v[KNOB_INTERLEAVE_LOADS] && v[KNOB_FM] > 1;
    Steps steps = derive_steps(property_arena, model->program);
    int reads = 0, multiplies = 0;
    for (int s = 0; s < steps.n; s++) {
      reads += steps.step[s].n_reads;
      multiplies += steps.step[s].n_multiplies;
    }
    if (!steps.cut) ck_assert_int_eq(reads, steps.n_reads);
    if (!steps.cut && !v[KNOB_ATOM_KIND]) ck_assert_double_eq(multiplies, steps.products);
    ck_assert_int_gt(steps.n, 0);
  }
}
END_TEST

// ---- what the programs compute ------------------------------------------------------------------

static const char *const tiles[] = {
    "STAGE=11,ATOM_KIND=mma_m16n8k16_f16,ACC=f16,WM=2,WN=1,FM=2,FN=4,BK=2,SWIZZLE=2",
    "STAGE=11,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=2,FM=3,FN=2,BK=3,BUFFER_COUNT=3,PIPELINE_STAGES=1,"
    "ASYNC_"
    "COPY=1",
    "STAGE=11,ATOM_KIND=mma_m16n8k16_bf16,WM=1,WN=1,FM=1,FN=1,BK=1,B_COL=1",
    "STAGE=11,ATOM_KIND=mma_m16n8k8_tf32,WM=1,WN=2,FM=2,FN=2,BK=2,TRANSPOSE_B=1",
    "STAGE=11,ATOM_KIND=mma_m16n8k32_s8,WM=2,WN=1,FM=1,FN=4,BK=2,B_COL=1",
    "STAGE=11,ATOM_KIND=mma_m8n8k4_f64,WM=1,WN=1,FM=2,FN=3,BK=4,A_COL=1",
};
enum { N_TILES = sizeof tiles / sizeof *tiles };

START_TEST(every_order_computes_the_nest) {
  bool ldmatrix = !strstr(tiles[_i], "f64");
  for (int order = 0; order <= 2; order++)
    for (int load = 0; load <= (ldmatrix ? 2 : 0); load++)
      for (int near = 0; near <= 1; near++) {
        const char *more = arena_printf(
            property_arena, "M=72,N=48,K=112,FRAG_ORDER=%d,LDMATRIX=%d,INTERLEAVE_LOADS=%d", order,
            load, near);
        const Model *model = model_of(tiles[_i], more);
        ck_assert_msg(property_computes(&model->schedule, more, model->program, 1), "%s", more);
      }
}
END_TEST

// Each order meets each generation on two of the tiles.
START_TEST(every_order_compiles) {
  static const char *const archs[] = {"sm_80", "sm_90a", "sm_120a"};
  bool has_nvrtc, ldmatrix = !strstr(tiles[_i], "f64");
  nvrtc_describe(property_arena, &has_nvrtc);
  for (int order = 0; has_nvrtc && order <= 3; order++) {
    const char *more = arena_printf(
        property_arena, "TARGET=%s,M=512,N=512,K=512,LDMATRIX=%d,FRAG_ORDER=%d,INTERLEAVE_LOADS=%d",
        archs[(_i + order) % 3], ldmatrix, order % 3, order == 3);
    const Plan *plan = plan_from_model(property_arena, model_of(tiles[_i], more), more);
    const CompileResult *result = compile_once(property_arena, plan, COMPILE_BOTH);
    ck_assert_msg(result->ok, "%s: %s\n%.2000s", more, result->error, result->log);
    ck_assert_msg(!strstr(result->ptx, ".local"), "%s: local memory", more);
    ck_assert_int_eq(result->kernels[0].spill_store_bytes, 0);
  }
}
END_TEST

// Article 002: 66 MB for a row of blocks, 18 MB for a group of eight.
START_TEST(the_working_sets_of_article_002) {
  static const char TILE[] =
      "ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11,TRANSPOSE_B=1,LDMATRIX=1";
  ck_assert_double_eq(model_of(TILE, "")->traffic.l2_working_set_bytes, 66 << 20);
  ck_assert_double_eq(model_of(TILE, "GROUP_M=8")->traffic.l2_working_set_bytes, 18 << 20);
  ck_assert_double_eq(model_of(TILE, "GROUP_M=1024")->traffic.l2_working_set_bytes, 66 << 20);
}
END_TEST

// 8 × 8 tiles in eight splits, panels of 128 × 2048 f32 are 1 MiB. A wave of 2 · 132 CTAs is four
// splits of 8 + 8 panels, and of the fifth a row: 1 + 8. The second finds nothing of it left: the
// other seven rows, all columns again, and three splits more. C once.
START_TEST(a_wave_fetches_the_panels_of_its_parts_of_k) {
  const Model *model =
      model_of("BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11", "M=1024,N=1024,K=16384,SPLITK=8");
  ck_assert_int_eq(model->resources.blocks_per_sm, 2);
  ck_assert_double_eq(model->traffic.dram_bytes, (4 * 16 + 9 + 7 + 8 + 3 * 16 + 4) << 20);
}
END_TEST

// The tensor cores of an A100 and of a B200 multiply 64 pairs of f64 in a clock of an SM, those of
// an H200 128, and by mma.sync, which alone can: 32 · 64 · 8 / 64 = 256.
// Nobody states that of an RTX 5090, so neither the clocks nor the estimate are known.
START_TEST(a_peak_is_that_of_the_type) {
  static const char F64[] = "ATOM_KIND=mma_m8n8k4_f64,WM=2,WN=2,FM=2,FN=4,BK=2,STAGE=11";
  ck_assert_double_eq_tol(model_of(F64, "TARGET=a100")->traffic.fma_clocks, 256, 1);
  ck_assert_double_eq_tol(model_of(F64, "TARGET=b200")->traffic.fma_clocks, 256, 2);
  ck_assert_double_eq_tol(model_of(F64, "TARGET=h200")->traffic.fma_clocks, 128, 1);
  const Traffic *unknown = &model_of(F64, "TARGET=rtx5090")->traffic;
  ck_assert_double_eq(unknown->fma_clocks, -1);
  ck_assert_double_eq(unknown->roofline_tflops, -1);
}
END_TEST

// A slab of 64 x 64 x 32 in f16. An SM of an A100 multiplies 1024 pairs in a clock; one of an H200
// has 2048, of which mma.sync reaches 0.65. What is left of a B200's nobody states.
START_TEST(mma_sync_has_a_share_of_the_peak) {
  static const char F16[] = "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=4,BK=2,STAGE=11";
  const double pairs = 64 * 64 * 32;
  ck_assert_double_eq_tol(model_of(F16, "TARGET=a100")->traffic.fma_clocks, pairs / 1024, 1);
  ck_assert_double_eq_tol(model_of(F16, "TARGET=h200")->traffic.fma_clocks, pairs / 1331, 1);
  ck_assert_double_eq(model_of(F16, "TARGET=b200")->traffic.fma_clocks, -1);
}
END_TEST

// Whole waves, held by mma alone: 0.65 of 989 TFLOP/s, whatever clock the SMs may reach, while
// nothing is written.
START_TEST(the_roofline_keeps_to_the_stated_peak) {
  const Model *model =
      model_of("ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=4,FM=4,FN=8,BK=8,STAGE=11,LDMATRIX=1,SWIZZLE=3",
               "ASYNC_COPY=1,M=4224,N=8192,K=8192");
  ck_assert_str_eq(model->traffic.limit, "fma");
  const Traffic *t = &model->traffic;
  const double us = t->flop / t->roofline_tflops * 1e-6;
  ck_assert_double_gt(t->between_us, 0);
  ck_assert_double_eq_tol(t->flop / (us - t->between_us) * 1e-6, 0.65 * 989.4, 1);
}
END_TEST

// 4096 x 4096 sums of s8 are 64 MiB of s32, beside twice 4 MiB of operands that L2 holds.
START_TEST(c_is_stored_in_its_own_type) {
  const Model *model = model_of("ATOM_KIND=mma_m16n8k32_s8,WM=2,WN=2,FM=4,FN=8,BK=2,STAGE=11",
                                "M=4096,N=4096,K=1024");
  ck_assert_double_eq(model->traffic.dram_bytes, (double)(2 * 4 + 64) * (1 << 20));
}
END_TEST

// 384 threads start with 168 registers each, what ptxas gives out, however few are needed.
START_TEST(roles_start_with_equal_shares) {
  const Model *model = model_of(
      "M=8192,N=8192,K=4096,FM=2,FN=4,BK=2,STAGE=11,LDMATRIX=1,SWIZZLE=2,BUFFER_COUNT=3,TMA=1",
      "ATOM_KIND=mma_m16n8k16_f16,WM=4,WN=2,WARP_SPECIALIZE=1");
  ck_assert_int_eq(model->resources.n_registers, 168);
  ck_assert_int_eq(model->resources.blocks_per_sm, 1);
}
END_TEST

// ---- every warp, every iteration ----------------------------------------------------------------

// What site.c reckons with as few visits as will do, by brute force: all loops inside k_o are run
// to their end for every warp.
typedef struct Brute {
  const Model *model;
  int64_t *env;
  bool in_loop;
  int64_t visits;  // of all sites
  double wavefronts, ideal;
} Brute;

// A copy is counted from both ends.
static BankCount count_site(const Brute *b, const Site *site, const int64_t *addr) {
  const Access *from = &site->stmt->op.src;
  int64_t source[LANES];
  if (site->op->kind != BANK_CPASYNC) return banks_count(site->op, addr);
  expr_eval_warp(access_offset(property_arena, from), b->env, source);
  for (int lane = 0; lane < LANES; lane++) source[lane] *= dtype_bytes(from->buffer->type);
  return banks_count_copy(site->op, addr, source);
}

static void brute_op(Brute *b, const Stmt *stmt, const bool *active) {
  for (int i = 0; i < b->model->n_sites && b->in_loop; i++) {
    const Site *site = b->model->site[i].written;
    if (site->stmt != stmt || !site->count.known) continue;
    int64_t addr[LANES];
    bool any = false;
    expr_eval_warp(site->address, b->env, addr);
    for (int lane = 0; lane < LANES; lane++) {
      any |= active[lane];
      if (!active[lane]) addr[lane] = BANK_INACTIVE;
    }
    if (!any) continue;
    BankCount count = count_site(b, site, addr);
    b->visits++;
    b->wavefronts += count.wavefronts;
    b->ideal += count.ideal;
  }
}

static void brute_list(Brute *b, const Stmt *list, const bool *active) {
  for (; list; list = list->next) {
    bool inner[LANES];
    if (list->kind == STMT_LET) lanes_let(b->env, list);
    if (list->kind == STMT_OP) brute_op(b, list, active);
    if (list->kind == STMT_IF && lanes_pass(b->env, list->expr, active, inner))
      brute_list(b, list->body, inner);
    if (list->kind != STMT_LOOP) continue;
    if (list->var->tier == TIER_TILE) {  // lanes_enter has chosen one
      brute_list(b, list->body, active);
      continue;
    }
    bool slabs =
        list == program_outer_k_loop(b->model->program) || list->var->tier == TIER_SERIAL_OUTER;
    bool before = b->in_loop;
    b->in_loop |= slabs;
    for (int64_t i = 0; i < (slabs ? 1 : list->var->extent); i++) {
      lanes_set_all(b->env, list->var, i);
      brute_list(b, list->body, active);
    }
    b->in_loop = before;
  }
}

// Of the program as it is written, whatever the assembler is expected to merge.
static void check_totals(const Model *model) {
  double wavefronts = 0, ideal = 0;
  Launch launch = kernel_launch(program_main(model->program));
  Brute b = {.model = model};
  b.env = ARENA_ARRAY(property_arena, int64_t, model->program->n_vars * LANES);
  for (int warp = 0; warp < launch_block_warps(&launch); warp++) {
    bool active[LANES];
    lanes_enter(model->program, &launch, 0, warp, b.env, active);
    brute_list(&b, launch.body, active);
  }
  for (int i = 0; i < model->n_sites; i++) {
    const Site *site = model->site[i].written;
    if (!site->count.known) continue;
    wavefronts += site->clocks;
    ideal += site->ideal;
  }
  // Where there are more iterations than are looked at, they are sampled.
  double allowed = b.visits > 256 ? 0.1 * b.wavefronts : 0.01;
  ck_assert_msg(fabs(b.wavefronts - wavefronts) < allowed && fabs(b.ideal - ideal) < allowed,
                "%g (%g ideal), by brute force %g (%g), of %s", wavefronts, ideal, b.wavefronts,
                b.ideal, schedule_text(property_arena, &model->schedule));
}

START_TEST(totals_are_what_all_warps_and_iterations_pay) {
  const RandomLimits limits = {.extent_max = 300, .fma_max = 1 << 24};
  uint64_t state = property_seed();
  for (int i = 0; i < 300; i++) {
    arena_reset(property_arena);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    check_totals(model_build(property_arena, &property_targets, &schedule));
  }
  // Copies of one k-step of 31, the last of which two of six warps make.
  check_totals(
      model_of("AUTO=0,M=96,N=48,K=300,A_COL=1,BM=32,BN=6,FN=4,CELL_GROUP=2,BK=32,STAGE=10,"
               "TRANSPOSE_A=1,BUFFER_COUNT=2,PIPELINE_STAGES=2,ASYNC_COPY=1,FRAG_BUFFER=2,"
               "COPY_STEPS=1,COPY_FROM=3,UNROLL_K=4,SPLITK=5,ATOMIC_FREE_SPLITK=1,"
               "LAYOUT_A=xor:'col ^ (((row >> 1) & 3) << 2)'",
               ""));
  // And of one k-step of 256, more than are looked at: each, or one that is not among them.
  static const char *const at_once[] = {"COPY_STEPS=1,COPY_FROM=0", "COPY_STEPS=1,COPY_FROM=3",
                                        "COPY_STEPS=1,COPY_FROM=4", "COPY_STEPS=0"};
  for (int i = 0; i < 4; i++) {
    const Model *model = model_of(
        "AUTO=0,M=512,N=512,K=512,BM=32,BN=8,FM=1,FN=4,BK=256,STAGE=10,ASYNC_COPY=1,"
        "BUFFER_COUNT=2,PIPELINE_STAGES=1",
        at_once[i]);
    double copied = 0;
    for (int s = 0; s < model->n_sites; s++)
      if (model->site[s].is_store) copied += model->site[s].clocks;
    ck_assert_double_eq_tol(copied, 256, 1e-6);
  }
  // Rows of 44 floats: some warps copy nothing in the last round. What is copied is loaded by way
  // of L1: 16 rows of A whose values lie in one bank, 16 clocks, and 64 values of B, 2.
  check_totals(model_of("BM=16,BN=32,FM=1,FN=2,BK=1,STAGE=11,VECTORIZE=1", ""));
  ck_assert_double_eq(
      model_of("BM=16,BN=32,FM=1,FN=2,BK=1,STAGE=11,VECTORIZE=1", "")->traffic.shared_clocks,
      51 + 16 + 2);
}
END_TEST

// Slabs that are deep and blocks of many warps would be looked at for ever: visits have a limit.
START_TEST(large_tiles_are_sampled) {
  static const char *const states[] = {
      "BM=32,BN=32,FM=8,FN=3,BK=128,STAGE=11,VECTORIZE=1,SWIZZLE=3,A_COL=1,B_COL=1",
      "BM=64,BN=11,FM=8,FN=4,BK=1024,STAGE=01,B_COL=1,SWIZZLE=1,VECTORIZE=1,TRANSPOSE_A=1",
      "BM=32,BN=32,FM=4,FN=4,BK=256,STAGE=10,SWIZZLE=3"};
  for (int i = 0; i < 3; i++) {
    arena_reset(property_arena);
    const Model *model = model_of(states[i], "");
    ck_assert_uint_lt(arena_used(property_arena), 1 << 20);
    check_totals(model);
  }
}
END_TEST

// The command's numbers are the model's; `now` marks one row.
START_TEST(the_command_tells_both_intensities) {
  if (!cli_has_program()) return;
  CliRun run =
      cli_run(property_arena,
              "resources --json -k M=64,N=64,K=64,AUTO=0,ATOM_KIND=mma_m8n8k4_f64,WM=1,WN=1,"
              "FM=2,FN=8,BK=4,STAGE=11,FRAG_ORDER=2");
  cli_json(property_arena, &run);
  ck_assert_ptr_nonnull(strstr(run.out, "\"computations_per_transfer\":1.6,"));
  ck_assert_ptr_nonnull(strstr(run.out,
                               "\"fragments\":{\"computations_per_slab\":128,"
                               "\"transfers_per_slab\":144,"
                               "\"computations_per_transfer\":0.888"));
  ck_assert_ptr_nonnull(strstr(run.out,
                               "\"knobs\":\"FRAG_ORDER=2,INTERLEAVE_LOADS=0,FRAG_BUFFER=1\","
                               "\"now\":true"));
}
END_TEST

// Values per multiply-add are about plain multiply-adds: an atom takes fragments, and text, data
// and screen all leave the number out.
START_TEST(loads_per_multiply_add_are_of_plain_ones) {
  if (!cli_has_program()) return;
  static const struct {
    const char *rung, *data;
    bool told;
  } cases[] = {{"fp32/padded", "\"loads_per_fma\":0.25", true},
               {"hgemm/swizzle", "\"loads_per_fma\":null", false},
               {"hopper/roles", "\"loads_per_fma\":null", false},
               {"attention/eager_kv", "\"loads_per_fma\":null", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *call =
        arena_printf(property_arena, "resources -k %s --worker false", cases[i].rung);
    const bool told = strstr(cli_run(property_arena, call).out, "loads per multiply-add") != NULL;
    const char *data = cli_run(property_arena, arena_printf(property_arena, "%s --json", call)).out;
    ck_assert_msg(told == cases[i].told, "%s", cases[i].rung);
    ck_assert_msg(strstr(data, cases[i].data) != NULL, "%s: %s", cases[i].rung, data);
  }
}
END_TEST

static void refused(const char *more, const char *says, const char *nearest) {
  const Model *model = model_with(HGEMM, more);
  ck_assert_msg(!model->ok, "%s is legal", more);
  const char *text = diags_text(property_arena, (Diags *)&model->diags);
  ck_assert_msg(strstr(text, says) != NULL, "%s: %s", more, text);
  ck_assert_msg(strstr(text, nearest) != NULL, "%s: %s", more, text);
}

START_TEST(orders_that_cannot_be) {
  refused("FRAG_ORDER=1,FRAG_BUFFER=2", "FRAG_ORDER=1 with FRAG_BUFFER=2", "nearest: FRAG_ORDER=0");
  refused("FRAG_ORDER=2,COPY_STEPS=2",
          "FRAG_ORDER=2 with COPY_STEPS=2: there are no k-steps to deal", "nearest: FRAG_ORDER=");
  refused("FRAG_ORDER=1,BK=8,BUFFER_COUNT=2",
          "FRAG_ORDER=1: 256 registers hold the fragments of BK=8", "nearest: FRAG_ORDER=0");
}
END_TEST

Suite *suite_steps(void) {
  Suite *suite = suite_create("steps");
  TCase *tc = tcase_create("steps");
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, the_articles_two_intensities);
  tcase_add_test(tc, the_articles_warp);
  tcase_add_test(tc, attention_has_steps_of_both_products);
  stress_add_turns(tc, counts_of_every_strategy, sizeof counted / sizeof *counted, 6);
  tcase_add_test(tc, fma_counts_values);
  tcase_add_test(tc, strategies_of_a_schedule);
  tcase_add_test(tc, a_strategy_that_does_not_fit_says_why);
  tcase_add_test(tc, the_register_double_buffer);
  tcase_add_test(tc, the_two_barriers_of_one_slab);
  tcase_add_test(tc, the_rows_of_two_roles);
  tcase_add_test(tc, safe_load_points);
  tcase_add_test(tc, rows_add_up);
  stress_add_turns(tc, every_order_computes_the_nest, N_TILES, 6);
  stress_add_turns(tc, every_order_compiles, N_TILES, 9);
  tcase_add_test(tc, the_working_sets_of_article_002);
  tcase_add_test(tc, a_wave_fetches_the_panels_of_its_parts_of_k);
  tcase_add_test(tc, a_peak_is_that_of_the_type);
  tcase_add_test(tc, mma_sync_has_a_share_of_the_peak);
  tcase_add_test(tc, the_roofline_keeps_to_the_stated_peak);
  tcase_add_test(tc, c_is_stored_in_its_own_type);
  tcase_add_test(tc, roles_start_with_equal_shares);
  tcase_add_test(tc, totals_are_what_all_warps_and_iterations_pay);
  tcase_add_test(tc, large_tiles_are_sampled);
  tcase_add_test(tc, the_command_tells_both_intensities);
  tcase_add_test(tc, loads_per_multiply_add_are_of_plain_ones);
  tcase_add_test(tc, orders_that_cannot_be);
  suite_add_tcase(suite, tc);
  return suite;
}
