// gemmview open as a command: its numbers, its exit statuses, what it refuses and how, and that it
// writes nothing beside the source.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli_harness.h"
#include "open_case.h"

Suite *suite_open_cli(void);

#define TRANSPOSE                                                                          \
  "open tests/data/open/k01.ptx --launch grid=8x7,block=32x8 --arg mem:200000:zero --arg " \
  "mem:200000 --arg 250 --arg 200"

#define K01 \
  "open tests/data/open/k01.ptx --predict --launch grid=8x7,block=32x8 --arg mem:200000:zero "

static Arena *arena;
static char state[] = "/tmp/gemmview-open-XXXXXX";

static void setup(void) {
  arena = arena_new("test");
  strcpy(state, "/tmp/gemmview-open-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(state));
  setenv("XDG_STATE_HOME", state, 1);
}
static void teardown(void) {
  cli_shell(arena, arena_printf(arena, "rm -r %s", state));
  arena_free(arena);
}

static const JsonValue *line_of(const JsonValue *root, int line) {
  Diags diags = diags_new(arena);
  const JsonValue *lines = json_object_get(root, "lines");
  for (int i = 0; i < json_count(lines); i++) {
    int number = 0;
    if (json_optional_int(json_at(lines, i), "line", 0, 1 << 20, &number, &diags) && number == line)
      return json_at(lines, i);
  }
  return NULL;
}

static int member(const JsonValue *object, const char *key) {
  Diags diags = diags_new(arena);
  int value = -1;
  ck_assert_msg(json_require_int(object, key, 0, 1 << 30, &value, &diags), "%s: %s", key,
                diags_text(arena, &diags));
  return value;
}

START_TEST(test_all_blocks_have_the_counted_numbers) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, TRANSPOSE " --blocks all --json");
  ck_assert_int_eq(run.status, CLI_OK);
  const JsonValue *root = cli_json(arena, &run);
  const JsonValue *line = line_of(root, 39);
  ck_assert_int_eq(member(line, "wavefronts"), 50000);
  ck_assert_int_eq(member(line, "ideal"), 1750);
  ck_assert_int_eq(member(root, "blocks"), 56);
  ck_assert_int_eq(json_count(json_object_get(root, "races")), 0);
}
END_TEST

// Where a function was inlined, the profiler charges some instructions to the line of the call;
// which ones says the machine code. Without the assembler the lines are predicted, and say so.
// Blocks of a cluster run together, and what they cost stays theirs.
START_TEST(test_a_launch_has_clusters) {
  if (!cli_has_program()) return;
  static const char arguments[] =
      "--arg mem:200000:zero --arg mem:200000 --arg 250 --arg 200 --json";
  static const struct {
    const char *cluster, *blocks;
    int status, n_blocks, wavefronts;
  } launches[] = {{"2x7", "all", CLI_OK, 56, 51600},
                  {"4", "5,1,0", CLI_OK, 1, 1056},
                  {"3", "all", CLI_USAGE, 0, 0},
                  {"0", "all", CLI_USAGE, 0, 0}};
  for (int i = 0; i < 4; i++) {
    const CliRun run = cli_run(
        arena, arena_printf(arena,
                            "open tests/data/open/k01.ptx --launch grid=8x7,block=32x8,cluster=%s "
                            "--blocks %s %s",
                            launches[i].cluster, launches[i].blocks, arguments));
    ck_assert_int_eq(run.status, launches[i].status);
    if (run.status != CLI_OK) continue;
    const JsonValue *root = cli_json(arena, &run);
    ck_assert_int_eq(member(root, "blocks"), launches[i].n_blocks);
    ck_assert_int_eq(member(root, "wavefronts"), launches[i].wavefronts);
  }
}
END_TEST

typedef struct LineCount {
  int line, wavefronts;  // -1: none
} LineCount;

static void check_lines(const JsonValue *root, const LineCount *lines, int n) {
  for (int i = 0; i < n; i++) {
    const JsonValue *line = line_of(root, lines[i].line);
    ck_assert_msg(line != NULL, "line %d", lines[i].line);
    if (lines[i].wavefronts < 0)
      ck_assert(json_is_null(json_object_get(line, "wavefronts")));
    else
      ck_assert_int_eq(member(line, "wavefronts"), lines[i].wavefronts);
  }
}

