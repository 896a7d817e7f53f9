// The passes: golden IR of every rung, the diff of every pass, expressions and resources by hand.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "cli/common/cli_model.h"
#include "golden.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/rules/rule.h"
#include "model/words/ladder.h"

Suite *suite_pass(void);

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

static const Model *model(const char *state) {
  const Model *built = cli_model(arena, arena_printf(arena, "AUTO=0,%s", state), &diags);
  ck_assert_msg(built != NULL, "%s", diags_text(arena, &diags));
  return built;
}

static const Ladder *ladder_named(const char *name) {
  const EmbeddedFile *file = embed_find(arena, arena_printf(arena, "ladders/%s.json", name));
  ck_assert_ptr_nonnull(file);
  const Ladder *ladder = ladder_read(arena, file->text, file->size, name, &diags);
  ck_assert_msg(ladder != NULL, "%s", diags_text(arena, &diags));
  return ladder;
}
static const Ladder *fp32(void) { return ladder_named("fp32"); }

// ---- several products ---------------------------------------------------------------------------

// A program with a second product, that of the first once more.
static Program *with_two_products(const Program *program) {
  Program *two = program_clone(arena, program);
  two->product[two->n_products++] = two->product[0];
  ck_assert_int_eq(two->n_products, 2);
  return two;
}

static struct {
  int n;
  const Product *product[PRODUCTS_MAX];
} ran;
static void note_product(Program *program, Product *product, const Schedule *schedule) {
  (void)program, (void)schedule;
  ck_assert_int_lt(ran.n, PRODUCTS_MAX);
  ran.product[ran.n++] = product;
}

START_TEST(test_a_pass_runs_for_each_product_or_once) {
  Program *two = with_two_products(model("M=64,N=64,K=64")->program);
  const Schedule schedule = schedule_plain();
  for (int runs = PASS_EACH; runs <= PASS_ONCE; runs++) {
    const Pass pass = {.runs = (PassRuns)runs, .run = note_product};
    ran.n = 0;
    pass_run(&pass, two, &schedule);
    ck_assert_int_eq(ran.n, runs == PASS_ONCE ? 1 : 2);
    if (runs == PASS_EACH) ck_assert_ptr_eq(ran.product[0], &two->product[0]);
    ck_assert_ptr_eq(ran.product[ran.n - 1], &two->product[1]);
  }
}
END_TEST

// A pass that fuses two products, or fetches for each of them, has no meaning for one that is there
// twice; one that works on kernels does not see products.
static bool is_of_two(const Pass *pass) {
  static const char of_two[] =
      " tile_rows fuse eager_kv longest_first keep_queries warp_specialize dependent_launch ";
  return strstr(of_two, arena_printf(arena, " %s ", pass->name)) != NULL;
}

// What is marked makes of two products what it makes of one: the second time would undo or double
// it.
START_TEST(test_what_products_share_is_changed_once) {
  static const char *const states[] = {
      "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=4,BK=2,STAGE=11,SERPENTINE=1,MIN_BLOCKS=2,"
      "GROUP_M=2,M=512,N=512,K=512",
      "ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=2,FM=4,FN=4,BK=4,TMA=1,STAGE=11,WARP_SPECIALIZE=1,"
      "BUFFER_COUNT=3,CLUSTER_M=2,MULTICAST=1,PERSISTENT=1,TAIL_SPLIT=2,TILE_ORDER=gpc,GROUP_N=8,"
      "M=1024,N=2048,K=512"};
  int seen = 0, marked = 0;
  for (int i = 0; i < pass_count; i++)
    marked += pass_table[i].runs == PASS_ONCE && !is_of_two(&pass_table[i]);
  for (int s = 0; s < 2; s++) {
    const Model *built = model(states[s]);
    const Pipeline *pipeline = &built->pipeline;
    for (int i = 1; i < pipeline->n_stages; i++) {
      const Pass *pass = pipeline->stage[i].pass;
      if (pass->runs != PASS_ONCE || is_of_two(pass)) continue;
      Program *two = with_two_products(pipeline->stage[i - 1].program);
      pass_run(pass, two, &built->schedule);
      program_place_shared(two);
      two->n_products = 1;  // a text is of one
      ck_assert_str_eq(program_text_full(arena, two),
                       program_text_full(arena, pipeline->stage[i].program));
      seen++;
    }
  }
  ck_assert_int_eq(seen, marked);
}
END_TEST

static const char *const ladders[] = {"fp32", "fp16", "hgemm", "tf32", "attention"};

