// The pipeline view: stepping through events, other lanes, the statement elsewhere, what stands
// beside, and breakages in place.
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "model/interp/breakage.h"
#include "model/ir/buffer.h"
#include "model/ir/stmt.h"
#include "stress.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

Suite *suite_pipeline_view(void);

#define ROLES                                                                              \
  "AUTO=0,ATOM_KIND=mma_m16n8k16_bf16,WM=2,WN=4,FM=4,FN=8,BK=4,STAGE=11,TMA=1,LDMATRIX=2," \
  "SWIZZLE=3,BUFFER_COUNT=3,UNROLL_RING=1,FRAG_BUFFER=2,WARP_SPECIALIZE=1,K=640"

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
  session = explorer_open(&(SessionOptions){.state = ROLES}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  canvas = canvas_new(arena, 40, 120, false);
  view_show(session, view_find("pipeline"));
  drive_frame(session, canvas);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
}

static void reopen(const char *ladder, const char *rung) {
  explorer_close(session);
  session = explorer_open(&(SessionOptions){.ladder = ladder, .rung = rung}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  view_show(session, view_find("pipeline"));
  drive_frame(session, canvas);
}

static const PipelineOwn *own(void) { return view_own(session, &pipeline_view); }

// With all that a key began.
static void press(const char *keys) {
  ck_assert_msg(drive_keys(session, canvas, keys, &diags), "%s", keys);
  drive_wait(session);
  drive_frame(session, canvas);
}

static void command(const char *text) {
  ck_assert_msg(view_table[session->at.view].body->command(session, text, &diags), "%s",
                diags_text(arena, &diags));
  drive_wait(session);
  drive_frame(session, canvas);
}

// Every event of a lane is come by, forwards and backwards, and each stays on the screen.
START_TEST(steps_event_by_event) {
  press("Home");
  int n = own()->now.lane[own()->lane].n;
  ck_assert_int_gt(n, 20);
  for (int i = 1; i < n; i++) {
    double before = pipeline_event(own())->begin;
    press("Right");
    const TimelineEvent *e = pipeline_event(own());
    ck_assert_int_eq(own()->at, i);
    ck_assert(e->begin >= before && e->begin >= own()->from);
  }
  press("Right");
  ck_assert_int_eq(own()->at, n - 1);
  press("Left");
  ck_assert_int_eq(own()->at, n - 2);
}
END_TEST

static bool has_lane(int warp) {
  for (int i = 0; i < own()->now.n; i++)
    if (own()->now.lane[i].kind == LANE_WARPS && own()->now.lane[i].warp == warp) return true;
  return false;
}

// By time, whichever warp's: no event of a warp's lane is left out.
START_TEST(steps_through_all_warps) {
  enum { STEPS = 200 };
  press("Home");
  const TimelineEvent *e = pipeline_event(own());
  const TimelineEvent *end = own()->now.timeline->event + own()->now.timeline->n_events;
  for (int i = 0; i < STEPS; i++) {
    do e++;
    while (e < end && !has_lane(e->warp));
    press(".");
    ck_assert_ptr_eq(pipeline_event(own()), e);
  }
  press(",");
  ck_assert(pipeline_event(own()) < e);
}
END_TEST

START_TEST(leads_to_the_statement) {
  const Stmt *stmt = pipeline_event(own())->stmt;
  press("Enter");
  ck_assert_str_eq(view_table[session->at.view].name, "loops");
  const ProgramLine *line = &session_model(session)->text.line[session_view_state(session)->cursor];
  ck_assert_ptr_eq(line->stmt, stmt);
  view_show(session, view_find("pipeline"));
  drive_frame(session, canvas);
  press("e");
  ck_assert_str_eq(view_table[session->at.view].name, "source");
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "mma_m16n8k16"));
}
END_TEST

// Without overlap the block takes longer, and slabs are filled and read in turn.
START_TEST(sequential_is_slower) {
  press("v");
  ck_assert_ptr_nonnull(own()->beside.timeline);
  ck_assert(own()->beside.timeline->all_clocks > 1.2 * own()->now.timeline->all_clocks);
  ck_assert_int_eq(own()->beside.timeline->ring[0].n_slots, 1);
  press("v");
  ck_assert_ptr_null(own()->beside.timeline);
  ck_assert(
      session_set_text(session, "TMA=0,WARP_SPECIALIZE=0,UNROLL_RING=0,BUFFER_COUNT=1", &diags));
  drive_frame(session, canvas);
  press("v");
  ck_assert_ptr_null(own()->beside.timeline);
  ck_assert_str_ne(session->prompt.message, "");
}
END_TEST

