// The backbone: after every pass of every rung, and for random legal schedules, the program
// computes what its naive nest computes and no race is reported; faults planted into those very
// programs are.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/embed.h"
#include "base/random.h"
#include "model/interp.h"
#include "model/ladder.h"
#include "model/model.h"
#include "model/random_schedule.h"

Suite *suite_property(void);

enum { N_RANDOM = 500 };
static const uint64_t default_seed = 20250607;

static Arena *data, *arena;
static TargetTable targets;

static void setup(void) {
  data = arena_new("test property data");
  arena = arena_new("test property");
  const EmbeddedFile *file = embed_find(data, "gpus.json");
  Diags diags = diags_new(data);
  ck_assert_ptr_nonnull(file);
  ck_assert(targets_parse(data, file->text, file->size, &diags, &targets));
}

static void teardown(void) {
  arena_free(arena);
  arena_free(data);
}

// GEMMVIEW_SEED=… runs other random schedules than those of the test of every day.
static uint64_t seed_of_run(void) {
  const char *given = getenv("GEMMVIEW_SEED");
  return given ? strtoull(given, NULL, 10) : default_seed;
}

// ---- what holds ---------------------------------------------------------------------------------

static void tell(const Schedule *schedule, const char *after, const InterpCheck *check) {
  printf("%s\n  after %s:\n", schedule_text(arena, schedule), after);
  for (int i = 0; i < check->n_findings; i++) printf("  %s\n", check->finding[i].text);
  if (check->n_wrong)
    printf("  %lld wrong cells, first C[%lld, %lld] = %g, expected %g\n", (long long)check->n_wrong,
           (long long)check->wrong_row, (long long)check->wrong_column, check->wrong_got,
           check->wrong_expected);
}

static bool computes(const Schedule *schedule, const char *after, const Program *program,
                     int runs) {
  InterpOptions options = {.seed = seed_of_run(), .runs = runs};
  InterpCheck check = interpret_check(arena, program, &options);
  if (!check.ok) tell(schedule, after, &check);
  return check.ok;
}

static bool every_stage_computes(const Schedule *schedule, int first) {
  const Model *model = model_build(arena, &targets, schedule);
  if (!model->ok) {
    printf("%s\n%s", schedule_text(arena, schedule), diags_text(arena, &model->diags));
    return false;
  }
  for (int i = first; i < model->pipeline.n_stages; i++) {
    const Pass *pass = model->pipeline.stage[i].pass;
    if (!computes(schedule, pass ? pass->name : "nothing", model->pipeline.stage[i].program, 1))
      return false;
  }
  return true;
}

// ---- rungs --------------------------------------------------------------------------------------

// Shapes in tiles and slabs of the rung, plus an edge: exact, cut by one, cut by four (so that wide
// accesses stay), thinner than a tile, one cell.
static const struct {
  int64_t m_tiles, m_edge, n_tiles, n_edge, k_slabs, k_edge;
} shapes[] = {
    {1, 0, 1, 0, 2, 0},  {1, 3, 1, 1, 3, -1}, {1, 4, 1, -4, 2, 4},
    {0, 5, 1, -1, 1, 3}, {0, 1, 0, 1, 0, 1},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static int64_t extent(int64_t tile, int64_t tiles, int64_t edge) {
  int64_t value = tile * tiles + edge;
  return value < 1 ? 1 : value;
}

static Schedule shaped(const Schedule *rung, int shape) {
  Schedule schedule = *rung;
  const int64_t *v = rung->value;
  int64_t slab = v[KNOB_BK] * v[KNOB_SPLITK];
  schedule_set(&schedule, KNOB_M,
               extent(v[KNOB_BM] * v[KNOB_FM], shapes[shape].m_tiles, shapes[shape].m_edge));
  schedule_set(&schedule, KNOB_N,
               extent(v[KNOB_BN] * v[KNOB_FN], shapes[shape].n_tiles, shapes[shape].n_edge));
  schedule_set(&schedule, KNOB_K, extent(slab, shapes[shape].k_slabs, shapes[shape].k_edge));
  // A single cell has no K to split: every split needs a slab.
  if (v[KNOB_SPLITK] > 1 && schedule.value[KNOB_K] < slab)
    schedule_set(&schedule, KNOB_K, slab - 1);
  return schedule;
}

START_TEST(every_pass_of_every_rung_computes_the_nest) {
  EmbeddedList list = embed_list(data, "ladders/");
  int rungs = 0;
  bool ok = true;
  for (int f = 0; f < list.count; f++) {
    const EmbeddedFile *file = embed_find(data, list.paths[f]);
    Diags diags = diags_new(data);
    const Ladder *ladder = ladder_read(data, file->text, file->size, list.paths[f], &diags);
    ck_assert_msg(ladder != NULL, "%s", diags_text(data, &diags));
    for (int r = 0; r < ladder->n_rungs; r++) {
      if (ladder->rung[r].not_built) continue;
      rungs++;
      for (int s = 0; s < N_SHAPES; s++) {
        arena_reset(arena);
        Schedule schedule = shaped(&ladder->rung[r].schedule, s);
        ok &= every_stage_computes(&schedule, r == 0 || s == N_SHAPES - 1 ? 0 : 1);
      }
    }
  }
  ck_assert(ok);
  ck_assert_int_ge(rungs, 10);
}
END_TEST

START_TEST(random_legal_schedules_compute_the_nest) {
  uint64_t seed = seed_of_run(), state = seed;
  const RandomLimits limits = {200, 400000};
  int failed = 0, draws = 0;
  printf("%d random legal schedules from GEMMVIEW_SEED=%llu\n", N_RANDOM, (unsigned long long)seed);
  for (int i = 0; i < N_RANDOM; i++) {
    arena_reset(arena);
    int tries = 0;
    Schedule schedule = schedule_random(arena, &targets, "h200", &limits, &state, &tries);
    draws += tries;
    arena_reset(arena);
    failed += !every_stage_computes(&schedule, 1);
  }
  printf("drew %d for %d legal ones\n", draws, N_RANDOM);
  ck_assert_int_eq(failed, 0);
}
END_TEST

Suite *suite_property(void) {
  Suite *suite = suite_create("property");
  TCase *tc = tcase_create("property");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 300);
  tcase_add_test(tc, every_pass_of_every_rung_computes_the_nest);
  tcase_add_test(tc, random_legal_schedules_compute_the_nest);
  suite_add_tcase(suite, tc);
  return suite;
}
