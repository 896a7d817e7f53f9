// Memory that a launch has and a machine has not: an instruction that comes to it ends the run,
// tells of no fault, and nothing behind it runs. An address of no memory stays a fault.
#include <check.h>
#include <string.h>

#include "kernel_log.h"
#include "ptx/run/machine.h"

Suite *suite_beyond(void);

// Two pages are at hand, of an allocation of sixteen.
enum { AT_HAND = 2 * PTX_PAGE_BYTES, ALL = 16 * PTX_PAGE_BYTES, SLACK = 16, DONE = 7 };
#define BASE UINT64_C(0x7e0000000000)

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// Each comes to 64 bytes at %rd1, the first ones to their begin alone.
static const struct {
  const char *text;
  bool all;
} ways[] = {
    {"ld.global.u32 %r1, [%rd1];", false},
    {"ld.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];", false},
    {"st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};", false},
    {"atom.global.add.u32 %r1, [%rd1], 1;", false},
    {"atom.global.cas.b64 %rd3, [%rd1], %rd2, %rd2;", false},
    {"red.global.add.f32 [%rd1], 0f3F800000;", false},
    {"cp.async.ca.shared.global [s], [%rd1], 16;", false},
    {"prefetch.tensormap [%rd1];\ncp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier"
     "::complete_tx::bytes [s], [%rd1, {0}], [m];",
     false},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 64, [m];",
     true},
    {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 64;", true},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [s], 64;", true},
    {"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
     "[s], [%rd5, {0}], [m];",
     true},
    {"cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd5, {0}], [s];", true},
};
enum { WAYS = sizeof ways / sizeof *ways };

static const char *program(const char *way) {
  return arena_printf(
      arena,
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .align 64 .b8 box[128], .param .u64 to, .param .u64 done)\n{\n"
      ".reg .b32 %%r<8>;\n.reg .b64 %%rd<8>;\n"
      ".shared .align 128 .b8 s[128];\n.shared .align 8 .b8 m[8];\n"
      "ld.param.u64 %%rd1, [to];\nld.param.u64 %%rd2, [done];\nmov.u32 %%r1, 1;\nmov.u32 %%r2, 2;\n"
      "mov.u32 %%r3, 3;\nmov.u32 %%r4, 4;\nst.shared.v4.u32 [s], {%%r1, %%r2, %%r3, %%r4};\n"
      "st.shared.v4.u32 [s+16], {%%r1, %%r2, %%r3, %%r4};\n"
      "st.shared.v4.u32 [s+32], {%%r1, %%r2, %%r3, %%r4};\n"
      "st.shared.v4.u32 [s+48], {%%r1, %%r2, %%r3, %%r4};\n"
      "mbarrier.init.shared.b64 [m], 1;\nfence.proxy.async;\nmov.b64 %%rd4, box;\n"
      "cvta.param.u64 %%rd5, %%rd4;\n%s\n"
      "st.global.u32 [%%rd2], %d;\nret;\n}\n",
      way, DONE);
}

typedef struct Run {
  PtxMachine *machine;
  PtxOutcome outcome;
  uint32_t done;
} Run;

static Run run(const char *way, uint64_t to, bool leaves_out) {
  Diags diags = diags_new(arena);
  const char *text = program(way);
  PtxModule *module = ptx_module_read(arena, text, strlen(text), "k.ptx", &diags);
  ck_assert_msg(module != NULL, "%s\n%s", text, diags_text(arena, &diags));
  const PtxLaunch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .budget = 1 << 20};
  Run r = {.machine = ptx_machine_new(arena, module, ptx_module_kernel(module, NULL, &diags),
                                      &launch, &diags)};
  PtxGiven given = {.name = "a", .address = BASE, .bytes = AT_HAND};
  given.memory = arena_alloc(arena, AT_HAND + SLACK);
  given.state = arena_alloc(arena, AT_HAND + SLACK);
  memset(given.state, PTX_BYTE_WRITTEN, AT_HAND);
  if (leaves_out) ptx_machine_leave_out(r.machine, BASE, ALL);
  ptx_machine_give(r.machine, &given);
  const uint64_t done = ptx_machine_buffer(r.machine, "done", 4, NULL, PTX_CONTENT_ZERO);
  unsigned char map[PTX_MAP_BYTES];
  TmaBox box;
  ck_assert(tma_box_parse(arena, "shape=64,box=64,type=u8", &box, &diags));
  ck_assert(ptx_machine_tensor(r.machine, &box, to, map, &diags));
  ptx_machine_param(r.machine, 0, map, sizeof map);
  ptx_machine_param(r.machine, 1, &to, sizeof to);
  ptx_machine_param(r.machine, 2, &done, sizeof done);
  kernel_log_watch(r.machine, NULL);
  r.outcome = ptx_machine_run(r.machine, 0, 0, 0);
  kernel_log_add(r.machine, module, r.outcome, NULL, done, 1);
  memcpy(&r.done, ptx_machine_bytes(r.machine, done, 4), 4);
  return r;
}

static bool finds_it(const Run *r, const char *way) {
  const int n = ptx_machine_findings(r->machine);
  const PtxFindingKind kind = n ? ptx_machine_finding(r->machine, n - 1)->kind : PTX_FINDING_RACE;
  return r->outcome == PTX_STOPPED &&
         kind == (strstr(way, "[%rd1, {") ? PTX_FINDING_NOT_RUN : PTX_FINDING_OUT_OF_BOUNDS);
}

START_TEST(what_is_left_out_ends_the_run) {
  const char *way = ways[_i].text;
  const uint64_t places[] = {BASE + AT_HAND, BASE + ALL - 128, BASE + AT_HAND - 32};
  for (int i = 0; i < (ways[_i].all ? 3 : 2); i++) {
    const Run r = run(way, places[i], true);
    ck_assert_msg(r.outcome == PTX_BEYOND && ptx_machine_findings(r.machine) == 0 && r.done == 0,
                  "%s at %d: outcome %d, %d findings", way, i, (int)r.outcome,
                  ptx_machine_findings(r.machine));
    const Run fault = run(way, places[i], false);
    ck_assert_msg(finds_it(&fault, way), "%s at %d: outcome %d", way, i, (int)fault.outcome);
  }
  const uint64_t outside[] = {BASE + ALL, BASE + 2 * ALL, BASE - 128, BASE - ALL};
  for (int i = 0; i < 4; i++) {
    const Run fault = run(way, outside[i], true);
    ck_assert_msg(finds_it(&fault, way), "%s outside at %d: outcome %d", way, i,
                  (int)fault.outcome);
  }
}
END_TEST

// Memory that is at hand is not touched by it, and is found as before.
START_TEST(what_is_at_hand_stays) {
  const char *way = ways[_i].text;
  if (strstr(way, "[%rd1, {")) return;  // no map lies there
  const Run r = run(way, BASE + AT_HAND - 64, true);
  ck_assert_msg(r.outcome == PTX_DONE && r.done == DONE, "%s: %d", way, (int)r.outcome);
}
END_TEST

START_TEST(all_that_runs_say) { kernel_log_check("kernels/beyond.txt"); }
END_TEST

Suite *suite_beyond(void) {
  Suite *suite = suite_create("beyond");
  kernel_log_begin();
  TCase *tcase = tcase_create("beyond");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, what_is_left_out_ends_the_run, 0, WAYS);
  tcase_add_loop_test(tcase, what_is_at_hand_stays, 0, WAYS);
  suite_add_tcase(suite, tcase);
  TCase *log = tcase_create("log");
  tcase_add_test(log, all_that_runs_say);
  suite_add_tcase(suite, log);
  return suite;
}