START_TEST(test_golden_rungs) {
  const Ladder *ladder = ladder_named(ladders[_i]);
  for (int i = 0; i < ladder->n_rungs; i++) {
    const Rung *rung = &ladder->rung[i];
    if (rung->not_built) continue;
    const Model *built = model(rung->knobs);
    golden_check(arena_printf(arena, "ir/%s_%s.txt", ladders[_i], rung->name),
                 program_text_full(arena, built->program));
  }
}
END_TEST

// Groups down M, along N and both, with tiles that do not divide into them and with ones that do.
START_TEST(test_golden_block_orders) {
  static const char *const groups[] = {"GROUP_M=3", "GROUP_N=4", "GROUP_M=3,GROUP_N=4"};
  static const char *const tiles[] = {"M=700,N=500", "M=576,N=768"};
  Str out = str_new(arena);
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 3; i++) {
      const char *state = arena_printf(arena, "%s,K=64,FM=6,FN=6,%s", tiles[t], groups[i]);
      str_printf(&out, "%s\n%s\n", state, program_text(arena, model(state)->program));
    }
  golden_check("ir/block_orders.txt", out.text);
}
END_TEST

// The diff of each pass of the last rung of the main line: the article's habit, kept under review.
START_TEST(test_golden_diffs) {
  const Ladder *ladder = fp32();
  const Model *built = model(ladder->rung[ladder_find_rung(ladder, "block_order", NULL)].knobs);
  for (int i = 1; i < built->pipeline.n_stages; i++) {
    TextDiff diff =
        program_diff(arena, built->pipeline.stage[i - 1].program, built->pipeline.stage[i].program);
    ck_assert_int_gt(diff.n_added, 0);
    Str out = str_new(arena);
    for (int l = 0; l < diff.n_lines; l++) {
      str_add_char(&out, " -+"[diff.line[l].kind]);
      str_add_repeat(&out, ' ', 2 * diff.line[l].depth);
      str_printf(&out, "%s\n", diff.line[l].text);
    }
    golden_check(arena_printf(arena, "diff/%s.txt", built->pipeline.stage[i].pass->name), out.text);
  }
}
END_TEST

// A diff must rebuild both texts.
START_TEST(test_diff_rebuilds_both_sides) {
  const char *before[] = {"a", "b", "c", "d", "b"}, *after[] = {"b", "x", "c", "b", "b", "e"};
  TextDiff diff = text_diff(arena, before, 5, after, 6);
  int b = 0, a = 0;
  for (int i = 0; i < diff.n_lines; i++) {
    const DiffLine *line = &diff.line[i];
    if (line->kind != DIFF_ADDED) ck_assert_str_eq(line->text, before[b++]);
    if (line->kind != DIFF_REMOVED) ck_assert_str_eq(line->text, after[a++]);
  }
  ck_assert_int_eq(b, 5);
  ck_assert_int_eq(a, 6);
  ck_assert_int_eq(diff.n_removed, 2);
  ck_assert_int_eq(diff.n_added, 3);
}
END_TEST

// What the passes are for, in numbers that can be counted by hand.
static const struct {
  const char *state, *site;
  int wavefronts, ideal;
} sites[] = {
    // 32-byte steps: lanes 0 and 4 of a quarter-warp meet.
    {"BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_SMEM=4", "b <- B_s", 8, 4},
    // The same with groups of four columns.
    {"BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_SMEM=4,CELL_GROUP=4",
     "b <- B_s", 4, 4},
    // Two rows per warp, each read by 16 lanes: pairs merge.
    {"BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_SMEM=4", "a <- A_s", 2, 2},
    // Lane bits dealt out alternately: both operands merge.
    {"BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_SMEM=4,CELL_GROUP=4,"
     "LANES_M=4,LANE_ORDER=1",
     "b <- B_s", 2, 2},
    // The article's contiguous float4 read: ideal, whatever is said about it.
    {"BM=8,BN=32,FM=26,FN=4,BK=32,STAGE=11,VECTORIZE=1", "b <- B_s", 4, 4},
    // The article's pad: lane n_t reads word 5·n_t, one bank each, but four times.
    {"BM=8,BN=32,FM=26,FN=4,BK=32,STAGE=11,VECTORIZE=1,PAD_CELLS=1", "b <- B_s", 1, 1},
    // With a pad of four the runs of FM=8 stay aligned, and wide: 12 words apart, free by quarters.
    {"BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1,PAD_CELLS=4", "b <- B_s", 4,
     4},
    // Two distinct rows of 16 floats, 8 apart: both start at bank 0.
    {"BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11", "a <- A_s", 2, 1},
    // A column store of four k's: rows 512 B apart without a pad.
    {"BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,TRANSPOSE_A=1,VECTORIZE=1", "A_s <- r_a", 4, 1},
};

