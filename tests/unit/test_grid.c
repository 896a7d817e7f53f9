// The grid: the figures of the tf32 worklog, waves and tails, edges, splits, and the interpreter as
// the judge of who computes what.
#include "model/readings/place/grid.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "base/str.h"
#include "cli_harness.h"
#include "kernels/toolchain/machine/sass.h"
#include "model/interp/interp.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/place/chip_merge.h"
#include "model/readings/place/l2_sharing.h"
#include "model/schedules/random_schedule.h"
#include "property.h"

#define TF32_ON "ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11,TARGET="
#define TF32 TF32_ON "rtx5060-laptop"

static const double MiB = 1024 * 1024;

static const Model *model_of(const char *state) {
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(property_arena);
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(property_arena, &diags));
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(property_arena, &model->diags));
  return model;
}

static const Grid *grid_of(const char *state) {
  return grid_build(property_arena, model_of(state));
}

static GridWindow span_of(const Grid *grid, GridSpan span) {
  return grid_window(property_arena, grid, 0, grid_span_ctas(grid, span, 8));
}

// ---- the worklog's figures ----------------------------------------------------------------------

// 4096³ tf32 in 128 × 128 tiles: 1 + 32 panels of 2 MiB in a row of blocks, 8 + 1 in a group of 8.
START_TEST(group_of_eight_needs_18_MB_where_a_row_needs_66) {
  const Grid *rows = grid_of(TF32), *groups = grid_of(TF32 ",GROUP_M=8");
  ck_assert_int_eq(rows->n_ctas, 1024);
  ck_assert_int_eq(rows->lap_ctas, 32);
  GridWindow row = span_of(rows, GRID_SPAN_LAP);
  ck_assert_int_eq(row.a_panels, 1);
  ck_assert_int_eq(row.b_panels, 32);
  ck_assert_double_eq((double)row.bytes, 66 * MiB);
  ck_assert_int_gt(row.bytes, rows->l2_bytes);
  ck_assert_int_eq(groups->lap_ctas, 8);
  GridWindow group = span_of(groups, GRID_SPAN_LAP);
  ck_assert_int_eq(group.a_panels, 8);
  ck_assert_int_eq(group.b_panels, 1);
  ck_assert_double_eq((double)group.bytes, 18 * MiB);
  ck_assert_int_lt(group.bytes, groups->l2_bytes);
}
END_TEST

// 3 heads of 200 queries in blocks of 64, 300 keys of dimension 64 in blocks of 32: a CTA reads its
// own queries, and K and V of its head. Causal, query 0 sees 101 keys, and the last one all.
START_TEST(attention_has_a_row_of_ctas_for_each_head) {
#define HEADS3 \
  "PROGRAM=attention,HEADS=3,M=200,N=300,K=64,ATOM_KIND=mma_m16n8k16_f16,WM=4,FN=4,FUSE=1"
  const Grid *grid = grid_of(HEADS3);
  ck_assert_int_eq(grid->heads, 3);
  ck_assert_int_eq(grid->rows, 4);
  ck_assert_int_eq(grid->cols, 3);
  ck_assert_int_eq(grid->n_ctas, 12);
  ck_assert_int_eq(grid->lap_ctas, 4);
  const GridCta last = grid_cta(grid, 11);
  ck_assert(last.row == 3 && last.col == 2 && last.split == 0);
  ck_assert_int_eq(grid_owner(grid, 3, 2, 0), 11);
  const GridWindow all = grid_window(property_arena, grid, 0, 12);
  ck_assert_int_eq(all.a_panels, 12);
  ck_assert_int_eq(all.b_panels, 3);
  ck_assert_int_eq(grid_a_panel(grid, 3, 2, 0), 11);
  ck_assert_int_eq(grid_b_panel(grid, 0, 0), 12);
  ck_assert_int_eq(grid_panels(grid), 15);
  ck_assert_int_eq(all.a_bytes, 3 * 200 * 64 * 2);
  ck_assert_int_eq(all.b_bytes, 3 * 2 * 300 * 64 * 2);
  ck_assert_int_eq(grid_work(property_arena, grid).rows, 0);
  const GridWork work = grid_work(property_arena, grid_of(HEADS3 ",CAUSAL=1"));
  ck_assert_int_eq(work.rows, 4);
  ck_assert_int_eq(work.fewest, 6);  // query 63 sees 164 keys
  ck_assert_int_eq(work.most, 10);
  ck_assert_double_eq(work.of_row[1], 8);  // query 127 sees 228
  ck_assert_double_eq_tol(work.mean, (6 + 8 + 10 + 10) / 4.0, 1e-9);
  const Grid *longest = grid_of(HEADS3 ",CAUSAL=1,TILE_ORDER=longest");
  ck_assert_double_eq(grid_work(property_arena, longest).of_row[1], 8);
  const GridCta first = grid_cta(longest, 0), end = grid_cta(longest, 11);
  ck_assert(first.row == 3 && first.col == 0 && end.row == 0 && end.col == 2);
}
END_TEST

