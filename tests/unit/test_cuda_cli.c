// gemmview cuda, ptx, sass, resources and export as a user calls them: the program itself is run,
// where the runner of the tests names it in $GEMMVIEW.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"

#define STAGED "AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11,VECTORIZE=1"

static Arena *arena;
static const char *said;  // stdout and stderr of the last command

static void setup(void) { arena = arena_new("test cuda cli"); }
static void teardown(void) { arena_free(arena); }

// The exit status of a shell command, its output in `said`; −1 when there is no program to run.
static int shell(const char *command) {
  FILE *pipe = popen(command, "r");
  ck_assert(pipe != NULL);
  Str out = str_new(arena);
  char block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, pipe)) > 0;) str_add_bytes(&out, block, n);
  int status = pclose(pipe);
  said = out.text;
  ck_assert_msg(WIFEXITED(status), "%s: %s", command, said);
  return WEXITSTATUS(status);
}

static bool has_program(void) { return getenv("GEMMVIEW") != NULL; }

static int gemmview(const char *arguments) {
  return shell(arena_printf(arena, "%s %s 2>&1", getenv("GEMMVIEW"), arguments));
}

static void assert_said(const char *part) {
  ck_assert_msg(strstr(said, part) != NULL, "no \"%s\" in\n%s", part, said);
}

START_TEST(the_text_is_nothing_but_the_text) {
  if (!has_program()) return;
  ck_assert_int_eq(gemmview("cuda -k " STAGED), 0);
  ck_assert_int_eq(strncmp(said, "// C[4096, 4096] = ", 19), 0);
  ck_assert_str_eq(said + strlen(said) - 2, "}\n");
  assert_said("// " STAGED "\n");
}
END_TEST

START_TEST(lines_say_statement_and_knob) {
  if (!has_program()) return;
  ck_assert_int_eq(gemmview("cuda --lines -k " STAGED), 0);
  assert_said(" VECTORIZE       |     // VECTORIZE=1: fetch the slab of A\n");
  assert_said("   1                      | // C[4096, 4096]");
}
END_TEST

START_TEST(a_pass_is_a_diff) {
  if (!has_program()) return;
  ck_assert_int_eq(gemmview("cuda --pass vectorize -k " STAGED), 0);
  assert_said("\n-       r_a[c_a] = A[");
  assert_said("\n+       load4(&r_a[c_a * 4], &A[");
  assert_said("\n      __syncthreads();\n");
  ck_assert_int_eq(gemmview("cuda --pass vectorise -k " STAGED), 2);
  assert_said("nearest: vectorize");
  ck_assert_int_eq(gemmview("cuda --pass pad -k " STAGED), 2);
}
END_TEST

START_TEST(json_maps_every_line) {
  if (!has_program()) return;
  ck_assert_int_eq(gemmview("cuda --json -k " STAGED), 0);
  Diags diags = diags_new(arena);
  const JsonValue *root = json_parse(arena, said, strlen(said), &diags, "cuda");
  ck_assert_msg(root != NULL, "%s", diags_text(arena, &diags));
  const char *cuda = NULL;
  ck_assert(json_require_string(root, "cuda", &cuda, &diags));
  const JsonValue *lines = json_require_array(root, "lines", &diags);
  Str joined = str_new(arena);
  for (int i = 0; i < json_count(lines); i++) {
    const char *text = NULL;
    ck_assert(json_require_string(json_at(lines, i), "text", &text, &diags));
    str_printf(&joined, "%s\n", text);
  }
  ck_assert_str_eq(joined.text, cuda);
  const JsonValue *kernel = json_at(json_object_get(root, "kernels"), 0);
  int threads = 0;
  ck_assert(json_require_int(kernel, "threads", 1, 1024, &threads, &diags));
  ck_assert_int_eq(threads, 256);
}
END_TEST

START_TEST(bad_input_is_told_and_status_2) {
  if (!has_program()) return;
  static const struct {
    const char *arguments, *sentence;
  } cases[] = {
      {"cuda -k BM=1000,BN=32", "32000 threads"},
      {"cuda -k BM=0", "BM"},
      {"cuda -k QQ=1", "QQ"},
      {"cuda -k TARGET=h2000", "nearest: h200"},
      {"cuda extra", "extra"},
      {"cuda --pass", "pass"},
      {"cuda -k TMA=1,STAGE=11,TARGET=a100", "TMA=1: a100 is sm_80"},
      {"export -k BM=1000,BN=32", "nearest"},
      {"export -o /nowhere/x.cu", "/nowhere/x.cu"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ck_assert_msg(gemmview(cases[i].arguments) == 2, "%s: %s", cases[i].arguments, said);
    assert_said(cases[i].sentence);
  }
}
END_TEST

// Through the worker, which is another process of the same program.
START_TEST(compiled_readings_or_what_is_missing) {
  if (!has_program()) return;
  int status = gemmview("ptx --counts -k " STAGED);
  ck_assert_msg(status == 0 || status == 3, "%s", said);
  assert_said(status == 0 ? "    64  fma.rn.f32\n" : "NVRTC");
  status = gemmview("ptx --lines -k " STAGED);
  ck_assert_msg(status == 0 || status == 3, "%s", said);
  if (status == 0) assert_said(" |   fma.rn.f32 ");
  status = gemmview("sass --counts -k " STAGED);
  ck_assert_msg(status == 0 || status == 3, "%s", said);
  if (status == 0) assert_said("  FFMA\n");
  status = gemmview("sass -k " STAGED);
  if (status == 0) assert_said(" read a bank twice (!), .reuse spares ");
  status = gemmview("sass --json -k " STAGED);
  if (status == 0) assert_said("\"register_banks\":{\"ffma\":64,\"conflicts\":");
  ck_assert_int_eq(gemmview("resources -k " STAGED), 0);
  assert_said("shared memory per block     16384 B");
  assert_said("model:    2 blocks per SM");
  ck_assert_int_eq(gemmview("resources --lines"), 2);
  ck_assert_int_eq(gemmview("ptx -k BM=0"), 2);
}
END_TEST

// Where the first multiply stands in a listing.
static const char *first_ffma(const char *level) {
  int status = gemmview(arena_printf(arena, "sass -k " STAGED " --ptxas-opt %s", level));
  if (status != 0) return NULL;
  const char *at = strstr(said, "FFMA");
  ck_assert_msg(at != NULL, "%s", said);
  return at;
}

static int count_before(const char *text, const char *word, const char *end) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, word)) && at < end; at++) n++;
  return n;
}