START_TEST(test_sites) {
  const Model *built = model(sites[_i].state);
  for (int i = 0; i < built->n_sites; i++) {
    const Site *site = &built->site[i];
    if (strncmp(site->text, sites[_i].site, strlen(sites[_i].site)) != 0) continue;
    ck_assert_int_eq(site->count.wavefronts, sites[_i].wavefronts);
    ck_assert_int_eq(site->count.ideal, sites[_i].ideal);
    return;
  }
  ck_abort_msg("no site %s", sites[_i].site);
}
END_TEST

// However the copies of a slab are dealt out, a slab takes as many as before.
START_TEST(test_spread_copies_are_as_many) {
  const char *state =
      "M=4096,N=4096,K=4096,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,"
      "ASYNC_COPY=1,LDMATRIX=2,SWIZZLE=3,BUFFER_COUNT=3,PIPELINE_STAGES=1,FRAG_BUFFER=2";
  for (int i = 0; i < 24; i++) {
    int steps = i % 6, from = i / 6;  // also from where they no longer fit
    const Model *built =
        model(arena_printf(arena, "%s,COPY_STEPS=%d,COPY_FROM=%d", state, steps, from));
    double copies = 0;
    for (int s = 0; s < built->n_sites; s++)
      if (built->site[s].stmt->op.kind == OP_CP_ASYNC) copies += built->site[s].executions;
    ck_assert_double_eq_tol(copies, 16, 1e-9);
  }
}
END_TEST

// From the middle on: step 1 takes number 0 of the copies, and step 0 none.
START_TEST(test_copies_begin_where_they_are_told) {
  const char *state =
      "ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1,LDMATRIX=1,"
      "BUFFER_COUNT=3,PIPELINE_STAGES=1,COPY_STEPS=1,COPY_FROM=2";
  const char *text = program_text(arena, model(state)->program);
  ck_assert_msg(strstr(text, "if (k_i + 2) % 4 * 8 + i < 8") != NULL, "%s", text);
}
END_TEST

// The hint is text alone: without cp.async there is nothing to give it to.
START_TEST(test_the_l2_hint_is_on_every_copy) {
  const char *state = "BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11,VECTORIZE=1,BUFFER_COUNT=2,L2_HINT=1";
  ck_assert_ptr_null(strstr(program_text(arena, model(state)->program), "L2::"));
  state = arena_printf(arena, "%s,ASYNC_COPY=1", state);
  const char *text = program_text(arena, model(state)->program);
  int n_copies = 0, n_hints = 0;
  for (const char *at = text; (at = strstr(at, "= cp.async")); at++) n_copies++;
  for (const char *at = text; (at = strstr(at, "L2::128B")); at++) n_hints++;
  ck_assert_int_gt(n_copies, 0);
  ck_assert_int_eq(n_copies, n_hints);
}
END_TEST

// Down one column and up the next, as the header of the pass has it.
START_TEST(test_serpentine_order) {
  const Model *built = model("ATOM_KIND=mma_m16n8k16_f16,FM=4,FN=4,BK=2,STAGE=11,SERPENTINE=1");
  const char *text = program_text(arena, built->program);
  ck_assert_ptr_nonnull(strstr(text, "for n_r in 0..4 REGISTER, m_r in 0..4 REGISTER"));
  ck_assert_ptr_nonnull(strstr(text, "acc[(n_r % 2 ? 3 - m_r : m_r), n_r, 0] +="));
}
END_TEST

START_TEST(test_resources_of_the_articles_tile) {
  const Model *built = model(
      "M=2048,N=2048,K=2048,BM=8,BN=32,FM=26,FN=4,BK=32,STAGE=11,"
      "BUFFER_COUNT=2,TARGET=rtx5090");
  ck_assert_int_eq(built->resources.n_blocks, 160);
  ck_assert_int_eq(built->resources.n_accumulators, 104);
  ck_assert_int_eq(built->resources.smem_bytes, 84 * 1024);
  ck_assert_double_eq_tol(built->traffic.loads_per_fma, 30.0 / 104, 1e-12);
  ck_assert_double_eq_tol(built->resources.occupancy, 8.0 / 48, 1e-12);  // 17 %
}
END_TEST

// As cuda_occupancy.h of CUDA 13.0 has it for these threads and registers on an H200; a recorded
// naive rung holds 32 blocks of one warp.
static const struct {
  const char *state;
  int registers, blocks;
} held[] = {
    {"BM=1,BN=1", 31, 32},
    {"BM=4,BN=8,FM=8,FN=8", 108, 16},
    {"BM=8,BN=12,FM=8,FN=8", 108, 5},
    {"BM=8,BN=12,FM=12,FN=12", 196, 2},
    {"BM=8,BN=28,FM=12,FN=12", 196, 1},
    {"BM=16,BN=16,FM=4,FN=4", 52, 4},
};

