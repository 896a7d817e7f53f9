// Measured timelines. Their stamps are made from the estimated run of every rung, so what must come
// back is known: the same events, an order without a fault, and faults where waits are cut short.
// Then what is hostile, and the command with a worker that answers from a script.
#include "model/readings/time/timeline_measured.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli_harness.h"
#include "emit_cases.h"
#include "golden.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/worker/result_json.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/reduce.h"
#include "tui/app.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"
#include "vterm_harness.h"

Suite *suite_timeline_measured(void);

enum { WORK_MAX = 1 << 19 };

static Arena *arena;
static EmitCases cases;

static void setup(void) {
  arena = arena_new("test timeline measured");
  cases = emit_cases(arena);
}
static void teardown(void) { arena_free(arena); }

// ---- stamps of an estimated run -----------------------------------------------------------------

typedef struct Made {
  const Model *model;
  const Emission *emission;
  int n_warps;
  StampedWarp warp[TRACE_WARPS_MAX];
  int n_blocks;
} Made;

static int place_of(const Emission *emission, const Stmt *stmt) {
  for (int i = 0; i < emission->n_stamps; i++)
    if (emission->stamp[i].stmt == stmt) return i;
  return -1;
}

static void add_stamp(StampedWarp *warp, int64_t clock, int mark, int number) {
  ((Stamp *)warp->stamp)[warp->n++] = (Stamp){clock, mark, number};
  warp->clock_end = clock;
}

// A place that follows another one has no begin. Where the warp had nothing to do in that one, it
// comes by all the same.
static void add_begin(StampedWarp *warp, const Emission *emission, int place, int64_t clock,
                      int number) {
  const int last = warp->n ? warp->stamp[warp->n - 1].mark : -1;
  if (!emission->stamp[place].follows) {
    add_stamp(warp, clock, 2 * place, number);
  } else if (last != 2 * place - 1) {
    add_begin(warp, emission, place - 1, clock, number);
    add_stamp(warp, clock, 2 * place - 1, number);
  }
}

// The warp's own clock: what goes on in the background takes it none.
static void add_stamps(StampedWarp *warp, const Emission *emission, int place,
                       const TimelineEvent *e) {
  const int64_t before = warp->n ? warp->stamp[warp->n - 1].clock : 0;
  const int64_t begin = (int64_t)fmax((double)before, e->begin);
  const int64_t end = timeline_kind_waits(e->kind) ? (int64_t)fmax((double)begin, e->end) : begin;
  const int number = e->slab < 0 ? 0 : (int)e->slab;
  const bool goes_on = warp->n && warp->stamp[warp->n - 1].mark == 2 * place + 1;
  if (goes_on && emission->stamp[place].follows) return;
  add_begin(warp, emission, place, begin, number);
  add_stamp(warp, end, 2 * place + 1, number);
}

// The blocks of a cluster do the same, each a little later than the one before it.
static void add_block(Made *made, int each, int rank) {
  for (int i = 0; i < each; i++) {
    StampedWarp *warp = &made->warp[rank * each + i];
    *warp = made->warp[i];
    Stamp *stamp = ARENA_ARRAY(arena, Stamp, warp->n);
    for (int k = 0; k < warp->n; k++) stamp[k] = warp->stamp[k], stamp[k].clock += 100 * rank;
    warp->stamp = stamp;
    warp->clock_end += 100 * rank;
    warp->sm = 17 + rank;
  }
}

static int ends(const StampedWarp *warp) {
  int n = 0;
  for (int i = 0; i < warp->n; i++) n += warp->stamp[i].mark % 2;
  return n;
}

static int by_order(const void *a, const void *b) {
  return ((const TimelineEvent *)a)->order - ((const TimelineEvent *)b)->order;
}

static Made make_stamps(const Model *model) {
  const Timeline *run = timeline_run(arena, model, NULL, &(TimelineOptions){.whole = true});
  Made made = {.model = model, .emission = emit_traced(arena, model), .n_warps = run->n_warps};
  TimelineEvent *event = ARENA_ARRAY(arena, TimelineEvent, run->n_events);
  memcpy(event, run->event, (size_t)run->n_events * sizeof *event);
  qsort(event, (size_t)run->n_events, sizeof *event, by_order);
  for (int i = 0; i < made.n_warps; i++)
    made.warp[i].stamp = ARENA_ARRAY(arena, Stamp, 2 * run->n_events * made.emission->n_stamps);
  for (int i = 0; i < run->n_events; i++) {
    const int place = place_of(made.emission, event[i].stmt);
    if (place >= 0) add_stamps(&made.warp[event[i].warp], made.emission, place, &event[i]);
  }
  made.n_blocks = (int)kernel_launch(program_main(model->program)).cluster;
  for (int rank = 0; rank < made.n_blocks; rank++) add_block(&made, run->n_warps, rank);
  made.n_warps = made.n_blocks * run->n_warps;
  return made;
}

