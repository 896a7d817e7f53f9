// A capsule of a large launch without PTX keeps the memory that a run of the machine code touches;
// that opens as the whole memory does. Where there is no such run the capsule stays whole.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/record/record_run.h"
#include "ptx/run/machine.h"
#include "record_harness.h"

Suite *suite_record_trim(void);

// Three arrays of 17 MiB, of which a block touches a page each, and the machine code.
enum { LARGE = 17 << 20, CUT_MAX = 64 << 10 };

static bool tools(void) {
  return have("cc", "a driver with a GPU, made up") && have("ptxas", "machine code alone") &&
         have("nvdisasm", "machine code alone");
}

// driver_add.c behind a driver with a GPU, its kernel as machine code alone.
static CliRun record_large(const char *options, const char *path) {
  static const char *const made =
      "(test -f %s/libcuda.so.1 || { cc -O1 -shared -fPIC -Wl,-soname,libcuda.so.1 "
      "-o %s/libcuda.so.1 " DATA "/fake_driver.c && cc -O1 -o %s/add " DATA
      "/driver_add.c -ldl && ptxas -arch=sm_90 -o %s/add.cubin " DATA "/add.ptx; })";
  compile(arena_printf(arena, made, folder, folder, folder, folder));
  const CliRun run = cli_shell(
      arena, arena_printf(
                 arena, "LD_LIBRARY_PATH=%s $GEMMVIEW record %s -o %s -- %s/add %s/add.cubin large",
                 folder, options, path, folder, folder));
  ck_assert_msg(run.status == 0 && str_equal(run.out, "PASS\n"), "%s\n%s", run.out, run.err);
  return run;
}

static bool is_whole(const Capsule *capsule) {
  return str_equal(capsule->blocks, "all") && capsule_memory_bytes(capsule) == 3 * LARGE;
}

// All but the first line, which has the path.
static const char *opened(const char *path, const char *options) {
  const CliRun run =
      cli_run(arena, arena_printf(arena, "open %s --machine --text %s", path, options));
  ck_assert_msg(run.status == 0, "%s\n%s%s", path, run.out, run.err);
  return strchr(run.out, '\n');
}

START_TEST(test_only_touched_pages_are_kept) {
  static const struct {
    const char *blocks, *equal;
    int first;  // of its numbers
  } rows[] = {{"0", "128 of 128 words", 0}, {"7,0,0", "104 of 104 words", 896}};
  if (!tools()) return;
  const char *cut = in_folder("cut.capsule"), *whole = in_folder("whole.capsule");
  const CliRun run = record_large(arena_printf(arena, "--blocks %s", rows[_i].blocks), cut);
  ck_assert_ptr_nonnull(strstr(run.err, "keep only the memory it touches"));
  const Capsule *capsule = read_capsule(cut);
  ck_assert_str_eq(capsule->blocks, rows[_i].blocks);
  ck_assert_int_eq(capsule->n_memory, 3);
  ck_assert_int_eq(capsule->n_launches, 1);
  ck_assert(capsule->ended && capsule->by_gpu && !capsule->ptx.at);
  for (int i = 0; i < 3; i++) {
    uint64_t array;
    memcpy(&array, capsule->params.at + capsule->param[i].offset, sizeof array);
    const uint64_t first = array + sizeof(float) * (uint64_t)rows[_i].first;
    const CapsuleMemory *piece = NULL;
    for (int k = 0; k < 3; k++)
      if (first - capsule->memory[k].address < capsule->memory[k].bytes)
        piece = &capsule->memory[k];
    ck_assert_msg(piece && piece->bytes == PTX_PAGE_BYTES, "array %d", i);
    ck_assert_uint_eq((first - piece->address) / sizeof(float),
                      (uint64_t)(512 + rows[_i].first) % 1024);
  }
  record_large("--blocks all", whole);
  ck_assert(is_whole(read_capsule(whole)));
  const char *said = opened(cut, "--compare");
  ck_assert_msg(strstr(said, rows[_i].equal) != NULL, "%s", said);
  ck_assert_str_eq(said,
                   opened(whole, arena_printf(arena, "--compare --blocks %s", rows[_i].blocks)));
  const CliRun size = cli_shell(arena, arena_printf(arena, "wc -c < %s", cut));
  ck_assert_int_lt(atoi(size.out), CUT_MAX);
  const CliRun other =
      cli_run(arena, arena_printf(arena, "open %s --machine --text --blocks 3,0,0", cut));
  ck_assert_msg(other.status == 2 && strstr(other.err, "holds only the memory that block"), "%s",
                other.err);
}
END_TEST

// By "%p" a capsule's name has its process.
START_TEST(test_each_process_is_trimmed) {
  if (!tools()) return;
  record_large("", in_folder("k-%p.capsule"));
  const CliRun list = cli_shell(arena, arena_printf(arena, "ls %s/k-*", folder));
  const char *path = arena_strndup(arena, list.out, strcspn(list.out, "\n"));
  ck_assert_str_eq(list.out, arena_printf(arena, "%s\n", path));
  ck_assert_uint_lt(capsule_memory_bytes(read_capsule(path)), CUT_MAX);
}
END_TEST