// The article's profiler: 30 % of what is asked of L2 is there in rows, 90 % in groups of eight. In
// rows a wave of 52 asks for 104 panels, of which 34 or 35 are distinct and none is left of the
// wave before.
START_TEST(groups_of_eight_hit_where_rows_miss) {
  const Model *rows = model_of(TF32), *groups = model_of(TF32 ",GROUP_M=8");
  ck_assert_double_eq_tol(rows->traffic.l2_hit, 1 - 34.5 / 104, 0.02);
  ck_assert_double_gt(groups->traffic.l2_hit, 0.87);
  // What L2 can hold whole is fetched once.
  const Model *small = model_of(TF32 ",M=1024,N=1024,K=1024");
  double panels = 2 * 8 * 8, distinct = 8 + 8;
  ck_assert_double_eq_tol(small->traffic.l2_hit, 1 - distinct / panels, 1e-9);
  ck_assert_double_eq(small->traffic.dram_bytes, 3 * 4 * MiB);
}
END_TEST

// The article's own groups: eight tiles along N, then a step down M, in bands of eight columns.
START_TEST(groups_along_n) {
  const Grid *grid = grid_of(TF32 ",GROUP_N=8");
  ck_assert_int_eq(grid->lap_ctas, 8);
  GridWindow group = span_of(grid, GRID_SPAN_LAP);
  ck_assert_int_eq(group.a_panels, 1);
  ck_assert_int_eq(group.b_panels, 8);
  ck_assert_double_eq((double)group.bytes, 18 * MiB);
  for (int64_t i = 0; i < grid->n_ctas; i++) {  // bx and by of the article's listing
    GridCta cta = grid_cta(grid, i);
    ck_assert_int_eq(cta.col, i % 8 + i / (8 * grid->rows) * 8);
    ck_assert_int_eq(cta.row, i / 8 % grid->rows);
  }
  ck_assert_double_gt(model_of(TF32 ",GROUP_N=8")->traffic.l2_hit, 0.87);
}
END_TEST

#define FLAT "M=4096,N=4096,K=4096,BM=4,BN=32,FM=8,FN=8,BK=8,STAGE=11,TARGET=rtx5060-laptop"
#define TALL "M=4096,N=4096,K=4096,BM=32,BN=4,FM=8,FN=8,BK=8,STAGE=11,TARGET=rtx5060-laptop"

// A wave of more than 8 · 8 blocks is longer than eight across its groups. Where B's panels are the
// big ones (tiles of 32 x 256) it should take few of them, which groups along N do; and the other
// way round.
START_TEST(groups_go_along_the_side_of_the_big_panels) {
  ck_assert_int_gt(grid_of(FLAT)->wave_ctas, 64);
  ck_assert_int_gt(grid_of(TALL)->wave_ctas, 64);
  double flat_m = model_of(FLAT ",GROUP_M=8")->traffic.dram_bytes;
  double flat_n = model_of(FLAT ",GROUP_N=8")->traffic.dram_bytes;
  double tall_m = model_of(TALL ",GROUP_M=8")->traffic.dram_bytes;
  double tall_n = model_of(TALL ",GROUP_N=8")->traffic.dram_bytes;
  ck_assert_double_lt(flat_n, flat_m);
  ck_assert_double_lt(tall_m, tall_n);
}
END_TEST

// The order as four nested loops, beside what the program computes from blockIdx.x.
static void check_patches(int rows, int cols, int down, int along) {
  arena_reset(property_arena);
  const Grid *grid =
      grid_of(arena_printf(property_arena, "BM=8,BN=8,K=8,M=%d,N=%d,GROUP_M=%d,GROUP_N=%d",
                           8 * rows - 1, 8 * cols - 2, down, along));
  ck_assert_int_eq(grid->n_ctas, rows * cols);
  int i = 0, band = along > 1 ? along : cols;
  for (int left = 0; left < cols; left += band)
    for (int top = 0; top < rows; top += down)
      for (int col = left; col < left + band && col < cols; col++)
        for (int row = top; row < top + down && row < rows; row++) {
          GridCta cta = grid_cta(grid, i);
          ck_assert_msg(cta.row == row && cta.col == col,
                        "%d x %d tiles, groups of %d x %d: CTA %d has (%d, %d), not (%d, %d)", rows,
                        cols, down, along, i, (int)cta.row, (int)cta.col, row, col);
          ck_assert_int_eq(grid_owner(grid, row, col, 0), i++);
        }
  ck_assert_int_eq(i, rows * cols);
}

