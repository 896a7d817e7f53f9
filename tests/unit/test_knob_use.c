// A knob that is said to be of no use changes nothing; every family has knobs the other lacks.
#include "model/readings/rules/knob_use.h"

#include <check.h>

#include "base/embed.h"
#include "base/str.h"
#include "model/readings/derive.h"
#include "model/readings/model.h"
#include "model/words/ladder.h"
#include "property.h"

static Arena *arena;
static Diags diags;
static TargetTable targets;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
  targets = *property_gpus();
}

static void teardown(void) { arena_free(arena); }

static void check_step(const Rung *rung, const Model *before, KnobId knob, int direction) {
  Schedule schedule = rung->schedule;
  int64_t value;
  if (!knob_step(&schedule, knob, direction, &value)) return;
  schedule_set(&schedule, knob, value);
  const Model *after = model_build(arena, &targets, &schedule);
  if (!after->ok) return;  // a rule may forbid what would say nothing
  ck_assert_msg(
      str_equal(program_text(arena, before->program), program_text(arena, after->program)),
      "%s: %s does something", rung->name, knob_table[knob].name);
}

static void check_ladder(const char *path, int *n_unused) {
  const EmbeddedFile *file = embed_find(arena, path);
  const Ladder *ladder = ladder_read(arena, file->text, file->size, path, &diags);
  ck_assert_ptr_nonnull(ladder);
  for (int i = 0; i < ladder->n_rungs; i++) {
    const Model *model = model_build(arena, &targets, &ladder->rung[i].schedule);
    for (int k = 0; k < KNOB_COUNT && model->ok; k++) {
      if (k == KNOB_AUTO || knob_is_used((KnobId)k, &ladder->rung[i].schedule)) continue;
      check_step(&ladder->rung[i], model, (KnobId)k, -1);
      check_step(&ladder->rung[i], model, (KnobId)k, +1);
      ++*n_unused;
    }
  }
}

START_TEST(unused_knobs_change_nothing) {
  EmbeddedList list = embed_list(arena, "ladders/");
  int n_unused = 0;
  for (int i = 0; i < list.count; i++) check_ladder(list.paths[i], &n_unused);
  ck_assert_int_gt(n_unused, 100);
}
END_TEST

START_TEST(families_differ) {
  Schedule schedule = schedule_plain();
  ck_assert(knob_is_used(KNOB_BM, &schedule) && !knob_is_used(KNOB_WM, &schedule));
  ck_assert(schedule_parse(&schedule, "ATOM_KIND=mma_m16n8k16_f16", &diags));
  ck_assert(!knob_is_used(KNOB_BM, &schedule) && knob_is_used(KNOB_WM, &schedule));
  ck_assert(knob_is_used(KNOB_FM, &schedule) && knob_is_used(KNOB_M, &schedule));
}
END_TEST

// 128 threads of 168 registers: 65536 / (4 warps · 5376) is 3 blocks; of 255 it is 2, of 40 it is
// shared memory or the limits of the SM that count.
START_TEST(the_compilers_registers_decide) {
  Schedule schedule = schedule_plain();
  ck_assert(schedule_parse(&schedule, "BM=8,BN=16,FM=8,FN=8,BK=8,STAGE=11", &diags));
  const Model *model = model_build(arena, &targets, &schedule);
  ck_assert(model->ok);
  Resources many = resources_with_registers(&model->resources, model->target, 168, -1),
            most = resources_with_registers(&model->resources, model->target, 255, -1);
  ck_assert_int_eq(many.blocks_per_sm, 3);
  ck_assert_int_eq(most.blocks_per_sm, 2);
  ck_assert_str_eq(most.limiter, "registers");
  ck_assert_int_eq(most.n_registers, 255);
  Resources few = resources_with_registers(&model->resources, model->target, 40, -1);
  ck_assert_int_gt(few.blocks_per_sm, 3);
  ck_assert(few.occupancy > many.occupancy && few.waves < many.waves);
  ck_assert_int_eq((int)few.smem_bytes, (int)model->resources.smem_bytes);
  Resources same =
      resources_with_registers(&model->resources, model->target, model->resources.n_registers, -1);
  ck_assert_int_eq(same.blocks_per_sm, model->resources.blocks_per_sm);
}
END_TEST

// Measured on an H200: blocks of clusters are eight on an SM at most, others 32.
START_TEST(blocks_of_clusters_are_eight_on_an_sm) {
  static const struct {
    const char *target, *cluster, *limiter;
    int blocks;
  } cases[] = {{"h200", "CLUSTER_N=1", "blocks", 32},
               {"h200", "CLUSTER_N=2", "clusters", 8},
               {"h100", "CLUSTER_M=4", "clusters", 8},
               {"b200", "CLUSTER_N=2", "blocks", 32}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Schedule schedule = schedule_plain();
    const char *text =
        arena_printf(arena, "TARGET=%s,BM=4,BN=8,FM=1,FN=1,%s", cases[i].target, cases[i].cluster);
    ck_assert(schedule_parse(&schedule, text, &diags));
    const Model *model = model_build(arena, &targets, &schedule);
    ck_assert_msg(model->ok, "%s", text);
    ck_assert_msg(model->resources.blocks_per_sm == cases[i].blocks, "%s: %d", text,
                  model->resources.blocks_per_sm);
    ck_assert_str_eq(model->resources.limiter, cases[i].limiter);
  }
}
END_TEST

Suite *suite_knob_use(void);
Suite *suite_knob_use(void) {
  Suite *suite = suite_create("knob use");
  TCase *tcase = tcase_create("knob use");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, unused_knobs_change_nothing);
  tcase_add_test(tcase, families_differ);
  tcase_add_test(tcase, the_compilers_registers_decide);
  tcase_add_test(tcase, blocks_of_clusters_are_eight_on_an_sm);
  suite_add_tcase(suite, tcase);
  return suite;
}
