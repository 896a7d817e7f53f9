// Grids of blocks in clusters, in three dimensions: every block runs once, and each thread reads in
// its special registers where it stands (PTX ISA, "Special Registers").
#include <check.h>
#include <string.h>

#include "ptx/run/machine.h"

Suite *suite_open_grids(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

enum { WORDS = 23, THREADS = 60, EACH = 1 + WORDS + THREADS, BLOCKS_MAX = 64 };
static const int block_of[3] = {5, 3, 4};

// Words that the first thread of a block tells; behind them comes one of each thread.
static const char *const names[WORDS] = {
    "%ctaid.x",          "%ctaid.y",          "%ctaid.z",         "%nctaid.x",
    "%nctaid.y",         "%nctaid.z",         "%clusterid.x",     "%clusterid.y",
    "%clusterid.z",      "%nclusterid.x",     "%nclusterid.y",    "%nclusterid.z",
    "%cluster_ctaid.x",  "%cluster_ctaid.y",  "%cluster_ctaid.z", "%cluster_nctaid.x",
    "%cluster_nctaid.y", "%cluster_nctaid.z", "%cluster_ctarank", "%cluster_nctarank",
    "%ntid.x",           "%ntid.y",           "%ntid.z"};

static const char kernel[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<16>;\n.reg .b64 %rd<4>;\n.reg .pred %p<4>;\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %ctaid.z;\n"
    "mov.u32 %r4, %nctaid.x;\nmov.u32 %r5, %nctaid.y;\nmad.lo.u32 %r2, %r3, %r5, %r2;\n"
    "mad.lo.u32 %r1, %r2, %r4, %r1;\nmul.lo.u32 %r1, %r1, 336;\nld.param.u64 %rd1, [out];\n"
    "cvt.u64.u32 %rd2, %r1;\nadd.u64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r6, %tid.x;\nmov.u32 %r7, %tid.y;\nmov.u32 %r8, %tid.z;\n"
    "mad.lo.u32 %r9, %r8, 3, %r7;\nmad.lo.u32 %r9, %r9, 5, %r6;\nsetp.eq.u32 %p1, %r9, 0;\n"
    "@%p1 red.global.add.u32 [%rd1], 1;\n"
    "mad.lo.u32 %r7, %r7, 10, %r6;\nmad.lo.u32 %r7, %r8, 100, %r7;\nmov.u32 %r8, %laneid;\n"
    "mad.lo.u32 %r7, %r8, 1000, %r7;\nmov.u32 %r8, %warpid;\nmad.lo.u32 %r7, %r8, 100000, %r7;\n"
    "mul.wide.u32 %rd2, %r9, 4;\nadd.u64 %rd2, %rd2, %rd1;\nst.global.u32 [%rd2+96], %r7;\n";

static const char *program(void) {
  const char *text = kernel;
  for (int i = 0; i < WORDS; i++)
    text = arena_printf(arena, "%smov.u32 %%r9, %s;\n@%%p1 st.global.u32 [%%rd1+%d], %%r9;\n", text,
                        names[i], 4 + 4 * i);
  return arena_printf(arena, "%sret;\n}\n", text);
}

static const struct {
  int grid[3], cluster[3];
} launches[] = {{{1, 1, 1}, {1, 1, 1}}, {{4, 3, 2}, {1, 1, 1}}, {{4, 3, 2}, {2, 1, 1}},
                {{4, 3, 2}, {1, 3, 1}}, {{4, 3, 2}, {2, 1, 2}}, {{2, 2, 2}, {2, 2, 2}},
                {{6, 4, 1}, {3, 2, 1}}, {{4, 6, 2}, {2, 3, 1}}};
enum { LAUNCHES = sizeof launches / sizeof *launches };

static bool never_ends(void *self) {
  (void)self;
  return false;
}

static void check_block(const int grid[3], const int cluster[3], const int at[3],
                        const uint32_t *told) {
  uint32_t wanted[1 + WORDS] = {1};
  int n = 1, rank = 0, ranks = 1;
  for (int d = 0; d < 3; d++) wanted[n++] = (uint32_t)at[d];
  for (int d = 0; d < 3; d++) wanted[n++] = (uint32_t)grid[d];
  for (int d = 0; d < 3; d++) wanted[n++] = (uint32_t)(at[d] / cluster[d]);
  for (int d = 0; d < 3; d++) wanted[n++] = (uint32_t)(grid[d] / cluster[d]);
  for (int d = 0; d < 3; d++) wanted[n++] = (uint32_t)(at[d] % cluster[d]);
  for (int d = 0; d < 3; d++) wanted[n++] = (uint32_t)cluster[d];
  for (int d = 2; d >= 0; d--) rank = rank * cluster[d] + at[d] % cluster[d], ranks *= cluster[d];
  wanted[n++] = (uint32_t)rank;
  wanted[n++] = (uint32_t)ranks;
  for (int d = 0; d < 3; d++) wanted[n++] = (uint32_t)block_of[d];
  for (int i = 0; i < n; i++)
    ck_assert_msg(told[i] == wanted[i], "block %d, %d, %d: word %d is %u, not %u", at[0], at[1],
                  at[2], i, told[i], wanted[i]);
  for (int t = 0; t < THREADS; t++)
    ck_assert_uint_eq(told[n + t], (uint32_t)(t % 5 + t / 5 % 3 * 10 + t / 15 * 100 +
                                              t % 32 * 1000 + t / 32 * 100000));
}

static void check_launch(const int *grid, const int *cluster, bool side_by_side) {
  Diags diags = diags_new(arena);
  const char *text = program();
  PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags);
  ck_assert_msg(module != NULL, "%s", diags_text(arena, &diags));
  PtxLaunch launch = {.budget = 1 << 24, .cooperative = side_by_side};
  for (int d = 0; d < 3; d++) {
    launch.grid[d] = grid[d];
    launch.block[d] = block_of[d];
    launch.cluster[d] = cluster[d];
  }
  PtxMachine *machine =
      ptx_machine_new(arena, module, ptx_module_kernel(module, NULL, &diags), &launch, &diags);
  ck_assert_msg(machine != NULL, "%s", diags_text(arena, &diags));
  const int64_t bytes = (int64_t)BLOCKS_MAX * EACH * 4;
  const uint64_t out = ptx_machine_buffer(machine, "out", bytes, NULL, PTX_CONTENT_ZERO);
  ptx_machine_param(machine, 0, &out, 8);
  const PtxOutcome outcome = side_by_side ? ptx_machine_run_grid(machine, NULL)
                                          : ptx_machine_run_all(machine, never_ends, NULL);
  ck_assert_int_eq(outcome, PTX_DONE);
  ck_assert_int_eq(ptx_machine_findings(machine), 0);
  const uint32_t *told = ptx_machine_bytes(machine, out, bytes);
  const int blocks = grid[0] * grid[1] * grid[2];
  for (int b = 0; b < blocks; b++) {
    const int at[3] = {b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1]};
    check_block(grid, cluster, at, told + b * EACH);
  }
  for (int i = blocks * EACH; i < BLOCKS_MAX * EACH; i++) ck_assert_uint_eq(told[i], 0);
}

START_TEST(every_block_runs_once_where_it_stands) {
  check_launch(launches[_i].grid, launches[_i].cluster, false);
  check_launch(launches[_i].grid, launches[_i].cluster, true);
}
END_TEST

Suite *suite_open_grids(void) {
  Suite *suite = suite_create("open_grids");
  TCase *tcase = tcase_create("grids");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, every_block_runs_once_where_it_stands, 0, LAUNCHES);
  suite_add_tcase(suite, tcase);
  return suite;
}
