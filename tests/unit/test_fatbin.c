// Kernels inside of fatbins, objects and archives: found by their names, unpacked, or refused with
// a reason; and files with bytes that nobody meant are read to their end.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli_harness.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/unpack.h"
#include "open_case.h"
#include "sass/fat_file.h"
#include "stress.h"

Suite *suite_fatbin(void);

#define FOLDER "tests/data/fatbins/"

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static char *bytes_of(const char *name, size_t *n) {
  return open_case_bytes(arena, arena_printf(arena, FOLDER "%s", name), n);
}

// "2 sm_80; …": kind, architecture and what stands in each entry.
static const char *entries_of(const void *bytes, size_t n) {
  static const char *const packing[] = {"", " lz4", " zstd"};
  FatFile file = fat_file(bytes, n);
  Str out = str_new(arena);
  for (FatEntry e; fat_next(&file, &e);)
    str_printf(&out, "%d %d%c%s%s; ", e.kind, e.sm, e.variant ? e.variant : '-', packing[e.packing],
               e.is_relocatable ? " unlinked" : "");
  return out.text;
}

START_TEST(test_entries_are_told) {
  static const struct {
    const char *file, *entries;
  } rows[] = {
      {"zstd.fatbin", "1 80- zstd; 0 90a zstd; 1 90a zstd; "},
      {"lz4.fatbin", "0 90a lz4; "},
      {"lto.fatbin", "2 90- zstd; "},
      {"host.o", "1 90a; "},
      {"unlinked.o", "1 90a unlinked; "},
  };
  size_t n = 0;
  const char *bytes = bytes_of(rows[_i].file, &n);
  ck_assert(fat_is(bytes, n));
  ck_assert_str_eq(entries_of(bytes, n), rows[_i].entries);
}
END_TEST

// An archive of three members, the first of an odd length.
static char *archive(size_t *n) {
  size_t host = 0, lz4 = 0;
  const char *of_host = bytes_of("host.o", &host), *of_lz4 = bytes_of("lz4.fatbin", &lz4);
  char *out = arena_alloc(arena, host + lz4 + 400);
  size_t at = (size_t)sprintf(out, "!<arch>\n%-48s%-10d`\nodd\n", "names/", 3);
  at += (size_t)sprintf(out + at, "%-48s%-10zu`\n", "host.o/", host);
  memcpy(out + at, of_host, host);
  at += host;
  if (at & 1) out[at++] = '\n';
  at += (size_t)sprintf(out + at, "%-48s%-10zu`\n", "lz4.o/", lz4);
  memcpy(out + at, of_lz4, lz4);
  *n = at + lz4;
  return out;
}

START_TEST(test_members_of_an_archive_are_told) {
  size_t n = 0;
  const char *bytes = archive(&n);
  ck_assert(fat_is(bytes, n));
  ck_assert_str_eq(entries_of(bytes, n), "1 90a; 0 90a lz4; ");
}
END_TEST

// Literals, then a piece that overlaps itself, then one with a long length.
START_TEST(test_pieces_of_lz4_are_put_together) {
  static const unsigned char packed[] = {0x32, 'a', 'b', 'c', 3, 0, 0x1f, 'd', 1, 0, 5, 0x10, 'e'};
  unsigned char out[64];
  const char *whole = "abcabcabcddddddddddddddddddddddddde";
  const size_t n = strlen(whole);
  ck_assert(fat_unpack(packed, sizeof packed, out, n));
  ck_assert_int_eq(memcmp(out, whole, n), 0);
  ck_assert(!fat_unpack(packed, sizeof packed, out, n - 1));
  ck_assert(!fat_unpack(packed, sizeof packed, out, n + 1));
  static const unsigned char before[] = {0x10, 'a', 2, 0, 0};
  ck_assert(!fat_unpack(before, sizeof before, out, 5));
}
END_TEST

static void read_all(const char *bytes, size_t n) {
  FatFile file = fat_file(bytes, n);
  for (FatEntry e; fat_next(&file, &e);) {
    Arena *scratch = arena_new("entry");
    const Unpacked u = unpack_entry(scratch, &e);
    ck_assert(u.at || u.why);
    arena_free(scratch);
  }
}

START_TEST(test_mutants_are_read_to_their_end) {
  static const char *const files[] = {"zstd.fatbin", "lz4.fatbin", "lto.fatbin", "host.o",
                                      "archive"};
  const bool is_archive = str_equal(files[_i], "archive");
  size_t n = 0;
  const char *bytes = is_archive ? archive(&n) : bytes_of(files[_i], &n);
  uint32_t seed = (uint32_t)_i;
  for (int turn = 0; turn < stress_count(400, 20000); turn++) {
    // Exactly as long as what is read: whoever reads behind it is seen.
    seed = seed * 1664525u + 1013904223u;
    const size_t cut = turn % 4 ? n : seed % (n + 1);
    char *mutant = malloc(cut ? cut : 1);
    memcpy(mutant, bytes, cut);
    for (int i = 0; cut && i < 1 + turn % 5; i++) {
      seed = seed * 1664525u + 1013904223u;
      const size_t within = turn % 3 ? cut : cut < 200 ? cut : 200;
      mutant[(seed >> 8) % within] = (char)(seed >> 3);
    }
    if (fat_is(mutant, cut)) read_all(mutant, cut);
    free(mutant);
  }
}
END_TEST