START_TEST(patches_cover_every_tile_once) {
  static const int shapes[][2] = {{7, 5}, {5, 7}, {1, 6}, {6, 1}, {1, 1}, {8, 6}, {9, 10}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (int down = 1; down <= 9; down++)
      for (int along = 1; along <= 9; along++)
        check_patches(shapes[s][0], shapes[s][1], down, along);
}
END_TEST

static const char *const patched[] = {
    "BM=8,BN=8,M=55,N=38,K=9,GROUP_N=3",
    "BM=8,BN=8,M=55,N=38,K=9,GROUP_M=3,GROUP_N=2",
    "BM=8,BN=8,M=55,N=38,K=9,GROUP_M=99,GROUP_N=3",
    "BM=8,BN=8,M=55,N=38,K=40,BK=8,STAGE=11,BUFFER_COUNT=2,SPLITK=2,GROUP_M=2,GROUP_N=3",
    "BM=8,BN=8,M=55,N=38,K=40,BK=8,STAGE=11,SPLITK=2,ATOMIC_FREE_SPLITK=1,GROUP_N=4",
    "BM=8,BN=8,M=56,N=40,K=40,BK=8,TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,GROUP_M=3,GROUP_N=3",
    "ATOM_KIND=mma_m16n8k8_tf32,M=112,N=40,K=32,BK=2,STAGE=11,GROUP_M=2,GROUP_N=3",
};

START_TEST(grouped_programs_compute) {
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(property_arena);
  ck_assert(schedule_parse(&schedule, patched[_i], &diags));
  const Model *model = model_of(patched[_i]);
  ck_assert(property_computes(&schedule, "all", model->program, 1));
}
END_TEST

// 16 x 16 tiles, all in order: of 132 CTAs, one an SM, a place of 16 has some rows and columns of
// tiles twice. All that run at once ask for 16 panels of A and 16 of B, 256 times. What is asked
// for later was there before.
START_TEST(blocks_in_step_share_what_they_ask_for) {
  const Model *model = model_of(TF32_ON "h200,M=2048,N=2048,K=1024");
  const L2Sharing two = l2_sharing(property_arena, model, 2),
                  one = l2_sharing(property_arena, model, 1);
  ck_assert_double_eq(two.sent, one.sent);
  ck_assert(one.sent > 0.5 && one.sent < 0.7);
  ck_assert_double_eq_tol(two.distinct, 32 / 512.0, 1e-9);
  ck_assert_double_eq_tol(one.distinct, (9 + 16) / 256.0, 1e-9);
  // A GPU whose places nobody knows merges nothing.
  const L2Sharing unknown = l2_sharing(property_arena, model_of(TF32), 1);
  ck_assert_double_eq(unknown.sent, 1);
}
END_TEST

// As many CTAs of the one order as of the other: 66 MiB against 8 + 4 panels.
START_TEST(the_same_number_of_ctas) {
  GridWindow row = span_of(grid_of(TF32), GRID_SPAN_ROW);
  GridWindow grouped = span_of(grid_of(TF32 ",GROUP_M=8"), GRID_SPAN_ROW);
  ck_assert_int_eq(row.n, 32);
  ck_assert_int_eq(grouped.n, 32);
  ck_assert_double_eq((double)row.bytes, 66 * MiB);
  ck_assert_double_eq((double)grouped.bytes, 24 * MiB);
  ck_assert_double_eq_tol(grouped.reuse, 64 / 12.0, 1e-12);
}
END_TEST

START_TEST(waves_and_the_tail) {
  const Grid *grid = grid_of(TF32);
  ck_assert_int_eq(grid->wave_ctas, grid->blocks_per_sm * 26);
  ck_assert_int_eq(grid->n_waves, (1024 + grid->wave_ctas - 1) / grid->wave_ctas);
  ck_assert_int_eq(grid->tail_ctas, 1024 - (grid->n_waves - 1) * grid->wave_ctas);
  ck_assert_double_eq_tol(grid->tail_idle, 1 - (double)grid->tail_ctas / (double)grid->wave_ctas,
                          1e-12);
  ck_assert_int_eq(grid_wave(grid, grid->wave_ctas - 1), 0);
  ck_assert_int_eq(grid_wave(grid, grid->wave_ctas), 1);
  ck_assert_int_eq(grid_wave_size(grid, grid->n_waves - 1), grid->tail_ctas);
  int64_t sum = 0;
  for (int64_t w = 0; w < grid->n_waves; w++) sum += grid_wave_size(grid, w);
  ck_assert_int_eq(sum, 1024);
}
END_TEST

// Every tile is some block's, once if it is whole and else each of its parts; on a ladder's rung
// with parts, and on one without.
START_TEST(blocks_have_every_tile_or_all_of_its_parts) {
  enum { PARTS = 4 };
  static const char *const states[] = {
      "ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=192,WM=2,FM=2,BK=4,STAGE=11,TMA=1,SWIZZLE=3,"
      "BUFFER_COUNT=3,WARP_SPECIALIZE=1,PERSISTENT=1,CLUSTER_N=2,MULTICAST=1,GROUP_M=8",
      "ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=192,WM=2,FM=2,BK=4,STAGE=11,TMA=1,SWIZZLE=3,"
      "BUFFER_COUNT=3,WARP_SPECIALIZE=1,PERSISTENT=1,CLUSTER_N=2,MULTICAST=1,GROUP_M=8,"
      "TAIL_SPLIT=4"};
  const Grid *grid = grid_of(states[_i]);
  ck_assert_int_eq(grid->tail_parts, _i ? PARTS : 1);
  const int64_t cut = grid->n_ctas - grid->tail_ctas;
  int *seen = ARENA_ARRAY(property_arena, int, grid->n_ctas *PARTS);
  GridItem item;
  for (int64_t block = 0; block < grid_blocks(grid); block++)
    for (int64_t i = 0; grid_item(grid, block, i, &item); i++) {
      ck_assert_int_eq(item.part >= 0, _i && item.tile >= cut);
      ck_assert_int_eq(seen[item.tile * PARTS + (item.part > 0 ? item.part : 0)]++, 0);
    }
  for (int64_t tile = 0; tile < grid->n_ctas; tile++)
    for (int part = 0; part < PARTS; part++)
      ck_assert_int_eq(seen[tile * PARTS + part], part == 0 || (_i && tile >= cut));
}
END_TEST

START_TEST(edges_count_as_they_are) {
  const Grid *grid = grid_of("BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,M=200,N=130,K=48");
  ck_assert_int_eq(grid->rows, 2);
  ck_assert_int_eq(grid->cols, 2);
  GridWindow all = grid_window(property_arena, grid, 0, 100);
  ck_assert_int_eq(all.n, 4);
  ck_assert_int_eq(all.a_bytes, 200 * 48 * 4);
  ck_assert_int_eq(all.b_bytes, 48 * 130 * 4);
  GridWindow last = grid_window(property_arena, grid, 3, 100);
  ck_assert_int_eq(last.n, 1);
  ck_assert_int_eq(last.bytes, (200 - 128 + 130 - 128) * 48 * 4);
  ck_assert_int_eq(grid_window(property_arena, grid, 9, 1).bytes, 0);
}
END_TEST

START_TEST(splits_have_panels_of_their_own) {
  const Grid *grid = grid_of("BM=8,BN=8,FM=8,FN=8,BK=16,STAGE=11,M=128,N=128,K=16384,SPLITK=8");
  ck_assert_int_eq(grid->splits, 8);
  ck_assert(grid->adds && !grid->partial);
  ck_assert_int_eq(grid_k_range(grid, 3).begin, 3 * 2048);
  ck_assert_int_eq(grid_k_range(grid, 7).end, 16384);
  GridWindow one = grid_window(property_arena, grid, 0, 4);
  GridWindow two = grid_window(property_arena, grid, 0, 8);
  ck_assert_int_eq(one.a_panels, 2);
  ck_assert_int_eq(two.a_panels, 4);
  ck_assert_int_eq(two.bytes, 2 * one.bytes);
  ck_assert_int_eq(grid->lap_ctas, 2);
  const Grid *partial = grid_of(
      "BM=8,BN=8,FM=8,FN=8,BK=16,STAGE=11,M=128,N=128,K=16384,SPLITK=8,ATOMIC_FREE_SPLITK=1");
  ck_assert(!partial->adds && partial->partial);
}
END_TEST

// 262,144 and 16 million CTAs: a picture of every n-th, windows exact, and no time lost.
START_TEST(large_grids) {
  const Grid *grid = grid_of("BM=16,BN=16,M=8192,N=8192,GROUP_M=8");
  ck_assert_int_eq(grid->n_ctas, 262144);
  ck_assert_int_eq(grid->stride, 2);
  ck_assert_int_eq(grid->n_mapped, 131072);
  ck_assert_int_eq(grid_owner(grid, 0, 0, 0), -1);
  GridCta at = grid_cta(grid, 8 * 512 + 11);
  ck_assert_int_eq(at.row, 8 + 3);
  ck_assert_int_eq(at.col, 1);
  GridWindow lap = span_of(grid, GRID_SPAN_LAP);
  ck_assert_int_eq(lap.a_panels, 8);
  ck_assert_int_eq(lap.b_panels, 1);
  const Model *huge = model_of("BM=16,BN=16,M=65536,N=65536");
  clock_t before = clock();
  grid = grid_build(property_arena, huge);
  double ms = 1e3 * (double)(clock() - before) / CLOCKS_PER_SEC;
  ck_assert_int_eq(grid->n_ctas, 1 << 24);
  ck_assert_int_le(grid->n_mapped, GRID_MAPPED_MAX);
  ck_assert_int_eq(grid_owner(grid, 1000, 77, 0), 1000 * 4096 + 77);
  ck_assert_msg(ms < 200, "%.1f ms for the map of a huge grid, sanitizers and all", ms);
}
END_TEST

// ---- the interpreter as the judge ---------------------------------------------------------------

// A cluster that runs alone has the list of its own number.
static void begin_with_own(Stmt *stmt, int depth, void *context) {
  (void)depth, (void)context;
  if (stmt->kind == STMT_LOOP && stmt->var->tier == TIER_TILE) stmt->expr = NULL;
}

// The program with nothing but one CTA of the main kernel at work.
static const Program *only_cta(const Program *program, int64_t cta) {
  Program *copy = program_clone(property_arena, program);
  Kernel *kernel = program_main_kernel(copy);
  Launch launch = kernel_launch(kernel);
  const Expr *is = NULL;
  stmt_walk(kernel->body, begin_with_own, NULL);
  if (launch.tiles)  // there are as many blocks as tiles
    is = ex_binary(property_arena, EXPR_EQ,
                   ex_div(property_arena, ex_var(property_arena, copy->block), launch.cluster),
                   ex_const(property_arena, cta / launch.cluster));
  for (int d = 0; d < launch.n_block_digits; d++) {
    const HardwareDigit *digit = &launch.block[d];
    if (digit->var->tier == TIER_CLUSTER) continue;  // its blocks need each other
    int64_t value = cta / digit->stride % digit->var->extent;
    is = ex_land(property_arena, is,
                 ex_binary(property_arena, EXPR_EQ, ex_var(property_arena, digit->var),
                           ex_const(property_arena, value)));
  }
  // All that a block does, its producers' part too: they would wait for consumers that never come.
  Stmt **link = &kernel->body;
  while (*link != launch.body) link = (*link)->kind == STMT_LET ? &(*link)->next : &(*link)->body;
  while (*link && (*link)->kind == STMT_LET) link = &(*link)->next;
  *link = stmt_if(copy, KNOB_NONE, is, *link);
  return copy;
}

static const float *ones(int64_t n) {
  float *out = ARENA_ARRAY(property_arena, float, n);
  for (int64_t i = 0; i < n; i++) out[i] = 1;
  return out;
}

static bool is_in_cluster(const Grid *grid, const GridCta *cta, int64_t row, int64_t col) {
  return row / grid->cluster_rows == cta->row / grid->cluster_rows &&
         col / grid->cluster_cols == cta->col / grid->cluster_cols;
}

// A cell of C after CTA `cta`, or its cluster, has run alone on matrices of ones: the length of its
// part of K inside the tile, untouched (or the zero that the first kernel put there) everywhere
// else.
static bool only_writes_its_tile(const Grid *grid, const Model *model, int64_t cta) {
  const Problem *p = &model->program->problem;
  InterpOptions options = {.seed = 1, .a = ones(p->m * p->k), .b = ones(p->k * p->n), .alpha = 1};
  options.grid = grid->n_ctas;  // a block for each tile
  const InterpResult *result = interpret(property_arena, only_cta(model->program, cta), &options);
  GridCta at = grid_cta(grid, cta);
  GridRange k = grid_k_range(grid, at.split);
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      bool mine = is_in_cluster(grid, &at, i / grid->tile_m, j / grid->tile_n);
      double got = result->c[i * p->n + j];
      bool right = mine ? got == (double)(k.end - k.begin) : isnan(got) || (grid->adds && got == 0);
      if (right) continue;
      printf("%s\n  CTA %lld (tile %lld, %lld, split %lld): C[%lld][%lld] = %g\n",
             schedule_text(property_arena, &model->schedule), (long long)cta, (long long)at.row,
             (long long)at.col, (long long)at.split, (long long)i, (long long)j, got);
      return false;
    }
  return true;
}

