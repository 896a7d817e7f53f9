// Where copies may stand: what the interpreter says of every place, held against barriers and waits
// counted by hand.
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/embed.h"
#include "base/str.h"
#include "cli_harness.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "golden.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/counted.h"
#include "model/interp/load_places.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/schedules/reduce.h"
#include "stress.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/requests.h"
#include "tui/frame/view.h"
#include "tui/session/placed_loads.h"

Suite *suite_load_places(void);

static Arena *arena;
static EmitCases cases;

static void setup(void) {
  arena = arena_new("test load_places");
  cases = emit_cases(arena);
}
static void teardown(void) { arena_free(arena); }

#define FUSED                                                                                      \
  "AUTO=0,PROGRAM=attention,M=40,N=100,K=32,ATOM_KIND=mma_m16n8k16_f16,WM=2,FN=4,FUSE=1,STAGE=11," \
  "SWIZZLE=2,LDMATRIX=2,"
#define RING                                                                                      \
  "AUTO=0,M=40,N=40,K=200,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=2,FM=2,FN=2,BK=2,STAGE=11,LDMATRIX=" \
  "1,"

static LoadPlaces *tried(const char *state) {
  const Model *model = emit_state(&cases, state);
  LoadPlaces *places = load_places_new(arena, model->program);
  while (load_places_try(places, 0, LOAD_ANYWHERE)) {
  }
  return places;
}

// ---- by hand ------------------------------------------------------------------------------------

static bool is(const Stmt *stmt, OpAction action) {
  return stmt->kind == STMT_OP && op_facts(stmt->op.kind)->action == action;
}

typedef struct Reads {
  const char *slabs;
  bool any;
} Reads;

static void look(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Reads *reads = context;
  const Buffer *from = stmt->kind == STMT_OP ? stmt->op.src.buffer : NULL;
  reads->any |= from && from->space == SPACE_SHARED && strstr(reads->slabs, from->name);
}

static bool reads(const LoadPlaces *places, int line, const char *slabs) {
  Reads found = {slabs, false};
  Stmt *stmt = (Stmt *)places->line[line];
  if (stmt->body) stmt_walk(stmt->body, look, &found);
  return found.any;
}

// Without a ring, with waits for all groups: behind the last read of the turn before, or of this
// one, a barrier; in front of the next read, in this turn or the next, a wait and then a barrier.
static bool safe_by_hand(const LoadPlaces *places, const LoadCopy *copy, int place, bool ahead) {
  const int n = places->n_lines;
  int barriers = 0;
  bool waited = false, met = false;
  int at = place;
  for (int step = 0; step < n; step++) {  // back to the last read
    at = (at + n - 1) % n;
    if (reads(places, at, copy->slabs)) break;
    barriers += is(places->line[at], ACTION_MEET);
  }
  at = place % n;
  bool turned = place == n;
  for (int step = 0; step < n && !reads(places, at, copy->slabs); step++) {
    met |= waited && is(places->line[at], ACTION_MEET);
    waited |= is(places->line[at], ACTION_WAIT);
    at = (at + 1) % n;
    turned |= at == 0;
  }
  return barriers > 0 && waited && met && turned == ahead;
}

static void check_by_hand(const LoadPlaces *places, int copy, bool ahead) {
  const LoadCopy *what = &places->copy[copy];
  int n_safe = 0;
  for (int p = 0; p <= places->n_lines; p++) {
    const bool safe = what->place[p].verdict == LOAD_SAFE;
    n_safe += safe;
    ck_assert_msg(safe == safe_by_hand(places, what, p, ahead), "%s at %d of %d: %s", what->slabs,
                  p, places->n_lines, safe ? "safe" : what->place[p].text);
  }
  ck_assert_int_gt(n_safe, 0);
  ck_assert_int_le(n_safe, places->n_lines);
  ck_assert_int_eq(what->place[what->at].verdict, LOAD_SAFE);
}

