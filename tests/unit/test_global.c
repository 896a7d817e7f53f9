// Global memory: the sectors of one access by hand and by bytes, and those of a whole kernel
// against a walk that leaves nothing out.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/sector.h"
#include "base/random.h"
#include "cli_harness.h"
#include "model/ir/buffer.h"
#include "model/ir/lanes.h"
#include "model/ir/launch.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/model.h"
#include "model/schedules/random_schedule.h"
#include "property.h"

Suite *suite_global(void);

// ---- one access ---------------------------------------------------------------------------------

static void check_count(const char *op, const int64_t addr[BANK_LANES], int sectors, int ideal,
                        int lines) {
  SectorCount count = sectors_count(sectors_op_find(op), addr);
  ck_assert(count.known);
  ck_assert_msg(count.sectors == sectors && count.ideal == ideal && count.lines == lines,
                "%s: %d sectors, ideal %d, %d lines; expected %d %d %d", op, count.sectors,
                count.ideal, count.lines, sectors, ideal, lines);
}

START_TEST(neighbours_share_sectors) {
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * 4;
  check_count("ldg32", addr, 4, 4, 1);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * 4 + 16;
  check_count("ldg32", addr, 5, 4, 2);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * 8;
  check_count("stg32", addr, 8, 4, 2);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * 16384;
  check_count("ldg32", addr, 32, 4, 32);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * 16;
  check_count("ldgsts128", addr, 16, 16, 4);
}
END_TEST

START_TEST(lanes_on_one_address_ask_once) {
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = 4096;
  check_count("ldg32", addr, 1, 1, 1);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane < 2 ? lane * 64 : BANK_INACTIVE;
  check_count("ldg32", addr, 2, 1, 1);
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = BANK_INACTIVE;
  check_count("ldg32", addr, 0, 0, 0);
}
END_TEST

// Sums of m16n8k16 as f16 pairs: eight rows of 16 bytes.
START_TEST(a_fragment_of_c_fills_half_of_its_sectors) {
  int64_t addr[BANK_LANES];
  for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane / 4 * 8192 + lane % 4 * 4;
  check_count("stg32", addr, 8, 4, 8);
}
END_TEST

START_TEST(a_box_of_tma_is_nobodys) {
  int64_t addr[BANK_LANES] = {0};
  ck_assert(!sectors_count(sectors_op_find("utmaldg"), addr).known);
}
END_TEST

// The map has every byte that is asked for, and no other sector than the count's.
START_TEST(the_map_agrees_with_the_count) {
  uint64_t state = property_seed();
  for (int i = 0; i < 2000; i++) {
    const BankOp *op = sectors_op_at((int)random_between(&state, 0, sectors_op_count() - 1));
    int64_t addr[BANK_LANES], span = (int64_t)1 << random_between(&state, 4, 14);
    for (int lane = 0; lane < BANK_LANES; lane++)
      addr[lane] = random_between(&state, -1, span) / op->bytes * op->bytes;
    SectorMap map;
    sectors_map(&map, op, addr);
    if (!op->counted) continue;
    int sectors = 0;
    ck_assert_int_eq(map.n_lines, map.count.lines);
    for (int l = 0; l < map.n_lines; l++) {
      ck_assert(l == 0 || map.line[l].line > map.line[l - 1].line);
      for (int s = 0; s < LINE_SECTORS; s++) {
        bool asked = false;
        for (int word = 8 * s; word < 8 * s + 8; word++) asked |= map.line[l].lane[word] >= 0;
        ck_assert_int_eq(asked, map.line[l].sectors >> s & 1);
        sectors += asked;
      }
    }
    ck_assert_int_eq(sectors, map.count.sectors);
  }
}
END_TEST

// ---- a whole kernel -----------------------------------------------------------------------------

static const Model *model_of(const char *state) {
  Diags diags = diags_new(property_arena);
  Schedule schedule = schedule_default();
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", state);
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(property_arena, (Diags *)&model->diags));
  return model;
}

static const GlobalSite *site_of(const Model *model, const char *text) {
  for (int i = 0; i < model->global.n; i++)
    if (strncmp(model->global.site[i].text, text, strlen(text)) == 0) return &model->global.site[i];
  ck_abort_msg("no site %s", text);
}

