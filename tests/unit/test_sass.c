// SASS: a captured listing, the tool when there is one, and tools that misbehave.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/toolchain/tool.h"
#include "stress.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test sass"); }
static void teardown(void) {
  unsetenv("GEMMVIEW_NVDISASM");
  arena_free(arena);
}

static const char listing[] =
    "\t.target\tsm_90a\n"
    "//--------------------- .text.zero                --------------------------\n"
    "        .size           zero,(.L_x_6 - zero)\n"
    "zero:                                              // |       |        |\n"
    ".text.zero:                                        // |       |        |\n"
    "\t//## File \"/home/user/kernel.cu\", line 8\n"
    "        /*0000*/                   LDC R1, c[0x0][0x28] ;   // |   1   |        |\n"
    "        /*0010*/                   EXIT ;                   // |       |        |\n"
    ".L_x_0:                                            // |       |        |\n"
    "        /*0020*/                   BRA `(.L_x_0);           // |       |        |\n"
    "        /*0030*/                   NOP;                     // |       |        |\n"
    "        /*0040*/                   NOP;                     // |       |        |\n"
    ".L_x_6:\n"
    "//--------------------- .text.gemm               --------------------------\n"
    "gemm:\n"
    ".text.gemm:\n"
    "\t//## File \"/home/user/kernel.cu\", line 5 inlined at \"/home/user/kernel.cu\", line 12\n"
    "\t//## File \"/home/user/kernel.cu\", line 12\n"
    ".L_x_1:                                            // |   8   |   1    |\n"
    "        /*01d0*/                   LDS.128 R4, [R0+0x10] ;  // |  10   |        |\n"
    "        /*01e0*/                   FFMA R13, R4, R4, 1 ;    // |  11   |        |\n"
    "        /*01f0*/                   FFMA R13, R5, R4, R13 ;  // |  11   |        |\n"
    "        /*0200*/              @!P0 BRA `(.L_x_1) ;          // |   9   |   1    |\n"
    "        /*0210*/                   EXIT ;                   // |       |        |\n"
    ".L_x_2:\n"
    "        /*0220*/                   BRA `(.L_x_2);\n"
    "        /*0230*/                   NOP;\n";

START_TEST(test_listing) {
  SassResult *sass = sass_parse(arena, listing);
  ck_assert(sass->ok);
  ck_assert_int_eq(sass->n_lines, 8);
  const SassLine *lines = sass->lines;
  ck_assert_str_eq(lines[0].kernel, "zero");
  ck_assert_str_eq(lines[0].text, "LDC R1, c[0x0][0x28]");
  ck_assert_int_eq(lines[0].cuda_line, 8);
  ck_assert_str_eq(lines[1].opcode, "EXIT");
  ck_assert_str_eq(lines[2].text, ".L_x_1");
  ck_assert_ptr_null(lines[2].opcode);
  ck_assert_int_eq(lines[2].address, -1);
  ck_assert_str_eq(lines[3].opcode, "LDS.128");
  ck_assert_int_eq(lines[3].address, 0x1d0);
  ck_assert_int_eq(lines[3].cuda_line, 12);
  ck_assert_int_eq(lines[3].live_registers, 10);
  ck_assert_str_eq(lines[6].text, "@!P0 BRA `(.L_x_1)");
  ck_assert_str_eq(lines[6].opcode, "BRA");
  ck_assert_str_eq(lines[7].opcode, "EXIT");
  ck_assert_int_eq(lines[7].live_registers, 0);
  ck_assert_int_eq(sass->n_counts, 6);
  ck_assert_str_eq(sass->counts[0].kernel, "gemm");
  ck_assert_str_eq(sass->counts[0].opcode, "FFMA");
  ck_assert_int_eq(sass->counts[0].count, 2);
}
END_TEST