START_TEST(test_blocks_of_few_warps) {
  const Model *built = model(held[_i].state);
  ck_assert_int_eq(built->resources.n_registers, held[_i].registers);
  ck_assert_int_eq(built->resources.blocks_per_sm, held[_i].blocks);
}
END_TEST

// 256 threads that multiply and 128 behind them; a slab of 49152 B is 384 lines of 128 B, which TMA
// writes beside 8 warps · 4 k-steps · 8 ldmatrix of 4 wavefronts.
START_TEST(test_a_block_with_roles) {
  const Model *built = model(
      "ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=4,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2,"
      "SWIZZLE=3,BUFFER_COUNT=3,WARP_SPECIALIZE=1");
  const Resources *r = &built->resources;
  ck_assert_int_eq(r->n_threads, 384);
  ck_assert_int_eq(r->n_warps, 12);
  ck_assert_int_eq(r->n_consumers, 8);
  ck_assert_int_eq(r->producer_registers, 40);
  ck_assert_int_eq(r->consumer_registers, 232);
  ck_assert_int_eq(r->blocks_per_sm, 1);
  ck_assert_double_eq_tol(r->occupancy, 12.0 / 64, 1e-12);
  ck_assert_double_eq(built->totals.wavefronts, 8 * 4 * 8 * 4);
  ck_assert_double_eq(built->traffic.shared_clocks, 1024);
  ck_assert_double_eq(built->copies, 384);  // boxes come past the pipe
}
END_TEST

#define TMA_8X8 "STAGE=11,TMA=1,BM=8,BN=8,FM=8,FN=8,"
#define ROLES "STAGE=11,TMA=1,WARP_SPECIALIZE=1,BUFFER_COUNT=2,"
#define WGMMA "M=512,N=512,K=512,ATOM_KIND=wgmma_m64n256k16_bf16,"
#define TILES WGMMA "BK=4,STAGE=11,SWIZZLE=3,"

#define ATOM16 "ATOM_KIND=mma_m16n8k16_f16,STAGE=11,BK=2,"

