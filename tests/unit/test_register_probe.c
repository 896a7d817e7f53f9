// The rows of FFMA that `probe --registers` times: what nvdisasm reads in the machine code is what
// was to be written, and what the rule says of it is what stands beside the clocks.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "compile_once.h"
#include "fake_cuda.h"
#include "kernels/device/probe/register_probe.h"
#include "kernels/toolchain/machine/register_banks.h"
#include "kernels/toolchain/machine/sass.h"
#include "quick_check.h"
#include "stress.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test register probe"); }
static void teardown(void) { arena_free(arena); }

START_TEST(predictions) {
  static const double expected[] = {2, 2, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2.5, 1.5, 2};
  ck_assert_int_eq(register_probe_count(), (int)(sizeof expected / sizeof *expected));
  for (int i = 0; i < register_probe_count(); i++) {
    const char *text = NULL;
    const double clocks = register_probe_predict(arena, register_probe_case(i), 90, &text);
    // The first of a row finds no cache filled.
    ck_assert_msg(clocks - expected[i] < 0.005 && clocks >= expected[i], "%s: %g",
                  register_probe_case(i)->name, clocks);
    ck_assert_ptr_nonnull(strstr(text, "FFMA R0, R"));
  }
}
END_TEST

static const SassLine *next_ffma(const SassResult *sass, int *at) {
  while (++*at < sass->n_lines)
    if (sass->lines[*at].opcode && strcmp(sass->lines[*at].opcode, "FFMA") == 0)
      return &sass->lines[*at];
  return NULL;
}

// "R10, R8.reuse, R10, R12" without the destination, which stays the compiler's.
static const char *sources(const char *text) {
  const char *comma = strchr(text, ',');
  return comma ? comma : text;
}

static void check_row(const CompileResult *compiled, const RegisterProbeCase *row) {
  unsigned char *cubin = arena_alloc(arena, compiled->cubin_bytes);
  memcpy(cubin, compiled->cubin, compiled->cubin_bytes);
  ck_assert_msg(register_probe_patch(cubin, compiled->cubin_bytes, row), "%s", row->name);
  const SassResult *sass = sass_disassemble(arena, cubin, compiled->cubin_bytes, 20);
  ck_assert_msg(sass->ok, "%s", sass->error);
  const char *text = NULL;
  const double predicted = register_probe_predict(arena, row, 90, &text);
  char *rest = NULL, *forms[REGISTER_PROBE_FORMS] = {NULL};
  forms[0] = strtok_r(arena_strdup(arena, text), ";", &rest);
  for (int i = 1; i < row->n_forms; i++) forms[i] = strtok_r(NULL, ";", &rest);
  int n = 0, at = -1;
  for (const SassLine *line; (line = next_ffma(sass, &at)); n++)
    ck_assert_str_eq(sources(line->text), sources(forms[n % row->n_forms]));
  ck_assert_int_eq(n, REGISTER_PROBE_FFMA);
  const ClockMarks banks = register_banks_read(arena, sass, 90);
  ck_assert_double_eq_tol(register_banks_clocks(&banks), predicted, 0.005);
}

START_TEST(machine_code_is_as_written) {
  static const char *const archs[] = {"sm_80", "sm_90a"};
  if (!sass_find_tool(arena)) return;
  const CompileResult *compiled =
      compile_once(arena, register_probe_plan(arena, archs[_i]), COMPILE_BOTH);
  if (!compiled->ok && strcmp(compiled->failed, "library") == 0) return;
  ck_assert_msg(compiled->ok, "%s %s", compiled->error, compiled->log);
  // Every register that a row reads is one that the kernel has.
  ck_assert_int_gt(compiled->kernels[0].registers, 25);
  // One in nine on the architecture that is measured, fewer on the other; in the long CI all.
  for (int i = 0; i < register_probe_count(); i++)
    if (stress_has_turn(i, _i == 1 ? 9 : 36)) check_row(compiled, register_probe_case(i));
}
END_TEST

// Bytes that are no such cubin are refused, wherever they end.
START_TEST(other_bytes_are_refused) {
  const RegisterProbeCase *row = register_probe_case(0);
  unsigned char none[8] = {0}, header[64] = "\177ELF\2";
  ck_assert(!register_probe_patch(none, sizeof none, row));
  ck_assert(!register_probe_patch(header, sizeof header, row));
  header[40] = 64;
  header[60] = 200;
  ck_assert(!register_probe_patch(header, sizeof header, row));
  const CompileResult *compiled =
      compile_once(arena, register_probe_plan(arena, "sm_90a"), COMPILE_BOTH);
  if (!compiled->ok) return;
  for (size_t n = 0; n < compiled->cubin_bytes; n += 61) {
    unsigned char *part = arena_alloc(arena, n + 1);
    memcpy(part, compiled->cubin, n);
    register_probe_patch(part, n, row);
  }
}
END_TEST

// On a driver whose compiler makes no machine code: an error, and nothing left behind.
START_TEST(without_ffma_it_says_so) {
  fake_cuda_install();
  const char *why = NULL;
  Gpu *gpu = gpu_open(arena, 0, &why);
  ck_assert_msg(gpu != NULL, "%s", why);
  const RegisterProbeResult result = register_probe_run(arena, gpu, 0);
  gpu_close(gpu);
  ck_assert_ptr_nonnull(result.error);
  ck_assert(!result.fits && result.predicted > 1);
  ck_assert_int_eq(fake_cuda_live(), 0);
  fake_cuda_remove();
}
END_TEST

Suite *suite_register_probe(void);
Suite *suite_register_probe(void) {
  Suite *suite = suite_create("register_probe");
  TCase *tests = tcase_create("register_probe");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, predictions);
  tcase_add_loop_test(tests, machine_code_is_as_written, 0, 2);
  tcase_add_test(tests, other_bytes_are_refused);
  tcase_add_test(tests, without_ffma_it_says_so);
  suite_add_tcase(suite, tests);
  return suite;
}
