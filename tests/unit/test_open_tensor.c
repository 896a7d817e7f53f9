// Boxes of tensors by their maps: swizzled, cut off at the tensor's edge, waited for or not.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "kernel_log.h"
#include "open_case.h"
#include "ptx/module/float_format.h"

Suite *suite_open_tensor(void);

enum { COLS = 48, ROWS = 13, CELLS = COLS * ROWS };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

typedef struct Run {
  const PtxModule *module;
  PtxMachine *machine;
  uint64_t from, to;
} Run;

static PtxOutcome ran(const Run *run) {
  kernel_log_watch(run->machine, NULL);
  const PtxOutcome outcome = ptx_machine_run(run->machine, 0, 0, 0);
  kernel_log_add(run->machine, run->module, outcome, NULL, run->to, CELLS);
  return outcome;
}

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
  Run run = {.module = module, .machine = machine};
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
  ck_assert_int_eq(ran(&run), PTX_DONE);
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
  ran(&run);
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
  const PtxOutcome outcome = ran(&run);
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

// ---- a corner at any multiple of 128 bytes ------------------------------------------------------

// A of 64 rows and B of 8 come as boxes, each row one span of the swizzle, and a wgmma multiplies
// their first 16 columns: pattern of the box and pattern of the descriptor both go by the address.
static const char multiplies[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .align 64 .b8 am[128], .param .align 64 .b8 bm[128], .param .u64 o)\n"
    "{\n.reg .b32 %%r<16>;\n.reg .b64 %%rd<16>;\n.reg .f32 %%f<4>;\n.reg .pred %%p<4>;\n"
    ".shared .align 1024 .b8 s[16384];\n.shared .align 8 .b8 m[8];\n"
    "mov.u32 %%r1, %%tid.x;\nsetp.eq.u32 %%p0, %%r1, 0;\nmov.b64 %%rd1, am;\nmov.b64 %%rd2, bm;\n"
    "cvta.param.u64 %%rd1, %%rd1;\ncvta.param.u64 %%rd2, %%rd2;\n"
    "ld.param.u64 %%rd3, [o];\nmov.u32 %%r2, 0;\n@%%p0 mbarrier.init.shared.b64 [m], 1;\n"
    "bar.sync 0;\n@!%%p0 bra ON;\nmbarrier.arrive.expect_tx.shared.b64 _, [m], %d;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[s+%d], [%%rd1, {%%r2, %%r2}], [m];\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[s+%d], [%%rd2, {%%r2, %%r2}], [m];\n"
    "ON: mbarrier.try_wait.parity.shared.b64 %%p1, [m], 0;\n@!%%p1 bra ON;\n"
    "mov.u32 %%r3, s+%d;\nshr.u32 %%r3, %%r3, 4;\ncvt.u64.u32 %%rd4, %%r3;\n"
    "mov.u32 %%r4, s+%d;\nshr.u32 %%r4, %%r4, 4;\ncvt.u64.u32 %%rd5, %%r4;\n"
    "mov.b64 %%rd6, 0x%llx;\nor.b64 %%rd4, %%rd4, %%rd6;\nor.b64 %%rd5, %%rd5, %%rd6;\n"
    "wgmma.fence.sync.aligned;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%f0, %%f1, %%f2, %%f3}, %%rd4, %%rd5, 0, "
    "1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
    "mul.wide.u32 %%rd7, %%r1, 16;\nadd.u64 %%rd3, %%rd3, %%rd7;\n"
    "st.global.v4.f32 [%%rd3], {%%f0, %%f1, %%f2, %%f3};\nret;\n}\n";

// The span of a row in bytes; the descriptor's code of the swizzle.
static const struct {
  int span;
  uint64_t code;
} spans[] = {{128, 1}, {64, 2}, {32, 3}};
enum { SPANS = 3, M = 64, N = 8, K = 16, LINE = 128 };

static void give_box(PtxMachine *machine, int index, int rows, int span, const uint16_t *cells) {
  Diags diags = diags_new(arena);
  TmaBox box;
  const char *fields = arena_printf(arena, "shape=%dx%d,box=%dx%d,swizzle=%dB,type=f16", span / 2,
                                    rows, span / 2, rows, span);
  ck_assert_msg(tma_box_parse(arena, fields, &box, &diags) && tma_box_check(&box, &diags), "%s",
                diags_text(arena, &diags));
  const uint64_t at = ptx_machine_buffer(machine, "t", rows * span, cells, PTX_CONTENT_GIVEN);
  unsigned char map[128];
  ck_assert(ptx_machine_tensor(machine, &box, at, map, &diags));
  ptx_machine_param(machine, index, map, sizeof map);
}

// Whole numbers as halves, so that sums are exact.
static int number(int operand, int row, int col) { return (row * 7 + col * 5 + operand) % 9 - 4; }

static void fill(int operand, int rows, int span, uint16_t *cells) {
  for (int i = 0; i < rows * span / 2; i++)
    cells[i] = ptx_f16_of((float)number(operand, i / (span / 2), i % (span / 2)));
}

