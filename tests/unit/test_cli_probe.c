// gemmview probe and the key p with a worker that answers from a script: what is printed, what the
// verdict is, and where the clocks appear on the screen.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "kernels/device/probe/probe.h"
#include "tui/app.h"
#include "tui/frame/view.h"
#include "vterm_harness.h"

Suite *suite_cli_probe(void);

static Arena *arena;

static void setup(void) { arena = arena_new("test cli probe"); }
static void teardown(void) { arena_free(arena); }

static void assert_has(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

// The fp32 kernel with plain slabs: its accesses are sts32, sts32, lds32 and lds32; the first two
// ask the same of the banks.
#define STATE "-k AUTO=0,BM=16,BN=16,FM=8,FN=8,BK=16,STAGE=11"
#define TRANSPOSED STATE ",TRANSPOSE_A=1"  // both operands are read 16 bytes at a time

typedef struct Measured {
  const char *op;
  int wavefronts;
  double clocks;  // 0: it failed
  int site;
  int64_t addr[BANK_LANES];
} Measured;

static ProbeResult result_of(const Measured *measured) {
  const bool ok = measured->clocks > 0;
  return (ProbeResult){.ok = ok,
                       .error = ok ? NULL : "CUDA_ERROR_FAKE (2): made up",
                       .op = measured->op,
                       .clocks = measured->clocks,
                       .p10_clocks = measured->clocks,
                       .p90_clocks = measured->clocks,
                       .n_samples = 15,
                       .wavefronts = measured->wavefronts,
                       .clocks_per_wavefront = measured->clocks / measured->wavefronts,
                       .gpu = "NVIDIA H200",
                       .date = "2026-11-20T12:00:00Z"};
}

// A worker with a GPU that answers every probe with these.
static const char *rules_with(const Measured *measured, int n) {
  ProbeResult *results = ARENA_ARRAY(arena, ProbeResult, n);
  Str json = str_new(arena);
  for (int i = 0; i < n; i++) results[i] = result_of(&measured[i]);
  probe_results_write_json(&json, &(ProbeResults){.n = n, .result = results});
  return arena_printf(arena,
                      "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
                      "{\"on\":\"probe\",\"do\":\"reply\",\"line\":{\"type\":\"result\",\"id\":0,"
                      "\"what\":\"probe\",\"data\":%s}}\n",
                      json.text);
}

static CliRun probe(const char *arguments, const Measured *measured, int n) {
  const char *worker = cli_fake_worker_rules(arena, rules_with(measured, n));
  return cli_run(arena, arena_printf(arena, "probe %s %s", arguments, worker));
}

static const JsonValue *member(const JsonValue *object, const char *key) {
  const JsonValue *value = json_object_get(object, key);
  ck_assert_msg(value != NULL, "no member %s", key);
  return value;
}

static int whole(const JsonValue *object, const char *key) {
  Diags diags = diags_new(arena);
  int number = 0;
  ck_assert_msg(json_require_int(object, key, -1, 1000000, &number, &diags), "%s",
                diags_text(arena, &diags));
  return number;
}

// ---- the command --------------------------------------------------------------------------------

START_TEST(one_access_is_printed) {
  CliRun run = probe("--op lds32 --addr 'lane * 128'",
                     &(Measured){.op = "lds32", .wavefronts = 32, .clocks = 32.04}, 1);
  ck_assert_msg(run.status == 0, "%d %s%s", run.status, run.out, run.err);
  assert_has(run.out, "NVIDIA H200");
  assert_has(run.out, "32     1   32    32.04");
  ck_assert_ptr_null(strstr(run.out, "alike"));
  ck_assert_str_eq(run.err, "");
}
END_TEST

static void read_site(const JsonValue *site, Measured *out) {
  Diags diags = diags_new(arena);
  *out = (Measured){.site = whole(site, "number"), .wavefronts = whole(site, "wavefronts")};
  ck_assert(json_require_string(site, "op", &out->op, &diags));
  for (int lane = 0; lane < BANK_LANES; lane++)
    ck_assert(json_read_int64(json_at(member(site, "addr"), lane), -1, 1 << 20, &out->addr[lane],
                              &diags));
  out->clocks = out->wavefronts;
}

// What the sites of a state are is the model's business: the test asks for them first, and keeps
// those that are measured, each different one once.
static int sites_of(const char *state, Measured *measured) {
  CliRun run = cli_run(arena, arena_printf(arena, "resources --json %s", state));
  const JsonValue *sites = member(cli_json(arena, &run), "sites");
  int n = 0;
  for (int i = 0; i < json_count(sites); i++) {
    bool known = false;
    read_site(json_at(sites, i), &measured[n]);
    for (int j = 0; j < n; j++)
      known =
          known || (str_equal(measured[j].op, measured[n].op) &&
                    probe_same(banks_op_find(measured[n].op), measured[j].addr, measured[n].addr));
    n += !known;
  }
  ck_assert_int_eq(json_count(sites), 4);
  return n;
}

// One access of each operation: there is no order to judge.
START_TEST(nothing_to_order) {
  Measured measured[8];
  const int n = sites_of(STATE, measured);
  ck_assert_int_eq(n, 3);  // both copies write alike
  CliRun run = probe(STATE, measured, n);
  ck_assert_msg(run.status == 0, "%d %s%s", run.status, run.out, run.err);
  assert_has(run.out, "  nothing to order\n");
  assert_has(run.out, "\nmeasured and predicted order could not be judged\n");
}
END_TEST

START_TEST(orders_alike) {
  Measured measured[8];
  const int n = sites_of(TRANSPOSED, measured);
  CliRun run = probe(TRANSPOSED, measured, n);
  ck_assert_msg(run.status == 0, "%d %s%s", run.status, run.out, run.err);
  assert_has(run.out, "\nmeasured and predicted order alike\n");
  run = probe("--json " TRANSPOSED, measured, n);
  const JsonValue *root = cli_json(arena, &run);
  ck_assert_int_eq(run.status, 0);
  bool alike = false;
  Diags diags = diags_new(arena);
  ck_assert(json_require_bool(root, "alike", &alike, &diags) && alike);
  ck_assert_int_eq(json_count(member(root, "probes")), 4);
  const JsonValue *first = json_at(member(root, "probes"), 0);
  ck_assert_int_eq(whole(first, "site"), 1);
  ck_assert_int_eq(json_count(member(first, "addr")), 32);
  ck_assert_int_eq(whole(first, "wavefronts"), whole(member(first, "probe"), "wavefronts"));
  ck_assert_int_ge(json_count(member(root, "operations")), 2);
}
END_TEST

// Two accesses of one operation with different counts, the first of them in *a.
static void find_pair(const Measured *measured, int n, int *a, int *b) {
  for (*a = 0; *a < n; ++*a)
    for (*b = *a + 1; *b < n; ++*b)
      if (str_equal(measured[*a].op, measured[*b].op) &&
          measured[*a].wavefronts != measured[*b].wavefronts)
        return;
  ck_abort_msg("no operation has two accesses of different cost");
}

// The one with more wavefronts is faster.
START_TEST(orders_otherwise) {
  Measured measured[8];
  int a, b;
  const int n = sites_of(TRANSPOSED, measured);
  find_pair(measured, n, &a, &b);
  measured[a].clocks = 50 - measured[a].wavefronts;
  measured[b].clocks = 50 - measured[b].wavefronts;
  CliRun run = probe(TRANSPOSED, measured, n);
  ck_assert_msg(run.status == 1, "%d %s%s", run.status, run.out, run.err);
  assert_has(run.out, "do NOT order alike");
  assert_has(run.out, arena_printf(arena, "site %d: %d wavefronts", measured[a].site,
                                   measured[a].wavefronts));
}
END_TEST

// All accesses take the same, more clocks than any has wavefronts: no verdict, and no failure.
// Below the larger count the same tie is one.
START_TEST(a_floor_hides_orders) {
  Measured measured[8];
  int a, b;
  const int n = sites_of(TRANSPOSED, measured);
  for (int i = 0; i < n; i++) measured[i].clocks = 50.04;
  CliRun run = probe(TRANSPOSED, measured, n);
  ck_assert_msg(run.status == 0, "%d %s%s", run.status, run.out, run.err);
  assert_has(run.out, "could not be judged, 1 hidden below the floor of 50.0 clocks\n");
  assert_has(run.out, "\nmeasured and predicted order could not be judged\n");
  run = probe("--json " TRANSPOSED, measured, n);
  const JsonValue *root = cli_json(arena, &run), *orders = member(root, "operations");
  int hidden = 0;
  for (int i = 0; i < json_count(orders); i++) {
    hidden += whole(json_at(orders, i), "hidden");
    ck_assert(json_is_null(member(json_at(orders, i), "alike")));
  }
  ck_assert_int_eq(hidden, 2);  // of stores and of loads
  ck_assert(json_is_null(member(root, "alike")));
  assert_has(run.out, "1 hidden below the floor of 50.0 clocks");
  find_pair(measured, n, &a, &b);
  measured[a].clocks = measured[b].clocks = 1;
  run = probe(TRANSPOSED, measured, n);
  ck_assert_msg(run.status == 1, "%d %s%s", run.status, run.out, run.err);
  assert_has(run.out, "  NOT alike\n");
}
END_TEST

START_TEST(what_goes_wrong) {
  Measured measured[8];
  const int n = sites_of(STATE, measured);
  CliRun run = probe(STATE, measured, n - 1);
  ck_assert_int_eq(run.status, 5);
  assert_has(run.err, "did not measure all");
  measured[2].clocks = 0;
  run = probe(STATE, measured, n);
  ck_assert_int_eq(run.status, 5);
  assert_has(run.err, arena_printf(arena, "site %d: CUDA_ERROR_FAKE", measured[2].site));
  measured[1].op = "ldsm_x4";
  run = probe(STATE, measured, n);
  ck_assert_int_eq(run.status, 5);
  assert_has(run.err, "the worker measured ldsm_x4");
  run = cli_run(
      arena, arena_printf(arena, "probe " STATE " %s", cli_fake_worker(arena, NULL, NULL, NULL)));
  ck_assert_int_eq(run.status, 3);
  assert_has(run.err, "no driver was found");
}
END_TEST

// Every ladder is collected; the worker that can only answer one access is found out.
START_TEST(every_ladder_is_collected) {
  CliRun run = probe("--ladder all", &(Measured){.op = "lds32", .wavefronts = 2, .clocks = 2}, 1);
  ck_assert_int_eq(run.status, 5);
  run = probe("--ladder nope", &(Measured){.op = "lds32", .wavefronts = 2, .clocks = 2}, 1);
  ck_assert_int_eq(run.status, 2);
  run = probe("--ladder fp32 -k STAGE=11", &(Measured){.op = "lds32", .wavefronts = 2, .clocks = 2},
              1);
  ck_assert_int_eq(run.status, 2);
  assert_has(run.err, "--ladder goes without");
}
END_TEST

// The worker says that there is a GPU; whether there is one for this process is another matter.
START_TEST(fragments_are_asked_of_a_gpu) {
  CliRun run = cli_run(arena, arena_printf(arena, "selftest --gpu --only fragments %s",
                                           cli_fake_worker(arena, NULL, NULL, NULL)));
  ck_assert_int_eq(run.status, 3);
  run = cli_run(arena, arena_printf(arena, "selftest --gpu --only fragments %s",
                                    cli_fake_worker(arena, "NVIDIA H200", NULL, NULL)));
  if (run.status == 0) return;
  ck_assert_int_eq(run.status, 1);
  assert_has(run.err, "no GPU was found");
  assert_has(run.err, "fragments: all: ");
}
END_TEST

// ---- the key ------------------------------------------------------------------------------------

static int run_explorer(void *argument) {
  Diags diags = diags_new(arena);
  AppOptions options = *(const AppOptions *)argument;
  return (int)app_run(&options, &diags);
}

static const char *const *fake_worker_argv(const char *rules) {
  const char **argv = ARENA_ARRAY(arena, const char *, 5);
  argv[0] = getenv("GEMMVIEW");
  argv[1] = "worker";
  argv[2] = "--fake";
  argv[3] = cli_write_file(arena, "probe-key.jsonl",
                           arena_printf(arena, "{\"on\":\"start\",\"do\":\"hello\"}\n%s", rules));
  return argv;
}

START_TEST(p_puts_clocks_beside_wavefronts) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  const char *const *argv =
      fake_worker_argv(rules_with(&(Measured){.op = "lds128", .wavefronts = 8, .clocks = 8.25}, 1));
  const ClientOptions client = {.version = "test", .workers = &argv, .n_workers = 1};
  AppOptions options = {
      .session = {.rung = "padded"}, .terminal = {.color = "256"}, .client = &client};
  VtProgram *p = vt_start(24, 100, (VtEnv){.term = "xterm-256color"}, run_explorer, &options);
  vt_keys(p, "3");
  vt_expect(p, "SITE 4");
  vt_expect(p, "p probe");
  // The worker may not have said yet that it has a GPU.
  for (int i = 0; i < 50 && !vt_shows(p, "measured here"); i++) {
    vt_keys(p, "p");
    vt_pump(p, 100);
  }
  vt_expect(p, "8.25 clocks, measured here");
  vt_expect(p, "clk here");
  // Another rung asks something else of the banks.
  vt_keys(p, "1");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  ck_assert(vt_restored(p));
  vt_finish(p);
  unsetenv("GEMMVIEW_DATA");
}
END_TEST

