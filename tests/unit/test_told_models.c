// What is read off a model and no view shows whole: sites of shared and of global memory in every
// width, what the calibration goes by, who owns each cell of a tile, and the ways of elements drawn
// at random (base/random.h: the same ones each time). tests/golden/told/models.txt has it for the
// schedules of tests/data/reading_states.txt, and by sums for the rungs of all ladders.
#include <check.h>
#include <string.h>

#include "base/embed.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/str.h"
#include "base/whole.h"
#include "edges.h"
#include "golden.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/readings/cost/calibration.h"
#include "model/readings/cost/estimate.h"
#include "model/readings/place/grid.h"
#include "model/readings/place/tile_map.h"
#include "model/readings/place/trace.h"
#include "model/schedules/reduce.h"
#include "property.h"

Suite *suite_told_models(void);

enum { ELEMENTS = 3 };

static uint64_t sum_number(uint64_t sum, int64_t number) {
  return hash_bytes(sum, &number, sizeof number);
}
// To five digits: what lies behind is the compiler's.
static uint64_t sum_real(uint64_t sum, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.5g", value);
  return hash_text(sum, text);
}
static uint64_t sum_name(uint64_t sum, const char *name) {
  return hash_text(sum, name ? name : "-");
}

// ---- sites --------------------------------------------------------------------------------------

static uint64_t sum_form(uint64_t sum, const SiteForm *f) {
  sum = sum_name(sum, f->op ? f->op->name : NULL);
  for (int lane = 0; lane < BANK_LANES; lane++) sum = sum_number(sum, f->addr[lane]);
  sum = sum_number(sum_number(sum_number(sum, f->warp), f->count.wavefronts), f->count.conflicts);
  sum = sum_real(sum_real(sum_real(sum, f->executions), f->clocks), f->ideal);
  return sum_real(sum_real(sum, f->profiled), f->profiled_most);
}

static void tell_site(Str *out, const Site *s) {
  uint64_t sum = HASH_START;
  for (int i = 0; i < s->n_forms; i++) sum = sum_form(sum, &s->form[i]);
  for (int i = 0; i < s->n_widths; i++) sum = sum_form(sum, &s->width[i]);
  if (s->as_written) sum = sum_form(sum, s->as_written);
  str_printf(out, "  site %d %s word %d: %d forms, %d widths, %.6g clocks of %.6g; %08x\n",
             s->number, s->text, s->word, s->n_forms, s->n_widths, s->clocks, s->ideal,
             (unsigned)sum);
}

static void tell_global(Str *out, const GlobalSite *s) {
  uint64_t sum = sum_number(sum_number(HASH_START, s->by_l1), s->in_loop);
  for (int lane = 0; lane < BANK_LANES; lane++) sum = sum_number(sum, s->addr[lane]);
  str_printf(out,
             "  global %d %s as %s: warp %d, %.6g requests, %.6g sectors of %.6g, %.6g lines, "
             "%.6g clocks; %08x\n",
             s->number, s->text, s->compiled ? s->compiled->name : "-", s->warp, s->requests,
             s->sectors, s->ideal, s->lines, s->clocks, (unsigned)sum);
}

// ---- calibration --------------------------------------------------------------------------------

static void tell_terms(Str *out, const Model *model) {
  const CalibrationBasis b = calibration_basis(model);
  const CalibrationTerms terms = calibration_terms_of(&b);
  str_printf(out,
             "  %s: %d %.6g %.6g kernel %d %d; %.6g %.6g %.6g %.6g; %.6g %.6g %.6g; %.6g %.6g "
             "%.6g\n ",
             calibration_family_name(b.family), (int)b.pipe, b.atom_warps, b.atom_loads,
             b.main_kernel, b.staged, b.warp_accesses, b.copied, b.requests, b.stored_sectors,
             b.wasted_bytes, b.step_lines, b.again_bytes, b.loaded_lines, b.other_clocks,
             b.multiply_fma);
  for (int i = 0; i < CALIBRATION_FACTORS; i++)
    if (terms.term[i] != 0)
      str_printf(out, " %s %.6g", calibration_name((CalibrationFactor)i), terms.term[i]);
  str_add(out, "\n");
  const Calibration plain = calibration_none();
  CalibrationLimit limit[CALIBRATION_FACTORS];
  const Estimate e = estimate_of(NULL, model);
  char said[ESTIMATE_SAID_BYTES];
  str_printf(out, "  %.5g ns, estimated %.5g, %.5g to %.5g TFLOP/s, %s;",
             calibration_ns(&plain, &terms), e.tflops, e.low, e.high,
             estimate_said(said, &e, false));
  for (int i = 0, n = calibration_limits(&plain, &terms, limit); i < n; i++)
    str_printf(out, " %s %.5g", limit[i].title, limit[i].ns);
  str_printf(out, "; %.5g ns; %s\n", estimate_ns(&e, model),
             estimate_roofline_reasons(property_arena, model));
}

// ---- tiles and ways -----------------------------------------------------------------------------

static uint64_t sum_box(uint64_t sum, TileBox box) {
  return sum_number(sum_number(sum_number(sum_number(sum, box.row), box.col), box.rows), box.cols);
}

