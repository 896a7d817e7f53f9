// A capsule of a large launch without PTX keeps the memory that a run of the machine code touches;
// that opens as the whole memory does. Where there is no such run the capsule stays whole.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "cli/record/record_run.h"
#include "ptx/run/machine.h"
#include "record_harness.h"
#include "stress.h"

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
  const CliRun size = cli_shell(arena, arena_printf(arena, "wc -c %s", cut));
  ck_assert_int_lt(atoi(size.out), CUT_MAX);
  const CliRun other =
      cli_run(arena, arena_printf(arena, "open %s --machine --text --blocks 3,0,0", cut));
  ck_assert_msg(other.status == 2 && strstr(other.err, "holds only the memory that block"), "%s",
                other.err);
}
END_TEST

// Without a GPU the driver runs the machine code before the launch, and keeps the same.
START_TEST(test_driver_cuts_machine_code) {
  if (!tools()) return;
  const char *path = in_folder("k.capsule"), *program = driver_program();
  compile(arena_printf(arena, "ptxas -arch=sm_90 -o %s/add.cubin " DATA "/add.ptx", folder));
  const CliRun run = record(arena_printf(arena, "--cpu --kernel '*' -o %s", path),
                            arena_printf(arena, "%s %s/add.cubin large", program, folder));
  ck_assert_msg(run.status == 0 && str_equal(run.out, "PASS\n"), "%s\n%s", run.out, run.err);
  const Capsule *capsule = read_capsule(path);
  ck_assert(!capsule->ptx.at && capsule->ended && !capsule->goes_on);
  ck_assert_int_eq(capsule->n_extents, 3);
  ck_assert_uint_eq(capsule_memory_bytes(capsule), 3 * PTX_PAGE_BYTES);
  const char *said = opened(path, "--compare");
  ck_assert_msg(strstr(said, "128 of 128 words") != NULL, "%s", said);
}
END_TEST

// A limit of nothing is refused; --blocks all asks for all, whatever it comes to.
START_TEST(test_all_blocks_have_no_limit) {
  if (!tools()) return;
  const char *path = in_folder("k.capsule");
  compile(arena_printf(arena, "ptxas -arch=sm_90 -o %s/add.cubin " DATA "/add.ptx", folder));
  const char *command = arena_printf(arena, "%s %s/add.cubin large", driver_program(), folder);
  CliRun run = record(arena_printf(arena, "--cpu --kernel '*' --limit 0 -o %s", path), command);
  ck_assert_int_eq(run.status, 2);
  run =
      record(arena_printf(arena, "--cpu --kernel '*' --blocks all --limit 1 -o %s", path), command);
  ck_assert_msg(run.status == 0 && strstr(run.err, "only the memory") == NULL, "%s", run.err);
  ck_assert(is_whole(read_capsule(path)));
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
  const char *whole = in_folder("whole.capsule"), *cut = in_folder("cut.capsule");
  Capsule capsule = *read_capsule(recorded);
  capsule.ptx = (CapsuleText){0};
  write_capsule(&capsule, whole);
  const RecordTouched touched = record_touched(arena, whole, "0", &capsule, UINT64_MAX);
  ck_assert_msg(!touched.why && touched.any, "%s: %s", recorded, touched.why);
  *of = capsule_memory_bytes(&capsule);
  capsule_cut(arena, &capsule, touched.pages, PTX_PAGE_BYTES);
  *bytes = capsule_memory_bytes(&capsule);
  capsule.blocks = "0";
  write_capsule(&capsule, cut);
  ck_assert_str_eq(opened(cut, "--compare"), opened(whole, "--compare"));
}

// Boxes of TMA, a cooperative launch, whose blocks all run, and blocks that wait for each other.
static const char *record_copies(int row) {
  static const struct {
    const char *name, *arch;
  } rows[] = {{"wgmma", "90a"}, {"grid", "90"}, {"chain", "90"}};
  const char *name = rows[row].name, *path = in_folder("k.capsule");
  // By the words that suite record has for it: nvcc is asked once.
  compile_cuda(arena_printf(arena, "-gencode arch=compute_%s,code=[compute_%s,sm_%s] -lineinfo ",
                            rows[row].arch, rows[row].arch, rows[row].arch),
               arena_printf(arena, DATA "/%s.cu", name), in_folder(name));
  const CliRun run =
      record(arena_printf(arena, "--cpu -o %s", path), arena_printf(arena, "%s/%s", folder, name));
  ck_assert_msg(run.status == 0, "%s\n%s", run.out, run.err);
  return path;
}

