// The frame around the views, as somebody meets it who has never seen it: tabs that can be read,
// keys that answer, names in the singular and in the plural.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette.h"
#include "tui/frame/tutor.h"
#include "tui/frame/view.h"
#include "tui/views/places/tiles.h"

// Behind the others: its names are short.
#include "screen_harness.h"

static void setup(void) {
  screen_setup(&(SessionOptions){.ladder = "hgemm", .rung = "swizzle"}, 24, 80);
}

static bool run(const char *line) {
  bool ok = palette_run(session, line, &diags);
  drive_frame(session, canvas);
  return ok;
}

static const char *row(int at) {
  const char *text = export_text(arena, canvas);
  for (; at > 0; at--) text = strchr(text, '\n') + 1;
  return arena_strndup(arena, text, strcspn(text, "\n"));
}

static bool is_title(const char *word) {
  for (int i = 0; i < view_count; i++)
    if (str_equal(view_table[i].title, word)) return true;
  return str_equal(word, "gemmview");
}

// As many bytes as the view asks for, its own in every session; nothing where it asks for none.
START_TEST(a_view_keeps_its_own) {
  Session *other = explorer_open(&(SessionOptions){0}, &diags);
  ck_assert_ptr_nonnull(other);
  for (int i = 0; i < view_count; i++) {
    const ViewBody *body = view_table[i].body;
    ck_assert_int_eq(view_own(session, body) != NULL, body->state_bytes > 0);
    ck_assert(!body->state_bytes || view_own(session, body) != view_own(other, body));
  }
  tiles_of(session)->placed = true;
  drive_frame(session, canvas);
  ck_assert(tiles_of(session)->placed && !tiles_of(other)->placed);
  explorer_close(other);
}
END_TEST

// "0 less" and "4 sour" are no names of views.
START_TEST(tabs_are_whole_words_or_digits) {
  for (int view = 0; view < view_count; view++)
    for (int cols = 40; cols <= 140; cols++) {
      canvas_resize(canvas, 24, cols);
      view_show(session, view);
      drive_frame(session, canvas);
      bool here = false;
      for (const char *at = row(0); *(at += strspn(at, " "));) {
        const char *word = arena_strndup(arena, at, strcspn(at, " "));
        at += strlen(word);
        here |= str_equal(word, view_table[view].title);
        ck_assert_msg(strlen(word) == 1 || is_title(word), "%d columns: \"%s\"", cols, row(0));
      }
      ck_assert_msg(here, "%s at %d columns: \"%s\"", view_table[view].name, cols, row(0));
    }
}
END_TEST

START_TEST(unbound_keys_say_so) {
  keys("F12");
  ck_assert_str_eq(session->prompt.message, "F12 does nothing here; ? lists the keys");
  keys("9 Tab");
  ck_assert_str_eq(session->prompt.message, "");
  keys("4 F11");
  ck_assert_str_eq(session->prompt.message, "F11 does nothing here; ? lists the keys");
}
END_TEST

// Only the first key of a start without a wish; afterwards Enter is the view's own.
START_TEST(enter_on_a_fresh_start_leads_to_lessons) {
  session->prompt.fresh = true;
  keys("Enter");
  ck_assert_str_eq(view_table[session->at.view].name, "lesson");
  view_show(session, view_find("explore"));
  session->prompt.fresh = true;
  keys("Down Enter");
  ck_assert_str_eq(view_table[session->at.view].name, "banks");
}
END_TEST

START_TEST(help_opens_at_its_top) {
  keys("? G");
  ck_assert_int_gt(session_view_state(session)->cursor, 10);
  keys("q ?");
  ck_assert_int_eq(session_view_state(session)->cursor, 0);
}
END_TEST

static const struct {
  const char *line, *view;
} named[] = {
    {"bank", "banks"},         {"banks", "banks"},      {"view loop", "loops"},
    {"fragment", "fragments"}, {"lessons", "lesson"},   {"tile", "tiles"},
    {"view grids", "grid"},    {"Measures", "measure"}, {"view sources", "source"},
};

START_TEST(views_have_a_singular_and_a_plural) {
  ck_assert_msg(run(named[_i].line), "%s", named[_i].line);
  ck_assert_str_eq(view_table[session->at.view].name, named[_i].view);
}
END_TEST

START_TEST(a_plural_is_no_way_around_a_name) {
  ck_assert_int_eq(view_find("s"), -1);
  ck_assert_int_eq(view_find(""), -1);
  ck_assert_int_eq(view_find("bankss"), -1);
}
END_TEST

START_TEST(a_rung_may_name_its_ladder) {
  ck_assert(run("rung fp32/0"));
  ck_assert_str_eq(session->doc.ladder->name, "fp32");
  ck_assert_int_eq(session->doc.rung, 0);
  ck_assert(run("rung hgemm/swizzle"));
  ck_assert_str_eq(session->doc.ladder->name, "hgemm");
  ck_assert_str_eq(session_rung(session)->name, "swizzle");
  ck_assert(run("undo"));
  ck_assert_str_eq(session->doc.ladder->name, "fp32");  // there and back is one step each
  ck_assert_int_eq(session->doc.rung, 0);
  ck_assert(run("redo"));
  ck_assert(run("compare fp32/0"));
  ck_assert_str_eq(session->doc.then_name, "fp32 rung 0 naive");
  ck_assert(!run("rung fp32/nothing"));
  ck_assert(!run("rung nothing/0"));
}
END_TEST