// The article's two rules: V behind the first barrier, the next K behind the second.
START_TEST(k_and_v_have_a_barrier_each) {
  const LoadPlaces *places = tried(FUSED "ASYNC_COPY=1,EAGER_KV=1,FRAG_ORDER=1");
  ck_assert_int_eq(places->n_copies, 2);
  ck_assert_str_eq(places->copy[0].slabs, "V_s");
  ck_assert_str_eq(places->copy[1].slabs, "K_s");
  check_by_hand(places, 0, false);
  check_by_hand(places, 1, true);
  ck_assert_int_eq(places->copy[1].place[places->n_lines].verdict, LOAD_SAFE);
}
END_TEST

START_TEST(copies_of_the_same_turn_end_before_their_wait) {
  const LoadPlaces *places = tried(FUSED "ASYNC_COPY=1,FRAG_ORDER=1");
  ck_assert_int_ge(places->n_copies, 1);
  for (int c = 0; c < places->n_copies; c++) check_by_hand(places, c, false);
}
END_TEST

START_TEST(boxes_have_places_too) {
  const LoadPlaces *places = tried(FUSED "TMA=1,EAGER_KV=1,TARGET=h200");
  ck_assert_int_eq(places->n_copies, 2);
  for (int c = 0; c < 2; c++) {
    const LoadCopy *copy = &places->copy[c];
    ck_assert_int_eq(copy->place[copy->at].verdict, LOAD_SAFE);
    ck_assert_int_eq(copy->place[0].verdict, LOAD_UNSAFE);
    ck_assert_ptr_nonnull(copy->place[0].text);
    // What it meets is the read of its slab.
    ck_assert(reads(places, copy->place[0].meets, copy->slabs));
  }
}
END_TEST

START_TEST(slabs_of_a_ring_are_moved_together) {
  const LoadPlaces *places = tried(RING "ASYNC_COPY=1,BUFFER_COUNT=3,PIPELINE_STAGES=1");
  ck_assert_int_eq(places->n_copies, 1);
  ck_assert_str_eq(places->copy[0].slabs, "A_s, B_s");
  ck_assert_int_eq(places->copy[0].place[places->copy[0].at].verdict, LOAD_SAFE);
}
END_TEST

START_TEST(what_goes_through_registers_is_no_copy) {
  const LoadPlaces *places = tried(RING "");
  ck_assert_int_eq(places->n_copies, 0);
  ck_assert_int_eq(
      load_places_new(arena, emit_state(&cases, "AUTO=0,M=8,N=8,K=8")->program)->n_lines, 0);
}
END_TEST

// A copy that is put where it stands is the program as it was; elsewhere nothing else has changed.
START_TEST(a_move_moves_one_copy) {
  const LoadPlaces *places = tried(FUSED "ASYNC_COPY=1,EAGER_KV=1,FRAG_ORDER=1");
  for (int c = 0; c < 2; c++)
    for (int p = 0; p <= places->n_lines; p++) {
      const Program *moved = load_places_move(arena, places, c, p);
      LoadPlaces *again = load_places_new(arena, moved);
      int n = 0;
      for (Stmt *at = program_slab_loop(moved)->body; at; at = at->next) n++;
      ck_assert_int_eq(n, places->n_lines + places->copy[0].n + places->copy[1].n);
      ck_assert_int_eq(again->n_lines, places->n_lines);
      for (int i = 0; i < places->n_lines; i++)
        ck_assert_int_eq(again->line[i]->id, places->line[i]->id);
    }
}
END_TEST

// ---- the picture --------------------------------------------------------------------------------

static const struct {
  const char *name, *ladder, *rung, *keys;
  int cols, rows;
  bool idle;  // nobody types until all are tried
} screens[] = {
    {"places_80x24", "attention", "eager_kv", "p j j j j j", 80, 24, true},
    {"places_tma_120x40", "attention", "tma", "p Right j j", 120, 40, true},
    {"places_40x12", "attention", "eager_kv", "p G", 40, 12, false},
    {"places_none", "fp32", "staging", "p", 80, 24, true},
};