// What ptxas makes a loop of has no number: how often it goes round is a matter of time.
START_TEST(test_atomics_are_counted_where_the_machine_has_them) {
  if (!cli_has_program()) return;
  static const LineCount lines[] = {{12, 24}, {13, 48}, {14, 48}, {15, -1}, {16, -1}, {17, 48}};
  static const char command[] =
      "open tests/data/open/c07.ptx --launch grid=4,block=192 --arg mem:65536 --blocks all --json";
  const CliRun predicted = cli_run(arena, arena_printf(arena, "%s --predict", command)),
               run = cli_run(arena, command);
  check_lines(cli_json(arena, &predicted), lines, 6);
  const JsonValue *root = cli_json(arena, &run);
  Diags diags = diags_new(arena);
  bool as_compiled = false;
  ck_assert(json_require_bool(root, "as_compiled", &as_compiled, &diags));
  check_lines(root, lines, 6);
  // The loops of one warp alone: an H200 counted 240 and 466 of 24 warps.
  if (!as_compiled) return;
  ck_assert_int_eq(member(line_of(root, 15), "wavefronts_at_least"), 96);
  ck_assert_int_eq(member(line_of(root, 16), "wavefronts_at_least"), 360);
  // A block of one warp: nobody else makes the loops go round again. 32 cells of floats are read by
  // an LDS and exchanged by an ATOMS of 2 wavefronts.
  static const LineCount alone[] = {{12, 1}, {13, 2}, {14, 2}, {15, 3}, {16, 12}, {17, 2}};
  const CliRun one = cli_run(
      arena, "open tests/data/open/c07.ptx --launch grid=1,block=32 --arg mem:65536 --json");
  check_lines(cli_json(arena, &one), alone, 6);
}
END_TEST

// Fragments lie where machine code has them: rows of 32 bytes meet in the banks twice, of 48 never.
// Its lines are those of the source, not of mma.hpp.
START_TEST(test_wmma_is_counted_by_its_machine_code) {
  if (!cli_has_program()) return;
  static const LineCount compiled[] = {{19, 8}, {20, 4}, {22, 16}},
                         none[] = {{19, -1}, {20, -1}, {22, -1}};
  static const char command[] =
      "open tests/data/open/wmma.ptx --launch grid=1,block=32 --arg mem:512 --arg mem:1024 --json";
  const CliRun predicted = cli_run(arena, arena_printf(arena, "%s --predict", command)),
               run = cli_run(arena, command);
  check_lines(cli_json(arena, &predicted), none, 3);
  const JsonValue *root = cli_json(arena, &run);
  Diags diags = diags_new(arena);
  bool as_compiled = false;
  ck_assert(json_require_bool(root, "as_compiled", &as_compiled, &diags));
  check_lines(root, as_compiled ? compiled : none, 3);
  if (!as_compiled) return;
  const CliRun machine = cli_run(arena, arena_printf(arena, "%s --machine", command));
  check_lines(cli_json(arena, &machine), compiled, 3);
}
END_TEST

// Two warps store once for each half of theirs, and read together. The text alone says how far the
// halves may go on alone; the machine code how far they do.
START_TEST(test_groups_of_a_redux_go_on_alone_until_lanes_meet) {
  if (!cli_has_program()) return;
  static const struct {
    const char *kernel, *more;
    int least, most, compiled;
  } kernels[] = {{"at_barrier", "", 4, 6, 6},
                 {"at_warp", "", 4, 6, 6},
                 {"at_fork", "", 4, 4, 4},
                 {"at_shuffle", "", 4, 6, 6},
                 {"whole", " --arg 0", 4, 4, 4}};
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
    const char *command = arena_printf(arena,
                                       "open tests/data/open/groups.ptx --kernel %s --launch "
                                       "grid=1,block=64 --arg mem:256:zero%s --json",
                                       kernels[i].kernel, kernels[i].more);
    const CliRun predicted = cli_run(arena, arena_printf(arena, "%s --predict", command)),
                 run = cli_run(arena, command);
    const JsonValue *root = cli_json(arena, &predicted);
    ck_assert_int_eq(member(root, "wavefronts"), kernels[i].least);
    ck_assert_int_eq(member(root, "wavefronts_at_most"), kernels[i].most);
    root = cli_json(arena, &run);
    bool as_compiled = false;
    Diags diags = diags_new(arena);
    ck_assert(json_require_bool(root, "as_compiled", &as_compiled, &diags));
    if (!as_compiled) return;
    ck_assert_int_eq(member(root, "wavefronts"), kernels[i].compiled);
    ck_assert_int_eq(member(root, "wavefronts_at_most"), kernels[i].compiled);
  }
}
END_TEST