// Every loop to its end, in every warp of block 0.
typedef struct Brute {
  const Program *program;
  int64_t *env;
  double requests, sectors, ideal, lines;
} Brute;

// Of a box that one lane sends, rows of whole 32 bytes or of half of them.
static void brute_box(Brute *b, const Op *op, const bool *active) {
  int64_t row = op->box[1] * dtype_bytes(op->src.buffer->type), sectors = 0;
  for (int lane = 0; lane < LANES; lane++)
    if (active[lane]) sectors += op->box[0] * ((row + 31) / 32);
  b->requests += sectors > 0;
  b->sectors += (double)sectors;
  b->ideal += (double)sectors;
}

static void brute_side(Brute *b, const Op *op, const Access *access, const bool *active) {
  if (!access->buffer || access->buffer->space != SPACE_GLOBAL || op->kind == OP_TMA_LOAD) return;
  int64_t addr[LANES];
  bool inside[LANES];
  int bytes = dtype_bytes(access->buffer->type);
  memcpy(inside, active, sizeof inside);
  const Expr *guard = access_guard(property_arena, access);
  if (guard) lanes_pass(b->env, guard, active, inside);
  expr_eval_warp(access_offset(property_arena, access), b->env, addr);
  for (int lane = 0; lane < LANES; lane++) addr[lane] = inside[lane] ? addr[lane] * bytes : -1;
  const BankOp as_wide = {.bytes = bytes * op->width, .n_addresses = LANES, .counted = true};
  SectorCount count = sectors_count(&as_wide, addr);
  b->requests += count.sectors > 0;
  b->sectors += count.sectors;
  b->ideal += count.ideal;
  b->lines += count.lines;
}

static void brute_list(Brute *b, const Stmt *list, const bool *active) {
  for (; list; list = list->next) {
    bool inner[LANES];
    if (list->kind == STMT_LET) lanes_let(b->env, list);
    bool sends = list->kind == STMT_OP && op_moves_box(list->op.kind) &&
                 list->op.dst.buffer->space == SPACE_GLOBAL;
    if (sends) brute_box(b, &list->op, active);
    if (list->kind == STMT_OP && !sends) {
      brute_side(b, &list->op, &list->op.dst, active);
      brute_side(b, &list->op, &list->op.src, active);
    }
    if (list->kind == STMT_IF && lanes_pass(b->env, list->expr, active, inner))
      brute_list(b, list->body, inner);
    bool tiles = list->kind == STMT_LOOP && list->var->tier == TIER_TILE;
    int64_t turns = list->kind != STMT_LOOP ? 0 : tiles ? 1 : list->var->extent;
    for (int64_t i = 0; i < turns; i++) {
      if (!tiles) lanes_set_all(b->env, list->var, i);  // lanes_enter has chosen the tile
      brute_list(b, list->body, active);
    }
  }
}

static Brute brute(const Model *model) {
  Launch launch = kernel_launch(program_main(model->program));
  Brute b = {.program = model->program};
  b.env = ARENA_ARRAY(property_arena, int64_t, model->program->n_vars * LANES);
  for (int warp = 0; warp < launch_block_warps(&launch); warp++) {
    bool active[LANES];
    lanes_enter(model->program, &launch, 0, warp, b.env, active);
    brute_list(&b, launch.body, active);
  }
  return b;
}

// Relative to what is allowed: where K ends inside a slab, that slab counts as whole.
static void check_whole(const Model *model, double allowed) {
  Brute b = brute(model);
  double requests = 0, sectors = 0, ideal = 0;
  for (int i = 0; i < model->global.n; i++) {
    requests += model->global.site[i].requests;
    sectors += model->global.site[i].sectors;
    ideal += model->global.site[i].ideal;
  }
  bool good = fabs(requests - b.requests) <= allowed * b.requests &&
              fabs(sectors - b.sectors) <= allowed * b.sectors &&
              fabs(ideal - b.ideal) <= allowed * b.ideal;
  ck_assert_msg(good, "requests %g sectors %g ideal %g; by brute force %g %g %g, of %s", requests,
                sectors, ideal, b.requests, b.sectors, b.ideal,
                schedule_text(property_arena, &model->schedule));
}