static const Model *small_case(int i) {
  const Model *model = emit_case(&cases, i);
  if (!model) return NULL;
  Schedule small = schedule_reduce(arena, &cases.targets, &model->schedule, WORK_MAX);
  model = model_build(arena, &cases.targets, &small);
  return model->ok ? model : NULL;
}

static const Timeline *read_back(const Made *made, Diags *diags) {
  return timeline_measured(arena, made->model->program, made->emission, made->warp, made->n_warps,
                           diags);
}

// ---- what comes back ----------------------------------------------------------------------------

START_TEST(stamps_become_events_again) {
  for (int i = 0; i < cases.n; i++) {
    const Model *model = small_case(i);
    if (!model) continue;
    const char *name = cases.rung[i].name;
    Diags diags = diags_new(arena);
    const Made made = make_stamps(model);
    const Timeline *timeline = read_back(&made, &diags);
    ck_assert_msg(timeline != NULL, "%s: %s", name, diags_text(arena, &diags));
    int n = 0;
    for (int w = 0; w < made.n_warps; w++) n += ends(&made.warp[w]);
    ck_assert_msg(timeline->n_events == n && n > 0, "%s: %d of %d", name, timeline->n_events, n);
    for (int w = 0; w < made.n_warps; w++) {
      const TimelineTotals totals = timeline_totals(arena, timeline, w);
      ck_assert_msg(totals.other >= -0.5, "%s: warp %d", name, w);
      double waits = 0;
      for (int k = 0; k < totals.n_waits; k++) waits += totals.wait[k].clocks;
      ck_assert_msg(fabs(waits - totals.waiting) < 0.5, "%s: warp %d", name, w);
    }
    arena_reset(arena);
    cases = emit_cases(arena);
  }
}
END_TEST

// Ends each wait when it begins; the first to come and those who waited for data come too early.
static void cut_waits(Made *made) {
  for (int w = 0; w < made->n_warps; w++) {
    int64_t saved = 0, before = made->warp[w].clock_begin;
    for (int i = 0; i < made->warp[w].n; i++) {
      Stamp *stamp = (Stamp *)made->warp[w].stamp + i;
      const Op *op = &made->emission->stamp[stamp->mark / 2].stmt->op;
      if (stamp->mark % 2 && timeline_kind_waits(timeline_kind_of(op)))
        saved += stamp->clock - saved - before;
      before = stamp->clock -= saved;
    }
  }
}

START_TEST(order_holds_and_its_breach_is_found) {
  int checked = 0, found = 0;
  for (int i = 0; i < cases.n; i++) {
    const Model *model = small_case(i);
    if (!model) continue;
    Diags diags = diags_new(arena);
    Made made = make_stamps(model);
    const Timeline *timeline = read_back(&made, &diags);
    ck_assert_msg(timeline != NULL, "%s: %s", cases.rung[i].name, diags_text(arena, &diags));
    const TimelineOrder order = timeline_check_order(arena, timeline);
    ck_assert_msg(order.broken == 0, "%s: %d of %d", cases.rung[i].name, (int)order.broken,
                  (int)order.checked);
    checked += order.checked > 0;
    cut_waits(&made);
    found += timeline_check_order(arena, read_back(&made, &diags)).broken > 0;
    arena_reset(arena);
    cases = emit_cases(arena);
  }
  ck_assert_int_gt(checked, 30);
  ck_assert_msg(found * 2 > checked, "%d of %d", found, checked);
}
END_TEST

// ---- hostile ------------------------------------------------------------------------------------

static const char roles[] =
    "AUTO=0,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,FM=2,BK=4,STAGE=11,TMA=1,SWIZZLE=3,"
    "BUFFER_COUNT=4,WARP_SPECIALIZE=1,M=256,N=256,K=1024";

static const char clusters[] =
    "AUTO=0,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,FM=2,BK=4,STAGE=11,TMA=1,SWIZZLE=3,"
    "BUFFER_COUNT=4,WARP_SPECIALIZE=1,CLUSTER_M=2,MULTICAST=1,M=512,N=256,K=1024";