START_TEST(test_inlined_lines_are_charged_as_the_profiler_does) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(
      arena,
      "open tests/data/open/k11.ptx --launch grid=2x3,block=128 --arg mem:98304 --arg "
      "mem:65536 --arg mem:393216:unwritten --arg 384 --arg 256 --arg 128 --blocks all --json");
  ck_assert_int_eq(run.status, CLI_OK);
  const JsonValue *root = cli_json(arena, &run);
  Diags diags = diags_new(arena);
  bool as_compiled = false;
  ck_assert(json_require_bool(root, "as_compiled", &as_compiled, &diags));
  ck_assert_int_eq(member(root, "wavefronts"), 41472);
  // Each of the pieces of 16 bytes that are copied, alone.
  ck_assert_int_eq(member(root, "wavefronts_at_most"), 41472 + 24576 - 1728 - 1344 - 1536);
  if (!as_compiled) return;
  OpenCount counts[16];
  const int n = open_case_counts(arena, "k11", counts, 16);
  for (int i = 0; i < n; i++)
    ck_assert_int_eq(member(line_of(root, counts[i].line), "wavefronts"), counts[i].wavefronts);
}
END_TEST

START_TEST(test_launch_and_arguments_are_remembered) {
  if (!cli_has_program()) return;
  const char *file = cli_write_file(arena, "open-memory.ptx", open_case_text(arena, "k01.ptx"));
  const char *rest = strchr(TRANSPOSE, '-');
  const CliRun first =
      cli_run(arena, arena_printf(arena, "open %s %s --predict --json", file, rest));
  const CliRun second = cli_run(arena, arena_printf(arena, "open %s --predict --json", file));
  ck_assert_int_eq(first.status, CLI_OK);
  ck_assert_int_eq(second.status, CLI_OK);
  ck_assert_int_eq(member(cli_json(arena, &first), "wavefronts"),
                   member(cli_json(arena, &second), "wavefronts"));
  const CliRun told = cli_run(arena, arena_printf(arena, "open %s --predict", file));
  ck_assert(strstr(told.out, "as last time: --launch grid=8x7,block=32x8 --arg mem:200000:zero"));
}
END_TEST

