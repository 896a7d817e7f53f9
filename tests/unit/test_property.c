// The backbone: after every pass of every rung, and for random legal schedules, the program
// computes what its naive nest computes and no race is reported. That faults planted into those
// very programs are noticed is seen to in test_mutants.c.
#include <check.h>
#include <stdio.h>

#include "base/embed.h"
#include "base/random.h"
#include "base/whole.h"
#include "model/ir/program.h"
#include "model/readings/model.h"
#include "model/readings/rules/rule.h"
#include "model/schedules/random_schedule.h"
#include "model/schedules/reduce.h"
#include "model/words/schedule_atom.h"
#include "property.h"
#include "stress.h"

Suite *suite_property(void);

enum {
  N_RANDOM = 75,
  N_RANDOM_WHOLE = 500,
  N_RANDOM_EMULATED = 50,
  N_HOPPER = 6,
  N_HOPPER_WHOLE = 500,
  SHAPES_EMULATED = 2
};

// ---- what holds ---------------------------------------------------------------------------------

// One thread alone takes long over a large problem, and does not do anything else in it.
static bool is_large_naive(const Pass *pass, const Problem *problem) {
  return !pass && problem->m * problem->n * problem->k > 1 << 18;
}

// Every second stage, at the next turn the others, and the last one; in `make stress` all of them.
// Or the last one alone.
static bool every_stage_computes(const Schedule *schedule, int turn, bool last_alone, Seen **seen) {
  const Model *model = model_build(property_arena, &property_targets, schedule);
  if (!model->ok) {
    printf("%s\n%s", schedule_text(property_arena, schedule),
           diags_text(property_arena, &model->diags));
    return false;
  }
  int last = model->pipeline.n_stages - 1;
  for (int i = last_alone ? last : 0; i <= last; i++) {
    const Pass *pass = model->pipeline.stage[i].pass;
    const Program *program = model->pipeline.stage[i].program;
    if (i < last && !stress_has_turn(i + turn, 5)) continue;
    if (is_large_naive(pass, &program->problem) || !property_is_new(seen, program)) continue;
    if (!property_computes(schedule, pass ? pass->name : "nothing", program, 1)) return false;
  }
  return true;
}

// The program itself, and after a pass drawn at random.
static bool last_stage_computes(const Schedule *schedule, uint64_t *state) {
  const Model *model = model_build(property_arena, &property_targets, schedule);
  int last = model->pipeline.n_stages - 1;
  int stage[] = {(int)random_between(state, 1, last), last};
  for (int i = stage[0] == last; i < 2; i++) {
    const Pass *pass = model->pipeline.stage[stage[i]].pass;
    if (!property_computes(schedule, pass->name, model->pipeline.stage[stage[i]].program, 2))
      return false;
  }
  return true;
}

// ---- rungs --------------------------------------------------------------------------------------

// A tile of 32,768 cells and more takes a second in each shape.
static bool is_wide(const Schedule *schedule) {
  return schedule_tile(schedule, KNOB_M) * schedule_tile(schedule, KNOB_N) >= 32768;
}

// The rungs of attention are much alike: each has one shape, and is as it is after the last pass;
// suite attention goes through all passes.
static bool is_of_rows(const Schedule *rung) {
  return rung->value[KNOB_PROGRAM] == COMPUTES_ATTENTION;
}