static void assert_refused(const Made *made, const char *part) {
  Diags diags = diags_new(arena);
  ck_assert_ptr_null(read_back(made, &diags));
  ck_assert_msg(strstr(diags_text(arena, &diags), part) != NULL, "no \"%s\" in %s", part,
                diags_text(arena, &diags));
}

START_TEST(hostile_stamps_are_refused) {
  const Model *model = emit_state(&cases, roles);
  const Made good = make_stamps(model);
  ck_assert_int_gt(good.warp[0].n, 4);
  Stamp *stamp = (Stamp *)good.warp[0].stamp;
  const Stamp kept = stamp[3];
  const int past = 2 * good.emission->n_stamps;
  stamp[3].mark = past;
  assert_refused(&good, "is of no place");
  stamp[3].mark = -1;
  assert_refused(&good, "is of no place");
  stamp[3].mark = kept.mark - 1;
  assert_refused(&good, "is no end of what begins before it");
  stamp[3] = kept;
  stamp[3].clock = stamp[2].clock - 1;
  assert_refused(&good, "goes back in time");
  stamp[3].clock = good.warp[0].clock_end + 1;
  assert_refused(&good, "lies behind the warp's end");
  stamp[3] = kept;
  Made late = good;
  late.warp[0].clock_begin = late.warp[0].clock_end + 1;
  assert_refused(&late, "ends before it begins");
}
END_TEST

// Every block of a cluster has its lanes, and its waits are held against its own warps alone.
START_TEST(the_blocks_of_a_cluster_are_read_together) {
  Diags diags = diags_new(arena);
  const Model *model = emit_state(&cases, clusters);
  Made made = make_stamps(model);
  ck_assert_int_eq(made.n_blocks, 2);
  const Timeline *timeline = read_back(&made, &diags);
  ck_assert_msg(timeline != NULL, "%s", diags_text(arena, &diags));
  const int each = made.n_warps / 2;
  ck_assert_int_eq(timeline_rank(timeline, each), 1);
  ck_assert_int_eq(timeline_warp(timeline, each + 3), 3);
  ck_assert_str_eq(timeline_role(timeline, each), timeline_role(timeline, 0));
  const Lanes lanes = pipeline_lanes(arena, timeline, false, false);
  ck_assert_int_eq(lanes.n, 4);
  ck_assert_str_eq(lanes.lane[0].name, "0:consumer 0-3");
  ck_assert_str_eq(lanes.lane[3].name, "1:producer 4-7");
  const TimelineOrder both = timeline_check_order(arena, timeline);
  ck_assert(both.checked > 0 && both.broken == 0 && both.checked % 2 == 0);
  made.n_warps = each;
  assert_refused(&made, "8 warps came back; the cluster has 16");
}
END_TEST

// A page that was full ends with a begin, or with an end; nothing of it is held against others.
START_TEST(a_full_page_is_read_as_far_as_it_goes) {
  Diags diags = diags_new(arena);
  Made made = make_stamps(emit_state(&cases, roles));
  const int n = read_back(&made, &diags)->n_events, cut = made.warp[0].n - 7,
            all = ends(&made.warp[0]);
  made.warp[0].n = 7;
  made.warp[0].lost = cut;
  const Timeline *timeline = read_back(&made, &diags);
  ck_assert_ptr_nonnull(timeline);
  ck_assert_int_eq(timeline->n_events, n - (all - ends(&made.warp[0])));
  ck_assert(timeline->full);
  ck_assert_int_eq(timeline_check_order(arena, timeline).checked, 0);
}
END_TEST

// ---- the command --------------------------------------------------------------------------------

static TraceResult result_of(const Made *made) {
  TraceResult result = {.ok = true,
                        .bench = cli_good_bench(),
                        .block = 3,
                        .n_blocks = made->n_blocks,
                        .clock_mhz = 1755,
                        .n_warps = made->n_warps,
                        .warp = made->warp};
  result.bench.n_entries = 2;
  result.bench.entries[1] = result.bench.entries[0];
  result.bench.entries[1].time.median_ns /= 1.01;
  result.verify = result.bench.entries[0].verify;
  return result;
}