static const struct {
  const char *arguments, *says;
  int status;
} ends[] = {
    {"open tests/data/open/wmma.ptx --launch grid=2,block=32,cluster=2 --arg mem:512 --arg mem:999",
     "sm_80 has no clusters", CLI_USAGE},
    {"open tests/data/open/k01.ptx --launch grid=32,block=32,cluster=32",
     "cluster: 32 blocks in direction x, at most 16", CLI_USAGE},
    {K01 "--arg same:1 --arg 250 --arg 200 --blocks all", "race", CLI_OK},
    {K01 "--arg same:2 --arg 250 --arg 200", "argument N stands before and has memory", CLI_USAGE},
    {K01 "--arg same:1+200000 --arg 250 --arg 200", "same:N+BYTES", CLI_USAGE},
    {K01 "--arg same:1+4096 --arg 1 --arg 1", "no race", CLI_OK},
    {K01 "--arg mem:200000:unknown --arg 250 --arg 200", "no race, no unwritten read", CLI_OK},
    {K01 "--arg mem:200000 --arg unknown --arg 200",
     "a branch depends on a value that is not known here; it comes from an argument", CLI_NO},
    {K01 "--arg mem:200000:unwritten --arg 250 --arg 200", "unwritten: k01", CLI_NO},
    {K01 "--arg mem:200000:unwritten --arg 250 --arg 200 --allow unwritten", "unwritten: k01",
     CLI_OK},
    {K01 "--arg mem:200000:unwritten --arg 250 --arg 200 --allow race", "unwritten: k01", CLI_NO},
    {K01 "--arg mem:200000 --arg 250 --arg 200 --allow unwriten", "nearest: unwritten", CLI_USAGE},
    {TRANSPOSE " --predict --fail-above 100", "k01.ptx: 1056 wavefronts, at most 100 are allowed",
     CLI_NO},
    {TRANSPOSE " --predict --fail-above 5000", "total", CLI_OK},
    {TRANSPOSE " --predict --fail-above k01_transpose_naive.cu-39:1024", "total", CLI_OK},
    {TRANSPOSE " --predict --fail-above k01_transpose_naive.cu-39:1023",
     "k01_transpose_naive.cu:39: 1024 wavefronts, at most 1023 are allowed", CLI_NO},
    {TRANSPOSE " --predict --fail-above k01_transpose_naive.cu-40:9",
     "no access to shared memory ran at k01_transpose_naive.cu-40", CLI_USAGE},
    {TRANSPOSE " --predict --fail-above 99999 --fail-above here:1",
     "expected a number of wavefronts, or FILE-LINE:N", CLI_USAGE},
    {TRANSPOSE " --predict", "write tile[row][col ^ (row & 31)]: 1056 -> 64 wavefronts of tile",
     CLI_OK},
    {TRANSPOSE " --predict --markdown",
     "- write `tile[row][col ^ (row & 31)]`: 1056 -> 64 wavefronts of tile", CLI_OK},
    {TRANSPOSE " --predict --detail --slab tile:132", "\"row_bytes\":132", CLI_OK},
    {TRANSPOSE " --predict --detail --slab tile", "NAME:PITCH", CLI_USAGE},
    {TRANSPOSE " --predict --markdown", "1 of 8x7x1 blocks, `--launch grid=8x7,block=32x8 --arg",
     CLI_OK},
    {TRANSPOSE " --predict --dump 2=x", "\"2\" is not the memory of one argument: there are 0, 1",
     CLI_USAGE},
    {TRANSPOSE " --predict --dump 4=x", "\"4\" is not the memory of one argument: there are 0, 1",
     CLI_USAGE},
    {TRANSPOSE " --predict --dump 0", "NAME=FILE", CLI_USAGE},
    {TRANSPOSE " --predict --dump 0=/no/folder", "/no/folder cannot be written", CLI_USAGE},
    {"help open", "usage: gemmview open FILE", CLI_OK},
    {"help opne", "there is no command \"opne\"", CLI_USAGE},
    {TRANSPOSE " --predict --markdown", "| k01_transpose_naive.cu:39 | 1024 | 32 |", CLI_OK},
    {TRANSPOSE " --budget 1 --blocks all --predict", "budget", CLI_TIMEOUT},
    {"open tests/data/open/k01.ptx --list", "transpose_naive(float *, const float *, int, int)",
     CLI_OK},
    {"open tests/data/open/styles.ptx --launch block=32", "several kernels", CLI_USAGE},
    {"open tests/data/open/k01.ptx --launch block=2048", "2048 in direction x", CLI_USAGE},
    {"open tests/data/open/k01.ptx --launch grid=8", "block=X[xY[xZ]] is missing", CLI_USAGE},
    {"open tests/data/open/k01.ptx --launch block=32x8 --arg 1", "takes 4 arguments, 1 is given",
     CLI_USAGE},
    {"open tests/data/open/k01.ptx --launch block=32x8 --arg mem:0 --arg mem:9 --arg x --arg 1.5",
     "expected a whole number of 32 bits", CLI_USAGE},
    {"open tests/data/open/k01.ptx --launch 'block=32x8 8'", "is not one of grid=", CLI_USAGE},
    {"open tests/data/open/missing.ptx --list", "cannot be read", CLI_USAGE},
    {"open tests/data/open/counts.jsonl --list", "counts.jsonl:1:", CLI_USAGE},
    {"open tests/data/open/k01.ptx --kernel nothing --launch block=1",
     "its kernels are: transpose_naive(float *", CLI_USAGE},
};
enum { ENDS = sizeof ends / sizeof ends[0] };

START_TEST(test_how_it_ends_and_what_it_says) {
  if (!cli_has_program()) return;
  const CliRun run = cli_run(arena, ends[_i].arguments);
  ck_assert_msg(run.status == ends[_i].status, "%s: %d\n%s%s", ends[_i].arguments, run.status,
                run.out, run.err);
  const char *said =
      run.status == CLI_USAGE ? run.err : arena_printf(arena, "%s%s", run.out, run.err);
  ck_assert_msg(strstr(said, ends[_i].says) != NULL, "%s:\n%s%s", ends[_i].arguments, run.out,
                run.err);
}
END_TEST

// What the kernel wrote, byte for byte: out[x][y] is in[y][x], of floats.
START_TEST(test_the_memory_of_an_argument_is_written) {
  if (!cli_has_program()) return;
  const char *out = arena_printf(arena, "%s/out.bin", state),
             *in = arena_printf(arena, "%s/in.bin", state);
  const CliRun run =
      cli_run(arena, arena_printf(arena,
                                  TRANSPOSE " --blocks all --predict --json --dump 0=%s --dump "
                                            "_Z15transpose_naivePfPKfii_param_1=%s",
                                  out, in));
  ck_assert_int_eq(run.status, CLI_OK);
  ck_assert(cli_json(arena, &run) != NULL);
  static float from[50000], to[50000];
  FILE *files[2] = {fopen(in, "rb"), fopen(out, "rb")};
  ck_assert(files[0] && files[1]);
  ck_assert_uint_eq(fread(from, 4, 50000, files[0]), 50000);
  ck_assert_uint_eq(fread(to, 4, 50000, files[1]), 50000);
  ck_assert(fgetc(files[0]) == EOF && fgetc(files[1]) == EOF);
  fclose(files[0]);
  fclose(files[1]);
  for (int i = 0; i < 50000; i++) ck_assert(to[i % 250 * 200 + i / 250] == from[i]);
}
END_TEST

