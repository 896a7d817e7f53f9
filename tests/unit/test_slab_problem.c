// Slabs as problems of layouts: every repetition counted, every address the program's own, and the
// facts of the two mma.sync worklogs in wavefronts.
#include "model/schedules/slab_problem.h"

#include <check.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "model/ir/program.h"
#include "model/passes/copy/slab_layout.h"
#include "model/words/ladder.h"
#include "property.h"

#define TF32 "ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11,TRANSPOSE_B=1,LDMATRIX=1"
#define CELLS "BM=8,BN=32,FM=8,FN=4,BK=16,STAGE=11,VECTORIZE=1"
#define HGEMM "ATOM_KIND=mma_m16n8k16_f16,ACC=f16,WM=2,WN=2,FM=4,FN=8,BK=4,STAGE=11,ASYNC_COPY=1"

static Arena *arena, *scratch;
static Diags diags;
static TargetTable targets;

static void setup(void) {
  arena = arena_new("test");
  scratch = arena_new("scratch");
  diags = diags_new(arena);
  targets = *property_gpus();
}

static void teardown(void) {
  arena_free(scratch);
  arena_free(arena);
}

static const Model *model_of(const char *state) {
  Schedule schedule = schedule_plain();
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(arena, &diags));
  const Model *model = model_build(arena, &targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(arena, &model->diags));
  return model;
}

static SlabProblem slab_of(const Model *model, BufferRole role) {
  SlabProblem slab;
  const Buffer *buffer = program_buffer(model->program, role);
  ck_assert_ptr_nonnull(buffer);
  ck_assert_msg(slab_problem_build(arena, model, buffer, &slab, &diags), "%s",
                diags_text(arena, &diags));
  return slab;
}

static int find_site(const SlabProblem *slab, bool store) {
  for (int i = 0; i < slab->problem.n_sites; i++)
    if (slab->use[i].site->is_store == store) return i;
  ck_abort_msg("no such site");
}

static SlabCost cost_of(const SlabProblem *slab, bool store, const Layout *layout) {
  return slab_site_cost(&slab->problem.sites[find_site(slab, store)], layout);
}

static const Layout *layout_of(const SlabProblem *slab, const char *text) {
  const Layout *layout = layout_parse(arena, &slab->problem.slab, text, &diags);
  ck_assert_msg(layout != NULL, "%s", diags_text(arena, &diags));
  return layout;
}

// ---- against the program ------------------------------------------------------------------------

// The 32 addresses that the model shows are, slot and base apart, those of one repetition.
static bool has_shown_addresses(const SlabProblem *slab, int use) {
  const SlabSite *site = &slab->problem.sites[use];
  const Site *shown = slab->use[use].site;
  int64_t slot =
      buffer_is_ring(slab->slab) ? slab->slab->stride[0] * slab->problem.slab.elem_bytes : 0;
  for (int i = 0; i < site->repeat; i++) {
    int64_t addr[BANK_LANES];
    bool same = true;
    slab_site_addresses(site, slab->layout, i, addr);
    for (int lane = 0; lane < site->op->n_addresses && same; lane++) {
      int64_t at = shown->addr[lane] - slab->slab->offset_bytes;
      same = shown->addr[lane] < 0 ? addr[lane] < 0 : addr[lane] == (slot ? at % slot : at);
    }
    if (same) return true;
  }
  return false;
}