static void every_tile_has_one_cta(const Grid *grid) {
  int64_t n = grid->rows * grid->cols * grid->splits;
  ck_assert_int_eq(n, grid->n_ctas);
  for (int64_t i = 0; i < grid->n_ctas; i++) {
    GridCta cta = grid_cta(grid, i);
    ck_assert_int_lt(cta.row, grid->rows);
    ck_assert_int_lt(cta.col, grid->cols);
    ck_assert_int_lt(cta.split, grid->splits);
    ck_assert_int_eq(grid_owner(grid, cta.row, cta.col, cta.split), i);
  }
}

START_TEST(ctas_write_their_tile_and_nothing_else) {
  enum { SCHEDULES = 160 };
  const RandomLimits limits = {.extent_max = 64, .fma_max = 100000};
  uint64_t state = property_seed();
  int failed = 0, judged = 0, split = 0, along_m = 0, along_n = 0;
  for (int i = 0; i < SCHEDULES; i++) {
    arena_reset(property_arena);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    const Model *model = model_build(property_arena, &property_targets, &schedule);
    const Grid *grid = grid_build(property_arena, model);
    every_tile_has_one_cta(grid);
    split += grid->splits > 1;
    along_m += schedule.value[KNOB_GROUP_M] > 1 && grid->rows > 1 && grid->cols > 1;
    along_n += schedule.value[KNOB_GROUP_N] > 1 && grid->rows > 1 && grid->cols > 1;
    if (grid->partial) continue;
    judged++;
    failed += !only_writes_its_tile(grid, model, random_between(&state, 0, grid->n_ctas - 1));
  }
  ck_assert_int_eq(failed, 0);
  ck_assert_int_ge(judged, SCHEDULES / 2);
  ck_assert_int_ge(split, 5);
  ck_assert_int_ge(along_m, 5);
  ck_assert_int_ge(along_n, 5);
}
END_TEST