// Four warps, each with a 32 x 64 tile: a row of its atoms in f16 is one panel of 128 bytes, and
// one of the four pieces of 8 columns is 16 bytes wide, too little for a swizzle.
START_TEST(test_pieces_leave_by_tma) {
#define STORE "M=256,N=256,K=256," ATOM16 "WM=2,WN=2,FM=2,FN=8,EPILOGUE=1,TMA_STORE=1"
  static const struct {
    const char *knobs, *has[4];
  } cases[] = {
      {"",
       {"C_s [4 x 16 x 64] f16  Swizzle<3,4,3>", "n_w * 64] = tma.store C_s[m_w * 2 + n_w, 0, 0]",
        "bulk.read until no group is unread", "for n_i in 0..8 REGISTER, v_p in 0..2"}},
      {",EPI_N=32,EPI_BUFFERS=2,STMATRIX=1",
       {"C_s [2 x 4 x 16 x 32] f16  Swizzle<2,4,3>", "bulk.read until at most 1 group is unread",
        "stmatrix.x4 acc[m_r, n_p * 4 + n_q * 2, 0]", "for m_r in 0..2 REGISTER, n_p in 0..2"}},
      {",EPI_N=8,STMATRIX=1",
       {"C_s [4 x 16 x 8] f16", "stmatrix.x2 acc[m_r, n_p, 0]", "16 x 8", "barrier of 32 threads"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const Model *built = model(arena_printf(arena, "%s%s", STORE, cases[i].knobs));
    const char *text = program_text_full(arena, built->program);
    for (int h = 0; h < 4; h++)
      ck_assert_msg(strstr(text, cases[i].has[h]), "%s is not in\n%s", cases[i].has[h], text);
    ck_assert_ptr_null(strstr(text, "r_c"));
  }
}
END_TEST

static const struct {
  const char *state, *rule, *nearest;
} illegal[] = {
    {"DTYPE=f16", "atom_multiplies", "DTYPE=f32"},
    {"ATOM_KIND=tcgen05_m128n256k16_bf16,A_REGS=1,STAGE=11,BK=4,B_COL=1,TARGET=sm_100a",
     "tensor_plain", "A_REGS=0"},
    {"ATOM_KIND=tcgen05_m128n256k16_bf16,LDMATRIX=1,STAGE=11,BK=4,B_COL=1,TARGET=sm_100a",
     "tensor_plain", "LDMATRIX=0"},
    {"ATOM_KIND=tcgen05_m128n256k16_bf16,ACC_BUFFERS=2,STAGE=11,BK=4,B_COL=1,TARGET=sm_100a",
     "tensor_sets", "ACC_BUFFERS=1"},
    {"ATOM_KIND=tcgen05_m128n256k16_bf16,EPILOGUE=1,STAGE=11,BK=4,B_COL=1,TARGET=sm_100a",
     "tensor_epilogue", "TMA_STORE=1"},
    {"ATOM_KIND=tcgen05_m128n256k16_bf16,CTA_GROUP=2,STAGE=11,BK=4,B_COL=1,TARGET=sm_100a,TMA=1,"
     "SWIZZLE=3,BUFFER_COUNT=2,WARP_SPECIALIZE=1",
     "pair_cluster", "CTA_GROUP=1"},
    {"ATOM_KIND=tcgen05_m128n256k16_bf16,CTA_GROUP=2,STAGE=11,BK=4,B_COL=1,TARGET=sm_100a,TMA=1,"
     "SWIZZLE=3,BUFFER_COUNT=2,WARP_SPECIALIZE=1,CLUSTER_M=2,ATOM_N=40",
     "pair_columns", "ATOM_N=32"},
    {"ATOM_KIND=tcgen05_m128n256k16_bf16,PIPELINE_STAGES=1,STAGE=11,BK=4,B_COL=1,TARGET=sm_100a",
     "tensor_ahead", "PIPELINE_STAGES=0"},
    {"ATOM_KIND=tcgen05_m128n256k16_bf16,FN=3,STAGE=11,BK=1,B_COL=1,TARGET=sm_100a",
     "tensor_columns", "FN=2"},
    {"ATOM_KIND=tcgen05_m128n256k16_bf16,EPI_N=24,STAGE=11,BK=4,B_COL=1,TARGET=sm_100a",
     "tensor_piece", "EPI_N=16"},
    {TILES "ATOM_N=60", "tile_atom_n", "ATOM_N=64"},
    {TILES "ATOM_N=68", "tile_atom_n", "ATOM_N=64"},
    {TILES "ATOM_N=255", "tile_atom_n", "ATOM_N=256"},
    {"M=512,N=512,K=512,ATOM_KIND=wgmma_m64n256k32_s8,B_COL=1,BK=1,STAGE=11,ATOM_N=40,SWIZZLE=1",
     "tile_atom_n", "ATOM_N=32"},
    {WGMMA "ATOM_N=64,BK=4,SWIZZLE=3", "tile_staged", "STAGE=11"},
    {WGMMA "ATOM_N=64,BK=4,SWIZZLE=3,STAGE=01", "tile_staged", "STAGE=11"},
    {WGMMA "ATOM_N=64,BK=4,STAGE=11,PAD_SMEM=8", "tile_staged", "PAD_SMEM=0"},
    {WGMMA "ATOM_N=64,BK=4,STAGE=11,LAYOUT_A=swizzle:1:4:3", "tile_staged", "LAYOUT_A=none"},
    {TILES "ATOM_N=64,FRAG_BUFFER=2", "tile_fragments", "FRAG_BUFFER=1"},
    {TILES "ATOM_N=64,FRAG_ORDER=2", "tile_fragments", "FRAG_ORDER=0"},
    {TILES "ATOM_N=64,COPY_STEPS=2", "tile_fragments", "COPY_STEPS=0"},
    {TILES "ATOM_N=64,SERPENTINE=1", "tile_fragments", "SERPENTINE=0"},
    {TILES "ATOM_N=64,A_REGS=1,A_COL=1", "tile_major", "A_COL=0"},
    {"M=512,N=512,K=512,ATOM_KIND=wgmma_m64n256k8_tf32,BK=4,STAGE=11,ATOM_N=64", "tile_major",
     "B_COL=1"},
    {"M=512,N=512,K=512,ATOM_KIND=wgmma_m64n256k8_tf32,B_COL=1,A_COL=1,BK=4,STAGE=11,ATOM_N=64",
     "tile_major", "A_COL=0"},
    {WGMMA "BK=6,STAGE=11,SWIZZLE=3,ATOM_N=64", "tile_panels", "SWIZZLE=2"},
    {TILES "ATOM_N=96,WN=2", "tile_panels", "SWIZZLE=2"},
    {WGMMA "BK=2,STAGE=11,SWIZZLE=2,ATOM_N=224,WM=3,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1",
     "wgmma_registers", "ATOM_N=192"},
    {WGMMA "BK=1,STAGE=11,SWIZZLE=1,FM=2,ATOM_N=240", "wgmma_sums", "FM=1"},
    {TILES "ATOM_N=64,MMA_GROUPS=1", "groups_by_roles", "MMA_GROUPS=0"},
    {TILES "ATOM_N=64,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,MMA_GROUPS=1,A_REGS=1",
     "groups_registers", "MMA_GROUPS=0"},
    {TILES "ATOM_N=64,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,PRODUCER_REGS=20",
     "producer_registers", "PRODUCER_REGS=24"},
    {TILES "ATOM_N=64,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,WM=2,PRODUCER_REGS=200",
     "producer_registers", "PRODUCER_REGS=160"},
    {TILES "ATOM_N=64,TARGET=b200", "atom_arch", "ATOM_KIND=tcgen05_m128n256k16_bf16"},
    {"ATOM_KIND=mma_m16n8k16_f16,TARGET=t4", "atom_arch", NULL},
    {"ATOM_KIND=mma_m16n8k16_bf16,ACC=f16", "atom_sums", "ACC=f32"},
    {"ATOM_KIND=mma_m16n8k16_f16,STAGE=11,K=100,BK=1", "atom_rows_a", NULL},
    {"ATOM_KIND=mma_m16n8k16_f16,STAGE=11,BK=4,WN=2,FN=8,SWIZZLE=3,PAD_SMEM=8", "swizzle_rows",
     "SWIZZLE=0"},
    {"ATOM_KIND=mma_m16n8k16_f16,STAGE=11,BK=1,PAD_SMEM=4", "atom_pad", "PAD_SMEM=0"},
    {"STAGE=11,TMA=1,TARGET=a100", "tma_arch", "TMA=0"},
    {TMA_8X8 "BK=16,K=30", "tma_rows_a", "K=28"},
    {TMA_8X8 "BK=16,A_COL=1,M=30", "tma_rows_a", "M=28"},
    {TMA_8X8 "BK=16,N=30", "tma_rows_b", "N=28"},
    {"STAGE=01,TMA=1,B_COL=1,BM=8,BN=8,FM=8,FN=8,BK=16,K=30", "tma_rows_b", "K=28"},
    {TMA_8X8 "BK=16,PAD_SMEM=4", "tma_plain_slab", "PAD_SMEM=0"},
    {TMA_8X8 "BK=16,TRANSPOSE_A=1", "tma_plain_slab", "TRANSPOSE_A=0"},
    {TMA_8X8 "BK=16,LAYOUT_A=swizzle:1:4:3", "tma_plain_slab", "LAYOUT_A=none"},
    {TMA_8X8 "BK=16,LAYOUT_A=swizzle:1:4:3,LAYOUT_B=swizzle:1:4:3", "tma_plain_slab",
     "LAYOUT_A=none,LAYOUT_B=none"},
    {"STAGE=11,TMA=1,BM=8,BN=32,FM=4,FN=9,BK=16", "tma_box_b", "FN=8"},
    {"STAGE=11,TMA=1,BM=32,BN=4,FM=9,FN=4,BK=16", "tma_box_a", "FM=8"},
    {"STAGE=11,TMA=1,BM=257,BN=2,FM=1,FN=8,BK=32", "tma_box_a", "BM=256"},
    {TMA_8X8 "BK=6", "tma_box_a", NULL},
    {"STAGE=11,TMA=1,BM=1,BN=32,FM=4,FN=1,BK=4", "tma_box_a", "FM=8"},
    {"STAGE=11,TMA=1,BM=2,BN=32,FM=2,FN=2,BK=16,SWIZZLE=1", "tma_box_a", "FM=4"},
    {"STAGE=01,TMA=1,BM=8,BN=8,FM=8,FN=8,BK=4,SWIZZLE=0,N=4095", "tma_rows_b", NULL},
    {TMA_8X8 "BK=16,PIPELINE_STAGES=1", "ring_for_async", "BUFFER_COUNT=2"},
    {"WARP_SPECIALIZE=1", "roles_by_tma", "WARP_SPECIALIZE=0"},
    {"WARP_SPECIALIZE=1,STAGE=11,BUFFER_COUNT=2", "roles_by_tma", "TMA=1"},
    {TMA_8X8 "BK=16,WARP_SPECIALIZE=1", "roles_ring", "BUFFER_COUNT=2"},
    {ROLES "BM=10,BN=6,FM=4,FN=4,BK=16", "roles_warps", NULL},
    {ROLES "BM=32,BN=32,FM=2,FN=2,BK=16", "roles_fit", "BN=16"},
    {ROLES "BM=20,BN=32,FM=2,FN=2,BK=16,MIN_BLOCKS=3", "min_blocks_fit", "MIN_BLOCKS=2"},
    {ATOM16 "EPILOGUE=1,STMATRIX=1,TARGET=a100", "stmatrix_arch", "STMATRIX=0"},
    {ATOM16 "STMATRIX=1", "stmatrix_epilogue", "EPILOGUE=1"},
    {"STMATRIX=1,EPILOGUE=1", "stmatrix_epilogue", "STMATRIX=0"},
    {"ATOM_KIND=mma_m16n8k8_tf32,STAGE=11,EPILOGUE=1,STMATRIX=1", "stmatrix_type", "STMATRIX=0"},
    {ATOM16 "EPILOGUE=1,TMA_STORE=1,TARGET=a100", "tma_store_arch", "TMA_STORE=0"},
    {ATOM16 "TMA_STORE=1", "tma_store_epilogue", "EPILOGUE=1"},
    {ATOM16 "EPILOGUE=1,TMA_STORE=1,FN=4,EPI_N=24", "epi_columns", "EPI_N=16"},
    {ATOM16 "EPILOGUE=1,TMA_STORE=1,FN=4,EPI_N=64", "epi_columns", "EPI_N=32"},
    {ATOM16 "EPILOGUE=1,TMA_STORE=1,SPLITK=2,ATOMIC_FREE_SPLITK=1", "epilogue_rows", "EPILOGUE=0"},
    {"BM=8,BN=256", "threads_fit", "BN=128"},
    {"BM=32,BN=32,FM=8,FN=9", "block_registers", "BN=16"},
    {"FM=16,FN=16", "cells_fit", "FM=14"},
    {"FM=6,FN=8,CELL_GROUP=4", "groups_divide", "CELL_GROUP=2"},
    {"LANES_M=8,BM=4,BN=8", "lanes_divide", "LANES_M=4"},
    {"STAGE=11,ASYNC_COPY=1,PIPELINE_STAGES=1", "ring_for_async", "BUFFER_COUNT=2"},
    {"STAGE=11,PIPELINE_STAGES=2", "ring_for_two", "BUFFER_COUNT=2"},
    {"STAGE=11,ASYNC_COPY=1,TARGET=t4", "async_arch", "ASYNC_COPY=0"},
    {"STAGE=11,PAD_CELLS=1,PAD_SMEM=1", "pads_apart", "PAD_CELLS=0"},
    {"STAGE=11,PAD_CELLS=1,ATOM_KIND=mma_m16n8k16_f16", "pad_cells_fma", "PAD_CELLS=0"},
    {"K=100,BK=32,SPLITK=5", "splits_fit", "SPLITK=4"},
    {"BM=16,BN=16,FM=8,FN=8,BK=64,STAGE=11,BUFFER_COUNT=4", "smem_fits", "BUFFER_COUNT=3"},
    {"M=2147483647,N=2147483647,K=1", "problem_fits", NULL},
    {"TARGET=h2000", "unknown_target", NULL},
};

START_TEST(test_rules) {
  Schedule schedule = schedule_plain();
  ck_assert(schedule_parse(&schedule, illegal[_i].state, &diags));
  TargetTable targets;
  ck_assert(cli_targets(arena, &targets, &diags));
  const Model *built = model_build(arena, &targets, &schedule);
  ck_assert(!built->ok);
  ck_assert_msg(built->diags.count == 1, "%s", diags_text(arena, &built->diags));
  ck_assert_str_eq(built->diags.first->rule, illegal[_i].rule);
  if (!illegal[_i].nearest) return;
  ck_assert_str_eq(built->diags.first->nearest, illegal[_i].nearest);
  // The nearest value is legal as far as that rule goes.
  Diags more = diags_new(arena);
  diags = diags_new(arena);
  ck_assert(schedule_parse(&schedule, illegal[_i].nearest, &more));
  const Model *mended = model_build(arena, &targets, &schedule);
  for (const Diag *d = mended->diags.first; d; d = d->next)
    ck_assert_str_ne(d->rule, illegal[_i].rule);
}
END_TEST

START_TEST(test_expressions_simplify) {
  Var x = {.id = 0, .name = "x", .extent = 8}, y = {.id = 1, .name = "y", .extent = 16};
  const Expr *sum = ex_add(arena, ex_mul_const(arena, ex_var(arena, &x), 16), ex_var(arena, &y));
  struct {
    const Expr *expr;
    const char *text;
  } cases[] = {
      {ex_div(arena, sum, 16), "x"},
      {ex_mod(arena, sum, 16), "y"},
      {ex_div(arena, sum, 8), "x * 2 + y / 8"},
      {ex_mod(arena, ex_mul_const(arena, sum, 4), 64), "y * 4"},
      {ex_lt(arena, sum, ex_const(arena, 128)), "1"},
      {ex_lt(arena, sum, ex_const(arena, 127)), "x * 16 + y < 127"},
      {ex_min(arena, sum, ex_const(arena, 200)), "x * 16 + y"},
      {ex_mod(arena, ex_const(arena, 15), 2), "1"},
      {ex_mul(arena, ex_sub(arena, ex_const(arena, 9), ex_var(arena, &x)), ex_const(arena, 2)),
       "(9 - x) * 2"},
      {ex_binary(
           arena, EXPR_XOR, ex_var(arena, &y),
           ex_binary(arena, EXPR_SHL,
                     ex_binary(arena, EXPR_AND,
                               ex_binary(arena, EXPR_SHR, ex_var(arena, &x), ex_const(arena, 1)),
                               ex_const(arena, 3)),
                     ex_const(arena, 2))),
       "y ^ (((x >> 1) & 3) << 2)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Str text = str_new(arena);
    expr_print(&text, cases[i].expr);
    ck_assert_str_eq(text.text, cases[i].text);
  }
}
END_TEST

// Random trees: the built expression has the value of the operators it was built from, lies in its
// range, and its divisor divides it, for every assignment.
static int64_t plain(ExprOp op, int64_t a, int64_t b) {
  switch (op) {
    case EXPR_ADD:
      return a + b;
    case EXPR_MUL:
      return a * b;
    case EXPR_DIV:
      return a / b;
    case EXPR_MOD:
      return a % b;
    case EXPR_MIN:
      return a < b ? a : b;
    case EXPR_LT:
      return a < b;
    default:
      return a ^ b;
  }
}

START_TEST(test_random_expressions) {
  static const ExprOp ops[] = {EXPR_ADD, EXPR_MUL, EXPR_DIV, EXPR_MOD, EXPR_MIN, EXPR_LT, EXPR_XOR};
  Var var[2] = {{.id = 0, .name = "x", .extent = 5}, {.id = 1, .name = "y", .extent = 12}};
  srand(11);
  for (int round = 0; round < 3000; round++) {
    arena_reset(arena);
    enum { N = 6 };
    const Expr *tree[N] = {ex_var(arena, &var[0]), ex_var(arena, &var[1])};
    struct {
      ExprOp op;
      int a, b;
      int64_t c;
    } step[N];
    for (int i = 2; i < N; i++) {
      step[i].op = ops[rand() % 7];
      step[i].a = rand() % i;
      step[i].b = rand() % i;
      step[i].c = 1 + rand() % 12;
      bool constant = step[i].op == EXPR_DIV || step[i].op == EXPR_MOD || rand() % 2;
      if (constant) step[i].b = -1;
      const Expr *b = constant ? ex_const(arena, step[i].c) : tree[step[i].b];
      tree[i] = ex_binary(arena, step[i].op, tree[step[i].a], b);
    }
    for (int64_t xy = 0; xy < 60; xy++) {
      int64_t env[2] = {xy / 12, xy % 12}, value[N] = {env[0], env[1]};
      for (int i = 2; i < N; i++) {
        int64_t b = step[i].b < 0 ? step[i].c : value[step[i].b];
        value[i] = plain(step[i].op, value[step[i].a], b);
        ck_assert_int_eq(expr_eval(tree[i], env), value[i]);
        ck_assert(tree[i]->lo <= value[i] && value[i] <= tree[i]->hi);
        int64_t divisor = expr_divisor(tree[i]);
        ck_assert(divisor == 0 ? value[i] == 0 : value[i] % divisor == 0);
      }
    }
  }
}
END_TEST

Suite *suite_pass(void) {
  Suite *suite = suite_create("pass");
  TCase *tcase = tcase_create("passes");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, test_golden_rungs, 0, sizeof ladders / sizeof *ladders);
  tcase_add_test(tcase, test_golden_block_orders);
  tcase_add_test(tcase, test_golden_diffs);
  tcase_add_test(tcase, test_diff_rebuilds_both_sides);
  tcase_add_loop_test(tcase, test_sites, 0, (int)(sizeof sites / sizeof *sites));
  tcase_add_test(tcase, test_a_pass_runs_for_each_product_or_once);
  tcase_add_test(tcase, test_what_products_share_is_changed_once);
  tcase_add_test(tcase, test_spread_copies_are_as_many);
  tcase_add_test(tcase, test_copies_begin_where_they_are_told);
  tcase_add_test(tcase, test_the_l2_hint_is_on_every_copy);
  tcase_add_test(tcase, test_serpentine_order);
  tcase_add_test(tcase, test_resources_of_the_articles_tile);
  tcase_add_loop_test(tcase, test_blocks_of_few_warps, 0, sizeof held / sizeof *held);
  tcase_add_test(tcase, test_a_block_with_roles);
  tcase_add_test(tcase, test_pieces_leave_by_tma);
  tcase_add_loop_test(tcase, test_rules, 0, (int)(sizeof illegal / sizeof *illegal));
  tcase_add_test(tcase, test_expressions_simplify);
  tcase_add_test(tcase, test_random_expressions);
  suite_add_tcase(suite, tcase);
  return suite;
}
