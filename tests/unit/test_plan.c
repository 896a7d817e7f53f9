// Plans: what is refused, and that what is written reads back the same.
#include <check.h>
#include <string.h>

#include "kernels/toolchain/plan.h"
#include "model/words/dtype.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test plan"); }
static void teardown(void) { arena_free(arena); }

static Plan good_plan(void) {
  return (Plan){
      .cuda = "extern \"C\" __global__ void zero(float *C) {}\n",
      .arch = "sm_90a",
      .ptxas_opt = "0",
      .label = "rung \"7\" \xc3\xa9\n",
      .m = 4096,
      .n = 2048,
      .k = 1000,
      .b_col_major = true,
      .workspace_bytes = {1 << 20},
      .n_maps = 2,
      .maps = {{PLAN_ARG_A, PLAN_F32, 1000, 4096, 0, 32, 128, 3},
               {PLAN_ARG_WORKSPACE, PLAN_F16, 512, 1024, 0, 64, 8, 0}},
      .tile_m = 128,
      .tile_n = 64,
      .tolerance = 1e-6,
      .n_kernels = 2,
      .kernels = {{.name = "zero",
                   .grid = {3, 1, 1},
                   .block = {256, 1, 1},
                   .n_args = 1,
                   .args = {PLAN_ARG_C}},
                  {.name = "gemm",
                   .grid = {32, 32, 2},
                   .persistent = true,
                   .block = {16, 16, 1},
                   .cluster = {2, 1, 1},
                   .smem_bytes = 100000,
                   .blocks_per_sm = 2,
                   .n_args = 5,
                   .args = {PLAN_ARG_MAP, PLAN_ARG_B, PLAN_ARG_WORKSPACE, PLAN_ARG_C,
                            PLAN_ARG_MAP + 1}}},
  };
}

static char *written(const Plan *plan) {
  Str out = str_new(arena);
  plan_write_json(&out, plan);
  return out.text;
}

START_TEST(test_round_trip) {
  Plan plan = good_plan();
  char *text = written(&plan);
  Diags diags = diags_new(arena);
  Plan *read = plan_read_json(arena, text, &diags);
  ck_assert_msg(read != NULL, "%s", diags_text(arena, &diags));
  ck_assert_ptr_null(strchr(text, '\n'));
  ck_assert_str_eq(written(read), text);
  ck_assert_str_eq(read->label, plan.label);
  ck_assert_str_eq(read->ptxas_opt, plan.ptxas_opt);
  ck_assert_int_eq(read->kernels[1].grid[2], 2);
  ck_assert_int_eq(read->kernels[1].args[0], PLAN_ARG_MAP);
  ck_assert_int_eq(read->kernels[1].args[2], PLAN_ARG_WORKSPACE);
  ck_assert_int_eq(read->kernels[1].args[4], PLAN_ARG_MAP + 1);
  ck_assert_int_eq(read->n_maps, 2);
  for (int i = 0; i < 2; i++) ck_assert(plan_same_map(&read->maps[i], &plan.maps[i]));
  ck_assert_int_eq(read->workspace_bytes[0], 1 << 20);
  ck_assert_int_eq(read->kernels[1].smem_bytes, 100000);
  ck_assert(read->b_col_major && !read->a_col_major);
  ck_assert(plan_same_problem(read, &plan));
}
END_TEST

// Two 4-bit elements are a byte, 16 share a factor: each matrix has its bytes, and its factors
// theirs.
START_TEST(test_block_scaled) {
  Plan plan = good_plan();
  plan.operand_type = PLAN_NVFP4;
  plan.n_maps = 0;
  plan.m = 100, plan.n = 200, plan.k = 4096;
  plan.kernels[1].n_args = 5;
  const PlanArg args[] = {PLAN_ARG_A, PLAN_ARG_B, PLAN_ARG_C, PLAN_ARG_SFA, PLAN_ARG_SFB};
  for (int i = 0; i < 5; i++) plan.kernels[1].args[i] = args[i];
  const int64_t bytes[] = {100 * 2048, 200 * 2048, 100 * 200 * 4, 100 * 256, 200 * 256};
  for (int i = 0; i < 5; i++) ck_assert_int_eq(plan_buffer_bytes(&plan, args[i]), bytes[i]);
  Diags diags = diags_new(arena);
  Plan *read = plan_read_json(arena, written(&plan), &diags);
  ck_assert_msg(read != NULL, "%s", diags_text(arena, &diags));
  ck_assert_int_eq(read->operand_type, PLAN_NVFP4);
  ck_assert_int_eq(read->kernels[1].args[4], PLAN_ARG_SFB);
  plan.k = 4104;  // no whole number of blocks
  ck_assert(!plan_check(&plan, &diags));
  plan.k = 4096, plan.operand_type = PLAN_UE4M3;  // the type of factors alone
  ck_assert(!plan_check(&plan, &diags));
  for (int type = 0; type < PLAN_N_TYPES; type++) {  // the model's types say the same
    DType own;
    ck_assert(dtype_find(plan_type_name((PlanType)type), &own));
    ck_assert_int_eq(plan_type_bytes((PlanType)type), dtype_bytes(own));
    ck_assert_int_eq(plan_type_elements((PlanType)type), dtype_elements(own));
    ck_assert_int_eq(plan_scale_elements((PlanType)type), dtype_scale(own).elements);
  }
}
END_TEST

