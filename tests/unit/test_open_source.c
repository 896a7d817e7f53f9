// A source and nvcc: which words it gets, and which flag is proposed where it says what is missing.
#include <check.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/str.h"
#include "cli_harness.h"

Suite *suite_open_source(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) {
  unsetenv("GEMMVIEW_NVCC");
  arena_free(arena);
}

// A compiler that says this, after the words that it was given, and fails.
static void set_nvcc(const char *says) {
  const char *path = cli_write_file(
      arena, "nvcc",
      arena_printf(arena, "#!/bin/sh\necho \"words: $*\"\nprintf '%s\\n'\nexit 1\n", says));
  ck_assert_int_eq(chmod(path, 0700), 0);
  setenv("GEMMVIEW_NVCC", path, 1);
}

START_TEST(test_a_header_is_compiled_as_cuda) {
  if (!cli_has_program()) return;
  static const struct {
    const char *name;
    bool told;
  } rows[] = {{"k.cuh", true}, {"k.cu", false}};
  set_nvcc("no");
  for (int i = 0; i < 2; i++) {
    const char *path = cli_write_file(arena, rows[i].name, "__global__ void k() {}\n");
    const CliRun run = cli_run(arena, arena_printf(arena, "open %s --list", path));
    ck_assert_int_eq(run.status, 4);
    ck_assert_msg((strstr(run.err, " -x cu ") != NULL) == rows[i].told, "%s", run.err);
  }
}
END_TEST

START_TEST(test_a_flag_is_proposed) {
  if (!cli_has_program()) return;
  static const struct {
    const char *says, *hint;
  } rows[] = {
      {"k.cu(1): fatal error: cannot open source file \"cute/tensor.hpp\"",
       "give the folder that has cute/tensor.hpp: -- -I FOLDER"},
      {"error: calling a constexpr __host__ function from a __device__ function is not allowed. "
       "The experimental flag \"--expt-relaxed-constexpr\" can be used",
       "try this flag of nvcc: -- --expt-relaxed-constexpr"},
      {"#error \"CUTLASS requires C++17\"", "try this flag of nvcc: -- -std=c++17"},
      {"error: use --extended-lambda", "-- --extended-lambda"},
  };
  const char *path = cli_write_file(arena, "k.cu", "__global__ void k() {}\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    set_nvcc(rows[i].says);
    const CliRun run = cli_run(arena, arena_printf(arena, "open %s --list", path));
    ck_assert_msg(strstr(run.err, rows[i].hint) != NULL, "%s\nnot %s", run.err, rows[i].hint);
  }
  set_nvcc("error: expected a \";\"");
  const CliRun run = cli_run(arena, arena_printf(arena, "open %s --list", path));
  ck_assert_msg(!strstr(run.err, "flag of nvcc"), "%s", run.err);
}
END_TEST

Suite *suite_open_source(void) {
  Suite *suite = suite_create("open_source");
  TCase *tc = tcase_create("open_source");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_test(tc, test_a_header_is_compiled_as_cuda);
  tcase_add_test(tc, test_a_flag_is_proposed);
  suite_add_tcase(suite, tc);
  return suite;
}
