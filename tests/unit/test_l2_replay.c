// What L2 has of the panels that blocks ask for: in one launch, and when the same kernel runs
// again; and the bytes of DRAM that an H200 counted.
#include "model/readings/cost/l2_replay.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "property.h"

Suite *suite_l2_replay(void);

#define TF32 "ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=4,FM=4,FN=4,BK=2,STAGE=11,TARGET=rtx5060-laptop"

enum { LINE_BYTES = 1 << 14 };

static const Grid *grid_of(const char *state) {
  const Schedule schedule = property_read_state(state);
  return grid_outline(property_arena, property_built(&schedule));
}

static L2Replay replay_of(const char *state) { return l2_replay(property_arena, grid_of(state)); }

// In rows each wave of a large product reads all of B again, and new rows of A: of the panels that
// differ none is there. In groups of eight the next wave finds some of those of B.
START_TEST(panels_that_differ_are_missed_or_there) {
  const L2Replay missed = replay_of(TF32), found = replay_of(TF32 ",GROUP_M=8");
  ck_assert_double_eq(missed.empty.first, 1);
  ck_assert_double_eq_tol(missed.empty.later, 1, 1e-9);
  ck_assert_double_lt(found.empty.later, 0.9);
  ck_assert_double_gt(found.empty.later, 1 - found.hit);
}
END_TEST

// A grid of a quarter of a million blocks costs no more than its first waves, and its last.
START_TEST(of_a_huge_grid_the_first_waves_are_replayed) {
  const Grid *grid = grid_of(TF32 ",M=65536,N=65536,K=256");
  size_t before = arena_used(property_arena);
  L2Replay replay = l2_replay(property_arena, grid);
  ck_assert_uint_lt(arena_used(property_arena) - before, 2 << 20);
  ck_assert_double_eq_tol(replay.asked_bytes, 2.0 * 512 * 512 * 128 * 256 * 4, 1);
  ck_assert_double_eq_tol(replay.hit, 1 - 27.5 / 52, 0.03);
}
END_TEST

// An H200 has 60 MiB in two halves, which both keep what all SMs read. Of f32, 1024^3 reads 8 MiB
// and writes 4: 20 MiB, which are all there again. 2048^3 reads 32 MiB and writes 16, 80 MiB: one
// wave of all blocks drives out its own first slabs. (Counted when it runs again: 32 to 36 MB.)
START_TEST(what_fits_is_there_when_a_kernel_runs_again) {
  const L2Replay small = replay_of("BM=16,BN=16,FM=4,FN=4,TARGET=h200,M=1024,N=1024,K=1024"),
                 large = replay_of("BM=16,BN=16,FM=8,FN=8,TARGET=h200,M=2048,N=2048,K=2048");
  ck_assert_double_eq(small.empty.first, 1);
  ck_assert_double_eq(small.again.first, 0);
  ck_assert_double_eq(small.again.later, 0);
  ck_assert_double_ge(large.again.first, 0.95);
}
END_TEST

// Blocks that differ in nothing but the tile: the matrix of B is there again for the next row, and
// stays until the kernel runs again. Rows of A, which nobody has read for long, are not.
START_TEST(what_is_read_all_the_time_stays) {
  const L2Replay replay = replay_of("BM=16,BN=16,TARGET=h200,M=2048,N=2048,K=2048");
  ck_assert_double_gt(replay.again.first, 0);
  ck_assert_double_lt(replay.again.first, 0.15);
  ck_assert_double_lt(replay.again.later, 0.15);
}
END_TEST

// ---- what was counted ---------------------------------------------------------------------------

// False at the end of the file.
static bool read_row(FILE *file, const char *bytes_key, const char **state, double *bytes) {
  static char line[LINE_BYTES];
  if (!fgets(line, sizeof line, file)) return false;
  Diags diags = diags_new(property_arena);
  const JsonValue *row = json_parse(property_arena, line, strlen(line), &diags, "row");
  ck_assert_msg(row, "%s", diags_text(property_arena, &diags));
  ck_assert(json_require_string(row, "state", state, &diags));
  ck_assert(json_require_double(row, bytes_key, bytes, &diags));
  return true;
}

// tests/data/h200_cycles*.jsonl: bytes that DRAM was asked for, L2 emptied at the launch. Half of
// the rows are off by less than 1 %, the mean by 2 %; a kernel that spills asks for other bytes
// than its panels.
START_TEST(the_bytes_of_dram_come_out) {
  static const struct {
    const char *path, *bytes;
  } files[] = {{"tests/data/h200_cycles.jsonl", "dram_bytes_read"},
               {"tests/data/h200_cycles_random.jsonl", "dram_read"}};
  double off = 0;
  int n = 0, odd = 0;
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    FILE *file = fopen(files[f].path, "r");
    ck_assert_ptr_nonnull(file);
    const char *state;
    double bytes;
    while (read_row(file, files[f].bytes, &state, &bytes)) {
      const Schedule schedule = property_read_state(state);
      const Grid *grid = grid_outline(property_arena, property_built(&schedule));
      const double one = fabs(log(l2_replay(property_arena, grid).missed_bytes / bytes));
      if (one > 1)
        odd++;
      else
        off += one;
      n++;
    }
    fclose(file);
  }
  ck_assert_int_ge(n, 120);
  ck_assert_int_le(odd, 1);
  ck_assert_msg(off / n < 0.03, "off by %.3f in the mean", off / n);
}
END_TEST

Suite *suite_l2_replay(void) {
  Suite *suite = suite_create("l2_replay");
  TCase *tests = tcase_create("l2_replay");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_add_test(tests, panels_that_differ_are_missed_or_there);
  tcase_add_test(tests, of_a_huge_grid_the_first_waves_are_replayed);
  tcase_add_test(tests, what_fits_is_there_when_a_kernel_runs_again);
  tcase_add_test(tests, what_is_read_all_the_time_stays);
  tcase_add_test(tests, the_bytes_of_dram_come_out);
  suite_add_tcase(suite, tests);
  return suite;
}
