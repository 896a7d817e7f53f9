// The pipeline view's key for every order: proved, or the witness step by step; under way
// meanwhile, and given up.
#include <string.h>

#include "base/clock.h"
#include "screen_harness.h"
#include "stress.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

Suite *suite_pipeline_orders(void);

static void setup(void) {
  screen_setup(&(SessionOptions){.ladder = "hopper", .rung = "roles"}, 40, 120);
  view_show(session, view_find("pipeline"));
  drive_frame(session, canvas);
}

static const char *screen(void) { return export_text(arena, canvas); }

static void press(const char *keys) {
  const double began = clock_seconds();
  ck_assert_msg(drive_keys(session, canvas, keys, &diags), "%s", keys);
  ck_assert_msg(clock_seconds() - began < stress_wall(0.2), "%s took %g s", keys,
                clock_seconds() - began);
  drive_frame(session, canvas);
}

static void settle(void) {
  drive_wait(session);
  drive_frame(session, canvas);
}

START_TEST(a_rung_is_proved) {
  press("o");
  settle();
  ck_assert_msg(strstr(screen(), "proved"), "%s", screen());
  ck_assert_ptr_nonnull(strstr(screen(), "4 stages, up to 10 turns"));
  ck_assert_ptr_nonnull(strstr(screen(), "any number of slabs"));
  ck_assert_ptr_nonnull(strstr(screen(), "consumer 0"));  // the lanes are below, and go on
  const int lane = ((const PipelineOwn *)view_own(session, &pipeline_view))->lane;
  press("Down");
  ck_assert_int_eq(((const PipelineOwn *)view_own(session, &pipeline_view))->lane, lane + 1);
  press("Escape");
  ck_assert_ptr_null(strstr(screen(), "up to 10 turns"));
}
END_TEST

START_TEST(a_witness_is_stepped_through) {
  ck_assert(view_table[session->at.view].body->command(session, "break more_arrivals", &diags));
  press("o");
  settle();
  ck_assert_msg(strstr(screen(), "expects 5 arrivals and gets 4"), "%s", screen());
  ck_assert_ptr_nonnull(strstr(screen(), "tried, and then proved"));
  const PipelineOwn *own = view_own(session, &pipeline_view);
  const int last = own->step;
  ck_assert_int_eq(last, orders_count(own->orders) - 1);
  press("Up");
  ck_assert_int_eq(own->step, last - 1);
  press("Home");
  ck_assert_int_eq(own->step, 0);
  ck_assert_msg(strstr(screen(), "initialises full[0] for 1 arrivals"), "%s", screen());
}
END_TEST

START_TEST(a_search_is_given_up) {
  press("o");
  press("o");
  const PipelineOwn *own = view_own(session, &pipeline_view);
  ck_assert_int_ne(own->over, PIPELINE_EVERY_ORDER);
  settle();
  ck_assert(!orders_is_under_way(own->orders));
  press("o");
  settle();
  ck_assert_ptr_nonnull(strstr(screen(), "proved"));
}
END_TEST

Suite *suite_pipeline_orders(void) {
  Suite *suite = suite_create("pipeline_orders");
  TCase *tests = tcase_create("pipeline_orders");
  tcase_set_timeout(tests, 120);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_rung_is_proved);
  tcase_add_test(tests, a_witness_is_stepped_through);
  tcase_add_test(tests, a_search_is_given_up);
  suite_add_tcase(suite, tests);
  return suite;
}