// Shapes in tiles and slabs of the rung, plus an edge: exact; rows cut by a few and columns by one;
// rows and columns the other way round and in fours, so that wide accesses stay; thinner than a
// tile; one cell.
static const struct {
  int64_t m_tiles, m_edge, n_tiles, n_edge, k_slabs, k_edge;
  bool has_narrow_like;  // wide tiles leave it out: narrower ones of their kind go through it
} shapes[] = {
    {1, 0, 1, 0, 2, 0, true},   {1, 3, 1, -1, 3, -1, false}, {1, -4, 1, 4, 1, 4, true},
    {0, 5, 1, -1, 1, 3, false}, {0, 1, 0, 1, 0, 1, false},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static int64_t extent(const Schedule *schedule, KnobId axis, int64_t tiles, int64_t edge) {
  int64_t grain = schedule_grain(schedule, axis);
  int64_t value = (schedule_tile(schedule, axis) * tiles + edge + grain - 1) / grain * grain;
  return value < grain ? grain : value;
}

static Schedule shaped(const Schedule *rung, int shape) {
  Schedule schedule = property_of_two_heads(rung);
  const int64_t *v = schedule.value;
  const KnobId walked = schedule_walked(rung);
  // Three splits are as good as 64, and a twentieth of the work.
  if (v[KNOB_SPLITK] > 3) schedule_set(&schedule, KNOB_SPLITK, 3);
  int64_t m = extent(&schedule, KNOB_M, shapes[shape].m_tiles, shapes[shape].m_edge);
  int64_t n = extent(&schedule, KNOB_N, shapes[shape].n_tiles, shapes[shape].n_edge);
  int64_t k = extent(&schedule, walked, shapes[shape].k_slabs, shapes[shape].k_edge);
  // A single cell has no K to split: every split needs a slab.
  int64_t slab = schedule_tile(&schedule, walked);
  if (v[KNOB_SPLITK] > 1 && k < slab) k = slab - 1;
  // And so does every part; tails that are cut are those of suites persistent and work_lists.
  int64_t parts = min64(v[KNOB_TAIL_SPLIT], ceil_div(k, slab));
  schedule_set(&schedule, KNOB_TAIL_SPLIT, parts);
  schedule_resize(&schedule, m, n, k);
  return schedule;
}

// In every third shape, the next rung in the next ones, and after its passes in one of them; under
// stress in all; on tensor cores narrow, and each fourth as it is after the last pass.
static bool rung_computes(const Schedule *rung, int turn, bool last_alone, Seen **seen) {
  enum { THIN = 3 };
  const Schedule narrow = property_narrow(rung);
  bool ok = true;
  for (int s = 0; s < (stress_is_emulated() ? SHAPES_EMULATED : N_SHAPES); s++) {
    arena_reset(property_arena);
    if (shapes[s].has_narrow_like && is_wide(&narrow)) continue;
    if (is_of_rows(rung) && s != turn % N_SHAPES && !stress_is_on()) continue;
    Schedule schedule = shaped(&narrow, s);
    bool every = s == turn % N_SHAPES || stress_is_on();
    if (!every && !stress_has_turn(s + turn, 4)) continue;
    ok &= every_stage_computes(&schedule, turn, last_alone || !every, seen);
  }
  arena_reset(property_arena);
  Schedule whole = shaped(rung, THIN);
  if (!stress_has_turn(turn / 3, 4)) return ok;
  return every_stage_computes(&whole, turn, true, seen) && ok;
}

START_TEST(every_pass_of_every_rung_computes_the_nest) {
  EmbeddedList list = embed_list(property_data, "ladders/");
  int rungs = 0;
  bool ok = true;
  Seen *seen = NULL, *kinds = NULL;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++) {
      if (ladder->rung[r].not_built) continue;
      rungs++;
      bool last_alone = !property_is_new_kind(&kinds, &ladder->rung[r]) || stress_is_emulated() ||
                        is_of_rows(&ladder->rung[r].schedule);
      if (stress_has_turn(rungs, 9))
        ok &= rung_computes(&ladder->rung[r].schedule, rungs, last_alone, &seen);
    }
  }
  ck_assert(ok);
  ck_assert_int_ge(rungs, 10);
}
END_TEST

// The rungs on tensor cores, their sums leaving by TMA and, where they have 16 bits, by stmatrix:
// in one piece and in two slots of pieces of 8 columns, with edges.
START_TEST(rungs_whose_sums_leave_by_tma_compute_the_nest) {
  EmbeddedList list = embed_list(property_data, "ladders/");
  int rungs = 0;
  bool ok = true;
  Seen *seen = NULL, *kinds = NULL;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++) {
      const int64_t *v = ladder->rung[r].schedule.value;
      if (ladder->rung[r].not_built || !v[KNOB_ATOM_KIND] || !v[KNOB_TMA]) continue;
      if (v[KNOB_PROGRAM] == COMPUTES_ATTENTION) continue;  // its sums leave from registers
      if (!stress_has_turn(r + f, 18)) continue;
      bool last_alone = !property_is_new_kind(&kinds, &ladder->rung[r]);
      rungs++;
      for (int way = 0; way < 2; way++) {
        arena_reset(property_arena);
        Schedule schedule = property_narrow(&ladder->rung[r].schedule);
        schedule_set(&schedule, KNOB_EPILOGUE, 1);
        schedule_set(&schedule, KNOB_TMA_STORE, 1);
        schedule_set(&schedule, KNOB_STMATRIX,
                     !atom_is_of_thread(schedule_atom_row(&schedule)) &&
                         (v[KNOB_DTYPE] == DTYPE_F16 || v[KNOB_DTYPE] == DTYPE_BF16));
        schedule_set(&schedule, KNOB_EPI_N, way ? 8 : 0);
        schedule_set(&schedule, KNOB_EPI_BUFFERS, way + 1);
        schedule = shaped(&schedule, way ? 3 : 2);
        ok &= every_stage_computes(&schedule, rungs, last_alone || way, &seen);
      }
    }
  }
  ck_assert(ok);
  ck_assert_int_ge(rungs, stress_part(30, 18));
}
END_TEST

