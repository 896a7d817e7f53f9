// Where copies may stand: what the interpreter says of every place, held against barriers and waits
// counted by hand.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "emit_cases.h"
#include "golden.h"
#include "model/interp/load_places.h"
#include "model/ir/rewrite.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"

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
      for (Stmt *at = slab_loop(moved)->body; at; at = at->next) n++;
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
  suite_add_tcase(suite, tests);
  return suite;
}
