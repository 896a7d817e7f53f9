// The first thing to look at in explore: which rung, how fast, limited by what, because of what;
// and the knobs that are shown at first sight.
#include "tui/frame/explorer.h"
#include "tui/views/program/explore.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/view.h"
#include "tui/session/knob_panel.h"

// Behind the others: its names are short.
#include "screen_harness.h"

static void setup(void) { screen_setup(&(SessionOptions){.rung = "padded"}, 40, 120); }

static const char *row(int i) { return export_row(arena, canvas, i); }
static bool shows(const char *text) { return strstr(export_text(arena, canvas), text) != NULL; }

static void stand(const char *ladder, const char *rung) {
  ck_assert(session_go_ladder(session, ladder, &diags));
  session_go_rung(session, ladder_find_rung(session->doc.ladder, rung, &diags));
  drive_frame(session, canvas);
}

START_TEST(the_name_that_one_types_is_on_the_screen) {
  for (int i = 0; i < session->doc.n_ladders; i++) {
    const Ladder *ladder = session->doc.ladders[i];
    for (int rung = 0; rung < ladder->n_rungs; rung++) {
      if (!session_go_rung_of(session, ladder, rung) || session->doc.now.reasons) continue;
      drive_frame(session, canvas);
      const char *said = arena_printf(arena, " · %s", ladder->rung[rung].name);
      ck_assert_msg(strstr(row(1), said) != NULL, "%s", row(1));
      ck_assert_msg(!ladder->rung[rung].aside == !strstr(row(1), "a side branch"), "%s", row(1));
    }
  }
}
END_TEST

START_TEST(a_ladder_begins_at_its_first_rung) {
  for (int i = 0; i < session->doc.n_ladders; i++) {
    keys("}");
    ck_assert_int_eq(session->doc.rung, 0);
    ck_assert_msg(strstr(row(1), " · 0 of ") != NULL, "%s", row(1));
  }
}
END_TEST

START_TEST(number_reference_limit_and_cause) {
  ck_assert_msg(str_starts(row(2), " 36.7 TFLOP/s recorded · 0.72 of cuBLAS"), "%s", row(2));
  ck_assert_msg(strstr(row(2), "limited by shared memory: 11.5 clk, FMA needs 8"), "%s", row(2));
  ck_assert_msg(strstr(row(3), "b <- B_s takes 8 wavefronts, 4 would do"), "%s", row(3));
  stand("attention", "three_groups");  // far below what every unit allows
  ck_assert_msg(strstr(row(2), "limited by waits: the units allow 930 TFLOP/s"), "%s", row(2));
  stand("hopper", "consumers");
  ck_assert_msg(strstr(row(2), "limited by power: 628 TFLOP/s allowed") != NULL, "%s", row(2));
}
END_TEST

// A story's words about a cause, and the limits that the headline may name beside them; NULL: they
// tell of no limit.
static const char *const cause_words[] = {"idle",  "hide",       "hidden", "queue",
                                          "limit", "bottleneck", "starve", "wait that"};
static const struct {
  const char *phrase, *limits;
} causes[] = {
    {"31 of 32 lanes idle", "L1 and global memory"},
    {"arithmetic hides the wait for memory", "shared memory|FMA"},
    {"the copy begins before the multiply, which hides it", NULL},
    {"the softmax is the wait that is left", "waits"},
    {"needs the same bytes from L2", "L2"},
    {"the adds begin to queue", "shared memory"},
    {"the next slab's wgmmas are queued", NULL},
};

static bool may_be(const char *limits, const char *headline) {
  for (const char *at = limits; at && *at; at += strcspn(at, "|"), at += *at == '|')
    if (strstr(headline, arena_printf(arena, "%.*s", (int)strcspn(at, "|"), at))) return true;
  return !limits;
}

// Each word of a cause stands in a phrase of the table, each phrase beside a limit it agrees with.
static void check_story(const char *rung, const char *story, const char *headline) {
  for (size_t i = 0; i < sizeof cause_words / sizeof *cause_words; i++) {
    bool told = !strstr(story, cause_words[i]);
    for (size_t j = 0; j < sizeof causes / sizeof *causes; j++)
      told |= strstr(causes[j].phrase, cause_words[i]) && strstr(story, causes[j].phrase);
    ck_assert_msg(told, "%s: \"%s\" in \"%s\" needs a row", rung, cause_words[i], story);
  }
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
    if (strstr(story, causes[i].phrase))
      ck_assert_msg(may_be(causes[i].limits, headline), "%s: \"%s\" beside \"%s\"", rung,
                    causes[i].phrase, headline);
}

START_TEST(a_story_agrees_with_the_limit) {
  for (int i = 0; i < session->doc.n_ladders; i++) {
    const Ladder *ladder = session->doc.ladders[i];
    for (int rung = 0; rung < ladder->n_rungs; rung++) {
      if (!session_go_rung_of(session, ladder, rung) || session->doc.now.reasons) continue;
      drive_frame(session, canvas);
      check_story(ladder->rung[rung].name, ladder->rung[rung].line,
                  ((const Explore *)session->prepared)->limit);
    }
  }
}
END_TEST

// Without a time and without the clock's number no unit is called the limit: waits may be.
START_TEST(no_limit_without_a_speed) {
  stand("blackwell", "tma");
  ck_assert_msg(strstr(row(2), "busiest is the tensor core, 0.25 clk"), "%s", row(2));
  ck_assert_msg(strstr(row(3), "no time is known here, so waits are not counted"), "%s", row(3));
  ck_assert(!shows("limited by"));
}
END_TEST