START_TEST(test_a_race_ends_with_1_and_names_both_lines) {
  if (!cli_has_program()) return;
  char *text = arena_strdup(arena, open_case_text(arena, "k01.ptx"));
  char *barrier = strstr(text, "bar.sync");
  memset(barrier, ' ', strcspn(barrier, "\n"));
  const char *file = cli_write_file(arena, "open-race.ptx", text);
  const char *rest = strchr(TRANSPOSE, '-');
  const CliRun run = cli_run(arena, arena_printf(arena, "open %s %s --predict --json", file, rest));
  ck_assert_int_eq(run.status, CLI_NO);
  const JsonValue *race = json_at(json_object_get(cli_json(arena, &run), "races"), 0);
  const int at = member(json_object_get(race, "at"), "line"),
            other = member(json_object_get(race, "other"), "line");
  ck_assert((at == 39 && other == 28) || (at == 28 && other == 39));
}
END_TEST

START_TEST(test_what_the_profiler_counted_stands_beside) {
  if (!cli_has_program()) return;
  const char *csv = cli_write_file(arena, "open-ncu.csv",
                                   "==PROF== a heading\n\"#\",\"Source\",\"L1 Wavefronts Shared\","
                                   "\"L1 Wavefronts Shared Ideal\"\n"
                                   "\"39\",\"out, [x]\",\"1,024\",\"32\"\n");
  const CliRun run =
      cli_run(arena, arena_printf(arena, TRANSPOSE " --predict --json --ncu %s", csv));
  const JsonValue *line = line_of(cli_json(arena, &run), 39);
  ck_assert_int_eq(member(line, "counted_wavefronts"), 1024);
  ck_assert_int_eq(member(line, "counted_ideal"), 32);
}
END_TEST

// What programs and spreadsheets save: columns in another order, thousands by commas, dots, blanks
// and apostrophes, semicolons and tabs between fields, a byte order mark, ends of lines of Windows.
START_TEST(test_counts_are_read_as_they_are_saved) {
  if (!cli_has_program()) return;
  static const char *const files[] = {
      "L1 Wavefronts Shared Ideal,L1 Wavefronts Shared,Source,#\n32,\"1,024\",x,39\n",
      "\xEF\xBB\xBF#;Source;L1 Wavefronts Shared;L1 Wavefronts Shared Ideal\r\n39;x;1.024;32\r\n",
      "#\tL1 Wavefronts Shared\tL1 Wavefronts Shared Ideal\n39\t1024\t32\n",
      "#;L1 Wavefronts Shared;L1 Wavefronts Shared Ideal\n39;1\xE2\x80\xAF"
      "024,00;32,0\n",
      "#,L1 Wavefronts Shared,L1 Wavefronts Shared Ideal\n39,1'024.00,32.0\n",
      "\"File Name\",\"#\",Source,\"L1 Wavefronts Shared\",\"L1 Wavefronts Shared Ideal\"\n"
      "/home/me/k01_transpose_naive.cu,39,\"two\nlines\",1024,32",
  };
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    const char *csv = cli_write_file(arena, "open-ncu.csv", files[i]);
    const CliRun run =
        cli_run(arena, arena_printf(arena, TRANSPOSE " --predict --json --ncu %s", csv));
    ck_assert_msg(run.status == CLI_OK, "%zu: %s", i, run.err);
    const JsonValue *line = line_of(cli_json(arena, &run), 39);
    ck_assert_int_eq(member(line, "counted_wavefronts"), 1024);
    ck_assert_int_eq(member(line, "counted_ideal"), 32);
  }
}
END_TEST

START_TEST(test_a_report_of_something_else_is_refused) {
  if (!cli_has_program()) return;
  static const struct {
    const char *csv, *says;
  } files[] = {
      {"", "no row names both a line and"},
      {"#,Source,Samples\n39,x,12\n", "no row names both a line and"},
      {"#,L1 Wavefronts Shared\n", "no row below its head has a line and a count"},
      {"#,L1 Wavefronts Shared\n39,n/a\n", "no row below its head has a line and a count"},
      {"File,#,L1 Wavefronts Shared\nother.cu,39,7\n",
       "none of its 1 lines accessed shared memory here; its first line is other.cu line 39"},
      {"#,L1 Wavefronts Shared\n7,7\n", "its first line is line 7, the first here"},
  };
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    const char *csv = cli_write_file(arena, "open-ncu.csv", files[i].csv);
    const CliRun run =
        cli_run(arena, arena_printf(arena, TRANSPOSE " --predict --markdown --ncu %s", csv));
    ck_assert_int_eq(run.status, CLI_USAGE);
    ck_assert_str_eq(run.out, "");
    ck_assert_msg(strstr(run.err, files[i].says) != NULL, "%zu: %s", i, run.err);
  }
}
END_TEST

