// Structs as arguments, piece by piece: typed, or in a file; their memory dumped and compared.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli_harness.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine_case.h"

Suite *suite_open_args(void);

static Arena *arena;
static char state[] = "/tmp/gemmview-args-XXXXXX";

static void setup(void) {
  arena = arena_new("test");
  strcpy(state, "/tmp/gemmview-args-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(state));
  setenv("XDG_STATE_HOME", state, 1);
}
static void teardown(void) {
  cli_shell(arena, arena_printf(arena, "rm -r %s", state));
  arena_free(arena);
}

static const char *put_file(const char *name, const void *bytes, size_t n) {
  const char *path = arena_printf(arena, "%s/%s", state, name);
  FILE *file = fopen(path, "w");
  ck_assert(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
  return path;
}

static const float *get_floats(const char *name, int n) {
  float *out = ARENA_ARRAY(arena, float, n);
  FILE *file = fopen(arena_printf(arena, "%s/%s", state, name), "r");
  ck_assert_msg(file && fread(out, sizeof *out, (size_t)n, file) == (size_t)n, "%s", name);
  fclose(file);
  return out;
}

// struct { const float *in; float *twice, *sum; int n; float scale; }: twice gets %s * in, sum
// gets in + scale, for the first n threads.
static const char *text_of(const char *factor) {
  return arena_printf(
      arena,
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 8 .b8 "
      "s[32])\n{\n"
      ".reg .b32 %%r<4>; .reg .b64 %%rd<9>; .reg .f32 %%f<4>; .reg .pred %%p;\n"
      "ld.param.u64 %%rd0, [s]; ld.param.u64 %%rd1, [s+8]; ld.param.u64 %%rd5, [s+16];\n"
      "ld.param.u32 %%r0, [s+24]; ld.param.f32 %%f0, [s+28];\n"
      "mov.u32 %%r1, %%tid.x; setp.ge.u32 %%p, %%r1, %%r0;\n@%%p ret;\n"
      "mul.wide.u32 %%rd2, %%r1, 4; add.s64 %%rd3, %%rd0, %%rd2; add.s64 %%rd4, %%rd1, %%rd2;\n"
      "add.s64 %%rd6, %%rd5, %%rd2; ld.global.f32 %%f1, [%%rd3];\n"
      "mul.f32 %%f2, %%f1, %s; st.global.f32 [%%rd4], %%f2;\n"
      "add.f32 %%f3, %%f1, %%f0; st.global.f32 [%%rd6], %%f3;\nret;\n}\n",
      factor);
}

static const char *twice_text(void) { return text_of("0f40000000"); }

static const char *command_of(const char *path) {
  return arena_printf(arena, "open %s --text --launch grid=1,block=32 ", path);
}

static void check_values(const float *in) {
  const float *twice = get_floats("twice", 32), *sum = get_floats("sum", 32);
  for (int i = 0; i < 32; i++) {
    ck_assert_float_eq(twice[i], i < 20 ? 2 * in[i] : 0);
    ck_assert_float_eq(sum[i], i < 20 ? in[i] + 1.5f : 0);
  }
}

static const float *given(void) {
  float *in = ARENA_ARRAY(arena, float, 32);
  for (int i = 0; i < 32; i++) in[i] = (float)(i * i);
  return in;
}

// --dump of both results, by these names.
static const char *dumps(const char *twice, const char *sum) {
  return arena_printf(arena, "--dump %s=%s/twice --dump %s=%s/sum ", twice, state, sum, state);
}

static void run_struct(const char *path, const char *arg, const char *names) {
  const CliRun run = cli_run(
      arena, arena_printf(arena, "%s--predict %s --arg '%s'", command_of(path), names, arg));
  ck_assert_msg(run.status == CLI_OK, "%s: %s%s", arg, run.out, run.err);
}

START_TEST(test_pieces_have_files_names_and_offsets) {
  if (!cli_has_program()) return;
  const char *text = twice_text(), *path = put_file("s.ptx", text, strlen(text));
  const float *in = given();
  const char *file = put_file("in", in, 32 * sizeof *in);
  run_struct(
      path,
      arena_printf(arena, "bytes:32,0=file:%s,8=mem:128:zero,16=mem:128:zero,24=20,28=1.5", file),
      dumps("0@8", "0@16"));
  check_values(in);
  run_struct(path,
             arena_printf(arena,
                          "bytes:32,in@0=file:%s,28=f32:1.5,o@8=mem:128:zero,16=mem:128:zero,n@24="
                          "u32:20",
                          file),
             dumps("o", "s@16"));
  check_values(in);
  // Both results in one piece of memory, the second one behind the first.
  run_struct(
      path,
      arena_printf(arena, "bytes:32,0=file:%s,o@8=mem:256:zero,16=same:o+128,24=20,28=1.5", file),
      dumps("o", "0@16"));
  check_values(in);
}
END_TEST

START_TEST(test_an_argument_may_be_a_file_with_remarks) {
  if (!cli_has_program()) return;
  const char *text = twice_text(), *path = put_file("s.ptx", text, strlen(text));
  const float *in = given();
  const char *file = put_file("in", in, 32 * sizeof *in);
  const char *arg = arena_printf(arena,
                                 "# a struct of k\n\nbytes:32,\n  in@0 = file:%s\n"
                                 "twice@8=mem:128:zero, sum@16=mem:128:zero  # results\r\n"
                                 "24=20\n28=1.5",
                                 file);
  run_struct(path, arena_printf(arena, "@%s", put_file("s.arg", arg, strlen(arg))),
             dumps("twice", "sum"));
  check_values(in);
}
END_TEST

// Random contents of a type: 16-bit numbers fill both halves of a word.
START_TEST(test_random_memory_has_a_type) {
  if (!cli_has_program()) return;
  const char *text = twice_text(), *path = put_file("s.ptx", text, strlen(text));
  static const struct {
    const char *type;
    unsigned none, some;  // bits of a word that no number from -4 to 3 has, and that one has
  } rows[] = {{"f16", 0x01ff01ff, 0x0000ffff},
              {"bf16", 0x003f003f, 0x0000ffff},
              {"f32", 0x003fffff, 0xffff0000},
              {"i32", 0xfffffff8, 0x00000007}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    run_struct(path,
               arena_printf(arena, "bytes:32,in@0=mem:128:%s,8=mem:128,16=mem:128,24=20,28=1.5",
                            rows[r].type),
               arena_printf(arena, "--dump in=%s/in --dump 0@8=%s/x", state, state));
    const float *in = get_floats("in", 32);
    unsigned all = 0;
    for (int i = 0; i < 32; i++) {
      unsigned word;
      memcpy(&word, &in[i], sizeof word);
      all |= word;
    }
    ck_assert_msg((all & rows[r].none) == 0 && (all & rows[r].some) != 0, "%s: %x", rows[r].type,
                  all);
  }
}
END_TEST

START_TEST(test_a_wrong_piece_is_named) {
  if (!cli_has_program()) return;
  const char *text = twice_text(), *path = put_file("s.ptx", text, strlen(text));
  static const struct {
    const char *arg, *piece, *says;
  } wrong[] = {
      {"bytes:32,8=1,32=1", "32=1", "4 bytes from 32 on, and the struct has 32"},
      {"bytes:32,28=u64:1", "28=u64:1", "8 bytes from 28 on"},
      {"bytes:32,o@8=mem:", "o@8=mem:", "mem:BYTES"},
      {"bytes:32,8", "8", "NAME@OFFSET=VALUE"},
      {"bytes:32,8=x", "8=x", "expected a number"},
      {"bytes:32,8=4294967296", "8=4294967296", "has 4 bytes"},
      {"bytes:32,8=u8:256", "8=u8:256", "has 4 bytes"},
      {"bytes:32,0=u64:3,n@4=20", "n@4=20", "byte 4 was given before"},
      {"bytes:32,0=same:o,o@8=mem:128", "same:o", "same:NAME"},
      {"bytes:32,0=file:/none", "/none", "cannot be read"},
      {"bytes:24,0=1", "bytes:24,0=1", "expected bytes:32"},
      {"@/none", "/none", "cannot be read"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const CliRun refused =
        cli_run(arena, arena_printf(arena, "%s--predict --arg %s", command_of(path), wrong[i].arg));
    ck_assert_msg(refused.status == CLI_USAGE && strstr(refused.err, wrong[i].piece) != NULL &&
                      strstr(refused.err, wrong[i].says) != NULL,
                  "%s: %d %s", wrong[i].arg, refused.status, refused.err);
  }
  const CliRun several =
      cli_run(arena, arena_printf(arena,
                                  "%s--predict --dump 0=%s/x --arg "
                                  "bytes:32,in@0=mem:128,8=mem:128,16=mem:128,24=20",
                                  command_of(path), state));
  ck_assert_msg(several.status == CLI_USAGE && strstr(several.err, "there are in, 0@8, 0@16"), "%s",
                several.err);
}
END_TEST

// All memory of a struct is compared, not that of its last pointer alone.
START_TEST(test_machine_code_is_compared_in_all_pieces) {
  size_t n = 0;
  const char *text = twice_text(), *thrice = text_of("0f40400000"),
             *cubin = machine_case_assemble(arena, thrice, "sm_90", &n);
  if (!cli_has_program() || !cubin || !sass_find_tool(arena)) return;
  const char *path = put_file("s.ptx", text, strlen(text));
  const CliRun run = cli_run(
      arena, arena_printf(arena,
                          "%s--against %s --arg "
                          "bytes:32,0=mem:128,twice@8=mem:128:zero,16=mem:128:zero,24=20,28=1.5",
                          command_of(path), put_file("s.cubin", cubin, n)));
  ck_assert_msg(
      run.status == CLI_NO && strstr(run.out, "the first: argument twice, byte 0") != NULL, "%s%s",
      run.out, run.err);
}
END_TEST

Suite *suite_open_args(void) {
  Suite *suite = suite_create("open_args");
  TCase *tcase = tcase_create("args");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_pieces_have_files_names_and_offsets);
  tcase_add_test(tcase, test_an_argument_may_be_a_file_with_remarks);
  tcase_add_test(tcase, test_random_memory_has_a_type);
  tcase_add_test(tcase, test_a_wrong_piece_is_named);
  tcase_add_test(tcase, test_machine_code_is_compared_in_all_pieces);
  suite_add_tcase(suite, tcase);
  return suite;
}