// The block is none of the grid; contents are hidden, and addresses may follow from them.
START_TEST(test_memory_stays_whole) {
  if (!tools()) return;
  const char *path = in_folder("k.capsule");
  CliRun run = record_large("--blocks 9,0,0", path);
  ck_assert_ptr_nonnull(strstr(run.err,
                               "all of the memory is kept, for what block 9,0,0 touches is not "
                               "known: "));
  ck_assert(is_whole(read_capsule(path)));
  run = record_large("--no-data", path);
  ck_assert_ptr_null(strstr(run.err, "the memory it touches"));
  ck_assert(is_whole(read_capsule(path)));
  // There is no disassembler; the machine code has other kernels.
  setenv("GEMMVIEW_NVDISASM", "/dev/null/none", 1);
  run = record_large("", path);
  unsetenv("GEMMVIEW_NVDISASM");
  ck_assert_ptr_nonnull(strstr(run.err, "touches is not known: "));
  ck_assert(is_whole(read_capsule(path)));
  cli_shell(arena, arena_printf(arena, "cp tests/data/cubins/sm_100a.cubin %s/add.cubin", folder));
  run = record_large("", path);
  ck_assert_ptr_nonnull(strstr(run.err, "is not known: k.capsule: no kernel of that name"));
  ck_assert(is_whole(read_capsule(path)));
}
END_TEST

// A disassembler that kills the process that asked for it, which is its keeper's parent.
START_TEST(test_crash_loses_nothing) {
  if (!tools()) return;
  const char *path = in_folder("k.capsule"), *killer = in_folder("killer");
  cli_shell(arena, arena_printf(arena,
                                "(echo '#!/bin/sh'; "
                                "echo 'kill -9 $(cut -d\" \" -f4 /proc/$PPID/stat)'; "
                                "echo 'sleep 9') > %s; chmod +x %s",
                                killer, killer));
  setenv("GEMMVIEW_NVDISASM", killer, 1);
  const CliRun run = record_large("", path);
  unsetenv("GEMMVIEW_NVDISASM");
  ck_assert_msg(strstr(run.err, "is not known: it was ended by signal 9\n") != NULL, "%s", run.err);
  const Capsule *capsule = read_capsule(path);
  ck_assert(is_whole(capsule) && capsule->n_launches == 1);
  const CliRun left = cli_shell(arena, arena_printf(arena, "ls %s", folder));
  ck_assert_ptr_null(strstr(left.out, ".part"));
}
END_TEST

// ---- other ways to memory -----------------------------------------------------------------------

static bool write_bytes(void *file, const void *bytes, size_t n) {
  return fwrite(bytes, 1, n, file) == n;
}

static void write_capsule(const Capsule *capsule, const char *path) {
  FILE *file = fopen(path, "wb");
  ck_assert(file && capsule_write(arena, capsule, write_bytes, file) && fclose(file) == 0);
}

// A launch recorded from PTX, with that left out: cut, it opens as it did.
static void check_cut(const char *recorded, uint64_t *bytes, uint64_t *of) {
  const char *whole = in_folder("whole.capsule"), *cut = in_folder("cut.capsule"), *why = NULL;
  Capsule capsule = *read_capsule(recorded);
  capsule.ptx = (CapsuleText){0};
  write_capsule(&capsule, whole);
  const bool *const *touched = record_touched(arena, whole, "0", &capsule, &why);
  ck_assert_msg(touched != NULL, "%s: %s", recorded, why);
  *of = capsule_memory_bytes(&capsule);
  capsule_cut(arena, &capsule, touched, PTX_PAGE_BYTES);
  *bytes = capsule_memory_bytes(&capsule);
  capsule.blocks = "0";
  write_capsule(&capsule, cut);
  ck_assert_str_eq(opened(cut, "--compare"), opened(whole, "--compare"));
}

// Boxes of TMA, and a cooperative launch, whose blocks all run.
START_TEST(test_what_copies_touch_is_kept) {
  static const struct {
    const char *name, *arch;
  } rows[] = {{"wgmma", "90a"}, {"grid", "90"}, {"chain", "90"}};
  if (!tools() || !have("nvcc", "a program with NVIDIA's runtime")) return;
  const char *name = rows[_i].name, *path = in_folder("k.capsule");
  compile(arena_printf(
      arena, "nvcc -gencode arch=compute_%s,code=[compute_%s,sm_%s] -o %s/%s " DATA "/%s.cu",
      rows[_i].arch, rows[_i].arch, rows[_i].arch, folder, name, name));
  const CliRun run =
      record(arena_printf(arena, "--cpu -o %s", path), arena_printf(arena, "%s/%s", folder, name));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  uint64_t bytes, of;
  check_cut(path, &bytes, &of);
  ck_assert_uint_le(bytes, of);
}
END_TEST

Suite *suite_record_trim(void) {
  Suite *suite = suite_create("record_trim");
  TCase *tc = tcase_create("record_trim");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 180);
  tcase_add_loop_test(tc, test_only_touched_pages_are_kept, 0, 2);
  tcase_add_test(tc, test_each_process_is_trimmed);
  tcase_add_test(tc, test_memory_stays_whole);
  tcase_add_test(tc, test_crash_loses_nothing);
  tcase_add_loop_test(tc, test_what_copies_touch_is_kept, 0, 3);
  suite_add_tcase(suite, tc);
  return suite;
}