static void tell_tile(Str *out, const Program *program, int product) {
  const TileMap *map = tile_map_build(property_arena, program, product);
  uint64_t sum = HASH_START;
  char name[48];
  if (!map) return;
  for (int64_t row = 0; row < map->rows; row++)
    for (int64_t col = 0; col < map->cols; col++) {
      const TileOwner owner = tile_map_owner(map, row, col);
      sum = sum_number(sum_number(sum, owner.thread), owner.value);
    }
  for (int i = 0; i < map->n_threads; i++) sum = sum_box(sum, map->of_thread[i]);
  for (int i = 0; i < map->n_warps; i++) sum = sum_box(sum, map->of_warp[i]);
  sum = sum_box(sum, tile_map_atom(map, map->rows / 2, map->cols / 3));
  const int value = tile_map_owner(map, map->rows / 2, map->cols / 2).value;
  str_printf(out, "  tile %d of %d x %d, %d threads, %d warps, %s; %08x\n", product, (int)map->rows,
             (int)map->cols, map->n_threads, map->n_warps,
             value >= 0 ? tile_map_register_text(map, value, name) : "-", (unsigned)sum);
}

static uint64_t sum_place(uint64_t sum, const TracePlace *p) {
  sum = sum_number(sum_name(sum, p->buffer ? p->buffer->name : NULL), p->offset);
  for (int d = 0; d < RANK_MAX; d++) sum = sum_number(sum, p->index[d]);
  return sum;
}

static void tell_way(Str *out, const Trace *t) {
  str_printf(out, "  %s %d,%d in %d:", atom_operand_name(t->operand), (int)t->row, (int)t->col,
             (int)t->cta);
  for (int i = 0; i < t->n_moves; i++) {
    const TraceMove *m = &t->move[i];
    const uint64_t sum = sum_place(sum_place(HASH_START, &m->from), &m->to);
    str_printf(out, " thread %d/%d lane %d k %d %08x", m->thread, m->n_threads, m->address_lane,
               (int)m->k_o, (unsigned)sum);
  }
  str_add(out, "\n");
}

static void tell_ways(Str *out, const Model *model, uint64_t *seed) {
  const Grid *grid = grid_build(property_arena, model);
  const Problem *p = &model->program->problem;
  const bool attention = model->program->n_products > 1;
  for (int n = 0; n < ELEMENTS; n++) {
    TraceAt at = {0};
    at.i = random_between(seed, 0, p->m - 1);
    at.j = random_between(seed, 0, p->n - 1);
    at.k = random_between(seed, 0, p->k - 1);
    const int64_t split = attention ? 0 : min64(at.k / grid->k_part, grid->splits - 1),
                  col = attention ? 0 : at.j / grid->tile_n,
                  cta = grid_owner(grid, at.i / grid->tile_m, col, split);
    if (cta < 0) continue;
    for (int product = 0; product <= attention; product++) {
      Trace way[ATOM_OPERANDS];
      // The second product has the key, a column of the first, for its depth.
      const TraceAt of = product ? (TraceAt){at.i, at.k, at.j, product} : at;
      trace_product(property_arena, model->program, cta, of, way);
      for (int i = 0; i < ATOM_OPERANDS; i++) tell_way(out, &way[i]);
    }
  }
}

// ---- models -------------------------------------------------------------------------------------

static void tell_model(Str *out, const Model *model, uint64_t *seed) {
  const Program *program = model->program;
  const SiteTotals *t = &model->totals;
  str_printf(out,
             "  %d sites, %.6g wavefronts of %.6g, %.6g counted, %d with conflicts; lines %.6g, "
             "copies %.6g\n",
             model->n_sites, t->wavefronts, t->ideal, t->profiled, t->n_conflicting, model->lines,
             model->copies);
  for (int i = 0; i < model->n_sites; i++) tell_site(out, &model->site[i]);
  for (int i = 0; i < model->global.n; i++) tell_global(out, &model->global.site[i]);
  tell_terms(out, model);
  for (int i = 0; i < program->n_products; i++) tell_tile(out, program, i);
  tell_ways(out, model, seed);
}

// The rung with two tiles in each direction, whose blocks are all mapped.
static const Model *small_of(const Schedule *rung) {
  Schedule schedule = property_of_two_heads(rung);
  const int64_t *v = schedule.value;
  const int64_t m = 2 * max64(schedule_tile(&schedule, KNOB_M) * v[KNOB_CLUSTER_M], 16),
                n = 2 * max64(schedule_tile(&schedule, KNOB_N) * v[KNOB_CLUSTER_N], 16),
                k = max64(schedule_tile(&schedule, schedule_walked(&schedule)) *
                              (v[KNOB_BUFFER_COUNT] + 2) * max64(v[KNOB_SPLITK], 1),
                          16);
  schedule_resize(&schedule, m, n, k);
  return model_build(property_arena, &property_targets, &schedule);
}

START_TEST(models_are_read_as_reviewed) {
  char *rows = edges_read(property_data, "reading_states.txt");
  const EmbeddedList list = embed_list(property_data, "ladders/");
  Str out = str_new(property_data);
  uint64_t seed = 3;
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"), arena_reset(property_arena)) {
    const Schedule state = property_read_state(row);
    const Model *model = model_build(property_arena, &property_targets, &state);
    str_printf(&out, "%s\n", row);
    if (model->ok) tell_model(&out, model, &seed);
  }
  for (int i = 0; i < list.count; i++) {
    const Ladder *ladder = property_read_ladder(list.paths[i]);
    for (int r = 0; r < ladder->n_rungs; r++, arena_reset(property_arena)) {
      Str told = str_new(property_arena);
      tell_model(&told, property_built(&ladder->rung[r].schedule), &seed);
      const Model *small = small_of(&ladder->rung[r].schedule);
      if (small->ok) tell_ways(&told, small, &seed);
      str_printf(&out, "%s/%s: %08x\n", ladder->name, ladder->rung[r].name,
                 (unsigned)hash_text(HASH_START, told.text));
    }
  }
  golden_check("told/models.txt", out.text);
}
END_TEST

Suite *suite_told_models(void) {
  Suite *suite = suite_create("told_models");
  TCase *tcase = tcase_create("models");
  tcase_set_timeout(tcase, 240);
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, models_are_read_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