// For a loop whose turns differ, as rows of 48 bytes make it, a sample of turns is walked.
START_TEST(a_sample_of_turns_is_near_all_of_them) {
  check_whole(model_of("M=256,N=256,K=384,BM=16,BN=16,FM=8,FN=8,BK=12,STAGE=11,BUFFER_COUNT=3,"
                       "COPY_STEPS=3"),
              0.002);
}
END_TEST

START_TEST(a_kernel_fetches_what_all_its_iterations_do) {
  static const char *const states[] = {
      "AUTO=0,M=256,N=256,K=256,BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11",
      "AUTO=0,M=256,N=256,K=384,BM=16,BN=16,FM=8,FN=8,BK=12,STAGE=11,BUFFER_COUNT=3,PIPELINE_"
      "STAGES=2,"
      "COPY_STEPS=3",
      "AUTO=0,M=256,N=256,K=256,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,VECTORIZE=1,BUFFER_COUNT=3,"
      "PIPELINE_STAGES=1,ASYNC_COPY=1",
      "AUTO=0,M=256,N=256,K=256,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=2,STAGE=11,"
      "ASYNC_COPY=1,LDMATRIX=2,SWIZZLE=2,BUFFER_COUNT=3,PIPELINE_STAGES=1,EPILOGUE=1",
      "AUTO=0,M=256,N=256,K=256,BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11,SPLITK=2",
      // Copies that only the first k-steps make, whose guard makes every k-step another.
      "M=256,N=256,K=384,BM=16,BN=16,FM=8,FN=8,BK=12,STAGE=11,BUFFER_COUNT=3,COPY_STEPS=3,PAD_"
      "CELLS=0",
      // Of four groups of columns the last is cut off: of many k some are looked at, of those all.
      "AUTO=0,M=4,N=200,K=19,BM=32,BN=18,FN=16,CELL_GROUP=4,LANES_M=16,VECTORIZE=1"};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    arena_reset(property_arena);
    check_whole(model_of(states[i]), i == 1 ? 0.002 : 1e-9);  // rows of 48 bytes are sampled
  }
}
END_TEST

START_TEST(random_kernels_too) {
  const RandomLimits limits = {.extent_max = 200, .fma_max = 1 << 22};
  uint64_t state = property_seed();
  for (int i = 0; i < 100; i++) {
    arena_reset(property_arena);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    const Model *model = model_build(property_arena, &property_targets, &schedule);
    const Axis *k = &model->program->axis[AXIS_K];
    bool ragged = k->extent % axis_tile(k) != 0;
    check_whole(model, ragged ? 1.0 : 0.02);
  }
}
END_TEST

// What article 002 says of its last kernel, and what a staged epilogue makes of it.
START_TEST(pairs_of_f16_leave_in_half_sectors) {
  const char *direct =
      "AUTO=0,M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,"
      "ASYNC_COPY=1,LDMATRIX=1,SWIZZLE=3";
  const GlobalSite *c = site_of(model_of(direct), "C <- acc");
  ck_assert_str_eq(c->op->name, "stg32");
  ck_assert(!c->in_loop && c->is_store);
  ck_assert_int_eq(c->count.sectors, 8);
  ck_assert_int_eq(c->count.ideal, 4);
  const char *staged = arena_printf(property_arena, "%s,EPILOGUE=1", direct);
  c = site_of(model_of(staged), "C <- r_c");
  ck_assert_int_eq(c->count.sectors, c->count.ideal);
}
END_TEST

// Boxes bound for C write whole lines, as the staged epilogue does, and are counted by their bytes.
START_TEST(boxes_of_c_leave_in_whole_sectors) {
  const char *staged =
      "AUTO=0,M=512,N=512,K=512,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,"
      "ASYNC_COPY=1,LDMATRIX=1,SWIZZLE=3,EPILOGUE=1";
  const Model *by_lanes = model_of(staged);
  const Model *by_box = model_of(arena_printf(property_arena, "%s,TMA_STORE=1", staged));
  const GlobalSite *lanes = site_of(by_lanes, "C <- r_c"), *box = site_of(by_box, "C <- C_s");
  ck_assert_str_eq(box->op->name, "utmastg");
  ck_assert(box->is_store && !box->count.known);
  ck_assert_double_eq(box->sectors, lanes->sectors);
  ck_assert_double_eq(box->sectors, 128 * 128 * 2 / 32);
  ck_assert_double_eq(by_box->traffic.l2_clocks, by_lanes->traffic.l2_clocks);
}
END_TEST