static void check_slab(const Model *model, const Buffer *buffer, const char *name) {
  SlabProblem slab;
  ck_assert_msg(slab_problem_build(arena, model, buffer, &slab, &diags), "%s: %s", name,
                diags_text(arena, &diags));
  int64_t warps = model->resources.n_consumers;
  for (int i = 0; i < slab.problem.n_sites; i++) {
    const Site *site = slab.use[i].site;
    const char *what = arena_printf(arena, "%s: %s", name, site->text);
    // Warps none of whose lanes passes a guard do not run the access.
    // Merged ones are executed where they begin, others as often as the program says.
    bool merged = site->op->bytes > site->written->op->bytes;
    double each = merged ? site->form[0].executions : site->written->executions;
    int64_t all = (int64_t)each * warps, runs = slab.use[i].executions;
    ck_assert_msg(all == 0 || (runs <= all && runs > 0), "%s: %lld", what, (long long)runs);
    ck_assert_msg(slab.problem.sites[i].weight > 1 || has_shown_addresses(&slab, i), "%s", what);
    // What a copy costs is up to its source as well.
    if (site->count.known && site->op->kind != BANK_CPASYNC)
      ck_assert_msg(slab_site_cost(&slab.problem.sites[i], slab.layout).ways >= site->count.ways,
                    "%s", what);
  }
}

START_TEST(every_slab_of_every_rung) {
  EmbeddedList list = embed_list(arena, "ladders/");
  int n_slabs = 0;
  for (int l = 0; l < list.count; l++) {
    const EmbeddedFile *file = embed_find(arena, list.paths[l]);
    const Ladder *ladder = ladder_read(arena, file->text, file->size, file->path, &diags);
    ck_assert_msg(ladder != NULL, "%s", diags_text(arena, &diags));
    for (int r = 0; r < ladder->n_rungs; r++) {
      const Model *model = model_build(arena, &targets, &ladder->rung[r].schedule);
      if (!model->ok) continue;
      for (int b = 0; b < model->program->n_buffers; b++) {
        if (model->program->buffer[b]->space != SPACE_SHARED) continue;
        check_slab(model, model->program->buffer[b],
                   arena_printf(arena, "%s %s", ladder->name, ladder->rung[r].name));
        n_slabs++;
      }
    }
  }
  ck_assert_int_ge(n_slabs, 40);
}
END_TEST

// Panels: A of 64 columns is one, B of 256 columns four below each other, and A of 128 columns two.
START_TEST(slabs_in_panels) {
  static const char PANELS[] =
      "ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=4,FM=2,FN=8,STAGE=11,TMA=1,LDMATRIX=2,SWIZZLE=3,"
      "BUFFER_COUNT=2,WARP_SPECIALIZE=1";
  static const struct { int bk, rows_a, rows_b; } rows[] = {{4, 64, 4 * 64}, {8, 2 * 64, 4 * 128}};
  for (int i = 0; i < 2; i++) {
    const Model *model = model_of(arena_printf(arena, "%s,BK=%d", PANELS, rows[i].bk));
    SlabProblem a = slab_of(model, ROLE_SLAB_A), b = slab_of(model, ROLE_SLAB_B);
    ck_assert_int_eq(a.problem.slab.rows, rows[i].rows_a);
    ck_assert_int_eq(b.problem.slab.rows, rows[i].rows_b);
    ck_assert_int_eq(a.problem.slab.row_bytes, 128);
    ck_assert_int_eq(b.problem.slab.row_bytes, 128);
    check_slab(model, a.slab, "A_s in panels");
    check_slab(model, b.slab, "B_s in panels");
    // Reading is free with the swizzle that the panels have, and eight ways without one.
    ck_assert_int_eq(cost_of(&b, false, b.layout).ways, 1);
    ck_assert_int_eq(cost_of(&b, false, layout_of(&b, "none")).ways, 8);
    ck_assert_str_eq(slab_layout_knobs(arena, model, b.slab, "swizzle:3,4,3", &diags), "SWIZZLE=3");
    ck_assert_ptr_null(slab_layout_knobs(arena, model, b.slab, "swizzle:2,4,3", &diags));
  }
}
END_TEST

// ---- 002: tf32 ----------------------------------------------------------------------------------