static CliRun run_trace(const char *more, const TraceResult *result) {
  Str json = str_new(arena);
  trace_result_write_json(&json, result);
  const char *rules =
      arena_printf(arena,
                   "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
                   "{\"on\":\"trace\",\"match\":\"\\\"traced\\\":3\",\"do\":\"reply\",\"line\":"
                   "{\"type\":\"result\",\"id\":0,\"what\":\"trace\",\"data\":%s}}\n",
                   json.text);
  return cli_run(arena, arena_printf(arena, "trace -k %s --block 3 %s %s", roles, more,
                                     cli_fake_worker_rules(arena, rules)));
}

static void assert_has(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

START_TEST(the_command_prints_lanes_and_totals) {
  const Made made = make_stamps(emit_state(&cases, roles));
  const TraceResult result = result_of(&made);
  const CliRun run = run_trace("", &result);
  ck_assert_msg(run.status == 0, "%d %s%s", run.status, run.out, run.err);
  assert_has(run.out, "NVIDIA H200");
  assert_has(run.out, "block 3 on SM 17; C is right in every cell");
  assert_has(run.out, "SM 1755 MHz by the block's own clock");
  assert_has(run.out, "without: +1.0 %");
  assert_has(run.out, "measured: ");
  assert_has(run.out, "estimated, alone on its SM: ");
  assert_has(run.out, "producer 4-7");
  assert_has(run.out, "full ");
  assert_has(run.out, "% of its warps' time is in events");
  assert_has(run.out, "all come behind it");
}
END_TEST

START_TEST(the_command_says_it_as_data) {
  const Made made = make_stamps(emit_state(&cases, roles));
  const TraceResult result = result_of(&made);
  const CliRun run = run_trace("--json", &result);
  Diags diags = diags_new(arena);
  const JsonValue *root = cli_json(arena, &run), *warps = json_object_get(root, "warps");
  ck_assert_int_eq(json_count(warps), made.n_warps);
  for (int w = 0; w < made.n_warps; w++) {
    const JsonValue *events = json_object_get(json_at(warps, w), "events");
    ck_assert_int_eq(json_count(events), ends(&made.warp[w]));
  }
  int broken = -1;
  ck_assert(json_require_int(root, "waits_too_early", 0, 1 << 30, &broken, &diags));
  ck_assert_int_eq(broken, 0);
}
END_TEST

START_TEST(a_hostile_worker_is_told) {
  const Made made = make_stamps(emit_state(&cases, roles));
  TraceResult result = result_of(&made);
  result.n_warps = 1;
  CliRun run = run_trace("", &result);
  ck_assert_int_eq(run.status, 5);
  assert_has(run.err, "1 warps came back; the block has 8");
  result = result_of(&made);
  result.bench.n_entries = 1;
  ck_assert_int_eq(run_trace("", &result).status, 5);
  result = result_of(&made);
  ((Stamp *)made.warp[0].stamp)[1].mark = 1 << 20;
  run = run_trace("--json", &result);
  ck_assert_int_eq(run.status, 5);
  assert_has(run.err, "stamp 1 of warp 0 is of no place");
  result.ok = false;
  result.error = "3 of 65536 cells are wrong";
  run = run_trace("", &result);
  ck_assert_int_eq(run.status, 5);
  assert_has(run.err, "3 of 65536 cells are wrong");
}
END_TEST

START_TEST(mistakes_are_told) {
  CliRun run = cli_run(arena, "trace some");
  ck_assert_int_eq(run.status, 2);
  assert_has(run.err, "trace takes no argument \"some\"");
  const char *worker = cli_fake_worker(arena, "NVIDIA H200", NULL, NULL);
  run = cli_run(arena, arena_printf(arena, "trace -k %s --block 4 %s", roles, worker));
  ck_assert_int_eq(run.status, 2);
  assert_has(run.err, "--block 4: there are blocks 0 to 3");
  run = cli_run(arena, arena_printf(arena, "trace %s", cli_fake_worker(arena, NULL, NULL, NULL)));
  ck_assert_int_eq(run.status, 3);
  assert_has(run.err, "there is no GPU to time on");
}
END_TEST

// ---- the view -----------------------------------------------------------------------------------

static const char *screen(Session *session, Canvas *canvas, const char *keys) {
  Diags diags = diags_new(arena);
  ck_assert(drive_keys(session, canvas, keys, &diags));
  drive_frame(session, canvas);
  return export_text(arena, canvas);
}

START_TEST(the_view_sets_a_trace_beside_the_estimate) {
  Diags diags = diags_new(arena);
  Session *session = explorer_open(&(SessionOptions){.state = roles}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  Canvas *canvas = canvas_new(arena, 40, 120, false);
  view_show(session, view_find("pipeline"));
  drive_frame(session, canvas);
  const Made made = make_stamps(session_model(session));
  TraceResult result = result_of(&made);
  ck_assert_ptr_null(strstr(screen(session, canvas, "t"), "measured here"));
  results_add_trace(&session->background.results, session->doc.now.picture->key + 1, &result);
  ck_assert_ptr_null(strstr(screen(session, canvas, "t"), "measured here"));
  results_add_trace(&session->background.results, session->doc.now.picture->key, &result);
  const char *text = screen(session, canvas, "Right");
  assert_has(text, "measured here, block 3 on SM 17");
  assert_has(text, "as it is");
  golden_check("screens/pipeline_measured_120x40.txt", text);
  canvas_resize(canvas, 24, 80);
  drive_frame(session, canvas);
  golden_check("screens/pipeline_measured_80x24.txt", export_text(arena, canvas));
  canvas_resize(canvas, 40, 120);
  ck_assert_ptr_null(strstr(screen(session, canvas, "v"), "measured here"));
  assert_has(screen(session, canvas, "t"), "measured here");
  ((Stamp *)made.warp[0].stamp)[1].mark = 1 << 20;
  results_add_trace(&session->background.results, session->doc.now.picture->key, &result);
  text = screen(session, canvas, "t");
  ck_assert_ptr_null(strstr(text, "measured here"));
  assert_has(text, "stamp 1 of warp 0 is of no place");
  explorer_close(session);
}
END_TEST

static int run_explorer(void *argument) {
  Diags diags = diags_new(arena);
  AppOptions options = *(const AppOptions *)argument;
  return (int)app_run(&options, &diags);
}

// The key asks the worker; what it answers comes up by itself.
START_TEST(t_traces_in_the_background) {
  const Made made = make_stamps(emit_state(&cases, roles));
  const TraceResult result = result_of(&made);
  Str json = str_new(arena);
  trace_result_write_json(&json, &result);
  const char *rules =
      arena_printf(arena,
                   "{\"on\":\"start\",\"do\":\"hello\"}\n"
                   "{\"on\":\"start\",\"do\":\"machine\",\"text\":\"NVIDIA H200\"}\n"
                   "{\"on\":\"trace\",\"do\":\"reply\",\"line\":{\"type\":\"result\",\"id\":0,"
                   "\"what\":\"trace\",\"data\":%s}}\n",
                   json.text);
  const char *const argv[] = {getenv("GEMMVIEW"), "worker", "--fake",
                              cli_write_file(arena, "trace-key.jsonl", rules), NULL};
  const char *const *worker = argv;
  const ClientOptions client = {.version = "test", .workers = &worker, .n_workers = 1};
  AppOptions options = {
      .session = {.state = roles}, .terminal = {.color = "256"}, .client = &client};
  VtProgram *p = vt_start(40, 120, (VtEnv){.term = "xterm-256color"}, run_explorer, &options);
  vt_keys(p, "P");
  vt_expect(p, "block 0, alone on its SM");
  // The worker may not have said yet that it has a GPU.
  for (int i = 0; i < 50 && !vt_shows(p, "measured here"); i++) {
    vt_keys(p, "t");
    vt_pump(p, 100);
  }
  vt_expect(p, "measured here, block 3 on SM 17");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
}
END_TEST

Suite *suite_timeline_measured(void) {
  Suite *suite = suite_create("timeline_measured");
  TCase *tests = tcase_create("timeline_measured");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 300);
  tcase_add_test(tests, stamps_become_events_again);
  tcase_add_test(tests, order_holds_and_its_breach_is_found);
  tcase_add_test(tests, hostile_stamps_are_refused);
  tcase_add_test(tests, a_full_page_is_read_as_far_as_it_goes);
  tcase_add_test(tests, the_blocks_of_a_cluster_are_read_together);
  tcase_add_test(tests, the_view_sets_a_trace_beside_the_estimate);
  if (cli_has_program()) {
    tcase_add_test(tests, t_traces_in_the_background);
    tcase_add_test(tests, the_command_prints_lanes_and_totals);
    tcase_add_test(tests, the_command_says_it_as_data);
    tcase_add_test(tests, a_hostile_worker_is_told);
    tcase_add_test(tests, mistakes_are_told);
  }
  suite_add_tcase(suite, tests);
  return suite;
}