START_TEST(random_legal_schedules_compute_the_nest) {
  uint64_t seed = property_seed(), state = seed;
  const RandomLimits limits = {.extent_max = 200, .fma_max = 400000};
  const int n = stress_is_emulated() ? N_RANDOM_EMULATED : stress_count(N_RANDOM, N_RANDOM_WHOLE);
  int failed = 0, draws = 0, tensor = 0, groups = 0, layouts = 0;
  printf("%d random legal schedules from GEMMVIEW_SEED=%llu\n", n, (unsigned long long)seed);
  for (int i = 0; i < n; i++) {
    arena_reset(property_arena);
    int tries = 0;
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, &tries);
    draws += tries;
    tensor += schedule.value[KNOB_ATOM_KIND] != 0;
    groups += schedule_atom_row(&schedule) && atom_is_of_warpgroup(schedule_atom_row(&schedule));
    layouts += schedule.layout[0][0] || schedule.layout[1][0];
    arena_reset(property_arena);
    failed += !last_stage_computes(&schedule, &state);
  }
  printf(
      "drew %d for %d legal ones: %d on tensor cores, %d of them by warpgroups, %d with a typed "
      "layout\n",
      draws, n, tensor, groups, layouts);
  ck_assert_int_eq(failed, 0);
  ck_assert_int_ge(tensor, n / 3);
  ck_assert_int_ge(groups, n / 20);
}
END_TEST

START_TEST(random_block_scaled_schedules_compute_the_nest) {
  uint64_t state = property_seed();
  const RandomLimits limits = {.extent_max = 400, .fma_max = 400000, .family = RANDOM_SCALED};
  const int n = stress_is_emulated() ? 5 : stress_count(30, N_RANDOM_WHOLE);
  int failed = 0, words = 0;
  for (int i = 0; i < n; i++) {
    arena_reset(property_arena);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "rtx5090", &limits, &state, NULL);
    ck_assert_int_gt(atom_scales(schedule_atom_row(&schedule)), 0);
    words += schedule.value[KNOB_SCALE_WORDS] != 0;
    failed += !last_stage_computes(&schedule, &state);
  }
  ck_assert_int_eq(failed, 0);
  ck_assert_int_gt(words, 0);
}
END_TEST

// What wgmma may have beside it, and in how many of a hundred schedules at least it is there.
static const struct {
  KnobId knob;
  int64_t from;  // it is there where the knob has this value or a higher one
  int percent;
} hopper_shares[] = {
    {KNOB_WARP_SPECIALIZE, 1, 60},
    {KNOB_MULTICAST, 1, 40},
    {KNOB_PERSISTENT, 1, 50},
    {KNOB_TMA_STORE, 1, 35},
    {KNOB_TILE_ORDER, ORDER_GPC, 15},
    {KNOB_STMATRIX, 1, 5},
    {KNOB_MMA_GROUPS, 1, 10},
    {KNOB_SPLITK, 2, 3},
    {KNOB_A_REGS, 1, 5},
    {KNOB_SERPENTINE_K, 1, 15},
    {KNOB_ROLE_SCHEDULE, ROLES_PINGPONG, 5},
    {KNOB_TAIL_SPLIT, 2, 10},
};
enum { N_SHARES = sizeof hopper_shares / sizeof hopper_shares[0] };

static Schedule draw_hopper(uint64_t *state) {
  const RandomLimits limits = {.extent_max = 400, .fma_max = 1 << 20, .family = RANDOM_HOPPER};
  arena_reset(property_arena);
  return schedule_random(property_arena, &property_targets, "h200", &limits, state, NULL);
}