static const struct {
  const char *layout;
  int store_ways, read_ways;
} tf32_facts[] = {
    {"none", 32, 4},
    {"xor:col ^ (((row >> 1) & 3) << 2)", 16, 1},
    {"xor:col ^ ((((row >> 1) ^ (row >> 3)) & 3) << 2)", 8, 1},
    {"xor:col ^ (((row >> 2) & 3) << 2)", 8, 2},  // as the code is printed
    {"xoroff:off ^ ((((row >> 1) ^ (row >> 3)) & 3) << 2) ^ (((row >> 5) & 1) << 4)", 4, 1},
};

START_TEST(tf32_b_costs_what_the_article_found) {
  SlabProblem slab = slab_of(model_of(TF32), ROLE_SLAB_B);
  const Layout *layout = layout_of(&slab, tf32_facts[_i].layout);
  SlabCost store = cost_of(&slab, true, layout), read = cost_of(&slab, false, layout);
  ck_assert(store.legal && read.legal);
  ck_assert_int_eq(store.ways, tf32_facts[_i].store_ways);
  ck_assert_int_eq(read.ways, tf32_facts[_i].read_ways);
  ck_assert_int_eq(slab.use[find_site(&slab, true)].executions, 64);
  ck_assert_int_eq(slab.use[find_site(&slab, false)].executions, 64);
}
END_TEST

START_TEST(the_solver_answers_the_open_question_on_the_real_sites) {
  SlabProblem slab = slab_of(model_of(TF32 ",SWIZZLE=2"), ROLE_SLAB_B);
  ck_assert_str_eq(slab.layout_text, "swizzle:2,4,3");
  ck_assert_int_eq(cost_of(&slab, true, slab.layout).ways, 16);
  SolverResult best = solver_solve(arena, scratch, &slab.problem);
  ck_assert(best.found && best.optimal);
  ck_assert_int_eq(best.costs[find_site(&slab, true)].ways, 4);
  ck_assert_int_eq(best.costs[find_site(&slab, false)].ways, 1);
  ck_assert_ptr_nonnull(strstr(best.proof, "32 different 16-byte chunks"));
}
END_TEST

// ---- 001: hgemm ---------------------------------------------------------------------------------

START_TEST(the_solver_finds_the_128_byte_swizzle) {
  const Model *model = model_of(HGEMM ",LDMATRIX=1");
  SlabProblem slab = slab_of(model, ROLE_SLAB_A);
  ck_assert_int_eq(cost_of(&slab, false, slab.layout).ways, 8);
  SolverResult best = solver_solve(arena, scratch, &slab.problem);
  ck_assert_str_eq(best.best.layout, "swizzle:3,4,3");
  ck_assert(best.optimal);
  ck_assert_str_eq(slab_layout_knobs(arena, model, slab.slab, "swizzle:3,4,3", &diags),
                   "LAYOUT_A=swizzle:3:4:3");
}
END_TEST

// Four plain loads of a fragment cost what one ldmatrix costs: 32 wavefronts, because rows collide.
START_TEST(direct_loads_and_ldmatrix_tie_per_fragment) {
  static const char *const states[] = {HGEMM, HGEMM ",LDMATRIX=1"};
  for (int i = 0; i < 2; i++) {
    SlabProblem slab = slab_of(model_of(states[i]), ROLE_SLAB_A);
    double wavefronts = 0, fragments = 0;
    for (int u = 0; u < slab.problem.n_sites; u++) {
      if (slab.use[u].site->is_store) continue;
      wavefronts += slab_use_wavefronts(&slab, u, slab.layout);
      fragments += slab.use[u].fragments;
    }
    ck_assert_double_eq(fragments, 4 * 4 * 4);  // 4 warps, FM = 4, BK = 4
    ck_assert_double_eq(wavefronts / fragments, 32);
  }
}
END_TEST

// ---- knobs --------------------------------------------------------------------------------------

