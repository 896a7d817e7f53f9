// What lies on the chip and who does what to it, by numbers that one can count by hand: article
// 004's stages, columns, masks and bytes.
#include "model/readings/place/on_chip.h"

#include <check.h>
#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/readings/rules/smem_budget.h"
#include "property.h"

static const OnChip *chip_of(const char *ladder, const char *rung, const char *knobs) {
  return on_chip(property_arena, property_rung(ladder, rung, knobs));
}

static const ChipBarrier *barrier(const OnChip *chip, const char *name) {
  for (int i = 0; i < chip->n_barriers; i++)
    if (!strcmp(chip->barrier[i].buffer->name, name)) return &chip->barrier[i];
  ck_abort_msg("no mbarrier %s", name);
}

// ---- shared memory ------------------------------------------------------------------------------

// 128 x 64 of f16 are 16 KiB, so a stage is 32; beside it C's tile is 32: 160 and 224 KiB of 228.
START_TEST(four_and_six_stages) {
  static const struct {
    const char *knobs;
    int64_t kib, stages;
  } row[] = {{"BUFFER_COUNT=4,EPI_N=128", 160, 4}, {"BUFFER_COUNT=6,EPI_N=128", 224, 6}};
  for (int i = 0; i < 2; i++) {
    const Model *model = property_rung("blackwell", "roles", row[i].knobs);
    const SmemBudget budget = smem_budget(model->program, model->target);
    ck_assert_int_eq(budget.stage_bytes, 32 * 1024);
    ck_assert_int_eq(budget.stages, row[i].stages);
    ck_assert_int_eq(budget.bytes / 1024, row[i].kib);
    ck_assert_int_eq(budget.sm_bytes, 228 * 1024);
    ck_assert_int_eq(budget.most_stages, 6);
    ck_assert_int_eq(budget.bytes, model->resources.smem_bytes);
  }
}
END_TEST

// With that many the schedule is legal, and with one more it is not: every family.
START_TEST(one_stage_more_is_too_much) {
  static const char *const rung[][2] = {
      {"blackwell", "pair"}, {"hopper", "roles"}, {"hgemm", "roles"}};
  for (size_t i = 0; i < sizeof rung / sizeof *rung; i++) {
    const Ladder *all = property_ladder(rung[i][0]);
    const int index = ladder_find_rung(all, rung[i][1], NULL);
    ck_assert_int_ge(index, 0);
    const Model *model = property_rung(rung[i][0], rung[i][1], "");
    const SmemBudget budget = smem_budget(model->program, model->target);
    Schedule schedule = all->rung[index].schedule;
    schedule.value[KNOB_BUFFER_COUNT] = budget.most_stages;
    ck_assert_int_ge(budget.most_stages, budget.stages);
    const Model *most = model_build(property_arena, &property_targets, &schedule);
    ck_assert_msg(most->ok, "%s", diags_text(property_arena, &most->diags));
    ck_assert_int_eq(smem_budget(most->program, most->target).most_stages, budget.most_stages);
    schedule.value[KNOB_BUFFER_COUNT]++;
    ck_assert(!model_build(property_arena, &property_targets, &schedule)->ok);
  }
}
END_TEST

// ---- mbarriers ----------------------------------------------------------------------------------

// Who fills starts ready, who reads waits: phase 1 and phase 0.
START_TEST(four_barriers_of_roles) {
  const OnChip *chip = chip_of("blackwell", "roles", "");
  static const struct {
    const char *name, *signals, *waits;
    int64_t arrivals, phase;
  } row[] = {{"full", "producer", "consumer", 1, 0},
             {"empty", "consumer", "producer", 1, 1},
             {"acc_full", "consumer", "writeback", 1, 0},
             {"acc_empty", "writeback", "consumer", 4, 1}};
  ck_assert_int_eq(chip->n_barriers, 4);
  for (int i = 0; i < 4; i++) {
    const ChipBarrier *it = barrier(chip, row[i].name);
    ck_assert_int_eq(it->arrivals, row[i].arrivals);
    ck_assert_str_eq(it->signal[0].role->name, row[i].signals);
    ck_assert_int_eq(it->n_waits, 1);
    ck_assert_str_eq(it->wait[0].role->name, row[i].waits);
    ck_assert_int_eq(it->wait[0].phase, row[i].phase);
  }
  ck_assert_int_eq(barrier(chip, "full")->signal[0].bytes, 32768);
  ck_assert_uint_eq(barrier(chip, "acc_empty")->signal[0].warps, 0xf);
}
END_TEST