START_TEST(random_hopper_schedules_compute_the_nest_after_every_pass) {
  uint64_t seed = property_seed(), state = seed;
  const int n = stress_is_emulated() ? 1 : stress_count(N_HOPPER, N_HOPPER_WHOLE);
  int failed = 0;
  printf("%d random schedules of Hopper's family from GEMMVIEW_SEED=%llu\n", n,
         (unsigned long long)seed);
  for (int i = 0; i < n; i++) {
    Schedule schedule = draw_hopper(&state);
    Seen *seen = NULL;
    failed += !every_stage_computes(&schedule, i, false, &seen);
  }
  ck_assert_int_eq(failed, 0);
}
END_TEST

START_TEST(hopper_alone_has_its_family) {
  static const char *const without[] = {"v100", "a100", "b200", "rtx5090"};
  ck_assert(random_family_on(RANDOM_HOPPER, target_find(&property_targets, "h100", NULL)));
  for (int i = 0; i < 4; i++) {
    const Target *target = target_find(&property_targets, without[i], NULL);
    ck_assert(target && !random_family_on(RANDOM_HOPPER, target));
    ck_assert(random_family_on(RANDOM_ANY, target));
  }
}
END_TEST

// A family that hardly ever draws what it is about would prove little.
START_TEST(hopper_schedules_have_what_hopper_has) {
  enum { DRAWS = 200 };
  uint64_t state = property_seed();
  int has[N_SHARES] = {0};
  for (int i = 0; i < DRAWS; i++) {
    Schedule schedule = draw_hopper(&state);
    ck_assert(atom_is_of_warpgroup(schedule_atom_row(&schedule)));
    ck_assert_int_eq(schedule.value[KNOB_TMA], 1);
    for (int s = 0; s < N_SHARES; s++)
      has[s] += schedule.value[hopper_shares[s].knob] >= hopper_shares[s].from;
  }
  for (int s = 0; s < N_SHARES; s++)
    ck_assert_msg(100 * has[s] >= hopper_shares[s].percent * DRAWS, "%s: in %d of %d",
                  knob_table[hopper_shares[s].knob].name, has[s], DRAWS);
}
END_TEST

// The values of Hopper's knobs, as bits; of the others in it some that are no power of two.
static const struct {
  KnobId knob;
  unsigned values;
} hopper_values[] = {
    {KNOB_WARP_SPECIALIZE, 0x3}, {KNOB_ROLE_SCHEDULE, 0x3}, {KNOB_PRODUCER_WARPS, 0x1f},
    {KNOB_A_REGS, 0x3},          {KNOB_MMA_GROUPS, 0x3},    {KNOB_CLUSTER_M, 0x16},
    {KNOB_CLUSTER_N, 0x16},      {KNOB_MULTICAST, 0x3},     {KNOB_PERSISTENT, 0x3},
    {KNOB_TILE_ORDER, 0xf},      {KNOB_SERPENTINE_K, 0x3},  {KNOB_TMA_STORE, 0x3},
    {KNOB_STMATRIX, 0x3},        {KNOB_EPI_BUFFERS, 0x6},   {KNOB_SWIZZLE, 0xf},
    {KNOB_BUFFER_COUNT, 0x1e},   {KNOB_A_COL, 0x3},         {KNOB_B_COL, 0x3},
    {KNOB_PRODUCER_REGS, 1},     {KNOB_EPI_N, 1},           {KNOB_ACC, 0x3},
};
enum { N_HOPPER_VALUES = sizeof hopper_values / sizeof hopper_values[0] };

START_TEST(every_value_of_hoppers_knobs_is_drawn) {
  enum { DRAWS = 1000 };
  uint64_t state = 11;
  unsigned drawn[N_HOPPER_VALUES] = {0};
  for (int i = 0; i < DRAWS; i++) {
    const Schedule schedule = draw_hopper(&state);
    for (int k = 0; k < N_HOPPER_VALUES; k++)
      if (schedule.value[hopper_values[k].knob] < 32)
        drawn[k] |= 1u << schedule.value[hopper_values[k].knob];
  }
  for (int k = 0; k < N_HOPPER_VALUES; k++)
    ck_assert_msg((hopper_values[k].values & ~drawn[k]) == 0, "%s: 0x%x of 0x%x",
                  knob_table[hopper_values[k].knob].name, drawn[k], hopper_values[k].values);
}
END_TEST