START_TEST(an_element_is_found_from_everywhere) {
  ck_assert(run("element A[130][21]"));
  ck_assert_str_eq(view_table[session->at.view].name, "tiles");
  ck_assert_int_eq(tiles_of(session)->at.i, 130);
  ck_assert_int_eq(tiles_of(session)->at.k, 21);
  ck_assert(run("fragments"));
  ck_assert(run("element B[3][5]"));
  ck_assert_str_eq(view_table[session->at.view].name, "fragments");
  ck_assert(strstr(export_text(arena, canvas), "B[3][5]") != NULL);
  ck_assert(run("element 1,2"));
  ck_assert(strstr(export_text(arena, canvas), "B[1][2]") != NULL);
}
END_TEST

// The picture beside a lesson's text is the view, and takes its commands.
START_TEST(an_element_is_found_beside_a_lesson) {
  ck_assert(tutor_open(session, "fragments", 2, &diags));
  ck_assert(run("lesson"));
  tutor_reveal(session);
  ck_assert_str_eq(tutor_view(tutor_of(session)), "fragments");
  ck_assert(run("element A 5,6"));
  ck_assert_str_eq(view_table[session->at.view].name, "lesson");
  ck_assert(strstr(export_text(arena, canvas), "A[5][6]") != NULL);
}
END_TEST

// What a step would do is counted from the compiler's registers where FIT shows them.
START_TEST(neighbours_begin_where_fit_stands) {
  canvas_resize(canvas, 40, 120);
  ck_assert(run("rung fp32/padded"));
  ck_assert(run("explore"));
  session->at.knob = KNOB_BM;
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  const Resources *fit = &session_model(session)->resources;
  ck_assert(fit->counted);
  const char *text = export_text(arena, canvas);
  ck_assert(strstr(text, arena_printf(arena, ": %d registers", fit->n_registers)) != NULL);
  ck_assert_msg(strstr(text, arena_printf(arena, "registers %d → ", fit->n_registers)) != NULL,
                "%.700s", strstr(text, "LIMIT") ? strstr(text, "LIMIT") : "no LIMIT");
  ck_assert(strstr(text, "est. registers") == NULL);
}
END_TEST

// At 80 columns FIT names every limit, shortened where the whole name has no room.
START_TEST(fit_names_all_its_limits_at_80_columns) {
  const char *const rung[] = {"hopper/cluster", "blackwell/pair"};
  const char *const limits[] = {" regs, shared", ": shared, tensor"};
  canvas_resize(canvas, 24, 80);
  for (int i = 0; i < 2; i++) {
    ck_assert(run(arena_printf(arena, "rung %s", rung[i])));
    while (session_idle(session)) {
    }
    drive_frame(session, canvas);
    ck_assert_msg(strstr(export_text(arena, canvas), limits[i]) != NULL, "%s", rung[i]);
  }
}
END_TEST

// ---- the story of a rung ------------------------------------------------------------------------

static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

static void settle(void) {
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
}

// Who has just come to a rung reads what it is about, beside what to try; who moves on, the knob.
START_TEST(the_story_is_told_on_arrival) {
  ck_assert(run("rung fp32/padded"));
  session->prompt.message[0] = '\0';
  settle();
  ck_assert(
      shows("\n Four more floats at the end of each slab row move the rows to other banks: the\n"
            " store that walks down a column falls from four-way to two-way.\n try "));
  keys("Down");
  ck_assert(!shows("Four more floats"));
  ck_assert(shows("\n try "));
  keys("[ ]");
  ck_assert(shows("Four more floats"));
}
END_TEST

// An edit may take away what the story speaks of; another size does not.
START_TEST(an_edit_ends_the_story) {
  ck_assert(run("rung fp32/padded"));
  canvas_resize(canvas, 40, 120);
  settle();
  ck_assert(shows("Four more floats"));
  ck_assert(run("M=2048"));
  ck_assert(shows("Four more floats"));
  ck_assert(run("PAD_SMEM=0"));
  ck_assert(!shows("Four more floats"));
  ck_assert(shows("since rung 11: M 4096 → 2048, PAD_SMEM 4 → 0"));
}
END_TEST

START_TEST(a_far_schedule_has_no_name_of_a_rung) {
  ck_assert(run("rung fp32/tiers"));
  ck_assert(run("ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=4,FM=4,FN=4,BUFFER_COUNT=3"));
  ck_assert_msg(strstr(row(1), " fp32 · own schedule, 7 knobs from rung 1 "), "%s", row(1));
  ck_assert(!shows("blocks and threads"));
  ck_assert(!shows("m and n are cut in two"));
  ck_assert(run("undo"));
  ck_assert(strstr(row(1), " · 1 of ") != NULL);
}
END_TEST

Suite *suite_frame(void);
Suite *suite_frame(void) {
  Suite *suite = suite_create("frame");
  TCase *tc = tcase_create("frame");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, a_view_keeps_its_own);
  tcase_add_test(tc, tabs_are_whole_words_or_digits);
  tcase_add_test(tc, unbound_keys_say_so);
  tcase_add_test(tc, enter_on_a_fresh_start_leads_to_lessons);
  tcase_add_test(tc, help_opens_at_its_top);
  tcase_add_loop_test(tc, views_have_a_singular_and_a_plural, 0, sizeof named / sizeof *named);
  tcase_add_test(tc, a_plural_is_no_way_around_a_name);
  tcase_add_test(tc, a_rung_may_name_its_ladder);
  tcase_add_test(tc, an_element_is_found_from_everywhere);
  tcase_add_test(tc, an_element_is_found_beside_a_lesson);
  tcase_add_test(tc, neighbours_begin_where_fit_stands);
  tcase_add_test(tc, fit_names_all_its_limits_at_80_columns);
  tcase_add_test(tc, the_story_is_told_on_arrival);
  tcase_add_test(tc, an_edit_ends_the_story);
  tcase_add_test(tc, a_far_schedule_has_no_name_of_a_rung);
  suite_add_tcase(suite, tc);
  return suite;
}