// ---- as data ------------------------------------------------------------------------------------

static int64_t number_at(const JsonValue *object, const char *key) {
  Diags diags = diags_new(property_arena);
  int64_t value = -1;
  const JsonValue *member = json_object_get(object, key);
  ck_assert_msg(json_read_int64(member, 0, INT64_MAX, &value, &diags), "%s: %s", key,
                diags_text(property_arena, &diags));
  return value;
}

#define WGMMA                                                                             \
  "K=8192,ATOM_KIND=wgmma_m64n256k16_bf16,WM=2,ATOM_N=256,BK=4,STAGE=11,TMA=1,SWIZZLE=3," \
  "BUFFER_COUNT=4,WARP_SPECIALIZE=1,PERSISTENT=1,MULTICAST=1,CLUSTER_M=2,"
#define PAIR WGMMA "M=8192,N=8192,"
#define BY_PLACE PAIR "TILE_ORDER=gpc,GROUP_N=8"

// An H200 with places of 8, 16, 18 and 2 SMs: 66 clusters of two, 64 of which have tiles.
START_TEST(lists_have_places) {
  static const int own[] = {4, 8, 8, 8, 8, 8, 8, 8, 1, 1, 1, 1};
  const Grid *grid = grid_of(BY_PLACE);
  const ChipMap *map = grid->chip;
  ck_assert_int_eq(map->lists, 64);
  ck_assert_int_eq(grid->wave_ctas, 128);
  ck_assert_int_eq(grid->n_waves, 16);
  ck_assert_int_eq(grid->anywhere->lists, 66);
  for (int place = 0; place < map->n; place++) {
    ck_assert_int_eq(map->n_lists[place], own[place]);
    for (int i = 0; i < own[place]; i++)
      ck_assert_int_eq(map->of_list[map->first_list[place] + i], place);
  }
  for (int64_t i = 0; i < grid->n_ctas; i++)
    ck_assert_int_eq(grid_place(grid, i), map->of_list[i / 2 % 64]);
  ck_assert_int_eq(grid_place(grid_of(PAIR "GROUP_M=8"), 0), -1);
}
END_TEST

