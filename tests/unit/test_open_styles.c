// Twelve kernels in other styles than those that the rules were found with: unions and carved
// shared memory, cooperative groups, named barriers, copies of all sizes, swizzled fragments,
// atomics, arrays of lambdas' own, a bitonic sort, a ring of bulk copies, a transform in place,
// CUB. Whole grids, each line against what an H200 counted (tests/data/open/styles.jsonl).
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli_harness.h"
#include "open_case.h"
#include "stress.h"

Suite *suite_open_styles(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const struct {
  const char *kernel, *launch;
  bool has_copies;  // loops of which the assembler made copies with lines of their own
  bool is_wrong;    // a finding that its author does not know of
} styles[] = {
    {"c01",
     "--launch grid=4x4,block=16x16 --arg mem:262144 --arg mem:262144 --arg mem:262144 --arg 256",
     false, false},
    {"c02", "--launch grid=8,block=256 --arg mem:16384 --arg mem:8192 --arg 4096", false, false},
    {"c03", "--launch grid=6,block=96,smem=1888 --arg mem:65536 --arg mem:65536", false, false},
    {"c04", "--launch grid=4,block=128 --arg mem:1048576 --arg mem:1048576 --arg 9", false, false},
    {"c05", "--launch grid=3,block=128 --arg mem:1048576 --arg mem:1048576 --arg 7", false, false},
    {"c06",
     "--launch grid=2x2,block=128 --arg mem:1048576 --arg mem:1048576 --arg mem:1048576 --arg "
     "mem:1048576 --arg mem:1048576 --arg 64",
     false, false},
    {"c07", "--launch grid=4,block=192 --arg mem:65536", false, false},
    {"c08", "--launch grid=5,block=100 --arg mem:65536 --arg mem:65536 --arg 463", false, false},
    {"c09",
     "--launch grid=3,block=256 --arg file:tests/data/open/c09_data.bin --arg mem:3072 --arg "
     "mem:3072",
     false, false},
    // Its readers arrive with no fence.proxy.async: ptxas puts the arrival between LDS and FADD.
    {"c10", "--launch grid=3,block=160 --arg mem:36864 --arg mem:6144 --arg 6", false, true},
    {"c11", "--launch grid=2,block=128 --arg mem:16384 --arg mem:2048", false, false},
    {"c12",
     "--kernel cubs --launch grid=2,block=128 --arg file:tests/data/open/c12_data.bin --arg "
     "mem:4096 --arg mem:520",
     true, false},
};
enum { STYLES = sizeof styles / sizeof styles[0] };

typedef struct Row {
  const char *kernel, *file, *sass;
  int line, wavefronts, ideal;
} Row;

// A profiler charges a library's line; open shows the line of the kernel that calls it.
static void to_own_line(Row *row) {
  if (!str_equal(row->file, "device_atomic_functions.hpp")) return;
  row->file = "c07_atomics.cu";
  row->line = 17;
}

static Row read_row(const JsonValue *value) {
  Diags diags = diags_new(arena);
  Row row = {0};
  const bool read = json_require_string(value, "kernel", &row.kernel, &diags) &&
                    json_require_string(value, "file", &row.file, &diags) &&
                    json_require_string(value, "sass", &row.sass, &diags) &&
                    json_require_int(value, "line", 1, 1 << 20, &row.line, &diags) &&
                    json_require_int(value, "wavefronts", 0, 1 << 30, &row.wavefronts, &diags) &&
                    json_require_int(value, "ideal", 0, 1 << 30, &row.ideal, &diags);
  ck_assert_msg(read, "%s", diags_text(arena, &diags));
  to_own_line(&row);
  return row;
}

static const JsonValue *line_of(const JsonValue *root, const Row *row) {
  Diags diags = diags_new(arena);
  const JsonValue *lines = json_object_get(root, "lines");
  for (int i = 0; i < json_count(lines); i++) {
    const JsonValue *line = json_at(lines, i);
    const char *file = "";
    int number = 0;
    if (json_require_string(line, "file", &file, &diags) &&
        json_optional_int(line, "line", 0, 1 << 20, &number, &diags) && number == row->line &&
        str_equal(file, row->file))
      return line;
  }
  return NULL;
}

// Copies of its accesses are charged to other lines, which the line names.
static bool shares(const JsonValue *line) {
  return line && json_count(json_object_get(line, "together_with")) > 0;
}

static int member(const JsonValue *object, const char *key) {
  Diags diags = diags_new(arena);
  int value = -1;
  return json_optional_int(object, key, 0, 1 << 30, &value, &diags) ? value : -1;
}

// True where the line is as counted, false where it says that it has its numbers with others. A
// loop that the assembler makes of an atomic goes round as often as another warp was faster: such
// lines have no number.
static bool check_line(const JsonValue *root, const Row *row) {
  const JsonValue *line = line_of(root, row);
  const bool loops = strstr(row->sass, "SPIN") != NULL;
  if (shares(line)) return false;
  ck_assert_msg(line != NULL, "%s: %s:%d is missing", row->kernel, row->file, row->line);
  if (loops)
    ck_assert(json_is_null(json_object_get(line, "wavefronts")));
  else
    ck_assert_msg(
        member(line, "wavefronts") == row->wavefronts && member(line, "ideal") == row->ideal,
        "%s:%d: %d wavefronts, ideal %d, counted %d and %d", row->file, row->line,
        member(line, "wavefronts"), member(line, "ideal"), row->wavefronts, row->ideal);
  return true;
}

START_TEST(test_lines_are_as_counted) {
  if (!cli_has_program()) return;
  const CliRun run =
      cli_run(arena, arena_printf(arena, "open tests/data/open/%s.ptx %s --blocks all --json",
                                  styles[_i].kernel, styles[_i].launch));
  ck_assert_int_eq(run.status, styles[_i].is_wrong ? CLI_NO : CLI_OK);
  const JsonValue *root = cli_json(arena, &run);
  Diags diags = diags_new(arena);
  bool as_compiled = false;
  ck_assert(json_require_bool(root, "as_compiled", &as_compiled, &diags));
  if (!as_compiled) return;  // lines and widths are those of the machine code
  char *rows = arena_strdup(arena, open_case_text(arena, "styles.jsonl"));
  int wavefronts = 0, ideal = 0, n = 0;
  bool loops = false;
  for (char *text = strtok(rows, "\n"); text; text = strtok(NULL, "\n")) {
    const Row row = read_row(json_parse(arena, text, strlen(text), &diags, "styles.jsonl"));
    if (!str_equal(row.kernel, styles[_i].kernel)) continue;
    if (!check_line(root, &row)) ck_assert(styles[_i].has_copies);
    wavefronts += row.wavefronts;
    ideal += row.ideal;
    loops |= strstr(row.sass, "SPIN") != NULL;
    n++;
  }
  ck_assert_int_ge(n, 1);
  ck_assert_int_eq(member(root, "wavefronts"), loops ? -1 : wavefronts);
  ck_assert_int_eq(member(root, "ideal"), loops ? -1 : ideal);
}
END_TEST

Suite *suite_open_styles(void) {
  Suite *suite = suite_create("open_styles");
  TCase *tcase = tcase_create("styles");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  stress_add_turns(tcase, test_lines_are_as_counted, STYLES, 9);
  suite_add_tcase(suite, tcase);
  return suite;
}
