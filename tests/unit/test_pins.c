// Pinned views: where they stand, that they follow each key, that no size breaks them, and that a
// click exchanges one with the view at hand.
#include "tui/frame/explorer.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "stress.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/pins.h"
#include "tui/frame/view.h"

// Behind the others: its names are short.
#include "screen_harness.h"

static void setup(void) {
  screen_setup(&(SessionOptions){.ladder = "hopper", .rung = "consumers"}, 60, 200);
}

static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

static void resize(int rows, int cols) {
  canvas_resize(canvas, rows, cols);
  drive_frame(session, canvas);
}

START_TEST(they_stand_where_there_is_room) {
  pins_set(session, view_find("pipeline"));
  pins_set(session, view_find("memory"));
  resize(60, 200);
  ck_assert(shows("│─ pipeline ") && shows("│─ memory ") && shows("LIMIT"));
  resize(50, 160);
  ck_assert(shows("│─ pipeline ") && !shows("│─ memory ") && shows("LIMIT"));
  resize(50, 159);
  ck_assert(!shows("─ pipeline ") && shows("LIMIT"));
  resize(60, 200);
  keys("?");  // help has the screen to itself, and so has a lesson
  ck_assert(!shows("─ pipeline "));
  keys("? P");  // the view at hand does not stand beside itself
  ck_assert(!shows("─ pipeline ") && shows("│─ memory "));
}
END_TEST

START_TEST(they_follow) {
  keys(": p i n Space p i p e l i n e Enter K b u f f Enter");
  ck_assert_msg(shows(" slot 3 "), "%s", "four slots");
  keys("(");
  ck_assert(!shows(" slot 3 ") && shows(" slot 2 "));
  ck_assert_int_eq(session->at.view, view_find("explore"));
  keys("|");
  ck_assert(!shows("─ pipeline "));
  keys("P 1 |");  // without a name the view that was shown before
  ck_assert(shows("│─ pipeline "));
}
END_TEST

START_TEST(a_click_exchanges_them) {
  pins_set(session, view_find("memory"));
  resize(60, 200);
  Event click = {.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .row = 20, .col = 150};
  ck_assert(drive_event(session, canvas, &click, &diags));
  ck_assert_int_eq(session->at.view, view_find("memory"));
  ck_assert(pins_has(session, view_find("explore")) && !pins_has(session, view_find("memory")));
  ck_assert(shows("│─ explore "));
}
END_TEST

// Until the user pins or hides something a view that would leave half of the screen empty has
// companions: explore first, then the pipeline or the grid.
START_TEST(a_wide_screen_is_not_half_empty) {
  session->at.pins_chosen = false;
  keys("8");
  resize(40, 159);
  ck_assert(!shows("─ explore "));
  resize(50, 160);
  ck_assert(shows("│─ explore ") && shows("‹ FM 1 ›"));
  resize(60, 200);
  ck_assert(shows("│─ explore ") && shows("│─ pipeline "));
  keys("1");
  ck_assert(shows("│─ pipeline ") && shows("│─ grid "));
  keys("c");  // A|B has the columns
  ck_assert(!shows("─ pipeline "));
  keys("c 4");  // long lines, too
  ck_assert(!shows("─ explore "));
  keys("8 |");  // hidden, and they stay hidden
  ck_assert(!shows("─ explore "));
  keys("P");
  ck_assert(!shows("─ explore "));
  keys(": p i n Space m e m o r y Enter");  // the user's choice is alone
  ck_assert(shows("│─ memory ") && !shows("─ explore "));
}
END_TEST

// State that a view kept of its own between frames is not that of its pinned twin.
START_TEST(the_view_at_hand_is_as_it_is_alone) {
  for (int view = 0; view < view_count; view++) {
    if (!pins_takes(view)) continue;
    view_show(session, view);
    pins_none(session);
    resize(60, 100);
    const char *alone = export_row(arena, canvas, 5);
    const int cols = session->cols;
    for (int pin = 0; pin < view_count; pin++) {
      pins_none(session);
      pins_set(session, pin);
      resize(60, 200);
      ck_assert_int_eq(session->cols, pins_takes(pin) && pin != view ? cols : 200);
      ck_assert_int_eq(session->at.view, view);
      if (session->cols != cols) continue;
      const char *beside = export_row(arena, canvas, 5);
      ck_assert_msg(strncmp(alone, beside, strlen(alone)) == 0, "%s beside %s:\n%s\n%s",
                    view_table[view].name, view_table[pin].name, alone, beside);
    }
  }
}
END_TEST

// 10,000 of them in make stress.
START_TEST(any_size_will_do) {
  uint64_t random = 7;
  for (int i = 0; i < stress_count(150, 10000); i++) {
    if (i % 10 == 0) {
      pins_none(session);
      session->at.pins_chosen = i % 20 == 0;
      if (session->at.pins_chosen)
        pins_set(session, (int)random_between(&random, 0, view_count - 1));
      if (session->at.pins_chosen)
        pins_set(session, (int)random_between(&random, 0, view_count - 1));
      view_show(session, (int)random_between(&random, 0, view_count - 1));
      session_go_rung(session, (int)random_between(&random, 0, session->doc.ladder->n_rungs - 1));
    }
    resize((int)random_between(&random, 1, 80), (int)random_between(&random, 1, 260));
  }
}
END_TEST

Suite *suite_pins(void);
Suite *suite_pins(void) {
  Suite *suite = suite_create("pins");
  TCase *tcase = tcase_create("pins");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, stress_is_on() ? 3600 : 120);
  tcase_add_test(tcase, they_stand_where_there_is_room);
  tcase_add_test(tcase, they_follow);
  tcase_add_test(tcase, a_click_exchanges_them);
  tcase_add_test(tcase, a_wide_screen_is_not_half_empty);
  tcase_add_test(tcase, the_view_at_hand_is_as_it_is_alone);
  tcase_add_test(tcase, any_size_will_do);
  suite_add_tcase(suite, tcase);
  return suite;
}