// The findings of this text.
static int check_corner_of(const char *format, int span, uint64_t code, int corner) {
  Diags diags = diags_new(arena);
  const int b_at = 8192 + corner;
  const uint64_t rest = code << 62 | (uint64_t)(8 * span >> 4) << 32 | 1 << 16;
  Str text = str_new(arena);
  str_printf(&text, format, (M + N) * span, corner, b_at, corner, b_at, (unsigned long long)rest);
  PtxModule *module = ptx_module_read(arena, text.text, text.length, "k.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  const PtxLaunch launch = {.grid = {1, 1, 1}, .block = {128, 1, 1}, .budget = 1 << 22};
  PtxMachine *machine =
      ptx_machine_new(arena, module, ptx_module_kernel(module, NULL, &diags), &launch, &diags);
  uint16_t a[M * LINE / 2], b[N * LINE / 2];
  fill(0, M, span, a);
  fill(1, N, span, b);
  give_box(machine, 0, M, span, a);
  give_box(machine, 1, N, span, b);
  const uint64_t to = ptx_machine_buffer(machine, "o", M * N * 4, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(machine, 2, &to, 8);
  ck_assert_int_eq(ptx_machine_run(machine, 0, 0, 0), PTX_DONE);
  const float *out = ptx_machine_bytes(machine, to, M * N * 4);
  for (int i = 0; i < M * N; i++) {
    const int t = i / 4, row = t / 32 * 16 + t % 32 / 4 + i % 4 / 2 * 8, col = t % 4 * 2 + i % 2;
    int sum = 0;
    for (int k = 0; k < K; k++) sum += number(0, row, k) * number(1, col, k);
    ck_assert_msg(out[i] == (float)sum, "span %d, corner 0x%x: D[%d][%d] is %g, not %d", span,
                  corner, row, col, (double)out[i], sum);
  }
  return ptx_machine_findings(machine);
}

START_TEST(test_a_pattern_goes_by_the_address) {
  for (int corner = 0; corner <= 1024; corner += LINE)
    ck_assert_int_eq(check_corner_of(multiplies, spans[_i].span, spans[_i].code, corner), 0);
}
END_TEST

// Behind the wgmma.fence registers of sums may be filled by moves, for compilers put those where
// they like; what anything else computes wants another fence.
START_TEST(test_a_move_wants_no_fence) {
  static const char fence[] = "wgmma.fence.sync.aligned;\n";
  static const struct {
    const char *behind;
    int findings;
  } rows[] = {{"", 0},
              {"mov.f32 %%f0, 0f00000000;\n", 0},
              {"mov.f32 %%f0, %%f1;\n", 0},
              {"add.f32 %%f0, %%f1, %%f2;\n", 1},
              {"add.f32 %%f0, %%f1, %%f2;\nwgmma.fence.sync.aligned;\n", 0}};
  const char *at = strstr(multiplies, fence);
  ck_assert_ptr_nonnull(at);
  at += strlen(fence);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *format =
        arena_printf(arena, "%.*s%s%s", (int)(at - multiplies), multiplies, rows[i].behind, at);
    ck_assert_int_eq(check_corner_of(format, spans[0].span, spans[0].code, 0), rows[i].findings);
  }
}
END_TEST

// A corner between two lines of 128 bytes is what no GPU takes.
START_TEST(test_a_corner_lies_on_a_line) {
  static const float cells[CELLS];
  const char *given = open_case_text(arena, "tensors.ptx"), *line = strstr(given, ".shared .align");
  ck_assert_ptr_nonnull(line);
  char *text = arena_printf(arena, "%.*s.shared .align 16 .b8 first[16];\n%s", (int)(line - given),
                            given, line);
  memcpy(strstr(text, ".align 1024"), ".align 16  ", 11);
  const Run run = run_text(text, 0, 0, cells, zeros);
  ck_assert_int_eq(ran(&run), PTX_STOPPED);
  const PtxFinding *f = ptx_machine_finding(run.machine, 0);
  ck_assert_int_eq(f->kind, PTX_FINDING_MISALIGNED);
  ck_assert_str_eq(f->text, "a box lies at multiples of 128 bytes");
}
END_TEST

START_TEST(test_all_that_runs_say) { kernel_log_check("kernels/tensor.txt"); }
END_TEST

Suite *suite_open_tensor(void) {
  kernel_log_begin();
  Suite *suite = suite_create("open_tensor");
  TCase *tcase = tcase_create("tensor");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_a_box_comes_and_goes, 0, CORNERS);
  tcase_add_loop_test(tcase, test_a_mistake_is_named, 0, 3);
  tcase_add_test(tcase, test_an_argument_is_a_map);
  tcase_add_loop_test(tcase, test_a_box_is_reduced, 0, 3);
  tcase_add_loop_test(tcase, test_a_pattern_goes_by_the_address, 0, SPANS);
  tcase_add_test(tcase, test_a_corner_lies_on_a_line);
  tcase_add_test(tcase, test_a_move_wants_no_fence);
  tcase_add_test(tcase, test_all_that_runs_say);
  suite_add_tcase(suite, tcase);
  return suite;
}