// What hangs on roles goes with them; where the rest is not legal alone, the rule says why.
START_TEST(sequential_without_what_hangs_on_roles) {
  reopen("blackwell", "two_sets");
  press("v");
  ck_assert_ptr_nonnull(own()->beside.timeline);
  ck_assert_str_eq(own()->beside.title, "ACC_BUFFERS=1,WARP_SPECIALIZE=0,BUFFER_COUNT=1");
  // More blocks fit on an SM and each has fewer tiles, so that a tile's time is what to compare.
  ck_assert_int_lt(own()->beside.timeline->n_tiles, own()->now.timeline->n_tiles);
  const char *text = export_text(arena, canvas);
  ck_assert_msg(strstr(text, "clk, 19924 a tile (est.)"), "%s", text);
  reopen("blackwell", "consumers");
  press("v");
  ck_assert_ptr_nonnull(own()->beside.timeline);
  reopen("hopper", "tail");
  press("v");
  ck_assert_ptr_null(own()->beside.timeline);
  ck_assert_ptr_nonnull(strstr(session->prompt.message, "TILE_ORDER=gpc without WARP_SPECIALIZE"));
}
END_TEST

// The second tile of a block is where its sums would be overwritten.
START_TEST(a_breakage_between_tiles_is_judged_on_two_of_them) {
  reopen("blackwell", "two_sets");
  command("break tensor_reuse");
  ck_assert_int_lt(own()->verdict.kind, FINDING_COUNT);
  command("break tensor_before");
  ck_assert_int_lt(own()->verdict.kind, FINDING_COUNT);
  command("break off");
}
END_TEST

START_TEST(a_deadlock_says_who_waits_for_whom) {
  command("break more_bytes");
  const TimelineEvent *e = pipeline_event(own());
  ck_assert(e->stuck);
  ck_assert_str_eq(e->bar.buffer->name, "full");
  ck_assert_int_gt(own()->now.timeline->n_stuck, 4);
  ck_assert_int_eq(own()->verdict.kind, FINDING_DEADLOCK);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "waits for ever full[0]"));
  command("break off");
  ck_assert_int_eq(own()->now.timeline->n_stuck, 0);
}
END_TEST

// Where all wait for ever from the beginning on, each lane says for what.
START_TEST(who_waits_for_ever_says_for_what) {
  command("break empty_phase");
  const char *text = export_text(arena, canvas);
  ck_assert_ptr_nonnull(strstr(text, "empty[0] phase 0"));
  ck_assert_ptr_nonnull(strstr(text, "full[0] phase 0"));
}
END_TEST

// The list is that of what is shown, broken or not; Enter leads to the statement of a line.
START_TEST(the_checklist_follows_the_breakage) {
  press("i");
  ck_assert_int_eq(own()->checklist.skeleton->n_bad, 0);
  command("break empty_phase");
  const Checklist *list = &own()->checklist;
  ck_assert_int_eq(list->skeleton->n_bad, 1);
  const SkeletonLine *line = &list->skeleton->line[own()->line];
  ck_assert_int_eq(line->state, SKELETON_WRONG);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "empty is asked for phase 0"));
  press("Enter");
  ck_assert_str_eq(view_table[session->at.view].name, "loops");
  const ProgramLine *at = &session_model(session)->text.line[session_view_state(session)->cursor];
  ck_assert_int_eq(at->stmt->id, line->at->id);
}
END_TEST

static const char *const lists[][2] = {
    {"hopper", "gpc"}, {"attention", "overlap"}, {"blackwell", "pair"}, {"hgemm", "roles"}};

// A line has fallen, or the list says that none is about the breakage: never that all is well.
static void tells_of(const Model *model, BreakageId id) {
  const Program *broken = program_break(arena, model->program, id);
  if (!broken) return;
  const char *name = breakage_name(id);
  const Checklist list = pipeline_checklist(arena, model, broken, name);
  canvas_clear(canvas);
  checklist_draw(canvas, canvas_rect(canvas), &list, checklist_first_bad(&list));
  const char *text = export_text(arena, canvas);
  const char *said =
      arena_printf(arena, list.skeleton->n_bad ? "ok  broken: %s " : "ok; none is about %s ", name);
  ck_assert_msg(strstr(text, said) != NULL, "no \"%s\" in\n%s", said, text);
}

START_TEST(no_breakage_leaves_all_well) {
  reopen(lists[_i][0], lists[_i][1]);
  const Model *model = session_model(session);
  const Checklist whole = pipeline_checklist(arena, model, model->program, NULL);
  ck_assert(whole.skeleton->n_bad == 0 && !checklist_no_line_about(&whole));
  canvas_resize(canvas, 24, 80);
  for (int b = 0; b < BREAK_COUNT; b++) tells_of(model, (BreakageId)b);
}
END_TEST