typedef struct Bad {
  const char *from, *to, *says;
} Bad;

static const Bad bad_texts[] = {
    {"\"m\":4096", "\"m\":0", "m is 0"},
    {"\"m\":4096", "\"m\":2147483648", "m is 2147483648"},
    {"\"m\":4096", "\"m\":1.5", "m"},
    {"\"m\":4096", "\"m\":\"4096\"", "m"},
    {"\"m\":4096,", "", "\"m\" is missing"},
    {"\"m\":4096", "\"m\":4096,\"m\":4096", "m"},
    {"\"m\":4096", "\"m\":4096,\"mm\":1", "mm"},
    {"sm_90a", "sm_9", "arch"},
    {"sm_90a", "compute_90", "arch"},
    {"sm_90a", "sm_90a -I/etc", "arch"},
    {"\"ptxas_opt\":\"0\"", "\"ptxas_opt\":\"0 -o /x\"", "ptxas_opt"},
    {"\"ptxas_opt\":\"0\"", "\"ptxas_opt\":\"4\"", "0 to 3"},
    {"\"f32\"", "\"f31\"", "one of f32, f16"},
    {"[16,16,1]", "[16,16]", "3"},
    {"[16,16,1]", "[64,32,1]", "threads in a block is 2048"},
    {"[16,16,1]", "[0,16,1]", "block.x is 0"},
    {"[16,16,1]", "[4294967297,16,1]", "block"},
    {"[32,32,2]", "[32,32,65536]", "grid.z is 65536"},
    {"[32,32,2]", "[33,32,2]", "not a multiple of cluster.x"},
    {"[2,1,1]", "[4,4,2]", "blocks in a cluster is 32"},
    {"\"name\":\"gemm\"", "\"name\":\"ge mm\"", "C identifier"},
    {"\"name\":\"gemm\"", "\"name\":\"\"", "C identifier"},
    {"\"smem_bytes\":100000", "\"smem_bytes\":-1", "smem_bytes is -1"},
    {"\"smem_bytes\":100000", "\"smem_bytes\":1e9", "smem_bytes is 1000000000"},
    {"\"workspace_bytes\":[1048576,", "\"workspace_bytes\":[0,",
     "map_1: 1024 rows of 512 elements do not fit into workspace_0's 0 B"},
    {"\"args\":[\"C\"]", "\"args\":[\"D\"]", "one of A, B, C, V, SFA, SFB, workspace_0"},
    {"\"args\":[\"C\"]",
     "\"args\":[\"A\",\"A\",\"A\",\"A\",\"A\",\"A\",\"A\",\"A\",\"A\",\"A\",\"A\","
     "\"A\",\"A\",\"A\",\"A\",\"A\",\"A\"]",
     "at most 16"},
    {"\"C\"]", "\"workspace_1\"]", "zero: workspace_1 is passed, but it has 0 bytes"},
    {"\"map_1\"]", "\"map_2\"]", "gemm: map_2 is passed, but there are 2 maps"},
    {"\"swizzle_bits\":3", "\"swizzle\":3", "\"swizzle_bits\" is missing"},
    {"\"buffer\":\"A\"", "\"buffer\":\"alpha\"", "one of A, B, C, V, SFA, SFB, workspace_0"},
    {"\"type\":\"f16\"", "\"type\":\"f64\"",
     "map_1: 1024 rows of 512 elements do not fit into workspace_0's 1048576 B"},
    {"\"rows\":4096", "\"rows\":4097",
     "map_0: 4097 rows of 1000 elements do not fit into A's 16384000 B"},
    {"\"rows\":4096", "\"rows\":0", "map_0: rows is 0"},
    {"\"columns\":1000", "\"columns\":9007199254740992", "map_0: columns is 9007199254740992"},
    {"\"columns\":1000", "\"columns\":998",
     "map_0: a row of 998 elements of 4 B is not a multiple of 16 B"},
    {"\"box_columns\":32", "\"box_columns\":0", "map_0: columns of the box is 0"},
    {"\"box_columns\":32", "\"box_columns\":260", "map_0: columns of the box is 260"},
    {"\"box_rows\":128", "\"box_rows\":257", "map_0: rows of the box is 257"},
    {"\"box_rows\":128", "\"box_rows\":-1", "map_0: rows of the box is -1"},
    {"\"swizzle_bits\":3", "\"swizzle_bits\":4", "map_0: swizzle bits is 4"},
    {"\"box_columns\":32", "\"box_columns\":30",
     "map_0: a row of the box has 120 B, not a multiple of 16"},
    {"\"swizzle_bits\":3", "\"swizzle_bits\":2",
     "map_0: a row of the box has 128 B; the swizzle permutes 64 B"},
    {"\"tolerance\":1e-06", "\"tolerance\":2", "tolerance is 2"},
    {"\"traced\":0", "\"traced\":-1", "traced is -1"},
    {"\"traced\":0", "\"traced\":4294967296", "traced is 4294967296"},
    {"\"kernels\":[", "\"kernels\":[7,", "object"},
};