START_TEST(test_odd_listings) {
  static const char *const odd[] = {"",
                                    "\n\n",
                                    "/*",
                                    "/*zz*/ X",
                                    ".text.",
                                    ".text.k:\n/*0*/",
                                    "// |",
                                    ".text.k:\n/*10*/ ;\n.L",
                                    "/*0010*/ FFMA R1 ;\n"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    ck_assert_msg(!sass_parse(arena, odd[i])->ok, "%s", odd[i]);
  // Every cut of a good one is read without harm.
  for (size_t n = 0; n < sizeof listing; n++) sass_parse(arena, arena_strndup(arena, listing, n));
  SassResult *sass = sass_parse(arena, ".text.k:\n  /*0000*/ FF\033[2J\x9bMA R1 ;\n");
  ck_assert(sass->ok && !strchr(sass->lines[0].text, '\033'));
}
END_TEST

START_TEST(test_no_tool) {
  setenv("GEMMVIEW_NVDISASM", "/dev/null/none/nvdisasm", 1);
  SassResult *sass = sass_disassemble(arena, "\177ELF....", 8, 5);
  ck_assert(!sass->ok);
  ck_assert_ptr_nonnull(strstr(sass->error, "nvdisasm was not found"));
}
END_TEST

START_TEST(test_real_tool) {
  Plan plan = {.cuda =
                   "extern \"C\" __global__ void scale(const float *A, float *C) {\n"
                   "  C[threadIdx.x] = 2.0f * A[threadIdx.x];\n}\n",
               .arch = "sm_90a",
               .m = 8,
               .n = 8,
               .k = 8,
               .n_kernels = 1,
               .kernels = {{.name = "scale",
                            .grid = {1, 1, 1},
                            .block = {64, 1, 1},
                            .n_args = 2,
                            .args = {PLAN_ARG_A, PLAN_ARG_C}}}};
  if (!sass_find_tool(arena)) return;
  CompileResult *compiled = nvrtc_compile(arena, &plan, COMPILE_CUBIN);
  if (!compiled->ok) return;
  SassResult *sass = sass_disassemble(arena, compiled->cubin, compiled->cubin_bytes, 20);
  ck_assert_msg(sass->ok, "%s", sass->error);
  sass_add_live(arena, sass, compiled->cubin, compiled->cubin_bytes, 20);
  bool load = false;
  for (int i = 0; i < sass->n_lines; i++)
    load = load || (sass->lines[i].opcode && strncmp(sass->lines[i].opcode, "LDG.E", 5) == 0 &&
                    sass->lines[i].cuda_line == 2 && sass->lines[i].live_registers > 0);
  ck_assert(load);
  ck_assert_str_eq(sass->lines[sass->n_lines - 1].opcode, "EXIT");
  sass = sass_disassemble(arena, "\177ELFnonsense", 12, 20);
  ck_assert(!sass->ok && sass->error);
}
END_TEST

START_TEST(test_tool_run) {
  const char *const cat[] = {"/bin/cat", "INPUT", NULL};
  ToolResult run = tool_run(arena, cat, "some bytes\n", 11, NULL, 10);
  ck_assert_msg(run.ok, "%s", run.error);
  ck_assert_str_eq(run.output, "some bytes\n");
  const char *const lost[] = {"/dev/null/none/tool", NULL};
  run = tool_run(arena, lost, "", 0, NULL, 10);
  ck_assert_str_eq(run.error, "/dev/null/none/tool could not be started");
  const char *const wrong[] = {"/bin/cat", "/dev/null/none/file", NULL};
  run = tool_run(arena, wrong, "", 0, NULL, 10);
  ck_assert_ptr_nonnull(strstr(run.error, "ended with status 1"));
}
END_TEST

START_TEST(test_tool_deadline) {
  const char *const sleep[] = {"/bin/sh", "-c", "trap '' TERM; sleep 60 & sleep 60", NULL};
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  ToolResult run = tool_run(arena, sleep, "", 0, NULL, 0.2);
  clock_gettime(CLOCK_MONOTONIC, &after);
  ck_assert_str_eq(run.error, "/bin/sh was stopped at its deadline of 0.2 s");
  ck_assert(run.limited);
  ck_assert_double_le((double)(after.tv_sec - before.tv_sec), stress_wall(5));
}
END_TEST

Suite *suite_sass(void);
Suite *suite_sass(void) {
  Suite *suite = suite_create("sass");
  TCase *tests = tcase_create("sass");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_listing);
  tcase_add_test(tests, test_odd_listings);
  tcase_add_test(tests, test_no_tool);
  tcase_add_test(tests, test_real_tool);
  tcase_add_test(tests, test_tool_run);
  tcase_add_test(tests, test_tool_deadline);
  suite_add_tcase(suite, tests);
  return suite;
}
