// Sums that ptxas fuses with products: PTX leaves that open, so it is no difference.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli_harness.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine_case.h"

Suite *suite_machine_fused(void);

enum { LANES = 32 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// a, b, c of each lane, with products that no f32 holds; six results.
static const char *text_of(const char *loose, const char *factor) {
  return arena_printf(
      arena,
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out) {\n"
      ".reg .pred %%p; .reg .b32 %%r<4>; .reg .b64 %%rd<9>; .reg .f32 %%f<19>; .reg .f64 %%d<9>;\n"
      "ld.param.u64 %%rd1, [out];\n"
      "mov.u32 %%r1, %%tid.x;\n"
      "mul.wide.u32 %%rd2, %%r1, 4;\n"
      "add.s64 %%rd3, %%rd1, %%rd2;\n"
      "mul.wide.u32 %%rd4, %%r1, 8;\n"
      "add.s64 %%rd5, %%rd1, %%rd4;\n"
      "cvt.rn.f32.u32 %%f0, %%r1;\n"
      "fma.rn.f32 %%f1, %%f0, 0f3DCCCCCD, 0f3F8CCCCD;\n"
      "fma.rn.f32 %%f2, %%f0, 0f3E99999A, 0f3F000001;\n"
      "fma.rn.f32 %%f3, %%f0, 0f3C23D70B, 0f40133333;\n"
      "setp.ne.u32 %%p, %%r1, 7;\n"
      "mov.f32 %%f14, %s;\n"
      // The product first, the product last, two products, one of them with another reader.
      "mul%s.f32 %%f4, %%f1, %%f2;\n"
      "sub%s.f32 %%f5, %%f4, %%f3;\n"
      "st.global.f32 [%%rd3], %%f5;\n"
      "mul%s.f32 %%f6, %%f1, %%f3;\n"
      "add%s.f32 %%f7, %%f2, %%f6;\n"
      "st.global.f32 [%%rd3+128], %%f7;\n"
      "mul%s.f32 %%f8, %%f1, %%f1;\n"
      "mul%s.f32 %%f9, %%f2, %%f2;\n"
      "add%s.f32 %%f10, %%f8, %%f9;\n"
      "st.global.f32 [%%rd3+256], %%f10;\n"
      "sub%s.f32 %%f11, %%f3, %%f8;\n"
      "st.global.f32 [%%rd3+384], %%f11;\n"
      // A product that is subtracted, under a guard.
      "mul%s.f32 %%f12, %%f2, %%f14;\n"
      "mov.f32 %%f13, %%f3;\n"
      "@%%p sub%s.f32 %%f13, %%f3, %%f12;\n"
      "st.global.f32 [%%rd3+512], %%f13;\n"
      "cvt.f64.f32 %%d1, %%f1;\n"
      "cvt.f64.f32 %%d2, %%f2;\n"
      "div.rn.f64 %%d3, %%d1, %%d2;\n"
      "mul%s.f64 %%d4, %%d3, %%d1;\n"
      "sub%s.f64 %%d5, %%d4, %%d2;\n"
      "st.global.f64 [%%rd5+640], %%d5;\n"
      "ret;\n}\n",
      factor, loose, loose, loose, loose, loose, loose, loose, loose, loose, loose, loose, loose);
}

static bool has_tools(void) {
  size_t n = 0;
  const char *text = text_of("", "0f3F800001");
  return cli_has_program() && sass_find_tool(arena) &&
         machine_case_assemble(arena, text, "sm_90", &n);
}

static CliRun against(const char *text, const char *machine) {
  return cli_run(arena, arena_printf(arena,
                                     "open %s --launch grid=1,block=%d --arg mem:896:zero "
                                     "--against %s",
                                     cli_write_file(arena, "fused.ptx", text), LANES, machine));
}

START_TEST(test_sums_are_fused_where_the_machine_code_does) {
  if (!has_tools()) return;
  const CliRun run = against(text_of("", "0f3F800001"), "machine");
  ck_assert_msg(run.status == CLI_OK && strstr(run.out, "memory is equal") != NULL &&
                    strstr(run.out, "sums and products round once here") != NULL,
                "%s%s", run.out, run.err);
  const CliRun strict = against(text_of(".rn", "0f3F800001"), "machine");
  ck_assert_msg(strict.status == CLI_OK && strstr(strict.out, "memory is equal") != NULL &&
                    strstr(strict.out, "round once") == NULL,
                "%s%s", strict.out, strict.err);
}
END_TEST

static const char *write_cubin(const char *text) {
  size_t n = 0;
  const char *cubin = machine_case_assemble(arena, text, "sm_90", &n),
             *path = cli_write_file(arena, "fused.cubin", "");
  FILE *file = fopen(path, "w");
  ck_assert(cubin && file && fwrite(cubin, 1, n, file) == n && fclose(file) == 0);
  return path;
}

// Machine code that rounds once where PTX says .rn is wrong; so is another factor beside sums that
// may be fused, and it is that which is named, not they.
START_TEST(test_what_is_wrong_beside_them_is_named) {
  if (!has_tools()) return;
  const CliRun strict =
      against(text_of(".rn", "0f3F800001"), write_cubin(text_of("", "0f3F800001")));
  ck_assert_msg(strict.status == CLI_NO && strstr(strict.out, "memory differs") != NULL &&
                    strstr(strict.out, "round once") == NULL,
                "%s%s", strict.out, strict.err);
  const CliRun run = against(text_of("", "0f3F800001"), write_cubin(text_of("", "0f3F900001")));
  const char *made = strstr(run.out, "made by");
  ck_assert_msg(run.status == CLI_NO && strstr(run.out, "differs in 31 words") != NULL && made &&
                    strstr(made, "@%p sub.f32 %f13, %f3, %f12") != NULL,
                "%s%s", run.out, run.err);
}
END_TEST

Suite *suite_machine_fused(void) {
  Suite *suite = suite_create("machine_fused");
  TCase *tcase = tcase_create("fused");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_sums_are_fused_where_the_machine_code_does);
  tcase_add_test(tcase, test_what_is_wrong_beside_them_is_named);
  suite_add_tcase(suite, tcase);
  return suite;
}