// The counter is of the grid; a table for a pull request has a column of it.
START_TEST(test_a_table_has_what_was_counted) {
  if (!cli_has_program()) return;
  const char *csv =
      cli_write_file(arena, "open-ncu.csv", "#,L1 Wavefronts Shared\n39,\"50,000\"\n");
  CliRun run = cli_run(arena, arena_printf(arena, TRANSPOSE " --markdown --ncu %s", csv));
  ck_assert_int_eq(run.status, CLI_OK);
  ck_assert(strstr(run.out, "| line | wavefronts | ideal | | counted | access |") != NULL);
  ck_assert_msg(strstr(run.out, "| 50000 |") != NULL, "%s", run.out);
  ck_assert(strstr(run.out, "the profiler counted all blocks; --blocks all runs all of them") !=
            NULL);
  run = cli_run(arena, arena_printf(arena, TRANSPOSE " --blocks all --text --ncu %s", csv));
  ck_assert(strstr(run.out, "the profiler counted all blocks") == NULL);
  run = cli_run(arena, TRANSPOSE " --markdown --json");
  ck_assert_int_eq(run.status, CLI_USAGE);
  ck_assert(strstr(run.err, "give one of --json, --markdown and --text") != NULL);
}
END_TEST

// Two GiB are named and a few KiB are looked at. Writing all of them first took a minute and 6 GiB.
START_TEST(memory_costs_what_is_looked_at) {
  static const char *const how[] = {"", ":zero", ":random", ":unwritten"};
  if (!cli_has_program()) return;
  for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
    // What AddressSanitizer keeps of the memory is an eighth of it, written at once.
    const CliRun run = cli_shell(
        arena, arena_printf(arena,
                            "ASAN_OPTIONS=allow_user_poisoning=0:poison_heap=0 $GEMMVIEW open "
                            "example:sums.ptx --launch grid=1,block=128 --arg mem:2147483647%s "
                            "--arg mem:4096 --arg mem:4096 --arg 32 --text --predict",
                            how[i]));
    ck_assert_msg(strstr(run.out, "wavefronts") != NULL, "%s", run.err);
  }
  struct rusage used;
  ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &used), 0);
  ck_assert_int_lt(used.ru_maxrss, 1 << 20);
}
END_TEST

// The numbers are those that one after the other would be, page by page and argument by argument.
START_TEST(random_memory_is_the_same_in_pages) {
  enum { FIRST = 70000, SECOND = 200000, EACH = 4 };
  if (!cli_has_program()) return;
  const char *folder = cli_own_folder(arena);
  const CliRun run = cli_run(
      arena,
      arena_printf(arena,
                   "open example:sums.ptx --launch grid=1,block=128 --arg mem:%d --arg mem:%d "
                   "--arg mem:4096 --arg 0 --text --dump 1=%s/second.bin",
                   FIRST, SECOND, folder));
  FILE *file = fopen(arena_printf(arena, "%s/second.bin", folder), "rb");
  ck_assert_msg(file != NULL, "%s", run.err);
  float *is = arena_alloc(arena, SECOND);
  ck_assert_uint_eq(fread(is, 1, SECOND, file), SECOND);
  fclose(file);
  uint64_t seed = 1;
  for (int i = 0; i < (FIRST + SECOND) / EACH; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if (i >= FIRST / EACH) ck_assert_float_eq(is[i - FIRST / EACH], (float)(seed >> 61) - 4);
  }
}
END_TEST