START_TEST(test_what_copies_touch_is_kept) {
  if (!tools() || !have("nvcc", "a program with NVIDIA's runtime")) return;
  uint64_t bytes, of;
  check_cut(record_copies(_i), &bytes, &of);
  ck_assert_uint_le(bytes, of);
}
END_TEST

// Leaves out some of the pages, by chance; false: none.
static bool leave_out_some(Capsule *capsule, uint64_t *seed) {
  bool **kept = ARENA_ARRAY(arena, bool *, capsule->n_memory + 1), some = false;
  for (int i = 0; i < capsule->n_memory; i++) {
    const CapsuleMemory *m = &capsule->memory[i];
    const uint64_t pages = (m->bytes + PTX_PAGE_BYTES - 1) / PTX_PAGE_BYTES;
    if (m->kind != CAPSULE_ALLOCATION) continue;
    kept[i] = ARENA_ARRAY(arena, bool, pages);
    for (uint64_t page = 0; page < pages; page++) {
      kept[i][page] = random_next(seed) % 3 > 0;
      some |= !kept[i][page];
    }
  }
  capsule_cut(arena, capsule, (const bool *const *)kept, PTX_PAGE_BYTES);
  return some;
}

// Whichever pages are left out: the run ends there, and nothing that it found by then is wrong.
START_TEST(test_no_page_that_is_left_out_is_a_fault) {
  enum { ROUNDS = 6 };
  static const char *const how[] = {"", "--machine"};
  if (!tools() || !have("nvcc", "a program with NVIDIA's runtime")) return;
  const char *cut = in_folder("cut.capsule");
  const Capsule *whole = read_capsule(record_copies(_i));
  uint64_t seed = (uint64_t)_i + 1;
  int beyond = 0;
  for (int round = 0; round < ROUNDS; round++) {
    Capsule capsule = *whole;
    capsule.goes_on = leave_out_some(&capsule, &seed);
    capsule.blocks = "0";
    write_capsule(&capsule, cut);
    const CliRun run =
        cli_run(arena, arena_printf(arena, "open %s %s --text --compare", cut, how[round % 2]));
    ck_assert_msg(run.status == 0, "round %d\n%s\n%s", round, run.out, run.err);
    beyond += strstr(run.out, "the block goes on beyond the memory") != NULL;
  }
  ck_assert_int_gt(beyond, 0);
}
END_TEST

// ---- a block that takes the work of all ---------------------------------------------------------

// 400 tiles of 16 KiB in and out, the last 4 KiB of each array zeros: 12.8 MB in a file.
enum { TILES = 400, FLOATS = TILES * 4096, ZEROS = 4096, BLOCKS = 8, MB = 1000000 };

typedef struct Draws {
  float *in, *out;
  unsigned next, drawn;
  CapsuleRun before[4], after[2];
  CapsuleMemory memory[3];
  CapsuleParam param[4];
  unsigned char params[28];
  Capsule capsule;
} Draws;