// With two slots slab 2 takes slab 0's, as the next turn of it: 0 1 0 1, phases 0 0 1 1.
START_TEST(slots_come_back) {
  const OnChip *chip = chip_of("blackwell", "roles", "");
  ck_assert_int_eq(chip->n_slots, 2);
  ck_assert_int_ge(chip->n_turns, 6);
  for (int s = 0; s < 6; s++) {
    ck_assert_int_eq(chip->turn[s].slot, s % 2);
    ck_assert_int_eq(chip->turn[s].full_phase, s / 2 % 2);
    ck_assert_int_eq(chip->turn[s].empty_phase, 1 - s / 2 % 2);
  }
}
END_TEST

// ---- tensor memory ------------------------------------------------------------------------------

static void is_range(const ChipRange *range, int first, int n, int set, int asks, int reader) {
  ck_assert_int_eq(range->first, first);
  ck_assert_int_eq(range->n, n);
  ck_assert_int_eq(range->set, set);
  ck_assert_int_eq(range->asks, asks);
  for (int q = 0; q < TENSOR_QUARTERS; q++) ck_assert_int_eq(range->reader[q], reader + q);
}

START_TEST(columns_by_consumer_and_by_set) {
  const ChipTensor *two = &chip_of("blackwell", "two_sets", "")->tensor;
  ck_assert_int_eq(two->columns, 256);
  ck_assert_int_eq(two->n, 2);
  is_range(&two->range[0], 0, 128, 0, 4, 0);
  is_range(&two->range[1], 128, 128, 1, 4, 0);
  const ChipTensor *all = &chip_of("blackwell", "consumers", "")->tensor;
  ck_assert_int_eq(all->columns, 512);
  ck_assert(all->pair);
  ck_assert_int_eq(all->n, 2);
  is_range(&all->range[0], 0, 256, 0, 8, 0);
  is_range(&all->range[1], 256, 256, 0, 9, 4);
  ck_assert_int_eq(all->range[1].row, 128);
  const ChipTensor *plain = &chip_of("blackwell", "tile", "")->tensor;
  ck_assert_int_eq(plain->n, 1);
  is_range(&plain->range[0], 0, 128, 0, 0, 0);
  ck_assert_int_eq(chip_of("hgemm", "roles", "")->tensor.columns, 0);
}
END_TEST

// ---- clusters -----------------------------------------------------------------------------------

// 256 x 256 of a pair: each CTA has 128 rows of A and 128 of stored B, and both count at CTA 0.
START_TEST(a_pair_shares_b) {
  const OnChip *chip = chip_of("blackwell", "pair", "");
  ck_assert_int_eq(chip->n_ranks, 2);
  ck_assert(chip->pair && chip->rank[0].asks && !chip->rank[1].asks);
  for (int r = 0; r < 2; r++) {
    const ChipRank *rank = &chip->rank[r];
    for (int i = 0; i < 2; i++) {
      ck_assert_int_eq(rank->slice[i].first, 128 * r);
      ck_assert_int_eq(rank->slice[i].n, 128);
      ck_assert_int_eq(rank->slice[i].n_k, 64);
      ck_assert_int_eq(rank->slice[i].bytes, 16384);
      ck_assert_uint_eq(rank->slice[i].to, 1U << r);
      ck_assert_uint_eq(rank->slice[i].counted_at, 1);
    }
    ck_assert_int_eq(rank->m, 128 * r);
    ck_assert_int_eq(rank->n, 0);
    ck_assert_int_eq(rank->fetched, 32768);
  }
  const ChipBarrier *full = barrier(chip, "full"), *empty = barrier(chip, "empty");
  ck_assert_int_eq(full->signal[0].bytes, 2 * 32768);
  ck_assert_uint_eq(full->signal[0].by, 1);
  ck_assert_uint_eq(empty->signal[0].by, 1);
  ck_assert_uint_eq(empty->signal[0].at, 3);
  ck_assert_int_eq(barrier(chip, "acc_empty")->arrivals, 8);
  ck_assert_uint_eq(barrier(chip, "acc_empty")->signal[0].by, 3);
  ck_assert_uint_eq(barrier(chip, "acc_empty")->signal[0].at, 1);
  // 2 * 128 * 256 * 64 FLOP for 32 KiB, and 2 * 128 * 128 * 64 for as many alone.
  ck_assert_double_eq(chip->intensity, 128);
  ck_assert_double_eq(chip->alone, 64);
  ck_assert_double_eq(chip_of("blackwell", "roles", "")->intensity, 64);
  // 128 x 128 of e4m3, and of e2m1, two of which are a byte: beside 2 · 16 KiB of elements 256 rows
  // have 4, 8 and 16 factors of a byte each.
  static const struct {
    const char *rung;
    double k, factors;
  } scaled[] = {{"ring", 128, 1024}, {"mxf4", 256, 2048}, {"nvfp4", 256, 4096}};
  for (int i = 0; i < 3; i++) {
    const OnChip *its = chip_of("scaled", scaled[i].rung, "");
    ck_assert_int_eq(its->rank[0].factors, (int64_t)scaled[i].factors);
    ck_assert_double_eq(its->intensity,
                        2 * scaled[i].k / (32768 + scaled[i].factors) * (128 * 128));
  }
}
END_TEST