// What its GPU would refuse is said, and is no success; a larger GPU's kernel is let be.
START_TEST(test_launch_that_is_refused_is_told) {
  if (!cli_has_program()) return;
  static const struct {
    const char *arch, *smem;
    const char *why;
  } rows[] = {{"sm_120a", "100000",
               "more shared memory than a block may ask for: 132768 B, at most 101376"},
              {"sm_90a", "100000", NULL},
              {"sm_120a", "60000", NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const CliRun run = cli_shell(
        arena, arena_printf(arena,
                            "sed s/sm_90a/%s/ tests/data/open/k11.ptx > %s/k.ptx && $GEMMVIEW open "
                            "%s/k.ptx --predict --text --launch grid=1,block=32,smem=%s "
                            "--arg mem:65536 --arg mem:65536 --arg mem:65536 --arg 16 --arg 16 "
                            "--arg 16",
                            rows[i].arch, state, state, rows[i].smem));
    ck_assert_msg(run.status == (rows[i].why ? 1 : 0), "%d\n%s%s", run.status, run.out, run.err);
    ck_assert_msg(
        rows[i].why ? strstr(run.out, rows[i].why) != NULL : strstr(run.out, "refuses") == NULL,
        "%s", run.out);
  }
}
END_TEST

// Triton leaves threads and shared memory beside its PTX, and its last two parameters are scratch
// memory; without its file the kernel's .reqntid still says the threads.
START_TEST(test_files_of_triton_are_read) {
  if (!cli_has_program()) return;
  cli_shell(arena, arena_printf(arena, "cp tests/data/open/triton_matmul.ptx %s/m.ptx", state));
  const char *command = arena_printf(arena,
                                     "open %s/m.ptx --predict --json --launch grid=1 --arg "
                                     "mem:32768 --arg mem:32768 --arg mem:65536 --arg 128 --arg "
                                     "128 --arg 128",
                                     state);
  const CliRun without = cli_run(arena, command);
  ck_assert_int_eq(without.status, CLI_USAGE);
  ck_assert_msg(strstr(without.err, "takes 8 arguments, 6 are given") != NULL, "%s", without.err);
  cli_shell(arena, arena_printf(arena,
                                "echo '{\"name\": \"matmul\", \"shared\": 65536, "
                                "\"num_warps\": 4, \"cluster_dims\": [1, 1, 1]}' > %s/m.json",
                                state));
  const CliRun run = cli_run(arena, command);
  ck_assert_msg(run.status == CLI_OK, "%s%s", run.out, run.err);
  const JsonValue *root = cli_json(arena, &run);
  ck_assert_int_eq(member(root, "smem_bytes"), 65536);
  int block = 0;
  Diags diags = diags_new(arena);
  ck_assert(json_read_int(json_at(json_object_get(root, "block"), 0), 0, 1024, &block, &diags));
  ck_assert_int_eq(block, 128);
  const CliRun none = cli_run(arena, arena_printf(arena, "open %s/m.ptx --predict --json", state));
  ck_assert_int_eq(none.status, CLI_OK);  // as last time
}
END_TEST

// Where the toolkit's assembler does not take a text, that of Triton's wheel may.
START_TEST(test_another_assembler_is_asked) {
  if (!cli_has_program()) return;
  const CliRun run = cli_shell(
      arena, arena_printf(
                 arena,
                 "real=$(command -v ptxas) || exit 77; command -v nvdisasm > /dev/null || exit 77; "
                 "mkdir %s/bin && printf '#!/bin/sh\necho fatal: too new; exit 1\n' > "
                 "%s/bin/ptxas && chmod +x %s/bin/ptxas && export PATH=%s/bin:$PATH && "
                 "$GEMMVIEW %s --json | grep -c '\"as_compiled\":false,\"predicted_because\"' ; "
                 "TRITON_PTXAS_PATH=$real $GEMMVIEW %s --text",
                 state, state, state, state, TRANSPOSE, TRANSPOSE));
  if (run.status == 77) return;
  ck_assert_msg(run.status == 0 && strstr(run.out, "as compiled") != NULL, "%s%s", run.out,
                run.err);
  ck_assert_msg(run.out[0] == '1', "%s", run.out);
}
END_TEST

// A tensor map in a struct at byte 128, one in memory, and a variable: two boxes, times the
// variable.
START_TEST(test_maps_in_structs_and_memory) {
  if (!cli_has_program()) return;
  static const char text[] =
      ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .f32 scale;\n"
      ".visible .entry k(.param .align 64 .b8 s[256], .param .u64 map)\n{\n"
      ".shared .align 128 .b8 tile[512]; .shared .align 8 .b8 bar[8];\n"
      ".reg .b32 %r<8>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .pred %p, %q;\n"
      "mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; mov.u32 %r2, bar; mov.u32 %r3, tile;\n"
      "add.u32 %r5, %r3, 256; mov.u32 %r4, 0;\n@%p bra MEET;\n"
      "mbarrier.init.shared::cta.b64 [%r2], 1;\nfence.proxy.async;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;\n"
      "mov.b64 %rd1, s; cvta.param.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 128;\n"
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], "
      "[%rd3, {%r4}], [%r2];\nld.param.u64 %rd4, [map];\n"
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r5], "
      "[%rd4, {%r4}], [%r2];\nMEET:\nbar.sync 0;\nASK:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 %q, [%r2], 0;\n@!%q bra ASK;\n"
      "shl.b32 %r6, %r1, 2; add.u32 %r7, %r3, %r6; ld.shared.f32 %f1, [%r7];\n"
      "ld.const.f32 %f0, [scale]; mul.f32 %f2, %f1, %f0;\nld.param.u64 %rd6, [s+64];\n"
      "mul.wide.u32 %rd7, %r1, 4; add.s64 %rd8, %rd6, %rd7; st.global.f32 [%rd8], %f2;\nret;\n}\n";
  const char *path = arena_printf(arena, "%s/maps.ptx", state),
             *out = arena_printf(arena, "%s/maps.out", state),
             *scale = arena_printf(arena, "%s/scale", state);
  FILE *file = fopen(path, "w");
  ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
  file = fopen(scale, "w");
  ck_assert(file && fwrite(&(float){3}, 4, 1, file) == 1 && fclose(file) == 0);
  const char *command = arena_printf(
      arena, "open %s --predict --text --launch grid=1,block=128 --dump 0@64=%s --arg ", path, out);
  const char *map = "tma:shape=64,box=64,type=f32";
  const CliRun run = cli_run(arena, arena_printf(arena,
                                                 "%sbytes:256,128=%s,64=mem:512:unwritten --arg "
                                                 "symbol:scale=file:%s --arg mem:%s",
                                                 command, map, scale, map));
  ck_assert_msg(run.status == CLI_OK, "%s%s", run.out, run.err);
  float values[128];
  file = fopen(out, "r");
  ck_assert(file && fread(values, sizeof values, 1, file) == 1 && fclose(file) == 0);
  int n[2] = {0};
  for (int i = 0; i < 128; i++) {
    ck_assert(fmodf(values[i], 3) == 0 && fabsf(values[i]) <= 12);
    n[i / 64] += values[i] != 0;
  }
  ck_assert(n[0] > 40 && n[1] > 40);
  static const struct {
    const char *args, *says;
  } wrong[] = {
      {"bytes:256,129=tma:shape=64,box=64 --arg 0", "argument 1"},
      {"bytes:256,0=tma:shape=64 --arg 0", "box"},
      {"bytes:256,0=same:1 --arg 0", "same:N"},
      {"bytes:256,0=1 --arg mem:tma:shape=64", "box"},
      {"bytes:256,0=1 --arg 0 --arg symbol:scale", "symbol:NAME=file:PATH"},
      {"bytes:256,0=1 --arg 0 --arg symbol:none=file:/dev/null", "no __constant__"},
      {"bytes:256,0=1 --arg 0 --arg symbol:scale=file:tests/data/README.md", "has 4 bytes"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const CliRun refused = cli_run(arena, arena_printf(arena, "%s%s", command, wrong[i].args));
    ck_assert_msg(refused.status == CLI_USAGE && strstr(refused.err, wrong[i].says) != NULL,
                  "%s: %d %s", wrong[i].args, refused.status, refused.err);
  }
}
END_TEST