// The launch of draws.cu as a GPU would have left it: each block has drawn once in vain.
static Draws *make_draws(unsigned tiles) {
  enum { IN, OUT, NEXT };
  const uint64_t bytes = sizeof(float) * FLOATS,
                 address[] = {0x7f0000000000, 0x7f0010000000, 0x7f0020000000};
  const char *cubin = in_folder("draws.cubin");
  compile_cuda("-arch=sm_90a -cubin", DATA "/draws.cu", cubin);
  Draws *d = ARENA_NEW(arena, Draws);
  d->in = ARENA_ARRAY(arena, float, FLOATS);
  d->out = ARENA_ARRAY(arena, float, FLOATS);
  for (int i = 0; i < FLOATS - ZEROS / (int)sizeof(float); i++) {
    d->in[i] = (float)(i + 1);
    d->out[i] = 2 * d->in[i];
  }
  d->drawn = TILES + BLOCKS;
  const unsigned char *in = (const unsigned char *)d->in, *out = (const unsigned char *)d->out;
  d->before[IN] = (CapsuleRun){CAPSULE_BYTES, 0, bytes - ZEROS, in};
  d->before[IN + 1] = (CapsuleRun){CAPSULE_ZEROS, bytes - ZEROS, ZEROS, NULL};
  d->before[2] = (CapsuleRun){CAPSULE_UNWRITTEN, 0, bytes, NULL};
  d->before[3] = (CapsuleRun){CAPSULE_BYTES, 0, 4, (const unsigned char *)&d->next};
  d->after[0] = (CapsuleRun){CAPSULE_BYTES, 0, bytes - ZEROS, out};
  d->after[1] = (CapsuleRun){CAPSULE_BYTES, 0, 4, (const unsigned char *)&d->drawn};
  d->memory[IN] =
      (CapsuleMemory){CAPSULE_ALLOCATION, "in", address[IN], bytes, d->before, NULL, 2, 0};
  d->memory[OUT] = (CapsuleMemory){
      CAPSULE_ALLOCATION, "out", address[OUT], bytes, d->before + 2, d->after, 1, 1};
  d->memory[NEXT] = (CapsuleMemory){
      CAPSULE_ALLOCATION, "next", address[NEXT], 4, d->before + 3, d->after + 1, 1, 1};
  memcpy(d->params, address, sizeof address);
  memcpy(d->params + sizeof address, &tiles, sizeof tiles);
  for (int i = 0; i < 4; i++) d->param[i] = (CapsuleParam){8 * (uint64_t)i, i < 3 ? 8 : 4};
  Diags diags = diags_new(arena);
  size_t n = 0;
  const char *code = open_read_file(arena, cubin, &n, &diags);
  d->capsule = (Capsule){.kernel = "draws",
                         .program = "a program",
                         .device = "a GPU",
                         .blocks = "all",
                         .grid = {BLOCKS, 1, 1},
                         .block = {128, 1, 1},
                         .ended = true,
                         .by_gpu = true,
                         .params = {d->params, sizeof d->params},
                         .cubin = {(const unsigned char *)code, n},
                         .param = d->param,
                         .n_params = 4,
                         .memory = d->memory,
                         .n_memory = 3};
  return d;
}

// The capsule as record leaves it where it may have so many bytes; how many it has.
static int trim_to(Capsule *capsule, uint64_t limit, const char *path) {
  const char *whole = in_folder("whole.capsule");
  write_capsule(capsule, whole);
  record_trim(arena, whole, "0", limit, capsule);
  write_capsule(capsule, path);
  return atoi(cli_shell(arena, arena_printf(arena, "wc -c %s", path)).out);
}

static CliRun open_draws(const char *path, const char *options, int status) {
  const CliRun run = cli_run(arena, arena_printf(arena, "open %s --machine %s", path, options));
  ck_assert_msg(run.status == status, "%s\n%s\n%s", options, run.out, run.err);
  return run;
}

// The block alone draws the tiles of all blocks. The capsule has those that it drew first, as many
// as the limit allows, and the block ends where they do: that is no fault.
START_TEST(test_a_block_ends_where_the_memory_does) {
  if (!tools() || !have("nvcc", "a kernel that draws tiles")) return;
  const char *path = in_folder("k.capsule");
  const int mb = _i ? 5 : 1;
  Draws *d = make_draws(TILES);
  const int bytes = trim_to(&d->capsule, (uint64_t)mb * MB, path);
  ck_assert_int_le(bytes, mb * MB);
  ck_assert_int_gt(bytes, mb * MB * 8 / 10);
  const Capsule *cut = read_capsule(path);
  ck_assert(cut->goes_on && cut->ended);
  ck_assert_str_eq(cut->blocks, "0");
  ck_assert_int_eq(cut->n_extents, 3);
  ck_assert_uint_eq(cut->extents[1].bytes, d->memory[1].bytes);
  CliRun run = open_draws(path, "--text --compare", 0);
  ck_assert_ptr_nonnull(strstr(run.out, "the block goes on beyond the memory that the capsule "));
  ck_assert_ptr_null(strstr(run.out, "out_of_bounds"));
  // The words of whole tiles, and of the tile at whose memory it ended.
  run = open_draws(path, "--json --compare", 0);
  Diags diags = diags_new(arena);
  const JsonValue *root = cli_json(arena, &run);
  const int64_t words = json_number(root, "compared_words"), tiles = words / 4096;
  const char *outcome = NULL;
  ck_assert(json_read_string(json_object_get(root, "outcome"), &outcome, &diags));
  ck_assert_str_eq(outcome, "beyond");
  ck_assert_int_eq(json_number(root, "compared_different"), 0);
  ck_assert_int_eq(json_number(root, "compared_shared"), 1);
  ck_assert_int_gt(tiles, mb * 20);
  ck_assert_int_lt(tiles, mb * 31);
  run = open_draws(path, "--why", 1);
  ck_assert_msg(strstr(run.out, "the capsule's memory ends before the block does") != NULL, "%s",
                run.out);
  // A recorded word of its first tile is another one.
  d->out[100] = 7;
  trim_to(&d->capsule, (uint64_t)mb * MB, path);
  run = open_draws(path, "--text --compare", 1);
  ck_assert_msg(strstr(run.out, "the first that differs: out, byte 400: ") != NULL, "%s", run.out);
}
END_TEST