// Two blocks on each SM: twice the lists, all of them of a place.
START_TEST(an_sm_has_as_many_lists_as_blocks) {
  const Grid *grid = grid_of(
      "M=4096,N=4096,K=1024,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,BK=4,STAGE=11,TMA=1,"
      "SWIZZLE=3,BUFFER_COUNT=2,WARP_SPECIALIZE=1,PERSISTENT=1,TILE_ORDER=gpc,GROUP_N=8");
  const ChipMap *map = grid->chip;
  int lists = 0;
  ck_assert_int_eq(grid->blocks_per_sm, 2);
  ck_assert_int_eq(map->lists, 256);
  for (int place = 0; place < map->n; place++) {
    lists += map->n_lists[place];
    ck_assert_int_eq(map->room[place], 2 * map->sms[place]);
    ck_assert_int_ge(map->n_lists[place], map->room[place] - 4);
    for (int i = 0; i < map->n_lists[place]; i++)
      ck_assert_int_eq(map->of_list[map->first_list[place] + i], place);
  }
  ck_assert_int_eq(lists, map->lists);
}
END_TEST

// Places of 16 and of 18 SMs have room for four clusters of four, one of 2 has none.
START_TEST(clusters_are_as_many_as_fit_in_places) {
  ck_assert_int_eq(grid_of(PAIR "CLUSTER_N=2")->wave_ctas, 30 * 4);
  ck_assert_int_eq(grid_of(PAIR "GROUP_M=1")->wave_ctas, 132);
  const Grid *unknown = grid_of(PAIR "CLUSTER_N=2,TARGET=h100");
  ck_assert_ptr_null(unknown->chip);
  ck_assert_int_eq(unknown->wave_ctas, 132);
}
END_TEST

