// The kernels of tests/data/open, whole grids: every line's wavefronts and ideal against what an
// H200 counted for it, the results against what the kernels are for, and no false report.
#include <check.h>
#include <math.h>
#include <string.h>

#include "open_case.h"
#include "ptx_kernel.h"

Suite *suite_open_counts(void);

enum { COUNTS_MAX = 64 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const PtxLine *find_line(const PtxLines *lines, const OpenCount *count) {
  for (int i = 0; i < lines->n; i++)
    if (lines->items[i].line == count->line && strcmp(lines->items[i].file, count->file) == 0)
      return &lines->items[i];
  return NULL;
}

// What the profiler charges to the line of a call and to the line in the function that was inlined
// there depends on how the machine code was scheduled; of PTX alone, only their sum is known.
static bool has_inlined_calls(const PtxModule *module) {
  for (int i = 0; i < module->n_code; i++) {
    const PtxInst *inst = &module->code[i];
    if (inst->loc >= 0 && module->locs[inst->loc].inlined_at >= 0) return true;
  }
  return false;
}

START_TEST(test_lines_equal_the_counters) {
  const OpenCase given = open_case_load(arena, _i, NULL);
  ck_assert_int_eq(open_case_run(&given), PTX_DONE);
  ck_assert_int_eq(ptx_machine_findings(given.machine), 0);
  OpenCount counts[COUNTS_MAX];
  const int n = open_case_counts(arena, given.id, counts, COUNTS_MAX);
  const PtxLines *lines = ptx_tally_lines(arena, given.tally);
  int64_t wavefronts = 0, ideal = 0;
  for (int i = 0; i < n; i++) {
    wavefronts += counts[i].wavefronts;
    ideal += counts[i].ideal;
    const PtxLine *line = find_line(lines, &counts[i]);
    if (has_inlined_calls(given.module)) continue;
    ck_assert_msg(line != NULL, "%s:%d is missing", counts[i].file, counts[i].line);
    ck_assert_msg(line->wavefronts == counts[i].wavefronts && line->ideal == counts[i].ideal,
                  "%s:%d: %lld wavefronts, ideal %lld, counted %d and %d", counts[i].file,
                  counts[i].line, (long long)line->wavefronts, (long long)line->ideal,
                  counts[i].wavefronts, counts[i].ideal);
  }
  ck_assert_int_eq(lines->wavefronts, wavefronts);
  ck_assert_int_eq(lines->ideal, ideal);
}
END_TEST

// A line of a library's header stands for the line that calls it; one of a header beside the kernel
// is the user's own. A profiler's lines are all.
START_TEST(test_lines_are_the_users_own) {
  const char *body =
      ".shared .align 4 .b8 s[256];\nmov.u32 %r1, s; add.s32 %r2, %r1, %t4;\n"
      ".loc 2 5 1, function_name $L0, inlined_at 1 20 3\nst.shared.u32 [%r2], %t;\n"
      ".loc 2 7 1, function_name $L0, inlined_at 1 20 3\nld.shared.u32 %r3, [%r2];\n"
      ".loc 3 9 1, function_name $L0, inlined_at 1 30 3\nst.shared.u32 [%r2+128], %r3;\n";
  const char *files =
      ".file 1 \"/home/u/k.cu\"\n.file 2 \"/usr/lib/copy.hpp\"\n"
      ".file 3 \"/home/u/lib/tile.cuh\"\n";
  const uint32_t in[PTX_KERNEL_WORDS] = {0};
  const PtxKernel k = ptx_kernel_run(
      arena, arena_printf(arena, "%s%s", ptx_kernel_text(arena, body), files), NULL, 32, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  const PtxLines *own = ptx_tally_lines(arena, k.tally);
  const OpenCount call = {.file = "k.cu", .line = 20}, tile = {.file = "tile.cuh", .line = 9},
                  copy = {.file = "copy.hpp", .line = 5};
  const PtxLine *line = find_line(own, &call);
  ck_assert(line && line->wavefronts == 2 && find_line(own, &tile) && !find_line(own, &copy));
  ck_assert(line->ops && line->ops->next && !line->ops->next->next);
  ptx_tally_innermost(k.tally);
  const PtxLines *all = ptx_tally_lines(arena, k.tally);
  line = find_line(all, &copy);
  ck_assert(line && line->wavefronts == 1 && !line->ops->next && !find_line(all, &call));
}
END_TEST

// What ptxas made of each kernel of widths.cu, against what is predicted without it.
static void check_width(const JsonValue *row, PtxModule *module) {
  Diags diags = diags_new(arena);
  const char *name = "";
  int wavefronts = 0, ideal = 0, executed = 0;
  ck_assert(json_require_string(row, "kernel", &name, &diags) &&
            json_require_int(row, "wavefronts", 0, 1 << 30, &wavefronts, &diags) &&
            json_require_int(row, "ideal", 0, 1 << 30, &ideal, &diags) &&
            json_require_int(row, "executed", 0, 1 << 30, &executed, &diags));
  const PtxFunction *kernel = ptx_module_kernel(module, name, &diags);
  const PtxLaunch launch = {
      .grid = {1, 1, 1}, .block = {64, 1, 1}, .dynamic_smem = 4096, .budget = 1 << 20};
  PtxMachine *machine = ptx_machine_new(arena, module, kernel, &launch, &diags);
  const uint64_t memory = ptx_machine_buffer(machine, "o", 65536, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(machine, 0, &memory, 8);
  ptx_machine_param(machine, 1, &(int){2}, 4);
  PtxTally *tally = ptx_tally_new(arena, module, kernel);
  ptx_machine_watch(machine, ptx_tally_access, tally);
  ck_assert_int_eq(ptx_machine_run(machine, 0, 0, 0), PTX_DONE);
  const PtxLines *lines = ptx_tally_lines(arena, tally);
  int64_t executions = 0;
  for (int i = 0; i < lines->n; i++) executions += lines->items[i].executions;
  ck_assert_msg(lines->wavefronts == wavefronts && lines->ideal == ideal && executions == executed,
                "%s: %lld wavefronts in %lld accesses, the machine code has %d in %d", name,
                (long long)lines->wavefronts, (long long)executions, wavefronts, executed);
}

START_TEST(test_widths_are_those_of_the_machine_code) {
  Diags diags = diags_new(arena);
  const char *ptx = open_case_text(arena, "widths.ptx");
  PtxModule *module = ptx_module_read(arena, ptx, strlen(ptx), "widths.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  char *rows = arena_strdup(arena, open_case_text(arena, "widths.jsonl"));
  int n = 0;
  for (char *row = strtok(rows, "\n"); row; row = strtok(NULL, "\n"), n++)
    check_width(json_parse(arena, row, strlen(row), &diags, "widths.jsonl"), module);
  ck_assert_int_ge(n, 50);
}
END_TEST

Suite *suite_open_counts(void) {
  Suite *suite = suite_create("open_counts");
  TCase *tcase = tcase_create("counts");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_lines_equal_the_counters, 0, 10);
  tcase_add_test(tcase, test_lines_are_the_users_own);
  tcase_add_test(tcase, test_widths_are_those_of_the_machine_code);
  suite_add_tcase(suite, tcase);
  return suite;
}
