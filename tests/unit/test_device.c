// The driver's word for the limits of the GPU at hand: read from a driver, put into the row of the
// table, and obeyed by the rules of every command that measures.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "fake_cuda.h"
#include "kernels/device/driver.h"
#include "kernels/toolchain/cuda_api.h"
#include "model/readings/model.h"
#include "property.h"

Suite *suite_device(void);

// 64 KiB of shared memory in two slabs, 256 threads.
#define STATE "AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=32,STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=1"

// ---- from the driver to the rules ---------------------------------------------------------------

static Device device_of_fake(void) {
  const char *error = NULL;
  Gpu *gpu = gpu_open(property_arena, 0, &error);
  ck_assert_msg(gpu, "%s", error);
  Device device = gpu_info(gpu)->device;
  gpu_close(gpu);
  return device;
}

static const struct {
  int attribute, value;
  TargetField field;
} attributes[] = {
    {CU_DEVICE_MULTIPROCESSOR_COUNT, 7, TARGET_FIELD_sm_count},
    {CU_DEVICE_L2_CACHE_SIZE, 1 << 20, TARGET_FIELD_l2_bytes},
    {CU_DEVICE_SMEM_PER_BLOCK_OPTIN, 20000, TARGET_FIELD_smem_per_block},
    {CU_DEVICE_SMEM_PER_SM, 30000, TARGET_FIELD_smem_per_sm},
    {CU_DEVICE_REGISTERS_PER_SM, 4096, TARGET_FIELD_regs_per_sm},
    {CU_DEVICE_CLOCK_RATE, 1234567, TARGET_FIELD_boost_mhz},
    {CU_DEVICE_MAX_THREADS_PER_BLOCK, 128, TARGET_FIELD_max_threads_per_block},
    {CU_DEVICE_WARP_SIZE, 32, TARGET_FIELD_COUNT},
    {CU_DEVICE_MAX_THREADS_PER_SM, 512, TARGET_FIELD_max_threads_per_sm},
    {CU_DEVICE_MAX_BLOCKS_PER_SM, 3, TARGET_FIELD_max_blocks_per_sm},
};
enum { N_ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

START_TEST(every_limit_is_read_from_the_driver) {
  fake_cuda_install();
  for (int i = 0; i < N_ATTRIBUTES; i++)
    fake_cuda_set_attribute(attributes[i].attribute, attributes[i].value);
  const Device device = device_of_fake();
  fake_cuda_remove();
  TargetTable targets = property_targets;
  const DeviceWord word = device_apply(property_arena, &device, &targets);
  const Target *row = device_target(&targets, &device);
  ck_assert_int_eq(word.n, DEVICE_FIELDS);
  for (int i = 0; i < N_ATTRIBUTES; i++) {
    const TargetField field = attributes[i].field;
    if (field == TARGET_FIELD_COUNT) continue;
    const int value = field == TARGET_FIELD_boost_mhz ? 1234 : attributes[i].value;
    ck_assert_double_eq(target_number(row, field), value);
  }
  ck_assert_int_eq(row->max_warps_per_sm, 16);
}
END_TEST

static const struct {
  int attribute, value;
  const char *rule;  // that the state then breaks; NULL: none
} limits[] = {
    {CU_DEVICE_SMEM_PER_BLOCK_OPTIN, 65536, NULL},
    {CU_DEVICE_SMEM_PER_BLOCK_OPTIN, 65535, "shared memory: 65536 B needed, at most 65535 B"},
    {CU_DEVICE_MAX_THREADS_PER_BLOCK, 256, NULL},
    {CU_DEVICE_MAX_THREADS_PER_BLOCK, 255, "256 threads"},
    {CU_DEVICE_REGISTERS_PER_SM, 8192, "registers"},
};

// Of a GPU whose driver tells this one limit alone.
START_TEST(rules_hold_by_the_word_of_the_driver) {
  fake_cuda_install();
  for (int i = 0; i < N_ATTRIBUTES; i++) fake_cuda_set_attribute(attributes[i].attribute, 0);
  fake_cuda_set_attribute(limits[_i].attribute, limits[_i].value);
  const Device device = device_of_fake();
  fake_cuda_remove();
  TargetTable targets = property_targets;
  Diags diags = diags_new(property_arena);
  Schedule schedule = schedule_plain();
  ck_assert(schedule_parse(&schedule, STATE, &diags));
  device_take_target(&targets, device_target(&targets, &device), &schedule);
  ck_assert(model_build(property_arena, &targets, &schedule)->ok);
  device_apply(property_arena, &device, &targets);
  const Model *model = model_build(property_arena, &targets, &schedule);
  const char *says = diags_text(property_arena, &model->diags);
  ck_assert_msg(model->ok == !limits[_i].rule, "%s", says);
  if (limits[_i].rule) ck_assert_msg(strstr(says, limits[_i].rule) != NULL, "%s", says);
}
END_TEST

// ---- the commands -------------------------------------------------------------------------------

// A worker on an H200 whose driver gives a block so much shared memory.
static CliRun with_smem(const char *arguments, int bytes) {
  static const char rules[] =
      "{\"on\":\"start\",\"do\":\"reply\",\"line\":{\"type\":\"machine\",\"can_compile\":true,"
      "\"nvrtc\":\"fake\",\"gpu\":\"NVIDIA H200\",\"gpu_uuid\":\"GPU-1\",\"arch\":\"sm_90\","
      "\"smem_per_block\":%d}}\n";
  const char *worker =
      cli_fake_worker_rules(property_arena, arena_printf(property_arena, rules, bytes));
  return cli_run(property_arena, arena_printf(property_arena, "%s %s", arguments, worker));
}

static int occurrences(const char *text, const char *part) {
  int n = 0;
  while ((text = strstr(text, part)) != NULL) text += strlen(part), n++;
  return n;
}

static const char said[] = "smem_per_block: 40000 bytes by the driver, 232448 in the row h200";

static const struct {
  const char *arguments;
  bool out;  // the rule is told on stdout: rungs are rows there
} verbs[] = {
    {"bench -k " STATE, false},
    {"bench -k AUTO=0 --against " STATE, false},
    {"probe -k " STATE, false},
    {"sweep --knob BK=32 -k " STATE, false},
    {"ladder fp32 --only naive --with " STATE, true},
};

START_TEST(what_measures_obeys_the_driver) {
  CliRun run = with_smem(verbs[_i].arguments, 40000);
  const char *where = verbs[_i].out ? run.out : run.err;
  ck_assert_msg(strstr(where, "40000 B") != NULL, "%s%s", run.out, run.err);
  ck_assert_int_eq(occurrences(run.err, said), 1);
  run = with_smem(verbs[_i].arguments, 232448);
  ck_assert_int_eq(occurrences(run.err, "by the driver"), 0);
  ck_assert_int_eq(occurrences(run.err, "B needed"), 0);
}
END_TEST

START_TEST(the_row_of_another_gpu_stays) {
  CliRun run = with_smem("bench -k TARGET=a100," STATE, 40000);
  ck_assert_int_eq(occurrences(run.err, "40000 B on"), 0);
}
END_TEST

Suite *suite_device(void) {
  Suite *suite = suite_create("device");
  TCase *tests = tcase_create("the driver's word");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, every_limit_is_read_from_the_driver);
  tcase_add_loop_test(tests, rules_hold_by_the_word_of_the_driver, 0,
                      (int)(sizeof limits / sizeof *limits));
  if (!cli_has_program()) return suite;
  tcase_add_loop_test(tests, what_measures_obeys_the_driver, 0,
                      (int)(sizeof verbs / sizeof *verbs));
  tcase_add_test(tests, the_row_of_another_gpu_stays);
  return suite;
}
