// The order of rungs by speed: the model's against what was recorded, pair by pair (Kendall).
//
// A pair counts where the records of one problem differ by more than a fiftieth. It is held to be
// in order, tied where the model's speeds differ by no more than that, or reversed. The golden file
// names every pair that is reversed, so none comes or goes unseen; no ladder may have many.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "golden.h"
#include "kernels/device/history/recorded.h"
#include "property.h"

Suite *suite_rung_order(void);

enum { ROWS_MAX = 256 };
static const double tie = 1.02;

static Arena *arena;

static void setup(void) {
  property_setup();
  arena = arena_new("test rung order");
}
static void teardown(void) {
  arena_free(arena);
  property_teardown();
}

typedef struct Speed {
  const RecordedRow *row;
  double estimate;
} Speed;

typedef struct Pairs {
  int in_order, tied, reversed;
} Pairs;

static const Traffic *traffic_of(const RecordedRow *row, const char *target) {
  Diags diags = diags_new(arena);
  Schedule schedule = schedule_plain();
  ck_assert_msg(schedule_parse(&schedule, row->state, &diags), "%s", diags_text(arena, &diags));
  snprintf(schedule.target, sizeof schedule.target, "%s", target);
  const Model *model = model_build(arena, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", row->rung, diags_text(arena, &model->diags));
  return &model->traffic;
}

static bool is_causal(const RecordedRow *row) { return strstr(row->state, "CAUSAL=1"); }

static bool same_problem(const RecordedRow *a, const RecordedRow *b) {
  return a->m == b->m && a->n == b->n && a->k == b->k && is_causal(a) == is_causal(b);
}

// Records of kernels that no rung has any more keep their states.
static const char *name_of(const RecordedRow *row) { return row->rung ? row->rung : "no rung"; }

static void compare(const Speed *a, const Speed *b, Pairs *pairs, Str *out) {
  const double measured = b->row->tflops / a->row->tflops, model = b->estimate / a->estimate;
  if (measured < tie && measured > 1 / tie) return;
  if (model < tie && model > 1 / tie) {
    pairs->tied++;
  } else if ((model > 1) == (measured > 1)) {
    pairs->in_order++;
  } else {
    pairs->reversed++;
    str_printf(out, "  %lld: %s %.0f, %s %.0f; the model has %.0f, %.0f\n", (long long)a->row->m,
               name_of(a->row), a->row->tflops, name_of(b->row), b->row->tflops, a->estimate,
               b->estimate);
  }
}

static Pairs compare_all(const Recorded *recorded, Str *out) {
  Speed speed[ROWS_MAX];
  Pairs pairs = {0};
  int n = 0;
  for (int i = 0; i < recorded->n_rows; i++) {
    const RecordedRow *row = &recorded->rows[i];
    if (!(row->time_ns > 0)) continue;
    ck_assert_int_lt(n, ROWS_MAX);
    speed[n++] = (Speed){row, traffic_of(row, "h200")->roofline_tflops};
    for (int k = 0; k < n - 1; k++)
      if (same_problem(speed[k].row, speed[n - 1].row))
        compare(&speed[k], &speed[n - 1], &pairs, out);
  }
  return pairs;
}

static const Recorded *read(const char *path) {
  Diags diags = diags_new(arena);
  const EmbeddedFile *file = embed_find(arena, path);
  const Recorded *recorded = recorded_read_json(arena, file->text, file->size, path, &diags);
  ck_assert_msg(recorded != NULL, "%s", diags_text(arena, &diags));
  return recorded;
}

// The pairs of all files of one ladder.
typedef struct LadderPairs {
  const char *ladder;  // NULL behind the last one
  Pairs pairs;
} LadderPairs;

static void add_to_ladder(LadderPairs *of, const char *ladder, const Pairs *pairs) {
  while (of->ladder && !str_equal(of->ladder, ladder)) of++;
  of->ladder = ladder;
  of->pairs.in_order += pairs->in_order;
  of->pairs.tied += pairs->tied;
  of->pairs.reversed += pairs->reversed;
}

START_TEST(the_order_of_rungs_is_the_recorded_one) {
  Str out = str_new(arena);
  const EmbeddedList files = embed_list(arena, "results/");
  LadderPairs *of = ARENA_ARRAY(arena, LadderPairs, files.count + 1);
  ck_assert_int_ge(files.count, 5);
  for (int i = 0; i < files.count; i++) {
    Str reversed = str_new(arena);
    const Recorded *recorded = read(files.paths[i]);
    const Pairs pairs = compare_all(recorded, &reversed);
    const int all = pairs.in_order + pairs.tied + pairs.reversed;
    if (!all) continue;  // no two rungs of one problem
    str_printf(&out, "%s: %d pairs in order, %d tied, %d reversed\n%s", recorded->ladder,
               pairs.in_order, pairs.tied, pairs.reversed, reversed.text);
    add_to_ladder(of, recorded->ladder, &pairs);
  }
  for (const LadderPairs *l = of; l->ladder; l++) {
    const int all = l->pairs.in_order + l->pairs.tied + l->pairs.reversed;
    ck_assert_msg(l->pairs.reversed * 8 <= all, "%s: %d of %d pairs", l->ladder, l->pairs.reversed,
                  all);
  }
  golden_check("facts/rung_order.txt", out.text);
}
END_TEST

// Of a rung as it was recorded at 8192³, or as the first record has it.
static const Traffic *rung_on(const char *ladder, const char *rung, const char *target) {
  const Recorded *recorded = read(arena_printf(arena, "results/h200_%s.json", ladder));
  const RecordedRow *found = NULL;
  for (int i = 0; i < recorded->n_rows; i++)
    if (str_equal(name_of(&recorded->rows[i]), rung) && (!found || recorded->rows[i].m == 8192))
      found = &recorded->rows[i];
  ck_assert_ptr_nonnull(found);
  return traffic_of(found, target);
}

// 128 queries of two rows a lane and atom, 64 keys, dimension 128: 8,192 exp2 of weights and 512 of
// rows; each weight is also compared, multiplied and added, half of them converted in pairs, O is
// rescaled, and rows have five operations.
START_TEST(a_softmax_is_a_limit_beside_the_products) {
  const Traffic *rows = rung_on("attention", "two_rows", "h200");
  ck_assert_double_eq(rows->sfu_clocks, (8192 + 512) / 16.0);
  ck_assert_double_eq(rows->fp32_clocks, (3 * 8192 + 4096 + 128 * 128 + 5 * 512) / 128.0);
  ck_assert_str_eq(rows->limit, "fma");
  TrafficUnit unit[TRAFFIC_UNITS];
  ck_assert_int_eq(traffic_units(rows, true, unit), TRAFFIC_UNITS);
  const Traffic *matmul = rung_on("hopper", "multicast", "h200");
  ck_assert_int_eq(traffic_units(matmul, true, unit), TRAFFIC_UNITS - TRAFFIC_UNITS_OF_SOFTMAX);
  // Products of half the dimension on wgmma, and as many weights.
  const RecordedRow group = {
      .rung = "a warpgroup's",
      .state =
          "AUTO=0,PROGRAM=attention,HEADS=64,M=4096,N=4096,K=64,FUSE=1,STAGE=11,TMA=1,"
          "ATOM_KIND=wgmma_m64n256k16_f16,ATOM_N=128,SWIZZLE=3,WM=2"};
  ck_assert_str_eq(traffic_of(&group, "h200")->limit, "sfu");
}
END_TEST

// What was recorded of what the slowest unit allows. Before the softmax had units the figures were
// these too: of the recorded rungs none has more work for it than for products or shared memory.
// They tell how much of it does not run beside them.
START_TEST(fused_attention_reaches_half_to_nine_tenths_of_its_roofline) {
  const Recorded *recorded = read("results/h200_attention.json");
  double least = 1, most = 0;
  for (int i = 0; i < recorded->n_rows; i++) {
    const RecordedRow *row = &recorded->rows[i];
    if (str_equal(name_of(row), "three_kernels")) continue;
    const double reached = row->tflops / traffic_of(row, "h200")->roofline_tflops;
    least = fmin(least, reached);
    most = fmax(most, reached);
  }
  ck_assert_double_eq_tol(least, 0.48, 0.005);  // causal, 4,096 keys
  ck_assert_double_eq_tol(most, 0.88, 0.005);   // without a swizzle, which leaves no doubt
}
END_TEST

// 8192³, 128 × 256 tiles in pairs: 1.1e12 FLOP at 700 W / 859 TFLOP/s are 0.896 J; a tile fetches
// 32 KiB a slab, 2048 tiles of 128 slabs 8.59 GB, 0.126 J; the rest is DRAM.
START_TEST(what_is_fetched_slows_what_is_multiplied) {
  const Traffic *pairs = rung_on("hopper", "multicast", "h200");
  ck_assert_double_eq_tol(pairs->l2_bytes, 2048.0 * 128 * 32768, 1);
  const double joule = 0.896 + 0.1263 + pairs->dram_bytes * 86e-12;
  ck_assert_double_eq_tol(pairs->power_tflops, 1.0995 * 700 / joule, 1);
  // 16 rounds; in each a block writes 2 · 128 · 256 · 2 bytes by itself, since of a sector a store
  // has half, at L2's 8.3 TB/s.
  const double between = 16 * 131072.0 / (8300e9 / 132) * 1e6;
  ck_assert_double_eq_tol(pairs->between_us, between, 0.01);
  const double us = pairs->flop / (pairs->power_tflops * 1e6 * 2048 / (16 * 132)) + between;
  ck_assert_double_eq_tol(pairs->roofline_tflops, pairs->flop / us / 1e6, 0.01);
  ck_assert_str_eq(pairs->limit, "power");
  ck_assert_double_lt(rung_on("hopper", "in_flight", "h200")->power_tflops, pairs->power_tflops);
  ck_assert_double_eq(rung_on("hopper", "e4m3", "h200")->power_tflops, -1);
  ck_assert_double_eq(rung_on("hopper", "multicast", "h100")->power_tflops, -1);
  ck_assert_double_eq(rung_on("hgemm", "roles", "h200")->power_tflops, -1);
}
END_TEST

Suite *suite_rung_order(void) {
  Suite *suite = suite_create("rung_order");
  TCase *tc = tcase_create("records");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 300);
  tcase_add_test(tc, the_order_of_rungs_is_the_recorded_one);
  tcase_add_test(tc, what_is_fetched_slows_what_is_multiplied);
  tcase_add_test(tc, a_softmax_is_a_limit_beside_the_products);
  tcase_add_test(tc, fused_attention_reaches_half_to_nine_tenths_of_its_roofline);
  suite_add_tcase(suite, tc);
  return suite;
}