START_TEST(few_blocks_are_a_cause) {
  stand("fp32", "splitk_1");
  ck_assert_msg(strstr(row(3), "16 blocks for 132 SMs: 116 of them have no work"), "%s", row(3));
}
END_TEST

// Parts that have no room are left out whole, whatever the width.
START_TEST(no_word_of_the_headline_is_cut) {
  for (int cols = VIEW_COLS_MIN; cols <= 200; cols++) {
    canvas_resize(canvas, 24, cols);
    drive_frame(session, canvas);
    const char *said = row(2), *cu = strstr(said, "cu"), *limit = strstr(said, "limit");
    ck_assert_msg(strstr(said, "36.7 TFLOP/s") != NULL, "%s", said);
    ck_assert_msg(!cu || strstr(said, "cuBLAS"), "%d: %s", cols, said);
    ck_assert_msg(!limit || strstr(said, "FMA 8") || strstr(said, "FMA needs 8"), "%d: %s", cols,
                  said);
  }
}
END_TEST

// 30 of them were shown of each rung; those that do nothing wait behind the list of knobs.
START_TEST(few_knobs_at_first_sight) {
  int most = 0;
  for (int i = 0; i < session->doc.n_ladders; i++)
    for (int rung = 0; rung < session->doc.ladders[i]->n_rungs; rung++) {
      if (!session_go_rung_of(session, session->doc.ladders[i], rung) || session->doc.now.reasons)
        continue;
      drive_frame(session, canvas);
      const Explore *explore = session->prepared;
      int live = 0;
      for (int k = 0; k < explore->n_cells; k++) live += !explore->cell[k].off;
      ck_assert_msg(explore->n_cells <= KNOBS_AT_FIRST || explore->n_cells <= live + 2,
                    "%s/%s: %d knobs, %d of them do something", session->doc.ladder->name,
                    session_rung(session)->name, explore->n_cells, live);
      ck_assert(explore->n_rest == 0 || shows(" more (K)") || explore->n_rows > 20);
      if (explore->n_cells > most) most = explore->n_cells;
    }
  ck_assert_int_le(most, 32);
}
END_TEST

static const KnobCell *cell_of(KnobId knob) {
  const Explore *explore = session->prepared;
  for (int i = 0; i < explore->n_cells; i++)
    if (explore->cell[i].knob == knob) return &explore->cell[i];
  return NULL;
}

// A knob that is turned to rest and back does not move, and no other one does.
START_TEST(knobs_stay_where_they_are) {
  session_take_knob(session, KNOB_PAD_SMEM);
  drive_frame(session, canvas);
  const KnobCell before = *cell_of(KNOB_PAD_SMEM), buffers = *cell_of(KNOB_BUFFER_COUNT);
  const int n = ((const Explore *)session->prepared)->n_cells;
  for (int i = 0; i < 4; i++) keys("(");
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_PAD_SMEM], 0);
  ck_assert_int_eq(cell_of(KNOB_PAD_SMEM)->row, before.row);
  ck_assert_int_eq(cell_of(KNOB_PAD_SMEM)->col, before.col);
  ck_assert_int_eq(cell_of(KNOB_BUFFER_COUNT)->row, buffers.row);
  ck_assert_int_eq(((const Explore *)session->prepared)->n_cells, n);
  keys("Ctrl-L Ctrl-L u u u u Ctrl-L Ctrl-L");
  ck_assert_int_eq(cell_of(KNOB_PAD_SMEM)->row, before.row);
}
END_TEST

// From the addresses: the stride, the banks, who meets where; and which knob changes that.
START_TEST(a_card_says_why) {
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  const char *said = ((const Explore *)session->prepared)->reason;
  ck_assert_str_eq(
      said,
      "Lanes are 32 bytes apart: the 8 lanes of a quarter-warp use 16 of the 32 banks, "
      "each 2 times. Lanes 0 and 4 need bank 0 in the same cycle. "
      "With CELL_GROUP 4 it takes 4 wavefronts.");
  ck_assert(shows("Lanes are 32 bytes apart"));
  keys(": C E L L _ G R O U P = 4 Enter");
  ck_assert_str_eq(
      ((const Explore *)session->prepared)->reason,
      "Lanes are 16 bytes apart: the 8 lanes of a quarter-warp use all 32 banks once.");
  ck_assert(!shows("ln  byte bank"));
  keys("t");
  ck_assert(shows("ln  byte bank"));
}
END_TEST

Suite *suite_headline(void);
Suite *suite_headline(void) {
  Suite *suite = suite_create("headline");
  TCase *tcase = tcase_create("headline");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, the_name_that_one_types_is_on_the_screen);
  tcase_add_test(tcase, a_ladder_begins_at_its_first_rung);
  tcase_add_test(tcase, number_reference_limit_and_cause);
  tcase_add_test(tcase, a_story_agrees_with_the_limit);
  tcase_add_test(tcase, no_limit_without_a_speed);
  tcase_add_test(tcase, few_blocks_are_a_cause);
  tcase_add_test(tcase, no_word_of_the_headline_is_cut);
  tcase_add_test(tcase, few_knobs_at_first_sight);
  tcase_add_test(tcase, knobs_stay_where_they_are);
  tcase_add_test(tcase, a_card_says_why);
  suite_add_tcase(suite, tcase);
  return suite;
}