START_TEST(a_bar_of_places) {
  Diags diags = diags_new(arena);
  const SessionOptions options = {.ladder = screens[_i].ladder, .rung = screens[_i].rung};
  Session *session = explorer_open(&options, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  Canvas *canvas = canvas_new(arena, screens[_i].rows, screens[_i].cols, false);
  view_show(session, view_find("loops"));
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, screens[_i].keys, &diags));
  bool news;
  while (screens[_i].idle && view_idle(session, &news)) {
  }
  drive_frame(session, canvas);
  golden_check(arena_printf(arena, "screens/%s.txt", screens[_i].name), export_text(arena, canvas));
  explorer_close(session);
}
END_TEST

// What is shown was tried of this schedule and of no other.
START_TEST(another_schedule_is_tried_anew) {
  Diags diags = diags_new(arena);
  bool news;
  Session *session =
      explorer_open(&(SessionOptions){.ladder = "attention", .rung = "eager_kv"}, &diags);
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  view_show(session, view_find("loops"));
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, "p", &diags));
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "  ?   "));
  while (view_idle(session, &news)) {
  }
  drive_frame(session, canvas);
  ck_assert_ptr_null(strstr(export_text(arena, canvas), "  ?   "));
  session_set_knob(session, KNOB_SWIZZLE, 2);
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "  ?   "));
  explorer_close(session);
}
END_TEST

// ---- what the compiler says ---------------------------------------------------------------------

static PlacedLoads *placed_of(const char *state) {
  Diags diags = diags_new(arena);
  Schedule schedule = schedule_plain();
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(arena, &diags));
  PlacedLoads *placed = placed_loads_new(arena);
  placed_loads_look(placed, &cases.targets, &schedule);
  return placed;
}

// A compiler's answer with these numbers; "spilled" both ways.
static CompileResult answer(int registers, int spilled, int instructions) {
  CompileResult result = {.ok = true, .log = "", .compiler = "NVRTC 13.0", .n_kernels = 1};
  result.kernels[0] = (KernelResources){
      .name = "attention",
      .registers = registers,
      .spill_store_bytes = spilled,
      .spill_load_bytes = spilled,
      .instructions = instructions,
      .code = {.inner = {.multiplies = 64, .instructions = 200, .near_clocks = 640},
               .outer = {.instructions = 150, .near_clocks = 410}}};
  return result;
}

static bool is_the_same_place(const PlacedLoads *placed, const char *state) {
  const LoadPlaces *small = placed->places, *whole = placed->whole;
  ck_assert_msg(whole->n_lines == small->n_lines && whole->n_copies == small->n_copies, "%s",
                state);
  for (int c = 0; c < small->n_copies; c++) {
    ck_assert_int_eq(whole->copy[c].at, small->copy[c].at);
    ck_assert_int_eq(whole->copy[c].begin, small->copy[c].begin);
    ck_assert_int_eq(whole->copy[c].n, small->copy[c].n);
  }
  return true;
}

static bool has_the_same_places(const TargetTable *targets, const Schedule *schedule) {
  PlacedLoads *placed = placed_loads_new(arena);
  placed_loads_look(placed, targets, schedule);
  bool has = !placed_loads_are_none(placed);
  if (has) placed_loads_plan(placed->arena, placed, 0, 0);
  has = has && is_the_same_place(placed, schedule_text(arena, schedule));
  placed_loads_free(placed);
  return has;
}

// The lines of the small problem that is run are those of the whole one that is compiled, at the
// rung's size and at one with edges: a place is the same place in both.
START_TEST(places_are_those_of_the_whole_problem) {
  Diags diags = diags_new(arena);
  Session *session = session_open(&(SessionOptions){0}, &diags);
  int n = 0;
  for (int l = 0; l < session->doc.n_ladders; l++)
    for (int r = 0; r < session->doc.ladders[l]->n_rungs; r++) {
      Schedule schedule = session->doc.ladders[l]->rung[r].schedule;
      n += has_the_same_places(&session->doc.targets, &schedule);
      schedule_resize(&schedule, 1000, 1000, 1000);
      if (model_build(arena, &session->doc.targets, &schedule)->ok)
        n += has_the_same_places(&session->doc.targets, &schedule);
    }
  session_close(session);
  ck_assert_int_gt(n, 20);
}
END_TEST