START_TEST(a_race_marks_its_statements) {
  command("break empty_wait");
  ck_assert_int_eq(own()->verdict.kind, FINDING_RACE);
  bool found = false;
  for (int i = 0; i < own()->now.timeline->n_events; i++)
    found = found || own()->now.timeline->event[i].stmt->id == own()->verdict.stmt[0];
  ck_assert(found);
  ck_assert(!view_table[session->at.view].body->command(session, "break no_such_fault", &diags));
}
END_TEST

// A symptom's name is the next breakage that shows it, and only such ones.
START_TEST(a_symptom_steps_through_its_breakages) {
  for (int i = 0; i < 3; i++) {
    command("break hangs");
    ck_assert_ptr_nonnull(own()->verdict.name);
    ck_assert(breakage_seen(own()->verdict.id) & SEEN_HANGS);
  }
  const BreakageId third = own()->verdict.id;
  command("break hangs");
  ck_assert_int_ne(own()->verdict.id, third);
  command("break off");
}
END_TEST

// x goes through all that this program has something for, and back to none.
START_TEST(every_breakage_is_shown) {
  int seen = 0;
  press("x");
  for (; own()->broken; seen++) {
    ck_assert_ptr_nonnull(own()->verdict.name);
    ck_assert_str_ne(own()->verdict.text, "");
    press("x");
  }
  ck_assert_int_ge(seen, 15);
}
END_TEST

// A column on, whatever the lane; each role is said once, and the chain begins at the cursor's
// lane.
START_TEST(the_cursor_of_time_goes_through_all_lanes) {
  press("Home");
  const double before = own()->clock;
  press("> > >");
  ck_assert(fabs(own()->clock - before - 3 * own()->scale) < 1e-6);
  const double at = own()->clock;
  press("Down Down");
  ck_assert(own()->clock == at);
  const char *text = export_text(arena, canvas);
  ck_assert_ptr_nonnull(strstr(text, arena_printf(arena, "at clock %.0f: ", at)));
  ck_assert_ptr_nonnull(strstr(text, "waits for"));
  press("<");
  ck_assert(fabs(own()->clock - at + own()->scale) < 1e-6);
}
END_TEST

START_TEST(space_lets_time_go_on) {
  const struct timespec pause = {0, 10000000};
  press("Home Space");
  const double before = own()->clock;
  ck_assert_int_eq(views_wait(session), VIEW_WATCHES);
  for (int i = 0; i < 500 && own()->clock <= before; i++) {
    nanosleep(&pause, NULL);
    views_poll(session);
  }
  ck_assert(own()->clock > before);
  press("Space");
  ck_assert_int_eq(views_wait(session), VIEW_WAITS_NOT);
}
END_TEST

// Each breakage of the list is one of the program's; Enter takes the one that the cursor is at.
START_TEST(breakages_are_listed) {
  press("B");
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "BREAKAGES  0 of "));
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "B close  Enter break it"));
  const int n = own()->n_ways;
  ck_assert_int_ge(n, 15);
  for (int i = 0; i < n; i++)
    ck_assert_ptr_nonnull(program_break(arena, session_model(session)->program, own()->way[i]));
  press("Down Down Enter");
  ck_assert_int_eq(own()->broken, (int)own()->way[1] + 1);
  const char *said = arena_printf(arena, "broken, 2 of %d: %s", n, breakage_name(own()->way[1]));
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), said));
  press("B Home Enter");
  ck_assert_int_eq(own()->broken, 0);
}
END_TEST

START_TEST(a_wait_leads_to_its_barrier) {
  press("r");
  ck_assert_int_eq(session->at.view, view_find("memory"));
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), " MBARRIERS "));
}
END_TEST

START_TEST(a_deadlock_is_told_from_its_root) {
  command("break more_arrivals");
  const char *text = export_text(arena, canvas);
  ck_assert_ptr_nonnull(strstr(text, "deadlock: "));
  ck_assert_ptr_nonnull(strstr(text, "which would end that, waits for empty["));
  ck_assert_ptr_nonnull(strstr(text, "expects 9 arrivals and gets 8"));
}
END_TEST

START_TEST(the_recorded_time_stands_beside) {
  reopen("hopper", "consumers");
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), " (est.); recorded: "));
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "; stand-in: "));
}
END_TEST

static const Lane *unit_lane(int rank) {
  for (int i = 0; i < own()->now.n; i++) {
    const Lane *lane = &own()->now.lane[i];
    if (lane->kind == LANE_UNIT && lane->rank == rank && lane->kinds >> TIMELINE_MULTIPLY & 1)
      return lane;
  }
  ck_abort_msg("no multipliers of CTA %d", rank);
}

// The share of the time from the first product's begin to the end of the products of so many slabs.
static double busy_share(const Lane *lane, int64_t slabs) {
  double busy = 0, end = 0;
  for (int i = 0; i < lane->n; i++) {
    if (lane->event[i]->slab >= slabs) break;
    busy += timeline_unit_clocks(lane->event[i]);
    end = fmax(end, lane->event[i]->end);
  }
  return busy / (end - lane->event[0]->work);
}