// The assembler at full strength reads a whole k-step before it multiplies; at level 0 it leaves
// reads beside the multiplies that want them.
START_TEST(the_assemblers_level_can_be_set) {
  if (!has_program()) return;
  ck_assert_int_eq(gemmview("sass --ptxas-opt 4"), 2);
  assert_said("the levels are 0 to 3; nearest: 3");
  ck_assert_int_eq(gemmview("ptx --ptxas-opt 0"), 2);
  const char *at = first_ffma("3");
  if (!at) return;
  int strong = count_before(said, "LDS", at);
  at = first_ffma("0");
  ck_assert(at != NULL);
  ck_assert_int_lt(count_before(said, "LDS", at), strong);
  ck_assert_int_eq(gemmview("resources --ptxas-opt 0 -k " STAGED), 0);
}
END_TEST

// A product of knobs, compiled, beside the claims that are about the same schedules: Q in registers
// is what spills. Which numbers NVRTC gives is test_counted.c's.
START_TEST(a_product_of_knobs_is_a_table) {
  if (!has_program()) return;
  const char *state = "resources -k attention/eager_kv,FM=2,FN=8,TARGET=rtx3090 --knob A_REGS=1";
  int status = gemmview(state);
  if (status == 3) return;
  ck_assert_msg(status == 0, "%s", said);
  assert_said("128 x 64      255");
  assert_said("    255    728    960    836  A_REGS=1; STL/LDL ");
  assert_said(" in front of the loop, ");
  ck_assert_int_eq(gemmview("resources -k " STAGED " --knob PAD_SMEM=0,4 --json"), 0);
  assert_said("\"in_loop\":{\"stores\":0,\"loads\":0}");
  ck_assert_int_eq(gemmview("resources -k " STAGED " --knob NOSUCH"), 2);
  ck_assert_int_eq(gemmview("resources -k " STAGED " --knob SPLITK --knob PAD_SMEM"), 2);
}
END_TEST

// The whole way: the exported file is what nvcc takes without a warning. Without a GPU the program
// says so and ends with 3.
START_TEST(an_export_builds) {
  if (!has_program() || shell("nvcc --version 2>&1") != 0) return;
  // Dynamic shared memory, two kernels, a workspace and alpha at once.
  const char *const state =
      "M=130,N=62,K=1000,FM=8,FN=8,STAGE=11,BUFFER_COUNT=4,ALPHA=1,SPLITK=4,ATOMIC_FREE_SPLITK=1";
  char folder[] = "/tmp/gemmview-export-XXXXXX";
  ck_assert(mkdtemp(folder) != NULL);
  const char *export = arena_printf(arena, "export -k %s -o %s/matmul.cu", state, folder);
  ck_assert_msg(gemmview(export) == 0, "%s", said);
  ck_assert_str_eq(said, "");
  const char *build =
      "nvcc -O3 -gencode arch=compute_90a,code=sm_90a -Xcompiler -Wall,-Wextra -o matmul matmul.cu";
  int status = shell(arena_printf(arena, "cd %s && %s 2>&1", folder, build));
  ck_assert_msg(status == 0 && !*said, "%s", said);
  status = shell(arena_printf(arena, "%s/matmul 2>&1", folder));
  ck_assert_msg(status == 0 || status == 3, "%s", said);
  shell(arena_printf(arena, "rm -r %s", folder));
}
END_TEST

Suite *suite_cuda_cli(void);
Suite *suite_cuda_cli(void) {
  Suite *suite = suite_create("cuda_cli");
  TCase *tc = tcase_create("cuda and export");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, the_text_is_nothing_but_the_text);
  tcase_add_test(tc, lines_say_statement_and_knob);
  tcase_add_test(tc, a_pass_is_a_diff);
  tcase_add_test(tc, json_maps_every_line);
  tcase_add_test(tc, bad_input_is_told_and_status_2);
  tcase_add_test(tc, compiled_readings_or_what_is_missing);
  tcase_add_test(tc, the_assemblers_level_can_be_set);
  tcase_add_test(tc, a_product_of_knobs_is_a_table);
  tcase_add_test(tc, an_export_builds);
  suite_add_tcase(suite, tc);
  return suite;
}