static const struct {
  const char *state, *layout, *knobs;
  BufferRole role;
} knob_cases[] = {
    {TF32 ",SWIZZLE=2", "swizzle:2,4,3", "SWIZZLE=2", ROLE_SLAB_A},
    {TF32, "pad:4", "PAD_SMEM=4", ROLE_SLAB_B},
    {TF32 ",SWIZZLE=2", "pad:4", "PAD_SMEM=4,SWIZZLE=0", ROLE_SLAB_B},
    {TF32 ",SWIZZLE=2", "xoroff:off ^ ((off >> 2) & 8) ^ ((off >> 4) & 28)",
     "LAYOUT_B=xoroff:'off ^ ((off >> 2) & 8) ^ ((off >> 4) & "
     "28)',LAYOUT_A=swizzle:2:4:3,SWIZZLE=0",
     ROLE_SLAB_B},
    {TF32 ",LAYOUT_B=swizzle:3:4:4", "none", "SWIZZLE=0,LAYOUT_B=none", ROLE_SLAB_B},
    {CELLS, "pad:1,4", "PAD_CELLS=1", ROLE_SLAB_B},
    {CELLS ",PAD_CELLS=1", "pad:1", "PAD_SMEM=1,PAD_CELLS=0", ROLE_SLAB_B},
    {CELLS ",PAD_CELLS=1", "swizzle:2,4,5", "SWIZZLE=2,PAD_CELLS=0", ROLE_SLAB_B},
    {TF32, "swizzle:1,4,3;swizzle:1,5,3", "LAYOUT_B='swizzle:1,4,3;swizzle:1,5,3'", ROLE_SLAB_B},
};

START_TEST(knobs_that_make_a_layout) {
  const Model *model = model_of(knob_cases[_i].state);
  const Buffer *slab = program_buffer(model->program, knob_cases[_i].role);
  const char *knobs = slab_layout_knobs(arena, model, slab, knob_cases[_i].layout, &diags);
  ck_assert_msg(knobs != NULL, "%s", diags_text(arena, &diags));
  ck_assert_str_eq(knobs, knob_cases[_i].knobs);
  Schedule schedule = model->schedule;
  ck_assert_msg(schedule_parse(&schedule, knobs, &diags), "%s", diags_text(arena, &diags));
  const Model *after = model_build(arena, &targets, &schedule);
  ck_assert_msg(after->ok, "%s", diags_text(arena, &after->diags));
  SlabProblem made = slab_of(after, knob_cases[_i].role);
  const Layout *wished = layout_of(&made, knob_cases[_i].layout);
  for (int i = 0; i < wished->slab.rows * wished->slab.row_bytes; i++)
    ck_assert_int_eq(made.layout->offset_of[i], wished->offset_of[i]);
}
END_TEST

// Rows of 128 bytes have four pieces of 32: three bits would flip the bit that the second one
// reads.
START_TEST(a_row_of_four_pieces_is_swizzled_by_two_bits) {
  const Model *model = model_of(
      "ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=2,FM=1,FN=2,BK=4,STAGE=11,"
      "SWIZZLE=3,A_COL=1");
  SlabProblem b = slab_of(model, ROLE_SLAB_B), a = slab_of(model, ROLE_SLAB_A);
  ck_assert_str_eq(b.layout_text, "swizzle:2,5,2");
  ck_assert_str_eq(a.layout_text, "swizzle:3,4,3");
  ck_assert_int_eq(cost_of(&b, false, b.layout).ways, 1);
}
END_TEST

// SWIZZLE=1 would lay B out so, but it is for both slabs, and A's rows have 16 bytes.
START_TEST(knobs_of_a_layout_are_legal) {
  const Model *model = model_of("BM=4,BN=16,FM=1,FN=1,BK=8,STAGE=11,VECTORIZE=1,A_COL=1,B_COL=1");
  const Buffer *slab = program_buffer(model->program, ROLE_SLAB_B);
  Schedule schedule = model->schedule;
  schedule.value[KNOB_SWIZZLE] = 1;
  ck_assert(!model_build(arena, &targets, &schedule)->ok);
  const char *knobs = slab_layout_knobs(arena, model, slab, "swizzle:1,4,3", &diags);
  schedule = model->schedule;
  ck_assert(knobs && schedule_parse(&schedule, knobs, &diags));
  ck_assert_msg(model_build(arena, &targets, &schedule)->ok, "%s", knobs);
}
END_TEST

