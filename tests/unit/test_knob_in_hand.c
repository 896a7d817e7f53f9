// The knob in hand: one pair of keys turns it in every view, another key takes another one; and the
// menu above the prompt.
#include "tui/frame/explorer.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/tutor.h"
#include "tui/frame/view.h"

// Behind the others: its names are short.
#include "screen_harness.h"

static void setup(void) {
  screen_setup(&(SessionOptions){.ladder = "hopper", .rung = "consumers"}, 40, 120);
}

static const char *row(int i) { return export_row(arena, canvas, i); }
static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

START_TEST(it_turns_in_every_view) {
  session_take_knob(session, KNOB_BUFFER_COUNT);
  for (int i = 0; i < view_count; i++) {
    if (i == view_find("help")) continue;
    view_show(session, i);
    drive_frame(session, canvas);
    ck_assert_msg(strstr(row(1), "‹ BUFFER_COUNT 4 ›") || i == view_find("own"), "%s: %s",
                  view_table[i].name, row(1));
    keys("(");
    ck_assert_msg(session->doc.now.schedule.value[KNOB_BUFFER_COUNT] == 3, "%s",
                  view_table[i].name);
    ck_assert_msg(shows("BUFFER_COUNT 4 → 3") || i == view_find("lesson"), "%s",
                  export_text(arena, canvas));
    keys(")");
    ck_assert_int_eq(session->doc.now.schedule.value[KNOB_BUFFER_COUNT], 4);
  }
}
END_TEST

// Lessons turn it by the same keys.
START_TEST(lessons_agree) {
  const Action *less = view_find_action(session, "knob-less");
  ck_assert_ptr_nonnull(less);
  for (int i = 0; i < view_count; i++) {
    ck_assert_str_eq(keymap_action(session->keymap, view_table[i].name, '('), "knob-less");
    ck_assert_str_eq(keymap_action(session->keymap, view_table[i].name, ')'), "knob-more");
    ck_assert_str_eq(keymap_action(session->keymap, view_table[i].name, 'K'), "knob");
  }
}
END_TEST

START_TEST(another_is_taken_by_its_name) {
  keys("P K b u f");
  ck_assert_msg(shows(" BUFFER_COUNT "), "%.2500s", export_text(arena, canvas));
  keys("Enter");
  ck_assert_int_eq(session->at.knob, KNOB_BUFFER_COUNT);
  ck_assert(strstr(row(1), "‹ BUFFER_COUNT 4 ›") != NULL);
  keys("K k _ o r d e r Enter");  // an alias or a word of the help will do
  ck_assert_str_eq(knob_table[session->at.knob].name, "SERPENTINE_K");
  keys("K Esc");
  ck_assert_str_eq(knob_table[session->at.knob].name, "SERPENTINE_K");
  keys("K z z z Enter");
  ck_assert(shows("no knob has \"zzz\""));
  keys(": k n o b Space W M Enter");
  ck_assert_int_eq(session->at.knob, KNOB_WM);
}
END_TEST

START_TEST(a_click_on_the_title_turns_it) {
  session_take_knob(session, KNOB_BUFFER_COUNT);
  keys("P");
  const char *line = row(1), *at = strstr(line, "‹");
  int col = 0;
  for (const char *c = line; c < at; c++) col += (*c & 0xC0) != 0x80;
  Event click = {.kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .row = 1, .col = col};
  ck_assert(drive_event(session, canvas, &click, &diags));
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_BUFFER_COUNT], 3);
}
END_TEST

// ---- the menu -----------------------------------------------------------------------------------

START_TEST(tab_goes_through_the_offers) {
  keys(": e x");
  ck_assert_msg(shows(" explore  knobs on their loops"), "%.2500s", export_text(arena, canvas));
  keys("Tab");
  ck_assert_str_eq(session->prompt.field.text, "exp");
  keys("Tab");
  ck_assert_str_eq(session->prompt.field.text, "export");
  keys("Tab");
  ck_assert_str_eq(session->prompt.field.text, "explore");
  keys("S-Tab");
  ck_assert_str_eq(session->prompt.field.text, "export");
  keys("Space");
  ck_assert_msg(shows("export FILE: save the kernel as a standalone .cu"), "%s",
                export_text(arena, canvas));
  keys("Esc : r u n g Space c o n s");
  ck_assert(shows(" consumers  "));
  keys("Esc P : b r e a k Space l a s t");  // breakages are chosen from a list
  ck_assert_msg(shows(" last_slab  "), "%.2500s", export_text(arena, canvas));
}
END_TEST

Suite *suite_knob_in_hand(void);
Suite *suite_knob_in_hand(void) {
  Suite *suite = suite_create("knob_in_hand");
  TCase *tcase = tcase_create("knob_in_hand");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, it_turns_in_every_view);
  tcase_add_test(tcase, lessons_agree);
  tcase_add_test(tcase, another_is_taken_by_its_name);
  tcase_add_test(tcase, a_click_on_the_title_turns_it);
  tcase_add_test(tcase, tab_goes_through_the_offers);
  suite_add_tcase(suite, tcase);
  return suite;
}