// Fetches of a turn, each panel counted once in each place that has a cluster which wants it.
static int count_sent(const Grid *grid, int64_t turn, const int *place_of) {
  enum { PANELS = 64 + 64, PLACES = 16 };
  bool has[PLACES][PANELS] = {{false}};
  int n = 0;
  for (int64_t i = 0; i < grid->wave_ctas && turn * grid->wave_ctas + i < grid->n_ctas; i++) {
    const GridCta cta = grid_cta(grid, turn * grid->wave_ctas + i);
    const int place = place_of[i / grid->launch.cluster];
    n += !has[place][cta.row] + !has[place][64 + cta.col];
    has[place][cta.row] = has[place][64 + cta.col] = true;
  }
  return n;
}

START_TEST(what_merges_is_what_places_share) {
  const Grid *grid = grid_of(BY_PLACE);
  double all = 0;
  for (int turn = 0; turn < 16; turn++) all += count_sent(grid, turn, grid->chip->of_list);
  const ChipMerge merge = chip_merge(property_arena, grid, grid->chip);
  ck_assert_double_eq_tol(merge.sent[ATOM_A] + merge.sent[ATOM_B], all / 16, 1e-9);
  ck_assert_double_eq_tol(merge.asked[ATOM_A], 128, 1e-9);  // one for each block,
  ck_assert_double_eq_tol(merge.asked[ATOM_B], 64, 1e-9);   // and for each cluster
}
END_TEST

// Clusters thrown on the chip at random meet as often as is expected.
START_TEST(clusters_put_anywhere_meet_by_chance) {
  enum { THROWS = 400 };
  const Grid *grid = grid_of(WGMMA "GROUP_N=8,M=7680,N=8448");  // 15 turns, all full
  const ChipMap *map = grid->anywhere;
  int place[66], n = 0;
  for (int p = 0; p < map->n; p++)
    for (int i = 0; i < map->room[p]; i++) place[n++] = p;
  ck_assert_int_eq(n, 66);
  uint64_t random = 7;
  double all = 0;
  for (int i = 0; i < THROWS; i++) {
    for (int at = n - 1; at > 0; at--) {
      const int other = (int)random_between(&random, 0, at), was = place[at];
      place[at] = place[other];
      place[other] = was;
    }
    all += count_sent(grid, i % 15, place);
  }
  ck_assert_int_eq(grid->n_waves * grid->wave_ctas, grid->n_ctas);
  const ChipMerge merge = chip_merge(property_arena, grid, map);
  ck_assert_double_eq_tol(merge.sent[ATOM_A] + merge.sent[ATOM_B], all / THROWS, 1);
}
END_TEST