START_TEST(what_no_knob_says_is_told) {
  const Model *model = model_of(TF32);
  const Buffer *slab = program_buffer(model->program, ROLE_SLAB_B);
  static const char *const layouts[] = {"xor:col ^ (row & 3)", "xor:0", "xor:col ^ (row &"};
  static const char *const rules[] = {"layout_chunks", "layout_bijective", "expression"};
  for (int i = 0; i < 3; i++) {
    diags = diags_new(arena);
    ck_assert_ptr_null(slab_layout_knobs(arena, model, slab, layouts[i], &diags));
    ck_assert_str_eq(diags.first->rule, rules[i]);
  }
}
END_TEST

// The article's pad: rows of 32 threads of four cells and a pad, 160 words; the runs of another
// tile are no pad that this one could have.
START_TEST(a_pad_behind_each_threads_cells) {
  const Model *model = model_of(CELLS ",PAD_CELLS=1");
  SlabProblem b = slab_of(model, ROLE_SLAB_B), a = slab_of(model, ROLE_SLAB_A);
  ck_assert_str_eq(b.layout_text, "pad:1,4");
  ck_assert_str_eq(a.layout_text, "pad:1");
  ck_assert_int_eq(b.slab->stride[0], 160);
  ck_assert_int_eq(cost_of(&b, false, b.layout).ways, 1);
  ck_assert_ptr_null(slab_layout_knobs(arena, model, b.slab, "pad:1,8", &diags));
  ck_assert_str_eq(diags.first->nearest, "pad:1,4");
}
END_TEST

START_TEST(the_epilogue_has_a_slab_without_a_knob) {
  const Model *model = model_of(HGEMM ",LDMATRIX=1,EPILOGUE=1");
  SlabProblem slab = slab_of(model, ROLE_SLAB_C);
  ck_assert(strstr(slab.layout_text, "swizzle:3,4,"));
  ck_assert_int_eq(cost_of(&slab, true, slab.layout).ways, 1);
  ck_assert_int_eq(cost_of(&slab, true, slab.plain).ways, 8);
  ck_assert_ptr_null(slab_layout_knobs(arena, model, slab.slab, "none", &diags));
  ck_assert_ptr_nonnull(strstr(diags.first->text, "EPILOGUE"));
}
END_TEST

Suite *suite_slab_problem(void);
Suite *suite_slab_problem(void) {
  Suite *suite = suite_create("slab_problem");
  TCase *tcase = tcase_create("slab_problem");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, every_slab_of_every_rung);
  tcase_add_test(tcase, slabs_in_panels);
  tcase_add_loop_test(tcase, tf32_b_costs_what_the_article_found, 0, 5);
  tcase_add_test(tcase, the_solver_answers_the_open_question_on_the_real_sites);
  tcase_add_test(tcase, the_solver_finds_the_128_byte_swizzle);
  tcase_add_test(tcase, direct_loads_and_ldmatrix_tie_per_fragment);
  tcase_add_loop_test(tcase, knobs_that_make_a_layout, 0, 6);
  tcase_add_test(tcase, a_row_of_four_pieces_is_swizzled_by_two_bits);
  tcase_add_test(tcase, knobs_of_a_layout_are_legal);
  tcase_add_test(tcase, what_no_knob_says_is_told);
  tcase_add_test(tcase, a_pad_behind_each_threads_cells);
  tcase_add_test(tcase, the_epilogue_has_a_slab_without_a_knob);
  suite_add_tcase(suite, tcase);
  return suite;
}