// Where the copy stands the text is the program's own, elsewhere it is another one.
START_TEST(a_plan_is_of_the_kernel_with_the_copy_moved) {
  PlacedLoads *placed = placed_of(FUSED "ASYNC_COPY=1,EAGER_KV=1,FRAG_ORDER=1");
  const int at = placed->places->copy[0].at;
  const Plan *stands = placed_loads_plan(arena, placed, 0, at),
             *later = placed_loads_plan(arena, placed, 0, at + 1);
  const Plan *too = placed_loads_plan(arena, placed, 1, placed->places->copy[1].at);
  ck_assert(str_equal(stands->cuda, plan_from_model(arena, placed->model, "")->cuda));
  ck_assert(str_equal(stands->cuda, too->cuda));
  ck_assert(!str_equal(stands->cuda, later->cuda));
  placed_loads_free(placed);
}
END_TEST

// Only safe places are compiled, where the copies stand first, and each once; an answer for another
// schedule, or a second one, changes nothing.
START_TEST(each_safe_place_is_asked_for_once) {
  PlacedLoads *placed = placed_of(FUSED "ASYNC_COPY=1,EAGER_KV=1,FRAG_ORDER=1");
  int copy, place, n = 0, n_safe = 0;
  ck_assert(!placed_loads_next(placed, &copy, &place));
  while (placed_loads_try(placed, 0, LOAD_ANYWHERE)) {
  }
  for (int c = 0; c < 2; c++)
    for (int p = 0; p <= placed->places->n_lines; p++)
      n_safe += placed->places->copy[c].place[p].verdict == LOAD_SAFE;
  for (; placed_loads_next(placed, &copy, &place); n++) {
    ck_assert_int_eq(placed->places->copy[copy].place[place].verdict, LOAD_SAFE);
    if (n < 2) ck_assert_int_eq(place, placed->places->copy[n].at);
    placed_loads_asked(placed, copy, place);
  }
  ck_assert_int_eq(n, n_safe);
  const CompileResult first = answer(100, 0, 1000), second = answer(101, 8, 1001);
  place = placed->places->copy[0].at;
  placed_loads_take(placed, placed->key + 1, 0, place, &first, NULL);
  ck_assert_ptr_null(placed_loads_kernel(placed, 0, place));
  placed_loads_take(placed, placed->key, 0, place, &first, NULL);
  placed_loads_take(placed, placed->key, 0, place, &second, NULL);
  ck_assert_int_eq(placed_loads_kernel(placed, 0, place)->registers, 100);
  placed_loads_take(placed, placed->key, 1, place, NULL, "the compiler took too long");
  ck_assert_ptr_null(placed_loads_kernel(placed, 1, place));
  ck_assert_str_eq(placed->cost[1][place].error, "the compiler took too long");
  placed_loads_free(placed);
}
END_TEST