// One thread's product takes all of a tensor core, and a pair's takes those of both CTAs: where
// products follow each other, 512 clocks are 512 of the unit's own.
START_TEST(a_product_of_one_thread_fills_its_unit) {
  static const struct {
    const char *rung;
    int ctas;
  } rungs[] = {{"roles", 1}, {"pair", 2}, {"consumers", 2}};
  for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
    reopen("blackwell", rungs[i].rung);
    for (int rank = 0; rank < rungs[i].ctas; rank++) {
      const double share = busy_share(unit_lane(rank), 4);
      ck_assert_msg(share > 0.97 && share < 1.001, "%s, CTA %d: %g", rungs[i].rung, rank, share);
    }
  }
  const char *tensor = strstr(export_text(arena, canvas), "1:tensor ");
  ck_assert_ptr_nonnull(tensor);
  tensor = arena_printf(arena, "%.*s", (int)strcspn(tensor, "\n"), tensor);
  ck_assert_msg(strstr(tensor, "████████") != NULL && !strstr(tensor, "▃"), "%s", tensor);
}
END_TEST

// A warp has a quarter of the multipliers: those of four warps come to one unit and not to more.
START_TEST(a_product_of_a_warp_fills_a_quarter) {
  const double share = busy_share(unit_lane(0), 4);
  ck_assert_msg(share > 0.5 && share < 1.001, "%g", share);
}
END_TEST

// A rung that nobody timed says how the clocks of its block come to the number of the head.
START_TEST(the_block_alone_and_the_stand_in_are_told_together) {
  reopen("blackwell", "pair");
  const TimelineWhole whole = timeline_whole(own()->now.timeline, session_model(session));
  ck_assert_double_eq_tol(whole.ns, whole.clocks * whole.rounds / whole.mhz * 1e3, 1e-6);
  ck_assert_double_eq_tol(whole.rounds, 1, 1e-9);
  const Estimate estimate = session_estimate(session, session->doc.now.picture->estimate);
  const double ns = estimate_ns(&estimate, session_model(session));
  const char *said = arena_printf(
      arena, "one block %.0f clk × 1 round at %.0f MHz: %.1f µs (est.); stand-in: %.0f µs.",
      whole.clocks, whole.mhz, whole.ns * 1e-3, ns * 1e-3);
  const char *screen = export_text(arena, canvas);
  ck_assert_msg(strstr(screen, said) != NULL, "%s\n%s", said, screen);
  ck_assert_ptr_nonnull(strstr(screen, "The stand-in lets latency ("));
  ck_assert_ptr_nonnull(strstr(screen, "The block alone counts no L2."));
  Canvas *large = canvas, *small = canvas_new(arena, 24, 80, false);
  canvas = small;
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "(est.); stand-in: "));
  canvas = large;
}
END_TEST

Suite *suite_pipeline_view(void) {
  enum { N_LISTS = sizeof lists / sizeof *lists };
  Suite *suite = suite_create("pipeline_view");
  TCase *tests = tcase_create("pipeline_view");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, steps_event_by_event);
  tcase_add_test(tests, steps_through_all_warps);
  tcase_add_test(tests, leads_to_the_statement);
  tcase_add_test(tests, sequential_is_slower);
  tcase_add_test(tests, sequential_without_what_hangs_on_roles);
  tcase_add_test(tests, a_breakage_between_tiles_is_judged_on_two_of_them);
  tcase_add_test(tests, a_deadlock_says_who_waits_for_whom);
  tcase_add_test(tests, the_cursor_of_time_goes_through_all_lanes);
  tcase_add_test(tests, space_lets_time_go_on);
  tcase_add_test(tests, breakages_are_listed);
  tcase_add_test(tests, a_wait_leads_to_its_barrier);
  tcase_add_test(tests, a_deadlock_is_told_from_its_root);
  tcase_add_test(tests, the_recorded_time_stands_beside);
  tcase_add_test(tests, a_product_of_one_thread_fills_its_unit);
  tcase_add_test(tests, a_product_of_a_warp_fills_a_quarter);
  tcase_add_test(tests, the_block_alone_and_the_stand_in_are_told_together);
  tcase_add_test(tests, a_race_marks_its_statements);
  tcase_add_test(tests, a_symptom_steps_through_its_breakages);
  tcase_add_test(tests, who_waits_for_ever_says_for_what);
  tcase_add_test(tests, the_checklist_follows_the_breakage);
  stress_add_turns(tests, no_breakage_leaves_all_well, N_LISTS, 9);
  tcase_add_test(tests, every_breakage_is_shown);
  suite_add_tcase(suite, tests);
  return suite;
}
