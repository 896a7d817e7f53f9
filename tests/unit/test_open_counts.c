// The kernels of tests/data/open, whole grids: every line's wavefronts and ideal against what an
// H200 counted for it, the results against what the kernels are for, and no false report.
#include <check.h>
#include <math.h>
#include <string.h>

#include "open_case.h"

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

Suite *suite_open_counts(void) {
  Suite *suite = suite_create("open_counts");
  TCase *tcase = tcase_create("counts");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_lines_equal_the_counters, 0, 10);
  suite_add_tcase(suite, tcase);
  return suite;
}