// What claims quote of places is what the compiler says, where it is the one that was asked.
START_TEST(places_cost_what_claims_quote) {
  const EmbeddedFile *file = embed_find(arena, "facts/nvrtc_kernels.jsonl");
  Diags diags = diags_new(arena);
  const CountedKernels *counted = counted_read(arena, file->text, file->size, file->path, &diags);
  int n = 0;
  for (int i = 0; i < counted->n; i++)
    for (int k = 0; k < counted->kernel[i].n; k++) {
      const CountedKernel *kernel = &counted->kernel[i];
      char slab[8], figure[24];
      int place;
      if (sscanf(kernel->number[k].name, "place_%1[A-Z]_s_%d_%23s", slab, &place, figure) != 3)
        continue;
      PlacedLoads *placed = placed_loads_new(arena);
      placed_loads_look(placed, &cases.targets, &kernel->schedule);
      const int copy = placed->places->copy[0].slabs[0] == slab[0] ? 0 : 1;
      ck_assert_int_eq(placed->places->copy[copy].slabs[0], slab[0]);
      const CompileResult *result =
          compile_once(arena, placed_loads_plan(arena, placed, copy, place), COMPILE_CUBIN);
      placed_loads_free(placed);
      if (!result->compiler || !str_equal(result->compiler, kernel->compiler)) return;
      const KernelResources *is = &result->kernels[0];
      const int value = str_equal(figure, "registers")           ? is->registers
                        : str_equal(figure, "spill_store_bytes") ? is->spill_store_bytes
                                                                 : is->instructions;
      ck_assert_int_eq(value, (int)kernel->number[k].value);
      n++;
    }
  ck_assert_int_eq(n, 36);
}
END_TEST

static const struct {
  const char *name, *keys;
  int cols, rows;
} costs[] = {
    {"places_cost_80x24", "p j j j j", 80, 24},
    {"places_cost_120x40", "p j j j j j j j", 120, 40},
    {"places_cost_60x20", "p j j j", 60, 20},
};

// Some answers have come, one compiler gave up, the others are on their way.
static void file_some(PlacedLoads *placed) {
  int copy, place;
  for (int n = 0; n < 9 && placed_loads_next(placed, &copy, &place); n++) {
    const CompileResult result = answer(200 + n, n % 4 == 3 ? 4 * n : 0, 1800 + n);
    placed_loads_asked(placed, copy, place);
    if (n == 5)
      placed_loads_take(placed, placed->key, copy, place, NULL, "the compiler took 30 s");
    else
      placed_loads_take(placed, placed->key, copy, place, &result, NULL);
  }
}

START_TEST(a_row_says_what_its_place_costs) {
  Diags diags = diags_new(arena);
  bool news;
  Session *session =
      explorer_open(&(SessionOptions){.ladder = "attention", .rung = "eager_kv"}, &diags);
  Canvas *canvas = canvas_new(arena, costs[_i].rows, costs[_i].cols, false);
  view_show(session, view_find("loops"));
  session->background.worker.can_compile = true;
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, costs[_i].keys, &diags));
  while (view_idle(session, &news)) {
  }
  file_some(session->background.placed);
  drive_frame(session, canvas);
  golden_check(arena_printf(arena, "screens/%s.txt", costs[_i].name), export_text(arena, canvas));
  explorer_close(session);
}
END_TEST

// ---- the worker's side --------------------------------------------------------------------------

// Until nothing is left to be asked for, and all of it is answered; false: it took too long.
static bool run_until_known(Requests *requests, Session *session) {
  int copy, place;
  for (const int64_t until = clock_ms() + (int64_t)stress_wall(60000); clock_ms() < until;) {
    requests_poll(requests);
    requests_tick(requests, clock_ms());
    bool asked = placed_loads_next(session->background.placed, &copy, &place);
    for (int c = 0; c < 2; c++)
      for (int p = 0; p <= session->background.placed->places->n_lines; p++)
        asked |= session->background.placed->cost[c][p].state == PLACED_ASKED;
    if (!asked) return true;
    poll(&(struct pollfd){.fd = requests_fd(requests), .events = POLLIN}, 1, 20);
  }
  return false;
}

