// Runs with values on a thread of the pipeline view: what is shown while one is under way, and what
// once it is there. Under ThreadSanitizer too.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/stmt.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

Suite *suite_pipeline_trial(void);

static Arena *arena;
static Diags diags;
static Session *session;
static Canvas *canvas;

static void open_rung(const char *ladder, const char *rung) {
  session = explorer_open(&(SessionOptions){.ladder = ladder, .rung = rung}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  view_show(session, view_find("pipeline"));
  drive_frame(session, canvas);
}

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
  canvas = canvas_new(arena, 40, 120, false);
}

static void teardown(void) {
  explorer_close(session);
  arena_free(arena);
}

static const PipelineOwn *own(void) { return view_own(session, &pipeline_view); }

static void settle(void) {
  drive_wait(session);
  drive_frame(session, canvas);
}

static void command(const char *text) {
  ck_assert_msg(view_table[session->at.view].body->command(session, text, &diags), "%s",
                diags_text(arena, &diags));
  settle();
}

static void press_alone(const char *keys) {
  ck_assert_msg(drive_keys(session, canvas, keys, &diags), "%s", keys);
  drive_frame(session, canvas);
}

// A run with values of a pair with two consumers takes a second: it goes on beside, the last
// question asked is the one that is answered, and a rung that is left asks for nothing.
START_TEST(no_key_waits_for_a_run_with_values) {
  open_rung("blackwell", "consumers");
  press_alone("x");
  ck_assert(trial_is_under_way(own()->trial));
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "a run with values is under way"));
  press_alone("x");
  press_alone("x");
  const char *asked = own()->verdict.name;
  drive_wait(session);
  drive_frame(session, canvas);
  ck_assert(!trial_is_under_way(own()->trial));
  ck_assert_str_eq(own()->verdict.name, asked);
  ck_assert_ptr_null(strstr(export_text(arena, canvas), "a run with values is under way"));
  const PipelineVerdict before = own()->verdict;
  press_alone("w");  // the same question again: its answer is known
  ck_assert_ptr_eq(own()->verdict.text, before.text);
  press_alone("X");
  command("break off");
  ck_assert_ptr_null(own()->verdict.name);
}
END_TEST

// The cursor goes to what is found, unless somebody has moved it meanwhile.
START_TEST(a_finding_leads_the_cursor) {
  open_rung("blackwell", "roles");
  press_alone("x");
  press_alone("Right");
  const int lane = own()->lane, at = own()->at;
  drive_wait(session);
  ck_assert(own()->lane == lane && own()->at == at);
  command("break off");
  int led = 0;
  for (int i = 0; i < 3; i++) {
    press_alone("x");
    settle();
    const TimelineEvent *e = pipeline_event(own());
    const bool there = e->stuck || e->stmt->id == own()->verdict.stmt[0];
    ck_assert(there || (own()->lane == 0 && own()->at == 0));
    led += there;
  }
  ck_assert_int_ge(led, 1);
}
END_TEST

// The session may be closed, or be about another rung, while a run goes on.
START_TEST(a_run_is_left_behind) {
  open_rung("blackwell", "consumers");
  press_alone("x");
  session_go_rung(session, session->doc.rung - 1);
  drive_frame(session, canvas);
  settle();
  ck_assert(!trial_is_under_way(own()->trial));
  press_alone("x");
  ck_assert(trial_is_under_way(own()->trial));
}
END_TEST

Suite *suite_pipeline_trial(void) {
  Suite *suite = suite_create("pipeline_trial");
  TCase *tests = tcase_create("pipeline_trial");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, no_key_waits_for_a_run_with_values);
  tcase_add_test(tests, a_finding_leads_the_cursor);
  tcase_add_test(tests, a_run_is_left_behind);
  suite_add_tcase(suite, tests);
  return suite;
}
