// The table of GPUs: the shipped one, its aliases, and hostile versions of it.
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "model/words/device.h"

static Arena *arena;
static Diags diags;
static TargetTable table;
static const EmbeddedFile *file;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
  file = embed_find(arena, "gpus.json");
  ck_assert_msg(targets_parse(arena, file->text, file->size, &diags, &table), "%s",
                diags_text(arena, &diags));
}

static void teardown(void) { arena_free(arena); }

static const Target *find(const char *name) {
  const Target *target = target_find(&table, name, &diags);
  ck_assert_msg(target != NULL, "%s", name);
  return target;
}

START_TEST(all_gpus_are_there) {
  static const char *const ids[] = {"h200", "h100",           "a100",    "a100-40gb",
                                    "b200", "rtx5090",        "rtx4090", "rtx3090",
                                    "t4",   "rtx5060-laptop", "v100"};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
    ck_assert_str_eq(find(ids[i])->id, ids[i]);
}
END_TEST

// The two sizes of one card differ in what their memory gives.
START_TEST(two_sizes_of_a_card_differ_in_bandwidth) {
  const Target *large = find("a100"), *small = find("a100-40gb");
  ck_assert_double_eq(target_number(large, TARGET_FIELD_dram_gbps), 2039);
  ck_assert_double_eq(target_number(small, TARGET_FIELD_dram_gbps), 1555);
  ck_assert_int_eq(large->sm_count, small->sm_count);
}
END_TEST