START_TEST(show_grid_json_has_the_numbers) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(property_arena, "show grid --json --keys o -k " TF32 ",GROUP_M=8");
  ck_assert_int_eq(run.status, 0);
  const JsonValue *data = json_object_get(cli_json(property_arena, &run), "data");
  ck_assert_int_eq(number_at(data, "n_ctas"), 1024);
  ck_assert_int_eq(number_at(data, "wave_ctas"), 52);
  ck_assert_int_eq(number_at(data, "n_waves"), 20);
  ck_assert_int_eq(number_at(data, "tail_ctas"), 36);
  const JsonValue *lap = json_at(json_object_get(data, "windows"), GRID_SPAN_LAP);
  ck_assert_int_eq(number_at(lap, "bytes"), 18 << 20);
  const JsonValue *cta = json_at(json_object_get(data, "ctas"), 3);
  ck_assert_int_eq(number_at(cta, "tile_row"), 3);
  ck_assert_int_eq(number_at(cta, "tile_col"), 0);
  ck_assert_int_eq(json_count(json_object_get(data, "ctas")), 8);
  const JsonValue *other = json_object_get(data, "compared_with");
  lap = json_at(json_object_get(other, "windows"), GRID_SPAN_LAP);
  ck_assert_int_eq(number_at(lap, "bytes"), 66 << 20);
}
END_TEST

// ---- one number on every surface ----------------------------------------------------------------

// Compiled registers are not the model's on these, and blocks per SM hang on them.
static const char *const compiled_otherwise[] = {"tf32/bt_double_buffer,TARGET=rtx5060-laptop",
                                                 "hgemm/multistage", "fp32/padded"};
enum { N_COMPILED = sizeof compiled_otherwise / sizeof *compiled_otherwise };

START_TEST(text_json_and_resources_agree) {
  if (!cli_has_program() || !sass_find_tool(property_arena)) return;
  const char *rung = compiled_otherwise[_i];
  const char *program = getenv("GEMMVIEW");
  const CliRun text =
      cli_shell(property_arena,
                arena_printf(property_arena, "%s show grid --size 120x40 -k %s", program, rung));
  const CliRun json = cli_shell(
      property_arena, arena_printf(property_arena, "%s show grid --json -k %s", program, rung));
  const CliRun resources = cli_shell(
      property_arena, arena_printf(property_arena, "%s resources --json -k %s", program, rung));
  const JsonValue *data = json_object_get(cli_json(property_arena, &json), "data");
  const int waves = (int)number_at(data, "n_waves"), ctas = (int)number_at(data, "wave_ctas");
  const char *said = arena_printf(property_arena, "%d waves of %d", waves, ctas);
  ck_assert_msg(strstr(text.out, said) != NULL, "%s: no \"%s\" in\n%s", rung, said, text.out);
  const JsonValue *compiled = json_object_get(cli_json(property_arena, &resources), "compiled");
  if (!compiled) return;
  ck_assert_int_eq(number_at(data, "blocks_per_sm_estimated"),
                   number_at(compiled, "blocks_per_sm"));
}
END_TEST

Suite *suite_grid(void);
Suite *suite_grid(void) {
  Suite *suite = suite_create("grid");
  TCase *tcase = tcase_create("grid");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_set_timeout(tcase, 240);
  tcase_add_loop_test(tcase, text_json_and_resources_agree, 0, N_COMPILED);
  tcase_add_test(tcase, group_of_eight_needs_18_MB_where_a_row_needs_66);
  tcase_add_test(tcase, attention_has_a_row_of_ctas_for_each_head);
  tcase_add_test(tcase, groups_of_eight_hit_where_rows_miss);
  tcase_add_test(tcase, groups_along_n);
  tcase_add_test(tcase, groups_go_along_the_side_of_the_big_panels);
  tcase_add_test(tcase, patches_cover_every_tile_once);
  tcase_add_loop_test(tcase, grouped_programs_compute, 0, sizeof patched / sizeof *patched);
  tcase_add_test(tcase, blocks_in_step_share_what_they_ask_for);
  tcase_add_test(tcase, the_same_number_of_ctas);
  tcase_add_test(tcase, waves_and_the_tail);
  tcase_add_loop_test(tcase, blocks_have_every_tile_or_all_of_its_parts, 0, 2);
  tcase_add_test(tcase, edges_count_as_they_are);
  tcase_add_test(tcase, splits_have_panels_of_their_own);
  tcase_add_test(tcase, large_grids);
  tcase_add_test(tcase, lists_have_places);
  tcase_add_test(tcase, an_sm_has_as_many_lists_as_blocks);
  tcase_add_test(tcase, clusters_are_as_many_as_fit_in_places);
  tcase_add_test(tcase, what_merges_is_what_places_share);
  tcase_add_test(tcase, clusters_put_anywhere_meet_by_chance);
  tcase_add_test(tcase, ctas_write_their_tile_and_nothing_else);
  tcase_add_test(tcase, show_grid_json_has_the_numbers);
  suite_add_tcase(suite, tcase);
  return suite;
}