START_TEST(p_without_a_worker_says_so) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  AppOptions options = {.session = {.rung = "padded"}, .terminal = {.color = "256"}};
  VtProgram *p = vt_start(24, 80, (VtEnv){.term = "xterm-256color"}, run_explorer, &options);
  vt_keys(p, "3");
  vt_expect(p, "SITE 4");
  vt_keys(p, "p");
  vt_expect(p, "no worker");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
  unsetenv("GEMMVIEW_DATA");
}
END_TEST

// A measurement is found again by what the access asks of the banks, and the oldest makes room.
START_TEST(measurements_are_kept_by_access) {
  Results results;
  results_init(&results, arena);
  const ProbeResult result = result_of(&(Measured){.op = "lds32", .wavefronts = 1, .clocks = 1.5});
  ProbeAccess access = {.op = "lds32"};
  for (int i = 0; i < RESULTS_PROBED_MAX + 3; i++) {
    for (int lane = 0; lane < BANK_LANES; lane++) access.addr[lane] = 4 * lane * (i + 1);
    results_add_probe(&results, &access, &result);
    results_add_probe(&results, &access, &result);
  }
  const BankOp *op = banks_op_find("lds32");
  ck_assert_int_eq(results.n_probed, RESULTS_PROBED_MAX);
  for (int lane = 0; lane < BANK_LANES; lane++) access.addr[lane] += 256;
  ck_assert_double_eq(results_probed(&results, op, access.addr)->clocks, 1.5);
  ck_assert_ptr_null(results_probed(&results, banks_op_find("sts32"), access.addr));
  for (int lane = 0; lane < BANK_LANES; lane++) access.addr[lane] = 4 * lane;
  ck_assert_ptr_null(results_probed(&results, op, access.addr));
  results_free(&results);
}
END_TEST

Suite *suite_cli_probe(void) {
  Suite *suite = suite_create("cli_probe");
  TCase *tc = tcase_create("probe");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 120);
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, p_without_a_worker_says_so);
  tcase_add_test(tc, measurements_are_kept_by_access);
  if (!cli_has_program()) return suite;
  tcase_add_test(tc, one_access_is_printed);
  tcase_add_test(tc, nothing_to_order);
  tcase_add_test(tc, orders_alike);
  tcase_add_test(tc, orders_otherwise);
  tcase_add_test(tc, a_floor_hides_orders);
  tcase_add_test(tc, what_goes_wrong);
  tcase_add_test(tc, every_ladder_is_collected);
  tcase_add_test(tc, fragments_are_asked_of_a_gpu);
  tcase_add_test(tc, p_puts_clocks_beside_wavefronts);
  return suite;
}