Suite *suite_open_cli(void) {
  Suite *suite = suite_create("open_cli");
  TCase *tcase = tcase_create("cli");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_maps_in_structs_and_memory);
  tcase_add_test(tcase, test_files_of_triton_are_read);
  tcase_add_test(tcase, test_another_assembler_is_asked);
  tcase_add_test(tcase, test_a_launch_has_clusters);
  tcase_add_test(tcase, test_all_blocks_have_the_counted_numbers);
  tcase_add_test(tcase, test_atomics_are_counted_where_the_machine_has_them);
  tcase_add_test(tcase, test_wmma_is_counted_by_its_machine_code);
  tcase_add_test(tcase, test_groups_of_a_redux_go_on_alone_until_lanes_meet);
  tcase_add_test(tcase, test_inlined_lines_are_charged_as_the_profiler_does);
  tcase_add_test(tcase, test_launch_and_arguments_are_remembered);
  tcase_add_loop_test(tcase, test_how_it_ends_and_what_it_says, 0, ENDS);
  tcase_add_test(tcase, test_the_memory_of_an_argument_is_written);
  tcase_add_test(tcase, test_a_race_ends_with_1_and_names_both_lines);
  tcase_add_test(tcase, test_what_the_profiler_counted_stands_beside);
  tcase_add_test(tcase, test_counts_are_read_as_they_are_saved);
  tcase_add_test(tcase, test_a_report_of_something_else_is_refused);
  tcase_add_test(tcase, test_a_table_has_what_was_counted);
  tcase_add_test(tcase, memory_costs_what_is_looked_at);
  tcase_add_test(tcase, random_memory_is_the_same_in_pages);
  tcase_add_test(tcase, test_launch_that_is_refused_is_told);
  suite_add_tcase(suite, tcase);
  return suite;
}