// Sums of m16n8k8 as pairs of f32: eight rows of 32 bytes, every sector full, in eight lines.
START_TEST(pairs_of_f32_leave_in_full_sectors) {
  const Model *model = model_of(
      "AUTO=0,M=512,N=512,K=512,ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11,"
      "TRANSPOSE_B=1,LDMATRIX=1");
  const GlobalSite *c = site_of(model, "C <- acc");
  ck_assert_int_eq(c->count.sectors, 8);
  ck_assert_int_eq(c->count.ideal, 8);
  ck_assert_int_eq(c->count.lines, 8);
  ck_assert_int_eq(c->count.lines_ideal, 2);
}
END_TEST

// The widths that are written are those of the machine code: the assembler merges what it can prove
// to be aligned, and a kernel's pointers promise no more than an element.
START_TEST(global_accesses_are_compiled_as_they_are_written) {
  static const struct {
    const char *state, *has, *has_not;
  } cases[] = {
      {"AUTO=0,M=512,N=512,K=512,BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11", "16  STG.E\n", "STG.E.128"},
      {"AUTO=0,M=512,N=512,K=512,BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11,VECTORIZE=1",
       "4  STG.E.128\n", "STG.E\n"},
      {"AUTO=0,M=512,N=512,K=512,BM=16,BN=16,FM=4,FN=4", "STG.E\n", "LDG.E.128"}};
  if (!cli_has_program()) return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *line = arena_printf(property_arena, "sass --counts -k %s", cases[i].state);
    CliRun run = cli_run(property_arena, line);
    if (run.status == 3) return;  // no NVRTC or no nvdisasm
    ck_assert_msg(strstr(run.out, cases[i].has) && !strstr(run.out, cases[i].has_not), "%s: %s",
                  cases[i].state, run.out);
  }
}
END_TEST

START_TEST(the_command_draws_one) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(property_arena, "banks --op ldg32 --addr lane*8 --ascii");
  ck_assert_int_eq(run.status, 0);
  ck_assert_ptr_nonnull(strstr(run.out, "0.1.2.3.4.5.6.7.8.9.a.b.c.d.e.f.  bytes 0 to 127\n"));
  ck_assert_ptr_nonnull(strstr(run.out, "sectors 8, ideal 4; lines 2, ideal 1; 128 B used"));
  ck_assert_int_eq(cli_run(property_arena, "banks --op LDG.E.64 --addr lane*8 --json").status, 0);
  ck_assert_int_eq(cli_run(property_arena, "banks --op utmaldg --addr lane*16").status, 2);
  ck_assert_int_eq(cli_run(property_arena, "banks --op stg32 --addr lane*4+2").status, 2);
  ck_assert_int_eq(cli_run(property_arena, "probe --op ldg32 --addr lane*4").status, 2);
}
END_TEST

START_TEST(sites_go_on_where_shared_memory_ends) {
  const Model *model = model_of("AUTO=0,M=256,N=256,K=256,BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11");
  for (int i = 0; i < model->global.n; i++)
    ck_assert_int_eq(model->global.site[i].number, model->n_sites + i + 1);
  const Model *boxes = model_of(
      "AUTO=0,M=1024,N=1024,K=1024,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,"
      "TMA=1,"
      "LDMATRIX=2,SWIZZLE=3,BUFFER_COUNT=3");
  const GlobalSite *box = site_of(boxes, "A_s <- A");
  ck_assert(!box->count.known && box->in_loop);
  ck_assert_str_eq(box->op->name, "utmaldg");
}
END_TEST

START_TEST(the_command_lists_them) {
  if (!cli_has_program()) return;
  CliRun run = cli_run(property_arena,
                       "resources --json -k "
                       "AUTO=0,M=256,N=256,K=256,BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11");
  cli_json(property_arena, &run);
  ck_assert_ptr_nonnull(strstr(run.out, "\"global_sites\":[{"));
  ck_assert_ptr_nonnull(
      strstr(run.out, "\"matrix\":\"A\",\"op\":\"ldg32\",\"compiled\":\"ldg32\""));
  ck_assert_ptr_nonnull(strstr(run.out, "\"sectors_per_block\":"));
}
END_TEST