// What is not built is Blackwell's, and warps that fma kernels do not tile by.
START_TEST(nothing_of_hopper_is_not_built) {
  int n = 0;
  for (int i = 0; i < rule_count; i++) {
    if (strncmp(rule_table[i].id, "not_built", strlen("not_built")) != 0) continue;
    n++;
    for (int k = 0; k < N_HOPPER_VALUES; k++)
      ck_assert_msg(!strstr(rule_table[i].knobs, knob_table[hopper_values[k].knob].name), "%s: %s",
                    rule_table[i].id, rule_table[i].knobs);
  }
  ck_assert_int_gt(n, 0);
  uint64_t state = 11;
  for (int i = 0; i < 50; i++) {
    const Schedule schedule = draw_hopper(&state);
    ck_assert(rules_allow(property_arena, &schedule, target_find(&property_targets, "h200", NULL)));
  }
}
END_TEST

// A knob that nobody draws is a knob that nobody tries.
START_TEST(every_knob_is_drawn) {
  enum { DRAWS = 4000 };
  static const char *const left_out[] = {"M", "N", "K", "DTYPE", "TARGET", "AUTO"};
  RandomLimits limits = {.extent_max = 512, .fma_max = 1 << 24};
  bool moved[KNOB_COUNT] = {false};
  uint64_t state = 7;
  for (int i = 0; i < DRAWS; i++) {
    arena_reset(property_arena);
    static const RandomFamily families[8] = {RANDOM_ATTENTION, RANDOM_BLACKWELL, RANDOM_SCALED};
    limits.family = families[i % 8];
    const char *target = limits.family == RANDOM_BLACKWELL ? "b200"
                         : limits.family == RANDOM_SCALED  ? "rtx5090"
                                                           : "h200";
    Schedule drawn =
        schedule_random(property_arena, &property_targets, target, &limits, &state, NULL);
    const Schedule plain = schedule_plain();
    for (int k = 0; k < KNOB_COUNT; k++) moved[k] |= schedule_differs(&drawn, &plain, (KnobId)k);
  }
  for (int k = 0; k < KNOB_COUNT; k++) {
    bool free = false;
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
      free |= strcmp(knob_table[k].name, left_out[i]) == 0;
    ck_assert_msg(free || moved[k], "%s is never drawn", knob_table[k].name);
  }
}
END_TEST

START_TEST(every_target_has_schedules_of_its_own) {
  const RandomLimits limits = {.extent_max = 100, .fma_max = 100000};
  uint64_t state = property_seed();
  for (int t = 0; t < property_targets.count; t++)
    for (int i = 0; i < 8; i++) {
      arena_reset(property_arena);
      const Target *target = &property_targets.targets[t];
      Schedule schedule =
          schedule_random(property_arena, &property_targets, target->id, &limits, &state, NULL);
      const Model *model = model_build(property_arena, &property_targets, &schedule);
      ck_assert_msg(model->ok, "%s", schedule_text(property_arena, &schedule));
      ck_assert_str_eq(model->target->id, target->id);
    }
}
END_TEST

static TCase *new_case(Suite *suite, const char *name) {
  TCase *tc = tcase_create(name);
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 300);
  suite_add_tcase(suite, tc);
  return tc;
}

Suite *suite_property(void) {
  Suite *suite = suite_create("property");
  tcase_add_test(new_case(suite, "rungs"), every_pass_of_every_rung_computes_the_nest);
  tcase_add_test(new_case(suite, "stores"), rungs_whose_sums_leave_by_tma_compute_the_nest);
  TCase *random = new_case(suite, "random");
  tcase_add_test(random, random_legal_schedules_compute_the_nest);
  tcase_add_test(new_case(suite, "scaled"), random_block_scaled_schedules_compute_the_nest);
  TCase *hopper = new_case(suite, "hopper");
  tcase_set_timeout(hopper, 4 * 3600);
  tcase_add_test(hopper, random_hopper_schedules_compute_the_nest_after_every_pass);
  tcase_add_test(hopper, hopper_alone_has_its_family);
  tcase_add_test(hopper, hopper_schedules_have_what_hopper_has);
  tcase_add_test(hopper, every_value_of_hoppers_knobs_is_drawn);
  tcase_add_test(hopper, nothing_of_hopper_is_not_built);
  tcase_add_test(random, every_knob_is_drawn);
  tcase_add_test(random, every_target_has_schedules_of_its_own);
  return suite;
}