START_TEST(an_architecture_is_its_default_row) {
  static const struct {
    const char *arch, *id;
  } cases[] = {{"sm_90", "h200"},     {"sm_90a", "h200"},
               {"SM_90A", "h200"},    {"sm_80", "a100"},
               {"sm_86", "rtx3090"},  {"sm_89", "rtx4090"},
               {"sm_100a", "b200"},   {"sm_100", "b200"},
               {"sm_120", "rtx5090"}, {"sm_120a", "rtx5090"},
               {"sm_75", "t4"},       {"sm_70", "v100"},
               {"H100", "h100"},      {"RTX5060-Laptop", "rtx5060-laptop"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    ck_assert_str_eq(find(cases[i].arch)->id, cases[i].id);
}
END_TEST

START_TEST(an_unknown_gpu_is_told_with_the_nearest) {
  static const struct {
    const char *name, *nearest;
  } cases[] = {{"h20", "h200"},         {"rtx509", "rtx5090"},     {"sm_90b", "sm_90a"},
               {"sm_80a", "sm_90a"},    {"sm_91", "sm_90a"},       {"", NULL},
               {"sm_", NULL},           {"sm_999999999999", NULL}, {"\x1b[2J", NULL},
               {"zzzzzzzzzzzzzz", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ck_assert_ptr_null(target_find(&table, cases[i].name, &diags));
    ck_assert_int_eq(diags.count, (int)i + 1);
    ck_assert_str_eq(diags.last->rule, "unknown_target");
    ck_assert_ptr_null(strchr(diags.last->text, '\x1b'));
    if (cases[i].nearest) ck_assert_pstr_eq(diags.last->nearest, cases[i].nearest);
    if (!cases[i].nearest && strlen(cases[i].name) > 4) ck_assert_ptr_null(diags.last->nearest);
  }
  ck_assert_ptr_null(target_find(&table, "h20", NULL));
}
END_TEST

// Peaks on paper are units × rate × clock; a slip of a digit in the file shows here.
START_TEST(fp32_peaks_follow_from_lanes_and_clock) {
  for (int i = 0; i < table.count; i++) {
    const Target *t = &table.targets[i];
    double tflops = 2e-6 * t->sm_count * t->fp32_lanes_per_sm * t->boost_mhz;
    ck_assert_msg(fabs(tflops / t->fp32_tflops - 1) <= 0.015, "%s: %g stated, %g computed", t->id,
                  t->fp32_tflops, tflops);
  }
}
END_TEST

START_TEST(tensor_peaks_follow_from_rate_and_clock) {
  static const struct {
    const char *id;
    double flop_per_clk;  // of one SM, f16, dense
  } rates[] = {{"h200", 4096},   {"h100", 4096},   {"a100", 2048},          {"b200", 8192},
               {"rtx5090", 512}, {"rtx4090", 512}, {"rtx5060-laptop", 512}, {"rtx3090", 512},
               {"t4", 1024},     {"v100", 1024}};
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    const Target *t = find(rates[i].id);
    double tflops = 1e-6 * t->sm_count * rates[i].flop_per_clk * t->tensor_mhz;
    ck_assert_msg(fabs(tflops / t->f16_tflops - 1) <= 0.015, "%s: %g stated, %g computed", t->id,
                  t->f16_tflops, tflops);
  }
}
END_TEST

START_TEST(every_number_has_a_source) {
  int n_known = 0;
  for (int i = 0; i < table.count; i++)
    for (int f = 0; f < TARGET_FIELD_COUNT; f++) {
      bool known = target_knows(target_number(&table.targets[i], (TargetField)f));
      ck_assert_msg(known == (table.targets[i].source[f] != NULL), "%s %s", table.targets[i].id,
                    target_fields[f].name);
      n_known += known;
    }
  ck_assert_int_gt(n_known, 200);
}
END_TEST

START_TEST(the_limits_are_those_of_the_guide) {
  const Target *h200 = find("h200"), *rtx3090 = find("rtx3090"), *v100 = find("v100");
  ck_assert_int_eq(h200->smem_per_block, 232448);
  ck_assert_int_eq(h200->smem_per_sm, 233472);
  ck_assert_int_eq(h200->max_warps_per_sm, 64);
  ck_assert_int_eq(rtx3090->max_blocks_per_sm, 16);
  ck_assert_int_eq(rtx3090->max_warps_per_sm, 48);
  ck_assert_int_eq(v100->smem_reserved_per_block, 0);
  ck_assert_int_eq(v100->smem_alloc_unit, 256);
  ck_assert(!target_knows(v100->bf16_tflops));
  ck_assert(h200->source[TARGET_FIELD_dram_read_gbps]->measured);
  ck_assert(!h200->source[TARGET_FIELD_dram_gbps]->measured);
}
END_TEST

START_TEST(features_follow_the_architecture) {
  ck_assert(find("h200")->has_wgmma && find("h200")->has_tma && !find("h200")->has_tcgen05);
  ck_assert(find("b200")->has_tcgen05 && !find("b200")->has_wgmma);
  ck_assert(find("rtx5090")->has_tma && !find("rtx5090")->has_tcgen05);
  ck_assert(find("a100")->has_cp_async && !find("a100")->has_tma);
  ck_assert(!find("t4")->has_cp_async && find("t4")->has_ldmatrix && find("t4")->nvrtc_supported);
  ck_assert(!find("v100")->nvrtc_supported && find("v100")->has_mma_f16);
}
END_TEST

// The shipped text with `from` replaced by `to`, once.
static const char *edited(const char *from, const char *to) {
  const char *at = strstr(file->text, from);
  ck_assert_msg(at != NULL, "the table does not hold %s", from);
  Str out = str_new(arena);
  str_add_bytes(&out, file->text, (size_t)(at - file->text));
  str_add(&out, to);
  str_add(&out, at + strlen(from));
  return out.text;
}

static const struct {
  const char *from, *to, *told, *nearest;
} edits[] = {
    {"\"sm_count\": {\"value\": 132", "\"sm_count\": {\"value\": 0", "gpus.h200.sm_count.value: 0",
     "1"},
    {"\"sm_count\": {\"value\": 132", "\"sm_count\": {\"value\": \"x\"", "\"x\" is not a number",
     NULL},
    {"\"sm_count\": {\"value\": 132", "\"sm_count\": {\"value\": 1e10", "is outside 1 to 4096",
     "4096"},
    {"\"sm_count\": {\"value\": 132", "\"sm_cuont\": {\"value\": 132", "sm_cuont: unknown key",
     "sm_count"},
    {"\"dram_gbps\": {\"value\": 4800", "\"dram_gbps\": {\"value\": -1", "not greater than 0",
     NULL},
    {"\"dram_gbps\": {\"value\": 4800", "\"dram_gbps\": {\"valeu\": 4800", "\"value\" is missing",
     NULL},
    {"4800, \"source\": \"h200_ds\"", "4800, \"source\": \"h200_sd\"", "this source does not exist",
     "h200_ds"},
    {"[8, 16, 16", "[9, 16, 16", "133 SMs in all, but the GPU has 132", NULL},
    {"[8, 16, 16", "[0, 16, 16", "0 is outside 1 to 4096", NULL},
    {"[8, 16, 16", "[1,1,1,1,1,1,1,1, 16, 16", "19 places; at most 16", NULL},
    {"[8, 16, 16", "8, \"was\": [8, 16, 16", "8 is not an array", NULL},
    {"\"arch\": \"sm_90a\"", "\"arch\": \"sm_91a\"", "does not have this member", NULL},
    {"\"arch\": \"sm_90a\"", "\"arch\": \"hopper\"", "does not have this member", NULL},
    {"\"arch\": \"sm_90a\"", "\"arch\": 90", "90 is not a string", NULL},
    {"\"max_warps_per_sm\": {\"value\": 64", "\"max_warps_per_sm\": {\"value\": 63",
     "63 warps are not 2048 threads", NULL},
    {"\"smem_per_block\": {\"value\": 232448", "\"smem_per_block\": {\"value\": 233472",
     "exceed the SM's", NULL},
    {"\"gpus\": {", "\"gpus\": [], \"was\": {", "an array is not an object", NULL},
    {"\"gpus\": {", "\"gpus\": {}, \"was\": {", "at least one GPU", NULL},
    {"\"architectures\": {", "\"architecture\": {", "\"architectures\" is missing", NULL},
    {"\"sources\": {", "\"sources\": null, \"was\": {", "null, but a value is needed", NULL},
    {"\"h100\": {", "\"h200\": {", "the key is given twice", NULL},
    {"\"f16_tflops\": {\"value\": 989.4", "\"f16_tflops\": {\"value\": 1e999",
     "too large for a double", NULL},
};

START_TEST(a_wrong_table_is_told_and_not_taken) {
  const char *text = edited(edits[_i].from, edits[_i].to);
  TargetTable untouched = {.count = -7};
  ck_assert(!targets_parse(arena, text, strlen(text), &diags, &untouched));
  ck_assert_int_eq(untouched.count, -7);
  bool found = false;
  for (const Diag *d = diags.first; d && !found; d = d->next)
    found = strstr(d->text, edits[_i].told) &&
            (!edits[_i].nearest || (d->nearest && !strcmp(d->nearest, edits[_i].nearest)));
  ck_assert_msg(found, "%s", diags_text(arena, &diags));
}
END_TEST

START_TEST(texts_of_another_shape_are_refused) {
  static const char *const texts[] = {"",
                                      "null",
                                      "[]",
                                      "3",
                                      "{}",
                                      "{\"gpus\":{\"a\":{}}}",
                                      "{\"sources\":{},\"architectures\":[],\"gpus\":{\"a\":1}}",
                                      ("{\"sources\":{\"a\":1},\"architectures\":{\"sm_90\":3},"
                                       "\"gpus\":{\"a\":{\"name\":\"x\",\"arch\":\"sm_90\"}}}")};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    Diags own = diags_new(arena);
    ck_assert_msg(!targets_parse(arena, texts[i], strlen(texts[i]), &own, &table), "%s", texts[i]);
    ck_assert_int_ge(own.count, 1);
  }
}
END_TEST

// ---- the GPU at hand ----------------------------------------------------------------------------

static const struct {
  const char *name, *arch, *row;  // row NULL: none
} at_hand[] = {
    {"NVIDIA H200", "sm_90", "h200"},
    {"NVIDIA H100 80GB HBM3", "sm_90", "h100"},
    {"NVIDIA GH200 480GB", "sm_90", "h200"},
    {"NVIDIA GeForce RTX 5060 Laptop GPU", "sm_120", "rtx5060-laptop"},
    {"NVIDIA GeForce RTX 3080", "sm_86", "rtx3090"},
    {"NVIDIA A100-SXM4-80GB", "", "a100"},
    {"Quadro P400", "sm_61", NULL},
    {"", "", NULL},
};

START_TEST(a_device_has_its_row) {
  Device device = {0};
  strcpy(device.name, at_hand[_i].name);
  strcpy(device.arch, at_hand[_i].arch);
  const Target *row = device_target(&table, &device);
  if (at_hand[_i].row)
    ck_assert_str_eq(row->id, at_hand[_i].row);
  else
    ck_assert_ptr_null(row);
}
END_TEST

START_TEST(the_word_of_the_driver_counts) {
  Device device = {.name = "NVIDIA H100 PCIe",
                   .arch = "sm_90",
                   .sm_count = 114,
                   .l2_bytes = 52428800,
                   .boost_mhz = 1755,
                   .smem_per_sm = 233472};
  const Target *before = device_target(&table, &device);
  DeviceWord word = device_apply(arena, &device, &table);
  ck_assert_ptr_eq(word.row, before);
  ck_assert_int_eq(word.n, 2);
  ck_assert_str_eq(device_difference_text(arena, before, &word.differs[0]),
                   "sm_count: 114 SMs by the driver, 132 in the row h100 (h100_wp)");
  ck_assert_ptr_nonnull(strstr(device_word_text(arena, &word), "(h100_wp); boost_mhz: 1755 MHz"));
  const Target *row = device_target(&table, &device);
  ck_assert_int_eq(row->sm_count, 114);
  ck_assert(!(fabs(row->boost_mhz - 1755) > 0));
  ck_assert_str_eq(row->source[TARGET_FIELD_sm_count]->id, "driver");
  ck_assert_str_eq(row->source[TARGET_FIELD_l2_bytes]->id, "h100_wp");
  ck_assert_int_eq(before->sm_count, 132);
  ck_assert_int_eq(find("h200")->sm_count, 132);
  word = device_apply(arena, &device, &table);
  ck_assert_ptr_eq(word.row, row);
  ck_assert_int_eq(word.n, 0);
  ck_assert_str_eq(device_word_text(arena, &word), "");
  word = device_apply(arena, &(Device){.name = "GeForce 256"}, &table);
  ck_assert(!word.row && word.n == 0);
}
END_TEST

START_TEST(a_target_that_was_given_stays) {
  Schedule schedule = schedule_default();
  ck_assert(device_take_target(&table, find("a100"), &schedule));
  ck_assert_str_eq(schedule.target, "a100");
  ck_assert(!device_take_target(&table, find("h100"), &schedule));
  schedule = schedule_default();
  ck_assert(!device_take_target(&table, find("h200"), &schedule));
}
END_TEST

Suite *suite_target(void);
Suite *suite_target(void) {
  Suite *suite = suite_create("target");
  TCase *tests = tcase_create("target");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, all_gpus_are_there);
  tcase_add_test(tests, two_sizes_of_a_card_differ_in_bandwidth);
  tcase_add_loop_test(tests, a_device_has_its_row, 0, sizeof at_hand / sizeof *at_hand);
  tcase_add_test(tests, the_word_of_the_driver_counts);
  tcase_add_test(tests, a_target_that_was_given_stays);
  tcase_add_test(tests, an_architecture_is_its_default_row);
  tcase_add_test(tests, an_unknown_gpu_is_told_with_the_nearest);
  tcase_add_test(tests, fp32_peaks_follow_from_lanes_and_clock);
  tcase_add_test(tests, tensor_peaks_follow_from_rate_and_clock);
  tcase_add_test(tests, every_number_has_a_source);
  tcase_add_test(tests, the_limits_are_those_of_the_guide);
  tcase_add_test(tests, features_follow_the_architecture);
  tcase_add_loop_test(tests, a_wrong_table_is_told_and_not_taken, 0,
                      (int)(sizeof edits / sizeof edits[0]));
  tcase_add_test(tests, texts_of_another_shape_are_refused);
  suite_add_tcase(suite, tests);
  return suite;
}