// ---- L1 -----------------------------------------------------------------------------------------

START_TEST(l1_answers_by_banks_and_four_lines_a_clock) {
  int64_t addr[BANK_LANES];
  static const struct {
    const char *op;
    int stride, wavefronts;
  } cases[] = {{"ldg32", 4, 1},   {"ldg32", 128, 32}, {"ldg32", 132, 8},
               {"ldg32", 64, 16}, {"ldg64", 8, 2},    {"ldg128", 16, 4},
               {"ldg128", 0, 4},  {"ldg16", 2, 1},    {"stg32", 128, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = lane * cases[i].stride;
    const SectorCount count = sectors_count(sectors_op_find(cases[i].op), addr);
    ck_assert_msg(count.wavefronts == cases[i].wavefronts, "%s, %d bytes apart: %d, expected %d",
                  cases[i].op, cases[i].stride, count.wavefronts, cases[i].wavefronts);
  }
}
END_TEST

// A load every 1.35 clocks is as many as the measuring loop asks for.
START_TEST(l1_takes_as_many_clocks_as_were_measured) {
  static const double loop_clocks = 1.35, near_by = 0.05;
  static char line[1024];
  int n = 0, n_near = 0;
  double off = 0;
  FILE *file = fopen("tests/data/h200_l1.tsv", "r");
  ck_assert_ptr_nonnull(file);
  while (fgets(line, sizeof line, file)) {
    int64_t addr[BANK_LANES];
    char *at = line;
    const int bytes = (int)strtol(at, &at, 10);
    const double measured = strtod(at, &at);
    for (int lane = 0; lane < BANK_LANES; lane++) addr[lane] = strtoll(at, &at, 10);
    const int wavefronts = sectors_count(sectors_load(bytes), addr).wavefronts;
    const double its = fabs(fmax(wavefronts, loop_clocks) / measured - 1);
    n++;
    n_near += its < near_by;
    off += its;
  }
  fclose(file);
  ck_assert_int_gt(n, 900);
  ck_assert_msg(n_near > 0.93 * n && off < 0.02 * n, "%d of %d within 5 %%, mean %.3f", n_near, n,
                off / n);
}
END_TEST

Suite *suite_global(void) {
  Suite *suite = suite_create("global");
  TCase *access = tcase_create("access");
  tcase_add_checked_fixture(access, property_setup, property_teardown);
  tcase_add_test(access, neighbours_share_sectors);
  tcase_add_test(access, lanes_on_one_address_ask_once);
  tcase_add_test(access, a_fragment_of_c_fills_half_of_its_sectors);
  tcase_add_test(access, a_box_of_tma_is_nobodys);
  tcase_add_test(access, the_map_agrees_with_the_count);
  tcase_add_test(access, l1_answers_by_banks_and_four_lines_a_clock);
  tcase_add_test(access, l1_takes_as_many_clocks_as_were_measured);
  suite_add_tcase(suite, access);
  TCase *kernel = tcase_create("kernel");
  tcase_add_checked_fixture(kernel, property_setup, property_teardown);
  tcase_set_timeout(kernel, 120);
  tcase_add_test(kernel, a_sample_of_turns_is_near_all_of_them);
  tcase_add_test(kernel, a_kernel_fetches_what_all_its_iterations_do);
  tcase_add_test(kernel, random_kernels_too);
  tcase_add_test(kernel, pairs_of_f16_leave_in_half_sectors);
  tcase_add_test(kernel, boxes_of_c_leave_in_whole_sectors);
  tcase_add_test(kernel, pairs_of_f32_leave_in_full_sectors);
  tcase_add_test(kernel, global_accesses_are_compiled_as_they_are_written);
  tcase_add_test(kernel, the_command_draws_one);
  tcase_add_test(kernel, sites_go_on_where_shared_memory_ends);
  tcase_add_test(kernel, the_command_lists_them);
  suite_add_tcase(suite, kernel);
  return suite;
}