static char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  ck_assert_msg(at != NULL, "%s is not in %s", from, text);
  return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

START_TEST(test_bad_text) {
  Plan plan = good_plan();
  char *good = written(&plan);
  const Bad *bad = &bad_texts[_i];
  Diags diags = diags_new(arena);
  ck_assert_ptr_null(plan_read_json(arena, replaced(good, bad->from, bad->to), &diags));
  const char *text = diags_text(arena, &diags);
  ck_assert_msg(strstr(text, bad->says) != NULL, "\"%s\" says: %s", bad->to, text);
}
END_TEST

// Every prefix of a good text is refused, and so is anything behind it.
START_TEST(test_cut_text) {
  Plan plan = good_plan();
  char *good = written(&plan);
  for (size_t n = 0; n < strlen(good); n++) {
    Diags diags = diags_new(arena);
    ck_assert_ptr_null(plan_read_json(arena, arena_strndup(arena, good, n), &diags));
    ck_assert_int_gt(diags.count, 0);
  }
  Diags diags = diags_new(arena);
  ck_assert_ptr_null(plan_read_json(arena, arena_printf(arena, "%s{}", good), &diags));
}
END_TEST

START_TEST(test_one_byte_mutants) {
  Plan plan = good_plan();
  char *good = written(&plan);
  unsigned seed = 12345;
  for (int i = 0; i < 3000; i++) {
    char *mutant = arena_strdup(arena, good);
    seed = seed * 1664525u + 1013904223u;
    mutant[(seed >> 8) % strlen(good)] = (char)(1 + seed % 255);
    Diags diags = diags_new(arena);
    Plan *read = plan_read_json(arena, mutant, &diags);
    ck_assert((read == NULL) == (diags.count > 0));
    if (i % 200 == 199) {
      arena_reset(arena);
      good = written(&plan);
    }
  }
}
END_TEST

START_TEST(test_bytes_overflow) {
  Plan plan = good_plan();
  plan.m = plan.n = plan.k = INT64_C(1) << 30;
  Diags diags = diags_new(arena);
  ck_assert(!plan_check(&plan, &diags));
  ck_assert_ptr_nonnull(strstr(diags_text(arena, &diags), "bytes of A"));
}
END_TEST

START_TEST(test_types) {
  PlanType type = PLAN_F64;
  ck_assert(plan_type_parse("bf16", &type));
  ck_assert_int_eq(type, PLAN_BF16);
  ck_assert_int_eq(plan_type_bytes(type), 2);
  ck_assert(!plan_type_parse("F32", &type));
  Plan plan = {.m = 100, .n = 10, .k = 1000, .operand_type = PLAN_F16};
  ck_assert_double_eq(plan_flops(&plan), 2e6);
  ck_assert_int_eq(plan_a_bytes(&plan), 200000);
  ck_assert_int_eq(plan_b_bytes(&plan), 20000);
  ck_assert_int_eq(plan_c_bytes(&plan), 4000);
}
END_TEST

Suite *suite_plan(void);
Suite *suite_plan(void) {
  Suite *suite = suite_create("plan");
  TCase *tests = tcase_create("plan");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_round_trip);
  tcase_add_test(tests, test_block_scaled);
  tcase_add_loop_test(tests, test_bad_text, 0, sizeof bad_texts / sizeof *bad_texts);
  tcase_add_test(tests, test_cut_text);
  tcase_add_test(tests, test_one_byte_mutants);
  tcase_add_test(tests, test_bytes_overflow);
  tcase_add_test(tests, test_types);
  suite_add_tcase(suite, tests);
  return suite;
}