// With room for all that the block touches, it opens as the whole does.
START_TEST(test_a_block_that_fits_comes_to_its_end) {
  if (!tools() || !have("nvcc", "a kernel that draws tiles")) return;
  const char *path = in_folder("k.capsule"), *whole = in_folder("whole.capsule");
  Draws *d = make_draws(TILES);
  d->memory[0].bytes += 64 << 20;  // more than is kept unasked
  d->before[1].n += 64 << 20;
  trim_to(&d->capsule, 14 * MB, path);
  const Capsule *cut = read_capsule(path);
  ck_assert(!cut->goes_on);
  ck_assert_uint_lt(capsule_memory_bytes(cut), 14 * MB);
  ck_assert_str_eq(opened(path, "--compare"), opened(whole, "--compare --blocks 0,0,0"));
}
END_TEST

// An address outside of all allocations is a fault in a cut capsule too.
START_TEST(test_an_address_of_no_allocation_is_a_fault) {
  if (!tools() || !have("nvcc", "a kernel that draws tiles")) return;
  const char *path = in_folder("k.capsule");
  Draws *d = make_draws(TILES);
  const uint64_t nowhere = d->memory[0].address + d->memory[0].bytes;
  memcpy(d->params, &nowhere, sizeof nowhere);
  trim_to(&d->capsule, MB, path);
  ck_assert(read_capsule(path)->goes_on);
  const CliRun run = open_draws(path, "--text", 1);
  ck_assert_msg(strstr(run.out, "out_of_bounds") != NULL, "%s", run.out);
}
END_TEST

// A limit that leaves no room for any memory says nothing about what to keep.
START_TEST(test_without_room_all_is_kept) {
  if (!tools() || !have("nvcc", "a kernel that draws tiles")) return;
  Draws *d = make_draws(TILES);
  ck_assert_int_gt(trim_to(&d->capsule, 1, in_folder("k.capsule")), 12 * MB);
  ck_assert(!d->capsule.goes_on);
  ck_assert_str_eq(d->capsule.blocks, "all");
}
END_TEST

Suite *suite_record_trim(void) {
  Suite *suite = suite_create("record_trim");
  TCase *tc = tcase_create("record_trim");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 180);
  tcase_add_loop_test(tc, test_only_touched_pages_are_kept, 0, 2);
  tcase_add_test(tc, test_driver_cuts_machine_code);
  tcase_add_test(tc, test_all_blocks_have_no_limit);
  tcase_add_test(tc, test_each_process_is_trimmed);
  tcase_add_test(tc, test_memory_stays_whole);
  tcase_add_test(tc, test_crash_loses_nothing);
  stress_add_turns(tc, test_what_copies_touch_is_kept, 3, 2);
  stress_add_turns(tc, test_no_page_that_is_left_out_is_a_fault, 3, 2);
  tcase_add_loop_test(tc, test_a_block_ends_where_the_memory_does, 0, 2);
  tcase_add_test(tc, test_a_block_that_fits_comes_to_its_end);
  tcase_add_test(tc, test_an_address_of_no_allocation_is_a_fault);
  tcase_add_test(tc, test_without_room_all_is_kept);
  suite_add_tcase(suite, tc);
  return suite;
}
