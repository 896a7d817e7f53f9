// Boxes of tensors by their maps: swizzled, cut off at the tensor's edge, waited for or not.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "open_case.h"

Suite *suite_open_tensor(void);

enum { COLS = 48, ROWS = 13, CELLS = COLS * ROWS };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

typedef struct Run {
  PtxMachine *machine;
  uint64_t from, to;
} Run;

static uint64_t give(PtxMachine *machine, int index, const char *fields, const float *cells) {
  Diags diags = diags_new(arena);
  TmaBox box;
  ck_assert(tma_box_parse(arena, fields, &box, &diags) && tma_box_check(&box, &diags));
  const uint64_t at = ptx_machine_buffer(machine, "t", CELLS * 4, cells, PTX_CONTENT_GIVEN);
  unsigned char map[128];
  ck_assert(ptx_machine_tensor(machine, &box, at, map, &diags));
  ptx_machine_param(machine, index, map, sizeof map);
  return at;
}

// The box at (x, y) of `cells`, to a tensor of `before`, by a text.
static Run run_text(const char *text, int x, int y, const float *cells, const float *before) {
  Diags diags = diags_new(arena);
  PtxModule *module = ptx_module_read(arena, text, strlen(text), "tensors.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const PtxLaunch launch = {
      .grid = {1, 1, 1}, .block = {256, 1, 1}, .dynamic_smem = 0, .budget = 1 << 22};
  const PtxFunction *kernel = ptx_module_kernel(module, NULL, &diags);
  PtxMachine *machine = ptx_machine_new(arena, module, kernel, &launch, &diags);
  Run run = {.machine = machine};
  run.from = give(machine, 0, "shape=48x13,box=32x8,swizzle=128B,type=f32", cells);
  run.to = give(machine, 1, "shape=48x13,box=32x8,type=f32", before);
  ptx_machine_param(machine, 2, &x, 4);
  ptx_machine_param(machine, 3, &y, 4);
  return run;
}

static const float zeros[CELLS];

// By the text with its first instruction `without` taken away; NULL: none.
static Run run_box(int x, int y, const float *cells, const char *without) {
  char *text = arena_strdup(arena, open_case_text(arena, "tensors.ptx"));
  if (without) {
    char *gone = strstr(text, without);
    ck_assert_msg(gone != NULL, "%s", without);
    memset(gone, ' ', strcspn(gone, ";") + 1);
  }
  return run_text(text, x, y, cells, zeros);
}

static const int corners[][2] = {{0, 0}, {16, 5}, {32, 8}, {-8, -3}};
enum { CORNERS = sizeof corners / sizeof corners[0] };

START_TEST(test_a_box_comes_and_goes) {
  float cells[CELLS];
  for (int i = 0; i < CELLS; i++) cells[i] = (float)i;
  const int x = corners[_i][0], y = corners[_i][1];
  const Run run = run_box(x, y, cells, NULL);
  ck_assert_int_eq(ptx_machine_run(run.machine, 0, 0, 0), PTX_DONE);
  ck_assert_int_eq(ptx_machine_findings(run.machine), 0);
  const float *out = ptx_machine_bytes(run.machine, run.to, CELLS * 4);
  for (int i = 0; i < CELLS; i++) {
    const int col = i % COLS, row = i / COLS;
    const bool inside = col >= x && col < x + 32 && row >= y && row < y + 8;
    ck_assert_float_eq(out[i], inside ? 2 * cells[i] + 1 : 0);
  }
}
END_TEST

static const struct {
  const char *without;
  PtxFindingKind kind;
} mistakes[] = {{"@!p bra AGAIN", PTX_FINDING_MISSING_WAIT},
                {"mbarrier.arrive.expect_tx", PTX_FINDING_DEADLOCK},
                {"bar.sync", PTX_FINDING_RACE}};

// "@!p bra AGAIN" makes a wait of what is else a question.
START_TEST(test_a_mistake_is_named) {
  static const float cells[CELLS];
  const Run run = run_box(0, 0, cells, mistakes[_i].without);
  ptx_machine_run(run.machine, 0, 0, 0);
  bool found = false;
  for (int i = 0; i < ptx_machine_findings(run.machine); i++)
    found |= ptx_machine_finding(run.machine, i)->kind == mistakes[_i].kind;
  ck_assert_msg(found, "%s", mistakes[_i].without);
}
END_TEST

START_TEST(test_an_argument_is_a_map) {
  if (!cli_has_program()) return;
  const char *command =
      "open tests/data/open/tensors.ptx --json --launch grid=1,block=256 "
      "--arg tma:shape=48x13,box=32x8,swizzle=%s,type=f32 "
      "--arg tma:shape=48x13,box=32x8,type=f32 --arg 0 --arg 0";
  ck_assert_int_eq(cli_run(arena, arena_printf(arena, command, "128B")).status, 0);
  ck_assert_int_eq(cli_run(arena, arena_printf(arena, command, "32B")).status, 2);
}
END_TEST

// What leaves is added to what is there, inside the tensor; of f32 there is no other reduction.
START_TEST(test_a_box_is_reduced) {
  static const char *const how[] = {"add", "max", "xor"};
  static const char store[] = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
  const char *text = open_case_text(arena, "tensors.ptx"), *at = strstr(text, store);
  ck_assert_ptr_nonnull(at);
  text = arena_printf(arena, "%.*scp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.tile.%s%s",
                      (int)(at - text), text, how[_i], "bulk_group", at + strlen(store));
  float cells[CELLS], before[CELLS];
  for (int i = 0; i < CELLS; i++) cells[i] = (float)(i % 7 - 3), before[i] = (float)(i % 5 - 2);
  const int x = 16, y = 5;
  const Run run = run_text(text, x, y, cells, before);
  const PtxOutcome outcome = ptx_machine_run(run.machine, 0, 0, 0);
  if (_i > 0) {
    ck_assert_int_eq(outcome, PTX_STOPPED);
    return;
  }
  ck_assert(outcome == PTX_DONE && ptx_machine_findings(run.machine) == 0);
  const float *out = ptx_machine_bytes(run.machine, run.to, CELLS * 4);
  for (int i = 0; i < CELLS; i++) {
    const bool inside = i % COLS >= x && i % COLS < x + 32 && i / COLS >= y && i / COLS < y + 8;
    ck_assert_float_eq(out[i], before[i] + (inside ? 2 * cells[i] + 1 : 0));
  }
}
END_TEST

Suite *suite_open_tensor(void) {
  Suite *suite = suite_create("open_tensor");
  TCase *tcase = tcase_create("tensor");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_a_box_comes_and_goes, 0, CORNERS);
  tcase_add_loop_test(tcase, test_a_mistake_is_named, 0, 3);
  tcase_add_test(tcase, test_an_argument_is_a_map);
  tcase_add_loop_test(tcase, test_a_box_is_reduced, 0, 3);
  suite_add_tcase(suite, tcase);
  return suite;
}