// The same worker that compiles the schedule compiles it with its copies moved; what was asked of a
// schedule that has been left is dropped.
START_TEST(a_worker_answers_for_every_safe_place) {
  if (!cli_has_program()) return;
  Diags diags = diags_new(arena);
  const CompileResult cubin = answer(123, 0, 4567);
  const char *text = cli_fake_worker(arena, NULL, &cubin, NULL) + strlen("--worker '");
  const char *const *command =
      client_split_command(arena, arena_strndup(arena, text, strlen(text) - 1), &diags);
  const ClientOptions options = {.version = "test", .workers = &command, .n_workers = 1};
  Session *session =
      explorer_open(&(SessionOptions){.ladder = "attention", .rung = "eager_kv"}, &diags);
  Requests *requests = requests_start(session->app, &options, session);
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  bool news;
  view_show(session, view_find("loops"));
  drive_frame(session, canvas);
  ck_assert(drive_keys(session, canvas, "p", &diags));
  while (view_idle(session, &news)) {
  }
  ck_assert(!session->background.worker.can_compile);
  for (int64_t begin = clock_ms(); !session->background.worker.can_compile;) {
    ck_assert_double_lt((double)(clock_ms() - begin), stress_wall(60000));
    requests_poll(requests);
    poll(&(struct pollfd){.fd = requests_fd(requests), .events = POLLIN}, 1, 20);
  }
  ck_assert(run_until_known(requests, session));
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "123      0 B    4567"));
  ck_assert_ptr_null(strstr(export_text(arena, canvas), "compiling"));
  requests_stop(requests);
  explorer_close(session);
}
END_TEST

START_TEST(the_command_prints_the_same_places) {
  if (!cli_has_program()) return;
  const CompileResult cubin = answer(123, 12, 4567);
  const char *worker = cli_fake_worker(arena, NULL, &cubin, NULL);
  CliRun run =
      cli_run(arena, arena_printf(arena, "resources -k attention/eager_kv --places %s", worker));
  ck_assert_msg(run.status == 0, "%s", run.err);
  ck_assert_ptr_nonnull(strstr(
      run.out, "  stands    123       12    4567      350    1050  the warp's fragments of K"));
  ck_assert_ptr_nonnull(strstr(run.out, "  unsafe      -        -       -        -       -  S_f"));
  ck_assert_ptr_nonnull(strstr(run.out, "compiled for the whole problem: NVRTC 13.0"));
  run = cli_run(arena,
                arena_printf(arena, "resources -k attention/eager_kv --places --json %s", worker));
  ck_assert_ptr_nonnull(strstr(run.out,
                               "\"spill_store_bytes\":12,\"spill_load_bytes\":12,"
                               "\"instructions\":4567,\"loop_instructions\":350"));
  run = cli_run(arena, "resources -k attention/eager_kv --places --knob FM=1");
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "--knob and --places exclude each other"));
  run = cli_run(arena, "resources -k fp32/staging --places");
  ck_assert_int_eq(run.status, 2);
  ck_assert_ptr_nonnull(strstr(run.err, "This loop over slabs has no copy"));
}
END_TEST

Suite *suite_load_places(void) {
  Suite *suite = suite_create("load_places");
  TCase *tests = tcase_create("load_places");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, k_and_v_have_a_barrier_each);
  tcase_add_test(tests, copies_of_the_same_turn_end_before_their_wait);
  tcase_add_test(tests, boxes_have_places_too);
  tcase_add_test(tests, slabs_of_a_ring_are_moved_together);
  tcase_add_test(tests, what_goes_through_registers_is_no_copy);
  tcase_add_test(tests, a_move_moves_one_copy);
  tcase_add_loop_test(tests, a_bar_of_places, 0, sizeof screens / sizeof *screens);
  tcase_add_test(tests, another_schedule_is_tried_anew);
  tcase_add_test(tests, places_are_those_of_the_whole_problem);
  tcase_add_test(tests, a_plan_is_of_the_kernel_with_the_copy_moved);
  tcase_add_test(tests, each_safe_place_is_asked_for_once);
  tcase_add_test(tests, places_cost_what_claims_quote);
  tcase_add_loop_test(tests, a_row_says_what_its_place_costs, 0, sizeof costs / sizeof *costs);
  tcase_add_test(tests, a_worker_answers_for_every_safe_place);
  tcase_add_test(tests, the_command_prints_the_same_places);
  suite_add_tcase(suite, tests);
  return suite;
}