// ---- the command --------------------------------------------------------------------------------

static bool has_zstd(void) {
  size_t n = 0;
  FatFile file = fat_file(bytes_of("zstd.fatbin", &n), n);
  FatEntry e;
  FatFile whole = fat_file(file.bytes, n);
  return fat_next(&whole, &e) && unpack_entry(arena, &e).at;
}

START_TEST(test_kernels_are_listed_with_their_architectures) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, "open " FOLDER "zstd.fatbin --list");
  if (has_zstd())
    ck_assert_str_eq(run.out,
                     "_Z5twiceIfEvPT_i\n  sm_90a sm_80 compute_90a\nadd_step\n  sm_90a "
                     "sm_80 compute_90a\n");
  else
    ck_assert_msg(strstr(run.out, "libzstd.so.1 is not installed"), "%s", run.out);
  const CliRun lto = cli_run(arena, "open " FOLDER "lto.fatbin --list");
  ck_assert_str_eq(lto.out,
                   "1 entry is not read: LTO IR of sm_90: it is for link-time optimization only\n");
  // A kernel that is named is listed with its parameters, where its machine code can be read.
  const CliRun one = cli_run(arena, "open " FOLDER "host.o:add_step --list");
  if (sass_find_tool(arena))
    ck_assert_msg(strstr(one.out, "parameter 0: offset 0, 8 bytes\n  parameter 1: offset 8, 4"),
                  "%s", one.out);
  const CliRun json = cli_run(arena, "open " FOLDER "host.o:twice --list --json");
  ck_assert_int_eq(json_count(json_object_get(cli_json(arena, &json), "kernels")), 1);
}
END_TEST

#define LAUNCH " --launch grid=1,block=32 --arg mem:128:zero --arg 32 --dump 0="

static void check_run(const char *what, float value) {
  const char *out = cli_write_file(arena, "dumped", "");
  const CliRun run =
      cli_run(arena, arena_printf(arena, "open " FOLDER "%s" LAUNCH "%s", what, out));
  ck_assert_msg(run.status == CLI_OK, "%s: %s%s", what, run.out, run.err);
  size_t n = 0;
  const float *x = (const float *)(const void *)open_case_bytes(arena, out, &n);
  ck_assert_uint_eq(n, 128);
  for (int i = 0; i < 32; i++) ck_assert_msg(x[i] == value, "%s: %g", what, (double)x[i]);
}

START_TEST(test_a_kernel_runs_by_its_name) {
  if (!cli_has_program()) return;
  check_run("lz4.fatbin:add_step@compute_90a", 2);
  check_run("lz4.fatbin:twice", 0);
  if (!sass_find_tool(arena)) return;
  check_run("host.o:add_step", 2);
  check_run("host.o:add_step@sm_90a", 2);
  if (!has_zstd()) return;
  check_run("zstd.fatbin:add_step@sm_80", 2);
  check_run("zstd.fatbin:_Z5twiceIfEvPT_i", 0);
}
END_TEST

START_TEST(test_what_is_no_kernel_is_refused) {
  static const struct {
    const char *what, *says;
  } rows[] = {
      {"host.o", "host.o has 2 kernels, choose one, FILE:KERNEL: _Z5twiceIfEvPT_i; add_step"},
      {"host.o:nobody", "has no kernel nobody; gemmview open"},
      {"host.o:twice@sm_80", "has no kernel twice of sm_80"},
      {"unlinked.o:add_step", "add_step is not linked yet"},
      {"lto.fatbin", "has no kernel"},
  };
  if (!cli_has_program()) return;
  const CliRun run =
      cli_run(arena, arena_printf(arena, "open " FOLDER "%s" LAUNCH "/dev/null", rows[_i].what));
  ck_assert_int_eq(run.status, CLI_USAGE);
  ck_assert_msg(strstr(run.err, rows[_i].says), "%s", run.err);
}
END_TEST

Suite *suite_fatbin(void) {
  Suite *suite = suite_create("fatbin");
  TCase *tcase = tcase_create("fatbin");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_entries_are_told, 0, 5);
  tcase_add_test(tcase, test_members_of_an_archive_are_told);
  tcase_add_test(tcase, test_pieces_of_lz4_are_put_together);
  tcase_add_loop_test(tcase, test_mutants_are_read_to_their_end, 0, 5);
  tcase_add_test(tcase, test_kernels_are_listed_with_their_architectures);
  tcase_add_test(tcase, test_a_kernel_runs_by_its_name);
  tcase_add_loop_test(tcase, test_what_is_no_kernel_is_refused, 0, 5);
  suite_add_tcase(suite, tcase);
  return suite;
}