// By multicast each of two CTAs along M fetches half of B, 32 of 64 rows of K, for both.
START_TEST(multicast_deals_out_b) {
  const OnChip *chip = chip_of("hopper", "wgmma", "CLUSTER_M=2,MULTICAST=1");
  ck_assert(!chip->pair && chip->by_tma);
  for (int r = 0; r < 2; r++) {
    const ChipSlice *a = &chip->rank[r].slice[0], *b = &chip->rank[r].slice[1];
    ck_assert_int_eq(a->first, 64 * r);
    ck_assert_int_eq(a->n, 64);
    ck_assert_uint_eq(a->to, 1U << r);
    ck_assert_int_eq(b->first, 0);
    ck_assert_int_eq(b->n, 64);
    ck_assert_int_eq(b->k, 32 * r);
    ck_assert_int_eq(b->n_k, 32);
    ck_assert_uint_eq(b->to, 3);
    ck_assert_uint_eq(b->counted_at, 3);
  }
}
END_TEST

// Whatever a program is: the walk ends, and no count is beyond what there is.
START_TEST(every_rung) {
  const Ladder *all = property_ladder("hopper");
  for (int i = 0; i < all->n_rungs; i++) {
    const Model *model = model_build(property_arena, &property_targets, &all->rung[i].schedule);
    const OnChip *chip = on_chip(property_arena, model);
    if (!chip) continue;
    for (int b = 0; b < chip->n_barriers; b++) {
      ck_assert_int_gt(chip->barrier[b].arrivals, 0);
      ck_assert_int_gt(chip->barrier[b].n_signals, 0);
    }
    ck_assert(chip->intensity >= chip->alone);
    ck_assert_int_le(smem_budget(model->program, model->target).stages,
                     smem_budget(model->program, model->target).most_stages);
  }
}
END_TEST

// Attention has two products and so no one tile, but mbarriers for Q, K and V. Three warpgroups of
// four warps free a slot; a slab of K is 128 x 128 of bf16.
START_TEST(attention_has_mbarriers) {
  const Model *model = property_rung("attention", "three_groups", "");
  ck_assert_ptr_null(on_chip(property_arena, model));
  const OnChip *chip = on_chip_barriers(property_arena, model);
  ck_assert_int_eq(chip->n_barriers, 5);
  ck_assert_int_eq(barrier(chip, "empty_k")->arrivals, 12);
  ck_assert_int_eq(barrier(chip, "full_v")->arrivals, 1);
  ck_assert_int_eq(barrier(chip, "full_k")->signal[0].bytes, 128 * 128 * 2);
  ck_assert_int_eq(barrier(chip, "empty_k")->wait[0].phase, 1);
  ck_assert_int_eq(chip->n_slots, 2);
}
END_TEST

Suite *suite_on_chip(void);

Suite *suite_on_chip(void) {
  Suite *suite = suite_create("on_chip");
  TCase *tcase = tcase_create("on_chip");
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  tcase_add_test(tcase, four_and_six_stages);
  tcase_add_test(tcase, one_stage_more_is_too_much);
  tcase_add_test(tcase, four_barriers_of_roles);
  tcase_add_test(tcase, slots_come_back);
  tcase_add_test(tcase, columns_by_consumer_and_by_set);
  tcase_add_test(tcase, a_pair_shares_b);
  tcase_add_test(tcase, multicast_deals_out_b);
  tcase_add_test(tcase, every_rung);
  tcase_add_test(tcase, attention_has_mbarriers);
  suite_add_tcase(suite, tcase);
  return suite;
}
